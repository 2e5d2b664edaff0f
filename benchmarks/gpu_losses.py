"""Time the fused losses on a GPU beside plain pairwise code, eager and compiled.

Run on a machine with PyTorch, Triton and a GPU: `python benchmarks/gpu_losses.py`. The partners
are written from the formulas, in `plain_losses.py`: all pairs at once, padding masked.
Every row is a whole call, from scores, labels and mask to the gradient. `--lean` leaves the mask
out of the partners, and the ideal DCG is given to them: the least that plain code can do. Times are
the best of several windows: PyTorch hands a backward pass to another thread, which some hosts wake
up slowly for seconds at a time. The first row, a backward pass of one number, shows how slowly.
"""

import argparse
import functools
import sys
import time
import warnings
from pathlib import Path

import torch
import triton

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import gainful as gf
from plain_losses import (
    lean_approx,
    plain_approx,
    plain_lambda,
    plain_neural,
    plain_pirank,
    shares_of,
)

WINDOWS = 12


def measured(function, scores, windows=WINDOWS):
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
    return best_of(step, windows), extra


def best_of(step, windows=WINDOWS):
    """Return the least milliseconds of a step, called from Python."""
    bench = triton.testing.do_bench
    return min(bench(step, warmup=50, rep=150, return_mode="min") for _ in range(windows))


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

    return triton.testing.do_bench_cudagraph(step, rep=200, return_mode="min")


def row(name, milliseconds, megabytes, reference, pairs):
    rate = f"{pairs / milliseconds / 1e9:.2f} T/s" if pairs else ""
    ratio = f"{reference / milliseconds:.1f}×" if reference else ""
    memory = "" if megabytes is None else f"{megabytes:.1f} MB"
    print(f"| {name} | {milliseconds:.3f} ms | {memory} | {ratio} | {rate} |", flush=True)


class Work:
    """Losses of lists of one size, beside their partners."""

    def __init__(self, lists, width, *, plain, lean):
        torch.manual_seed(0)
        self.size = f"{lists} × {width:,}"
        self.pairs = 2 * lists * width * width  # forward and backward
        self.plain = plain
        self.scores = scores = torch.randn(lists, width, device="cuda", requires_grad=True)
        labels = torch.randint(0, 5, (lists, width), device="cuda").float()
        mask = torch.ones_like(labels, dtype=torch.bool)
        shares = shares_of(labels, mask)
        self.fused = {
            "ApproxNDCG": lambda given=scores: gf.losses.approx_ndcg(given, labels, mask),
            "LambdaLoss ndcg2pp": lambda given=scores: gf.losses.lambda_loss(
                given, labels, mask, scheme="ndcg2pp"
            ),
        }
        self.partners = {
            "ApproxNDCG": lambda given=scores: plain_approx(given, labels, mask),
            "LambdaLoss ndcg2pp": lambda given=scores: plain_lambda(given, labels, mask),
        }
        if plain:
            self.agree()
        if lean:
            self.partners = {
                "ApproxNDCG": lambda given=scores: lean_approx(given, shares),
                "LambdaLoss ndcg2pp": lambda given=scores: plain_lambda(
                    given, labels, mask, shares
                ),
            }
        self.compiled = {name: torch.compile(one) for name, one in self.partners.items()}
        self.reference = dict.fromkeys(self.fused)

    def agree(self):
        """Print how far values and gradients are from those of the partners."""
        for name, fused in self.fused.items():
            partner = self.partners[name]
            (gradient,) = torch.autograd.grad(fused(), self.scores)
            (expected,) = torch.autograd.grad(partner(), self.scores)
            error = (gradient - expected).abs().max() / expected.abs().max()
            values = f"{fused().item():.7f} {partner().item():.7f}"
            print(f"{name}: values {values}, gradient off by {error:.1e}")

    def row(self, name, form, milliseconds, megabytes=None):
        row(
            f"{name} {self.size}, {form}", milliseconds, megabytes, self.reference[name], self.pairs
        )

    def called(self):
        """Print what calls from Python take."""
        for name, fused in self.fused.items():
            self.row(name, "gainful", *measured(fused, self.scores))
        if not self.plain:
            return
        for name, partner in self.partners.items():
            eager, memory = measured(partner, self.scores)
            self.row(name, "eager", eager, memory)
            self.reference[name] = eager
            self.row(name, "torch.compile", *measured(self.compiled[name], self.scores))
            self.row(name, "gainful, once more", *measured(self.fused[name], self.scores))

    def without_launching(self):
        """Print what the kernels take, and passes that were recorded as CUDA graphs."""
        for name, fused in self.fused.items():
            forms = {"gainful": fused}
            if self.plain:
                forms |= {"eager": self.partners[name], "compiled": self.compiled[name]}
            for form, function in forms.items():
                self.row(name, f"{form}, kernels", on_the_gpu(function, self.scores))
                self.row(name, f"{form}, CUDA graph", in_a_graph(function, self.scores))


