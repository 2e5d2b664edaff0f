"""Commands that compare runs: `compare`, `leaderboard`, `power` and `calibrate`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.main import progress_bar
from gainful.cli.options import (
    ROWS,
    TABLES,
    WITHOUT_NOTES,
    check_files,
    check_gate_files,
    check_target,
    comparing_of,
    finish_gate,
    format_of,
    gate_rules,
    judged_runs,
    print_result,
    read_shared_options,
    refuse_files,
    refuse_junit_alone,
    runs_of,
)
from gainful.cli.project import command, is_typed, leave_out, set_aside
from gainful.message_texts import counted

_FEWEST = 2  # files to compare
_WITHOUT_GRADES = (
    "judgments", "scores", "pairs", "test", "interval", "tie", "resamples", "seed", "slices", "by", "html", "tests",
    "systems", "per_query", "worst", "best", "engine", "master", "movers",
)  # fmt: skip


@command(
    "gainful compare qrels.txt bm25.run dense.run",
    "gainful compare qrels.txt bm25.run dense.run -m nDCG@10 --fail-if 'Δ nDCG@10 < -0.01'",
    "gainful compare qrels.txt runs/ --baseline bm25 --systems -f latex",
    "gainful compare qrels.txt bm25.run dense.run --by judged",
    "gainful compare --scores old.csv new.csv",
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] BASE RUN [RUN]...")
@option.give(
    "judgments",
    "define",
    {
        "--measure, -m TEXT...": option.more(
            "What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more. With --scores, which columns to compare.  "
            "[default: nDCG@10; with --scores, all]",
            name="measures",
        ),
        "--scores": "Compare files of per-query scores, without judgments: tables with a query column, output of trec_eval -q, or saved baselines.",
        "--human INPUT": "Judgments by people for a random sample of queries; requires --model and replaces JUDGMENTS. Estimates as in `gainful calibrate`.",
        "--model INPUT": "With --human: a model's judgments of all queries.",
    },
    "design",
    "comparing",
    "gate",
    "gate_files",
    {
        "--movers N>=1": "Add to --summary the N queries that lost most and the N that gained most in each comparison, with the documents responsible.",
        "--html FILE": "Write an HTML page about the runs, as `gainful report` does.",
        "--tests": "Print the p-values of all tests instead of the differences.",
        "--systems": "Print one row per run and one column per measure, best in bold, significant ones marked; for papers, with -f latex or markdown.",
        "--per-query": "Print one row per query instead of the differences: both scores and their difference.",
    },
    "ends",
    "digits",
    *option.RESULT,
    *option.EVALUATING,
    "spark",
    fail_if="Exit 1 if this holds; repeat for more. 'Δ nDCG@10 < -0.01' or 'change(nDCG@10) < -0.01': a change from BASE that the whole "
    "interval confirms. 'nDCG@10 < 0.6': a floor, checked against the lower end of the interval. Also 'coverage < 0.9', 'missing > 0', "
    "'unjudged > 0.3', 'saturation > 0.5', and changed (the judgments differ from the saved baseline's).",
    fail_unless="Exit 1 unless the whole interval confirms this, such as 'Δ nDCG@10 > -0.01'. It demands proof, so it is stricter; repeat for more.",
    worst="Print only the N queries that lost most in each comparison, worst first.",
    best="Print only the N queries that gained most in each comparison, best first.",
)
def compare(files: tuple[str, ...], **options: Any) -> None:
    """Test whether RUNs differ from BASE, how sure that is, and on which queries.

    JUDGMENTS and runs are files as for `gainful evaluate`; BASE may also be a file that `gainful
    evaluate --save-baseline` wrote. Every RUN is compared with BASE, query by query, and p-values are
    corrected for multiple comparisons. If --judgments or the project file names the judgments, pass
    BASE and RUNs only. Likewise with --human and --model, which combine people's grades of some queries
    with a model's grades of all.
    """
    option.refuse_conflicts("compare", options)
    if options["human"] is not None:
        _compare_by_both(files, options)
        return
    judgments, runs = _files(files, options)
    _check_files(options, judgments, *runs.values(), options["slices"])
    if options["movers"] and "-" in (judgments, *runs.values(), options["query_ids"]):
        raise click.UsageError(
            "--movers reads the files twice, so none of them can be standard input."
        )
    if judgments is None:
        rules = options["fail_if"], options["fail_unless"]
        shared = {}
    else:
        rules = gate_rules(options, _measures(options), dialect=options["dialect"], compared=True)
        read = (judgments, *runs.values(), options["slices"])
        shared = read_shared_options(option.EVALUATING, options, *read)
    refuse_junit_alone(options, rules)
    page = _reported(judgments, runs, options, shared) if options["html"] else None
    if page is not None and page.comparison is not None:
        found = page.comparison
    else:
        found = _compared(judgments, runs, options, shared)
    gate = found.gate(*rules) if any(rules) else None
    moved = None
    if judgments is not None and options["movers"]:
        reading = {name: value for name, value in shared.items() if name not in TABLES.values()}
        count = options["movers"]
        moved = gf.comparison.movers(found, judgments, runs, count=count, **reading)
    _print(found, gate, options)
    if page is not None:
        checked = [] if gate is None else gate.checked
        conditions = [
            f"gate {each.result}: {each.run}: {each.rule}: {each.found}" for each in checked
        ]
        page.noting(*conditions).write(options["html"])
    finish_gate(gate, options, lambda: _summary(found, gate, moved))


def _compare_by_both(files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Compare by people's grades of some queries and a model's grades of all."""
    leave_out(
        options,
        _WITHOUT_GRADES,
        "cannot be combined with --human and --model: differences are estimated by PPI++, see `gainful calibrate --help`.",
    )
    human, model, measures = options["human"], options["model"], _measures(options)
    runs = runs_of(files, options, human)
    if len(runs) < _FEWEST:
        refuse_files(files, judgments_are_first=False)
    read = (human, model, *runs.values(), options["design"])
    refuse_standard_input(*read)
    check_gate_files(options, ("output", "junit", "summary"), *read)
    format_of(options)
    check = gf.results.Calibration.check_conditions
    rules = gate_rules(options, measures, dialect=options["dialect"], compared=True, check=check)
    refuse_junit_alone(options, rules)
    more = {name: options[name] for name in ("baseline", "level", "margin", "correction", "design")}
    found = calibrated(human, model, runs, measures, options, **more)
    gate = found.gate(*rules) if any(rules) else None
    print_result(found, options, found.table().notes, gate=gate)
    parts = [] if gate is None else [gate.to_markdown()]
    finish_gate(gate, options, lambda: "\n".join([*parts, f"{found.rendered('markdown')}\n"]))


