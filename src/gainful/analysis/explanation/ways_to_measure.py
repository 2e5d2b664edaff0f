"""Ways to measure: measures with policies, and the choices that differ between two of them."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.errors import GainfulError
from gainful.evaluation.request import refuse_grades
from gainful.evaluation.scores import Scores, measure_matched
from gainful.matching.matched import Matched, marks_among, tell_marks
from gainful.matching.ranking import by_rank
from gainful.matching.reader import Reader
from gainful.measures import discount, gain
from gainful.measures.dialect_catalogue import dialect
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, read_measure
from gainful.measures.policy import CHOICES, Policy
from gainful.measures.tool_dialect import Dialect
from gainful.rows.input_types import Run

OURS = "gainful"
"""The name of gainful's own defaults among the tools."""
CUTOFF = "cutoff"
PARAMETERS = ("gain", "discount", "base", "ideal", "depth", "norm", "denominator")
_OF_DOCUMENTS = ("unjudged", "absent", "negative", "fold", "drop_self", "duplicates")
_OF_QUERIES = ("precision", "ties", "empty", "missing")
_SORTED = {*_OF_DOCUMENTS, *_OF_QUERIES, "extra"}  # extra changes no value
_OTHERS = (choice.name for choice in CHOICES if choice.name not in _SORTED)
ORDER = (CUTOFF, *PARAMETERS, *_OF_DOCUMENTS, *_OTHERS, *_OF_QUERIES)
"""The order in which choices are changed: choices of the measure, of documents, of queries."""
# The choices that take effect after matching, but for one value.
_AFTER = ("absent", "negative", "missing", "empty", "extra")
_BEFORE = ("negative", "unjudged")
_BLOCKS = ("average", "best", "worst")  # tie rules that treat a block of tied documents as a whole
_OFTEN_IDLE = ("precision", "drop_self", "negative")  # no effect on most data, as a match can show
_KEPT = 24  # the number of recent matches to cache


@dataclass(frozen=True, slots=True)
class Way:
    """A measure under a policy.

    Attributes:
        name: the name of the tool, or another name.
        measure: the measure with all its parameters.
        policy: the policy with all its choices.
        tool: the tool, if its restrictions on grades apply.
    """

    name: str
    measure: Measure
    policy: Policy
    tool: Dialect | None = field(default=None, compare=False, repr=False)

    def answer(self, choice: str) -> str | None:
        """Return the value of a choice as text; None if there is no such choice."""
        measure = self.measure
        if choice == CUTOFF:
            return "none" if measure.cutoff is None else str(measure.cutoff)
        if choice not in PARAMETERS:
            return self.policy.answers()[choice]
        if choice not in measure.parameters:
            return None
        return measure.family.parameter(choice).write(measure.parameters[choice])

    def taking(self, choice: str, other: "Way") -> "Way":
        """Return this way with one choice taken from another."""
        if choice == CUTOFF:
            return dataclasses.replace(self, measure=self.measure.at(other.measure.cutoff))
        if choice in PARAMETERS:
            measure = self.measure.having(**{choice: other.measure.parameters[choice]})
            return dataclasses.replace(self, measure=measure)
        changed = {choice: getattr(other.policy, choice)}
        return dataclasses.replace(self, policy=dataclasses.replace(self.policy, **changed))


def way_of(
    name: str | Dialect,
    measure: GivenMeasure,
    policy: Policy,
    *,
    ids: bool,
    in_order: bool = False,
) -> Way:
    """Return a tool's way to measure; `gainful` is this package under a policy.

    Chunks are combined under the policy before any tool sees them. `ids` is whether documents have
    ids; without ids, tools that order ties by id average over them. A run is `in_order` if gainful keeps
    the order of tied documents.
    """
    if isinstance(name, str) and name == OURS:
        return Way(OURS, read_measure(measure), policy.resolved(ids=ids, in_order=in_order))
    tool = dialect(name)
    chosen = tool.policy if ids else tool.for_arrays()
    chosen = dataclasses.replace(chosen, fold=policy.fold)
    return Way(tool.name, tool.measure(measure), chosen.resolved(ids=ids), tool)


_CUTOFFS = (None, 1, 3, 5, 10, 20, 50, 100, 1000)
_UNTRIED = ("fold", "extra", "duplicates")  # need further input, or have no effect


