"""Standard output for data and standard error for messages, on streams that may be closed or full.

Data goes out byte for byte, but for what would steer a terminal. A message is one line.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import gainful as gf
from gainful.message_texts import printable

_OUTPUT, _ERROR = 1, 2


def open_closed() -> None:
    """Take the numbers of streams that are closed, so that no file gets them by chance."""
    for number in (0, _OUTPUT, _ERROR):
        try:
            os.fstat(number)
        except OSError:
            # What is only for reading fails where it is written to, as a closed one does.
            os.open(os.devnull, os.O_WRONLY if number == _ERROR else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(_OUTPUT, "w", closefd=False)  # noqa: SIM115 - for good
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not have all characters


def write(text: str, output: str | None) -> None:
    """Write to standard output, or replace a file once the new one is complete."""
    if output is None or output == "-":
        print_data(f"{text}\n")
    else:
        gf.writing.write_text(f"{text}\n", output)


def print_data(text: str) -> None:
    """Write to standard output: as it is, or with what would steer a terminal as escapes."""
    with seen_enough():
        if not sys.stdout.isatty():
            gf.writing.write_text(text, "-")
            return
        shown = "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
        sys.stdout.write(shown)
        sys.stdout.flush()


@contextmanager
def seen_enough() -> Iterator[None]:
    """Let the reader of standard output (head, less) stop before the end: nothing is wrong."""
    try:
        yield
    except BrokenPipeError:
        discard(_OUTPUT)


def tell(text: str) -> None:
    """Write a message to standard error, on one line."""
    tell_lines(printable(text))


def tell_lines(text: str) -> None:
    """Write lines of our own to standard error; where nobody can read them, they are lost."""
    try:
        sys.stderr.write("\n".join(map(printable, text.split("\n"))) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        discard(_ERROR)


def print_error(text: str) -> None:
    """Write another tool's messages to standard error as it does, byte for byte but on a terminal."""
    if sys.stderr.isatty() or not hasattr(sys.stderr, "buffer"):
        if text:
            tell_lines(text.removesuffix("\n"))
        return
    try:
        sys.stderr.buffer.write(text.encode(errors="surrogateescape"))
        sys.stderr.buffer.flush()
    except OSError:
        discard(_ERROR)


def discard(number: int) -> None:
    """Send what is still written to a stream nowhere, so that the end of the process is quiet."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
