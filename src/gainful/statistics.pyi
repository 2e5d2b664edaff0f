# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.ranking_agreement import kendall_tau
from gainful.analysis.ranking_agreement import rbo
from gainful.analysis.ranking_agreement import tau_ap
from gainful.arithmetic.statistics.anytime import betting_capital
from gainful.arithmetic.statistics.anytime import betting_ends

__all__ = [
    "betting_capital",
    "betting_ends",
    "kendall_tau",
    "rbo",
    "tau_ap",
]
