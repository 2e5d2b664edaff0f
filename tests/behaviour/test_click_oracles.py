"""Click models and slate estimators next to the answers of PyClick, `interleaving` and the Open Bandit Pipeline.

The answers were recorded on 19 November 2026 from github.com/markovi/PyClick (its models with their defaults, 50 rounds of
EM), github.com/mpkato/interleaving (`Balanced.compute_scores`) and github.com/st-tech/zr-obp (`SlateIndependentIPS`,
`SlateStandardIPS` and their self-normalised versions), which ran on the same logs.
"""

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.kernels.click_models import (
    MODELS,
    Fitting,
    Prior,
    ShownLists,
    log_likelihood,
)
from gainful.arithmetic.kernels.interleaving import credit_of


def uniform(state):
    """Yield the same numbers from 0 to 1 in every library and on every machine."""
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield state / 2**31


def clicked_lists():
    draws = uniform(12345)
    attraction = [[0.1, 0.2, 0.3, 0.5, 0.7, 0.8], [0.6, 0.4, 0.15, 0.35, 0.9, 0.05]]
    examination = [1.0, 0.7, 0.55, 0.4, 0.3]
    pairs, clicks = [], []
    for _ in range(400):
        query = int(next(draws) * 2)
        docs = sorted(range(6), key=lambda _: next(draws))[:5]
        pairs += [6 * query + doc for doc in docs]
        clicks += [
            next(draws) < attraction[query][doc] * look
            for doc, look in zip(docs, examination, strict=True)
        ]
    ranks = np.tile(np.arange(1, 6), 400)
    return ShownLists(np.array(pairs), ranks, np.array(clicks), np.arange(401) * 5, 12)


LISTS = clicked_lists()
LIKE_PYCLICK = Fitting(500, prior=Prior(1.0, 1.0))  # each of its counts starts at 1 of 2


@pytest.mark.parametrize(
    ("model", "relevance"),
    [
        ("ctr", [0.07317, 0.12281, 0.19512, 0.29518, 0.40476, 0.38194, 0.33333, 0.2071, 0.11236, 0.22222, 0.54857, 0.02222]),
        ("cascade", [0.10588, 0.1125, 0.23864, 0.3913, 0.51515, 0.48611, 0.42105, 0.25806, 0.15556, 0.23288, 0.62069, 0.02703]),
        ("dcm", [0.11321, 0.19626, 0.28571, 0.44545, 0.54839, 0.56701, 0.47154, 0.30435, 0.19048, 0.36893, 0.66207, 0.04348]),
        ("sdbn", [0.06967, 0.14274, 0.22511, 0.22273, 0.35764, 0.41513, 0.27174, 0.19444, 0.06349, 0.29325, 0.48461, 0.02609]),
    ],
)  # fmt: skip
def test_closed_forms_are_those_of_pyclick(model, relevance):
    assert MODELS[model].fit(LISTS, LIKE_PYCLICK).relevance == pytest.approx(relevance, abs=5e-6)


def test_likelihood_of_sdbn_is_that_of_pyclick():
    fitted = MODELS["sdbn"].fit(LISTS, LIKE_PYCLICK)
    assert log_likelihood(LISTS, fitted) == pytest.approx(-968.159, abs=5e-4)


def test_pbm_predicts_the_clicks_that_pyclick_predicts():
    # Only the products can be observed: PyClick doesn't fix the examination of rank 1.
    attraction = [
        0.12877,
        0.22275,
        0.34653,
        0.52142,
        0.7099,
        0.71805,
        0.59133,
        0.36754,
        0.19717,
        0.40635,
        0.94274,
        0.04335,
    ]
    examination = [0.90751, 0.67171, 0.47068, 0.381, 0.33068]
    fitted = MODELS["pbm"].fit(LISTS, LIKE_PYCLICK)
    own = np.outer(fitted.relevance, fitted.shared["examination"][1:])
    assert own == pytest.approx(np.outer(attraction, examination), abs=0.03)


@pytest.mark.parametrize(
    ("model", "likelihood"),
    [("pbm", -905.466), ("ubm", -897.033), ("dbn", -931.883), ("ccm", -944.421)],
)
def test_models_fit_at_least_as_well_as_those_of_pyclick(model, likelihood):
    assert log_likelihood(LISTS, MODELS[model].fit(LISTS, LIKE_PYCLICK)) >= likelihood


@pytest.mark.parametrize(
    ("docs", "clicked", "credit"),
    [("bae", "ae", [1, 1]), ("abdc", "bd", [1, 2]), ("bdae", "be", [1, 2]), ("ecba", "e", [0, 1]), ("abdc", "ac", [2, 0])],
)  # fmt: skip
def test_balanced_credit_is_that_of_interleaving(docs, clicked, credit):
    rankings = ([*"abcd"], [*"bdea"])
    assert credit_of("balanced", rankings, [*docs], [*clicked]) == credit


def slates(propensity):
    draws = uniform(2026)
    lists = [("abc", 0.4), ("acb", 0.3), ("cba", 0.2), ("dca", 0.1)]
    for session in range(300):
        left = next(draws)
        for docs, chance in lists:  # noqa: B007 - the list that is drawn is used below
            left -= chance
            if left < 0:
                break
        for place, doc in enumerate(docs):
            slot = sum(c for other, c in lists if other[place] == doc)
            attraction = {"a": 0.3, "b": 0.1, "c": 0.6, "d": 0.2}[doc]
            yield {
                "session": session, "query": "q", "doc": doc, "position": place + 1,
                "clicked": int(next(draws) < attraction / (1 + place)),
                "propensity": slot if propensity == "slot" else chance,
            }  # fmt: skip


# The self-normalised slots differ by intention: the pipeline normalises each rank by its own weights, gainful all ranks together.
@pytest.mark.parametrize(
    ("propensities", "method", "value"),
    [("slot", "ips", 0.47925927336), ("slate", "ips", 0.51441069837), ("slate", "snips", 0.47728827684)],
)  # fmt: skip
def test_values_of_slates_are_those_of_the_open_bandit_pipeline(propensities, method, value):
    earnings = gf.behaviour.would_earn(
        [*slates(propensities)], {"q": ["a", "c", "b"]}, cutoff=3, method=method, propensities=propensities
    )  # fmt: skip
    assert earnings.value == pytest.approx(value, abs=1e-10)
