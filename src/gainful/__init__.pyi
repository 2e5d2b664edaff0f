# Written by `make docs` from the table in __init__.py.

from gainful import compat
from gainful.comparison.assert_not_worse import assert_not_worse
from gainful.comparison.compare import compare
from gainful.comparison.compare import compare_scores
from gainful.comparison.comparison import Comparison
from gainful.comparison.differences import Difference
from gainful.comparison.gate import Gate
from gainful.comparison.settings import comparison_choices
from gainful.comparison.slices import Slice
from gainful.comparison.verdict import Verdict
from gainful.errors import GainfulError
from gainful.errors import GainfulWarning
from gainful.errors import InputError
from gainful.errors import MeasureError
from gainful.errors import MissingDependencyError
from gainful.errors import PolicyError
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.evaluate import evaluate
from gainful.evaluation.evaluate import evaluate_arrays
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.measures_of_grades import ap
from gainful.evaluation.measures_of_grades import cg
from gainful.evaluation.measures_of_grades import dcg
from gainful.evaluation.measures_of_grades import idcg
from gainful.evaluation.measures_of_grades import ndcg
from gainful.evaluation.measures_of_grades import precision
from gainful.evaluation.measures_of_grades import recall
from gainful.evaluation.measures_of_grades import rr
from gainful.evaluation.run_scores import RunScores
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.saved_baseline import read_baseline
from gainful.evaluation.saved_baseline import save_baseline
from gainful.evaluation.scores import Scores
from gainful.evaluation.scores import TieRange
from gainful.explanation.attribution import Attribution
from gainful.explanation.attribution import attribute
from gainful.explanation.explain import explain
from gainful.explanation.explain import explain_grades
from gainful.explanation.which_tool import Which
from gainful.explanation.which_tool import which
from gainful.explanation.why_tools_differ import Why
from gainful.explanation.why_tools_differ import why
from gainful.explanation.worked_tables import Explanation
from gainful.inputs.engine import Engine
from gainful.inputs.read_table import read_chunk_map
from gainful.inputs.several_runs import find_runs
from gainful.inputs.spark_engine import Spark
from gainful.judging.bias_of_pools import PoolBias
from gainful.judging.bias_of_pools import pool_bias
from gainful.judging.bounds import Bound
from gainful.judging.bounds import Bounds
from gainful.judging.bounds import RunBounds
from gainful.judging.bounds import bounds
from gainful.judging.bounds import bounds_of_runs
from gainful.judging.chance import Chance
from gainful.judging.chance import random_order
from gainful.judging.curve import Curve
from gainful.judging.curve import curve
from gainful.judging.inferred_measures import Inferred
from gainful.judging.inferred_measures import InferredAP
from gainful.judging.inferred_measures import inferred_ap
from gainful.judging.inferred_measures import inferred_ndcg
from gainful.judging.pool import Pool
from gainful.judging.pool import next_to_judge
from gainful.judging.pool import pool
from gainful.linting.check import check
from gainful.linting.findings import Finding
from gainful.linting.findings import Findings
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.keyword_options import ReadingOptions
from gainful.measures.dialect import Dialect
from gainful.measures.dialect_catalogue import dialect
from gainful.measures.dialect_catalogue import dialects
from gainful.measures.family_catalogue import catalogue
from gainful.measures.measure import Measure
from gainful.measures.measure_family import Family
from gainful.measures.notation import family
from gainful.measures.notation import parse as measure
from gainful.measures.policy import Choice
from gainful.measures.policy import Policy
from gainful.measures.policy import choices
from gainful.rendering.table_formats import formats
from gainful.reporting.render_any_result import render
from gainful.reporting.report import Report
from gainful.reporting.report import report
from gainful.statistics.power import Power
from gainful.statistics.power import power
from gainful.statistics.ranking_agreement import kendall_tau
from gainful.statistics.ranking_agreement import rbo
from gainful.statistics.ranking_agreement import tau_ap
from gainful.subtopics.evaluate import evaluate_subtopics
from gainful.subtopics.measure_catalogue import subtopic_catalogue
from gainful.subtopics.measure_catalogue import subtopic_family
from gainful.subtopics.notation import SubtopicMeasure
from gainful.subtopics.scores import SubtopicScores
from gainful.subtopics.subtopic_judgments import read_subtopics
from gainful.tensors import losses
from gainful.tensors import metrics
from gainful.tensors.losses.measure_loss import loss
from gainful.writing.atomic_files import write_text
from gainful.writing.file_formats import endings
from gainful.writing.runs_and_judgments import write_judgments
from gainful.writing.runs_and_judgments import write_run

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
    "MeasuringOptions",
    "MissingDependencyError",
    "Policy",
    "PolicyError",
    "Pool",
    "PoolBias",
    "Power",
    "ReadingOptions",
    "Report",
    "RunBounds",
    "RunScores",
    "Scores",
    "Slice",
    "Spark",
    "SubtopicMeasure",
    "SubtopicScores",
    "TieRange",
    "Verdict",
    "Which",
    "Why",
    "ap",
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
    "find_runs",
    "formats",
    "idcg",
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
    "precision",
    "random_order",
    "rbo",
    "read_baseline",
    "read_chunk_map",
    "read_subtopics",
    "recall",
    "render",
    "report",
    "rr",
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
__version__: str
