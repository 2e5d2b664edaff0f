"""Likely causes of a wrong value: one different choice, another tool, or a common mistake.

The values come from the evaluation itself, as in `gainful.explanation.which`; only the mistakes,
which are no tool's convention, are simulated here by changing the data or the measure.
"""

import dataclasses
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from gainful.analysis.explanation.ways_to_measure import (
    CUTOFF,
    Way,
    WayMeasurer,
    variations,
    way_of,
)
from gainful.compat.vectors.case_as_inputs import judgments_of, measure_of, policy_of, run_of
from gainful.compat.vectors.case_files import Case
from gainful.errors import GainfulError, without_warnings
from gainful.matching.reader import reading
from gainful.measures import discount, gain
from gainful.measures.dialect_catalogue import dialects
from gainful.measures.measure import Measure
from gainful.measures.policy import CHOICES, Policy
from gainful.measures.tool_dialect import TRANSLATED

_BASES: tuple[tuple[str, object], ...] = (("2", 2), ("e", "e"), ("10", 10))
_TWICE = ("first", "best")
_SINGLE = 1e-5  # the largest error of sums in single precision
_DIGITS = range(3, 7)  # rounding to fewer digits would match too many values
_EXACT = 1e-12
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Convention:
    """A convention that would explain a value.

    Attributes:
        name: a choice such as `gain=exp2`, or the name of a tool or a mistake.
        meaning: an explanation in a few words; empty if the name is enough.
        tool: whether it is a tool's behaviour, whatever the case asks for.
    """

    name: str
    meaning: str = ""
    tool: bool = False

    def __str__(self) -> str:
        return f"{self.name} ({self.meaning})" if self.meaning else self.name


def likely_conventions(case: Case, value: float, tolerance: float) -> tuple[Convention, ...]:
    """Return the conventions that yield this value instead of the expected one; NaN for undefined.

    >>> from gainful.compat.vectors.case_files import cases
    >>> golden = next(case for case in cases() if case.id == "golden")
    >>> for convention in likely_conventions(golden, 0.30797979, 1e-6)[:3]:
    ...     print(convention)
    gain=exp2 (2^g − 1)
    gdeval
    kaggle
    """
    with without_warnings():
        return tuple(_conventions(case, value, tolerance))


def _conventions(case: Case, value: float, tolerance: float) -> Iterator[Convention]:
    expected = case.expect.get("value")
    rounded = [] if expected is None else list(_rounded(value, expected))
    yield from rounded
    if expected is not None and not rounded and is_near(value, expected, _SINGLE):
        yield Convention("single precision", "right to five digits: use a larger tolerance")
        return
    for convention, result in _ways(case):
        if is_near(result, value, tolerance):
            yield convention
    for convention, compute in _SLIPS:
        slipped = compute(case)
        if slipped is not None and is_near(slipped, value, tolerance):
            yield convention


def _rounded(value: float, expected: float) -> Iterator[Convention]:
    for digits in _DIGITS:
        if is_near(value, round(expected, digits), _EXACT):
            yield Convention(
                f"rounded to {digits} digits", "write all digits, or use a larger tolerance"
            )


def is_near(one: float, other: float | None, tolerance: float) -> bool:
    """Return whether two values are equal within the tolerance; NaN for undefined."""
    target = math.nan if other is None else float(other)
    if math.isnan(one) or math.isnan(target):
        return math.isnan(one) and math.isnan(target)
    if math.isinf(one):
        return False
    return abs(one - target) <= tolerance * max(1.0, abs(target))


def _ways(case: Case) -> Iterator[tuple[Convention, float]]:
    """Yield values with one choice changed, values of tools, and values of other measures."""
    own = Way("", measure_of(case), policy_of(case.choices).resolved(ids=True))
    rule = own.policy.duplicates
    if _has_repeats(case):
        for other in _TWICE:
            if other != rule:
                means = _measured([own], _once(case, other))
                change = f"duplicates={other}"
                yield from (
                    (Convention(change, _meaning(change)), value) for value in means.values()
                )
        if rule == "error":
            return
        case = _once(case, rule)
    ways = [(Convention(change, _meaning(change)), way) for change, way in _changed(own)]
    plain = Measure(own.measure.name, cutoff=own.measure.cutoff)  # a tool's default, not the case's
    ways += [
        (Convention(dialect.name, tool=True), way_of(dialect, plain, own.policy, ids=True))
        for dialect in dialects()
        if dialect.speaks_of(plain) and dialect.name != case.dialect
    ]
    for convention, slip in _OTHER_MEASURES:
        measure = slip(case, own.measure)
        if measure is not None:
            ways.append((convention, dataclasses.replace(own, measure=measure)))
    idle = _idle_choices(case)
    ways = [(convention, _without_effect(way, own, idle)) for convention, way in ways]
    values = _measured([way for _, way in ways], case)
    for convention, way in ways:
        if way in values:
            yield convention, values[way]


