"""`ndcg` and its kin of grades in rank order: beside literal formulas, and as `evaluate` has them."""

import inspect
import math
import pydoc
import random

import numpy as np
import pytest

import gainful as gf
from public_names import public_names

FAMILIES = {
    "cg": "CG", "dcg": "DCG", "idcg": "IDCG", "ndcg": "nDCG", "precision": "P", "recall": "R",
    "ap": "AP", "rr": "RR",
}  # fmt: skip
WITH_JUDGED = ("idcg", "ndcg", "recall", "ap")
BINARY = ("precision", "recall", "ap", "rr")


def literal(name, grades, judged, k, rel):
    """The definitions, word by word."""
    top = grades if k is None else grades[:k]
    relevant = [grade >= rel for grade in top]
    found = sum(relevant)
    total = sum(grade >= rel for grade in judged)
    best = sorted(judged, reverse=True)[: len(judged) if k is None else k]
    ideal = sum(grade / math.log2(i + 1) for i, grade in enumerate(best, 1) if grade > 0)
    gained = sum(grade / math.log2(i + 1) for i, grade in enumerate(top, 1))
    first = [i for i, each in enumerate(relevant, 1) if each]
    precisions = [sum(relevant[:i]) / i for i in first]
    return {
        "cg": lambda: sum(top),
        "dcg": lambda: gained,
        "idcg": lambda: ideal,
        "ndcg": lambda: gained / ideal if ideal else 0,
        "precision": lambda: found / (k or len(grades)),
        "recall": lambda: found / total if total else 0,
        "ap": lambda: sum(precisions) / total if total else 0,
        "rr": lambda: 1 / first[0] if first else 0,
    }[name]()


@pytest.mark.parametrize("name", FAMILIES)
def test_literal_formulas(name):
    rng = random.Random(name)  # noqa: S311
    function = getattr(gf, name)
    for _ in range(60):
        grades = rng.choices((0, 0, 1, 2, 3), k=rng.choice((1, 3, 9)))
        judged = [*grades, *rng.choices((0, 1, 3), k=rng.choice((0, 4)))]
        k, rel = rng.choice((None, 1, 2, 5, 20)), rng.choice((1, 2))
        options = {"k": k} | ({"rel": rel} if name in BINARY else {})
        assert function(grades, **options) == pytest.approx(literal(name, grades, grades, k, rel))
        if name in WITH_JUDGED:
            rng.shuffle(judged)
            found = function(grades, judged=judged, **options)
            assert found == pytest.approx(literal(name, grades, judged, k, rel))
            measure = gf.Measure(FAMILIES[name], **options)
            docs = {f"d{i}": -float(i) for i in range(len(grades))}
            known = {f"d{i}": grade for i, grade in enumerate(grades)}
            left = list(judged)
            for grade in grades:
                left.remove(grade)
            known |= {f"e{i}": grade for i, grade in enumerate(left)}
            assert gf.evaluate({"q": known}, {"q": docs}, measure)[measure] == found


@pytest.mark.parametrize("name", FAMILIES)
def test_shapes(name):
    function = getattr(gf, name)
    one, other = [3, 0, 1], [0, 2, 0]
    expected = [function(one, k=2), function(other, k=2)]
    assert all(type(value) is float for value in expected)
    for given in ([one, other], np.array([one, other]), (np.array(one), other)):
        found = function(given, k=2)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == expected
    ragged = function([one, [1]], k=2)
    assert ragged.tolist() == [expected[0], function([1], k=2)]
    if name in WITH_JUDGED:
        found = function([one, other], judged=[[3, 1, 2, 0], [2, 2]], k=2)
        assert found.tolist() == [
            function(one, judged=[3, 1, 2, 0], k=2), function(other, judged=[2, 2], k=2)
        ]  # fmt: skip


@pytest.mark.parametrize("name", WITH_JUDGED)
def test_judged_holds_what_counts_in_the_list(name):
    function = getattr(gf, name)
    with pytest.raises(gf.errors.InputError, match="grade 3: 0 in judged, 1 in the list"):
        function([3, 0], judged=[1, 0])
    with pytest.raises(gf.errors.InputError, match="a list for each list of grades"):
        function([[3, 0], [1]], judged=[3, 0])
    assert function([1, 0, 0], judged=[1, 2]) > 0  # what is not judged may stand as 0


def test_a_grade_below_rel_need_not_be_judged():
    assert gf.recall([1, 2], judged=[2, 2], rel=2) == 0.5


@pytest.mark.parametrize("name", [*FAMILIES, "evaluate_arrays", "explain_grades"])
def test_help_is_readable(name):
    function = public_names()[name]
    shown = inspect.signature(function)
    assert len(str(shown)) < 820, shown
    text = pydoc.plain(pydoc.render_doc(function))
    assert "_SupportsArray" not in text
    assert "_NestedSequence" not in text
    for parameter in shown.parameters:
        assert f"{parameter}: " in text.split("Args:")[1], parameter


@pytest.mark.parametrize("name", FAMILIES)
def test_another_keyword_is_refused_with_the_one_that_was_meant(name):
    with pytest.raises(TypeError, match=rf"^{name}\(\) got .* 'cutoff'\. Did you mean 'k'\?$"):
        getattr(gf, name)([1, 0], cutoff=1)
    with pytest.raises(TypeError, match=r"'top'\. Choices: grades, k"):
        getattr(gf, name)([1, 0], top=1)


def test_k_and_cutoff_are_one_word():
    assert gf.Measure("nDCG", k=10) == gf.Measure("nDCG", cutoff=10) == gf.measure("nDCG@10")
    subtopic = gf.subtopics.SubtopicMeasure("alpha_nDCG", k=5)
    assert subtopic == gf.subtopics.SubtopicMeasure("alpha_nDCG", cutoff=5)
    for make in (gf.Measure, gf.subtopics.SubtopicMeasure):
        name = "nDCG" if make is gf.Measure else "alpha_nDCG"
        with pytest.raises(
            gf.errors.MeasureError, match="one cutoff, as k or as cutoff, found both"
        ):
            make(name, k=5, cutoff=5)
        with pytest.raises(gf.errors.MeasureError, match="a whole number from 1"):
            make(name, k=0)
    for written in ("nDCG(k=10)", "nDCG(cutoff=10)"):
        with pytest.raises(gf.errors.MeasureError, match="a cutoff written @10"):
            gf.measure(written)
    with pytest.raises(TypeError, match=r"'k'\. Did you mean 'cutoff'"):
        gf.check({"q": {"a": 1}}, k=5)
