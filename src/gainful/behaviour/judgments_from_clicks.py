"""`click_judgments`: grades from clicks, with an interval each; `click_models`: which model fits a log."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.cores import beside
from gainful.arithmetic.kernels.click_intervals import interval
from gainful.arithmetic.kernels.click_models import (
    MODELS,
    FittedModel,
    Fitting,
    log_likelihood,
    perplexity_by_rank,
)
from gainful.arithmetic.statistics.resampling import Draws
from gainful.array_types import Bools, Floats, Ints
from gainful.behaviour.click_log import ClickLog, drawn_weights, estimating, halves, read_log
from gainful.behaviour.coec_dialects import DIALECTS
from gainful.behaviour.log_tables import LogOptions
from gainful.errors import InputError, warn
from gainful.matching.keyword_options import takes
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.judgments_result import JudgmentsResult
from gainful.output.writing.result_base import ResultOfRows
from gainful.rows.duckdb_engine import Progress
from gainful.rows.input_types import TableLike

_TEST_SHARE = 0.2
_FEW = 20  # impressions below which a grade is uncertain
_STOPPING = ("dcm", "sdbn")  # biased if users read on below their last click
_REFINING = 3  # rounds of EM from the fitted model, in a resample


@dataclass(frozen=True, slots=True)
class ClickGrade:
    """A grade from clicks.

    Attributes:
        query: the query.
        doc: the document.
        grade: the estimate, or the number of thresholds that the estimate reaches.
        low: the lower end of its interval.
        high: the upper end.
        impressions: how often the document was shown for the query.
        clicks: how often it was clicked.
    """

    query: str
    doc: str
    grade: float
    low: float
    high: float
    impressions: int
    clicks: int


@dataclass(frozen=True, eq=False, repr=False)
class ClickJudgments(JudgmentsResult):
    """Judgments from clicks: a dict {query: {doc: grade}}, and a table with the interval of each grade.

    It can be used wherever judgments are accepted, such as in `evaluate`, `compare` and `write_judgments`.

    Attributes:
        model: the click model.
        docs: (p,) the documents, by query.
        grades: (p,) the grades.
        low: (p,) the lower ends of their intervals.
        high: (p,) the upper ends.
        impressions: (p,) how often each document was shown for its query.
        clicks: (p,) how often it was clicked.
        level: the level of the intervals.
        thresholds: the lowest estimates that get grades 1, 2, …; empty if the grades are the estimates.
        fitted: the model with its parameters.
        log: the log that the grades come from.
        dialect: the tool whose grades were reproduced, or empty.
    """

    _called: ClassVar = "judgments from clicks"
    model: str
    queries: tuple[str, ...]
    offsets: Ints
    docs: NDArray[np.object_]
    grades: Floats
    low: Floats
    high: Floats
    impressions: Ints
    clicks: Ints
    level: float
    thresholds: tuple[float, ...]
    fitted: FittedModel = field(compare=False)
    log: ClickLog = field(compare=False)
    dialect: str = ""

    def __post_init__(self) -> None:
        places = {query: place for place, query in enumerate(self.queries)}
        object.__setattr__(self, "_by_query", places)
        for array in (self.docs, self.grades, self.low, self.high, self.impressions, self.clicks):
            array.flags.writeable = False

    def _rows(self, query: str) -> slice:
        place = self._by_query[query]
        return slice(int(self.offsets[place]), int(self.offsets[place + 1]))

    def _documents(self, query: str) -> dict[str, float]:
        rows = self._rows(query)
        return dict(zip(self.docs[rows].tolist(), self.grades[rows].tolist(), strict=True))

    @property
    def rows(self) -> tuple[ClickGrade, ...]:
        """Every grade, by query and document."""
        owners = np.repeat(np.array(self.queries, object), np.diff(self.offsets)).tolist()
        columns = (self.docs, self.grades, self.low, self.high, self.impressions, self.clicks)
        return tuple(map(ClickGrade, owners, *(column.tolist() for column in columns)))

    @property
    def summary(self) -> str:
        """The number of grades and their origin, in one sentence."""
        rounds = f" after {self.fitted.rounds} rounds" if self.fitted.rounds else ""
        tool = f" as in {self.dialect}" if self.dialect else ""
        few = int((self.impressions < _FEW).sum())
        return (
            f"{counted(len(self.docs), 'grade')} of {counted(len(self), 'query', 'queries')} by {self.model}{tool}{rounds}, "
            f"with {self.level:.0%} intervals; {counted(few, 'grade')} based on fewer than {_FEW} impressions"
        )

    def resampled(self, resamples: int = 200, *, seed: int = 0) -> Floats:
        """Return grades (resamples, p) from sessions drawn with replacement.

        Each resample draws as many sessions as the log has (or lists, in a log without sessions) and fits the
        model again. A log of counts has neither, so each count is drawn from a Poisson distribution.

        Args:
            resamples: the number of resamples.
            seed: a non-negative integer; the same seed gives the same resamples.
        """
        return np.array([*self._drawn(drawn_weights, Draws(resamples=resamples, seed=seed))])

    def _drawn(
        self, weights: Callable[[ClickLog, np.random.Generator], Floats], draws: Draws
    ) -> Iterator[Floats]:
        """Yield the grades (p,) by the sessions with these weights."""
        generator = np.random.default_rng(draws.seed)
        how = Fitting(_REFINING, start=self.fitted)
        for _ in range(draws.resamples):
            lists = replace(self.log.shown, weights=weights(self.log, generator))
            if self.dialect:
                estimates = DIALECTS[self.dialect](lists, np.array([0.5, 0.5]))[0]
            else:
                estimates = _estimates(MODELS[self.model].fit(lists, how), self.log)
            yield _graded(estimates, self.thresholds)

    def redrawn(self, count: int, *, seed: int = 0) -> Iterator[dict[str, dict[str, float]]]:
        """Yield judgments of the same documents as dicts, each from a random half of the sessions, then from the other half.

        Their grades vary around those of a half as much as the grades of the whole log vary around the truth. Since
        a half has half the impressions, they are also biased twice as much, which shows how much the
        grades of the whole log are.

        Args:
            count: how many.
            seed: a non-negative integer; the same seed gives the same judgments.
        """
        for grades in self._drawn(halves(), Draws(resamples=count, seed=seed)):
            numbers = grades.tolist()
            yield {
                query: dict(zip(self.docs[rows].tolist(), numbers[rows], strict=True))
                for query in self.queries
                for rows in [self._rows(query)]
            }

    def table(self) -> Table:
        """Return the grades for display."""
        rows: list[list[Cell]] = [
            [row.query, row.doc, row.grade, row.low, row.high, row.impressions, row.clicks]
            for row in self.rows
        ]
        columns = ["query", "doc", "grade", "low", "high", "impressions", "clicks"]
        notes = [f"{self.summary}."]
        if self.model in _STOPPING:
            notes.append(f"The intervals assume that users stop reading at their last click, as {self.model} does.")  # fmt: skip
        return Table(columns, rows, notes=notes)

    def __repr__(self) -> str:
        return f"ClickJudgments({self.summary})"


def _estimates(model: FittedModel, log: ClickLog) -> Floats:
    """Return the estimates (p,): relevance, times the mean weight of the actions."""
    relevance = model.relevance
    return relevance if log.values is None else relevance * _worths(log)


def _worths(log: ClickLog) -> Floats:
    """Return the mean weight (p,) of each pair's actions, after adding one action of the overall mean weight."""
    values = log.values
    assert values is not None  # noqa: S101 - the caller has checked
    total, clicks = log.shown.sums(values), log.shown.sums(log.shown.clicks)
    mean = total.sum() / clicks.sum()
    worths: Floats = (total + mean) / (clicks + 1)
    return worths


