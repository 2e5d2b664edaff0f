"""Time the fused losses on a GPU beside plain pairwise code, eager and compiled.

Run on a machine with PyTorch, Triton and a GPU: `python benchmarks/gpu_losses.py`. The partners
are written here from the formulas, the way libraries write them: all pairs at once, padding masked.
Every row is a whole call, from scores, labels and mask to the gradient. `--lean` leaves the mask
out of the partners, and the ideal DCG is given to them: the least that plain code can do.
"""

import argparse
import functools
import sys
from pathlib import Path

import torch
import triton

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import gainful as gf

LOG2_E = 1.4426950408889634


def shares_of(labels, mask):
    """Return 2^y − 1 over the ideal DCG."""
    gains = torch.where(mask, torch.exp2(labels) - 1, 0.0)
    best = gains.sort(dim=-1, descending=True).values
    places = torch.arange(2, labels.shape[-1] + 2, device=labels.device)
    return gains / (best / torch.log2(places)).sum(-1, keepdim=True)


def plain_approx(scores, labels, mask):
    """1 − ApproxNDCG with all pairs at once."""
    both = mask[:, None, :] & mask[:, :, None]
    pairs = torch.sigmoid(scores[:, None, :] - scores[:, :, None])
    ranks = torch.where(both, pairs, 0.0).sum(-1) + 0.5
    return (1 - (shares_of(labels, mask) / torch.log2(1 + ranks)).sum(-1)).mean()


def lean_approx(scores, shares):
    """1 − ApproxNDCG with all pairs at once, no mask, the ideal known."""
    ranks = torch.sigmoid(scores[:, None, :] - scores[:, :, None]).sum(-1) + 0.5
    return (1 - (shares / torch.log2(1 + ranks)).sum(-1)).mean()


def ranks_of(scores):
    order = scores.argsort(dim=-1, descending=True)
    places = torch.arange(1, scores.shape[-1] + 1, device=scores.device)
    return torch.zeros_like(order).scatter_(-1, order, places.expand_as(order))


def plain_lambda(scores, labels, mask, shares=None):
    """LambdaLoss NDCG-Loss2++ with all pairs at once."""
    discounts = torch.zeros(scores.shape[-1] + 2, device=scores.device)
    places = torch.arange(2, scores.shape[-1] + 3, device=scores.device)
    discounts[1:] = 1 / torch.log2(places.float())
    ranks = ranks_of(scores.detach())
    gains = shares_of(labels, mask) if shares is None else shares
    above = labels[:, :, None] > labels[:, None, :]
    if shares is None:
        above = above & mask[:, :, None] & mask[:, None, :]
    spread = (gains[:, :, None] - gains[:, None, :]).abs()
    weight = discounts[ranks]
    first = (weight[:, :, None] - weight[:, None, :]).abs()
    apart = (ranks[:, :, None] - ranks[:, None, :]).abs()
    second = (discounts[apart] - discounts[apart + 1]).abs()
    losses = torch.nn.functional.softplus(-(scores[:, :, None] - scores[:, None, :])) * LOG2_E
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


def on_the_gpu(function, scores, passes=20):
    """Return milliseconds that the kernels of a pass take, without the time of launching them."""
    torch.autograd.grad(function(), scores)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(passes):
            torch.autograd.grad(function(), scores)
        torch.cuda.synchronize()
    kernels = (event for event in seen.events() if event.device_type.name == "CUDA")
    return sum(event.device_time for event in kernels) / passes / 1e3


def in_a_graph(function, scores):
    """Return milliseconds of a pass that is recorded once and replayed as a CUDA graph."""

    def step():
        # A leaf of the stream that records: one of another stream cannot be waited for.
        leaf = scores.detach().requires_grad_()
        return torch.autograd.grad(function(leaf), leaf)

    return triton.testing.do_bench_cudagraph(step, rep=200)


def row(name, milliseconds, megabytes, reference, pairs):
    rate = f"{pairs / milliseconds / 1e9:.2f} T/s" if pairs else ""
    ratio = f"{reference / milliseconds:.1f}×" if reference else ""
    memory = "" if megabytes is None else f"{megabytes:.1f} MB"
    print(f"| {name} | {milliseconds:.3f} ms | {memory} | {ratio} | {rate} |", flush=True)


def compare(lists, width, *, plain, lean):
    torch.manual_seed(0)
    scores = torch.randn(lists, width, device="cuda", requires_grad=True)
    labels = torch.randint(0, 5, (lists, width), device="cuda").float()
    mask = torch.ones_like(labels, dtype=torch.bool)
    shares = shares_of(labels, mask)
    pairs = 2 * lists * width * width  # forward and backward
    for name, fused, partner, least in (
        (
            "ApproxNDCG",
            lambda given=scores: gf.losses.approx_ndcg(given, labels, mask),
            lambda given=scores: plain_approx(given, labels, mask),
            lambda given=scores: lean_approx(given, shares),
        ),
        (
            "LambdaLoss ndcg2pp",
            lambda given=scores: gf.losses.lambda_loss(given, labels, mask, scheme="ndcg2pp"),
            lambda given=scores: plain_lambda(given, labels, mask),
            lambda given=scores: plain_lambda(given, labels, mask, shares),
        ),
    ):
        work = f"{name} {lists} × {width:,}"
        reference = None
        if plain:
            ours, theirs = fused(), partner()
            (gradient,) = torch.autograd.grad(fused(), scores)
            (expected,) = torch.autograd.grad(partner(), scores)
            error = (gradient - expected).abs().max() / expected.abs().max()
            print(f"values {ours.item():.7f} {theirs.item():.7f}, gradient off by {error:.1e}")
            partner = least if lean else partner
            reference, memory = measured(partner, scores)
            row(f"{work}, eager", reference, memory, None, pairs)
            compiled = torch.compile(partner)
            row(f"{work}, torch.compile", *measured(compiled, scores), reference, pairs)
            row(f"{work}, compiled, kernels", on_the_gpu(compiled, scores), None, reference, pairs)
            row(f"{work}, eager, CUDA graph", in_a_graph(partner, scores), None, reference, pairs)
            row(
                f"{work}, compiled, CUDA graph",
                in_a_graph(compiled, scores),
                None,
                reference,
                pairs,
            )
        row(f"{work}, gainful", *measured(fused, scores), reference, pairs)
        row(f"{work}, gainful, kernels", on_the_gpu(fused, scores), None, reference, pairs)
        row(f"{work}, gainful, CUDA graph", in_a_graph(fused, scores), None, reference, pairs)


def measures(lists, width):
    """Time nDCG@10 beside the bare selection of the ten highest scores."""
    torch.manual_seed(0)
    scores = torch.randn(lists, width, device="cuda")
    labels = torch.randint(0, 5, (lists, width), device="cuda")
    bare = triton.testing.do_bench(lambda: torch.topk(scores, 10), rep=200)
    row(f"topk 10 of {lists:,} × {width:,}", bare, None, None, None)
    for ties in ("average", "order"):
        ours = triton.testing.do_bench(
            functools.partial(gf.metrics.ndcg, scores, labels, k=10, ties=ties), rep=200
        )
        row(f"nDCG@10 of {lists:,} × {width:,}, ties={ties}", ours, None, bare, None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer lists")
    parser.add_argument("--lean", action="store_true", help="beside the least that plain code does")
    chosen = parser.parse_args()
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__)
    measures(256, 1000)
    measures(16_384, 1000)
    compare(64 if chosen.quick else 256, 1000, plain=True, lean=chosen.lean)
    if not chosen.quick and not chosen.lean:
        compare(8, 20_000, plain=False, lean=False)
