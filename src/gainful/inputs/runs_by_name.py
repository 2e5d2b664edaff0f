"""`read_runs` and `find_runs`: several runs, each by its name, from a dict, a list, a folder or a pattern.

A run in memory has the name that its caller gives it. A file has that of the file, with as much of
the path as tells it from the others; Python and the command line name it alike.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from numbers import Number
from pathlib import Path

from gainful import arguments
from gainful.errors import InputError, warn
from gainful.inputs.duckdb_engine import Engine
from gainful.inputs.files import (
    are_one_file,
    is_parquet,
    parts_of,
    path_of,
    pattern_matches,
    refuse_open_file,
    refuse_versioned_tables,
)
from gainful.inputs.spark_engine import Spark
from gainful.message_texts import shortened, shown, shown_with_type

Runs = Mapping[str, object] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""What a caller may give as several runs."""

_SETTINGS = ("gainful.toml", "pyproject.toml")  # of commands, which may stand beside the runs
_HIDDEN = ("_", ".")  # begin the names of what is not, or not yet, data: _SUCCESS, .crc
_NEITHER = "a dict {name: run}, or the paths of files, a folder or a pattern"


def find_runs(
    runs: Runs, *, judgments: object = None, engine: Engine | Spark | None = None
) -> dict[str, object]:
    """Return several runs by their names, as every function that takes several finds them.

    Args:
        runs: a dict {name: run}, which is returned as it is. Or the path of a file, a folder,
            whose files are the runs, or a pattern such as "runs/*.run", or a list of these. A file
            has the name of the file without the ending, or more of the path where two have the
            same. A folder or a pattern of Parquet files is one run. Names that begin with _ or .
            are passed over.
        judgments: where they are a file in the folder, it is no run.
        engine: with `Spark`, a folder and a pattern are one run.

    >>> find_runs(["runs/bm25.run", "runs/dense.run"])
    {'bm25': 'runs/bm25.run', 'dense': 'runs/dense.run'}
    >>> find_runs(["dev/bm25.run", "test/bm25.run"])
    {'dev/bm25.run': 'dev/bm25.run', 'test/bm25.run': 'test/bm25.run'}
    """
    return read_runs(runs, judgments, engine=engine)


def read_runs(
    runs: object,
    judgments: object = None,
    *,
    engine: object = None,
    least: int = 1,
    numbered: bool = False,
) -> dict[str, object]:
    """Return what a caller gives as several runs, by their names.

    Args:
        runs: as in `find_runs`.
        judgments: a file of them in a folder is no run.
        engine: with `Spark`, a folder and a pattern are one run.
        least: how many there must be.
        numbered: whether runs of a list that are no paths are called 1, 2, 3 …; else refused.
    """
    if isinstance(runs, Mapping):
        _refuse_bare(runs, "runs")
    whole = isinstance(engine, Spark)
    found = _by_name(runs, "runs", judgments, in_parts=whole, numbered=numbered)
    if len(found) < least:
        expected = f"{_NEITHER}, with at least {least} run{'s' * (least > 1)}"
        raise InputError("runs", expected, str(len(found)))
    return found


def read_tables(tables: object) -> dict[str, object]:
    """Return tables of scores by their names; paths, folders and patterns as those of runs."""
    found = _by_name(tables, "tables")
    if not found:
        raise InputError("tables", f"{_NEITHER}, with at least one table", "none")
    return found


def _by_name(
    given: object,
    name: str,
    judgments: object = None,
    *,
    in_parts: bool = False,
    numbered: bool = False,
) -> dict[str, object]:
    """Return runs, or tables, by their names.

    Args:
        given: as `find_runs` takes runs.
        name: of the argument.
        judgments: a file of them in a folder is left out.
        in_parts: whether every folder and every pattern is one run.
        numbered: whether what is no path in a list is called 1, 2, 3 …; else it is refused.
    """
    if isinstance(given, Mapping):
        if given:
            arguments.refuse_unnamed(given, name, _NEITHER)
        return dict(given)
    if isinstance(given, str | os.PathLike):
        given = [given]
    refuse_open_file(given, name)
    if not isinstance(given, list | tuple | Iterator):
        table = hasattr(given, "columns") or hasattr(given, "__arrow_c_stream__")
        remedy = f"Give it a name: {{'mine': {name.removesuffix('s')}}}." if table else ""
        raise InputError(name, _NEITHER, shown_with_type(given), remedy)
    items = list(given)
    paths = [item for item in items if isinstance(item, str | os.PathLike)]
    if len(paths) == len(items):
        return _by_path(paths, judgments, name, in_parts=in_parts)
    if numbered:
        return {str(place): run for place, run in enumerate(items, 1)}
    other = next(item for item in items if not isinstance(item, str | os.PathLike))
    raise InputError(
        name,
        "a dict {name: run}, or paths in a list",
        f"{shortened(shown_with_type(other))} in a list",
        "What is no file has no name: give a dict, {'one': run, 'two': run}.",
    )


