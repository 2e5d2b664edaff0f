"""`find_runs` and `read_runs`: collect runs by name from a dict, a list, a folder or a pattern."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any

from gainful import arguments
from gainful.errors import InputError, warn
from gainful.message_texts import shortened, shown, shown_with_type
from gainful.rows.duckdb_engine import Engine
from gainful.rows.files import (
    HIDDEN,
    NAMES_OF_RUNS,
    are_one_file,
    is_address,
    is_parquet,
    path_of,
    pattern_matches,
    refuse_open_file,
    refuse_versioned_tables,
    stem_of,
)
from gainful.rows.input_types import Judgments, Run, TableLike
from gainful.rows.spark_engine import Spark

Runs = Mapping[str, Run] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Several runs, in every form that public functions accept."""

_SETTINGS = ("gainful.toml", "pyproject.toml")  # may be in the same folder as the runs
_NEITHER = "a dict {name: run}, or the paths of files, a folder or a pattern"


def find_runs(
    runs: Runs, *, judgments: Judgments | None = None, engine: Engine | Spark | None = None
) -> dict[str, Run]:
    """Return several runs by name, as all functions that accept several runs find them.

    Args:
        runs: a dict {name: run}, which is returned unchanged; or the path of a file, a folder of
            runs, a pattern such as "runs/*.run", or a list of these. A run is named after its
            file, without the extension, or with more of its path if names clash. A folder or a
            pattern of Parquet files is one run, except for a folder of folders such as run=bm25, each of
            which is a run. Names that begin with _ or . are ignored.
        judgments: if they are a file in the folder, that file isn't treated as a run.
        engine: with `Spark`, a folder or a pattern is one run.

    >>> find_runs(["runs/bm25.run", "runs/dense.run"])
    {'bm25': 'runs/bm25.run', 'dense': 'runs/dense.run'}
    >>> find_runs(["dev/bm25.run", "test/bm25.run"])
    {'dev/bm25.run': 'dev/bm25.run', 'test/bm25.run': 'test/bm25.run'}
    """
    return read_runs(runs, judgments, engine=engine)


def read_runs(
    runs: Runs | Sequence[Run] | TableLike,
    judgments: Judgments | None = None,
    *,
    engine: object = None,
    least: int = 1,
    numbered: bool = False,
    name: str = "runs",
) -> dict[str, Run]:
    """Return several runs, or tables of scores, by name.

    Args:
        runs: as in `find_runs`.
        judgments: if they are a file in the folder, that file isn't treated as a run.
        engine: with `Spark`, a folder or a pattern is one run.
        least: the minimum number of runs.
        numbered: whether the items of a list that aren't paths are named 1, 2, 3 …; if not, they
            are an error.
        name: the name of the argument in messages.
    """
    if isinstance(runs, Mapping):
        if name == "runs":
            _refuse_bare(runs, name)
        if runs:
            arguments.refuse_unnamed(runs, name, _NEITHER)
        named = dict(runs)
    else:
        named = _of_list(
            runs, judgments, name, in_parts=isinstance(engine, Spark), numbered=numbered
        )
    if len(named) < least:
        expected = (
            f"{_NEITHER}, with at least {least} {name if least > 1 else name.removesuffix('s')}"
        )
        raise InputError(name, expected, str(len(named)))
    return named


def _of_list(
    runs: Runs | Sequence[Run] | TableLike,
    judgments: Judgments | None,
    name: str,
    *,
    in_parts: bool,
    numbered: bool,
) -> dict[str, Run]:
    """Return the runs in a path or a list."""
    refuse_open_file(runs, name)
    if isinstance(runs, str | os.PathLike):
        runs = [runs]
    if not isinstance(runs, list | tuple | Iterator):
        table = hasattr(runs, "columns") or hasattr(runs, "__arrow_c_stream__")
        remedy = f"Give it a name: {{'mine': {name.removesuffix('s')}}}." if table else ""
        raise InputError(name, _NEITHER, shown_with_type(runs), remedy)
    items = list(runs)
    others = [item for item in items if not isinstance(item, str | os.PathLike)]
    if not others:
        return _by_path(items, judgments, name, in_parts=in_parts)
    if numbered:
        return {str(place): run for place, run in enumerate(items, 1)}
    raise InputError(
        name,
        "a dict {name: run}, or a list of paths",
        f"{shortened(shown_with_type(others[0]))} in a list",
        "Only files have names of their own: pass a dict, {'one': run, 'two': run}.",
    )


