"""Columns of ids for data frames, in the original type of the ids."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gainful.rows.identifiers import IdType

Texts = Sequence[str | None]

_LARGEST = np.iinfo(np.int64)


def with_ids(
    columns: Mapping[str, Sequence[Any]], types: Mapping[str, IdType], library: Any
) -> dict[str, object]:
    """Return the columns of a table, with ids in the matching type of a data frame library.

    Ids that cannot all be of the type stay text.

    Args:
        columns: the columns by name.
        types: the types of the columns of ids, by name.
        library: pandas, polars or pyarrow.
    """
    typed: dict[str, object] = dict(columns)
    for name, type_ in types.items():
        if name in columns and not type_.is_plain:
            made = _MAKERS[library.__name__](library, type_, columns[name])
            typed[name] = columns[name] if made is None else made
    return typed


def _for_pandas(pandas: Any, type_: IdType, texts: Texts) -> Any:
    ids = type_.ids(texts)
    if ids is None:
        return None
    own, present = type_.own, [value for value in ids if value is not None]
    if isinstance(own, pandas.CategoricalDtype):
        whole = bool(pandas.Index(present).isin(own.categories).all())
        return pandas.Series(ids, dtype=own if whole else "category")
    whole = len(present) == len(ids)
    is_numpy = isinstance(own, np.dtype) and (whole or own.kind not in "iu")
    if is_numpy or isinstance(own, pandas.api.extensions.ExtensionDtype):
        return pandas.Series(ids, dtype=own)
    name = _sized(type_, present)
    if name is None:
        return pandas.Series(ids, dtype=object)
    series = pandas.Series(ids, dtype=_pandas_name(name, whole=whole))
    return series.astype("category") if type_.category else series


def _pandas_name(name: str, *, whole: bool) -> object:
    """Return pandas' name of a type; integers with missing values have a different one."""
    if name == "text":
        return None
    return name if whole or name.startswith("float") else _titled(name)


def _for_polars(polars: Any, type_: IdType, texts: Texts) -> Any:
    ids = type_.ids(texts)
    if ids is None:
        return None
    if isinstance(type_.own, polars.DataType | polars.datatypes.DataTypeClass):
        dtype = type_.own
    else:
        name = _sized(type_, [value for value in ids if value is not None])
        if name is None:
            return None
        text = polars.Categorical if type_.category else polars.String
        dtype = text if name == "text" else getattr(polars, _titled(name))
    try:
        return polars.Series(ids, dtype=dtype)
    except (polars.exceptions.PolarsError, TypeError):  # an Enum that doesn't contain all of them
        return None


def _for_arrow(pyarrow: Any, type_: IdType, texts: Texts) -> Any:
    ids = type_.ids(texts)
    if ids is None:
        return None
    if isinstance(type_.own, pyarrow.DataType):
        try:
            return pyarrow.array(ids, type=type_.own)
        # more categories than its indices can represent
        except (pyarrow.ArrowException, TypeError):
            return None
    name = _sized(type_, [value for value in ids if value is not None])
    if name is None:
        return None
    array = pyarrow.array(
        ids, type=pyarrow.string() if name == "text" else getattr(pyarrow, name)()
    )
    return array.dictionary_encode() if type_.category else array


_MAKERS: Mapping[str, Callable[[object, IdType, Texts], object]] = {
    "pandas": _for_pandas,
    "polars": _for_polars,
    "pyarrow": _for_arrow,
}


def _sized(type_: IdType, ids: Sequence[Any]) -> str | None:
    """Return the name of the type with a size; None for integers too large for the usual sizes."""
    if type_.name != "int":
        return type_.name
    fits = all(_LARGEST.min <= value <= _LARGEST.max for value in ids)
    return "int64" if fits else None


def _titled(name: str) -> str:
    """Return the name of a type in the spelling of pandas and polars.

    >>> _titled("int64"), _titled("uint8"), _titled("float32")
    ('Int64', 'UInt8', 'Float32')
    """
    return name.replace("int", "Int").replace("u", "U").replace("f", "F")
