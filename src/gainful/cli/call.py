"""What commands do with the options that they share: read files, call Python with keywords, write the result and its gate."""

import glob
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

import click

import gainful as gf
from gainful.cli.main import FAILED, progress_bar, seen_enough, tell, tell_lines, write
from gainful.cli.option_table import (
    OF_TABLES,
    READING,
    SHARED,
    InputFile,
    Options,
    OutputFile,
    option_name,
)
from gainful.cli.project import current_project, is_set, is_typed, set_aside
from gainful.message_texts import did_you_mean

_CALLED_JUDGMENTS = re.compile(r"qrels|judge?ments", re.IGNORECASE)
_HEAD = 1 << 16  # bytes, enough to recognise the numbers of most files
_IN_JSON = re.compile(rb'":\s*(-?[\d.][\d.eE+-]*)')
_ENOUGH = 10  # fewer numbers may all be small integers by chance
_GRADES = frozenset(b"%d%s" % (grade, end) for grade in range(5) for end in (b"", b".0"))
TABLES = {name: "subtopics" if name == "subtopic_judgments" else name for name in OF_TABLES.split()}
"""The options of tables besides judgments and runs, and the keywords of Python's functions."""
UNJUDGED = ("estimate", "grades", "model", "random_sample")
"""The options about unjudged documents, and the keywords of Python's functions."""
# Groups whose value is not the value of the option with the same name.
_COMPOSED = ("columns", "queries", "engine", "dialect", "policy", "chunks")


def judgments_and_runs(
    files: tuple[str, ...], options: Options
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
    project = current_project()
    if files and _is_same_file(files[0], judgments):
        files = files[1:]
    elif files and _looks_like_judgments(files[0]):
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


def _looks_like_judgments(path: str) -> bool:
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
    files: tuple[str, ...],
    options: Options,
    *,
    fewest: int = 1,
    most: int | None = None,
    entries: bool = False,
) -> tuple[str, dict[str, Any]]:
    """Return the judgments, and the runs by name.

    Args:
        files: the files of the command.
        options: the options of the command; the judgments are removed from them.
        fewest: the minimum number of runs.
        most: the maximum number of runs; unlimited if None.
        entries: as in `runs_of`.
    """
    judgments, runs = judgments_and_runs(files, options)
    named = runs_of(runs, options, judgments, entries=entries)
    if judgments is None or len(named) < fewest or (most is not None and len(named) > most):
        refuse_files(files, judgments_are_first=judgments is None or len(runs) < len(files))
    return judgments, named


def runs_alone(runs: tuple[str, ...], options: Options) -> tuple[str | None, dict[str, str]]:
    """Return the judgments, if --judgments names them, and the runs by name."""
    judgments = options["judgments"]
    if judgments is None:
        leave_out_columns(options, of="judgments")
    return judgments, runs_of(runs, options, judgments)


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


def pairs(option: str, texts: Iterable[str], example: str) -> dict[str, str]:
    """Return values written as NAME=VALUE, each name once."""
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
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


def leave_out_columns(options: Options, *, of: str) -> None:
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


def keywords(function: Callable[..., Any], options: Options) -> dict[str, Any]:
    """Return the options that a function of the package also has, without those that have no value."""
    names = inspect.signature(function).parameters
    return {
        name: value for name, value in options.items() if name in names and value not in (None, ())
    }


def work(
    function: Callable[..., Any],
    *inputs: object,
    options: Options | None = None,
    **shared: Any,
) -> Any:
    """Call a function of the package, and show its progress if it reports it.

    Args:
        function: the function.
        inputs: its inputs.
        options: the options of the command, of which it gets its own.
        shared: further keywords, which take precedence.
    """
    with progress_bar() as progress:
        own = keywords(function, {**(options or {}), "progress": progress})
        return function(*inputs, **own | shared)


