"""Open, decompress and recognise files, and report what can go wrong with that."""

import csv
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session, bytes_of
from gainful.rows.temporary_files import Temporary

if TYPE_CHECKING:
    from _csv import Reader

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LINE_ENDS = "Convert its line ends: tr '\\r' '\\n' < FILE > NEW."
"""Advice for a text whose lines end with only carriage returns."""

_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# Ids may begin like some archives, so the patterns contain everything an archive must start with.
_OTHER_PACKINGS = re.compile(
    rb"PK(\x03\x04|\x05\x06).\0|BZh[1-9](1AY&SY|\x17rE8P\x90)|\xfd7zXZ\0|7z\xbc\xaf", re.DOTALL
)
_PARQUET = b"PAR1"
HIDDEN = ("_", ".")
"""How the names of files begin that aren't data, or not yet: _SUCCESS, _temporary, .crc."""
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\v\f\r")
_LONGEST_FIELD = 2**31 - 1
_CHUNK = 1 << 22
_FREELY, _RATIO = 10**9, 200  # bytes a compressed file may expand to, or the factor, if larger
_MAGIC = 16
_SPREADSHEETS = (".xlsx", ".xlsm", ".ods")
_GLOB = frozenset("*?[")
# Versioned table formats, whose folders of Parquet files may contain deleted rows: the contents of
# such a folder, the name of the format, the package that reads it, and its name on Spark.
_VERSIONED = (
    ("_delta_log", "a Delta Lake table", "deltalake", "delta"),
    ("metadata/*.metadata.json", "an Iceberg table", "pyiceberg", "iceberg"),
    (".hoodie", "a Hudi table", "hudi", "hudi"),
)
_QUERIED = (
    "In Python, pass what this call returns: {}. For the command line, write the table to a CSV or "
    "Parquet file first."
)
_BY_NAME = "Name its table: {name}::my_table."
# Binary files: their first bytes, the offset of these, the contents, and what to do.
_BINARY = (
    (
        b"\x93NUMPY",
        0,
        "an array of NumPy",
        "Write it with numpy.savetxt, or pass arrays to evaluate_arrays.",
    ),
    (
        b"SQLite format 3\0",
        0,
        "a SQLite database",
        _BY_NAME,
    ),
    (
        b"DUCK",
        8,
        "a DuckDB database",
        _BY_NAME,
    ),
)
# A path collapses two slashes into one.
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/+(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_SECRETS = re.compile(r"^[^/@:]*:.*@|\?.*", re.DOTALL)  # up to the last @
_SERVER = re.compile(
    "bigquery|clickhouse|databricks|mariadb|mssql|mysql|oracle|postgres(ql)?|redshift|snowflake|trino"
)

NAMES_OF_RUNS = ("run", "system", "system_id", "run_id", "run_name", "model")
"""The usual names of a column that names runs."""
SQL = "sql:"
"""How the address of a query begins."""
SERVER = re.compile(r"postgres(ql)?://", re.IGNORECASE)
"""How the address of a database server begins."""
REMOTE = re.compile(
    r"(s3|s3a|gs|gcs|r2|az|azure|abfss|hf|https?)://.+\.(parquet|csv|tsv|jsonl|ndjson)(\.gz|\.zst)?(\?.*)?",
    re.IGNORECASE | re.DOTALL,
)
"""The address of a remote file that DuckDB can read, with an extension."""
COPY = "Copy the file to this machine first, or pass a data frame in Python."
"""Advice for remote files."""
PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")
"""The user and the password in an address."""
_TABLE = re.compile(r"(?P<place>.+?)::(?P<table>[^:/]+)", re.DOTALL)


class NamedTable(NamedTuple):
    """A table in a database.

    Attributes:
        place: the file or the address of the database.
        table: the name of the table, with its schema if it has one.
    """

    place: str
    table: str

    @property
    def quoted(self) -> str:
        """The name in SQL."""
        return ".".join('"{}"'.format(part.replace('"', '""')) for part in self.table.split("."))

    def __str__(self) -> str:
        place = PASSWORD.sub(r"\1@", self.place)
        return f"{place}::{self.table}"


def named_table(name: str) -> NamedTable | None:
    """Return the database and the table of `FILE::TABLE` or `postgresql://…::TABLE`; None for anything else."""
    parts = _TABLE.fullmatch(name)
    if parts is None or os.path.exists(name):  # noqa: PTH110 - of any text
        return None
    is_database = SERVER.match(name) or os.path.isfile(parts["place"])  # noqa: PTH113
    return NamedTable(parts["place"], parts["table"]) if is_database else None


def is_address(name: str) -> bool:
    """Return whether a text names a table that is no file: in a database, of a lake, remote, or selected by SQL.

    >>> is_address("sql:FROM 'bm25.parquet'"), is_address("postgresql://me@host/db::runs"), is_address("bm25.run")
    (True, True, False)
    """
    if name.startswith(SQL) or ("::" in name and named_table(name)):
        return True
    if REMOTE.fullmatch(name):
        return not os.path.exists(name)  # noqa: PTH110 - of any text
    if not os.path.isdir(name):  # noqa: PTH112 - of any text
        return False
    return any(any(Path(name).glob(pattern)) for pattern, *_ in _VERSIONED)


def stem_of(name: str) -> str:
    """Return what a run is called by default: its file without the extension, its table, or its part of a folder.

    >>> stem_of("runs/bm25.run"), stem_of("postgresql://me@host/db::bm25"), stem_of("sql:SELECT 1")
    ('bm25', 'bm25', 'sql')
    """
    if name.startswith(SQL):
        return SQL.removesuffix(":")
    table = named_table(name) if "::" in name else None
    if table is not None:
        return table.table
    path = Path(name)
    column, equals, value = path.name.partition("=")
    if equals and column in NAMES_OF_RUNS and path.is_dir():
        return unquote(value)
    return path.stem


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file to read, and its name in messages.

    Attributes:
        name: the name in messages.
        path: the path of the contents.
        holder: keeps the temporary copy of standard input or of a pipe, if it is one.
    """

    name: str
    path: Path
    holder: Temporary | None = field(default=None, compare=False, repr=False)


def path_text(given: str | os.PathLike[str]) -> str:
    """Return a path as a string."""
    path: Any = os.fspath(given)
    return os.fsdecode(path) if isinstance(path, bytes) else str(path)


def refuse_open_file(given: object, where: str) -> None:
    """Reject an open file or StringIO, whose lines would be taken for a list."""
    if callable(getattr(given, "readline", None)) and callable(getattr(given, "read", None)):
        kind, remedy = type(given).__name__, "Pass the path of a file instead."
        raise InputError(where, "the path of a file", f"an open file, {kind}", remedy)


def path_of(given: str | os.PathLike[str]) -> str:
    """Return the path of a file to read as a string, `-` for standard input."""
    if not isinstance(given, str | os.PathLike):
        raise InputError("path", "the path of a file", shown(given))
    name = path_text(given)
    if not name:  # the system would take an empty path for the current folder
        raise InputError("path", "the name of a file", "an empty text")
    return name


def are_one_file(one: object, other: object) -> bool:
    """Return whether two inputs are paths of the same file.

    >>> are_one_file(__file__, Path(__file__)), are_one_file(__file__, {})
    (True, False)
    """
    if not isinstance(one, str | os.PathLike) or not isinstance(other, str | os.PathLike):
        return False
    try:
        return Path(path_of(one)).samefile(path_of(other))
    except (OSError, ValueError):  # a missing file, a pattern, standard input
        return False


def are_the_same(one: object, other: object) -> str:
    """Return "file" or "object" if two inputs are the same one; else empty.

    >>> are_the_same(__file__, Path(__file__)), are_the_same(__file__, {})
    ('file', '')
    """
    if are_one_file(one, other):
        return "file"
    return "object" if one is other and not isinstance(one, str | os.PathLike) else ""


def plain_file(name: str, session: Session) -> LocalFile:
    """Return a file that can be read directly: decompressed, with standard input copied."""
    return unpacked(kept_file(name, session), session)


def kept_file(name: str, session: Session) -> LocalFile:
    """Return a file that can be read again: a copy of standard input or of a pipe."""
    if name == "-":
        if sys.stdin is None:
            raise InputError("standard input", "something to read", "none: it is closed")
        return _copied(sys.stdin.buffer, "standard input", session)
    with opened(name) as file:  # fails for a directory, or without permission
        # A pipe cannot be read twice.
        return LocalFile(name, Path(name)) if Path(name).is_file() else _copied(file, name, session)


def _copied(source: BinaryIO, name: str, session: Session) -> LocalFile:
    import shutil

    holder = session.new_folder()
    with session.written_aside("input", holder.path) as (target, copy):
        shutil.copyfileobj(source, copy, _CHUNK)
    return LocalFile(name, target, holder)


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a file to read its bytes; raise an error that explains why it can't be opened."""
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - Path rejects some paths
            yield file
    except InputError:
        raise  # about the content, before ValueError, its base class
    except FileNotFoundError:
        refuse_address(name)
        raise no_file(name) from None
    except IsADirectoryError:
        raise InputError(name, "a file", "a directory", "Name a file in it.") from None
    except (OSError, ValueError) as problem:  # ValueError: an invalid path
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise InputError(name or "''", "a readable file", str(reason)) from None


def no_file(name: str) -> InputError:
    """Return the error for a file that doesn't exist."""
    found, remedy = "none of that name", "Check the path."
    return InputError(name or "''", "a file", found, remedy, code="file.not-found")


def read_at(path: Path, place: int, room: NDArray[np.uint8]) -> int:
    """Read bytes of a file into `room`, from an offset on; return how many, fewer at the end of the file.

    Several threads call this, each with a handle of its own: not every system supports pread.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(place)
        return file.readinto(room)


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, intact or damaged, rather than text with the same first bytes."""
    with opened(str(path)) as file:
        mark, following = file.read(len(_PARQUET)), file.read(1)
    return mark == _PARQUET and (not following or following[0] in _CONTROLS)


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes belong to a known binary file."""
    return any(head.startswith(magic, place) for magic, place, *_ in _BINARY)


def no_text(name: str, head: bytes) -> InputError:
    r"""Return the error for a binary file, chosen by its first bytes.

    >>> print(no_text("scores.npy", b"\x93NUMPY\x01"))
    scores.npy: expected text or Parquet, found an array of NumPy. Write it with numpy.savetxt, or pass arrays to evaluate_arrays.
    """
    found, remedy = "a binary file", "Check the path."
    for magic, place, contents, advice in _BINARY:
        if head.startswith(magic, place):
            found, remedy = contents, advice.format(name=name)
    return InputError(name, "text or Parquet", found, remedy)


def csv_fields(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> "Reader":
    """Return a reader of delimited fields of any length, with optional quotes."""
    # The limit applies to the whole process, so it is never lowered.
    if csv.field_size_limit() < _LONGEST_FIELD:
        csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def first_fields(text: str, delimiter: str) -> list[str]:
    r"""Return the fields of the first line that isn't blank; empty if they can't be read.

    >>> first_fields("\r\nquery,doc\rq1,a\r", ",")
    ['query', 'doc']
    """
    try:
        rows = csv_fields(io.StringIO(text, newline=""), delimiter)
        # A line of tabs is blank, but a row of other delimiters has empty cells.
        return next((row for row in rows if delimiter.join(row).strip()), [])
    except csv.Error:
        return []


def judgments_in_folder(name: str) -> str:
    """Return the judgments in the folder of a BEIR dataset; return any other name unchanged.

    The judgments are in `qrels/test.tsv`, or else in the only file in `qrels`.
    """
    folder = Path(name) / "qrels"
    try:
        files = sorted(folder.glob("*.tsv")) if folder.is_dir() else []
    except OSError:
        return name
    chosen = [file for file in files if file.name == "test.tsv"] or files
    if len(chosen) > 1:
        listed = ", ".join(file.name for file in chosen)
        raise InputError(
            str(folder), "test.tsv, or one file of judgments", f"{len(chosen)}: {listed}",
            "Name one of them.",
        )  # fmt: skip
    return str(chosen[0]) if chosen else name


def refuse_versioned_tables(folders: Iterable[Path], name: str) -> None:
    """Reject folders of Delta Lake, Iceberg and Hudi tables, and folders inside them.

    Their Parquet files also contain rows that have since been deleted or replaced. Only a reader of the
    format knows which, from the table's log.
    """
    seen: set[Path] = set()
    for folder in folders:
        for place in (resolved := folder.resolve(), *resolved.parents):
            if place in seen:
                break
            seen.add(place)
            for pattern, table, package, on_spark in _VERSIONED:
                if not any(place.glob(pattern)):
                    continue
                raise InputError(
                    name,
                    "plain Parquet files",
                    f"{table} in {place}, whose files also contain deleted rows",
                    f"Pass the folder {place}, after installing its reader: pip install {package}. On Spark, pass "
                    f"spark.read.format({on_spark!r}).load({str(place)!r}).",
                )


def parts_of(name: str) -> list[Path] | None:
    """Return the Parquet files in a directory or of a pattern; None if the name is neither."""
    if not os.path.isdir(name):  # noqa: PTH112 - Path rejects some paths
        return pattern_matches(name)
    path = Path(name)
    refuse_versioned_tables([path], name)
    parts = sorted(
        part
        for part in path.rglob("*.parquet")
        if not any(name.startswith(HIDDEN) for name in part.relative_to(path).parts)
    )
    if not parts:
        expected = "a file, or a directory with Parquet files"
        raise InputError(name, expected, "a directory without any", "Name a file in it.")
    return parts


def pattern_matches(name: str) -> list[Path] | None:
    """Return the sorted matches of a pattern such as runs/*.run; None if the name isn't a pattern."""
    if not _GLOB & set(name) or os.path.exists(name):  # noqa: PTH110 - Path rejects some paths
        return None
    # Imported here because few calls use patterns.
    import glob

    matches = sorted(map(Path, glob.glob(name, recursive=True)))  # noqa: PTH207 - as above
    if not Path(name).name.startswith(HIDDEN):
        matches = [match for match in matches if not match.name.startswith(HIDDEN)]
    if not matches:
        refuse_address(name)
        raise InputError(name, "files that match the pattern", "none", "Check the pattern.")
    return matches


def refuse_address(name: str) -> None:
    """Reject the address of a database or of a remote file, and explain how to get the data.

    >>> refuse_address("gs://lake/bm25.run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: gs://lake/bm25.run: expected the path of a file on this machine, found an address (gs). Copy the file to this machine first, or pass a data frame in Python.
    """
    parts = _ADDRESS.fullmatch(name)
    if parts is None:
        return
    scheme, _, _driver = parts["scheme"].lower().partition("+")
    address = f"{parts['scheme']}://{_SECRETS.sub('', parts['rest'])}"
    found = f"an address ({scheme})"
    remedy = COPY
    if scheme in ("file", "sqlite", "duckdb"):
        remedy = f"Write the path without {scheme}://."
    elif _SERVER.fullmatch(scheme):
        found = f"the address of a database ({scheme})"
        remedy = _QUERIED.format("pandas.read_sql('SELECT * FROM my_table', connection)")
        if SERVER.match(address):
            remedy = _BY_NAME.format(name=address)
    raise InputError(address, "the path of a file on this machine", found, remedy)


def unpacked(file: LocalFile, session: Session) -> LocalFile:
    """Return a file decompressed."""
    with opened(str(file.path)) as packed:
        magic = packed.read(_MAGIC)
    if _OTHER_PACKINGS.match(magic):
        remedy = "Unpack it first."
        if file.path.suffix.lower() in _SPREADSHEETS:  # they are archives of XML
            remedy = "Save the spreadsheet as CSV, in UTF-8."
        raise InputError(file.name, "a plain file, .gz or .zst", "another kind of archive", remedy)
    found = _decompression(magic)
    if found is None:
        return file
    open_packed, damage = found
    try:
        with (
            file.path.open("rb") as packed,
            open_packed(packed, "rb") as source,
            session.written_aside("unpacked") as (target, plain),
        ):
            _unpack(file, packed, source, plain, session)
    except InputError:
        raise  # about the temporary directory, before ValueError, its base class
    except (EOFError, OSError, ValueError, damage) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise InputError(file.name, "a readable file", f"{problem.strerror}") from None
        raise InputError(
            file.name,
            "a whole compressed file",
            f"one that is cut off or damaged ({str(problem).rstrip('.')})",
            "Fetch or write it again.",
        ) from None
    return LocalFile(file.name, target)


def _decompression(head: bytes) -> tuple[Callable[..., Any], type[Exception]] | None:
    """Return what opens a compressed file and its exception for damage; None if it isn't compressed."""
    if head.startswith(_GZIP):
        import gzip

        return gzip.open, zlib.error
    if not head.startswith(_ZSTANDARD):
        return None
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return zstd.open, zstd.ZstdError


def _unpack(
    file: LocalFile, packed: BinaryIO, source: BinaryIO, plain: BinaryIO, session: Session
) -> None:
    """Decompress a file up to a limit, because a small file can fill a disk."""
    size, limit = file.path.stat().st_size, session.engine.unpacked
    most = max(_FREELY, _RATIO * size) if limit is None else bytes_of(limit)
    written = 0
    while chunk := source.read(_CHUNK):
        written += len(chunk)
        if written > most:
            raise InputError(
                file.name,
                f"at most {_written_size(most)} after decompression",
                f"more, from {_written_size(size)} of compressed data",
                "If that is expected, raise the limit with --unpacked SIZE, in Python "
                "Engine(unpacked=…), or decompress the file first.",
            )
        plain.write(chunk)
        session.tell(packed.tell() / size)


def _written_size(size: int) -> str:
    """Return a number of bytes as text for a message.

    >>> _written_size(999), _written_size(1_000_000_000), _written_size(2_540_000)
    ('999 B', '1 GB', '2.5 MB')
    """
    power = min(max(len(str(size)) - 1, 0) // 3, 4)
    text = f"{size / 1000**power:.1f}".removesuffix(".0")
    return f"{text} {' kMGT'[power].strip()}B"


def beginning(path: str | os.PathLike[str], size: int) -> bytes:
    """Return the first bytes of a regular file, decompressed; empty if it can't be read.

    >>> beginning("no such file", 10)
    b''
    """
    try:
        # Pipes can't be read twice, so they are skipped.
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - Path rejects some paths
            return b""
        with open(path, "rb") as file:  # noqa: PTH123 - Path rejects some paths
            head = file.read(size)
            packing = _decompression(head)
            if packing is None:
                return head
            file.seek(0)
            with packing[0](file, "rb") as source:
                return bytes(source.read(size))
    except Exception:  # noqa: BLE001 - also of a decompressor
        return b""
