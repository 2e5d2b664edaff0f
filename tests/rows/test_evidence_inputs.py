"""Evidence and chunks in every shape give the same numbers, and errors say where and what."""

import json
from dataclasses import dataclass, field

import pandas as pd
import polars as pl
import pytest

import gainful as gf

DOCS = {
    "leave.md": "Staff have 25 days of leave. Unused days expire in March. “Sick days” do not count.",
    "travel.md": "Book trains early. Hotels cost at most 120 euros. Ask your manager first.",
    "café.md": "Café bills: keep them. Unused days expire never.",
}
MEASURES = ["evidence_recall@2", "evidence_precision@2", "evidence_groups@2", "RR"]


def at(doc, text):
    start = DOCS[doc].index(text)
    return start, start + len(text)


DAYS, HOTELS = "25 days of leave", "Hotels cost at most 120 euros."
SPANS = [("leave.md", *at("leave.md", DAYS)), ("travel.md", *at("travel.md", HOTELS))]
CHUNKS = [("travel.md", 0, 30), ("leave.md", 0, 28)]
ROWS = [{"query": "q", "document": doc, "start": start, "end": end} for doc, start, end in SPANS]
RANKED = [
    {"query": "q", "document": doc, "start": start, "end": end, "score": 2 - place}
    for place, (doc, start, end) in enumerate(CHUNKS)
]
IDS = {"t0": CHUNKS[0], "l0": CHUNKS[1], "l1": ("leave.md", 28, 60)}


def values(judged, run, **options):
    return gf.evaluate(judged, run, MEASURES, **options).means


EXPECTED = values({"q": SPANS}, {"q": CHUNKS}, offsets="characters")


def test_the_numbers_are_those_worked_by_hand():
    lengths = len(DAYS) + len(HOTELS)
    found = len(DAYS) + 30 - SPANS[1][1]
    assert (
        pytest.approx(
            {
                "evidence_recall@2": found / lengths,
                "evidence_precision@2": found / 58,
                "evidence_groups@2": 0.5,
                "RR": 1.0,
            }
        )
        == EXPECTED
    )


