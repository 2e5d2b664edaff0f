"""The ten measures of the cookbook: sound, and equal to formulas that are written out."""

import doctest
import math
import random
import re
from pathlib import Path

import pytest

import gainful as gf
from gainful.measures.notation import KINDS, forget
from gainful.measures.own_measures import OwnMeasure

pytestmark = [
    pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning"),
    pytest.mark.usefixtures("_no_own_names"),
]

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "measure_cookbook.md"
SEEN = [1, 0.6, 0.4, 0.3, 0.25, 0.2]


@pytest.fixture(scope="module")
def page():
    """What the page defines, after all of it ran; its names do not stay."""
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    before = [dict(names.in_use) for names in KINDS]
    test = parser.get_doctest(PAGE.read_text(), {"__name__": "__main__"}, PAGE.name, str(PAGE), 0)
    runner.run(test, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0
    for names, known in zip(KINDS, before, strict=True):
        names.in_use.clear()
        names.in_use.update(known)
    forget()
    return test.globs


def test_ten_measures_each_with_its_section(page, deep):
    headings = re.findall(r"^## (\d+)\. ", PAGE.read_text(), re.MULTILINE)
    assert headings == [str(number) for number in range(1, 11)]
    assert len(page["ten"]) == 10
    gf.measures.use(page["seen"], page["margin"], page["clean"])
    for measure in page["ten"]:
        found = gf.measures.check_measure(measure, lists=200 if deep else 50, seed=5)
        assert found.sound, str(found)
        if isinstance(measure, OwnMeasure):
            gf.measures.use(measure)
        assert gf.measure(str(measure)) == measure


def above(grades):
    return [max(grade or 0, 0) for grade in grades]


def seen(grades, worth):
    found = zip(grades, SEEN, strict=False)
    return sum(worth(grade) * chance for grade, chance in found)


def propensity(grades, judged):
    best = seen(sorted(above(judged), reverse=True), float)
    return seen(above(grades), float) / best if best else 0.0


def graded_recall(grades, judged):
    return sum(above(grades)) / sum(above(judged)) if sum(above(judged)) else 0.0


def weighted_rr(grades, _):
    return max(grade / 3 / rank for rank, grade in enumerate(above(grades), 1))


def time_biased_gain(grades, _):
    time, total = 0.0, 0.0
    for grade in above(grades):
        if grade >= 1:
            total += 0.4928 * math.exp(-time * math.log(2) / 224)
        time += 4.4 + (0.018 * 400 + 7.8) * (0.64 if grade >= 1 else 0.39)
    return total


def net_ndcg(grades, judged):
    def net(listed):
        return sum((grade - 0.5) / math.log2(rank + 1) for rank, grade in enumerate(listed, 1))

    best = net(sorted([grade for grade in judged if grade > 0.5], reverse=True)[:10])
    return net(above(grades)) / best if best else 0.0


def revenue(grades, _):
    return seen(above(grades), lambda price: max(0.2 * price - 1, 0))


def first(grades):
    return next((rank for rank, grade in enumerate(above(grades), 1) if grade >= 1), None)


def patient_success(grades, _):
    return 0.8 ** (first(grades) - 1) if first(grades) else 0.0


def search_length(grades, _):
    return first(grades) - 1 if first(grades) else len(grades)


def guarded(grades, judged):
    def dcg(listed):
        return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(listed, 1))

    best = dcg(sorted(above(judged), reverse=True)[:10])
    bad = any(grade is not None and grade < 0 for grade in grades[:3])
    return 0.0 if bad or not best else dcg([grade or 0 for grade in grades]) / best


def session_dcg(grades, _):
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(above(grades), 1))


LITERAL = (
    propensity, graded_recall, weighted_rr, time_biased_gain, net_ndcg, revenue, patient_success,
    search_length, guarded, session_dcg,
)  # fmt: skip


@pytest.mark.parametrize("place", range(10), ids=[each.__name__ for each in LITERAL])
def test_the_same_as_its_formula(page, place):
    measure, literal = page["ten"][place], LITERAL[place]
    choices = (None, None, 0, 0, 1, 2, 3) if literal is not guarded else (None, -2, 0, 0, 1, 3)
    for seed in range(60):
        rng = random.Random(seed)  # noqa: S311
        grades = [rng.choice(choices) for _ in range(rng.randint(1, 10))]
        also = [rng.choice((0, 1, 3)) for _ in range(rng.randint(1, 3))]
        judged = [grade for grade in (*grades, *also) if grade is not None]
        expected = literal(grades, judged)
        assert page["value"](measure, grades, also) == pytest.approx(expected, abs=6e-5), grades


def test_search_length_is_the_mean_over_the_orders_of_ties(page):
    """Cooper's closed form is the mean over all orders, tried one by one."""
    from itertools import permutations

    for wanted in (1, 2, 3):
        measure = page["search_length"](wanted=wanted)
        judged = {"a": 0, "b": 1, "c": 1, "d": 0, "e": 1}
        scores = {"a": 5, "b": 3, "c": 3, "d": 3, "x": 3, "e": 1}
        found = gf.evaluate({"q": judged}, {"q": scores}, measure, policy={"ties": "average"})
        lengths = []
        for block in permutations("bcdx"):
            order = ["a", *block, "e"]
            places = [at for at, doc in enumerate(order) if judged.get(doc)]
            lengths.append(places[wanted - 1] - (wanted - 1))
        assert found.values[0, 0] == pytest.approx(sum(lengths) / len(lengths))
