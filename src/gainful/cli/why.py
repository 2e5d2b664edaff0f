"""`gainful why`: why two tools give different numbers, or which tool gives one."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    MEASURING,
    WITHOUT_NOTES,
    check_target,
    format_of,
    format_option,
    given_choices,
    judgments_and_runs,
    judgments_option,
    layout_of,
    one_measure_option,
    output_option,
    read_shared_options,
    refuse_standard_input_twice,
    set_choices,
    shared_options,
    verbose_option,
)
from gainful.cli.standard_streams import tell, write

_TOOLS = 2  # whose gap is split
_WITHOUT_DIALECT = [name for name in MEASURING if name != "dialect"]


@click.command(
    cls=ProjectCommand,
    examples=[
        "gainful why qrels.txt my.run --dialects trec_eval,scikit-learn",
        "gainful why qrels.txt my.run --got 0.4231",
    ],
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN")
@judgments_option
@one_measure_option("The measure whose number is asked about.", "nDCG@10")
@click.option(
    "--dialects",
    metavar="TOOL,TOOL",
    help="Split the gap between the numbers of two tools into its causes. One tool alone is set beside "
    "gainful under the policy given here. `gainful dialects` lists them.",
)
@click.option(
    "--got",
    metavar="NUMBER",
    help="Find the tools and the choices that give this number, as far as its digits go: 0.4231 or 42.31%.",
)
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals in the formats that round.")
@format_option
@output_option
@verbose_option
@shared_options(_WITHOUT_DIALECT)
def why(files: tuple[str, ...], **options: Any) -> None:
    """Say why two tools give different numbers for RUN, or which of them gives a number.

    The gap is split by changing one choice at a time, from the first tool to the second. First come
    the measure's parameters, then what documents count as, then which queries count.
    """
    judgments, run = _judgments_and_run(files, options)
    if (options["dialects"] is None) == (options["got"] is None):
        raise click.UsageError("Give --dialects or --got, one of them.")
    names = (
        [name.strip() for name in options["dialects"].split(",")]
        if options["dialects"] is not None
        else []
    )
    alone = len(names) < _TOOLS or "gainful" in names
    if not alone:
        set_aside(options, set_choices())  # the tools have policies
    chosen = bool(given_choices() or set_choices())
    given = read_shared_options(_WITHOUT_DIALECT, options, judgments, run)
    refuse_standard_input_twice(judgments, run)
    measure = options["measure"]
    check_target(options["output"], judgments, run)
    format_of(options)  # says what is wrong with it before the work
    if not chosen:
        given["policy"] = None
    found: Any
    if options["got"] is not None:
        found = gf.which(judgments, run, measure, got=options["got"], **given)
        told = [*found.remarks, *found.basis]
    else:
        if given_choices() and not alone:
            raise click.UsageError(
                f"The tools have policies: leave out {', '.join(given_choices())}."
            )
        found = gf.why(judgments, run, measure, dialects=names, **given)
        told = found.basis
    write(
        gf.writing.render(
            found, format_of(options), digits=options["digits"], **layout_of(options)
        ),
        options["output"],
    )
    if format_of(options) in WITHOUT_NOTES:  # the others carry these themselves
        for note in told:
            tell(note)


def _judgments_and_run(files: tuple[str, ...], options: dict[str, Any]) -> tuple[str, str]:
    judgments, runs = judgments_and_runs(files, options)
    if judgments is None or len(runs) != 1:
        wanted = "RUN" if len(runs) == len(files) else "JUDGMENTS RUN"
        raise click.UsageError(f"Expected {wanted}, found {' '.join(files)}.")
    return judgments, runs[0]
