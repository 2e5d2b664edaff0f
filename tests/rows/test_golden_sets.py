"""Golden sets and supporting facts of other tools are judgments and runs, in Python, files, frames and commands."""

import json
import warnings

import pandas as pd
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands

AUTORAG = [
    {"qid": "q1", "query": "…", "retrieval_gt": [["a"], ["b", "c"]], "generation_gt": ["x"]},
    {"qid": "q2", "query": "…", "retrieval_gt": [["z"]], "generation_gt": ["y"]},
]
RAGAS = [
    {
        "user_input": "How long?",
        "retrieved_contexts": ["Ten  days.", "Never."],
        "reference_contexts": ["Ten\ndays."],
        "response": "Ten days.",
        "reference": "Ten days.",
    }
]
RAGAS_IDS = [{**RAGAS[0], "retrieved_context_ids": ["n", "t"], "reference_context_ids": ["t"]}]
DEEPEVAL = [
    {
        "input": "How long?",
        "actual_output": "Ten days.",
        "expected_output": "Ten days.",
        "retrieval_context": ["Never.", "Ten days."],
        "context": ["Ten days."],
    }
]
LANGSMITH = [
    {
        "id": "7c1e",
        "inputs": {"question": "How long?"},
        "outputs": {
            "answer": "Ten days.",
            "documents": [
                {"page_content": "…", "metadata": {"source": "leave.md"}, "type": "Document"},
                {"id": "travel.md", "page_content": "…", "metadata": {}, "type": "Document"},
            ],
        },
    }
]
LLAMA_INDEX = {
    "queries": {"q1": "How long?", "q2": "How far?"},
    "corpus": {"n1": "…", "n2": "…"},
    "relevant_docs": {"q1": ["n1"], "q2": ["n2"]},
    "mode": "text",
}
LABELLED = {
    "rag_dataset_type": "labelled",
    "examples": [
        {
            "query": "How long?",
            "query_by": {"type": "human"},
            "reference_contexts": ["Ten days."],
            "reference_answer": "Ten days.",
            "reference_answer_by": None,
        }
    ],
}
HOTPOT = [
    {
        "_id": "5a8b",
        "question": "Which?",
        "answer": "A",
        "supporting_facts": [["A", 0], ["A", 2], ["B", 1]],
        "context": [["A", ["…", "…", "…"]], ["B", ["…", "…"]], ["C", ["…"]]],
    }
]
HOTPOT_COLUMNS = [
    {
        "id": "5a8b",
        "question": "Which?",
        "supporting_facts": {"title": ["A", "A", "B"], "sent_id": [0, 2, 1]},
        "context": {"title": ["A", "B", "C"], "sentences": [["…"], ["…"], ["…"]]},
    }
]
MUSIQUE = [
    {
        "id": "2hop__1_2",
        "question": "Which?",
        "paragraphs": [
            {"idx": 0, "title": "A", "paragraph_text": "…", "is_supporting": True},
            {"idx": 1, "title": "C", "paragraph_text": "…", "is_supporting": False},
            {"idx": 2, "title": "B", "paragraph_text": "…", "is_supporting": True},
        ],
        "question_decomposition": [{"id": 1, "paragraph_support_idx": 0}],
    }
]
HOPS = {"5a8b": ["A", "C"], "2hop__1_2": ["A", "C"]}
LONG, LEAVE = {"How long?": ["Ten days.", "x"]}, {"How long?": ["leave.md", "x"]}
# The judgments, the run, and the R@2, Judged@2 and RR of each query.
CASES = {
    "AutoRAG": (AUTORAG, {"q1": ["x", "b"], "q2": ["z"]}, {"q1": (1 / 3, 0.5, 0.5), "q2": (1, 1, 1)}),
    "ragas": (RAGAS, RAGAS, {"How long?": (1, 0.5, 1)}),
    "ragas with ids": (RAGAS_IDS, RAGAS_IDS, {"How long?": (1, 0.5, 0.5)}),
    "deepeval": (DEEPEVAL, DEEPEVAL, {"How long?": (1, 0.5, 0.5)}),
    "LangSmith": (LANGSMITH, LANGSMITH, {"How long?": (1, 1, 1)}),
    "LangSmith's references": (LANGSMITH, LEAVE, {"How long?": (0.5, 0.5, 1)}),
    "LlamaIndex": (LLAMA_INDEX, {"q1": ["n2", "n1"], "q2": ["n2"]}, {"q1": (1, 0.5, 0.5), "q2": (1, 1, 1)}),
    "LlamaIndex, labelled": (LABELLED, LONG, {"How long?": (1, 0.5, 1)}),
    "HotpotQA": (HOTPOT, HOPS, {"5a8b": (0.5, 1, 1)}),
    "HotpotQA in columns": (HOTPOT_COLUMNS, HOPS, {"5a8b": (0.5, 1, 1)}),
    "MuSiQue": (MUSIQUE, HOPS, {"2hop__1_2": (0.5, 1, 1)}),
}  # fmt: skip
MEASURES = ["R@2", "Judged@2", "RR"]
# A dataset that is one object isn't a table, and lists of titles with numbers have no type in Parquet.
TABLES = [name for name in CASES if name != "HotpotQA" and not name.startswith("LlamaIndex")]


