"""`ComparisonResult`: the differences between runs, with their verdicts and tables."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

from gainful import arguments
from gainful.analysis.comparison.differences import Difference
from gainful.analysis.comparison.paired_scores import Paired
from gainful.analysis.comparison.query_differences import QueryDifferences, query_differences
from gainful.analysis.comparison.reversals import Reversal, find_reversals, notes_on_reversals
from gainful.analysis.comparison.score_columns import name_among
from gainful.analysis.comparison.settings import Settings
from gainful.analysis.comparison.slices import Slice
from gainful.analysis.comparison.unjudged_documents import (
    UnjudgedDifference,
    unjudged_differences,
    unjudged_table,
)
from gainful.analysis.comparison.verdict import without_correction
from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.arithmetic.statistics.intervals import INTERVALS, few_queries
from gainful.errors import InputError
from gainful.evaluation.coverage import (
    policy_note,
    query_sentences,
    tied_sentence,
    unjudged_sentence,
)
from gainful.evaluation.means_of_queries import GradeVariance, notes_on_grades
from gainful.evaluation.scores import Scores
from gainful.evaluation.unjudged.bounds import RunBounds
from gainful.measures.notation import GivenMeasure, name_of
from gainful.measures.policy import answers_in
from gainful.message_texts import counted, did_you_mean, shown
from gainful.output.rendering.table_formats import (
    Cell,
    PValue,
    Signed,
    Table,
    as_html,
    as_markdown,
)
from gainful.output.writing.experiment_trackers import Logged, flat_names
from gainful.output.writing.result_base import Document, FormerNames
from gainful.version import VERSION

_SHOWN = 12  # slices in printed text, and comparisons with a list of queries
_SENTENCES = 20  # verdicts under a table
_FIRST_SENTENCES = 6  # verdicts above a narrow table
_CAUTIONS = 5  # under a table


@dataclass(frozen=True, slots=True)
class Checks:
    """The coverage of a run, which a gate can check in addition to its scores.

    Attributes:
        judged: the number of queries with judgments; None if unknown.
        missing: the number of judged queries that the run lacks.
        unjudged: the share of unjudged documents, among all documents down to the cutoff.
        depth: the deepest cutoff; None for all documents.
        tied: the number of judged documents down to the cutoff that share their score with another
            document; None if unknown.
    """

    judged: int | None = None
    missing: int | None = None
    unjudged: float | None = None
    depth: int | None = None
    tied: int | None = None

    def __str__(self) -> str:
        return self.described(None)

    def described(self, policy: str | None, units: tuple[str, str] = ("query", "queries")) -> str:
        """Return the counts as sentences.

        Args:
            policy: its text, to say how queries and documents are treated; None leaves that out.
            units: the words for one query and for several.
        """
        if self.judged is None or self.missing is None:
            return "coverage unknown"
        answers = answers_in(policy or "")
        said = query_sentences(self.judged, self.missing, answers, units)
        seen = "its documents" if self.depth is None else f"its top {self.depth}"
        said += unjudged_sentence(self.unjudged or 0, seen, answers)
        return " ".join(said + tied_sentence(self.tied or 0, answers))


def notes_on_runs(
    checks: Mapping[str, Checks], policy: str | None, units: tuple[str, str] = ("query", "queries")
) -> list[str]:
    """Return a note on each run that was compared; on all runs together if they don't differ."""
    notes = {name: each.described(policy, units) for name, each in checks.items()}
    partial = any(each.missing or each.unjudged or each.tied for each in checks.values())
    if len({*notes.values()}) == 1 and not partial:
        return [next(iter(notes.values()))]
    return [f"{name}: {note}" for name, note in notes.items()]


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Document, Logged, FormerNames):
    """The result of comparing runs: every difference, with its verdict.

    Attributes:
        baseline: the name of the run that the others are compared with.
        paired: the scores of all runs, query by query.
        settings: the test, the correction, the interval and other settings.
        differences: one for each measure and pair of runs, measure by measure.
        slices: the differences within subsets of the queries, worst first.
        policy: the policy of the scores, as text; empty if gainful didn't compute them.
        dialect: the name of the other tool whose numbers were reproduced (a dialect), if any.
        checks: the coverage of each run.
        changed: messages about changes since a saved baseline was made; empty if nothing changed. None
            if that is unknown: without a saved baseline, or if the policy assigns a grade to
            unjudged documents.
        scores: the scores of the runs that were evaluated, by name; not pickled.
        grade_variances: for judgments from clicks, the part of each difference's variance that comes from the
            grades; empty for others.
        sample: how weights and clusters affect the certainty of the means; empty without them.
        bounds: the bounds of runs and differences, if an estimate was requested or the judgments favour a
            run; otherwise None.
    """

    _FORMER: ClassVar = {"systems": "runs"}

    baseline: str
    paired: Paired
    settings: Settings
    differences: tuple[Difference, ...]
    slices: tuple[Slice, ...] = ()
    policy: str = ""
    dialect: str | None = None
    checks: Mapping[str, Checks] | None = None
    changed: tuple[str, ...] | None = None
    scores: Mapping[str, Scores] = field(default_factory=dict, repr=False, compare=False)
    grade_variances: tuple[GradeVariance, ...] = ()
    sample: tuple[str, ...] = ()
    bounds: RunBounds | None = None

    def __getstate__(self) -> dict[str, object]:
        # Scores may refer to their source, such as a connection, which can't be pickled.
        kept = {name: value for name, value in self.__dict__.items() if name != "plot"}
        return kept | {"scores": {}, "reversals": self.reversals}

    @cached_property
    def reversals(self) -> tuple[Reversal, ...]:
        """The pairs of runs that nDCG and its DCG put in opposite orders, unless the difference is negligible.

        Computed on first use, from the rankings of the runs; empty for scores that were computed before.
        """
        return find_reversals(self.paired, self.differences, self.scores)

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self.paired.systems

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return self.paired.measures

    def __getitem__(
        self, key: tuple[str, GivenMeasure] | tuple[str, str, GivenMeasure]
    ) -> Difference:
        """Return the difference between a run and the baseline, or another run of a pair, under a measure.

        The key is (run, measure) or (baseline, run, measure). The measure may have any spelling.
        """
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            raise InputError("comparison", "(run, measure) or (baseline, run, measure)", shown(key))
        base, run, written = key if len(key) == 3 else (self.baseline, *key)
        name = name_of(written)
        if name is None or not all(isinstance(part, str) for part in (base, run)):
            raise InputError("comparison", "(run, measure) or (baseline, run, measure)", shown(key))
        measure = name_among(name, self.measures, self.dialect)
        for difference in self.differences:
            if (difference.baseline, difference.run, difference.measure) == (base, run, measure):
                return difference
        names = [f"{d.baseline}, {d.run}, {d.measure}" for d in self.differences]
        label = f"{base}, {run}, {measure}"
        raise InputError(
            "comparison",
            "a baseline, a run and a measure that were compared",
            label,
            did_you_mean(label, names),
        )

    @property
    def verdicts(self) -> tuple[str, ...]:
        """A sentence for each comparison."""
        return tuple(difference.verdict.sentence for difference in self.differences)

    @property
    def per_query(self) -> QueryDifferences:
        """The scores of each query in each comparison, one row for each.

        Its methods `worst` and `best` return the queries that lost and gained the most.
        """
        return query_differences(self.paired, self.differences, self.settings.tie, self.basis)

    @cached_property
    def unjudged(self) -> tuple[UnjudgedDifference, ...]:
        """The differences as if every document were judged, with `estimate`; empty without it."""
        pairs = dict.fromkeys((one.baseline, one.run) for one in self.differences)
        return unjudged_differences(self.bounds, [*pairs], self.settings)

    def unjudged_table(self) -> Table:
        """Return the differences as if every document were judged, between their bounds."""
        return unjudged_table(self.unjudged, self.bounds, self.settings)

    def _numbers(self) -> dict[str, float]:
        runs = dict(zip(self.runs, flat_names(self.runs), strict=True))
        measures = dict(zip(self.measures, flat_names(self.measures), strict=True))
        numbers: dict[str, float] = {}
        for difference in self.differences:
            run, base = runs[difference.run], runs[difference.baseline]
            pair = f"{run}_vs_{base}/{measures[difference.measure]}"
            ends = {"low": difference.interval.low, "high": difference.interval.high}
            values = {"difference": difference.difference, **ends, "p": difference.p}
            # With one query the ends are infinite, and a test of equal runs has no p-value.
            finite = {name: n for name, n in values.items() if n is not None and math.isfinite(n)}
            numbers |= {f"{pair}/{name}": number for name, number in finite.items()}
        return numbers

    def table(self) -> Table:
        """Return a row for each comparison, with verdicts, settings and coverage as notes."""
        level = f"{100 * self.settings.level:g}%"
        columns = ["measure", "baseline", "run", "baseline mean", "run mean", "difference"]
        columns += [f"{level} low", f"{level} high", "p", "effect", "wins", "ties", "losses"]
        rows = [_row(difference) for difference in self.differences]
        return Table([*columns, "queries", "verdict"], rows, notes=self.notes())

    def notes(self) -> list[str]:
        """Return the verdicts, then the tests, settings and coverage behind them."""
        made = sum(difference.p is not None for difference in self.differences)
        how = f"p by {' and '.join(sorted({difference.test for difference in self.differences}))}"
        corrections = sorted(self._corrections)
        if made > 1 and any(CORRECTIONS[name].changes for name in corrections):
            how += f", corrected over {made} comparisons ({' and '.join(corrections)})"
        interval = INTERVALS[self.settings.interval].title
        notes = [
            *self._first_verdicts(_SENTENCES),
            "",
            f"{how}; interval by {interval}, of each difference alone",
        ]
        notes += [f"settings: {self.settings}", *self._level_of_queries_needed(made)]
        return [*notes, *self.cautions(), *self.basis]

    def _level_of_queries_needed(self, made: int) -> list[str]:
        """Return the level for which verdicts estimate queries, if some do and the correction lowers it."""
        corrected = made > 1 and any(CORRECTIONS[name].changes for name in self._corrections)
        estimated = (one.verdict.queries_needed for one in self.differences[:_SENTENCES])
        if not corrected or not any(estimated):
            return []
        level = f"{self.settings.alpha:g}/{made}"
        why = (
            f"as p is corrected over {made} comparisons; fewer measures or runs need fewer queries"
        )
        return [f"queries needed are estimated at p < {level}, {why}"]

    def _first_verdicts(self, most: int) -> list[str]:
        """Return the first verdicts, and the number of the others."""
        sentences = [difference.verdict.sentence for difference in self.differences[:most]]
        if len(self.differences) > most:
            sentences.append(f"… and {counted(len(self.differences) - most, 'more verdict')}")
        return sentences

    def sentences(self) -> list[str]:
        """Return the first verdicts, without the names of corrections."""
        return [without_correction(said) for said in self._first_verdicts(_FIRST_SENTENCES)]

    def narrow_tables(self) -> list[Table]:
        """Return a row for each run: mean, difference, interval and verdict; and the slices, if any."""
        level = f"{100 * self.settings.level:g}%"
        ends = (f"{level} low", f"{level} high")
        of_all_pairs = self.settings.pairs == "all"
        means = ("baseline mean", "run mean") if of_all_pairs else ("", "mean")
        left_out = ["", "p", *(["measure"] if len(self.measures) == 1 else [])]
        left_out += [] if of_all_pairs else ["baseline"]
        rows: list[list[Cell]] = []
        for one in self.differences:
            if not of_all_pairs and (not rows or rows[-1][0] != one.measure):
                cells = [None, one.baseline_mean, None, None, None, "baseline"]
                rows.append([one.measure, None, self.baseline, *cells])
            numbers = (
                one.baseline_mean,
                one.run_mean,
                *map(_signed, (one.difference, *_ends(one))),
            )
            rows.append([one.measure, one.baseline, one.run, *numbers, one.verdict.word])
        columns = ["measure", "baseline", "run", *means, "difference", *ends, "verdict"]
        table = Table(
            columns, rows, notes=[*self.cautions(), *self.basis], optional=(means, ends)
        ).without(left_out)
        tables = [table]
        if self.unjudged:
            bounds = (("lowest", "highest"), ("difference",))
            unjudged = replace(self.unjudged_table(), optional=bounds)
            tables.append(unjudged.without(left_out))
        if self.slices:
            slices = replace(
                self.slices_table(_SHOWN), optional=(("queries",), ends, ("baseline",))
            )
            tables.append(slices.without(left_out))
        return tables

    def cautions(self, base: str | None = None) -> list[str]:
        """Return warnings about intervals whose true error rate may exceed the nominal one, and about `reversals`.

        Args:
            base: the name of a run: only differences from this run; None for all differences.
        """
        if base is not None:
            arguments.text(base, "base", "the name of a run")
        chosen = [
            difference for difference in self.differences if base in (None, difference.baseline)
        ]
        counts = (difference.queries for difference in chosen)
        lines = few_queries(counts, self.settings.level, self.settings.interval)
        skewed = [difference.caution for difference in chosen if difference.caution]
        lines += skewed[:_CAUTIONS]
        if len(skewed) > _CAUTIONS:
            more = counted(len(skewed) - _CAUTIONS, "more skewed or rare difference")
            lines.append(f"… and {more}")
        reversed_pairs = [pair for pair in self.reversals if base in (None, pair.baseline)]
        return [*lines, *notes_on_reversals(reversed_pairs)]

    @property
    def basis(self) -> list[str]:
        """The coverage of each run, the queries that were left out, and the policy, as lines of text."""
        notes = notes_on_runs(self.checks, self.policy) if self.checks else []
        lost = {m: queries for m, queries in self.paired.left_out().items() if queries}
        notes += [
            f"{measure}: {counted(len(queries), 'query', 'queries')} left out, because some run has no value"
            for measure, queries in lost.items()
        ]
        notes += [] if self.dialect is None else [f"dialect: {self.dialect}"]
        notes += [policy_note(self.policy)] if self.policy else []
        notes += notes_on_grades(self.grade_variances)
        notes += self.sample
        return [*notes, *(self.changed or ())]

    @property
    def _corrections(self) -> frozenset[str]:
        """The names of the corrections that were used.

        A joint test, such as `tukey-anova`, is undefined if two runs differ by the same amount in every
        query. Another test then decides, and `Settings.adjustment` corrects its p-value.
        """
        return frozenset(
            difference.test if difference.test in CORRECTIONS else self.settings.adjustment
            for difference in self.differences
        )

    def tests_table(self) -> Table:
        """Return every test of every comparison, before and after correction."""
        rows: list[list[Cell]] = [
            [d.measure, d.baseline, d.run, name, _p(tested.p), _p(tested.adjusted),
             "yes" if tested.outcome.exact else "no"]
            for d in self.differences
            for name, tested in d.tests.items()
        ]  # fmt: skip
        columns = [
            "measure",
            "baseline",
            "run",
            "test",
            "p",
            f"p, {self.settings.adjustment}",
            "exact",
        ]
        return Table(columns, rows, title="Tests", notes=self.basis, once=("baseline",))

    def moved_table(self) -> Table:
        """Return the queries that changed most."""
        rows: list[list[Cell]] = [
            [d.measure, d.baseline, d.run, moved.query, moved.baseline, moved.run, moved.difference]
            for d in self.differences
            for moved in d.moved
        ]  # fmt: skip
        columns = [
            "measure",
            "baseline",
            "run",
            "query",
            "baseline score",
            "run score",
            "difference",
        ]
        return Table(columns, rows, title="Queries that moved the most", once=("baseline",))

    def slices_table(self, most: int | None = None) -> Table:
        """Return the slices, worst first; no more than `most`, all if None."""
        if most is not None:
            arguments.whole(most, "most", least=0)
        shown = self.slices[:most]
        level = f"{100 * self.settings.level:g}%"
        rows: list[list[Cell]] = [
            [s.column, s.value, s.difference.measure, s.difference.baseline, s.difference.run,
             s.difference.queries, s.difference.difference, *_ends(s.difference), _p(s.difference.p),
             s.difference.verdict.word]
            for s in shown
        ]  # fmt: skip
        columns = ["slice", "value", "measure", "baseline", "run", "queries", "difference"]
        columns += [f"{level} low", f"{level} high", "p", "verdict"]
        made = sum(s.difference.p is not None for s in self.slices)
        level_of_each = 100 * (1 - self.settings.alpha / max(made, 1))
        notes = [
            f"p corrected over {made} comparisons of slices ({self.settings.adjustment})",
            f"all {made} intervals hold simultaneously at {level}: each is a {level_of_each:.4g}% interval",
        ]
        if made < 2 or not CORRECTIONS[self.settings.adjustment].changes:
            notes = []
        if any(s.column == "baseline" for s in shown):
            notes.append(
                "slices by the baseline's score: queries where the baseline scored low by chance "
                "look better in any other run (regression to the mean)"
            )
        if len(shown) < len(self.slices):
            notes.append(f"{counted(len(self.slices) - len(shown), 'more slice')} not shown")
        return Table(columns, rows, title="Slices, worst first", notes=notes, once=("baseline",))

    def tables(self) -> list[Table]:
        """Return all tables that are printed: differences, slices and the queries that moved the most."""
        tables = [self.table()]
        if self.unjudged:
            tables.append(self.unjudged_table())
        if self.slices:
            tables.append(self.slices_table(_SHOWN))
        if len(self.differences) <= _SHOWN and any(d.moved for d in self.differences):
            tables.append(self.moved_table())
        return tables

    def to_dict(self) -> dict[str, object]:
        """Return the whole comparison as plain values."""
        return {
            "gainful": VERSION,
            "baseline": self.baseline,
            "runs": list(self.runs),
            "measures": list(self.measures),
            "settings": str(self.settings),
            "dialect": self.dialect,
            "policy": answers_in(self.policy),
            "coverage": {name: asdict(checks) for name, checks in (self.checks or {}).items()},
            "changed": None if self.changed is None else list(self.changed),
            "left_out": {m: list(queries) for m, queries in self.paired.left_out().items()},
            "sample": list(self.sample),
            "grade_variances": [asdict(part) for part in self.grade_variances],
            "reversals": [asdict(pair) for pair in self.reversals],
            "unjudged": [asdict(row) for row in self.unjudged],
            "differences": [difference.to_dict() for difference in self.differences],
            "slices": [part.to_dict() for part in self.slices],
        }

    def to_markdown(self) -> str:
        """Return the tables as Markdown."""
        return "\n\n".join(as_markdown(table) for table in self.tables())

    def to_html(self) -> str:
        """Return the tables as HTML."""
        return "\n".join(as_html(table) for table in self.tables())


def _row(difference: Difference) -> list[Cell]:
    return [
        difference.measure,
        difference.baseline,
        difference.run,
        difference.baseline_mean,
        difference.run_mean,
        difference.difference,
        *_ends(difference),
        _p(difference.p),
        difference.effect,
        difference.wins,
        difference.ties,
        difference.losses,
        difference.queries,
        difference.verdict.word,
    ]


def _p(p: float | None) -> PValue | None:
    return None if p is None else PValue(p)


def _signed(number: float | None) -> Signed | None:
    return None if number is None else Signed(number)


def _ends(difference: Difference) -> list[float | None]:
    """Return the ends of the interval; None where too few queries make them infinite."""
    ends = (difference.interval.low, difference.interval.high)
    return [None if abs(end) == float("inf") else end for end in ends]
