"""`gainful evaluate`."""

from collections.abc import Iterator
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import keep_imports
from gainful.cli.option_table import Options
from gainful.cli.project import ProjectCommand, command, current_project, is_set, is_typed


def _methods() -> list[str]:
    return list(gf.comparison.comparison_choices()["interval"])


def _method(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    """Reject an unknown method."""
    if name is not None and name not in _methods():
        raise click.UsageError(f"--interval expects one of {', '.join(_methods())}, not {name!r}.")
    return name


class IntervalCommand(ProjectCommand):
    """A command with --interval, after which the method is optional."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, with the default method if none follows --interval."""
        end = args.index("--") if "--" in args else len(args)
        if "--interval" in args[:end]:
            place = args.index("--interval")
            named = [word for word in args[place + 1 : end][:1] if word in _methods()]
            method = (named or _methods())[0]
            args = [*args[:place], f"--interval={method}", *args[place + 1 + len(named) :]]
        return super().parse_args(ctx, args)


INTERVAL = {
    "--interval [METHOD]": {
        "help": "Print one row per RUN and measure, with the confidence interval of the mean; `gainful help compare` describes the METHODs.",
        "callback": _method,
    }
}
"""The option of commands that print intervals of means."""


@command(
    "gainful evaluate qrels.txt bm25.run",
    "gainful evaluate qrels.txt bm25.run dense.run -m 'nDCG@5,10 AP RR'",
    "gainful evaluate qrels.txt bm25.run --per-query -o scores.csv",
    "gainful evaluate qrels.txt bm25.run --interval --fail-if 'nDCG@10 < 0.3'",
    "gainful evaluate qrels.txt bm25.run --dialect trec_eval-9",
    cls=IntervalCommand,
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN [RUN]...")
@option.give(
    "judgments measures",
    {
        "--subtopics -> has_subtopics": "JUDGMENTS have subtopics (query subtopic doc grade); -m defaults to alpha_nDCG@20 (see `gainful measures --subtopics`).",
        "--bounds": "Also print the lowest and highest values that any grades of the unjudged documents could give, and the bounds of differences from the first RUN. The output of --estimate always includes them.",
        "--unseen COUNT|any": "With --bounds or --estimate: the number of unjudged documents that no run returned (0 by default), or any, which means enough to fill an ideal list.",
    },
    "unjudged",
    {
        "--tie-warning AMOUNT>=0.0": "Warn if the order of tied documents can change the mean of a measure with a cutoff by more than this; reads the files twice.",
        "--save-baseline FILE": "Also save the per-query values of one RUN to this file for later comparisons; compressed if the name ends in .gz or .zst.",
        "--per-query": "Print one row per query instead of the means.",
        "--worst N>=1": "Print only the N worst queries of each RUN; the first measure decides.",
        "--best N>=1": "Print only the N best queries of each RUN; the first measure decides.",
        **INTERVAL,
        "--level >0.0<1.0": "The confidence level of the intervals.  [default: 0.95]",
    },
    "gate gate_files",
    {
        "--slices INPUT": "A table with one row per query: also measure within each value of its columns, with means, intervals and missing queries.",
        "--by COLUMN...": "Slice by this column of --slices, or by judged (the number of judged documents); repeat for more.",
    },
    "sampling digits result evaluating spark",
    measures="What to measure, such as nDCG@10, DCG@5,10 or 'nDCG@10 AP RR'; repeat for more.",
)
def evaluate(files: tuple[str, ...], **options: Any) -> None:
    """Measure one or more RUNs against JUDGMENTS.

    Both are files: TREC, CSV, TSV, JSON, JSON lines, Parquet or SVMlight, optionally compressed; - is
    standard input. A RUN may also be a folder or a quoted pattern of runs. See `gainful help formats`.
    """
    judgments, runs = call.judged_runs(files, options)
    _check_conditions(options)
    shared = call.read_shared_options(options)
    baseline = options["save_baseline"]
    if baseline == "-" or (baseline and len(runs) > 1):
        raise click.UsageError("--save-baseline saves the scores of exactly one RUN, to a file.")
    # This imports the modules that measure, once the options are known to be valid.
    evaluate_runs = gf.evaluate_runs
    keep_imports()
    if options["bounds"] or options["estimate"]:
        if options["unseen"] == "any":
            shared["unseen"] = None
        bounded = gf.judging.bounds_of_runs
        bounds = call.work(bounded, judgments, runs, options=options, **shared)
        call.print_result(bounds, options, per_query=options["per_query"])
    elif options["has_subtopics"]:
        _finish(_evaluate_subtopics(judgments, runs, options, shared), options)
    else:
        _finish(call.work(evaluate_runs, judgments, runs, options=options, **shared), options)


def _finish(results: "gf.results.RunScores", options: Options) -> None:
    """Save the baseline with --save-baseline, check the gate, and print the scores."""
    if options["save_baseline"] is not None:
        (scores,) = results.values()
        gf.comparison.save_baseline(scores, options["save_baseline"])
    interval, level, gate = options["interval"], options["level"], None
    rules = options["fail_if"], options["fail_unless"]
    if any(rules):
        # The project file's settings for comparisons apply, so that a floor means the same in both commands.
        gate = gf.results.Gate.of_scores(
            results,
            *rules,
            interval=interval or _of_comparisons("interval") or "hall",
            level=level or _of_comparisons("level") or 0.95,
        )
    worst, best = options["worst"] or 0, options["best"] or 0
    rows = results.per_query.ends(worst=worst, best=best) if worst or best else results
    how = {"per_query": options["per_query"], "interval": interval, "level": level or 0.95}
    is_sliced = options["slices"] is not None or options["by"]
    notes = _notes(results, how, is_sliced=is_sliced) if is_sliced or interval else None
    call.print_result(rows, options, notes, gate=gate, **how)

    def summary() -> str:
        table = gf.writing.render(results, "markdown", digits=options["digits"])
        return f"{table}\n" if gate is None else f"{gate.to_markdown()}\n{table}\n"

    call.finish_gate(gate, options, summary)


def _notes(runs: "gf.results.RunScores", how: dict[str, Any], *, is_sliced: bool) -> Iterator[str]:
    """Yield notes about intervals, and about the scores."""
    kind = gf.results.Scores
    make = kind.slices_table if is_sliced else kind.intervals_table
    yield from make(runs, level=how["level"], method=how["interval"] or "hall").notes
    yield from runs.table().notes


def _check_conditions(options: Options) -> None:
    """Reject conditions that cannot be checked, before the work."""
    for name in ("bounds", "estimate", "has_subtopics"):
        if options[name]:
            call.leave_out_gate(options, f"with --{name.removeprefix('has_')}")
    if not (options["fail_if"] or options["fail_unless"]):
        return
    for name in ("bounds", "estimate"):
        if options[name]:
            raise click.UsageError(f"--fail-if and --fail-unless cannot be combined with --{name}.")
    if not options["has_subtopics"]:
        # Subtopic measures are read with the subtopic judgments.
        options["fail_if"], options["fail_unless"] = call.gate_rules(options, compared=False)


def _of_comparisons(name: str) -> Any:
    project = current_project()
    return None if project is None else project.use(f"compare.{name}")


def _evaluate_subtopics(
    judgments: str, runs: dict[str, str], options: Options, shared: dict[str, Any]
) -> "gf.results.RunScores":
    """Measure runs by judgments with subtopics, which are read once."""
    is_chosen = is_typed("measures") or is_set("measures")
    measures = list(options["measures"]) if is_chosen else "alpha_nDCG@20"
    columns = shared.pop("columns")

    def without(side: str, *roles: str) -> dict[str, str]:
        names = columns.items()
        return {key: name for key, name in names if key not in roles and not key.startswith(side)}

    judged = gf.subtopics.read_subtopics(
        judgments,
        policy=shared["policy"],
        columns=without("run.", "score", "rank"),
        engine=shared["engine"],
    )
    shared["columns"] = without("judgments.", "grade", "subtopic")
    return gf.results.RunScores(
        (name, gf.subtopics.evaluate_subtopics(judged, run, measures, **shared))
        for name, run in runs.items()
    )
