"""Output files: replaced only when complete, compressed if requested, and in a format recognised by the name."""

import errno
import io
import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from gainful import arguments
from gainful.arithmetic.cores import cores, in_parallel
from gainful.errors import GainfulError, InputError
from gainful.message_texts import did_you_mean, shown
from gainful.rows.files import path_text
from gainful.rows.temporary_files import folder_beside, no_room, temporary_folder

_CHUNK = 1 << 22
_PERMISSIONS = 0o7777
# Names of files that a process already has open: they can't be replaced by another file.
_OPEN = ("/dev/std", "/dev/fd/", "/proc/")


class _Never(Exception):  # noqa: N818 - not an error
    """Ends a trial before anything is written."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield an empty file to write to, which replaces the target when the block ends.

    It is in the target's folder and has the target's permissions; a link is kept, and its target
    is replaced. If the block fails, the old file is kept and the new one is removed. Devices,
    pipes and `-` (standard output) are not replaced: complete output is sent to them.
    """
    name = name_of(path)
    with (
        _blamed(name),
        _sent(name) if _is_stream(name) else _beside(Path(name).resolve()) as temporary,
    ):
        yield temporary


@contextmanager
def new_folder(path: str | os.PathLike[str], *, dry: bool = False) -> Iterator[Path]:
    """Yield a folder to write to, which becomes the target when the block ends; the target is missing or empty.

    Args:
        path: the path of the target.
        dry: only reject a path that cannot be written.
    """
    name = name_of(path)
    with _blamed(name, "a new or empty folder"):
        if name == "-" or (os.path.lexists(name) and not Path(name).is_dir()):
            raise OSError(None, "standard output" if name == "-" else "a file")
        target = Path(name).resolve()
        if target.exists() and any(target.iterdir()):
            raise OSError(None, "one with files in it")
        folder = folder_beside(target)
        try:
            inside = folder.path / target.name
            inside.mkdir()
            yield inside
            if not dry:
                if target.exists():
                    target.rmdir()
                inside.replace(target)
        finally:
            folder.remove()


def write_text(text: str, path: str | os.PathLike[str], *, dry: bool = False) -> None:
    """Write text to a file, which is replaced only when the new one is complete.

    Args:
        text: the text to write, as UTF-8. File names that aren't valid text are written with their
            original bytes.
        path: the path of the file; `-` is standard output. The text is compressed if the name ends in .gz or .zst.
        dry: only reject a path that cannot be written, before work whose result goes there,
            without changing anything.
    """
    if not isinstance(text, str):
        raise InputError("text", "a string to write", shown(text))
    try:
        content = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise InputError("text", "a string to write", shown(text), arguments.HALF) from None
    arguments.truth(dry, "dry")
    name = name_of(path)
    with _blamed(name):
        if _is_stream(name):
            if not dry:
                _send(io.BytesIO(content), name)
            elif name == "-":
                _print(io.BytesIO())
            return
    with suppress(_Never), replacing(path) as file:
        if dry:
            raise _Never
        packing = PACKINGS.get(PurePath(name).suffix.lower())
        with file.open("wb") as opened:
            opened.writelines([content] if packing is None else packing([content]))


@contextmanager
def _blamed(name: str, expected: str = "a file that can be written") -> Iterator[None]:
    """Return the error that a file cannot be written, with the reason."""
    if not name:
        raise InputError("''", "the name of a file to write", "an empty one")
    try:
        yield
    except (GainfulError, BrokenPipeError):
        raise  # the caller handles a pipe whose reader has stopped reading
    except (OSError, ValueError) as problem:  # ValueError: a path that no system has
        reason = problem.strerror if isinstance(problem, OSError) else problem
        if name == "-" and isinstance(problem, OSError) and problem.errno == errno.EBADF:
            reason = "none: it is closed"
        where = "standard output" if name == "-" else name
        raise InputError(where, expected, str(reason)) from None


