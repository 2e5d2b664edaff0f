"""Ranked lists, records, responses of search services, objects of other libraries: as people have them."""

import json
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands

JUDGMENTS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 3.0, "c": 2.0}}
LISTS = {"q1": ["a", "x"], "q2": ["x", "c"]}
IDS = ["q1", "q2"]
ROWS = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
# By hand: q1 has 2 of 2 + 1/log2(3), q2 has 1/log2(3) of 1.
VALUE = (2 / (2 + 1 / np.log2(3)) + 1 / np.log2(3)) / 2


def ndcg(judgments, run, **options):
    found = gf.evaluate(judgments, run, "nDCG@10", **options)
    assert found.queries == ("q1", "q2")
    return found["nDCG@10"]


@dataclass
class Retrieved:
    query_id: str
    doc_id: str
    score: float


class Scored(NamedTuple):
    qid: str
    docno: str
    score: float


class Slotted:
    __slots__ = ("doc", "query", "score")

    def __init__(self, query, doc, score):
        self.query, self.doc, self.score = query, doc, score


RUNS = {
    "lists": LISTS,
    "tuples": {query: tuple(docs) for query, docs in LISTS.items()},
    "arrays": {query: np.array(docs) for query, docs in LISTS.items()},
    "iterators": {query: iter(docs) for query, docs in LISTS.items()},
    "pairs": {"q1": [("a", 2.0), ("x", 1)], "q2": [("c", 2), ("x", 3)]},
    "pairs in lists": {"q1": [["a", 2.0], ["x", 1]], "q2": [["c", 2], ["x", np.float32(3)]]},
    "records": [{"query": q, "doc": d, "score": s} for q, d, s in ROWS],
    "records by rank": [
        {"query": q, "doc": d, "rank": rank}
        for q, docs in LISTS.items()
        for rank, d in enumerate(docs, 1)
    ],
    "an iterator of records": lambda: ({"query": q, "doc": d, "score": s} for q, d, s in ROWS),
    "dataclasses": [Retrieved(*row) for row in ROWS],
    "named tuples": [Scored(*row) for row in ROWS],
    "an iterator of named tuples": lambda: (Scored(*row) for row in ROWS),
    "objects": [Slotted(*row) for row in ROWS],
    "rows": ROWS,
    "a list, and a dict": {"q1": ["a", "x"], "q2": {"x": 3, "c": 2}},
}


@pytest.mark.parametrize("shape", RUNS)
def test_a_run_of_any_shape(shape):
    run = RUNS[shape]
    assert ndcg(JUDGMENTS, run() if callable(run) else run) == pytest.approx(VALUE)


def test_lists_of_lists_with_the_ids_of_their_queries(tmp_path):
    lists = [*LISTS.values()]
    assert ndcg(JUDGMENTS, lists, queries=IDS) == pytest.approx(VALUE)
    assert ndcg(JUDGMENTS, iter(lists), queries=np.array(IDS)) == pytest.approx(VALUE)
    assert ndcg(JUDGMENTS, [[("a", 2), ("x", 1)], ["x", "c"]], queries=IDS) == pytest.approx(VALUE)
    (tmp_path / "ids").write_text("q1\n\nq2\n")
    assert ndcg(JUDGMENTS, lists, queries=tmp_path / "ids") == pytest.approx(VALUE)
    judged = [{"a": 2, "b": 1}, {"c": 1}]
    assert gf.evaluate(judged, lists, queries=IDS)["nDCG@10"] == pytest.approx(VALUE)


