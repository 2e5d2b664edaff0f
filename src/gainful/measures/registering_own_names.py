"""`use`: give what is one's own its name in the notation."""

from typing import Any

from gainful.errors import MeasureError
from gainful.measures.discount import DISCOUNTS, Discount
from gainful.measures.gain import GAINS, Gain
from gainful.measures.notation import forget, place_of_name
from gainful.measures.own_measures import MEASURES, OwnMeasure
from gainful.measures.user_given_names import MADE, OwnNames, at_place
from gainful.message_texts import shown

KINDS: tuple[OwnNames[Any], ...] = (MEASURES, DISCOUNTS, GAINS)


def use(*definitions: OwnMeasure | Discount | Gain | str) -> None:
    """Give measures, discounts and gains of one's own their names in the notation, in this process.

    Each is what `define` made, or its place as text, `package.module:name`. A name that the library or
    another definition in use has is refused.

    >>> use("statistics:fmean")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gainful.errors.MeasureError: use 'statistics:fmean': expected a measure, a discount or a gain that gainful.define made, found <function fmean ...>.
    """
    for each in definitions:
        where = f"use {shown(each)}"
        made = isinstance(each, OwnMeasure | Discount | Gain)
        found: Any = each if made else at_place(each, where)
        names = next((kind for kind in KINDS if isinstance(found, kind.made)), None)
        if names is None or found.own_name is None:
            raise MeasureError(where, MADE, shown(found))
        called = found.own_name
        # The names of measures are those of the catalogue, too, in all their spellings.
        taken = place_of_name(called.name) if names is MEASURES else names.taken(called.name)
        if taken is not None and taken != called.place:
            raise MeasureError(
                f"use {shown(called.place)}",
                "a name of its own",
                f"'{called.name}', which is {taken}",
                "Rename one of them.",
            )
        names.in_use[called.name] = found
        forget()  # what texts were read as
