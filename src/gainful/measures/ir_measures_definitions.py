"""A measure that is a function of the documents themselves: what `ir_measures.define` and `define_byquery` make.

Such a function is given data frames of judgments and run, with the ids of documents and their scores, which no
other measure sees. It is asked where a run is read, before anything is measured.
"""

from collections.abc import Mapping
from typing import Any

from gainful.errors import MeasureError
from gainful.measures.foreign_spellings import text_of_object
from gainful.measures.measure import Measure, read_cutoff, refuse_wrong_cutoff
from gainful.measures.measure_family import MEAN, NEVER, OPTIONAL, Family
from gainful.message_texts import shown

_CUTOFF = "cutoff"


class DocumentMeasure(Measure):
    """A measure that `ir_measures.define` made.

    `given` is its object; `found` has the value of each query, once it was asked, and `ties` the rule on ties by
    which the documents stood then. Neither is a part of what makes two of them equal.
    """

    __slots__ = ("found", "given", "ties")
    given: Any
    found: Mapping[str, float] | None
    ties: str | None

    def __init__(
        self,
        name: str,
        cutoff: int | None,
        given: Any = None,
        found: Mapping[str, float] | None = None,
        ties: str | None = None,
    ) -> None:
        # The class is frozen for everyone but its own constructor.
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "settings", ())
        object.__setattr__(self, "cutoff", None if cutoff is None else read_cutoff(cutoff))
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "found", found)
        object.__setattr__(self, "ties", ties)

    @property
    def family(self) -> Family:
        """What is known of this measure."""
        told = (
            getattr(self.given, "SHORT_DESC", None) or f"what the function of {self.name} returns"
        )
        return Family(
            name=self.name,
            title="a measure that ir_measures.define made",
            definition=str(told).removesuffix("."),
            range="any real number",
            citation="",
            example=None,
            parameters=(),
            cutoff=OPTIONAL if _CUTOFF in getattr(self.given, "SUPPORTED_PARAMS", ()) else NEVER,
            aggregate=MEAN,
        )

    def having(self, **parameters: object) -> "DocumentMeasure":
        """Refuse parameters, which such a measure has not."""
        raise MeasureError(f"{self}", "no parameters", ", ".join(parameters))

    def at(self, cutoff: int | None) -> "DocumentMeasure":
        """Return the same measure at another cutoff."""
        refuse_wrong_cutoff(self.family, cutoff)
        chosen = {key: value for key, value in self.given.params.items() if key != _CUTOFF}
        if cutoff is not None:
            chosen[_CUTOFF] = read_cutoff(cutoff)
        return DocumentMeasure(self.name, cutoff, type(self.given)(**chosen))

    def knowing(self, found: Mapping[str, float], ties: str) -> "DocumentMeasure":
        """Return the same measure with the values of the queries of a run."""
        return DocumentMeasure(self.name, self.cutoff, self.given, found, ties)

    def __eq__(self, other: object) -> bool:
        same = Measure.__eq__(self, other)
        return same is True and type(self.given) is type(other.given)  # type: ignore[attr-defined]

    __hash__ = Measure.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        # Its class is local to a function, which no other process has.
        return DocumentMeasure, (self.name, self.cutoff, None, self.found, self.ties)


def is_document_measure(given: object) -> bool:
    """Return whether an object is a measure that `ir_measures.define` made."""
    return (
        callable(getattr(given, "runtime_impl", None))
        and isinstance(getattr(given, "params", None), Mapping)
        and isinstance(getattr(given, "SUPPORTED_PARAMS", None), Mapping)
    )


def document_measure(given: Any) -> DocumentMeasure:
    """Return the measure of an object that `ir_measures.define` made."""
    text = text_of_object(given)
    if text is None:
        hint = "ir_measures.define(…, name='Name') gives it one."
        raise MeasureError("measure", "a measure with a name", shown(given), hint)
    cutoff = given.params.get(_CUTOFF)
    name = text if cutoff is None else text.removesuffix(f"@{cutoff}")
    return DocumentMeasure(name, cutoff, given)
