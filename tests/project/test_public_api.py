"""The public names are those promised, each documented and with its arguments by keyword."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf
from public_names import APART, places, public_names

pytestmark = pytest.mark.public_api

# What is typed daily stands at the top; the rest is one step down.
TOP = [
    "Engine", "Measure", "Policy", "Spark", "ap", "assert_not_worse", "bounds", "cg", "check", "compare", "curve", "dcg", "evaluate",
    "evaluate_arrays", "evaluate_runs", "explain", "fuse", "idcg", "leaderboard", "measure", "ndcg", "pool", "power", "precision", "recall",
    "record", "report", "rr", "why", "write_judgments", "write_run",
]  # fmt: skip
MOST_AT_THE_TOP = 31
BELOW = {
    "behaviour": [
        "LogOptions", "click_judgments", "click_models", "interleave", "interleave_runs", "interleaving_verdict",
        "position_bias", "read_log", "would_earn",
    ],
    "comparison": ["ComparisonOptions", "compare_scores", "comparison_choices", "leaderboard_of_scores", "movers", "read_baseline", "save_baseline"],
    "errors": [
        "CODES",
        "DisjointError", "GainfulError", "GainfulWarning", "InputError", "LeaseLostError", "MeasureError",
        "MissingDependencyError", "PolicyError", "StudyError",
    ],
    "explanation": ["attribute", "explain_grades", "which"],
    "fusion": ["methods", "normalisations", "tune", "write_fused"],
    "history": ["WatchingOptions", "Webhook", "add", "page", "read", "watch"],
    "inputs": [
        "Judgments",
        "MeasuringOptions",
        "ReadingOptions",
        "RecordingOptions",
        "Run",
        "SamplingOptions",
        "TableLike",
        "UnjudgedOptions",
        "column_names",
        "find_runs",
        "locate_evidence",
        "read_chunk_map",
        "reference_judgments",
    ],
    "judging": [
        "CollectingOptions", "Study", "agreement", "bounds_of_runs", "calibrate", "collect_evidence", "collect_grades", "collect_nuggets", "collect_support", "inferred_ap", "inferred_ndcg",
        "merge_judgments", "next_to_judge", "pool_bias", "random_order", "sample_documents", "sample_queries",
    ],
    "measures": [
        "Choice", "Dialect", "Family", "check_measure", "choices", "define", "dialect", "dialects", "families", "family", "use",
    ],
    "recommending": [
        "RecommendationMeasure", "correct_sampled", "debias", "estimate_gamma", "evaluate_recommendation_runs", "evaluate_recommendations",
        "recommendation_catalogue", "recommendation_family", "split",
    ],
    "results": [
        "Agreement", "Attribution", "Baseline", "Bound", "Bounds", "Calibration", "Chance", "Change", "Changes", "ClickJudgments", "ClickLog", "ClickModels", "CollectedEvidence", "CollectedGrades", "CollectedNuggets", "CollectedSupport", "Comparison", "Conformance", "Coverage", "Curve",
        "Debiased", "Difference", "Earnings", "Explanation", "Finding", "Findings", "Fused", "Gate", "History", "HistoryEntry", "Inferred", "InferredAP", "Interleaved", "InterleavingVerdict", "Leaderboard", "LearningCurve", "LocatedEvidence",
        "MeasureCheck", "MergedJudgments", "Movers", "Pool", "PoolBias", "PopularityExponent", "PositionBias", "Power", "RecommendationScores", "RecordedRun", "Report", "RunBounds", "RunScores", "SampleDesign", "SampledCorrection", "Scores",
        "Similarity",
        "Slice", "Split",
        "TieRange", "Tuned", "UnjudgedEstimate", "Verdict", "Watched", "WatchedRun", "Which", "Why",
    ],
    "statistics": ["betting_capital", "betting_ends", "combine_e_values", "kendall_tau", "least_item_promoted", "rbo", "similar", "similar_measures", "tau_ap", "tau_h"],
    "subtopics": [
        "SubtopicMeasure", "evaluate_subtopics", "read_subtopics", "subtopic_catalogue",
        "subtopic_family",
    ],
    "vectors": ["Case", "cases", "conformance", "conformance_of_command"],
    "writing": ["endings", "flat_name", "formats", "render", "sql", "write_result", "write_text"],
}  # fmt: skip
# The data comes first, by place; everything else by keyword.
BY_PLACE = {
    "add": ["path", "scores"],
    "read": ["path"],
    "page": ["history"],
    "watch": ["path", "judgments", "runs", "measures"],
    "click_judgments": ["log", "model"],
    "click_models": ["log", "models"],
    "read_log": ["log"],
    "interleave": ["rankings"],
    "interleave_runs": ["runs"],
    "interleaving_verdict": ["log"],
    "position_bias": ["log", "method"],
    "would_earn": ["log", "run"],
    "cases": [],
    "check_measure": ["measure"],
    "conformance": ["implementation"],
    "conformance_of_command": ["command"],
    "define": ["name"],
    "use": ["definitions"],
    "dialect": ["name"],
    "dialects": [],
    "which": ["judgments", "run", "measure"],
    "why": ["judgments", "run", "measure"],
    "assert_not_worse": ["judgments", "base", "run", "measures"],
    "compare": ["judgments", "runs", "measures"],
    "report": ["judgments", "runs", "measures"],
    "compare_scores": ["tables", "measures"],
    "leaderboard": ["judgments", "runs", "measure"],
    "leaderboard_of_scores": ["scores", "measure"],
    "column_names": [],
    "comparison_choices": [],
    "movers": ["comparison", "judgments", "runs"],
    "power": [],
    "attribute": ["judgments", "base", "run", "measure"],
    "bounds_of_runs": ["judgments", "runs", "measures"],
    "inferred_ap": ["samples", "run", "measure"],
    "inferred_ndcg": ["samples", "run", "measure"],
    "bounds": ["judgments", "run", "measures"],
    "curve": ["judgments", "run", "measure"],
    "agreement": ["grades"],
    "collect_evidence": ["pairs", "model"],
    "collect_grades": ["pairs", "model"],
    "collect_nuggets": ["pairs", "model"],
    "collect_support": ["pairs", "model"],
    "record": ["queries", "search"],
    "calibrate": ["human", "model", "runs", "measures"],
    "sample_queries": ["source", "size"],
    "sample_documents": ["runs", "size"],
    "merge_judgments": ["grades", "rule"],
    "evaluate_subtopics": ["judgments", "run", "measures"],
    "evaluate_recommendations": ["run", "measures"],
    "evaluate_recommendation_runs": ["runs", "measures"],
    "recommendation_catalogue": [],
    "recommendation_family": ["name"],
    "random_order": ["judgments", "run", "measure"],
    "families": [],
    "idcg": ["grades"],
    "precision": ["grades"],
    "recall": ["grades"],
    "ap": ["grades"],
    "rr": ["grades"],
    "cg": ["grades"],
    "check": ["judgments", "runs"],
    "fuse": ["runs", "method"],
    "methods": [],
    "normalisations": [],
    "tune": ["judgments", "runs", "measure"],
    "write_fused": ["runs", "path", "method"],
    "choices": [],
    "correct_sampled": ["ranks", "measure"],
    "dcg": ["grades"],
    "debias": ["judgments", "runs", "measures"],
    "endings": [],
    "estimate_gamma": ["history"],
    "evaluate": ["judgments", "run", "measures"],
    "evaluate_arrays": [],
    "evaluate_runs": ["judgments", "runs", "measures"],
    "explain": ["judgments", "run", "measure"],
    "explain_grades": ["grades", "measure"],
    "family": ["name"],
    "find_runs": ["runs"],
    "flat_name": ["name"],
    "split": ["ratings"],
    "sql": ["measure"],
    "formats": [],
    "betting_capital": ["values", "mean"],
    "combine_e_values": ["e_values"],
    "betting_ends": ["values"],
    "kendall_tau": ["first", "second"],
    "least_item_promoted": ["reference", "ranking"],
    "measure": ["text"],
    "ndcg": ["grades"],
    "next_to_judge": ["judgments", "runs", "measure"],
    "pool": ["runs"],
    "pool_bias": ["judgments", "runs", "measure"],
    "rbo": ["first", "second"],
    "read_baseline": ["path"],
    "locate_evidence": ["evidence", "documents"],
    "read_chunk_map": ["path"],
    "reference_judgments": ["run"],
    "read_subtopics": ["judgments"],
    "render": ["result", "format"],
    "write_result": ["result", "path"],
    "save_baseline": ["scores", "path"],
    "similar": ["runs", "by"],
    "similar_measures": ["judgments", "runs", "measures", "by"],
    "subtopic_catalogue": [],
    "subtopic_family": ["name"],
    "tau_ap": ["reference", "ranking"],
    "tau_h": ["first", "second"],
    "write_judgments": ["judgments", "path"],
    "write_run": ["run", "path"],
    "write_text": ["text", "path"],
}


def test_the_names_are_these_and_sorted():
    assert gf.__all__ == sorted([*TOP, *BELOW, *APART])
    assert len(TOP) <= MOST_AT_THE_TOP
    for place, names in BELOW.items():
        assert getattr(gf, place).__all__ == names == sorted(names)
    for name, each in public_names().items():
        assert inspect.getdoc(each), name


def test_every_name_has_one_place():
    names = [name for module in places().values() for name in module.__all__]
    assert sorted(names) == sorted(set(names))
    table = {place: list(names) for place, names in gf._PLACES.items()}
    assert {place: module.__all__ for place, module in places().items()} == table
    assert set(names) == {*public_names(), *BELOW, *APART}


@pytest.mark.parametrize("place", ["gainful", *(f"gainful.{name}" for name in BELOW)])
def test_a_place_can_be_imported_and_shows_its_names_alone(place):
    """In a process of its own, in which nothing else has been imported."""
    code = f"""
