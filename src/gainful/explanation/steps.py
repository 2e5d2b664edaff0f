"""The lines of a worked sum: the documents of a list in rank order, their gains and discounts."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.worksheet import Worksheet
from gainful.explanation.sums import Sums
from gainful.explanation.worked import Step
from gainful.kernels.cumulation import mean_discount
from gainful.matching.ranking import Placed
from gainful.measures.discount import Discount
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

Worth = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a list before the arithmetic: where it stands, what it is, its grade."""

    placed: Placed
    doc: str | None
    grade: float | None


def is_empty(sums: Sums, place: int, query: str | None, undefined: Collection[str]) -> bool:
    """Return whether the policy, and no sum, says the value of a normalised measure.

    Refuse answers of the policy `empty` that are `undefined`: they say no value.
    """
    if not sums.is_empty(place):
        return False
    measure, policy = sums.measure, sums.sheet.policy
    if policy.empty in undefined:
        raise InputError(
            str(measure) if query is None else f"{measure} of query {query!r}",
            *(
                ("an ideal above 0", "one that is not")
                if policy.negative == "both"
                else (f"a positive gain among the {_pool(measure)}", "none")
            ),
            f"It has no value under the policy empty={policy.empty}.",
        )
    return True


def why_empty(policy: Policy, measure: Measure, whose: str = "") -> str:
    """Say why the policy, and no sum, says the value of a normalised measure."""
    said = "no judged document has a positive gain"
    if measure.changes("ideal", "depth"):
        said = "no document of the ideal has a positive gain"
    if policy.negative == "both":
        said = "the ideal is not above 0"
    return f"{said}{whose}: policy empty={policy.empty}"


def _pool(measure: Measure) -> str:
    return "documents of the ideal" if measure.changes("ideal", "depth") else "judged documents"


def discounts_to(sheet: Worksheet, part: Measure, depth: int) -> Floats:
    """Return the discounts of a sum by rank, down to `depth`; those of CG are 1."""
    discount = part.parameters.get("discount", Discount("none"))
    return sheet.discounts(discount, part.parameters.get("base", 2.0), depth)


def steps_of(entries: Sequence[Entry], sheet: Worksheet, part: Measure, worth: Worth) -> list[Step]:
    """Work out the entries down to the cutoff of a sum."""
    inside = [
        entry for entry in entries if part.cutoff is None or entry.placed.rank_first <= part.cutoff
    ]
    if not inside:
        return []
    table = discounts_to(sheet, part, max(entry.placed.rank_last for entry in inside))
    first = np.array([entry.placed.rank_first for entry in inside])
    last = np.array([entry.placed.rank_last for entry in inside])
    discounts, certain = table[first], first == last
    if not certain.all():
        shared = mean_discount(table, first, last, part.cutoff)
        discounts = np.where(certain, discounts, shared)
    gains = np.array([0.0 if entry.grade is None else worth(entry.grade) for entry in inside])
    contributions = gains * discounts
    columns = gains, discounts, contributions, np.cumsum(contributions)
    return [
        Step(entry.placed.rank_first, entry.placed.rank_last, entry.doc, entry.grade, *numbers)
        for entry, *numbers in zip(inside, *(column.tolist() for column in columns), strict=True)
    ]
