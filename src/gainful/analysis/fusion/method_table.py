"""`METHODS` and `NORMALISATIONS`: what there is, with definitions and formulas.

The choices, the command line, its help and the messages follow; the arithmetic is in
`fused_scores.py`, under the same names.
"""

from collections.abc import Mapping
from dataclasses import dataclass

RANKS, SCORES = "ranks", "scores"


@dataclass(frozen=True, slots=True)
class Method:
    """A way to fuse runs.

    Attributes:
        name: by which it is asked for.
        title: what people call it.
        definition: in words.
        formula: with wᵢ, the weight of run i; rᵢ, the rank of the document in it; sᵢ, its normalised
            score; n, the number of runs that have the document; sums are over these runs.
        uses: ranks or scores.
        parameters: the arguments of `fuse` that it takes, besides those that all take.
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
        name: by which it is asked for.
        definition: in words.
        formula: of a score s of a list of N documents.
        flat: what the scores of a list become that are all the same.
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
        "mnz", "CombMNZ", "The sum of the scores, times the number of runs that have the document.",
        "n · Σ wᵢ·sᵢ", SCORES, _WEIGHTS,
    ),
    Method(
        "anz", "CombANZ", "The mean score, over the runs that have the document.",
        "Σ wᵢ·sᵢ / n", SCORES, _WEIGHTS,
    ),
    Method(
        "min", "CombMIN", "The lowest score, over the runs that have the document.",
        "min sᵢ", SCORES, (),
    ),
    Method(
        "max", "CombMAX", "The highest score, over the runs that have the document.",
        "max sᵢ", SCORES, (),
    ),
    Method(
        "med", "CombMED",
        "The median score, over the runs that have the document; of an even number, the mean of the "
        "two in the middle.",
        "median sᵢ", SCORES, (),
    ),
    Method(
        "borda", "Borda count",
        "The sum of points: of C documents that any run has for the query, the first of a run gets C, "
        "the next C − 1. Those that a run does not have share evenly the points that are left over.",
        "Σ wᵢ·(C − rᵢ + 1), and wᵢ·(C − Nᵢ + 1)/2 of a run of Nᵢ documents without it", RANKS, _WEIGHTS,
    ),
    Method(
        "isr", "inverse square rank",
        "The sum of 1 over the squared rank, times the number of runs that have the document.",
        "n · Σ wᵢ / rᵢ²", RANKS, _WEIGHTS,
    ),
    Method(
        "log_isr", "log-ISR",
        "The sum of 1 over the squared rank, times the logarithm of the number of runs that have the "
        "document: 0 for what one run alone has.",
        "ln n · Σ wᵢ / rᵢ²", RANKS, _WEIGHTS,
    ),
    Method(
        "rbc", "rank-biased centroid",
        "The sum of how likely a reader, who goes on from each document with probability p, reads a rank last.",
        "Σ wᵢ·(1 − p)·p^(rᵢ − 1)", RANKS, ("p", "weights"),
    ),
)  # fmt: skip
"""The methods by name, the default first."""

NORMALISATIONS: Mapping[str, Normalisation] = {
    normalisation.name: normalisation
    for normalisation in (
        Normalisation(
            "minmax", "From 0, the lowest score of the list, to 1, the highest.",
            "(s − min) / (max − min)", "1",
        ),
        Normalisation(
            "zscore", "How many standard deviations the score is above the mean of the list.",
            "(s − mean) / sd, sd = √(Σ(s − mean)² / N)", "0",
        ),
        Normalisation(
            "sum", "From 0, the lowest score of the list, in shares of 1.",
            "(s − min) / Σ(s − min)", "1/N",
        ),
        Normalisation("rank", "The rank, from 1, the first, down to 1/N.", "1 − (r − 1) / N", "by rank"),
        Normalisation("none", "The score as it is.", "s", "s"),
    )
}  # fmt: skip
"""The normalisations by name, the default first."""

TIES: Mapping[str, str] = {
    "auto": "tied documents stand in the order that was shown in responses of search services, else as doc",
    "doc": "tied documents stand by id, descending",
    "doc_ascending": "tied documents stand by id, ascending",
    "average": "each of them has the mean of the ranks that they share",
}
"""What rank documents with equal scores have in a run, the default first."""


def methods() -> tuple[Method, ...]:
    """Return the methods of fusion: name, title, definition, formula, and what each takes.

    >>> [method.name for method in methods() if method.uses == "ranks"]
    ['rrf', 'borda', 'isr', 'log_isr', 'rbc']
    """
    return tuple(METHODS.values())


def normalisations() -> tuple[Normalisation, ...]:
    """Return the normalisations of scores: name, definition, formula, and what equal scores become.

    >>> [normalisation.name for normalisation in normalisations()]
    ['minmax', 'zscore', 'sum', 'rank', 'none']
    """
    return tuple(NORMALISATIONS.values())
