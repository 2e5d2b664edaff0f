"""Measure how good rankings are: CG, DCG, nDCG, exactly and fast, with the arithmetic shown.

>>> import gainful as gf
>>> round(gf.ndcg([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2], k=6), 3)
0.785
"""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from gainful.version import VERSION

# Every public name, once: by its public module, then by the module that defines it.
# Names are imported on first use, because programs use few of them and the command line must start
# fast. `make docs` writes the same table to the stubs, for type checkers and editors, and
# to docs/reference/api/index.md.
_NAMES = {
    "gainful": {
        "": "behaviour, compat, comparison, errors, explanation, fusion, history, inputs, integrations, judging, measures, "
        "recommending, results, statistics, subtopics, vectors, writing",
        "analysis.comparison.assert_not_worse": "assert_not_worse",
        "analysis.comparison.compare": "compare",
        "analysis.comparison.leaderboard": "leaderboard",
        "analysis.explanation.explain": "explain",
        "analysis.explanation.why_tools_differ": "why",
        "analysis.fusion.fuse": "fuse",
        "analysis.linting.check": "check",
        "analysis.power": "power",
        "evaluation.evaluate": "evaluate, evaluate_arrays, evaluate_runs",
        "evaluation.measures_on_grade_lists": "ap, cg, dcg, idcg, ndcg, precision, recall, rr",
        "integrations.recording.record": "record",
        "evaluation.unjudged.bounds": "bounds",
        "judging.pool": "pool",
        "judging.values_by_cutoff": "curve",
        "measures.measure": "Measure",
        "measures.notation": "parse as measure",
        "measures.policy": "Policy",
        "output.writing.runs_and_judgments": "write_judgments, write_run",
        "reporting.report": "report",
        "rows.duckdb_engine": "Engine",
        "rows.spark_engine": "Spark",
        "training": "losses, metrics",
    },
    "gainful.behaviour": {
        "behaviour.click_log": "read_log",
        "behaviour.counterfactual": "would_earn",
        "behaviour.interleaving": "interleave, interleave_runs, interleaving_verdict",
        "behaviour.judgments_from_clicks": "click_judgments, click_models",
        "behaviour.log_tables": "LogOptions",
        "behaviour.examination": "position_bias",
    },
    "gainful.comparison": {
        "analysis.comparison.compare": "compare_scores",
        "analysis.comparison.leaderboard": "leaderboard_of_scores",
        "analysis.comparison.settings": "ComparisonOptions, comparison_choices",
        "evaluation.saved_baseline": "read_baseline, save_baseline",
        "reporting.movers": "movers",
    },
    "gainful.errors": {
        "errors": "CODES, DisjointError, GainfulError, GainfulWarning, InputError, LeaseLostError, MeasureError, "
        "MissingDependencyError, PolicyError, StudyError",
    },
    "gainful.explanation": {
        "analysis.explanation.attribution": "attribute",
        "analysis.explanation.explain": "explain_grades",
        "analysis.explanation.why_tools_differ": "which",
    },
    "gainful.fusion": {
        "analysis.fusion.fuse": "write_fused",
        "analysis.fusion.method_table": "methods, normalisations",
        "analysis.fusion.tuning": "tune",
    },
    "gainful.history": {
        "analysis.history.entries": "add",
        "analysis.history.history": "read",
        "analysis.history.watching": "watch, WatchingOptions",
        "integrations.calling.webhook": "Webhook",
        "reporting.history_page": "page",
    },
    "gainful.inputs": {
        "analysis.linting.located_evidence": "locate_evidence",
        "rows.input_types": "Judgments, Run, SamplingOptions, TableLike, UnjudgedOptions",
        "rows.run_and_judgment_columns": "column_names",
        "rows.side_table_reader": "read_chunk_map",
        "rows.runs_by_name": "find_runs",
        "matching.keyword_options": "MeasuringOptions, ReadingOptions",
        "matching.reference_runs": "reference_judgments",
        "integrations.recording.record": "RecordingOptions",
    },
    "gainful.judging": {
        "judging.assessors.agreement": "agreement",
        "judging.assessors.calibrate": "calibrate",
        "judging.assessors.collecting": "CollectingOptions, collect_grades",
        "judging.assessors.nugget_support": "collect_support",
        "judging.assessors.listed_nuggets": "collect_nuggets",
        "judging.assessors.quoted_evidence": "collect_evidence",
        "judging.assessors.merging": "merge_judgments",
        "judging.assessors.sample": "sample_documents, sample_queries",
        "judging.bias_of_pools": "pool_bias",
        "evaluation.unjudged.bounds": "bounds_of_runs",
        "judging.desk.study": "Study",
        "judging.random_orders": "random_order",
        "judging.inferred_measures": "inferred_ap, inferred_ndcg",
        "judging.pool": "next_to_judge",
    },
    "gainful.measures": {
        "evaluation.check_measure": "check_measure",
        "measures.dialect_catalogue": "dialect, dialects",
        "measures.measure": "catalogue as families",
        "measures.measure_family": "Family",
        "measures.notation": "family, use",
        "measures.own_measures": "define",
        "measures.policy": "Choice, choices",
        "measures.tool_dialect": "Dialect",
    },
    "gainful.recommending": {
        "evaluation.debiasing": "correct_sampled, debias, estimate_gamma",
        "evaluation.splits": "split",
        "evaluation.recommending": "evaluate_recommendation_runs, evaluate_recommendations",
        "measures.measures_by_need": "RecommendationMeasure, recommendation_catalogue, recommendation_family",
    },
    "gainful.results": {
        "judging.assessors.agreement": "Agreement",
        "judging.assessors.collected_grades": "CollectedGrades",
        "judging.assessors.nugget_support": "CollectedSupport",
        "judging.assessors.listed_nuggets": "CollectedNuggets",
        "judging.assessors.quoted_evidence": "CollectedEvidence",
        "judging.assessors.calibration_result": "Calibration",
        "judging.assessors.sample_design": "SampleDesign",
        "judging.assessors.merging": "MergedJudgments",
        "analysis.comparison.comparison_gate_and_charts": "Comparison",
        "analysis.comparison.differences": "Difference",
        "analysis.comparison.gate": "Gate",
        "analysis.comparison.leaderboard": "Leaderboard",
        "analysis.comparison.slices": "Slice",
        "analysis.history.changes": "Change, Changes",
        "analysis.linting.located_evidence": "LocatedEvidence",
        "analysis.history.entries": "HistoryEntry",
        "analysis.history.history": "History",
        "analysis.history.watching": "Watched, WatchedRun",
        "analysis.comparison.verdict": "Verdict",
        "evaluation.check_measure": "MeasureCheck",
        "evaluation.coverage": "Coverage",
        "evaluation.learning_curve": "LearningCurve",
        "behaviour.judgments_from_clicks": "ClickJudgments, ClickModels",
        "behaviour.click_log": "ClickLog",
        "behaviour.counterfactual": "Earnings",
        "behaviour.interleaving": "Interleaved, InterleavingVerdict",
        "behaviour.examination": "PositionBias",
        "evaluation.saved_baseline": "Baseline",
        "evaluation.scores": "RunScores, Scores, TieRange",
        "analysis.explanation.attribution": "Attribution",
        "analysis.explanation.why_tools_differ": "Which, Why",
        "analysis.explanation.worked_tables": "Explanation",
        "analysis.fusion.fused_run": "Fused",
        "analysis.fusion.tuning": "Tuned",
        "judging.bias_of_pools": "PoolBias",
        "evaluation.unjudged.bounds": "Bound, Bounds, RunBounds",
        "evaluation.unjudged.estimates": "UnjudgedEstimate",
        "judging.random_orders": "Chance",
        "judging.values_by_cutoff": "Curve",
        "judging.inferred_measures": "Inferred, InferredAP",
        "judging.pool": "Pool",
        "analysis.linting.findings": "Finding, Findings",
        "evaluation.debiasing": "Debiased, PopularityExponent, SampledCorrection",
        "evaluation.splits": "Split",
        "evaluation.recommending": "RecommendationScores",
        "reporting.movers": "Movers",
        "integrations.recording.recorded_run": "RecordedRun",
        "reporting.report": "Report",
        "analysis.similarity_of_runs": "Similarity",
        "analysis.power": "Power",
        "compat.vectors.conformance_result": "Conformance",
    },
    "gainful.statistics": {
        "analysis.ranking_agreement": "kendall_tau, least_item_promoted, rbo, tau_ap, tau_h",
        "analysis.similarity_of_runs": "similar, similar_measures",
        "arithmetic.statistics.anytime": "betting_capital, betting_ends, combine_e_values",
    },
    "gainful.subtopics": {
        "evaluation.evaluate": "evaluate_subtopics",
        "measures.measures_by_need": "SubtopicMeasure, subtopic_catalogue, subtopic_family",
        "evaluation.subtopics": "read_subtopics",
    },
    "gainful.vectors": {
        "compat.vectors.case_files": "Case, cases",
        "compat.vectors.conformance_check": "conformance, conformance_of_command",
    },
    "gainful.writing": {
        "output.rendering.table_formats": "formats",
        "reporting.render_any_result": "render, write_result",
        "output.writing.output_files": "endings, write_text",
        "output.writing.experiment_trackers": "flat_name",
        "output.writing.measure_as_sql": "sql",
    },
}
# Names that moved to a topic module: they work until the next release, with a warning.
_MOVED = {
    "gainful.Study": "gainful.judging.Study",
    "gainful.agreement": "gainful.judging.agreement",
    "gainful.calibrate": "gainful.judging.calibrate",
    "gainful.catalogue": "gainful.measures.families",
    "gainful.check_measure": "gainful.measures.check_measure",
    "gainful.collect_grades": "gainful.judging.collect_grades",
    "gainful.define": "gainful.measures.define",
    "gainful.dialect": "gainful.measures.dialect",
    "gainful.dialects": "gainful.measures.dialects",
    "gainful.loss": "gainful.losses.loss",
    "gainful.merge_judgments": "gainful.judging.merge_judgments",
    "gainful.read_baseline": "gainful.comparison.read_baseline",
    "gainful.sample_queries": "gainful.judging.sample_queries",
    "gainful.save_baseline": "gainful.comparison.save_baseline",
    "gainful.use": "gainful.measures.use",
    "gainful.which": "gainful.explanation.which",
}
# The docstrings of topics, which are public modules without a folder.
_TOPICS = {
    "comparison": """Query-by-query comparisons: differences, verdicts, slices and gates.

The public names compare existing scores, such as a saved baseline, and list the options
of a comparison; to compare runs, use `gainful.compare`.""",
    "explanation": """Explanations of scores: the arithmetic of a measure, step by step.

The public names explain lists of grades, find the conventions that produce a number, and attribute the
difference between two runs to documents; to explain a query of a run, use `gainful.explain`.""",
    "fusion": """Fusion of several runs into one: methods, and tuning of their settings on judgments.

The main function is `gainful.fuse`.""",
    "history": """The history of a system: scores over time, and which changes are real.""",
    "inputs": """Input: files, ids, and their validation. Only this package reads files.

The public names find runs, read maps of chunks, and list the options of all functions that read
input and the recognised column names.""",
    "recommending": """Recommenders: measures beyond relevance, and splits of ratings into training data and judgments.""",
    "statistics": """Statistics on the agreement of rankings and scores.

The public names are measures of agreement.

>>> import gainful as gf
>>> gf.statistics.kendall_tau(["a", "b", "c"], ["a", "b", "c"])
1.0""",
    "subtopics": """Measures for queries with subtopics: several intents, or several equally good results.""",
    "vectors": """Conformance vectors: small test cases with exact values, and a check of nDCG implementations.

The files are in the repository's folder `vectors`, which also documents them.""",
    "writing": """Writing of runs, judgments and tables of scores; a file is replaced only once the new one is complete.

The public names write results as text; to write runs and judgments, use `gainful.write_run` and
`gainful.write_judgments`.""",
}
_OF_MODULES = ("gainful", "gainful.training")  # their names in the table are modules


