"""Check on a GPU that fused losses and measures are the plain ones: values and gradients."""

import functools
import importlib.util
import itertools
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from gainful import losses, metrics
from gainful.errors import InputError

TOLERANCE = 2e-5


def xe_ndcg(scores, labels, mask=None, **options):
    """XE-NDCG with the same γ everywhere."""
    return losses.xe_ndcg(scores, labels, mask, gamma=0.25, **options)


def pl_rank(scores, labels, mask=None, **options):
    """PL-Rank with the same noise everywhere."""
    generator = torch.Generator().manual_seed(7)
    drawn = torch.rand(3, *scores.shape, generator=generator, dtype=torch.float64)
    noise = -torch.log(-torch.log(drawn)).float().to(scores.device)
    return losses.pl_rank(scores, labels, mask, noise=noise, **options)


LISTWISE = (
    losses.softmax, losses.listnet, xe_ndcg, losses.list_mle, losses.p_list_mle, pl_rank,
)  # fmt: skip
RELAXED = losses.neural_ndcg, losses.pirank_ndcg
FUSED = (losses.approx_ndcg, losses.lambda_loss, *RELAXED, *LISTWISE)


def value_and_gradient(function, scores, *rest, **options):
    listed = scores.detach().clone().requires_grad_()
    value = function(listed, *rest, reduction="none", **options)
    (gradient,) = torch.autograd.grad(value.sum(), listed)
    return value.detach().double().cpu(), gradient.double().cpu()


def assert_same(found, expected, *case):
    for ours, plain in zip(found, expected, strict=True):
        error = (ours - plain).abs().max() / plain.abs().max().clamp_min(1)
        assert error < TOLERANCE, (*case, float(error))


def repeated():
    """Check many calls in turn: a program that does not wait for what it reads is wrong at times."""
    torch.manual_seed(3)
    cases = []
    for function in FUSED:
        for shape in ((1, 700), (1, 3000), (3, 1000), (40, 300), (64, 1000)):
            plain = torch.randn(shape).double(), torch.randint(0, 5, shape).double()
            given = [tensor.float().cuda() for tensor in plain]
            cases.append((function, given, value_and_gradient(function, *plain)))
    for number in range(100):
        for function, given, expected in cases:
            found = value_and_gradient(function, *given)
            assert_same(found, expected, function.__name__, given[0].shape, number)
    print("same in repeated calls", flush=True)


def compare(function, **options):
    """Compare float32 on the GPU with float64 on the CPU, which has no fused kernel."""
    torch.manual_seed(1)
    for lists, width in ((3, 1), (5, 7), (4, 130), (1, 700), (2, 5000), (2, 1000)):
        scores = torch.randn(lists, width) * 3
        labels = torch.randint(0, 5, (lists, width)).float()
        mask = torch.rand(lists, width) < 0.8
        mask[-1] &= lists < 5  # a list without items
        scores[~mask] = torch.nan
        labels[0] = 0  # no gain, no ideal
        given = scores.cuda(), labels.cuda(), mask.cuda()
        found = value_and_gradient(function, *given, **options)
        expected = value_and_gradient(function, scores.double(), labels.double(), mask, **options)
        assert_same(found, expected, function.__name__, options, lists, width)
    weight = torch.tensor([0.5, 2.0])
    for reduction in ("mean", "sum"):
        ours, plain = (
            function(*(x.to(place) for x in (scores.to(kind), labels, mask)), weight=weight.to(place),
                     reduction=reduction, **options).item()
            for place, kind in (("cuda", torch.float32), ("cpu", torch.float64))
        )  # fmt: skip
        assert abs(ours - plain) < TOLERANCE * max(abs(plain), 1), (options, reduction)
    half = scores.cuda().bfloat16().requires_grad_()
    function(half, labels.cuda(), mask.cuda(), **options).backward()
    assert half.grad.dtype == torch.bfloat16
    assert half.grad.isfinite().all()
    print("same", function.__name__, options, flush=True)


def unknown_stays_unknown():
    """Check that a list with NaN has NaN for a value, and no other list has."""
    scores = torch.randn(3, 9, device="cuda")
    labels = torch.randint(0, 4, (3, 9), device="cuda").float()
    for given, place in ((scores, 0), (labels, 1)):
        given[place, 2] = torch.nan
    for function in FUSED:
        values = function(scores, labels, reduction="none")
        assert values.isnan().tolist() == [True, True, False], values
    print("same unknown values", flush=True)


def far():
    """Check that an item far away takes no digits from the others."""
    for distance in (-1e9, -1e3, 1e3, 1e9):
        scores = torch.tensor([[2.0, 1.0, 0.0, 0.5, distance]])
        labels = torch.tensor([[0, 1, 0, 2, 3 if distance > 0 else 0]]).float()
        for function in FUSED:
            found = value_and_gradient(function, scores.cuda(), labels.cuda())
            expected = value_and_gradient(function, scores.double(), labels.double())
            assert_same(found, expected, function.__name__, distance)
    print("same far apart", flush=True)


