"""Other tools' interfaces on gainful's kernels: trec_eval's command line, pytrec_eval's evaluator."""

from gainful.compat.pytrec_eval import (
    RelevanceEvaluator,
    compute_aggregated_measure,
    parse_qrel,
    parse_run,
    supported_measures,
    supported_nicknames,
)
from gainful.compat.trec_eval.command import Printed, trec_eval

__all__ = [
    "Printed",
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
    "trec_eval",
]