def _refuse_bare(runs: Mapping[Any, object], name: str) -> None:
    """Reject a single run instead of `{name: run}`; its queries would be mistaken for names."""
    some = [run for run in runs.values() if not isinstance(run, Mapping | list | tuple) or run]
    scores = all(
        isinstance(run, Mapping) and isinstance(next(iter(run.values())), Number) for run in some
    )
    ids = all(isinstance(run, list | tuple) and isinstance(run[0], str | int) for run in some)
    if some and (scores or ids):
        found = f"one run {{query: {'{doc: score}' if scores else '[doc, …]'}}}"
        remedy = "Give it a name: {'mine': run}."
        raise InputError(name, "{name: run}, a dict of runs by name", found, remedy)


def _by_path(
    names: list[str | os.PathLike[str]], judgments: Judgments | None, name: str, *, in_parts: bool
) -> dict[str, Run]:
    """Return the runs by name; a file that is also in a folder or matches a pattern is listed once."""
    paths = [*map(path_of, names)]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(name, "each run once", f"{shown(path)} twice")
    places = {os.path.abspath(path) for path in paths}  # noqa: PTH100 - accepts any text, and keeps links
    runs: list[str] = []
    for path in paths:
        files = None if in_parts else _files_of(path)
        if files is None:
            runs.append(path)
            continue
        others = [file for file in files if not are_one_file(judgments, file)]
        if not others:
            raise InputError(path, "runs", "only the judgments", "Name the files of the runs.")
        for file in others:
            place = os.path.abspath(file)  # noqa: PTH100
            if place not in places:
                places.add(place)
                runs.append(file)
    return dict(zip(names_of_files(runs), runs, strict=True))


def names_of_files(paths: list[str]) -> list[str]:
    """Name files by stem, by file name if stems clash, or else by path.

    >>> names_of_files(["ann.qrels", "bob.qrels"]), names_of_files(["a/x.qrels", "b/x.qrels"])
    (['ann', 'bob'], ['a/x.qrels', 'b/x.qrels'])
    """
    for names in ([stem_of(path) for path in paths], [Path(path).name for path in paths]):
        if len(set(names)) == len(names):
            return names
    return paths


def _files_of(name: str) -> list[str] | None:
    """Return the files in a folder or of a pattern; None if the name is a single run."""
    if is_address(name):
        return None
    try:
        path = Path(name)
        if path.is_dir():
            refuse_versioned_tables([path], name)
            return _in_folder(path, name)
        matches = pattern_matches(name)
    except InputError:
        raise  # before ValueError, its base class
    except (OSError, ValueError):
        return None  # opening the file reports the problem
    if matches is None:
        return None
    if all(file.is_file() and is_parquet(file) for file in matches):
        return None
    return [*map(str, matches)]


def _in_folder(path: Path, name: str) -> list[str] | None:
    children = [child for child in path.iterdir() if not child.name.startswith(HIDDEN)]
    columns = {child.name.partition("=")[0] if child.is_dir() else "" for child in children}
    if len(columns) == 1 and columns <= {*NAMES_OF_RUNS}:  # a part of the folder for each run
        return sorted(map(str, children))
    files = sorted(
        file
        for file in path.iterdir()
        if file.is_file() and not file.name.startswith(HIDDEN) and file.name not in _SETTINGS
    )
    others = [file for file in files if file.suffix.lower() != ".parquet"]
    if files and len(others) == len(files):
        return [*map(str, files)]
    if others:
        warn(
            f"{name} is read as one run in Parquet files, without {others[0].name}. "
            "To read several runs, name their files."
        )
    if not files and not any(path.rglob("*.parquet")):
        found, remedy = "a folder without files", "Name the files of the runs."
        raise InputError(name, "a folder with runs", found, remedy)
    return None
