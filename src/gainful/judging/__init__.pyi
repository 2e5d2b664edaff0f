# Written by `make docs` from the table in gainful/__init__.py.

from gainful.evaluation.unjudged.bounds import bounds_of_runs
from gainful.judging.assessors.agreement import agreement
from gainful.judging.assessors.calibrate import calibrate
from gainful.judging.assessors.collecting import CollectingOptions
from gainful.judging.assessors.collecting import collect_grades
from gainful.judging.assessors.listed_nuggets import collect_nuggets
from gainful.judging.assessors.merging import merge_judgments
from gainful.judging.assessors.nugget_support import collect_support
from gainful.judging.assessors.quoted_evidence import collect_evidence
from gainful.judging.assessors.sample import sample_documents
from gainful.judging.assessors.sample import sample_queries
from gainful.judging.bias_of_pools import pool_bias
from gainful.judging.desk.study import Study
from gainful.judging.inferred_measures import inferred_ap
from gainful.judging.inferred_measures import inferred_ndcg
from gainful.judging.pool import next_to_judge
from gainful.judging.random_orders import random_order

__all__ = [
    "CollectingOptions",
    "Study",
    "agreement",
    "bounds_of_runs",
    "calibrate",
    "collect_evidence",
    "collect_grades",
    "collect_nuggets",
    "collect_support",
    "inferred_ap",
    "inferred_ndcg",
    "merge_judgments",
    "next_to_judge",
    "pool_bias",
    "random_order",
    "sample_documents",
    "sample_queries",
]
