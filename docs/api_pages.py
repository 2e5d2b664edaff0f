"""The pages of the API: public names by task, one page for each function with its results."""

import ast
import inspect
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import gainful as gf

FOLDER = Path(__file__).parent / "reference" / "api"
PLACES = gf._PLACES  # type: ignore[attr-defined]  # noqa: SLF001, the table is the package's own
# Public modules whose names are in no table, and where they are defined.
MODULES = {
    "compat": "gainful.compat",
    "losses": "gainful.training.losses",
    "metrics": "gainful.training.metrics",
}
HOSTS = "gainful.integrations"


@dataclass(frozen=True)
class ApiPage:
    """A page: its title, the names on it without `gainful.`, and the guide that shows them at work."""

    title: str
    names: str
    guide: str = ""

    @property
    def file(self) -> str:
        """Return the name of its file."""
        return f"{self.title.replace(', ', ' ').replace(' ', '_').lower()}.md"


TASKS = {
    "Evaluate": (
        ApiPage("evaluate", "evaluate results.Scores results.Coverage", "guides/python.md"),
        ApiPage("evaluate_runs", "evaluate_runs results.RunScores", "guides/python.md"),
        ApiPage("evaluate_arrays", "evaluate_arrays", "guides/learning_to_rank.md"),
        ApiPage(
            "ndcg and other single lists",
            "ndcg dcg idcg cg ap rr precision recall",
            "understand/ndcg.md",
        ),
        ApiPage("curve", "curve results.Curve", "guides/plots.md"),
        ApiPage("Policy", "Policy measures.Choice measures.choices", "reference/policy.md"),
        ApiPage("Engine and Spark", "Engine Spark", "guides/large_data.md"),
        ApiPage(
            "Subtopics",
            "subtopics.evaluate_subtopics subtopics.SubtopicMeasure subtopics.read_subtopics"
            " subtopics.subtopic_catalogue subtopics.subtopic_family",
            "guides/subtopics.md",
        ),
        ApiPage(
            "Recommendations",
            "recommending.evaluate_recommendations recommending.evaluate_recommendation_runs"
            " recommending.RecommendationMeasure recommending.recommendation_catalogue"
            " recommending.recommendation_family results.RecommendationScores"
            " recommending.split results.Split recommending.debias results.Debiased"
            " recommending.estimate_gamma results.PopularityExponent"
            " recommending.correct_sampled results.SampledCorrection",
            "guides/beyond_relevance.md",
        ),
    ),
    "Choose measures": (
        ApiPage("Measure", "measure Measure", "reference/notation.md"),
        ApiPage(
            "Families", "measures.Family measures.families measures.family", "reference/measures.md"
        ),
        ApiPage(
            "define",
            "measures.define measures.check_measure measures.use results.MeasureCheck",
            "guides/own_measures.md",
        ),
        ApiPage(
            "Dialects",
            "measures.Dialect measures.dialect measures.dialects",
            "reference/dialects.md",
        ),
    ),
    "Compare": (
        ApiPage("compare", "compare results.Comparison", "guides/comparing.md"),
        ApiPage(
            "Differences and verdicts",
            "results.Difference results.Verdict results.Slice results.Chance results.TieRange",
            "guides/comparing_statistics.md",
        ),
        ApiPage(
            "compare_scores",
            "comparison.compare_scores comparison.ComparisonOptions comparison.comparison_choices",
            "guides/comparing.md",
        ),
        ApiPage(
            "Gates",
            "assert_not_worse results.Gate comparison.save_baseline comparison.read_baseline"
            " results.Baseline",
            "guides/slices_and_gates.md",
        ),
        ApiPage("movers", "comparison.movers results.Movers", "guides/comparing.md"),
        ApiPage(
            "leaderboard",
            "leaderboard comparison.leaderboard_of_scores results.Leaderboard",
            "guides/leaderboards.md",
        ),
        ApiPage(
            "Looking at any time",
            "statistics.betting_ends statistics.betting_capital statistics.combine_e_values",
            "guides/means_that_hold.md",
        ),
        ApiPage(
            "History",
            "history.add history.read history.page results.History results.HistoryEntry results.Changes"
            " results.Change",
            "guides/history.md",
        ),
        ApiPage(
            "Watch",
            "history.watch history.WatchingOptions history.Webhook results.Watched results.WatchedRun",
            "guides/watch.md",
        ),
        ApiPage("power", "power results.Power", "decide/how_many_queries.md"),
        ApiPage("report", "report results.Report", "guides/report.md"),
        ApiPage(
            "Agreement of rankings",
            "statistics.similar statistics.similar_measures results.Similarity statistics.rbo statistics.kendall_tau"
            " statistics.tau_ap statistics.tau_h statistics.least_item_promoted",
            "guides/rank_agreement.md",
        ),
    ),
    "Explain and check": (
        ApiPage(
            "explain",
            "explain explanation.explain_grades results.Explanation",
            "understand/ndcg.md",
        ),
        ApiPage(
            "attribute", "explanation.attribute results.Attribution", "understand/attribution.md"
        ),
        ApiPage(
            "why and which",
            "why results.Why explanation.which results.Which",
            "reference/different_numbers.md",
        ),
        ApiPage("check", "check results.Findings results.Finding", "reference/check.md"),
    ),
    "Judge": (
        ApiPage(
            "click_judgments",
            "behaviour.click_judgments results.ClickJudgments behaviour.click_models results.ClickModels"
            " behaviour.read_log behaviour.LogOptions results.ClickLog",
            "guides/clicks.md",
        ),
        ApiPage(
            "Position bias and earnings",
            "behaviour.position_bias results.PositionBias behaviour.would_earn results.Earnings",
            "guides/clicks.md",
        ),
        ApiPage(
            "interleave",
            "behaviour.interleave behaviour.interleave_runs results.Interleaved behaviour.interleaving_verdict"
            " results.InterleavingVerdict",
            "guides/clicks.md",
        ),
        ApiPage("Study", "judging.Study", "guides/judging_desk.md"),
        ApiPage(
            "pool",
            "pool results.Pool judging.next_to_judge judging.random_order judging.pool_bias"
            " results.PoolBias",
            "guides/judging.md",
        ),
        ApiPage(
            "bounds",
            "bounds judging.bounds_of_runs results.Bounds results.Bound results.RunBounds"
            " results.UnjudgedEstimate inputs.UnjudgedOptions",
            "decide/trusting_judgments.md",
        ),
        ApiPage("agreement", "judging.agreement results.Agreement", "guides/assessors.md"),
        ApiPage(
            "merge_judgments",
            "judging.merge_judgments results.MergedJudgments",
            "guides/assessors.md",
        ),
        ApiPage(
            "collect_grades",
            "judging.collect_grades judging.CollectingOptions results.CollectedGrades judging.collect_evidence "
            "results.CollectedEvidence judging.collect_nuggets results.CollectedNuggets judging.collect_support "
            "results.CollectedSupport",
            "guides/model_grades.md",
        ),
        ApiPage("calibrate", "judging.calibrate results.Calibration", "guides/trusting_a_model.md"),
        ApiPage(
            "Samples to judge",
            "judging.sample_documents judging.sample_queries results.SampleDesign",
            "guides/model_judges.md",
        ),
        ApiPage(
            "Inferred measures",
            "judging.inferred_ap judging.inferred_ndcg results.Inferred results.InferredAP",
            "guides/judging.md",
        ),
    ),
    "Make runs": (
        ApiPage(
            "fuse",
            "fuse results.Fused fusion.methods fusion.normalisations fusion.write_fused",
            "guides/fusion.md",
        ),
        ApiPage("tune", "fusion.tune results.Tuned", "guides/fusion.md"),
        ApiPage(
            "record",
            "record inputs.RecordingOptions results.RecordedRun",
            "guides/recording_runs.md",
        ),
    ),
    "Read and write": (
        ApiPage(
            "Inputs",
            "inputs.Judgments inputs.Run inputs.TableLike inputs.ReadingOptions"
            " inputs.MeasuringOptions inputs.SamplingOptions inputs.column_names inputs.find_runs inputs.read_chunk_map"
            " inputs.locate_evidence results.LocatedEvidence"
            " inputs.reference_judgments",
            "reference/formats.md",
        ),
        ApiPage(
            "write_run and write_judgments",
            "write_run write_judgments",
            "reference/written_files.md",
        ),
        ApiPage(
            "render",
            "writing.render writing.formats writing.endings writing.flat_name writing.sql writing.write_result writing.write_text",
            "reference/written_files.md",
        ),
        ApiPage(
            "Errors",
            "errors.GainfulError errors.InputError errors.MeasureError errors.PolicyError"
            " errors.DisjointError errors.StudyError errors.LeaseLostError"
            " errors.MissingDependencyError errors.GainfulWarning errors.CODES",
            "reference/errors.md",
        ),
        ApiPage(
            "Conformance vectors",
            "vectors.conformance vectors.conformance_of_command vectors.cases vectors.Case"
            " results.Conformance",
            "guides/conformance.md",
        ),
    ),
    "Train": (
        ApiPage(
            "loss",
            "losses.loss losses.Loss losses.gap losses.METHODS losses.Common losses.Surrogate",
            "guides/losses.md",
        ),
        ApiPage(
            "Losses for nDCG",
            "losses.approx_ndcg losses.gumbel_approx_ndcg losses.lambda_loss losses.neural_ndcg"
            " losses.pirank_ndcg losses.pl_rank losses.soft_ndcg",
            "guides/losses.md",
        ),
        ApiPage(
            "Listwise losses",
            "losses.softmax losses.listnet losses.list_mle losses.p_list_mle losses.xe_ndcg",
            "guides/losses.md",
        ),
        ApiPage(
            "Metrics of tensors",
            "metrics.ndcg metrics.dcg metrics.cg metrics.average_precision metrics.reciprocal_rank"
            " metrics.precision metrics.recall metrics.err",
            "guides/tensors.md",
        ),
    ),
    "Other tools": (
        ApiPage(
            "trec_eval and pytrec_eval",
            "compat.trec_eval compat.Printed compat.RelevanceEvaluator compat.parse_qrel"
            " compat.parse_run compat.supported_measures compat.supported_nicknames"
            " compat.compute_aggregated_measure",
            "reference/trec_eval.md",
        ),
        ApiPage("LightGBM", "integrations.lightgbm results.LearningCurve", "hosts/lightgbm.md"),
        ApiPage(
            "XGBoost and CatBoost",
            "integrations.xgboost integrations.catboost",
            "hosts/xgboost.md",
        ),
        ApiPage(
            "Collections and toolkits",
            "integrations.ir_datasets integrations.beir integrations.mteb integrations.pyterrier"
            " integrations.sklearn",
            "hosts/index.md",
        ),
        ApiPage(
            "LangChain and LlamaIndex",
            "integrations.langchain integrations.llama_index",
            "hosts/langchain.md",
        ),
        ApiPage(
            "Haystack and LLM tools",
            "integrations.haystack integrations.ragas integrations.deepeval integrations.mcp",
            "hosts/haystack.md",
        ),
        ApiPage(
            "Training, tracking and tests",
            "integrations.sentence_transformers integrations.torchmetrics integrations.mlflow"
            " integrations.pytest",
            "hosts/index.md",
        ),
    ),
}


