"""The derivatives that trainers of trees get: of the losses themselves, and of their literal formulas."""

import math
import tracemalloc

import numpy as np
import pytest
import torch

import gainful as gf
import literal_losses as literal
from gainful.arithmetic.kernels import loss_derivatives
from gainful.integrations.ranking_objectives import RankingObjective

SIZES = (5, 1, 0, 7, 3, 2)
SCHEMES = ("ranknet", "lambdarank", "ndcg1", "ndcg2", "ndcg2pp")


def lists(seed=0, *, grades=4, sizes=SIZES):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    labels = rng.integers(0, grades, n).astype(float)
    labels[-2:] = 0  # the last list has no gain
    return labels, rng.permutation(n) / 4.0 + rng.normal(size=n) / 50, np.array(sizes)


def own_scale(sizes):
    return sum(sizes) / sum(size > 0 for size in sizes)


def of_torch(measure, labels, scores, sizes, **options):
    """The gradient of the sum of the losses, by PyTorch."""
    tensor = torch.tensor(scores, requires_grad=True)
    offsets = [0, *np.cumsum(sizes).tolist()]
    train = gf.losses.loss(measure, reduction="sum", offsets=offsets, **options)
    train(tensor, torch.tensor(labels)).backward()
    return tensor.grad.numpy()


CASES = [
    *(("lambda", {"scheme": scheme}) for scheme in SCHEMES),
    *(("lambda", {"scheme": "ndcg2", "truncation": each}) for each in ("both", "none")),
    ("lambda", {"sigma": 2.0, "scheme": "ndcg2pp", "mu": 3.0}),
    ("xe", {"gamma": 1.0}),
    ("xe", {"gamma": 0.3}),
    ("softmax", {}),
    ("listnet", {}),
]


@pytest.mark.parametrize("measure", ["nDCG(gain=exp2)@3", "nDCG", "DCG(discount=reciprocal)@2"])
@pytest.mark.parametrize(("method", "options"), CASES, ids=str)
def test_the_gradient_is_that_of_the_loss(measure, method, options):
    for seed in range(3):
        labels, scores, sizes = lists(seed)
        found, _ = RankingObjective(measure, method=method, seed=0, **options).derivatives(
            labels, scores, group=sizes
        )
        expected = of_torch(measure, labels, scores, sizes, method=method, **options)
        assert np.abs(expected).max() > 0.01
        assert found == pytest.approx(expected * own_scale(sizes), abs=1e-12)


ODD = (
    "nDCG",
    "nDCG(gain={-1: -2, 0: 0, 1: 1, 2: 5, 3: 9}, discount=jarvelin, base=3)@3",
    "DCG(gain=binary)",
)


@pytest.mark.filterwarnings("ignore:label. with gains below 0")
@pytest.mark.parametrize("measure", ODD)
@pytest.mark.parametrize(("method", "options"), CASES, ids=str)
def test_negative_labels_and_equal_scores_are_those_of_the_loss(measure, method, options):
    """Training begins with equal scores, in the order of the list."""
    labels, scores, sizes = lists(3)
    labels[::4] = -1
    for given in (scores, np.zeros(len(scores))):
        own = RankingObjective(measure, method=method, seed=0, **options)
        found, _ = own.derivatives(labels, given, group=sizes)
        expected = of_torch(measure, labels, given, sizes, method=method, **options)
        assert found == pytest.approx(expected * own_scale(sizes), abs=1e-12)


def bent(function, scores, step=1e-3):
    """The Hessian by differences."""
    n = len(scores)
    rows = []
    for i in range(n):
        up, down = ([*scores] for _ in range(2))
        up[i] += step
        down[i] -= step
        rows.append((literal.gradient(function, up) - literal.gradient(function, down)) / 2 / step)
    return np.array(rows)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("method", [*SCHEMES, "xe", "softmax", "listnet"])
