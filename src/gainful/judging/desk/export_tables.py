"""The grades of all assessors, and the record, as tables for files."""

from collections.abc import Iterable
from datetime import UTC, datetime

from gainful.judging.desk.assessor_acts import ADJUDICATED, from_text
from gainful.judging.desk.store import Transaction
from gainful.judging.desk.study_records import Event, State
from gainful.output.rendering.table_formats import Cell, Table

PROSE = ("assessor", "owner", "tags", "note")
"""The columns that contain text typed by people."""


def grade_table(transaction: Transaction) -> Table:
    """Return a row for each grade of each assessor, with its details.

    A grade that settles a document has a row of its own, with the role `adjudicated`, so that
    merging the table gives the study's own merged grades.
    """
    columns = ["query", "doc", "assessor", "grade", "role", "time", "milliseconds", "position"]
    columns += ["guideline", "tags", "note"]
    rows: list[list[Cell]] = []
    for query, doc, owner, grade, role, *rest, data in transaction.all(
        "SELECT query, doc, state.owner, grade, role, time, milliseconds, position, guideline, data FROM state"
        " JOIN item ON item.id = state.item JOIN event ON event.id = state.event"
        " LEFT JOIN assessor ON assessor.name = state.owner"
        " WHERE state.kind = 'grade' AND practice = 0 ORDER BY query, doc, state.owner",
    ):
        state = from_text(data) or State("grade", 0)
        when, *others = rest
        rows.append(
            [
                query,
                doc,
                owner,
                grade,
                role or ADJUDICATED,
                timestamp(when),
                *others,
                "; ".join(state.tags),
                state.note,
            ]
        )
    return Table(columns, rows, prose=PROSE)


def record_table(events: Iterable[Event]) -> Table:
    """Return a row for each event."""
    columns = ["event", "time", "assessor", "owner", "query", "doc", "practice", "kind", "before"]
    columns += ["grade", "why", "tags", "note", "undoes", "milliseconds", "position", "guideline"]
    rows: list[list[Cell]] = []
    for event in events:
        after = event.after or State("", 0)
        rows.append(
            [
                event.id,
                timestamp(event.time),
                event.assessor,
                event.owner,
                event.query,
                event.doc,
                event.practice,
                event.kind,
                None if event.before is None else event.before.grade,
                after.grade,
                after.why,
                "; ".join(after.tags),
                after.note,
                event.undoes,
                event.milliseconds,
                event.position,
                event.guideline,
            ]
        )
    return Table(columns, rows, prose=PROSE)


def timestamp(when: float) -> str:
    """Write a time as ISO 8601, in UTC.

    >>> timestamp(0)
    '1970-01-01T00:00:00.000+00:00'
    """
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="milliseconds")
