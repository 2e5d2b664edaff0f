"""Read tables with typed columns: Parquet, data frames and Arrow objects."""

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows import table_source
from gainful.rows.duckdb_engine import (
    EngineError,
    Session,
    file_quoted,
    is_odd_number,
    name_quoted,
    quoted,
    reading_table,
)
from gainful.rows.files import (
    LocalFile,
    is_address,
    is_parquet,
    parts_of,
    plain_file,
    refuse_versioned_tables,
)
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind, advice_on_words, number_in
from gainful.rows.identifiers import IdType, id_text, refuse_halves, type_of_column, type_of_ids
from gainful.rows.records_of_lists import has_name_of_list, holds_documents
from gainful.rows.run_and_judgment_columns import (
    assessor_in,
    find_columns,
    find_rank,
    has_column,
    kind_by_columns,
    number_after_none,
    refuse_ids,
    refuse_repeated,
    refuse_type,
)
from gainful.rows.table_source import (
    NO_ID,
    NOT_HELD,
    PlainRows,
    Source,
    is_lasting,
    is_small,
    plain_rows,
    source_of_arrays,
    with_events,
    with_events_in_table,
)
from gainful.rows.text_formats import Layout

Given = Mapping[str, str]
Records = list[dict[str, Any]]

WHOLE = frozenset(
    f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "", "BIG", "HUGE")
) - {"INT", "UINT"} | {"INTEGER", "UINTEGER"}
"""The engine's integer types."""
_QUOTED = re.compile(r"'((?:[^']|'')*)'")  # a value of an ENUM
_IDS = WHOLE | {"VARCHAR", "UUID"}
FRACTIONS = frozenset(["FLOAT", "DOUBLE"])
"""The engine's types for a column of integers with missing values."""
_EXACT = 2.0**53  # a float64 represents every smaller integer exactly
_SHOWN = (
    "left(replace(chr(39) || {} || chr(39), chr(10), ' '), 60)"  # the invalid value, for messages
)
_RENAMED = re.compile(r"(?<=.)_\d+$")  # the engine's ending of a repeated column name
_LARGE = frozenset(["BIGINT", "HUGEINT", "UBIGINT", "UHUGEINT"])
# Numbers that NumPy represents as the engine does.
_PLAIN_NUMBERS = WHOLE - {"HUGEINT", "UHUGEINT"} | FRACTIONS
_NESTED = (
    "STRUCT(",
    "MAP(",
)  # the beginnings of nested types; the names of lists end with a bracket
_NUMBERS = _IDS - {"UUID"} | frozenset(["FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL"])


@dataclass(frozen=True, slots=True)
class TypedTable:
    """A table with typed columns that the engine reads: Parquet files, a data frame or an Arrow object.

    Attributes:
        name: its name in messages.
        relation: its SQL, from FROM on.
        described: the engine's name and type of each column.
        parts: the columns as written, name and type, of each Parquet file or of the frame.
        files: SQL for the list of Parquet files.
        given: the caller's data frame or Arrow object.
        readable: the object that the engine reads for it.
    """

    name: str
    relation: str
    described: list[tuple[str, str]]
    parts: list[list[tuple[str, str]]]
    files: str = ""
    given: object = None
    readable: object = None

    @property
    def names(self) -> list[str]:
        """The engine's names of the columns."""
        return [column for column, _ in self.described]

    @property
    def written(self) -> list[str]:
        """The names as written; the engine renames the second of two equal names."""
        return [column for column, _ in self.parts[0]]

    @property
    def is_nested(self) -> bool:
        """Whether any column holds lists or objects."""
        return any(type_.endswith("]") or type_.startswith(_NESTED) for _, type_ in self.described)

    def id_type(self, place: int) -> IdType:
        """Return the original type of a column of ids."""
        return id_type_in(self.readable, place, self.described[place][1])

    def records(self, session: Session, most: int | None = None) -> "Records":
        """Return the rows as dicts, or the first ones; cells of frames stay as they are."""
        if rows := rows_in(self.given, most):
            return rows
        limit = "" if most is None else f" LIMIT {most}"
        with reading_table(self.name):
            cells = session.rows(f"SELECT * {self.relation}{limit}")
        return [dict(zip(self.names, row, strict=True)) for row in cells]

    def refuse_mixed(self, read: Collection[str]) -> None:
        """Reject parts that differ in the type of a needed column; the engine would cast all to one type."""
        types: dict[str, set[str]] = {}
        for column, type_ in chain.from_iterable(self.parts):
            types.setdefault(column, set()).add(type_)
        for column in read:
            if len(types.get(column, ())) > 1:
                raise InputError(
                    f"{self.name}, column {column!r}",
                    "the same type in every part",
                    " and ".join(sorted(types[column])),
                    "Write the parts with the same types.",
                )


