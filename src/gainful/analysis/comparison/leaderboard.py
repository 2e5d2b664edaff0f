"""`leaderboard`: runs by rank, an interval for each rank, and letters for inconclusive differences.

Every run is compared with every other. The letters are the compact letter display of these comparisons.
The interval of a rank runs from 1 plus the number of significantly better runs to the number of all runs
minus the significantly worse ones. If the probability of any false finding is below alpha, all intervals
contain the true ranks simultaneously with probability 1 − alpha. This is approximate if differences are
skewed: 8 equal runs over 80 queries, with a rare −1, had 0.065 false findings at alpha = 0.05.

D. Al Mohamad, J. Goeman and E. van Zwet, Simultaneous confidence intervals for ranks with application
to ranking institutions, Biometrics 78, 2022; M. Mogstad and others, Inference for ranks with applications
to mobility across neighbourhoods and academic achievement across countries, Review of Economic Studies
91, 2024. Ranks in bootstrap resamples don't give such intervals: for runs that are nearly equal they
are too short, however many queries there are (M. Xie and others, Confidence intervals for population ranks
in the presence of ties and near ties, Journal of the American Statistical Association 104, 2009).
"""

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.analysis.comparison.compare import (
    changes_since_saved,
    checks_of_runs,
    checks_of_tables,
    common_policy,
    queries_added_once,
    refuse_geometric,
    split_runs,
    unjudged_shares,
)
from gainful.analysis.comparison.comparison_result import Checks, notes_on_runs
from gainful.analysis.comparison.paired_scores import (
    Column,
    Paired,
    UnjudgedShares,
    pair,
    refuse_unknown_system,
)
from gainful.analysis.comparison.score_columns import (
    column_of_baseline,
    column_of_scores,
    columns_of_tables,
    measure_of,
    sample_of_columns,
)
from gainful.analysis.comparison.verdict import qualification
from gainful.arithmetic.statistics.corrections import CORRECTIONS, adjusted
from gainful.arithmetic.statistics.distributions import t_two_sided
from gainful.arithmetic.statistics.exact_sums import on_grid
from gainful.arithmetic.statistics.joint_tests import max_t_of_pairs
from gainful.arithmetic.statistics.letter_display import letter_groups, letters_of
from gainful.arithmetic.statistics.paired_tests import sign_flips
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.arithmetic.statistics.resampling import Draws
from gainful.array_types import Bools, Floats
from gainful.errors import InputError, warn
from gainful.evaluation.coverage import policy_note
from gainful.evaluation.evaluate import evaluate_request
from gainful.evaluation.query_samples import QuerySample, read_sample
from gainful.evaluation.request import read_one
from gainful.matching.keyword_options import (
    AveragingOptions,
    takes,
)
from gainful.measures.measure import measures_inside
from gainful.measures.measure_family import LOWER
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import answers_in
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Document
from gainful.rows.duckdb_engine import Progress
from gainful.rows.identifiers import UNTYPED
from gainful.rows.input_types import Judgments, SamplingOptions, TableLike
from gainful.rows.run_and_judgment_columns import plain_name
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.side_table_columns import BOARD, TASKS
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.version import VERSION

