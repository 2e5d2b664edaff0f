"""Reading the options that commands share, into files and keywords of Python's functions."""

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, NoReturn

import click

import gainful as gf
from gainful.cli.option_table import SHARED, option_name, refuse_conflicts
from gainful.cli.output import check_target, format_of
from gainful.cli.project import is_set, is_typed, set_aside

_CALLED_JUDGMENTS = re.compile(r"qrels|judge?ments", re.IGNORECASE)
_HEAD = 1 << 16  # bytes, enough to recognise the numbers of most files
_IN_JSON = re.compile(rb'":\s*(-?[\d.][\d.eE+-]*)')
_ENOUGH = 10  # fewer numbers may all be small integers by chance
_GRADES = frozenset(b"%d%s" % (grade, end) for grade in range(5) for end in (b"", b".0"))
TABLES = {
    "subtopic_judgments": "subtopics",
    **{name: name for name in ("items", "separator", "vectors", "history", "expected")},
}
"""The options of tables besides judgments and runs, and the keywords of Python's functions."""
# Groups whose value is not the value of the option with the same name.
_COMPOSED = ("columns", "queries", "engine", "dialect", "policy", "chunks")


def judgments_and_runs(
    files: tuple[str, ...], options: dict[str, Any]
) -> tuple[str | None, tuple[str, ...]]:
    """Return the judgments, if any, and the files of runs.

    The first file is the judgments, unless --judgments or the project file names them. The number of files makes no
    difference. If the project file names them, the same file may still come first; other judgments there are rejected,
    because they would be read as a run.
    """
    judgments = options.pop("judgments")
    if judgments is None:
        return (files[0], files[1:]) if files else (None, ())
    if not is_set("judgments"):
        return judgments, files
    project = click.get_current_context().obj
    if files and _is_same_file(files[0], judgments):
        files = files[1:]
    elif files and looks_like_judgments(files[0]):
        raise click.UsageError(
            f"{files[0]} looks like judgments, but {project} names {judgments} as judgments, so every file here is a run. "
            f"To use {files[0]} instead, pass --judgments {files[0]}. If it is a run, pass --judgments {judgments}."
        )
    for name in files:
        if _is_same_file(name, judgments):
            raise click.UsageError(
                f"{name} is not a run: {project} names it as judgments. Leave it out, or use "
                "`gainful --no-config` to ignore the project file."
            )
    return judgments, files


def _is_same_file(one: str, other: str) -> bool:
    return Path(one).is_file() and Path(other).is_file() and Path(one).samefile(other)


def looks_like_judgments(path: str) -> bool:
    """Return whether a file is named like judgments, or all numbers at its beginning are common grades.

    Reading the file detects formats that only judgments use. This function handles formats that runs use, too: JSON, and
    tables with a score column, such as BEIR's.
    """
    if not Path(path).is_file():
        return False
    if _CALLED_JUDGMENTS.search(Path(path).name):
        return True
    with Path(path).open("rb") as file:
        head = file.read(_HEAD)
    if head.lstrip()[:1] in (b"{", b"["):
        numbers = _IN_JSON.findall(head)
    else:
        numbers = [line.split()[-1] for line in head.splitlines()[1:-1] if line.strip()]
        numbers = [number.rpartition(b",")[2] for number in numbers]
    return len(numbers) >= _ENOUGH and {*numbers} <= _GRADES


def judged_runs(
    files: tuple[str, ...], options: dict[str, Any], *, fewest: int = 1, most: int | None = None
) -> tuple[str, dict[str, str]]:
    """Return the judgments, and the runs by name.

    Args:
        files: the files of the command.
        options: the options of the command; the judgments are removed from them.
        fewest: the minimum number of runs.
        most: the maximum number of runs; unlimited if None.
    """
    judgments, runs = judgments_and_runs(files, options)
    named = runs_of(runs, options, judgments)
    if judgments is None or len(named) < fewest or (most is not None and len(named) > most):
        refuse_files(files, judgments_are_first=judgments is None or len(runs) < len(files))
    return judgments, named


def refuse_files(files: tuple[str, ...], *, judgments_are_first: bool) -> NoReturn:
    """Reject a call with too few or too many files."""
    context = click.get_current_context()
    wanted = str(context.command.params[0].metavar)
    if wanted.startswith("[["):
        wanted = wanted[1:-1]
    wanted = wanted.replace("[JUDGMENTS] ", "JUDGMENTS " if judgments_are_first else "")
    raise click.UsageError(
        f"Expected {wanted}, found {' '.join(files) or 'none'}. The first file is the judgments, unless --judgments or "
        f"a project file names them: see `gainful {context.command.name} --help` and `gainful config`."
    )


def listed(text: str | None) -> list[str] | None:
    """Return names that are separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]


def numbers(option: str, text: str, example: str) -> list[float]:
    """Return numbers that are separated by commas."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise click.UsageError(
            f"{option} expects numbers such as {example}, not {text!r}."
        ) from None


def pairs(
    option: str,
    texts: Iterable[str],
    example: str,
    split: Callable[[str, str], tuple[str, str, str]] = str.partition,
) -> dict[str, str]:
    """Return values written as NAME=VALUE, each name once."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in split(text, "="))
        if not equals or not name:
            raise click.UsageError(f"{option} expects {example}, not {text!r}.")
        if name in values:
            raise click.UsageError(f"{option} names {name} twice: {values[name]} and {value}.")
        values[name] = value
    return values


def given_choices() -> list[str]:
    """Return the policy options on the command line."""
    return [option_name(choice.name) for choice in gf.measures.choices() if is_typed(choice.name)]


def set_choices() -> list[str]:
    """Return the policy choices that the project file sets."""
    return [choice.name for choice in gf.measures.choices() if is_set(choice.name)]


def leave_out_columns(options: dict[str, Any], *, of: str) -> None:
    """Ignore the project file's columns of judgments, or of runs, in a command that reads none."""
    if is_set("columns"):
        roles = {"judgments": ("grade",), "run": ("score", "rank")}[of]
        options["columns"] = tuple(
            each
            for each in options["columns"]
            if not each.startswith((f"{of}.", *(f"{role}=" for role in roles)))
        )
        if not options["columns"]:
            set_aside(options, ["columns"])


