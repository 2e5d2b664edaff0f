"""Measure how good rankings are: CG, DCG, nDCG, exactly and fast, with the arithmetic shown.

>>> import gainful as gf
>>> round(gf.ndcg([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2], k=6), 3)
0.785
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gainful.errors import (
    GainfulError,
    GainfulWarning,
    InputError,
    MeasureError,
    MissingDependencyError,
    PolicyError,
)
from gainful.version import VERSION

if TYPE_CHECKING:
    from gainful import compat
    from gainful.comparison.asserting import assert_not_worse
    from gainful.comparison.compare import compare, compare_scores
    from gainful.comparison.comparison import Comparison
    from gainful.comparison.difference import Difference
    from gainful.comparison.gate import Gate
    from gainful.comparison.settings import comparison_choices
    from gainful.comparison.slices import Slice
    from gainful.comparison.verdict import Verdict
    from gainful.evaluation.baseline import Baseline, read_baseline, save_baseline
    from gainful.evaluation.coverage import Coverage
    from gainful.evaluation.evaluate import evaluate, evaluate_arrays, evaluate_runs
    from gainful.evaluation.grades import cg, dcg, ndcg
    from gainful.evaluation.scores import Scores
    from gainful.evaluation.ties import TieRange
    from gainful.explanation.attribution import attribute
    from gainful.explanation.causes import Why
    from gainful.explanation.explain import explain, explain_grades
    from gainful.explanation.matches import Which, which
    from gainful.explanation.moved import Attribution
    from gainful.explanation.why import why
    from gainful.explanation.worked import Explanation
    from gainful.inputs.chunk_maps import read_chunk_map
    from gainful.inputs.engine import Engine
    from gainful.inputs.spark_engine import Spark
    from gainful.judging.bias import PoolBias, pool_bias
    from gainful.judging.bounds import Bound, Bounds, bounds
    from gainful.judging.chance import Chance, random_order
    from gainful.judging.curve import Curve, curve
    from gainful.judging.pool import next_to_judge, pool
    from gainful.judging.pooled import Pool
    from gainful.judging.runs import RunBounds, bounds_of_runs
    from gainful.judging.sampled import Inferred, InferredAP, inferred_ap, inferred_ndcg
    from gainful.linting.check import check
    from gainful.linting.findings import Finding, Findings
    from gainful.measures.dialect import Dialect
    from gainful.measures.dialects import dialect, dialects
    from gainful.measures.families import catalogue
    from gainful.measures.family import Family
    from gainful.measures.notation import family
    from gainful.measures.notation import parse as measure
    from gainful.measures.policy import Choice, Policy, choices
    from gainful.measures.spec import Measure
    from gainful.reporting.render import formats, render
    from gainful.reporting.report import Report, report
    from gainful.statistics.agreement import kendall_tau, rbo, tau_ap
    from gainful.statistics.power import Power, power
    from gainful.subtopics.evaluate import evaluate_subtopics
    from gainful.subtopics.families import subtopic_catalogue, subtopic_family
    from gainful.subtopics.judged import read_subtopics
    from gainful.subtopics.notation import SubtopicMeasure
    from gainful.subtopics.scores import SubtopicScores
    from gainful.tensors import losses, metrics
    from gainful.tensors.losses.measured import loss
    from gainful.writing.documents import write_judgments, write_run
    from gainful.writing.naming import endings
    from gainful.writing.replacing import write_text

# Each is imported when it is first asked for: a program uses few, and the command line begins at
# once. A name behind a colon is the one that it has in its module.
_LATE = {
    "Attribution": "explanation.moved",
    "Baseline": "evaluation.baseline",
    "Bound": "judging.bounds",
    "Bounds": "judging.bounds",
    "Chance": "judging.chance",
    "Choice": "measures.policy",
    "Comparison": "comparison.comparison",
    "Coverage": "evaluation.coverage",
    "Curve": "judging.curve",
    "Dialect": "measures.dialect",
    "Difference": "comparison.difference",
    "Engine": "inputs.engine",
    "Explanation": "explanation.worked",
    "Family": "measures.family",
    "Finding": "linting.findings",
    "Findings": "linting.findings",
    "Gate": "comparison.gate",
    "Inferred": "judging.sampled",
    "InferredAP": "judging.sampled",
    "Measure": "measures.spec",
    "Policy": "measures.policy",
    "Pool": "judging.pooled",
    "PoolBias": "judging.bias",
    "Power": "statistics.power",
    "Report": "reporting.report",
    "RunBounds": "judging.runs",
    "Scores": "evaluation.scores",
    "Slice": "comparison.slices",
    "Spark": "inputs.spark_engine",
    "SubtopicMeasure": "subtopics.notation",
    "SubtopicScores": "subtopics.scores",
    "TieRange": "evaluation.ties",
    "Verdict": "comparison.verdict",
    "Which": "explanation.matches",
    "Why": "explanation.causes",
    "assert_not_worse": "comparison.asserting",
    "attribute": "explanation.attribution",
    "bounds": "judging.bounds",
    "bounds_of_runs": "judging.runs",
    "catalogue": "measures.families",
    "cg": "evaluation.grades",
    "check": "linting.check",
    "choices": "measures.policy",
    "compare": "comparison.compare",
    "compare_scores": "comparison.compare",
    "comparison_choices": "comparison.settings",
    "curve": "judging.curve",
    "dcg": "evaluation.grades",
    "dialect": "measures.dialects",
    "dialects": "measures.dialects",
    "endings": "writing.naming",
    "evaluate": "evaluation.evaluate",
    "evaluate_arrays": "evaluation.evaluate",
    "evaluate_runs": "evaluation.evaluate",
    "evaluate_subtopics": "subtopics.evaluate",
    "explain": "explanation.explain",
    "explain_grades": "explanation.explain",
    "family": "measures.notation",
    "formats": "reporting.render",
    "inferred_ap": "judging.sampled",
    "inferred_ndcg": "judging.sampled",
    "kendall_tau": "statistics.agreement",
    "loss": "tensors.losses.measured",
    "measure": "measures.notation:parse",
    "ndcg": "evaluation.grades",
    "next_to_judge": "judging.pool",
    "pool": "judging.pool",
    "pool_bias": "judging.bias",
    "power": "statistics.power",
    "random_order": "judging.chance",
    "rbo": "statistics.agreement",
    "read_baseline": "evaluation.baseline",
    "read_chunk_map": "inputs.chunk_maps",
    "read_subtopics": "subtopics.judged",
    "render": "reporting.render",
    "report": "reporting.report",
    "save_baseline": "evaluation.baseline",
    "subtopic_catalogue": "subtopics.families",
    "subtopic_family": "subtopics.families",
    "tau_ap": "statistics.agreement",
    "which": "explanation.matches",
    "why": "explanation.why",
    "write_judgments": "writing.documents",
    "write_run": "writing.documents",
    "write_text": "writing.replacing",
}
_LATE_PACKAGES = {"compat": "compat", "losses": "tensors.losses", "metrics": "tensors.metrics"}

__version__ = VERSION

__all__ = [
    "Attribution",
    "Baseline",
    "Bound",
    "Bounds",
    "Chance",
    "Choice",
    "Comparison",
    "Coverage",
    "Curve",
    "Dialect",
    "Difference",
    "Engine",
    "Explanation",
    "Family",
    "Finding",
    "Findings",
    "GainfulError",
    "GainfulWarning",
    "Gate",
    "Inferred",
    "InferredAP",
    "InputError",
    "Measure",
    "MeasureError",
    "MissingDependencyError",
    "Policy",
    "PolicyError",
    "Pool",
    "PoolBias",
    "Power",
    "Report",
    "RunBounds",
    "Scores",
    "Slice",
    "Spark",
    "SubtopicMeasure",
    "SubtopicScores",
    "TieRange",
    "Verdict",
    "Which",
    "Why",
    "assert_not_worse",
    "attribute",
    "bounds",
    "bounds_of_runs",
    "catalogue",
    "cg",
    "check",
    "choices",
    "compare",
    "compare_scores",
    "comparison_choices",
    "compat",
    "curve",
    "dcg",
    "dialect",
    "dialects",
    "endings",
    "evaluate",
    "evaluate_arrays",
    "evaluate_runs",
    "evaluate_subtopics",
    "explain",
    "explain_grades",
    "family",
    "formats",
    "inferred_ap",
    "inferred_ndcg",
    "kendall_tau",
    "loss",
    "losses",
    "measure",
    "metrics",
    "ndcg",
    "next_to_judge",
    "pool",
    "pool_bias",
    "power",
    "random_order",
    "rbo",
    "read_baseline",
    "read_chunk_map",
    "read_subtopics",
    "render",
    "report",
    "save_baseline",
    "subtopic_catalogue",
    "subtopic_family",
    "tau_ap",
    "which",
    "why",
    "write_judgments",
    "write_run",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name in _LATE_PACKAGES:
        return import_module(f"{__name__}.{_LATE_PACKAGES[name]}")
    if name not in _LATE:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    module, _, inside = _LATE[name].partition(":")
    found = getattr(import_module(f"{__name__}.{module}"), inside or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, *_LATE_PACKAGES})
