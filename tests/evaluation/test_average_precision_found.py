"""AP over the relevant documents that were found, against its definition."""

import random

import pytest

import gainful as gf


def literal(judged, docs, k, rel):
    hits = [judged.get(doc, 0) >= rel for doc in docs[:k]]
    precisions = [sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits) if hit]
    return sum(precisions) / len(precisions) if precisions else 0.0


@pytest.mark.parametrize("k", [None, 1, 3, 8])
@pytest.mark.parametrize("rel", [1, 2])
def test_random_lists(k, rel):
    rng = random.Random(f"{k} {rel}")  # noqa: S311
    docs = [f"d{n}" for n in range(12)]
    judgments = {
        f"q{n}": {doc: rng.choice((0, 0, 1, 2)) for doc in rng.sample(docs, 8)} | {"x": 3}
        for n in range(30)
    }
    lists = {query: rng.sample(docs, rng.randint(1, 12)) for query in judgments}
    run = {
        query: {doc: float(-place) for place, doc in enumerate(each)}
        for query, each in lists.items()
    }
    measure = gf.measure(f"AP(denominator=found, rel={rel})").at(k)
    found = gf.evaluate(judgments, run, measure)
    ours = dict(zip(found.queries, found.values[:, 0].tolist(), strict=True))
    wanted = {query: literal(judgments[query], lists[query], k, rel) for query in judgments}
    assert ours == pytest.approx(wanted, abs=1e-12)
    worked = gf.explain(judgments, run, measure, query="q3")
    assert worked.value == pytest.approx(wanted["q3"], abs=1e-12)


def test_by_hand():
    """Found at ranks 1 and 3 of three relevant ones: (1 + 2/3) / 2, and not / 3."""
    judgments, run = {"q": {"a": 1, "c": 1, "x": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    scores = gf.evaluate(judgments, run, ["AP", "AP(denominator=found)", "AP(denominator=found)@2"])
    assert scores["AP(denominator=found)"] == pytest.approx((1 + 2 / 3) / 2)
    assert scores["AP(denominator=found)@2"] == 1.0
    assert scores["AP"] == pytest.approx((1 + 2 / 3) / 3)


def test_ties_and_bounds():
    judgments, run = {"q": {"a": 1, "x": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    average = gf.Policy(ties="average")
    # One of two orders has it first: (1 + 1/2) / 2. What is found above a cutoff is open.
    found = gf.evaluate(judgments, run, "AP(denominator=found)", policy=average)
    assert found.values.tolist() == [[0.75]]
    with pytest.raises(gf.errors.InputError, match="its mean over all orders has no closed form"):
        gf.evaluate(judgments, run, "AP(denominator=found)@1", policy=average)
    with pytest.raises(gf.errors.InputError, match="AP without denominator=found"):
        gf.bounds(judgments, run, "AP(denominator=found)", grades=(0, 1))


def test_q_has_no_such_denominator():
    with pytest.raises(gf.errors.MeasureError, match="expected R or min, found 'found'"):
        gf.measure("Q(denominator=found)")
