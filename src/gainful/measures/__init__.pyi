# Written by `make docs` from the table in gainful/__init__.py.

from gainful.evaluation.check_measure import check_measure
from gainful.measures.dialect_catalogue import dialect
from gainful.measures.dialect_catalogue import dialects
from gainful.measures.measure import catalogue as families
from gainful.measures.measure_family import Family
from gainful.measures.notation import family
from gainful.measures.notation import use
from gainful.measures.own_measures import define
from gainful.measures.policy import Choice
from gainful.measures.policy import choices
from gainful.measures.tool_dialect import Dialect

__all__ = [
    "Choice",
    "Dialect",
    "Family",
    "check_measure",
    "choices",
    "define",
    "dialect",
    "dialects",
    "families",
    "family",
    "use",
]