def columns_of_input(options: Options, name: str) -> dict[str, str]:
    """Return the columns of one input, such as log.doc, in a command whose other inputs have none.

    Other columns in the project file are ignored.
    """
    project = current_project()
    of_project = {} if project is None else project.values.get("columns", {})
    columns = pairs("--columns", options["columns"], f"{name}.ROLE=NAME, such as {name}.doc=sku")
    own = {role: column for role, column in columns.items() if role.startswith(f"{name}.")}
    for role in columns:
        if role not in own and role not in of_project:
            raise click.UsageError(
                f"--columns {role}: name the columns of --{name} as {name}.{role}."
            )
    if not own:
        set_aside(options, ["columns"])
    return own


def read_click_log(
    path: str | None, shared: dict[str, Any], name: str
) -> "gf.results.ClickLog | None":
    """Read the click log of an option; take its columns, such as log.doc, out of the shared columns."""
    columns: dict[str, str] = shared.get("columns") or {}
    own = {key: column for key, column in columns.items() if key.startswith(f"{name}.")}
    shared["columns"] = {key: column for key, column in columns.items() if key not in own}
    if path is None:
        if own:
            raise click.UsageError(f"--columns {next(iter(own))} needs --{name}.")
        return None
    named = {key.removeprefix(f"{name}."): column for key, column in own.items()}
    try:
        return gf.behaviour.read_log(path, columns=named)
    except gf.errors.InputError as problem:
        raise (problem.at(path) if problem.where == "log" else problem) from None


def reading(shared: dict[str, Any]) -> dict[str, Any]:
    """Return those of the shared options that only decide how inputs are read."""
    return {name: value for name, value in shared.items() if name in READING}


def read_shared_options(options: Options, *, documents: str = "") -> dict[str, Any]:
    """Take the options of `SHARED` out of a command's options, as keywords of the package's functions.

    Rejects, before the work, files that `check_files` rejects, and an output whose name promises something else.

    Args:
        options: the options of the command.
        documents: what the output is, if not a table: fused (runs), merged (judgments) or pools.
    """
    check_files()
    if documents == "pools":
        format_of(options, documents)
    elif documents:
        refuse_other_endings(options["output"], *gf.writing.endings(of=documents))
    elif "format" in options and "output" in options:
        format_of(options)
    columns = pairs("--columns", options.pop("columns"), "ROLE=NAME, such as query=user")
    shared: dict[str, Any] = {"columns": columns, "engine": _engine_of(options)}
    shared |= _words_among_grades(options)
    if all(choice.name in options for choice in gf.measures.choices()):
        shared |= _policy_or_dialect(options)
    if (queries := options.pop("query_ids", None)) is not None:
        shared["queries"] = queries
    if "chunk_table" in options:
        tables = {keyword: options.pop(name) for name, keyword in TABLES.items() if name in options}
        tables["chunk_table"] = _tables_of_chunks(tables["chunk_table"])
        shared |= {keyword: table for keyword, table in tables.items() if table is not None}
    delimiter, file = options.pop("chunks", None), options.pop("chunk_map", None)
    if delimiter is not None or file is not None:
        shared["chunks"] = delimiter if file is None else gf.inputs.read_chunk_map(file)
    for name in SHARED:
        if name not in _COMPOSED and (value := options.pop(name, None)) is not None:
            shared[name] = value
    return shared


def _tables_of_chunks(files: tuple[str, ...]) -> str | dict[str, str] | None:
    """Return the table of chunks of all runs, or of each run by name; None without one."""
    if len(files) == 1 and ("=" not in files[0] or Path(files[0]).exists()):
        return files[0]
    return pairs("--chunk-table", files, "FILE, or RUN=FILE for each run") or None


def _words_among_grades(options: Options) -> dict[str, str]:
    """Return the grades of words that a command's own --grades gives, besides the possible grades."""
    grades = options.get("grades")
    needing = [name for name in ("bounds", "estimate") if name in options]
    if grades is not None and needing and not any(options[name] for name in needing):
        if not isinstance(grades, str):
            listed = " or ".join(map(option_name, needing))
            raise click.UsageError(f"--grades requires {listed}, unless it gives grades to words.")
        options["grades"] = None
    return {"grade_words": grades} if isinstance(grades, str) else {}


