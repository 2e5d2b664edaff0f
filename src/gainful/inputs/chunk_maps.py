"""Files that say which document a chunk belongs to."""

import os

from gainful.errors import InputError, shown
from gainful.inputs.engine import Session
from gainful.inputs.files import BYTE_ORDER_MARK, opened, path_of, plain_file

_FIELDS = ("chunk", "document")


def read_chunk_map(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read which document each chunk belongs to, for the `chunks` of `evaluate`.

    Args:
        path: of a file with a chunk and its document on each line, white space of ASCII between
            them, as in TREC files; packed or not, `-` is standard input.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "chunks.txt")
    >>> _ = file.write_text("c1 doc7\nc2 doc7\n")
    >>> read_chunk_map(file)
    {'c1': 'doc7', 'c2': 'doc7'}
    """
    chunks: dict[str, str] = {}
    with Session() as session:
        file = plain_file(path_of(path), session)
        with opened(str(file.path)) as content:
            for number, line in enumerate(content, 1):
                # As bytes: only the white space of ASCII separates; ids may hold any other.
                fields = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).split()
                if fields:
                    _add(fields, chunks, f"{file.name}:{number}")
    if not chunks:
        raise InputError(
            file.name,
            "a chunk and its document on each line",
            "an empty file",
            "Check what wrote it.",
        )
    return chunks


def _add(fields: list[bytes], chunks: dict[str, str], where: str) -> None:
    try:
        texts = [field.decode() for field in fields]
    except UnicodeDecodeError:
        line = b" ".join(fields).decode(errors="replace")
        raise InputError(where, "UTF-8 text", shown(line), "Convert the file to UTF-8.") from None
    if len(texts) != len(_FIELDS):
        raise InputError(
            where,
            "a chunk and its document",
            shown(" ".join(texts)),
            "Write these two on the line, with a blank or a tab between them.",
        )
    chunk, document = texts
    if chunks.setdefault(chunk, document) != document:
        raise InputError(
            where,
            "one document for each chunk",
            f"another for {shown(chunk)}",
            "Remove one of the lines.",
        )
