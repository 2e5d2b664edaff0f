"""`LearningCurve`: means, intervals and the best iteration, from the scores of each."""

import math

import numpy as np
import pytest

import gainful as gf

Curve = gf.results.LearningCurve
LABELS, SIZES = [1, 0, 1, 0, 0, 1], [2, 2, 2]
# RR of the three queries after three iterations: 1, 1, ½; ½, 1, 1 and ½, ½, ½.
RANKINGS = ([2, 1, 2, 1, 2, 1], [1, 2, 2, 1, 1, 2], [1, 2, 1, 2, 2, 1])


def scores(predictions, measures="RR", **asked):
    return gf.evaluate_arrays(
        labels=LABELS, scores=predictions, group=SIZES, measures=measures, **asked
    )


def curve(measures="RR", at=(5, 10, 15), **asked):
    found = (scores(each, measures, **asked) for each in RANKINGS)
    return Curve.of(zip(at, found, strict=True))


def test_means_and_the_best_by_hand():
    found = curve()
    assert found.means() == found.means("RR") == [5 / 6, 5 / 6, 0.5]
    assert found.best() == 5  # of equals the fewest
    assert found.best(better="lower") == 15
    assert found.values[:, :, 0].tolist() == [[1, 1, 0.5], [0.5, 1, 1], [0.5, 0.5, 0.5]]


def test_intervals_are_those_of_the_scores():
    found = curve(["RR", "GMAP", "NumRel"])
    for at, predictions in zip(found.iterations, RANKINGS, strict=True):
        expected = scores(predictions, ["RR", "GMAP"])
        for measure in ("RR", "GMAP"):
            assert found.interval(at, measure, method="t") == expected.interval(measure, method="t")
    rows = found.to_dict(), found.table().rows
    assert [row[:3] for row in rows[1][:3]] == [
        [5, "RR", 5 / 6],
        [5, "GMAP", pytest.approx(2 ** (-1 / 3))],
        [5, "NumRel", 3],
    ]
    assert rows[1][2][3:] == [None, None]  # a sum has no interval
    assert rows[1][0][3:] == [None, None]  # three queries are too few


def test_queries_that_do_not_count_are_left_out():
    labels = [1, 0, 0, 0]
    found = Curve.of(
        [
            (
                1,
                gf.evaluate_arrays(
                    labels=labels,
                    scores=[1, 2, 3, 4],
                    group=[2, 2],
                    measures="nDCG",
                    policy={"empty": "skip"},
                ),
            )
        ]
    )
    assert found.means() == [pytest.approx(1 / math.log2(3))]
    assert found.queries == ("0",)
    assert found.table().rows[0][3:] == [None, None]  # of one query


def test_a_dialect_is_remembered():
    found = curve("nDCG@2", dialect="lightgbm")
    assert found.dialect == "lightgbm"
    assert found.best("nDCG@2") == found.best() == 5


def test_curves_are_joined():
    whole = curve()
    parts = [curve(at=(at, at + 1, at + 2)) for at in (1, 4)]
    both = Curve.joined(parts)
    assert both.iterations == (1, 2, 3, 4, 5, 6)
    assert both.means() == whole.means() * 2
    assert not both.values.flags.writeable
    assert whole == curve() != both


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "at least one iteration"),
        (3, "pairs of iterations and scores"),
        ([(1, 2)], "scores, as `evaluate` gives them"),
        ([(2, scores(RANKINGS[0])), (2, scores(RANKINGS[1]))], "iterations that ascend"),
        (
            [(1, scores(RANKINGS[0])), (2, scores(RANKINGS[1], "AP"))],
            "the same queries and measures",
        ),
    ],
)
def test_what_is_no_curve(steps, message):
    with pytest.raises(gf.errors.InputError, match=message):
        Curve.of(steps)


def test_what_a_curve_does_not_have():
    found = curve()
    with pytest.raises(gf.errors.InputError, match="one of those measured, RR"):
        found.means("AP")
    with pytest.raises(gf.errors.InputError, match="one of those measured, 5 to 15"):
        found.interval(7)
    nothing = gf.evaluate_arrays(
        labels=[0, 0], scores=[1, 2], measures="nDCG", policy={"empty": "nan"}
    )
    with pytest.raises(gf.errors.InputError, match="an iteration with a mean"):
        Curve.of([(1, nothing)]).best()
    assert np.isnan(Curve.of([(1, nothing)]).means()).all()
