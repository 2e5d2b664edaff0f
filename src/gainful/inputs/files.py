"""Files as plain bytes: opened, unpacked, and what can go wrong with that."""

import csv
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError
from gainful.inputs.duckdb_engine import Session, bytes_of
from gainful.inputs.temporary_files import Temporary, no_room
from gainful.message_texts import shown

if TYPE_CHECKING:
    from _csv import Reader

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# Ids may begin as some of them do, so all is compared that an archive surely has.
_OTHER_PACKINGS = re.compile(
    rb"PK(\x03\x04|\x05\x06).\0|BZh[1-9](1AY&SY|\x17rE8P\x90)|\xfd7zXZ\0|7z\xbc\xaf", re.DOTALL
)
_PARQUET = b"PAR1"
_PARQUET_LEAST = 12  # bytes: the mark at both ends, and the length of what stands before the last
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\v\f\r")
_LONGEST_FIELD = 2**31 - 1
_CHUNK = 1 << 22
_FREELY, _RATIO = 10**9, 200  # bytes, or times as many as are packed, that may be unpacked
_MAGIC = 16
_NUMPY = b"\x93NUMPY"
_SPREADSHEETS = (".xlsx", ".xlsm", ".ods")
_GLOB = frozenset("*?[")
# Tables of several versions, in folders of Parquet files of which some hold deleted rows: what
# such a folder has, what the table is called, and what reads it, given the path of the folder.
_VERSIONED = (
    ("_delta_log", "a Delta Lake table", "deltalake.DeltaTable({path!r}).to_pyarrow_table()"),
    (
        "metadata/*.metadata.json",
        "an Iceberg table",
        "table.scan().to_arrow() of pyiceberg, table = StaticTable.from_metadata('{marker}')",
    ),
    (".hoodie", "a Hudi table", "spark.read.format('hudi').load({path!r})"),
)
# Files of databases: how they begin, from which byte, what they are called, and what reads them.
_DATABASES = (
    (
        b"SQLite format 3\0",
        0,
        "a SQLite database",
        "pandas.read_sql('SELECT * FROM my_table', sqlite3.connect({name!r}))",
        "sqlite3 -header -csv {name} 'SELECT * FROM my_table' > my_table.csv",
    ),
    (
        b"DUCK",
        8,
        "a DuckDB database",
        "duckdb.connect({name!r}).sql('FROM my_table')",
        """duckdb {name} "COPY my_table TO 'my_table.parquet'\"""",
    ),
)
_QUERIED = (
    "In Python, pass what this call returns: {}. For the command line, write the table to a file "
    "first: {}."
)
# A path makes one slash of two.
_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/(?P<rest>/?.*)", re.IGNORECASE | re.DOTALL)
_SECRETS = re.compile(r"(?<=//)[^/@:]*:.*@|\?.*", re.DOTALL)  # up to the last @
# What copies a file from an address to this machine.
_COPIES = {
    **dict.fromkeys(("http", "https", "ftp"), "curl -LO '{}'"),
    **dict.fromkeys(("s3", "s3a", "s3n"), "aws s3 cp '{}' ."),
    **dict.fromkeys(("gs", "gcs"), "gcloud storage cp '{}' ."),
    **dict.fromkeys(("az", "azure", "abfs", "abfss", "wasbs"), "azcopy copy '{}' ."),
    "hdfs": "hdfs dfs -get '{}' .",
}
# What reads a file at an address: polars does, and its lazy frames are read as others are.
_SCANS = {".parquet": "scan_parquet", ".csv": "scan_csv", ".jsonl": "scan_ndjson"}
_SERVERS = {
    **dict.fromkeys(
        ("postgresql", "postgres"),
        """psql ADDRESS --csv -c 'SELECT * FROM my_table' > my_table.csv""",
    ),
    **dict.fromkeys(
        ("mysql", "mariadb"), "mysql --batch -e 'SELECT * FROM my_table' > my_table.tsv"
    ),
    **dict.fromkeys(
        (
            "mssql",
            "oracle",
            "snowflake",
            "bigquery",
            "redshift",
            "clickhouse",
            "trino",
            "databricks",
        ),
        "as CSV or Parquet, with its own client",
    ),
}
_READ = 1 << 16  # bytes of a packed file, which hold a block of it
_WITH_HEADER = 16 + zlib.MAX_WBITS  # how zlib is told of gzip


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file: what messages call it, and where it can be read.

    Attributes:
        name: what messages call it.
        path: where its bytes are.
        holder: what keeps the copy of standard input or of a pipe, where it is one.
    """

    name: str
    path: Path
    holder: Temporary | None = field(default=None, compare=False, repr=False)


def path_text(given: str | os.PathLike[str]) -> str:
    """Return a path as a string."""
    path: Any = os.fspath(given)
    return os.fsdecode(path) if isinstance(path, bytes) else str(path)


def refuse_open_file(given: object, where: str) -> None:
    """Refuse an open file, or text in the shape of one, whose lines would be taken for a list."""
    if callable(getattr(given, "readline", None)) and callable(getattr(given, "read", None)):
        name = getattr(given, "name", None)
        remedy = "Write it to a file, and give the path of that."
        if isinstance(name, str):
            remedy = f"Give its path: {shown(name)}."
        raise InputError(
            where, "the path of a file", f"an open file, {type(given).__name__}", remedy
        )


def path_of(given: str | os.PathLike[str]) -> str:
    """Return the path of a file to read as a string, `-` for standard input."""
    if not isinstance(given, str | os.PathLike):
        raise InputError("path", "the path of a file", shown(given))
    name = path_text(given)
    if not name:  # which the system takes for the current folder
        raise InputError(
            "path", "the name of a file", "an empty text", "Check where it comes from."
        )
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
    except (OSError, ValueError):  # what is not there, a pattern, standard input
        return False


def are_the_same(one: object, other: object) -> str:
    """Return what two inputs are if they are the same, a file or an object; else nothing.

    >>> are_the_same(__file__, Path(__file__)), are_the_same(__file__, {})
    ('file', '')
    """
    if are_one_file(one, other):
        return "file"
    return "object" if one is other and not isinstance(one, str | os.PathLike) else ""


def plain_file(name: str, session: Session) -> LocalFile:
    """Return a file that can be read as it is: unpacked, and standard input as a copy."""
    return unpacked(kept_file(name, session), session)


def kept_file(name: str, session: Session) -> LocalFile:
    """Return a file that can be read again: for standard input and pipes, a copy."""
    if name == "-":
        import shutil

        if sys.stdin is None:
            raise InputError("standard input", "something to read", "none: it is closed")
        with session.written_to_stay("input") as (target, file, holder):
            shutil.copyfileobj(sys.stdin.buffer, file, _CHUNK)
        return LocalFile("standard input", target, holder)
    with opened(name) as file:  # a directory, or what may not be read, fails here
        if not Path(name).is_file():  # a pipe cannot be read twice
            import shutil

            with session.written_to_stay("input") as (target, copy, holder):
                shutil.copyfileobj(file, copy, _CHUNK)
            return LocalFile(name, target, holder)
    return LocalFile(name, Path(name))


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a file to read its bytes, or say why it cannot be."""
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - a path may be what Path refuses
            yield file
    except InputError:
        raise  # of the content; it is a ValueError too
    except FileNotFoundError:
        refuse_address(name)
        raise InputError(name or "''", "a file", "none of that name", "Check the path.") from None
    except IsADirectoryError:
        raise InputError(name, "a file", "a directory", "Name a file in it.") from None
    except (OSError, ValueError) as problem:  # ValueError: a path that no system has
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise InputError(name or "''", "a readable file", str(reason)) from None


