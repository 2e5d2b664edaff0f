# Written by `make docs` from the table in gainful/__init__.py.

from gainful.evaluation.judged_lists import JudgedList
from gainful.evaluation.judged_lists import JudgedLists
from gainful.measures.dialect import Dialect
from gainful.measures.measure_family import Family
from gainful.measures.notation import family
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import Choice
from gainful.measures.policy import choices

__all__ = [
    "Choice",
    "Dialect",
    "Family",
    "JudgedList",
    "JudgedLists",
    "OwnMeasure",
    "choices",
    "family",
]