def table_or_text(name: str, session: Session) -> TypedTable | LocalFile:
    """Return the table at an address or in Parquet files, a path, a folder or a pattern; or a text file, decompressed."""
    if is_address(name):
        from gainful.rows.stored_tables import stored_table

        stored = stored_table(name)
        return frame_table(stored, readable(stored, name), session, name)
    parts = parts_of(name)
    if parts is None:
        file = plain_file(name, session)
        if not is_parquet(file.path):
            return file
        name, parts = file.name, [file.path]
    return parquet_table(parts, session, name)


def parquet_table(parts: Sequence[Path], session: Session, name: str) -> TypedTable:
    """Return the table in one Parquet file, or in several with the same columns."""
    refuse_versioned_tables((part.parent for part in parts), name)
    files = ", ".join(file_quoted(part, session) for part in parts)
    reader = f"FROM read_parquet([{files}], binary_as_string=true, hive_types_autocast=false, "
    relation = f"{reader}hive_partitioning=false)"
    described = described_columns(relation, session, name)
    written = [described]
    # Only the files tell the columns of other parts, and which names were repeated.
    if len(parts) > 1 or any(_RENAMED.search(column) for column, _ in described):
        written = _written_columns(files, session, name)
    of_folders = _folder_columns(parts, name)
    if of_folders and not of_folders & {column.lower() for column, _ in chain(*written)}:
        relation = f"{reader}hive_partitioning=true)"
        with_folders = described_columns(relation, session, name)
        written = [[*part, *with_folders[len(described) :]] for part in written]
        described = with_folders
    return TypedTable(name, relation, described, written, files)


def _folder_columns(parts: Sequence[Path], name: str) -> set[str]:
    """Return the columns that the folders of all parts, such as year=2026/month=01, name; none if they differ."""
    if len(parts) == 1 and str(parts[0]) == str(Path(name)):
        return set()
    columns = {
        tuple(folder.partition("=")[0].lower() for folder in part.parts[:-1] if "=" in folder)
        for part in parts
    }
    return set(*columns) if len(columns) == 1 else set()


def frame_table(frame: object, readable: object, session: Session, name: str) -> TypedTable:
    """Return the table in a data frame or an Arrow object, given the object that the engine reads for it."""
    relation = f"FROM {registered(session, frame, readable, 'table', name)}"
    described = described_columns(relation, session, name)
    types = [type_ for _, type_ in described]
    written = _written_names(readable, [column for column, _ in described])
    columns = [*zip(written, types, strict=True)]
    return TypedTable(name, relation, described, [columns], given=frame, readable=readable)


def parquet(
    parts: Sequence[Path], kind: Kind, columns: Given, session: Session, name: str
) -> Source | Records:
    """Read judgments or a run from one Parquet file, or from several with the same columns."""
    table = parquet_table(parts, session, name)
    source = typed(table, kind, columns, session)
    if not isinstance(source, Source):
        table.refuse_mixed(table.written)
        return source
    for part_names in {tuple(column for column, _ in part) for part in table.parts}:
        places = find_columns(part_names, kind_by_columns(part_names, kind, columns), columns, name)
        # The engine reads only the columns of the first part.
        ids = [part_names[place] for place in places[:2]]
        extra = number_after_none(part_names, ids, source.kind, "the first part")
        if extra is not None:
            raise InputError(name, *extra)
        table.refuse_mixed([part_names[place] for place in places if place >= 0])
    source = replace(source, rescans=True)
    plain = None if source.kind.ascending else _first_rows(table, source, session)
    if plain is not None:
        return replace(source, plain=plain)
    return replace(source, strict=_is_complete(table.files, source, session))


def _first_rows(table: TypedTable, source: Source, session: Session) -> PlainRows | None:
    """Return the rows of a small table; None for a larger one, or if a value is missing or unusual."""
    names = source.layout.names
    if source.kind.implied is None and dict(table.described)[names[2]] not in _PLAIN_NUMBERS:
        return None
    chosen = ", ".join(f"{name_quoted(name)} AS c{place}" for place, name in enumerate(names))
    try:
        columns = session.masked_columns(
            f"SELECT {chosen} {table.relation} LIMIT {table_source.MOST_ROWS + 1}"
        )
    except EngineError:  # errors are reported when the rows are matched
        return None
    queries, docs = columns["c0"], columns["c1"]
    if any(map(np.ma.is_masked, columns.values())):
        return None
    numbers = (
        columns["c2"] if source.kind.implied is None else np.full(len(docs), source.kind.implied)
    )
    return plain_rows(queries.tolist(), docs.tolist(), numbers)