def read_at(path: Path, place: int, room: NDArray[np.uint8]) -> int:
    """Read the bytes of a file from a place on; return how many, fewer than the room at its end.

    Threads do it at once, each with the file open for itself: not every system reads at a place.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(place)
        return file.readinto(room)


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet, whole or damaged, and not text that begins as it does."""
    with opened(str(path)) as file:
        head = file.read(len(_PARQUET) + 1)
        if not head.startswith(_PARQUET):
            return False
        if len(head) == len(_PARQUET) or head[-1] in _CONTROLS:
            return True
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_PARQUET) * 2))
        length, mark = file.read(len(_PARQUET)), file.read()
    return mark == _PARQUET and int.from_bytes(length, "little") + _PARQUET_LEAST <= size


def is_database(head: bytes) -> bool:
    """Return whether a file that begins so is one of a database."""
    return any(head.startswith(magic, place) for magic, place, *_ in _DATABASES)


def no_text(name: str, head: bytes) -> InputError:
    r"""Return the error about a binary file, by how it begins.

    >>> print(no_text("scores.npy", b"\x93NUMPY\x01"))
    scores.npy: expected text or Parquet, found an array of NumPy. Write it with numpy.savetxt, or give arrays to evaluate_arrays.
    """
    found, remedy = "a binary file", "Check the path."
    if head.startswith(_NUMPY):
        found = "an array of NumPy"
        remedy = "Write it with numpy.savetxt, or give arrays to evaluate_arrays."
    for magic, place, database, call, command in _DATABASES:
        if head.startswith(magic, place):
            found = database
            remedy = _QUERIED.format(call.format(name=name), command.format(name=name))
    return InputError(name, "text or Parquet", found, remedy)


