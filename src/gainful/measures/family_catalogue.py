"""The catalogue: one entry for each family of measures.

This is the single place for names, parameters, defaults, definitions, ranges and
citations: the notation, the command line, the help and the documentation read it.
"""

from gainful.errors import MeasureError
from gainful.measures.catalogue import (
    average_precision_and_kin,
    cumulated_gain,
    precision_and_counts,
    user_models,
)
from gainful.measures.measure_family import Family
from gainful.measures.name_suggestions import suggest
from gainful.message_texts import shown

CATALOGUE: tuple[Family, ...] = (
    *cumulated_gain.FAMILIES,
    *precision_and_counts.FAMILIES,
    *average_precision_and_kin.FAMILIES,
    *user_models.FAMILIES,
)

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
    raise MeasureError(
        "measure", "a measure of the catalogue", shown(name), suggest(name, CATALOGUE)
    )
