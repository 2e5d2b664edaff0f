# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.ranking_agreement import kendall_tau
from gainful.analysis.ranking_agreement import rbo
from gainful.analysis.ranking_agreement import tau_ap

__all__ = [
    "kendall_tau",
    "rbo",
    "tau_ap",
]