def _files(files: tuple[str, ...], options: dict[str, Any]) -> tuple[str | None, dict[str, str]]:
    """Return the judgments, if any, and the files to compare by name."""
    if not options["scores"]:
        return judged_runs(files, options, fewest=_FEWEST)
    set_aside(options, ["measures"])
    leave_out(options, option.options_of_runs(), option.NOT_OF_SCORES)
    options.pop("judgments")
    runs = runs_of(files, options)
    if len(runs) < _FEWEST:
        refuse_files(files, judgments_are_first=False)
    return None, runs


def _check_files(options: dict[str, Any], *read: str | None) -> None:
    """Reject, before the work, files that cannot be read twice, written or overwritten."""
    check_files(options, *read)
    check_gate_files(options, ("output", "junit", "summary", "html"), *read)
    if options["html"] == "-" and options["output"] is None:
        raise click.UsageError(
            "--html - and the table both need standard output: pass -o FILE for the table."
        )
    if options["html"]:
        gf.results.Report.check_path(options["html"])


def _reported(
    judgments: str | None, runs: dict[str, str], options: dict[str, Any], shared: dict[str, Any]
) -> "gf.results.Report":
    """Compare as part of the report, so that nothing is read or measured twice."""
    title = None if options["html"] == "-" else Path(options["html"]).stem
    # With Spark, the documents stay on the cluster.
    if judgments is None or isinstance(shared["engine"], gf.Spark):
        found = _compared(judgments, runs, options, shared)
        return gf.results.Report.of_comparison(found, title=title)
    with progress_bar() as progress:
        how = comparing_of(options) | shared
        return gf.report(judgments, runs, _measures(options), title=title, progress=progress, **how)


