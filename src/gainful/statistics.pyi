# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.ranking_agreement import kendall_tau
from gainful.analysis.ranking_agreement import least_item_promoted
from gainful.analysis.ranking_agreement import rbo
from gainful.analysis.ranking_agreement import tau_ap
from gainful.analysis.ranking_agreement import tau_h
from gainful.analysis.similarity_of_runs import similar
from gainful.analysis.similarity_of_runs import similar_measures
from gainful.arithmetic.statistics.anytime import betting_capital
from gainful.arithmetic.statistics.anytime import betting_ends
from gainful.arithmetic.statistics.anytime import combine_e_values

__all__ = [
    "betting_capital",
    "betting_ends",
    "combine_e_values",
    "kendall_tau",
    "least_item_promoted",
    "rbo",
    "similar",
    "similar_measures",
    "tau_ap",
    "tau_h",
]
