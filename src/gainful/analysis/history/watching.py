"""`watch`: measure runs, append them to a history, and decide whether they pass, also against an earlier entry."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Unpack

from gainful import arguments
from gainful.analysis.comparison.compare import compare_evaluated
from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.gate import Checked, Gate, check_gate
from gainful.analysis.comparison.settings import DEFAULTS, Settings
from gainful.analysis.history.changes import (
    JUDGMENTS,
    POLICY,
    RUN,
    Change,
    changes_of,
    judgments_changed,
)
from gainful.analysis.history.entries import HistoryEntry, draft, read_time
from gainful.analysis.history.history import LAST, History, entry_named, read_store
from gainful.analysis.history.kept_runs import KeptRuns, options_of_kept
from gainful.analysis.history.openmetrics import Gauge, as_openmetrics
from gainful.analysis.history.stores import store_at
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.evaluate import evaluate, evaluate_runs
from gainful.evaluation.means_of_queries import read_slices
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import Scores
from gainful.matching.keyword_options import AveragingOptions, takes
from gainful.measures.measure_family import MEAN
from gainful.measures.notation import Measures
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Signed, Table, as_markdown, signed
from gainful.output.writing.result_base import Document, Record, ResultOfRows
from gainful.rows.input_types import Judgments, TableLike
from gainful.rows.runs_by_name import Runs, read_runs

_Samples = list[tuple[dict[str, str], float | None]]
_SHOWN = 3  # queries of a change in the paragraph


class WatchingOptions(AveragingOptions, total=False):
    """The options of `watch`: `AveragingOptions`, and some of `ComparisonOptions`.

    Attributes:
        interval: the confidence interval that decides conditions: `hall`, `t`, `bca`, `betting` or `asymptotic`.
        anytime: use intervals that hold however often you look while queries are added.
        level: the level of the conditions of all runs together, and of the real changes.
        resamples: the number of resamples of `bca`.
        seed: the seed of the resamples.
        slices: a table with a row for each query, for conditions on slices.
        by: the columns to slice by.
    """

    interval: str
    anytime: bool
    level: float
    resamples: int
    seed: int
    slices: TableLike | None
    by: str | Sequence[str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WatchedRun(Record):
    """A run that was measured, and what it was compared with.

    Attributes:
        entry: the new entry of the history.
        coverage: the counts of everything that could affect the scores.
        comparison: the comparison with the baseline; None without one.
        checked: the conditions, with their results.
        changes: the real changes since the previous entry.
        notes: comparisons and checks that were not possible, with the reasons.
        is_first: whether the history has no earlier entry of this run.
    """

    entry: HistoryEntry
    coverage: Coverage
    comparison: Comparison | None
    checked: tuple[Checked, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    is_first: bool

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.entry.run

    @property
    def baseline(self) -> str | None:
        """The label or the time of the baseline; None without one."""
        return None if self.comparison is None else self.comparison.baseline

    def difference(self, measure: str) -> tuple[float, float | None, float | None] | None:
        """Return the difference from the baseline in a measure, and the ends of its interval; None if there is no difference."""
        if self.comparison is None or measure not in self.comparison.measures:
            return None
        one = self.comparison[self.run, measure]
        known = one.interval.known
        return (
            one.difference,
            one.interval.low if known else None,
            one.interval.high if known else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the entry, the differences, the conditions and the real changes as plain values."""
        differences = {name: self.difference(name) for name in self.entry.means}
        names = ("difference", "low", "high")
        return {
            **self.entry.to_dict(),
            "baseline": self.baseline,
            "differences": {
                name: dict(zip(names, one, strict=True))
                for name, one in differences.items()
                if one is not None
            },
            "coverage": dict(self.coverage.counts()),
            "checked": [
                {"rule": one.rule, "result": one.result, "found": one.found} for one in self.checked
            ],
            "changes": [change.to_dict() for change in self.changes],
            "notes": list(self.notes),
        }

    def sentences(self) -> Iterator[str]:
        """Yield the sentences about the run."""
        entry = self.entry
        when = f"{entry.time:%Y-%m-%d %H:%M} UTC" + (f", {entry.label}" if entry.label else "")
        yield f"{self.run} ({when}): {'; '.join(map(self._about, entry.means))}."
        if missing := len(self.coverage.missing):
            judged = counted(self.coverage.judged, "judged query", "judged queries")
            yield f"The run lacks {missing:,} of {judged}."
        yield from self.notes
        for change in self.changes:
            yield self._described(change)
        if not self.changes and not self.is_first:
            yield "No real change since the previous entry."
        for one in self.checked:
            if one.result != "passed":
                yield f"Condition {one.result}: {one.rule} ({one.found})."

    def _described(self, change: Change) -> str:
        """Return a real change in words; its amount only if the comparison doesn't have it."""
        amount = f"{'rose' if change.difference > 0 else 'fell'} by {abs(change.difference):.4f}"
        verb = f"really {amount} since {change.before}"
        if change.before == self.baseline and change.cause == RUN:
            verb = "really changed"
        cause = f"{'another ' if change.cause == POLICY else 'the '}{change.cause}"
        moved = ", ".join(f"{one.query} {signed(one.difference)}" for one in change.moved[:_SHOWN])
        return (
            f"{change.measure} {verb}, because of {cause}: {change.changed:,} of "
            f"{counted(change.queries, 'query', 'queries')} differ, most of all {moved}."
        )

    def _about(self, measure: str) -> str:
        """Return the mean of a measure, and its difference from the baseline, in words."""
        text = f"{measure} {self.entry.means[measure]:.4f}"
        if (ends := self.entry.intervals.get(measure)) is not None:
            text += f" (95% interval {ends[0]:.4f} to {ends[1]:.4f})"
        if (difference := self.difference(measure)) is None:
            return text
        amount, low, high = difference
        text += f", {signed(amount)} since {self.baseline}"
        if low is not None and high is not None:
            text += f" ({signed(low)} to {signed(high)})"
        return text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Watched(Document, ResultOfRows[WatchedRun]):
    """The result of `watch`: each run with its entry, its comparison and its conditions.

    Attributes:
        rows: the runs.
        history: the path or URL of the history.
        is_dry: whether nothing was appended.
        failed: whether a condition failed, or a measure really dropped and `fail_on_drop` was set.
    """

    rows: tuple[WatchedRun, ...]
    history: str
    is_dry: bool
    failed: bool

    @property
    def result(self) -> str:
        """In a word: failed, inconclusive or passed."""
        if self.failed:
            return "failed"
        checked = [one for run in self.rows for one in run.checked]
        return "inconclusive" if any(one.inconclusive for one in checked) else "passed"

    @property
    def paragraph(self) -> str:
        """Everything that matters, in one paragraph."""
        checked = [one for run in self.rows for one in run.checked]
        count = counted(len(checked), "condition", "conditions")
        if failed := sum(one.failed for one in checked):
            first = f"Failed: {failed} of {count}. "
        elif self.failed:
            first = "Failed: a measure really fell. "
        else:
            first = f"{self.result.capitalize()}: {count}. " if checked else ""
        return first + " ".join(sentence for run in self.rows for sentence in run.sentences())

    def sentences(self) -> list[str]:
        """Return the paragraph."""
        return [self.paragraph]

    def narrow_tables(self) -> list[Table]:
        """Return no tables, because the paragraph contains the numbers."""
        return []

    def table(self) -> Table:
        """Return a row for each run and measure."""
        columns = ["run", "measure", "mean", "low", "high", "baseline", "difference", "difference low", "difference high", "real change"]  # fmt: skip
        rows = []
        for run in self.rows:
            real = {change.measure for change in run.changes}
            for name, mean in run.entry.means.items():
                low, high = run.entry.intervals.get(name) or (None, None)
                difference = run.difference(name) or (None, None, None)
                signs = [None if number is None else Signed(number) for number in difference]
                word = "" if run.is_first else "yes" if name in real else "no"
                rows.append([run.run, name, mean, low, high, run.baseline, *signs, word])
        notes = [f"{run.run}: {note}" for run in self.rows for note in run.notes]
        return Table(columns, rows, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, without the values of each query."""
        return {
            "result": self.result,
            "failed": self.failed,
            "paragraph": self.paragraph,
            "history": self.history,
            "dry_run": self.is_dry,
            "runs": [run.to_dict() for run in self.rows],
        }

    def to_markdown(self) -> str:
        """Return a page: the paragraph, the table, the conditions and the real changes."""
        parts = [f"## gainful watch: {self.result}", self.paragraph, as_markdown(self.table())]
        checked = [one for run in self.rows for one in run.checked]
        if checked:
            rows: list[list[Any]] = [[one.run, one.rule, one.result, one.found] for one in checked]
            parts.append(as_markdown(Table(["run", "rule", "result", "found"], rows)))
        for change in (change for run in self.rows for change in run.changes):
            title = f"### Queries behind the change of {change.measure} in {change.run}"
            moved: list[list[Any]] = [
                [one.query, one.baseline, one.run, Signed(one.difference)] for one in change.moved
            ]
            columns = ["query", change.before, change.after, "change"]
            if change.before == change.after:
                columns[1:3] = ["before", "after"]
            parts += [title, as_markdown(Table(columns, moved))]
        return "\n\n".join(parts) + "\n"

    def to_openmetrics(self) -> str:
        """Return the numbers in the text format of OpenMetrics, which Prometheus and its node exporter read."""
        return as_openmetrics(_gauges(self))

    def fields(self) -> dict[str, Any]:
        """Return the values of the places in a webhook's template, by name."""
        first = self.rows[0].entry
        return {
            "paragraph": self.paragraph,
            "result": self.result,
            "title": f"gainful watch: {self.result}",
            "markdown": self.to_markdown(),
            "runs": ", ".join(run.run for run in self.rows),
            "time": first.time.isoformat(),
            "label": first.label,
            "commit": first.commit,
            "history": self.history,
            "details": self.to_dict(),
        }


def _gauges(watched: Watched) -> Iterator[Gauge]:
    """Yield the gauges of OpenMetrics, each with its samples."""
    by_measure: dict[str, _Samples] = {}
    by_run: dict[str, _Samples] = {}
    conditions: _Samples = []
    for run in watched:
        entry, coverage = run.entry, run.coverage
        for name, mean in entry.means.items():
            ends = entry.intervals.get(name) or (None, None)
            difference = run.difference(name) or (None, None, None)
            # One from the judgments and one from the run may both be real.
            change = sum(one.difference for one in run.changes if one.measure == name)
            numbers = (mean, *ends, *difference, float((change > 0) - (change < 0)))
            for gauge, number in zip(_OF_MEASURES, numbers, strict=True):
                labels = {"run": run.run, "measure": name}
                by_measure.setdefault(gauge, []).append((labels, number))
        counts = (
            coverage.judged,
            len(coverage.missing),
            coverage.unjudged_share,
            entry.time.timestamp(),
        )
        for gauge, number in zip(_OF_RUNS, counts, strict=True):
            by_run.setdefault(gauge, []).append(({"run": run.run}, float(number)))
        conditions += [
            ({"run": run.run, "condition": one.rule}, float(one.failed)) for one in run.checked
        ]
    whole: _Samples = [({}, float(watched.failed))]
    samples = {**by_measure, **by_run, **dict(zip(_OF_ALL, (conditions, whole), strict=True))}
    for name, meaning in (_OF_MEASURES | _OF_RUNS | _OF_ALL).items():
        known = [(labels, number) for labels, number in samples[name] if number is not None]
        if known:
            yield Gauge(name, meaning, known)


_OF_MEASURES = {
    "gainful_mean": "The mean of the measure over the queries.",
    "gainful_mean_low": "The lower end of the 95% interval of the mean.",
    "gainful_mean_high": "The upper end of the 95% interval of the mean.",
    "gainful_difference": "The difference from the baseline.",
    "gainful_difference_low": "The lower end of the interval of the difference.",
    "gainful_difference_high": "The upper end of the interval of the difference.",
    "gainful_real_change": "1 if the measure really rose since the previous entry, -1 if it really fell, and 0 otherwise.",
}
_OF_RUNS = {
    "gainful_judged_queries": "The number of queries with judgments.",
    "gainful_missing_queries": "The number of judged queries that the run lacks.",
    "gainful_unjudged_ratio": "The share of unjudged documents among those measured.",
    "gainful_entry_timestamp_seconds": "When the run was measured.",
}


_OF_ALL = {
    "gainful_condition_failed": "Whether the condition failed.",
    "gainful_failed": "Whether any condition failed, or a measure really fell and that was a reason to fail.",
}


@takes(WatchingOptions, {name: DEFAULTS.get(name) for name in WatchingOptions.__annotations__})
def watch(
    path: str | os.PathLike[str],
    judgments: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    baseline: str = LAST,
    label: str = "",
    commit: str = "",
    time: datetime | str | None = None,
    keep_runs: str | os.PathLike[str] | None = None,
    fail_if: str | Sequence[str] = (),
    fail_unless: str | Sequence[str] = (),
    fail_on_drop: bool = False,
    dry_run: bool = False,
    **options: Unpack[WatchingOptions],
) -> Watched:
    """Measure runs, append them to a history, and check conditions, also against an earlier entry.

    Each run is compared with its own earlier entries. The new entries are stored before anything is decided.

    Args:
        path: the history, as for `add`; it is created if it doesn't exist.
        judgments: as in `evaluate`.
        runs: as in `evaluate_runs`; each name is a line of the history.
        measures: one measure or several.
        baseline: the entry that each run is compared with: `last`, the previous one; `release`, the previous one with a label;
            or a label.
        label: the release, or anything else that happened.
        commit: the commit that is measured.
        time: when the runs were measured, as in `add`.
        keep_runs: a folder in which the run of the previous entry, and of the baseline, are kept. If the judgments change, the
            old run is measured again, so that a jump can be attributed to judgments or run.
        fail_if: conditions, as in `Comparison.gate`. Without a baseline, only conditions that don't need one are checked.
        fail_unless: conditions that must be proved.
        fail_on_drop: fail if a measure really fell since the previous entry, at a level that holds over all entries.
        dry_run: append and keep nothing.
        **options: see `WatchingOptions`.

    >>> import gainful as gf, pathlib, tempfile
    >>> judgments = {f"q{i}": {"a": 1} for i in range(20)}
    >>> best = {query: {"a": 2, "b": 1} for query in judgments}
    >>> worst = {query: {"a": 1, "b": 2} for query in judgments}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "search.history")
    ...     first = gf.history.watch(path, judgments, {"bm25": best}, "RR", label="1.0")
    ...     second = gf.history.watch(path, judgments, {"bm25": worst}, "RR", fail_if="Δ RR < -0.1")
    >>> first.failed, second.failed, second[0].difference("RR")[0]
    (False, True, -0.5)
    """
    settings = Settings.of_options(options, None)
    for name, value in (("fail_on_drop", fail_on_drop), ("dry_run", dry_run)):
        arguments.truth(value, name)
    arguments.text(baseline, "baseline", "last, release or a label")
    Gate.check_conditions(measures, fail_if, fail_unless, dialect=options.get("dialect"))
    named = read_runs(runs, judgments, engine=options.get("engine"))
    kept = None if keep_runs is None else KeptRuns(keep_runs)
    store = store_at(path)
    before = read_store(store) if store.exists() else History(store.name, ())
    when = read_time(time)
    names = {*AveragingOptions.__annotations__, "slices", "by"}
    how: Any = {name: value for name, value in options.items() if name in names}
    about: dict[str, Any] = {"label": label, "commit": commit, "time": when}

    def measured_again(name: str, entry: HistoryEntry, new: Scores) -> Scores | None:
        """Return the scores of an earlier run with the new judgments, if they changed and the run was kept."""
        file = None if kept is None else kept.path(name, entry.time)
        if file is None or not file.exists() or entry.scores.policy != new.policy:
            return None
        if not judgments_changed(entry.scores, Baseline.of(new)):
            return None
        return evaluate(judgments, file, measures, **options_of_kept(how))

    scores = evaluate_runs(judgments, named, measures, **how)
    table, _ = read_slices(options.get("slices"), how)
    work = _Watching(
        settings=replace(settings, level=1 - settings.alpha / len(scores)),
        level=settings.level,
        fail_if=tuple(arguments.listed(fail_if, "fail_if", "conditions")),
        fail_unless=tuple(arguments.listed(fail_unless, "fail_unless", "conditions")),
        slices=table,
        by=options.get("by", ()),
    )
    watched = []
    for name, result in scores.items():
        earlier = [entry for entry in before if entry.run == name and entry.time < when]
        chosen = entry_named(earlier, baseline)
        again = measured_again(name, earlier[-1], result) if earlier else None
        base: Scores | Baseline | None = None
        if chosen is not None:
            base = again if chosen is earlier[-1] else measured_again(name, chosen, result)
            base = chosen.scores if base is None else base
        drafted = draft(result, run=name, again=again, **about)
        if not dry_run:
            if kept is not None:
                kept.keep(name, named[name], when, how)
            drafted.append_to(store)
            if kept is not None:
                releases = [entry.time for entry in earlier if entry.label][-1:]
                others = [] if chosen is None else [chosen.time]
                kept.remove_others(name, [when, *releases, *others])
        watched.append(work.watched(result, drafted.entry, earlier, chosen, base))
    drops = [change for run in watched for change in run.changes if _is_drop(change)]
    failed = any(one.failed for run in watched for one in run.checked)
    return Watched(tuple(watched), store.name, dry_run, failed or (fail_on_drop and bool(drops)))


def _is_drop(change: Change) -> bool:
    """Return whether a run became worse, as far as it can be told."""
    return change.difference < 0 and change.cause not in (JUDGMENTS, POLICY)


@dataclass(frozen=True, slots=True)
class _Watching:
    """How runs are compared and checked.

    Attributes:
        settings: the settings of the comparisons, whose level is that of one of the runs.
        level: the level of the real changes.
        fail_if: conditions that must not hold.
        fail_unless: conditions that must be proved.
        slices: a table with a row for each query.
        by: the columns to slice by.
    """

    settings: Settings
    level: float
    fail_if: tuple[str, ...]
    fail_unless: tuple[str, ...]
    slices: TableLike | None
    by: str | Sequence[str]

    def watched(
        self,
        scores: Scores,
        entry: HistoryEntry,
        earlier: Sequence[HistoryEntry],
        chosen: HistoryEntry | None,
        base: Scores | Baseline | None,
    ) -> WatchedRun:
        """Compare a run with its baseline, and check its conditions."""
        notes: list[str] = []
        comparison = None
        if chosen is None or base is None:
            notes.append("There is no earlier entry to compare with.")
        elif base.policy != scores.policy:
            notes.append(f"{chosen.title} has another policy, so there is no comparison.")
        else:
            comparison = self._compared(scores, entry.run, chosen, base, notes)
        changes = changes_of([*enumerate((*earlier, entry))], self.level)[0]
        return WatchedRun(
            entry=entry,
            coverage=scores.coverage,
            comparison=comparison,
            checked=tuple(self._checked(scores, entry.run, comparison, notes)),
            changes=tuple(change for change in changes if change.place == len(earlier)),
            notes=tuple(notes),
            is_first=not earlier,
        )

    def _compared(
        self,
        scores: Scores,
        run: str,
        chosen: HistoryEntry,
        base: Scores | Baseline,
        notes: list[str],
    ) -> Comparison | None:
        known = {str(measure) for measure in base.measures}
        means = [measure for measure in scores.measures if measure.family.aggregate == MEAN]
        shared = tuple(measure for measure in means if str(measure) in known)
        if lacking := [str(measure) for measure in means if measure not in shared]:
            notes.append(f"{chosen.title} lacks {', '.join(lacking)}.")
        if not shared:
            return None
        if isinstance(base, Baseline):  # today's weights count, for both
            base = replace(base, sample=None)
        title = chosen.title if chosen.title != run else f"{chosen.title} (earlier)"
        return compare_evaluated(
            {title: base, run: scores},
            shared,
            replace(self.settings, level=self.level),
            baseline=title,
            slices=self.slices,
            by=self.by,
            sample=scores.sample,
        )

    def _checked(
        self, scores: Scores, run: str, comparison: Comparison | None, notes: list[str]
    ) -> list[Checked]:
        """Check the conditions; those on changes only if there is a comparison."""
        rules = self.fail_if, self.fail_unless
        own = [Gate.without_baseline(texts) for texts in rules]
        if comparison is None:
            if left := [
                text for texts in rules for text in texts if text not in [*own[0], *own[1]]
            ]:
                notes.append(f"Without a comparison, not checked: {', '.join(left)}.")
            if not any(own):
                return []
            interval, level = self.settings.interval, self.settings.level
            return [*Gate.of_scores({run: scores}, *own, interval=interval, level=level).checked]
        if not any(rules):
            return []
        return [*check_gate(replace(comparison, settings=self.settings), *rules).checked]
