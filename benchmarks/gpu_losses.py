"""Time the fused losses on a GPU beside plain pairwise code, eager and compiled.

Run on a machine with PyTorch, Triton and a GPU: `python benchmarks/gpu_losses.py`. The partners
are written here from the formulas, the way most libraries write them: all pairs at once.
"""

import argparse
import sys
from pathlib import Path

import torch
import triton

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from gainful.tensors.fused.approx import approx_ranks
from gainful.tensors.fused.pairs import lambda_sums


def normalised_gains(labels):
    """Return 2^y − 1 over the ideal DCG."""
    gains = torch.exp2(labels) - 1
    best = gains.sort(dim=-1, descending=True).values
    places = torch.arange(2, labels.shape[-1] + 2, device=labels.device)
    return gains / (best / torch.log2(places)).sum(-1, keepdim=True)


def plain_approx(scores, gains):
    """1 − ApproxNDCG with all pairs at once."""
    pairs = torch.sigmoid(scores[:, None, :] - scores[:, :, None])
    ranks = pairs.sum(-1) + 0.5
    return (1 - (gains / torch.log2(1 + ranks)).sum(-1)).mean()


def fused_approx(scores, gains, mask):
    ranks = approx_ranks(scores, mask, 1.0)
    return (1 - (gains / torch.log2(1 + ranks)).sum(-1)).mean()


def ranks_of(scores):
    order = scores.argsort(dim=-1, descending=True)
    places = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=torch.int32)
    return torch.zeros_like(scores, dtype=torch.int32).scatter_(-1, order, places.expand_as(order))


def plain_lambda(scores, labels, gains, ranks, discounts):
    """LambdaLoss NDCG-Loss2++ with all pairs at once."""
    above = labels[:, :, None] > labels[:, None, :]
    spread = (gains[:, :, None] - gains[:, None, :]).abs()
    weight = discounts[ranks.long()]
    first = (weight[:, :, None] - weight[:, None, :]).abs()
    apart = (ranks[:, :, None] - ranks[:, None, :]).abs().long()
    second = (discounts[apart] - discounts[apart + 1]).abs()
    losses = (
        torch.nn.functional.softplus(-(scores[:, :, None] - scores[:, None, :]))
        * 1.4426950408889634
    )
    return (torch.where(above, spread * (first + 10 * second) * losses, 0.0)).sum((1, 2)).mean()


def measured(function, scores):
    """Return milliseconds and extra megabytes of a forward and backward pass."""

    def step():
        scores.grad = None
        function().backward()

    step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    extra = (torch.cuda.max_memory_allocated() - before) / 1e6
    return triton.testing.do_bench(step, warmup=100, rep=400), extra


def row(name, milliseconds, megabytes, reference, pairs):
    rate = pairs / milliseconds / 1e9
    ratio = f"{reference / milliseconds:.1f}×" if reference else ""
    print(
        f"| {name} | {milliseconds:.3f} ms | {megabytes:.1f} MB | {ratio} | {rate:.2f} T/s |",
        flush=True,
    )


def compare(lists, width, *, plain):
    torch.manual_seed(0)
    scores = torch.randn(lists, width, device="cuda", requires_grad=True)
    labels = torch.randint(0, 5, (lists, width), device="cuda").float()
    gains = normalised_gains(labels)
    mask = torch.ones_like(labels, dtype=torch.bool)
    discounts = torch.zeros(width + 2, device="cuda")
    discounts[1:] = 1 / torch.log2(torch.arange(2, width + 3, device="cuda").float())
    ranks = ranks_of(scores.detach())
    pairs = 2 * lists * width * width  # forward and backward
    work = f"{lists} × {width:,}"

    def lambdas():
        return lambda_sums(scores, labels, gains, ranks, discounts, mask, scheme="ndcg2pp").mean()

    for name, fused, partner in (
        (
            "ApproxNDCG",
            lambda: fused_approx(scores, gains, mask),
            lambda: plain_approx(scores, gains),
        ),
        (
            "LambdaLoss ndcg2pp",
            lambdas,
            lambda: plain_lambda(scores, labels, gains, ranks, discounts),
        ),
    ):
        reference = None
        if plain:
            ours, theirs = fused(), partner()
            (gradient,) = torch.autograd.grad(fused(), scores)
            (expected,) = torch.autograd.grad(partner(), scores)
            error = (gradient - expected).abs().max() / expected.abs().max()
            print(
                f"{name}: value {ours.item():.7f} and {theirs.item():.7f}, gradient off by {error:.1e}"
            )
            reference, memory = measured(partner, scores)
            row(f"{name} {work}, eager", reference, memory, None, pairs)
            compiled = torch.compile(partner)
            row(f"{name} {work}, torch.compile", *measured(compiled, scores), reference, pairs)
        row(f"{name} {work}, fused", *measured(fused, scores), reference, pairs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__)
    compare(64 if chosen.quick else 256, 1000, plain=True)
    if not chosen.quick:
        compare(8, 20_000, plain=False)
