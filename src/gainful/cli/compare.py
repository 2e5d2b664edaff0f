"""`gainful compare`."""

import sys
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli.options import (
    BARE,
    Command,
    chunks_of,
    folding_options,
    format_of,
    format_option,
    names_of,
    output_option,
    policy_of,
    policy_options,
    reading_of,
    reading_options,
    refuse_overwriting,
    write,
)
from gainful.cli.progress import progress_bar

_FAILED = 1
_FEWEST = 2  # files to compare
_OF_RUNS = ("columns", "memory", "threads", "temp_dir", "chunks", "chunk_map")


def _comparing_options(command: Command) -> Command:
    """Give a command an option for each choice of a comparison."""
    for name, choices in reversed(gf.comparison_choices().items()):
        meanings = "; ".join(f"{choice}: {meaning}" for choice, meaning in choices.items())
        command = click.option(
            f"--{name}",
            type=click.Choice(list(choices)),
            default=next(iter(choices)),
            show_default=True,
            help=f"{meanings}.",
        )(command)
    return command


@click.command(
    epilog="Example: gainful compare qrels.txt bm25.run dense.run -m nDCG@10 --fail-if 'nDCG@10 < -0.01'"
)
@click.argument("files", nargs=-1, required=True, metavar="JUDGMENTS BASE RUN [RUN]...")
@click.option(
    "--measure",
    "-m",
    "measures",
    multiple=True,
    help="What to measure, e.g. nDCG@10; repeat for more. With --scores, the columns to compare.  "
    "[default: nDCG@10; with --scores, all]",
)
@click.option(
    "--scores",
    is_flag=True,
    help="The files are scores of queries, BASE RUN [RUN]..., without judgments: tables with a column "
    "query, the output of trec_eval -q, or saved baselines.",
)
@_comparing_options
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals; p below 1 − level decides.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    help="A difference smaller than this does not matter: then equivalent is an answer.",
)
@click.option(
    "--resamples",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Of randomisation and bootstrap.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of both.")
@click.option(
    "--slices",
    metavar="FILE",
    help="A table with a row for each query: compare within each value of its columns, too.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Slice by this column of --slices, by judged (how many documents are), or by baseline (its "
    "score); repeat for more.",
)
@click.option(
    "--fail-if",
    multiple=True,
    metavar="CONDITION",
    help="Exit 1 if the interval of the difference from BASE says so: 'nDCG@10 < -0.01'. Also "
    "'coverage < 0.9', 'missing > 0', 'unjudged > 0.3', 'saturation > 0.5', and changed (the "
    "judgments, since the baseline was saved); repeat for more.",
)
@click.option(
    "--fail-unless",
    multiple=True,
    metavar="CONDITION",
    help="Exit 1 unless the interval says so: 'nDCG@10 > -0.01' demands proof; repeat for more.",
)
@click.option("--junit", metavar="FILE", help="Write the conditions as JUnit XML.")
@click.option("--summary", metavar="FILE", help="Write a summary in Markdown, for a pull request.")
@click.option("--html", metavar="FILE", help="Write a page.")
@click.option(
    "--tests", "tests_", is_flag=True, help="All p-values of all tests instead of the differences."
)
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals in the formats that round.")
@format_option
@output_option
@reading_options
@policy_options
@folding_options
def compare(files: tuple[str, ...], **options: Any) -> None:
    """Say whether RUNs are better than BASE, how sure that is, and where they differ.

    JUDGMENTS and runs are files as for `gainful evaluate`; BASE may also be a baseline that
    `gainful evaluate --save-baseline` wrote. Every RUN is compared with BASE, query by query; p is
    corrected for the number of comparisons.
    """
    judgments, runs = _files(files, scores=options["scores"])
    _check_files(files, options)
    rules = options["fail_if"], options["fail_unless"]
    if options["junit"] and not any(rules):
        raise click.UsageError("--junit reports conditions: give --fail-if or --fail-unless.")
    found = _compared(judgments, runs, options)
    gate = found.gate(*rules) if any(rules) else None
    _write(found, gate, options)
    if gate is not None:
        click.echo(f"\n{gate}", err=True)
        if gate.failed:
            sys.exit(_FAILED)


def _files(files: tuple[str, ...], *, scores: bool) -> tuple[str | None, tuple[str, ...]]:
    runs = files if scores else files[1:]
    if len(runs) < _FEWEST:
        wanted = "BASE RUN" if scores else "JUDGMENTS BASE RUN"
        raise click.UsageError(f"Nothing to compare: expected {wanted}, found {' '.join(files)}.")
    return (None if scores else files[0]), runs


def _check_files(files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse what cannot be read twice, and to write over an input or twice, before the work."""
    read = [*files, *([] if options["slices"] is None else [options["slices"]])]
    if read.count("-") > 1:
        raise click.UsageError("Standard input can be read once: give - for one file only.")
    targets = [options[name] for name in ("output", "junit", "summary", "html") if options[name]]
    for target in targets:
        refuse_overwriting(target, *read)
    if len({Path(target).resolve() for target in targets}) < len(targets):
        raise click.UsageError("Each output needs a file of its own.")


def _refuse_reading() -> None:
    """Refuse options about judgments and runs where there are none."""
    context = click.get_current_context()
    for name in (*(choice.name for choice in gf.choices()), *_OF_RUNS):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is about judgments and runs, not for --scores.")


def _compared(
    judgments: str | None, files: tuple[str, ...], options: dict[str, Any]
) -> gf.Comparison:
    if judgments is None:
        _refuse_reading()
    policy, chunks, reading = policy_of(options), chunks_of(options), reading_of(options)
    runs = dict(zip(names_of(files), files, strict=True))
    names = [*gf.comparison_choices(), "level", "margin", "resamples", "seed", "slices", "by"]
    chosen = {name: options[name] for name in names}
    measures = list(options["measures"])
    with progress_bar() as progress:
        if judgments is None:
            return gf.compare_scores(runs, measures or None, progress=progress, **chosen)
        return gf.compare(
            judgments,
            runs,
            measures or "nDCG@10",
            policy=policy,
            chunks=chunks,
            progress=progress,
            **chosen,
            **reading,
        )


def _write(found: gf.Comparison, gate: gf.Gate | None, options: dict[str, Any]) -> None:
    shown = found.tests_table() if options["tests_"] else found
    write(gf.render(shown, format_of(options), digits=options["digits"]), options["output"])
    if format_of(options) in BARE and not options["tests_"]:
        for note in found.notes():
            click.echo(note, err=True)
        if found.slices:
            click.echo(
                f"{len(found.slices)} slices: in json, table, markdown, latex, html", err=True
            )
    if options["junit"] and gate is not None:
        gf.write_text(gate.to_junit(), options["junit"])
    if options["summary"]:
        text = found.to_markdown() + "\n" if gate is None else gate.to_markdown()
        gf.write_text(text, options["summary"])
    if options["html"]:
        gf.write_text(found.to_page(Path(options["html"]).stem), options["html"])
