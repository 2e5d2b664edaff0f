"""Tables whose columns have types: Parquet, data frames, Arrow objects."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gainful.errors import InputError
from gainful.inputs.data_frames import (
    id_type_in,
    is_lasting,
    readable,
    refuse_ids_in_index,
    refuse_nothing,
    refuse_odd_objects,
    with_truth_as_numbers,
    written_names,
)
from gainful.inputs.duckdb_engine import (
    Session,
    file_quoted,
    is_odd_number,
    name_quoted,
    quoted,
    said,
)
from gainful.inputs.event_kinds import with_events_in_table
from gainful.inputs.files import refuse_versioned_tables
from gainful.inputs.format_detection import Layout
from gainful.inputs.grades_scores_or_ranks import Kind
from gainful.inputs.id_types import type_of_column
from gainful.inputs.lists_in_cells import Records, records_with_lists
from gainful.inputs.run_and_judgment_columns import (
    assessor_in,
    find_columns,
    find_rank,
    kind_by_columns,
    number_after_none,
    refuse_ids,
    refuse_numbers,
)
from gainful.inputs.small_tables import small_frame
from gainful.inputs.table_source import NO_ID, NOT_HELD, Source

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
FRACTIONS = frozenset(["FLOAT", "DOUBLE"])
"""The types of the engine that a column of integers has in which some are missing."""
_EXACT = 2.0**53  # below it, a float64 holds every integer
_SHOWN = "left(replace(chr(39) || {} || chr(39), chr(10), ' '), 60)"  # what is no number
_LARGE = frozenset(["BIGINT", "HUGEINT", "UBIGINT", "UHUGEINT"])
_WHOLE = ",0)"  # how the type of decimals without places ends
_NUMBERS = _IDS - {"UUID"} | frozenset(["FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL"])


def parquet(
    parts: Sequence[Path], kind: Kind, columns: Given, session: Session, name: str
) -> Source | Records:
    """Read one Parquet file or several with the same columns."""
    refuse_versioned_tables((part.parent for part in parts), name)
    files = ", ".join(file_quoted(part, session) for part in parts)
    written = written_columns(files, session, name)
    relation = f"FROM read_parquet([{files}], binary_as_string=true, hive_partitioning=false)"
    source = typed(relation, kind, columns, session, name, [column for column, _ in written[0]])
    if not isinstance(source, Source):
        refuse_mixed(written, [column for column, _ in written[0]], name)
        return source
    for known in {tuple(column for column, _ in part) for part in written}:
        places = find_columns(known, kind_by_columns(known, kind, columns), columns, name)
        # The engine reads the columns that the first part has.
        ids = [known[place] for place in places[:2]]
        extra = number_after_none(known, ids, source.kind, "the first part")
        if extra is not None:
            raise InputError(name, *extra)
        refuse_mixed(written, [known[place] for place in places if place >= 0], name)
    return replace(source, rescans=True, strict=_is_complete(files, source, session))


def _is_complete(files: str, source: Source, session: Session) -> bool:
    """Return whether the files themselves say that no value is missing, and no id empty."""
    import duckdb

    chosen = ", ".join(quoted(name) for name in source.layout.names)
    try:
        known, missing = session.rows(
            "SELECT bool_and(stats_null_count IS NOT NULL AND stats_min_value IS DISTINCT FROM ''), "
            "sum(stats_null_count) "
            f"FROM parquet_metadata([{files}]) WHERE path_in_schema IN ({chosen})"
        )[0]
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(source.name, "a table that can be read", said(problem)) from None
    return bool(known) and missing == 0


def typed(
    relation: str,
    kind: Kind,
    columns: Given,
    session: Session,
    name: str,
    written: Sequence[str] | None = None,
    frame: object = None,
    types: Sequence[str] | None = None,
) -> Source | Records:
    """Read columns that have types; numbers as ids are written as they are.

    A table whose documents stand in lists is returned as records.

    Args:
        relation: SQL, from FROM on.
        kind: what it holds.
        columns: their names, as the caller gives them.
        session: where it can be read.
        name: what messages call it.
        written: the names as they stand there, where they are known: the engine gives another to
            the second of two columns of one name.
        frame: what `readable` returned, where it is a data frame or an Arrow object.
        types: of the columns of a small frame, as the engine names them.
    """
    if types is None or written is None:
        described = _described(relation, session, name)
    else:
        described = [*zip(written, types, strict=True)]
    names = [column for column, _ in described]
    if written is None or len(written) != len(names):
        written = names
    if types is None:  # a small frame was asked before
        records = records_with_lists(relation, described, kind, columns, session, name)
        if records is not None:
            return records
    kind = with_events_in_table(kind_by_columns(written, kind, columns), relation, session)
    places = find_columns(written, kind, columns, name)
    query, doc = (name_quoted(names[place]) for place in places[:2])
    ids = _IDS | FRACTIONS | {"ENUM"}
    refuse_ids(name, described, {"query": places[0], "doc": places[1]}, ids)
    # An empty id is none, as in a text file.
    texts = [
        f"nullif({id_text_in_sql(names[place], described[place][1], name)}, '')"
        for place in places[:2]
    ]
    if kind.implied is None:
        refuse_numbers(name, described[places[2]], kind, _NUMBERS)
        number, full_type = name_quoted(names[places[2]]), described[places[2]][1]
    else:
        number, full_type = repr(kind.implied), "DOUBLE"
    value = f"CAST({number} AS DOUBLE)"
    type_of_number = full_type.split("(")[0]
    told = f"{quoted(f' as {kind.number} of query ')}, {query}, {quoted(', document ')}, {doc}"
    if type_of_number == "VARCHAR":
        value = (
            f"CASE WHEN {number} IS NULL THEN NULL "
            f"WHEN TRY_CAST({number} AS DOUBLE) IS NULL OR {is_odd_number(number)} "
            f"THEN error(concat({_SHOWN.format(number)}, {told})) ELSE {value} END"
        )
    if type_of_number in _LARGE or full_type.endswith(
        _WHOLE
    ):  # as in a dict, an integer is never rounded in silence
        value = (
            f"CASE WHEN {number} IS NULL OR CAST({number} AS HUGEINT) = CAST({value} AS HUGEINT) THEN {value} "
            f"ELSE error(concat(CAST({number} AS VARCHAR), {told}, {quoted(NOT_HELD)})) END"
        )
    if kind.ascending:
        value = f"-({value})"
    ranks, rank = None if kind.ascending else find_rank(written), ""
    if ranks is not None:  # by way of text, which every type can be
        rank = f", TRY_CAST(CAST({name_quoted(names[ranks])} AS VARCHAR) AS DOUBLE) AS rank"
    select = f"SELECT {texts[0]} AS query, {texts[1]} AS doc, {value} AS number{rank} {relation}"
    chosen = tuple(names[place] for place in places if place >= 0)
    layout = Layout("typed", names=chosen, rank=ranks, assessor=assessor_in(written, columns))
    query_type, doc_type = (
        type_of_column(described[place][1])
        if frame is None
        else id_type_in(frame, place, described[place][1])
        for place in places[:2]
    )
    return Source(kind, name, select, layout=layout, query_type=query_type, doc_type=doc_type)


def _described(relation: str, session: Session, name: str) -> list[tuple[str, str]]:
    """Return the columns of a table, name and type."""
    import duckdb

    try:
        found = session.rows(f"DESCRIBE SELECT * {relation}")
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    return [(row[0], row[1]) for row in found]


def id_text_in_sql(column: str, type_: str, name: str) -> str:
    """Return SQL for ids as texts; a fraction is one where it is whole, and written so."""
    quoted_name = name_quoted(column)
    if type_ not in FRACTIONS:
        return f"CAST({quoted_name} AS VARCHAR)"
    odd = quoted(f"the id {{}} in the column {column!r} of the {name}{NO_ID}")
    return (
        f"CASE WHEN {quoted_name} IS NULL OR isnan({quoted_name}) THEN NULL "
        f"WHEN {is_whole_in_sql(column)} "
        f"THEN CAST(CAST({quoted_name} AS BIGINT) AS VARCHAR) "
        f"ELSE error(replace({odd}, '{{}}', CAST({quoted_name} AS VARCHAR))) END"
    )


def is_whole_in_sql(column: str) -> str:
    """Return SQL for whether a fraction is a whole number of which every digit is known."""
    name = name_quoted(column)
    return f"{name} = trunc({name}) AND abs({name}) < {_EXACT!r}"


def written_columns(files: str, session: Session, name: str) -> list[list[tuple[str, str]]]:
    """Return the columns of each file, name and type, as they stand there.

    A column may have others inside, which are left out.
    """
    import duckdb

    try:
        found = session.rows(
            "SELECT file_name, name, coalesce(type || coalesce(' ' || converted_type, ''), ''), "
            f"coalesce(num_children, 0) FROM parquet_schema([{files}])"
        )
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    columns: dict[str, list[tuple[str, str]]] = {}
    inside: dict[str, int] = {}  # how many of those that follow are inside another
    for file, column, type_, children in found:
        if file not in columns:  # the table itself
            columns[file], inside[file] = [], 0
            continue
        if inside[file]:
            inside[file] -= 1
        else:
            columns[file].append((column, type_))
        inside[file] += children
    return list(columns.values())


def refuse_mixed(
    written: Sequence[Sequence[tuple[str, str]]], read: Collection[str], name: str
) -> None:
    """Refuse parts that have another type for a column that is read: one's would be forced on all."""
    types: dict[str, set[str]] = {}
    for part in written:
        for column, type_ in part:
            types.setdefault(column, set()).add(type_)
    for column in read:
        if len(types[column]) > 1:
            raise InputError(
                f"{name}, column {column!r}",
                "the same type in every part",
                " and ".join(sorted(types[column])),
                "Write the parts with the same types.",
            )


