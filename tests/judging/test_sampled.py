"""Inferred nDCG: everything judged, everything sampled, and bad input."""

import itertools

import pytest

import gainful as gf

POOL = {"a": (1, 3), "b": (1, 0), "c": (1, 2), "d": (2, 1), "e": (2, 0), "f": (2, 2), "g": (2, 0)}
RUN = {"q": {"d": 9, "x": 8, "a": 7, "f": 6, "b": 5, "g": 4}}


@pytest.mark.parametrize(
    "measure", ["nDCG", "nDCG@3", "nDCG(gain=exp2)@5", "nDCG(discount=jarvelin)"]
)
def test_with_all_judged_it_is_ndcg(measure):
    grades = {"q": {doc: grade for doc, (_, grade) in POOL.items()}}
    expected = gf.evaluate(grades, RUN, measure)[measure]
    assert gf.inferred_ndcg({"q": POOL}, RUN, measure).mean == pytest.approx(expected)


def test_worked_by_hand():
    pool = {"q": {"a": (1, 2), "b": (1, 0), "c": (2, -1), "d": (2, 1)}}
    found = gf.inferred_ndcg(pool, {"q": {"a": 3, "c": 2, "d": 1}})
    # Stratum 2 has two documents in the list, one judged: it counts twice.
    assert found.dcg[0] == pytest.approx(2 + 2 * (1 / 2))
    # In the ideal, one of grade 2 and two of grade 1.
    assert found.idcg[0] == pytest.approx(2 + 1 / 1.584962500721156 + 1 / 2)
    assert found.mean == pytest.approx(3 / 3.1309297535714578)


def test_the_mean_over_all_samples_is_the_truth():
    """Of a stratum that is in the list whole, every sample of the same size is as likely."""
    truth = gf.inferred_ndcg({"q": POOL}, RUN | {"q": {**RUN["q"], "e": 3, "c": 2}})
    stratum = [doc for doc, (number, _) in POOL.items() if number == 2]
    run = {"q": {**RUN["q"], "e": 3, "c": 2}}
    parts = []
    for judged in itertools.combinations(stratum, 2):
        pool = {
            doc: (number, grade if number == 1 or doc in judged else -1)
            for doc, (number, grade) in POOL.items()
        }
        parts.append(gf.inferred_ndcg({"q": pool}, run).dcg[0])
    assert sum(parts) / len(parts) == pytest.approx(truth.dcg[0])


def test_files(files):
    lines = "".join(f"q 0 {doc} {stratum} {grade}\n" for doc, (stratum, grade) in POOL.items())
    found = gf.inferred_ndcg(files("samples", lines), RUN)
    assert found.mean == gf.inferred_ndcg({"q": POOL}, RUN).mean
    assert "nDCG" in str(found)


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ({}, "a dict"),
        ([1], "a dict"),
        ({"q": [1]}, "a dict {doc"),
        ({"q": {"a": 1}}, "stratum, grade"),
        ({"q": {"a": (1, "x")}}, "a finite number"),
        ({"q": {"a": (1, float("nan"))}}, "a finite number"),
        ({"other": {"a": (1, 1)}}, "a query of the samples"),
    ],
)
def test_bad_samples(samples, told):
    with pytest.raises(gf.InputError, match=told):
        gf.inferred_ndcg(samples, RUN)


def test_a_byte_order_mark_and_the_policy(files):
    marked = files("marked", "\ufeffq 0 a 1 1\n")
    assert gf.inferred_ndcg(marked, {"q": {"a": 1}}).mean == 1.0
    with pytest.raises(gf.PolicyError, match="empty=zero"):
        gf.inferred_ndcg({"q": POOL}, RUN, policy=gf.Policy(empty="error"))


def test_bad_files(files):
    for text, told in (("q 0 a 1\n", ":1: expected 5 fields"), ("", "at least one")):
        with pytest.raises(gf.InputError, match=told):
            gf.inferred_ndcg(files("bad", text), RUN)
    with pytest.raises(gf.InputError, match="again"):
        gf.inferred_ndcg(files("twice", "q 0 a 1 1\nq 0 a 1 2\n"), RUN)
    with pytest.raises(gf.InputError, match="nDCG"):
        gf.inferred_ndcg({"q": POOL}, RUN, "AP")
