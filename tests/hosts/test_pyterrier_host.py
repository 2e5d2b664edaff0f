"""Measures inside `pt.Experiment`, on data frames, without Java."""

import random

import ir_measures
import pandas as pd
import pyterrier as pt
import pytest

import gainful as gf
from gainful.integrations.pyterrier import measures

# The host uses what pandas will drop, and tells of topics without judgments.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:.*topic.s. not found")
ASKED = ["nDCG@5", "nDCG(gain=exp2)@10", "AP", "RBP(p=0.5)"]


def frames(seed, ids=str):
    """Judgments and results with ties; q3 has no results, and q6 no judgments."""
    rng = random.Random(seed)  # noqa: S311
    rows = [(ids(q), f"d{d}", rng.choice((0, 0, 1, 2))) for q in range(6) for d in range(8)]
    qrels = pd.DataFrame(rows, columns=["qid", "docno", "label"])
    rows = [
        (ids(q), f"d{d}", rng.randrange(5) / 4)
        for q in range(7)
        if q != 3
        for d in rng.sample(range(12), 8)
    ]
    found = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    order = found.groupby("qid").score.rank(ascending=False, method="first")
    return qrels, found.assign(rank=order.astype(int) - 1)


QRELS, ONE = frames(1)
TWO = frames(2)[1]
TOPICS = pd.DataFrame([(str(q), "text") for q in range(6)], columns=["qid", "query"])


def evaluated(run, asked=ASKED, qrels=QRELS, **options):
    judged = qrels.rename(columns={"qid": "query", "docno": "doc", "label": "grade"})
    listed = run[["qid", "docno", "score"]].set_axis(["query", "doc", "score"], axis=1)
    return gf.evaluate(judged, listed, asked, **options)


@pytest.mark.parametrize(
    "options",
    [{}, {"policy": {"ties": "average", "unjudged": "condense"}}, {"dialect": "ir_measures"}],
)
def test_means_and_queries_are_those_of_evaluate(options):
    asked = ["nDCG@5"] if "dialect" in options else ASKED
    mine = measures(*asked, **options)
    means, queries = pt.Experiment(
        [ONE, TWO], TOPICS, QRELS, eval_metrics=mine, names=["one", "two"], perquery="both"
    )
    for name, run in {"one": ONE, "two": TWO}.items():
        scores = evaluated(run, asked, **options)
        (row,) = means[means.name == name].to_dict("records")
        assert {
            f"gainful {each}": row[f"gainful {each}"] for each in scores.means
        } == pytest.approx(
            {f"gainful {each}": mean for each, mean in scores.means.items()}, abs=1e-15
        )
        rows = queries[queries.name == name]
        for measure, values in scores.values_by_measure().items():
            column = rows[rows.measure == f"gainful {measure}"]
            assert dict(zip(column.qid, column.value, strict=True)) == values


def test_they_stand_beside_the_hosts_own_and_its_tests():
    both = [*measures("nDCG@5", "AP"), ir_measures.nDCG @ 5, ir_measures.AP]
    table = pt.Experiment([ONE, TWO], TOPICS, QRELS, both, ["one", "two"], baseline=0)
    assert table["gainful nDCG@5"].tolist() == pytest.approx(table["nDCG@5"].tolist())
    assert table["gainful AP"].tolist() == pytest.approx(table["AP"].tolist())
    assert table["gainful nDCG@5 p-value"][1] == pytest.approx(table["nDCG@5 p-value"][1])


@pytest.mark.parametrize("size", [1, 4])
def test_batches_of_a_transformer_give_the_same(size):
    topics = TOPICS[TOPICS.qid != "3"]  # the host refuses a batch without any results
    transformer = pt.Transformer.from_df(TWO)
    whole = pt.Experiment([transformer], topics, QRELS, measures(ASKED), names=["x"])
    parts = pt.Experiment([transformer], topics, QRELS, measures(ASKED), ["x"], batch_size=size)
    pd.testing.assert_frame_equal(parts[whole.columns], whole)
    scores = evaluated(TWO, qrels=QRELS[QRELS.qid != "3"])  # it goes by the topics
    assert parts["gainful AP"][0] == pytest.approx(scores["AP"], abs=1e-15)


