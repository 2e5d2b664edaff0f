"""`gainful calibrate`, and what `gainful compare --human --model` shares with it."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.gate_rules import json_with_gate
from gainful.cli.options import (
    MEASURING,
    WITHOUT_NOTES,
    Command,
    InputFile,
    check_target,
    format_of,
    format_option,
    layout_of,
    level_option,
    measure_option,
    output_option,
    read_shared_options,
    runs_of,
    shared_options,
    verbose_option,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import tell, write

_OF_GRADES = ("design", "strata", "by", "width", "judge")
_OF_COMPARING = ("baseline", "level", "margin", "correction")


def grades_options(command: Command) -> Command:
    """Give a command the options that say how people's queries were drawn."""
    options = (
        click.option(
            "--design",
            type=InputFile(),
            help="The design that `gainful sample` wrote: which queries people judged, and from which they were drawn.",
        ),
        click.option(
            "--drawn-at-random",
            is_flag=True,
            help="In place of --design: say that people's queries were drawn at random from those of the model.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    cls=ProjectCommand,
    examples=["gainful calibrate people.qrels model.qrels bm25.run dense.run --design design.json"],
)
@click.argument("human", type=InputFile(), metavar="HUMAN")
@click.argument("model", type=InputFile(), metavar="MODEL")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@measure_option("What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more.")
@grades_options
@click.option(
    "--baseline",
    metavar="NAME",
    help="The name of the run that the others are compared with.  [default: the first]",
)
@click.option(
    "--strata",
    type=InputFile(),
    help="A table with a row for each query: estimate in each stratum.",
)
@click.option("--by", metavar="COLUMN", help="The column of --strata.  [default: the only one]")
@level_option("The level of the intervals; p below 1 − level decides.")
@click.option(
    "--width",
    type=click.FloatRange(0, min_open=True),
    help="Say how many more queries people must judge for intervals of this width.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, min_open=True),
    help="A difference smaller than this does not matter: then equivalent is an answer.",
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni", "benjamini-hochberg", "none"]),
    default="holm",
    show_default=True,
    help="The correction of p for the number of comparisons.",
)
@click.option("--judge", metavar="NAME", help="The name of the model that judged.")
@click.option(
    "--generator",
    multiple=True,
    metavar="[RUN=]NAME",
    help="The name of the model that made the RUNs, or one of them; a model that judges itself is warned of. Repeat for more.",
)
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
def calibrate(human: str, model: str, runs: tuple[str, ...], **options: Any) -> None:
    """Say what RUNs are worth by people's grades of some queries and a model's of all.

    HUMAN are judgments of people, of queries that were drawn at random; MODEL those of a model, of
    all queries. The estimates (PPI++) err to no side, however wrong the model is.
    """
    named = runs_of(runs, options, human)
    refuse_standard_input(human, model, *named.values(), options["strata"], options["design"])
    read = [human, model, *named.values()]
    read += [options[name] for name in ("design", "strata") if options[name] is not None]
    check_target(options["output"], *read)
    format_of(options)  # says what is wrong with it before the work
    more = {name: options[name] for name in (*_OF_GRADES, *_OF_COMPARING)}
    found = calibrated(
        human,
        model,
        named,
        list(options["measures"]),
        options,
        generator=_generator(options, named),
        **more,
    )
    write_calibration(found, options)


def refuse_standard_input(*files: str | None) -> None:
    """Refuse -: runs are measured by people's grades, and again by the model's, and designs and grades are files, too."""
    if "-" in files:
        raise click.UsageError(
            "Grades, runs, designs and strata are not read from standard input here: name files."
        )


def calibrated(
    human: str,
    model: str,
    runs: dict[str, str],
    measures: list[str],
    options: dict[str, Any],
    **more: Any,
) -> "gf.results.Calibration":
    """Calibrate, with the options that commands share."""
    drawn = "random" if options["drawn_at_random"] else None
    given = read_shared_options(MEASURING, options, human, model, *runs.values())
    with progress_bar() as progress:
        return gf.calibrate(
            human, model, runs, measures, drawn=drawn, progress=progress, **more, **given
        )


def write_calibration(
    found: "gf.results.Calibration",
    options: dict[str, Any],
    digits: int | None = None,
    gate: "gf.results.Gate | None" = None,
) -> None:
    """Write a calibration; of formats without notes, these go to standard error."""
    text = gf.writing.render(found, format_of(options), digits=digits, **layout_of(options))
    if format_of(options) == "json":
        text = json_with_gate(text, gate)
    write(text, options["output"])
    if format_of(options) in WITHOUT_NOTES:
        for note in found.table().notes:
            tell(note)


def _generator(options: dict[str, Any], runs: dict[str, str]) -> str | dict[str, str] | None:
    """Return the name of the model that made all runs, or of each run."""
    given = options["generator"]
    named = dict(
        each.split("=", 1) for each in given if each.split("=", 1)[0] in runs and "=" in each
    )
    bare = [each for each in given if "=" not in each or each.split("=", 1)[0] not in runs]
    if bare and (named or len(bare) > 1):
        raise click.UsageError(
            "--generator is one NAME for all RUNs, or RUN=NAME for each, by the name of its file."
        )
    return bare[0] if bare else named or None
