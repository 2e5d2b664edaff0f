"""What `gf.metrics` keeps of its digits, beside formulas for the values."""

import math

import numpy as np
import pytest

import gainful as gf

pytestmark = pytest.mark.usefixtures("_double_in_jax")
DISCOUNTS = {
    "log": lambda rank: 1 / math.log2(rank + 1),
    "reciprocal": lambda rank: 1 / rank,
    "power(3)": lambda rank: rank**-3,
}
WIDTH = 3000
UNITS = {np.float32: 2.0**-23, np.float64: 2.0**-52}  # in the last place of 1


@pytest.mark.parametrize("ties", ["average", "order"])
@pytest.mark.parametrize(("dtype", "less"), [(np.float32, 2.0**-13), (np.float64, 2.0**-40)])
def test_an_ndcg_just_below_one_is_not_one(put, dtype, less, ties):
    # Two documents in the wrong order, whose grades 1 − less and 1 the type holds as they are.
    second = 1 / math.log2(3)
    lost = less * (1 - second) / (1 + second * (1 - less))
    scores, labels = np.array([2.5, 1], dtype), np.array([1 - less, 1], dtype)
    found = float(gf.metrics.ndcg(put(scores), put(labels), ties=ties))
    assert 1 - found == pytest.approx(lost, abs=4 * UNITS[dtype], rel=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("k", [None, 1500])
def test_the_mean_discount_of_equal_scores_is_exact_at_every_rank(put, dtype, discount, k):
    """In each list one document has a gain, so that no larger terms hide how its own is rounded."""
    counted = [
        DISCOUNTS[discount](rank) if k is None or rank <= k else 0 for rank in range(1, WIDTH + 1)
    ]
    scores, labels, expected = [], [], []
    for size in (1, 2, 3, 10, 1000):
        for place in (0, 11, 742, 1003, 1498, 1999, 2999):
            first = place - place % size
            scores.append(-(np.arange(WIDTH) // size))
            labels.append(np.arange(WIDTH) == place)
            expected.append(math.fsum(counted[first : first + size]) / size)
    arrays = put(np.array(scores, dtype)), put(np.array(labels))
    found = np.asarray(gf.metrics.dcg(*arrays, k=k, discount=discount))
    np.testing.assert_allclose(found, expected, rtol=4 * UNITS[dtype], atol=0)


def test_documents_that_all_share_a_score(put):
    """However long the list: each counts the mean discount, and the nDCG is what chance gives."""
    table = [DISCOUNTS["log"](rank) for rank in range(1, WIDTH + 1)]
    labels = np.arange(WIDTH) < 700
    expected = math.fsum(table) * 700 / WIDTH / math.fsum(table[:700])
    for dtype in (np.float32, np.float64):
        found = float(gf.metrics.ndcg(put(np.ones(WIDTH, dtype)), put(labels)))
        assert found == pytest.approx(expected, rel=8 * UNITS[dtype], abs=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("discount", DISCOUNTS)
def test_where_no_scores_are_equal_both_rules_give_the_same_to_the_last_digit(put, dtype, discount):
    rng = np.random.default_rng(5)
    scores = put(rng.permuted(np.tile(np.arange(WIDTH, dtype=dtype), (4, 1)), axis=-1))
    labels = put((rng.random((4, WIDTH)) < 1e-3).astype(dtype))
    averaged, ordered = (
        np.asarray(gf.metrics.dcg(scores, labels, discount=discount, ties=ties))
        for ties in ("average", "order")
    )
    assert averaged.tolist() == ordered.tolist()
