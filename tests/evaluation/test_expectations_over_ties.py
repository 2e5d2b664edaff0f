"""Ties: the exact expectation, the best and the worst, against every order of the tied documents."""

import functools
import itertools
import random
from typing import NamedTuple

import pytest

import gainful as gf
from gainful.measures.measure import family as look_up
from oracles import ORACLES, PERMUTATIONS, vouched
from random_measures import expected, per_query, random_parameters

GRADES = (0, 0, 1, 1, 2, 3, 4, 0.5, None, None)
WITH_NEGATIVE = (*GRADES, -1, -2)
CUTOFFS = (None, 1, 2, 3, 4, 5, 7)

# Families in which the better of two documents never stands too high, with its parameters.
BY_GRADE = (
    *("AP", "RR", "P", "R", "F", "RelP", "Success", "RBP", "ERR", "nERR"),
    *("CG", "DCG", "nDCG", "SDCG", "NumRelRet", "Rprec", "GMAP", "iprec", "11pt", "binG"),
)

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


def random_blocks(rng, grades):
    """Grades in blocks of one score each, at least one of them a tie, and those not retrieved."""
    sizes = rng.choice([(2,), (4,), (1, 3), (2, 3), (3, 1, 2), (1, 4, 1), (2, 2, 2), (1, 1, 3)])
    blocks = [[rng.choice(grades) for _ in range(size)] for size in sizes]
    unseen = [rng.choice([grade for grade in grades if grade is not None]) for _ in range(2)]
    return blocks, unseen[: rng.randint(0, 2)] or [1]


def orders(blocks):
    for choice in itertools.product(*(itertools.permutations(block) for block in blocks)):
        yield [grade for block in choice for grade in block]


def tied_run(blocks, unseen, rng):
    """The judgments and the run of one query in which each block has one score."""
    documents = [(grade, -place) for place, block in enumerate(blocks) for grade in block]
    ids = rng.sample(range(100), len(documents))
    run = {f"d{number}": score for number, (_, score) in zip(ids, documents, strict=True)}
    judged = {
        f"d{number}": grade
        for number, (grade, _) in zip(ids, documents, strict=True)
        if grade is not None
    }
    judged |= {f"u{place}": grade for place, grade in enumerate(unseen)}
    return {"q": judged}, {"q": run}


class Case(NamedTuple):
    """Tied lists, and for each family a random measure with the literal value of every order."""

    blocks: list
    unseen: list
    measures: dict
    values: dict
    judgments: dict
    run: dict

    def found(self, names, **choices):
        """Evaluate the measures of some families at once, {query: {measure: value}}."""
        return per_query(self.judgments, self.run, [self.measures[n] for n in names], **choices)


@functools.cache
def cases(names, grades, count):
    return [case(number, names, grades) for number in range(count)]


def case(number, names, grades):
    rng = random.Random(f"ties {number}")  # noqa: S311
    blocks, unseen = random_blocks(rng, grades)
    measures, values = {}, {}
    for name in names:
        family = look_up(name)
        parameters = random_parameters(rng, family)
        cutoffs = {"never": CUTOFFS[:1], "always": CUTOFFS[1:], "optional": CUTOFFS}
        k = rng.choice(cutoffs[family.cutoff])
        measures[name] = gf.Measure(name, cutoff=k, **parameters)
        values[name] = [
            expected(name, order, unseen, k=k, **parameters) for order in orders(blocks)
        ]
    return Case(blocks, unseen, measures, values, *tied_run(blocks, unseen, rng))


AVERAGED = tuple(vouched(PERMUTATIONS))


@functools.cache
def averaged():
    return [
        (each, each.found(AVERAGED, ties="average")["q"])
        for each in cases(AVERAGED, WITH_NEGATIVE, 120)
    ]


@pytest.mark.parametrize("name", AVERAGED)
def test_average_is_the_mean_over_all_orders(name):
    differing = 0
    for (blocks, unseen, measures, values, *_), found in averaged():
        measure, literal = str(measures[name]), values[name]
        mean = sum(literal) / len(literal)
        assert found[measure] == pytest.approx(mean, rel=1e-10, abs=1e-12), (
            measure,
            blocks,
            unseen,
        )
        differing += max(literal) - min(literal) > 1e-9
    family = look_up(name)
    ordered = family.needs_run and (family.cutoff != "never" or name == "GMAP")
    # What has no cutoff and no order is the same in all; NumRet is as long as its list.
    assert differing > 10 or not ordered or name == "NumRet"


@pytest.mark.parametrize("name", [name for name in ORACLES if name not in AVERAGED])
def test_where_no_expectation_is_known_ties_are_refused(name):
    family = look_up(name)
    measure = gf.Measure(name, cutoff=2 if family.cutoff == "always" else None)
    judgments, tied = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 1, "b": 1, "c": 0}}
    average = gf.Policy(ties="average")
    with pytest.raises(gf.errors.InputError, match=r"ties=average.*tied documents"):
        gf.evaluate(judgments, tied, measure, policy=average)
    # Beside a measure that has one, and without ties.
    with pytest.raises(gf.errors.InputError, match=r"ties=average.*tied documents"):
        gf.evaluate(judgments, tied, ["AP", measure], policy=average)
    untied = {"q": {"a": 2, "b": 1, "c": 0}}
    ours = gf.evaluate(judgments, untied, measure, policy=average)[measure]
    assert ours == gf.evaluate(judgments, untied, measure, policy=gf.Policy(ties="doc"))[measure]


@functools.cache
def best_and_worst():
    return [
        (each, [(ties, each.found(BY_GRADE, ties=ties)["q"]) for ties in ("best", "worst")])
        for each in cases(BY_GRADE, GRADES, 100)
    ]


@pytest.mark.parametrize("name", BY_GRADE)
def test_best_and_worst_are_the_extremes_of_all_orders(name):
    differing = 0
    for (blocks, unseen, measures, values, *_), both in best_and_worst():
        measure, literal = str(measures[name]), values[name]
        if "{" in measure:
            continue  # a table may turn the grades upside down
        for ties, found in both:
            extreme = (max if ties == "best" else min)(literal)
            assert found[measure] == pytest.approx(extreme, rel=1e-10, abs=1e-12), (
                measure,
                ties,
                blocks,
                unseen,
            )
        differing += max(literal) - min(literal) > 1e-9
    assert differing > 5


@functools.cache
def settled(ties):
    """Cases with the values of the tied list, and of the list that the rule makes of it."""
    found = []
    for each in cases(tuple(ORACLES), GRADES, 25):
        run = each.run["q"]
        order = list(run)
        if ties != "order":
            order.sort(reverse=ties == "doc")
        order.sort(key=run.get, reverse=True)
        judged = each.judgments["q"]
        both = each._replace(
            judgments={"q": judged, "settled": judged},
            run={"settled": {doc: -rank for rank, doc in enumerate(order)}, "q": run},
        )
        found.append((each, both.found(ORACLES, ties=ties)))
    return found


@pytest.mark.parametrize("ties", ["doc", "doc_ascending", "order"])
@pytest.mark.parametrize("name", ORACLES)
def test_a_rule_that_settles_ties_gives_the_value_of_its_order(name, ties):
    for each, found in settled(ties):
        measure = str(each.measures[name])
        value = found["q"][measure]
        assert value == found["settled"][measure]
        assert any(value == pytest.approx(one, rel=1e-9, abs=1e-12) for one in each.values[name])