def test_both_derivatives_are_those_of_the_literal_formula(method, k):
    scores, labels = [0.3, -0.2, 1.1, 0.5, 0.55], [2, 0, 1, 3, 0]
    options, name = {}, method
    if method in SCHEMES:
        name, options = "lambda", {"scheme": method}

        def loss(s):
            return literal.pair_loss(s, labels, k, scheme=method, at=scores)
    elif method == "xe":
        options = {"gamma": 0.25}

        def loss(s):
            return literal.xe(s, labels, gamma=[0.25] * 5)
    else:

        def loss(s):
            return getattr(literal, method)(s, labels)

    measure = gf.Measure("nDCG", gain="exp2", cutoff=k)
    own = RankingObjective(measure, method=name, seed=0, **options)
    first, second = own.derivatives(labels, scores, group=[5])
    hessian = bent(loss, scores)
    assert first == pytest.approx(5 * literal.gradient(loss, scores), rel=1e-6, abs=1e-9)
    assert second == pytest.approx(5 * np.diag(hessian), rel=1e-5, abs=1e-7)
    # Twice the diagonal bounds the whole Hessian, the diagonal alone does not.
    assert np.linalg.eigvalsh(2 * np.diag(np.diag(hessian)) - hessian).min() > -1e-6
    assert np.linalg.eigvalsh(np.diag(np.diag(hessian)) - hessian).min() < -1e-3


def test_a_step_by_hand():
    """Two documents with the same score: p = 1/2, so both derivatives are those of a coin."""
    own = RankingObjective("nDCG", method="xe", seed=0, gamma=1.0)
    first, second = own.derivatives([1, 0], [0, 0], group=[2])
    assert first.tolist() == [2 * -0.5, 2 * 0.5]
    assert second.tolist() == [2 * 0.25] * 2
    pair = RankingObjective("nDCG", method="lambda", seed=0, scheme="ranknet")
    first, second = pair.derivatives([1, 0], [0, 0], group=[2])
    assert (first.tolist(), second.tolist()) == ([-1.0, 1.0], [0.5, 0.5])


def test_blocks_change_nothing(monkeypatch):
    labels, scores, sizes = lists(5, sizes=(30, 1, 17, 0, 30, 8, 2, 2))
    for k in ("", "@4"):
        own = RankingObjective(f"nDCG{k}", method="lambda", seed=0)
        whole = own.derivatives(labels, scores, group=sizes)
        with monkeypatch.context() as patch:
            patch.setattr(loss_derivatives, "_PAIRS", 40)
            parts = own.derivatives(labels, scores, group=sizes)
        assert np.array(whole) == pytest.approx(np.array(parts), abs=1e-15)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("truncation", ["either", "both", "none"])
def test_a_long_list_in_parts_has_the_same_bits(monkeypatch, scheme, truncation):
    labels, scores, sizes = lists(5, sizes=(60,))
    for measure in ("nDCG", "nDCG@20"):
        options = {"method": "lambda", "seed": 0, "scheme": scheme, "truncation": truncation}
        given = {"labels": labels, "scores": scores, "group": sizes}
        monkeypatch.setattr(loss_derivatives, "_PAIRS", 1 << 19)
        whole = RankingObjective(measure, **options).derivatives(**given)
        for pairs in (1, 130, 700):  # a row, two, and some
            monkeypatch.setattr(loss_derivatives, "_PAIRS", pairs)
            parts = RankingObjective(measure, **options).derivatives(**given)
            assert all(map(np.array_equal, whole, parts))


