# Written by `make docs` from the table in gainful/__init__.py.

from gainful.evaluation.debiasing import correct_sampled
from gainful.evaluation.debiasing import debias
from gainful.evaluation.debiasing import estimate_gamma
from gainful.evaluation.recommending import evaluate_recommendation_runs
from gainful.evaluation.recommending import evaluate_recommendations
from gainful.evaluation.splits import split
from gainful.measures.measures_by_need import RecommendationMeasure
from gainful.measures.measures_by_need import recommendation_catalogue
from gainful.measures.measures_by_need import recommendation_family

__all__ = [
    "RecommendationMeasure",
    "correct_sampled",
    "debias",
    "estimate_gamma",
    "evaluate_recommendation_runs",
    "evaluate_recommendations",
    "recommendation_catalogue",
    "recommendation_family",
    "split",
]