def sorting(lists, width, *, plain):
    """Time losses by a relaxed order beside plain code, which may need more memory than there is."""
    torch.manual_seed(0)
    scores = torch.randn(lists, width, device="cuda", requires_grad=True)
    labels = torch.randint(0, 5, (lists, width), device="cuda").float()
    mask = torch.ones_like(labels, dtype=torch.bool)
    for name, ours, partner in (
        ("NeuralNDCG", gf.losses.neural_ndcg, plain_neural),
        ("PiRank", gf.losses.pirank_ndcg, plain_pirank),
    ):
        eager = None
        if plain:
            try:
                eager, memory = measured(
                    functools.partial(partner, scores, labels, mask), scores, 2
                )
                row(f"{name} {lists} × {width:,}, eager", eager, memory, None, None)
            except torch.cuda.OutOfMemoryError:
                print(f"| {name} {lists} × {width:,}, eager | out of memory | | | |")
            scores.grad = None
            torch.cuda.empty_cache()
        took = measured(functools.partial(ours, scores, labels, mask), scores, 4)
        row(f"{name} {lists} × {width:,}, gainful", *took, eager, None)


def soft(lists, width, k):
    """Time one pass of SoftNDCG, of which plain code would hold all n³ numbers of each list."""
    scores = torch.randn(lists, width, device="cuda", requires_grad=True)
    labels = torch.randint(0, 5, (lists, width), device="cuda").float()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    torch.cuda.synchronize()
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)  # that it takes long is known
        gf.losses.soft_ndcg(scores, labels, k=k).backward()
    torch.cuda.synchronize()
    took = (time.perf_counter() - start) * 1e3
    memory = (torch.cuda.max_memory_allocated() - before) / 1e6
    place = "" if k is None else f", k = {k}"
    row(f"SoftNDCG {lists} × {width:,}{place}, gainful", took, memory, None, None)


def measures(lists, width):
    """Time nDCG@10 beside the bare selection of the ten highest scores."""
    torch.manual_seed(0)
    scores = torch.randn(lists, width, device="cuda")
    labels = torch.randint(0, 5, (lists, width), device="cuda")
    recorded = functools.partial(triton.testing.do_bench_cudagraph, rep=200, return_mode="min")
    for form, timed in (("called", best_of), ("CUDA graph", recorded)):
        bare = timed(lambda: torch.topk(scores, 10))
        row(f"topk 10 of {lists:,} × {width:,}, {form}", bare, None, None, None)
        for ties in ("average", "order"):
            ours = timed(functools.partial(gf.metrics.ndcg, scores, labels, k=10, ties=ties))
            name = f"nDCG@10 of {lists:,} × {width:,}, ties={ties}, {form}"
            row(name, ours, None, bare, None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer lists")
    parser.add_argument("--lean", action="store_true", help="beside the least that plain code does")
    chosen = parser.parse_args()
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__)
    works = [Work(64 if chosen.quick else 256, 1000, plain=True, lean=chosen.lean)]
    if not chosen.quick and not chosen.lean:
        works.append(Work(8, 20_000, plain=False, lean=False))
    one = torch.zeros(1, device="cuda", requires_grad=True)
    row("backward pass of one number", *measured(lambda: one.sum(), one), None, None)
    for work in works:
        work.called()
    sorting(64 if chosen.quick else 256, 1000, plain=True)
    if not chosen.quick and not chosen.lean:
        sorting(32, 4000, plain=True)
        sorting(8, 20_000, plain=False)
        soft(64, 100, None)  # the first call is slower
        soft(256, 1000, 10)
        soft(256, 1000, None)
    measures(256, 1000)
    measures(16_384, 1000)
    for work in works:  # last, because a profiler slows down the launches after it
        work.without_launching()
