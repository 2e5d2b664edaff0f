"""The topics of `gainful help`, told from the tables of the package."""

from collections.abc import Callable
from typing import NamedTuple

import click

import gainful as gf
from gainful.cli.grouped_help import groups_of, write_paragraphs

Formatter = click.HelpFormatter


class Topic(NamedTuple):
    """A topic: a line about it, and what writes the rest."""

    line: str
    write: Callable[[Formatter], None]


def _options(formatter: Formatter, topic: str) -> None:
    """Write the options of a group in full, as `gainful evaluate` has them."""
    from gainful.cli.evaluate import evaluate

    context = click.Context(evaluate, info_name="evaluate")
    for group, options in groups_of(evaluate, evaluate.params):
        if group.topic == topic:
            with formatter.section("Options"):
                formatter.write_dl(
                    [record for each in options if (record := each.get_help_record(context))]
                )


def _measures(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "A measure is written NAME(parameter=value)@cutoff, all but the name optional: nDCG, nDCG@10, "
        "P(rel=2)@5. Several cutoffs and several measures go together: 'nDCG@5,10 AP'. Names are read "
        "in any case. A formula counts as a measure, too: '0.5*nDCG@10 + 0.5*RR'.",
    )
    with formatter.section("Measures"):
        formatter.write_dl([(each.name, each.title) for each in gf.catalogue()])
    with formatter.section("Parameters of nDCG"):
        parameters = gf.measures.family("nDCG").parameters
        formatter.write_dl([(each.name, each.values) for each in parameters])
    write_paragraphs(
        formatter,
        "`gainful measures NAME` defines each, with its parameters, an example and the paper. "
        "`gainful measures --subtopics` and `--recommend` list those for subtopics and for "
        "recommendations. --define takes one of your own.",
    )


def _policy(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "Two tools that compute the same measure often print different numbers, because of choices "
        "that are not part of the measure. Each choice is an option. What differs from the defaults is "
        "printed under every table; with --verbose and in files, all of it is. --dialect makes all "
        "choices as another tool does.",
    )
    for choice in gf.measures.choices():
        write_paragraphs(formatter, f"--{choice.name.replace('_', '-')}: {choice.question}")
        with formatter.indentation():
            answers = [
                (f"{name} (default)" if name == choice.default else name, meaning)
                for name, meaning in choice.answers.items()
            ]
            formatter.write_dl([*answers, *([("GRADE", choice.grade)] if choice.grade else [])])


def _dialects(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "--dialect TOOL measures as that tool does, with its gain, ideal and policy. `gainful dialects "
        "TOOL` tells all about one, `gainful why` which choices make two of them differ, and `gainful "
        "why --got NUMBER` which tool gives a number.",
    )
    with formatter.section("Dialects"):
        formatter.write_dl([(each.name, each.tool) for each in gf.dialects()])


_FORMATS = (
    ("TREC", "judgments `query iteration doc grade`, runs `query Q0 doc rank score tag`"),
    ("CSV, TSV", "names of columns in the first line; , ; tab or | between fields"),
    ("JSON lines", 'an object on each line, {"query_id": "q1", "doc_id": "d7", "relevance": 2}'),
    ("JSON", "{query: {doc: number}}, a list of objects, lists, or responses of search services"),
    ("Parquet", "a file, a directory, or a pattern in quotes"),
    ("SVMlight, LETOR", "`label qid:7 1:0.3`; a run is one prediction a line, in the same order"),
)


def _formats(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "Judgments say how useful a document is for a query; a run says what a system returned. Both "
        "are files of any of these formats, in any mixture. The format is told by what is in the file, "
        "and by its name only where that leaves a doubt.",
    )
    with formatter.section("Formats"):
        formatter.write_dl(list(_FORMATS))
    write_paragraphs(
        formatter,
        "Each may be packed, .gz or .zst, and - is standard input. A RUN may also be a folder or a quoted "
        "pattern of files, each of which is a run. The first file is the judgments, unless --judgments "
        "or the project's file (`gainful config`) names them; then every file is a RUN.",
    )
    write_paragraphs(
        formatter,
        "`gainful check` says what is wrong with files, `gainful convert` writes a run or judgments in "
        "another format. Names of columns: `gainful help columns`.",
    )


def _columns(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "Columns are found by their names, in any case, with _, - or a blank. These are known, the surest "
        "first; --columns names others.",
    )
    with formatter.section("Names"):
        names = gf.inputs.column_names()
        formatter.write_dl([(role, ", ".join(known)) for role, known in names.items()])
    _options(formatter, "columns")


def _output(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "Data goes to standard output or to --output, everything else to standard error. A file is "
        "replaced when the new one is complete. Its ending says the format, unless --format does.",
    )
    with formatter.section("Formats"):
        endings = gf.writing.endings()
        formatter.write_dl(
            [
                (name, ", ".join(ending for ending, each in endings.items() if each == name))
                for name in gf.writing.formats()
            ]
        )
    write_paragraphs(
        formatter,
        "table, markdown, latex and html round numbers, the others have all digits. csv, tsv and jsonl "
        "have no room for notes: policy and coverage go to standard error.",
    )
    with formatter.section("Exit codes"):
        formatter.write_dl(list(_EXITS))


_EXITS = (
    ("0", "done"),
    ("1", "a gate or a check failed"),
    ("2", "bad input or usage, which one line tells"),
    ("130, 143", "stopped, by Ctrl-C or by SIGTERM"),
)
_CONDITIONS = (
    ("Δ nDCG@10 < -0.01", "a change from BASE, of which all of the interval must say so; also change(nDCG@10)"),
    ("nDCG@10 < 0.6", "a floor of a RUN's mean, of which the lower end of the interval decides"),
    ("coverage < 0.9", "the share of the judged queries that the run has"),
    ("missing > 0", "how many judged queries the run lacks"),
    ("unjudged > 0.3", "the share of the documents looked at that have no judgment"),
    ("saturation > 0.5", "the share of queries where both runs have reached 1, of the measure where it is largest"),
    ("changed", "the judgments are not those of the saved baseline"),
)  # fmt: skip


def _gates(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "A gate decides whether a change may go on. `gainful compare` and `gainful evaluate` exit with 1 "
        "where --fail-if holds, or --fail-unless does not. The interval decides, not the mean: a change "
        "that may be chance does not fail.",
    )
    with formatter.section("Conditions"):
        formatter.write_dl(list(_CONDITIONS))
    write_paragraphs(
        formatter,
        "Δ, changed and saturation are conditions of `gainful compare`. Each option may be repeated. "
        "--junit and --summary write what became of them, for CI.",
    )


def _machine(formatter: Formatter) -> None:
    write_paragraphs(
        formatter,
        "Files are matched on this machine by DuckDB, which writes what does not fit the memory to disk. "
        "Where the data lies on a cluster, Spark does the same, with the same numbers.",
    )
    _options(formatter, "machine")


TOPICS = {
    "measures": Topic("What can be measured, and how a measure is written.", _measures),
    "policy": Topic("The choices that make two tools differ.", _policy),
    "dialects": Topic("The tools whose numbers --dialect gives.", _dialects),
    "formats": Topic("The files that are read.", _formats),
    "columns": Topic("Which columns hold what: names, ids, chunks, assessors.", _columns),
    "output": Topic("The formats that are written, and exit codes.", _output),
    "gates": Topic("The conditions of --fail-if and --fail-unless.", _gates),
    "machine": Topic("Memory, cores, and the engine that reads files.", _machine),
}