def _compared(
    judgments: str | None, runs: dict[str, str], options: dict[str, Any], shared: dict[str, Any]
) -> "gf.results.Comparison":
    how = comparing_of(options)
    with progress_bar() as progress:
        if judgments is None:
            columns = list(options["measures"]) or None
            return gf.comparison.compare_scores(runs, columns, progress=progress, **how)
        measures = _measures(options)
        return gf.compare(judgments, runs, measures, progress=progress, **how, **shared)


def _measures(options: dict[str, Any]) -> list[str]:
    return list(options["measures"]) or ["nDCG@10"]


def _table(found: "gf.results.Comparison", options: dict[str, Any]) -> Any:
    """Return the table that the options select, or the whole comparison."""
    if options["tests"]:
        return found.tests_table()
    if options["worst"] or options["best"]:
        ends = found.per_query.ends(worst=options["worst"] or 0, best=options["best"] or 0)
        return ends.table()
    if options["per_query"]:
        return found.per_query.table()
    return found.systems_table() if options["systems"] else found


def _print(
    found: "gf.results.Comparison", gate: "gf.results.Gate | None", options: dict[str, Any]
) -> None:
    table = _table(found, options)
    is_whole = table is found
    notes = [*(found.notes() if is_whole else table.notes)]
    if found.slices and is_whole:
        notes.append(
            f"{counted(len(found.slices), 'slice')}: shown in json, table, markdown, latex and html"
        )
    # In JSON, a single table is a list without notes; the whole comparison contains its notes.
    print_result(table, options, notes, bare=WITHOUT_NOTES if is_whole else ROWS, gate=gate)


def _summary(
    found: "gf.results.Comparison",
    gate: "gf.results.Gate | None",
    moved: "gf.results.Movers | None",
) -> str:
    text = f"{found.to_markdown()}\n" if gate is None else gate.to_markdown()
    return text if moved is None else f"{text}\n{gf.writing.render(moved, 'markdown')}\n"


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


@command("gainful power --sd 0.18 --difference 0.02")
@click.argument("files", nargs=-1, metavar="[[JUDGMENTS] BASE RUN]")
@option.give(
    "judgments",
    {
        "--sd >0.0": "The standard deviation of the per-query differences between two runs; computed from BASE and RUN if given.",
        "--difference >0.0": "The difference in the measure that the comparison should detect.",
        "--queries >=2": "The number of queries available.",
        "--power >0.0<1.0": "The probability of detecting the difference.  [default: 0.8]",
        "--alpha >0.0<1.0 = 0.05": "The probability of detecting a difference that does not exist.",
    },
    "measure",
    *option.RESULT,
    *option.MEASURING,
    measure="The measure to compare BASE and RUN by.  [default: nDCG@10]",
)
def power(files: tuple[str, ...], **options: Any) -> None:
    """Compute how many queries a comparison needs, or what it can detect with the queries it has.

    Pass --difference to compute the number of queries, --queries to compute the smallest detectable
    difference, or both to compute the power.
    """
    sd, basis, names = options["sd"], list[str](), ("base", "run")
    if not files and not is_typed("judgments"):
        set_aside(options)  # no files are read
        judgments, runs = options.pop("judgments"), dict[str, str]()
    else:
        judgments, runs = judged_runs(files, options, fewest=len(names), most=len(names))
        if sd is not None:
            raise click.UsageError("Pass JUDGMENTS BASE RUN or --sd, not both.")
        check_target(options["output"], judgments, *runs.values())
    shared = read_shared_options(option.MEASURING, options, judgments, *runs.values())
    format_of(options)  # reports a wrong format before the work
    if judgments is not None:
        both = dict(zip(names, runs.values(), strict=True))
        with progress_bar() as progress:
            found = gf.compare(
                judgments, both, options["measure"] or "nDCG@10", progress=progress, **shared
            )
        one = found.differences[0]
        sd = one.sd
        basis = [f"sd of the differences in {one.measure} over {one.queries} queries", *found.basis]
        if not sd:
            found_instead = "one query" if sd is None else "the same difference on all queries"
            raise gf.errors.InputError(
                "power", "runs that differ from query to query", found_instead
            )
    if sd is None:
        raise click.UsageError("Pass --sd, or JUDGMENTS BASE RUN to compute it from.")
    asked = {name: options[name] for name in ("difference", "queries", "alpha")}
    solved = gf.power(sd=sd, power=options["power"], **asked)
    table = solved.table()
    noted = replace(table, notes=[*table.notes, *basis])
    print_result(noted, options, basis, bare=ROWS)


