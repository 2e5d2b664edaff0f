"""`gainful evaluate`."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.main import keep_imports, progress_bar
from gainful.cli.options import (
    ROWS,
    check_files,
    check_gate_files,
    finish_gate,
    gate_rules,
    judged_runs,
    leave_out_gate,
    print_result,
    read_shared_options,
    refuse_junit_alone,
    refuse_other_endings,
    refuse_tables,
)
from gainful.cli.project import ProjectCommand, command, current_project, is_set, is_typed

_SUBTOPICS = "alpha_nDCG@20"
_MOST_DIGITS = 18  # of a number of documents


def _method(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
    """Reject an unknown method."""
    if name is not None and name not in (methods := gf.comparison.comparison_choices()["interval"]):
        raise click.UsageError(f"--interval expects one of {', '.join(methods)}, not {name!r}.")
    return name


class _Evaluate(ProjectCommand):
    """The command; the method after --interval is optional."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if "--interval" in args[:end]:
            place = args.index("--interval")
            methods = list(gf.comparison.comparison_choices()["interval"])
            is_named = [*args[place + 1 : end], ""][0] in methods
            method = args[place + 1] if is_named else methods[0]
            args = [*args[:place], f"--interval={method}", *args[place + 1 + is_named :]]
        return super().parse_args(ctx, args)


