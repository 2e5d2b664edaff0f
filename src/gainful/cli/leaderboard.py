"""`gainful leaderboard`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import check_files, judged_runs, read_shared_options, runs_of
from gainful.cli.output import print_result
from gainful.cli.process import progress_bar
from gainful.cli.project import leave_out, set_aside

_FEWEST = 2  # runs
_HOW = ("correction", "level", "resamples", "seed")


@command("gainful leaderboard qrels.txt runs/*.run -m nDCG@10 -f markdown")
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN RUN [RUN]...")
@option.give(
    "judgments",
    "measure",
    {
        "--scores": "Rank runs by existing scores, without judgments: one table with a row per query or task and a column per run, or one file per run.",
        f"--correction [{'|'.join(list(gf.comparison.comparison_choices()['correction']))}] = max-t-single": "How to correct for the number of pairs, as in `gainful compare`; corrections of p-values use t tests. By default, all intervals hold simultaneously.",
    },
    "level",
    "resamples",
    "seed",
    "digits",
    *option.RESULT,
    *option.EVALUATING,
    "spark",
    measure="The measure to rank by; with --scores, the column, or a name for the scores in one table.  [default: nDCG@10]",
    level="The joint confidence level of all rank intervals; two runs differ if p is below 1 − level.",
    resamples="The number of resamples for the correction.",
    seed="The random seed of the resamples.",
)
def leaderboard(files: tuple[str, ...], **options: Any) -> None:
    """Rank RUNs, with an interval for each rank and letters for groups of runs.

    JUDGMENTS and runs are files as for `gainful evaluate`. Every RUN is compared with every other, query
    by query. If two runs share a letter, their comparison is inconclusive. The interval of a rank runs
    from the best to the worst rank that the comparisons allow: the best is 1 plus the number of
    significantly better runs, the worst is the number of runs minus the significantly worse ones.
    """
    how = {name: options[name] for name in _HOW}
    found = (_by_scores if options["scores"] else _by_runs)(files, how, options)
    print_result(found, options, found.notes())


def _by_runs(
    files: tuple[str, ...], how: dict[str, Any], options: dict[str, Any]
) -> "gf.results.Leaderboard":
    judgments, runs = judged_runs(files, options, fewest=_FEWEST)
    check_files(options, judgments, *runs.values())
    shared = read_shared_options(option.EVALUATING, options, judgments, *runs.values())
    with progress_bar() as progress:
        measure = options["measure"] or "nDCG@10"
        return gf.leaderboard(judgments, runs, measure, progress=progress, **how, **shared)


def _by_scores(
    files: tuple[str, ...], how: dict[str, Any], options: dict[str, Any]
) -> "gf.results.Leaderboard":
    leave_out(options, option.options_of_runs(), option.NOT_OF_SCORES)
    set_aside(options, ["measure"])
    options.pop("judgments")
    tables = runs_of(files, options, None)
    check_files(options, *tables.values())
    scores = next(iter(tables.values())) if len(tables) == 1 else tables
    with progress_bar() as progress:
        return gf.comparison.leaderboard_of_scores(
            scores, options["measure"], progress=progress, **how
        )
