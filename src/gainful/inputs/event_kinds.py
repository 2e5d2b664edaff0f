"""Whether the events of a table differ in kind, as clicks and purchases do, though all count alike."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gainful.inputs.duckdb_engine import Session, file_quoted, name_quoted, quoted
from gainful.inputs.files import LocalFile
from gainful.inputs.format_detection import Layout
from gainful.inputs.grades_scores_or_ranks import Kind


def with_events_in_table(kind: Kind, relation: str, session: Session) -> Kind:
    """Return the kind of a table, SQL from FROM on; without its events where they are of one kind.

    Numbers are no kinds of events: they may be anything else about them.
    """
    if not kind.ignored:
        return kind
    import duckdb

    event = f"CAST({name_quoted(kind.ignored)} AS VARCHAR)"
    try:
        found = session.rows(
            f"SELECT DISTINCT {event} {relation} WHERE TRY_CAST({event} AS DOUBLE) IS NULL "
            f"AND {event} <> '' LIMIT 2"
        )
    except (duckdb.Error, UnicodeError):  # which is said when the rows are read
        return kind
    return _without_one(kind, len(found))


def with_events_in_text(kind: Kind, file: LocalFile, layout: Layout, session: Session) -> Kind:
    """Return the kind of a text with names of columns, as `with_events_in_table` does."""
    if not kind.ignored:
        return kind
    path = file_quoted(file.path, session)
    usual = "compression='none', hive_partitioning=false"
    if layout.format == "jsonl":
        types = f"columns={{{quoted(kind.ignored)}: 'VARCHAR'}}"
        relation = f"FROM read_json({path}, format='newline_delimited', {types}, {usual})"
    else:
        types = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in layout.names)
        relation = (
            f"FROM read_csv({path}, delim={quoted(layout.delimiter)}, quote='\"', escape='\"', "
            f"header=true, skip={layout.skip}, auto_detect=false, columns={{{types}}}, {usual})"
        )
    return with_events_in_table(kind, relation, session)


def with_events_in_records(kind: Kind, records: Iterable[Mapping[str, Any]]) -> Kind:
    """Return the kind of records, as `with_events_in_table` does."""
    if not kind.ignored:
        return kind
    events = (record.get(kind.ignored) for record in records if isinstance(record, Mapping))
    texts = {event for event in events if isinstance(event, str) and event and not _number(event)}
    return _without_one(kind, len(texts))


def _without_one(kind: Kind, different: int) -> Kind:
    return kind if different > 1 else replace(kind, ignored="")


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
