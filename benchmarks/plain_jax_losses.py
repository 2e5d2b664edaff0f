"""The losses the way one writes them by hand, in a few lines of JAX each: no mask, no weights."""

import functools

import jax
import jax.numpy as jnp

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
    """ln Σ_{j≥i} e^(s_j) − s_i for the items from high to low labels, equal ones by their scores."""
    ordered = jnp.take_along_axis(scores, jnp.lexsort((-scores, -labels)), -1)
    left = jax.lax.cumlogsumexp(ordered, axis=ordered.ndim - 1, reverse=True)
    return left - ordered


def list_mle(scores, labels):
    return _surprise(scores, labels).sum(-1).mean()


def p_list_mle(scores, labels):
    width = scores.shape[-1]
    weights = 2.0 ** -jnp.arange(1.0, width + 1) - 2.0**-width
    return (_surprise(scores, labels) * (weights / weights.sum())).sum(-1).mean()


def _worth(width):
    return 1 / jnp.log2(jnp.arange(2.0, width + 2))


def _shares(labels):
    """2^y − 1 over the ideal DCG."""
    gains = 2.0**labels - 1
    best = jnp.sort(gains, descending=True)
    return gains / (best * _worth(labels.shape[-1])).sum(-1, keepdims=True)


def pl_rank(scores, labels, samples=8):
    """1 − the mean nDCG of sampled rankings, with the gradient of PL-Rank-3."""
    worth, gains = _worth(scores.shape[-1]), _shares(labels)
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


def approx_ndcg(scores, labels):
    ranks = jax.nn.sigmoid(scores[..., None, :] - scores[..., :, None]).sum(-1) + 0.5
    return (1 - (_shares(labels) / jnp.log2(1 + ranks)).sum(-1)).mean()


def gumbel_approx_ndcg(scores, labels, samples=8):
    return approx_ndcg(scores + jax.random.gumbel(KEY, (samples, *scores.shape)), labels)


def _pairs(scores, weights):
    """Σ W_ij·log2(1 + e^(s_j − s_i))."""
    losses = jax.nn.softplus(scores[:, None, :] - scores[:, :, None]) / jnp.log(2.0)
    return (weights * losses).sum((1, 2)).mean()


def _apart(values):
    return values[:, :, None] - values[:, None, :]


def _ranks(scores):
    return jnp.argsort(jnp.argsort(-jax.lax.stop_gradient(scores))) + 1


def ranknet(scores, labels):
    return _pairs(scores, _apart(labels) > 0) * jnp.log(2.0)


def lambdarank(scores, labels):
    worth = 1 / jnp.log2(1.0 + _ranks(scores))
    weights = jnp.abs(_apart(_shares(labels)) * _apart(worth))
    return _pairs(scores, jnp.where(_apart(labels) > 0, weights, 0.0))


def ndcg1(scores, labels):
    weights = (_shares(labels) / jnp.log2(1.0 + _ranks(scores)))[:, :, None]
    return _pairs(scores, weights * (1 - jnp.eye(scores.shape[-1])))


def ndcg2(scores, labels, first=0, mu=1):
    """|G_i − G_j|·(D(m) − D(m + 1)), m = |r_i − r_j|, from a table of discounts."""
    ranks = _ranks(scores)
    table = jnp.concatenate([jnp.zeros(1), _worth(scores.shape[-1] + 1)])
    apart = jnp.abs(_apart(ranks))
    step = mu * (table[apart] - table[apart + 1])
    if first:
        step = step + jnp.abs(_apart(table[ranks]))
    weights = jnp.abs(_apart(_shares(labels))) * step
    return _pairs(scores, jnp.where(_apart(labels) > 0, weights, 0.0))


ndcg2pp = functools.partial(ndcg2, first=1, mu=10)


def _sorted_ndcg(scores, labels, steps):
    """1 − nDCG by the relaxed order of the scores, all ranks and items at once."""
    n = scores.shape[-1]
    spread = jnp.abs(_apart(scores)).sum(-1)
    ranks = jnp.arange(1, n + 1)
    logs = (n + 1 - 2 * ranks)[:, None] * scores[:, None, :] - spread[:, None, :]
    logs = jax.nn.log_softmax(logs)
    for _ in range(steps):
        logs = jax.nn.log_softmax(jax.nn.log_softmax(logs, -2))
    gains = (jnp.exp(logs) * _shares(labels)[:, None, :]).sum(-1)
    return (1 - (gains * _worth(n)).sum(-1)).mean()


pirank_ndcg = functools.partial(_sorted_ndcg, steps=0)
neural_ndcg = functools.partial(_sorted_ndcg, steps=30)


def soft_ndcg(scores, labels):
    """1 − the expected nDCG: the distribution of a rank grows with each other item."""
    n = scores.shape[-1]
    above = jax.scipy.stats.norm.cdf(-_apart(scores) / jnp.sqrt(2.0)) * (1 - jnp.eye(n))

    def grow(ranks, chance):
        moved = jnp.pad(ranks[..., :-1], [(0, 0), (0, 0), (1, 0)])
        chance = chance[:, :, None]
        return chance * moved + (1 - chance) * ranks, None

    alone = jnp.zeros((*scores.shape, n)).at[..., 0].set(1.0)
    ranks, _ = jax.lax.scan(grow, alone, jnp.moveaxis(above, -1, 0))
    return (1 - (_shares(labels) * (ranks * _worth(n)).sum(-1)).sum(-1)).mean()