def comparing_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for comparing runs."""
    return {name: options[name] for name in gf.comparison.ComparisonOptions.__annotations__}


def chunks_of(options: dict[str, Any], *inputs: str | None) -> str | dict[str, str] | None:
    """Take the options that map chunks to documents out of a command's options.

    `inputs` are the other inputs that may be standard input, which can be read only once.
    """
    if is_typed("chunks") or is_typed("chunk_map"):  # they are alternatives
        set_aside(options, ["chunks", "chunk_map"])
    refuse_conflicts("chunks", options)
    delimiter, file = options.pop("chunks"), options.pop("chunk_map")
    if file is None:
        return delimiter  # type: ignore[no-any-return]
    refuse_standard_input_twice(file, *inputs)
    return gf.inputs.read_chunk_map(file)


def read_shared_options(
    names: Collection[str], options: dict[str, Any], *inputs: str | None
) -> dict[str, Any]:
    """Take the options of `SHARED` out of a command's options, as keywords of the package's functions.

    `inputs` are the inputs that may be standard input, which can be read only once.
    """
    if "engine" in options:
        refuse_conflicts("spark", options)
    columns = pairs("--columns", options.pop("columns"), "ROLE=NAME, such as query=user")
    read: dict[str, Any] = {"columns": columns, "engine": _engine_of(options)}
    if "policy" in names:
        read |= _policy_or_dialect(names, options)
    if (queries := options.pop("query_ids", None)) is not None:
        refuse_standard_input_twice(queries, *inputs)
        read["queries"] = queries
    if "chunks" in names:
        read["chunks"] = chunks_of(options, *inputs)
    if "tables" in names:
        read |= tables_of(options, *inputs)
    for name in [each for each in SHARED if each in names and each not in _COMPOSED]:
        if (value := options.pop(name, None)) is not None:
            read[name] = value
    return read


def _engine_of(options: dict[str, Any]) -> "gf.Engine | gf.Spark":
    """Take the engine that reads the files out of a command's options."""
    machine = {name: options.pop(name) for name in ("memory", "threads", "temp_dir", "unpacked")}
    folder = machine.pop("temp_dir")
    name, master = options.pop("engine", "duckdb"), options.pop("master", None)
    if name == "duckdb":
        return gf.Engine(folder=folder, **machine)
    if (threads := machine["threads"]) is not None:
        if master is not None:
            raise click.UsageError("--master sets the number of cores: leave out --threads.")
        master = f"local[{threads}]"
    return gf.Spark(master=master, memory=machine["memory"], folder=folder)


def tables_of(options: dict[str, Any], *inputs: str | None) -> dict[str, str]:
    """Take the tables of measures that need more than grades out of a command's options."""
    taken = {keyword: options.pop(name) for name, keyword in TABLES.items()}
    tables = {keyword: value for keyword, value in taken.items() if value is not None}
    files = [file for keyword, file in tables.items() if keyword != "separator"]
    refuse_standard_input_twice(*inputs, *files)
    return tables


def refuse_tables(shared: dict[str, Any], why: str) -> None:
    """Reject tables that no measure would use."""
    for name, keyword in TABLES.items():
        if keyword in shared:
            raise click.UsageError(f"{option_name(name)} {why}.")


def _policy_or_dialect(names: Collection[str], options: dict[str, Any]) -> dict[str, Any]:
    """Take the policy, or a dialect with its own policy, out of a command's options."""
    if "dialect" in names and is_typed("dialect"):
        set_aside(options, set_choices())
    policy = gf.Policy(
        **{choice.name: options.pop(choice.name) for choice in gf.measures.choices()}
    )
    if "dialect" not in names or (dialect := options.pop("dialect")) is None:
        return {"policy": policy}
    if choices := given_choices():
        where = f"{click.get_current_context().obj} sets a dialect, which"
        whose = where if is_set("dialect") else "--dialect"
        raise click.UsageError(f"{whose} has its own policy: leave out {', '.join(choices)}.")
    return {"policy": None, "dialect": dialect}


def runs_of(
    runs: tuple[str, ...], options: dict[str, Any], judgments: str | None = None
) -> dict[str, str]:
    """Return the files of runs by name, including files in folders and patterns.

    With Spark, the files of a folder or pattern are parts of one run.
    """
    if not runs:
        return {}
    refuse_standard_input_twice(judgments, *runs)
    engine = gf.Spark() if options.get("engine") == "spark" else None
    named = gf.inputs.find_runs(runs, judgments=judgments, engine=engine)
    return {name: str(run) for name, run in named.items()}


def refuse_standard_input_twice(*files: str | None) -> None:
    """Reject - for more than one input."""
    if files.count("-") > 1:
        raise click.UsageError("Standard input can be read only once: pass - for one file only.")


def check_files(options: dict[str, Any], *read: str | None) -> None:
    """Reject, before the work, inputs that cannot be read and an output that cannot be written.

    Args:
        options: the options of the command.
        read: the files that the command reads; None is ignored.
    """
    refuse_standard_input_twice(*read)
    check_target(options["output"], *read)
    format_of(options)
