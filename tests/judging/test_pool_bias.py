"""Each run without the judgments that only it contributed, against a literal recomputation."""

import copy
import random
import warnings

import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1, "b": 1, "d": 2}, "q2": {"e": 1, "f": 0, "g": 1}}
RUNS = {
    "keyword": {"q1": {"a": 9, "b": 8}, "q2": {"f": 7, "e": 6}},
    "semantic": {"q1": {"b": 0.9, "a": 0.8}, "q2": {"e": 0.8, "f": 0.7}},
    "hybrid": {"q1": {"a": 3, "d": 2}, "q2": {"e": 2, "g": 1}},
}


def test_worked_by_hand():
    bias = gf.judging.pool_bias(JUDGMENTS, RUNS, "P@2", depth=2)
    found = {row.run: row for row in bias}
    # hybrid alone has d and g: a and e are left, one of two in either query.
    assert (found["hybrid"].value, found["hybrid"].without, found["hybrid"].change) == (
        1,
        0.5,
        -0.5,
    )
    assert (found["hybrid"].unique, found["hybrid"].relevant) == (2, 2)
    # The two others share everything: nothing changes.
    assert (found["keyword"].value, found["keyword"].without) == (0.75, 0.75)
    assert (found["keyword"].unique, found["keyword"].relevant) == (0, 0)
    assert [(row.run, row.place, row.place_without) for row in bias] == [
        ("hybrid", 1, 3), ("keyword", 2, 1), ("semantic", 2, 1),
    ]  # fmt: skip
    assert bias.tau == -1.0


def test_the_depth_says_who_contributed():
    found = {row.run: row for row in gf.judging.pool_bias(JUDGMENTS, RUNS, "P@2", depth=1)}
    # At rank 1, f is keyword's alone, b is semantic's alone, a and e are shared.
    assert {name: row.unique for name, row in found.items()} == {
        "keyword": 1, "semantic": 1, "hybrid": 0,
    }  # fmt: skip
    assert {name: row.relevant for name, row in found.items()} == {
        "keyword": 0, "semantic": 1, "hybrid": 0,
    }  # fmt: skip


def test_relevant_is_what_the_measure_takes_for_it():
    found = {row.run: row for row in gf.judging.pool_bias(JUDGMENTS, RUNS, "P(rel=2)@2", depth=2)}
    assert (found["hybrid"].unique, found["hybrid"].relevant) == (2, 1)


def literal(judgments, runs, name, measure, depth):
    def top(run, query):
        scores = run.get(query, {})
        return sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)[:depth]

    left, taken = {}, 0
    for query, grades in judgments.items():
        others = {doc for other in runs if other != name for doc in top(runs[other], query)}
        alone = set(top(runs[name], query)) - others
        left[query] = {doc: grade for doc, grade in grades.items() if doc not in alone}
        taken += len(grades) - len(left[query])
    return gf.evaluate(left, runs[name], measure)[measure], taken


@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "P@2", "RBP"])
def test_values_are_those_of_a_literal_recomputation(measure):
    for seed in range(25):
        rng = random.Random(seed)  # noqa: S311
        docs = [f"d{number}" for number in range(8)]
        queries = ["q1", "q2", "q3"]
        judgments = {
            query: {doc: rng.choice((0, 1, 2)) for doc in rng.sample(docs, 5)} | {"never": 1}
            for query in queries
        }
        runs = {
            name: {query: {doc: rng.random() for doc in rng.sample(docs, 4)} for query in queries}
            for name in "ABC"
        }
        before = copy.deepcopy((judgments, runs))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.errors.GainfulWarning)
            bias = gf.judging.pool_bias(judgments, runs, measure, depth=3)
            for row in bias:
                assert row.value == gf.evaluate(judgments, runs[row.run], measure)[measure]
                expected = literal(judgments, runs, row.run, measure, 3)
                assert (row.without, row.unique) == expected
        assert (judgments, runs) == before
        values, without = (
            {row.run: getattr(row, name) for row in bias} for name in ("value", "without")
        )
        if bias.tau is not None:
            assert bias.tau == gf.statistics.kendall_tau(values, without)


def test_files_and_frames_give_the_same(tmp_path):
    expected = gf.judging.pool_bias(JUDGMENTS, RUNS, "nDCG@2", depth=2)
    gf.write_judgments(JUDGMENTS, tmp_path / "it.qrels")
    for ending in ("run", "csv", "parquet"):
        paths = {name: tmp_path / f"{name}.{ending}" for name in RUNS}
        for name, run in RUNS.items():
            gf.write_run(run, paths[name])
        assert gf.judging.pool_bias(tmp_path / "it.qrels", paths, "nDCG@2", depth=2) == expected


def test_a_query_may_lose_all_its_judgments_but_not_all_of_them_may():
    runs = [{"q1": {"a": 1}, "q2": {"b": 1}}, {"q2": {"b": 1}}]
    first, _ = gf.judging.pool_bias({"q1": {"a": 1}, "q2": {"b": 1}}, runs, "nDCG@1")
    assert (first.value, first.without) == (1.0, 0.5)
    with pytest.raises(gf.errors.InputError, match="only run '1' contributed"):
        gf.judging.pool_bias({"q1": {"a": 1}}, [{"q1": {"a": 1}}, {"q1": {"b": 1}}], "nDCG@1")


def test_runs_that_all_tie_have_no_tau():
    same = {"q": {"a": 1}}
    bias = gf.judging.pool_bias({"q": {"a": 1}}, [same, same], "nDCG@1")
    assert bias.tau is None
    assert "undefined" in bias.summary


def test_it_prints_exports_and_writes(tmp_path):
    bias = gf.judging.pool_bias(JUDGMENTS, RUNS, "P@2", depth=2)
    assert len(bias) == 3
    assert bias[0].run == "hybrid"
    assert [row.run for row in bias[1:]] == ["keyword", "semantic"]
    assert str(bias).splitlines()[0].split()[:3] == ["run", "P@2", "without"]
    told = " ".join(str(bias).split())
    assert "3 of 3 runs change places; Kendall's τ is -1.0000" in told
    assert bias.to_dict()["runs"][0]["unique"] == 2
    bias.write(tmp_path / "bias.csv")
    assert (tmp_path / "bias.csv").read_text().startswith("run,P@2,without,change,place")
    assert "<table>" in bias._repr_html_()
    assert repr(bias).startswith("PoolBias(P@2, ")
    with pytest.raises(AttributeError):
        bias.tau = 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"runs": {"only": RUNS["hybrid"]}}, gf.errors.InputError, "at least 2 runs, found 1"),
        ({"depth": 0}, gf.errors.InputError, "depth"),
        ({"measure": "GMAP"}, gf.errors.MeasureError, "geometric mean"),
        ({"judgments": {"q9": {"a": 1}}}, gf.errors.InputError, "none in common"),
        ({"judgments": {}}, gf.errors.InputError, "at least one judged document"),
        ({"runs": [RUNS["hybrid"], {}]}, gf.errors.InputError, "at least one retrieved document"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        gf.judging.pool_bias(**{"judgments": JUDGMENTS, "runs": RUNS, **arguments})
