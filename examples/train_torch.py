"""Train a linear ranker with each loss on generated lists whose best order is known.

Labels are a rounded linear function of the features, so the best order can be learned; every loss
should bring the nDCG of lists that were not trained on to what `stated.py` says of it.

    python examples/train_torch.py [--steps N]
"""

import argparse
import sys

import torch
from stated import STATED

import gainful as gf

RATES = {"softmax": 0.02, "list_mle": 0.05}  # sums over items, hence with larger gradients


def lists(count: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return features [list, item, feature] and labels from 0 to 4."""
    features = torch.randn(count, 12, 6, generator=generator)
    worth = features @ torch.tensor([1.0, -2.0, 0.5, 0.0, 1.5, -0.5])
    return features, (worth / 1.5 + 1).round().clamp(0, 4)


def train(method: str, steps: int) -> float:
    """Return the nDCG of new lists after training."""
    generator = torch.Generator().manual_seed(1)
    features, labels = lists(64, generator)
    weights = torch.zeros(6, requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=RATES.get(method, 0.1))
    options = {"generator": generator} if method in ("gumbel", "xe", "pl_rank") else {}
    loss = gf.losses.loss("nDCG(gain=exp2)", method=method, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(features @ weights, labels).backward()
        optimizer.step()
    features, labels = lists(64, generator)
    return gf.losses.gap((features @ weights).detach(), labels)["ndcg"]


def main() -> int:
    """Print what each loss reaches; fail if one does not reach what is stated."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    reached = {method: train(method, steps) for method in gf.losses.METHODS}
    for method, value in reached.items():
        short = "" if value >= STATED[method] else ", and falls short"
        print(f"{method:12} nDCG {value:.3f}, stated {STATED[method]:.3f}{short}")
    return int(any(value < STATED[method] for method, value in reached.items()))


if __name__ == "__main__":
    sys.exit(main())
