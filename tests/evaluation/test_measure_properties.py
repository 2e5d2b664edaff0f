"""What holds of each family by its definition, as data: every claim is checked, yes and no alike.

A claim that holds must survive hundreds of random lists; one that does not must fail on some.
The lists have grades from 0 to 4 and unjudged documents, the parameters are the defaults.
"""

import functools
import math
import random
from typing import NamedTuple

import pytest

import gainful as gf
from gainful.measures.measure import family as look_up
from random_measures import as_dicts, per_query, random_list

INFINITE = math.inf
GRADES = (0, 0, 1, 2, 3, 4)
CASES = 1000

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


class Row(NamedTuple):
    """The claims about a family.

    `low` and `high` bound it. `swap`: moving a better document up one rank never lowers it.
    `order`: it depends on the order. `below`: the order below the last document of a positive
    grade changes nothing. `append`: neither does an unjudged document at the end. `perfect`: all
    documents of a positive grade, best first, and no other, give 1.
    """

    low: float
    high: float
    swap: bool = True
    order: bool = True
    below: bool = True
    append: bool = True
    perfect: bool = True


PROPERTIES = {
    "CG": Row(0, INFINITE, perfect=False),
    "DCG": Row(0, INFINITE, perfect=False),
    "IDCG": Row(0, INFINITE, order=False, perfect=False),
    "nDCG": Row(0, 1),
    "nDCGrel": Row(0, 1),
    "RnDCG": Row(0, 1, append=False),
    "G": Row(0, 1, swap=False),
    "binG": Row(0, 1),
    "SDCG": Row(0, 1, perfect=False),
    "grid_DCG": Row(0, INFINITE, swap=False, perfect=False),
    "grid_nDCG": Row(0, 1, swap=False, perfect=False),
    "P": Row(0, 1, append=False),
    "R": Row(0, 1),
    "F": Row(0, 1, append=False),
    "RelP": Row(0, 1, append=False),
    "SetAP": Row(0, 1, order=False, append=False),
    "Success": Row(0, 1),
    "Utility": Row(-INFINITE, INFINITE, order=False, append=False, perfect=False),
    "Judged": Row(0, 1, below=False, append=False),
    "Unjudged": Row(0, 1, swap=False, below=False, append=False, perfect=False),
    "UnjudgedMass": Row(0, 1, swap=False, below=False, append=False, perfect=False),
    "NumQ": Row(1, 1, order=False),
    "NumRet": Row(0, INFINITE, order=False, append=False, perfect=False),
    "NumRel": Row(0, INFINITE, order=False, perfect=False),
    "NumRelRet": Row(0, INFINITE, perfect=False),
    "NumNonrelRet": Row(0, INFINITE, swap=False, below=False, perfect=False),
    "AP": Row(0, 1),
    "GMAP": Row(0, 1),
    "RR": Row(0, 1),
    "Rprec": Row(0, 1),
    "iprec": Row(0, 1),
    "11pt": Row(0, 1),
    "bpref": Row(0, 1),
    "GMbpref": Row(0, 1),
    "infAP": Row(0, 1, perfect=False),
    "yaap": Row(-INFINITE, INFINITE, perfect=False),
    "ERR": Row(0, 1, perfect=False),
    "nERR": Row(0, 1),
    "RBP": Row(0, 1, perfect=False),
    "RBPres": Row(0, 1, swap=False, below=False, perfect=False),
    "Q": Row(0, 1),
    "GAP": Row(0, 1),
    "INST": Row(0, 1, perfect=False),
    "INSQ": Row(0, 1, perfect=False),
    "BPM": Row(0, 1),
    "ETG": Row(0, INFINITE, perfect=False),
    "ED": Row(1, INFINITE, order=False, perfect=False),
    "Compat": Row(0, 1),
}
ROWS = list(PROPERTIES.items())


def measures_of(name):
    """The measure of a family without a cutoff, and at one, where it may have either."""
    family = look_up(name)
    cutoffs = {"never": (None,), "always": (5,), "optional": (None, 3)}[family.cutoff]
    return [gf.Measure(name, cutoff=cutoff) for cutoff in cutoffs]


@functools.cache
def lists():
    rng = random.Random("properties")  # noqa: S311
    drawn = [random_list(rng, GRADES) for _ in range(CASES)]
    return [(listed, [*unseen, 0]) for listed, unseen in drawn]


EVERY = [
    measure
    for family in gf.measures.families(needs="grades")
    for measure in measures_of(family.name)
]


def values(pairs):
    """The values of every measure: a list for each, in the order of the lists."""
    found = per_query(*as_dicts(pairs), EVERY)
    return {
        measure: [found[f"q{number}"][str(measure)] for number in range(len(pairs))]
        for measure in EVERY
    }


@functools.cache
def moved_by(change):
    """By how much a change of the lists moves each value, where it applies: a list for each measure."""
    rng = random.Random(change.__name__)  # noqa: S311
    before, after = [], []
    for listed, unseen in lists():
        changed = change(list(listed), rng)
        if changed is not None:
            before.append((listed, unseen))
            after.append((changed, unseen))
    olds, news = values(before), values(after)
    return {
        measure: [new - old for old, new in zip(olds[measure], news[measure], strict=True)]
        for measure in EVERY
    }


def differences(name, change):
    return [moved for measure in measures_of(name) for moved in moved_by(change)[measure]]


