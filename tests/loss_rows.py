"""One row for each loss: how it is called in the tests, and its literal formula."""

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gainful as gf
import literal_losses as literal


@dataclass
class Row:
    """A loss with fixed options; `items` are options that have an axis of items."""

    function: Any
    literal: Any
    options: dict = field(default_factory=dict)
    items: dict = field(default_factory=dict)  # name: function from a shape to an array
    constant_ranks: bool = False  # the gradient does not go through ranks
    slope: Any = None  # the literal gradient, where it is an estimate and not that of the value

    def draw(self, shape):
        return {name: make(shape) for name, make in self.items.items()}


def _noise(shape):
    return np.random.default_rng(7).gumbel(size=(3, *shape))


def _gamma(shape):
    return np.random.default_rng(8).uniform(size=shape)


L = gf.losses

# Two lists of five.
SCORES = np.array([[0.3, -1.2, 2.1, 0.9, -0.4], [1.5, 0.1, -0.7, 0.4, 2.0]])
LABELS = np.array([[2.0, 0.0, 1.0, 3.0, 0.0], [0.0, 1.0, 2.0, 0.0, 1.0]])

ROWS = {
    "approx_ndcg": Row(L.approx_ndcg, literal.approx),
    "gumbel_approx_ndcg": Row(L.gumbel_approx_ndcg, literal.gumbel, items={"noise": _noise}),
    "neural_ndcg": Row(L.neural_ndcg, literal.neural, {"iterations": 4}),
    "pirank_ndcg": Row(L.pirank_ndcg, literal.pirank),
    "pl_rank": Row(
        L.pl_rank, literal.pl_rank, items={"noise": _noise}, slope=literal.pl_rank_slope
    ),
    "soft_ndcg": Row(L.soft_ndcg, literal.soft),
    "xe_ndcg": Row(L.xe_ndcg, literal.xe, items={"gamma": _gamma}),
    "softmax": Row(L.softmax, literal.softmax),
    "listnet": Row(L.listnet, literal.listnet),
    "list_mle": Row(L.list_mle, literal.list_mle),
    "p_list_mle": Row(L.p_list_mle, literal.p_list_mle),
} | {
    f"lambda_loss {scheme} {truncation}": Row(
        L.lambda_loss,
        functools.partial(literal.pair_loss, scheme=scheme, truncation=truncation),
        {"scheme": scheme, "truncation": truncation},
        constant_ranks=True,
    )
    for scheme, truncation in [
        ("ranknet", "none"),
        ("lambdarank", "either"),
        ("lambdarank", "both"),
        ("ndcg1", "either"),
        ("ndcg2", "none"),
        ("ndcg2pp", "either"),
    ]
}

# One row for each function, for what does not depend on its options and takes long.
_LAST = {row.function: name for name, row in ROWS.items()}
FUNCTIONS = {name: ROWS[name] for name in _LAST.values()}

# Parameters away from their defaults, for the formulas alone.
VARIANTS = {
    "approx_ndcg T": Row(
        L.approx_ndcg, functools.partial(literal.approx, temperature=0.3), {"temperature": 0.3}
    ),
    "approx_ndcg not normalised": Row(
        L.approx_ndcg, literal.unnormalised(literal.approx), {"normalized": False}
    ),
    "gumbel_approx_ndcg T β": Row(
        L.gumbel_approx_ndcg,
        functools.partial(literal.gumbel, temperature=0.7, beta=0.5),
        {"temperature": 0.7, "beta": 0.5},
        items={"noise": _noise},
    ),
    "neural_ndcg τ": Row(
        L.neural_ndcg, functools.partial(literal.neural, tau=0.5), {"tau": 0.5, "iterations": 4}
    ),
    "pirank_ndcg τ": Row(L.pirank_ndcg, functools.partial(literal.pirank, tau=0.5), {"tau": 0.5}),
    "pirank_ndcg not normalised": Row(
        L.pirank_ndcg, literal.unnormalised(literal.pirank), {"normalized": False}
    ),
    "soft_ndcg σ": Row(L.soft_ndcg, functools.partial(literal.soft, sigma=0.6), {"sigma": 0.6}),
    "soft_ndcg not normalised": Row(
        L.soft_ndcg, literal.unnormalised(literal.soft), {"normalized": False}
    ),
    "lambda_loss σ μ": Row(
        L.lambda_loss,
        functools.partial(literal.pair_loss, scheme="ndcg2pp", sigma=2.0, mu=3.0),
        {"scheme": "ndcg2pp", "sigma": 2.0, "mu": 3.0},
        constant_ranks=True,
    ),
    "lambda_loss not normalised": Row(
        L.lambda_loss,
        lambda s, y, k, **own: literal.pair_loss(s, y, k, **own) * literal.ideal(y, k),
        {"normalized": False},
        constant_ranks=True,
    ),
}
