"""Measure how good rankings are: CG, DCG, nDCG, exactly and fast, with the arithmetic shown.

>>> import gainful as gf
>>> round(gf.ndcg([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2], k=6), 3)
0.785
"""

from importlib import import_module
from typing import Any

from gainful.version import VERSION

# Every public name, by the module that defines it. Each is imported when it is first asked for: a
# program uses few, and the command line starts at once. `make docs` writes the same table to
# __init__.pyi, which is what type checkers and editors read.
_NAMES = {
    "": "compat",
    "comparison.assert_not_worse": "assert_not_worse",
    "comparison.compare": "compare, compare_scores",
    "comparison.comparison": "Comparison",
    "comparison.differences": "Difference",
    "comparison.gate": "Gate",
    "comparison.settings": "comparison_choices",
    "comparison.slices": "Slice",
    "comparison.verdict": "Verdict",
    "errors": "GainfulError, GainfulWarning, InputError, MeasureError, "
    "MissingDependencyError, PolicyError",
    "evaluation.saved_baseline": "Baseline, read_baseline, save_baseline",
    "evaluation.coverage": "Coverage",
    "evaluation.measures_of_grades": "ap, cg, dcg, idcg, ndcg, precision, recall, rr",
    "evaluation.evaluate": "evaluate, evaluate_arrays, evaluate_runs",
    "evaluation.run_scores": "RunScores",
    "evaluation.scores": "Scores, TieRange",
    "explanation.attribution": "Attribution, attribute",
    "explanation.explain": "explain, explain_grades",
    "explanation.which_tool": "Which, which",
    "explanation.why_tools_differ": "Why, why",
    "explanation.worked_tables": "Explanation",
    "inputs.engine": "Engine",
    "inputs.spark_engine": "Spark",
    "inputs.read_table": "read_chunk_map",
    "inputs.several_runs": "find_runs",
    "judging.bounds": "Bound, Bounds, RunBounds, bounds, bounds_of_runs",
    "judging.curve": "Curve, curve",
    "judging.inferred_measures": "Inferred, InferredAP, inferred_ap, inferred_ndcg",
    "judging.pool": "Pool, next_to_judge, pool",
    "judging.bias_of_pools": "PoolBias, pool_bias",
    "judging.chance": "Chance, random_order",
    "linting.check": "check",
    "linting.findings": "Finding, Findings",
    "matching.keyword_options": "MeasuringOptions, ReadingOptions",
    "measures.dialect": "Dialect",
    "measures.dialect_catalogue": "dialect, dialects",
    "measures.measure_family": "Family",
    "measures.family_catalogue": "catalogue",
    "measures.measure": "Measure",
    "measures.notation": "family, parse as measure",
    "measures.policy": "Choice, Policy, choices",
    "rendering.table_formats": "formats",
    "reporting.render_any_result": "render",
    "reporting.report": "Report, report",
    "statistics.power": "Power, power",
    "statistics.ranking_agreement": "kendall_tau, rbo, tau_ap",
    "subtopics.evaluate": "evaluate_subtopics",
    "subtopics.measure_catalogue": "subtopic_catalogue, subtopic_family",
    "subtopics.notation": "SubtopicMeasure",
    "subtopics.scores": "SubtopicScores",
    "subtopics.subtopic_judgments": "read_subtopics",
    "tensors.losses.measure_loss": "loss",
    "writing.atomic_files": "write_text",
    "writing.file_formats": "endings",
    "writing.runs_and_judgments": "write_judgments, write_run",
    "tensors": "losses, metrics",
}


def _places() -> dict[str, tuple[str, str]]:
    """Return the module of every public name, and the name that it has there."""
    found = {}
    for module, names in _NAMES.items():
        for each in names.split(", "):
            inside, _, outside = each.partition(" as ")
            found[outside or inside] = f"{__name__}.{module}".rstrip("."), inside
    return found


_PLACES = _places()
_PACKAGES = ("compat", "losses", "metrics")  # which their own package need not have imported
__version__ = VERSION
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    module, inside = _PLACES[name]
    if inside in _PACKAGES:
        return import_module(f"{module}.{inside}")
    found = getattr(import_module(module), inside)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