def changes(start: Way, end: Way) -> Iterator[str]:
    """Yield the choices that differ, in the order in which they are changed."""
    yield from (choice for choice in ORDER if start.answer(choice) != end.answer(choice))


_OWN = ("error", "auto", "abstain")
"""Answers that no other tool gives, or that mean another answer."""


def variations(way: Way) -> Iterator[tuple[str, Way]]:
    """Yield every way that differs in one choice, with a label of the change."""
    varied = {
        "gain": tuple(gain.FORMS),
        "discount": tuple(name for name, form in discount.FORMS.items() if not form.has_exponent),
        "ideal": ("judged", "retrieved"),
        "depth": ("cutoff", "all", "retrieved"),
    }
    for parameter, answers in varied.items():
        for answer in answers:
            if way.answer(parameter) in (None, answer):
                continue
            measure = _having(way.measure, parameter, answer)
            yield f"{parameter}={answer}", dataclasses.replace(way, measure=measure)
    for cutoff in _CUTOFFS:
        if cutoff != way.measure.cutoff:
            label = "no cutoff" if cutoff is None else f"@{cutoff}"
            yield label, dataclasses.replace(way, measure=way.measure.at(cutoff))
    for choice in CHOICES:
        for answer in choice.answers:
            if choice.name in _UNTRIED or answer in (*_OWN, way.answer(choice.name)):
                continue
            if answer == "skip_all" and way.measure.family.normalised:  # the same as skip
                continue
            policy = dataclasses.replace(way.policy, **{choice.name: answer})
            yield f"{choice.name}={answer}", dataclasses.replace(way, policy=policy)


def _having(measure: Measure, parameter: str, answer: str) -> Measure:
    """Return a measure with another parameter, without a base that the new discount would reject."""
    changed: dict[str, object] = {parameter: answer}
    if parameter == "discount" and not discount.FORMS[answer].has_base:
        changed["base"] = discount.DEFAULT_BASE
    return measure.having(**changed)


