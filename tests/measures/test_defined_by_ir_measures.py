"""Measures that `ir_measures.define` and `define_byquery` made, taken as they are."""

import math
import pickle
import random
import sys

import ir_measures
import pytest

import gainful as gf

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


def many(seed=3):
    """Judgments and a run without ties; the run lacks a query, and has one that is not judged."""
    rng = random.Random(seed)  # noqa: S311
    grades = (0, 0, 1, 2, 3)
    judgments = {f"q{n}": {f"d{i}": rng.choice(grades) for i in range(12)} for n in range(8)}
    run = {q: {f"d{i}": rng.random() for i in rng.sample(range(20), 15)} for q in judgments}
    del run["q3"]
    return judgments, run


JUDGMENTS, RUN = many()


def long_ids(qrels, run):
    """How many of the first documents have an id of two digits: no measure without ids can say so."""
    return sum(len(doc) > 2 for doc in run.doc_id) + 0.01 * len(qrels)


def graded(qrels, run):
    """The sum of score times grade, by a join of the two frames."""
    both = run.merge(qrels, on=["query_id", "doc_id"])
    return float((both.score * both.relevance).sum())


def discounted(qrels, run):
    """A DCG: the frames are in the order of rank."""
    known = dict(zip(qrels.doc_id, qrels.relevance, strict=True))
    return sum(known.get(doc, 0) / math.log2(rank + 2) for rank, doc in enumerate(run.doc_id))


def of_all(qrels, run):
    for query, rows in run.groupby("query_id"):
        if query != "q5":  # which then has the default, 0
            yield query, float(rows.score.max() * (qrels.query_id == query).sum())


DEFINED = {
    "LongIds": ir_measures.define_byquery(long_ids, name="LongIds"),
    "graded": ir_measures.define_byquery(graded),
    "Discounted": ir_measures.define_byquery(discounted, name="Discounted", short_desc="A DCG."),
    "OfAll": ir_measures.define(of_all, name="OfAll"),
    "Plain": ir_measures.define_byquery(graded, name="Plain", support_cutoff=False),
}


def theirs(measure, judgments=JUDGMENTS, run=RUN):
    found = ir_measures.calc([measure], judgments, run)
    return {metric.query_id: metric.value for metric in found[1]}, found[0][measure]


@pytest.mark.parametrize("name", DEFINED)
@pytest.mark.parametrize("k", [None, 1, 4])
def test_the_numbers_of_ir_measures(name, k):
    given = DEFINED[name] if k is None or name == "Plain" else DEFINED[name] @ k
    values, mean = theirs(given)
    found = gf.evaluate(JUDGMENTS, RUN, [given, "AP"])
    rows = found.per_query.to_dict()
    assert {query: row[str(given)] for query, row in rows.items()} == pytest.approx(values)
    assert found[given] == found[str(given)] == pytest.approx(mean)
    assert found["AP"] == gf.evaluate(JUDGMENTS, RUN, "AP")["AP"]
    assert str(gf.measure(given)) == str(given)


def test_its_dcg_is_a_dcg():
    found = gf.evaluate(JUDGMENTS, RUN, [DEFINED["Discounted"] @ 5, "DCG@5"])
    assert found.values[:, 0] == pytest.approx(found.values[:, 1])


def test_from_every_kind_of_input(files):
    asked = [DEFINED["LongIds"] @ 3, DEFINED["OfAll"]]
    expected = gf.evaluate(JUDGMENTS, RUN, asked).values
    judgments = files(
        "j", "".join(f"{q} 0 {d} {g}\n" for q, docs in JUDGMENTS.items() for d, g in docs.items())
    )
    run = files(
        "r", "".join(f"{q} 0 {d} 1 {s} t\n" for q, docs in RUN.items() for d, s in docs.items())
    )
    assert gf.evaluate(judgments, run, asked).values == pytest.approx(expected)


def test_the_policy_holds():
    given = DEFINED["Discounted"]
    judgments = {"q": {"a": 1, "b": 2, "c": 3, "n": -1}, "r": {"a": 1}}
    run = {"q": {"a": 1.0, "b": 1.0, "x": 3.0, "c": 0.5, "n": 0.1}}
    for choices, expected in (
        ({}, 2 / math.log2(3) + 1 / 2 + 3 / math.log2(5) - 1 / math.log2(6)),  # x, b, a, c, n
        ({"ties": "worst"}, 1 / math.log2(3) + 2 / 2 + 3 / math.log2(5) - 1 / math.log2(6)),
        ({"unjudged": "condense"}, 2 + 1 / math.log2(3) + 3 / 2 - 1 / math.log2(5)),
        ({"unjudged": 1.0}, 1 + 2 / math.log2(3) + 1 / 2 + 3 / math.log2(5) - 1 / math.log2(6)),
        ({"negative": "unjudged"}, 2 / math.log2(3) + 1 / 2 + 3 / math.log2(5)),
    ):
        found = gf.evaluate(judgments, run, [given, "DCG"], policy=choices).values
        assert found[0] == pytest.approx([expected, expected]), choices
        assert found[1].tolist() == [0, 0]  # r, which the run lacks
    skipped = gf.evaluate(judgments, run, given, policy={"missing": "skip"})
    assert skipped.queries == ("q",)
    with pytest.raises(
        gf.errors.InputError, match=r"under ties=average: .* a single order, found tied"
    ):
        gf.evaluate(judgments, run, given, policy={"ties": "average"})


