"""`Calibration`: runs' scores estimated from people's and a model's grades, and a gate."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from gainful import arguments
from gainful.analysis.comparison.gate import (
    CHANGE,
    FACT,
    Checked,
    Condition,
    Gate,
    check_change,
    check_floor,
    conditions_of,
    level_of_each,
)
from gainful.analysis.comparison.score_columns import name_among
from gainful.analysis.comparison.verdict import Verdict, without_correction
from gainful.arithmetic.statistics.intervals import (
    INTERVALS,
    Ends,
    Interval,
    caution,
    few_changed,
    few_queries,
)
from gainful.arithmetic.statistics.prediction_powered import Estimate, interval_of
from gainful.errors import InputError
from gainful.evaluation.coverage import policy_note
from gainful.evaluation.request import asked_of, read_tool
from gainful.judging.assessors.model_agreement import EvidenceAgreement, ModelAgreement
from gainful.measures.notation import GivenMeasure, Measures, name_of
from gainful.measures.policy import answers_in
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import counted, did_you_mean, shown
from gainful.output.rendering.table_formats import Cell, PValue, Table
from gainful.output.writing.result_base import Document, FormerNames

_DIGITS = 3
_PAIR = 2  # the length of a key (run, measure)
_CAUTIONS = 5  # shown under a table


@dataclass(frozen=True, slots=True)
class Calibrated(FormerNames):
    """The mean of a measure, or the difference of two runs, by people and by the model.

    Attributes:
        measure: its name.
        run: the name of the run.
        baseline: the name of the baseline of a difference; None for a mean.
        estimate: the PPI++ estimate (the model's mean, corrected by its error on people's queries); for
            sampled documents, the unbiased estimate.
        people: the estimate from people's grades alone; None for sampled documents.
        model: the estimate from the model's grades alone, with its naive interval.
        bias: the model's value minus people's, on the queries that both judged.
        ppi: the PPI estimate, with full weight for the model; None for sampled documents.
        weight: λ, the weight of the model's values, from 0 (people alone) to 1 (PPI).
        worth: the number of queries, judged by people alone, with an equally narrow interval; None
            without variance.
        variance: the variance of the estimate.
        freedom: its degrees of freedom.
        skewness: the skewness of the estimate times √queries; for people alone, the skewness of
            their values.
        queries: the number of queries behind the interval.
        changed: how many of them differ by people's grades; for a mean, from the most common value.
        ends: the lowest and the highest possible value.
        more_for_width: how many more queries people must judge to reach the requested width; None
            without one, or if even all of them would not be enough.
        p: the corrected p-value of the difference; None for a mean.
        verdict: the verdict on a difference; None for a mean.
        more_for_verdict: how many more queries people must judge to decide, if the difference is as
            large as it looks; 0 if it is decided, None if even all of them would not be enough.
    """

    _FORMER: ClassVar = {"base": "baseline"}

    measure: str
    run: str
    baseline: str | None
    estimate: Estimate
    people: Estimate | None
    model: Estimate
    bias: Estimate
    ppi: Estimate | None
    weight: float
    worth: float | None
    variance: float
    freedom: float
    skewness: float
    queries: int
    changed: int
    ends: Ends
    more_for_width: int | None = None
    p: float | None = None
    verdict: Verdict | None = None
    more_for_verdict: int | None = None

    def interval(self, level: float) -> Interval:
        """Return the interval of the estimate at another level."""
        tilt, value = self.skewness / math.sqrt(self.queries), self.estimate.value
        return interval_of(value, self.variance, self.freedom, tilt, self.queries, level, self.ends)

    @property
    def doubt(self) -> str:
        """Why the interval is unreliable (too few informative queries of people), or empty."""
        what = "changed" if self.baseline is not None else "differ from the most common value"
        return few_changed(self.changed, self.queries, what) if self.interval(0.95).known else ""

    @property
    def caution(self) -> str:
        """Why the interval may miss the true value more often than its level implies, or empty."""
        if not self.interval(0.95).known:
            return ""
        if self.baseline is None:
            return caution(f"{self.measure}, {self.run}", "mean", self.skewness, self.queries)
        subject = f"{self.measure}, {self.run} − {self.baseline}"
        return caution(subject, "difference", self.skewness, self.queries, self.changed)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Document):
    """Runs' scores estimated from people's grades of some queries and a model's grades of all.

    Attributes:
        means: the mean of each measure and run.
        differences: the difference of each run from the baseline, per measure.
        runs: the names of the runs.
        measures: the names of the measures.
        baseline: the name of the baseline; None for a single run.
        unit: the units drawn for people, `queries` or `documents`.
        judged: the number of queries, or of documents, that people judged.
        queries: the number of queries behind the intervals: people's, or with sampled documents
            all.
        further: the number of units judged only by the model.
        strata: the names of the strata; one name without strata.
        drawn: the evidence that people's units were drawn at random.
        agreement: the model's agreement with people on the documents that both graded, or on the text of the
            passages if the judgments are evidence; None without any.
        level: the level of the intervals.
        width: the requested width of intervals, or None.
        margin: the largest irrelevant difference, or None.
        correction: the correction of p for the number of comparisons.
        judge: the name of the judging model, if known.
        policy: the policy of all measurements.
        dialect: the dialect of another tool, if requested.
        remarks: reasons for caution, such as few queries or a model that judges itself.
    """

    means: tuple[Calibrated, ...]
    differences: tuple[Calibrated, ...]
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    baseline: str | None
    unit: str
    judged: int
    queries: int
    further: int
    strata: tuple[str, ...]
    drawn: str
    agreement: ModelAgreement | EvidenceAgreement | None
    level: float
    width: float | None = None
    margin: float | None = None
    correction: str = "holm"
    judge: str | None = None
    policy: str = ""
    dialect: str | None = None
    remarks: tuple[str, ...] = field(default=())

    def __getitem__(self, key: tuple[str, GivenMeasure]) -> Calibrated:
        """Return the mean of a run under a measure: `result["new", "nDCG@10"]`."""
        return self._find(self.means, key)

    def difference(self, run: str, measure: GivenMeasure | None = None) -> Calibrated:
        """Return the difference of a run from the baseline, under a measure; the first if None."""
        return self._find(self.differences, (run, self.measures[0] if measure is None else measure))

    def _find(self, rows: Sequence[Calibrated], key: object) -> Calibrated:
        by_key = {(row.run, row.measure): row for row in rows}
        if isinstance(key, tuple) and len(key) == _PAIR and isinstance(key[0], str):
            written = name_of(key[1])
            if written is not None:
                pair = key[0], name_among(written, self.measures, self.dialect)
                if pair in by_key:
                    return by_key[pair]
        names = [*map(shown, by_key)]
        raise InputError(
            "calibration", "the name of a run and a measure", shown(key), did_you_mean(None, names)
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each difference."""
        return tuple(d.verdict for d in self.differences if d.verdict is not None)

    def gate(
        self, fail_if: str | Sequence[str] = (), fail_unless: str | Sequence[str] = ()
    ) -> Gate:
        """Return whether conditions hold, by the intervals of PPI++.

        Changes, such as `Δ nDCG@10 < -0.01`, and floors, such as `nDCG@10 < 0.6`, as in `Comparison.gate`.
        """
        conditions = _read_conditions(
            self.measures, fail_if, fail_unless, self.dialect, compared=bool(self.differences)
        )
        if not conditions:
            raise InputError("gate", "at least one condition", "none", "E.g. 'Δ nDCG@10 < -0.01'.")
        runs = [name for name in self.runs if name != self.baseline] or [*self.runs]
        level = level_of_each(1 - self.level, conditions, len(runs))
        checked = [self._checked(condition, run, level) for condition in conditions for run in runs]
        return Gate(tuple(checked), notes=tuple(self.notes()))

    def _checked(self, condition: Condition, run: str, level: float) -> Checked:
        rows, check = (
            (self.differences, check_change)
            if condition.about == CHANGE
            else (self.means, check_floor)
        )
        row = self._find(rows, (run, condition.name))
        interval, value = row.interval(level), row.estimate.value
        return check(condition, run, value, interval, self.queries, row.doubt)

    @staticmethod
    def check_conditions(
        measures: Measures,
        fail_if: str | Sequence[str] = (),
        fail_unless: str | Sequence[str] = (),
        *,
        dialect: str | Dialect | None = None,
        compared: bool = True,
    ) -> None:
        """Reject conditions that the gate could not check, before any measurement.

        Args:
            measures: the measures of the future result.
            fail_if: the gate fails if one of these holds.
            fail_unless: the gate fails unless all of these hold.
            dialect: a dialect whose names of measures are also accepted.
            compared: whether the result will have a baseline.
        """
        tool = read_tool(dialect, None)
        names = [str(measure) for measure in asked_of(measures, tool)]
        name = None if tool is None else tool.name
        _read_conditions(
            names, fail_if, fail_unless, name, compared=arguments.truth(compared, "compared")
        )

    def notes(self) -> list[str]:
        """Return notes on the basis of the numbers."""
        how = INTERVALS["hall"].title
        line = f"{100 * self.level:g}% intervals, by {how}; the query is the unit"
        return [self._judged(), line, *self._doubts()]

    def _judged(self) -> str:
        """Return how much people and the model judged."""
        noun = ("query", "queries") if self.unit == "queries" else ("document",)
        line = f"people judged {counted(self.judged, *noun)}, the model {self.further:,} more; {self.drawn}"
        return line + (f"; {len(self.strata)} strata" if len(self.strata) > 1 else "")

    def _doubts(self) -> list[str]:
        """Return reasons to doubt the estimates, and the policy."""
        few = few_queries([self.queries], self.level)
        return [*few, *self._cautions(), *self.remarks, policy_note(self.policy)]

    def sentences(self) -> list[str]:
        """Return the verdicts; without a comparison, the estimated means."""
        if self.verdicts:
            return [without_correction(verdict.sentence) for verdict in self.verdicts]
        return [self._mean(row) for row in self.means]

    def _mean(self, row: Calibrated) -> str:
        """Return the estimate of a mean as a sentence."""
        value, low, high = (
            f"{number:.{_DIGITS}f}"
            for number in (row.estimate.value, row.estimate.low, row.estimate.high)
        )
        is_known = math.isfinite(row.estimate.low)
        span = f" ({100 * self.level:g}% interval {low} to {high})" if is_known else ""
        return f"{row.measure}: the mean of {row.run} is {value}{span}."

    def narrow_tables(self) -> list[Table]:
        """Return a row for each run: by people, by the model and by both, with its verdict."""
        ends = [f"{100 * self.level:g}% {end}" for end in ("low", "high")]
        words = {(row.run, row.measure): row.verdict for row in self.differences}
        rows: list[list[Cell]] = []
        for row in self.means:
            cells = _cells(row)
            verdict = words.get((row.run, row.measure))
            word = "baseline" if row.run == self.baseline else None
            rows.append(
                [
                    *(cells[name] for name in ("measure", "run", "people", "model", "estimate")),
                    *(cells["low"], cells["high"]),
                    word if verdict is None else verdict.word,
                    *([cells["more"]] if self.width is not None else []),
                ]
            )
        columns = ["measure", "run", "people", "model", "estimate", *ends, "verdict"]
        columns += ["more"] if self.width is not None else []
        left = ["measure"] if len(self.measures) == 1 else []
        left += [] if self.unit == "queries" else ["people"]
        left += [] if self.differences else ["verdict"]
        how = (
            "PPI++, the model's value corrected by people's grades"
            if self.unit == "queries"
            else "the unbiased estimate from the documents that people graded"
        )
        notes = [f"estimate: {how}", self._judged()]
        notes += [line for line in self._meanings() if line.startswith("more:")]
        notes += [] if self.agreement is None else self.agreement.table().notes
        optional = (("people", "model"), ends)
        table = Table(columns, rows, _DIGITS, notes=[*notes, *self._doubts()], optional=optional)
        return [table.without(left)]

    def _cautions(self) -> list[str]:
        """Return reasons why intervals may miss more often than their level implies."""
        cautions = [row.caution for row in (*self.means, *self.differences) if row.caution]
        rest = len(cautions) - _CAUTIONS
        more = [f"… and {counted(rest, 'more estimate')} skewed or rare"] if rest > 0 else []
        return [*cautions[:_CAUTIONS], *more]

    def table(self) -> Table:
        """Return a row for each mean and each difference: by people, by the model and by both."""
        notes = [*map(str, self.verdicts), *self.notes()]
        kept = () if self.width is None else ("more",)
        return _tabled([*self.means, *self.differences], notes=notes, keeping=kept)

    def tables(self) -> list[Table]:
        """Return all tables for display."""
        estimate = "PPI++" if self.unit == "queries" else "the unbiased estimate"
        title = f"means; low and high are the ends of {100 * self.level:g}% intervals of {estimate}"
        kept = () if self.width is None else ("more",)
        tables = [_tabled(self.means, title, leaving=_FOR_PROGRAMS, keeping=kept)]
        if self.differences:
            title, notes = f"differences from {self.baseline}", [*map(str, self.verdicts)]
            tables.append(_tabled(self.differences, title, notes, _FOR_PROGRAMS, kept))
        if self.agreement is not None:
            tables.append(self.agreement.table())
        last = tables[-1]
        tables[-1] = replace(last, notes=[*last.notes, *self._meanings(), *self.notes()])
        return tables

    def _meanings(self) -> list[str]:
        """Explain columns whose names are not enough."""
        meanings = ["bias: the model's value minus people's, on what both judged"]
        if self.unit == "queries":
            meanings.append("λ: the weight of the model, from 0 (people alone) to 1")
            meanings.append(
                "worth: the number of queries, judged by people alone, with an equally narrow "
                "interval"
            )
        if self.width is not None:
            meanings.append(
                f"more: how many more queries people must judge for a width of {self.width:g}; "
                f"empty if even all {self.judged + self.further:,} would not be enough"
            )
        return meanings

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; values that are not finite become None."""
        plain = Document.to_dict(self)
        plain["policy"] = answers_in(self.policy)
        for name in ("means", "differences"):
            for row, own in zip(plain[name], getattr(self, name), strict=True):
                row["verdict"] = None if own.verdict is None else own.verdict.word
                row["sentence"] = None if own.verdict is None else own.verdict.sentence
        return plain


def _tabled(
    rows: Sequence[Calibrated],
    title: str = "",
    notes: Sequence[str] = (),
    leaving: Sequence[str] = (),
    keeping: Sequence[str] = (),
) -> Table:
    """Return a row for each estimate, with the columns that are not empty or always kept."""
    cells = [_cells(row) for row in rows]
    kept = [
        name
        for name in _COLUMNS
        if name not in leaving and (name in keeping or any(row[name] is not None for row in cells))
    ]
    return Table(kept, [[row[name] for name in kept] for row in cells], _DIGITS, title, notes)


_COLUMNS = (
    "measure", "run", "baseline", "people", "model", "bias", "PPI", "estimate", "low", "high", "λ", "worth", "p", "verdict",
    "more", "more to decide",
)  # fmt: skip
_FOR_PROGRAMS = ("baseline", "PPI", "more to decide")  # shown elsewhere in the display


def _cells(row: Calibrated) -> dict[str, Cell]:
    return {
        "measure": row.measure,
        "run": row.run,
        "baseline": row.baseline,
        "people": None if row.people is None else row.people.value,
        "model": row.model.value,
        "bias": row.bias.value,
        "PPI": None if row.ppi is None else row.ppi.value,
        "estimate": row.estimate.value,
        "low": _cell(row.estimate.low),
        "high": _cell(row.estimate.high),
        "λ": None if row.people is None else row.weight,
        "worth": None if row.worth is None else round(row.worth),
        "p": None if row.p is None else PValue(row.p),
        "verdict": None if row.verdict is None else row.verdict.word,
        "more": row.more_for_width,
        "more to decide": row.more_for_verdict,
    }


def _cell(number: float) -> Cell:
    return number if math.isfinite(number) else None


def _read_conditions(
    measures: Sequence[str],
    fail_if: str | Sequence[str],
    fail_unless: str | Sequence[str],
    dialect: str | None,
    *,
    compared: bool,
) -> list[Condition]:
    """Read the conditions of a gate; reject facts of runs, which don't depend on grades."""
    conditions = conditions_of(
        measures, fail_if, fail_unless, dialect, compared=compared, facts=False
    )
    for condition in conditions:
        if condition.about == FACT:
            raise InputError(
                "fail-unless" if condition.unless else "fail-if",
                "a change, such as 'Δ nDCG@10 < -0.01', or a floor, such as 'nDCG@10 < 0.6', with "
                "people's and a model's grades",
                shown(condition.text),
                "Check it separately with gainful evaluate, or compare with one file of judgments.",
            )
    return conditions
