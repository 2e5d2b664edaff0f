"""`Verdict`: the decision about a difference in one sentence, and the number of queries that would settle it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gainful.analysis.comparison.paired_scores import UnjudgedShares
from gainful.analysis.comparison.settings import Settings
from gainful.analysis.power import USUAL_POWER, queries_needed
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.arithmetic.statistics.distributions import t_two_sided
from gainful.arithmetic.statistics.intervals import Interval, few_changed, too_few_queries
from gainful.arithmetic.statistics.moments import Moments
from gainful.output.rendering.table_formats import signed
from gainful.output.writing.result_base import Record

_SMALLEST = 1e-6  # of the standard deviation: smaller would take more queries than there are
_MOST = 100_000  # queries; nobody judges more to decide between two runs
_TINY_P = 0.0001


class _WithLaterWords(Record):
    """Has the place of the function that says the rest of a verdict; no field, and not pickled."""

    __slots__ = ("_say",)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdict(_WithLaterWords):
    """A decision about one comparison.

    Attributes:
        word: better, worse, equivalent or inconclusive.
        sentence: the verdict with its evidence.
        queries_needed: the number of similar queries that would settle an inconclusive difference. None
            if there are too few queries to estimate it, or if no realistic number would.
        qualification: how the judgments favour one of the runs, as in the sentence; else empty.
    """

    word: str
    sentence: str
    queries_needed: int | None = None
    qualification: str = ""

    if not TYPE_CHECKING:  # to a type checker the fields are always there

        def __getattr__(self, name):
            # Python asks here for what `_said_later` left out.
            if name not in ("sentence", "queries_needed"):
                problem = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(problem, name=name, obj=self)
            sentence, needed = self._say()
            object.__setattr__(self, "queries_needed", needed)
            object.__setattr__(self, "sentence", sentence)
            return getattr(self, name)

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a verdict is made from.

    Attributes:
        measure: its name.
        base: the name of the one run.
        run: the name of the other.
        moments: of the differences.
        interval: of their mean.
        p: of the test that decides, corrected.
        correction: the name of the correction that was made.
        p_equivalent: of the claim of equivalence, corrected.
        comparisons: how many the correction is over.
        changed: how many queries have another value in the run than in the base.
        contrary: the test leans to the other side than the mean.
        unjudged: how much of the runs' lists has no judgment, where that is known.
    """

    measure: str
    base: str
    run: str
    moments: Moments
    interval: Interval
    p: float | None
    correction: str
    p_equivalent: float | None
    comparisons: int
    changed: int
    contrary: bool = False
    unjudged: UnjudgedShares | None = None


def equivalence(moments: Moments, margin: float) -> float | None:
    """Return p of the claim that |mean| < margin, by two one-sided t tests; None of one query.

    >>> from gainful.arithmetic.statistics.moments import moments
    >>> round(equivalence(moments([0.01, -0.01, 0.02, 0.0, -0.01]), 0.05), 5)
    0.00059
    """
    if moments.sd is None:
        return None
    if not moments.sd:
        # No spread to measure by, so the signs of what is left to the margin, all the same.
        return 0.5**moments.count if abs(moments.mean) < margin else 1.0
    t = (margin - abs(moments.mean)) / moments.sd * moments.count**0.5
    half = t_two_sided(t, moments.count - 1) / 2
    return half if t > 0 else 1 - half


def verdict(grounds: Grounds, settings: Settings) -> Verdict:
    """Decide; the sentence is written on first use."""
    if settings.margin is not None and _below(grounds.p_equivalent, settings.alpha):
        word = "equivalent"
    else:
        word = decided(grounds.p, grounds.moments.mean, settings, contrary=grounds.contrary)
    doubt = qualification(word, grounds.base, grounds.run, grounds.unjudged)
    return _said_later(word, doubt, partial(_sentence, word, grounds, settings, doubt))


def qualification(word: str, base: str, run: str, unjudged: UnjudgedShares | None) -> str:
    """Say that the judgments favour one of the runs, unless the other is better all the same; else nothing.

    >>> qualification("worse", "A", "B", UnjudgedShares(10, {"A": 0.0, "B": 0.53}))
    "53% of B's top 10 is unjudged (A: 0%), so the judgments favour A (see `gainful evaluate --bounds`)"
    """
    sides = None if unjudged is None else unjudged.favoured(base, run)
    if unjudged is None or sides is None or (word, sides[1]) in (("better", run), ("worse", base)):
        return ""
    less, more = sides
    shares = unjudged.shares
    return (
        f"{shares[more]:.0%} of {more}'s {unjudged.where} is unjudged ({less}: {shares[less]:.0%}), "
        f"so the judgments favour {less} (see `gainful evaluate --bounds`)"
    )


def decided(p: float | None, mean: float, settings: Settings, *, contrary: bool = False) -> str:
    """Return better, worse or inconclusive for a corrected p-value and the mean of the differences."""
    if not _below(p, settings.alpha) or contrary:
        return "inconclusive"
    return "better" if mean > 0 else "worse"


