"""What an engineer of rankers types first in a training loop: padded tensors, a mask, a loss."""

import math

import pytest
import torch

import gainful as gf

SECOND = 1 / math.log2(3)
SCORES = [[0.2, 1.5, 0.3], [0.9, 0.1, 0.0]]
LABELS = torch.tensor([[2, 0, 1], [1, 0, 4]])
MASK = torch.tensor([[True, True, True], [True, True, False]])
# The first list is ranked 0, 1, 2; the second is perfect without its padding, whose label is 4.
FIRST = (1 * SECOND + 2 / 2) / (2 + 1 * SECOND)


@pytest.fixture
def scores():
    return torch.tensor(SCORES, requires_grad=True)


def test_padded_tensors_are_measured_while_they_are_trained(scores):
    found = gf.metrics.ndcg(scores, LABELS, MASK, k=10)
    assert found.tolist() == pytest.approx([FIRST, 1], abs=1e-6)
    # The same function that files are measured with takes a tensor that has a gradient.
    same = gf.evaluate_arrays(labels=LABELS, scores=scores, mask=MASK, measures="nDCG@10")
    assert same.per_query["nDCG@10"] == pytest.approx([FIRST, 1])
    assert scores.requires_grad


def test_a_loss_trains_what_is_measured(scores):
    train = gf.losses.loss("nDCG(gain=exp2)@10", method="lambda")
    value = train(scores, LABELS, MASK)
    value.backward()
    assert value.item() > 0
    assert scores.grad[0, 0] < 0 < scores.grad[0, 1]  # the best should rise, the worst fall
    assert scores.grad[1, 2] == 0  # padding
    gap = gf.losses.gap(scores, LABELS, MASK, method="approx", gain="linear", temperature=0.001)
    assert gap["ndcg"] == pytest.approx((FIRST + 1) / 2, abs=1e-6)
    assert gap["loss"] == pytest.approx(1 - (FIRST + 1) / 2, abs=1e-4)


def test_labels_in_the_place_of_scores_are_refused_with_the_order(scores):
    for call in (gf.metrics.ndcg, gf.losses.loss("nDCG"), gf.losses.approx_ndcg):
        with pytest.raises(gf.errors.InputError, match="Pass scores first, then labels"):
            call(LABELS, scores)
