"""Click models: hand-worked counts, literal EM on every hidden state, recovery of simulated parameters."""

import itertools

import numpy as np
import pytest

from gainful.arithmetic.kernels.click_models import (
    MODELS,
    Fitting,
    Prior,
    ShownLists,
    click_probabilities,
    fitted_prior,
    log_likelihood,
    perplexity_by_rank,
)
from simulated_clicks import Truth, simulated

NONE = Fitting(prior=Prior(0.0, 0.0))


def lists_of(*rows, weights=None):
    """Return lists from strings such as "a1 b0", a document and whether it was clicked."""
    names = sorted({cell[0] for row in rows for cell in row.split()})
    pairs = [names.index(cell[0]) for row in rows for cell in row.split()]
    ranks = [rank for row in rows for rank, _ in enumerate(row.split(), 1)]
    clicks = [cell[1] == "1" for row in rows for cell in row.split()]
    starts = np.concatenate([[0], np.cumsum([len(row.split()) for row in rows])])
    return ShownLists(
        np.array(pairs), np.array(ranks), np.array(clicks), starts, len(names), weights
    )


LISTS = lists_of("a1 b0 c1 d0", "b0 a0 c0 d0", "c1 a1 b0 d0", "a0 c1 d0 b0")


# a is shown at 1, 2, 2, 1: clicked twice. Down to the last click it is seen in each list.
@pytest.mark.parametrize(
    ("model", "means"),
    [
        ("ctr", [2 / 4, 0, 3 / 4, 0]),
        # down to the first click: a, then all of the second list, then c, then a and c
        ("cascade", [1 / 3, 0 / 1, 2 / 3, 0 / 1]),
        ("dcm", [2 / 4, 0 / 2, 3 / 4, 0 / 1]),
        ("sdbn", [2 / 4, 0 / 2, 3 / 4, 0 / 1]),
    ],
)
def test_counts_by_hand(model, means):
    assert MODELS[model].fit(LISTS, NONE).attraction.means == pytest.approx(means)


def test_satisfaction_is_the_share_of_last_clicks():
    fitted = MODELS["sdbn"].fit(LISTS, NONE)
    # a's clicks: the first of two, then the last of two; c's: last, first, last.
    assert fitted.satisfaction.means[[0, 2]] == pytest.approx([1 / 2, 2 / 3])
    assert fitted.relevance[[0, 2]] == pytest.approx([1 / 4, 1 / 2])


def test_dcm_goes_on_after_clicks_that_are_not_the_last():
    # Clicks at rank 1: a, c, both followed by one; at 2: a and c, both the last; at 3: c, the last.
    assert MODELS["dcm"].fit(LISTS, NONE).shared["continuation"][1:4] == pytest.approx([1, 0, 0])


def test_coec_divides_by_the_clicks_expected_at_the_ranks():
    # Rates: 2/4, 2/4, 1/4, 0. a: shown at 1, 2, 2, 1.
    fitted = MODELS["coec"].fit(LISTS, NONE)
    assert fitted.shared["rate"][1:] == pytest.approx([0.5, 0.5, 0.25, 0])
    assert fitted.attraction.means == pytest.approx([2 / 2, 0, 3 / (0.25 + 0.25 + 0.5 + 0.5), 0])


