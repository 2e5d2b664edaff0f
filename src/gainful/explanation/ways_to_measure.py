"""Ways to measure: a measure with a policy, and the choices that lead from one to another."""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gainful.errors import GainfulError
from gainful.evaluation.request import refuse_grades
from gainful.evaluation.scores import Scores, measure_matched
from gainful.inputs.cores import cached_property
from gainful.matching.matched import Matched
from gainful.matching.minus_one_marks import marks_among, tell_marks
from gainful.matching.rank_search import by_rank
from gainful.matching.reader import Reader
from gainful.measures import discount, gain
from gainful.measures.dialect import Dialect
from gainful.measures.measure import Measure
from gainful.measures.policy import CHOICES, Policy

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
"""The order in which choices are changed: the measure's, those of documents, those of queries."""
_AFTER = ("absent", "negative", "missing", "empty", "extra")
"""The choices that take effect when the run has been matched."""
_BEFORE = (("negative", "unjudged"),)
"""Answers to them that take effect before."""
_BLOCKS = ("average", "best", "worst")
"""The rules for ties that treat a block of tied documents as a whole."""
_OFTEN_IDLE = ("precision", "drop_self", "negative")
"""Choices that make no difference to most data, of which one match tells."""
_KEPT = 24  # of what has been matched, the latest


@dataclass(frozen=True, slots=True)
class Way:
    """A measure under a policy.

    Attributes:
        name: of a dialect, or what it is otherwise called.
        measure: with all its parameters.
        policy: with all its choices.
    """

    name: str
    measure: Measure
    policy: Policy

    def answer(self, choice: str) -> str | None:
        """Return what is chosen, as text; None where there is no such choice."""
        if choice == CUTOFF:
            return "none" if self.measure.cutoff is None else str(self.measure.cutoff)
        if choice in PARAMETERS:
            for parameter in self.measure.family.parameters:
                if parameter.name == choice:
                    return parameter.write(self.measure.parameters[choice])
            return None
        return self.policy.answers()[choice]

    def taking(self, choice: str, other: "Way") -> "Way":
        """Return this way with one choice of another."""
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
    """Yield every way that differs in one choice, with what it changes."""
    for parameter, answers in _answers().items():
        for answer in answers:
            if way.answer(parameter) in (None, answer):
                continue
            measure = _having(way.measure, parameter, answer)
            yield f"{parameter}={answer}", dataclasses.replace(way, measure=measure)
    for cutoff in _CUTOFFS:
        if cutoff != way.measure.cutoff:
            told = "no cutoff" if cutoff is None else f"@{cutoff}"
            yield told, dataclasses.replace(way, measure=way.measure.at(cutoff))
    for choice in CHOICES:
        for answer in choice.answers:
            if choice.name in _UNTRIED or answer in ("error", "auto", way.answer(choice.name)):
                continue
            if answer == "skip_all" and way.measure.family.normalised:  # which is skip, then
                continue
            policy = dataclasses.replace(way.policy, **{choice.name: answer})
            yield f"{choice.name}={answer}", dataclasses.replace(way, policy=policy)


def _having(measure: Measure, parameter: str, answer: str) -> Measure:
    """Return a measure with another parameter, and without a base that this would refuse."""
    changed: dict[str, object] = {parameter: answer}
    if parameter == "discount" and not discount.FORMS[answer].has_base:
        changed["base"] = discount.DEFAULT_BASE
    return measure.having(**changed)


def _answers() -> dict[str, tuple[str, ...]]:
    """Return the parameters that are varied, with those of their values that are words."""
    return {
        "gain": tuple(gain.FORMS),
        "discount": tuple(name for name, form in discount.FORMS.items() if not form.has_exponent),
        "ideal": ("judged", "retrieved"),
        "depth": ("cutoff", "all", "retrieved"),
    }


_CUTOFFS = (None, 1, 3, 5, 10, 20, 50, 100, 1000)
_UNTRIED = frozenset(["fold", "extra", "duplicates"])  # need more than a word, or change nothing


class WayMeasurer:
    """Measures judgments and a run under one policy after another.

    What has been matched serves every policy that these data are matched alike under.
    """

    def __init__(self, reader: Reader, run: object) -> None:
        self._reader, self._run = reader, run
        self._kept: dict[Policy, Matched | GainfulError] = {}
        self._idle: dict[Policy, bool] = {}
        self._untied: dict[Policy, bool] = {}
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
        """Whether tied documents are in the order that was shown, as in responses of a search."""
        return self._reader.run(self._run).in_order

    def warn_of_marks(self) -> None:
        """Warn where −1 is the only negative grade, and the policy does not say what it means."""
        if self.ids is not None and self._reader.policy.negative == "auto":
            tell_marks(self._marks)

    def scores(self, measures: Iterable[Measure], policy: Policy) -> Scores:
        """Measure under a policy."""
        decided = policy.resolved(ids=self.ids)
        return measure_matched([self._match(self.alike(decided))], tuple(measures), decided)

    def refuse(self, tool: Dialect, measures: Iterable[Measure], policy: Policy) -> None:
        """Refuse grades that a tool does not take, before anything is computed from them."""
        matched = self._match(self.alike(policy.resolved(ids=self.ids)))
        refuse_grades(tool, matched.grade, matched.pool_grades, measures)

    def alike(self, policy: Policy) -> Policy:
        """Return the plainest policy, ties decided, under which these data are matched the same.

        A document that was dropped shows in the length of its list or pool. Rounding keeps the order
        of scores but for new ties, which show in the blocks of the judged documents. Where those
        have blocks of one, no rule for ties moves them.
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
        """Return policies in an order that keeps those of one match together."""

        def turn(policy: Policy) -> tuple[bool, str]:
            source = self._source(self.alike(policy))
            return source.unjudged != "zero", str(source)  # as those that tell what is alike

        return sorted(policies, key=turn)

    def _source(self, key: Policy) -> Policy:
        """Return the policy that is matched under, for what then is put in blocks."""
        blocks = key.ties in _BLOCKS
        return dataclasses.replace(key, ties=self._usual_ties) if blocks else key

    @property
    def _usual_ties(self) -> str:
        return "doc" if self.ids else "average"

    def _is_idle(self, plain: Policy, changed: Policy) -> bool:
        """Return whether a changed choice leaves all as it was."""
        if changed not in self._idle:
            try:
                self._idle[changed] = _same(self._match(plain), self._match(changed))
            except GainfulError:
                self._idle[changed] = False
        return self._idle[changed]

    def _is_untied(self, policy: Policy) -> bool:
        """Return whether no judged document has the score of another."""
        if policy not in self._untied:
            try:
                matched = self._match(policy)
                self._untied[policy] = bool((matched.rank_first == matched.rank_last).all())
            except GainfulError:
                self._untied[policy] = False
        return self._untied[policy]

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
    """Return what was matched under a rule that orders ties as under one that leaves blocks whole."""
    owner = np.repeat(np.arange(len(matched.queries)), np.diff(matched.offsets))
    order = by_rank(owner, matched.rank_first, matched.grade)
    return dataclasses.replace(
        matched,
        rank_first=matched.rank_first[order],
        rank_last=matched.rank_last[order],
        rank=matched.rank_first[order],
        grade=matched.grade[order],
    )
