# Written by `make docs` from the table in gainful/__init__.py.

from gainful import comparison
from gainful import compat
from gainful import errors
from gainful import explanation
from gainful import fusion
from gainful import inputs
from gainful import integrations
from gainful import judging
from gainful import measures
from gainful import recommending
from gainful import results
from gainful import statistics
from gainful import subtopics
from gainful import vectors
from gainful import writing
from gainful.assessors.agreement import agreement
from gainful.assessors.calibrate import calibrate
from gainful.assessors.collecting import collect_grades
from gainful.assessors.merging import merge_judgments
from gainful.assessors.sample import sample_queries
from gainful.comparison.assert_not_worse import assert_not_worse
from gainful.comparison.compare import compare
from gainful.comparison.leaderboard import leaderboard
from gainful.desk.study import Study
from gainful.evaluation.check_measure import check_measure
from gainful.evaluation.evaluate import evaluate
from gainful.evaluation.evaluate import evaluate_arrays
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.measures_on_grade_lists import ap
from gainful.evaluation.measures_on_grade_lists import cg
from gainful.evaluation.measures_on_grade_lists import dcg
from gainful.evaluation.measures_on_grade_lists import idcg
from gainful.evaluation.measures_on_grade_lists import ndcg
from gainful.evaluation.measures_on_grade_lists import precision
from gainful.evaluation.measures_on_grade_lists import recall
from gainful.evaluation.measures_on_grade_lists import rr
from gainful.evaluation.saved_baseline import read_baseline
from gainful.evaluation.saved_baseline import save_baseline
from gainful.explanation.explain import explain
from gainful.explanation.which_tool import which
from gainful.explanation.why_tools_differ import why
from gainful.fusion.fuse import fuse
from gainful.inputs.duckdb_engine import Engine
from gainful.inputs.spark_engine import Spark
from gainful.judging.bounds import bounds
from gainful.judging.pool import pool
from gainful.judging.values_by_cutoff import curve
from gainful.linting.check import check
from gainful.measures.dialect_catalogue import dialect
from gainful.measures.dialect_catalogue import dialects
from gainful.measures.family_catalogue import catalogue
from gainful.measures.measure import Measure
from gainful.measures.notation import parse as measure
from gainful.measures.own_measures import define
from gainful.measures.policy import Policy
from gainful.measures.registering_own_names import use
from gainful.recording.record import record
from gainful.reporting.report import report
from gainful.statistics.power import power
from gainful.tensors import losses
from gainful.tensors import metrics
from gainful.tensors.losses.measure_loss import loss
from gainful.writing.runs_and_judgments import write_judgments
from gainful.writing.runs_and_judgments import write_run

__all__ = [
    "Engine",
    "Measure",
    "Policy",
    "Spark",
    "Study",
    "agreement",
    "ap",
    "assert_not_worse",
    "bounds",
    "calibrate",
    "catalogue",
    "cg",
    "check",
    "check_measure",
    "collect_grades",
    "compare",
    "comparison",
    "compat",
    "curve",
    "dcg",
    "define",
    "dialect",
    "dialects",
    "errors",
    "evaluate",
    "evaluate_arrays",
    "evaluate_runs",
    "explain",
    "explanation",
    "fuse",
    "fusion",
    "idcg",
    "inputs",
    "integrations",
    "judging",
    "leaderboard",
    "loss",
    "losses",
    "measure",
    "measures",
    "merge_judgments",
    "metrics",
    "ndcg",
    "pool",
    "power",
    "precision",
    "read_baseline",
    "recall",
    "recommending",
    "record",
    "report",
    "results",
    "rr",
    "sample_queries",
    "save_baseline",
    "statistics",
    "subtopics",
    "use",
    "vectors",
    "which",
    "why",
    "write_judgments",
    "write_run",
    "writing",
]
__version__: str
