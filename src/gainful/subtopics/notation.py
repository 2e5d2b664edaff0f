"""A measure for queries with subtopics as a value, and its notation.

The grammar is that of all measures, `name(parameter=value)@cutoff`; `IA` has another measure in
its brackets. `str(measure)` writes it, defaults left out; `parse` reads it back to the same value.
"""

from gainful.errors import MeasureError
from gainful.measures import notation
from gainful.measures.foreign_spellings import ForeignMeasure
from gainful.measures.measure import Measure, one_cutoff, read_cutoff, refuse_wrong_cutoff
from gainful.measures.measure_family import Family
from gainful.subtopics.measure_catalogue import INTENT_AWARE, subtopic_family


class SubtopicMeasure(Measure):
    """What to measure where queries have subtopics: a family, its parameters and a cutoff.

    >>> SubtopicMeasure("alpha_nDCG", cutoff=20, alpha=0.9)
    SubtopicMeasure('alpha_nDCG(alpha=0.9)@20')
    >>> SubtopicMeasure("IA", measure="nDCG@10")
    SubtopicMeasure('IA(nDCG@10)')
    """

    __slots__ = ()

    def __init__(
        self,
        name: str,
        *,
        k: int | None = None,
        cutoff: int | None = None,
        **parameters: object,
    ) -> None:
        entry = subtopic_family(name)
        cutoff = one_cutoff(k, cutoff)
        given = {name: entry.parameter(name).read(value) for name, value in parameters.items()}
        settings = {p.name: given.get(p.name, p.default) for p in entry.parameters}
        if entry.name == INTENT_AWARE:
            if cutoff is not None:
                settings["measure"] = settings["measure"].at(cutoff)
            cutoff = settings["measure"].cutoff
        else:
            refuse_wrong_cutoff(entry, cutoff)
        # The class is frozen for everyone but its own constructor.
        object.__setattr__(self, "name", entry.name)
        object.__setattr__(self, "settings", tuple(settings.items()))
        object.__setattr__(self, "cutoff", None if cutoff is None else read_cutoff(cutoff))

    @property
    def family(self) -> Family:
        """The catalogue entry of this measure."""
        return subtopic_family(self.name)

    @property
    def inner(self) -> Measure | None:
        """The measure that is taken of each subtopic, of the intent-aware version of one."""
        found: Measure | None = self.parameters.get("measure")
        return found

    @property
    def reach(self) -> int | None:
        """The deepest rank of a list that the value depends on; None where all of it matters."""
        return super().reach if self.inner is None else self.inner.reach

    def at(self, cutoff: int | None) -> "SubtopicMeasure":
        """Return the same measure at another cutoff.

        >>> SubtopicMeasure("IA", measure="nDCG").at(5)
        SubtopicMeasure('IA(nDCG@5)')
        """
        if self.inner is not None:
            return SubtopicMeasure(self.name, measure=self.inner.at(cutoff))
        return SubtopicMeasure(self.name, cutoff=cutoff, **self.parameters)

    def __str__(self) -> str:
        return super().__str__() if self.inner is None else f"{self.name}({self.inner})"

    def __repr__(self) -> str:
        return f"SubtopicMeasure('{self}')"


def parse(text: str | ForeignMeasure) -> SubtopicMeasure:
    """Read one measure.

    >>> parse("alpha-nDCG@20"), parse("D#-nDCG@10")
    (SubtopicMeasure('alpha_nDCG@20'), SubtopicMeasure('Dsharp_nDCG@10'))
    """
    return notation.only_one(parse_all(text), text)


def parse_all(text: str | ForeignMeasure) -> tuple[SubtopicMeasure, ...]:
    """Read measures, each with one or several cutoffs.

    >>> parse_all("ERR_IA@5,10")
    (SubtopicMeasure('ERR_IA@5'), SubtopicMeasure('ERR_IA@10'))
    >>> parse_all("IA(nDCG(gain=exp2)@5,10)")
    (SubtopicMeasure('IA(nDCG(gain=exp2)@5)'), SubtopicMeasure('IA(nDCG(gain=exp2)@10)'))
    """
    stripped = notation.read_text(text, "a text such as 'alpha_nDCG@20'")
    parts = notation.split_measures(stripped)
    return tuple(measure for part in parts for measure in _parsed(part))


def _parsed(text: str) -> tuple[SubtopicMeasure, ...]:
    name, arguments, cutoffs = notation.taken_apart(
        text, "a name such as alpha_nDCG@20 or IA(nDCG@10)"
    )
    family = subtopic_family(name)
    if family.name == INTENT_AWARE:
        return _intent_aware(arguments, cutoffs, where=text)
    given = notation.read_arguments(arguments, where=text)
    parameters = notation.read_parameters(given, {}, where=text)
    return tuple(SubtopicMeasure(family.name, cutoff=cutoff, **parameters) for cutoff in cutoffs)


def _intent_aware(
    arguments: str | None, cutoffs: list[int | None], *, where: str
) -> tuple[SubtopicMeasure, ...]:
    if arguments is None or not arguments.strip():
        raise MeasureError(
            f"measure {where!r}", "a measure in the brackets", "none", "IA(nDCG@10)."
        )
    inner = notation.parse_all(arguments.strip().removeprefix("measure=").strip())
    if cutoffs != [None] and any(measure.cutoff is not None for measure in inner):
        raise MeasureError(f"measure {where!r}", "one cutoff", "one inside and one outside")
    return tuple(
        SubtopicMeasure(INTENT_AWARE, measure=measure, cutoff=cutoff)
        for measure in inner
        for cutoff in cutoffs
    )


def read_measures(measures: object) -> tuple[SubtopicMeasure, ...]:
    """Read what a caller gives as measures: one, or several, as text or as values.

    A measure that is named twice is kept once, at its first place.

    >>> read_measures(["strec@10", "Irec@10", "IA(AP)"])
    (SubtopicMeasure('strec@10'), SubtopicMeasure('IA(AP)'))
    """
    return notation.read_measures_of(
        measures, SubtopicMeasure, parse_all, _without_subtopics, "alpha_nDCG@20"
    )


def _without_subtopics(measure: Measure) -> MeasureError:
    return MeasureError(
        "measures",
        "a measure for queries with subtopics",
        f"'{measure}'",
        f"Its intent-aware version is IA({measure}).",
    )
