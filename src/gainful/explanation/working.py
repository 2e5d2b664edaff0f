"""The worked sums of a query: which lines the list has, and which its ideal."""

from collections.abc import Mapping, Sequence

from gainful.errors import MeasureError
from gainful.evaluation.computing.cumulated import floor_of
from gainful.evaluation.worksheet import Worksheet
from gainful.explanation.steps import Entry, steps_of
from gainful.explanation.sums import Sums
from gainful.explanation.worked import Step
from gainful.matching.ranking import Placed
from gainful.measures.notation import parse
from gainful.measures.spec import Measure

PARTS: Mapping[str, tuple[str, ...]] = {
    "CG": ("CG",),
    "DCG": ("DCG",),
    "IDCG": ("IDCG",),
    "nDCG": ("DCG", "IDCG"),
}
"""The measures that have a worked table, and the sums that it shows."""

IDEAL = "IDCG"
ABSENT = "(absent)"
"""What stands in the place of a document at a rank that a list leaves open."""

Pool = Sequence[tuple[str | None, float | None]]


def has_table(measure: Measure) -> bool:
    """Return whether a measure has a worked table.

    >>> has_table(Measure("nDCG")), has_table(Measure("AP"))
    (True, False)
    """
    return measure.name in PARTS and not measure.changes("norm")


def read_explained(measure: str | Measure) -> Measure:
    """Read a measure that has a worked table."""
    asked = measure if isinstance(measure, Measure) else parse(measure)
    if not has_table(asked):
        raise MeasureError(
            "explain",
            f"one of {', '.join(PARTS)}, which have a worked table (nDCG with norm=ideal)",
            f"'{asked}'",
            f"See `gainful measures {asked.name}` for its definition and an example.",
        )
    return asked


def list_steps(sums: Sums, part: Measure, entries: Sequence[Entry], length: int) -> list[Step]:
    """Work out a list of this length, or its first entries alone, down to the cutoff."""
    lines = [*entries, *_absent_entries(sums.sheet, part, length)]
    return steps_of(lines, sums.sheet, part, sums.worth)


def ideal_steps(sums: Sums, place: int, part: Measure, pool: Pool) -> list[Step]:
    """Work out the ideal of the query at a place, of documents with their grades."""
    entries = _ideal_entries(sums, place, part, pool)
    entries += _absent_entries(sums.sheet, part, len(entries))
    whole = part.at(None) if part.parameters["depth"] == "all" else part
    return steps_of(entries, sums.sheet, whole, sums.worth)


def _ideal_entries(sums: Sums, place: int, part: Measure, pool: Pool) -> list[Entry]:
    sheet = sums.sheet

    def worth(grade: float | None) -> float:
        return 0.0 if grade is None else sums.worth(grade)

    floor = 0.0 if part.cutoff is None else floor_of(sheet, part.parameters)
    better = sorted(pool, key=lambda item: worth(item[1]), reverse=True)
    if floor or sheet.policy.negative != "both":
        better = [(doc, grade) for doc, grade in better if worth(grade) > floor]
    if part.parameters["depth"] == "retrieved":
        better = better[: int(sheet.matched.retrieved[place])]
    return [
        Entry(Placed("", rank, rank), doc, grade) for rank, (doc, grade) in enumerate(better, 1)
    ]


def _absent_entries(sheet: Worksheet, part: Measure, length: int) -> list[Entry]:
    grade = sheet.absent_grade
    if grade is None or part.cutoff is None:
        return []
    if part.name == IDEAL and not floor_of(sheet, part.parameters):
        return []
    return [
        Entry(Placed("", rank, rank), ABSENT, grade) for rank in range(length + 1, part.cutoff + 1)
    ]
