"""The lines of a worked sum: the documents of a list in rank order, their gains and discounts."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, did_you_mean
from gainful.evaluation.table import empty_for
from gainful.evaluation.worksheet import Worksheet
from gainful.explanation.worked import Step
from gainful.kernels.cumulation import mean_discount
from gainful.matching.dispatch import Reader
from gainful.matching.mappings import judged_of, match_query, queries_of, returned_of
from gainful.matching.matched import Matched
from gainful.matching.ranking import Placed, rank_documents
from gainful.measures.discount import Discount
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

Worth = Callable[[float], float]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a list before the arithmetic: where it stands, what it is, its grade."""

    placed: Placed
    doc: str | None
    grade: float | None


@dataclass(frozen=True, slots=True)
class Listed:
    """A query of a run beside its judgments, as the policy has both.

    Attributes:
        matched: the query alone.
        grades: document → grade, of all that count as judged.
        scores: document → score, of all that count as retrieved; none where the run lacks the query.
        policy: with `ties` and the lowest grade decided.
    """

    matched: Matched
    grades: Mapping[str, float]
    scores: Mapping[str, float]
    policy: Policy

    @property
    def missing(self) -> bool:
        """Whether the run lacks the query."""
        return bool(self.matched.missing[0])

    def entries(self, worth: Worth) -> list[Entry]:
        """Return the documents in rank order; `worth` is the gain of a grade."""

        def gain(doc: str) -> float:
            return worth(self.grades[doc]) if doc in self.grades else 0.0

        return [
            Entry(placed, placed.doc, self.grades.get(placed.doc))
            for placed in rank_documents(self.scores, self.policy, gain)
        ]


def read_listed(reader: Reader, run: object, query: str, policy: Policy) -> Listed:
    """Read one query of a run and of its judgments, under a policy with ties decided."""
    some_judged, some_returned = reader.documents(run, query)
    all_judged = queries_of(some_judged, "judgments")
    all_returned = queries_of(some_returned, "run")
    if query not in all_judged:
        raise InputError("query", "a judged query", repr(query), did_you_mean(query, all_judged))
    if policy.absent == "lowest":  # of all judgments, not of this query's
        policy = dataclasses.replace(policy, absent=reader.lowest_grade)
    missing = query not in all_returned
    judged = judged_of(all_judged[query], query, policy)
    returned = {} if missing else returned_of(all_returned[query], query, policy, reader.chunks)
    matched = match_query(query, judged, returned, policy)
    if missing:
        matched = dataclasses.replace(matched, missing=np.array([True]))
    grades = {doc: float(grade) for doc, grade in judged.items()}
    scores = {doc: float(score) for doc, score in returned.items()}
    if policy.unjudged == "condense":
        scores = {doc: score for doc, score in scores.items() if doc in grades}
    elif isinstance(policy.unjudged, float):
        grades = {**dict.fromkeys(scores, policy.unjudged), **grades}
    return Listed(matched, grades, scores, policy)


def summed(measure: Measure, family: str) -> Measure:
    """Return another family at the cutoff of a measure, with the parameters that they share.

    >>> from gainful.measures.notation import parse
    >>> summed(parse("nDCG(gain=exp2)@5"), "DCG")
    Measure('DCG(gain=exp2)@5')
    """
    known = {parameter.name for parameter in Measure(family).family.parameters}
    shared = {name: value for name, value in measure.parameters.items() if name in known}
    return Measure(family, cutoff=measure.cutoff, **shared)


def is_empty(
    sheet: Worksheet, measure: Measure, query: str | None, undefined: Collection[str]
) -> bool:
    """Return whether the policy, and no sum, says the value of a normalised measure.

    Refuse answers of the policy `empty` that are `undefined`: they say no value.
    """
    if not measure.family.normalised or not bool(empty_for(sheet, measure)[0]):
        return False
    if sheet.policy.empty in undefined:
        raise InputError(
            str(measure) if query is None else f"{measure} of query {query!r}",
            *(
                ("an ideal above 0", "one that is not")
                if sheet.policy.negative == "both"
                else (f"a positive gain among the {_pool(measure)}", "none")
            ),
            f"It has no value under the policy empty={sheet.policy.empty}.",
        )
    return True


def why_empty(sheet: Worksheet, measure: Measure, whose: str = "") -> str:
    """Say why the policy, and no sum, says the value of a normalised measure."""
    said = "no judged document has a positive gain"
    if measure.changes("ideal", "depth"):
        said = "no document of the ideal has a positive gain"
    if sheet.policy.negative == "both":
        said = "the ideal is not above 0"
    return f"{said}{whose}: policy empty={sheet.policy.empty}"


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
    certain = first == last
    discounts = np.where(certain, table[first], mean_discount(table, first, last, part.cutoff))
    gains = np.array([0.0 if entry.grade is None else worth(entry.grade) for entry in inside])
    contributions = gains * discounts
    sums = np.cumsum(contributions)
    return [
        Step(
            entry.placed.rank_first,
            entry.placed.rank_last,
            entry.doc,
            entry.grade,
            *map(float, (gains[place], discounts[place], contributions[place], sums[place])),
        )
        for place, entry in enumerate(inside)
    ]
