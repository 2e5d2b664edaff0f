"""Options that several commands share; their choices and help come from the package."""

import glob
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click
from click.core import ParameterSource

import gainful as gf
from gainful.cli.option_origins import is_set, is_typed, set_aside

Command = Callable[..., None]

_CALLED_JUDGMENTS = re.compile(r"qrels|judge?ments", re.IGNORECASE)
_HEAD = 1 << 16  # bytes that tell of most files what their numbers are
_IN_JSON = re.compile(rb'":\s*(-?[\d.][\d.eE+-]*)')
_ENOUGH = 10  # numbers: of fewer, all may be whole and small by chance
_GRADES = frozenset(b"%d%s" % (grade, end) for grade in range(5) for end in (b"", b".0"))

WITHOUT_NOTES = frozenset(["csv", "tsv", "jsonl"])
"""The formats that have no room for notes: those go to standard error."""


class InputFile(click.types.StringParamType):
    """The path of a file that is read; in a project's file, it is from the folder of that."""

    name = "file"


def judgments_option(command: Command) -> Command:
    """Give a command --judgments."""
    return click.option(
        "--judgments",
        type=InputFile(),
        help="The judgments, instead of the first file; then every file is a RUN. A project's file may name "
        "them, too: see `gainful config`.",
    )(command)


def judgments_and_runs(
    files: tuple[str, ...], options: dict[str, Any]
) -> tuple[str | None, tuple[str, ...]]:
    """Return the judgments, if there are any, and the files that are runs.

    The first file is the judgments, unless --judgments or the project's file names them. How many
    files there are tells nothing. Where the project's file names them, the same file may still come first; other
    judgments there are refused, which would become a run.
    """
    judgments = options.pop("judgments")
    if judgments is None:
        return (files[0], files[1:]) if files else (None, ())
    if not is_set("judgments"):
        return judgments, files
    project = click.get_current_context().obj
    if files and _is_same_file(files[0], judgments):
        files = files[1:]
    elif files and _looks_like_judgments(files[0]):
        raise click.UsageError(
            f"{files[0]} looks like judgments, but {project} names {judgments} as judgments, so every file here is a run. "
            f"To use {files[0]} instead, give --judgments {files[0]}. If it is a run, give --judgments {judgments}."
        )
    for name in files:
        if _is_same_file(name, judgments):
            raise click.UsageError(
                f"{name} is no run: {project} names it as judgments. Leave it out, or give "
                "`gainful --no-config` to go without that file."
            )
    return judgments, files


def _is_same_file(one: str, other: str) -> bool:
    return Path(one).is_file() and Path(other).is_file() and Path(one).samefile(other)


def _looks_like_judgments(path: str) -> bool:
    """Return whether a file is called judgments, or all numbers at its beginning are grades of a usual scale.

    A format that only judgments have is seen when the file is read. This is about those that runs have, too: JSON, and
    tables with a column score, as those of BEIR.
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


def refuse_missing(what: str, command: str) -> NoReturn:
    """Refuse a call without a file that it needs."""
    raise click.UsageError(
        f"Missing argument '{what}'. The first file is the judgments, unless --judgments or a "
        f"project's file names them: see `gainful {command} --help` and `gainful config`."
    )


def policy_options(command: Command) -> Command:
    """Give a command one option for each choice of a policy."""
    for choice in reversed(gf.measures.choices()):
        answers = [*choice.answers, *(["GRADE"] if choice.grade else [])]
        meanings = [f"{name}: {meaning}" for name, meaning in choice.answers.items()]
        if choice.grade:
            meanings.append(f"GRADE: {choice.grade}")
        command = click.option(
            f"--{choice.name.replace('_', '-')}",
            choice.name,
            metavar="|".join(answers),
            default=choice.default,
            show_default=True,
            help=f"{choice.question} {'; '.join(meanings)}.",
        )(command)
    return command


def policy_of(options: dict[str, Any]) -> gf.Policy:
    """Take the policy's options out of a command's options."""
    return gf.Policy(**{choice.name: options.pop(choice.name) for choice in gf.measures.choices()})


def dialect_option(command: Command) -> Command:
    """Give a command --dialect."""
    return click.option(
        "--dialect",
        metavar="TOOL",
        help="Measure as another tool does, such as trec_eval-9 or scikit-learn, with its gain, ideal and "
        "policy; `gainful dialects` lists them.",
    )(command)


def given_choices() -> list[str]:
    """Return the policy's options that stand on the command line."""
    return [
        f"--{choice.name.replace('_', '-')}"
        for choice in gf.measures.choices()
        if is_typed(choice.name)
    ]