def _changed(own: Way) -> Iterator[tuple[str, Way]]:
    """Yield variants with one choice changed: the variants of `which`, and the bases."""
    for change, way in variations(own):
        if way.answer(CUTOFF) in (own.answer(CUTOFF), "none"):
            yield change, way
    if own.answer("discount") in ("log", "jarvelin"):
        for name, base in _BASES:
            measure = own.measure.having(base=base)
            if measure != own.measure:
                yield f"base={name}", dataclasses.replace(own, measure=measure)


def _idle_choices(case: Case) -> set[str]:
    """Return the choices of a policy that have no effect on these data, for any measure."""
    idle = {"duplicates", "extra", "fold"}
    grades = [grade for query in case.queries for _, grade in query["judged"] or ()]
    runs = [(query, query["run"]) for query in case.queries if query["run"] is not None]
    if all(len({_single(score) for _, score in run}) == len(run) for _, run in runs):
        idle |= {"ties", "precision"}
    named = [
        (query["query"], *(query["run"] or ()), *(query["judged"] or ())) for query in case.queries
    ]
    if all(doc != query for query, *docs in named for doc, _ in docs):
        idle |= {"drop_self"}
    if min(grades, default=0) >= 0:
        idle |= {"negative"}
        judged = [(dict(query["judged"] or ()), run) for query, run in runs]
        if all(doc in judgments for judgments, run in judged for doc, _ in run):
            idle |= {"unjudged"}
    if len(runs) == len(case.queries):
        idle |= {"missing"}
    return idle


def _single(score: float) -> float:
    """Return a score rounded to float32, or unchanged if float32 cannot represent it."""
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", score))
    except OverflowError:
        return score
    return float(rounded)


def _without_effect(way: Way, own: Way, idle: set[str]) -> Way:
    """Return a variant with the case's own idle choices, so that equal ones are measured once."""
    same = {name: getattr(own.policy, name) for name in idle}
    policy = dataclasses.replace(way.policy, **same)
    return Way(way.name, way.measure, policy)  # whatever grades its tool rejects


def _measured(ways: list[Way], case: Case) -> dict[Way, float]:
    """Return the means of the ways that can be measured."""
    try:
        with reading(judgments_of(case), Policy()) as reader:
            return WayMeasurer(reader, run_of(case)).means(ways)
    except GainfulError:
        return {}


def _has_repeats(case: Case) -> bool:
    lists = [docs for query in case.queries for docs in (query["run"], query["judged"]) if docs]
    return any(len({doc for doc, _ in docs}) < len(docs) for docs in lists)


def _once(case: Case, rule: str) -> Case:
    """Return a case with each document once: the first, or the copy with the highest number."""

    def chosen(docs: list[Any]) -> list[Any]:
        kept: dict[str, float] = {}
        for doc, value in docs:
            if doc not in kept or (rule == "best" and value > kept[doc]):
                kept[doc] = value
        return [[doc, value] for doc, value in kept.items()]

    return _with_lists(_with_lists(case, chosen, "run"), chosen, "judged")


def _meaning(change: str) -> str:
    """Describe a changed choice in the words of its own table."""
    name, _, answer = change.partition("=")
    for choice in CHOICES:
        if choice.name == name:
            return choice.answers.get(answer, "")
    if name == "gain":
        return gain.FORMS[answer].meaning
    if name == "discount":
        return discount.FORMS[answer].meaning
    return _MEANINGS.get(change, "")


_MEANINGS = {
    "ideal=judged": "the ideal of all judged documents, retrieved or not",
    "ideal=retrieved": "the ideal of the returned documents only",
    "depth=cutoff": "the ideal is cut at k",
    "depth=all": "the ideal is not cut",
    "depth=retrieved": "the ideal is cut at the number of documents returned",
    "no cutoff": "the whole list counts",
}