def swapped(listed, rng):
    """A document above one that is worse than it, which stood below it."""
    places = [i for i in range(len(listed) - 1) if (listed[i] or 0) < (listed[i + 1] or 0)]
    if not places:
        return None
    place = rng.choice(places)
    listed[place], listed[place + 1] = listed[place + 1], listed[place]
    return listed


def shuffled(listed, rng):
    return rng.sample(listed, len(listed))


def shuffled_below(listed, rng):
    last = max((place for place, grade in enumerate(listed) if grade), default=-1) + 1
    return listed[:last] + rng.sample(listed[last:], len(listed) - last)


def appended(listed, rng):
    return [*listed, None]


def test_every_family_has_its_row():
    assert PROPERTIES.keys() == {family.name for family in gf.measures.families(needs="grades")}


@functools.cache
def values_of_lists():
    return values(lists())


@pytest.mark.parametrize(("name", "row"), ROWS, ids=PROPERTIES)
def test_bounds(name, row):
    found = [value for measure in measures_of(name) for value in values_of_lists()[measure]]
    assert row.low <= min(found)
    assert max(found) <= row.high
    if row.low == -INFINITE:
        assert min(found) < 0
    if row.high == INFINITE:
        assert max(found) > 1


@pytest.mark.parametrize(("name", "row"), ROWS, ids=PROPERTIES)
def test_a_better_document_moves_up(name, row):
    assert (min(differences(name, swapped)) >= -1e-12) == row.swap


@pytest.mark.parametrize(("name", "row"), ROWS, ids=PROPERTIES)
def test_the_order(name, row):
    assert any(abs(moved) > 1e-9 for moved in differences(name, shuffled)) == row.order


@pytest.mark.parametrize(("name", "row"), ROWS, ids=PROPERTIES)
def test_the_order_below_the_last_good_document(name, row):
    assert all(abs(moved) < 1e-12 for moved in differences(name, shuffled_below)) == row.below


@pytest.mark.parametrize(("name", "row"), ROWS, ids=PROPERTIES)
def test_an_unjudged_document_at_the_end(name, row):
    assert all(abs(moved) < 1e-12 for moved in differences(name, appended)) == row.append


@functools.cache
def values_of_perfect_lists():
    perfect = []
    for listed, unseen in lists():
        known = [grade for grade in (*listed, *unseen) if grade is not None]
        good = sorted((grade for grade in known if grade > 0), reverse=True)
        if good:
            perfect.append((good, [grade for grade in known if grade == 0]))
    return values(perfect)


@pytest.mark.parametrize(("name", "row"), ROWS, ids=PROPERTIES)
def test_a_perfect_list(name, row):
    # The first has no cutoff, where there may be none.
    whole = values_of_perfect_lists()[measures_of(name)[0]]
    assert all(value == pytest.approx(1, rel=0, abs=1e-15) for value in whole) == row.perfect


def of_measures(found, measures):
    """Some measures of the values of every query."""
    names = [str(measure) for measure in measures]
    return {query: [values[name] for name in names] for query, values in found.items()}


@functools.cache
def renamed_lists():
    """The values of lists, of the same under other names, and of a few of them alone."""
    rng = random.Random("names")  # noqa: S311
    judgments, run = as_dicts(lists()[:120])
    renamed, rescored = {}, {}
    for query in rng.sample(list(run), len(run)):
        ids = [*judgments[query], *(doc for doc in run[query] if doc not in judgments[query])]
        new = dict(zip(ids, rng.sample(range(1000), len(ids)), strict=True))
        renamed[query] = {f"n{new[doc]}": grade for doc, grade in judgments[query].items()}
        rescored[query] = {
            f"n{new[doc]}": math.atan(score / 4) * 1e3 - 7 for doc, score in run[query].items()
        }
    few = rng.sample(list(run), 10)
    alone = ({query: table[query] for query in few} for table in (judgments, run))
    return [
        per_query(*both, EVERY) for both in ((judgments, run), (renamed, rescored), tuple(alone))
    ]


@pytest.mark.parametrize("name", PROPERTIES)
def test_ids_scores_and_other_queries_say_nothing(name):
    """New ids, other scores in the same order, queries in another order, and fewer of them."""
    expected, renamed, alone = (of_measures(each, measures_of(name)) for each in renamed_lists())
    assert renamed == expected
    assert len(alone) == 10
    assert alone == {query: expected[query] for query in alone}


WITH_CUTOFF = [
    family.name for family in gf.measures.families(needs="grades") if family.cutoff != "never"
]


@functools.cache
def lists_below_a_cutoff():
    """The values of lists, of the same in another order below the cutoff, and cut there."""
    rng = random.Random("below")  # noqa: S311
    measures = [gf.Measure(name, cutoff=3) for name in WITH_CUTOFF]
    judgments, run = as_dicts(lists()[:200])
    cut, mixed = {}, {}
    for query, scores in run.items():
        docs = sorted(scores, key=scores.get, reverse=True)
        order = docs[:3] + rng.sample(docs[3:], len(docs[3:]))
        mixed[query] = {doc: -rank for rank, doc in enumerate(order)}
        cut[query] = {doc: -rank for rank, doc in enumerate(docs[:3])}
    return [per_query(judgments, each, measures) for each in (run, mixed, cut)]


@pytest.mark.parametrize("name", WITH_CUTOFF)
def test_what_stands_below_the_cutoff_says_nothing(name):
    """Where the judged documents stay the same: those below the cutoff in any order, or not there."""
    expected, mixed, cut = (
        of_measures(each, [gf.Measure(name, cutoff=3)]) for each in lists_below_a_cutoff()
    )
    assert mixed == expected
    assert cut == expected
