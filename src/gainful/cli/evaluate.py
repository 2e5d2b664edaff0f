"""`gainful evaluate`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import startup_speed
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.gate_rules import gate_rules, json_with_gate, leave_out_gate
from gainful.cli.option_origins import current_project, is_set, is_typed
from gainful.cli.options import (
    MEASURING,
    WITHOUT_NOTES,
    InputFile,
    check_gate_files,
    check_target,
    ends_options,
    engine_options,
    format_of,
    format_option,
    gate_files_options,
    gate_options,
    judgments_and_runs,
    judgments_option,
    layout_of,
    measure_option,
    output_option,
    read_shared_options,
    refuse_junit_alone,
    refuse_missing,
    refuse_other_endings,
    refuse_standard_input_twice,
    runs_of,
    shared_options,
    verbose_option,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import tell, tell_lines, write

_SUBTOPICS = "alpha_nDCG@20"
_FAILED = 1
_MOST_DIGITS = 18  # of a number of documents


def _method(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    """Refuse a method that there is not."""
    if given is not None and given not in (known := gf.comparison.comparison_choices()["interval"]):
        raise click.UsageError(f"--interval is by one of {', '.join(known)}, not by {given!r}.")
    return given


class _Evaluate(ProjectCommand):
    """The command, whose --interval may stand alone: what follows is its method only if there is one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if "--interval" in args[:end]:
            place = args.index("--interval")
            methods = list(gf.comparison.comparison_choices()["interval"])
            named = [*args[place + 1 : end], ""][0] in methods
            method = args[place + 1] if named else methods[0]
            args = [*args[:place], f"--interval={method}", *args[place + 1 + named :]]
        return super().parse_args(ctx, args)


