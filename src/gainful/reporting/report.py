"""`report` and `Report`: one page with the verdict, the numbers, and every query that matters."""

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

from gainful import arguments
from gainful.analysis.comparison.compare import (
    compare_evaluated,
    measuring_of,
    refuse_geometric,
    split_runs,
    unjudged_documents,
)
from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.settings import DEFAULTS, ComparisonOptions, Settings
from gainful.analysis.comparison.unjudged_documents import UnjudgedDocuments
from gainful.behaviour.click_log import ClickLog, read_log
from gainful.behaviour.judgments_from_clicks import ClickJudgments
from gainful.errors import InputError, MissingDependencyError
from gainful.evaluation.evaluate import (
    RunProgress,
    measure_runs,
    redrawing,
)
from gainful.evaluation.means_of_queries import read_slices
from gainful.evaluation.query_samples import columns_of_sample, read_sample
from gainful.evaluation.request import read_request
from gainful.evaluation.scores import Scores, means_table
from gainful.evaluation.unjudged.bounds import RunBounds
from gainful.judging.assessors.agreement import Agreement
from gainful.matching.keyword_options import EvaluatingOptions, PageOptions, TableOptions, takes
from gainful.measures.measure import refuse_without_baseline
from gainful.measures.notation import Measures
from gainful.message_texts import counted, shown
from gainful.output.plotting.renderer import refuse_without_renderer
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.output_files import (
    DOCUMENTS,
    OTHERS,
    PACKINGS,
    TABLES,
    name_of,
    write_text,
)
from gainful.output.writing.result_base import Result
from gainful.reporting.compressed_details import Packed
from gainful.reporting.page.compose import page, prepare
from gainful.reporting.payload import ReportInputs, of_comparison, of_evaluated
from gainful.rows.duckdb_engine import Progress
from gainful.rows.input_types import Judgments, TableLike, UnjudgedOptions
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.spark_engine import Spark

if TYPE_CHECKING:
    from gainful.evaluation.saved_baseline import Baseline


_NEEDED = ("altair", "jinja2")  # and the renderer
_EVALUATED, _COMPARED = 0.4, 0.6  # the share of the work
# Endings of formats other than HTML.
_OTHERS = {*OTHERS, *TABLES, *DOCUMENTS, *PACKINGS} - {".html", ".htm"}
_MOST_NAMES, _MOST_LETTERS = 3, 60  # the maximum number of runs named in a title


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """A page about runs: a single file that works offline.

    Attributes:
        comparison: the comparison of the runs; None with one run.
        scores: the scores of each run by its name, without saved baselines and scores computed elsewhere.
        notes: additional notes on the page.
    """

    comparison: Comparison | None
    scores: Mapping[str, Scores]
    _data: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    _packed: Packed = field(default_factory=Packed, compare=False)

    @classmethod
    def of_comparison(
        cls, comparison: Comparison, *, title: str | None = None, created: str | None = None
    ) -> "Report":
        """Return a report of a comparison alone, such as the result of `gainful.comparison.compare_scores`.

        It has no documents, and therefore no details of queries, no curve and no policy.

        >>> import gainful as gf
        >>> comparison = gf.comparison.compare_scores({"old": {"q1": 0.2, "q2": 0.5}, "new": {"q1": 0.3, "q2": 0.5}})
        >>> gf.results.Report.of_comparison(comparison).payload()["kept"]["why"]
        'the scores come without documents'
        """
        refuse_missing_packages()
        arguments.one_of_type(comparison, "comparison", Comparison, "what compare returns")
        title = title_of(comparison.runs, comparison.baseline) if title is None else title
        arguments.text(title, "title")
        data = of_comparison(comparison, title, _date(created))
        return cls(comparison, {}, data)

    def payload(self) -> dict[str, Any]:
        """Return everything the page shows, as plain values."""
        return {**self._noted(), "details": self._packed.details()}

    def _noted(self) -> dict[str, Any]:
        return {**self._data, "notes": [*self._data["notes"], *self.notes]}

    def to_dict(self) -> dict[str, Any]:
        """Return everything the page shows, as plain values."""
        return self.payload()

    def table(self) -> Table:
        """Return the comparison of the runs, or the means of a single run, for rendering."""
        return means_table(self.scores) if self.comparison is None else self.comparison.table()

    def to_html(self) -> str:
        """Return the page."""
        return page(self._noted(), self._packed)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the page to a file, which is replaced only when the new one is complete.

        Args:
            path: the path of the file; `-` is standard output.
            format: html, the only format of a report.

        Raises:
            InputError: the file cannot be written, or its ending belongs to another format.
        """
        if format is not None:
            arguments.choice(format, "format", ["html"])
        refuse_ending(path)
        write_text(self.to_html(), path)

    @staticmethod
    def check_path(path: str | os.PathLike[str]) -> None:
        """Reject, before the work, a path that `write` would reject, without changing anything."""
        refuse_target(path)

    def noting(self, *notes: str) -> "Report":
        """Return the same report with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def summary(self) -> str:
        """How many queries the page shows in detail, and why not all."""
        kept = self._data["kept"]
        why = "" if kept["why"] is None else f" ({kept['why']})"
        return f"{kept['queries']} of {counted(kept['of'], 'query', 'queries')} in detail{why}"

    def __repr__(self) -> str:
        runs = ", ".join(run["name"] for run in self._data["runs"])
        return f"Report({runs}; {self.summary.partition(' (')[0]})"


