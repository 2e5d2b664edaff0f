"""Inferred nDCG and AP: everything judged, everything sampled, beside sample_eval, and bad input."""

import itertools
import random

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
    assert gf.judging.inferred_ndcg({"q": POOL}, RUN, measure).mean == pytest.approx(expected)


def test_worked_by_hand():
    pool = {"q": {"a": (1, 2), "b": (1, 0), "c": (2, -1), "d": (2, 1)}}
    found = gf.judging.inferred_ndcg(pool, {"q": {"a": 3, "c": 2, "d": 1}})
    # Stratum 2 has two documents in the list, one judged: it counts twice.
    assert found.dcg[0] == pytest.approx(2 + 2 * (1 / 2))
    # In the ideal, one of grade 2 and two of grade 1.
    assert found.idcg[0] == pytest.approx(2 + 1 / 1.584962500721156 + 1 / 2)
    assert found.mean == pytest.approx(3 / 3.1309297535714578)


def test_the_mean_over_all_samples_is_the_truth():
    """Of a stratum that is in the list whole, every sample of the same size is as likely."""
    truth = gf.judging.inferred_ndcg({"q": POOL}, RUN | {"q": {**RUN["q"], "e": 3, "c": 2}})
    stratum = [doc for doc, (number, _) in POOL.items() if number == 2]
    run = {"q": {**RUN["q"], "e": 3, "c": 2}}
    parts = []
    for judged in itertools.combinations(stratum, 2):
        pool = {
            doc: (number, grade if number == 1 or doc in judged else -1)
            for doc, (number, grade) in POOL.items()
        }
        parts.append(gf.judging.inferred_ndcg({"q": pool}, run).dcg[0])
    assert sum(parts) / len(parts) == pytest.approx(truth.dcg[0])


def test_files(files):
    lines = "".join(f"q 0 {doc} {stratum} {grade}\n" for doc, (stratum, grade) in POOL.items())
    found = gf.judging.inferred_ndcg(files("samples", lines), RUN)
    assert found.mean == gf.judging.inferred_ndcg({"q": POOL}, RUN).mean
    assert "nDCG" in str(found)


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ({}, "samples: expected at least one grade"),
        ([1], "a dict"),
        ({"q": [1]}, "a dict {doc"),
        ({"q": {"a": 1}}, "stratum, grade"),
        ({"q": {"a": (1, "x")}}, "a finite number"),
        ({"q": {"a": (1, float("nan"))}}, "a finite number"),
        ({"other": {"a": (1, 1)}}, "a query of the samples"),
    ],
)
def test_bad_samples(samples, told):
    with pytest.raises(gf.errors.InputError, match=told):
        gf.judging.inferred_ndcg(samples, RUN)


def test_a_byte_order_mark_and_the_policy(files):
    marked = files("marked", "\ufeffq 0 a 1 1\n")
    assert gf.judging.inferred_ndcg(marked, {"q": {"a": 1}}).mean == 1.0
    with pytest.raises(gf.errors.PolicyError, match="empty=zero"):
        gf.judging.inferred_ndcg({"q": POOL}, RUN, policy=gf.Policy(empty="error"))


def test_bad_files(files):
    for text, told in (
        ("q 0 a 1\n", ":1: expected 5 fields"),
        ("", "samples of pools, found an empty file"),
    ):
        with pytest.raises(gf.errors.InputError, match=told):
            gf.judging.inferred_ndcg(files("bad", text), RUN)
    with pytest.raises(gf.errors.InputError, match="again"):
        gf.judging.inferred_ndcg(files("twice", "q 0 a 1 1\nq 0 a 1 2\n"), RUN)
    with pytest.raises(gf.errors.InputError, match="nDCG"):
        gf.judging.inferred_ndcg({"q": POOL}, RUN, "AP")


# --- AP


def drawn(seed):
    """A pool of three strata, judged whole, in half and in a fifth, and a run with ties."""
    rng = random.Random(seed)  # noqa: S311
    pool, rates = {}, {1: 1.0, 2: 0.5, 3: 0.2}
    for doc in range(40):
        stratum, grade = rng.randint(1, 3), rng.choice([0, 0, 0, 1, 2])
        pool[f"d{doc}"] = (stratum, grade if rng.random() < rates[stratum] else -1)
    docs = rng.sample([*pool, *(f"x{at}" for at in range(15))], 35)
    return pool, {doc: round(rng.random(), 2) for doc in docs}