def assert_measured(judgments, run, expected, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        scores = gf.evaluate(judgments, run, MEASURES, **options)
    found = {query: (*row.values(),) for query, row in scores.per_query.to_dict().items()}
    assert found == {query: pytest.approx(values) for query, values in expected.items()}


@pytest.mark.parametrize("name", CASES)
def test_golden_sets_in_python_json_and_json_lines(name, tmp_path):
    judgments, run, expected = CASES[name]
    assert_measured(judgments, run, expected)
    whole, lines = tmp_path / "golden.json", tmp_path / "golden.jsonl"
    whole.write_text(json.dumps(judgments))
    listed = judgments if isinstance(judgments, list) else [judgments]
    lines.write_text("".join(f"{json.dumps(record)}\n" for record in listed))
    for file in (whole, lines):
        assert_measured(file, file if run is judgments else run, expected)


@pytest.mark.parametrize("name", TABLES)
def test_golden_sets_in_frames_and_parquet(name, tmp_path):
    judgments, run, expected = CASES[name]
    frame, file = pd.DataFrame(judgments), tmp_path / "golden.parquet"
    frame.to_parquet(file)
    for table in (frame, file, pd.read_parquet(file)):
        assert_measured(table, table if run is judgments else run, expected)


def test_golden_sets_on_the_command_line(tmp_path):
    file = tmp_path / "golden.json"
    file.write_text(json.dumps(RAGAS_IDS))
    done = CliRunner().invoke(commands, ["evaluate", str(file), str(file), "-m", "RR", "-f", "csv"])
    assert done.exit_code == 0, done.output
    assert "0.5" in done.output


def test_alternatives_are_subtopics_that_each_need_one_document(tmp_path):
    run = {"q1": ["x", "c", "a"], "q2": ["z"]}
    with pytest.warns(gf.errors.GainfulWarning, match=r"any one of several documents.*strec@k"):
        gf.evaluate(AUTORAG, run, "R@3")
    file = tmp_path / "qa.parquet"
    pd.DataFrame(AUTORAG).to_parquet(file)
    for topics in (AUTORAG, file, pd.read_parquet(file)):
        scores = gf.subtopics.evaluate_subtopics(topics, run, ["strec@2", "strec@3"])
        assert [*scores.means.values()] == [0.75, 1.0]
    facts = gf.subtopics.evaluate_subtopics(
        HOTPOT, {"5a8b": ["B", "C", "A"]}, ["strec@2", "strec@3"]
    )
    assert [*facts.means.values()] == [0.5, 1.0]
    flat = [{"qid": "q1", "retrieval_gt": ["a", "b"]}, {"qid": "q2", "retrieval_gt": "z"}]
    assert gf.evaluate(flat, run, "R@3").per_query["R@3"] == [0.5, 1.0]


def test_texts_as_ids_are_doubtful():
    for judgments, run in ((RAGAS, RAGAS), (DEEPEVAL, DEEPEVAL)):
        with pytest.warns(
            gf.errors.GainfulWarning, match="documents are identified by their texts"
        ):
            gf.evaluate(judgments, run, "RR")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gf.evaluate(RAGAS_IDS, RAGAS_IDS, "RR")


@pytest.mark.filterwarnings("ignore:judgments")
@pytest.mark.parametrize(
    ("judgments", "run", "message"),
    [
        (HOTPOT, HOTPOT, "run, record 1: expected retrieved documents, found a record of HotpotQA with relevant"),
        (
            [{"input": "q", "retrieval_context": ["a"]}],
            {"q": ["a"]},
            "judgments, record 1: expected relevant documents in context, found a record of deepeval with retrieved",
        ),
        (LLAMA_INDEX, LLAMA_INDEX, "run: expected retrieved documents, found a dataset with relevant_docs only"),
        (
            [{"inputs": {"question": "q"}, "outputs": {"answer": "a"}}],
            {"q": ["a"]},
            "a record of LangSmith without documents",
        ),
        ([RAGAS[0], {"question": "q"}], LONG, "record 2: expected the same fields as in record 1"),
        (
            [{"qid": "q", "retrieval_gt": [[{"id": "a"}]]}],
            {"q": ["a"]},
            "judgments, record 1: expected ids of documents in retrieval_gt, found [{'id': 'a'}]",
        ),
        ([{**RAGAS[0], "user_input": None}], LONG, "record 1: expected the query, as an id or as text"),
    ],
)  # fmt: skip
def test_golden_sets_without_what_is_needed(judgments, run, message):
    with pytest.raises(gf.errors.InputError) as error:
        gf.evaluate(judgments, run, "RR")
    assert message in str(error.value)


def test_the_caller_may_name_the_query_or_the_documents():
    records = [{**RAGAS[0], "id": "q1"}]
    named = {"judgments.query": "id"}
    with pytest.warns(gf.errors.GainfulWarning, match="by their texts"):
        assert gf.evaluate(records, {"q1": ["Ten days."]}, "RR", columns=named)["RR"] == 1.0
    named = {"judgments.query": "id", "judgments.doc": "retrieved_contexts"}
    assert gf.evaluate(records, {"q1": ["Never."]}, "RR", columns=named)["RR"] == 1.0


def test_nuggets_of_nuggetizer_are_judgments_a_run_and_nuggets(tmp_path):
    answers = [
        {
            "qid": "q1",
            "query": "…",
            "run_id": "mine",
            "nuggets": [
                {"text": "x", "importance": "vital", "assignment": "support"},
                {"text": "y", "importance": "okay", "assignment": "partial_support"},
            ],
        },
        {
            "qid": "q2",
            "query": "…",
            "run_id": "mine",
            "nuggets": [{"text": "x", "importance": "vital", "assignment": "not_support"}],
        },
    ]
    file = tmp_path / "assigned.jsonl"
    file.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    for given in (answers, file):
        scores = gf.evaluate(given, given, ["strict_vital_score", "all_score"], nuggets=given)
        assert [[*row.values()] for row in scores.per_query.to_dict().values()] == [
            [1, 0.75],
            [0, 0],
        ]


def test_records_of_udcg_are_judgments_a_run_and_probabilities():
    records = [
        {
            "question": "q",
            "passages": [
                {"doc_id": "a", "text": "…", "is_relevant": True, "models_info": {"m": {"no_res_prob": 0.0}}},
                {"doc_id": "b", "text": "…", "is_relevant": False, "models_info": {"m": {"no_res_prob": 0.4}}},
            ],
        }
    ]  # fmt: skip
    assert gf.evaluate(records, records, "UDCG", abstentions=records)["UDCG"] == pytest.approx(
        0.598687660112452
    )
    records[0]["passages"][0]["models_info"]["other"] = {"no_res_prob": 0.1}
    with pytest.raises(
        gf.errors.InputError, match="the probabilities of one model, found 'm', 'other'"
    ):
        gf.evaluate(records, records, "UDCG", abstentions=records)


ODD = [
    None,
    3,
    "text",
    [],
    [3],
    [None],
    [[]],
    [{}],
    {},
    {"title": 3},
    {"a": [{}]},
    [[["a"]]],
    [{"id": []}],
]
FIELDS = [
    "retrieval_gt", "reference_contexts", "reference_context_ids", "context", "retrieval_context", "supporting_facts",
    "paragraphs", "passages", "nuggets", "outputs", "inputs", "relevant_docs", "examples", "attributes",
    "resourceSpans",
]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.filterwarnings("ignore")
def test_odd_contents_are_errors_of_gainful(field):
    """Whatever a field of a golden set or a trace holds, it is read or rejected, and no other error escapes."""
    usual = {
        "user_input": "q",
        "input": "q",
        "question": "q",
        "qid": "q",
        "queries": {},
        "span_id": "1",
    }
    for odd in ODD:
        for record in (
            usual | {field: odd, "outputs": odd, "inputs": odd},
            usual | {field: odd},
            {field: odd},
        ):
            for given in (record, [record]):
                for judgments, run in ((given, {"q": ["a"]}), ({"q": ["a"]}, given)):
                    try:
                        gf.evaluate(judgments, run, "RR")
                    except gf.errors.GainfulError as error:
                        assert str(error)  # noqa: PT017 - either is fine
