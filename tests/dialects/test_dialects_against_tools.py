"""Every dialect whose tool is at hand gives the numbers of the tool, of each query and over all.

Where the tool leaves ties open (`Dialect.ties`) there are none. Left out are lists with negative
grades whose ideal is below 0, by which torchmetrics and Rax divide (the rows say so).
"""

import dataclasses
import math

import numpy as np
import peers
import pytest

import gainful as gf

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

CUTOFFS = (None, 1, 2, 3, 5, 10)
WHOLE = (0, 0, 1, 2, 3, 4)
FLOATS = (0, 0, 1, 2.5, 0.5, 3)
NEGATIVE = (-2, -1, 0, 1, 2, 3)
BOTH = (-1.5, -1, 0, 0.5, 2, 3.25)
# The tools that take lists, with the grades that they take.
LISTS = [
    *(("scikit-learn", grades) for grades in (WHOLE, FLOATS)),
    *(("torchmetrics", grades) for grades in (WHOLE, FLOATS, NEGATIVE, BOTH)),
    ("lightgbm", WHOLE),
    ("xgboost", WHOLE),
    *(("catboost", grades) for grades in (WHOLE, FLOATS, NEGATIVE, BOTH)),
    *(("rax", grades) for grades in (WHOLE, FLOATS, NEGATIVE, BOTH)),
]


def name_of(k):
    return "nDCG" if k is None else f"nDCG@{k}"


def off(name):
    return {"abs": peers.tolerance(name), "rel": peers.tolerance(name)}


def flat(lists):
    return np.concatenate([np.asarray(row, float) for row in lists])


def reproduced(name, labels, scores, k):
    """Leave out lists that the rows of torchmetrics and Rax say differ."""
    if name not in ("torchmetrics", "rax"):
        return labels, scores
    kept = []
    for grades, given in zip(labels, scores, strict=True):
        gains = sorted((2.0**g - 1 if name == "rax" else g for g in grades), reverse=True)
        ideal = math.fsum(gain / math.log2(r + 2) for r, gain in enumerate(gains[:k]))
        summed_away = name == "torchmetrics" and sum(grades) == 0 and any(grades)
        # Beside an ideal of almost 0, single precision has no digits left.
        if (ideal > 0.05 or not any(grades)) and not summed_away:
            kept.append((grades, given))
    return [one for one, _ in kept], [other for _, other in kept]


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize(("name", "grades"), LISTS, ids=lambda value: str(value).replace(" ", ""))
def test_lists(name, grades, tied):
    for k in (None, 1, 3, 10) if tied else (None, 2):
        count = 40 if name == "lightgbm" else peers.LISTS  # which takes its time for each
        labels, scores = peers.random_lists(str((name, grades, k)), grades, count=count, tied=tied)
        labels, scores = reproduced(name, labels, scores, k)
        assert len(labels) >= 40
        theirs, mean = peers.LIST_TOOLS[name](labels, scores, k)
        ours = gf.evaluate_arrays(
            labels=flat(labels),
            scores=flat(scores),
            group=[len(row) for row in labels],
            measures=name_of(k),
            dialect=name,
        )
        assert ours.dialect == name
        assert ours.values[:, 0] == pytest.approx(theirs, **off(name))
        (value,) = ours.means.values()
        assert value == pytest.approx(mean, **off(name))
        assert len({round(one, 6) for one in theirs}) > 3


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize(("name", "grades"), LISTS, ids=lambda value: str(value).replace(" ", ""))
def test_lists_of_a_run(name, grades, k, tmp_path):
    """The same from judgments and a run; a query that the run lacks has no list.

    The tool sees what was retrieved: a document without a judgment has the label 0, in the list
    and in the ideal, and a judged one that was not retrieved is not there.
    """
    count = 40 if name == "lightgbm" else 80
    labels, scores = peers.random_lists(f"{name} {k} {grades}", grades, count=count)
    labels, scores = reproduced(name, labels, scores, k)
    judgments, run = peers.with_ids(name, labels, scores, elsewhere=grades)
    unjudged = [doc not in judgments[query] for query in run for doc in run[query]]
    assert sum(unjudged) > 15
    theirs, mean = peers.LIST_TOOLS[name](labels, scores, k)
    for given in ((judgments, run), peers.as_files(judgments, run, tmp_path)):
        found = gf.evaluate(*given, name_of(k), dialect=name)
        assert found.coverage.missing == ("missing",)
        rows = zip(found.queries, found.values[:, 0].tolist(), strict=True)
        ours = dict(rows)
        assert [ours[query] for query in run] == pytest.approx(theirs, **off(name))
        assert next(iter(found.means.values())) == pytest.approx(mean, **off(name))
    plain = gf.evaluate(judgments, run, name_of(k))
    assert plain[name_of(k)] != pytest.approx(mean, abs=1e-3)


