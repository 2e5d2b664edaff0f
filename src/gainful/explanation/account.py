"""`Account`: what is said of a value, as text, Markdown and HTML."""

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable

from gainful.measures.gain import FORMS as GAINS
from gainful.measures.spec import Measure
from gainful.rendering.table import Table, as_html, as_markdown, as_text

_IDEALS = {
    ("ideal", "retrieved"): "ideal retrieved: of the documents of the list",
    ("depth", "all"): "depth all: the ideal is not cut",
    ("depth", "retrieved"): "depth retrieved: the ideal is no longer than the list",
}


class Account(ABC):
    """An account of a value or of a difference: a heading, the conventions, tables, a conclusion.

    Attributes:
        measure: the measure, whose conventions are said.
    """

    __slots__ = ()
    measure: Measure

    @property
    @abstractmethod
    def heading(self) -> str:
        """What it is about."""

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The last line."""

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return what stands between them."""

    @property
    def conventions(self) -> str:
        """The gain and the discount in words."""
        return conventions_of(self.measure)

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        return self._compose(map(as_markdown, self.tables()))

    def __str__(self) -> str:
        return self._compose(map(as_text, self.tables()))

    def to_html(self) -> str:
        """Return it as HTML."""
        tables = "".join(as_html(table) for table in self.tables())
        heading, conventions, conclusion = map(
            html.escape, (self.heading, self.conventions, self.conclusion)
        )
        return f"<h4>{heading}</h4><p>{conventions}</p>{tables}<p><b>{conclusion}</b></p>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def _compose(self, tables: Iterable[str]) -> str:
        return "\n\n".join([self.heading, self.conventions, *tables, self.conclusion])


def conventions_of(measure: Measure) -> str:
    """Say the gain and the discount of a measure in words, and its ideal where it is another.

    >>> conventions_of(Measure("CG"))
    'gain linear: g, the grade itself'
    """
    parameters = measure.parameters
    gain = parameters["gain"]
    said = [f"gain {gain}" + (f": {GAINS[gain.form]}" if gain.form in GAINS else "")]
    discount = parameters.get("discount")
    if discount is not None:
        said.append(f"discount {discount}: {discount.meaning}")
        if discount.has_base:
            base = measure.family.parameter("base").write(parameters["base"])
            said[-1] += f" with b = {base}"
    said += [
        _IDEALS[name, parameters[name]] for name in ("ideal", "depth") if measure.changes(name)
    ]
    return "; ".join(said)
