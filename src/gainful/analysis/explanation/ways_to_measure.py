"""Ways to measure: measures with policies, and the choices that differ between two of them."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.errors import GainfulError
from gainful.evaluation.request import refuse_grades
from gainful.evaluation.scores import Scores, measure_matched
from gainful.matching.matched import Matched, marks_among, tell_marks
from gainful.matching.ranking import by_rank
from gainful.matching.reader import Reader
from gainful.measures import discount, gain
from gainful.measures.measure import Measure
from gainful.measures.policy import CHOICES, Policy
from gainful.measures.tool_dialect import Dialect
from gainful.rows.input_types import Run

CUTOFF = "cutoff"
PARAMETERS = ("gain", "discount", "base", "ideal", "depth", "norm", "denominator")
ORDER = (
    CUTOFF,
    *PARAMETERS,
    "unjudged",
    "absent",
    "negative",
    "fold",
    "drop_self",
    "duplicates",
    "precision",
    "ties",
    "empty",
    "missing",
)
"""The order in which choices are changed: choices of the measure, of documents, of queries."""
_AFTER = ("absent", "negative", "missing", "empty", "extra")
"""The choices that take effect after matching."""
_BEFORE = (("negative", "unjudged"),)
"""The values of these choices that take effect before matching."""
_BLOCKS = ("average", "best", "worst")
"""The tie rules that treat a block of tied documents as a whole."""
_OFTEN_IDLE = ("precision", "drop_self", "negative")
"""The choices that have no effect on most data, which a single match can show."""
_KEPT = 24  # the number of recent matches to cache


@dataclass(frozen=True, slots=True)
class Way:
    """A measure under a policy.

    Attributes:
        name: the name of the dialect, or another name.
        measure: the measure with all its parameters.
        policy: the policy with all its choices.
    """

    name: str
    measure: Measure
    policy: Policy

    def answer(self, choice: str) -> str | None:
        """Return the value of a choice as text; None if there is no such choice."""
        if choice == CUTOFF:
            return "none" if self.measure.cutoff is None else str(self.measure.cutoff)
        if choice in PARAMETERS:
            for parameter in self.measure.family.parameters:
                if parameter.name == choice:
                    return parameter.write(self.measure.parameters[choice])
            return None
        return self.policy.answers()[choice]

    def taking(self, choice: str, other: "Way") -> "Way":
        """Return this way with one choice taken from another."""
        if choice == CUTOFF:
            return self._measuring(self.measure.at(other.measure.cutoff))
        if choice in PARAMETERS:
            given = {choice: other.measure.parameters[choice]}
            return self._measuring(self.measure.having(**given))
        changed = {choice: getattr(other.policy, choice)}
        return dataclasses.replace(self, policy=dataclasses.replace(self.policy, **changed))

    def _measuring(self, measure: Measure) -> "Way":
        return dataclasses.replace(self, measure=measure)


def changes(start: Way, end: Way) -> Iterator[str]:
    """Yield the choices that differ, in the order in which they are changed."""
    yield from (choice for choice in ORDER if start.answer(choice) != end.answer(choice))


def variations(way: Way) -> Iterator[tuple[str, Way]]:
    """Yield every way that differs in one choice, with a label of the change."""
    for parameter, answers in _answers().items():
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
            if choice.name in _UNTRIED or answer in ("error", "auto", way.answer(choice.name)):
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


def _answers() -> dict[str, tuple[str, ...]]:
    """Return the parameters to vary, with their named values."""
    return {
        "gain": tuple(gain.FORMS),
        "discount": tuple(name for name, form in discount.FORMS.items() if not form.has_exponent),
        "ideal": ("judged", "retrieved"),
        "depth": ("cutoff", "all", "retrieved"),
    }


_CUTOFFS = (None, 1, 3, 5, 10, 20, 50, 100, 1000)
_UNTRIED = frozenset(["fold", "extra", "duplicates"])  # need further input, or have no effect


class WayMeasurer:
    """Measures judgments and a run under one policy after another.

    A match is reused for every policy that would produce the same match on this data.
    """

    def __init__(self, reader: Reader, run: Run) -> None:
        self._reader, self._run = reader, run
        self._kept: dict[Policy, Matched | GainfulError] = {}
        self._known: dict[tuple[Policy, str], bool] = {}
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

    @property
    def in_order(self) -> bool:
        """Whether tied documents are in the order that users saw, as in search responses."""
        return self._reader.run(self._run).in_order

    def warn_of_marks(self) -> None:
        """Warn if −1 is the only negative grade, and the policy does not define its meaning."""
        if self.ids is not None and self._reader.policy.negative == "auto":
            tell_marks(self._marks)

    def scores(self, measures: Iterable[Measure], policy: Policy) -> Scores:
        """Measure under a policy."""
        decided = policy.resolved(ids=self.ids)
        return measure_matched([self._match(self.alike(decided))], tuple(measures), decided)

    def refuse(self, tool: Dialect, measures: Iterable[Measure], policy: Policy) -> None:
        """Reject grades that a tool does not accept, before computing anything."""
        matched = self._match(self.alike(policy.resolved(ids=self.ids)))
        refuse_grades(tool, matched.grade, matched.pool_grades, measures)

    def alike(self, policy: Policy) -> Policy:
        """Return the simplest policy, ties decided, that matches this data in the same way.

        A dropped document changes the length of its list or pool. Rounding preserves the order
        of scores except for new ties, which change the blocks of judged documents. If all
        blocks have size one, tie rules have no effect.
        """
        if policy not in self._alike:
            self._alike[policy] = self._plainest(policy)
        return self._alike[policy]

    def _plainest(self, policy: Policy) -> Policy:
        key = before(policy)
        usual = key.fold == "none" and key.duplicates == "error"
        if not usual or key.unjudged not in ("zero", "condense"):
            return key
        plain = Policy(ties=self._usual_ties, fold="none")
        for choice in _OFTEN_IDLE:
            changed = dataclasses.replace(plain, **{choice: getattr(key, choice)})
            if changed != plain and self._is_idle(plain, changed):
                key = dataclasses.replace(key, **{choice: getattr(plain, choice)})
        if self._is_untied(dataclasses.replace(plain, precision=key.precision)):
            key = dataclasses.replace(key, ties=plain.ties)
        return key

    def in_turn(self, policies: Iterable[Policy]) -> list[Policy]:
        """Return policies in an order that groups those with the same match."""

        def turn(policy: Policy) -> tuple[bool, str]:
            source = self._source(self.alike(policy))
            return source.unjudged != "zero", str(source)  # the same order as the tests in `alike`

        return sorted(policies, key=turn)

    def _source(self, key: Policy) -> Policy:
        """Return the policy for matching, before tied documents are grouped into blocks."""
        blocks = key.ties in _BLOCKS
        return dataclasses.replace(key, ties=self._usual_ties) if blocks else key

    @property
    def _usual_ties(self) -> str:
        return "doc" if self.ids else "average"

    def _is_idle(self, plain: Policy, changed: Policy) -> bool:
        """Return whether a changed choice has no effect on the match."""
        return self._holds(changed, lambda matched: _same(self._match(plain), matched))

    def _is_untied(self, policy: Policy) -> bool:
        """Return whether no judged document has the score of another."""
        return self._holds(
            policy, lambda matched: bool((matched.rank_first == matched.rank_last).all()), "untied"
        )

    def _holds(self, policy: Policy, test: Callable[[Matched], bool], what: str = "idle") -> bool:
        """Return whether the match under a policy passes a test; False if matching raises an error."""
        if (policy, what) not in self._known:
            try:
                self._known[policy, what] = test(self._match(policy))
            except GainfulError:
                self._known[policy, what] = False
        return self._known[policy, what]

    def _match(self, key: Policy) -> Matched:
        found = self._kept.pop(key, None)
        if found is None:
            try:
                source = self._source(key)
                found = self._read(key)[0] if source == key else _in_blocks(self._match(source))
            except GainfulError as problem:
                found = problem
        self._kept[key] = found
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        if isinstance(found, GainfulError):
            raise found
        return found

    def _read(self, key: Policy) -> tuple[Matched, Policy]:
        return self._reader.under(key).match(self._run)


def before(policy: Policy) -> Policy:
    """Return the part of a policy that decides how a run is matched."""
    defaults = Policy()
    after = [name for name in _AFTER if (name, getattr(policy, name)) not in _BEFORE]
    return dataclasses.replace(policy, **{name: getattr(defaults, name) for name in after})


def _same(one: Matched, other: Matched) -> bool:
    fields = ("offsets", "rank_first", "rank_last", "grade", "retrieved", "pool_offsets")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in fields)


def _in_blocks(matched: Matched) -> Matched:
    """Convert a match under a rule that orders ties to one with whole blocks."""
    owner = np.repeat(np.arange(len(matched.queries)), np.diff(matched.offsets))
    order = by_rank(owner, matched.rank_first, matched.grade)
    return dataclasses.replace(
        matched,
        rank_first=matched.rank_first[order],
        rank_last=matched.rank_last[order],
        rank=matched.rank_first[order],
        grade=matched.grade[order],
    )
