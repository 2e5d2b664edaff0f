"""Train a linear ranker with each loss, in JAX, on generated lists whose best order is known.

Labels are a rounded linear function of the features, so the best order can be learned; every loss
should bring the nDCG of lists that were not trained on to what `stated.py` says of it.

    python examples/train_jax.py [--steps N]
"""

import argparse
import sys

import jax
import jax.numpy as jnp
from stated import STATED

import gainful as gf

RATES = {"softmax": 0.02, "list_mle": 0.05}  # sums over items, hence with larger gradients
RANDOM = ("gumbel", "xe", "pl_rank")  # JAX has no randomness of its own: they take a key


def lists(count: int, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return features [list, item, feature] and labels from 0 to 4."""
    features = jax.random.normal(key, (count, 12, 6))
    worth = features @ jnp.array([1.0, -2.0, 0.5, 0.0, 1.5, -0.5])
    return features, (worth / 1.5 + 1).round().clip(0, 4)


def train(method: str, steps: int) -> float:
    """Return the nDCG of new lists after training."""
    known, new, draws = jax.random.split(jax.random.key(1), 3)
    features, labels = lists(64, known)
    loss = gf.losses.loss("nDCG(gain=exp2)", method=method)
    rate = RATES.get(method, 0.1)

    def measured(weights: jax.Array, key: jax.Array) -> jax.Array:
        options = {"generator": key} if method in RANDOM else {}
        return loss(features @ weights, labels, **options)

    def step(at: int, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        """Take a step of Adam: along the mean slope, over the root of its mean square."""
        weights, mean, square = state
        slope = jax.grad(measured)(weights, jax.random.fold_in(draws, at))
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        length = rate / (1 - 0.9 ** (at + 1))
        scale = jnp.sqrt(square / (1 - 0.999 ** (at + 1))) + 1e-8
        return weights - length * mean / scale, mean, square

    start = (jnp.zeros(6),) * 3
    weights, _, _ = jax.jit(lambda state: jax.lax.fori_loop(0, steps, step, state))(start)
    features, labels = lists(64, new)
    return gf.losses.gap(features @ weights, labels)["ndcg"]


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
