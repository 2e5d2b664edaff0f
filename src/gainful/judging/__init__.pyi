# Written by `make docs` from the table in gainful/__init__.py.

from gainful.assessors.sample import sample_documents
from gainful.judging.bias_of_pools import pool_bias
from gainful.judging.bounds import bounds_of_runs
from gainful.judging.inferred_measures import inferred_ap
from gainful.judging.inferred_measures import inferred_ndcg
from gainful.judging.pool import next_to_judge
from gainful.judging.random_orders import random_order

__all__ = [
    "bounds_of_runs",
    "inferred_ap",
    "inferred_ndcg",
    "next_to_judge",
    "pool_bias",
    "random_order",
    "sample_documents",
]