@click.command(
    cls=_Evaluate,
    examples=[
        "gainful evaluate qrels.txt bm25.run",
        "gainful evaluate qrels.txt bm25.run dense.run -m 'nDCG@5,10 AP RR'",
        "gainful evaluate qrels.txt bm25.run --per-query -o scores.csv",
        "gainful evaluate qrels.txt bm25.run --interval --fail-if 'nDCG@10 < 0.3'",
        "gainful evaluate qrels.txt bm25.run --dialect trec_eval-9",
    ],
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN [RUN]...")
@judgments_option
@measure_option("What to measure, such as nDCG@10, DCG@5,10 or 'nDCG@10 AP RR'; repeat for more.")
@click.option(
    "--subtopics",
    is_flag=True,
    help="JUDGMENTS tell subtopics of the queries apart (query subtopic doc grade), and the "
    "measures are those that `gainful measures --subtopics` lists; alpha_nDCG@20 by default.",
)
@click.option(
    "--bounds",
    is_flag=True,
    help="Also print the lowest and the highest value, whatever the grades of documents without a "
    "judgment are, and of differences from the first RUN.",
)
@click.option(
    "--grades",
    metavar="GRADES",
    help="With --bounds, the grades that a document may have: all of them, 0,1,2,3, or the ends of a "
    "range, 0..3.",
)
@click.option(
    "--unseen",
    metavar="COUNT",
    help="With --bounds, how many documents without a judgment there are besides those retrieved, "
    "0 if not given; any for so many that an ideal can be full of them.",
)
@click.option(
    "--tie-warning",
    type=click.FloatRange(min=0),
    metavar="AMOUNT",
    help="Warn where the order of tied documents can move the mean of a measure with a cutoff by "
    "more than this; the files are then read twice.",
)
@click.option(
    "--save-baseline",
    metavar="FILE",
    help="Also save the values of every query to this file, for comparisons that come later; of one "
    "RUN. It is packed where the name ends in .gz or .zst.",
)
@click.option("--per-query", is_flag=True, help="A row for each query instead of the means.")
@ends_options(
    "The same of the N queries of each RUN with the lowest value of the first measure.",
    "The same of the N queries of each RUN with the highest.",
)
@click.option(
    "--interval",
    metavar="[METHOD]",
    callback=_method,
    help="A row for each RUN and measure, with the interval in which the mean lies. METHOD is "
    "one of those that `gainful compare --help` tells of, the first if none is named.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The level of the intervals.  [default: 0.95]",
)
@gate_options(
    "Exit 1 if this holds, such as 'nDCG@10 < 0.6'. That is a floor of a RUN's mean, of which the lower "
    "end of the interval decides. Also 'coverage < 0.9', 'missing > 0', 'unjudged > 0.3'; repeat for "
    "more. Of changes, see `gainful compare`.",
    "Exit 1 unless the interval says so, such as 'nDCG@10 >= 0.6'. That is the same floor; repeat for more.",
)
@gate_files_options
@click.option(
    "--slices",
    type=InputFile(),
    help="A table with a row for each query: measure within each value of its columns, too, and "
    "print the mean, its interval and what was missing of each.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Slice by this column of --slices, or by judged (how many documents are); repeat for more.",
)
@click.option("--digits", type=click.IntRange(0, 17), help="Decimals in the formats that round.")
@format_option
@output_option
@verbose_option
@shared_options(MEASURING)
@engine_options
def evaluate(files: tuple[str, ...], **options: Any) -> None:
    """Measure one or more RUNs against JUDGMENTS.

    Both are files: TREC, CSV, TSV, JSON, JSON lines, Parquet or SVMlight, also packed; - is
    standard input. A RUN may also be a folder or a quoted pattern of runs. `gainful help formats`
    tells more.
    """
    if options["engine"] == "spark" and (options["bounds"] or options["subtopics"]):
        raise click.UsageError("--engine spark goes neither with --bounds nor with --subtopics.")
    judgments, given_runs = judgments_and_runs(files, options)
    if judgments is None or not given_runs:
        refuse_missing("RUN [RUN]...", "evaluate")
    named = runs_of(given_runs, options, judgments)
    runs = tuple(named.values())
    read = [judgments, *runs, *([] if options["slices"] is None else [options["slices"]])]
    given = read_shared_options(MEASURING, options, *read)
    refuse_standard_input_twice(*read)
    check_target(options["output"], *read)
    format_of(options)  # says what is wrong with it before the work
    _check_saving(read, runs, options)
    _check_intervals(options)
    _check_conditions(options, given.get("dialect"))
    check_gate_files(options, ("output", "junit", "summary", "save_baseline"), *read)
    refuse_junit_alone(options, _rules(options))
    # This imports what measures, now that there is something to measure.
    evaluate_runs = gf.evaluate_runs
    startup_speed.keep_imports()
    if options["bounds"]:
        if options["subtopics"]:
            raise click.UsageError("--bounds does not go with --subtopics.")
        _write_bounds(judgments, named, options, given)
        return
    if options["grades"] is not None or options["unseen"] is not None:
        raise click.UsageError("--grades and --unseen go with --bounds.")
    results: Mapping[str, gf.results.Scores]
    if options["subtopics"]:
        results = _evaluate_subtopics(judgments, named, options, given)
    else:
        with progress_bar() as progress:
            results = evaluate_runs(
                judgments,
                named,
                list(options["measures"]),
                tie_warning=options["tie_warning"],
                slices=options["slices"],
                by=options["by"],
                progress=progress,
                **given,
            )
    _finish(results, options)


def _finish(results: "Mapping[str, gf.results.Scores]", options: dict[str, Any]) -> None:
    """Save the baseline, if one is asked for, and print the scores."""
    if options["save_baseline"] is not None:
        (scores,) = results.values()
        gf.save_baseline(scores, options["save_baseline"])
    level = options["level"] or 0.95
    gate = _gate(results, options)
    text = _rendered(results, options, level)
    if format_of(options) == "json":
        text = json_with_gate(text, gate)
    write(text, options["output"])
    # The ends alone are a list in json, without room for notes.
    bare = (*WITHOUT_NOTES, "json") if any(_ends(options).values()) else WITHOUT_NOTES
    if format_of(options) in bare:  # the others carry these themselves
        if options["interval"] is not None or _is_sliced(options):
            make = (
                gf.results.Scores.slices_table
                if _is_sliced(options)
                else gf.results.Scores.intervals_table
            )
            named = {} if options["interval"] is None else {"method": options["interval"]}
            for note in make(results, level=level, **named).notes:
                tell(note)
        first = next(iter(results.values()))
        if first.dialect is not None:
            tell(f"dialect: {first.dialect}")
        policy = results.policy if isinstance(results, gf.results.RunScores) else first.policy
        tell(f"policy: {policy}")
        for name, scores in results.items():
            tell(f"{name}: {scores.coverage}")
        for note in first.aggregates:
            tell(note)
    _pass_gate(results, gate, options)


def _ends(options: dict[str, Any]) -> dict[str, int]:
    """Return how many of the worst and of the best queries are asked for."""
    return {name: options[name] or 0 for name in ("worst", "best")}


def _rendered(
    results: "Mapping[str, gf.results.Scores]", options: dict[str, Any], level: float
) -> str:
    """Return the table that is asked for as text."""
    ends = _ends(options)
    if any(ends.values()):
        found = gf.results.RunScores(results).per_query.ends(worst=ends["worst"], best=ends["best"])
        return gf.writing.render(
            found, format_of(options), digits=options["digits"], **layout_of(options)
        )
    return gf.writing.render(
        results,
        format_of(options),
        per_query=options["per_query"],
        digits=options["digits"],
        interval=options["interval"],
        level=level,
        **layout_of(options),
    )


def _rules(options: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return options["fail_if"], options["fail_unless"]


def _check_conditions(options: dict[str, Any], dialect: str | None) -> None:
    """Refuse conditions that could not be checked, before the work."""
    for name in ("bounds", "subtopics"):
        if options[name]:
            leave_out_gate(options, f"with --{name}")
    if not any(_rules(options)):
        return
    if options["bounds"]:
        raise click.UsageError("--fail-if and --fail-unless do not go with --bounds.")
    if not options["subtopics"]:  # their measures are read with their judgments
        rules = gate_rules(options, list(options["measures"]), dialect=dialect, compared=False)
        options["fail_if"], options["fail_unless"] = rules


def _gate(
    results: "Mapping[str, gf.results.Scores]", options: dict[str, Any]
) -> "gf.results.Gate | None":
    """Check the conditions, if there are any."""
    if not any(_rules(options)):
        return None
    return gf.results.Gate.of_scores(
        results,
        *_rules(options),
        interval=options["interval"] or _of_comparisons("interval") or "hall",
        level=options["level"] or _of_comparisons("level") or 0.95,
    )


def _pass_gate(
    results: "Mapping[str, gf.results.Scores]",
    gate: "gf.results.Gate | None",
    options: dict[str, Any],
) -> None:
    """Tell what a gate decided, and end with 1 where it fails."""
    if gate is not None:
        tell_lines(f"\n{gate}")
    if gate is not None and options["junit"]:
        gf.writing.write_text(gate.to_junit(), options["junit"])
    if options["summary"]:
        table = gf.writing.render(results, "markdown", digits=options["digits"])
        told = "" if gate is None else f"{gate.to_markdown()}\n"
        gf.writing.write_text(f"{told}{table}\n", options["summary"])
    if gate is not None and gate.failed:
        sys.exit(_FAILED)


def _of_comparisons(name: str) -> Any:
    """Return what the project's file says of comparisons, so that a floor is the same in both."""
    project = current_project()
    return None if project is None else project.use(f"compare.{name}")


def _is_sliced(options: dict[str, Any]) -> bool:
    return options["slices"] is not None or bool(options["by"])


def _check_intervals(options: dict[str, Any]) -> None:
    """Refuse what does not go with intervals and slices."""
    given = {
        "--interval": options["interval"] is not None,
        "--slices": options["slices"] is not None,
        "--by": bool(options["by"]),
    }
    asked = " and ".join(name for name, there in given.items() if there)
    if asked and options["bounds"]:
        raise click.UsageError(f"Leave out --bounds, or {asked}: they do not go together.")
    ends = [f"--{name}" for name, count in _ends(options).items() if count]
    rows = " and ".join(["--per-query"] * options["per_query"] + ends)
    if asked and rows:
        raise click.UsageError(f"Leave out {rows}, or {asked}, which tells of means.")
    if options["per_query"] and ends:
        raise click.UsageError(f"{rows} are two tables: give one of them.")
    if options["bounds"] and (ends or options["summary"]):
        raise click.UsageError("--bounds goes neither with --worst and --best nor with --summary.")
    if _is_sliced(options) and options["subtopics"]:
        raise click.UsageError("--subtopics goes neither with --slices nor with --by.")
    if options["level"] is not None and not asked and not any(_rules(options)):
        raise click.UsageError(
            "--level goes with --interval, --slices, --by, --fail-if and --fail-unless."
        )


def _check_saving(read: list[str], runs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse to save what is no baseline, or where something else stands, before the work."""
    target, output = options["save_baseline"], options["output"]
    if target is None:
        return
    if len(runs) > 1:
        raise click.UsageError("--save-baseline saves the scores of one RUN.")
    if options["bounds"] or options["subtopics"]:
        raise click.UsageError("--save-baseline goes neither with --bounds nor with --subtopics.")
    if target == "-" or (output is not None and Path(target).resolve() == Path(output).resolve()):
        raise click.UsageError("--save-baseline needs a file of its own, beside the table.")
    refuse_other_endings(target, ".json")
    check_target(target, *read)


def _evaluate_subtopics(
    judgments: str,
    runs: Mapping[str, str],
    options: dict[str, Any],
    given: dict[str, Any],
) -> "dict[str, gf.results.Scores]":
    """Measure runs where queries have subtopics; the judgments are read once."""
    asked = is_typed("measures") or is_set("measures")
    measures = list(options["measures"]) if asked else _SUBTOPICS
    judged = gf.subtopics.read_subtopics(
        judgments,
        policy=given["policy"],
        columns=_without(given["columns"], "run", "score", "rank"),
        engine=given["engine"],
    )
    given["columns"] = _without(given["columns"], "judgments", "grade", "subtopic")
    return {
        name: gf.subtopics.evaluate_subtopics(judged, run, measures, **given)
        for name, run in runs.items()
    }


def _without(columns: Mapping[str, str], side: str, *roles: str) -> dict[str, str]:
    """Return the names of columns but those of one side."""
    return {
        key: name
        for key, name in columns.items()
        if key not in roles and not key.startswith(f"{side}.")
    }


def _write_bounds(
    judgments: str,
    runs: Mapping[str, str],
    options: dict[str, Any],
    given: dict[str, Any],
) -> None:
    """Print the bounds of runs instead of their values alone."""
    if options["grades"] is None:
        raise click.UsageError(
            "--bounds needs --grades, such as --grades 0,1,2,3 or --grades 0..3."
        )
    low, dots, high = options["grades"].partition("..")
    grades = (low, high) if dots else set(options["grades"].split(","))
    count = options["unseen"] or "0"
    with progress_bar() as progress:
        found = gf.judging.bounds_of_runs(
            judgments,
            runs,
            list(options["measures"]),
            grades=grades,
            unseen=None if count == "any" else _count(count),
            progress=progress,
            **given,
        )
    text = gf.writing.render(
        found,
        format_of(options),
        per_query=options["per_query"],
        digits=options["digits"],
        **layout_of(options),
    )
    write(text, options["output"])
    if format_of(options) in (*WITHOUT_NOTES, "json"):  # the others carry these themselves
        for note in found.table().notes:
            tell(note)


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise click.UsageError("--unseen is a number of documents from 0, or any.")
    return int(text)