def open_frame(
    given: object, kind: Kind, columns: Mapping[str, str], session: Session
) -> Source | Records | None:
    """Open a data frame, an Arrow object or a stream of batches; None if it is none of them."""
    table = readable(given, kind.name)
    if table is None:
        return None
    refuse_ids_in_index(given, kind, columns)
    refuse_nothing(given, kind)
    plain = _open_small_frame(given, kind, columns, session, table)
    if plain is not None:
        return plain
    name = _registered(session, given, table, kind)
    names = written_names(table)
    source = typed(f"FROM {name}", kind, columns, session, kind.name, names, table)
    if isinstance(source, Source):
        plain = with_truth_as_numbers(given, source.layout.names[2:3], kind)
        if plain is not given:
            return open_frame(plain, kind, columns, session)
        refuse_odd_objects(given, source.layout.names, kind)
    return source


def _open_small_frame(
    given: object, kind: Kind, columns: Mapping[str, str], session: Session, table: object
) -> Source | None:
    """Open a small data frame without the engine; None where it has to look at it."""
    small = small_frame(given)
    if small is None or len({*small.columns}) < len(small.columns):
        return None
    kind = kind_by_columns(small.columns, kind, columns)
    places = find_columns(small.columns, kind, columns, kind.name)
    rows = None if kind.ascending else small.rows(places, kind.implied)
    if rows is None:
        return None
    relation = f"FROM {session.register_later(kind.name, table)}"
    names, types = small.columns, small.types
    source = typed(relation, kind, columns, session, kind.name, names, table, types)
    return replace(source, plain=rows) if isinstance(source, Source) else None


def _registered(session: Session, given: object, table: object, kind: Kind) -> str:
    """Have a frame or a stream as a table; what can be read only once is kept."""
    import duckdb

    try:
        name = session.register(kind.name, table)
        if is_lasting(given):
            return name
        stored = session.name(kind.name)
        session.execute(f"CREATE TEMP TABLE {stored} AS FROM {name}")
    except duckdb.Error as problem:
        raise InputError(kind.name, "a table that can be read", said(problem)) from None
    return stored