class ComparingPageOptions(
    ComparisonOptions, PageOptions, TableOptions, UnjudgedOptions, total=False
):
    """The options of a comparison, without `queries`: in `report`, that argument holds the texts."""


@takes(ComparingPageOptions, DEFAULTS)
def report(
    judgments: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    queries: TableLike | None = None,
    docs: TableLike | None = None,
    agreement: Agreement | None = None,
    log: TableLike | ClickLog | None = None,
    title: str | None = None,
    created: str | None = None,
    depth: int | None = None,
    **options: Unpack[ComparingPageOptions],
) -> Report:
    """Measure runs, compare them, and put the results on one page.

    The details of a query come from `explain` and `attribute`, for the first measure: its ranked lists,
    its ideal list, and the contribution of each document to a difference. The page stays below 5 MB: if
    not all queries fit, it shows the most important ones, with a note.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        runs: name → run, each in any form that `evaluate` accepts, or a saved baseline. Or paths
            of files, a folder or a pattern, as for `gainful.inputs.find_runs`. Several runs are
            compared with the baseline.
        measures: one measure or several; charts and details show the first.
        queries: the text of queries: `{query: text}`, the path of a file (TSV, CSV, JSON
            lines, JSON, Parquet), a data frame.
        docs: the text of documents: `{doc: text}`, `{doc: (title, text)}`, or a file or data
            frame as for `queries`. Only the shown part of a file is kept in memory.
        agreement: the result of `gainful.judging.agreement`, for a section about the assessors; if it was
            made with runs, the section also shows verdicts that depend on the assessor.
        log: the click log behind the judgments, for a section about it: any form that `read_log` accepts,
            or its result. If None, the log of judgments by `click_judgments`.
        title: the title of the page; if None, the names of the runs, or their number.
        created: the date on it, such as "2026-11-15"; today if None.
        depth: the last rank that lists show; the cutoff of the first measure, or 20, if None.
        **options: see `ComparisonOptions` and `MeasuringOptions`; for estimates as if all documents were
            judged, `UnjudgedOptions`.

    >>> judgments = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    >>> old = {"q1": {"b": 2, "a": 1}, "q2": {"c": 1}}
    >>> new = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    >>> page = report(judgments, {"old": old, "new": new}, "nDCG@10")
    >>> page.payload()["details"]["0"]["conclusions"][0]
    'nDCG@10 = DCG@10 / IDCG@10 = 2.262 / 2.631 = 0.860'
    """
    refuse_missing_packages()
    evaluating_options: EvaluatingOptions = {**measuring_of(options), "queries": None}
    request = read_request(measures, evaluating_options, baseline=True)
    asked, progress = request.measures, options.get("progress")
    arguments.function(progress, "progress")
    if title is not None:
        arguments.text(title, "title")
    if agreement is not None:
        arguments.one_of_type(agreement, "agreement", Agreement, "what agreement returns")
    clicks = _log_of(judgments, log)
    comparing = None if progress is None else _within(progress, _EVALUATED, _COMPARED)
    settings = Settings.of_options(
        options, None if comparing is None else lambda share: comparing(share, "comparing")
    )
    baseline, slices, by = options.get("baseline"), options.get("slices"), options.get("by", ())
    _refuse_wrong_depth(depth)
    date = _date(created)
    runs = read_runs(runs, judgments)
    saved, fresh = split_runs(runs, baseline)
    table, taken = read_slices(slices, evaluating_options)
    sample = read_sample(options, table)
    if isinstance(options.get("engine"), Spark):
        _refuse_spark()
    if len(runs) > 1:
        refuse_geometric(asked)
    elif by or (slices is not None and sample is None):
        raise InputError("slices", "several runs, which are compared", "one")
    base = next(iter(runs)) if baseline is None else baseline
    if len(runs) == 1 or base in saved:
        refuse_without_baseline(asked)
    unjudged = unjudged_documents(judgments, fresh, request, {**options, **taken}, settings, sample)
    evaluating = progress and RunProgress(fresh, _within(progress, 0.0, _EVALUATED))
    with request.reader_of(judgments, {**taken, "progress": evaluating}) as reader:
        reader.name_runs(fresh)
        if reader.is_on_spark(fresh.values()):
            _refuse_spark()
        scores = measure_runs(
            reader, fresh, request, progress=evaluating, whole=True, baseline=base
        )
        scores = redrawing(scores, judgments, fresh, request, taken, baseline=base)
        if sample is not None:
            scores = {name: sample.weighed(own) for name, own in scores.items()}
        # measures that refer to the baseline
        asked = next(iter(scores.values())).measures if scores else asked
        evaluated: dict[str, Scores | Baseline] = {
            name: saved.get(name) or scores[name] for name in runs
        }
        comparison = (
            compare_evaluated(
                evaluated,
                asked,
                settings,
                baseline=baseline,
                slices=table,
                by=by,
                sample=sample,
                besides=columns_of_sample(options),
                unjudged=unjudged,
            )
            if len(runs) > 1
            else None
        )
        prepare()
        inputs = ReportInputs(
            reader=reader,
            runs=fresh,
            evaluated=evaluated,
            measures=asked,
            comparison=comparison,
            bounds=_bounds_of(comparison, unjudged, scores),
            queries=queries,
            docs=docs,
            depth=depth,
            progress=None if progress is None else _within(progress, _COMPARED, 1.0),
            agreement=agreement,
            log=clicks,
        )
        title = title_of([*runs], inputs.baseline) if title is None else title
        data, packed = of_evaluated(inputs, title, date)
    if progress is not None:
        progress(1.0, "page")
    return Report(comparison, scores, data, _packed=packed)


