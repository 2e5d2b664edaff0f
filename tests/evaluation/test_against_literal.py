"""Equality with the literal implementation, on thousands of random cases."""

import itertools
import math
import random
import warnings

import pytest

import gainful as gf
import literal
from random_runs import random_case, random_cases

IDEALS = ("judged", "judged", "retrieved")
DEPTHS = ("cutoff", "cutoff", "all", "retrieved")
FAMILIES = ("CG", "DCG", "IDCG", "nDCG")
TABLE = {-2: -1.0, -1: -0.5, 0: 0.0, 0.5: 3.0, 1: 1.0, 2: 4.0, 3: 2.0}  # not monotone, on purpose
GAINS = ("linear", "exp2", "binary", TABLE)
DISCOUNTS = (
    ("log", 2),
    ("log", math.e),
    ("jarvelin", 2),
    ("jarvelin", 3.5),
    ("reciprocal", 2),
    ("power(0.5)", 2),
    ("none", 2),
)
CUTOFFS = (None, 1, 2, 3, 5, 10)
CHOICES = {
    "ties": ("doc", "doc_ascending", "average", "best", "worst", "order"),
    "unjudged": ("zero", "condense", 1.0, -1.0),
    "absent": ("zero", "lowest", -1.0, 1.0),
    "negative": ("keep", "zero", "both", "unjudged"),
    "missing": ("zero", "skip"),
    "empty": ("zero", "skip", "one", "nan"),
}


def evaluate(
    judgments, run, family, *, gain, discount, base, k, ideal="judged", depth="cutoff", **choices
):
    parameters = {"gain": gain}
    if family != "CG":
        parameters |= {"discount": discount, "base": base}
    if family in ("IDCG", "nDCG"):
        parameters |= {"ideal": ideal, "depth": depth}
    measure = gf.Measure(family, cutoff=k, **parameters)
    with warnings.catch_warnings():
        # Some random runs retrieve nothing that is judged.
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        scores = gf.evaluate(judgments, run, measure, policy=gf.Policy(**choices))
    return {query: row[str(measure)] for query, row in scores.per_query.to_dict().items()}, scores


def compare(seed, judgments, run, settings):
    expected = literal.evaluate(judgments, run, **settings)
    if not expected:
        with pytest.raises(gf.errors.InputError, match="at least one query"):
            evaluate(judgments, run, **settings)
        return
    found, scores = evaluate(judgments, run, **settings)
    assert found.keys() == expected.keys(), (seed, settings)
    for query, value in expected.items():
        assert found[query] == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True), (
            seed,
            settings,
            query,
        )
    (mean,) = scores.means.values()
    assert mean == pytest.approx(
        sum(expected.values()) / len(expected), rel=1e-12, abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("chunk", range(8))
def test_random_cases_with_random_settings(chunk):
    for seed in range(chunk * 500, chunk * 500 + 500):
        rng = random.Random(seed)  # noqa: S311
        discount, base = rng.choice(DISCOUNTS)
        settings = {
            "family": rng.choice(FAMILIES),
            "gain": rng.choice(GAINS),
            "discount": discount,
            "base": base,
            "k": rng.choice(CUTOFFS),
            "ideal": rng.choice(IDEALS),
            "depth": rng.choice(DEPTHS),
            **{name: rng.choice(answers) for name, answers in CHOICES.items()},
        }
        judgments, run = random_case(seed, documents=5)
        compare(seed, judgments, run, settings)


@pytest.mark.parametrize(
    ("family", "gain", "discount"),
    list(itertools.product(FAMILIES, GAINS, DISCOUNTS)),
    ids=lambda value: str(value)[:12],
)
def test_every_measure_under_the_default_policy(family, gain, discount):
    form, base = discount
    judgments, run = random_cases(f"{seed} {family}" for seed in range(6))
    for k in CUTOFFS:
        compare(
            family,
            judgments,
            run,
            {"family": family, "gain": gain, "discount": form, "base": base, "k": k},
        )


def test_long_lists_with_many_judged_documents():
    rng = random.Random(7)  # noqa: S311
    docs = [f"d{number:04d}" for number in range(2000)]
    judgments = {
        f"q{n}": {doc: rng.randint(0, 4) for doc in rng.sample(docs, 300)} for n in range(5)
    }
    run = {f"q{n}": {doc: rng.random() for doc in rng.sample(docs, 1000)} for n in range(5)}
    for k in (None, 10, 1000, 5000):
        settings = {"family": "nDCG", "gain": "linear", "discount": "log", "base": 2, "k": k}
        compare(7, judgments, run, settings)