def _body(module: str) -> list[ast.stmt]:
    """Return the statements of a module, without importing it: a host may not be installed."""
    return ast.parse(Path(find_spec(module).origin).read_text(encoding="utf-8")).body  # type: ignore[union-attr, arg-type]


def public_of(module: str) -> list[str]:
    """Return the names that a module offers, without importing it."""
    return next(
        ast.literal_eval(each.value)
        for each in _body(module)
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__"
    )


def every_name() -> set[str]:
    """Return all public names that have a place on a page; a host is one name."""
    topics = {place.removeprefix("gainful.") for place in PLACES} | {*MODULES, "integrations"}
    found = {
        f"{place}.{name}".removeprefix("gainful.")
        for place, names in PLACES.items()
        for name in names
    }
    found |= {f"{module}.{name}" for module, place in MODULES.items() for name in public_of(place)}
    found |= {f"integrations.{host}" for host in public_of(HOSTS)}
    return found - topics


def _described(name: str) -> list[str]:
    """Return what mkdocstrings is to describe for a name."""
    if not name.startswith("integrations."):
        return [f"::: gainful.{name}"]
    host = f"gainful.{name}"
    return [
        f"## {name.partition('.')[2]}",
        f"::: {host}\n    options: {{members: false, show_root_heading: false}}",
        *(f"::: {host}.{each}\n    options: {{heading_level: 3}}" for each in public_of(host)),
    ]


