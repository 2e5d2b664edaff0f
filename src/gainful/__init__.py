"""Measure how good rankings are: CG, DCG, nDCG, exactly and fast, with the arithmetic shown.

>>> import gainful as gf
>>> round(gf.ndcg([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2], k=6), 3)
0.785
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from gainful.version import VERSION

# Every public name, once: by the place where people find it, then by the module that defines it.
# Each is imported when it is first asked for: a program uses few, and the command line starts at
# once. `make docs` writes the same table to the stubs, which type checkers and editors read, and
# to docs/reference/api/index.md.
_NAMES = {
    "gainful": {
        "": "compat, comparison, errors, explanation, fusion, inputs, integrations, judging, measures, "
        "recommending, results, statistics, subtopics, vectors, writing",
        "assessors.agreement": "agreement",
        "assessors.collecting": "collect_grades",
        "assessors.calibrate": "calibrate",
        "assessors.sample": "sample_queries",
        "assessors.merging": "merge_judgments",
        "comparison.assert_not_worse": "assert_not_worse",
        "comparison.compare": "compare",
        "comparison.leaderboard": "leaderboard",
        "desk.study": "Study",
        "evaluation.check_measure": "check_measure",
        "evaluation.evaluate": "evaluate, evaluate_arrays, evaluate_runs",
        "evaluation.measures_on_grade_lists": "ap, cg, dcg, idcg, ndcg, precision, recall, rr",
        "evaluation.saved_baseline": "read_baseline, save_baseline",
        "explanation.explain": "explain",
        "explanation.which_tool": "which",
        "explanation.why_tools_differ": "why",
        "fusion.fuse": "fuse",
        "inputs.duckdb_engine": "Engine",
        "inputs.spark_engine": "Spark",
        "judging.bounds": "bounds",
        "judging.values_by_cutoff": "curve",
        "judging.pool": "pool",
        "linting.check": "check",
        "measures.dialect_catalogue": "dialect, dialects",
        "measures.family_catalogue": "catalogue",
        "measures.measure": "Measure",
        "measures.notation": "parse as measure",
        "measures.own_measures": "define",
        "measures.registering_own_names": "use",
        "measures.policy": "Policy",
        "recording.record": "record",
        "reporting.report": "report",
        "statistics.power": "power",
        "tensors": "losses, metrics",
        "tensors.losses.measure_loss": "loss",
        "writing.runs_and_judgments": "write_judgments, write_run",
    },
    "gainful.comparison": {
        "comparison.compare": "compare_scores",
        "comparison.leaderboard": "leaderboard_of_scores",
        "comparison.settings": "comparison_choices",
        "reporting.movers": "movers",
    },
    "gainful.errors": {
        "errors": "DisjointError, GainfulError, GainfulWarning, InputError, LeaseLostError, MeasureError, "
        "MissingDependencyError, PolicyError, StudyError",
    },
    "gainful.explanation": {
        "explanation.attribution": "attribute",
        "explanation.explain": "explain_grades",
    },
    "gainful.fusion": {
        "fusion.fuse": "write_fused",
        "fusion.method_table": "methods, normalisations",
        "fusion.tuning": "tune",
    },
    "gainful.inputs": {
        "inputs.run_and_judgment_columns": "column_names",
        "inputs.side_table_reader": "read_chunk_map",
        "inputs.runs_by_name": "find_runs",
        "matching.keyword_options": "MeasuringOptions, ReadingOptions",
    },
    "gainful.judging": {
        "assessors.sample": "sample_documents",
        "judging.bias_of_pools": "pool_bias",
        "judging.bounds": "bounds_of_runs",
        "judging.random_orders": "random_order",
        "judging.inferred_measures": "inferred_ap, inferred_ndcg",
        "judging.pool": "next_to_judge",
    },
    "gainful.measures": {
        "measures.dialect": "Dialect",
        "measures.measure_family": "Family",
        "measures.notation": "family",
        "measures.policy": "Choice, choices",
    },
    "gainful.recommending": {
        "recommending.evaluate": "evaluate_recommendation_runs, evaluate_recommendations",
        "recommending.measure_catalogue": "recommendation_catalogue, recommendation_family",
        "recommending.notation": "RecommendationMeasure",
    },
    "gainful.results": {
        "assessors.agreement": "Agreement",
        "assessors.collected_grades": "CollectedGrades",
        "assessors.calibration_result": "Calibration",
        "assessors.sample_design": "SampleDesign",
        "assessors.merging": "MergedJudgments",
        "comparison.comparison_gate_and_charts": "Comparison",
        "comparison.differences": "Difference",
        "comparison.gate": "Gate",
        "comparison.leaderboard": "Leaderboard",
        "comparison.slices": "Slice",
        "comparison.verdict": "Verdict",
        "evaluation.check_measure": "MeasureCheck",
        "evaluation.coverage": "Coverage",
        "evaluation.learning_curve": "LearningCurve",
        "evaluation.scores_by_run": "RunScores",
        "evaluation.saved_baseline": "Baseline",
        "evaluation.scores": "Scores, TieRange",
        "explanation.attribution": "Attribution",
        "explanation.which_tool": "Which",
        "explanation.why_tools_differ": "Why",
        "explanation.worked_tables": "Explanation",
        "fusion.fused_run": "Fused",
        "fusion.tuning": "Tuned",
        "judging.bias_of_pools": "PoolBias",
        "judging.bounds": "Bound, Bounds, RunBounds",
        "judging.random_orders": "Chance",
        "judging.values_by_cutoff": "Curve",
        "judging.inferred_measures": "Inferred, InferredAP",
        "judging.pool": "Pool",
        "linting.findings": "Finding, Findings",
        "recommending.recommendation_scores": "RecommendationScores",
        "reporting.movers": "Movers",
        "recording.recorded_run": "RecordedRun",
        "reporting.report": "Report",
        "statistics.power": "Power",
        "subtopics.subtopic_scores": "SubtopicScores",
        "vectors.conformance_result": "Conformance",
    },
    "gainful.statistics": {
        "statistics.ranking_agreement": "kendall_tau, rbo, tau_ap",
    },
    "gainful.subtopics": {
        "subtopics.evaluate": "evaluate_subtopics",
        "subtopics.measure_catalogue": "subtopic_catalogue, subtopic_family",
        "subtopics.notation": "SubtopicMeasure",
        "subtopics.subtopic_judgments": "read_subtopics",
    },
    "gainful.vectors": {
        "vectors.case_files": "Case, cases",
        "vectors.conformance_check": "conformance, conformance_of_command",
    },
    "gainful.writing": {
        "rendering.table_formats": "formats",
        "reporting.render_any_result": "render",
        "writing.atomic_files": "write_text",
        "writing.experiment_trackers": "flat_name",
        "writing.file_formats": "endings",
    },
}
_OF_MODULES = ("gainful", "gainful.tensors")  # the names in the table that these have are modules


def _read(modules: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the module of every name of a place, and the name that it has there."""
    found = {}
    for module, names in modules.items():
        for each in names.split(", "):
            inside, _, outside = each.partition(" as ")
            found[outside or inside] = f"{__name__}.{module}".rstrip("."), inside
    return dict(sorted(found.items()))


_PLACES = {place: _read(modules) for place, modules in _NAMES.items()}


def _offer(place: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a public place."""
    names = _PLACES[place]

    def find(name: str) -> Any:
        if name not in names:
            raise _unknown(name, place)
        module, inside = names[name]
        if module in _OF_MODULES:
            return import_module(f"{module}.{inside}")
        found = getattr(import_module(module), inside)
        setattr(sys.modules[place], name, found)
        return found

    return list(names), find, lambda: list(names)


def _unknown(name: str, place: str) -> AttributeError:
    """Return the error for a name that a place does not have, and say where it is if it is public."""
    message = f"module {place!r} has no attribute {name!r}"
    for other, names in _PLACES.items():
        if name in names:
            # With its name alone, Python adds no guess of its own.
            return AttributeError(f"{message}; it is {other}.{name}", name=name)
    return AttributeError(message)


__version__ = VERSION
__all__, __getattr__, _ = _offer(__name__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
