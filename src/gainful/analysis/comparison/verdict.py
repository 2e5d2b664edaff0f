"""`Verdict`: the decision about a difference in one sentence, and the number of queries that would settle it."""

import re
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
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.measures.measure_family import HIGHER, LOWER, NEITHER
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import signed
from gainful.output.writing.result_base import Record

_WORDS = {HIGHER: ("better", "worse"), LOWER: ("worse", "better"), NEITHER: ("higher", "lower")}
_SMALLEST = 1e-6  # standard deviations: smaller differences would need more queries than exist
_MOST = 100_000  # queries; nobody judges more to decide between two runs
_TINY_P = 0.0001
_CORRECTED = re.compile(r"(?<=\d), [^,()]+ over \d+ comparisons(?=, )")


class _WithLaterWords(Record):
    """Holds the function that writes the sentence; it isn't a field and isn't pickled."""

    __slots__ = ("_say",)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdict(_WithLaterWords):
    """A decision about one comparison.

    Attributes:
        word: better, worse, equivalent or inconclusive; higher or lower for a measure whose higher
            values are neither better nor worse, such as Popularity.
        sentence: the verdict with its evidence.
        queries_needed: the number of similar queries that would settle an inconclusive difference. None
            if there are too few queries to estimate it, or if no realistic number would.
        qualification: how the judgments favour one of the runs, as in the sentence; empty otherwise.
    """

    word: str
    sentence: str
    queries_needed: int | None = None
    qualification: str = ""

    if not TYPE_CHECKING:  # for a type checker, the fields always exist

        def __getattr__(self, name):
            # Called for the two attributes that `_with_later_sentence` leaves out.
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
class SampleSize:
    """How many queries decide, and how many independent units they make.

    Attributes:
        queries: the number of queries.
        units: the number of clusters, or of queries with a weight.
        clusters: the number of clusters; None without clusters.
        effective: as many units of equal weight would decide as well; None without weights and clusters.
    """

    queries: int
    units: int
    clusters: int | None = None
    effective: float | None = None

    @classmethod
    def of(cls, queries: int, sampling: Sampling | None) -> "SampleSize":
        """Return the size of a sample of queries."""
        if sampling is None or sampling.plain:
            return cls(queries, queries)
        units = sampling.units(queries)
        clusters = None if sampling.clusters is None else units
        return cls(queries, units, clusters, sampling.effective(queries))

    @property
    def noun(self) -> str:
        """The word for several units."""
        return "queries" if self.clusters is None else "clusters"

    @property
    def too_few(self) -> str:
        """Why there are too few units for an interval; empty if there are enough."""
        least = self.units if self.effective is None else min(self.units, int(self.effective))
        return too_few_queries(least, self.noun)

    def __str__(self) -> str:
        queries = counted(self.queries, "query", "queries")
        if self.clusters is not None:
            return f"{queries} in {counted(self.clusters, 'cluster')}"
        if self.effective is None or self.effective == self.queries:
            return queries
        return f"{queries} worth {self.effective:.4g}"


@dataclass(frozen=True, slots=True)
class Grounds:
    """The evidence behind a verdict.

    Attributes:
        measure: the name of the measure.
        base: the name of the base.
        run: the name of the run.
        difference: the mean difference.
        moments: the moments of the differences that are tested, which allow for the errors of grades that are estimates.
        interval: the interval of their mean.
        p: the corrected p-value of the test that decides.
        correction: the name of the correction.
        p_equivalent: the corrected p-value of the claim of equivalence.
        comparisons: the number of comparisons that were corrected together.
        changed: the number of queries whose scores differ between base and run.
        size: how many queries, and independent units, there are.
        contrary: whether the test points in the opposite direction from the mean.
        unjudged: the shares of unjudged documents, if known.
        better: which values of the measure are better, as in `Family`.
    """

    measure: str
    base: str
    run: str
    difference: float
    moments: Moments
    interval: Interval
    p: float | None
    correction: str
    p_equivalent: float | None
    comparisons: int
    changed: int
    size: SampleSize
    contrary: bool = False
    unjudged: UnjudgedShares | None = None
    better: str = HIGHER