def _graded(estimates: Floats, thresholds: Sequence[float]) -> Floats:
    """Return the estimates as grades: the number of thresholds that each reaches, if there are any."""
    if not thresholds:
        return estimates
    return np.searchsorted(np.array(thresholds), estimates, side="right").astype(np.float64)


@takes(LogOptions)
def click_judgments(
    log: TableLike | ClickLog,
    model: str | None = None,
    *,
    dialect: str | None = None,
    thresholds: Sequence[float] | None = None,
    level: float = 0.95,
    rounds: int = 100,
    progress: Progress | None = None,
    **options: Unpack[LogOptions],
) -> ClickJudgments:
    """Estimate grades from a click log.

    The grade of a document is the probability that a user who looks at it clicks it (and, in SDBN and DBN, is
    then satisfied); with COEC, its clicks divided by the clicks expected at the same ranks. If a document has
    few impressions, its grade is pulled towards the mean of all documents.

    Args:
        log: a log in any shape that `read_log` reads, or its result.
        model: ctr, coec, cascade, dcm, sdbn, dbn, pbm, ubm or ccm. `click_models` shows which one fits. If None,
            dbn; for a log that doesn't say which documents were shown together, pbm, or ctr without positions.
        dialect: opensearch-workbench, for the grades of OpenSearch's search relevance workbench, to its three
            decimals. Its model is coec, with every document at the best rank at which it was ever shown.
        thresholds: the lowest estimates that get grades 1, 2, …, such as (0.1, 0.25, 0.5) for grades 0 to
            3; if None, the estimates are the grades.
        level: the level of the intervals.
        rounds: the maximum number of iterations of EM; ctr, coec, cascade, dcm and sdbn need none.
        progress: called with the share of the rounds that is done.
        **options: see `LogOptions`.

    >>> rows = [
    ...     {"session": s, "query": "soup", "doc": doc, "position": place, "clicked": doc == "b" and s < 6}
    ...     for s in range(10) for place, doc in enumerate("ab", 1)
    ... ]
    >>> judgments = click_judgments(rows, "ctr")
    >>> {doc: round(grade, 3) for doc, grade in judgments["soup"].items()}
    {'a': 0.045, 'b': 0.591}
    """
    if dialect is not None:
        arguments.choice(dialect, "dialect", DIALECTS)
        model = "coec" if model is None else model
        if model != "coec":
            raise InputError("dialect", "model coec", f"{dialect} with {model}")
    if model is not None:
        arguments.choice(model, "model", MODELS)
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    most = arguments.whole(rounds, "rounds", least=1, most=10_000)
    limits = _read_thresholds(thresholds)
    read = read_log(log, **options)
    if model is None:
        model = "dbn" if read.has_lists else "pbm" if read.shown.deepest > 1 else "ctr"
    _refuse_without_lists(read, model)
    fitted = MODELS[model].fit(read.shown, Fitting(most, progress=estimating(progress)))
    if fitted.rounds == most:
        warn(f"click_judgments: {model} was still changing after {most} rounds. Pass more rounds.")
    ends = np.array([(1 - share) / 2, 1 - (1 - share) / 2])

    counts: list[Floats] = []

    def estimated() -> tuple[Floats, Floats, Floats]:
        if dialect is not None:
            return DIALECTS[dialect](read.shown, ends)
        return _estimates(fitted, read), *_bounds(fitted, read, ends)

    lists = read.shown
    with beside(lambda: counts.extend([lists.sums(), lists.sums(lists.clicks)])):
        estimates = estimated()
    impressions, clicks = (np.rint(values).astype(np.int64) for values in counts)
    grades, low, high = (_graded(values, limits) for values in estimates)
    changes = np.flatnonzero(read.queries[1:] != read.queries[:-1]) + 1
    offsets = np.concatenate([[0], changes, [len(read.queries)]]).astype(np.int64)
    return ClickJudgments(
        model,
        tuple(read.queries[offsets[:-1]].tolist()),
        offsets,
        read.docs,
        grades,
        low,
        high,
        impressions,
        clicks,
        share,
        limits,
        fitted,
        read,
        dialect or "",
    )


