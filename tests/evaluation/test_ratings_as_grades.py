"""Ratings as grades: a measure whose threshold counts the worst of them as relevant says so, once."""

import random
import warnings

import numpy as np
import pandas as pd
import pytest

import gainful as gf
from gainful.errors import GainfulWarning
from gainful.evaluation.request import warn_of_ratings
from gainful.measures.measure_family import ALWAYS

LOOK = "look like ratings"
STARS = {
    "1 to 5": ([1, 2, 3, 4, 5], 4),
    "1, 3 and 5": ([1, 3, 5], 4),
    "halves": ([0.5, 1, 2.5, 4, 4.5, 5], 4),
    "halves without the top": ([0.5, 1.5, 3, 4.5], 4),
    "1 to 10": ([1, 2, 4, 5, 8, 10], 8),
    "1 to 10 without the top": ([1, 3, 5, 7, 9], 8),
}
OTHERS = {
    "graded": [0, 1, 2, 3],
    "0 to 5": [0, 1, 2, 3, 4, 5],
    "relevant": [1],
    "1 to 3": [1, 2, 3],
    "1 to 4": [1, 2, 3, 4],
    "two grades": [1, 5],
    "harmful": [-1, 1, 2, 5],
    "fractions": [0.3, 1.2, 5],
    "counts": [1, 2, 3, 40],
    "good ratings alone": [3, 4, 5],
}
THRESHOLDS = [
    family
    for family in gf.measures.families(needs="grades")
    if any(parameter.name == "rel" for parameter in family.parameters)
]


def data(grades):
    draw = random.Random(3)  # noqa: S311
    judgments = {f"q{n}": {f"d{at}": grade for at, grade in enumerate(grades)} for n in range(8)}
    run = {query: {doc: draw.random() for doc in docs} for query, docs in judgments.items()}
    return judgments, run


def told(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in seen if LOOK in str(each.message)]


@pytest.mark.parametrize("scale", STARS)
def test_every_scale_of_ratings_is_warned_of(scale):
    grades, good = STARS[scale]
    judgments, run = data(grades)
    (message,) = told(lambda: gf.evaluate(judgments, run, "R@10"))
    assert f"R(rel={good})@10" in message
    assert told(lambda: gf.evaluate(judgments, run, f"R(rel={good})@10")) == []
    assert told(lambda: gf.evaluate(judgments, run, "R(rel=0.5)@10")) == []
    assert told(lambda: gf.evaluate(judgments, run, ["nDCG@10", "DCG", "CG@3", "Judged@5"])) == []


@pytest.mark.parametrize("scale", OTHERS)
def test_other_grades_are_not(scale):
    judgments, run = data(OTHERS[scale])
    if min(OTHERS[scale]) < 0:
        assert told(lambda: gf.evaluate(judgments, run, "R@10", policy={"negative": "keep"})) == []
    else:
        assert told(lambda: gf.evaluate(judgments, run, "R@10")) == []


@pytest.mark.parametrize("family", THRESHOLDS, ids=lambda family: family.name)
def test_every_family_with_a_threshold_is_warned_of(family):
    default = next(one.default for one in family.parameters if one.name == "rel")
    needs = family.cutoff == ALWAYS
    measure = gf.Measure(family.name, cutoff=3 if needs else None)
    said = told(lambda: warn_of_ratings([1, 2, 3, 4, 5], [measure], "judgments"))
    assert len(said) == (1 if default == 1 else 0)


def test_the_families_are_those_with_a_threshold():
    assert {"P", "R", "AP", "RR", "Success"} <= {family.name for family in THRESHOLDS}


FORMS = {
    "dict": lambda j, r: gf.evaluate(j, r, "P@5"),
    "several measures": lambda j, r: gf.evaluate(j, r, ["P@5", "R@5", "AP", "nDCG"]),
    "a formula": lambda j, r: gf.evaluate(j, r, "P@5 + R@5"),
    "frames": lambda j, r: gf.evaluate(frame(j, "grade"), frame(r, "score"), "RR"),
    "runs": lambda j, r: gf.evaluate_runs(j, {"one": r, "two": r}, "AP"),
    "compare": lambda j, r: gf.compare(j, {"one": r, "two": r}, "Success@1"),
    "leaderboard": lambda j, r: gf.leaderboard(j, {"one": r, "two": r}, "Success@1"),
    "arrays": lambda j, r: gf.evaluate_arrays(
        labels=np.array([[*docs.values()] for docs in j.values()]),
        scores=np.array([[*docs.values()] for docs in r.values()]),
        measures="AP",
    ),
    "recommendations": lambda j, r: gf.recommending.evaluate_recommendations(
        r, "HitRate@5", judgments=j, items=[{"item": f"d{n}", "genre": "x"} for n in range(9)]
    ),
}


def frame(table, number):
    rows = [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]
    return pd.DataFrame(rows, columns=["query", "doc", number])


@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_measure_warns_once(form):
    judgments, run = data([1, 2, 3, 4, 5])
    (message,) = told(lambda: FORMS[form](judgments, run))
    assert "rel=4" in message


def test_a_dialect_measures_as_its_tool_does():
    judgments, run = data([1, 2, 3, 4, 5])
    assert told(lambda: gf.evaluate(judgments, run, "map", dialect="trec_eval")) == []


def test_it_is_a_warning_of_gainful_at_the_line_of_the_caller():
    judgments, run = data([1, 2, 3, 4, 5])
    with pytest.warns(GainfulWarning, match=LOOK) as seen:
        gf.evaluate(judgments, run, "R@10")
    assert seen[0].filename == __file__
