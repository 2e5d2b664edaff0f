"""The catalogue: one entry for each family of measures.

This is the single place for names, parameters, defaults, definitions, ranges and
citations: the notation, the command line, the help and the documentation read it.
"""

from gainful.errors import MeasureError, did_you_mean
from gainful.measures.catalogue import cumulated, ranks, sets, users
from gainful.measures.family import Family

CATALOGUE: tuple[Family, ...] = (
    *cumulated.FAMILIES,
    *sets.FAMILIES,
    *ranks.FAMILIES,
    *users.FAMILIES,
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
    for entry in CATALOGUE:
        if entry.name.casefold() == str(name).casefold():
            return entry
    names = [entry.name for entry in CATALOGUE]
    raise MeasureError(
        "measure", "a measure of the catalogue", repr(name), did_you_mean(str(name), names)
    )
