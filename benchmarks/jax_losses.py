"""Time the losses of JAX beside the same written by hand, both compiled.

Run `python benchmarks/jax_losses.py`, on a CPU, or on a GPU where JAX sees one. Rows are a value and
its gradient, from scores and labels, the best of several.
"""

import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import gainful as gf

KEY = jax.random.key(0)


def softmax(scores, labels):
    return -((2.0**labels - 1) * jax.nn.log_softmax(scores)).sum(-1).mean()


def listnet(scores, labels):
    return -(jax.nn.softmax(labels) * jax.nn.log_softmax(scores)).sum(-1).mean()


def xe_ndcg(scores, labels):
    mass = 2.0**labels - jax.random.uniform(KEY, labels.shape)
    shares = mass / mass.sum(-1, keepdims=True)
    return -(shares * jax.nn.log_softmax(scores)).sum(-1).mean()


def _surprise(scores, labels):
    """ln Σ_{j≥i} e^(s_j) − s_i for the items from high to low labels."""
    ordered = jnp.take_along_axis(scores, jnp.argsort(-labels), -1)
    left = jax.lax.cumlogsumexp(ordered, axis=ordered.ndim - 1, reverse=True)
    return left - ordered


def list_mle(scores, labels):
    return _surprise(scores, labels).sum(-1).mean()


def p_list_mle(scores, labels):
    width = scores.shape[-1]
    weights = 2.0 ** -jnp.arange(1.0, width + 1) - 2.0**-width
    return (_surprise(scores, labels) * (weights / weights.sum())).sum(-1).mean()


def pl_rank(scores, labels, samples=8):
    """1 − the mean nDCG of sampled rankings, with the gradient of PL-Rank-3."""
    worth = 1 / jnp.log2(jnp.arange(2.0, scores.shape[-1] + 2))
    gains = 2.0**labels - 1
    gains = gains / (jnp.sort(gains, descending=True) * worth).sum(-1, keepdims=True)
    s = jax.lax.stop_gradient(scores)
    order = jnp.argsort(-(s + jax.random.gumbel(KEY, (samples, *s.shape))))
    at = jnp.broadcast_to
    gained = jnp.take_along_axis(at(gains, order.shape), order, -1)
    powers = jnp.exp(s - s.max(-1, keepdims=True))
    powers = jnp.take_along_axis(at(powers, order.shape), order, -1)
    terms = gained * worth
    ahead, left = (jax.lax.cumsum(one, axis=2, reverse=True) for one in (terms, powers))
    direct, risk = (jnp.cumsum(one / left, -1) for one in (at(worth, left.shape), ahead))
    found = ahead - terms + powers * (gained * direct - risk)
    slope = jnp.take_along_axis(found, jnp.argsort(order), -1).mean(0)
    surrogate = (scores * slope).sum(-1)
    value = 1 - terms.sum(-1).mean(0)
    return (value - surrogate + jax.lax.stop_gradient(surrogate)).mean()


def _shares(labels):
    worth = 1 / jnp.log2(jnp.arange(2.0, labels.shape[-1] + 2))
    gains = 2.0**labels - 1
    return gains / (jnp.sort(gains, descending=True) * worth).sum(-1, keepdims=True)


def approx_ndcg(scores, labels):
    ranks = jax.nn.sigmoid(scores[:, None, :] - scores[:, :, None]).sum(-1) + 0.5
    return (1 - (_shares(labels) / jnp.log2(1 + ranks)).sum(-1)).mean()


def lambda_loss(scores, labels):
    ranks = jnp.argsort(jnp.argsort(-jax.lax.stop_gradient(scores))) + 1
    worth, gains = 1 / jnp.log2(1.0 + ranks), _shares(labels)
    above = labels[:, :, None] > labels[:, None, :]
    weights = jnp.abs(
        (gains[:, :, None] - gains[:, None, :]) * (worth[:, :, None] - worth[:, None, :])
    )
    losses = jax.nn.softplus(scores[:, None, :] - scores[:, :, None]) / jnp.log(2.0)
    return jnp.where(above, weights * losses, 0.0).sum((1, 2)).mean()


PLAIN = {
    one.__name__: one
    for one in (softmax, listnet, xe_ndcg, list_mle, p_list_mle, pl_rank, approx_ndcg, lambda_loss)
}
DRAW = ("xe_ndcg", "pl_rank")


def best_of(calls, turns):
    """Return the least milliseconds of each call, in turns."""
    best = [float("inf")] * len(calls)
    for _ in range(turns):
        for at, call in enumerate(calls):
            start = time.perf_counter()
            jax.block_until_ready(call())
            best[at] = min(best[at], time.perf_counter() - start)
    return [1e3 * seconds for seconds in best]


def rows(lists, width, turns, names):
    rng = np.random.default_rng(0)
    scores = jnp.asarray(rng.normal(size=(lists, width)), jnp.float32)
    labels = jnp.asarray(rng.integers(0, 5, (lists, width)), jnp.float32)
    for name in names:
        own = {"generator": KEY} if name in DRAW else {}

        def ours(s, y, name=name, own=own):
            return getattr(gf.losses, name)(s, y, **own)

        forms = [jax.jit(jax.value_and_grad(one)) for one in (PLAIN[name], ours)]
        calls = [lambda form=form: form(scores, labels) for form in forms]
        values = [float(call()[0]) for call in calls]
        if name not in (*DRAW, "list_mle", "p_list_mle"):  # by hand, ties stand in any order
            assert abs(values[0] - values[1]) <= 1e-5 * abs(values[0]), (name, values)
        other, mine = best_of(calls, turns)
        print(
            f"| {name} {lists:,} × {width:,} | {other:.3f} ms | {mine:.3f} ms "
            f"| {mine / other:.2f} times |",
            flush=True,
        )


if __name__ == "__main__":
    print(f"JAX {jax.__version__}, {jax.devices()[0].device_kind}")
    every = [name for name in PLAIN if not sys.argv[1:] or name in sys.argv[1:]]
    few = [name for name in every if name not in ("approx_ndcg", "lambda_loss")]
    rows(64, 100, 30, every)
    rows(256, 1000, 6, few)
    rows(4096, 100, 6, few)