_OF_CALIBRATION = (
    "design",
    "strata",
    "by",
    "width",
    "judge",
    "baseline",
    "level",
    "margin",
    "correction",
)


@command("gainful calibrate people.qrels model.qrels bm25.run dense.run --design design.json")
@click.argument("human", type=option.InputFile(), metavar="HUMAN")
@click.argument("model", type=option.InputFile(), metavar="MODEL")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    "measures",
    "design",
    "comparing.baseline",
    {
        "--strata INPUT": "A table with one row per query: estimate within each stratum.",
        "--by COLUMN": "The column of --strata.  [default: the only one]",
    },
    "comparing.level",
    {
        "--width >0.0": "Compute how many more queries people must judge for intervals of this width.",
    },
    "comparing.margin",
    {
        "--correction [holm|bonferroni|benjamini-hochberg|none] = holm": "How to correct p-values for multiple comparisons.",
        "--judge NAME": "The name of the model that judged.",
        "--generator [RUN=]NAME...": "The name of the model that generated all RUNs, or one of them; warns if a model judges its own output. Repeat for more.",
    },
    *option.RESULT,
    *option.MEASURING,
    measures="What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more.",
    baseline="The name of the run to compare the others with.  [default: the first]",
)
def calibrate(human: str, model: str, runs: tuple[str, ...], **options: Any) -> None:
    """Correct a model's grades with a human-graded sample and re-estimate each run's score.

    HUMAN contains people's judgments of a random sample of queries; MODEL contains a model's
    judgments of all queries. The estimates (PPI++, prediction-powered inference) are unbiased, however
    wrong the model is.
    """
    named = runs_of(runs, options, human)
    refuse_standard_input(human, model, *named.values(), options["strata"], options["design"])
    check_files(options, human, model, *named.values(), options["design"], options["strata"])
    more = {name: options[name] for name in _OF_CALIBRATION} | {
        "generator": _generator(options, named)
    }
    found = calibrated(human, model, named, list(options["measures"]), options, **more)
    print_result(found, options, found.table().notes)


def refuse_standard_input(*files: str | None) -> None:
    """Reject standard input: the runs are read twice, once for people's grades and once for the model's."""
    if "-" in files:
        raise click.UsageError(
            "Grades, runs, designs and strata cannot be read from standard input here: pass files."
        )


def calibrated(
    human: str,
    model: str,
    runs: dict[str, str],
    measures: list[str],
    options: dict[str, Any],
    **more: Any,
) -> "gf.results.Calibration":
    """Calibrate, with the options that commands share."""
    drawn = "random" if options["drawn_at_random"] else None
    given = read_shared_options(option.MEASURING, options, human, model, *runs.values())
    with progress_bar() as progress:
        return gf.judging.calibrate(
            human, model, runs, measures, drawn=drawn, progress=progress, **more, **given
        )


def _generator(options: dict[str, Any], runs: dict[str, str]) -> str | dict[str, str] | None:
    """Return the name of the model that generated all runs, or one name per run."""
    names = options["generator"]
    split = [name.partition("=") for name in names]
    named = {run: name for run, equals, name in split if equals and run in runs}
    bare = [
        text
        for text, (run, equals, _) in zip(names, split, strict=True)
        if not equals or run not in runs
    ]
    if bare and (named or len(bare) > 1):
        raise click.UsageError(
            "Pass --generator once with a NAME for all RUNs, or RUN=NAME for each RUN, named after its file."
        )
    return bare[0] if bare else named or None
