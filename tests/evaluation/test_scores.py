"""What an evaluation returns, and that it leaves everything else alone."""

import copy
import random
import re

import numpy as np
import pytest

import gainful as gf
from random_runs import random_cases

JUDGMENTS = {
    "q1": {"a": 3, "b": 2, "c": 0},
    "q2": {"a": 1, "d": 1},
    "q3": {"e": 0, "f": -1},
    "q4": {"g": 2},
}
RUN = {
    "q1": {"a": 0.9, "u": 0.8, "b": 0.8},
    "q2": {"x": 0.2, "d": 0.1},
    "q3": {"e": 1.0},
    "q9": {"z": 1.0},
}


def test_means_queries_and_columns():
    scores = gf.evaluate(JUDGMENTS, RUN, ["nDCG@2", "CG"])
    assert scores.measures == (gf.measure("nDCG@2"), gf.measure("CG"))
    assert scores.queries == ("q1", "q2", "q3", "q4")
    assert scores.per_query.columns == ("query", "nDCG@2", "CG")
    assert scores["nDCG@2"] == scores["ndcg_cut_2"] == scores[gf.measure("nDCG@2")]
    assert scores["CG"] == pytest.approx((5 + 1 + 0 + 0) / 4)
    assert scores.values.shape == (4, 2)
    assert not scores.values.flags.writeable
    with pytest.raises(gf.errors.InputError, match="Did you mean 'nDCG@2'"):
        scores["nDCG@3"]
    with pytest.raises(gf.errors.InputError, match="one of its columns"):
        scores.per_query["nDCG@3"]


def test_coverage_says_what_was_counted_and_what_was_missing():
    coverage = gf.evaluate(JUDGMENTS, RUN, "nDCG").coverage
    assert coverage == gf.results.Coverage(
        judged=4,
        evaluated=3,
        missing=("q4",),
        empty=("q3",),
        extra=("q9",),
        retrieved=6,
        depth=None,
        seen=6,
        unjudged=2,
        tied=1,
        tied_queries=1,
    )
    assert coverage.unjudged_share == pytest.approx(2 / 6)
    condensed = gf.evaluate(JUDGMENTS, RUN, "nDCG", policy=gf.Policy(unjudged="condense")).coverage
    assert (condensed.retrieved, condensed.unjudged, condensed.tied) == (6, 2, 0)


def test_a_query_left_out_of_a_mean_has_an_empty_cell():
    scores = gf.evaluate(JUDGMENTS, RUN, ["nDCG", "CG"], policy=gf.Policy(empty="skip"))
    table = scores.per_query.to_dict()
    assert table["q3"] == {"nDCG": None, "CG": 0.0}
    assert scores["nDCG"] == pytest.approx(
        (table["q1"]["nDCG"] + table["q2"]["nDCG"] + table["q4"]["nDCG"]) / 3
    )
    frame = scores.per_query.to_pandas()
    assert frame["query"].tolist() == ["q1", "q2", "q3", "q4"]
    assert frame["nDCG"].isna().tolist() == [False, False, True, False]
    assert scores.per_query.to_polars()["nDCG"].null_count() == 1
    assert scores.per_query.to_arrow().column("nDCG").null_count == 1


def test_skipped_queries_leave_the_table_and_stay_in_the_coverage():
    scores = gf.evaluate(JUDGMENTS, RUN, "nDCG", policy=gf.Policy(missing="skip"))
    assert scores.queries == ("q1", "q2", "q3")
    assert scores.coverage.missing == ("q4",)


def test_the_ideal_does_not_depend_on_the_run():
    assert gf.evaluate(JUDGMENTS, RUN, "IDCG").per_query.to_dict()["q4"]["IDCG"] == 2.0


def test_errors_that_a_policy_asks_for():
    for policy, said in [
        (gf.Policy(missing="error"), "1 missing: 'q4'"),
        (gf.Policy(extra="error"), "1 without judgments: 'q9'"),
        (gf.Policy(empty="error"), "1 without: 'q3'"),
        (gf.Policy(negative="error"), "grade -1"),
        (gf.Policy(unjudged="error"), "1 unjudged: 'u'"),
    ]:
        with pytest.raises(gf.errors.InputError, match=re.escape(said)):
            gf.evaluate(JUDGMENTS, RUN, "nDCG", policy=policy)


def test_not_a_number_is_said_aloud():
    scores = gf.evaluate(JUDGMENTS, RUN, "nDCG", policy=gf.Policy(empty="nan"))
    assert np.isnan(scores["nDCG"])
    assert np.isnan(scores.per_query.to_dict()["q3"]["nDCG"])