# Common mistakes that are no tool's convention. First other measures, None if it is the same.

_Slip = Callable[[Case, Measure], Measure | None]


def _of_family(name: str) -> _Slip:
    def measure(_: Case, own: Measure) -> Measure | None:
        if own.name not in TRANSLATED or own.name == name:
            return None
        shared = ("gain",) if name == "CG" else ("gain", "discount", "base")
        parts = {part: own.parameters[part] for part in shared if part in own.parameters}
        return Measure(name, cutoff=own.cutoff, **parts)

    return measure


def _with_discount(formula: Callable[[int], float]) -> _Slip:
    def measure(case: Case, own: Measure) -> Measure | None:
        if case.measure.get("discount") != "log":
            return None
        longest = max(len(q[part] or ()) for q in case.queries for part in ("run", "judged"))
        table = [formula(rank) for rank in range(1, longest + 1)]
        return own.having(discount=table, base=discount.DEFAULT_BASE)

    return measure


def _with_gain(formula: Callable[[float], float]) -> _Slip:
    def measure(case: Case, own: Measure) -> Measure | None:
        if case.measure.get("gain") != "exp2":
            return None
        grades = {grade for query in case.queries for _, grade in query["judged"] or ()}
        return own.having(gain={grade: formula(grade) for grade in grades})

    return measure


def _cut_beside(step: int) -> _Slip:
    def measure(_: Case, own: Measure) -> Measure | None:
        if own.cutoff is None or own.cutoff + step < 1:
            return None
        return own.at(own.cutoff + step)

    return measure


_OTHER_MEASURES: tuple[tuple[Convention, _Slip], ...] = (
    (Convention("nDCG", "divided by the ideal"), _of_family("nDCG")),
    (Convention("DCG", "the sum of discounted gains, without normalisation"), _of_family("DCG")),
    (Convention("IDCG", "the ideal alone"), _of_family("IDCG")),
    (Convention("CG", "the sum of the gains, without discount"), _of_family("CG")),
    (Convention("cut at k − 1", "one document too few, also in the ideal"), _cut_beside(-1)),
    (Convention("cut at k + 1", "one document too many, also in the ideal"), _cut_beside(1)),
    (
        Convention("discount 1/log2(i + 2)", "ranks are counted from 2"),
        _with_discount(lambda rank: 1 / math.log2(rank + 2)),
    ),
    (Convention("gain 2^g", "without − 1, so that grade 0 is worth 1"), _with_gain(lambda g: 2**g)),
)

# Then other data, or another sum. Each returns a value, or None if the mistake is impossible.


def _mean(case: Case, measure: Measure) -> float:
    """Return gainful's value of a case, with its choices."""
    policy = policy_of(case.choices).resolved(ids=True)
    once = _once(case, policy.duplicates) if _has_repeats(case) else case
    way = Way("", measure, policy)
    return _measured([way], once).get(way, math.inf)


def _with_lists(case: Case, change: Callable[[list[Any]], list[Any]], part: str) -> Case:
    queries = tuple(q if q[part] is None else {**q, part: change(q[part])} for q in case.queries)
    return dataclasses.replace(case, queries=queries)


def _ideal_of_the_first(case: Case) -> float | None:
    k = case.measure["k"]
    if case.measure["name"] != "nDCG" or k is None:
        return None
    cut = _with_lists(case, lambda run: sorted(run, key=lambda pair: -pair[1])[:k], "run")
    return _mean(cut, measure_of(cut).having(ideal="retrieved"))


def _list_cut_before_k(case: Case) -> float | None:
    """Return the value of k − 1 documents with the ideal of k."""
    k = case.measure["k"]
    if case.measure["name"] != "nDCG" or k is None:
        return None
    cut = _with_lists(case, lambda run: sorted(run, key=lambda pair: -pair[1])[: k - 1], "run")
    return _mean(cut, measure_of(cut))


def _ideal_not_sorted(case: Case) -> float | None:
    """Return the value of a list with an ideal in input order."""
    (query, *others) = case.queries
    if case.measure["name"] != "nDCG" or others or not query["judged"]:
        return None
    listed = [[doc, -place] for place, (doc, _) in enumerate(query["judged"])]
    unsorted = dataclasses.replace(case, queries=({**query, "run": listed},))
    (dcg, _), (ideal, _) = _of_both(case), _of_both(unsorted)
    # Rejected cases become infinite, and dividing by infinity yields no value.
    return dcg / ideal if ideal and math.isfinite(ideal) else None


