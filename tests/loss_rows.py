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
