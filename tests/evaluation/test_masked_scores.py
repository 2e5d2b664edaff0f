"""Scores of −∞ in arrays: the usual mask of what must not be ranked. Such documents are judged, and not returned."""

import numpy as np
import pytest

import gainful as gf

MEASURES = ["nDCG@5", "nDCG", "P@5", "R@5", "AP", "RR"]


def dicts(numbers):
    """The finite numbers of each list by place."""
    return {
        str(query): {str(place): number for place, number in enumerate(row) if np.isfinite(number)}
        for query, row in enumerate(numbers.tolist())
    }


@pytest.mark.parametrize("ties", ["average", "order", "best", "worst"])
@pytest.mark.parametrize("negative", ["keep", "unjudged"])
@pytest.mark.parametrize("unjudged", ["zero", "condense", 1.0])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_they_are_what_a_run_without_them_is(ties, negative, unjudged, precision):
    rng = np.random.default_rng(1)
    labels = rng.integers(-1, 3, (40, 12)).astype(np.float64)
    dtype = np.float32 if precision == "double" else np.float64
    scores = rng.integers(0, 4, labels.shape).astype(dtype)
    scores[rng.random(labels.shape) < 0.4] = -np.inf
    scores[7] = -np.inf
    policy = {"ties": ties, "negative": negative, "unjudged": unjudged, "precision": precision}
    expected = gf.evaluate(dicts(labels), dicts(scores), MEASURES, policy=policy)
    batch = gf.evaluate_arrays(labels=labels, scores=scores, measures=MEASURES, policy=policy)
    flat = gf.evaluate_arrays(
        labels=labels.ravel(),
        scores=scores.ravel(),
        measures=MEASURES,
        policy=policy,
        group=[12] * 40,
    )
    assert batch.means == flat.means == expected.means
    assert batch.coverage.retrieved == expected.coverage.retrieved


def test_by_hand():
    scores = gf.evaluate_arrays(
        labels=[[1, 0, 1]], scores=[[0.5, 0.9, -np.inf]], measures=["R", "RR"]
    )
    assert scores.means == {"R": 0.5, "RR": 0.5}
    assert scores.coverage.retrieved == 2


def test_a_mask_beside_them():
    masked = gf.evaluate_arrays(
        labels=[[1, 1, 1]],
        scores=[[0.5, -np.inf, np.nan]],
        mask=[[True, True, False]],
        measures="R",
    )
    assert masked["R"] == 0.5


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_other_numbers_that_are_not_finite_are_refused(odd):
    for scores in ([odd, 1.0, 0.5], [odd, -np.inf, 0.5], [-np.inf, 1.0, odd]):
        with pytest.raises(gf.errors.InputError, match=r"scores\[.\]: expected a finite number"):
            gf.evaluate_arrays(labels=[1, 0, 1], scores=scores)


def test_labels_are_finite():
    with pytest.raises(gf.errors.InputError, match=r"labels\[1\]: expected a finite number"):
        gf.evaluate_arrays(labels=[1, -np.inf, 1], scores=[1.0, 2.0, 3.0])