import {place} as module
shown = dir(module)
found = [getattr(module, name) for name in module.__all__]
from {place} import *
assert found == [globals()[name] for name in module.__all__]
assert dir(module) == shown, "before and after names were asked for"
print(*shown)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = sorted(places()[place].__all__)
    assert done.stdout.split() == sorted([*expected, *["__version__"] * (place == "gainful")])


def test_places_need_no_import_of_their_own():
    uses = ", ".join(f"gf.{place}.{names[0]}" for place, names in BELOW.items())
    done = subprocess.run(
        [sys.executable, "-c", f"import gainful as gf; print(len(({uses})))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(len(BELOW))]


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("Scores", "gainful", "gainful.results"),
        ("InputError", "gainful", "gainful.errors"),
        ("rbo", "gainful", "gainful.statistics"),
        ("render", "gainful", "gainful.writing"),
        ("Pool", "gainful.judging", "gainful.results"),
        ("evaluate", "gainful.results", "gainful"),
        ("Choice", "gainful.comparison", "gainful.measures"),
    ],
)
def test_a_name_in_the_wrong_place_is_told_the_right_one(name, wrong, right):
    with pytest.raises(AttributeError) as problem:
        getattr(places()[wrong], name)
    assert str(problem.value) == f"module {wrong!r} has no attribute {name!r}; it is {right}.{name}"
    code = f"import gainful; {wrong}.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == f"AttributeError: {problem.value}"


