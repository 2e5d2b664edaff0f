"""The kinds of input: judgments, runs, and judgments of the subtopics of queries."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file or table holds.

    Attributes:
        name: how messages call it.
        number: what its numbers are.
        fields: those of a line of a TREC file.
        part: what a row belongs to within its query, where rows do.
    """

    name: str
    number: str
    fields: tuple[str, ...]
    part: str | None = None

    @property
    def contents(self) -> str:
        """What it is, in a message."""
        return "a run of scores" if self.name == "run" else "judgments of grades"

    @property
    def least(self) -> str:
        """What it must have, in a message."""
        return f"at least one {'retrieved' if self.name == 'run' else 'judged'} document"

    @property
    def places(self) -> tuple[int, int, int]:
        """Where query, doc and number stand in a line of a TREC file, from 0."""
        return self.fields.index("query"), self.fields.index("doc"), self.fields.index(self.number)


JUDGMENTS = Kind("judgments", "grade", ("query", "iteration", "doc", "grade"))
RUN = Kind("run", "score", ("query", "Q0", "doc", "rank", "score", "tag"))
SUBTOPICS = Kind("judgments", "grade", ("query", "subtopic", "doc", "grade"), part="subtopic")


def mistaken(found: Kind, given: Kind) -> str:
    """Say what a file looks like, and as what it was given; true of every call that takes files.

    >>> mistaken(RUN, given=JUDGMENTS)
    'This looks like a run, given as judgments: give each file as what it is.'
    """
    one, other = ("a run" if kind is RUN else kind.name for kind in (found, given))
    return f"This looks like {one}, given as {other}: give each file as what it is."
