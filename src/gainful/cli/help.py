"""`gainful help` and its topics, written from the tables of the package."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import click

import gainful as gf
from gainful.cli.command import ProjectCommand, groups_of, tell_all, write_paragraphs
from gainful.cli.process import print_data

Part = str | tuple[str, Iterable[tuple[str, str]]]
"""A part of a help page: a paragraph, or a title and rows of names and meanings."""


class Topic(NamedTuple):
    """A topic: its summary line and its parts."""

    line: str
    parts: Callable[[], Iterable[Part]]


def _options(topic: str) -> Part:
    """Return the full help on the options of a group, as in `gainful evaluate`."""
    from gainful.cli.evaluate import evaluate

    context = click.Context(evaluate, info_name="evaluate")
    groups = groups_of(evaluate, evaluate.params)
    options = next(options for group, options in groups if group.topic == topic)
    return "Options", [row for each in options if (row := each.get_help_record(context))]


def _measures() -> Iterator[Part]:
    yield (
        "Write a measure as NAME(parameter=value)@cutoff, where only the name is required: nDCG, nDCG@10, "
        "P(rel=2)@5. You can combine several cutoffs and several measures: 'nDCG@5,10 AP'. Names are "
        "case-insensitive. A formula is also a measure: '0.5*nDCG@10 + 0.5*RR'."
    )
    yield "Measures", [(each.name, each.title) for each in gf.measures.families()]
    parameters = gf.measures.family("nDCG").parameters
    yield "Parameters of nDCG", [(each.name, each.values) for each in parameters]
    yield (
        "`gainful measures NAME` defines a measure, with its parameters, an example and the paper. "
        "`gainful measures --subtopics` and `--recommend` list the measures for subtopics and for "
        "recommendations. These need tables in addition to judgments and runs: --subtopic-judgments, "
        "--items, --vectors, --history. --define adds a measure of your own."
    )


def _policy() -> Iterator[Part]:
    yield (
        "Two tools that compute the same measure often print different numbers, because of choices "
        "that are not part of the measure. Each choice is an option. Choices that differ from the "
        "defaults are printed under every table; --verbose and files show all of them. --dialect makes "
        "every choice the way another tool does."
    )
    for choice in gf.measures.choices():
        yield f"--{choice.name.replace('_', '-')}: {choice.question}"
        answers = dict(choice.answers) | ({"GRADE": choice.grade} if choice.grade else {})
        default = choice.default
        yield "", [(name + " (default)" * (name == default), answers[name]) for name in answers]


def _dialects() -> Iterator[Part]:
    yield (
        "--dialect TOOL reproduces that tool, with its gain, ideal and policy. `gainful dialects TOOL` "
        "describes a tool, `gainful why` shows which choices make two tools differ, and `gainful why "
        "--got NUMBER` finds the tool behind a number."
    )
    yield "Dialects", [(each.name, each.tool) for each in gf.measures.dialects()]


_FORMATS = (
    ("TREC", "judgments `query iteration doc grade`, runs `query Q0 doc rank score tag`"),
    ("CSV, TSV", "column names in the first line; fields separated by , ; tab or |"),
    ("JSON lines", 'one object per line, {"query_id": "q1", "doc_id": "d7", "relevance": 2}'),
    ("JSON", "{query: {doc: number}}, a list of objects, lists, or responses of search services"),
    ("Parquet", "a file, a directory, or a quoted pattern"),
    (
        "SVMlight, LETOR",
        "`label qid:7 1:0.3`; a run has one prediction per line, in the same order",
    ),
)


def _formats() -> Iterator[Part]:
    yield (
        "Judgments grade how relevant a document is to a query; a run lists what a system returned. Both "
        "are files, in any of these formats, which you can mix. gainful detects the format from the "
        "content of a file, and uses its name only if the content is ambiguous."
    )
    yield "Formats", _FORMATS
    yield (
        "Files may be compressed, .gz or .zst, and - is standard input. A RUN may also be a folder or a "
        "quoted pattern of files, each of which is a run. The first file is the judgments, unless "
        "--judgments or the project file (`gainful config`) names them; then every file is a RUN."
    )
    yield (
        "`gainful check` finds errors in files, `gainful convert` converts a run or judgments to another "
        "format, and `gainful help columns` lists the names of columns."
    )


def _columns() -> Iterator[Part]:
    yield (
        "Columns are recognised by name, regardless of case, and of _, - or a space between words. These "
        "names are known, in order of precedence; use --columns for others."
    )
    names = gf.inputs.column_names()
    yield "Names", [(role, ", ".join(known)) for role, known in names.items()]
    yield _options("columns")


def _output() -> Iterator[Part]:
    yield (
        "Data goes to standard output or to --output, everything else to standard error. An existing file "
        "is replaced once the new one is complete. Its extension selects the format, unless --format does."
    )
    endings: dict[str, list[str]] = {name: [] for name in gf.writing.formats()}
    for ending, name in gf.writing.endings().items():
        endings.setdefault(name, []).append(ending)
    yield "Formats", [(name, ", ".join(endings[name])) for name in gf.writing.formats()]
    yield (
        "table, markdown, latex and html round numbers; the other formats contain all digits. csv, tsv "
        "and jsonl have no room for notes: policy and coverage go to standard error."
    )
    yield "Exit codes", _EXITS


_EXITS = (
    ("0", "done"),
    ("1", "a gate or a check failed"),
    ("2", "bad input or usage, reported in one line"),
    ("130, 143", "stopped by Ctrl-C or SIGTERM"),
)
_CONDITIONS = (
    ("Δ nDCG@10 < -0.01", "a change from BASE, confirmed by the whole interval; also change(nDCG@10)"),
    ("nDCG@10 < 0.6", "a floor for a RUN's mean, checked against the lower end of the interval"),
    ("coverage < 0.9", "the share of judged queries that the run contains"),
    ("missing > 0", "the number of judged queries that the run lacks"),
    ("unjudged > 0.3", "the share of unjudged documents among those measured"),
    ("saturation > 0.5", "the share of queries where both runs score 1, for the measure where it is largest"),
    ("changed", "the judgments differ from the saved baseline's"),
)  # fmt: skip


def _gates() -> Iterator[Part]:
    yield (
        "A gate decides whether a change may be merged. `gainful compare` and `gainful evaluate` exit with "
        "1 if a --fail-if condition holds or a --fail-unless condition doesn't. The interval decides, not "
        "the mean, so a change that may be chance doesn't fail."
    )
    yield "Conditions", _CONDITIONS
    yield (
        "Δ, changed and saturation work in `gainful compare` only. Each option may be repeated. --junit "
        "and --summary write the results for CI."
    )


def _machine() -> Iterator[Part]:
    yield (
        "DuckDB matches files on this machine, and writes data that doesn't fit into memory to disk. If "
        "the data is on a cluster, use Spark: the numbers are the same."
    )
    yield _options("machine")


TOPICS = {
    "measures": Topic("The measures, and how to write them.", _measures),
    "policy": Topic("The choices that make two tools differ.", _policy),
    "dialects": Topic("The tools that --dialect reproduces.", _dialects),
    "formats": Topic("The input formats.", _formats),
    "columns": Topic("The columns of a file: names, ids, chunks, assessors.", _columns),
    "output": Topic("The output formats, and the exit codes.", _output),
    "gates": Topic("The conditions of --fail-if and --fail-unless.", _gates),
    "machine": Topic("Memory, cores, and the engine that reads files.", _machine),
}


@click.command(name="help")
@click.argument("topic", required=False, metavar="[TOPIC | COMMAND]")
@click.pass_context
def help_(context: click.Context, topic: str | None) -> None:
    """Show help on a TOPIC, or the full help of a COMMAND, with every option."""
    commands = context.find_root().command
    if not isinstance(commands, click.Group):
        raise TypeError(commands)
    formatter = context.make_formatter()
    if topic is None:
        _write(("Topics", [(name, entry.line) for name, entry in TOPICS.items()]), formatter)
        _write(
            "Run gainful help TOPIC for a topic, gainful help COMMAND for the full help of a command, and "
            "gainful --help for the list of commands.",
            formatter,
        )
        print_data(formatter.getvalue())
        return
    parts = []
    if topic in TOPICS:
        formatter.write(f"{TOPICS[topic].line}\n")
        for part in TOPICS[topic].parts():
            _write(part, formatter)
        parts.append(formatter.getvalue())
    if (command := commands.get_command(context, topic)) is not None:
        parts.append(_help_of(command, context.parent, topic))
    if not parts:
        known = [*TOPICS, *commands.list_commands(context)]
        close = difflib.get_close_matches(topic.casefold(), known, n=1)
        hint = f" Did you mean 'gainful help {close[0]}'?" if close else ""
        raise click.UsageError(
            f"There is no help on {topic!r}.{hint} `gainful help` lists the topics, and `gainful --help` "
            "lists the commands."
        )
    print_data("\n".join(parts))


def _write(part: Part, formatter: click.HelpFormatter) -> None:
    """Write a part of a help page; rows without a title belong to the paragraph before them."""
    if isinstance(part, str):
        write_paragraphs(formatter, part)
        return
    title, rows = part
    with formatter.section(title) if title else formatter.indentation():
        formatter.write_dl([*rows])


def _help_of(command: click.Command, parent: click.Context | None, name: str) -> str:
    """Return the full help of a command."""
    if isinstance(command, ProjectCommand):
        context = command.help_context(name, parent)
    else:
        context = click.Context(command, parent, name)
    if not command.add_help_option:  # trec_eval prints its own help
        return f"{command.get_usage(context)}\n\n  {command.help}\n"
    return f"{command.get_help(tell_all(context))}\n"
