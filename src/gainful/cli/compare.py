"""`gainful compare`."""

from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.calibrate import calibrated, refuse_standard_input
from gainful.cli.command import command
from gainful.cli.options import (
    TABLES,
    check_files,
    comparing_of,
    judged_runs,
    read_shared_options,
    refuse_files,
    runs_of,
)
from gainful.cli.output import (
    ROWS,
    WITHOUT_NOTES,
    check_gate_files,
    finish_gate,
    format_of,
    gate_rules,
    print_result,
    refuse_junit_alone,
)
from gainful.cli.process import progress_bar
from gainful.cli.project import leave_out, set_aside
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
