"""How a loss is computed: by one kernel, by a rule with its gradient, or by its formula.

A kernel takes tensors of PyTorch on a GPU, a rule those on any device. The formula is for all that
reads code instead of running it: `jax.jit`, `torch.compile`, `torch.func` and their like.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from gainful.tensors.gpu_support import fusible
from gainful.tensors.losses.array_operations import Array, operations_for
from gainful.tensors.losses.options import Common
from gainful.tensors.losses.training_lists import Arranged, TrainingLists, reduced

Formula = Callable[[TrainingLists, Array | None], Array]
"""From lists, and from what was drawn for them, to the loss of each."""


def listwise(
    name: str,
    formula: Formula,
    scores: Array,
    labels: Any,
    mask: Any,
    common: Common,
    *,
    draw: Callable[[Arranged], Array] | None = None,
    drawn_before: Any = None,
    ideal: bool = False,
) -> Any:
    """Return a loss, reduced as asked.

    Args:
        name: of the loss, and of its rule and its kernel.
        formula: of the loss.
        scores: [..., list].
        labels: [..., list].
        mask: [..., list].
        common: options of every loss.
        draw: gives what the loss draws.
        drawn_before: what the caller gave in place of draws.
        ideal: whether it uses the ideal DCG.
    """
    traced = _traced(formula, draw, ideal=ideal)
    if _computes_at_once(scores, common, drawn_before):
        if scores.is_cuda and fusible(scores, labels, mask, common.get("weight")):
            from gainful.tensors.losses import fused_losses

            found = fused_losses.listwise_loss(name, traced, scores, labels, mask, common, draw)
            if found is not None:
                return found
        rules = _rules()
        found = rules.loss_by_rule(
            name, rules.RULES[name], traced, scores, labels, mask, common, draw
        )
        if found is not None:
            return found
    return traced(scores, labels, mask, common)


def pairwise(
    name: str,
    formula: Formula,
    scores: Array,
    labels: Any,
    mask: Any,
    common: Common,
    *,
    draw: Callable[[Arranged], Array] | None = None,
    drawn_before: Any = None,
    **options: Any,
) -> Any:
    """Do the same for a loss over pairs, whose kernels its formula knows; the rule is for a CPU.

    Args:
        name: of the loss and its rule.
        formula: of the loss.
        scores: [..., list].
        labels: [..., list].
        mask: [..., list].
        common: options of every loss.
        draw: gives what the loss draws.
        drawn_before: what the caller gave in place of draws.
        **options: those of the loss, for its rule.
    """
    traced = _traced(formula, draw, ideal=True)
    if _computes_at_once(scores, common, drawn_before) and scores.is_cpu:
        from gainful.tensors.losses import pairs_with_gradient

        rule = functools.partial(getattr(pairs_with_gradient, name), **options)
        found = _rules().loss_by_rule(name, rule, traced, scores, labels, mask, common, draw)
        if found is not None:
            return found
    return traced(scores, labels, mask, common)


@functools.cache
def _rules() -> ModuleType:
    """Import the rules once, with PyTorch: an import of its own takes a part of a small loss's time."""
    from gainful.tensors.losses import listwise_with_gradient

    return listwise_with_gradient


def _traced(
    formula: Formula, draw: Callable[[Arranged], Array] | None, *, ideal: bool
) -> Callable[..., Any]:
    """Return the loss by its formula, of lists and of what was drawn for them, if it was."""

    def traced(
        own: Array, grades: Any, marks: Any, given: Common, drawn: Array | None = None
    ) -> Any:
        def of_lists(lists: TrainingLists) -> Array:
            return formula(
                lists, draw(lists.arranged) if drawn is None and draw is not None else drawn
            )

        return reduced(own, grades, marks, given, of_lists, ideal=ideal)

    return traced


def _computes_at_once(scores: Array, common: Common, drawn_before: Any) -> bool:
    """Return whether a rule can take the scores, and nothing beside them has a history.

    Whatever else has one, its gradient is that of the formula.
    """
    others, gain = (common.get("weight"), drawn_before), common.get("gain")
    by_function = callable(gain) or getattr(gain, "function", None) is not None
    traced_too = by_function or any(getattr(one, "requires_grad", False) for one in others)
    return not traced_too and operations_for(scores).computes_at_once(scores)
