"""A measure of recommendations as a value, and its notation, which is that of all measures."""

from gainful.errors import MeasureError
from gainful.measures import notation
from gainful.measures.foreign_spellings import ForeignMeasure
from gainful.measures.measure import Measure, one_cutoff, read_cutoff, refuse_wrong_cutoff
from gainful.measures.measure_family import Family
from gainful.recommending.measure_catalogue import has_users, recommendation_family


class RecommendationMeasure(Measure):
    """What to measure of recommendations beyond relevance: a family, its parameters and a cutoff.

    >>> RecommendationMeasure("ILD", cutoff=10, by="genre")
    RecommendationMeasure('ILD(by=genre)@10')
    >>> RecommendationMeasure("Gini", k=10).has_users
    False
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
        entry = recommendation_family(name)
        cutoff = one_cutoff(k, cutoff)
        given = {name: entry.parameter(name).read(value) for name, value in parameters.items()}
        refuse_wrong_cutoff(entry, cutoff)
        # The class is frozen for everyone but its own constructor.
        object.__setattr__(self, "name", entry.name)
        settings = tuple((p.name, given.get(p.name, p.default)) for p in entry.parameters)
        object.__setattr__(self, "settings", settings)
        object.__setattr__(self, "cutoff", None if cutoff is None else read_cutoff(cutoff))

    @property
    def family(self) -> Family:
        """The catalogue entry of this measure."""
        return recommendation_family(self.name)

    @property
    def has_users(self) -> bool:
        """Whether every user has a value, and not the run alone."""
        return has_users(self.family)

    def having(self, **parameters: object) -> "RecommendationMeasure":
        """Return the same measure with other parameters.

        >>> RecommendationMeasure("ILD", cutoff=5).having(by="genre")
        RecommendationMeasure('ILD(by=genre)@5')
        """
        given = {**self.parameters, **parameters}
        return RecommendationMeasure(self.name, cutoff=self.cutoff, **given)

    def at(self, cutoff: int | None) -> "RecommendationMeasure":
        """Return the same measure at another cutoff.

        >>> RecommendationMeasure("Gini").at(5)
        RecommendationMeasure('Gini@5')
        """
        return RecommendationMeasure(self.name, cutoff=cutoff, **self.parameters)


def parse(text: str | ForeignMeasure) -> RecommendationMeasure:
    """Read one measure.

    >>> parse("novelty(count=all)@20"), parse("catalog_coverage@10")
    (RecommendationMeasure('Novelty(count=all)@20'), RecommendationMeasure('Coverage@10'))
    """
    return notation.only_one(parse_all(text), text)


def parse_all(text: str | ForeignMeasure) -> tuple[RecommendationMeasure, ...]:
    """Read measures, each with one or several cutoffs.

    >>> parse_all("Gini@5,10")
    (RecommendationMeasure('Gini@5'), RecommendationMeasure('Gini@10'))
    """
    stripped = notation.read_text(text, "a text such as 'Coverage@10'")
    parts = notation.split_measures(stripped)
    return tuple(measure for part in parts for measure in _parsed(part))


def _parsed(text: str) -> tuple[RecommendationMeasure, ...]:
    name, arguments, cutoffs = notation.taken_apart(
        text, "a name such as Coverage@10 or ILD(by=genre)"
    )
    family = recommendation_family(name)
    given = notation.read_arguments(arguments, where=text)
    parameters = notation.read_parameters(given, {}, where=text)
    return tuple(
        RecommendationMeasure(family.name, cutoff=cutoff, **parameters) for cutoff in cutoffs
    )


def read_measures(measures: object) -> tuple[RecommendationMeasure, ...]:
    """Read what a caller gives as measures: one, or several, as text or as values.

    A measure that is named twice is kept once, at its first place.

    >>> read_measures(["Coverage@10", "catalog_coverage@10", "ILD"])
    (RecommendationMeasure('Coverage@10'), RecommendationMeasure('ILD'))
    """
    return notation.read_measures_of(
        measures, RecommendationMeasure, parse_all, _of_relevance, "Coverage@10"
    )


def _of_relevance(measure: Measure) -> MeasureError:
    return MeasureError(
        "measures",
        "a measure of recommendations beyond relevance",
        f"'{measure}'",
        "Measure relevance with gf.evaluate(), or gainful evaluate.",
    )
