"""The tag of a run in TREC format, and what may stand after it."""

from pathlib import Path
from typing import BinaryIO

from gainful.inputs.files import Plain

_TAIL = 1 << 16
_TAG = 5  # its place among the fields of a line


def last_tag(file: Plain) -> str:
    """Return the tag on the last line of a run: `runid` in trec_eval."""
    with file.path.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(size - _TAIL, 0))
        lines = [line for line in opened.read().split(b"\n") if line.strip()]
    fields = lines[-1].split() if lines else []
    return fields[_TAG].decode(errors="replace") if len(fields) > _TAG else ""


def write_first_fields(path: Path, copy: BinaryIO) -> bool:
    """Write the lines of a run up to their tag; also return whether any had more."""
    longer = False
    with path.open("rb") as source:
        for line in source:
            fields = line.split(None, _TAG + 1)
            longer |= len(fields) > _TAG + 1
            copy.write(b" ".join(fields[: _TAG + 1]) + b"\n")
    return longer