def test_the_signature_pins_the_number_down():
    signature = gf.evaluate(JUDGMENTS, RUN, "nDCG(gain=exp2)@2").signature("nDCG(gain=exp2)@2")
    assert re.fullmatch(
        r"nDCG\(gain=exp2\)@2 \| ties=doc \| queries=4 missing=1 empty=1 "
        rf"\| judgments=[0-9a-f]{{12}} run=[0-9a-f]{{12}} \| gainful {re.escape(gf.__version__)}",
        signature,
    )
    policy = gf.Policy(ties="average", missing="skip")
    other = gf.evaluate(JUDGMENTS, RUN, "nDCG@2", policy=policy).signature("nDCG@2")
    assert other.startswith("nDCG@2 | ties=average missing=skip | queries=3")


def test_the_signature_changes_with_the_data_and_with_nothing_else():
    def hashes(judgments, run):
        return gf.evaluate(judgments, run, "nDCG").signature("nDCG").split(" | ")[3].split()

    judged, ran = hashes(JUDGMENTS, RUN)
    shuffled = {query: dict(reversed(docs.items())) for query, docs in reversed(RUN.items())}
    assert hashes(JUDGMENTS, shuffled) == [judged, ran]
    other_run = {**RUN, "q2": {"d": 0.3, "x": 0.2}}
    assert hashes(JUDGMENTS, other_run) == [judged, hashes(JUDGMENTS, other_run)[1]]
    assert hashes(JUDGMENTS, other_run)[1] != ran
    regraded = {**JUDGMENTS, "q4": {"g": 1}}
    assert hashes(regraded, RUN)[0] != judged


def test_nothing_that_was_passed_is_modified():
    judgments, run = copy.deepcopy(JUDGMENTS), copy.deepcopy(RUN)
    for policy in (
        gf.Policy(),
        gf.Policy(unjudged=1, absent="lowest"),
        gf.Policy(unjudged="condense"),
    ):
        gf.evaluate(judgments, run, ["nDCG@2", "DCG"], policy=policy)
        gf.explain(judgments, run, "nDCG@2", query="q1", policy=policy)
    assert (judgments, run) == (JUDGMENTS, RUN)
    assert [list(docs) for docs in run.values()] == [list(docs) for docs in RUN.values()]

    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, (50, 20)).astype(float), rng.integers(0, 5, (50, 20)) / 5
    kept = labels.copy(), scores.copy()
    for array in (labels, scores):
        array.flags.writeable = False  # writing would raise
    for ties in ("average", "order", "best", "worst"):
        gf.evaluate_arrays(labels=labels, scores=scores, policy=gf.Policy(ties=ties))
        gf.evaluate_arrays(labels=labels.ravel(), scores=scores.ravel(), group=[20] * 50)
    assert np.array_equal(labels, kept[0])
    assert np.array_equal(scores, kept[1])
    grades = [3, 2, 1]
    gf.ndcg(grades)
    assert grades == [3, 2, 1]


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_the_same_call_gives_the_same_bits_whatever_the_order_of_dicts():
    for start in range(0, 200, 10):
        judgments, run = random_cases(range(start, start + 10))
        rng = random.Random(start)  # noqa: S311

        def shuffled(table, rng=rng):
            return {
                query: dict(rng.sample(list(table[query].items()), len(table[query])))
                for query in rng.sample(list(table), len(table))
            }

        for ties in ("doc", "average", "best", "worst"):
            policy = gf.Policy(ties=ties)
            first = gf.evaluate(judgments, run, ["nDCG@3", "DCG"], policy=policy)
            again = gf.evaluate(judgments, run, ["nDCG@3", "DCG"], policy=policy)
            other = gf.evaluate(
                shuffled(judgments), shuffled(run), ["nDCG@3", "DCG"], policy=policy
            )
            for scores in (again, other):
                assert scores.values.tobytes() == first.values.tobytes()
                assert scores.means == first.means
                assert scores.signature("DCG") == first.signature("DCG")


def test_a_measure_has_the_same_bits_alone_and_among_others():
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 4, (40, 60)), rng.integers(0, 30, (40, 60))
    together = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG@1,3,10,20,60,100")
    for measure in together.measures:
        alone = gf.evaluate_arrays(labels=labels, scores=scores, measures=measure)
        column = together.measures.index(measure)
        assert alone.values[:, 0].tobytes() == together.values[:, column].tobytes()


def test_grades_are_never_truncated():
    assert gf.cg([0.1, 0.2]) == pytest.approx(0.3)
    assert gf.evaluate({"q": {"a": 0.5}}, {"q": {"a": 1}}, "CG")["CG"] == 0.5


def test_results_print_and_show():
    scores = gf.evaluate(JUDGMENTS, RUN, "nDCG@2")
    assert "nDCG@2" in str(scores)
    assert "policy" in str(scores)
    assert "returned nothing (scored 0)" in str(scores)
    assert repr(scores).startswith("Scores(nDCG@2: 0.")
    assert scores._repr_html_().startswith("<table>")
