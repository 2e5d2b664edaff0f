"""What the engine reads judgments or a run from."""

from dataclasses import dataclass
from enum import Enum

from gainful.inputs.files import Plain
from gainful.inputs.formats import Layout
from gainful.inputs.kinds import Kind

_NONE = Layout("")


class TextState(Enum):
    """How the lines of a text come to the engine."""

    UNSEEN = "nobody has looked at them yet"
    AS_THEY_ARE = "the engine reads the file itself"
    CLEANED = "the engine reads a copy whose white space is in order"
    ROW_BY_ROW = "they were read one by one, into a table"


@dataclass(frozen=True, slots=True)
class Source:
    """A table of judgments or of a run.

    Attributes:
        kind: which of the two.
        name: what messages call it.
        select: SQL with the columns query, doc and number, and rank where there is one; nothing
            for a text that nobody has looked at.
        rescans: whether it costs little to read it several times.
        strict: whether no value can be missing: none is, or reading fails; else they are NULL.
        file: where its text stands, if it does.
        layout: how its text is written.
        state: how its lines come to the engine; None where it has none.
        rows: how many rows its text has, as counted without the engine, where they are.
    """

    kind: Kind
    name: str
    select: str
    rescans: bool = False
    strict: bool = False
    file: Plain | None = None
    layout: Layout = _NONE
    state: TextState | None = None
    rows: int | None = None

    @property
    def lines(self) -> bool:
        """Whether its rows stand on lines that a message can name."""
        return self.state is not None

    @property
    def is_read_by_engine(self) -> bool:
        """Whether the engine itself reads the lines, of the file or of a copy."""
        return self.state in (TextState.AS_THEY_ARE, TextState.CLEANED)