EVIDENCE = {
    "triples by query": {"q": SPANS},
    "dicts by query": {"q": [{k: v for k, v in row.items() if k != "query"} for row in ROWS]},
    "rows": ROWS,
    "records": [{"question": "q", "evidence": [list(span) for span in SPANS]}],
    "references": [
        {
            "question": "q",
            "references": [
                {
                    "corpus_id": doc,
                    "start_index": start,
                    "end_index": end,
                    "content": DOCS[doc][start:end],
                }
                for doc, start, end in SPANS
            ],
        }
    ],
    "texts of documents": [
        {
            "question": "q",
            "evidence": [
                {"document": "leave.md", "text": DAYS},
                {"document": "travel.md", "text": HOTELS},
            ],
        }
    ],
    "texts": {"q": [DAYS, HOTELS]},
    "texts with other white space": {
        "q": ["25 days\n  of leave", "Hotels cost at most\t120 euros."]
    },
    "pandas": pd.DataFrame(ROWS),
    "polars": pl.DataFrame(ROWS),
    "pyarrow": pl.DataFrame(ROWS).to_arrow(),
    "lists in pandas": pd.DataFrame([{"question": "q", "evidence": [DAYS, HOTELS]}]),
}
RUNS = {
    "triples by query": {"q": CHUNKS},
    "rows": RANKED,
    "records": [{"question": "q", "retrieved": [list(chunk) for chunk in CHUNKS]}],
    "texts": {"q": [DOCS[doc][start:end] for doc, start, end in CHUNKS]},
    "text from a start": {
        "q": [
            {"document": doc, "start": start, "text": DOCS[doc][start:end]}
            for doc, start, end in CHUNKS
        ]
    },
    "pandas": pd.DataFrame(RANKED),
    "polars": pl.DataFrame(RANKED[::-1]),
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_evidence_in_every_shape(name):
    options = {"offsets": "characters", "documents": DOCS}
    assert values(EVIDENCE[name], {"q": CHUNKS}, **options) == EXPECTED


@pytest.mark.parametrize("name", RUNS)
def test_chunks_in_every_shape(name):
    options = {"offsets": "characters", "documents": DOCS}
    assert values({"q": SPANS}, RUNS[name], **options) == EXPECTED


@pytest.mark.parametrize(
    "table",
    [
        IDS,
        {
            one: {"document": doc, "start": start, "end": end}
            for one, (doc, start, end) in IDS.items()
        },
        {one: DOCS[doc][start:end] for one, (doc, start, end) in IDS.items()},
        [
            {"chunk_id": one, "doc_id": doc, "start_char": start, "end_char": end}
            for one, (doc, start, end) in IDS.items()
        ],
        pd.DataFrame(
            [(one, *place) for one, place in IDS.items()], columns=["id", "source", "start", "end"]
        ),
    ],
    ids=["triples", "dicts", "texts", "records", "pandas"],
)
def test_tables_of_chunks_in_every_shape(table):
    options = {"offsets": "characters", "documents": DOCS, "chunk_table": table}
    assert values({"q": SPANS}, {"q": ["t0", "l0"]}, **options) == EXPECTED
    assert values({"q": SPANS}, {"q": {"l0": 0.5, "t0": 0.9}}, **options) == EXPECTED


def test_files_of_every_format(files, tmp_path):
    lines = "\n".join(map(json.dumps, ROWS))
    header = "query,document,start,end\n"
    csv = header + "".join(f"q,{doc},{start},{end}\n" for doc, start, end in SPANS)
    run_csv = "query,document,start,end,score\n" + "".join(
        f"{row['query']},{row['document']},{row['start']},{row['end']},{row['score']}\n"
        for row in RANKED
    )
    nested = json.dumps({"question": "q", "evidence": [{"text": DAYS}, {"text": HOTELS}]})
    parquet = tmp_path / "e.parquet"
    pl.DataFrame(ROWS).write_parquet(parquet)
    lists = tmp_path / "l.parquet"
    pl.DataFrame({"question": ["q"], "evidence": [[DAYS, HOTELS]]}).write_parquet(lists)
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in DOCS.items():
        (folder / name).write_bytes(text.encode())
    given = [
        files("e.jsonl", lines), files("e.csv", csv), files("e.tsv", csv.replace(",", "\t")),
        files("n.jsonl", nested), files("n.json", f"[{nested}]"), parquet, lists,
    ]  # fmt: skip
    run = files("run.csv", run_csv)
    for path in given:
        assert values(path, run, offsets="characters", documents=folder) == EXPECTED, path
    trec = files("run.trec", "q Q0 t0 1 9 x\nq Q0 l0 2 8 x\n")
    table = files("c.csv", "id,document,start,end\nt0,travel.md,0,30\nl0,leave.md,0,28\n")
    assert values(given[0], trec, offsets="characters", chunk_table=table) == EXPECTED


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict = field(default_factory=dict)
    id: str | None = None


@dataclass
class TextNode:
    text: str
    start_char_idx: int
    end_char_idx: int
    source: str
    id_: str = "n"

    @property
    def ref_doc_id(self):
        return self.source


@dataclass
class NodeWithScore:
    node: TextNode
    score: float


@dataclass
class HaystackDocument:
    id: str
    content: str
    meta: dict
    score: float | None = None


def test_objects_of_frameworks_name_their_unit():
    cut = [(doc, start, DOCS[doc][start:end]) for doc, start, end in CHUNKS]
    langchain = [
        LangChainDocument(text, {"source": doc, "start_index": start}) for doc, start, text in cut
    ]
    llama_index = [
        NodeWithScore(TextNode(text, start, start + len(text), doc), 1 / (place + 1))
        for place, (doc, start, text) in enumerate(cut)
    ]
    haystack = [
        HaystackDocument(str(place), text, {"source_id": doc, "split_idx_start": start}, -place)
        for place, (doc, start, text) in enumerate(cut)
    ]
    scored = [(document, 1 - place) for place, document in enumerate(langchain)]
    for chunks in (langchain, llama_index, haystack, scored):
        run = {"q": chunks}
        assert values({"q": [DAYS, HOTELS]}, run, documents=DOCS) == EXPECTED


def test_bytes_are_other_offsets_than_characters():
    judged = {"q": ["keep them"]}
    text = DOCS["café.md"]
    start, end = text.encode().index(b"keep"), len(text.encode())
    run = {"q": [("café.md", start, end)]}
    recall = "evidence_recall"
    assert gf.evaluate(judged, run, recall, documents=DOCS, offsets="bytes")[recall] == 1
    with pytest.raises(gf.errors.InputError, match="which has 48 characters, found 49"):
        gf.evaluate(judged, run, recall, documents=DOCS, offsets="characters")


def test_evidence_that_occurs_several_times_is_reported():
    judged, run = {"q": ["Unused days expire"]}, {"q": CHUNKS}
    with pytest.warns(gf.errors.GainfulWarning, match="1 text occurs several times") as seen:
        values(judged, run, documents=DOCS, offsets="characters")
    assert seen[0].message.code == "input.repeated-text"
    values({"q": [{"document": "café.md", "text": "Unused days expire"}]}, {"q": [("café.md", 0, 9)]},
           documents=DOCS, offsets="characters")  # fmt: skip


WRONG = {
    "negative": ({"q": [("leave.md", -1, 5)]}, "evidence, query 'q', 1: expected non-negative offsets, found -1 to 5"),
    "empty": ({"q": [("leave.md", 5, 5)]}, "expected an end after the start, found 5 to 5"),
    "reversed": ({"q": [("leave.md", 9, 5)]}, "expected an end after the start, found 9 to 5"),
    "beyond": ({"q": [("leave.md", 0, 900)]}, "an end within document 'leave.md', which has 83 characters, found 900"),
    "fraction": ([{"query": "q", "document": "leave.md", "start": 0.5, "end": 3}], "record 1: expected whole numbers"),
    "not a number": ([{"query": "q", "document": "leave.md", "start": "x", "end": 3}], "record 1, start: expected a number"),
    "other version": (
        {"q": [{"document": "leave.md", "start": 0, "end": 16, "text": DAYS}]},
        "the text of document 'leave.md' from 0 to 16, 'Staff have 25 da', found '25 days of leave'. The text is at 11 to 27 instead",
    ),
    "unknown document": ({"q": [("x.md", 0, 5)]}, "expected one of the documents: 'leave.md'"),
    "not found": (
        {"q": ["Staff have 30 days of leave"]},
        r"text that occurs in the documents, found 'Staff have 30 days of leave'. The nearest passage: 93% of it is like 'Staff have 25 days of leave' in document 'leave.md', 0 to 27",
    ),
    "no offsets": ({"q": [{"document": "leave.md"}]}, "expected start and end, or text"),
    "no document": ([{"query": "q", "start": 1, "end": 3}], "found 1 to 3 without a document"),
    "grades": ({"q": {"leave.md": 1}}, "expected start and end, or text, found neither. If the judgments are grades of whole documents, pass offsets='documents'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_evidence(name):
    judged, message = WRONG[name]
    with pytest.raises(gf.errors.InputError) as error:
        values(judged, {"q": CHUNKS}, documents=DOCS, offsets="characters")
    assert message in str(error.value)


def test_wrong_runs_and_missing_options():
    judged, run = {"q": SPANS}, {"q": CHUNKS}
    for given, message, options in (
        (run, "expected the unit that start and end count", {}),
        ({"q": ["t0"]}, "pass chunk_table=", {"documents": DOCS, "offsets": "characters"}),
        ({"q": ["t0", "x"]}, "chunk 'x': expected a chunk of chunk_table",
         {"chunk_table": IDS, "offsets": "characters"}),
        ({"q": [*CHUNKS, CHUNKS[0]]}, "each chunk once for a query", {"offsets": "characters"}),
        (run, "offsets", {"offsets": "words"}),
        ({"q": ["some text"]}, "or the text of the documents", {"offsets": "characters"}),
        ({"q": ["some text"]}, "text without both", {"offsets": "tokens", "documents": DOCS}),
    ):  # fmt: skip
        with pytest.raises(gf.errors.InputError, match=message):
            values(judged, given, **options)
    rows = [{"query": "q", "document": "d", "start_byte": 0, "end_byte": 5}]
    with pytest.raises(gf.errors.InputError, match="as its fields are named"):
        values(rows, run, offsets="characters")
    repeated = {"q": [CHUNKS[0], *CHUNKS]}
    assert (
        values(judged, repeated, offsets="characters", policy={"duplicates": "first"}) == EXPECTED
    )
    with pytest.raises(gf.errors.MeasureError, match="the table of all chunks"):
        gf.evaluate(judged, run, "evidence_precision_omega", offsets="characters")
    table = [{"id": "a", "document": "leave.md", "start": 0, "end": end} for end in (5, 9)]
    with pytest.raises(gf.errors.InputError, match="each chunk once, found 'a' again"):
        values(judged, {"q": ["a"]}, chunk_table=table, offsets="characters")


def test_columns_may_have_any_name():
    rows = [{"frage": "q", "akte": doc, "start": start, "end": end} for doc, start, end in SPANS]
    columns = {"judgments.query": "frage", "judgments.doc": "akte"}
    assert values(rows, {"q": CHUNKS}, offsets="characters", columns=columns) == EXPECTED


def test_a_golden_set_is_located_once_and_its_doubtful_passages_are_listed(tmp_path):
    judged = [
        {
            "question": "q",
            "evidence": [
                {"text": DAYS, "group": "days"},
                {"text": "“sick\ndays”", "document": "leave.md"},
                {"text": "Sick days", "document": "leave.md"},
                {"text": '"Sick  days" do not'},
                {"text": "Unused days expire"},
                {"text": "Staff have 30 days of leave"},
            ],
        }
    ]
    located = gf.inputs.locate_evidence(judged, DOCS)
    statuses = [(one.status, one.exact, one.places) for one in located.passages]
    assert statuses == [
        ("found", True, 1), ("not found", False, 0), ("found", True, 1), ("found", False, 1),
        ("several places", True, 2), ("not found", False, 0),
    ]  # fmt: skip
    assert [one.text for one in located.doubtful] == [
        "“sick\ndays”", "Unused days expire", "Staff have 30 days of leave",
    ]  # fmt: skip
    nearest = located.passages[-1]
    assert (nearest.doc, nearest.start, nearest.end) == ("leave.md", 0, 27)
    assert nearest.similarity == pytest.approx(2 * 25 / 54)
    assert "6 passages: 3 found, 1 several places, 2 not found" in str(located)
    assert located.evidence["q"][0] == {
        "document": "leave.md", "start": 11, "end": 27, "group": "days",
    }  # fmt: skip
    path = tmp_path / "evidence.json"
    path.write_text(json.dumps(located.evidence))
    assert values(path, {"q": CHUNKS}, offsets="characters")["evidence_groups@2"] == 0.25
    for given, message in (
        ([("x.md", 0, 9)], "passages as text"),
        ([{"text": "a", "document": "x.md"}], "one of the documents"),
        ([""], "expected text, found none"),
    ):
        with pytest.raises(gf.errors.InputError, match=message):
            gf.inputs.locate_evidence({"q": given}, DOCS)


def test_shapes_that_tools_write(files):
    """JSON in a cell of a CSV file, as in chunking_evaluation, other names of columns, and lists of documents."""
    references = json.dumps([{"content": DAYS, "start_index": 11, "end_index": 27}]).replace(
        '"', '""'
    )
    cells = f'question,references,corpus_id\nq,"{references}",leave.md\n'
    named = f"question,answer_span\nq,{DAYS}\n"
    ranked = "question,chunk_text,rank\nq,Staff have 25 days,1\n"
    documents = [LangChainDocument(text, {"source": doc}) for doc, text in DOCS.items()]
    for judged in (cells, named):
        scores = gf.evaluate(
            files("e.csv", judged), files("r.csv", ranked), "evidence_recall",
            documents=documents, offsets="characters",
        )  # fmt: skip
        assert scores["evidence_recall"] == 7 / 16
    with pytest.raises(
        gf.errors.InputError, match=r"found only 'question', 'quelle'\. Usual names of texts"
    ):
        values(files("x.csv", "question,quelle\nq,1\n"), {"q": CHUNKS}, documents=DOCS)
    with pytest.raises(gf.errors.InputError, match="each document once"):
        values(
            {"q": [DAYS]},
            {"q": CHUNKS},
            documents=[*documents, LangChainDocument("x", {"source": "leave.md"})],
        )
    with pytest.raises(
        gf.errors.InputError, match=r"pass the texts: documents=… \(--documents FILE\)"
    ):
        gf.evaluate([{"question": "q", "evidence": [DAYS]}], {"q": ["a"]}, "R@5")


def test_a_field_of_the_metadata_may_name_the_document():
    """Ids that LlamaIndex and Haystack make up themselves aren't those of the golden set."""
    documents = [
        HaystackDocument(
            "x", "25 days of leave",
            {"source_id": "0f3a", "file_path": "leave.md", "split_idx_start": 11},
        )
    ]  # fmt: skip
    judged = {"q": [DAYS]}
    columns = {"run.doc": "file_path"}
    scores = gf.evaluate(
        judged, {"q": documents}, "evidence_recall", documents=DOCS, columns=columns
    )
    assert scores["evidence_recall"] == 1
    texts_only = {"q": [{"text": DAYS, "source_id": "0f3a"}]}
    with pytest.raises(gf.errors.InputError, match=r"name that field: columns run\.doc="):
        gf.evaluate(judged, texts_only, "evidence_recall", documents=DOCS)


def test_evidence_and_chunks_count_the_same(tmp_path):
    run = [{"query": "q", "document": "café.md", "start_byte": 0, "end_byte": 30}]
    with pytest.raises(gf.errors.InputError, match="found characters and bytes"):
        gf.evaluate({"q": ["keep them"]}, run, "evidence_recall", documents=DOCS)
    scores = gf.evaluate(
        {"q": ["keep them"]}, run, "evidence_recall", documents=DOCS, offsets="bytes"
    )
    assert scores["evidence_recall"] == 1
    (tmp_path / "a.md").write_bytes(b"caf\xe9")
    with pytest.raises(gf.errors.InputError, match="expected UTF-8 text"):
        gf.evaluate({"q": ["keep"]}, run, "evidence_recall", documents=tmp_path)


def test_lists_of_objects_in_parquet(tmp_path):
    passages = [{"document": "d", "start": 0, "end": 10}]
    path = tmp_path / "evidence.parquet"
    pl.DataFrame([{"query": "q", "evidence": passages}]).write_parquet(path)
    run = {"q": [{"document": "d", "start": 0, "end": 5, "score": 1.0}]}
    scores = gf.evaluate(path, run, "evidence_recall@5", offsets="characters")
    assert scores.means == {"evidence_recall@5": 0.5}


def as_dict(span, names=("document", "start", "end")):
    return dict(zip(names, span, strict=True))


@pytest.mark.parametrize("mixed", [False, True])
def test_lists_of_one_kind_of_item_are_read_like_mixed_ones(mixed):
    # Lists whose items all have the same form are read by column, and any other item by item.
    first, second = SPANS
    odd = {"node": as_dict(first)} if mixed else as_dict(first)
    reordered = {"end": second[2], "document": second[0], "start": second[1]}
    hotel = {"document": "travel.md", "evidence": [{"start": 1, "end": 2, "document": None}]}
    for judged in (
        {"q": [odd, as_dict(second)]},
        {"q": [odd, reordered]},
        [{"question": "q", "evidence": [odd]}, {"question": "q", "evidence": [as_dict(second)]}],
        [{"query": "q", **odd}, {"query": "q", **as_dict(second)}],
        [
            {"question": "q", "document": first[0], "evidence": [{"start": first[1], "end": first[2]}]},
            {"question": "q", "evidence": [odd if mixed else as_dict(second)]},
            {"question": "q", "evidence": [as_dict(first), second]},
        ][: 3 if mixed else 2],
        {"q": [[as_dict(first)], [as_dict(second), as_dict(second)]] if mixed else SPANS},
    ):  # fmt: skip
        found = values(judged, {"q": CHUNKS}, offsets="characters")
        assert found["evidence_recall@2"] == EXPECTED["evidence_recall@2"]
        assert found["RR"] == EXPECTED["RR"]
    # A field of an item counts more than one of its list, also if it has no value.
    with pytest.raises(gf.errors.InputError, match="record 1, 'evidence', 1: expected a passage"):
        values([{"question": "q", **hotel}], {"q": CHUNKS}, offsets="characters")
    grouped = {"q": [[as_dict(first), as_dict(second)]]}
    assert values(grouped, {"q": CHUNKS}, offsets="characters")["evidence_groups@2"] == 1


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([{"query": "q", "document": "d", "start": 0, "end": 1}, {"query": "q", "document": "d", "start": 2, "end": 1}], "record 2: expected an end after"),
        ([{"query": "q", "document": "d", "start": 0, "end": 1}, {"question": "q", "document": "d", "start": 2, "end": 1}], "record 2, 1: expected an end after"),
        ({"q": [("d", 0, 1), ("d", 2, 1)]}, "query 'q', 2: expected an end after"),
        ([{"question": "q", "evidence": [("d", 0, 1), ("d", 2, 1)]}], "record 1, 'evidence', 2: expected an end after"),
    ],
)  # fmt: skip
def test_errors_say_where_in_the_lists_they_are(rows, place):
    with pytest.raises(gf.errors.InputError, match=place):
        values(rows, {"q": CHUNKS}, offsets="characters")


def test_golden_sets_of_other_tools_are_passages():
    texts = [DAYS, HOTELS]
    for judged in (
        [{"user_input": "q", "reference_contexts": texts, "reference": "an answer"}],
        {"examples": [{"user_input": "q", "reference_contexts": texts}]},
        [{"input": "q", "context": texts, "expected_output": "an answer"}],
        {"inputs": {"question": "q"}, "outputs": {"evidence": texts}},
        [{"id": "7c1e", "inputs": {"question": "q"}, "outputs": {"evidence": texts}}],
        {"examples": [{"inputs": {"question": "q"}, "outputs": {"evidence": texts}}]},
    ):
        found = values(judged, {"q": CHUNKS}, documents=DOCS, offsets="characters")
        assert found["evidence_recall@2"] == EXPECTED["evidence_recall@2"]
    spans = [dict(zip(("document", "start", "end"), chunk, strict=True)) for chunk in CHUNKS]
    run = [{"inputs": {"question": "q"}, "outputs": {"answer": "…", "documents": spans}}]
    found = values({"q": texts}, run, documents=DOCS, offsets="characters")
    assert found["evidence_recall@2"] == EXPECTED["evidence_recall@2"]


def test_any_column_of_passages_may_have_an_unusual_name(files):
    rows = "".join(f'"q";"{text}"\n' for text in (DAYS, HOTELS))
    table = files("gold.csv", f"Frage;Fundstelle\n{rows}")
    chunks = [
        {"Frage": "q", "Datei": doc, "von": start, "bis": end, "Rang": rank}
        for rank, (doc, start, end) in enumerate(CHUNKS, 1)
    ]
    names = {
        "query": "Frage", "judgments.text": "Fundstelle", "run.doc": "Datei", "run.start": "von", "run.end": "bis",
        "run.rank": "Rang",
    }  # fmt: skip
    found = values(table, chunks, documents=DOCS, offsets="characters", columns=names)
    assert found["evidence_recall@2"] == EXPECTED["evidence_recall@2"]
    with pytest.raises(gf.errors.InputError, match="found only 'Frage', 'Fundstelle'"):
        values(table, chunks, documents=DOCS)
    with pytest.raises(gf.errors.InputError, match=r"columns judgments\.text="):
        values(table, chunks, documents=DOCS, columns={"query": "Frage"})
    with pytest.raises(gf.errors.InputError, match="pass their positions as chunk_table="):
        values({"q": [DAYS]}, [{"query": "q", "chunk_id": "c1"}], documents=DOCS)
