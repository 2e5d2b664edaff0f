"""The public names are those promised, each documented and with its arguments by keyword."""

import inspect
import re

import pytest

import gainful as gf

pytestmark = pytest.mark.public_api

PUBLIC = [
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
# The data comes first, by place; everything else by keyword.
BY_PLACE = {
    "dialect": ["name"],
    "dialects": [],
    "which": ["judgments", "run", "measure"],
    "why": ["judgments", "run", "measure"],
    "assert_not_worse": ["judgments", "base", "run", "measures"],
    "compare": ["judgments", "runs", "measures"],
    "report": ["judgments", "runs", "measures"],
    "compare_scores": ["tables", "measures"],
    "comparison_choices": [],
    "power": [],
    "attribute": ["judgments", "base", "run", "measure"],
    "bounds_of_runs": ["judgments", "runs", "measures"],
    "inferred_ap": ["samples", "run", "measure"],
    "inferred_ndcg": ["samples", "run", "measure"],
    "bounds": ["judgments", "run", "measures"],
    "curve": ["judgments", "run", "measure"],
    "evaluate_subtopics": ["judgments", "run", "measures"],
    "random_order": ["judgments", "run", "measure"],
    "catalogue": [],
    "idcg": ["grades"],
    "precision": ["grades"],
    "recall": ["grades"],
    "ap": ["grades"],
    "rr": ["grades"],
    "cg": ["grades"],
    "check": ["judgments", "runs"],
    "choices": [],
    "dcg": ["grades"],
    "endings": [],
    "evaluate": ["judgments", "run", "measures"],
    "evaluate_arrays": [],
    "evaluate_runs": ["judgments", "runs", "measures"],
    "explain": ["judgments", "run", "measure"],
    "explain_grades": ["grades", "measure"],
    "family": ["name"],
    "find_runs": ["runs"],
    "formats": [],
    "kendall_tau": ["first", "second"],
    "loss": ["measure"],
    "measure": ["text"],
    "ndcg": ["grades"],
    "next_to_judge": ["judgments", "runs", "measure"],
    "pool": ["runs"],
    "pool_bias": ["judgments", "runs", "measure"],
    "rbo": ["first", "second"],
    "read_baseline": ["path"],
    "read_chunk_map": ["path"],
    "read_subtopics": ["judgments"],
    "render": ["result", "format"],
    "save_baseline": ["scores", "path"],
    "subtopic_catalogue": [],
    "subtopic_family": ["name"],
    "tau_ap": ["reference", "ranking"],
    "write_judgments": ["judgments", "path"],
    "write_run": ["run", "path"],
    "write_text": ["text", "path"],
}


def test_the_names_are_these_and_sorted():
    assert gf.__all__ == PUBLIC == sorted(PUBLIC)
    for name in PUBLIC:
        assert inspect.getdoc(getattr(gf, name)), name


def test_everything_after_the_data_is_by_keyword():
    functions = {name for name in PUBLIC if inspect.isfunction(getattr(gf, name))}
    assert functions == set(BY_PLACE)
    for name, expected in BY_PLACE.items():
        parameters = inspect.signature(getattr(gf, name)).parameters.values()
        named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        by_place = [p.name for p in parameters if p.kind not in named]
        assert by_place == expected, name


def test_no_package_bears_the_name_of_a_public_function():
    from pathlib import Path

    packages = {path.name for path in Path(gf.__file__).parent.iterdir() if path.is_dir()}
    assert packages & set(BY_PLACE) == set()


def test_defaults_come_from_the_catalogue():
    defaults = {
        parameter.name: parameter.default
        for family in gf.catalogue()
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

    choices = {"gain": gain.FORMS, "discount": discount.FORMS, **gf.comparison_choices()}
    documented = [getattr(gf, name) for name in PUBLIC]
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
    assert {("compare", name) for name in ("test", "correction", "interval")} <= places


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
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    table = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}).per_query
    with pytest.raises(gf.MissingDependencyError, match="pip install polars"):
        table.to_polars()


def test_every_error_is_of_the_one_tree():
    for name in PUBLIC:
        value = getattr(gf, name)
        if (
            isinstance(value, type)
            and issubclass(value, Exception)
            and not issubclass(value, Warning)
        ):
            assert issubclass(value, gf.GainfulError)