def _is_complete(files: str, source: Source, session: Session) -> bool:
    """Return whether the metadata guarantee that no value is missing, and no id empty."""
    chosen = ", ".join(quoted(name) for name in source.layout.names)
    with reading_table(source.name):
        complete = session.rows(
            "SELECT bool_and(stats_null_count IS NOT DISTINCT FROM 0 AND stats_min_value IS DISTINCT FROM '') "
            f"AND count(DISTINCT path_in_schema) = {len({*source.layout.names})} "  # folders may name the others
            f"FROM parquet_metadata([{files}]) WHERE path_in_schema IN ({chosen})"
        )[0][0]
    return bool(complete)


def typed(table: TypedTable, kind: Kind, columns: Given, session: Session) -> Source | Records:
    """Read typed columns of judgments or a run; numeric ids are written as text without change.

    A table with its documents in lists is returned as records.
    """
    records = _records_with_lists(table, kind, columns, session)
    if records is not None:
        return records
    name, names, described, written = table.name, table.names, table.described, table.written
    kind = with_events_in_table(kind_by_columns(written, kind, columns), table.relation, session)
    places = find_columns(written, kind, columns, name)
    query, doc = (name_quoted(names[place]) for place in places[:2])
    ids = _IDS | FRACTIONS | {"ENUM"}
    refuse_ids(name, described, {"query": places[0], "doc": places[1]}, ids)
    # An empty id counts as missing, as in a text file.
    texts = [
        f"nullif({id_text_in_sql(names[place], described[place][1], name)}, '')"
        for place in places[:2]
    ]
    if kind.implied is None:
        number, full_type = name_quoted(names[places[2]]), described[places[2]][1]
        if kind is JUDGMENTS and full_type.startswith("ENUM"):
            words = [word.replace("''", "'") for word in _QUOTED.findall(full_type)]
            where, found = f"{name}, column {names[places[2]]!r}", shown(", ".join(words))
            advice = advice_on_words(words)
            raise InputError(where, "numbers as grades", found, advice, code="rows.grade-word")
        refuse_type(name, described[places[2]], f"numbers as {kind.number}s", _NUMBERS)
    else:
        number, full_type = repr(kind.implied), "DOUBLE"
    value = f"CAST({number} AS DOUBLE)"
    type_of_number = full_type.split("(")[0]
    whose = f"{quoted(f' as {kind.number} of query ')}, {query}, {quoted(', document ')}, {doc}"
    if type_of_number == "VARCHAR":
        value = (
            f"CASE WHEN {number} IS NULL THEN NULL "
            f"WHEN TRY_CAST({number} AS DOUBLE) IS NULL OR {is_odd_number(number)} "
            f"THEN error(concat({_SHOWN.format(number)}, {whose})) ELSE {value} END"
        )
    # As in a dict, an integer is never silently rounded.
    if type_of_number in _LARGE or full_type.endswith(",0)"):
        value = (
            f"CASE WHEN {number} IS NULL OR CAST({number} AS HUGEINT) = CAST({value} AS HUGEINT) THEN {value} "
            f"ELSE error(concat(CAST({number} AS VARCHAR), {whose}, {quoted(NOT_HELD)})) END"
        )
    if kind.ascending:
        value = f"-({value})"
    ranks, rank = None if kind.ascending else find_rank(written), ""
    if ranks is not None:  # via text, to which every type can be cast
        rank = f", TRY_CAST(CAST({name_quoted(names[ranks])} AS VARCHAR) AS DOUBLE) AS rank"
    select = (
        f"SELECT {texts[0]} AS query, {texts[1]} AS doc, {value} AS number{rank} {table.relation}"
    )
    layout = _layout(names, places, ranks, columns)
    types = tuple(map(table.id_type, places[:2]))
    return Source(kind, name, select, layout=layout, types=types)


def described_columns(relation: str, session: Session, name: str) -> list[tuple[str, str]]:
    """Return the columns of a table, name and type."""
    with reading_table(name):
        rows = session.rows(f"DESCRIBE SELECT * {relation}")
    return [(row[0], row[1]) for row in rows]