@pytest.mark.parametrize("name", ["catboost", "torchmetrics", "rax"])
def test_an_unjudged_document_stands_before_a_bad_one_in_the_ideal(name):
    found = gf.evaluate(
        {"q": {"a": 1, "b": -1}}, {"q": {"a": 3, "u": 2, "b": 1}}, "nDCG@2", dialect=name
    )
    assert list(found.means.values()) == [1.0]


@pytest.mark.parametrize("name", peers.LIST_TOOLS)
def test_scores_that_differ_in_the_ninth_digit(name):
    """What compares in single precision has them as a tie."""
    labels, scores = [[1, 2, 0], [2, 1, 0]], [[0.500000001, 0.5, 0.1]] * 2
    theirs, _ = peers.LIST_TOOLS[name](labels, scores, None)
    ours = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG", dialect=name)
    assert ours.values[:, 0] == pytest.approx(theirs, **off(name))
    other = "double" if gf.measures.dialect(name).policy.precision == "single" else "single"
    policy = dataclasses.replace(gf.measures.dialect(name).policy, precision=other)
    measure = gf.measures.dialect(name).measure("nDCG")
    with_other = gf.evaluate_arrays(labels=labels, scores=scores, measures=measure, policy=policy)
    if gf.measures.dialect(name).policy.ties != "order":  # whose first is the higher one either way
        assert with_other.values[:, 0] != pytest.approx(theirs, abs=1e-4)


def test_the_first_of_a_tie_in_single_precision():
    """In the order of the list 0.5 comes first, though 0.500000001 is more."""
    labels, scores = [[1, 2, 0]], [[0.5, 0.500000001, 0.1]]
    for name in peers.SINGLE | {"lightgbm"}:
        (theirs,), _ = peers.LIST_TOOLS[name](labels, scores, None)
        ours = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG", dialect=name)
        assert ours.values[0, 0] == pytest.approx(theirs, **off(name)), name
        assert (ours.values[0, 0] == 1.0) == (name == "lightgbm")


def test_xgboost_without_a_cutoff_looks_at_32():
    rng = np.random.default_rng(5)
    labels, scores = rng.integers(0, 5, (40, 80)).tolist(), rng.normal(size=(40, 80)).tolist()
    theirs, mean = peers.xgb(labels, scores, None)
    ours = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG", dialect="xgboost")
    assert [str(measure) for measure in ours.measures] == ["nDCG(gain=exp2, ideal=retrieved)@32"]
    assert ours.values[:, 0] == pytest.approx(theirs, abs=2e-6)
    assert next(iter(ours.means.values())) == pytest.approx(mean, abs=2e-6)
    whole = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG@80", dialect="xgboost")
    assert whole.values[:, 0] != pytest.approx(theirs, abs=1e-2)


def test_xgboost_with_a_minus():
    labels, scores = peers.random_lists(3, WHOLE)
    theirs, _ = peers.xgb(labels, scores, 3, metric="ndcg-")
    policy = dataclasses.replace(gf.measures.dialect("xgboost").policy, empty="zero")
    ours = gf.evaluate_arrays(
        labels=flat(labels),
        scores=flat(scores),
        group=[len(row) for row in labels],
        measures=gf.measures.dialect("xgboost").measure("nDCG@3"),
        policy=policy,
    )
    assert ours.values[:, 0] == pytest.approx(theirs, abs=2e-6)


@pytest.mark.parametrize(
    ("settings", "measure"),
    [
        ("type=Exp", "nDCG(gain=exp2)@3"),
        ("type=Base;denominator=Position", "nDCG(discount=reciprocal)@3"),
        ("type=Exp;denominator=Position", "nDCG(gain=exp2, discount=reciprocal)@3"),
    ],
)
def test_the_other_forms_of_catboost(settings, measure):
    labels, scores = peers.random_lists(settings, NEGATIVE)
    theirs, mean = peers.cat_boost(labels, scores, 3, settings)
    ours = gf.evaluate_arrays(
        labels=flat(labels),
        scores=flat(scores),
        group=[len(row) for row in labels],
        measures=measure,
        dialect="catboost",
    )
    assert ours.values[:, 0] == pytest.approx(theirs, abs=1e-9)
    assert next(iter(ours.means.values())) == pytest.approx(mean, abs=1e-9)


def check(name, judgments, run, theirs, *, off=1e-9):
    """Compare every query at every cutoff, and return the scores."""
    measures = {k: gf.measures.dialect(name).measure(name_of(k)) for k in CUTOFFS}
    ours = gf.evaluate(judgments, run, [name_of(k) for k in CUTOFFS], dialect=name)
    rows = ours.per_query.to_dict()
    assert rows.keys() == theirs.keys()
    for k, measure in measures.items():
        found = [rows[query][str(measure)] for query in theirs]
        assert found == pytest.approx([row[k] for row in theirs.values()], abs=off), k
    return ours, measures


