"""Tables whose columns have types: Parquet, data frames, Arrow objects."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gainful.errors import InputError
from gainful.inputs.columns import (
    find_columns,
    find_part,
    find_rank,
    kind_of,
    refuse_ids,
    refuse_numbers,
)
from gainful.inputs.engine import Session, file_quoted, is_odd_number, name_quoted, quoted, said
from gainful.inputs.formats import Layout
from gainful.inputs.kinds import Kind
from gainful.inputs.source import Source

Given = Mapping[str, str]

_IDS = frozenset(
    [
        "VARCHAR",
        "UUID",
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
    ]
)
_SHOWN = "left(replace(chr(39) || {} || chr(39), chr(10), ' '), 60)"  # what is no number
_LARGE = frozenset(["BIGINT", "HUGEINT", "UBIGINT", "UHUGEINT"])
_NUMBERS = _IDS - {"UUID"} | frozenset(["FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL"])


def parquet(
    parts: Sequence[Path], kind: Kind, columns: Given, session: Session, name: str
) -> Source:
    """Read one Parquet file or several with the same columns."""
    files = ", ".join(file_quoted(part, session) for part in parts)
    _refuse_mixed_types(files, kind, columns, session, name)
    relation = f"FROM read_parquet([{files}], binary_as_string=true, hive_partitioning=false)"
    source = typed(relation, kind, columns, session, name)
    return replace(source, rescans=True, strict=_is_complete(files, source, session))


def _is_complete(files: str, source: Source, session: Session) -> bool:
    """Return whether the files themselves say that no value is missing."""
    chosen = ", ".join(quoted(name) for name in source.layout.names)
    known, missing = session.rows(
        "SELECT bool_and(stats_null_count IS NOT NULL), sum(stats_null_count) "
        f"FROM parquet_metadata([{files}]) WHERE path_in_schema IN ({chosen})"
    )[0]
    return bool(known) and missing == 0


def typed(relation: str, kind: Kind, columns: Given, session: Session, name: str) -> Source:
    """Read columns that have types; numbers as ids are written as they are."""
    import duckdb

    try:
        described = session.rows(f"DESCRIBE SELECT * {relation}")
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    names = [row[0] for row in described]
    kind = kind_of(names, kind, columns)
    places = find_columns(names, kind, columns, name)
    query, doc, number = (name_quoted(names[place]) for place in places)
    ids = dict(zip(("query", "doc"), places, strict=False))
    belongs = find_part(names, kind, columns, name)
    if belongs is not None:
        ids[f"{kind.part}"] = belongs
    described = [(row[0], row[1]) for row in described]
    refuse_ids(name, described, ids, _IDS | {"ENUM"})
    refuse_numbers(name, described[places[2]], kind, _NUMBERS)
    value = f"CAST({number} AS DOUBLE)"
    type_of_number = described[places[2]][1].split("(")[0]
    if type_of_number == "VARCHAR":
        told = [quoted(f" as {kind.number} of query "), query, quoted(", document "), doc]
        value = (
            f"CASE WHEN {number} IS NULL THEN NULL "
            f"WHEN TRY_CAST({number} AS DOUBLE) IS NULL OR {is_odd_number(number)} "
            f"THEN error(concat({_SHOWN.format(number)}, {', '.join(told)})) ELSE {value} END"
        )
    if type_of_number in _LARGE:  # as in a dict, an integer is never rounded in silence
        value = (
            f"CASE WHEN {number} IS NULL OR CAST({number} AS HUGEINT) = CAST({value} AS HUGEINT) THEN {value} "
            "ELSE error('an integer that a float64 does not hold exactly: scale it down') END"
        )
    if kind.ascending:
        value = f"-({value})"
    ranks, rank = None if kind.ascending else find_rank(names), ""
    if ranks is not None:  # by way of text, which every type can be
        rank = f", TRY_CAST(CAST({name_quoted(names[ranks])} AS VARCHAR) AS DOUBLE) AS rank"
    part = ""
    if belongs is not None:
        part = f", CAST({name_quoted(names[belongs])} AS VARCHAR) AS part"
    select = (
        f"SELECT CAST({query} AS VARCHAR) AS query, CAST({doc} AS VARCHAR) AS doc, "
        f"{value} AS number{rank}{part} {relation}"
    )
    chosen = tuple(names[place] for place in (*places, *([] if belongs is None else [belongs])))
    return Source(kind, name, select, layout=Layout("typed", names=chosen))


def _refuse_mixed_types(
    files: str, kind: Kind, columns: Given, session: Session, name: str
) -> None:
    """Refuse parts that have another type for a column: one's would be forced on the others."""
    import duckdb

    try:
        found = session.rows(
            "SELECT name, list(DISTINCT type || coalesce(' ' || converted_type, '')) "
            f"FROM parquet_schema([{files}]) WHERE type IS NOT NULL GROUP BY name "
            "HAVING count(DISTINCT type || coalesce(converted_type, '')) > 1"
        )
    except duckdb.Error as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    mixed = {row[0]: row[1] for row in found}
    if not mixed:
        return
    known = [row[0] for row in session.rows(f"DESCRIBE FROM read_parquet([{files}])")]
    kind = kind_of(known, kind, columns)
    for place in find_columns(known, kind, columns, name):
        if known[place] in mixed:
            raise InputError(
                f"{name}, column {known[place]!r}",
                "the same type in every part",
                " and ".join(sorted(mixed[known[place]])),
                "Write the parts with the same types.",
            )
