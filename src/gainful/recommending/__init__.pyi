# Written by `make docs` from the table in gainful/__init__.py.

from gainful.recommending.evaluate import evaluate_recommendation_runs
from gainful.recommending.evaluate import evaluate_recommendations
from gainful.recommending.measure_catalogue import recommendation_catalogue
from gainful.recommending.measure_catalogue import recommendation_family
from gainful.recommending.notation import RecommendationMeasure

__all__ = [
    "RecommendationMeasure",
    "evaluate_recommendation_runs",
    "evaluate_recommendations",
    "recommendation_catalogue",
    "recommendation_family",
]