def test_a_long_list_without_a_cutoff_does_not_fill_the_memory():
    labels, scores, sizes = lists(6, sizes=(2000,))
    own = RankingObjective("nDCG", method="lambda", seed=0)
    tracemalloc.start()
    try:
        own.derivatives(labels, scores, group=sizes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (
        peak < 3 * 2000**2 * 8
    )  # its pairs alone, as numbers, are 32 MB; there were eight such arrays


def test_weights_are_of_documents_or_of_lists():
    labels, scores, sizes = lists()
    own = RankingObjective("nDCG", method="lambda", seed=0)
    plain = np.array(own.derivatives(labels, scores, group=sizes))
    of_lists = np.arange(len(sizes)) + 1.0
    of_documents = np.repeat(of_lists, sizes)
    for weight in (of_lists, of_documents):
        found = np.array(own.derivatives(labels, scores, group=sizes, weight=weight))
        assert found == pytest.approx(np.maximum(plain * of_documents, [[-math.inf], [1e-16]]))
    with pytest.raises(gf.errors.InputError, match="weight: expected one for each of 18 documents"):
        own.derivatives(labels, scores, group=sizes, weight=[1.0, 2.0])


def test_draws_are_anew_in_each_call_and_the_same_for_a_seed():
    labels, scores, sizes = lists()

    def two(seed):
        own = RankingObjective("nDCG", method="xe", seed=seed)
        return [own.derivatives(labels, scores, group=sizes)[0].tolist() for _ in range(2)]

    assert two(1) == two(1) != two(2)
    assert two(1)[0] != two(1)[1]


def test_draws_begin_anew_where_a_training_does():
    labels, scores, sizes = lists()
    own = RankingObjective("nDCG", method="xe", seed=1)

    def training():
        start = np.full(len(scores), 0.5)
        return [
            own.derivatives(labels, each, group=sizes)[0].tolist()
            for each in (start, scores, scores)
        ]

    first = training()
    assert first == training()
    assert first[1] != first[2]


def test_gains_below_0_are_told_of():
    """The draws of xe may make a sum near 0 of them, by which it would divide."""
    given = {"labels": [-1.0, 1.0, 0.0], "scores": [0.1, 0.2, 0.3], "group": [3]}
    with pytest.raises(
        gf.errors.InputError, match="label: expected non-negative gains with method=xe"
    ):
        RankingObjective("nDCG", method="xe", seed=0).derivatives(**given)
    for method, options in (("softmax", {}), ("xe", {"gamma": 0.5})):
        own = RankingObjective("nDCG", method=method, seed=0, **options)
        with pytest.warns(gf.errors.GainfulWarning, match=r"gains below 0 \(-1\) the loss"):
            own.derivatives(**given)
    for measure in ("nDCG(gain=binary)", "nDCG(gain={-1: 0, 0: 0, 1: 1})"):
        RankingObjective(measure, method="xe", seed=0).derivatives(**given)
    RankingObjective("nDCG", method="lambda", seed=0).derivatives(**given)


def test_far_scores_and_lists_without_gain_have_finite_derivatives():
    labels, sizes = np.array([3.0, 0, 1, 0, 0]), [3, 2]
    for scores in ([1e30, -1e30, 0, 1, 2], [-800.0, 800, 0, 0, 0], [0.0] * 5):
        for method in ("lambda", "xe", "softmax", "listnet"):
            own = RankingObjective("nDCG", method=method, seed=0)
            first, second = own.derivatives(labels, scores, group=sizes)
            assert np.isfinite([first, second]).all()
            assert (second > 0).all()
            if method in ("lambda", "softmax"):
                assert not first[3:].any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": "AP"}, "expected DCG or nDCG"),
        ({"method": "approx"}, "expected lambda or xe or softmax or listnet, found 'approx'"),
        ({"scheme": "x"}, "scheme: expected ranknet"),
        ({"reduction": "sum"}, "expected one of scheme, sigma, mu, truncation, gamma"),
        ({"foo": 1}, "objective: expected one of scheme, sigma, mu, truncation, gamma, found foo"),
        ({"method": "xe", "scheme": "ndcg2"}, r"expected options of xe \(gamma\), found scheme"),
        ({"method": "softmax", "gamma": 1}, r"expected options of softmax \(none\), found gamma"),
        ({"seed": -1}, "seed: expected"),
        ({"method": "xe", "gamma": [0.1, 0.2]}, "gamma: expected a number from 0 to 1"),
    ],
)
def test_what_is_no_objective(given, message):
    given = {"measure": "nDCG", "method": "lambda", "seed": 0, **given}
    with pytest.raises(gf.errors.GainfulError, match=message):
        RankingObjective(given.pop("measure"), **given)


@pytest.mark.parametrize(
    ("labels", "scores", "group", "message"),
    [
        ([1, 0], [math.nan, 0], [2], r"scores\[0\]: expected a finite number, found nan"),
        ([1, math.inf], [0, 0], [2], r"labels\[1\]: expected a finite number"),
        ([1, 0], [0, 0, 0], [2], "scores: expected the shape of labels"),
        ([1, 0], [0, 0], [1], "group: expected sizes that add up to the 2 documents"),
    ],
)
def test_what_has_no_derivatives(labels, scores, group, message):
    own = RankingObjective("nDCG", method="lambda", seed=0)
    with pytest.raises(gf.errors.InputError, match=message):
        own.derivatives(labels, scores, group=group)


def test_nothing_given_is_changed():
    labels, scores, sizes = lists()
    held = [each.copy() for each in (labels, scores, sizes)]
    for each in (labels, scores, sizes):
        each.flags.writeable = False
    for method in ("lambda", "xe", "softmax", "listnet"):
        RankingObjective("nDCG@3", method=method, seed=0).derivatives(labels, scores, group=sizes)
    for before, after in zip(held, (labels, scores, sizes), strict=True):
        assert (before == after).all()