class WayMeasurer:
    """Measures judgments and a run in one way after another.

    A match is reused for every policy that would produce the same match on this data.
    """

    def __init__(self, reader: Reader, run: Run) -> None:
        self._reader, self._run = reader, run
        self._kept: dict[Policy, Matched | GainfulError] = {}
        self._tested: dict[tuple[Policy, Callable[[Matched], bool]], bool] = {}
        self._alike: dict[Policy, Policy] = {}
        self._marks = 0

    @cached_property
    def ids(self) -> bool:
        """Whether documents have ids to order ties by."""
        key = dataclasses.replace(before(self._reader.policy), ties="auto")
        matched, decided = self._read(key)
        self._kept[before(decided)] = matched
        self._marks = marks_among([matched])
        return decided.ties != "average"

    def way_of(self, name: str | Dialect, measure: GivenMeasure) -> Way:
        """Return a tool's way to measure this run."""
        in_order = self._reader.run(self._run).in_order
        return way_of(name, measure, self._reader.policy, ids=self.ids, in_order=in_order)

    def warn_of_marks(self) -> None:
        """Warn if −1 is the only negative grade, and the policy does not define its meaning."""
        if self.ids is not None and self._reader.policy.negative == "auto":
            tell_marks(self._marks)

    def means(self, ways: Iterable[Way]) -> dict[Way, float]:
        """Return the means of the ways that raise no error, and whose tools accept the grades."""
        by_policy: dict[Policy, list[Way]] = {}
        for way in ways:
            by_policy.setdefault(way.policy, []).append(way)
        means: dict[Way, float] = {}
        for policy in self._in_turn(by_policy):
            means |= self._means_under(policy, by_policy[policy])
        return means

    def _means_under(self, policy: Policy, ways: list[Way]) -> dict[Way, float]:
        """Measure ways with the same policy at once, or one by one if one of them is rejected."""
        by_measure: dict[Measure, list[Way]] = {}
        for way in ways:
            by_measure.setdefault(way.measure, []).append(way)
        try:
            means = self.scores(by_measure, policy).means
        except GainfulError:
            if len(by_measure) == 1:
                return {}
            apart = [self._means_under(policy, same) for same in by_measure.values()]
            return {way: mean for means in apart for way, mean in means.items()}
        return {way: means[str(way.measure)] for way in ways if self._is_accepted(way)}

    def _is_accepted(self, way: Way) -> bool:
        try:
            self.refuse_grades(way)
        except GainfulError:
            return False
        return True

    def refuse_grades(self, way: Way) -> None:
        """Reject grades that a way's tool does not accept."""
        if way.tool is not None:
            matched = self._match(self.alike(way.policy.resolved(ids=self.ids)))
            refuse_grades(way.tool, matched.grade, matched.pool_grades, [way.measure])

    def scores(self, measures: Iterable[Measure], policy: Policy) -> Scores:
        """Measure under a policy."""
        decided = policy.resolved(ids=self.ids)
        return measure_matched([self._match(self.alike(decided))], tuple(measures), decided)

    def alike(self, policy: Policy) -> Policy:
        """Return the simplest policy, ties decided, that matches this data in the same way.

        A dropped document changes the length of its list or pool. Rounding preserves the order
        of scores except for new ties, which change the blocks of judged documents. If all
        blocks have size one, tie rules have no effect.
        """
        if policy not in self._alike:
            self._alike[policy] = self._plainest(before(policy))
        return self._alike[policy]

    def _plainest(self, key: Policy) -> Policy:
        usual = key.fold == "none" and key.duplicates == "error"
        if not usual or key.unjudged not in ("zero", "condense"):
            return key
        plain = self._plain
        for choice in _OFTEN_IDLE:
            changed = dataclasses.replace(plain, **{choice: getattr(key, choice)})
            if changed != plain and self._passes(changed, self._is_plain):
                key = dataclasses.replace(key, **{choice: getattr(plain, choice)})
        if self._passes(dataclasses.replace(plain, precision=key.precision), _is_untied):
            key = dataclasses.replace(key, ties=plain.ties)
        return key

    @cached_property
    def _plain(self) -> Policy:
        return Policy(ties="doc" if self.ids else "average", fold="none")

    def _is_plain(self, matched: Matched) -> bool:
        """Return whether a match equals that under the plain policy."""
        plain = self._match(self._plain)
        fields = ("offsets", "rank_first", "rank_last", "grade", "retrieved", "pool_offsets")
        return all(np.array_equal(getattr(plain, name), getattr(matched, name)) for name in fields)

    def _passes(self, policy: Policy, test: Callable[[Matched], bool]) -> bool:
        """Return whether the match under a policy passes a test; False if matching raises an error."""
        if (policy, test) not in self._tested:
            try:
                self._tested[policy, test] = test(self._match(policy))
            except GainfulError:
                self._tested[policy, test] = False
        return self._tested[policy, test]

    def _in_turn(self, policies: Iterable[Policy]) -> list[Policy]:
        """Return policies in an order that groups equal matches."""

        def turn(policy: Policy) -> tuple[bool, str]:
            source = self._source(self.alike(policy))
            return source.unjudged != "zero", str(source)  # the same order as the tests in `alike`

        return sorted(policies, key=turn)

    def _source(self, key: Policy) -> Policy:
        """Return the policy for matching, before tied documents are grouped into blocks."""
        blocks = key.ties in _BLOCKS
        return dataclasses.replace(key, ties=self._plain.ties) if blocks else key

    def _match(self, key: Policy) -> Matched:
        matched = self._kept.pop(key, None)
        if matched is None:
            try:
                source = self._source(key)
                matched = self._read(key)[0] if source == key else _in_blocks(self._match(source))
            except GainfulError as problem:
                matched = problem
        self._kept[key] = matched
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        if isinstance(matched, GainfulError):
            raise matched
        return matched

    def _read(self, key: Policy) -> tuple[Matched, Policy]:
        return self._reader.under(key).match(self._run)


def before(policy: Policy) -> Policy:
    """Return the part of a policy that decides how a run is matched."""
    defaults = Policy()
    after = [name for name in _AFTER if (name, getattr(policy, name)) != _BEFORE]
    return dataclasses.replace(policy, **{name: getattr(defaults, name) for name in after})


def _is_untied(matched: Matched) -> bool:
    """Return whether no judged document has the score of another."""
    return bool((matched.rank_first == matched.rank_last).all())


def _in_blocks(matched: Matched) -> Matched:
    """Convert a match under a rule that orders ties to one with whole blocks."""
    owner = np.repeat(np.arange(len(matched.queries)), np.diff(matched.offsets))
    order = by_rank(owner, matched.rank_first, matched.grade)
    first = matched.rank_first[order]
    last, grade = matched.rank_last[order], matched.grade[order]
    return dataclasses.replace(matched, rank_first=first, rank_last=last, rank=first, grade=grade)
