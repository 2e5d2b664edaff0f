"""Where a page is written to, and what it is called."""

import os
from collections.abc import Sequence
from pathlib import PurePath

from gainful.errors import InputError, shown
from gainful.writing.atomic_files import name_of, write_text

# Endings that promise another format than HTML.
_OTHERS = (
    ".pdf", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp", ".csv", ".tsv", ".json", ".jsonl",
    ".md", ".tex", ".txt", ".xml", ".yaml", ".yml", ".parquet", ".xlsx", ".docx", ".pptx", ".ipynb",
    ".py", ".js", ".css", ".gz", ".zst", ".zip", ".run", ".qrels",
)  # fmt: skip
_MOST_NAMES, _MOST_LETTERS = 3, 60  # of runs that a title names


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a name whose ending promises another format.

    >>> check_ending("report.html")
    >>> check_ending("report.pdf")
    Traceback (most recent call last):
    gainful.errors.InputError: report.pdf: expected a name that ends in .html, as a report is a page \
of HTML, found '.pdf'. A browser prints it to PDF; every table on it downloads as CSV or JSON.
    """
    name = name_of(path)
    ending = PurePath(name).suffix.lower()
    if ending in _OTHERS:
        raise InputError(
            name,
            "a name that ends in .html, as a report is a page of HTML",
            shown(ending),
            "A browser prints it to PDF; every table on it downloads as CSV or JSON.",
        )


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that no page can be written to; nothing there changes."""
    check_ending(path)
    write_text("", path, dry=True)


def title_of(runs: Sequence[str], baseline: str | None) -> str:
    """Return what a page is called where nobody says: its runs, if they are few and short.

    >>> title_of(["bm25", "dense"], "bm25"), title_of(["a", "b", "c", "d"], "a")
    ('bm25, dense', '3 runs against a')
    """
    title = ", ".join(runs)
    if len(runs) == 1 or (len(runs) <= _MOST_NAMES and len(title) <= _MOST_LETTERS):
        return title
    others = len(runs) - 1
    return f"{others} {'run' if others == 1 else 'runs'} against {baseline}"