def equivalence(moments: Moments, margin: float) -> float | None:
    """Return p of the claim that |mean| < margin, by two one-sided t tests; None for a single query.

    >>> from gainful.arithmetic.statistics.moments import moments
    >>> round(equivalence(moments([0.01, -0.01, 0.02, 0.0, -0.01]), 0.05), 5)
    0.00059
    """
    if moments.sd is None:
        return None
    if not moments.sd:
        # Without spread, a sign test of the distances to the margin, which all have the same sign.
        return 0.5**moments.count if abs(moments.mean) < margin else 1.0
    t = (margin - abs(moments.mean)) / moments.sd * moments.count**0.5
    half = t_two_sided(t, moments.count - 1) / 2
    return half if t > 0 else 1 - half


def verdict(grounds: Grounds, settings: Settings) -> Verdict:
    """Decide; the sentence is written on first use."""
    if settings.margin is not None and _below(grounds.p_equivalent, settings.alpha):
        word = "equivalent"
    else:
        mean, better = grounds.moments.mean, grounds.better
        word = decided(grounds.p, mean, settings, contrary=grounds.contrary, better=better)
    doubt = qualification(word, grounds.base, grounds.run, grounds.unjudged)
    return _with_later_sentence(word, doubt, partial(_sentence, word, grounds, settings, doubt))


def qualification(word: str, base: str, run: str, unjudged: UnjudgedShares | None) -> str:
    """Return a warning that the judgments favour one of the runs; empty if the other one wins anyway.

    >>> qualification("worse", "A", "B", UnjudgedShares(10, {"A": 0.0, "B": 0.53}, (0, 3)))
    "53% of B's top 10 is unjudged (A: 0%), so the judgments favour A (see `gainful evaluate --bounds --grades 0..3`)"
    """
    sides = None if unjudged is None else unjudged.favoured(base, run)
    if unjudged is None or sides is None or (word, sides[1]) in (("better", run), ("worse", base)):
        return ""
    less, more = sides
    shares = unjudged.shares
    share = (
        f"{shares[more]:.0%} of {more}'s {unjudged.where} is unjudged ({less}: {shares[less]:.0%})"
    )
    bound = unjudged.bounds.get((base, run))
    if bound is None:
        advice = f"see `gainful evaluate {unjudged.bounds_options}`"
        return f"{share}, so the judgments favour {less} ({advice})"
    ends = f"{signed(bound.low)} to {signed(bound.high)}"
    if bound.sign in ("above", "below"):
        return f"{share}, though other grades could only make the difference {ends}"
    advice = "estimate it with --estimate"
    if bound.estimate is not None:
        advice = f"the estimate is {signed(bound.estimate.value)}"
    return f"{share}, so the judgments favour {less} (other grades could make it {ends}; {advice})"


def decided(
    p: float | None,
    mean: float,
    settings: Settings,
    *,
    contrary: bool = False,
    better: str = HIGHER,
) -> str:
    """Return the word for a corrected p-value, the mean of the differences and the better values."""
    if not _below(p, settings.alpha) or contrary:
        return "inconclusive"
    above, below = _WORDS[better]
    return above if mean > 0 else below


def _with_later_sentence(
    word: str, doubt: str, say: Callable[[], tuple[str, int | None]]
) -> Verdict:
    """Return a verdict whose sentence and number of queries are computed on first use.

    Finding that number takes a search, and few of many sentences are ever read.
    """
    made = object.__new__(Verdict)
    object.__setattr__(made, "word", word)
    object.__setattr__(made, "qualification", doubt)
    object.__setattr__(made, "_say", say)
    return made


def _sentence(
    word: str, grounds: Grounds, settings: Settings, doubt: str
) -> tuple[str, int | None]:
    """Return the sentence, and the number of queries that would decide."""
    but = f", but {doubt}" if doubt else ""
    pair = f"{grounds.run} and {grounds.base}"
    if word == "equivalent":
        evidence = _evidence(grounds, settings.adjustment, grounds.p_equivalent, "p of equivalence")
        within = f"equivalent within {settings.margin:g}"
        return f"{grounds.measure}: {pair} are {within} ({evidence}){but}.", None
    evidence = _evidence(grounds, grounds.correction, grounds.p)
    if word != "inconclusive":
        decided = f"{grounds.run} is {word} than {grounds.base}"
        return (
            f"{grounds.measure}: {decided} ({evidence}){but}{_close_call(word, grounds, settings)}.",
            None,
        )
    needed = _needed(grounds, settings)
    more = _close_call(word, grounds, settings) + _more(grounds, settings, needed)
    reachable = None if needed is None or _out_of_reach(grounds, needed) else needed
    inconclusive = f"the difference between {pair} is inconclusive"
    return f"{grounds.measure}: {inconclusive} ({evidence}){but}{more}.", reachable


