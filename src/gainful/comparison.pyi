# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.comparison.compare import compare_scores
from gainful.analysis.comparison.leaderboard import leaderboard_of_scores
from gainful.analysis.comparison.settings import ComparisonOptions
from gainful.analysis.comparison.settings import comparison_choices
from gainful.evaluation.saved_baseline import read_baseline
from gainful.evaluation.saved_baseline import save_baseline
from gainful.reporting.movers import movers

__all__ = [
    "ComparisonOptions",
    "compare_scores",
    "comparison_choices",
    "leaderboard_of_scores",
    "movers",
    "read_baseline",
    "save_baseline",
]