def _engine_of(options: Options) -> "gf.Engine | gf.Spark":
    """Take the engine that reads the files out of a command's options."""
    machine = {name: options.pop(name) for name in ("memory", "threads", "unpacked")}
    folder, master = options.pop("temp_dir"), options.pop("master", None)
    if options.pop("engine", "duckdb") == "duckdb":
        return gf.Engine(folder=folder, **machine)
    if (threads := machine["threads"]) is not None:
        master = f"local[{threads}]"
    return gf.Spark(master=master, memory=machine["memory"], folder=folder)


def _policy_or_dialect(options: Options) -> dict[str, Any]:
    """Take the policy, or a dialect with its own policy, out of a command's options."""
    if is_typed("dialect"):
        set_aside(options, set_choices())
    choices = {choice.name: options.pop(choice.name) for choice in gf.measures.choices()}
    policy = gf.Policy(**choices)
    if (dialect := options.pop("dialect", None)) is None:
        return {"policy": policy}
    if typed := given_choices():
        where = f"{current_project()} sets a dialect, which"
        whose = where if is_set("dialect") else "--dialect"
        raise click.UsageError(f"{whose} has its own policy: leave out {', '.join(typed)}.")
    return {"policy": None, "dialect": dialect}


def runs_of(
    runs: tuple[str, ...],
    options: Options,
    judgments: str | None = None,
    *,
    entries: bool = False,
) -> dict[str, Any]:
    """Return the files of runs by name, including files in folders and patterns.

    `NAME=FILE` names a run, unless a file is really called so.
    With Spark, the files of a folder or pattern are parts of one run.

    Args:
        runs: the arguments of the command.
        options: its options.
        judgments: the file of the judgments, which isn't a run.
        entries: whether `HISTORY@ENTRY` is the scores of an entry of a history.
    """
    if not runs:
        return {}
    refuse_standard_input_twice()
    engine = gf.Spark() if options.get("engine") == "spark" else None
    named = [_named_run(run) for run in runs]
    saved = {path: match for _, path in named if entries and (match := _entry_in(path))}

    def found(*paths: str) -> dict[str, str]:
        return {
            name: str(run)
            for name, run in gf.inputs.find_runs(paths, judgments=judgments, engine=engine).items()
        }

    if not saved and not any(name for name, _ in named):
        return found(*runs)
    files: dict[str, Any] = {}
    for name, path in named:
        by_name = _entry_of(*saved[path]) if path in saved else found(path)
        for usual, file in by_name.items():
            if (name or usual) in files:
                raise click.UsageError(
                    f"Two runs are named {name or usual}: {files[name or usual]} and {file}. Name one "
                    "of them, as in NAME=FILE."
                )
            files[name or usual] = file
    return files


_URL = re.compile(r"(postgres(?:ql)?://[^/]*/[^@]*)@(.+)")


def _entry_in(path: str) -> tuple[str, str] | None:
    """Return the history and the entry of `HISTORY@ENTRY`; None if it is the path of a run."""
    if os.path.exists(path):  # noqa: PTH110 - of any text
        return None
    if url := _URL.fullmatch(path):
        return url[1], url[2]
    parts = [(path[: at.start()], path[at.end() :]) for at in re.finditer("@", path)]
    files = [(file, name) for file, name in parts if name and os.path.isfile(file)]  # noqa: PTH113
    return files[0] if files else None


