"""Time the listwise losses of PyTorch beside the same written by hand, eager and compiled.

Run `python benchmarks/listwise_losses.py`, on a CPU, or on a GPU where PyTorch sees one. Rows are
whole calls, from scores and labels to the gradient, the best of several; the partners are those of
`plain_listwise.py`. Values are checked to agree, but for those of losses that draw.
"""

import argparse
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import gainful as gf
import plain_listwise

SIZES = ((64, 100), (256, 1000), (4096, 100))
NAMES = ("softmax", "listnet", "xe_ndcg", "list_mle", "p_list_mle", "pl_rank")
DRAW = ("xe_ndcg", "pl_rank")


def best_of(calls, scores, turns):
    """Return the least milliseconds of each call, forward and backward, in turns."""
    best = [float("inf")] * len(calls)
    for _ in range(turns):
        for at, call in enumerate(calls):
            for _ in range(5 if scores.is_cuda or scores.numel() < 10_000 else 1):
                if scores.is_cuda:
                    torch.cuda.synchronize()
                start = time.perf_counter()
                scores.grad = None
                call().backward()
                if scores.is_cuda:
                    torch.cuda.synchronize()
                best[at] = min(best[at], time.perf_counter() - start)
    return [1e3 * seconds for seconds in best]


def rows(lists, width, device, turns, *, compiled):
    torch.manual_seed(0)
    scores = torch.randn(lists, width, device=device, requires_grad=True)
    labels = torch.randint(0, 5, (lists, width), device=device).float()
    for name in NAMES:
        plain, own = getattr(plain_listwise, name), getattr(gf.losses, name)
        forms = [("eager", plain, own)]
        if compiled:
            forms.append(("compiled", torch.compile(plain), torch.compile(own, fullgraph=True)))
        for form, theirs, ours in forms:
            calls = (lambda f=theirs: f(scores, labels), lambda f=ours: f(scores, labels))
            values = [call().item() for call in calls]
            # By hand, items of one label stand in any order, and not by score.
            if name not in (*DRAW, "list_mle", "p_list_mle"):
                assert abs(values[0] - values[1]) <= 1e-5 * abs(values[0]), (name, values)
            other, mine = best_of(calls, scores, turns)
            print(
                f"| {name} {lists:,} × {width:,}, {form} | {other:.3f} ms | {mine:.3f} ms "
                f"| {mine / other:.2f} times |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiled", action="store_true", help="time compiled losses, too")
    parser.add_argument("--turns", type=int, default=20)
    chosen = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    where = torch.cuda.get_device_name() if device == "cuda" else f"{torch.get_num_threads()} cores"
    print(f"PyTorch {torch.__version__}, {where}")
    for lists, width in SIZES:
        rows(lists, width, device, chosen.turns, compiled=chosen.compiled)