@pytest.mark.parametrize("name", ["pytrec_eval", "trec_eval-9", "beir"])
@pytest.mark.parametrize("seed", range(2))
def test_pytrec_eval(name, seed):
    near = (*peers.TIED, 0.25 + 1e-9, 0.5 - 1e-9, 0.75 + 3e-9)
    judgments, run = peers.random_queries(seed, grades=(-1, 0, 0, 1, 2, 3), scores=near)
    returned = run
    if name == "beir":
        for query in ("1", "2", "3", "5"):  # the query is a document of the collection
            run[query][query] = 2.0
            judgments[query][query] = 3
        run["5"] = {"5": 2.0}  # and nothing else is retrieved
        returned = peers.without_identical_ids(run)
    theirs = peers.trec(judgments, returned, CUTOFFS)
    ours, measures = check(name, judgments, run, theirs)
    assert len(ours.coverage.missing) == 20
    for k, measure in measures.items():
        mean = math.fsum(row[k] for row in theirs.values()) / len(theirs)
        assert ours[measure] == pytest.approx(mean, abs=1e-9)
    policy = gf.Policy(missing="skip")
    assert gf.evaluate(judgments, run, "nDCG", policy=policy)["nDCG"] != pytest.approx(
        ours["nDCG"], abs=1e-5
    )


def test_beir_leaves_the_query_out_of_the_results_alone():
    judgments, run = {"q1": {"q1": 1, "a": 1}}, {"q1": {"q1": 9, "a": 8}}
    found = gf.evaluate(judgments, run, "nDCG@10", dialect="beir")["nDCG@10"]
    assert found == pytest.approx(1 / (1 + 1 / math.log2(3)))  # a at rank 1, of two relevant ones
    assert round(found, 5) == 0.61315
    both = gf.evaluate(judgments, run, "nDCG@10", policy=gf.Policy(drop_self="yes"))
    assert both["nDCG@10"] == 1.0


@pytest.mark.parametrize("seed", range(2))
def test_ir_measures(seed):
    judgments, run = peers.random_queries(seed, grades=(0, 0, 1, 2, 3))
    theirs, means = peers.by_ir_measures(judgments, run, CUTOFFS)
    ours, measures = check("ir_measures", judgments, run, theirs)
    for k, measure in measures.items():
        assert ours[measure] == pytest.approx(means[k], abs=1e-9)
    assert len(ours.queries) == 300


@pytest.mark.parametrize("k", [1, 3, 20])
def test_gdeval(k, tmp_path):
    near = (*peers.TIED, 0.25 + 1e-9, 0.5 - 1e-9)
    judgments, run = peers.random_queries(k, grades=(-1, 0, 0, 1, 2, 3, 4), scores=near)
    theirs = peers.by_gdeval(judgments, run, k, tmp_path)
    measure = "nDCG" if k == 20 else f"nDCG@{k}"  # which is 20 there by itself
    ours = gf.evaluate(judgments, run, [measure, f"ERR(max=4)@{k}"], dialect="gdeval")
    rows = ours.per_query.to_dict()
    assert rows.keys() == theirs.keys()
    for place, name in enumerate(ours.means):
        found = [rows[query][name] for query in theirs]
        expected = [row[place] for row in theirs.values()]
        assert found == pytest.approx(expected, abs=5.01e-6)
        assert ours[name] == pytest.approx(math.fsum(expected) / len(expected), abs=5.01e-6)
    assert len(theirs) < len(judgments) - 20  # empty and missing queries are left out


RANX = {name_of(k): "ndcg" if k is None else f"ndcg@{k}" for k in CUTOFFS} | {
    "nDCG(gain=exp2)@5": "ndcg_burges@5"
}


@pytest.mark.parametrize("seed", range(2))
def test_ranx(seed):
    """Without ties; a missing query is an error, and 0 with make_comparable."""
    judgments, run = peers.random_queries(seed, grades=(-1, 0, 0, 1, 2, 3), scores=None)
    judged = {query: judgments[query] for query in judgments if query in run}
    found = {query: run[query] for query in judged}
    theirs, means = peers.by_ranx(judged, found, list(RANX.values()))
    ours = gf.evaluate(judged, found, list(RANX), dialect="ranx")
    for measure, name in RANX.items():
        rows = ours.per_query.to_dict()
        each = [rows[query][str(gf.measure(measure))] for query in theirs[name]]
        assert each == pytest.approx(list(theirs[name].values()), abs=1e-9)
        assert ours[measure] == pytest.approx(means[name], abs=1e-9)
    with pytest.raises(AssertionError, match="do not match"):
        peers.by_ranx(judgments, found, ["ndcg", "ndcg@5"])
    with pytest.raises(gf.errors.InputError, match="missing=error"):
        gf.evaluate(judgments, run, dialect="ranx")
    _, means = peers.by_ranx(judgments, found, ["ndcg", "ndcg@5"], make_comparable=True)
    policy = dataclasses.replace(gf.measures.dialect("ranx").policy, missing="zero")
    zero = gf.evaluate(judgments, found, ["nDCG", "nDCG@5"], policy=policy)
    assert zero["nDCG"] == pytest.approx(means["ndcg"], abs=1e-9)
    assert zero["nDCG@5"] == pytest.approx(means["ndcg@5"], abs=1e-9)