def name_of(path: object) -> str:
    """Return a path as a string, `-` for standard output."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise InputError("path", "the path of a file to write", shown(path))
    return path_text(path)  # type: ignore[arg-type]


def _is_stream(name: str) -> bool:
    path = Path(name)
    if name != "-" and path.is_dir():
        raise IsADirectoryError(None, "Is a directory")
    return name == "-" or name.startswith(_OPEN) or (path.exists() and not path.is_file())


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    # Nobody may ever read data that the old file's permissions protected, and the folder is
    # private.
    folder = folder_beside(target)
    try:
        temporary = folder.path / target.name
        temporary.touch()
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & _PERMISSIONS)
        temporary.replace(target)
    finally:
        folder.remove()


@contextmanager
def _sent(name: str) -> Iterator[Path]:
    folder = temporary_folder(None)
    try:
        temporary = folder.path / "output"
        try:
            temporary.touch()
            yield temporary
        except OSError as problem:
            raise no_room(problem.strerror) from None
        with temporary.open("rb") as source:
            _send(source, name)
    finally:
        folder.remove()


def _send(source: BinaryIO, name: str) -> None:
    if name == "-":
        _print(source)
    else:
        with Path(name).open("wb") as stream:
            _copy(source, stream)


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    while chunk := source.read(_CHUNK):
        target.write(chunk)


def _print(source: BinaryIO) -> None:
    stream: Any = sys.stdout
    if stream is None:  # it was closed before Python started
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if not hasattr(stream, "buffer"):  # a program has replaced it to capture output
        stream.write(source.read().decode(errors="surrogateescape"))
        return
    stream.flush()  # earlier output comes first
    stream.buffer.flush()
    _copy(source, stream.buffer)
    with suppress(io.UnsupportedOperation):
        os.write(stream.fileno(), b"")  # writes nothing, and fails if the stream is closed
    stream.buffer.flush()


_PART = 1 << 20
_AT_ONCE = 64  # in parts, so that memory doesn't grow with the file
_LEVEL = 3  # half the time of the usual 6, for 4 % more bytes
_NO_HEADER = -zlib.MAX_WBITS
# The magic number, deflate, no flags, no time, nothing special, of an unknown system.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def parts_of(path: Path) -> Iterator[bytes]:
    """Yield the content of a file, part by part."""
    with path.open("rb") as file:
        while part := file.read(_PART):
            yield part


def gzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Compress with gzip: one member, whose parts are deflated separately and joined.

    >>> import gzip
    >>> gzip.decompress(b"".join(gzipped([b"one ", b"file"])))
    b'one file'
    """
    yield _GZIP_HEADER
    check, size = 0, 0
    remaining = iter(parts)
    while some := list(islice(remaining, _AT_ONCE)):
        yield from in_parallel(_deflated, some)
        for part in some:
            check, size = zlib.crc32(part, check), size + len(part)
    yield zlib.compressobj(wbits=_NO_HEADER).flush()  # the end, which is empty
    yield struct.pack("<II", check, size % (1 << 32))


def zstandard(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Compress with Zstandard: one frame."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    parameter = zstd.CompressionParameter
    # A library built without threads allows no workers.
    workers = min(cores(), parameter.nb_workers.bounds()[1])
    packer = zstd.ZstdCompressor(
        options={parameter.nb_workers: workers, parameter.checksum_flag: 1}
    )
    for part in parts:
        yield packer.compress(part)
    yield packer.flush()


PACKINGS: Mapping[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
    ".gz": gzipped,
    ".zst": zstandard,
}
"""The functions that compress, by the ending of the name."""


def write_parts(parts: Iterable[bytes], path: str | os.PathLike[str], packing: str | None) -> None:
    """Write bytes to a file, compressed if `packing` is an ending of `PACKINGS`."""
    with replacing(path) as file, file.open("wb") as opened:
        opened.writelines(parts if packing is None else PACKINGS[packing](parts))


def _deflated(part: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=_NO_HEADER)
    return packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)  # ends at a byte boundary


DOCUMENTS: Mapping[str, str] = {
    ".run": "trec",
    ".qrels": "trec",
    ".trec": "trec",
    ".txt": "trec",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}
"""The formats of runs and judgments, by the ending of the name."""

TABLES: Mapping[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".txt": "table",
}
"""The formats of tables, by the ending of the name."""