def test_ir_measures_takes_them_too():
    (mine,) = measures("nDCG@5", prefix="")
    qrels = [ir_measures.Qrel("q", "a", 2), ir_measures.Qrel("q", "b", 1)]
    run = [ir_measures.ScoredDoc("q", "b", 2.0), ir_measures.ScoredDoc("q", "a", 1.0)]
    assert str(mine) == "nDCG@5"
    assert (
        mine.calc_aggregate(qrels, run)
        == gf.evaluate({"q": {"a": 2, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "nDCG@5")["nDCG@5"]
    )
    assert mine.calc_aggregate(qrels, [ir_measures.ScoredDoc("other", "b", 2.0)]) == 0


@pytest.mark.parametrize(("empty", "value"), [("zero", 0.0), ("one", 1.0)])
def test_results_of_other_queries_alone_go_by_the_policy(empty, value):
    asked = measures("nDCG@10", "P@5", policy={"empty": empty})
    qrels = {"q1": {"d1": 0}, "q2": {"d1": 1}}
    for run in ({"zz": {"d2": 1.0}}, {"q2+": {"d1": 1.0}}):
        found = {
            (m.query_id, str(m.measure)): m.value for m in ir_measures.iter_calc(asked, qrels, run)
        }
        assert found == {
            ("q1", "gainful nDCG@10"): value,  # missing and empty: what is empty decides
            ("q2", "gainful nDCG@10"): 0.0,
            ("q1", "gainful P@5"): 0.0,
            ("q2", "gainful P@5"): 0.0,
        }


@pytest.mark.parametrize("qrels", [{"q1": {"d1": 0}}, {"q1": {"d1": 0}, "q2": {"d1": 1}}])
@pytest.mark.parametrize("policy", [{"empty": "skip"}, {"empty": "error"}, {"missing": "skip"}])
def test_results_of_other_queries_alone_that_are_left_out_are_refused(qrels, policy):
    with pytest.raises(gf.errors.InputError, match="empty="):
        ir_measures.calc_aggregate(measures(policy=policy), qrels, {"zz": {"d2": 1.0}})


def test_nothing_that_is_passed_is_changed():
    before = QRELS.copy(), ONE.copy()
    pt.Experiment([ONE], TOPICS, QRELS, measures(), ["x"])
    pd.testing.assert_frame_equal(QRELS, before[0])
    pd.testing.assert_frame_equal(ONE, before[1])


def test_a_document_that_comes_twice_is_refused():
    twice = pd.concat([ONE, ONE.head(1)])
    with pytest.raises(gf.errors.InputError, match="each document once"):
        pt.Experiment([twice], TOPICS, QRELS, measures(), ["x"])
    once = measures("nDCG@5", policy={"duplicates": "first"})
    table = pt.Experiment([ONE, twice], TOPICS, QRELS, once, ["one", "twice"])
    assert table["gainful nDCG@5"][0] == table["gainful nDCG@5"][1]


@pytest.mark.parametrize("policy", [{"missing": "skip"}, {"missing": "error"}])
def test_a_mean_that_the_host_cannot_take_is_refused(policy):
    mine = measures("nDCG@5", policy=policy)
    with pytest.raises(gf.errors.GainfulError, match="missing"):
        pt.Experiment([ONE], TOPICS, QRELS, mine, ["x"])
    whole = QRELS[QRELS.qid != "3"]
    table = pt.Experiment([ONE], TOPICS, whole, mine, ["x"])
    assert table["gainful nDCG@5"][0] == pytest.approx(evaluated(ONE, ["nDCG@5"], whole)["nDCG@5"])


@pytest.mark.parametrize(
    ("asked", "options", "message"),
    [
        (["nDGC@5"], {}, "nDCG"),
        (["NumRet"], {}, "a mean over the queries.*found NumRet, a sum"),
        (["GMAP"], {}, "a geometric mean"),
        (["AP"], {"prefix": 3}, "prefix"),
        (["AP"], {"policy": {"ties": "no"}}, "ties"),
        (["AP"], {"dialect": "no"}, "dialect"),
    ],
)
def test_what_is_asked_for_is_checked_at_once(asked, options, message):
    with pytest.raises(gf.errors.GainfulError, match=message):
        measures(*asked, **options)
