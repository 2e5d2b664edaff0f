"""Data frames and Arrow objects, handed to the engine without a detour."""

import ctypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gainful.arguments import is_truth
from gainful.errors import InputError
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.inputs.id_types import IdType, type_of_column, type_of_ids
from gainful.inputs.identifiers import id_advice, id_text, refuse_halves
from gainful.inputs.run_and_judgment_columns import has_column
from gainful.inputs.values_as_numbers import INEXACT, is_held, number_of, written_integer
from gainful.message_texts import shown

# None, and what pandas writes for it, are found as missing later.
_IDS = (str, int, np.integer, type(None))


class _Stream:
    """An object with an Arrow stream, and nothing else that the engine might try to use.

    The engine would ask for pyarrow where it knows the class; a bare stream needs nothing.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self.names: list[str] | None = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream = self.source.__arrow_c_stream__(requested_schema)
        if self.names is None:
            self.names = _names_in(stream)
        return stream


class _Schema(ctypes.Structure):
    """Arrow's description of a column, or of a table as a column with others inside."""


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]


class _ArrayStream(ctypes.Structure):
    """The beginning of Arrow's description of a stream: what tells its schema."""

    _fields_ = (
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Schema))),
    )


def _names_in(stream: object) -> list[str] | None:
    """Return the names of the columns of an Arrow stream; None if it does not tell them.

    The engine gives another name to the second of two columns that have the same.
    """
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = pointer(stream, b"arrow_array_stream")
    schema = _Schema()
    if _ArrayStream.from_address(address).get_schema(address, ctypes.byref(schema)):
        return None  # the engine meets the same problem, and says what it is
    try:
        columns = [schema.children[place].contents.name for place in range(schema.n_children)]
    finally:
        schema.release(ctypes.byref(schema))
    return [(name or b"").decode(errors="replace") for name in columns]


def written_names(table: Any) -> list[str] | None:
    """Return the names of columns as they stand in what `readable` returned, once it was read."""
    if isinstance(table, _Stream):
        return table.names
    return [str(name) for name in table.columns]


def id_type_in(table: Any, place: int, engine: str) -> IdType:
    """Return the type of a column of ids of what `readable` returned, and what the engine calls it.

    In a column of objects of pandas, ids may be integers or texts.
    """
    if isinstance(table, _Stream):
        return type_of_column(engine, _type_in_stream(table.source, place))
    own = table.dtypes.iloc[place]
    if own.kind != "O" or not isinstance(own, np.dtype):
        return type_of_column(engine, own)
    found = type_of_ids(table.iloc[:, place])
    return found if found.is_text else replace(found, own=own)


def _type_in_stream(source: Any, place: int) -> Any:
    """Return the type of a column as polars or pyarrow has it; None of another library."""
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(source, polars.DataFrame):
        return source.dtypes[place]
    schema = getattr(source, "schema", None)
    if pyarrow is not None and isinstance(schema, pyarrow.Schema):
        return schema.field(place).type
    return None


def is_lasting(given: Any) -> bool:
    """Return whether an object can be read more than once, as what knows its length can."""
    return any(hasattr(given, name) for name in ("__len__", "num_rows", "collect"))


def readable(given: Any, name: str) -> Any:
    """Return what the engine reads a data frame or an Arrow object as; None if it is neither.

    Messages say the name.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.DataFrame):
        if not given.columns.is_unique:
            again = given.columns[given.columns.duplicated()][0]
            raise InputError(name, "each column once", f"{again!r} again", "Rename one.")
        return given  # read by the engine itself, column by column
    if hasattr(given, "__arrow_c_stream__"):
        return _Stream(given)
    if hasattr(given, "collect"):  # a lazy frame
        collected = given.collect()
        return _Stream(collected) if hasattr(collected, "__arrow_c_stream__") else None
    _refuse_connections(given, name)
    return None


def _refuse_connections(given: Any, name: str) -> None:
    """Refuse what gives a table when it is asked for one: datasets of Arrow, connections to databases."""
    module, kind = type(given).__module__, type(given).__name__
    if module.startswith("pyarrow") and hasattr(given, "to_table"):
        call = "scanner.to_table(), or scanner.to_reader() to read it in parts"
        if hasattr(given, "scanner"):
            call = "dataset.to_table(), or dataset.scanner().to_reader() to read it in parts"
    elif module.partition(".")[0] in ("duckdb", "_duckdb"):
        call = "connection.sql('FROM my_table')"
    elif module.startswith("sqlalchemy") or (hasattr(given, "cursor") and hasattr(given, "commit")):
        call = "pandas.read_sql('SELECT * FROM my_table', connection)"
    else:
        return
    library = module.partition(".")[0].removeprefix("_")
    raise InputError(name, "a table", f"{kind} of {library}", f"Pass {call}.")


def rows_in(given: Any, most: int | None = None) -> list[dict[str, Any]]:
    """Return the rows of a data frame or an Arrow table, or the first of them; none of anything else."""
    pandas, polars, pyarrow = map(sys.modules.get, ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(given, pandas.DataFrame):
        # Of two columns of one name, `readable` says what is wrong.
        if not given.columns.is_unique or not len(given):
            return []
        if most == 1:  # much faster than a slice
            return [{name: given[name].iloc[0] for name in given.columns}]
        return given.iloc[:most].to_dict("records")  # type: ignore[no-any-return]
    if polars is not None and isinstance(given, polars.DataFrame):
        return list(given.head(len(given) if most is None else most).to_dicts())
    if pyarrow is not None and isinstance(given, pyarrow.Table):
        return list(given.slice(0, most).to_pylist())
    return []


def refuse_ids_in_index(given: Any, kind: Kind, columns: Mapping[str, str]) -> None:
    """Refuse a data frame of pandas whose queries or documents stand in its index, and in no column."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(given, pandas.DataFrame):
        return
    index = [str(name) for name in given.index.names if name is not None]
    names = [str(name) for name in given.columns]
    for role in ("query", "doc") if index else ():
        if not has_column(role, names, kind, columns) and has_column(role, index, kind, columns):
            raise InputError(
                kind.name,
                f"a column for {role}",
                f"it in the index, {', '.join(map(repr, index))}",
                "Make columns of the index: reset_index().",
            )