def _bounds(model: FittedModel, log: ClickLog, ends: Floats) -> tuple[Floats, Floats]:
    """Return the ends (p,) of the intervals of all estimates."""
    low, high = interval(log.shown, model, ends)
    if log.values is None:
        return low, high
    worths = _worths(log)
    return low * worths, high * worths


def _read_thresholds(thresholds: object) -> tuple[float, ...]:
    """Return ascending thresholds."""
    if thresholds is None:
        return ()
    expected = "ascending numbers above 0, such as (0.1, 0.25, 0.5)"
    listed = arguments.listed(thresholds, "thresholds", expected)
    numbers = [arguments.number(item, "thresholds", expected, lambda x: x > 0) for item in listed]
    if not numbers or any(low >= high for low, high in pairwise(numbers)):
        raise InputError("thresholds", expected, shown(thresholds))
    return tuple(numbers)


def _refuse_without_lists(log: ClickLog, model: str) -> None:
    if not log.has_lists and not MODELS[model].of_counts:
        possible = ", ".join(name for name, entry in MODELS.items() if entry.of_counts)
        raise InputError(
            "log", f"the lists that were shown, which {model} needs", f"{log.shape} per row, without lists",
            f"Name the column of the session or the list (columns session=…), or use one of {possible}.",
        )  # fmt: skip


# --- the model that fits best


