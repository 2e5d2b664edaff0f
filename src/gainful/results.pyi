# Written by `make docs` from the table in gainful/__init__.py.

from gainful.assessors.agreement import Agreement
from gainful.assessors.calibration_result import Calibration
from gainful.assessors.collected_grades import CollectedGrades
from gainful.assessors.merging import MergedJudgments
from gainful.assessors.sample_design import SampleDesign
from gainful.comparison.comparison_gate_and_charts import Comparison
from gainful.comparison.differences import Difference
from gainful.comparison.gate import Gate
from gainful.comparison.leaderboard import Leaderboard
from gainful.comparison.slices import Slice
from gainful.comparison.verdict import Verdict
from gainful.evaluation.check_measure import MeasureCheck
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.learning_curve import LearningCurve
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import Scores
from gainful.evaluation.scores import TieRange
from gainful.evaluation.scores_by_run import RunScores
from gainful.explanation.attribution import Attribution
from gainful.explanation.which_tool import Which
from gainful.explanation.why_tools_differ import Why
from gainful.explanation.worked_tables import Explanation
from gainful.fusion.fused_run import Fused
from gainful.fusion.tuning import Tuned
from gainful.judging.bias_of_pools import PoolBias
from gainful.judging.bounds import Bound
from gainful.judging.bounds import Bounds
from gainful.judging.bounds import RunBounds
from gainful.judging.inferred_measures import Inferred
from gainful.judging.inferred_measures import InferredAP
from gainful.judging.pool import Pool
from gainful.judging.random_orders import Chance
from gainful.judging.values_by_cutoff import Curve
from gainful.linting.findings import Finding
from gainful.linting.findings import Findings
from gainful.recommending.recommendation_scores import RecommendationScores
from gainful.recording.recorded_run import RecordedRun
from gainful.reporting.movers import Movers
from gainful.reporting.report import Report
from gainful.statistics.power import Power
from gainful.subtopics.subtopic_scores import SubtopicScores
from gainful.vectors.conformance_result import Conformance

__all__ = [
    "Agreement",
    "Attribution",
    "Baseline",
    "Bound",
    "Bounds",
    "Calibration",
    "Chance",
    "CollectedGrades",
    "Comparison",
    "Conformance",
    "Coverage",
    "Curve",
    "Difference",
    "Explanation",
    "Finding",
    "Findings",
    "Fused",
    "Gate",
    "Inferred",
    "InferredAP",
    "Leaderboard",
    "LearningCurve",
    "MeasureCheck",
    "MergedJudgments",
    "Movers",
    "Pool",
    "PoolBias",
    "Power",
    "RecommendationScores",
    "RecordedRun",
    "Report",
    "RunBounds",
    "RunScores",
    "SampleDesign",
    "Scores",
    "Slice",
    "SubtopicScores",
    "TieRange",
    "Tuned",
    "Verdict",
    "Which",
    "Why",
]
