"""`Calibration`: what runs are worth by people's grades of some queries and a model's of all, and the gate on it."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gainful import arguments
from gainful.assessors.model_agreement import ModelAgreement
from gainful.comparison.gate import (
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
from gainful.comparison.score_columns import name_among
from gainful.comparison.verdict import Verdict
from gainful.errors import InputError
from gainful.evaluation.coverage import policy_note
from gainful.evaluation.request import asked_of, read_tool
from gainful.measures.dialect import Dialect
from gainful.measures.notation import GivenMeasure, Measures, name_of
from gainful.measures.policy import answers_in
from gainful.message_texts import counted, did_you_mean, shown
from gainful.rendering.table_formats import Cell, PValue, Table, as_text
from gainful.statistics.intervals import (
    INTERVALS,
    Ends,
    Interval,
    caution,
    few_changed,
    few_queries,
)
from gainful.statistics.prediction_powered import Estimate, interval_of
from gainful.writing.result_base import Result

_DIGITS = 3
_PAIR = 2  # a run and a measure
_CAUTIONS = 5  # under a table


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The mean of a measure, or the difference of two runs in it, by people and by the model.

    Attributes:
        measure: its name.
        run: the name of the run.
        base: the name of the baseline, of a difference; None of a mean.
        estimate: PPI++, the best of both; of sampled documents, the unbiased estimate.
        people: by people's grades alone; None of sampled documents.
        model: by the model's grades alone, with the interval that would be taken for it.
        bias: the model's value less people's, on the queries of both.
        ppi: PPI, which gives the model its full weight; None of sampled documents.
        weight: λ, from 0 (people alone) to 1 (PPI).
        worth: how many queries, judged by people alone, would give an interval as narrow; None where there is no spread.
        variance: of the estimate.
        freedom: its degrees of freedom.
        skewness: of the estimate, times √queries: of people alone, that of their values.
        queries: how many the interval rests on.
        changed: how many of them have a difference, by people; of a mean, another value than the most common one.
        ends: the lowest and the highest that the value can be.
        more_for_width: how many more queries people must judge for the width that was asked for; None where none was,
            or where not even all would do.
        p: that the difference is not 0, corrected; None of a mean.
        verdict: what is decided about a difference; None of a mean.
        more_for_verdict: how many more queries people must judge to decide, if the difference is as large as it looks; 0 where
            it is decided, None where not even all would do.
    """

    measure: str
    run: str
    base: str | None
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
        """Why no interval of the estimate can be trusted, or empty: too few queries of people tell of it."""
        what = "changed" if self.base is not None else "have another value than the most common one"
        return few_changed(self.changed, self.queries, what) if self.interval(0.95).known else ""

    @property
    def caution(self) -> str:
        """Why the interval may miss the true value more often than its level says, or empty."""
        if not self.interval(0.95).known:
            return ""
        if self.base is None:
            return caution(f"{self.measure}, {self.run}", "mean", self.skewness, self.queries)
        subject = f"{self.measure}, {self.run} − {self.base}"
        return caution(subject, "difference", self.skewness, self.queries, self.changed)


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """What runs are worth by people's grades of some queries and a model's grades of all.

    Attributes:
        means: of each measure and run.
        differences: of each measure and run from the baseline.
        runs: their names.
        measures: their names.
        baseline: the name of the run that the others are compared with; None of one run.
        unit: what was drawn for people, `queries` or `documents`.
        judged: how many queries people judged; of documents, how many documents.
        queries: how many queries the intervals rest on: those that people judged; of documents, all.
        further: how many more the model alone judged.
        strata: the names of the strata; one where there are none.
        drawn: how it is known that people's were drawn at random.
        agreement: of the model with people, on the documents that both graded; None where there are none.
        level: of the intervals.
        width: the width of an interval that was asked for; None where none was.
        margin: differences smaller than this do not matter; None where none was named.
        correction: of p for the number of comparisons.
        judge: the name of the model that judged, if it was named.
        policy: that all was measured under.
        dialect: of another tool, where one was asked for.
        remarks: what to bear in mind: few queries, a model that judges itself.
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
    agreement: ModelAgreement | None
    level: float
    width: float | None = None
    margin: float | None = None
    correction: str = "holm"
    judge: str | None = None
    policy: str = ""
    dialect: str | None = None
    remarks: tuple[str, ...] = field(default=())

    def __getitem__(self, key: tuple[str, GivenMeasure]) -> Calibrated:
        """Return the mean of a run under a measure: `found["new", "nDCG@10"]`."""
        return self._find(self.means, key)

    def difference(self, run: str, measure: GivenMeasure | None = None) -> Calibrated:
        """Return the difference of a run from the baseline, under a measure; the first if None."""
        return self._find(self.differences, (run, self.measures[0] if measure is None else measure))

    def _find(self, rows: Sequence[Calibrated], key: object) -> Calibrated:
        known = {(each.run, each.measure): each for each in rows}
        if isinstance(key, tuple) and len(key) == _PAIR and isinstance(key[0], str):
            written = name_of(key[1])
            if written is not None:
                wanted = key[0], name_among(written, self.measures, self.dialect)
                if wanted in known:
                    return known[wanted]
        names = [*map(shown, known)]
        raise InputError(
            "calibration", "the name of a run and a measure", shown(key), did_you_mean(None, names)
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is decided about each difference."""
        return tuple(each.verdict for each in self.differences if each.verdict is not None)

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
        found = self._find(rows, (run, condition.name))
        interval, value = found.interval(level), found.estimate.value
        return check(condition, run, value, interval, self.queries, found.doubt)

    @staticmethod
    def check_conditions(
        measures: Measures,
        fail_if: str | Sequence[str] = (),
        fail_unless: str | Sequence[str] = (),
        *,
        dialect: str | Dialect | None = None,
        compared: bool = True,
    ) -> None:
        """Refuse conditions that the gate could not check, before anything is measured.

        Args:
            measures: that will be there.
            fail_if: the gate fails if one of these holds.
            fail_unless: the gate fails unless all of these hold.
            dialect: whose names of measures are read, too.
            compared: whether there will be a baseline.
        """
        tool = read_tool(dialect, None)
        names = [str(measure) for measure in asked_of(measures, tool)]
        name = None if tool is None else tool.name
        _read_conditions(
            names, fail_if, fail_unless, name, compared=arguments.truth(compared, "compared")
        )

    def notes(self) -> list[str]:
        """Return what the numbers rest on, in lines."""
        noun = ("query", "queries") if self.unit == "queries" else ("document",)
        line = f"people judged {counted(self.judged, *noun)}, the model {self.further:,} more; {self.drawn}"
        if len(self.strata) > 1:
            line += f"; {len(self.strata)} strata"
        how = INTERVALS["hall"].title
        found = [line, f"{100 * self.level:g}% intervals, by {how}; the query is the unit"]
        found += few_queries([self.queries], self.level)
        return [*found, *self._cautions(), *self.remarks, policy_note(self.policy)]

    def _cautions(self) -> list[str]:
        """Return why intervals may miss more often than their level says."""
        found = [each.caution for each in (*self.means, *self.differences) if each.caution]
        rest = len(found) - _CAUTIONS
        more = [f"… and {counted(rest, 'more estimate')} skewed or rare"] if rest > 0 else []
        return [*found[:_CAUTIONS], *more]

    def table(self) -> Table:
        """Return a row for each mean, then one for each difference: by people, by the model, and by both."""
        notes = [*map(str, self.verdicts), *self.notes()]
        kept = () if self.width is None else ("more",)
        return _tabled([*self.means, *self.differences], notes=notes, keeping=kept)

    def tables(self) -> list[Table]:
        """Return all that is shown to people."""
        estimate = "PPI++" if self.unit == "queries" else "the unbiased estimate"
        title = f"means; low and high are the ends of {100 * self.level:g}% intervals of {estimate}"
        kept = () if self.width is None else ("more",)
        found = [_tabled(self.means, title, leaving=_FOR_PROGRAMS, keeping=kept)]
        if self.differences:
            title, notes = f"differences from {self.baseline}", [*map(str, self.verdicts)]
            found.append(_tabled(self.differences, title, notes, _FOR_PROGRAMS, kept))
        if self.agreement is not None:
            found.append(self.agreement.table())
        last = found[-1]
        found[-1] = replace(last, notes=[*last.notes, *self._meanings(), *self.notes()])
        return found

    def _meanings(self) -> list[str]:
        """Say what the columns are that their names leave open."""
        found = ["bias: the model's value less people's, on what both judged"]
        if self.unit == "queries":
            found.append("λ: the weight of the model, from 0, people alone, to 1")
            found.append(
                "worth: so many queries, judged by people alone, would give an interval as narrow"
            )
        if self.width is not None:
            found.append(
                f"more: so many more queries must people judge for a width of {self.width:g}; open where not even all "
                f"{self.judged + self.further:,} would do"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values; what is not finite becomes None."""
        plain = Result.to_dict(self)
        plain["policy"] = answers_in(self.policy)
        for name in ("means", "differences"):
            for row, each in zip(plain[name], getattr(self, name), strict=True):
                row["verdict"] = None if each.verdict is None else each.verdict.word
                row["sentence"] = None if each.verdict is None else each.verdict.sentence
        return plain

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n\n".join(map(as_text, self.tables()))


def _tabled(
    rows: Sequence[Calibrated],
    title: str = "",
    notes: Sequence[str] = (),
    leaving: Sequence[str] = (),
    keeping: Sequence[str] = (),
) -> Table:
    """Return a row for each, with the columns that any of them has something in or that are kept, leaving out some."""
    cells = [_cells(each) for each in rows]
    kept = [
        name
        for name in _COLUMNS
        if name not in leaving and (name in keeping or any(row[name] is not None for row in cells))
    ]
    return Table(kept, [[row[name] for name in kept] for row in cells], _DIGITS, title, notes)


_COLUMNS = (
    "measure", "run", "base", "people", "model", "bias", "PPI", "estimate", "low", "high", "λ", "worth", "p", "verdict",
    "more", "more to decide",
)  # fmt: skip
_FOR_PROGRAMS = ("base", "PPI", "more to decide")  # which people read elsewhere


def _cells(each: Calibrated) -> dict[str, Cell]:
    return {
        "measure": each.measure,
        "run": each.run,
        "base": each.base,
        "people": None if each.people is None else each.people.value,
        "model": each.model.value,
        "bias": each.bias.value,
        "PPI": None if each.ppi is None else each.ppi.value,
        "estimate": each.estimate.value,
        "low": _cell(each.estimate.low),
        "high": _cell(each.estimate.high),
        "λ": None if each.people is None else each.weight,
        "worth": None if each.worth is None else round(each.worth),
        "p": None if each.p is None else PValue(each.p),
        "verdict": None if each.verdict is None else each.verdict.word,
        "more": each.more_for_width,
        "more to decide": each.more_for_verdict,
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
    """Read the conditions of a gate; facts of runs are refused, which say nothing of people or model."""
    conditions = conditions_of(
        measures, fail_if, fail_unless, dialect, compared=compared, facts=False
    )
    for condition in conditions:
        if condition.about == FACT:
            raise InputError(
                "fail-unless" if condition.unless else "fail-if",
                "a change, such as 'Δ nDCG@10 < -0.01', or a floor, such as 'nDCG@10 < 0.6', beside people's and a "
                "model's grades",
                shown(condition.text),
                "Check it by itself: gainful evaluate, or compare with one file of judgments.",
            )
    return conditions
