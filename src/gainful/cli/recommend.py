"""`gainful recommend`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.comparison_options import comparing_of, comparing_options
from gainful.cli.option_origins import is_typed, set_aside
from gainful.cli.options import (
    READING,
    WITHOUT_NOTES,
    InputFile,
    check_target,
    format_of,
    format_option,
    layout_of,
    leave_out_columns,
    output_option,
    read_shared_options,
    refuse_standard_input_twice,
    runs_of,
    shared_options,
    verbose_option,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import tell, write

_FEWEST = 2  # runs that can be compared
_FILES = ("items", "vectors", "history", "judgments", "expected")
_HIGHER = "better and worse mean higher and lower: whether high is good depends on the measure"


@click.command(
    cls=ProjectCommand,
    examples=[
        (
            "gainful recommend lists.csv --items films.csv --history ratings.csv -m Coverage@10 "
            "-m 'ILD(by=genre)@10'"
        )
    ],
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@click.option(
    "--measure",
    "-m",
    "asked",
    multiple=True,
    help="What to measure, such as Coverage@10 or 'ILD(by=genre)@10'; repeat for more. `gainful measures "
    "--recommend` lists them.  [default: all that can be measured with what is given, at 10]",
)
@click.option(
    "--items",
    type=InputFile(),
    help="The catalogue: a table with an item on each row and its categories in the other columns; an "
    "item of several categories may have several rows.",
)
@click.option(
    "--separator",
    metavar="TEXT",
    help="What stands between several categories in one cell of --items, such as '|'. "
    "Where it is not given, cells are split at |, ; or commas, with a warning that says so.",
)
@click.option(
    "--vectors", type=InputFile(), help="A table with an item and its numbers on each row."
)
@click.option(
    "--history",
    type=InputFile(),
    help="Past interactions: a table with a user and an item on each row, and perhaps a count.",
)
@click.option(
    "--judgments", type=InputFile(), help="What is relevant to users, as for `gainful evaluate`."
)
@click.option(
    "--expected",
    type=InputFile(),
    help="A run of what users expect, by which Serendipity goes.  [default: the most popular items of "
    "--history]",
)
@click.option("--per-user", is_flag=True, help="A row for each user instead of the means.")
@click.option(
    "--intervals",
    is_flag=True,
    help="A row for each RUN and measure, with the interval in which a mean over users lies.",
)
@click.option(
    "--compare",
    "compared",
    is_flag=True,
    help="Compare the RUNs with the first, user by user, by the measures of which users have values.",
)
@comparing_options
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals in the formats that round.")
@format_option
@output_option
@verbose_option
@shared_options(READING)
def recommend(runs: tuple[str, ...], **options: Any) -> None:
    """Measure the lists of RUNs beyond relevance.

    RUNs are files as for `gainful evaluate`, with users for queries and items for documents. Which
    other files a measure needs, `gainful measures --recommend NAME` tells.
    """
    _refuse_two_tables(options)
    named = runs_of(runs, options)
    given = {name: options.pop(name) for name in _FILES}
    read = [*named.values(), *(file for file in given.values() if file is not None)]
    refuse_standard_input_twice(*read)
    if given["judgments"] is None:
        set_aside(options, ["assessors"])
        leave_out_columns(options, of="judgments")
    reading = read_shared_options(READING, options, *read)
    check_target(options["output"], *read)
    format_of(options)  # says what is wrong with it before the work
    if options["compared"] and len(named) < _FEWEST:
        raise click.UsageError("--compare needs at least two RUNs.")
    with progress_bar() as progress:
        found = gf.recommending.evaluate_recommendation_runs(
            named,
            list(options["asked"]) or None,
            separator=options["separator"],
            progress=progress,
            **given,
            **reading,
        )
    if options["compared"]:
        _write_comparison(found, options)
    else:
        _write(found, options)


def _refuse_two_tables(options: dict[str, Any]) -> None:
    asked = {
        "--per-user": options["per_user"],
        "--intervals": options["intervals"],
        "--compare": options["compared"],
    }
    tables = [name for name, given in asked.items() if given]
    if len(tables) > 1:
        raise click.UsageError(f"{' and '.join(tables)} are two tables: give one of them.")
    for name in comparing_of(options):
        if is_typed(name) and not options["compared"] and name not in ("interval", "level"):
            raise click.UsageError(f"--{name} goes with --compare.")
        if is_typed(name) and name in ("interval", "level") and not tables:
            raise click.UsageError(f"--{name} goes with --intervals and --compare.")


def _write(found: "gf.results.RunScores", options: dict[str, Any]) -> None:
    """Print the values; what stands under a table goes to standard error where it has no room."""
    alone = len(found) == 1 and not options["per_user"] and not options["intervals"]
    table = format_of(options) in ("table", "markdown", "latex", "html") and alone
    result: Any = next(iter(found.values())).table() if table else found
    text = gf.writing.render(
        result,
        format_of(options),
        per_query=options["per_user"],
        digits=options["digits"],
        interval=options["interval"] if options["intervals"] else None,
        level=options["level"],
        **layout_of(options),
    )
    write(text, options["output"])
    if format_of(options) in WITHOUT_NOTES:
        for name, scores in found.items():
            tell(f"{name}: {scores.coverage}")
        for note in next(iter(found.values())).aggregates:
            tell(note)


def _write_comparison(found: "gf.results.RunScores", options: dict[str, Any]) -> None:
    """Print the differences between runs, of the measures of which users have values."""
    compared = gf.comparison.compare_scores(found, **comparing_of(options))
    text = gf.writing.render(
        compared, format_of(options), digits=options["digits"], **layout_of(options)
    )
    write(text, options["output"])
    if format_of(options) in WITHOUT_NOTES:
        for note in compared.notes():
            tell(note)
    tell(_HIGHER)
    for note in next(iter(found.values())).aggregates:
        tell(note)
