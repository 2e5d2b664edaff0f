"""Tables without a file of their own: in a database, in a versioned folder, at a remote address, or selected by SQL."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from gainful.array_types import AnyArray
from gainful.errors import InputError, MissingDependencyError
from gainful.message_texts import shortened
from gainful.rows.duckdb_engine import Session, quoted
from gainful.rows.files import (
    COPY,
    PASSWORD,
    REMOTE,
    SERVER,
    SQL,
    NamedTable,
    named_table,
    refuse_versioned_tables,
)

_EXTENSION = re.compile(
    r"'?(httpfs|azure|aws)'? extension|extension '?\"?(httpfs|azure|aws)", re.IGNORECASE
)
# The packages with which fsspec reads the files of a scheme.
_PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfss": "adlfs",
    "hf": "huggingface_hub",
}  # fmt: skip
_PATIENCE = 60  # seconds to wait for a web server
_LONGEST = 300  # characters of an engine's message
_CATALOGUED = "FROM information_schema.tables ORDER BY table_name"


def stored_table(name: str) -> Any:
    """Return the table at an address as an object that the reader of frames accepts."""
    if name.startswith(SQL):
        return _selected(name.removeprefix(SQL))
    if REMOTE.fullmatch(name):
        return _remote(name)
    named = named_table(name)
    if named is None:
        return _versioned(name)
    if SERVER.match(named.place):
        return _in_postgres(named)
    with Path(named.place).open("rb") as file:
        is_sqlite = file.read(16) == b"SQLite format 3\0"
    return _in_sqlite(named) if is_sqlite else _in_duckdb(named)


def connected(place: str = ":memory:") -> Any:
    """Open a database of DuckDB, which downloads no extensions; the views of a file can't read other files."""
    import duckdb

    is_file = place != ":memory:"
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "enable_external_access": not is_file,
    }
    return duckdb.connect(place, read_only=is_file, config=settings)


def _in_duckdb(named: NamedTable) -> Any:
    import duckdb

    expected = "a table of a DuckDB database"
    try:
        connection = connected(named.place)
    except duckdb.Error as problem:
        raise _failed(str(named), expected, problem) from None
    try:
        return connection.sql(f"FROM {named.quoted}")
    except duckdb.CatalogException:
        tables = connection.execute(f"SELECT table_name {_CATALOGUED}").fetchall()
        raise _no_table(named, [table for (table,) in tables]) from None
    except duckdb.Error as problem:
        raise _failed(str(named), expected, problem) from None


def _in_sqlite(named: NamedTable) -> Any:
    import sqlite3

    place = f"file:{quote(os.path.abspath(named.place))}?mode=ro"  # noqa: PTH100 - of any text
    connection = sqlite3.connect(place, uri=True)
    try:
        kinds = "type IN ('table', 'view')"
        tables = [
            row[0] for row in connection.execute(f"SELECT name FROM sqlite_master WHERE {kinds}")
        ]
        if named.table not in tables:
            raise _no_table(named, sorted(tables))
        return _relation(connection.execute(f"SELECT * FROM {named.quoted}"))
    except sqlite3.Error as problem:
        raise _failed(str(named), "a table of a SQLite database", problem) from None
    finally:
        connection.close()


def _in_postgres(named: NamedTable) -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingDependencyError.of_extra(str(named), "psycopg", "postgres") from None
    try:
        with psycopg.connect(named.place, connect_timeout=10) as connection:
            connection.read_only = True
            return _relation(connection.execute(f"SELECT * FROM {named.quoted}"))
    except psycopg.errors.UndefinedTable:
        with psycopg.connect(named.place, connect_timeout=10) as connection:
            own = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1"
            raise _no_table(named, [row[0] for row in connection.execute(own)]) from None
    except psycopg.Error as problem:
        raise _failed(str(named), "a table of a PostgreSQL database", problem) from None


def _relation(cursor: Any) -> Any:
    """Return the rows of a database's cursor as a relation of DuckDB."""
    names = [column[0] for column in cursor.description]
    rows = cursor.fetchall()
    columns = {name: _column([row[at] for row in rows]) for at, name in enumerate(names)}
    connection = connected()
    connection.register("rows", columns)
    return connection.sql("FROM rows")


def _column(cells: Sequence[Any]) -> AnyArray:
    """Return the cells of a column as an array: of numbers if all are numbers, else of texts and None."""
    kinds = set(map(type, cells))
    if kinds == {int} and all(-(2**63) <= cell < 2**63 for cell in cells):
        return np.array(cells, np.int64)
    if kinds and all(issubclass(kind, int | float) or kind.__name__ == "Decimal" for kind in kinds):
        return np.array(cells, np.float64)
    return np.array([cell if cell is None else str(cell) for cell in cells], object)


def _selected(sql: str) -> Any:
    """Return the result of a query, which must not change anything."""
    import duckdb

    connection = connected()
    try:
        statements = duckdb.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InputError("sql", "a single SELECT", shortened(sql.strip(), _LONGEST))
        return connection.sql(sql)
    except duckdb.Error as problem:
        raise _failed("sql", "a query that DuckDB can run", problem) from None


