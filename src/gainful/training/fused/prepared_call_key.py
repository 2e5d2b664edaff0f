"""The form of a call to a loss: everything except the numbers in its tensors.

Calls of the same form are prepared once.
"""

from typing import Any, NamedTuple

from gainful.measures.discount import Discount


class CallForm(NamedTuple):
    """The form of a call.

    Attributes:
        lists: the number of lists.
        width: the number of documents in a list.
        device: the device of all tensors.
        kinds: the dtypes of scores, labels, mask and weight; None for a missing tensor.
        gain: linear, exp2 or binary.
        cutoff: the cutoff of the measure.
        discount: the discount of the measure.
        base: the base of the discount's logarithm.
        normalized: whether to divide by the ideal.
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
        """The number of ranks in the ideal."""
        return self.width if self.cutoff is None else self.cutoff
