"""Ways to measure: a measure with a policy, and the choices that lead from one to another."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from gainful.measures import discount, gain
from gainful.measures.policy import CHOICES, Policy
from gainful.measures.spec import Measure

CUTOFF = "cutoff"
PARAMETERS = ("gain", "discount", "base", "ideal", "depth", "norm")
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
            given = {**self.measure.parameters, choice: other.measure.parameters[choice]}
            return self._measuring(Measure(self.measure.name, cutoff=self.measure.cutoff, **given))
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
            given = {**way.measure.parameters, parameter: answer}
            measure = Measure(way.measure.name, cutoff=way.measure.cutoff, **given)
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
