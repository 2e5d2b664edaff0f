"""Drafts of findings: what the rules find, before the lines of the examples are looked up."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from gainful.inputs.faulty_rows import Row, rows
from gainful.linting.findings import Finding, ids_text
from gainful.linting.readable_rows import UNREADABLE, CheckedTable, UnreadRows
from gainful.linting.rules import RULES
from gainful.message_texts import counted


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding whose example is given by its row.

    Attributes:
        rule: its name.
        input: where it was found.
        count: how many there are.
        message: what was found.
        example: what was found at the first of them.
        query: of the example.
        doc: of the example.
        row: of the example; None where it is not about one row.
        remedy: what to do, where more is known than the rule says.
    """

    rule: str
    input: CheckedTable
    count: int
    message: str
    example: str = ""
    query: str | None = None
    doc: str | None = None
    row: int | None = None
    remedy: str = ""


def unread_rows(table: CheckedTable, unread: Iterable[UnreadRows]) -> list[Draft]:
    """Return the findings about rows of an input that cannot be read."""
    drafts = []
    for each in unread:
        rows, bad = counted(each.count, "row"), each.first
        message = f"{rows} without a finite {table.kind.number}"
        if each.rule == UNREADABLE:
            message = f"{rows} cannot be read"
        place = bad.query, bad.doc, bad.row
        drafts.append(Draft(each.rule, table, each.count, message, bad.found, *place, each.remedy))
    return drafts


def doubts(table: CheckedTable, warned: Iterable[str], called: str) -> list[Draft]:
    """Return the findings about what was warned of when an input was opened; `called` begins them."""
    return [
        Draft("doubtful-reading", table, 1, each.removeprefix(f"{called}: ").removesuffix("."))
        for each in warned
    ]


def settled(drafts: Iterable[Draft]) -> tuple[Finding, ...]:
    """Return the findings with their places, the gravest first."""
    order = list(RULES)
    ordered = sorted(drafts, key=lambda draft: order.index(draft.rule))
    lines = _lines(ordered)
    return tuple(_finding(draft, lines) for draft in ordered)


def _finding(draft: Draft, lines: dict[tuple[str, int], int]) -> Finding:
    table, rule = draft.input, RULES[draft.rule]
    ids = ids_text(draft.query, draft.doc)
    place = table.source if ids is None else ids
    if draft.row:
        line = lines.get((table.table, draft.row))
        if line is not None:
            place = f"{table.source}:{line}"
        elif draft.query is None or rule.name == "unreadable-row":
            place = f"{table.source}, row {draft.row}"
    return Finding(
        rule.severity,
        rule.name,
        table.name,
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
        if draft.row and draft.input.file is not None:
            if draft.input.by_line:
                lines[draft.input.table, draft.row] = draft.row
            else:
                texts.setdefault(draft.input.table, []).append(draft)
    for table, wanted in texts.items():
        lines |= {(table, row): line for row, line in _walked(wanted).items()}
    return lines


def _walked(drafts: list[Draft]) -> dict[int, int]:
    """Count the rows of a text, as the engine did, up to the last that is wanted.

    A row with other ids than expected means that the two have counted differently; then no
    line is better than a wrong one.
    """
    table = drafts[0].input
    assert table.file is not None  # noqa: S101 - only texts come here
    assert table.layout is not None  # noqa: S101
    expected = {draft.row: draft for draft in drafts if draft.row is not None}
    lines: dict[int, int] = {}
    content = rows(table.file, table.layout, table.kind)
    for place, row in enumerate(islice(content, max(expected)), 1):
        draft = expected.get(place)
        if draft is None:
            continue
        if not isinstance(row, Row) or (
            draft.query in (None, row.query) and draft.doc in (None, row.doc)
        ):
            lines[place] = row.line
    return lines