def refuse_series(given: Any, kind: Kind, columns: Mapping[str, str]) -> None:
    """Refuse one column of a data frame: its index, if it has one, would be passed over.

    One of records is rows.
    """
    pandas, polars = map(sys.modules.get, ("pandas", "polars"))
    if pandas is not None and isinstance(given, pandas.Series):
        first = given.iloc[0] if len(given) else None
        if isinstance(first, dict) and has_column("query", [*map(str, first)], kind, columns):
            return
        remedy = "Make columns of its index: reset_index()."
        if isinstance(first, tuple):
            remedy = "Give a list of its rows: tolist()."
        elif isinstance(first, list | set | dict | np.ndarray) and given.index.nlevels == 1:
            remedy = "Give a dict by its index: to_dict()."
    elif polars is not None and isinstance(given, polars.Series) and given.dtype != polars.Struct:
        remedy = "Give the data frame that has it, with the queries beside it."
    else:
        return
    expected = "a data frame, or a dict {query: [doc, …]}"
    raise InputError(kind.name, expected, f"one column: {shown(given)}", remedy)


def refuse_nothing(given: Any, kind: Kind) -> None:
    """Refuse a data frame that has no rows, and columns without a type or none at all."""
    pandas, polars = map(sys.modules.get, ("pandas", "polars"))
    bare = pandas is not None and isinstance(given, pandas.DataFrame) and not given.columns.size
    if polars is not None and isinstance(given, polars.DataFrame) and not len(given):
        bare = all(type_ == polars.Null for type_ in given.dtypes)
    if bare:
        raise InputError(kind.name, kind.least, "none")


def with_truth_as_numbers(given: Any, columns: Sequence[str], kind: Kind) -> Any:
    """Return judgments whose truth values among objects are 1 and 0; the same frame where there are none."""
    for name, values in objects_in(given, columns):
        if kind.name == JUDGMENTS.name and any(map(is_truth, values)):
            plain = values.map(lambda value: float(value) if is_truth(value) else value)
            return given.assign(**{name: plain.infer_objects()})
    return given


def refuse_odd_objects(given: Any, columns: Sequence[str], kind: Kind) -> None:
    """Refuse what a data frame has in columns of objects, and the engine would write as text.

    Ids are strings or integers. An integer as number is one that a float64 holds, and True is none here.

    Args:
        given: the data frame; anything else is passed over.
        columns: the names of query, doc and number.
        kind: what it holds.
    """
    refuse_odd_ids(given, columns[:2], kind.name)
    for name, values in objects_in(given, columns[2:3]):
        for row, value in enumerate(values, 1):
            if isinstance(value, bool | np.bool_):
                # The engine has it as text.
                raise InputError(
                    f"{kind.name}, row {row}, column {name!r}",
                    f"numbers as {kind.number}, or a column of the type bool",
                    f"{value} in a column of objects",
                    f"Make it one of numbers first: frame[{name!r}].astype(float).",
                )
            if not isinstance(value, float | str) and not is_held(value):
                raise InputError(
                    f"{kind.name}, row {row}, column {name!r}",
                    f"a {kind.number} that a float64 holds exactly",
                    written_integer(int(value)),
                    INEXACT,
                )


def refuse_odd_ids(given: Any, columns: Sequence[str], table: str) -> None:
    """Refuse ids in some columns of a data frame that are neither strings nor integers.

    Args:
        given: the data frame; anything else is passed over.
        columns: the names of those that hold ids.
        table: what messages call it.
    """
    for name, values in objects_in(given, columns):
        if {*map(type, values)} <= {str, int}:  # much faster than a look at each
            texts = [value for value in values if isinstance(value, str)]
            refuse_halves(texts, where=f"{table}, column {name!r}")
            continue
        for value in values:
            odd = not isinstance(value, _IDS) or isinstance(value, bool)
            if odd and not is_missing(value):
                raise InputError(
                    f"{table}, column {name!r}",
                    "strings (or integers) as ids",
                    shown(value),
                    "Make the ids strings first." if number_of(value) is None else id_advice(value),
                )
            if isinstance(value, str):
                id_text(value, where=f"{table}, column {name!r}")


def objects_in(given: Any, columns: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Yield those of some columns of a data frame that hold objects."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(given, pandas.DataFrame):
        return
    for name in given.columns:
        if str(name) in columns and given[name].dtype == object:
            yield name, given[name]


def is_missing(value: object) -> bool:
    """Return whether pandas writes a value for nothing."""
    pandas = sys.modules["pandas"]
    return bool(pandas.api.types.is_scalar(value) and pandas.isna(value))
