"""Time losses on a CPU beside plain pairwise code, and lists of several lengths beside padded ones.

Run `python benchmarks/cpu_losses.py`. Times are of a forward and a backward pass, the best of
several; the partners are those of `plain_losses.py`, with all pairs at once.
"""

import functools
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import gainful as gf
from plain_losses import plain_approx, plain_lambda

OURS = {"ApproxNDCG": gf.losses.approx_ndcg, "LambdaLoss lambdarank": gf.losses.lambda_loss}
PLAIN = {
    "ApproxNDCG": plain_approx,
    "LambdaLoss lambdarank": functools.partial(plain_lambda, steps=0),
}


def best_of(function, scores, passes=5):
    """Return milliseconds and the value."""
    best = float("inf")
    for _ in range(passes):
        start = time.perf_counter()
        scores.grad = None
        value = function()
        value.backward()
        best = min(best, time.perf_counter() - start)
    return best * 1e3, value.item()


def row(name, other, ours):
    agree = abs(other[1] - ours[1]) <= 1e-5 * abs(other[1])
    assert agree, (name, other, ours)
    ratio = other[0] / ours[0]
    print(f"| {name} | {other[0]:.0f} ms | {ours[0]:.0f} ms | {ratio:.1f}× |", flush=True)


def pairwise(lists, width):
    """Time padded lists beside plain code."""
    torch.manual_seed(0)
    scores = torch.randn(lists, width, requires_grad=True)
    labels = torch.randint(0, 5, (lists, width)).float()
    mask = torch.ones(lists, width, dtype=torch.bool)
    for name, loss in OURS.items():
        plain = functools.partial(PLAIN[name], scores, labels, mask)
        ours = functools.partial(loss, scores, labels, mask)
        row(f"{name} {lists} × {width:,}", best_of(plain, scores), best_of(ours, scores))


def uneven(lists):
    """Time lists of many lengths with offsets, beside the same lists padded to the longest."""
    rng = np.random.default_rng(0)
    lengths = torch.tensor(np.minimum(1500, rng.lognormal(4, 1, lists).astype(int) + 1))
    offsets = [0, *lengths.cumsum(0).tolist()]
    scores = torch.randn(offsets[-1], requires_grad=True)
    labels = torch.randint(0, 5, scores.shape).float()
    mask = torch.arange(int(lengths.max())) < lengths[:, None]

    def padded(loss):
        listed, grades = torch.zeros(mask.shape), torch.zeros(mask.shape)
        return loss(listed.masked_scatter(mask, scores), grades.masked_scatter(mask, labels), mask)

    for name, loss in OURS.items():
        ours = functools.partial(loss, scores, labels, offsets=offsets)
        other = best_of(functools.partial(padded, loss), scores, passes=2)
        row(f"{name}, {lists} lists of 1 to 1,500", other, best_of(ours, scores))


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    for lists, width in ((64, 200), (8, 2000)):
        pairwise(lists, width)
    uneven(256)