def _refuse_bare(runs: Mapping[object, object], name: str) -> None:
    """Refuse a run where runs by their names are wanted; its queries would be taken for names."""
    lists = [run for run in runs.values() if not isinstance(run, Mapping | list | tuple) or run]
    for form, is_one in (("{doc: score}", _has_scores), ("[doc, …]", _has_ids)):
        if lists and all(map(is_one, lists)):
            raise InputError(
                name,
                "{name: run}, a dict of runs by their names",
                f"one run {{query: {form}}}",
                "Give it a name: {'mine': run}.",
            )


def _has_scores(run: object) -> bool:
    return isinstance(run, Mapping) and isinstance(next(iter(run.values())), Number)


def _has_ids(run: object) -> bool:
    return isinstance(run, list | tuple) and isinstance(run[0], str | int)


def _by_path(
    given: list[str | os.PathLike[str]], judgments: object, name: str, *, in_parts: bool
) -> dict[str, object]:
    """Return files by their names; what a folder or a pattern has besides is added once."""
    paths = [path_of(each) for each in given]
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(name, "each run once", f"{shown(path)} twice")
    found: list[str] = []
    known = {_place(path) for path in paths}
    for path in paths:
        files = None if in_parts else _files_of(path)
        if files is None:
            found.append(path)
            continue
        others = [file for file in files if not are_one_file(judgments, file)]
        if not others:
            raise InputError(path, "runs", "the judgments alone", "Name the files of the runs.")
        for file in others:
            if _place(file) not in known:
                known.add(_place(file))
                found.append(file)
    return dict(zip(names_of_files(found), found, strict=True))


def _place(path: str) -> str:
    """Return where a file is, whichever way it is written."""
    return os.path.abspath(path)  # noqa: PTH100 - of any text, a link stays itself


def names_of_files(paths: list[str]) -> list[str]:
    """Name files with as much of the path as tells them apart.

    >>> names_of_files(["ann.qrels", "bob.qrels"]), names_of_files(["a/x.qrels", "b/x.qrels"])
    (['ann', 'bob'], ['a/x.qrels', 'b/x.qrels'])
    """
    for names in ([Path(path).stem for path in paths], [Path(path).name for path in paths]):
        if len(set(names)) == len(names):
            return names
    return paths


def _files_of(name: str) -> list[str] | None:
    """Return the files of a folder or a pattern; None for what is one run."""
    try:
        path = Path(name)
        if path.is_dir():
            refuse_versioned_tables([path], name)
            return _in_folder(path, name)
        matches = pattern_matches(name)
    except InputError:
        raise  # it is a ValueError too
    except (OSError, ValueError):
        return None  # what is wrong with the name is said when it is opened
    if matches is None:
        return None
    if not path.name.startswith(_HIDDEN):
        matches = [each for each in matches if not each.name.startswith(_HIDDEN)]
    if matches and all(each.is_file() and is_parquet(each) for each in matches):
        return None
    if not matches:
        raise InputError(name, "files of that pattern", "none", "Check the pattern.")
    return [str(each) for each in matches]


def _in_folder(path: Path, name: str) -> list[str] | None:
    files = sorted(
        each
        for each in path.iterdir()
        if each.is_file() and not each.name.startswith(_HIDDEN) and each.name not in _SETTINGS
    )
    others = [each for each in files if each.suffix.lower() != ".parquet"]
    if len(others) == len(files):
        if not files:
            _refuse_empty(name)
        return [str(each) for each in files] or None
    if others:
        warn(
            f"{name} is read as one run, in Parquet files; {others[0].name} in it is left out. "
            "Name the files to read several runs."
        )
    return None


def _refuse_empty(name: str) -> None:
    """Refuse a folder that has neither files nor, further down, Parquet files."""
    try:
        parts_of(name)
    except InputError:
        raise InputError(
            name, "a folder with runs", "one without files", "Name the files of the runs."
        ) from None
