"""`check_measure` finds what is wrong with a measure, and nothing wrong with those of the catalogue."""

import numpy as np
import pytest

import gainful as gf

FINITE, ALONE, ANY_ORDER, ANY_NAMES = (
    "a finite value within its range",
    "the same alone as among other queries",
    "the same in any order of queries",
    "the same whatever the documents' names are",
)
UP, BEST, TAIL, TIES = (
    "no lower where a better document moves up",
    "highest where the best come first",
    "the same with unjudged documents after the end",
    "a value when ties are averaged",
)


def lacking(measure, **options):
    found = gf.measures.check_measure(measure, **options)
    assert found.sound == (not {FINITE, ALONE, ANY_ORDER, ANY_NAMES} & _not(found))
    return _not(found)


def _not(found):
    return {name for name, example in found.found.items() if example is not None}


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("nDCG@5", set()),
        ("nDCG", set()),
        ("P@5", set()),
        ("P", {TAIL}),  # a share of all that was retrieved
        ("AP", set()),
        ("RR", set()),
        ("CG", set()),
        ("NumRet", {TAIL}),
        ("RBP", set()),
        ("0.5*nDCG@10 + 0.5*RR", set()),
        ("1 - AP", {UP, BEST}),
    ],
)
def test_measures_of_the_catalogue(measure, expected):
    assert lacking(measure, lists=80) == expected


def test_every_family_is_sound():
    for family in gf.measures.families(needs="grades"):
        cutoff = None if family.cutoff == "never" else 5
        measure = gf.Measure(family.name, cutoff=cutoff)
        assert gf.measures.check_measure(measure, lists=20).sound, measure


def _own(function, **options):
    return gf.measures.define("Own", **options)(function)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (_own(lambda found: found.grade.max(), per_query=True), {FINITE}),
        (_own(lambda lists: lists.sums(lists.grade), range=(0, 5)), {FINITE}),
        (_own(lambda lists: np.arange(len(lists)) + 1.0), {ALONE, ANY_ORDER}),
        (_own(lambda lists: lists.sums(lists.grade / lists.rank) / len(lists)), {ALONE}),
        (_own(lambda lists: lists.sums(lists.grade * lists.rank)), {UP, BEST}),
        (_own(lambda lists: lists.retrieved, ties=True), {TAIL}),
    ],
    ids=range(6),
)
def test_what_is_wrong_is_found(measure, expected):
    found = lacking(measure, lists=60)
    assert expected <= found
    assert not ({FINITE, ALONE, ANY_ORDER, ANY_NAMES} - expected) & found
    assert (TIES in found) == (not measure.own.ties)


def test_what_it_shows():
    @gf.measures.define("Halved", per_query=True)
    def halved(found):
        return found.grade.sum() / found.judged.sum()

    found = gf.measures.check_measure(halved, lists=20)
    shown = " ".join(str(found).split())
    assert "not sound: a finite value within its range" in shown
    assert "[0, 0]: Halved, function" in shown
    assert found.to_pandas().shape == (8, 3)
    with pytest.raises(gf.errors.InputError, match="lists: expected a whole number from 1"):
        gf.measures.check_measure("AP", lists=0)
    with pytest.raises(gf.errors.MeasureError):
        gf.measures.check_measure("nope")
