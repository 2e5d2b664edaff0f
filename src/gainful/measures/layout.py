"""The layout of a page: how many results each of its rows holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from gainful.errors import MeasureError
from gainful.measures.written_numbers import Range, read_number
from gainful.message_texts import shown

_ON = "..."  # at the end of a list: its last entry applies to all further rows
_EXPECTED = (
    "a whole number of columns, or one for each row, such as [5, 5, 10]; in [5, 5, ...], the last one applies to all "
    "further rows"
)
_MOST_COLUMNS = 1_000_000
_WHOLE = Range(1, _MOST_COLUMNS, whole=True)


@dataclass(frozen=True, slots=True)
class Layout:
    """The number of results in each row, from the top.

    `goes_on` says whether all further rows are as long as the last one; otherwise the page ends there.

    >>> str(Layout((5, 5, 10))), str(Layout((5, 10), True)), str(Layout((4,), True))
    ('[5, 5, 10]', '[5, 10, ...]', '4')
    """

    columns: tuple[int, ...]
    goes_on: bool = False

    def __str__(self) -> str:
        if self.goes_on and len(self.columns) == 1:
            return str(self.columns[0])
        return f"[{', '.join([*map(str, self.columns), *[_ON] * self.goes_on])}]"


def layout(value: object) -> Layout:
    """Read a layout: a number of columns, or the number of results in each row.

    >>> layout(4), layout("[5, 5, 10, ...]")
    (Layout(columns=(4,), goes_on=True), Layout(columns=(5, 5, 10), goes_on=True))
    """
    if isinstance(value, Layout):
        return value
    if isinstance(value, str) and value.strip().startswith("[") and value.strip().endswith("]"):
        value = [item.strip() for item in value.strip()[1:-1].split(",")]
    if isinstance(value, str) or not isinstance(value, Sequence):
        return Layout((_columns(value),), goes_on=True)
    goes_on = bool(value) and value[-1] in (_ON, ...)
    columns = tuple(map(_columns, value[: len(value) - goes_on]))
    if not columns:
        raise MeasureError("columns", _EXPECTED, "none")
    while goes_on and len(columns) > 1 and columns[-1] == columns[-2]:
        columns = columns[:-1]  # so that equal layouts compare equal
    return Layout(columns, goes_on)


def _columns(value: object) -> int:
    number = read_number(value, where="columns", expected=_EXPECTED)
    if not _WHOLE(number):
        raise MeasureError("columns", _EXPECTED, shown(value))
    return int(number)
