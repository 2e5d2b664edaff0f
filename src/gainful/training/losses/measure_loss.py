"""A loss for a measure, which sets gain, discount, base and cutoff; the method sets the rest."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from gainful.arguments import choice
from gainful.array_types import Array
from gainful.errors import MeasureError
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, read_measure
from gainful.training import metrics
from gainful.training.array_checks import mask_for
from gainful.training.losses.array_operations import operations_for
from gainful.training.losses.flat_lists import of_each_list
from gainful.training.losses.listwise import list_mle, listnet, p_list_mle, softmax, xe_ndcg
from gainful.training.losses.options import Common, refuse_wrong_options
from gainful.training.losses.pairwise import DEFAULT_SCHEME, lambda_loss, refuse_idle_discount
from gainful.training.losses.relaxed_sorting import neural_ndcg, pirank_ndcg
from gainful.training.losses.sampled_rankings import pl_rank
from gainful.training.losses.smooth_rank_losses import approx_ndcg, gumbel_approx_ndcg, soft_ndcg
from gainful.training.losses.training_lists import read_lists, weights_of

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
"""The losses by the short names that `loss` accepts."""


_OF_THE_MEASURE = ("gain", "discount", "base")


# jax.jit holds a weak reference to it.
@dataclass(frozen=True, slots=True, weakref_slot=True, repr=False, eq=False)
class Surrogate:
    """A loss for a measure; call it with scores, labels and a mask. Build one with `loss`.

    >>> loss("nDCG(gain=exp2)@10", temperature=0.1)
    loss('nDCG(gain=exp2)@10', method='approx', temperature=0.1)
    """

    measure: Measure
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self, scores: Array, labels: Array, mask: Array = None, **options: object
    ) -> Array:
        """Return the loss; options passed here override those it was built with."""
        decided = _decided_options(self.measure, options)
        return METHODS[self.method](scores, labels, mask, **{**decided, **self.options, **options})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Surrogate):
            return NotImplemented
        same = (self.measure, self.method) == (other.measure, other.method)
        return same and _are_alike(self.options, other.options)

    def __hash__(self) -> int:
        return hash((self.measure, self.method))  # options may contain unhashable values

    def __repr__(self) -> str:
        settings = {"method": self.method, **self.options}
        written = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return f"loss({str(self.measure)!r}, {written})"


def loss(measure: GivenMeasure, *, method: str = "approx", **options: Any) -> Surrogate:
    """Return a training loss for a measure: DCG or nDCG with any gain, discount, base and cutoff.

    Args:
        measure: the measure, such as "nDCG(gain=exp2)@10". DCG gives unnormalised losses.
        method: approx, gumbel, neural, pirank, soft, lambda, pl_rank, xe, softmax, listnet,
            list_mle or p_list_mle.
        **options: further options of the method, such as temperature or reduction.

    >>> import torch
    >>> train = loss("nDCG(gain=exp2)@10", method="approx", temperature=0.1)
    >>> train(torch.tensor([2.0, 1.0, 0.0]), torch.tensor([2, 1, 0])).item() < 0.001
    True
    """
    target = read_measure(measure)
    if target.name not in ("DCG", "nDCG") or target.changes("norm", "depth"):
        expected = "DCG or nDCG, which have surrogates (nDCG with norm=ideal and depth=cutoff)"
        raise MeasureError("loss", expected, f"'{target}'")
    _refuse_unknown_method(method)
    _decided_options(target, options)
    refuse_wrong_options(METHODS[method], options)
    if method == "lambda":
        refuse_idle_discount(options.get("scheme", DEFAULT_SCHEME), target.parameters["discount"])
    return Surrogate(target, method, options)


def _are_alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether options are equal; arrays are compared by identity."""
    return one.keys() == other.keys() and all(
        value is other[name] or (not hasattr(value, "shape") and value == other[name])
        for name, value in one.items()
    )