def set_choices() -> list[str]:
    """Return the policy's choices that the project's file has made."""
    return [choice.name for choice in gf.measures.choices() if is_set(choice.name)]


def measure_option(meaning: str) -> Callable[[Command], Command]:
    """Return the options that say what to measure: -m, and --define for measures of one's own."""
    measure = click.option(
        "--measure",
        "-m",
        "measures",
        multiple=True,
        default=["nDCG@10"],
        show_default=True,
        help=meaning,
    )
    return lambda command: measure(define_option(command))


def one_measure_option(meaning: str, default: str | None = None) -> Callable[[Command], Command]:
    """Return the options that say the one measure of a command; a second is refused, not dropped."""
    measure = click.option(
        "--measure",
        "-m",
        multiple=True,
        default=None if default is None else [default],
        show_default=default is not None,
        callback=_only,
        help=meaning,
    )
    return lambda command: measure(define_option(command))


def level_option(meaning: str) -> Callable[[Command], Command]:
    """Return the option that says the level of intervals."""
    return click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        show_default=True,
        help=meaning,
    )


def resamples_option(meaning: str, default: int = 10_000) -> Callable[[Command], Command]:
    """Return the option that says how many resamples are drawn."""
    return click.option(
        "--resamples", type=click.IntRange(1), default=default, show_default=True, help=meaning
    )


def seed_option(meaning: str) -> Callable[[Command], Command]:
    """Return the option that says the seed of what is drawn."""
    return click.option(
        "--seed", type=click.IntRange(0), default=0, show_default=True, help=meaning
    )


def define_option(command: Command) -> Command:
    """Give a command --define."""
    return click.option(
        "--define",
        multiple=True,
        metavar="MODULE:NAME",
        is_eager=True,  # before a measure is read
        expose_value=False,
        callback=_use,
        help="A measure, discount or gain of your own that -m may name: where gainful.define made it, from this folder; "
        "repeat for more.",
    )(command)


def _use(context: click.Context, _: click.Parameter, places: tuple[str, ...]) -> None:
    """Give what is one's own its names, as an option says or the project's file, if that is trusted."""
    if context.get_parameter_source("define") is ParameterSource.DEFAULT_MAP:
        context.obj.refuse_untrusted(["define"])
    use_definitions(places, context.obj)


def use_definitions(places: Iterable[str], project: object) -> None:
    """Give what is one's own its names; modules may lie here, or beside the project's file."""
    if places:
        with modules_from(folders_of(project)):
            gf.use(*places)


def folders_of(project: object) -> list[str]:
    """Return where modules may lie: here, or beside the project's file, if that is trusted.

    A module of a name that is typed would else import others, such as `random`, from a folder of anybody.
    """
    folders = [str(Path.cwd())]
    file = getattr(project, "file", None)  # None for commands that read no project's file
    if file is not None and file.is_trusted:
        folders.append(str(Path(file.resolved(".")).resolve()))
    return folders


@contextmanager
def modules_from(folders: Iterable[str]) -> Iterator[None]:
    """Let modules be imported from some folders for a while."""
    before = list(sys.path)
    sys.path[:0] = folders
    try:
        yield
    finally:
        sys.path[:] = before


