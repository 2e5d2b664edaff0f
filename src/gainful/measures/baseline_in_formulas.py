"""The value that a measure has for the baseline: `nDCG@10(baseline)`, mostly in a formula.

`nDCG@10 - nDCG@10(baseline)` is how much better a query is answered than by the baseline. Only where
there is a baseline is there a value: in a comparison, and where `evaluate_runs` is told one.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gainful.errors import MeasureError
from gainful.measures.combination import Combination
from gainful.measures.measure import Measure
from gainful.measures.measure_family import NEVER, Family

_WRITTEN = re.compile(r"(?P<measure>.*\S)\s*\(\s*baseline\s*\)", re.DOTALL)


class BaselineMeasure(Measure):
    """What a measure is for the baseline, as a measure of any run.

    `found` has the values of the baseline by query, once they are known; a query without one does not count.
    It is no part of what makes two of them equal.

    >>> from gainful.measures.notation import parse
    >>> parse("nDCG@10(baseline)")
    BaselineMeasure('nDCG@10(baseline)')
    """

    __slots__ = ("found", "measure")
    measure: Measure
    found: Mapping[str, float] | None

    def __init__(self, measure: Measure, found: Mapping[str, float] | None = None) -> None:
        if isinstance(measure, BaselineMeasure):
            raise MeasureError(f"measure '{measure}(baseline)'", "(baseline) once", "it twice")
        # The class is frozen for everyone but its own constructor.
        object.__setattr__(self, "name", f"{measure}(baseline)")
        object.__setattr__(self, "settings", ())
        object.__setattr__(self, "cutoff", None)
        object.__setattr__(self, "measure", measure)
        object.__setattr__(self, "found", found)

    @property
    def family(self) -> Family:
        """What is known of this measure."""
        inner = self.measure.family
        return Family(
            name=self.name,
            title=f"{inner.title}, of the baseline",
            definition=f"{self.measure} of the baseline, for the same query",
            range=inner.range,
            ends=inner.ends,
            citation=inner.citation,
            example=None,
            parameters=(),
            needs_run=False,
            cutoff=NEVER,
            aggregate=inner.aggregate,
        )

    @property
    def reach(self) -> int | None:
        """The deepest rank of a list that the value depends on; None where all of it matters."""
        return self.measure.reach

    def having(self, **parameters: object) -> "BaselineMeasure":
        """Return the same of the measure with other parameters."""
        return BaselineMeasure(self.measure.having(**parameters))

    def at(self, cutoff: int | None) -> "BaselineMeasure":
        """Return the same of the measure at another cutoff."""
        return BaselineMeasure(self.measure.at(cutoff))

    def __eq__(self, other: object) -> bool:
        return Measure.__eq__(self, other) is True and self.measure == other.measure  # type: ignore[attr-defined]

    __hash__ = Measure.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return BaselineMeasure, (self.measure, self.found)


def measure_inside(text: str) -> str | None:
    """Return the measure in a text of one of the baseline; None for any other text.

    >>> measure_inside("nDCG@10(baseline)"), measure_inside("nDCG@10")
    ('nDCG@10', None)
    """
    found = _WRITTEN.fullmatch(text)
    return None if found is None else found["measure"]


def of_baseline(measure: Measure) -> list[Measure]:
    """Return the measures that must be known of the baseline, each once.

    >>> from gainful.measures.notation import parse
    >>> of_baseline(parse("AP - AP(baseline)")), of_baseline(parse("AP - RR"))
    ([Measure('AP')], [])
    """
    inside = measure.formula.measures() if isinstance(measure, Combination) else [measure]
    found = [each.measure for each in inside if isinstance(each, BaselineMeasure)]
    return list(dict.fromkeys(found))


def measures_inside(measures: Iterable[Measure]) -> list[Measure]:
    """Return measures, and in the place of formulas and of those of the baseline what they are made of.

    >>> from gainful.measures.notation import read_measures
    >>> measures_inside(read_measures(["2*AP - RR(baseline)", "P@5"]))
    [Measure('AP'), Measure('RR'), Measure('P@5')]
    """
    found: list[Measure] = []
    for each in measures:
        if isinstance(each, Combination):
            found += measures_inside(each.formula.measures())
        else:
            found.append(each.measure if isinstance(each, BaselineMeasure) else each)
    return found


def changed_inside(measure: Measure, change: Callable[[Measure], Measure]) -> Measure:
    """Return a formula, or a measure of the baseline, with its measures changed; else the measure changed."""
    if isinstance(measure, Combination):
        return Combination(measure.formula.changed(lambda each: changed_inside(each, change)))
    if isinstance(measure, BaselineMeasure):
        return BaselineMeasure(change(measure.measure), measure.found)
    return change(measure)


def knowing_baseline(
    measures: Iterable[Measure], found: Mapping[Measure, Mapping[str, float]]
) -> tuple[Measure, ...]:
    """Return measures that know the values of the baseline, which are given by measure and query."""

    def told(measure: Measure) -> Measure:
        if isinstance(measure, Combination):
            return Combination(measure.formula.changed(told))
        if isinstance(measure, BaselineMeasure):
            return BaselineMeasure(measure.measure, found[measure.measure])
        return measure

    return tuple(map(told, measures))


def refuse_without_baseline(measures: Iterable[Measure]) -> None:
    """Refuse what needs a baseline where there is none."""
    for measure in measures:
        if of_baseline(measure):
            raise MeasureError(
                str(measure),
                "a baseline, which it is measured against",
                "none",
                "gf.compare, gf.evaluate_runs(…, baseline=…) and gainful compare have one.",
            )
