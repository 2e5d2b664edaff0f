"""Commands that compare runs: `compare`, `leaderboard`, `calibrate` and `similar`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.main import tell_former
from gainful.cli.option_table import Options
from gainful.cli.project import command, is_typed, measures_in, refuse_conflicts, set_aside
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Table

_FEWEST = 2  # runs to compare
_BY = ("rbo", "tau", "tau_ap", "tau_h", "promoted")
_KINDS = ("extrapolated", "least", "residual", "most")
_VALUE = 2  # the place of the measure's column on a leaderboard


@command(
    "gainful compare qrels.txt bm25.run dense.run",
    "gainful compare qrels.txt bm25.run dense.run -m nDCG@10 --fail-if 'Δ nDCG@10 < -0.01'",
    "gainful compare qrels.txt runs/ --baseline bm25 --systems -f latex",
    "gainful compare qrels.txt bm25.run dense.run --by judged",
    "gainful compare --scores old.csv new.csv",
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] BASE RUN [RUN]...")
@option.give(
    "judgments measures",
    {
        "--scores": "Compare files of per-query scores, without judgments: tables with a query column, output of trec_eval -q, or saved baselines.",
    },
    "graders design unjudged comparing gate gate_files",
    {
        "--movers N>=1": "Add to --summary the N queries that lost the most and the N that gained the most in each comparison, with the documents responsible.",
        "--html FILE": "Write an HTML page about the runs, as `gainful report` does.",
        "--tests": "Print the p-values of all tests instead of the differences.",
        "--systems": "Print one row per run and one column per measure. The best values are bold, and significant differences are marked; for papers, add -f latex or -f markdown.",
        "--per-query": "Print one row per query instead of the differences: both scores and their difference.",
        "--worst N>=1": "Print only the N queries that lost the most in each comparison, worst first.",
        "--best N>=1": "Print only the N queries that gained the most in each comparison, best first.",
    },
    "sampling digits result evaluating spark",
    measures={
        "help": "What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more. With --scores, which columns to compare.  "
        "[default: nDCG@10, or all with --scores]",
        **option.WITHOUT_DEFAULT,
    },
    model="A model's judgments: with --human, of all queries; with --estimate, of unjudged documents.",
    human="Judgments by people for a random sample of queries; requires --model and replaces JUDGMENTS. The estimates are the same as from `gainful calibrate`.",
)
def compare(files: tuple[str, ...], **options: Any) -> None:
    """Test whether RUNs differ from BASE, and show how certain each difference is and on which queries it occurs.

    JUDGMENTS and runs have the same formats as for `gainful evaluate`; BASE may also be a file that
    `gainful evaluate --save-baseline` wrote, or an entry of a history: search.history@last,
    search.history@release (the last one with a label) or search.history@LABEL. Every RUN is compared with BASE, query by query, and p-values are
    corrected for multiple comparisons. If --judgments or the project file names the judgments, pass
    only BASE and RUNs. The same applies with --human and --model, which combine people's grades of some
    queries with a model's grades of all queries.
    """
    if options["human"] is not None:
        _compare_by_both(files, options)
        return
    judgments, runs = _files_to_compare(files, options)
    page = options["html"]
    if page == "-" and options["output"] is None:
        raise click.UsageError(
            "--html - and the table both need standard output: pass -o FILE for the table."
        )
    if options["movers"]:
        call.refuse_standard_input("With --movers, files")
    rules = options["fail_if"], options["fail_unless"]
    if judgments is not None:
        options["measures"] = list(options["measures"]) or ["nDCG@10"]
        rules = call.gate_rules(options, compared=True)
    shared = call.read_shared_options(options)
    comparison, report = _compared(judgments, runs, options, shared)
    gate = comparison.gate(*rules) if any(rules) else None
    movers = None
    if judgments is not None and options["movers"]:
        reading = {
            name: value for name, value in shared.items() if name not in call.TABLES.values()
        }
        count = options["movers"]
        movers = gf.comparison.movers(comparison, judgments, runs, count=count, **reading)
    result = _view(comparison, options)
    notes = None
    if result is comparison and comparison.slices:
        slices = counted(len(comparison.slices), "slice")
        slices += ": shown in json, table, markdown, latex and html"
        notes = [*comparison.notes(), slices]
    call.print_result(result, options, notes, gate=gate)
    if report is not None:
        checked = [] if gate is None else gate.checked
        found = [f"gate {rule.result}: {rule.run}: {rule.rule}: {rule.found}" for rule in checked]
        report.noting(*found).write(page)

    def summary() -> str:
        text = f"{comparison.to_markdown()}\n" if gate is None else gate.to_markdown()
        return text if movers is None else f"{text}\n{gf.writing.render(movers, 'markdown')}\n"

    call.finish_gate(gate, options, summary)


def _compared(
    judgments: str | None, runs: dict[str, Any], options: Options, shared: dict[str, Any]
) -> "tuple[gf.results.Comparison, gf.results.Report | None]":
    """Compare, with --html as part of the report, so that nothing is read or measured twice."""
    how = call.keywords(gf.comparison.compare_scores, options)
    if judgments is not None:
        how |= {name: options[name] for name in call.UNJUDGED if options[name] is not None}
    page = options["html"]
    title = None if page in (None, "-") else Path(page).stem
    # With Spark, the documents stay on the cluster.
    if page and judgments is not None and not isinstance(shared["engine"], gf.Spark):
        report = call.work(gf.report, judgments, runs, title=title, **how, **shared)
        return report.comparison, report
    if judgments is None:
        comparison = call.work(gf.comparison.compare_scores, runs, **how)
    else:
        comparison = call.work(gf.compare, judgments, runs, **how, **shared)
    report = gf.results.Report.of_comparison(comparison, title=title) if page else None
    return comparison, report


def _view(comparison: "gf.results.Comparison", options: Options) -> Any:
    """Return the part of a comparison that the options select, or all of it."""
    if options["tests"]:
        return comparison.tests_table()
    if options["systems"]:
        return comparison.systems_table()
    if options["worst"] or options["best"]:
        return comparison.per_query.ends(worst=options["worst"] or 0, best=options["best"] or 0)
    return comparison.per_query if options["per_query"] else comparison


def _compare_by_both(files: tuple[str, ...], options: Options) -> None:
    """Compare by people's grades of some queries and a model's grades of all."""
    options["measures"] = list(options["measures"]) or ["nDCG@10"]
    runs = call.runs_of(files, options, options["human"])
    if len(runs) < _FEWEST:
        call.refuse_files(files, judgments_are_first=False)
    rules = call.gate_rules(options, compared=True, check=gf.results.Calibration.check_conditions)
    calibration = _calibrated(runs, options)
    gate = calibration.gate(*rules) if any(rules) else None
    call.print_result(calibration, options, gate=gate)
    parts = [] if gate is None else [gate.to_markdown()]
    call.finish_gate(
        gate, options, lambda: "\n".join([*parts, f"{calibration.rendered('markdown')}\n"])
    )


def _files_to_compare(
    files: tuple[str, ...], options: Options, *, fewest_of_scores: int = _FEWEST
) -> tuple[str | None, dict[str, Any]]:
    """Return the judgments, if any, and the files to compare by name."""
    if not options.pop("scores"):
        return call.judged_runs(files, options, fewest=_FEWEST, entries=True)
    set_aside(options, ["measures"])
    runs = call.runs_of(files, options, entries=True)
    if len(runs) < fewest_of_scores:
        call.refuse_files(files, judgments_are_first=False)
    return None, runs


@command("gainful leaderboard qrels.txt runs/*.run -m 'nDCG@10 AP' -f markdown")
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN RUN [RUN]...")
@option.give(
    "judgments measures",
    {
        "--scores": "Rank runs by existing scores, without judgments: one table with a row per query or task and a column per run, or one file per run.",
        f"--correction [{'|'.join(list(gf.comparison.comparison_choices()['correction']))}] = max-t-single": "How to correct for the number of pairs, as in `gainful compare`; corrections of p-values use t tests. By default, all intervals hold simultaneously.",
    },
    "comparing.level comparing.resamples comparing.seed sampling digits result evaluating spark",
    measures={
        "help": "The measure to rank by; each measure has its own leaderboard. With --scores, the column to rank by or, for a single table, a name for its scores.  [default: nDCG@10]",
        **option.WITHOUT_DEFAULT,
    },
    level="The joint confidence level of all rank intervals; two runs differ if p is below 1 − level.",
    resamples="The number of resamples for the correction.",
    seed="The random seed of the resamples.",
)
def leaderboard(files: tuple[str, ...], **options: Any) -> None:
    """Rank RUNs, with an interval for each rank and letters for groups of runs.

    JUDGMENTS and runs have the same formats as for `gainful evaluate`. Every RUN is compared with every other, query
    by query. If two runs share a letter, their comparison is inconclusive. The interval of a rank runs
    from the best to the worst rank that the comparisons allow: the best is 1 plus the number of
    significantly better runs, the worst is the number of runs minus the significantly worse ones.
    """
    judgments, runs = _files_to_compare(files, options, fewest_of_scores=1)
    measures = [measure for text in options["measures"] for measure in _measures_in(text)]
    if len(measures) > 1:
        call.refuse_standard_input("With several measures, files")
    shared = call.read_shared_options(options)
    how = call.keywords(gf.comparison.leaderboard_of_scores, options)
    if judgments is None:
        scores = next(iter(runs.values())) if len(runs) == 1 else runs
        rank = partial(call.work, gf.comparison.leaderboard_of_scores, scores)
    else:
        how |= shared
        rank = partial(call.work, gf.leaderboard, judgments, runs)
    chosen: list[str | None] = [*measures] or [None if judgments is None else "nDCG@10"]
    boards = [rank(measure, **how) for measure in chosen]
    result = boards[0] if len(boards) == 1 else _Leaderboards(boards)
    notes = dict.fromkeys(note for board in boards for note in board.notes())
    call.print_result(result, options, notes)


def _measures_in(text: str) -> list[str]:
    """Return the measures of -m, of which a formula is one."""
    try:
        gf.measure(text)
    except gf.errors.GainfulError:  # several measures, or a name of another tool
        return measures_in(text)
    return [text]


class _Leaderboards:
    """A leaderboard for each of several measures."""

    def __init__(self, boards: Sequence["gf.results.Leaderboard"]) -> None:
        self.boards = boards

    def table(self) -> Table:
        """Return a row for each measure and run."""
        tables = self.tables()
        columns = ["value" if at == _VALUE else name for at, name in enumerate(tables[0].columns)]
        rows = [
            [b.measure, *row] for b, t in zip(self.boards, tables, strict=True) for row in t.rows
        ]
        return Table(["measure", *columns], rows)

    def tables(self) -> list[Table]:
        """Return the table of each measure."""
        return [board.table() for board in self.boards]

    def to_json(self) -> str:
        """Return a list of leaderboards as JSON."""
        import json  # most calls print a table

        boards = [board.to_dict() for board in self.boards]
        return json.dumps(boards, indent=2, ensure_ascii=False)


@command(
    "gainful calibrate --human people.qrels --model model.qrels bm25.run dense.run --design design.json"
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    "graders measures design comparing.baseline",
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
    "result measuring spans",
    measures="What to measure, such as nDCG@10 or 'nDCG@10 AP'; repeat for more.",
    baseline="The name of the run to compare the others with.  [default: the first]",
)
def calibrate(runs: tuple[str, ...], **options: Any) -> None:
    """Correct a model's grades with a human-graded sample and re-estimate each run's score.

    --human contains people's judgments of a random sample of queries; --model contains a model's
    judgments of all queries. The estimates (PPI++, prediction-powered inference) are unbiased, however
    wrong the model is.
    """
    if options["human"] is None:
        if len(runs) <= _FEWEST:
            raise click.UsageError("Pass the judgments: --human FILE --model FILE RUN [RUN]...")
        options["human"], options["model"], *others = runs
        runs = tuple(others)
        written = f"--human {options['human']} --model {options['model']}"
        tell_former("HUMAN MODEL", written)
    named = call.runs_of(runs, options, options["human"])
    options["generator"] = _generator(options["generator"])
    call.print_result(_calibrated(named, options), options)


def _calibrated(runs: dict[str, str], options: Options) -> "gf.results.Calibration":
    """Calibrate a model's grades by people's, and measure runs by both."""
    human, model = options.pop("human"), options.pop("model")
    call.refuse_standard_input("Grades, runs, designs and strata")
    shared = call.read_shared_options(options)
    options["drawn"] = "random" if options["drawn_at_random"] else None
    if options["documents_drawn_at_random"]:
        options["drawn"] = "documents"
    calibrated = gf.judging.calibrate
    return call.work(calibrated, human, model, runs, options=options, **shared)  # type: ignore[no-any-return]


def _generator(names: tuple[str, ...]) -> str | dict[str, str] | None:
    """Return the name of the model that generated all runs, or one name per run."""
    if len(names) == 1 and "=" not in names[0]:
        return names[0]
    example = "NAME once for all RUNs, or RUN=NAME for each RUN, named after its file"
    return call.pairs("--generator", names, example) or None


@command(
    "gainful similar bm25.run dense.run --by rbo,tau_ap",
    "gainful similar runs/ --depth 10 --tied a",
    "gainful similar runs/ --judgments qrels.txt -m 'nDCG@10 AP P@5'",
)
@click.argument("files", nargs=-1, required=True, metavar="RUN RUN...")
@option.give(
    {
        "--by NAMES": f"How to measure similarity: {', '.join(_BY)}; separate several by commas. rbo: rank-biased overlap; tau: Kendall's τ; "
        "tau_ap: AP correlation; tau_h: τ weighted by rank; promoted: the deepest rank, in the first run, of a document that the second run promotes.  "
        "[default: rbo,tau, or tau,tau_ap with --measure]",
        "--p >0.0<1.0 = 0.9": "How patient the user modelled by rbo is: with 0.9, the first 10 ranks have 86% of the weight.",
        "--depth RANK>=1": "Compare the RUNs only down to this rank.  [default: all ranks]",
        f"--kind [{'|'.join(_KINDS)}] = extrapolated": "What rbo assumes about deeper ranks. extrapolated: the same agreement; least: no agreement; "
        "most: as much as possible; residual: most minus least.",
        "--tied [doc|a|b|w] = doc": "How to treat documents with equal scores. doc: order them by id, descending; a: the mean over all their orders; "
        "b: correct for ties, so that a list agrees fully with itself; w: let them share a rank.",
        "--level >0.0<1.0 = 0.95": "The confidence level of the intervals.",
        "--judgments INPUT": "With --measure: the judgments.",
        "--measure, -m TEXT... -> measures": "Compare the orders of the RUNs under these measures, such as 'nDCG@10 AP', instead of the RUNs; repeat for more.",
    },
    "define digits result evaluating",
)
def similar(files: tuple[str, ...], **options: Any) -> None:
    """Measure how similar RUNs are to each other: the mean over their common queries, with intervals.

    With two RUNs, the output is a table; with more, a matrix for each measure of similarity. With --measure, it is a
    matrix of how similarly the measures order the RUNs.
    """
    by_measures = is_typed("measures")
    if not by_measures:
        set_aside(options)
        refuse_conflicts(["similar"], options)  # now without a project's measures
    judgments, runs = call.runs_alone(files, options)
    if len(runs) < _FEWEST:
        raise click.UsageError(f"Expected at least two RUNs, found {' '.join(runs) or 'none'}.")
    options["by"] = [name.replace("-", "_") for name in options["by"] or ()] or None
    shared = call.read_shared_options(options)
    if by_measures:
        if judgments is None:
            raise click.UsageError("--measure requires --judgments.")
        compared = gf.statistics.similar_measures
        options["judgments"] = None  # an input, not an option
        result = call.work(compared, judgments, runs, options=options, **shared)
    else:
        options["ties"] = options["tied"]
        reading = call.reading(shared)
        result = call.work(gf.statistics.similar, runs, options=options, **reading)
    call.print_result(result, options)