def csv_fields(lines: Iterable[str], delimiter: str, *, strict: bool = False) -> "Reader":
    """Read delimited fields of any length, with quotes around those that need them."""
    # The limit is one of the whole process: it is never lowered here.
    if csv.field_size_limit() < _LONGEST_FIELD:
        csv.field_size_limit(_LONGEST_FIELD)
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def first_fields(text: str, delimiter: str) -> list[str]:
    r"""Return the fields of the first line that is not blank; none if they cannot be read.

    >>> first_fields("\r\nquery,doc\rq1,a\r", ",")
    ['query', 'doc']
    """
    try:
        rows = csv_fields(io.StringIO(text, newline=""), delimiter)
        # A line of delimiters is blank where they are, as tabs are; a row of empty cells is none.
        return next((row for row in rows if delimiter.join(row).strip()), [])
    except csv.Error:
        return []


def judgments_in_folder(name: str) -> str:
    """Return the file of judgments in the folder of a BEIR dataset; the name itself if it is none.

    That is `qrels/test.tsv`, or the only other file there.
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
    """Refuse folders of Delta Lake, Iceberg and Hudi tables, and folders inside them.

    Their Parquet files also hold rows that were deleted or replaced since. Only the table's own log
    says which; so a reader of that format has to read them.
    """
    seen: set[Path] = set()
    for folder in folders:
        for place in (resolved := folder.resolve(), *resolved.parents):
            if place in seen:
                break
            seen.add(place)
            for pattern, table, reader in _VERSIONED:
                marker = max(place.glob(pattern), default=None)
                if marker is None:
                    continue
                call = reader.format(path=str(place), marker=marker)
                raise InputError(
                    name,
                    "plain Parquet files",
                    f"{table} in {place}, whose files also hold deleted rows",
                    f"In Python, pass what its own reader returns: {call}. For the command line, write "
                    "that to a Parquet file in another folder.",
                )


def parts_of(name: str) -> list[Path] | None:
    """Return the Parquet files of a directory or a pattern; None if it is neither."""
    path = Path(name)
    try:
        if path.is_dir():
            refuse_versioned_tables([path], name)
            # What begins with _ or . is not, or not yet, part of the table: _temporary, _SUCCESS.
            found = sorted(
                part
                for part in path.rglob("*.parquet")
                if not any(name.startswith(("_", ".")) for name in part.relative_to(path).parts)
            )
            if not found:
                raise InputError(
                    name, "a file, or a directory with Parquet files", "a directory without any",
                    "Name a file in it.",
                )  # fmt: skip
            return found
    except InputError:
        raise  # it is a ValueError too
    except (OSError, ValueError):
        return None  # what is wrong with the name is said when it is opened
    return pattern_matches(name)


def pattern_matches(name: str) -> list[Path] | None:
    """Return what a pattern such as runs/*.run matches, in order; None if it is the name of a file."""
    if not _GLOB & set(name):
        return None
    try:
        path = Path(name)
        if path.exists():
            return None
        found = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    except (OSError, ValueError, IndexError, NotImplementedError):
        return None  # what is wrong with the name is said when it is opened
    if not found:
        refuse_address(name)
        raise InputError(name, "files of that pattern", "none", "Check the pattern.")
    return found


def refuse_address(name: str) -> None:
    """Refuse the address of a database or of a file elsewhere, and show what brings it here.

    >>> refuse_address("gs://lake/bm25.run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: gs://lake/bm25.run: expected the path of a file on this machine, found an address (gs). Copy the file first (gcloud storage cp 'gs://lake/bm25.run' .).
    """
    parts = _ADDRESS.fullmatch(name)
    if parts is None:
        return
    scheme, rest = parts["scheme"].lower().partition("+")[0], parts["rest"]
    copy, server = _COPIES.get(scheme), _SERVERS.get(scheme)
    local = scheme in ("file", "sqlite", "duckdb")
    if not (copy or server or local or rest.startswith("/")):
        return
    address = _SECRETS.sub("", f"{parts['scheme']}://{rest.lstrip('/')}")
    expected, found = "the path of a file on this machine", f"an address ({scheme})"
    if local:
        path = f"/{rest.lstrip('/')}" if scheme == "file" else rest.removeprefix("//")
        remedy = f"Give the path alone: {path}."
    elif server:
        found = f"the address of a database ({scheme})"
        call = "pandas.read_sql('SELECT * FROM my_table', connection)"
        remedy = _QUERIED.format(call, server)
    else:
        remedy = f"Copy the file first ({copy.format(address)})" if copy else "Copy the file first"
        scan = _SCANS.get(os.path.splitext(address.lower())[1])  # noqa: PTH122 - of an address
        if scan is not None and copy and scheme != "hdfs":
            remedy += f", or pass what this call returns in Python: polars.{scan}({address!r})"
        remedy += "."
    raise InputError(address, expected, found, remedy)


def unpacked(file: LocalFile, session: Session) -> LocalFile:
    """Return a file without packing."""
    with opened(str(file.path)) as packed:
        magic = packed.read(_MAGIC)
    if _OTHER_PACKINGS.match(magic):
        remedy = "Unpack it first."
        if file.path.suffix.lower() in _SPREADSHEETS:  # which are archives of XML
            remedy = "Save the spreadsheet as CSV, in UTF-8."
        raise InputError(file.name, "a plain file, .gz or .zst", "another kind of archive", remedy)
    if not magic.startswith((_GZIP, _ZSTANDARD)):
        return file
    try:
        with (
            file.path.open("rb") as packed,
            _unpacking(packed, magic) as source,
            session.written_aside("unpacked") as (target, plain),
        ):
            _unpack(file, packed, source, plain, session)
    except InputError:
        raise  # of the temporary directory; it is a ValueError too
    except (EOFError, zlib.error, OSError, ValueError) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise InputError(file.name, "a readable file", f"{problem.strerror}") from None
        raise InputError(
            file.name,
            "a whole packed file",
            f"one that is cut off or damaged ({str(problem).rstrip('.')})",
            "Fetch or write it again.",
        ) from None
    return LocalFile(file.name, target)


def _unpack(
    file: LocalFile, packed: BinaryIO, source: BinaryIO, plain: BinaryIO, session: Session
) -> None:
    """Unpack a file up to a limit: a few packed bytes can fill a disk."""
    import shutil

    size, given = file.path.stat().st_size, session.engine.unpacked
    most = max(_FREELY, _RATIO * size) if given is None else bytes_of(given)
    free = shutil.disk_usage(session.folder).free
    room = free - min(_FREELY, free // 10)  # others need the disk, too
    written = 0
    while chunk := source.read(_CHUNK):
        written += len(chunk)
        if written > most:
            raise InputError(
                file.name,
                f"at most {_written_size(most)} when it is unpacked",
                f"more, from {_written_size(size)} that are packed",
                "If it is what it should be, raise the limit: --unpacked SIZE, in Python "
                "Engine(unpacked=…); or unpack it first.",
            )
        if written > room and given is None:
            raise no_room(f"{_written_size(free)} free, and {file.name} takes more when unpacked")
        plain.write(chunk)
        session.tell(packed.tell() / size)


def _written_size(size: int) -> str:
    """Write a number of bytes for a message.

    >>> _written_size(999), _written_size(1_000_000_000), _written_size(2_540_000)
    ('999 B', '1 GB', '2.5 MB')
    """
    power = min(max(len(str(size)) - 1, 0) // 3, 4)
    text = f"{size / 1000**power:.1f}".removesuffix(".0")
    return f"{text} {' kMGT'[power].strip()}B"


def _unpacking(packed: BinaryIO, magic: bytes) -> Any:
    if magic.startswith(_GZIP):
        import gzip

        return gzip.open(packed, "rb")
    zstd = _zstandard()
    return _whole(zstd.open(packed, "rb"), zstd.ZstdError)


@contextmanager
def _whole(file: Any, damaged: type[Exception]) -> Iterator[Any]:
    try:
        with file:
            yield file
    except damaged as problem:
        raise ValueError(str(problem)) from None


def beginning(path: str | os.PathLike[str], size: int) -> bytes:
    """Return the first bytes of a regular file, unpacked; none where it cannot be read.

    >>> beginning("no such file", 10)
    b''
    """
    try:
        # A pipe cannot be read twice, so it is left alone.
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a path may be what Path refuses
            return b""
        with open(path, "rb") as file:  # noqa: PTH123 - the same
            head = file.read(_READ)
    except (OSError, ValueError, TypeError):
        return b""
    if head.startswith(_GZIP):
        try:
            return zlib.decompressobj(_WITH_HEADER).decompress(head, size)
        except zlib.error:
            return b""
    return _zstandard_beginning(head, size) if head.startswith(_ZSTANDARD) else head[:size]


def _zstandard_beginning(head: bytes, size: int) -> bytes:
    zstd = _zstandard()
    try:
        return bytes(zstd.ZstdDecompressor().decompress(head, size))
    except zstd.ZstdError:
        return b""


def _zstandard() -> Any:
    """Import Zstandard, which Python has from 3.14 on."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return zstd
