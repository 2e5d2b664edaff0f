"""Lists of objects whose scores, ranks or distances contradict their order: never without a warning."""

import json
from collections import namedtuple
from dataclasses import make_dataclass
from types import SimpleNamespace

import pytest

import gainful as gf

JUDGMENTS = {"q1": {"d2": 1}}
DOCS = ("d3", "d1", "d2")
# The best by each number is d2, which the list has at rank 3.
NUMBERS = {
    "score": (0.1, 0.5, 0.9),
    "relevance": (0.1, 0.5, 0.9),
    "similarity": (1, 5, 9),
    "rank": (3, 2, 1),
    "position": (2, 1, 0),
    "distance": (0.9, 0.5, 0.1),
    "cosine_distance": (0.9, 0.5, 0.1),
}


def fields_of(make):
    return lambda record: make(*record)(*record.values())


MAKE = {
    "dicts": dict,
    "dataclasses": fields_of(lambda *names: make_dataclass("Hit", names)),
    "named tuples": fields_of(lambda *names: namedtuple("Hit", names)),
    "objects": lambda record: SimpleNamespace(**record),
    "metadata": lambda record: {"id": record.pop("doc"), "metadata": record},
}
SHAPES = {
    "by query": lambda hits: {"q1": hits},
    "results": lambda hits: [{"query": "q1", "results": hits}],
    "documents": lambda hits: [{"query": "q1", "documents": hits, "model": "m"}],
    "a response of its own": lambda hits: [{"query": "q1", "response": {"results": hits, "n": 3}}],
}


def run_of(shape, make, number, values=None):
    values = NUMBERS[number] if values is None else values
    pairs = zip(DOCS, values, strict=True)
    return SHAPES[shape]([MAKE[make]({"doc": doc, number: value}) for doc, value in pairs])


def role_of(number):
    return "score" if number in ("score", "relevance", "similarity") else "rank"


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_against_the_order_are_told(shape, make, number, tmp_path):
    run, role = run_of(shape, make, number), role_of(number)
    runs = [run]
    if make in ("dicts", "metadata"):
        runs.append(tmp_path / "run.json")
        runs[1].write_text(json.dumps(run))
    said = (
        f"'{number}' contradict the order .*'q1': 'd3' .* before 'd1' .*columns run.{role}={number}"
    )
    for given in runs:
        with pytest.warns(gf.errors.GainfulWarning, match=said):
            assert gf.evaluate(JUDGMENTS, given, "RR")["RR"] == pytest.approx(1 / 3)
        named = gf.evaluate(JUDGMENTS, given, "RR", columns={f"run.{role}": number})
        assert named["RR"] == 1.0


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_that_agree_are_not(shape, number):
    for values in (NUMBERS[number][::-1], (0.5, 0.5, 0.5)):
        run = run_of(shape, "dicts", number, values)
        assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == pytest.approx(1 / 3)


def test_flat_rows_and_pairs_are_in_the_order_of_their_numbers():
    rows = [
        {"query": "q1", "doc": doc, "score": score}
        for doc, score in zip(DOCS, NUMBERS["score"], strict=True)
    ]
    pairs = {"q1": [*zip(DOCS, (0.1, 0.9, 1.5), strict=True)], "q2": [("a", 2), ("b", 1)]}
    for run in (rows, pairs):
        assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == 1.0


def test_the_warning_counts_the_queries():
    hits = [{"doc": "d1", "score": 1}, {"doc": "d2", "score": 2}]
    with pytest.warns(gf.errors.GainfulWarning, match="query 'q1' and of 2 more: 'd1' \\(1\\)"):
        gf.evaluate(JUDGMENTS, {"q1": hits, "q2": hits, "q3": hits, "q4": hits[::-1]}, "RR")


def test_a_rank_that_is_named_is_refused_where_it_lacks_or_repeats():
    hits = [{"doc": "d1", "rank": 1}, {"doc": "d2", "rank": 1}]
    with pytest.raises(gf.errors.InputError, match="a different rank in 'rank'"):
        gf.evaluate(JUDGMENTS, {"q1": hits}, columns={"run.rank": "rank"})
    with pytest.raises(
        gf.errors.InputError, match="a number in 'rank' of each document, found none"
    ):
        gf.evaluate(JUDGMENTS, {"q1": [*hits[:1], {"doc": "d2"}]}, columns={"run.rank": "rank"})


def test_what_a_service_holds_of_a_document_is_no_number_of_the_search():
    hits = [
        {
            "_id": doc,
            "_score": None,
            "_source": {"score": place, "rank": 9 - place, "distance": 9 - place},
        }
        for place, doc in enumerate(DOCS)
    ]
    response = {"took": 1, "hits": {"hits": hits}}
    assert gf.evaluate(JUDGMENTS, {"q1": response}, "RR")["RR"] == pytest.approx(1 / 3)


def hits_of(engine, numbers):
    """A response whose hits are d3, d1 and d2, with numbers that say their order."""
    pairs = [*zip(DOCS, numbers, strict=True)]
    responses = {
        "weaviate": {"data": {"Get": {"Doc": [{"_additional": {"id": d, "distance": n}} for d, n in pairs]}}},
        "typesense": {"found": 3, "hits": [{"document": {"id": d}, "vector_distance": n} for d, n in pairs]},
        "chroma": {"ids": [[*DOCS]], "distances": [[*numbers]]},
    }  # fmt: skip
    return responses[engine]


@pytest.mark.parametrize(
    ("engine", "field"),
    [("weaviate", "distance"), ("typesense", "vector_distance"), ("chroma", "distances")],
)
def test_distances_of_a_search_service_against_its_order_are_told(engine, field, tmp_path):
    path = tmp_path / "run.json"
    said = f"'{field}' contradict the order .*'q1': 'd3' .* before 'd1' .*columns run.rank={field}"
    rising, falling = ({"q1": hits_of(engine, (0.1, 0.5, 0.9)[::step])} for step in (1, -1))
    path.write_text(json.dumps(falling))
    for run in (falling, path):
        with pytest.warns(gf.errors.GainfulWarning, match=said):
            assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == pytest.approx(1 / 3)
        assert gf.evaluate(JUDGMENTS, run, "RR", columns={"run.rank": field})["RR"] == 1.0
    path.write_text(json.dumps(rising))
    for run in (rising, path):
        assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == pytest.approx(1 / 3)


def test_distances_of_hits_that_something_else_orders_are_not_told():
    for field, value in (("text_match", 5), ("hybrid_search_info", {"rank_fusion_score": 0.5})):
        run = {"q1": hits_of("typesense", (0.9, 0.5, 0.1))}
        for hit in run["q1"]["hits"]:
            hit[field] = value
        assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_as_text_against_the_order_are_told(shape, tmp_path):
    path = tmp_path / "run.json"
    run = run_of(shape, "dicts", "score", ("0.1", "0.5", "0.9"))
    path.write_text(json.dumps(run))
    said = "'score' contradict the order .*'q1': 'd3' .* before 'd1' .*columns run.score=score"
    for given in (run, path):
        with pytest.warns(gf.errors.GainfulWarning, match=said):
            assert gf.evaluate(JUDGMENTS, given, "RR")["RR"] == pytest.approx(1 / 3)
        assert gf.evaluate(JUDGMENTS, given, "RR", columns={"run.score": "score"})["RR"] == 1.0
    for values in (("0.9", "0.5", "0.1"), ("high", "low", "none")):
        run = run_of(shape, "dicts", "score", values)
        assert gf.evaluate(JUDGMENTS, run, "RR")["RR"] == pytest.approx(1 / 3)
