"""`gainful recommend`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import (
    check_files,
    comparing_of,
    leave_out_columns,
    read_shared_options,
    runs_of,
)
from gainful.cli.output import format_of, print_result
from gainful.cli.process import progress_bar, tell
from gainful.cli.project import is_typed, set_aside

_FEWEST = 2  # runs that can be compared
_FILES = ("items", "vectors", "history", "judgments", "expected")
_HIGHER = "better and worse mean higher and lower here: whether a high value is good depends on the measure"


@command(
    "gainful recommend lists.csv --items films.csv --history ratings.csv -m Coverage@10 "
    "-m 'ILD(by=genre)@10'"
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    {
        "--measure, -m TEXT...": option.more(
            "What to measure, such as Coverage@10 or 'ILD(by=genre)@10' (see `gainful measures --recommend`); repeat for more.  "
            "[default: everything that the files allow, at 10]",
            name="asked",
        ),
    },
    "items",
    "judgments",
    {
        "--per-user": "Print one row per user instead of the means.",
        "--intervals": "Print one row per RUN and measure, with the confidence interval of the mean over users.",
        "--compare": option.more(
            "Compare the RUNs with the first, user by user, by the measures with per-user values.",
            name="compared",
        ),
    },
    "comparing",
    "digits",
    *option.RESULT,
    *option.READING,
    judgments="The items relevant to each user, as for `gainful evaluate`.",
)
def recommend(runs: tuple[str, ...], **options: Any) -> None:
    """Measure recommendations beyond relevance: coverage, novelty, diversity.

    RUNs are files as for `gainful evaluate`, with users as queries and items as documents. `gainful
    measures --recommend NAME` lists the other files that a measure needs.
    """
    option.refuse_conflicts("recommend", options)
    for name in comparing_of(options):
        needed = ["--compare"]
        if name in ("interval", "level"):
            needed.insert(0, "--intervals")
        if is_typed(name) and not (
            options["compared"] or (options["intervals"] and len(needed) > 1)
        ):
            raise click.UsageError(f"--{name} requires {' or '.join(needed)}.")
    named = runs_of(runs, options)
    tables = {name: options.pop(name) for name in _FILES}
    read = (*named.values(), *tables.values())
    check_files(options, *read)
    if tables["judgments"] is None:
        set_aside(options, ["assessors"])
        leave_out_columns(options, of="judgments")
    shared = read_shared_options(option.READING, options, *read)
    if options["compared"] and len(named) < _FEWEST:
        raise click.UsageError("--compare needs at least two RUNs.")
    with progress_bar() as progress:
        found = gf.recommending.evaluate_recommendation_runs(
            named,
            list(options["asked"]) or None,
            separator=options["separator"],
            progress=progress,
            **tables,
            **shared,
        )
    if options["compared"]:
        _write_comparison(found, options)
    else:
        _write(found, options)


def _write(found: "gf.results.RunScores", options: dict[str, Any]) -> None:
    """Print the values; notes go to standard error if the format has no room for them."""
    alone = len(found) == 1 and not options["per_user"] and not options["intervals"]
    table = format_of(options) in ("table", "markdown", "latex", "html") and alone
    result: Any = next(iter(found.values())).table() if table else found
    notes = [f"{name}: {scores.coverage}" for name, scores in found.items()]
    print_result(
        result,
        options,
        [*notes, *next(iter(found.values())).aggregates],
        per_query=options["per_user"],
        interval=options["interval"] if options["intervals"] else None,
        level=options["level"],
    )


def _write_comparison(found: "gf.results.RunScores", options: dict[str, Any]) -> None:
    """Print the differences between runs, by the measures with per-user values."""
    compared = gf.comparison.compare_scores(found, **comparing_of(options))
    print_result(compared, options, compared.notes())
    tell(_HIGHER)
    for note in next(iter(found.values())).aggregates:
        tell(note)
