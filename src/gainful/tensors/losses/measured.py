"""A loss for a measure: gain, discount, base and cutoff from the measure, the rest by method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from gainful.errors import MeasureError, did_you_mean
from gainful.measures.notation import parse
from gainful.measures.spec import Measure
from gainful.tensors.losses.lists import Common, read_lists
from gainful.tensors.losses.listwise import list_mle, listnet, p_list_mle, softmax, xe_ndcg
from gainful.tensors.losses.operations import Array, operations_for
from gainful.tensors.losses.pairwise import lambda_loss
from gainful.tensors.losses.sampled import pl_rank
from gainful.tensors.losses.smooth import approx_ndcg, gumbel_approx_ndcg, soft_ndcg
from gainful.tensors.losses.sorting import neural_ndcg, pirank_ndcg

METHODS: Mapping[str, Callable[..., Any]] = {
    "approx": approx_ndcg,
    "gumbel": gumbel_approx_ndcg,
    "neural": neural_ndcg,
    "pirank": pirank_ndcg,
    "soft": soft_ndcg,
    "lambda": lambda_loss,
    "pl_rank": pl_rank,
    "xe": xe_ndcg,
    "softmax": softmax,
    "listnet": listnet,
    "list_mle": list_mle,
    "p_list_mle": p_list_mle,
}
"""The losses by the short names that `loss` knows them by."""


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A loss for a measure; call it with scores, labels and a mask. Build one with `loss`."""

    measure: Measure
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, scores: Array, labels: Any, mask: Any = None, **options: Any) -> Any:
        """Return the loss; options given here go before those it was built with."""
        return METHODS[self.method](scores, labels, mask, **{**self.options, **options})


def loss(measure: str | Measure, *, method: str = "approx", **options: Any) -> Surrogate:
    """Return a loss to train for a measure: DCG or nDCG with any gain, discount, base and cutoff.

    Args:
        measure: such as "nDCG(gain=exp2)@10". DCG gives losses that are not normalised.
        method: approx, gumbel, neural, pirank, soft, lambda, pl_rank, xe, softmax, listnet,
            list_mle or p_list_mle.
        **options: what the method takes besides, such as temperature or reduction.

    >>> import torch
    >>> train = loss("nDCG(gain=exp2)@10", method="approx", temperature=0.1)
    >>> train(torch.tensor([2.0, 1.0, 0.0]), torch.tensor([2, 1, 0])).item() < 0.001
    True
    """
    wanted = measure if isinstance(measure, Measure) else parse(measure)
    parameters = dict(wanted.parameters)
    if wanted.name not in ("DCG", "nDCG") or parameters.pop("norm", "ideal") != "ideal":
        raise MeasureError("loss", "DCG or nDCG, which have surrogates", f"'{wanted}'")
    _check_method(method)
    taken = {**parameters, "k": wanted.cutoff, "normalized": wanted.name == "nDCG"}
    twice = sorted(set(taken) & set(options))
    if twice:
        raise MeasureError(
            "loss", f"{twice[0]} as part of the measure", f"{twice[0]}={options[twice[0]]!r}"
        )
    return Surrogate(wanted, method, {**taken, **options})


def gap(
    scores: Array, labels: Any, mask: Any = None, *, method: str = "approx", **options: Any
) -> dict[str, float]:
    """Return how far a loss is from what it stands for: 1 − nDCG, or −DCG if not normalised.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        method: as in `gainful.loss`.
        **options: what the method takes besides.

    Returns:
        `loss` and `ndcg`, means over the lists that have a gain, and `gap`, the loss less
        1 − nDCG: above 0 for a bound, towards 0 as a relaxation sharpens.

    >>> import torch
    >>> found = gap(torch.tensor([1.0, 2.0]), torch.tensor([1, 0]), temperature=0.01)
    >>> round(found["loss"], 3), round(found["ndcg"], 3), round(abs(found["gap"]), 3)
    (0.369, 0.631, 0.0)
    """
    _check_method(method)
    options = {**options, "reduction": "none"}
    common = cast("Common", {n: v for n, v in options.items() if n in Common.__annotations__})
    ops = operations_for(scores)
    values = METHODS[method](scores, labels, mask, **options).reshape(-1)
    lists, _ = read_lists(scores, labels, mask, common)
    some = ops.floats(lists.gainful, lists.scores)
    total = max(float(some.sum()), 1.0)
    measured = float((some * lists.ndcg()).sum()) / total
    lost = float((some * ops.constant(values)).sum()) / total
    aim = (1 - measured if float(some.sum()) else 0.0) if lists.normalized else -measured
    return {"loss": lost, "ndcg": measured, "gap": lost - aim}


def _check_method(method: str) -> None:
    if method not in METHODS:
        expected = "a method"
        raise MeasureError("method", expected, repr(method), did_you_mean(str(method), METHODS))
