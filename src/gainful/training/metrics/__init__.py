"""Measures of scores and labels in arrays, computed on the arrays' own device.

Arrays are `[..., list]`, from NumPy, PyTorch, JAX or CuPy, and the values `[...]` have the same
library, device and dtype. Nothing is copied to the host, so problems that only the numbers reveal
cannot raise errors. Instead, the value of a list is NaN if a document's score or grade is NaN, if a
table of gains lacks a grade, or if a grade is above the scale of ERR. The score −∞ is the lowest,
so its document comes last in its list; `evaluate_arrays` treats it as judged but not returned.
"""

from gainful.training.metrics.cumulated_gain import cg, dcg, ndcg
from gainful.training.metrics.expected_reciprocal_rank import err
from gainful.training.metrics.precision_and_recall import (
    average_precision,
    precision,
    recall,
    reciprocal_rank,
)

__all__ = [
    "average_precision",
    "cg",
    "dcg",
    "err",
    "ndcg",
    "precision",
    "recall",
    "reciprocal_rank",
]