def _read(modules: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the defining module of every public name, and the name in that module."""
    found = {}
    for module, names in modules.items():
        for each in names.split(", "):
            inside, _, outside = each.partition(" as ")
            found[outside or inside] = f"{__name__}.{module}".rstrip("."), inside
    return dict(sorted(found.items()))


_PLACES = {place: _read(modules) for place, modules in _NAMES.items()}


def _offer(place: str) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a public module."""
    names = _PLACES[place]

    def find(name: str) -> object:
        if moved_to := _MOVED.get(f"{place}.{name}"):
            return _moved(f"{place}.{name}", moved_to)
        if name not in names:
            raise _unknown(name, place)
        module, inside = names[name]
        if module in _OF_MODULES:
            return import_module(f"{module}.{inside}")
        value = getattr(import_module(module), inside)
        setattr(sys.modules[place], name, value)
        return value

    return list(names), find, lambda: list(names)


def _moved(old: str, new: str) -> object:
    """Return the object of a former name, and warn with its new name."""
    from gainful.errors import warn

    warn(f"{old} is now {new}. The old name works until the next release.")
    place, _, name = new.removeprefix(f"{__name__}.").partition(".")
    return getattr(getattr(sys.modules[__name__], place), name)


def _unknown(name: str, place: str) -> AttributeError:
    """Return the error for an unknown name, with the right module if the name is public elsewhere."""
    message = f"module {place!r} has no attribute {name!r}"
    for other, names in _PLACES.items():
        if name in names:
            # With `name` but without `obj`, Python adds no suggestion of its own.
            return AttributeError(f"{message}; it is {other}.{name}", name=name)
    return AttributeError(message)


def _make_topic(name: str, text: str) -> None:
    """Create the module of a topic, whose public names come from several folders."""
    place = f"{__name__}.{name}"
    topic = sys.modules[place] = ModuleType(place, text)
    vars(topic).update(zip(("__all__", "__getattr__", "__dir__"), _offer(place), strict=True))


for _topic in _TOPICS.items():
    _make_topic(*_topic)
__version__ = VERSION
__all__, __getattr__, _ = _offer(__name__)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