def _entry_of(history: str, name: str) -> "dict[str, gf.results.Baseline]":
    """Return the scores of an entry of a history by its title; `RUN@ENTRY` is one of a run's entries."""
    entries = gf.history.read(history)
    for run in entries.runs:
        if name.startswith(f"{run}@"):
            entry = entries.entry(name.removeprefix(f"{run}@"), run)
            break
    else:
        if len(entries.runs) > 1:
            raise click.UsageError(
                f"{history} has entries of several runs: {', '.join(entries.runs)}. Name one of them, as in "
                f"{history}@{entries.runs[0]}@{name}."
            )
        entry = entries.entry(name)
    return {entry.title: entry.scores}


_NAME = re.compile(r"(?!sql:)[^/]+", re.DOTALL)


def _named_run(run: str) -> tuple[str | None, str]:
    """Return the name and the file of `NAME=FILE`; no name for a file alone."""
    name, equals, path = run.partition("=")
    if not (name and equals and path) or not _NAME.fullmatch(name) or Path(run).exists():
        return None, run
    return name, path


def _files(kind: type[InputFile]) -> dict[str, Any]:
    """Return the input files or the output files of the current command, by option."""
    context = click.get_current_context()
    names = [str(param.name) for param in context.command.params if type(param.type) is kind]
    return {name: value for name in names if (value := context.params.get(name)) is not None}


def _inputs() -> list[str]:
    """Return the input files of the current command."""
    values = _files(InputFile).values()
    files = chain.from_iterable((each,) if isinstance(each, str) else each for each in values)
    return [_named_run(file)[1] for file in files]


def refuse_standard_input_twice() -> None:
    """Reject - for more than one input."""
    if _inputs().count("-") > 1:
        raise click.UsageError("Standard input can be read only once: pass - for one file only.")


def refuse_standard_input(what: str, *files: str) -> None:
    """Reject standard input for files that are read twice, or more than one; for all inputs by default."""
    if "-" in (files or _inputs()):
        raise click.UsageError(f"{what} cannot be read from standard input: pass files.")


FOR_PEOPLE = ("table", "markdown", "latex", "html")
"""The formats that round numbers."""
_WITHOUT_NOTES = ("csv", "tsv", "jsonl", "parquet")
_PACKINGS = (".gz", ".zst")
_COLUMNS_OF_FILES = 80  # regardless of the terminal
_INSTEAD = {
    "a spreadsheet": " Spreadsheets open .csv.",
    "a picture": " Charts are drawn in Python: .plot of scores and comparisons.",
}
_ENDINGS = {"junit": ".xml", "summary": ".md", "save_baseline": ".json", "design": ".json"}
_GATE = ("fail_if", "fail_unless")
Rules = tuple[Sequence[str], Sequence[str]]


def formats_of(of: str = "tables") -> tuple[str, ...]:
    """Return the formats of tables, or of tables that are also another kind of file, such as pools."""
    return tuple(dict.fromkeys((*gf.writing.formats(), *gf.writing.endings(of=of).values())))


def format_of(options: Options, of: str = "tables") -> str:
    """Return the format of --format, or the one that the name of the output promises; the first by default.

    Rejects a name that promises anything else, and binary output on a terminal.
    """
    if options.get("partition_by"):
        if options["format"] not in (None, "parquet"):
            raise click.UsageError(f"--partition-by writes Parquet, not {options['format']}.")
        return "parquet"
    if (options["output"] or "").endswith("/") and of == "tables":
        raise click.UsageError(
            f"{options['output']}: to write a folder, pass --partition-by COLUMN."
        )
    output, endings, formats = options["output"] or "", gf.writing.endings(of=of), formats_of(of)
    path = Path(output.lower())
    is_packed = path.suffix in _PACKINGS
    refuse_other_endings(output)
    ending = (Path(path.stem) if is_packed else path).suffix
    promised = endings.get(ending, ending[1:])  # the name of a format is also an extension
    format_ = options["format"] or promised
    if format_ == "parquet" and is_packed:
        raise click.UsageError(f"{output}: Parquet is compressed internally. Omit {path.suffix}.")
    if format_ == "parquet" and output in ("", "-") and sys.stdout.isatty():
        raise click.UsageError("Parquet is a binary format: pass -o FILE.")
    if format_ in formats:
        return str(format_)
    if ending in gf.writing.endings(of="documents"):
        raise click.UsageError(
            f"{output}: the output is a table, but {ending} promises a run or judgments. {_known_endings(endings)}"
        )
    if ending:
        raise click.UsageError(
            f"{output}: {ending} isn't the extension of a format. {did_you_mean(ending, endings)} "
            "Or pass --format, or omit the extension."
        )
    return formats[0]