DEFAULT_CORRECTION = "max-t-single"
"""The default correction, which also controls errors in the direction of differences."""
_EVALUATED = 0.8  # share of the work that is done once the runs are evaluated
_SAME = 1e-12  # relative: the rounding error of a mean
_SHOWN = 12  # runs with printed coverage
_UNITS = {"task": "task", "task_name": "task", "dataset": "dataset", "benchmark": "benchmark"}
_UNNAMED = "score"  # the measure of a table without names of measures


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a run on a leaderboard.

    Attributes:
        rank: 1 plus the number of runs with a better mean: a higher one, or a lower one for measures such
            as Miscalibration.
        run: the name of the run.
        value: the mean of the run.
        best_rank: the best possible rank: 1 plus the number of significantly better runs.
        worst_rank: the worst possible rank: the number of runs minus the significantly worse ones.
        letters: the letters of the run's groups. If two runs share a letter, their difference is
            inconclusive.
    """

    rank: int
    run: str
    value: float
    best_rank: int
    worst_rank: int
    letters: str


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Document):
    """Runs by rank.

    Attributes:
        measure: the measure that the runs are ranked by.
        places: the places of the runs, the best first.
        groups: the names of runs whose differences are inconclusive, one group for each letter.
        p: (m, m) corrected p-values of all pairs, in the order of the places.
        queries: the number of queries for which every run has a value.
        correction: the correction of p for the number of pairs.
        level: the level of all intervals together; p below 1 − level is significant.
        resamples: the number of resamples, if the correction draws any.
        seed: the seed of the resamples.
        left_out: the queries without a value in some run.
        policy: the policy of the scores, as text; empty if gainful didn't compute them.
        dialect: the name of the other tool whose numbers were reproduced (a dialect), if any.
        checks: the coverage of each run.
        changed: messages about changes since a baseline was saved; None if unknown.
        unit: what one row of the scores is: a query, or a task, dataset or benchmark.
        unjudged: the share of unjudged documents in each run's lists; None for scores without
            judgments.
        sample: how weights and clusters affect the certainty of the means; empty without them.
    """

    measure: str
    places: tuple[Place, ...]
    groups: tuple[tuple[str, ...], ...]
    p: Floats
    queries: int
    correction: str
    level: float
    resamples: int
    seed: int
    left_out: tuple[str, ...] = ()
    policy: str = ""
    dialect: str | None = None
    checks: Mapping[str, Checks] | None = None
    changed: tuple[str, ...] | None = None
    unit: str = "query"
    unjudged: UnjudgedShares | None = None
    sample: tuple[str, ...] = ()

    @property
    def _units(self) -> tuple[str, str]:
        """The word for one row of the scores, and for several."""
        return self.unit, "queries" if self.unit == "query" else f"{self.unit}s"

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, the best first."""
        return tuple(place.run for place in self.places)

    def __getitem__(self, run: str) -> Place:
        """Return the place of a run."""
        return self.places[self._place(run)]

    def together(self, one: str, other: str) -> bool:
        """Return whether the difference between two runs is inconclusive, so that they share a letter.

        Args:
            one: the name of a run.
            other: the name of another run.
        """
        return bool(self.p[self._place(one), self._place(other)] >= _alpha(self.level))

    def _place(self, run: str) -> int:
        refuse_unknown_system(run, self.runs, "run")
        return self.runs.index(run)

    def table(self) -> Table:
        """Return a row for each run, the best first."""
        rows: list[list[Cell]] = [
            [place.rank, place.run, place.value, place.best_rank, place.worst_rank, place.letters]
            for place in self.places
        ]
        columns = ["rank", "run", self.measure, "best rank", "worst rank", "letters"]
        if self.unjudged is not None:
            columns.append("unjudged")
            shares = self.unjudged.shares
            rows = [
                [*row, shares.get(place.run)] for row, place in zip(rows, self.places, strict=True)
            ]
        return Table(columns, rows, notes=self.notes())

    def notes(self) -> list[str]:
        """Return the meaning of ranks and letters, then the test and coverage behind them."""
        pairs = counted(len(self.places) * (len(self.places) - 1) // 2, "pair")
        queries = counted(self.queries, *self._units)
        chosen = CORRECTIONS[self.correction]
        how = chosen.title if chosen.adjust is None else f"t test, {chosen.title}"
        how += f", p < {_alpha(self.level):g}, resamples={self.resamples} seed={self.seed}"
        first = counted(sum(place.best_rank == 1 for place in self.places), "run")
        notes = [
            f"{first} may be the best; {self._neighbours()}",
            f"If two runs share a letter, their difference is inconclusive. {_meaning(self.correction, self.level)}",
            f"{pairs} compared over {queries}: {how}",
        ]
        if 2.0 ** (1 - self.queries) >= _alpha(self.level) and chosen.adjust is None:
            notes.append(
                f"With so few {self._units[1]}, every difference is inconclusive, however large it is."
            )
        return [*notes, *self._favoured(), *self.basis]

    def _favoured(self) -> list[str]:
        """Return a warning if the better run may only seem better because it has fewer unjudged documents."""
        if self.unjudged is None:
            return []
        apart = np.triu(self.p < _alpha(self.level), 1)
        pairs = [
            (self.runs[first], self.runs[other]) for first, other in np.argwhere(apart).tolist()
        ]
        doubts = [qualification("better", other, one, self.unjudged) for one, other in pairs]
        doubted = [(*both, doubt) for both, doubt in zip(pairs, doubts, strict=True) if doubt]
        if not doubted:
            return []
        one, other, doubt = doubted[0]
        more = f"; the same applies to {counted(len(doubted) - 1, 'more pair')}"
        return [f"{one} is better than {other}, but {doubt}{more if len(doubted) > 1 else ''}."]

    def _neighbours(self) -> str:
        """Return how many differences between neighbouring runs are inconclusive, in words."""
        after = len(self.places) - 1
        apart = sum(bool(self.p[at, at + 1] < _alpha(self.level)) for at in range(after))
        verb = "is" if after == 1 else "are"
        return f"{after - apart} of {counted(after, 'difference')} between neighbours {verb} inconclusive."

    @property
    def basis(self) -> list[str]:
        """The coverage of each run, the queries that were left out, and the policy, as lines of text."""
        notes = self._coverage()
        if self.left_out:
            left = counted(len(self.left_out), *self._units)
            notes.append(f"{left} left out, because some run has no value")
        notes += [*self.sample]
        notes += [] if self.dialect is None else [f"dialect: {self.dialect}"]
        notes += [policy_note(self.policy)] if self.policy else []
        return [*notes, *(self.changed or ())]

    def _coverage(self) -> list[str]:
        """Return the coverage of each run; of many runs, only the runs that lack queries."""
        counts = self.checks or {}
        if len(counts) > _SHOWN:
            counts = {name: checks for name, checks in counts.items() if checks.missing}
        lines = notes_on_runs(counts, self.policy, self._units) if counts else []
        if len(lines) > _SHOWN:
            more = counted(len(lines) - _SHOWN, "more run")
            lines[_SHOWN:] = [f"… and {more} without some {self._units[1]} (all of them in JSON)"]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the leaderboard as plain values."""
        return {
            "gainful": VERSION,
            "measure": self.measure,
            "queries": self.queries,
            "unit": self.unit,
            "correction": self.correction,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "dialect": self.dialect,
            "policy": answers_in(self.policy),
            "coverage": {name: asdict(checks) for name, checks in (self.checks or {}).items()},
            "unjudged": None if self.unjudged is None else dict(self.unjudged.shares),
            "changed": None if self.changed is None else list(self.changed),
            "left_out": list(self.left_out),
            "sample": list(self.sample),
            "places": [asdict(place) for place in self.places],
            "groups": [list(group) for group in self.groups],
            "p": self.p.tolist(),
        }

    def __str__(self) -> str:
        return self.rendered()


@takes(AveragingOptions)
def leaderboard(
    judgments: Judgments,
    runs: Runs,
    measure: GivenMeasure = "nDCG@10",
    *,
    correction: str = DEFAULT_CORRECTION,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    **options: Unpack[AveragingOptions],
) -> Leaderboard:
    """Rank runs, with an interval for each rank and letters for inconclusive differences.

    Every run is compared with every other, query by query. Two runs share a letter if their comparison
    is inconclusive. The interval of a rank runs from 1 plus the number of significantly better runs to the
    number of runs minus the significantly worse ones. All intervals hold simultaneously at about the
    level; flipped signs keep it exactly only if differences are distributed symmetrically.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object or a
            Spark data frame.
        runs: a dict from names to runs. Each run is `{query: {doc: score}}`, any of the other types of
            judgments, or a saved baseline. Alternatively the paths of several files, or the path of a
            folder or a pattern, whose files are named as by `gainful.inputs.find_runs`.
        measure: the measure to rank by, the highest mean first.
        correction: `holm`, `bonferroni`, `benjamini-hochberg`, `tukey`, `tukey-anova`, `max-t`,
            `max-t-single` or `none`, over all pairs. The default flips the signs of a query's
            differences in all pairs together, and compares each pair with the largest t of all pairs.
            Corrections of p-values, such as `holm`, use t tests.
        level: the level of all intervals together; a p-value below 1 − level is significant.
        resamples: the number of resamples in the correction.
        seed: the seed of the resamples; the same seed gives the same bits, on any number of cores.
        **options: see `MeasuringOptions`, `SamplingOptions` and `TableOptions`.

    >>> judgments = {f"q{i}": {"a": 1} for i in range(9)}
    >>> good = {query: {"a": 2, "b": 1} for query in judgments}
    >>> same = good | {"q0": {"a": 1, "b": 2}}
    >>> bad = {query: {"a": 1, "b": 2} for query in judgments}
    >>> board = leaderboard(judgments, {"bad": bad, "same": same, "good": good})
    >>> [(place.run, place.best_rank, place.worst_rank, place.letters) for place in board.places]
    [('good', 1, 2, 'a'), ('same', 1, 2, 'a'), ('bad', 3, 3, 'b')]
    """
    progress = options.get("progress")
    arguments.function(progress, "progress")
    how = _How(correction, level, resamples, seed, progress)
    request = read_one(measure, options)
    refuse_geometric(measures_inside(request.measures))
    named = read_runs(runs, judgments, engine=options.get("engine"))
    saved, fresh = split_runs(named)
    evaluating = None if progress is None else partial(_earlier, progress)
    sample = read_sample(options)
    taken: AveragingOptions = {**options, "progress": evaluating}
    scores = evaluate_request(judgments, fresh, request, taken)
    (parsed,) = next(iter(scores.values())).measures
    columns = {name: column_of_scores(own) for name, own in scores.items()}
    columns |= {name: column_of_baseline(own, [parsed], name) for name, own in saved.items()}
    sample = sample or sample_of_columns(columns)
    policy = common_policy(scores, saved)
    changed = changes_since_saved(scores, saved, (parsed,), policy)
    for line in changed or ():
        warn(line)
    paired = pair({name: columns[name] for name in named}, [str(parsed)])
    return _ranked(
        replace(paired, once=queries_added_once(scores.values(), sample)),
        how,
        sample,
        policy=str(policy),
        dialect=next(iter(scores.values())).dialect,
        checks=checks_of_runs(scores, saved),
        changed=changed,
        unjudged=unjudged_shares(scores, saved, [parsed], policy).get(str(parsed)),
    )


@takes(SamplingOptions)
def leaderboard_of_scores(
    scores: Runs | TableLike,
    measure: GivenMeasure | None = None,
    *,
    correction: str = DEFAULT_CORRECTION,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Unpack[SamplingOptions],
) -> Leaderboard:
    """Rank runs by scores per query, or per task, that were computed before.

    Args:
        scores: a table with a row for each query or task and a column for each run, as a data frame or
            the path of a file. Alternatively a dict from names to the scores of one run, as in
            `gainful.comparison.compare_scores`, or the paths of several files, one for each run.
        measure: the column to rank by, if each run has its own table; required if they share several
            columns. For one table of all runs, or `{query: score}` for each run, the name of the scores.
        correction: as in `leaderboard`, like the remaining arguments.
        level: the level of all intervals together.
        resamples: the number of resamples in the correction.
        seed: the seed of the resamples.
        progress: called with the share of the work that is done, and the name of the current step.
        **options: weights and clusters of the rows, see `SamplingOptions`.

    >>> by_task = {f"task{i}": i / 10 for i in range(8)}
    >>> higher = {task: value + 0.1 for task, value in by_task.items()}
    >>> board = leaderboard_of_scores({"small": by_task, "large": higher})
    >>> [(place.rank, place.run, place.letters) for place in board.places]
    [(1, 'large', 'a'), (2, 'small', 'b')]
    """
    arguments.function(progress, "progress")
    how = _How(correction, level, resamples, seed, progress)
    columns, name = _columns(scores, measure)
    parsed = measure_of(name)
    refuse_geometric([] if parsed is None else [parsed])
    paired = pair(columns, [name])
    sample = read_sample(options) or sample_of_columns(columns)
    return _ranked(paired, how, sample, checks=checks_of_tables(paired), unit=_unit(columns))


@dataclass(frozen=True, slots=True)
class _How:
    """How runs are compared."""

    correction: str
    level: float
    resamples: int
    seed: int
    progress: Progress | None

    def __post_init__(self) -> None:
        arguments.choice(self.correction, "correction", CORRECTIONS, expected="one of its choices")
        expected = "a number above 0 and below 1"
        level = arguments.number(self.level, "level", expected, lambda level: 0 < level < 1)
        object.__setattr__(self, "level", level)
        draws = self.draws  # rejects invalid numbers
        object.__setattr__(self, "resamples", draws.resamples)
        object.__setattr__(self, "seed", draws.seed)

    @property
    def draws(self) -> Draws:
        """The random resamples."""
        ranking = None if self.progress is None else partial(_later, self.progress)
        return Draws(self.resamples, self.seed, ranking)


def _earlier(progress: Progress, share: float, name: str) -> None:
    progress(_EVALUATED * share, name)


def _later(progress: Progress, share: float) -> None:
    progress(_EVALUATED + (1 - _EVALUATED) * share, "comparing")


def _columns(
    scores: Runs | TableLike, measure: GivenMeasure | None
) -> tuple[dict[str, Column], str]:
    """Return the scores of each run, and the name of the scores."""
    paths = isinstance(scores, str | os.PathLike) or (
        isinstance(scores, list | tuple)
        and all(isinstance(path, str | os.PathLike) for path in scores)
    )
    tables = (
        read_runs(scores, name="tables")
        if paths or isinstance(scores, Mapping)
        else {"scores": scores}
    )
    if len(tables) == 1 and not isinstance(scores, Mapping):
        return _of_one_table(next(iter(tables.values())), measure)
    chosen = None if measure is None else [measure]
    columns, names = columns_of_tables(tables, chosen, TASKS, names_scores=True)
    if len(names) > 1:
        raise InputError("measure", "one measure to rank by", ", ".join(names), "Name one of them.")
    return columns, names[0]


def _of_one_table(table: object, measure: GivenMeasure | None) -> tuple[dict[str, Column], str]:
    """Return all columns of a table with one column for each run."""
    name = _UNNAMED if measure is None else arguments.text(str(measure), "measure")
    if getattr(table, "shape", None) is not None and len(getattr(table, "columns", "?")) == 0:
        raise InputError("scores", "a column for each run", "a table without columns")
    try:
        read = read_table(table, BOARD, "scores")
    except InputError as problem:
        of_queries = problem.subject == "query" and problem.code in (
            "rows.no-column",
            "rows.no-header",
        )
        if not hasattr(table, "reset_index") or not of_queries:
            raise
        hint = 'If the index contains the tasks: frame.rename_axis("task").reset_index().'
        raise problem.with_remedy(f"{problem.remedy} {hint}") from None
    runs = _named_runs(read)
    kind = read.types.get("query", UNTYPED)
    called = read.called.get("query", "")
    return {
        run: Column(read["query"], {name: _numbers(read, run)}, kind, called) for run in runs
    }, name


def _unit(columns: Mapping[str, Column]) -> str:
    """Return what a row of the scores is, by the names of the columns of ids."""
    (unit, *others) = {_UNITS.get(plain_name(c.called), "query") for c in columns.values()}
    return "query" if others else unit


def _numbers(read: InputTable, run: str) -> Floats:
    try:
        return read.numbers(run)
    except InputError as problem:
        remedy = problem.remedy or "If a run has no score, leave the cell empty."
        raise InputError(problem.where, problem.expected, problem.found, remedy) from None


def _named_runs(read: InputTable) -> list[str]:
    """Return the columns of runs, without the unnamed first column that pandas writes (row numbers)."""
    for number, column in enumerate(read.columns):
        if column.strip():
            continue
        cells = [] if number or not read.is_numeric(column) else read.numbers(column).tolist()
        if not cells or len({*cells}) < len(cells) or not all(map(float.is_integer, cells)):
            expected = "a name for each column of a run"
            raise InputError(read.name, expected, "a column without a name")
        warn(f"{read.name}: the first column has no name and contains row numbers; it is ignored.")
    return [column for column in read.columns if column.strip()]


def _ranked(
    paired: Paired, how: _How, sample: QuerySample | None = None, **basis: Any
) -> Leaderboard:
    """Rank the runs, and compare all pairs."""
    if sample is not None:
        paired = paired.drawn_as(sample)
    rows = np.flatnonzero(paired.kept[:, 0])
    scores = paired.values[rows, :, 0]
    means = [paired.mean(rows, column, 0) for column in scores.T]
    # For the smallest floating-point numbers, means can be equal although sums differ.
    sums = [
        math.fsum(column) if abs(mean) < sys.float_info.min else 0.0
        for mean, column in zip(means, scores.T, strict=True)
    ]
    sign = 1 if paired.better_values(paired.measures[0]) == LOWER else -1
    order = sorted(range(len(means)), key=lambda place: (sign * means[place], sign * sums[place]))
    means = [means[place] for place in order]
    p = _p_of_pairs(scores, how, paired.sampling(rows))[np.ix_(order, order)]
    apart: Bools = p < _alpha(how.level)
    np.fill_diagonal(apart, val=False)
    groups = letter_groups(apart)
    letters = letters_of(groups, len(order))
    names = [paired.systems[place] for place in order]
    (left_out,) = paired.left_out().values()
    if how.progress is not None:
        how.progress(1.0, "comparing")
    return Leaderboard(
        measure=paired.measures[0],
        places=tuple(
            Place(
                rank=1
                + sum(_differ(other, mean) or apart[at, n] for n, other in enumerate(means[:at])),
                run=names[at],
                value=mean,
                best_rank=1 + int(apart[at, :at].sum()),
                worst_rank=len(order) - int(apart[at, at + 1 :].sum()),
                letters=letters[at],
            )
            for at, mean in enumerate(means)
        ),
        groups=tuple(tuple(names[at] for at in group) for group in groups),
        p=p,
        queries=len(rows),
        correction=how.correction,
        level=how.level,
        resamples=how.resamples,
        seed=how.seed,
        left_out=left_out,
        sample=() if sample is None else tuple(sample.notes(paired.compared().queries)),
        **basis,
    )


def _differ(one: float, other: float) -> bool:
    return one != other and not math.isclose(one, other, rel_tol=_SAME)


def _p_of_pairs(scores: Floats, how: _How, sampling: Sampling | None) -> Floats:
    """Return (m, m) p-values of all pairs of (n, m) scores, corrected for the number of pairs."""
    correction = CORRECTIONS[how.correction]
    if sampling is not None:
        joint = correction.adjust is None
        scores = (correction.of_sample if joint else Sampling.spread)(sampling, scores)
    if correction.test_differences is not None:
        steps = "single" if how.correction == DEFAULT_CORRECTION else "down"
        return max_t_of_pairs(scores, how.draws, steps=steps)
    if correction.test_scores is not None:
        p = correction.test_scores(scores[:, :, None], how.draws).p[:, :, 0]
        if np.isnan(p).any():  # two runs differ by the same amount in every query
            return max_t_of_pairs(scores, how.draws)
        return p
    systems = scores.shape[1]
    first, second = np.triu_indices(systems, 1)
    p = np.ones((systems, systems))
    rows = [_p_of_one(scores, place, how.draws) for place in range(systems - 1)]
    p[first, second] = p[second, first] = adjusted(
        [value for row in rows for value in row], how.correction
    )
    return p


def _p_of_one(scores: Floats, place: int, draws: Draws) -> list[float]:
    """Return the p-values of one run against all later runs, by the t test."""
    apart = scores[:, place + 1 :] - scores[:, place, None]
    count = len(apart)
    constant = on_grid(apart).constant if count > 1 else np.ones(apart.shape[1], bool)
    p = np.empty(apart.shape[1])
    # If all differences are the same, there is no spread, but signs can be flipped.
    if constant.any():
        p[constant] = [outcome.p for outcome in sign_flips(apart[:, constant], draws)]
    spread = apart[:, ~constant]
    t = spread.mean(axis=0) * math.sqrt(count) / np.std(spread, axis=0, ddof=min(count - 1, 1))
    p[~constant] = [t_two_sided(statistic, count - 1) for statistic in t.tolist()]
    values: list[float] = p.tolist()
    return values


def _alpha(level: float) -> float:
    # In binary 1 − 0.95 is not 0.05.
    return float(1 - Decimal(repr(float(level))))


def _meaning(correction: str, level: float) -> str:
    """Return the guarantee for the intervals of ranks under a correction, in words."""
    if correction in ("benjamini-hochberg", "none"):
        return (
            "The intervals of ranks have no joint guarantee: the correction allows false findings."
        )
    return (
        f"All true ranks are within their intervals with a probability of about {100 * level:g}%."
    )