@pytest.mark.parametrize("impressions", [2, 40])
def test_the_prior_of_coec_is_the_distribution_of_the_rates(impressions):
    rng, pairs = np.random.default_rng(0), 20_000
    clicks = rng.random((pairs, impressions)) < rng.beta(1.2, 3, pairs)[:, None]
    rows = np.arange(pairs * impressions)
    ranks = np.ones(len(rows), int)
    shown = ShownLists(rows // impressions, ranks, clicks.ravel(), np.arange(len(rows) + 1), pairs)
    prior = MODELS["coec"].fit(shown, Fitting()).attraction.prior
    assert prior.no == 0
    assert prior.yes == pytest.approx(1.2, rel=0.05)


def _literal_chain(clicks, attraction, stop_after_click, onward_after_none):
    """Return P(clicks) of a list by adding up every path of examinations."""
    total = 0.0
    for examined in itertools.product([False, True], repeat=len(clicks)):
        chance = 1.0 if examined[0] else 0.0
        for step, (seen, clicked) in enumerate(zip(examined, clicks, strict=True)):
            if seen:
                chance *= attraction[step] if clicked else 1 - attraction[step]
            elif clicked:
                chance = 0.0
            if step + 1 < len(clicks):
                goes = (
                    0.0
                    if not seen
                    else (1 - stop_after_click[step])
                    if clicked
                    else onward_after_none
                )
                chance *= goes if examined[step + 1] else 1 - goes
        total += chance
    return total


@pytest.mark.parametrize("model", ["dbn", "ccm", "sdbn", "dcm"])
def test_the_likelihood_is_that_of_all_paths(model):
    fitted = MODELS[model].fit(LISTS, Fitting(rounds=3, prior=Prior(1.0, 1.0)))
    means = fitted.attraction.means
    literal = 0.0
    for begin, end in itertools.pairwise(LISTS.starts):
        pairs, clicks = LISTS.pairs[begin:end], LISTS.clicks[begin:end]
        onward = 1.0
        if model == "dbn":
            onward = float(fitted.shared["perseverance"][0])
        if model in ("dbn", "sdbn"):
            stops = 1 - onward * (1 - fitted.satisfaction.means[pairs])
        elif model == "ccm":
            onward, bad, good = fitted.shared["continuation"]
            stops = 1 - (good * means[pairs] + bad * (1 - means[pairs]))
        else:
            stops = 1 - fitted.shared["continuation"][LISTS.ranks[begin:end]]
        literal += np.log(_literal_chain(clicks, means[pairs], stops, onward))
    assert log_likelihood(LISTS, fitted) == pytest.approx(literal, abs=1e-6)


def test_the_likelihood_of_pbm_is_a_product():
    fitted = MODELS["pbm"].fit(LISTS, Fitting(rounds=3, prior=Prior(1.0, 1.0)))
    chance = fitted.attraction.means[LISTS.pairs] * fitted.shared["examination"][LISTS.ranks]
    assert click_probabilities(LISTS, fitted) == pytest.approx(np.clip(chance, 1e-9, 1 - 1e-9))
    literal = np.log(np.where(LISTS.clicks, chance, 1 - chance)).sum()
    assert log_likelihood(LISTS, fitted) == pytest.approx(literal)


def test_ubm_looks_at_the_last_click():
    lists = lists_of(*["a1 b1", "a1 b0", "b0 a0", "b0 a1", "a0 b0", "b1 a0"] * 5)
    fitted = MODELS["ubm"].fit(lists, Fitting(rounds=20))
    depth = 2
    after_click, after_none = (
        fitted.shared["examination"][2 * (depth + 1) + last] for last in (1, 0)
    )
    assert click_probabilities(lists, fitted)[1] == pytest.approx(
        fitted.attraction.means[1] * after_click
    )
    assert click_probabilities(lists, fitted)[5] == pytest.approx(
        fitted.attraction.means[0] * after_none
    )


@pytest.mark.parametrize("model", ["dbn", "pbm", "ubm", "ccm"])
def test_em_reaches_a_maximum(model):
    truth = Truth.drawn(3, 5, 4)
    lists = simulated(model, truth, lists=3000, queries=3, docs=5, depth=4)
    fitted = MODELS[model].fit(lists, Fitting(rounds=500, prior=Prior(1e-6, 1e-6)))
    best = log_likelihood(lists, fitted)
    rng = np.random.default_rng(3)
    for _ in range(20):
        factor = np.exp(rng.normal(0, 0.03, lists.count))
        shifted = np.clip(fitted.attraction.successes * factor, 0, fitted.attraction.trials)
        other = type(fitted)(
            model, type(fitted.attraction)(shifted, fitted.attraction.trials, fitted.attraction.prior),
            fitted.shared, fitted.satisfaction,
        )  # fmt: skip
        assert log_likelihood(lists, other) < best


@pytest.mark.parametrize("model", [*MODELS])
def test_a_weight_counts_as_copies(model):
    rows = ["a1 b0 c1 d0", "b0 a0 c0 d0", "c1 a1 b0 d0", "a0 c1 d0 b0"]
    copies = lists_of(*rows, *rows[:2], *rows[:1])
    weighted = lists_of(*rows, weights=np.repeat([3.0, 2.0, 1.0, 1.0], 4))
    how = Fitting(rounds=5)
    first, second = (MODELS[model].fit(lists, how) for lists in (copies, weighted))
    assert first.relevance == pytest.approx(second.relevance)
    assert log_likelihood(copies, first) == pytest.approx(log_likelihood(weighted, second))


# The mean error of a relevance over 600 pairs, with 10,000 and 100,000 lists of 8; what is stated in the guide.
ERRORS = {
    "ctr": (0.030, 0.010), "coec": (0.10, 0.035), "cascade": (0.046, 0.017), "dcm": (0.047, 0.035), "sdbn": (0.08, 0.072),
    "dbn": (0.050, 0.021), "pbm": (0.048, 0.017), "ubm": (0.042, 0.015), "ccm": (0.041, 0.015),
}  # fmt: skip


def _fit_simulated(model, lists):
    truth = Truth.drawn(50, 12, 8)
    shown = simulated(model, truth, lists=lists, queries=50, docs=12, depth=8)
    fitted = MODELS[model].fit(shown, Fitting())
    true = truth.attraction * (truth.satisfaction if model in ("sdbn", "dbn") else 1)
    if model == "coec":
        true = true / shown.clicks.mean()
    return truth, fitted, true


@pytest.mark.parametrize("model", [*MODELS])
def test_parameters_are_recovered(model):
    _, fitted, true = _fit_simulated(model, 10_000)
    assert np.abs(fitted.relevance - true).mean() < ERRORS[model][0]


@pytest.mark.parametrize("model", [*MODELS])
def test_more_sessions_recover_them_better(model):
    _, fitted, true = _fit_simulated(model, 100_000)
    assert np.abs(fitted.relevance - true).mean() < ERRORS[model][1]


def test_shared_parameters_are_recovered():
    truth, fitted, _ = _fit_simulated("pbm", 10_000)
    assert fitted.shared["examination"][1:] == pytest.approx(truth.examination, abs=0.04)
    truth, fitted, _ = _fit_simulated("dbn", 10_000)
    assert fitted.shared["perseverance"][0] == pytest.approx(truth.perseverance, abs=0.02)
    truth, fitted, _ = _fit_simulated("ccm", 10_000)
    assert fitted.shared["continuation"] == pytest.approx(truth.continuation, abs=0.03)


@pytest.mark.parametrize("model", ["cascade", "dbn", "pbm", "ubm", "ccm"])
def test_perplexity_exposes_the_wrong_model(model):
    # Not DCM: its closed form takes the last click for the end of reading, so others predict better.
    truth = Truth.drawn(20, 12, 8)
    train, test = (
        simulated(model, truth, lists=4000, queries=10, docs=12, depth=6, seed=seed)
        for seed in (1, 2)
    )
    losses = {
        name: -log_likelihood(test, entry.fit(train, Fitting())) for name, entry in MODELS.items()
    }
    # A richer model may contain the true one: DBN, CCM and UBM describe several others as well.
    assert losses[model] <= min(losses.values()) + 0.004 * losses[model]
    assert losses["ctr"] > 1.01 * losses[model]


def test_perplexity_by_rank_is_a_literal_mean():
    fitted = MODELS["ctr"].fit(LISTS, Fitting())
    chance = click_probabilities(LISTS, fitted)
    for rank, value in enumerate(perplexity_by_rank(LISTS, fitted), 1):
        rows = LISTS.ranks == rank
        bits = -np.log2(np.where(LISTS.clicks, chance, 1 - chance))[rows]
        assert value == pytest.approx(2 ** bits.mean())


def test_the_prior_is_that_of_the_pairs():
    rng = np.random.default_rng(0)
    trials = rng.integers(5, 200, 20_000).astype(float)
    successes = rng.binomial(trials.astype(int), rng.beta(2, 6, len(trials))).astype(float)
    prior = fitted_prior(successes, trials)
    assert (prior.yes, prior.no) == pytest.approx((2, 6), rel=0.05)


def test_pairs_that_are_alike_get_a_strong_prior():
    trials = np.full(1000, 50.0)
    successes = np.random.default_rng(0).binomial(50, 0.2, 1000).astype(float)
    prior = fitted_prior(successes, trials)
    assert prior.yes + prior.no > 500