POOLS: Mapping[str, str] = {**TABLES, ".qrels": "trec", ".trec": "trec"}
"""The formats of pools, by the ending of the name: tables, and TREC files to fill in."""

FUSED: Mapping[str, str] = {
    **TABLES,
    **{ending: name for ending, name in DOCUMENTS.items() if ending != ".qrels"},
}
"""The formats of fused runs, by file ending: run formats and tables."""

MERGED: Mapping[str, str] = {
    **TABLES,
    **{ending: name for ending, name in DOCUMENTS.items() if ending != ".run"},
}
"""The formats of merged judgments, by file ending: judgment formats and tables."""

_PICTURE, _OFFICE, _DATA = "a picture", "an office document", "a binary file"
_PROGRAM, _ARCHIVE = "a program", "an archive"
OTHERS: Mapping[str, str] = {
    **dict.fromkeys((".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tiff"), _PICTURE),
    **dict.fromkeys((".pdf", ".ps", ".eps"), "a printed page"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods", ".numbers"), "a spreadsheet"),
    **dict.fromkeys((".docx", ".doc", ".odt", ".rtf", ".pptx", ".ppt", ".odp"), _OFFICE),
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".bz2", ".xz"), _ARCHIVE),
    **dict.fromkeys((".feather", ".arrow", ".avro", ".orc", ".pkl", ".pickle", ".npy"), _DATA),
    **dict.fromkeys((".npz", ".h5", ".db", ".sqlite", ".duckdb"), _DATA),
    **dict.fromkeys((".py", ".js", ".css", ".ipynb", ".sql"), _PROGRAM),
    **dict.fromkeys((".xml", ".yaml", ".yml", ".toml"), "a settings or markup file"),
}
"""Endings of formats that gainful never writes, each with a description."""

_ENDINGS = {
    "tables": TABLES,
    "documents": DOCUMENTS,
    "pools": POOLS,
    "fused": FUSED,
    "merged": MERGED,
    "others": OTHERS,
}


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The format of a file, and the ending of its compression, if any."""

    format: str
    packing: str | None


def endings(*, of: str = "tables") -> dict[str, str]:
    """Return the endings of file names that gainful writes, each with its format.

    Case is ignored. With .gz or .zst after the ending, the file is compressed.

    Args:
        of: tables (scores and all other results), documents (runs and judgments), pools, fused (runs) or merged (judgments).
            Other endings belong to formats that gainful never writes, each with the format's name.

    >>> endings()[".htm"], endings(of="documents")[".qrels"]
    ('html', 'trec')
    """
    return dict(_ENDINGS[arguments.choice(of, "of", _ENDINGS, expected="what is written")])


def read_naming(
    path: str | os.PathLike[str],
    format: str | None,  # noqa: A002 - the word of the vocabulary
    endings: Mapping[str, str],
) -> FileFormat:
    """Return the format that the caller names, or otherwise the format implied by the file name.

    >>> read_naming("bm25.run.gz", None, DOCUMENTS)
    FileFormat(format='trec', packing='.gz')
    """
    name = name_of(path)
    pure = PurePath(name)
    packing = pure.suffix.lower() if pure.suffix.lower() in PACKINGS else None
    ending = (PurePath(pure.stem) if packing else pure).suffix.lower()
    if format is None:
        if ending not in endings:
            raise InputError(
                name or "''",
                "a name whose ending implies the format",
                shown(ending) if ending else "no ending",
                f"{_hint(ending, endings)} Or say it: format=…, on the command line --format ….",
            )
        chosen = endings[ending]
    else:
        formats = list(dict.fromkeys(endings.values()))
        chosen = arguments.choice(format, "format", formats, expected="one of the formats")
    if packing and chosen == "parquet":
        raise InputError(
            name,
            f"Parquet without {packing}",
            shown(pure.name),
            "Parquet is compressed internally.",
        )
    return FileFormat(chosen, packing)


def _hint(ending: str, endings: Mapping[str, str]) -> str:
    if ending not in DOCUMENTS:
        return did_you_mean(ending, endings)
    return (
        "It is for runs and judgments, which gf.write_run, gf.write_judgments and gainful convert "
        f"write. Choices: {', '.join(endings)}."
    )
