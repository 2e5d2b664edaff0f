"""Where a history is kept: an append-only file, or a database that its path or URL selects."""

import os
from collections.abc import Callable, Mapping

from gainful.analysis.history.append_only_file import AppendOnlyFile
from gainful.analysis.history.database_stores import DuckDBStore, PostgresStore, SQLiteStore
from gainful.analysis.history.stored_lines import Store
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.files import path_text

_BY_ENDING: Mapping[str, Callable[[str], Store]] = {
    ".duckdb": DuckDBStore,
    ".sqlite": SQLiteStore,
    ".sqlite3": SQLiteStore,
}
_POSTGRESQL = ("postgresql://", "postgres://")


def store_at(path: str | os.PathLike[str]) -> Store:
    """Return the store at a path or URL.

    >>> type(store_at("search.history")).__name__, type(store_at("search.sqlite")).__name__
    ('AppendOnlyFile', 'SQLiteStore')
    """
    if not isinstance(path, str | bytes | os.PathLike) or not path:
        expected = "the path of a history, or the URL of a PostgreSQL database"
        raise InputError("path", expected, shown(path))
    name = path_text(path)
    if name.startswith(_POSTGRESQL):
        return PostgresStore(name)
    ending = os.path.splitext(name)[1].lower()  # noqa: PTH122 - of any text
    return _BY_ENDING.get(ending, AppendOnlyFile)(name)