@command(
    "gainful evaluate qrels.txt bm25.run",
    "gainful evaluate qrels.txt bm25.run dense.run -m 'nDCG@5,10 AP RR'",
    "gainful evaluate qrels.txt bm25.run --per-query -o scores.csv",
    "gainful evaluate qrels.txt bm25.run --interval --fail-if 'nDCG@10 < 0.3'",
    "gainful evaluate qrels.txt bm25.run --dialect trec_eval-9",
    cls=_Evaluate,
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN [RUN]...")
@option.give(
    "judgments",
    "measures",
    {
        "--subtopics": "JUDGMENTS list subtopics (query subtopic doc grade); measures as in `gainful measures --subtopics`, alpha_nDCG@20 by default.",
        "--bounds": "Also print the lowest and highest values that any grades of the unjudged documents could give, and the bounds of differences from the first RUN.",
        "--grades GRADES": "With --bounds: the possible grades of a document, as a list, 0,1,2,3, or as a range, 0..3.",
        "--unseen COUNT": "With --bounds: the number of unjudged documents that no run returned, 0 by default, or any for enough to fill an ideal list.",
        "--tie-warning AMOUNT>=0.0": "Warn if the order of tied documents can change the mean of a measure with a cutoff by more than this; reads the files twice.",
        "--save-baseline FILE": "Also save the per-query values of one RUN to this file for later comparisons; compressed if the name ends in .gz or .zst.",
        "--per-query": "Print one row per query instead of the means.",
    },
    "ends",
    {
        "--interval [METHOD]": option.more(
            "Print one row per RUN and measure, with the confidence interval of the mean; METHOD as in `gainful compare --help`.",
            callback=_method,
        ),
        "--level >0.0<1.0": "The confidence level of the intervals.  [default: 0.95]",
    },
    "gate",
    "gate_files",
    {
        "--slices INPUT": "A table with one row per query: also measure within each value of its columns, with means, intervals and missing queries.",
        "--by COLUMN...": "Slice by this column of --slices, or by judged (the number of judged documents); repeat for more.",
    },
    "digits",
    *option.RESULT,
    *option.EVALUATING,
    "spark",
    measures="What to measure, such as nDCG@10, DCG@5,10 or 'nDCG@10 AP RR'; repeat for more.",
    worst="Print only the N queries of each RUN with the lowest value of the first measure.",
    best="Print only the N queries of each RUN with the highest value of the first measure.",
    fail_if="Exit 1 if this holds; repeat for more. 'nDCG@10 < 0.6': a floor for a RUN's mean, checked against the lower end of the "
    "interval. Also 'coverage < 0.9', 'missing > 0', 'unjudged > 0.3'. For changes, see `gainful compare`.",
    fail_unless="Exit 1 unless the interval confirms this, such as 'nDCG@10 >= 0.6'. This is the same floor; repeat for more.",
)
def evaluate(files: tuple[str, ...], **options: Any) -> None:
    """Measure one or more RUNs against JUDGMENTS.

    Both are files: TREC, CSV, TSV, JSON, JSON lines, Parquet or SVMlight, optionally compressed; - is
    standard input. A RUN may also be a folder or a quoted pattern of runs. See `gainful help formats`.
    """
    option.refuse_conflicts("evaluate", options)
    judgments, runs = judged_runs(files, options)
    read = (judgments, *runs.values(), options["slices"])
    shared = read_shared_options(option.EVALUATING, options, *read)
    check_files(options, *read)
    _check_conditions(options, shared.get("dialect"))
    check_gate_files(options, ("output", "junit", "summary", "save_baseline"), *read)
    refuse_other_endings(options["save_baseline"], ".json")
    if options["save_baseline"] == "-" or (options["save_baseline"] and len(runs) > 1):
        raise click.UsageError("--save-baseline saves the scores of exactly one RUN, to a file.")
    refuse_junit_alone(options, _rules(options))
    if options["bounds"] or options["subtopics"]:
        refuse_tables(shared, "cannot be combined with --bounds or --subtopics")
    # This imports the modules that measure, once the options are known to be valid.
    evaluate_runs = gf.evaluate_runs
    keep_imports()
    if options["bounds"]:
        _write_bounds(judgments, runs, options, shared)
        return
    results: Mapping[str, gf.results.Scores]
    if options["subtopics"]:
        results = _evaluate_subtopics(judgments, runs, options, shared)
    else:
        with progress_bar() as progress:
            chosen = {name: options[name] for name in ("tie_warning", "slices", "by")}
            measures = list(options["measures"])
            results = evaluate_runs(
                judgments, runs, measures, progress=progress, **chosen, **shared
            )
    _finish(results, options)


def _finish(results: "Mapping[str, gf.results.Scores]", options: dict[str, Any]) -> None:
    """Save the baseline with --save-baseline, and print the scores."""
    if options["save_baseline"] is not None:
        (scores,) = results.values()
        gf.comparison.save_baseline(scores, options["save_baseline"])
    level = options["level"] or 0.95
    gate = _gate(results, options)
    notes = _notes(results, options, level)
    worst, best = options["worst"] or 0, options["best"] or 0
    if worst or best:
        rows = gf.results.RunScores(results).per_query.ends(worst=worst, best=best)
        print_result(rows, options, notes, bare=ROWS, gate=gate)
    else:
        chosen = {"per_query": options["per_query"], "interval": options["interval"]}
        print_result(results, options, notes, gate=gate, level=level, **chosen)
    finish_gate(gate, options, lambda: _summary(results, gate, options))


def _notes(
    results: "Mapping[str, gf.results.Scores]", options: dict[str, Any], level: float
) -> Iterator[str]:
    """Yield notes about the scores: intervals, dialect, policy and coverage."""
    is_sliced = options["slices"] is not None or options["by"]
    if options["interval"] is not None or is_sliced:
        kind = gf.results.Scores
        make = kind.slices_table if is_sliced else kind.intervals_table
        method = {} if options["interval"] is None else {"method": options["interval"]}
        yield from make(results, level=level, **method).notes
    first = next(iter(results.values()))
    if first.dialect is not None:
        yield f"dialect: {first.dialect}"
    policy = results.policy if isinstance(results, gf.results.RunScores) else first.policy
    yield f"policy: {policy}"
    for name, scores in results.items():
        yield f"{name}: {scores.coverage}"
    yield from first.aggregates


def _rules(options: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return options["fail_if"], options["fail_unless"]


def _check_conditions(options: dict[str, Any], dialect: str | None) -> None:
    """Reject conditions that cannot be checked, before the work."""
    for name in ("bounds", "subtopics"):
        if options[name]:
            leave_out_gate(options, f"with --{name}")
    if not any(_rules(options)):
        return
    if options["bounds"]:
        raise click.UsageError("--fail-if and --fail-unless cannot be combined with --bounds.")
    if not options["subtopics"]:  # subtopic measures are read with the subtopic judgments
        rules = gate_rules(options, list(options["measures"]), dialect=dialect, compared=False)
        options["fail_if"], options["fail_unless"] = rules


def _gate(
    results: "Mapping[str, gf.results.Scores]", options: dict[str, Any]
) -> "gf.results.Gate | None":
    """Check the conditions, if any."""
    if not any(_rules(options)):
        return None
    return gf.results.Gate.of_scores(
        results,
        *_rules(options),
        interval=options["interval"] or _of_comparisons("interval") or "hall",
        level=options["level"] or _of_comparisons("level") or 0.95,
    )


def _summary(
    results: "Mapping[str, gf.results.Scores]",
    gate: "gf.results.Gate | None",
    options: dict[str, Any],
) -> str:
    table = gf.writing.render(results, "markdown", digits=options["digits"])
    return f"{table}\n" if gate is None else f"{gate.to_markdown()}\n{table}\n"


def _of_comparisons(name: str) -> Any:
    """Return the project file's setting for comparisons, so that a floor means the same in both commands."""
    project = current_project()
    return None if project is None else project.use(f"compare.{name}")


def _evaluate_subtopics(
    judgments: str, runs: dict[str, str], options: dict[str, Any], shared: dict[str, Any]
) -> "dict[str, gf.results.Scores]":
    """Measure runs by judgments with subtopics, which are read once."""
    is_chosen = is_typed("measures") or is_set("measures")
    measures = list(options["measures"]) if is_chosen else _SUBTOPICS
    columns = shared.pop("columns")
    judged = gf.subtopics.read_subtopics(
        judgments,
        policy=shared["policy"],
        columns=_without(columns, "run", "score", "rank"),
        engine=shared["engine"],
    )
    shared["columns"] = _without(columns, "judgments", "grade", "subtopic")
    return {
        name: gf.subtopics.evaluate_subtopics(judged, run, measures, **shared)
        for name, run in runs.items()
    }


def _without(columns: Mapping[str, str], side: str, *roles: str) -> dict[str, str]:
    """Return the column names without those of one side."""
    return {
        key: name
        for key, name in columns.items()
        if key not in roles and not key.startswith(f"{side}.")
    }


def _write_bounds(
    judgments: str, runs: dict[str, str], options: dict[str, Any], shared: dict[str, Any]
) -> None:
    """Print the bounds of the runs' values."""
    if options["grades"] is None:
        raise click.UsageError(
            "--bounds needs --grades, such as --grades 0,1,2,3 or --grades 0..3."
        )
    low, dots, high = options["grades"].partition("..")
    grades = (low, high) if dots else set(options["grades"].split(","))
    count = options["unseen"] or "0"
    if count != "any" and not (count.isdecimal() and len(count) <= _MOST_DIGITS):
        raise click.UsageError("--unseen expects a number of documents, 0 or more, or any.")
    unseen = None if count == "any" else int(count)
    measures = list(options["measures"])
    with progress_bar() as progress:
        bounds = gf.judging.bounds_of_runs(
            judgments, runs, measures, grades=grades, unseen=unseen, progress=progress, **shared
        )
    notes = bounds.table().notes
    print_result(bounds, options, notes, bare=ROWS, per_query=options["per_query"])