@dataclass(frozen=True, slots=True)
class ModelFit:
    """How well a model predicts the clicks of sessions that it hasn't seen.

    Attributes:
        model: the name of the model.
        title: what users do, according to the model.
        log_likelihood: the mean log likelihood of a shown document; closer to 0 is better.
        perplexity: 1 is a perfect prediction, 2 is as good as tossing a coin.
        perplexity_by_rank: the perplexity at each rank, from 1.
    """

    model: str
    title: str
    log_likelihood: float
    perplexity: float
    perplexity_by_rank: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ClickModels(ResultOfRows[ModelFit]):
    """Click models, sorted by how well they predict sessions that they haven't seen, best first.

    Attributes:
        rows: a row for each model.
        lists: the number of lists in the unseen sessions.
    """

    rows: tuple[ModelFit, ...]
    lists: int

    @property
    def summary(self) -> str:
        """The best model, in one sentence."""
        best, *others = self.rows
        less = f"; next {others[0].model}, {others[0].perplexity:.4f}" if others else ""
        return (
            f"{best.model} predicts the clicks in {counted(self.lists, 'unseen list')} best: perplexity "
            f"{best.perplexity:.4f}{less}"
        )

    def table(self) -> Table:
        """Return the models for display."""
        depth = max(len(row.perplexity_by_rank) for row in self.rows)
        columns = [
            "model",
            "perplexity",
            "log likelihood",
            *(f"at {rank}" for rank in range(1, depth + 1)),
        ]
        rows: list[list[Cell]] = [
            [
                row.model,
                row.perplexity,
                row.log_likelihood,
                *(None if math.isnan(p) else p for p in row.perplexity_by_rank),
            ]
            for row in self.rows
        ]
        meanings = [f"{row.model}: {row.title}." for row in self.rows]
        return Table(columns, rows, notes=[f"{self.summary}.", *meanings])

    def __repr__(self) -> str:
        return f"ClickModels({self.summary})"


@takes(LogOptions)
def click_models(
    log: TableLike | ClickLog,
    models: Sequence[str] | None = None,
    *,
    rounds: int = 100,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Unpack[LogOptions],
) -> ClickModels:
    """Compare click models by how well they predict sessions that they haven't seen.

    Each model is fitted to four fifths of the sessions (or of the lists, in a log without sessions)
    and predicts each click in the rest from the clicks above it in the same list. The perplexity is 2 to the
    power of the mean surprise in bits: 1 is a perfect prediction, 2 is as good as tossing a coin.

    Args:
        log: a log with lists, in any shape that `read_log` reads, or the result of `read_log`.
        models: the models to compare; all if None.
        rounds: the maximum number of iterations of EM.
        seed: the seed of the random choice of sessions.
        progress: called with the share of the models that is done.
        **options: see `LogOptions`.
    """
    expected = f"click models among {', '.join(MODELS)}"
    names = [*MODELS] if models is None else arguments.listed(models, "models", expected)
    for name in names:
        arguments.choice(name, "models", MODELS)
    most = arguments.whole(rounds, "rounds", least=1, most=10_000)
    draws = Draws(resamples=1, seed=seed)
    arguments.function(progress, "progress")
    read = read_log(log, **options)
    if not read.has_lists:
        raise InputError("log", "separate lists", f"{read.shape} per row", "Name the column of the session or the list.")  # fmt: skip
    test = _held_out(read, draws.seed)
    train, unseen = read.shown.part(~test), read.shown.part(test)
    rows = []
    for place, name in enumerate(names):
        fitted = MODELS[name].fit(train, Fitting(most))
        mean = log_likelihood(unseen, fitted) / len(unseen.pairs)
        by_rank = tuple(perplexity_by_rank(unseen, fitted).tolist())
        rows.append(ModelFit(name, MODELS[name].title, mean, math.exp(-mean), by_rank))
        if progress is not None:
            progress((place + 1) / len(names), "estimating")
    rows.sort(key=lambda row: row.perplexity)
    return ClickModels(tuple(rows), int(test.sum()))


def _held_out(log: ClickLog, seed: int) -> Bools:
    """Return which lists (m,) are held out: a fifth of the sessions, drawn at random."""
    owners = np.arange(log.lists) if log.owners is None else log.owners
    count = int(owners.max()) + 1
    size = round(count * _TEST_SHARE)
    if size == 0 or size == count:
        raise InputError(
            "log", "at least 3 sessions, because some are held out", counted(count, "session")
        )
    chosen = np.zeros(count, bool)
    chosen[np.random.default_rng(seed).permutation(count)[:size]] = True
    return chosen[owners]
