"""Names in the notation for measures of one's own."""

from gainful.errors import MeasureError
from gainful.measures.notation import forget, place_of_name
from gainful.measures.own_measures import OwnMeasure, at_place, give_name
from gainful.message_texts import shown


def use(*measures: OwnMeasure | str) -> None:
    """Give measures of one's own their names in the notation, in this process.

    Each is a measure that `define` made, or its place as text, `package.module:name`. A name that the catalogue or
    another measure in use has is refused.

    >>> use("statistics:fmean")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gainful.errors.MeasureError: use 'statistics:fmean': expected a measure that gainful.define made, found <function fmean ...>.
    """
    for each in measures:
        own = each.own if isinstance(each, OwnMeasure) else at_place(each, f"use {shown(each)}")
        taken = place_of_name(own.name)
        if taken is not None and taken != own.place:
            raise MeasureError(
                f"use {shown(own.place)}",
                "a name of its own",
                f"'{own.name}', which is {taken}",
                "Rename one of them.",
            )
        give_name(own)
        forget()
