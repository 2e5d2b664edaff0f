"""Discounts of one's own: a table by rank, and a function of the rank."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import gainful as gf
from random_runs import random_cases

LIST = [3, 2, 3, 0, 1, 2]
JUDGMENTS, RUN = random_cases(range(40), grades=(-1, 0, 0, 1, 2, 3), scores=(0.1, 0.5, 0.7, 3.0))


def log2(ranks):
    return 1 / np.log2(ranks + 1)


def test_a_table_worked_by_hand():
    assert gf.dcg(LIST, discount=[1, 0.5, 0.25]) == 3 + 2 * 0.5 + 3 * 0.25
    assert gf.dcg(LIST, discount="[1, 0.5, 0.25]") == 4.75
    assert gf.dcg(LIST, discount=[1, 0.5, 0.25, ...]) == 4.75 + (0 + 1 + 2) * 0.25
    assert gf.dcg(LIST, k=2, discount=[1, 0.5, 0.25, ...]) == 4
    # The ideal is 3, 3, 2, 2, 1, 0.
    assert gf.ndcg(LIST, discount=[1, 0.5]) == 4 / 4.5
    assert gf.ndcg(LIST, discount=np.array([1, 0.5])) == 4 / 4.5
    assert gf.ndcg([1, 0], judged=[1, 1, 1], discount=(1, 0.5, "...")) == 1 / 2


def test_ties_have_the_mean_of_the_table():
    found = gf.evaluate_arrays(
        labels=[[1, 0, 0]], scores=[[2, 2, 2]], measures="DCG(discount=[1, 0.5])"
    )
    assert found["DCG(discount=[1, 0.5])"] == 0.5


@pytest.mark.parametrize("ties", ["doc", "average", "best", "worst"])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_a_function_that_is_a_named_discount_gives_its_numbers(ties, k):
    policy = gf.Policy(ties=ties, absent="lowest" if k else "zero")
    for name in ("DCG", "IDCG", "nDCG"):
        own, named = gf.Measure(name, k=k, discount=log2), gf.Measure(name, k=k)
        table = gf.Measure(name, k=k, discount=log2(np.arange(1, 200)))
        found = gf.evaluate(JUDGMENTS, RUN, [own, named, table], policy=policy)
        assert (found.values[:, 0] == found.values[:, 1]).all()
        assert (found.values[:, 2] == found.values[:, 1]).all()


def test_everything_that_takes_a_measure_takes_it():
    own, named = gf.Measure("nDCG", k=5, discount=log2), gf.Measure("nDCG", k=5)
    assert str(own) == "nDCG(discount=<log2>)@5"
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    runs = {"one": RUN, "two": other}
    found = gf.compare(JUDGMENTS, runs, [own, named])
    assert found["two", own].difference == found["two", named].difference
    bounds = [gf.bounds(JUDGMENTS, RUN, each, grades=(0, 1, 2, 3)) for each in (own, named)]
    assert bounds[0][own] == bounds[1][named]
    query = next(iter(JUDGMENTS))
    explained = [gf.explain(JUDGMENTS, RUN, each, query=query) for each in (own, named)]
    assert explained[0].value == explained[1].value
    assert "discount <log2>: a function of the rank i" in str(explained[0])
    moved = [
        gf.explanation.attribute(JUDGMENTS, RUN, other, each, query=query) for each in (own, named)
    ]
    assert moved[0].difference == moved[1].difference


def test_a_table_is_explained():
    explained = gf.explanation.explain_grades(LIST, "DCG(discount=[1, 0.5, ...])@3")
    shown = " ".join(str(explained).split())
    assert "discount [1, 0.5, ...]: entry i of the table, 0.5 beyond its end" in shown
    assert "5.5" in shown


tables = st.lists(st.floats(0, 1e6), min_size=1, max_size=6).map(
    lambda entries: sorted(entries, reverse=True)
)


@given(tables.filter(lambda entries: entries[0] > 0), st.booleans())
def test_a_table_reads_back_as_itself(entries, goes_on):
    measure = gf.Measure("nDCG", k=3, discount=[*entries, "..."] if goes_on else entries)
    assert gf.measure(str(measure)) == measure
    assert gf.measure(f"AP {measure} P@5"[3:-4]) == measure
    ranks = np.arange(1, len(entries) + 3)
    expected = [
        entries[rank - 1] if rank <= len(entries) else entries[-1] * goes_on for rank in ranks
    ]
    for rank, worth in zip(ranks.tolist(), expected, strict=True):
        grades = [0] * (rank - 1) + [1]
        assert gf.dcg(grades, discount=measure.parameters["discount"]) == worth


def test_tables_that_are_the_same_are_equal():
    same = ["[1, 0.5]", "[1, .50, 0]", "[1, 0.5, 0, 0, ...]"]
    assert len({gf.measure(f"DCG(discount={each})") for each in same}) == 1
    assert gf.measure("DCG(discount=[1, 0.5, ...])") == gf.measure(
        "DCG(discount=[1, 0.5, 0.5, ...])"
    )
    several = gf.evaluate(JUDGMENTS, RUN, "nDCG(discount=[1, 0.5])@5,10 AP").measures
    assert [*map(str, several)] == [
        "nDCG(discount=[1, 0.5])@5",
        "nDCG(discount=[1, 0.5])@10",
        "AP",
    ]


def test_on_tensors():
    scores, labels = [[0.5, 0.1, 0.9]], [[1.0, 3.0, 0.0]]
    expected = gf.ndcg([[0, 1, 3]], discount=[1, 0.5, ...])
    for library in (np.array, torch.tensor, jnp.array):
        found = gf.metrics.ndcg(library(scores), library(labels), discount=[1, 0.5, ...])
        assert np.asarray(found) == pytest.approx(expected, abs=1e-6)
        own = gf.metrics.ndcg(library(scores), library(labels), discount=log2)
        assert np.asarray(own) == pytest.approx(gf.ndcg([[0, 1, 3]]), abs=1e-6)


@pytest.mark.parametrize("library", [torch.tensor, jnp.array], ids=["torch", "jax"])
def test_losses_take_them(library):
    scores, labels = library([[0.5, 0.1, 0.9, -1.0]]), library([[1.0, 3.0, 0.0, 2.0]])
    for loss in (gf.losses.approx_ndcg, gf.losses.lambda_loss):
        named = float(loss(scores, labels, discount="reciprocal"))
        assert float(loss(scores, labels, discount=lambda rank: 1 / rank)) == pytest.approx(named)
    whole = [1 / rank for rank in range(1, 6)]
    named, table = (
        float(gf.losses.lambda_loss(scores, labels, discount=each))
        for each in ("reciprocal", whole)
    )
    assert table == pytest.approx(named)
    # Between two ranks, a table is the line between their entries.
    steep = float(gf.losses.approx_ndcg(scores, labels, discount=[3, 2, 1], temperature=5.0))
    line = float(
        gf.losses.approx_ndcg(scores, labels, discount=lambda rank: 4 - rank, temperature=5.0)
    )
    assert math.isfinite(steep)
    assert steep == pytest.approx(line, abs=0.2)
    with pytest.raises(gf.errors.InputError, match="one that falls with the rank"):
        gf.losses.lambda_loss(scores, labels, discount=[1, ...])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2], r"found 2 at rank 2. A deeper rank must not be worth more"),
        ([1, -1], r"found -1 at rank 2"),
        ([0], "a number above 0 for rank 1, found 0"),
        ([], "found an empty table"),
        (["..."], "found an empty table"),
        ([1, math.nan], "none above the one before, found nan"),
        ("[1, x]", "found 'x'"),
        ("[]", "found ''"),
        (
            "[1, 0.5",
            r"none, ln, or misprint; a table by rank such as \[1, 0.5, 0.25\], or, in Python",
        ),
        (3, "found 3"),
        ({1: 0.5}, r"found \{1: 0.5\}"),
        (lambda ranks: ranks, "never rise with the rank, found 2 at rank 2, after 1"),
        (lambda ranks: -ranks, "found -1 at rank 1"),
        (lambda ranks: ranks * math.nan, "found nan at rank 1"),
        (lambda _: 1.0, r"of the shape of the ranks, \(3,\), found 1.0"),
        (lambda ranks: ranks[:2], r"found \(2,\)"),
    ],
    ids=range(16),
)
def test_bad_discounts_are_told(given, words):
    with pytest.raises(gf.errors.GainfulError, match=words):
        gf.dcg([3, 2, 1], discount=given)


def test_the_error_of_a_function_is_its_own():
    def broken(ranks):
        raise KeyError(len(ranks))

    with pytest.raises(KeyError) as caught:
        gf.dcg([3, 2, 1], discount=broken)
    assert "raised by discount <broken>" in caught.value.__notes__[0]


def test_a_base_beside_it_would_do_nothing():
    with pytest.raises(gf.errors.MeasureError, match="no base beside discount="):
        gf.dcg([3, 2, 1], discount=[1, 0.5], base=3)


def test_on_the_command_line(cli, files):
    judgments, run = files("j", "q 0 a 1\nq 0 b 3\n"), files("r", "q 0 a 1 2 t\nq 0 b 2 1 t\n")
    done = cli("evaluate", judgments, run, "-m", "DCG(discount=[1, 0.5])@10", "-f", "csv")
    assert done.stdout.splitlines()[-1].endswith(",2.5")