def id_text_in_sql(column: str, type_: str, name: str) -> str:
    """Return SQL for ids as text; a whole float is written like an integer."""
    quoted_name = name_quoted(column)
    if type_ not in FRACTIONS:
        return f"CAST({quoted_name} AS VARCHAR)"
    odd = quoted(f"the id {{}} in the column {column!r} of the {name}{NO_ID}")
    return (
        f"CASE WHEN {quoted_name} IS NULL OR isnan({quoted_name}) THEN NULL "
        f"WHEN {quoted_name} = trunc({quoted_name}) AND abs({quoted_name}) < {_EXACT!r} "
        f"THEN CAST(CAST({quoted_name} AS BIGINT) AS VARCHAR) "
        f"ELSE error(replace({odd}, '{{}}', CAST({quoted_name} AS VARCHAR))) END"
    )


def _written_columns(files: str, session: Session, name: str) -> list[list[tuple[str, str]]]:
    """Return the columns of each file, name and type, as written; columns nested in others are left out."""
    with reading_table(name):
        found = session.rows(
            "SELECT file_name, name, coalesce(type || coalesce(' ' || converted_type, ''), ''), "
            f"coalesce(num_children, 0) FROM parquet_schema([{files}])"
        )
    columns: dict[str, list[tuple[str, str]]] = {}
    inside: dict[str, int] = {}  # how many of the following columns are nested
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


def open_frame(
    frame: object, kind: Kind, columns: Mapping[str, str], session: Session
) -> Source | Records | None:
    """Open a data frame, an Arrow object or a stream of batches; None for anything else."""
    table = readable(frame, kind.name)
    if table is None:
        return None
    refuse_ids_in_index(frame, kind, columns)
    if 0 in getattr(frame, "shape", ()):
        raise InputError(kind.name, kind.least, "none")
    small = _open_small_frame(frame, kind, columns, session)
    if small is not None:
        return small
    source = typed(frame_table(frame, table, session, kind.name), kind, columns, session)
    if isinstance(source, Source):
        plain = _with_plain_numbers(frame, source.layout.names[2:3], kind)
        if plain is not frame:
            return open_frame(plain, kind, columns, session)
        refuse_odd_ids(frame, source.layout.names[:2], kind.name)
    return source


def _open_small_frame(
    frame: Any, kind: Kind, columns: Mapping[str, str], session: Session
) -> Source | None:
    """Open a small data frame of pandas or polars without the engine; None if the engine has to read it."""
    is_pandas, is_polars = is_a(frame, "pandas.DataFrame"), is_a(frame, "polars.DataFrame")
    names = [str(name) for name in frame.columns] if is_pandas or is_polars else []
    kind = kind_by_columns(names, kind, columns)
    if not names or not is_small(len(frame)) or kind.ascending or len({*names}) < len(names):
        return None

    def values(place: int) -> Any:
        return frame.iloc[:, place] if is_pandas else frame.to_series(place)

    if kind.ignored:
        kind = with_events(kind, values(names.index(kind.ignored)).to_list())
    places, rank = find_columns(names, kind, columns, kind.name), find_rank(names)
    columns_of_ids = [values(place) for place in places[:2]]
    if any(str(column.dtype) in ("category", "Object") for column in columns_of_ids):
        return None
    queries, docs = (column.to_list() for column in columns_of_ids)
    numbers = np.full(len(docs), kind.implied)
    if kind.implied is None:
        numbers = values(places[2]).to_numpy()
    plain = plain_rows(queries, docs, numbers)
    if plain is None:
        return None
    arrays = plain.arrays()
    if rank is not None:
        arrays["rank"] = values(rank).to_numpy()
    layout = _layout(names, places, rank, columns)
    table = readable(frame, kind.name)
    types = tuple(id_type_in(table, place, "") for place in places[:2])
    source = source_of_arrays(kind, kind.name, arrays, session, layout, types)
    return replace(source, plain=plain)


def _layout(
    names: Sequence[str], places: Sequence[int], rank: int | None, columns: Given
) -> Layout:
    chosen = tuple(names[place] for place in places if place >= 0)
    return Layout("typed", names=chosen, rank=rank, assessor=assessor_in(names, columns))