def refused(call, error, words):
    """Return whether a call is refused in such words."""
    try:
        call()
    except error as found:
        return words in str(found)
    return False


def odd():
    """Check that numbers of NumPy, odd weights and types are taken, or refused, as without a GPU."""
    scores = torch.randn(3, 9, device="cuda", requires_grad=True)
    labels = torch.randint(0, 4, (3, 9), device="cuda").float()
    plain = [x.detach().double().cpu() for x in (scores, labels)]
    for function, options in (
        (losses.approx_ndcg, {"temperature": np.float32(0.5)}),
        (losses.approx_ndcg, {"temperature": 0.5, "normalized": np.bool_(0)}),
        (losses.approx_ndcg, {"k": np.int64(2), "base": np.float64(3)}),
        (losses.lambda_loss, {"sigma": np.float32(0.5), "mu": np.float64(2), "scheme": "ndcg2pp"}),
        (losses.lambda_loss, {"sigma": 0.5, "normalized": np.bool_(1), "k": np.int32(1)}),
    ):
        found = function(scores, labels, **options).item()
        assert abs(found - function(*plain, **options).item()) < TOLERANCE * 10, options
    mask = torch.ones_like(labels, dtype=torch.bool)
    mask[1] = False
    weight = torch.tensor([1.0, torch.nan, 2.0], device="cuda")
    endless = scores.detach().clone()
    endless[2, 3] = torch.inf
    for function in FUSED:
        assert function(scores, labels, mask, weight=weight).isfinite()
        found = function(endless, labels, reduction="none")
        assert found.isnan().tolist() == [False, False, True], function.__name__
    for function in LISTWISE[:-1]:
        twice = []
        for given in (scores.detach(), plain[0]):
            leaf = given.clone().requires_grad_()
            value = function(leaf, labels.to(leaf), reduction="sum")
            (slope,) = torch.autograd.grad(value, leaf, create_graph=True)
            twice.append(torch.autograd.grad(slope.pow(2).sum(), leaf)[0].double().cpu())
        assert_same(twice[:1], twice[1:], function.__name__, "second derivative")
    for function in (losses.approx_ndcg, losses.lambda_loss, pl_rank):
        for given in (scores, torch.randn(1, 5000, device="cuda", requires_grad=True)):
            value = function(given, torch.ones_like(given).cumsum(-1) % 3)
            (slope,) = torch.autograd.grad(value, given, create_graph=True)
            assert refused(slope.pow(2).sum().backward, NotImplementedError, "second derivative")
        unreal = labels.to(torch.complex64)
        assert refused(functools.partial(function, scores, unreal), InputError, "labels")
    print("same odd input", flush=True)


def flat():
    """Check lists of several lengths that lie one after the other."""
    lengths = [1500, 3, 0, 700, 40, 2000, 7]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    scores = torch.randn(int(offsets[-1]), device="cuda")
    labels = torch.randint(0, 5, scores.shape, device="cuda").float()
    for function in FUSED:
        if function is pl_rank:  # noise lies as the scores do
            continue
        found = value_and_gradient(function, scores, labels, offsets=offsets, k=10)
        plain = scores.double().cpu(), labels.double().cpu()
        expected = value_and_gradient(function, *plain, offsets=offsets, k=10)
        assert_same(found, expected, function.__name__)
    print("same flat lists", flush=True)


def far_and_equal():
    """Check relaxed orders of scores that are equal, far apart, or out of reach of each other."""
    torch.manual_seed(4)
    shape = 6, 400
    labels = torch.randint(0, 5, shape).float()
    scores = torch.randn(shape) * torch.tensor([[0.0], [1e-6], [1.0], [100.0], [1.0], [1.0]])
    scores[2, ::3] = 0.5
    scores[4, 7], scores[4, 9], scores[5, 1] = 1e9, -1e30, 1e6
    for function in RELAXED:
        for tau in (0.01, 1.0, 100.0):
            found = value_and_gradient(function, scores.cuda(), labels.cuda(), tau=tau)
            expected = value_and_gradient(function, scores.double(), labels.double(), tau=tau)
            assert_same(found, expected, function.__name__, tau)
    print("same far and equal scores", flush=True)


def compare_cupy():
    """Compare all measures of arrays of CuPy with those of NumPy, where CuPy is installed."""
    if importlib.util.find_spec("cupy") is None:
        print("no CuPy here", flush=True)
        return
    import cupy

    rng = np.random.default_rng(5)
    scores, labels = rng.integers(0, 9, (6, 40)) / 8, rng.integers(0, 4, (6, 40))
    mask = rng.random((6, 40)) < 0.8
    for name in metrics.__all__:
        for k in (None, 3):
            found = getattr(metrics, name)(*map(cupy.asarray, (scores, labels, mask)), k=k)
            plain = getattr(metrics, name)(scores, labels, mask, k=k)
            assert isinstance(found, cupy.ndarray)
            assert np.abs(found.get() - plain).max() < 1e-12, (name, k)
    print("same measures of CuPy", flush=True)