def _remote(address: str) -> Any:
    """Return the table at a remote address.

    DuckDB's extension reads it if it is installed. If not, a file on a web server is downloaded, and fsspec reads
    all others.
    """
    import duckdb

    shown = PASSWORD.sub(r"\1@", address.partition("?")[0])
    scheme = address.partition(":")[0].lower()
    connection = connected()
    try:
        return connection.sql(_select_from(address, shown))
    except (duckdb.Error, RuntimeError) as problem:
        missing = _EXTENSION.search(str(problem))
        if missing is None:
            raise _unreadable(shown, address, problem) from None
    try:
        if scheme in ("http", "https"):
            return _downloaded(address, shown, connection)
        import fsspec

        connection.register_filesystem(fsspec.filesystem(scheme))
        return connection.sql(_select_from(address, shown))
    except (ImportError, ValueError) as problem:  # ValueError: fsspec doesn't know the scheme
        if isinstance(problem, InputError):
            raise
        raise _no_way_to(shown, scheme, missing[1] or missing[2]) from None
    except Exception as problem:  # noqa: BLE001 - each filesystem has errors of its own
        raise _unreadable(shown, address, problem) from None


def _select_from(path: str, name: str) -> str:
    """Return SQL for a file with the name of another one; in CSV, ids such as 007 stay text."""
    is_csv = re.search(r"\.[ct]sv(\.gz|\.zst)?$", name, re.IGNORECASE)
    reader = "read_csv({}, all_varchar=true, header=true)" if is_csv else "{}"
    return f"FROM {reader.format(quoted(path))}"


def _downloaded(address: str, shown: str, connection: Any) -> Any:
    """Return the table of a file on a web server, loaded into memory."""
    import shutil
    from urllib.request import Request, urlopen

    request = Request(address, headers={"User-Agent": "gainful"})  # noqa: S310 - of http or https
    with Session() as session:
        with (
            urlopen(request, timeout=_PATIENCE) as source,  # noqa: S310
            session.written_aside("download") as (path, target),
        ):
            shutil.copyfileobj(source, target)
        copy = path.rename(path.with_name(Path(shown).name))  # whose extension is the format
        connection.execute(f"CREATE TABLE rows AS {_select_from(str(copy), shown)}")
    return connection.sql("FROM rows")


def _unreadable(shown: str, address: str, problem: Exception) -> InputError:
    """Return the error for a remote file, without the secrets in its address."""
    text = str(problem).replace(address, shown)
    return _failed(shown, "a file that can be read", text or type(problem).__name__)


def _no_way_to(shown: str, scheme: str, extension: str) -> InputError:
    """Return the error for a remote address without a reader, with the command that installs one."""
    package = _PACKAGES.get(scheme)
    lacking, install = f"DuckDB's extension {extension} isn't", f"duckdb -c 'INSTALL {extension}'"
    if package is not None:
        lacking = f"neither DuckDB's extension {extension} nor {package} is"
        install = f"pip install {package}"
    return InputError(
        shown,
        "the path of a file on this machine",
        f"an address, for which {lacking} installed",
        f"{COPY} To read it from there: {install}.",
    )


def _versioned(folder: str) -> Any:
    """Return the current rows of a Delta Lake, Iceberg or Hudi table; raise if its reader isn't installed."""
    path = Path(folder)
    try:
        if (path / "_delta_log").is_dir():
            return _in_delta(folder)
        return _in_hudi(folder) if (path / ".hoodie").is_dir() else _in_iceberg(path)
    except ImportError:
        refuse_versioned_tables([path], folder)
        raise
    except Exception as problem:  # noqa: BLE001 - each reader has errors of its own
        raise _failed(folder, "a table that its reader can read", problem) from None


def _in_delta(folder: str) -> Any:
    from deltalake import DeltaTable

    return DeltaTable(folder).to_pyarrow_table()


def _in_iceberg(path: Path) -> Any:
    from pyiceberg.table import StaticTable

    def version(file: Path) -> int:  # v10.metadata.json, or 00010-….metadata.json
        digits = re.search(r"\d+", file.name)
        return int(digits[0]) if digits else -1

    newest = max(path.glob("metadata/*.metadata.json"), key=version)
    return StaticTable.from_metadata(str(newest)).scan().to_arrow()


def _in_hudi(folder: str) -> Any:
    from hudi import HudiTableBuilder
    from pyarrow import Table

    table = HudiTableBuilder.from_base_uri(folder).build()
    rows = Table.from_batches(table.read(), schema=table.get_schema_with_meta_fields())
    return rows.drop_columns([name for name in rows.column_names if name.startswith("_hoodie_")])


def _no_table(named: NamedTable, tables: Sequence[str]) -> InputError:
    listed = f"only {', '.join(map(repr, tables))}" if tables else "no table at all"
    return InputError(str(named), f"the table {named.table!r}", listed)


def _failed(where: str, expected: str, problem: Exception | str) -> InputError:
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return InputError(where, expected, shortened(lines[0], _LONGEST))