def registered(session: Session, frame: object, table: object, name: str, where: str) -> str:
    """Register a frame or a stream as a table; store the rows if they can be read only once.

    Args:
        session: the session that creates the table.
        frame: the frame.
        table: the object that the engine reads for it.
        name: the prefix of the table's name.
        where: its name in messages.
    """
    with reading_table(where):
        relation = session.register(name, table)
        if is_lasting(frame):
            return relation
        stored = session.name(name)
        session.execute(f"CREATE TEMP TABLE {stored} AS FROM {relation}")
    return stored


def _records_with_lists(
    table: TypedTable, kind: Kind, columns: Given, session: Session
) -> Records | None:
    """Return the rows of a table with its documents in lists; None if each document has a row.

    Raises if it is unclear whether a list holds documents.
    """
    if not table.is_nested and not has_name_of_list(table.names):
        return None  # the usual case
    first = table.records(session, 1)
    if not any(holds_documents(row, kind, columns, table.name) for row in first):
        return None
    return table.records(session)


def is_a(value: object, of: str) -> bool:
    """Return whether a value has a type of another library, such as pandas.DataFrame, if that is loaded."""
    library, _, name = of.partition(".")
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name))


class _Stream:
    """An object with only an Arrow stream.

    The engine would require pyarrow for classes that it knows; a bare stream doesn't need it.
    """

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.source.__arrow_c_stream__(requested_schema)


def _written_names(table: Any, names: list[str]) -> list[str]:
    """Return the column names of the result of `readable` as written.

    The engine renames the second of two equal names, `score_1` after `score`. If a stream doesn't reveal its
    names, such a name counts as repeated.

    Args:
        table: the result of `readable`.
        names: (c,) the engine's names.
    """
    if not isinstance(table, _Stream):
        return [str(name) for name in table.columns]
    schema = _arrow_schema(table.source)
    written = getattr(table.source, "columns", ()) if schema is None else schema.names
    if len(written) == len(names) and all(isinstance(name, str) for name in written):
        return [*written]
    plain = {name.casefold() for name in names}
    bases = (_RENAMED.sub("", name) for name in names)
    return [
        base if base != name and base.casefold() in plain else name
        for base, name in zip(bases, names, strict=True)
    ]


def _arrow_schema(source: Any) -> Any:
    """Return the schema of an object of pyarrow; None for other libraries."""
    schema = getattr(source, "schema", None)
    return schema if is_a(schema, "pyarrow.Schema") else None


def id_type_in(table: Any, place: int, engine: str) -> IdType:
    """Return the type of an id column in the result of `readable`, None for Parquet; `engine` is the engine's type.

    In a pandas column of objects, ids may be integers or text.
    """
    if table is None or isinstance(table, _Stream):
        return type_of_column(engine, table and _type_in_stream(table.source, place))
    own = table.dtypes.iloc[place]
    if own.kind != "O" or not isinstance(own, np.dtype):
        return type_of_column(engine, own)
    id_type = type_of_ids(table.iloc[:, place])
    return id_type if id_type.is_text else replace(id_type, own=own)


def _type_in_stream(source: Any, place: int) -> Any:
    """Return the type of a column in polars or pyarrow; None for other libraries."""
    if is_a(source, "polars.DataFrame"):
        return source.dtypes[place]
    schema = _arrow_schema(source)
    return None if schema is None else schema.field(place).type


def readable(frame: Any, name: str) -> Any:
    """Return the object that the engine reads for a data frame or an Arrow object; None for anything else.

    The name is for messages.
    """
    if is_a(frame, "pandas.DataFrame"):
        refuse_repeated([*frame.columns], name)
        return frame  # the engine reads it column by column
    if hasattr(frame, "__arrow_c_stream__"):
        return _Stream(frame)
    if hasattr(frame, "collect"):  # a lazy frame
        collected = frame.collect()
        return _Stream(collected) if hasattr(collected, "__arrow_c_stream__") else None
    _refuse_connections(frame, name)
    return None


def _refuse_connections(frame: Any, name: str) -> None:
    """Reject sources that only produce a table on request: Arrow datasets and database connections."""
    module, kind = type(frame).__module__, type(frame).__name__
    if module.startswith("pyarrow") and hasattr(frame, "to_table"):
        call = "scanner.to_table(), or scanner.to_reader() to read it in parts"
        if hasattr(frame, "scanner"):
            call = "dataset.to_table(), or dataset.scanner().to_reader() to read it in parts"
    elif module.partition(".")[0] in ("duckdb", "_duckdb"):
        call = "connection.sql('FROM my_table')"
    elif module.startswith("sqlalchemy") or (hasattr(frame, "cursor") and hasattr(frame, "commit")):
        call = "pandas.read_sql('SELECT * FROM my_table', connection)"
    else:
        return
    library = module.partition(".")[0].removeprefix("_")
    raise InputError(name, "a table", f"{kind} of {library}", f"Pass {call}.")