def _with_scores(change: Callable[[int, float], float]) -> Callable[[Case], float | None]:
    def compute(case: Case) -> float:
        def changed(run: list[Any]) -> list[Any]:
            return [[doc, change(place, score)] for place, (doc, score) in enumerate(run)]

        return _mean(_with_lists(case, changed, "run"), measure_of(case))

    return compute


def _whole_grades(case: Case) -> float | None:
    def cut_off(docs: list[Any]) -> list[Any]:
        return [[doc, math.trunc(grade)] for doc, grade in docs]

    whole = _with_lists(case, cut_off, "judged")
    return None if whole.queries == case.queries else _mean(whole, measure_of(case))


def _of_both(case: Case) -> tuple[float, float]:
    """Return the means of DCG and IDCG."""
    own = measure_of(case)
    dcg, idcg = (_of_family(name)(case, own) for name in ("DCG", "IDCG"))
    return (0.0, 0.0) if dcg is None or idcg is None else (_mean(case, dcg), _mean(case, idcg))


def _added_up(case: Case) -> float | None:
    """Return the sum over the judged queries."""
    expected = case.expect.get("value")
    judged = sum(query["judged"] is not None for query in case.queries)
    return None if expected is None or judged == 1 else expected * judged


def _by_k(case: Case) -> float | None:
    """Return the value divided by k instead of by the ideal, or instead of not at all."""
    k, expected = case.measure["k"], case.expect.get("value")
    if k is None or k == 1 or expected is None:
        return None
    whole: float = _of_both(case)[0] if case.measure["name"] == "nDCG" else expected
    return whole / int(k)


def _sums(case: Case) -> float | None:
    """Return the sum of DCG divided by the sum of the ideals."""
    if len(case.queries) == 1:
        return None
    dcg, idcg = _of_both(case)
    return dcg / idcg if idcg else None


def _counted_twice(case: Case) -> float | None:
    """Return the value if repeated documents count every time, with the usual ideal."""
    (query, *others) = case.queries
    run, judged = query["run"] or (), dict(query["judged"] or ())
    if others or len({doc for doc, _ in run}) == len(run):
        return None
    apart = [[f"{place} {doc}", score] for place, (doc, score) in enumerate(run)]
    grades = [
        [f"{place} {doc}", judged[doc]] for place, (doc, _) in enumerate(run) if doc in judged
    ]
    counted = dataclasses.replace(case, queries=({**query, "run": apart, "judged": grades},))
    once = dataclasses.replace(case, choices={**case.choices, "duplicates": "first"})
    (dcg, _), (_, idcg) = _of_both(counted), _of_both(once)
    return dcg / idcg if idcg else None


def _of_expected(change: Callable[[float], float]) -> Callable[[Case], float | None]:
    def compute(case: Case) -> float | None:
        expected = case.expect.get("value")
        return None if expected is None else change(expected)

    return compute


_SLIPS: tuple[tuple[Convention, Callable[[Case], float | None]], ...] = (
    (
        Convention("ideal of the first k", "the ideal is the list's first k documents, sorted"),
        _ideal_of_the_first,
    ),
    (Convention("list cut at k − 1", "with the ideal of k"), _list_cut_before_k),
    (
        Convention("ideal not sorted", "judged documents in the order of the input"),
        _ideal_not_sorted,
    ),
    (
        Convention("ascending scores", "the lowest score comes first"),
        _with_scores(lambda _, score: -score),
    ),
    (
        Convention("scores ignored", "documents in the order of the input"),
        _with_scores(lambda place, _: -place),
    ),
    (Convention("whole grades", "the fraction is cut off"), _whole_grades),
    (Convention("sum of DCG by sum of ideals", "not the mean over queries"), _sums),
    (Convention("sum over queries", "not their mean"), _added_up),
    (Convention("divided by k", "not by the ideal"), _by_k),
    (Convention("repeated documents", "each copy counts"), _counted_twice),
    (Convention("percent", "times 100"), _of_expected(lambda value: value * _PERCENT)),
    (Convention("1 − value", "a loss, not a measure"), _of_expected(lambda value: 1 - value)),
)
