"""The measures that need more than grades: measures of subtopics and of recommendations."""

from gainful.errors import MeasureError
from gainful.measures.measure import Measure, catalogue, family
from gainful.measures.measure_family import EVIDENCE, ITEMS, SUBTOPICS, Family
from gainful.measures.notation import (
    ForeignMeasure,
    listed_measures,
    only_one,
    parse_needing,
    read_measure,
    read_text,
    split_measures,
)

_EXAMPLES = {SUBTOPICS: "alpha_nDCG@20", ITEMS: "Coverage@10", EVIDENCE: "evidence_recall@5"}


def subtopic_catalogue() -> tuple[Family, ...]:
    """Return every measure for queries with subtopics, with its definition, range and citation.

    >>> [family.name for family in subtopic_catalogue()][:4]
    ['alpha_nDCG', 'alpha_DCG', 'ERR_IA', 'nERR_IA']
    """
    return catalogue(needs=SUBTOPICS)


def subtopic_family(name: str) -> Family:
    """Return the entry of a measure for queries with subtopics, by its name (in any case) or another tool's spelling.

    >>> subtopic_family("alpha-nDCG").name, subtopic_family("D#-nDCG").name, subtopic_family("MAP-IA").name
    ('alpha_nDCG', 'Dsharp_nDCG', 'AP_IA')
    """
    return family(name, SUBTOPICS)


def recommendation_catalogue() -> tuple[Family, ...]:
    """Return every measure beyond relevance, with its definition, range and citation.

    >>> [family.name for family in recommendation_catalogue()][:4]
    ['Coverage', 'Gini', 'Entropy', 'Personalisation']
    """
    return catalogue(needs=ITEMS)


def recommendation_family(name: str) -> Family:
    """Return the entry of a measure of recommendations, by its name (in any case) or another tool's spelling.

    >>> recommendation_family("novelty").name, recommendation_family("catalog-coverage").name
    ('Novelty', 'Coverage')
    """
    return family(name, ITEMS)


class SubtopicMeasure(Measure):
    """A `Measure` from `subtopic_catalogue`, for queries with subtopics.

    >>> SubtopicMeasure("alpha_nDCG", cutoff=20, alpha=0.9)
    Measure('alpha_nDCG(alpha=0.9)@20')
    >>> SubtopicMeasure("IA", measure="nDCG@10")
    Measure('IA(nDCG@10)')
    """

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls, name: str, *, k: int | None = None, cutoff: int | None = None, **parameters: object
    ) -> Measure:
        """Return the measure."""
        if isinstance(inner := parameters.get("measure"), str):
            parameters["measure"] = read_measure(inner)
        return Measure(subtopic_family(name).name, k=k, cutoff=cutoff, **parameters)


class RecommendationMeasure(Measure):
    """A `Measure` from `recommendation_catalogue`, for recommendations beyond relevance.

    >>> RecommendationMeasure("ILD", cutoff=10, by="genre")
    Measure('ILD(by=genre)@10')
    >>> RecommendationMeasure("Gini", k=10).has_users
    False
    """

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls, name: str, *, k: int | None = None, cutoff: int | None = None, **parameters: object
    ) -> Measure:
        """Return the measure."""
        return Measure(recommendation_family(name).name, k=k, cutoff=cutoff, **parameters)


def parse_of(needs: str, text: str | ForeignMeasure) -> Measure:
    """Read one measure of subtopics or of items.

    >>> parse_of("subtopics", "alpha-nDCG@20"), parse_of("subtopics", "D#-nDCG@10")
    (Measure('alpha_nDCG@20'), Measure('Dsharp_nDCG@10'))
    """
    return only_one(parse_all_of(needs, text), text)


def parse_all_of(needs: str, text: str | ForeignMeasure) -> tuple[Measure, ...]:
    """Read measures of subtopics or of items, each with one or several cutoffs.

    >>> parse_all_of("items", "Gini@5,10 hit_rate@5")
    (Measure('Gini@5'), Measure('Gini@10'), Measure('HitRate@5'))
    """
    stripped = read_text(text, f"a string such as '{_EXAMPLES[needs]}'")
    return tuple(one for part in split_measures(stripped) for one in parse_needing(needs, part))


def read_measures_of(needs: str, measures: object) -> tuple[Measure, ...]:
    """Read a caller's measures of subtopics or of items: one or several, as text or values.

    A repeated measure is kept once, at its first position.

    >>> read_measures_of("subtopics", ["strec@10", "Irec@10", "IA(AP)"])
    (Measure('strec@10'), Measure('IA(AP)'))
    """
    read: dict[Measure, None] = {}
    for item in listed_measures(measures):
        if isinstance(item, Measure) and item.family.needs != needs:
            raise _of_another_kind(needs, item)
        for measure in (item,) if isinstance(item, Measure) else parse_all_of(needs, item):
            read[measure] = None
    if not read:
        raise MeasureError("measures", "at least one measure", "none", f"Try '{_EXAMPLES[needs]}'.")
    return tuple(read)


def _of_another_kind(needs: str, measure: Measure) -> MeasureError:
    if needs == SUBTOPICS:
        expected = "a measure for queries with subtopics"
        return MeasureError(
            "measures", expected, f"'{measure}'", f"Its intent-aware version is IA({measure})."
        )
    hint = "For measures of relevance, use gf.evaluate() or gainful evaluate."
    expected = "a measure of recommendations beyond relevance"
    return MeasureError("measures", expected, f"'{measure}'", hint)
