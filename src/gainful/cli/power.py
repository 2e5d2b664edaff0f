"""`gainful power`."""

from dataclasses import replace
from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import is_typed, set_aside
from gainful.cli.options import (
    MEASURING,
    WITHOUT_NOTES,
    check_target,
    format_of,
    format_option,
    judgments_and_runs,
    judgments_option,
    layout_of,
    one_measure_option,
    output_option,
    read_shared_options,
    refuse_standard_input_twice,
    shared_options,
    verbose_option,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import tell, write

_RUNS = 2  # BASE RUN


@click.command(cls=ProjectCommand, examples=["gainful power --sd 0.18 --difference 0.02"])
@click.argument("files", nargs=-1, metavar="[[JUDGMENTS] BASE RUN]")
@judgments_option
@click.option(
    "--sd",
    type=click.FloatRange(0, min_open=True),
    help="The standard deviation of the differences between two systems, query by query; from "
    "BASE and RUN if they are given.",
)
@click.option(
    "--difference",
    type=click.FloatRange(0, min_open=True),
    help="The difference in the measure that is to be found.",
)
@click.option("--queries", type=click.IntRange(2), help="The number of queries that there are.")
@click.option(
    "--power",
    "power_",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The probability to find the difference.  [default: 0.8]",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="The probability to find a difference where there is none.",
)
@one_measure_option("The measure in which BASE and RUN differ.", "nDCG@10")
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
def power(files: tuple[str, ...], **options: Any) -> None:
    """Say how many queries a comparison needs, or what it can find with those it has.

    Give --difference to learn the queries, --queries to learn the smallest difference that would be
    found, or both to learn the power.
    """
    sd, basis = options["sd"], list[str]()
    if not files and not is_typed("judgments"):
        set_aside(options)  # nothing is read
    judgments, runs = judgments_and_runs(files, options)
    read = [*([] if judgments is None else [judgments]), *runs]
    given = read_shared_options(MEASURING, options, *read)
    if read:
        if len(runs) != _RUNS:
            wanted = "BASE RUN" if len(runs) == len(files) else "JUDGMENTS BASE RUN"
            raise click.UsageError(f"Expected {wanted}, found {' '.join(files)}.")
        if sd is not None:
            raise click.UsageError("Give JUDGMENTS BASE RUN, or --sd, not both.")
        refuse_standard_input_twice(*read)
        check_target(options["output"], *read)
    format_of(options)  # says what is wrong with it before the work
    if judgments is not None:
        both = dict(zip(("base", "run"), runs, strict=True))
        with progress_bar() as progress:
            found = gf.compare(judgments, both, options["measure"], progress=progress, **given)
        one = found.differences[0]
        sd = one.sd
        basis = [f"sd of the differences in {one.measure} over {one.queries} queries", *found.basis]
        if not sd:
            told = "one query" if sd is None else "the same difference on all queries"
            raise gf.errors.InputError("power", "runs that differ from query to query", told)
    if sd is None:
        raise click.UsageError("Give --sd, or JUDGMENTS BASE RUN to take it from.")
    solved = gf.power(
        sd=sd,
        difference=options["difference"],
        queries=options["queries"],
        power=options["power_"],
        alpha=options["alpha"],
    )
    table = solved.table()
    noted = replace(table, notes=[*table.notes, *basis])
    write(gf.writing.render(noted, format_of(options), **layout_of(options)), options["output"])
    if format_of(options) in (*WITHOUT_NOTES, "json"):  # the others carry it themselves
        for note in basis:
            tell(note)