def transformed(function):
    """Check a loss that is compiled, differentiated by functions, or lies askew."""
    torch.manual_seed(6)
    labels = torch.randint(0, 5, (6, 130), device="cuda").float()
    mask = torch.rand(6, 130, device="cuda") < 0.8
    apart = torch.randn(6 * 130 + 1, device="cuda")[1:].view(6, 130)  # no kernel reads four at once
    expected, slope = value_and_gradient(function, apart.clone(), labels, mask)
    compiled = torch.compile(function, fullgraph=function in LISTWISE)
    for given in (apart, apart.clone(), apart):
        for same in (function, compiled):
            found, gradient = value_and_gradient(same, given, labels, mask)
            assert_same((found, gradient), (expected, slope), function.__name__, same)
    by_function = torch.func.grad(lambda s: function(s, labels, mask, reduction="sum"))
    gradient = by_function(apart).double().cpu()
    found = torch.func.vmap(function)(apart, labels, mask).double().cpu()
    assert_same((found, gradient), (expected, slope), function.__name__, "transformed")
    print("same transformed", function.__name__, flush=True)


def compiled_measure():
    """Check a measure that is compiled."""
    labels = torch.randint(0, 5, (6, 130), device="cuda").float()
    mask = torch.rand(6, 130, device="cuda") < 0.8
    scores = torch.randn(6, 130, device="cuda")
    compiled = torch.compile(lambda s: metrics.ndcg(s, labels, mask, k=10), fullgraph=True)
    assert torch.allclose(compiled(scores), metrics.ndcg(scores, labels, mask, k=10))
    print("same compiled measure", flush=True)


def compare_measures():
    """Compare measures at a cutoff on the GPU with NumPy in double precision."""
    rng = np.random.default_rng(2)
    for lists, width in ((3, 1), (50, 7), (40, 130), (7, 5000)):
        for levels in (2, 20, 10**6):
            scores = rng.integers(0, levels, (lists, width)).astype(np.float32)
            labels = rng.integers(-1, 5, (lists, width)) / (1 if levels > 2 else 2)
            mask = rng.random((lists, width)) < 0.8
            scores[:, :1] = -np.inf
            given = [torch.as_tensor(x).cuda() for x in (scores, labels.astype(np.float32), mask)]
            for name in ("cg", "dcg", "ndcg"):
                for gain in ("linear", "exp2", "binary"):
                    for k, ties in itertools.product((1, 3, 10, 32), ("average", "order")):
                        measure = getattr(metrics, name)
                        options = {"k": k, "gain": gain, "ties": ties}
                        found = measure(*given, **options).cpu().numpy()
                        plain = measure(scores.astype(float), labels, mask, **options)
                        error = np.abs(found - plain) / np.maximum(np.abs(plain), 1)
                        assert error.max() < 1e-6, (name, options, lists, width, error.max())
    print("same measures at cutoffs", flush=True)


def checks():
    """Return the functions to check, each with its options."""
    for options in (
        {},
        {"temperature": 0.1},
        {"temperature": 0.01},
        {"k": 10},
        {"k": 10, "base": 3},
        {"discount": "reciprocal"},
        {"gain": "linear"},
        {"normalized": False},
    ):
        yield losses.approx_ndcg, options
    for scheme in ("ranknet", "lambdarank", "ndcg1", "ndcg2", "ndcg2pp"):
        for options in (
            {},
            {"k": 5},
            {"k": 5, "truncation": "both"},
            {"k": 5, "truncation": "none", "sigma": 2.0},
        ):
            yield losses.lambda_loss, {"scheme": scheme, **options}
    for function in LISTWISE:
        for options in ({}, {"k": 5}, {"gain": "linear", "normalized": False}):
            yield function, options
    for options in ({}, {"tau": 0.1}, {"tau": 30.0}, {"k": 10}, {"normalized": False}):
        yield losses.pirank_ndcg, options
        yield losses.neural_ndcg, options
    yield losses.neural_ndcg, {"iterations": 0}
    yield losses.neural_ndcg, {"iterations": 100, "gain": "linear"}


if __name__ == "__main__":
    unknown_stays_unknown()
    # Most of the time is compiling, which a process does on one core.
    with ProcessPoolExecutor(
        os.cpu_count(), get_context("spawn"), torch.set_num_threads, (1,)
    ) as pool:
        others = (repeated, far, far_and_equal, compare_measures, compiled_measure, odd, flat)
        tasks = [pool.submit(one) for one in (*others, compare_cupy)]
        # A seed is no part of what is compiled, so PL-Rank is left out.
        tasks += [pool.submit(transformed, one) for one in FUSED if one is not pl_rank]
        tasks += [pool.submit(compare, function, **options) for function, options in checks()]
        for task in tasks:
            task.result()
    print(f"{len(tasks) + 1} checks passed")