def test_judgments_without_grades_have_grade_1():
    expected = ndcg({"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}, RUN)
    for judgments in (
        {"q1": ["a", "b"], "q2": ["c"]},
        {"q1": {"a", "b"}, "q2": frozenset("c")},
        {"q1": ("b", "a"), "q2": {"c": 1}},
        {"q1": [{"id": "a"}, {"id": "b"}], "q2": [{"doc": "c"}]},
    ):
        assert ndcg(judgments, RUN) == expected


def test_judgments_with_grades_in_lists():
    judgments = {"q1": [("a", 2), ("b", 1)], "q2": [{"doc": "c", "grade": 1}]}
    assert ndcg(judgments, RUN) == pytest.approx(VALUE)
    rows = [
        {"qid": q, "docno": d, "label": g} for q, docs in JUDGMENTS.items() for d, g in docs.items()
    ]
    assert ndcg(rows, RUN) == pytest.approx(VALUE)


def test_integers_are_ids():
    assert gf.evaluate({1: [10, 20]}, {1: [20, 30]})["nDCG@10"] == pytest.approx(
        1 / (1 + 1 / np.log2(3))
    )


def test_nothing_is_modified():
    run = {"q1": [{"_id": "a", "_source": {"t": 1}}], "q2": ["x", "c"]}
    copy = json.dumps(run)
    gf.evaluate(JUDGMENTS, run)
    assert json.dumps(run) == copy


def test_a_document_that_stands_again_counts_where_it_stood_first():
    with pytest.warns(
        gf.errors.GainfulWarning, match=r"'a' of query 'q1' is repeated in its list; the first"
    ):
        assert ndcg(JUDGMENTS, {"q1": ["a", "x", "a"], "q2": ["x", "c"]}) == pytest.approx(VALUE)


def test_scores_that_rise_along_every_list_are_told():
    rising = {"q1": [("a", 0.1), ("x", 0.2)], "q2": [("x", 0.1), ("c", 0.3)]}
    with pytest.warns(gf.errors.GainfulWarning, match="as distances do"):
        ndcg(JUDGMENTS, rising)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ([["a"], ["b"]], "the ids of the queries, for a list of lists"),
        (["a", "b"], "Name the query"),
        ([], "an empty list"),
        ({"q1": {"a", "b"}}, "a set, which has no order"),
        ({"q1": "abc"}, "a list of documents"),
        ({"q1": 5}, "a list of documents"),
        ({"q1": [("a", 1, 2)]}, "a pair"),
        ({"q1": [("a", "high")]}, "a score"),
        ({"q1": [("a", 2**53 + 1)]}, "holds exactly"),
        ({"q1": [{"title": "x"}]}, "the id of a document"),
        ({"q1": [None]}, "the id of a document"),
        ({"q1": [1.5]}, "the id of a document"),
        ([{"query": "q", "hits": [{"t": 1}]}], "the id of a document"),
        ([{"hits": {"hits": []}}], "the query that it answers"),
        ([("q1", "a", 1), 5], r"row 2: expected .query, doc, score. with a number"),
        ({"en": {"test": RUN}, "de": {"test": RUN}}, "one split of one subset"),
        (5, "a data frame"),
        (object(), "a data frame"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told(run, said):
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(JUDGMENTS, run)


def test_queries_that_do_not_fit_are_told():
    with pytest.raises(gf.errors.InputError, match="1 ids, one for each list"):
        gf.evaluate(JUDGMENTS, [["a"]], queries=["q1", "q2"])
    with pytest.raises(gf.errors.InputError, match="Leave it out"):
        gf.evaluate(JUDGMENTS, RUN, queries=["q1", "q2"])
    with pytest.raises(gf.errors.InputError, match="queries: expected a list of ids"):
        gf.evaluate(JUDGMENTS, [["a"]], queries=5)
    with pytest.raises(gf.errors.InputError, match="each query once"):
        gf.evaluate(JUDGMENTS, [["a"], ["b"]], queries=["q1", "q1"])


def elasticsearch(query, docs):
    hits = [{"_index": "i", "_id": doc, "_score": RUN[query][doc]} for doc in docs]
    return {"took": 1, "timed_out": False, "hits": {"total": {"value": 2}, "hits": hits}}


def solr(query, docs):
    header = {"responseHeader": {"params": {"q": query}}}
    return header | {"response": {"numFound": 2, "docs": [{"id": doc} for doc in docs]}}


def vespa(query, docs):
    children = [{"id": doc, "relevance": RUN[query][doc], "fields": {}} for doc in docs]
    return {"root": {"id": "toplevel", "relevance": 1.0, "children": children}}


def algolia(query, docs):
    return {"query": query, "hits": [{"objectID": doc} for doc in docs], "nbHits": 2}


def typesense(query, docs):
    hits = [{"document": {"id": doc}, "text_match": 578730123365711993} for doc in docs]
    return {"found": 2, "request_params": {"q": query}, "hits": hits}


def meilisearch(query, docs):
    hits = [{"id": doc, "_rankingScore": RUN[query][doc] / 10} for doc in docs]
    return {"query": query, "hits": hits}


def qdrant(query, docs):
    points = [{"id": doc, "score": RUN[query][doc]} for doc in docs]
    return {"result": {"points": points}, "status": "ok"}


SERVICES = [elasticsearch, solr, vespa, algolia, typesense, meilisearch, qdrant]


@pytest.mark.parametrize("service", SERVICES, ids=lambda each: each.__name__)
def test_responses_of_search_services(service, tmp_path):
    answers = {query: service(query, docs) for query, docs in LISTS.items()}
    bare = [*answers.values()]
    assert ndcg(JUDGMENTS, answers) == pytest.approx(VALUE)
    assert ndcg(JUDGMENTS, bare, queries=IDS) == pytest.approx(VALUE)
    for several in ("responses", "results"):
        assert ndcg(JUDGMENTS, {several: bare}, queries=IDS) == pytest.approx(VALUE)
    (tmp_path / "by-query.json").write_text(json.dumps(answers))
    assert ndcg(JUDGMENTS, tmp_path / "by-query.json") == pytest.approx(VALUE)
    for name, text in {
        "list.json": json.dumps(bare, indent=2),
        "lines.jsonl": "".join(json.dumps(each) + "\n" for each in bare),
        "several.json": json.dumps({"responses": bare}),
    }.items():
        (tmp_path / name).write_text(text)
        assert ndcg(JUDGMENTS, tmp_path / name, queries=IDS) == pytest.approx(VALUE), name
    named = [{"query": query, **each} for query, each in answers.items()]
    assert ndcg(JUDGMENTS, named) == pytest.approx(VALUE)


def test_some_services_tell_the_query_themselves():
    for service in (solr, algolia, typesense, meilisearch):
        answers = [service(query, docs) for query, docs in LISTS.items()]
        assert ndcg(JUDGMENTS, answers) == pytest.approx(VALUE), service.__name__


def test_hits_stand_in_the_order_of_rank_whatever_they_were_sorted_by():
    """Sorted by a price, hits have scores that say nothing; sorted by none, they have no score."""
    by_price = {"q1": [{"_id": "a", "_score": 1}, {"_id": "x", "_score": 2}], "q2": ["x", "c"]}
    with pytest.warns(gf.errors.GainfulWarning, match="contradict the order of the list"):
        assert ndcg(JUDGMENTS, by_price) == pytest.approx(VALUE)
    unscored = {
        "q1": [{"_id": "a", "_score": None}, {"_id": "x", "_score": None}],
        "q2": ["x", "c"],
    }
    assert ndcg(JUDGMENTS, unscored) == pytest.approx(VALUE)


def test_a_field_of_the_document_is_its_id_where_it_is_named():
    hits = {
        query: {"hits": {"hits": [{"_id": "7", "_source": {"sku": doc}} for doc in docs]}}
        for query, docs in LISTS.items()
    }
    assert ndcg(JUDGMENTS, hits, columns={"run.doc": "sku"}) == pytest.approx(VALUE)


def test_a_query_may_have_the_name_of_a_field_of_a_response():
    """Queries are often texts, and a text may be any word."""
    names = {"q1": "documents", "q2": "results"}
    judgments = {names[query]: docs for query, docs in JUDGMENTS.items()}
    lists = {names[query]: docs for query, docs in LISTS.items()}
    assert gf.evaluate(judgments, lists)["nDCG@10"] == pytest.approx(VALUE)
    hits = {query: [{"id": doc} for doc in docs] for query, docs in lists.items()}
    assert gf.evaluate(judgments, hits)["nDCG@10"] == pytest.approx(VALUE)
    scored = {names[query]: docs for query, docs in RUN.items()}
    assert gf.evaluate(judgments, scored)["nDCG@10"] == pytest.approx(VALUE)


def test_one_response_with_its_query():
    assert (
        gf.evaluate({"q1": ["a"]}, elasticsearch("q1", ["a", "x"]), queries=["q1"])["nDCG@10"] == 1
    )
    assert gf.evaluate({"q1": ["a"]}, {"query": "q1", "hits": ["a", "x"]})["nDCG@10"] == 1


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict = field(default_factory=dict)
    id: str | None = None


@dataclass
class Node:
    node_id: str
    text: str = ""


@dataclass
class NodeWithScore:
    node: Node
    score: float | None = None


def test_documents_of_frameworks():
    def everywhere(make):
        return {query: [make(query, doc) for doc in docs] for query, docs in LISTS.items()}

    for run in (
        everywhere(lambda _, doc: LangChainDocument("text", id=doc)),
        everywhere(lambda _, doc: LangChainDocument("text", {"doc_id": doc})),
        everywhere(lambda q, doc: (LangChainDocument("text", id=doc), RUN[q][doc])),
        everywhere(lambda q, doc: NodeWithScore(Node(doc), RUN[q][doc])),
        everywhere(lambda _, doc: NodeWithScore(Node(doc))),
    ):
        assert ndcg(JUDGMENTS, run) == pytest.approx(VALUE)
    by_source = everywhere(lambda _, doc: LangChainDocument("text", {"source": doc}))
    with pytest.raises(gf.errors.InputError, match=r"'source'.*Name the field: columns doc="):
        gf.evaluate(JUDGMENTS, by_source)
    assert ndcg(JUDGMENTS, by_source, columns={"run.doc": "source"}) == pytest.approx(VALUE)


def test_ranx_objects():
    import ranx

    judgments = ranx.Qrels(JUDGMENTS)
    assert ndcg(judgments, ranx.Run(RUN)) == pytest.approx(VALUE)


def test_ir_measures_tuples():
    import ir_measures

    judged = [ir_measures.Qrel(q, d, g) for q, docs in JUDGMENTS.items() for d, g in docs.items()]
    returned = (ir_measures.ScoredDoc(*row) for row in ROWS)
    assert ndcg(judged, returned) == pytest.approx(VALUE)


def test_a_dataset_with_iterators():
    Judged = namedtuple("Judged", ["query_id", "doc_id", "relevance", "iteration"])

    class Dataset:
        def qrels_iter(self):
            return (Judged(q, d, g, "0") for q, docs in JUDGMENTS.items() for d, g in docs.items())

        def scoreddocs_iter(self):
            return (Scored(*row) for row in ROWS)

    assert ndcg(Dataset(), Dataset()) == pytest.approx(VALUE)


def test_predictions_by_subset_and_split(tmp_path):
    written = {"mteb_model_meta": {"name": "m"}, "default": {"test": RUN}}
    assert ndcg(JUDGMENTS, written) == pytest.approx(VALUE)
    (tmp_path / "predictions.json").write_text(json.dumps(written))
    assert ndcg(JUDGMENTS, tmp_path / "predictions.json") == pytest.approx(VALUE)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(LISTS),
        json.dumps(LISTS, indent=2),
        json.dumps({query: [[d, RUN[query][d]] for d in docs] for query, docs in LISTS.items()}),
        "".join(json.dumps({"query": q, "docs": docs}) + "\n" for q, docs in LISTS.items()),
        "".join(
            json.dumps({"query": q, "doc": d, "score": s, "tags": ["t"]}) + "\n" for q, d, s in ROWS
        ),
    ],
)
def test_the_same_shapes_in_json(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    assert ndcg(JUDGMENTS, tmp_path / "run.json") == pytest.approx(VALUE)


def test_the_command_line_reads_them(tmp_path):
    (tmp_path / "judged.json").write_text(json.dumps({"q1": ["a", "b"], "q2": ["c"]}))
    (tmp_path / "run.json").write_text(json.dumps([*LISTS.values()]))
    (tmp_path / "ids.txt").write_text("q1\nq2\n")
    files = [str(tmp_path / "judged.json"), str(tmp_path / "run.json")]
    asked = ["evaluate", *files, "--query-ids", str(tmp_path / "ids.txt"), "--format", "json"]
    done = CliRunner().invoke(commands, asked, catch_exceptions=False)
    assert json.loads(done.output)["runs"][0]["means"]["nDCG@10"] == pytest.approx(
        ndcg({"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}, RUN)
    )


def test_every_function_takes_them(tmp_path):
    lists = [*LISTS.values()]
    found = gf.compare(JUDGMENTS, {"one": lists, "two": RUN}, queries=IDS)
    assert found["two", "nDCG@10"].difference == pytest.approx(0)
    assert gf.explain(JUDGMENTS, LISTS, "nDCG@10", query="q1").value == pytest.approx(
        gf.evaluate({"q1": JUDGMENTS["q1"]}, {"q1": RUN["q1"]})["nDCG@10"]
    )
    gf.write_run(LISTS, tmp_path / "run.txt")
    assert ndcg(JUDGMENTS, tmp_path / "run.txt") == pytest.approx(VALUE)
    assert gf.check(JUDGMENTS, {"lists": LISTS}).counts["error"] == 0


def test_the_folder_of_a_beir_dataset(tmp_path):
    folder = tmp_path / "scifact"
    (folder / "qrels").mkdir(parents=True)
    rows = "".join(f"{q}\t{d}\t{g}\n" for q, docs in JUDGMENTS.items() for d, g in docs.items())
    (folder / "corpus.jsonl").write_text("")
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)
    assert ndcg(folder, RUN) == pytest.approx(VALUE)
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq9\tz\t1\n")
    with pytest.raises(gf.errors.InputError, match=r"2: dev\.tsv, train\.tsv\. Name one of them"):
        gf.evaluate(folder, RUN)
    (folder / "qrels" / "dev.tsv").rename(folder / "qrels" / "test.tsv")
    assert ndcg(str(folder), RUN) == pytest.approx(VALUE)


@pytest.mark.parametrize("ranked", [["b", ("a", 0.4), ("c", 0.9)], [("a", 0.4), "b"]])
def test_pairs_and_ids_in_one_ranked_list_are_refused(ranked):
    with pytest.raises(gf.errors.InputError, match=r"found both: . of . with a score, 'b' without"):
        gf.evaluate({"q": {"a": 1}}, {"q": ranked}, "RR")


def test_in_judgments_an_id_beside_pairs_has_grade_1():
    # By hand: grade 1 before grade 3, where the other order is ideal.
    scores = gf.evaluate({"q": ["b", ("a", 3)]}, {"q": ["b", "a"]}, "nDCG")
    discount = 1 / np.log2(3)
    assert scores["nDCG"] == pytest.approx((1 + 3 * discount) / (3 + discount))
