# Written by `make docs` from the table in gainful/__init__.py.

from gainful.comparison.compare import compare_scores
from gainful.comparison.leaderboard import leaderboard_of_scores
from gainful.comparison.settings import comparison_choices
from gainful.reporting.movers import movers

__all__ = [
    "compare_scores",
    "comparison_choices",
    "leaderboard_of_scores",
    "movers",
]
