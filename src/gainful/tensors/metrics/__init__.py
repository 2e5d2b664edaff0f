"""The measures of scores and labels in arrays, on the device where the arrays live.

Arrays are `[..., list]`, of NumPy, PyTorch, JAX or CuPy, and the values `[...]` are of the same
library, device and type. Nothing is copied to the host, so nothing that only the numbers tell can
raise an error. The value of a list is NaN where a document has a score or a grade that is NaN. So
it is with a grade that a table of gains lacks, or one above the scale of ERR.
"""

from gainful.tensors.metrics.cumulated_gain import cg, dcg, ndcg
from gainful.tensors.metrics.expected_reciprocal_rank import err
from gainful.tensors.metrics.precision_and_recall import (
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
