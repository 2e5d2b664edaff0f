"""Tables that have the documents of a query in one cell, as a list: Parquet, Arrow, lazy frames.

They are records as `lists_and_records` reads them, and small beside tables with a row for each
document. So all their rows are taken from the engine.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gainful.errors import InputError
from gainful.inputs.duckdb_engine import Session, said
from gainful.inputs.grades_scores_or_ranks import Kind
from gainful.inputs.records_of_lists import has_name_of_list, holds_documents

Records = list[dict[str, Any]]

_NESTED = ("STRUCT(", "MAP(")  # how the engine names types, beside lists, which end with a bracket


def records_with_lists(
    relation: str,
    described: Sequence[tuple[str, str]],
    kind: Kind,
    columns: Mapping[str, str],
    session: Session,
    name: str,
) -> Records | None:
    """Return the rows of a table whose documents stand in lists; None where each has a row.

    A table whose lists may be documents, or not, is refused.

    Args:
        relation: SQL, from FROM on.
        described: name and type of each column.
        kind: judgments or run.
        columns: their names, as the caller gives them.
        session: where it can be read.
        name: what messages call it.
    """
    nested = any(type_.endswith("]") or type_.startswith(_NESTED) for _, type_ in described)
    if not nested and not has_name_of_list([column for column, _ in described]):
        return None  # as most
    names = [column for column, _ in described]
    first = _rows(f"{relation} LIMIT 1", names, session, name)
    if not any(holds_documents(row, kind, columns, name) for row in first):
        return None
    return _rows(relation, names, session, name)


def _rows(relation: str, names: Sequence[str], session: Session, name: str) -> Records:
    import duckdb

    try:
        found = session.rows(f"SELECT * {relation}")
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    return [dict(zip(names, row, strict=True)) for row in found]
