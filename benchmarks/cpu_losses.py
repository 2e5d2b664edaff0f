"""Time losses on a CPU beside plain pairwise code, and lists of several lengths beside padded ones.

Run `python benchmarks/cpu_losses.py`. Times are of a forward and a backward pass, the median of
several; both ways take turns, and a ratio is the median of those of their turns. The partners are
those of `plain_losses.py`, with all pairs at once.
"""

import functools
import statistics
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


SIZES = ((64, 100), (64, 200), (256, 50), (1, 1000), (8, 2000))


def timed(function, scores):
    """Return milliseconds and the value."""
    start = time.perf_counter()
    scores.grad = None
    value = function()
    value.backward()
    return (time.perf_counter() - start) * 1e3, value.item()


def row(name, other, ours, scores, turns):
    """Print a row of the other way and ours."""
    for function in (other, ours):
        timed(function, scores)
    pairs = [(timed(other, scores), timed(ours, scores)) for _ in range(turns)]
    (_, expected), (_, found) = pairs[0]
    assert abs(expected - found) <= 1e-5 * abs(expected), (name, expected, found)
    by_turn = [[one[0][0], one[1][0], one[0][0] / one[1][0]] for one in pairs]
    before, after, ratio = (statistics.median(column) for column in zip(*by_turn, strict=True))
    print(f"| {name} | {before:.1f} ms | {after:.1f} ms | {ratio:.1f}× |", flush=True)


def pairwise(lists, width):
    """Time padded lists beside plain code."""
    torch.manual_seed(0)
    scores = torch.randn(lists, width, requires_grad=True)
    labels = torch.randint(0, 5, (lists, width)).float()
    mask = torch.ones(lists, width, dtype=torch.bool)
    for name, loss in OURS.items():
        plain = functools.partial(PLAIN[name], scores, labels, mask)
        ours = functools.partial(loss, scores, labels, mask)
        turns = 5 if lists * width**2 > 10**7 else 25
        row(f"{name} {lists} × {width:,}", plain, ours, scores, turns)


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
        other = functools.partial(padded, loss)
        row(f"{name}, {lists} lists of 1 to 1,500", other, ours, scores, 2)


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads")
    for lists, width in SIZES:
        pairwise(lists, width)
    uneven(256)
