"""Time the losses of JAX beside the same written by hand, both compiled.

Run `python benchmarks/jax_losses.py`, on a CPU, or on a GPU where JAX sees one; names of losses
after it take those alone. Rows are a value and its gradient, from scores and labels, the best of several in turns.
"""

import functools
import math
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import plain_jax_losses as plain

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import gainful as gf

LISTWISE = ("softmax", "listnet", "xe_ndcg", "list_mle", "p_list_mle", "pl_rank")
SCHEMES = ("ranknet", "lambdarank", "ndcg1", "ndcg2", "ndcg2pp")
PAIRWISE = ("approx_ndcg", *SCHEMES, "pirank_ndcg")
DRAW = ("xe_ndcg", "pl_rank", "gumbel_approx_ndcg")

SIZES = (
    (64, 100, (*LISTWISE, *PAIRWISE, "gumbel_approx_ndcg", "neural_ndcg")),
    (256, 1000, LISTWISE),
    (4096, 100, LISTWISE),
    (64, 200, (*PAIRWISE, "gumbel_approx_ndcg", "neural_ndcg")),
    (32, 50, ("soft_ndcg",)),
)


def of_gainful(name):
    """Return the loss of a name; those of LambdaLoss bear the names of their schemes."""
    if name in SCHEMES:
        return functools.partial(gf.losses.lambda_loss, scheme=name)
    own = {"generator": plain.KEY} if name in DRAW else {}
    return functools.partial(getattr(gf.losses, name), **own)


def best_of(calls, seconds=2.0, turns=5):
    """Return the least milliseconds of each call, in turns for some seconds."""
    best, turn, start = [math.inf] * len(calls), 0, time.perf_counter()
    while turn < turns or time.perf_counter() < start + seconds:
        for at in range(len(calls)):
            one = (at + turn) % len(calls)  # neither is always the first
            begun = time.perf_counter()
            jax.block_until_ready(calls[one]())
            best[one] = min(best[one], time.perf_counter() - begun)
        turn += 1
    return [1e3 * least for least in best]


def row(name, lists, width):
    """Print the times of a loss."""
    rng = np.random.default_rng(0)
    scores = jnp.asarray(rng.normal(size=(lists, width)), jnp.float32)
    labels = jnp.asarray(rng.integers(0, 5, (lists, width)), jnp.float32)
    both = getattr(plain, name), of_gainful(name)
    forms = [jax.jit(jax.value_and_grad(lambda s, y, one=one: one(s, y))) for one in both]
    calls = [functools.partial(form, scores, labels) for form in forms]
    (value, slope), (own, mine) = (call() for call in calls)
    if name not in DRAW:
        assert abs(own - value) <= 1e-5 * abs(value), (name, value, own)
        assert abs(mine - slope).max() <= 1e-4 * abs(slope).max(), name
    by_hand, ours = best_of(calls)
    print(
        f"| {name} {lists:,} × {width:,} | {by_hand:.3f} ms | {ours:.3f} ms "
        f"| {ours / by_hand:.2f} times |",
        flush=True,
    )


if __name__ == "__main__":
    print(f"JAX {jax.__version__}, {jax.devices()[0].device_kind}")
    for lists, width, names in SIZES:
        for name in names:
            if not sys.argv[1:] or name in sys.argv[1:]:
                row(name, lists, width)
