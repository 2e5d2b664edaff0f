"""`gainful leaderboard`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import is_typed, set_aside
from gainful.cli.options import (
    MEASURING,
    WITHOUT_NOTES,
    check_target,
    engine_options,
    format_of,
    format_option,
    judgments_and_runs,
    judgments_option,
    layout_of,
    level_option,
    one_measure_option,
    output_option,
    read_shared_options,
    refuse_standard_input_twice,
    resamples_option,
    runs_of,
    seed_option,
    shared_options,
    verbose_option,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import tell, write

_FEWEST = 2  # runs
_HOW = ("correction", "level", "resamples", "seed")
_OF_RUNS = (
    "judgments", "columns", "query_ids", "assessors", "memory", "threads", "temp_dir", "unpacked", "engine",
    "master", "dialect", "chunks", "chunk_map"
)  # fmt: skip


@click.command(
    cls=ProjectCommand,
    examples=["gainful leaderboard qrels.txt runs/*.run -m nDCG@10 -f markdown"],
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN RUN [RUN]...")
@judgments_option
@one_measure_option(
    "What to rank by. With --scores, the column, or what the scores of one table are called.  "
    "[default: nDCG@10]"
)
@click.option(
    "--scores",
    is_flag=True,
    help="The files are scores, without judgments: one table with a row for each query or task and a "
    "column for each run; or several, each the scores of a run, as for `gainful compare --scores`.",
)
@click.option(
    "--correction",
    type=click.Choice(list(gf.comparison.comparison_choices()["correction"])),
    default="max-t-single",
    show_default=True,
    help="The correction of p for the number of pairs, as for `gainful compare`; those of p-values take t "
    "tests. By the default all intervals hold at once.",
)
@level_option(
    "The level of all intervals of ranks together; p below 1 − level tells two runs apart."
)
@resamples_option("The number of resamples of the correction.")
@seed_option("The seed of the resamples.")
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals in the formats that round.")
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
@engine_options
def leaderboard(files: tuple[str, ...], **options: Any) -> None:
    """Rank RUNs, with the interval of each rank, and letters for those that cannot be told apart.

    JUDGMENTS and runs are files as for `gainful evaluate`. Every RUN is compared with every other, query
    by query. Runs that share a letter cannot be told apart. The rank of a run lies from its best
    rank to its worst. The best is 1 and the runs that are found better, the worst all runs less those
    that are found worse.
    """
    how = {name: options[name] for name in _HOW}
    format_of(options)  # says what is wrong with it before the work
    found = (_by_scores if options["scores"] else _by_runs)(files, how, options)
    text = gf.writing.render(
        found, format_of(options), digits=options["digits"], **layout_of(options)
    )
    write(text, options["output"])
    if format_of(options) in WITHOUT_NOTES:
        for note in found.notes():
            tell(note)


def _by_runs(
    files: tuple[str, ...], how: dict[str, Any], options: dict[str, Any]
) -> "gf.results.Leaderboard":
    judgments, given = judgments_and_runs(files, options)
    runs = runs_of(given, options, judgments)
    if judgments is None or len(runs) < _FEWEST:
        wanted = "RUN RUN" if len(given) == len(files) else "JUDGMENTS RUN RUN"
        raise click.UsageError(f"Nothing to rank: expected {wanted}, found {' '.join(files)}.")
    refuse_standard_input_twice(judgments, *runs.values())
    check_target(options["output"], judgments, *runs.values())
    shared = read_shared_options(MEASURING, options, judgments, *runs.values())
    with progress_bar() as progress:
        measure = options["measure"] or "nDCG@10"
        return gf.leaderboard(judgments, runs, measure, progress=progress, **how, **shared)


def _by_scores(
    files: tuple[str, ...], how: dict[str, Any], options: dict[str, Any]
) -> "gf.results.Leaderboard":
    names = (*(choice.name for choice in gf.measures.choices()), *_OF_RUNS)
    for name in names:
        if is_typed(name):
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is about judgments and runs, not for --scores.")
    set_aside(options, ("measure", *names))  # what the project's file says of them
    options.pop("judgments")
    tables = runs_of(files, options, None)
    refuse_standard_input_twice(*tables.values())
    check_target(options["output"], *tables.values())
    scores = next(iter(tables.values())) if len(tables) == 1 else tables
    with progress_bar() as progress:
        return gf.comparison.leaderboard_of_scores(
            scores, options["measure"], progress=progress, **how
        )
