"""`Findings`: the result of a check, to print, render and act on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, overload

from gainful.analysis.linting.rules import all_rules
from gainful.message_texts import counted, printable
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.result_base import Document, Record
from gainful.rows.identifiers import UNTYPED, IdType
from gainful.rows.mistakes import SEVERITIES, Rule
from gainful.version import VERSION


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Finding(Record):
    """A violation of a rule in one of the inputs.

    Attributes:
        severity: "error", "warning" or "note".
        rule: the name of the rule.
        input: "judgments", or the name of the run.
        count: the number of rows, documents or queries affected.
        message: a description of the problem.
        place: the location of the first occurrence: file:line in a text file, else query and document.
        query: the query of the first occurrence; None if no query is involved.
        doc: the document of the first occurrence; None if no document is involved.
        example: the details of the first occurrence.
        remedy: how to fix it.
    """

    severity: str
    rule: str
    input: str
    count: int
    message: str
    place: str
    query: str | None
    doc: str | None
    example: str
    remedy: str

    def __str__(self) -> str:
        head = f"{self.severity}: {self.input}: {self.message} [{self.rule}]"
        ids = ids_text(self.query, self.doc)
        where = [self.place] if ids in (None, self.place) else [self.place, str(ids)]
        shown = [": ".join(part for part in (*where, self.example) if part)]
        if ids is None and not self.example:
            shown = []  # the finding concerns the input as a whole
        return "\n".join(
            [printable(head), *(f"  {printable(line)}" for line in (*shown, self.remedy))]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Document, Sequence[Finding]):
    """All findings of a check, a sequence with the most severe first.

    Prints as text and displays as HTML in a notebook; `to_dict()` exports it, and `render` writes
    every format. `Findings.rules` lists the rules of a check.

    Attributes:
        found: the findings.
        inputs: the inputs checked: "judgments", and the names of the runs.
        cutoff: the rank down to which lists were checked.
        scale: the lowest and the highest expected grade, or None.
        query_type: the type of query ids before they became text.
        doc_type: the type of document ids before they became text.
    """

    found: tuple[Finding, ...]
    inputs: tuple[str, ...]
    cutoff: int
    scale: tuple[float, float] | None = None
    query_type: IdType = field(default=UNTYPED, compare=False)
    doc_type: IdType = field(default=UNTYPED, compare=False)

    rules: ClassVar[tuple[Rule, ...]] = (*all_rules().values(),)

    @overload
    def __getitem__(self, place: int) -> Finding: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, place: int | slice) -> Finding | tuple[Finding, ...]:
        return self.found[place]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings of each severity."""
        severities = [finding.severity for finding in self.found]
        return {severity: severities.count(severity) for severity in SEVERITIES}

    @property
    def clean(self) -> bool:
        """Whether there are no errors and no warnings."""
        counts = self.counts
        return not counts["error"] and not counts["warning"]

    @property
    def summary(self) -> str:
        """The counts in a line.

        >>> Findings((), ("judgments", "bm25"), 10).summary
        'clean: 0 errors, 0 warnings, 0 notes in judgments, bm25'
        """
        counts = ", ".join(counted(count, severity) for severity, count in self.counts.items())
        return f"{'clean: ' if self.clean else ''}{counts} in {', '.join(self.inputs)}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "gainful": VERSION,
            "inputs": list(self.inputs),
            "cutoff": self.cutoff,
            "scale": None if self.scale is None else list(self.scale),
            "clean": self.clean,
            "counts": self.counts,
            "findings": [asdict(finding) for finding in self.found],
        }

    def table(self) -> Table:
        """Return the findings with the summary as note, for rendering."""
        columns = [each.name for each in fields(Finding)]
        rows = [[getattr(finding, name) for name in columns] for finding in self.found]
        return Table(columns, rows, notes=[self.summary])

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.found), printable(self.summary)])

    def __repr__(self) -> str:
        return f"Findings({self.summary})"

    def _rendered(self, format: str) -> str:  # noqa: A002
        return str(self) if format == "table" else super()._rendered(format)


def ids_text(query: str | None, doc: str | None) -> str | None:
    """Write a query and a document for a message.

    >>> ids_text("q1", "a")
    "query 'q1', document 'a'"
    """
    named = (("query", query), ("document", doc))
    return ", ".join(f"{word} {text!r}" for word, text in named if text is not None) or None
