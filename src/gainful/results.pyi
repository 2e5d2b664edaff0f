# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.differences import Difference
from gainful.analysis.comparison.gate import Gate
from gainful.analysis.comparison.leaderboard import Leaderboard
from gainful.analysis.comparison.slices import Slice
from gainful.analysis.comparison.verdict import Verdict
from gainful.analysis.explanation.attribution import Attribution
from gainful.analysis.explanation.why_tools_differ import Which
from gainful.analysis.explanation.why_tools_differ import Why
from gainful.analysis.explanation.worked_tables import Explanation
from gainful.analysis.fusion.fused_run import Fused
from gainful.analysis.fusion.tuning import Tuned
from gainful.analysis.history.changes import Change
from gainful.analysis.history.changes import Changes
from gainful.analysis.history.entries import HistoryEntry
from gainful.analysis.history.history import History
from gainful.analysis.history.watching import Watched
from gainful.analysis.history.watching import WatchedRun
from gainful.analysis.linting.findings import Finding
from gainful.analysis.linting.findings import Findings
from gainful.analysis.linting.located_evidence import LocatedEvidence
from gainful.analysis.power import Power
from gainful.analysis.similarity_of_runs import Similarity
from gainful.behaviour.click_log import ClickLog
from gainful.behaviour.counterfactual import Earnings
from gainful.behaviour.examination import PositionBias
from gainful.behaviour.interleaving import Interleaved
from gainful.behaviour.interleaving import InterleavingVerdict
from gainful.behaviour.judgments_from_clicks import ClickJudgments
from gainful.behaviour.judgments_from_clicks import ClickModels
from gainful.compat.vectors.conformance_result import Conformance
from gainful.evaluation.check_measure import MeasureCheck
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.debiasing import Debiased
from gainful.evaluation.debiasing import PopularityExponent
from gainful.evaluation.debiasing import SampledCorrection
from gainful.evaluation.learning_curve import LearningCurve
from gainful.evaluation.recommending import RecommendationScores
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import RunScores
from gainful.evaluation.scores import Scores
from gainful.evaluation.scores import TieRange
from gainful.evaluation.splits import Split
from gainful.evaluation.unjudged.bounds import Bound
from gainful.evaluation.unjudged.bounds import Bounds
from gainful.evaluation.unjudged.bounds import RunBounds
from gainful.evaluation.unjudged.estimates import UnjudgedEstimate
from gainful.integrations.recording.recorded_run import RecordedRun
from gainful.judging.assessors.agreement import Agreement
from gainful.judging.assessors.calibration_result import Calibration
from gainful.judging.assessors.collected_grades import CollectedGrades
from gainful.judging.assessors.listed_nuggets import CollectedNuggets
from gainful.judging.assessors.merging import MergedJudgments
from gainful.judging.assessors.nugget_support import CollectedSupport
from gainful.judging.assessors.quoted_evidence import CollectedEvidence
from gainful.judging.assessors.sample_design import SampleDesign
from gainful.judging.bias_of_pools import PoolBias
from gainful.judging.inferred_measures import Inferred
from gainful.judging.inferred_measures import InferredAP
from gainful.judging.pool import Pool
from gainful.judging.random_orders import Chance
from gainful.judging.values_by_cutoff import Curve
from gainful.reporting.movers import Movers
from gainful.reporting.report import Report

__all__ = [
    "Agreement",
    "Attribution",
    "Baseline",
    "Bound",
    "Bounds",
    "Calibration",
    "Chance",
    "Change",
    "Changes",
    "ClickJudgments",
    "ClickLog",
    "ClickModels",
    "CollectedEvidence",
    "CollectedGrades",
    "CollectedNuggets",
    "CollectedSupport",
    "Comparison",
    "Conformance",
    "Coverage",
    "Curve",
    "Debiased",
    "Difference",
    "Earnings",
    "Explanation",
    "Finding",
    "Findings",
    "Fused",
    "Gate",
    "History",
    "HistoryEntry",
    "Inferred",
    "InferredAP",
    "Interleaved",
    "InterleavingVerdict",
    "Leaderboard",
    "LearningCurve",
    "LocatedEvidence",
    "MeasureCheck",
    "MergedJudgments",
    "Movers",
    "Pool",
    "PoolBias",
    "PopularityExponent",
    "PositionBias",
    "Power",
    "RecommendationScores",
    "RecordedRun",
    "Report",
    "RunBounds",
    "RunScores",
    "SampleDesign",
    "SampledCorrection",
    "Scores",
    "Similarity",
    "Slice",
    "Split",
    "TieRange",
    "Tuned",
    "UnjudgedEstimate",
    "Verdict",
    "Watched",
    "WatchedRun",
    "Which",
    "Why",
]