def _only(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> str | None:
    if len(given) > 1:
        raise click.UsageError("One measure at a time: give -m once.")
    return given[0] if given else None


def columns_option(command: Command) -> Command:
    """Give a command --columns."""
    return click.option(
        "--columns",
        multiple=True,
        metavar="ROLE=NAME",
        help="The column that holds the query, doc, grade, score or rank, where its name is not "
        "one of the usual: query=user. For one side alone: judgments.query=user, or slices.query=user "
        "for --slices. Columns named by number, from 1, are those of a file without a header. Repeat for more.",
    )(command)


def queries_option(command: Command) -> Command:
    """Give a command --query-ids."""
    return click.option(
        "--query-ids",
        type=InputFile(),
        help="A file with the id of a query on each line, for JSON that lacks them: lists, or "
        "responses of a search, in the same order.",
    )(command)


def assessors_option(command: Command) -> Command:
    """Give a command --assessors."""
    return click.option(
        "--assessors",
        metavar="RULE",
        help="How the grades of several assessors become one: mean, median, majority, max, min, "
        "dawid-skene, or the name of the one whose grades count.",
    )(command)


def machine_options(command: Command) -> Command:
    """Give a command the options that say what may be used of the machine."""
    options = (
        click.option("--memory", metavar="SIZE", help="The most memory for tables, such as 4GB."),
        click.option("--threads", type=click.IntRange(1), help="How many cores to use."),
        click.option(
            "--temp-dir",
            type=click.Path(exists=True, file_okay=False),
            help="Where to write what does not fit the memory.",
        ),
        click.option(
            "--unpacked",
            metavar="SIZE",
            help="The most that a packed file may become, such as 100GB.  [default: 1GB, or 200 "
            "times its own size]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def columns_of(options: dict[str, Any]) -> dict[str, str]:
    """Take the names of columns out of a command's options."""
    columns: dict[str, str] = {}
    for given in options.pop("columns"):
        role, equals, name = given.partition("=")
        if not equals:
            raise click.UsageError(f"--columns takes ROLE=NAME, such as query=user, not {given!r}.")
        if role in columns:
            raise click.UsageError(f"--columns names {role} twice: {columns[role]} and {name}.")
        columns[role] = name
    return columns


def leave_out_columns(options: dict[str, Any], *, of: str) -> None:
    """Leave out what the project's file says of the columns of judgments, or of runs, where none are read."""
    if is_set("columns"):
        roles = {"judgments": ("grade",), "run": ("score", "rank")}[of]
        options["columns"] = tuple(
            each
            for each in options["columns"]
            if not each.startswith((f"{of}.", *(f"{role}=" for role in roles)))
        )
        if not options["columns"]:
            set_aside(options, ["columns"])


def machine_of(options: dict[str, Any]) -> "gf.Engine":
    """Take what may be used of the machine out of a command's options."""
    return gf.Engine(
        memory=options.pop("memory"),
        threads=options.pop("threads"),
        folder=options.pop("temp_dir"),
        unpacked=options.pop("unpacked"),
    )


def engine_options(command: Command) -> Command:
    """Give a command the options that say which engine reads and matches."""
    options = (
        click.option(
            "--engine",
            type=click.Choice(["duckdb", "spark"]),
            default="duckdb",
            show_default=True,
            help="What reads and matches: duckdb on this machine, which spills what does not fit; spark "
            "reads Parquet, CSV, TSV and JSON lines, and --threads are the cores of a local one.",
        ),
        click.option(
            "--master",
            metavar="URL",
            help="With --engine spark: where it runs, such as local[2], yarn, spark://HOST:7077, or "
            "sc://HOST of a Connect server.  [default: all cores of this machine]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def engine_of(options: dict[str, Any], given: "gf.Engine") -> "gf.Engine | gf.Spark":
    """Take the engine that reads the files out of a command's options."""
    name, master = options.pop("engine"), options.pop("master")
    if name == "duckdb":
        if master is not None:
            raise click.UsageError("--master goes with --engine spark.")
        return given
    if given.unpacked is not None:
        raise click.UsageError("--unpacked goes with --engine duckdb: Spark unpacks as it reads.")
    if given.threads is not None:
        if master is not None:
            raise click.UsageError("--master says how many cores: leave out --threads.")
        master = f"local[{given.threads}]"
    return gf.Spark(master=master, memory=given.memory, folder=given.folder)


def folding_options(command: Command) -> Command:
    """Give a command the options that say which document a chunk belongs to."""
    options = (
        click.option(
            "--chunks",
            metavar="DELIMITER",
            help="The run has chunks of documents, which are folded: what stands before the number "
            "of a chunk, # in doc7#2. It is cut at the last DELIMITER; first:DELIMITER cuts at the first, "
            "first::: for doc7::256::3. --fold says which score a document has.",
        ),
        click.option(
            "--chunk-map",
            type=InputFile(),
            help="The same, by a file with a chunk and its document on each line; also packed, - is "
            "standard input.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def chunks_of(options: dict[str, Any], *inputs: str | None) -> str | dict[str, str] | None:
    """Take the options that say which document a chunk belongs to out of a command's options.

    The other inputs are those that may be standard input, which can be read once.
    """
    if is_typed("chunks") or is_typed("chunk_map"):  # two ways to say one thing
        set_aside(options, ["chunks", "chunk_map"])
    delimiter, file = options.pop("chunks"), options.pop("chunk_map")
    if file is None:
        return delimiter  # type: ignore[no-any-return]
    if delimiter is not None:
        raise click.UsageError("Give --chunks or --chunk-map, not both.")
    refuse_standard_input_twice(file, *inputs)
    return gf.inputs.read_chunk_map(file)


# The options of a command for each of `gf.inputs.MeasuringOptions`, in the order of the help;
# progress is shown on a terminal without being asked for. The record itself is not named, as it
# loads much.
_OFFERED: dict[str, Callable[[Command], Command]] = {
    "columns": columns_option,
    "queries": queries_option,
    "assessors": assessors_option,
    "engine": machine_options,
    "dialect": dialect_option,
    "policy": policy_options,
    "chunks": folding_options,
}
MEASURING = tuple(_OFFERED)
"""The options of commands that measure, as `gf.inputs.MeasuringOptions` has them."""
PAGE = tuple(name for name in MEASURING if name != "queries")
"""The options of a report, whose queries are texts."""
READING = ("columns", "queries", "assessors", "engine")
"""The options of commands that only read, as `gf.inputs.ReadingOptions` has them."""


def shared_options(names: Collection[str]) -> Callable[[Command], Command]:
    """Give a command some of the options by which files are read and measured."""

    def decorate(command: Command) -> Command:
        for name in reversed(MEASURING):
            if name in names:
                command = _OFFERED[name](command)
        return command

    return decorate


def read_shared_options(
    names: Collection[str], options: dict[str, Any], *inputs: str | None
) -> dict[str, Any]:
    """Take what `shared_options` gives out of a command's options, as the functions of the package take it.

    The inputs are those that may be standard input, which can be read once.
    """
    found: dict[str, Any] = {"columns": columns_of(options), "engine": machine_of(options)}
    if "engine" in options:
        found["engine"] = engine_of(options, found["engine"])
    if "policy" in names:
        if "dialect" in names and is_typed("dialect"):
            set_aside(options, set_choices())  # it has its own
        found["policy"] = policy_of(options)
        if "dialect" in names and (dialect := options.pop("dialect")) is not None:
            if given := given_choices():
                raise click.UsageError(f"{_whose_dialect()}: leave out {', '.join(given)}.")
            found |= {"policy": None, "dialect": dialect}
    if (queries := options.pop("query_ids", None)) is not None:
        refuse_standard_input_twice(queries, *inputs)
        found["queries"] = queries
    if (assessors := options.pop("assessors", None)) is not None:
        found["assessors"] = assessors
    if "chunks" in names:
        found["chunks"] = chunks_of(options, *inputs)
    return found


def _whose_dialect() -> str:
    if is_set("dialect"):
        return f"{click.get_current_context().obj} sets a dialect, which has its own policy"
    return "--dialect has its own policy"


def gate_options(fail_if: str, fail_unless: str) -> Callable[[Command], Command]:
    """Return the options that say when a command fails, each with its help."""

    def decorate(command: Command) -> Command:
        for name, meaning in (("--fail-unless", fail_unless), ("--fail-if", fail_if)):
            command = click.option(name, multiple=True, metavar="CONDITION", help=meaning)(command)
        return command

    return decorate


def gate_files_options(command: Command) -> Command:
    """Give a command the files that tell what became of its conditions: of one call, no settings."""
    for name, meaning in (
        ("--summary", "Write a summary in Markdown, for a pull request."),
        ("--junit", "Write the conditions as JUnit XML."),
    ):
        command = click.option(name, metavar="FILE", help=meaning)(command)
    return command


def ends_options(worst: str, best: str) -> Callable[[Command], Command]:
    """Return what gives a command --worst and --best: queries instead of means, with help on which."""

    def give(command: Command) -> Command:
        number = click.IntRange(1)
        command = click.option("--best", type=number, metavar="N", help=best)(command)
        return click.option("--worst", type=number, metavar="N", help=worst)(command)

    return give


def texts_options(command: Command) -> Command:
    """Give a command the options that say what queries and documents are."""
    options = (
        click.option(
            "--queries",
            type=InputFile(),
            help="What the queries say: TSV, CSV or JSON lines with an id and a text, JSON {id: text}, "
            "Parquet.",
        ),
        click.option(
            "--docs",
            type=InputFile(),
            help="What the documents are: a file as for --queries, with a title, a text or both; only "
            "what is shown is kept in memory.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def format_option(command: Command) -> Command:
    """Give a command --format."""
    return click.option(
        "--format",
        "-f",
        "format_",
        type=click.Choice(gf.writing.formats()),
        help="How the result is written; table, markdown, latex and html round numbers.  "
        "[default: by the ending of --output; table]",
    )(command)


_PACKINGS = (".gz", ".zst")
_COLUMNS_OF_FILES = 80  # whatever the terminal is


def format_of(options: dict[str, Any]) -> str:
    """Return the format that is asked for, or that the name of the output tells."""
    refuse_other_endings(options["output"])
    ending = Path(options["output"] or "").suffix.lower()
    if ending in _PACKINGS or gf.writing.endings().get(ending) == "parquet":
        raise click.UsageError(
            f"The output is text: {ending} is for scores.write() in Python and gainful convert."
        )
    if options["format_"] is not None:
        return str(options["format_"])
    return told_format(options["output"], gf.writing.endings(), gf.writing.formats())


def told_format(output: str | None, endings: dict[str, str], formats: tuple[str, ...]) -> str:
    """Return which of some formats the name of an output tells; the first where it tells none.

    A name that promises a run or judgments where a table is written is refused.
    """
    path = Path((output or "").lower())
    ending = (Path(path.stem) if path.suffix in _PACKINGS else path).suffix
    told = endings.get(ending, ending[1:])  # the name of a format is an ending, too
    if told not in formats and ending in gf.writing.endings(of="documents"):
        raise click.UsageError(
            f"{output}: a table is written, and {ending} promises a run or judgments. "
            f"{_known_endings(endings)}"
        )
    return told if told in formats else formats[0]


_INSTEAD = {
    "a spreadsheet": " Spreadsheets open .csv.",
    "a picture": " Charts are drawn in Python: .plot of scores and comparisons.",
}


def refuse_other_endings(output: str | None, *right: str) -> None:
    """Refuse a name whose ending promises what is not written, such as a picture.

    Args:
        output: the name.
        right: the endings that are right, where it is no table.
    """
    ending = Path(output or "").suffix.lower()
    promised = gf.writing.endings(of="others").get(ending)
    if promised is None or ending in right:
        return
    known = f"End the name in {right[0]}." if right else _known_endings(gf.writing.endings())
    raise click.UsageError(
        f"{output}: {ending} promises {promised}, and text is written. "
        f"{known}{_INSTEAD.get(promised, '')}"
    )


def _known_endings(endings: dict[str, str]) -> str:
    told = [ending for ending, name in endings.items() if name != "parquet" and ending != ".htm"]
    return f"End the name in {', '.join(told[:-1])} or {told[-1]}, or leave the ending out."


def output_option(command: Command) -> Command:
    """Give a command --output."""
    return click.option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file instead of standard output; it is replaced when complete.",
    )(command)


def verbose_option(command: Command) -> Command:
    """Give a command --verbose."""
    return click.option(
        "--verbose",
        is_flag=True,
        help="Name every choice of the policy under the table, as files do; else those that differ "
        "from the defaults.",
    )(command)


def layout_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return how a table is laid out: for the screen, or in full for a file."""
    to_file = options["output"] not in (None, "-")
    return {
        "width": _COLUMNS_OF_FILES if to_file else None,
        "verbose": to_file or options.get("verbose", False),
    }


def runs_of(
    runs: tuple[str, ...], options: dict[str, Any], judgments: str | None = None
) -> dict[str, str]:
    """Return the files of runs by their names, those of folders and patterns, too.

    With Spark, these are parts of one run.
    """
    if not runs:
        return {}
    refuse_standard_input_twice(judgments, *runs)
    engine = gf.Spark() if options.get("engine") == "spark" else None
    found = gf.inputs.find_runs(runs, judgments=judgments, engine=engine)
    return {name: str(run) for name, run in found.items()}


def refuse_standard_input_twice(*files: str | None) -> None:
    """Refuse - for more than one input."""
    if files.count("-") > 1:
        raise click.UsageError("Standard input can be read once: give - for one file only.")


def check_gate_files(options: dict[str, Any], named: Sequence[str], *read: str) -> None:
    """Refuse files of a gate, and others beside them, that cannot be written or are the same.

    Args:
        options: of the command.
        named: the options that name files to write.
        read: the files that are read.
    """
    targets = [target for name in named if (target := options[name]) is not None]
    for target in targets:
        check_target(target, *read)
    for name, ending in (("junit", ".xml"), ("summary", ".md")):
        refuse_other_endings(options[name], ending)
    if len({Path(target).resolve() for target in targets}) < len(targets):
        raise click.UsageError("Each output needs a file of its own.")


def refuse_junit_alone(options: dict[str, Any], rules: Iterable[object]) -> None:
    """Refuse a report of conditions where there are none."""
    if options["junit"] and not any(rules):
        raise click.UsageError("--junit reports conditions: give --fail-if or --fail-unless.")


def check_target(output: str | None, *inputs: str) -> None:
    """Refuse an output that is one of the inputs or cannot be written, before the work for it.

    Inputs may be patterns, whose files are inputs, too.
    """
    if output is None:
        gf.writing.write_text("", "-", dry=True)
        return
    if is_among(output, *inputs):
        raise click.UsageError(f"The output {output} is one of the inputs.")
    gf.writing.write_text("", output, dry=True)


def is_among(output: str, *inputs: str) -> bool:
    """Return whether a file that is there is one of the inputs, or of their patterns."""
    if not Path(output).exists():
        return False
    files = (
        each
        for name in inputs
        # A pattern may begin anywhere, which that of a Path may not.
        for each in ([name] if Path(name).exists() else glob.glob(name, recursive=True))  # noqa: PTH207
    )
    return any(Path(each).is_file() and Path(each).samefile(output) for each in files)
