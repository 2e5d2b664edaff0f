"""The command about scores over time: `history`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import tell, write
from gainful.cli.option_table import Options
from gainful.cli.project import command, is_typed

_ACTIONS = ("add", "show", "page")
_AGAIN = "again"  # the name of the old run while both are measured
_OF_ADDING = ("label", "commit", "time", "again", "judgments", "weights", "clusters", "strata")
_OF_ENTRIES = {
    "--label TEXT": "The release, or anything else that happened, shown on the page.",
    "--commit TEXT": "The commit that is measured.",
    "--time TIME": "When it was measured, such as 2026-05-01T06:00; UTC unless it says otherwise.  [default: now]",
    "--again RUN": "If JUDGMENTS changed: the run of the previous entry, which is measured again, so that a jump can be attributed to judgments or run.",
}


@command(
    "gainful history add search.history qrels.txt bm25.run --label 2.4",
    "gainful history show search.history --changes",
    "gainful history page search.history -o history.html",
)
@click.argument("action", type=option.Choice(_ACTIONS), metavar="[add|show|page]")
@click.argument("path", type=option.InputFile(), metavar="FILE")
@click.argument("files", nargs=-1, type=option.InputFile(), metavar="[JUDGMENTS] [RUN]...")
@option.give(
    "judgments measures",
    _OF_ENTRIES,
    {"--changes": "With show: print the real changes instead of the entries."},
    "comparing.level sampling",
    {"--slices INPUT": "A table with one row per query, for --weights and --clusters."},
    "digits result evaluating",
    measures="With add: what to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more.",
    level="The joint level of all comparisons of a run, for the changes that are marked.",
)
def history(action: str, path: str, files: tuple[str, ...], **options: Any) -> None:
    """Keep scores over time in FILE, show them, or write a page that marks the real changes.

    add measures RUNs as `gainful evaluate` does, and appends an entry for each: entries of files with the same name are one
    line of the history. FILE only grows; it survives killed processes and any number of simultaneous writers. If it ends in
    .duckdb or .sqlite, it is a database; postgresql://USER@HOST/DATABASE keeps the history on a server. show prints the
    entries or their changes. page writes an HTML page with each measure over time, its intervals, labels, real changes and
    the queries behind them.
    """
    if action == "add":
        results = add_runs(path, files, options)
        call.print_result(results, options)
        return
    if wrong := [name for name in _OF_ADDING if is_typed(name)]:
        raise click.UsageError(
            f"{option.option_name(wrong[0])} needs the action add, not {action}."
        )
    if options["changes"] and action == "page":
        raise click.UsageError("--changes needs the action show; the page has the changes.")
    if files:
        raise click.UsageError(f"Expected {action} FILE, found also {' '.join(files)}.")
    call.read_shared_options(options)
    entries = gf.history.read(path)
    if action == "page":
        write(gf.history.page(entries, level=options["level"]), options["output"])
        return
    call.print_result(entries.changes(options["level"]) if options["changes"] else entries, options)


def add_runs(path: str, files: tuple[str, ...], options: Options) -> "gf.results.RunScores":
    """Measure runs, append an entry for each to a history, and return their scores."""
    if not files:
        raise click.UsageError(
            "Expected add FILE JUDGMENTS RUN, such as: gainful history add search.history qrels.txt bm25.run"
        )
    judgments, runs = call.judged_runs(files, options)
    old = options["again"]
    if old is not None and len(runs) > 1:
        raise click.UsageError(
            "--again measures the previous run of one RUN: add one RUN at a time."
        )
    shared = call.read_shared_options(options)
    named = {f"run {name}": run for name, run in runs.items()} | ({_AGAIN: old} if old else {})
    scores = call.work(gf.evaluate_runs, judgments, named, options=options, **shared)
    again = scores.pop(_AGAIN, None)
    results = gf.results.RunScores({name: scores[f"run {name}"] for name in runs})
    about = call.keywords(gf.history.add, options) | {"again": again}
    for name, result in results.items():
        entry = gf.history.add(path, result, run=name, **about)
        tell(f"{path}: added {name}, {entry.title}")
    return results