def _decided_options(measure: Measure, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a measure determines; the caller may not pass them again."""
    # All documents are passed, so the ideal is always computed from them.
    decided = {name: measure.parameters[name] for name in _OF_THE_MEASURE}
    decided |= {"k": measure.cutoff, "normalized": measure.name == "nDCG"}
    twice = sorted(set(decided) & set(options))
    if twice:
        raise MeasureError(
            "loss", f"{twice[0]} as part of the measure", f"{twice[0]}={options[twice[0]]!r}"
        )
    return decided


def gap(
    scores: Array, labels: Array, mask: Array = None, *, method: str = "approx", **options: Any
) -> dict[str, float]:
    """Return the distance of a loss from its target: 1 − nDCG, or −DCG if not normalised.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        method: as in `gainful.losses.loss`.
        **options: further options of the method; the reduction is always a mean.

    Returns:
        `loss` and `ndcg`, both means over the lists with a positive ideal, weighted by any
        `weight`. `gap` is the loss minus 1 − nDCG: above 0 for a bound, and approaching 0 as a
        relaxation sharpens. nDCG is computed as in `gainful.metrics`, averaging over all orders of
        equal scores. With normalized=False, `dcg` replaces `ndcg`, the gap is to −DCG, and all
        lists with items count.

    >>> import torch
    >>> losses = gap(torch.tensor([1.0, 2.0]), torch.tensor([1, 0]), temperature=0.01)
    >>> round(losses["loss"], 3), round(losses["ndcg"], 3), round(abs(losses["gap"]), 3)
    (0.369, 0.631, 0.0)
    """
    _refuse_unknown_method(method)
    refuse_wrong_options(METHODS[method], options)
    padding = options.pop("padding", None)
    if padding is not None:
        mask = mask_for(labels, mask, padding)
    common = cast("Common", {n: v for n, v in options.items() if n in Common.__annotations__})
    unreduced = {**options, "reduction": "none", "weight": None}
    values = METHODS[method](scores, labels, mask, **unreduced)
    shape, values = tuple(values.shape), values.reshape(-1)
    if common.get("offsets") is None:
        true, counted, occupied = _measured(scores, labels, mask, common)
    else:
        true, counted, occupied = of_each_list(
            lambda g: _measured(g.scores, g.labels, g.mask, cast("Common", g.options)),
            scores,
            labels,
            mask,
            common,
        )
    ops = operations_for(scores)
    weights = weights_of(ops, true, occupied, common.get("weight"), shape)
    weights = ops.where(counted, weights, 0.0)
    total = float(weights.sum())

    def mean(losses: Array) -> float:
        losses = ops.where(counted, ops.constant(losses), 0.0)
        return float((weights * losses).sum()) / (total or 1.0)

    lost, measured = mean(values), mean(true)
    if not common.get("normalized", True):
        return {"loss": lost, "dcg": measured, "gap": lost + measured}
    return {"loss": lost, "ndcg": measured, "gap": lost - (1 - measured if total else 0.0)}


def _measured(
    scores: Array, labels: Array, mask: Array, common: Common
) -> tuple[Array, Array, Array]:
    """Return nDCG [list], or DCG if not normalised, averaged over orders of equal scores.

    Also return which lists count, and which have items.
    """
    lists, _ = read_lists(scores, labels, mask, common)
    options: dict[str, Any] = {"k": lists.k, "gain": common.get("gain", "exp2")}
    options["discount"] = str(lists.discount)
    if lists.discount.has_base:
        options["base"] = lists.base
    measure = metrics.ndcg if lists.normalized else metrics.dcg
    values = measure(lists.scores, lists.labels, lists.mask, **options)
    occupied = lists.counts > 0
    # A DCG of 0 or less is valid; the nDCG of a list without gain is undefined.
    counted = lists.gainful | lists.unknown if lists.normalized else occupied
    return values, counted, occupied


def _refuse_unknown_method(method: object) -> None:
    choice(method, "method", METHODS, expected=", ".join(METHODS), error=MeasureError)
