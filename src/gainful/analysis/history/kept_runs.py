"""Runs that are kept until the next entry, so that they can be measured again when the judgments have changed."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gainful.errors import InputError, taken_warnings
from gainful.message_texts import shown
from gainful.output.writing.runs_and_judgments import write_run
from gainful.rows.input_types import Run

_ENDING = ".jsonl.gz"
_OF_JUDGMENTS = ("query", "doc", "grade", "assessor")


class KeptRuns:
    """A folder with a file for each kept run of each name and time.

    Args:
        folder: the folder; it is created if it doesn't exist.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not isinstance(folder, str | os.PathLike) or not folder:
            raise InputError("keep_runs", "the path of a folder", shown(folder))
        self._folder = Path(folder)

    def path(self, run: str, time: datetime) -> Path:
        """Return the file of a run that was measured at a time."""
        return self._folder / f"{quote(run, safe='')}.{time:%Y%m%dT%H%M%S.%f}{_ENDING}"

    def keep(self, name: str, run: Run, time: datetime, options: Mapping[str, Any]) -> None:
        """Write a run to its file."""
        reading: Any = {key: value for key, value in options.items() if key in _READING}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise InputError(str(self._folder), "a folder to keep runs in", reason) from None
        with taken_warnings():  # the evaluation has the same doubts
            write_run(run, self.path(name, time), format="jsonl", **reading)

    def remove_others(self, run: str, times: Collection[datetime]) -> None:
        """Remove the files of a run that was measured at other times."""
        kept = {self.path(run, time) for time in times}
        for path in self._folder.glob("*"):
            if path.name.startswith(f"{quote(run, safe='')}.") and path.name.endswith(_ENDING):
                with suppress(OSError):
                    if path not in kept:
                        path.unlink()


_READING = ("columns", "queries", "engine")


def options_of_kept(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options whose names of columns concern only the judgments, because a kept run has the usual ones.

    >>> options_of_kept({"columns": {"query": "user", "run.doc": "item", "score": "points"}})
    {'columns': {'judgments.query': 'user'}}
    """
    columns: dict[str, str] = {}
    for role, name in (options.get("columns") or {}).items():
        if role in _OF_JUDGMENTS:
            columns.setdefault(f"judgments.{role}", name)
        elif role.startswith(("judgments.", "slices.")):
            columns[role] = name
    return {**options, "columns": columns}