def _bounds_of(
    comparison: Comparison | None, unjudged: UnjudgedDocuments | None, scores: Mapping[str, Scores]
) -> RunBounds | None:
    """Return the bounds behind a comparison, or those of a single run with an estimate."""
    if comparison is not None:
        return comparison.bounds
    if unjudged is None or unjudged.estimating is None:
        return None
    return unjudged.bounds((), next(iter(scores.values())).measures, {}, scores)


def _log_of(judgments: Judgments, log: TableLike | ClickLog | None) -> ClickLog | None:
    """Return the log of clicks to describe: the caller's, or that of judgments from clicks."""
    if log is not None:
        return read_log(log)
    return judgments.log if isinstance(judgments, ClickJudgments) else None


def refuse_missing_packages() -> None:
    """Raise an error if the packages that a page needs are missing or cannot run."""
    from importlib.util import find_spec

    for package in _NEEDED:
        if find_spec(package) is None:
            raise MissingDependencyError.of_extra("report", package, "report")
    refuse_without_renderer("report")


def _within(progress: Progress, low: float, high: float) -> Progress:
    """Return a function that reports the progress of a part of the work as progress of the whole."""
    return lambda share, name: progress(low + (high - low) * share, name)


def _refuse_spark() -> NoReturn:
    raise InputError(
        "report",
        "judgments and runs whose documents are read on this machine",
        "Spark",
        "Compare there, and report the scores: Report.of_comparison(compare(…)).",
    )


def _refuse_wrong_depth(depth: int | None) -> None:
    if depth is not None:
        arguments.whole(depth, "depth", least=1)


def _date(created: str | None) -> str:
    if created is None:
        return dt.datetime.now(tz=dt.UTC).astimezone().date().isoformat()
    try:
        return dt.date.fromisoformat(created).isoformat()
    except (TypeError, ValueError):
        raise InputError("created", "a date such as 2026-11-15", shown(created)) from None


def refuse_ending(path: str | os.PathLike[str]) -> None:
    """Reject a file name with the ending of another format.

    >>> refuse_ending("report.html")
    >>> refuse_ending("report.pdf")
    Traceback (most recent call last):
    gainful.errors.InputError: report.pdf: expected a name that ends in .html, because a report is an \
HTML page, found '.pdf'. A browser prints it to PDF; every table on it downloads as CSV or JSON.
    """
    name = name_of(path)
    ending = PurePath(name).suffix.lower()
    if ending in _OTHERS:
        raise InputError(
            name,
            "a name that ends in .html, because a report is an HTML page",
            shown(ending),
            "A browser prints it to PDF; every table on it downloads as CSV or JSON.",
        )


def refuse_target(path: str | os.PathLike[str]) -> None:
    """Reject a path that cannot be written to; nothing there changes."""
    refuse_ending(path)
    write_text("", path, dry=True)


def title_of(runs: Sequence[str], baseline: str | None) -> str:
    """Return the default title of a page: the names of its runs, if they are few and short.

    >>> title_of(["bm25", "dense"], "bm25"), title_of(["a", "b", "c", "d"], "a")
    ('bm25, dense', '3 runs against a')
    """
    title = ", ".join(runs)
    if len(runs) == 1 or (len(runs) <= _MOST_NAMES and len(title) <= _MOST_LETTERS):
        return title
    others = len(runs) - 1
    return f"{others} {'run' if others == 1 else 'runs'} against {baseline}"