@pytest.mark.parametrize(("old", "new"), gf._MOVED.items())
def test_a_name_that_moved_works_with_a_warning(old, new):
    place, _, name = old.rpartition(".")
    with pytest.warns(gf.errors.GainfulWarning) as warnings:
        value = getattr(importlib.import_module(place), name)
    module, _, name = new.rpartition(".")
    assert value is getattr(
        importlib.import_module(module.replace(".losses", ".training.losses")), name
    )
    assert [str(warning.message) for warning in warnings] == [
        f"{old} is now {new}. The old name works until the next release."
    ]
    assert warnings[0].filename == __file__
    assert old not in {f"{place}.{name}" for place, names in gf._PLACES.items() for name in names}


def test_a_name_that_is_nowhere_is_refused_as_python_does():
    for place, module in places().items():
        with pytest.raises(AttributeError, match=rf"module '{place}' has no attribute 'nothing'$"):
            _ = module.nothing
        assert not hasattr(module, "nothing")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from gainful.results import nothing")  # noqa: S102


TOPICS = {f"gainful.{topic}" for topic in gf._TOPICS}


def stub_of(place):
    """The stub of a place: of a topic, which has no module of its own, beside the package."""
    if place in TOPICS:
        return Path(gf.__file__).parent / f"{place.removeprefix('gainful.')}.pyi"
    return Path(importlib.import_module(place).__file__).with_suffix(".pyi")


def test_stubs_offer_what_the_places_do():
    """Type checkers and editors read the stubs alone."""
    for place, module in places().items():
        stub = stub_of(place)
        if place == "gainful.errors":
            assert not stub.exists()  # it defines its names itself
            continue
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        offered = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in imports
            for alias in node.names
            if node.module.startswith("gainful")
        }
        assert sorted(offered) == module.__all__
        for name, (source, inside) in offered.items():
            found = getattr(module, name)
            try:
                assert found is getattr(importlib.import_module(source), inside)
            except AttributeError:
                assert found is importlib.import_module(f"{source}.{inside}")
        lists = [node.value for node in tree.body if isinstance(node, ast.Assign)]
        assert [ast.literal_eval(each) for each in lists] == [module.__all__]


def test_everything_after_the_data_is_by_keyword():
    functions = {name: each for name, each in public_names().items() if inspect.isfunction(each)}
    assert set(functions) == set(BY_PLACE)
    for name, expected in BY_PLACE.items():
        parameters = inspect.signature(functions[name]).parameters.values()
        named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        by_place = [p.name for p in parameters if p.kind not in named]
        assert by_place == expected, name