def _out_of_reach(grounds: Grounds, needed: int) -> bool:
    """Return whether a number of queries is meaningless: estimated from too few queries, or unrealistic."""
    return bool(grounds.size.too_few) or needed > _MOST


def _close_call(word: str, grounds: Grounds, settings: Settings) -> str:
    """Return a remark if the interval disagrees with the test, which is a different procedure."""
    if not grounds.interval.known:
        return ""
    contains_0 = grounds.interval.low <= 0 <= grounds.interval.high
    why = "so it is a close call (the two are computed differently)"
    if word != "inconclusive":
        return (
            f"; the interval contains 0 although p < {settings.alpha:g}, {why}"
            if contains_0
            else ""
        )
    alone = grounds.comparisons == 1 or not CORRECTIONS[grounds.correction].changes
    if contains_0 or grounds.contrary or not alone or grounds.p is None:
        return ""
    return f"; the interval excludes 0 although p is not below {settings.alpha:g}, {why}"


def _below(p: float | None, alpha: float) -> bool:
    return p is not None and p < alpha


def _evidence(grounds: Grounds, correction: str, p: float | None, name: str = "p") -> str:
    interval = grounds.interval
    span = f"{100 * interval.level:.4g}% interval {signed(interval.low)} to {signed(interval.high)}"
    if not interval.known:
        span = interval.note
    if p is None:
        evidence = "no p-value"
    else:
        evidence = f"{name} < {_TINY_P}" if p < _TINY_P else f"{name} = {p:.4f}"
        if grounds.comparisons > 1 and CORRECTIONS[correction].changes:
            evidence += f", {CORRECTIONS[correction].title} over {grounds.comparisons} comparisons"
    size = grounds.size
    doubtful = grounds.changed and interval.known and not interval.exact
    few = few_changed(grounds.changed, size.queries) if doubtful else ""
    evidence += f", {few or size}"
    return f"{signed(grounds.difference)}, {span}, {evidence}"


def without_correction(sentence: str) -> str:
    """Return the sentence of a verdict without the correction of its p-value.

    >>> without_correction("b is better than a (p = 0.0011, Tukey HSD over 3 comparisons, 20 queries).")
    'b is better than a (p = 0.0011, 20 queries).'
    """
    return _CORRECTED.sub("", sentence)


def _needed(grounds: Grounds, settings: Settings) -> int | None:
    """Return the number of queries that would decide, by the noncentral t distribution."""
    if TESTS[settings.test].anytime:
        return None  # more queries may be added until it is settled
    moments = grounds.moments
    aim = abs(moments.mean) if settings.margin is None else settings.margin
    if not moments.sd or aim < _SMALLEST * moments.sd:
        return None
    corrected = CORRECTIONS[grounds.correction].changes
    alpha = settings.alpha / (grounds.comparisons if corrected else 1)
    if alpha >= USUAL_POWER or _below(grounds.p, settings.alpha):
        return (
            None  # at such a lax level anything is significant; contrary tests don't need queries
        )
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
    if TESTS[settings.test].anytime:
        return "; add queries and look again as often as you like"
    if needed is None:
        return ""
    noun = grounds.size.noun
    if grounds.size.too_few:
        return f"; {moments.count} {noun} are too few to estimate how many you would need"
    if needed > _MOST:
        size = "as large as it looks" if settings.margin is None else f"{settings.margin:g}"
        return f"; no realistic number of {noun} like these would show a difference that is {size}"
    if settings.margin is None:
        return f"; if the difference is as large as it looks, about {needed:,} {noun} like these would settle it"
    return f"; about {needed:,} {noun} like these would show a difference of {settings.margin:g}"
