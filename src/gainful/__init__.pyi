# Written by `make docs` from the table in gainful/__init__.py.

from gainful import behaviour
from gainful import comparison
from gainful import compat
from gainful import errors
from gainful import explanation
from gainful import fusion
from gainful import history
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
from gainful.analysis.comparison.assert_not_worse import assert_not_worse
from gainful.analysis.comparison.compare import compare
from gainful.analysis.comparison.leaderboard import leaderboard
from gainful.analysis.explanation.explain import explain
from gainful.analysis.explanation.why_tools_differ import why
from gainful.analysis.fusion.fuse import fuse
from gainful.analysis.linting.check import check
from gainful.analysis.power import power
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
from gainful.evaluation.unjudged.bounds import bounds
from gainful.integrations.recording.record import record
from gainful.judging.pool import pool
from gainful.judging.values_by_cutoff import curve
from gainful.measures.measure import Measure
from gainful.measures.notation import parse as measure
from gainful.measures.policy import Policy
from gainful.output.writing.runs_and_judgments import write_judgments
from gainful.output.writing.runs_and_judgments import write_run
from gainful.reporting.report import report
from gainful.rows.duckdb_engine import Engine
from gainful.rows.spark_engine import Spark
from gainful.training import losses
from gainful.training import metrics

__all__ = [
    "Engine",
    "Measure",
    "Policy",
    "Spark",
    "ap",
    "assert_not_worse",
    "behaviour",
    "bounds",
    "cg",
    "check",
    "compare",
    "comparison",
    "compat",
    "curve",
    "dcg",
    "errors",
    "evaluate",
    "evaluate_arrays",
    "evaluate_runs",
    "explain",
    "explanation",
    "fuse",
    "fusion",
    "history",
    "idcg",
    "inputs",
    "integrations",
    "judging",
    "leaderboard",
    "losses",
    "measure",
    "measures",
    "metrics",
    "ndcg",
    "pool",
    "power",
    "precision",
    "recall",
    "recommending",
    "record",
    "report",
    "results",
    "rr",
    "statistics",
    "subtopics",
    "vectors",
    "why",
    "write_judgments",
    "write_run",
    "writing",
]
__version__: str
