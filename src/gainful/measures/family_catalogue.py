"""The catalogue: one entry for each family of measures.

This is the single place for names, parameters, defaults, definitions, ranges and
citations: the notation, the command line, the help and the documentation read it.
"""

import re

from gainful.errors import MeasureError
from gainful.measures.catalogue import (
    average_precision_and_reciprocal_rank,
    cumulated_gain,
    precision_and_counts,
    user_models,
)
from gainful.measures.family import Family
from gainful.message_texts import did_you_mean, shown

CATALOGUE: tuple[Family, ...] = (
    *cumulated_gain.FAMILIES,
    *precision_and_counts.FAMILIES,
    *average_precision_and_reciprocal_rank.FAMILIES,
    *user_models.FAMILIES,
)

# What another layer measures, of queries with subtopics; a test holds these to its catalogue.
OF_SUBTOPICS = (
    "alpha_nDCG", "andcg", "alpha_DCG", "adcg", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA",
    "AP_IA", "MAP_IA", "strec", "Irec", "I_rec", "StRecall", "D_nDCG", "Dsharp_nDCG", "IA",
)  # fmt: skip

_BY_NAME = {entry.name: entry for entry in CATALOGUE}


def catalogue() -> tuple[Family, ...]:
    """Return every family of measures with its definition, range, citation and parameters.

    >>> [family.name for family in catalogue()][:4]
    ['CG', 'DCG', 'IDCG', 'nDCG']
    """
    return CATALOGUE


def family(name: object) -> Family:
    """Return the catalogue entry of a family, by its name in any case.

    >>> family("ndcg").title
    'Normalised discounted cumulated gain'
    """
    if isinstance(name, str) and name in _BY_NAME:
        return _BY_NAME[name]
    word = name if isinstance(name, str) else ""
    for entry in CATALOGUE:
        if entry.name.casefold() == word.casefold():
            return entry
    hint = hint_of_subtopics(word)
    if not hint:
        hint = did_you_mean(word, [entry.name for entry in CATALOGUE])
    raise MeasureError("measure", "a measure of the catalogue", shown(name), hint)


def hint_of_subtopics(text: str) -> str:
    """Say where a measure for queries with subtopics belongs; nothing of any other.

    >>> hint_of_subtopics("alpha-nDCG@10")
    'It is for queries with subtopics: evaluate_subtopics(), or gainful evaluate --subtopics.'
    >>> hint_of_subtopics("nope")
    ''
    """
    name = re.split(r"[@(]", text)[0].strip().casefold()
    for sign, word in (("α", "alpha"), ("♯", "sharp"), ("#", "sharp"), ("-", "_")):
        name = name.replace(sign, word)
    if name not in {known.casefold() for known in OF_SUBTOPICS}:
        return ""
    return (
        "It is for queries with subtopics: evaluate_subtopics(), or gainful evaluate --subtopics."
    )