def refuse_other_endings(output: str | None, *right: str) -> None:
    """Reject a name whose extension promises a different kind of output, such as a picture.

    Args:
        output: the name.
        right: the correct extensions, if the output isn't a table.
    """
    ending = Path(output or "").suffix.lower()
    promised = gf.writing.endings(of="others").get(ending)
    if promised is None or ending in right:
        return
    known = f"End the name in {right[0]}." if right else _known_endings(gf.writing.endings())
    raise click.UsageError(
        f"{output}: {ending} promises {promised}, but the output is text. "
        f"{known}{_INSTEAD.get(promised, '')}"
    )


def _known_endings(endings: dict[str, str]) -> str:
    known = [ending for ending in endings if ending != ".htm"]
    return f"End the name in {', '.join(known[:-1])} or {known[-1]}, or omit the extension."


def check_files(*more: str) -> None:
    """Reject, before the work, outputs that cannot be written, or that are inputs or the same file.

    Also rejects standard input as several inputs. Inputs may be folders and patterns, whose files also count.

    Args:
        more: inputs besides those on the command line.
    """
    refuse_standard_input_twice()
    inputs, outputs = [*more, *_inputs()], _files(OutputFile)
    for name, output in outputs.items():
        if output != "-" and Path(output).resolve() in _resolved(inputs):
            raise click.UsageError(f"The output {output} is one of the inputs.")
        if name == "output" and click.get_current_context().params.get("partition_by"):
            # Imported here because the help needs no files.
            from gainful.output.writing.output_files import new_folder

            with new_folder(output, dry=True):
                continue
        gf.writing.write_text("", output, dry=True)
        if name == "html":
            gf.results.Report.check_path(output)
        if name in _ENDINGS:
            refuse_other_endings(output, _ENDINGS[name])
    if "output" not in outputs:
        gf.writing.write_text("", "-", dry=True)
    if len({Path(output).resolve() for output in outputs.values()}) < len(outputs):
        raise click.UsageError("Each output needs a file of its own.")


def _resolved(inputs: Iterable[str]) -> Iterator[Path]:
    """Yield the full paths of inputs, and of the files in folders and of patterns."""
    for name in inputs:
        yield Path(name).resolve()
        if os.path.isdir(name):  # noqa: PTH112 - a list of grades may be too long for a path
            yield from (file.resolve() for file in Path(name).iterdir())
        elif not os.path.exists(name):  # noqa: PTH110
            # Unlike glob, Path.glob doesn't accept absolute patterns.
            yield from (Path(file).resolve() for file in glob.glob(name, recursive=True))  # noqa: PTH207


def write_documents(result: Any, options: Options, format_: str | None) -> None:
    """Write documents, such as a run or a pool, to the output; on standard output they are TREC by default."""
    output = options["output"] or "-"
    with seen_enough():
        result.write(output, format=format_ or ("trec" if output == "-" else None))


