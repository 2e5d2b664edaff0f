"""`METHODS` and `NORMALISATIONS`: the methods of fusion, with definitions and formulas.

The choices, the help of the command line and messages are generated from these tables. The arithmetic
is in `fused_scores.py`, under the same names.
"""

from collections.abc import Mapping
from dataclasses import dataclass

RANKS, SCORES = "ranks", "scores"


@dataclass(frozen=True, slots=True)
class Method:
    """A method of fusion.

    Attributes:
        name: the value of the option `method`.
        title: the usual name.
        definition: the definition in words.
        formula: the formula. wᵢ is the weight of run i, rᵢ the document's rank in it, sᵢ its normalised
            score, and n the number of runs that returned the document; sums are over these runs.
        uses: ranks or scores.
        parameters: the arguments of `fuse` that only some methods have.
    """

    name: str
    title: str
    definition: str
    formula: str
    uses: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Normalisation:
    """A way to make the scores of different runs comparable, query by query.

    Attributes:
        name: the value of the option `normalise`.
        definition: the definition in words.
        formula: the formula for a score s in a list of N documents.
        flat: the result if all scores of a list are equal.
    """

    name: str
    definition: str
    formula: str
    flat: str


def _by_name(*methods: Method) -> dict[str, Method]:
    return {method.name: method for method in methods}


_WEIGHTS = ("weights",)

METHODS: Mapping[str, Method] = _by_name(
    Method(
        "rrf", "reciprocal rank fusion", "The sum of 1 over k plus the rank.",
        "Σ wᵢ / (k + rᵢ)", RANKS, ("k", "weights"),
    ),
    Method(
        "sum", "CombSUM", "The sum of the scores; with weights, the weighted sum.",
        "Σ wᵢ·sᵢ", SCORES, _WEIGHTS,
    ),
    Method(
        "mnz", "CombMNZ", "The sum of the scores, times the number of runs that returned the document.",
        "n · Σ wᵢ·sᵢ", SCORES, _WEIGHTS,
    ),
    Method(
        "anz", "CombANZ", "The mean score, over the runs that returned the document.",
        "Σ wᵢ·sᵢ / n", SCORES, _WEIGHTS,
    ),
    Method(
        "min", "CombMIN", "The lowest score, over the runs that returned the document.",
        "min sᵢ", SCORES, (),
    ),
    Method(
        "max", "CombMAX", "The highest score, over the runs that returned the document.",
        "max sᵢ", SCORES, (),
    ),
    Method(
        "med", "CombMED",
        "The median score, over the runs that returned the document; for an even number of runs, the "
        "mean of the two middle scores.",
        "median sᵢ", SCORES, (),
    ),
    Method(
        "borda", "Borda count",
        "The sum of points: if the runs returned C different documents for a query, the first document "
        "of a run gets C points, the next C − 1, and so on. Documents that a run didn't return share the "
        "remaining points equally.",
        "Σ wᵢ·(C − rᵢ + 1), and wᵢ·(C − Nᵢ + 1)/2 from a run of Nᵢ documents that lacks the document", RANKS, _WEIGHTS,
    ),
    Method(
        "isr", "inverse square rank",
        "The sum of 1 over the squared rank, times the number of runs that returned the document.",
        "n · Σ wᵢ / rᵢ²", RANKS, _WEIGHTS,
    ),
    Method(
        "log_isr", "log-ISR",
        "The sum of 1 over the squared rank, times the logarithm of the number of runs that returned "
        "the document; 0 for a document from a single run.",
        "ln n · Σ wᵢ / rᵢ²", RANKS, _WEIGHTS,
    ),
    Method(
        "rbc", "rank-biased centroid",
        "The sum of the probabilities that a reader, who continues after each document with probability "
        "p, stops at the document's rank.",
        "Σ wᵢ·(1 − p)·p^(rᵢ − 1)", RANKS, ("p", "weights"),
    ),
)  # fmt: skip
"""The methods by name, the default first."""

NORMALISATIONS: Mapping[str, Normalisation] = {
    normalisation.name: normalisation
    for normalisation in (
        Normalisation(
            "minmax", "From 0 for the lowest score of the list to 1 for the highest.",
            "(s − min) / (max − min)", "1",
        ),
        Normalisation(
            "zscore", "The distance from the mean of the list, in standard deviations.",
            "(s − mean) / sd, sd = √(Σ(s − mean)² / N)", "0",
        ),
        Normalisation(
            "sum", "The distance from the lowest score, divided so that the list sums to 1.",
            "(s − min) / Σ(s − min)", "1/N",
        ),
        Normalisation("rank", "By rank: from 1 for the first document down to 1/N.", "1 − (r − 1) / N", "by rank"),
        Normalisation("none", "The score itself.", "s", "s"),
    )
}  # fmt: skip
"""The normalisations by name, the default first."""

TIES: Mapping[str, str] = {
    "auto": "tied documents keep the displayed order of responses of search services, otherwise like doc",
    "doc": "tied documents are ranked by id, descending",
    "doc_ascending": "tied documents are ranked by id, ascending",
    "average": "each tied document has the mean of their ranks",
}
"""How documents with equal scores in a run are ranked, the default first."""


def methods() -> tuple[Method, ...]:
    """Return the methods of fusion: name, title, definition, formula and parameters.

    >>> [method.name for method in methods() if method.uses == "ranks"]
    ['rrf', 'borda', 'isr', 'log_isr', 'rbc']
    """
    return tuple(METHODS.values())


def normalisations() -> tuple[Normalisation, ...]:
    """Return the normalisations of scores: name, definition, formula, and the result for equal scores.

    >>> [normalisation.name for normalisation in normalisations()]
    ['minmax', 'zscore', 'sum', 'rank', 'none']
    """
    return tuple(NORMALISATIONS.values())