def pages() -> dict[Path, str]:
    """Return the pages by file."""
    found = {}
    for page in (page for task in TASKS.values() for page in task):
        parts = [f"# {page.title}"]
        if page.guide:
            title = _title(page.guide)
            parts.append(f"Guide: [{title}](../../{page.guide}).")
        parts += [part for name in page.names.split() for part in _described(name)]
        found[FOLDER / page.file] = "\n\n".join(parts) + "\n"
    return found


def _title(page: str) -> str:
    """Return the heading of a page."""
    return (FOLDER.parents[1] / page).read_text(encoding="utf-8").partition("\n")[0][2:]


def navigation() -> str:
    """Return the pages as entries of the navigation."""
    lines = []
    for task, listed in TASKS.items():
        lines.append(f"          - {task}:")
        lines += [f"              - {page.title}: reference/api/{page.file}" for page in listed]
    return "\n".join(lines)


def _first_line(name: str) -> str:
    """Return the first line of what a name says of itself."""
    topic, _, own = name.rpartition(".")
    if topic == "integrations":
        return (ast.get_docstring(ast.Module(_body(f"gainful.{name}"), [])) or "").partition("\n")[
            0
        ]
    place = f"gainful.{topic}".rstrip(".")
    value = getattr(getattr(gf, topic) if topic else gf, own)
    if inspect.isroutine(value) or isinstance(value, type):
        return (inspect.getdoc(value) or "").partition("\n")[0]
    module, inside = PLACES[place][own] if place in PLACES else (MODULES[topic], own)
    for statement, below in pairwise(_body(module)):
        target = getattr(statement, "target", None) or getattr(statement, "targets", [None])[0]
        if isinstance(target, ast.Name) and target.id == inside and isinstance(below, ast.Expr):
            return inspect.cleandoc(ast.literal_eval(below.value)).partition("\n")[0]
    return ""


def _link(page: ApiPage, name: str) -> str:
    """Return a link to a name on its page."""
    topic, _, own = name.rpartition(".")
    anchor = own if topic == "integrations" else f"gainful.{name}"
    return f"[`{name}`]({page.file}#{anchor})"


def names_by_task() -> str:
    """Return all names by task: a row for each page, with what its first name says of itself."""
    parts = []
    for task, listed in TASKS.items():
        lines = ["| name | what it is | on the same page |", "|---|---|---|"]
        for page in listed:
            first, *others = page.names.split()
            about = _first_line(first).replace("|", "\\|")
            links = ", ".join(_link(page, name) for name in others)
            lines.append(f"| {_link(page, first)} | {about} | {links} |")
        parts += [f"## {task}", "\n".join(lines)]
    return "\n\n".join(parts)