def test_a_query_that_is_not_judged_is_not_asked_for():
    seen = []
    watch = ir_measures.define_byquery(
        lambda _, run: seen.extend(run.query_id) or 1.0, name="Watch"
    )
    assert gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}, "x": {"b": 1}}, watch)["Watch"] == 1
    assert seen == ["q"]


def test_wherever_a_measure_is():
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    runs, given = {"one": RUN, "two": other}, DEFINED["Discounted"] @ 3
    found = gf.compare(JUDGMENTS, runs, [given, "DCG@3"], by="judged")
    assert found["two", given].difference == pytest.approx(found["two", "DCG@3"].difference)
    assert found.gate("Δ Discounted@3 < -9").failed is False
    scores = gf.evaluate_runs(JUDGMENTS, runs, [given])["two"]
    assert scores[given] == pytest.approx(gf.evaluate(JUDGMENTS, other, "DCG@3")["DCG@3"])
    assert "Discounted@3" in scores.signature(given)
    again = pickle.loads(pickle.dumps(scores))  # noqa: S301
    assert again["Discounted@3"] == scores[given]
    with pytest.raises(
        gf.errors.InputError, match=r"its function was given, ties=doc, found ties="
    ):
        scores.ties  # noqa: B018
    assert gf.assert_not_worse(JUDGMENTS, RUN, RUN, given)["run", given].difference == 0


def test_its_name_is_its_own():
    for name in ("nDCG", "map", "P"):
        taken = ir_measures.define_byquery(lambda *_: 0.1, name=name)
        for given in (taken, taken @ 10, [taken @ 10, "AP"]):
            with pytest.raises(gf.errors.MeasureError, match=r"a unique name, .* catalogue"):
                gf.evaluate(JUDGMENTS, RUN, given)
    tenth, fifth = (
        ir_measures.define_byquery(lambda *_, at=at: at, name="Same") for at in (0.1, 0.2)
    )
    for dialect in (None, "lightgbm"):
        found = gf.evaluate(JUDGMENTS, RUN, [tenth @ 10], dialect=dialect, policy=None)
        assert found.values[0, 0] == 0.1
    with pytest.raises(gf.errors.MeasureError, match="different names, found 'Same' twice"):
        gf.evaluate(JUDGMENTS, RUN, [tenth, fifth])
    with pytest.raises(gf.errors.MeasureError, match=r"a measure with a name, .*name='Name'"):
        gf.evaluate(JUDGMENTS, RUN, ir_measures.define(of_all))


def _by_query(function):
    return ir_measures.define_byquery(function, name="Bad")


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (_by_query(lambda _, run: run.nothing), r"Bad, a function .* found AttributeError"),
        (_by_query(lambda *_: math.nan), r"query 'q0': expected a finite value, found nan"),
        (_by_query(lambda *_: "much"), r"query 'q0': expected a number, found 'much'"),
        (ir_measures.define(lambda *_: [("z", 1.0)], name="Bad"), r"query 'z': expected one value"),
        (ir_measures.define(lambda *_: [("q0", 1.0)] * 2, name="Bad"), "'q0': expected one value"),
        (ir_measures.define_byquery(graded, name="Bad", run_inputs=["query_id", "text"]),
         "of the run, found text"),
        (ir_measures.define_byquery(graded, name="Bad", qrel_inputs=["query_id", "text"]),
         "of judgments, found text"),
    ],
    ids=range(7),
)  # fmt: skip
def test_a_bad_function_is_told(measure, words):
    with pytest.raises(gf.errors.InputError, match=words):
        gf.evaluate(JUDGMENTS, RUN, measure)


def test_where_there_are_no_documents():
    given = DEFINED["Discounted"]
    with pytest.raises(gf.errors.MeasureError, match="expected documents with ids and scores"):
        gf.evaluate_arrays(labels=[[1]], scores=[[1.0]], measures=given)
    with pytest.raises(gf.errors.GainfulError):
        gf.bounds(JUDGMENTS, RUN, given, grades=(0, 1, 2, 3))


def test_its_curve():
    one, other = (gf.curve(JUDGMENTS, RUN, each, upto=4) for each in (DEFINED["Discounted"], "DCG"))
    assert [row[-1] for row in one.table().rows] == pytest.approx(
        [row[-1] for row in other.table().rows]
    )


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # as where it is not installed
    with pytest.raises(gf.errors.MissingDependencyError, match=r"Plain, .*the package pandas"):
        gf.evaluate(JUDGMENTS, RUN, DEFINED["Plain"])


def test_own_measures_of_one_name_are_two():
    one, two = (
        gf.measures.define("Same")(lambda lists, at=at: lists.retrieved * 0.0 + at) for at in (1, 2)
    )
    assert one != two
    with pytest.raises(gf.errors.MeasureError, match="different names, found 'Same' twice"):
        gf.evaluate(JUDGMENTS, RUN, [one, two])