def rows_in(frame: Any, most: int | None = None) -> list[dict[str, Any]]:
    """Return the rows of a data frame or an Arrow table, or the first ones; empty for anything else."""
    if is_a(frame, "pandas.DataFrame"):
        # `readable` reports two columns of the same name.
        if not frame.columns.is_unique or not len(frame):
            return []
        if most == 1:  # much faster than a slice
            return [{name: frame[name].iloc[0] for name in frame.columns}]
        return frame.iloc[:most].to_dict("records")  # type: ignore[no-any-return]
    if is_a(frame, "polars.DataFrame"):
        return list(frame.head(len(frame) if most is None else most).to_dicts())
    if is_a(frame, "pyarrow.Table"):
        return list(frame.slice(0, most).to_pylist())
    return []


def refuse_ids_in_index(frame: Any, kind: Kind, columns: Mapping[str, str]) -> None:
    """Reject a pandas data frame whose queries or documents are only in its index."""
    if not is_a(frame, "pandas.DataFrame"):
        return
    index = [str(name) for name in frame.index.names if name is not None]
    names = [str(name) for name in frame.columns]
    for role in ("query", "doc") if index else ():
        if not has_column(role, names, kind, columns) and has_column(role, index, kind, columns):
            raise InputError(
                kind.name,
                f"a column for {role}",
                f"it in the index, {', '.join(map(repr, index))}",
                "Turn the index into columns: reset_index().",
                code="rows.no-column",
                subject=role,
            )


def refuse_series(frame: Any, kind: Kind, columns: Mapping[str, str]) -> None:
    """Reject a single column of a data frame, since its index would be ignored.

    A column of records is accepted, as rows.
    """
    if is_a(frame, "pandas.Series"):
        first = frame.iloc[0] if len(frame) else None
        if isinstance(first, dict) and has_column("query", [*map(str, first)], kind, columns):
            return
        remedy = "Turn its index into columns: reset_index()."
        if isinstance(first, tuple):
            remedy = "Pass a list of its rows: tolist()."
        elif isinstance(first, list | set | dict | np.ndarray) and frame.index.nlevels == 1:
            remedy = "Pass a dict keyed by its index: to_dict()."
    elif is_a(frame, "polars.Series") and str(frame.dtype.base_type()) != "Struct":
        remedy = "Pass the data frame that contains it together with the queries."
    else:
        return
    expected = "a data frame, or a dict {query: [doc, …]}"
    raise InputError(kind.name, expected, f"one column: {shown(frame)}", remedy)


def _with_plain_numbers(frame: Any, columns: Sequence[str], kind: Kind) -> Any:
    """Return a data frame whose object column of numbers contains only floats and texts.

    The engine would read all other values as text. Booleans are grades, but not scores, and integers must be
    exact in a float64. Without such values, the frame itself is returned.
    """
    for name, values in objects_in(frame, columns):
        if not {*map(type, values)} <= {str, float, type(None)}:
            plain = [
                None
                if missing
                else value
                if isinstance(value, str)
                else number_in(value, kind, f"{kind.name}, row {row}, column {name!r}")
                for row, (value, missing) in enumerate(zip(values, values.isna(), strict=True), 1)
            ]
            return frame.assign(**{name: plain})
    return frame


def refuse_odd_ids(frame: Any, columns: Sequence[str], table: str) -> None:
    """Reject ids in object columns of a data frame that are neither strings nor integers.

    Args:
        frame: the data frame; anything else is ignored.
        columns: the names of the id columns.
        table: its name in messages.
    """
    for name, values in objects_in(frame, columns):
        where = f"{table}, column {name!r}"
        if {*map(type, values)} <= {str, int}:  # much faster than checking each value
            refuse_halves([text for text in values if isinstance(text, str)], where=where)
            continue
        for value in values.dropna():
            if not isinstance(value, str) or value:  # missing ids are reported with their rows
                id_text(value, where=where)


def objects_in(frame: Any, columns: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Yield the object columns of a data frame, among the given columns."""
    if not is_a(frame, "pandas.DataFrame"):
        return
    for name in frame.columns:
        if str(name) in columns and frame[name].dtype == object:
            yield name, frame[name]