def _said_later(word: str, doubt: str, say: Callable[[], tuple[str, int | None]]) -> Verdict:
    """Return a verdict whose sentence and queries are computed when they are first asked for.

    How many queries would decide takes a search, and of many comparisons few sentences are read.
    """
    made = object.__new__(Verdict)
    object.__setattr__(made, "word", word)
    object.__setattr__(made, "qualification", doubt)
    object.__setattr__(made, "_say", say)
    return made


def _sentence(
    word: str, grounds: Grounds, settings: Settings, doubt: str
) -> tuple[str, int | None]:
    """Return the sentence, and how many queries would decide."""
    but = f", but {doubt}" if doubt else ""
    pair = f"{grounds.run} and {grounds.base}"
    if word == "equivalent":
        evidence = _evidence(grounds, settings.adjustment, grounds.p_equivalent, "p of equivalence")
        within = f"equivalent within {settings.margin:g}"
        return f"{grounds.measure}: {pair} are {within} ({evidence}){but}.", None
    evidence = _evidence(grounds, grounds.correction, grounds.p)
    if word != "inconclusive":
        decided = f"{grounds.run} is {word} than {grounds.base}"
        return f"{grounds.measure}: {decided} ({evidence}){but}{_close_call(word, grounds)}.", None
    needed = _needed(grounds, settings)
    more = _close_call(word, grounds) + _more(grounds, settings, needed)
    reachable = None if needed is None or _out_of_reach(grounds, needed) else needed
    inconclusive = f"the difference between {pair} is inconclusive"
    return f"{grounds.measure}: {inconclusive} ({evidence}){but}{more}.", reachable


def _out_of_reach(grounds: Grounds, needed: int) -> bool:
    """Return whether a number of queries says nothing: estimated from too few, or beyond any practice."""
    return bool(too_few_queries(grounds.moments.count)) or needed > _MOST


def _close_call(word: str, grounds: Grounds) -> str:
    """Say that the interval does not agree with the test, which is another procedure; else nothing."""
    if not grounds.interval.known:
        return ""
    holds = grounds.interval.low <= 0 <= grounds.interval.high
    if word != "inconclusive":
        return "; the interval holds 0, so it is a close call" if holds else ""
    alone = grounds.comparisons == 1 or not CORRECTIONS[grounds.correction].changes
    if holds or grounds.contrary or not alone or grounds.p is None:
        return ""
    return "; the interval leaves 0 out, so it is a close call"


def _below(p: float | None, alpha: float) -> bool:
    return p is not None and p < alpha


def _evidence(grounds: Grounds, correction: str, p: float | None, what: str = "p") -> str:
    interval = grounds.interval
    span = f"{100 * interval.level:.4g}% interval {signed(interval.low)} to {signed(interval.high)}"
    if not interval.known:
        span = interval.note
    if p is None:
        evidence = "no p-value"
    else:
        evidence = f"{what} < {_TINY_P}" if p < _TINY_P else f"{what} = {p:.4f}"
        if grounds.comparisons > 1 and CORRECTIONS[correction].changes:
            evidence += f", {CORRECTIONS[correction].title} over {grounds.comparisons} comparisons"
    count = grounds.moments.count
    few = few_changed(grounds.changed, count) if grounds.changed and interval.known else ""
    evidence += f", {few or f'{count} {_queries(count)}'}"
    return f"{signed(grounds.moments.mean)}, {span}, {evidence}"


def _queries(count: int) -> str:
    return "query" if count == 1 else "queries"


def _needed(grounds: Grounds, settings: Settings) -> int | None:
    """Return how many queries would decide, by the noncentral t."""
    moments = grounds.moments
    aim = abs(moments.mean) if settings.margin is None else settings.margin
    if not moments.sd or aim < _SMALLEST * moments.sd:
        return None
    corrected = CORRECTIONS[grounds.correction].changes
    alpha = settings.alpha / (grounds.comparisons if corrected else 1)
    if alpha >= USUAL_POWER or _below(grounds.p, settings.alpha):
        return None  # so lax a level needs no difference; and a contrary test not more queries
    needed = queries_needed(moments.sd, aim, USUAL_POWER, alpha)
    return needed if needed > moments.count else None


def _more(grounds: Grounds, settings: Settings, needed: int | None) -> str:
    moments = grounds.moments
    if moments.count == 1:
        return "; one query cannot decide"
    if not moments.sd and not moments.mean:
        return "; both have the same score on every query"
    if _below(grounds.p, settings.alpha):
        return "; the test and the mean point in different directions"
    if needed is None:
        return ""
    if too_few_queries(moments.count):
        return f"; {moments.count} queries are too few to estimate how many would decide"
    if needed > _MOST:
        size = "as large as it looks" if settings.margin is None else f"{settings.margin:g}"
        return f"; no realistic number of queries like these would show a difference that is {size}"
    if settings.margin is None:
        return f"; if the difference is as large as it looks, about {needed:,} queries like these would decide"
    return f"; about {needed:,} queries like these would show a difference of {settings.margin:g}"