def test_no_package_and_no_file_beside_it_bears_the_name_of_what_a_place_offers():
    """Importing a module sets it as an attribute of its package: it would take the place."""
    packages = {path.name for path in Path(gf.__file__).parent.iterdir() if path.is_dir()}
    assert packages & set(BY_PLACE) == set()
    for place, module in places().items():
        file = stub_of(place).with_suffix("") if place in TOPICS else Path(module.__file__)
        if file.stem == "__init__":
            beside = {path.stem for path in file.parent.iterdir()}
            assert beside & {*module.__all__} - {*BELOW, *APART} == set(), place


def test_defaults_come_from_the_catalogue():
    defaults = {
        parameter.name: parameter.default
        for family in gf.measures.families(needs="grades")
        for parameter in family.parameters
    }
    families = dict.fromkeys((gf.cg, gf.dcg, gf.idcg, gf.ndcg), "nDCG")
    families |= dict.fromkeys((gf.precision, gf.recall, gf.ap, gf.rr), "AP")
    for function, family in families.items():
        for name, parameter in inspect.signature(function).parameters.items():
            if name in defaults:
                measure = gf.Measure(family, **{name: parameter.default})
                assert measure.parameters[name] == defaults[name]


def listed_choices(documented, choices):
    """Yield the arguments whose entry in a docstring lists choices, and the words that it lists."""
    entries = re.findall(
        r"^    (\w+): (.*(?:\n        .*)*)", inspect.getdoc(documented) or "", flags=re.MULTILINE
    )
    for name, text in entries:
        words = set(re.findall(r"[\w-]+", text)) & set(choices.get(name, ()))
        if len(words) > 1:
            yield name, words | set(re.findall(r"`([\w-]+)", text))


def test_docstrings_list_the_choices_that_there_are():
    from gainful.measures import discount, gain

    choices = {"gain": gain.FORMS, "discount": discount.FORMS, **gf.comparison.comparison_choices()}
    documented = [*public_names().values()]
    documented += [getattr(gf.metrics, name) for name in gf.metrics.__all__]
    documented += [gf.losses.Common]
    found = [
        (getattr(one, "__name__", ""), name, words)
        for one in documented
        for name, words in listed_choices(one, choices)
    ]
    for place, name, words in found:
        assert words == set(choices[name]), f"{place}: {name}"
    places = {(place, name) for place, name, _ in found}
    assert {("dcg", "discount"), ("ndcg", "gain"), ("Common", "discount")} <= places
    assert {("ComparisonOptions", name) for name in ("test", "correction", "interval")} <= places


def test_a_choice_that_a_docstring_lacks_is_seen():
    def function():
        """Return nothing.

        Args:
            gain: `linear`, `exp2` or
                `square`.
            discount: any.
        """

    choices = {"gain": ["linear", "exp2", "binary"], "discount": ["log", "none"]}
    assert list(listed_choices(function, choices)) == [("gain", {"linear", "exp2", "square"})]


def test_an_optional_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    table = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}).per_query
    with pytest.raises(gf.errors.MissingDependencyError, match="pip install polars"):
        table.to_polars()


def test_every_error_is_of_the_one_tree():
    for name in {*gf.errors.__all__} - {"CODES"}:
        value = getattr(gf.errors, name)
        assert issubclass(value, gf.errors.GainfulError) != issubclass(value, Warning)


# What may be anything: values that are checked when they are read, and options that are passed on.
ANYTHING = {
    ("Choice.read", "value"),
    ("Measure.having", "parameters"),
    ("assert_not_worse", "options"),
}


def untyped(functions):
    """Yield the arguments of functions that are annotated as nothing in particular."""
    for name, function in functions.items():
        for parameter in inspect.signature(function).parameters.values():
            bare = str(getattr(parameter.annotation, "__name__", parameter.annotation))
            if parameter.name != "self" and bare.removeprefix("typing.").removesuffix(
                " | None"
            ) in (
                "object",
                "Any",
                "_empty",
            ):
                yield name, parameter.name


def test_arguments_have_types_in_every_public_function():
    functions = {}
    for name, one in public_names().items():
        if inspect.isfunction(one):
            functions[name] = one
        elif inspect.isclass(one):
            methods = inspect.getmembers(one, callable)
            functions |= {
                f"{name}.{of}": method for of, method in methods if of[0] != "_" and of in vars(one)
            }
    assert len(functions) > 150
    assert {*untyped(functions)} == ANYTHING


def test_an_argument_without_a_type_is_seen():
    def function(judgments: object, run, runs: list[str]): ...

    assert [*untyped({"f": function})] == [("f", "judgments"), ("f", "run")]
