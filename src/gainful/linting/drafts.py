"""What the rules find, before the place of each example is looked up."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from gainful.inputs.rows import Row, rows
from gainful.linting.findings import Finding, ids_text
from gainful.linting.rules import RULES

if TYPE_CHECKING:
    from gainful.linting.listed import Listed


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding whose example is given by its row.

    Attributes:
        rule: its name.
        listed: the input.
        count: how many there are.
        message: what was found.
        example: what was found at the first of them.
        query: of the example.
        doc: of the example.
        row: of the example; None where it is not about one row.
        remedy: what to do, where more is known than the rule says.
    """

    rule: str
    listed: "Listed"
    count: int
    message: str
    example: str = ""
    query: str | None = None
    doc: str | None = None
    row: int | None = None
    remedy: str = ""


def counted(count: int, one: str, more: str = "") -> str:
    """Write a count with its noun.

    >>> counted(1, "row"), counted(2_000, "query", "queries")
    ('1 row', '2,000 queries')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def settled(drafts: Iterable[Draft]) -> tuple[Finding, ...]:
    """Return the findings with their places, the gravest first."""
    order = list(RULES)
    ordered = sorted(drafts, key=lambda draft: order.index(draft.rule))
    lines = _lines(ordered)
    return tuple(_finding(draft, lines) for draft in ordered)


def _finding(draft: Draft, lines: dict[tuple[str, int], int]) -> Finding:
    listed, rule = draft.listed, RULES[draft.rule]
    ids = ids_text(draft.query, draft.doc)
    place = listed.source if ids is None else ids
    if draft.row:
        line = lines.get((listed.table, draft.row))
        if line is not None:
            place = f"{listed.source}:{line}"
        elif draft.query is None or rule.name == "unreadable-row":
            place = f"{listed.source}, row {draft.row}"
    return Finding(
        rule.severity,
        rule.name,
        listed.name,
        draft.count,
        draft.message,
        place,
        draft.query,
        draft.doc,
        draft.example,
        draft.remedy or rule.remedy,
    )


def _lines(drafts: list[Draft]) -> dict[tuple[str, int], int]:
    """Return the lines of the rows of drafts, by the table and the row."""
    lines: dict[tuple[str, int], int] = {}
    texts: dict[str, list[Draft]] = {}
    for draft in drafts:
        if draft.row and draft.listed.file is not None:
            if draft.listed.by_line:
                lines[draft.listed.table, draft.row] = draft.row
            else:
                texts.setdefault(draft.listed.table, []).append(draft)
    for table, wanted in texts.items():
        lines |= {(table, row): line for row, line in _walked(wanted).items()}
    return lines


def _walked(drafts: list[Draft]) -> dict[int, int]:
    """Count the rows of a text, as the engine did, up to the last that is wanted.

    A row with other ids than expected means that the two have counted differently; then no
    line is better than a wrong one.
    """
    listed = drafts[0].listed
    assert listed.file is not None  # noqa: S101 - only texts come here
    assert listed.layout is not None  # noqa: S101
    expected = {draft.row: draft for draft in drafts if draft.row is not None}
    lines: dict[int, int] = {}
    content = rows(listed.file, listed.layout, listed.kind)
    for place, row in enumerate(islice(content, max(expected)), 1):
        draft = expected.get(place)
        if draft is None:
            continue
        if not isinstance(row, Row) or (
            draft.query in (None, row.query) and draft.doc in (None, row.doc)
        ):
            lines[place] = row.line
    return lines
