"""Three ways to compute a loss: one kernel, a rule with its gradient, or its formula.

Kernels handle PyTorch tensors on a GPU, rules PyTorch tensors on any device. The formula is for
transformations that trace code, such as `jax.jit`, `torch.compile` and `torch.func`.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gainful.array_types import Array
from gainful.training.gpu_support import fusible
from gainful.training.losses.array_operations import operations_for
from gainful.training.losses.options import Common
from gainful.training.losses.training_lists import Arranged, TrainingLists, reduced

Formula = Callable[[TrainingLists, Array | None], Array]
"""Computes the loss of each list from the lists and their random draws."""


def listwise(
    name: str,
    formula: Formula,
    scores: Array,
    labels: Array,
    mask: Array,
    common: Common,
    *,
    draw: Callable[[Arranged], Array] | None = None,
    drawn_before: Array = None,
    ideal: bool = False,
) -> Array:
    """Return a reduced loss.

    Args:
        name: the name of the loss, its rule and its kernel.
        formula: the formula of the loss.
        scores: [..., list].
        labels: [..., list].
        mask: [..., list].
        common: the options shared by every loss.
        draw: the function that makes the loss's random draws.
        drawn_before: values from the caller that replace the draws.
        ideal: whether the loss uses the ideal DCG.
    """
    traced = _traced(formula, draw, ideal=ideal)
    if _computes_at_once(scores, common, drawn_before):
        if scores.is_cuda and fusible(scores, labels, mask, common.get("weight")):
            from gainful.training.losses import fused_losses

            loss = fused_losses.listwise_loss(name, traced, scores, labels, mask, common, draw)
            if loss is not None:
                return loss
        rules = _rules()
        loss = rules.loss_by_rule(
            name, rules.RULES[name], traced, scores, labels, mask, common, draw
        )
        if loss is not None:
            return loss
    return traced(scores, labels, mask, common)


def pairwise(
    name: str,
    formula: Formula,
    scores: Array,
    labels: Array,
    mask: Array,
    common: Common,
    *,
    draw: Callable[[Arranged], Array] | None = None,
    drawn_before: Array = None,
    **options: object,
) -> Array:
    """Do the same for a loss over pairs, whose formula calls the kernels; the rule is for a CPU.

    Args:
        name: the name of the loss and its rule.
        formula: the formula of the loss.
        scores: [..., list].
        labels: [..., list].
        mask: [..., list].
        common: the options shared by every loss.
        draw: the function that makes the loss's random draws.
        drawn_before: values from the caller that replace the draws.
        **options: the loss's own options, for its rule.
    """
    traced = _traced(formula, draw, ideal=True)
    if _computes_at_once(scores, common, drawn_before) and scores.is_cpu:
        from gainful.training.losses import pairs_with_gradient

        rule = functools.partial(getattr(pairs_with_gradient, name), **options)
        loss = _rules().loss_by_rule(name, rule, traced, scores, labels, mask, common, draw)
        if loss is not None:
            return loss
    return traced(scores, labels, mask, common)


@functools.cache
def _rules() -> ModuleType:
    """Import the rules and PyTorch once: repeating the import slows down small losses."""
    from gainful.training.losses import listwise_with_gradient

    return listwise_with_gradient


def _traced(
    formula: Formula, draw: Callable[[Arranged], Array] | None, *, ideal: bool
) -> Callable[..., Any]:
    """Return the loss by its formula from lists and their random draws, if any."""

    def traced(
        own: Array, grades: Array, marks: Array, options: Common, drawn: Array | None = None
    ) -> Array:
        def of_lists(lists: TrainingLists) -> Array:
            return formula(
                lists, draw(lists.arranged) if drawn is None and draw is not None else drawn
            )

        return reduced(own, grades, marks, options, of_lists, ideal=ideal)

    return traced


def _computes_at_once(scores: Array, common: Common, drawn_before: Array) -> bool:
    """Return whether a rule supports the scores and no other tensor has a history.

    The gradients of other tensors come from the formula.
    """
    others, gain = (common.get("weight"), drawn_before), common.get("gain")
    by_function = callable(gain) or getattr(gain, "function", None) is not None
    traced_too = by_function or any(getattr(one, "requires_grad", False) for one in others)
    return not traced_too and operations_for(scores).computes_at_once(scores)
