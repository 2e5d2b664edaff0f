"""The form of a call of a loss: everything but the numbers in its tensors.

Calls of the same form are prepared once.
"""

from typing import Any, NamedTuple

from gainful.measures.discount import Discount


class CallForm(NamedTuple):
    """The form of a call.

    Attributes:
        lists: how many.
        width: documents of a list.
        device: of all tensors.
        kinds: the types of scores, labels, mask and weight, None for what is not given.
        gain: linear, exp2 or binary.
        cutoff: of the measure.
        discount: of the measure.
        base: of its logarithm.
        normalized: divide by the ideal.
        reduction: mean, sum or none.
    """

    lists: int
    width: int
    device: Any
    kinds: tuple[Any, ...]
    gain: str
    cutoff: int | None
    discount: Discount
    base: float
    normalized: bool
    reduction: str

    @property
    def depth(self) -> int:
        """Ranks that the ideal has."""
        return self.width if self.cutoff is None else self.cutoff