# What sample_eval.pl -q prints as infAP, of NIST's version of October 2011.
SAMPLE_EVAL = {1: 0.2151, 2: 0.121, 3: 0.2294, 4: 0.2086, 5: 0.1986, 6: 0.4464}


def test_xinfap_is_that_of_sample_eval():
    made = {str(seed): drawn(seed) for seed in SAMPLE_EVAL}
    found = gf.judging.inferred_ap(
        {query: pool for query, (pool, _) in made.items()},
        {query: run for query, (_, run) in made.items()},
    )
    values = dict(zip(found.queries, found.values.round(4).tolist(), strict=True))
    assert values == {str(seed): value for seed, value in SAMPLE_EVAL.items()}


def literal_xinfap(pool, run, least):
    """AP as the expectation over strata, relevant documents and documents above, in words."""
    listed = sorted(run, key=lambda doc: (run[doc], doc), reverse=True)
    strata = {stratum for stratum, _ in pool.values()}

    def of(docs, stratum, lowest):
        return [d for d in docs if d in pool and pool[d][0] == stratum and pool[d][1] >= lowest]

    def all_of(docs, stratum):
        return [d for d in docs if d in pool and pool[d][0] == stratum]

    numbers = {
        s: len(of(pool, s, least)) * len(all_of(pool, s)) / len(of(pool, s, 0))
        for s in strata
        if of(pool, s, 0)
    }
    total = 0.0
    for stratum, number in numbers.items():
        relevant = of(pool, stratum, least)
        precisions = []
        for doc in relevant:
            if doc not in listed:
                precisions.append(0.0)
                continue
            rank = listed.index(doc) + 1
            above = listed[: rank - 1]
            inside = [d for d in above if d in pool]
            share = sum(
                len(all_of(above, s)) / len(inside)
                * (len(of(above, s, least)) + 1e-5) / (len(of(above, s, 0)) + 3e-5)
                for s in strata
                if all_of(above, s)
            )  # fmt: skip
            precisions.append(1 / rank + len(inside) / rank * share)
        if relevant:
            total += number * sum(precisions) / len(relevant)
    return total / sum(numbers.values()) if sum(numbers.values()) else 0.0


@pytest.mark.parametrize("seed", range(12))
def test_xinfap_is_its_definition(seed):
    pool, run = drawn(seed)
    for least in (1, 2):
        found = gf.judging.inferred_ap({"q": pool}, {"q": run}, f"AP(rel={least})")
        assert found.mean == pytest.approx(literal_xinfap(pool, run, least), rel=1e-12)
        assert "AP" in str(found)


def test_with_all_judged_xinfap_is_ap():
    for seed in range(5):
        pool, run = drawn(seed)
        whole = {doc: (stratum, max(grade, 0)) for doc, (stratum, grade) in pool.items()}
        grades = {"q": {doc: grade for doc, (_, grade) in whole.items()}}
        for measure in ("AP", "AP(rel=2)", "AP@10"):
            expected = gf.evaluate(grades, {"q": run}, measure)[measure]
            found = gf.judging.inferred_ap({"q": whole}, {"q": run}, measure).mean
            assert found == pytest.approx(expected, abs=1e-4)


def test_xinfap_refuses_other_measures_and_has_no_relevant_document():
    for measure in ("nDCG", "AP(denominator=min)@5"):
        with pytest.raises(gf.errors.InputError, match="expected AP with denominator=R"):
            gf.judging.inferred_ap({"q": POOL}, RUN, measure)
    assert gf.judging.inferred_ap({"q": {"a": (1, 0)}}, RUN).mean == 0.0
    assert gf.judging.inferred_ap({"q": {"a": (1, -1), "b": (2, 1)}}, {"q": {"z": 1.0}}).mean == 0.0
    with pytest.raises(gf.errors.InputError, match="a query of the samples"):
        gf.judging.inferred_ap({"other": {"a": (1, 1)}}, RUN)