def print_result(
    result: Any,
    options: Options,
    notes: Iterable[str] | None = None,
    *,
    gate: "gf.results.Gate | None" = None,
    **rendering: Any,
) -> None:
    """Write a result as the options request; notes go to standard error if the format has no room for them.

    Args:
        result: the result to render.
        options: the options of the command.
        notes: notes about the result; those of its table if None.
        gate: the gate, whose decision is added to JSON.
        rendering: more keywords of `render`.
    """
    format_ = format_of(options)
    output = options["output"] or "-"
    if format_ == "parquet":
        text = ""
        with seen_enough():
            how = rendering | {"partition_by": options.get("partition_by") or ()}
            gf.writing.write_result(result, output, format=format_, **how)
    else:
        to_file = output != "-"
        text = gf.writing.render(
            result,
            format_,
            width=_COLUMNS_OF_FILES if to_file else None,
            verbose=to_file or options.get("verbose", False),
            digits=options.get("digits"),
            **rendering,
        )
        text = _json_with_gate(text, gate) if format_ == "json" else text
        write(text, output, has_verdicts=format_ == "table")
    is_list = format_ == "json" and text.startswith("[")
    if format_ in _WITHOUT_NOTES or is_list:
        if notes is None:
            notes = result.table().notes if hasattr(result, "table") else ()
        for note in notes:
            tell(note)


def _json_with_gate(text: str, gate: "gf.results.Gate | None") -> str:
    """Return the JSON of a result with the decision of its gate; unchanged without a gate or for a list of rows."""
    if gate is None:
        return text
    import json  # imported here because most calls don't need it

    result = json.loads(text)
    if not isinstance(result, dict):
        return text
    result["gate"] = {"failed": gate.failed, "checked": gate.table().records()}
    return json.dumps(result, indent=2, ensure_ascii=False)


def gate_rules(
    options: Options, *, compared: bool, check: Callable[..., None] | None = None
) -> Rules:
    """Return the conditions that a command checks, and reject those that it cannot check.

    From the project file, a command without a comparison uses only the conditions that need none. If the
    command line selects other measures than the file, conditions on unselected measures are skipped with
    a message. `check` rejects conditions that cannot be checked; by default, those of a gate on scores.
    """
    rules, measures, dialect = [], list(options["measures"]), options["dialect"]
    for name in _GATE:
        conditions = list(options[name])
        if is_set(name):
            if not compared:
                conditions = gf.results.Gate.without_baseline(conditions)
            if is_typed("measures"):
                conditions = [each for each in conditions if _is_measured(each, measures, dialect)]
            if not conditions:
                set_aside(options, [name])
        rules.append(conditions)
    refuse = gf.results.Gate.check_conditions if check is None else check
    refuse(measures, *rules, dialect=dialect, compared=compared)
    if options.get("junit") and not any(rules):
        raise click.UsageError("--junit reports conditions: pass --fail-if or --fail-unless.")
    return rules[0], rules[1]


def leave_out_gate(options: Options, why: str) -> None:
    """Ignore the conditions of the project file, with a message."""
    if any(is_set(name) for name in _GATE):
        tell(f"{current_project()}: the gate is not checked {why}.")
    set_aside(options, _GATE)


def _is_measured(condition: str, measures: list[str], dialect: str | None) -> bool:
    """Return whether the measure of a condition is selected; errors in the condition are reported later."""
    project = current_project()
    own, tool = ([], None) if project is None else (project.measures, project.values.get("dialect"))
    try:
        gf.results.Gate.check_conditions(measures, condition, dialect=dialect)
    except gf.errors.InputError as problem:
        try:
            gf.results.Gate.check_conditions(own, condition, dialect=tool)
        except gf.errors.GainfulError:
            raise problem from None
        tell(f"{project}: {condition} is not checked: its measure is not among the selected ones.")
        return False
    return True


def finish_gate(
    gate: "gf.results.Gate | None", options: Options, summary: Callable[[], str]
) -> None:
    """Write the files of a gate, print its decision, and exit with 1 if it fails.

    Args:
        gate: the gate; None without conditions.
        options: the options of the command.
        summary: returns the text of --summary.
    """
    if gate is not None:
        tell_lines(f"\n{gate}")
        if options["junit"]:
            gf.writing.write_text(gate.to_junit(), options["junit"])
    if options["summary"]:
        gf.writing.write_text(summary(), options["summary"])
    if gate is not None and gate.failed:
        sys.exit(FAILED)
