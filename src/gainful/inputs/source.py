"""What the engine reads judgments or a run from."""

from dataclasses import dataclass

from gainful.inputs.files import Plain
from gainful.inputs.formats import Layout
from gainful.inputs.kinds import Kind

_NONE = Layout("")


@dataclass(frozen=True, slots=True)
class Source:
    """A table of judgments or of a run.

    Attributes:
        kind: which of the two.
        name: what messages call it.
        select: SQL with the columns query, doc and number, and rank where there is one.
        rescans: whether it costs little to read it several times.
        strict: whether no value can be missing: none is, or reading fails; else they are NULL.
        file: where its text stands, if it does.
        layout: how its text is written.
        rows: how many rows its text has, as counted without the engine, where they are.
    """

    kind: Kind
    name: str
    select: str
    rescans: bool = False
    strict: bool = False
    file: Plain | None = None
    layout: Layout = _NONE
    rows: int | None = None

    @property
    def lines(self) -> bool:
        """Whether its rows stand on lines that a message can name."""
        return self.file is not None and self.layout.format in ("trec", "table", "jsonl")
