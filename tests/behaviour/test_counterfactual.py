"""Position bias and counterfactual values: literal formulas, known truth, and questions that are refused."""

import math

import numpy as np
import pandas as pd
import pytest

import gainful as gf
from simulated_clicks import Truth, simulated

QUERIES, DOCS, DEPTH = 8, 6, 6
TRUTH = Truth.drawn(QUERIES, DOCS, DEPTH, seed=4)
LISTS = simulated("pbm", TRUTH, lists=6000, queries=QUERIES, docs=DOCS, depth=DEPTH)


def table_of(lists):
    return pd.DataFrame({
        "session": lists.owners, "query": [f"q{pair // DOCS}" for pair in lists.pairs],
        "doc": [f"d{pair % DOCS}" for pair in lists.pairs], "position": lists.ranks, "clicked": lists.clicks,
    })  # fmt: skip


LOG = gf.behaviour.read_log(table_of(LISTS))
BEST = {
    f"q{query}": {f"d{doc}": float(TRUTH.attraction[query * DOCS + doc]) for doc in range(DOCS)}
    for query in range(QUERIES)
}


def true_value(run, theta=None):
    """Return the expected discounted attraction per list: what all estimators estimate."""
    values = []
    for query, docs in run.items():
        ranked = sorted(docs, key=docs.get, reverse=True)[:DEPTH]
        values.append(
            sum(BEST[query][doc] / math.log2(rank + 1) for rank, doc in enumerate(ranked, 1))
        )
    return float(np.mean(values))


@pytest.mark.parametrize("method", ["pbm", "ubm", "swaps", "harvesting"])
def test_position_bias_is_recovered(method):
    bias = gf.behaviour.position_bias(LOG, method, resamples=60)
    truth = TRUTH.examination
    assert [row.rank for row in bias] == [1, 2, 3, 4, 5, 6]
    for row, true in zip(bias, truth, strict=True):
        assert row.examination == pytest.approx(true, abs=0.12)
        assert row.low - 0.03 <= true <= row.high + 0.03
    assert bias[0].examination == 1
    assert bias.closest in ("log2", "1/rank")


def test_the_estimates_serve_as_a_discount():
    bias = gf.behaviour.position_bias(LOG, resamples=5)
    measure = gf.Measure("DCG", cutoff=6, discount=bias.weights)
    value = gf.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}, measure)
    assert value[str(measure)] == pytest.approx(sum(bias.weights[1:3]))


def test_swaps_by_hand():
    # a is clicked in 30 of 50 at rank 1 and 15 of 50 at rank 2; b in 20 and 10.
    rows = [
        {"session": s, "query": "q", "doc": doc, "position": rank, "clicked": s % 50 < clicks}
        for first, clicks_of in (("a", {"a": 30, "b": 10}), ("b", {"b": 20, "a": 15}))
        for s in range(50) for rank, doc in enumerate((first, "b" if first == "a" else "a"), 1)
        for clicks in [clicks_of[doc]]
    ]  # fmt: skip
    for row, first in zip(rows, ["a"] * 100 + ["b"] * 100, strict=True):
        row["session"] = f"{first}{row['session']}"
    bias = gf.behaviour.position_bias(rows, "swaps", resamples=5)
    assert bias[1].examination == pytest.approx((15 + 10) / (30 + 20))


def test_swaps_need_documents_at_two_ranks():
    rows = [
        {"session": s, "query": "q", "doc": doc, "position": rank, "clicked": (s + rank) % 3 == 0}
        for s in range(50) for rank, doc in enumerate("abc", 1)
    ]  # fmt: skip
    with pytest.raises(gf.errors.InputError, match="documents shown at rank 2 and at others"):
        gf.behaviour.position_bias(rows, "swaps")


@pytest.mark.parametrize("method", ["ips", "clipped", "dr"])
def test_the_value_of_another_ranking_is_recovered(method):
    result = gf.behaviour.would_earn(LOG, BEST, cutoff=DEPTH, method=method)
    assert result.value == pytest.approx(true_value(BEST), rel=0.06)
    # The logged lists are in random order.
    logged = np.mean([np.mean([*docs.values()]) for docs in BEST.values()])
    assert result.logged == pytest.approx(
        logged * sum(1 / math.log2(rank + 1) for rank in range(1, DEPTH + 1)), rel=0.06
    )
    assert result.word == "better"
    worst = {query: {doc: -grade for doc, grade in docs.items()} for query, docs in BEST.items()}
    assert gf.behaviour.would_earn(LOG, worst, cutoff=3, method=method).word == "worse"


def test_ips_is_a_literal_sum():
    theta = [1.0, 0.8, 0.6, 0.5, 0.4, 0.3]
    result = gf.behaviour.would_earn(LOG, BEST, cutoff=3, method="ips", examination=theta)
    ranks = {
        query: {doc: place for place, doc in enumerate(sorted(docs, key=docs.get, reverse=True), 1)}
        for query, docs in BEST.items()
    }
    table, value, logged, weights = table_of(LISTS), 0.0, 0.0, []
    for row in table[table["clicked"]].itertuples():
        rank = ranks[row.query][row.doc]
        if rank <= 3:
            value += 1 / math.log2(rank + 1) / theta[row.position - 1]
            weights.append(1 / theta[row.position - 1])
        if row.position <= 3:
            logged += 1 / math.log2(row.position + 1) / theta[row.position - 1]
    assert result.value == pytest.approx(value / 6000)
    assert result.logged == pytest.approx(logged / 6000)
    assert result.effective == pytest.approx(
        sum(weights) ** 2 / sum(weight**2 for weight in weights)
    )
    assert result.largest_weight == pytest.approx(max(weights))


def test_the_interval_of_a_difference_by_hand():
    theta = [1.0] * DEPTH
    result = gf.behaviour.would_earn(LOG, BEST, cutoff=DEPTH, method="ips", examination=theta)
    ranks = {
        query: {doc: place for place, doc in enumerate(sorted(docs, key=docs.get, reverse=True), 1)}
        for query, docs in BEST.items()
    }
    table = table_of(LISTS)
    table["beyond"] = [
        clicked * ((1 / math.log2(ranks[q][d] + 1)) * (ranks[q][d] <= DEPTH) - 1 / math.log2(p + 1))
        for q, d, p, clicked in zip(
            table["query"], table["doc"], table["position"], table["clicked"], strict=True
        )
    ]
    beyond = table.groupby("session")["beyond"].sum()
    assert result.difference == pytest.approx(beyond.mean())
    assert result.high - result.difference == pytest.approx(
        1.9604 * beyond.std() / math.sqrt(6000), rel=1e-3
    )


def _with_propensities():
    """Show two lists of one query, a b with 0.75 and b a with 0.25; a is clicked always, b never."""
    return [
        {"session": s, "query": "q", "doc": doc, "position": rank, "clicked": doc == "a", "propensity": chance}
        for s in range(200) for docs, chance in [(("a", "b"), 0.75) if s % 4 else (("b", "a"), 0.25)]
        for rank, doc in enumerate(docs, 1)
    ]  # fmt: skip


@pytest.mark.parametrize("propensities", ["slot", "slate"])
@pytest.mark.parametrize("method", ["ips", "snips"])
def test_logged_propensities_by_hand(propensities, method):
    for run, value in ((["b", "a"], 1 / math.log2(3)), (["a", "b"], 1.0)):
        result = gf.behaviour.would_earn(
            _with_propensities(), {"q": run}, cutoff=2, method=method, propensities=propensities
        )
        assert result.value == pytest.approx(value)
        assert result.logged == pytest.approx(0.75 + 0.25 / math.log2(3))


def test_popular_documents_weigh_less():
    rows = [
        {"session": s, "query": "q", "doc": doc, "position": rank, "clicked": doc == ("a" if s % 5 else "b")}
        for s in range(200) for rank, doc in enumerate("ab", 1)
    ]  # fmt: skip
    result = gf.behaviour.would_earn(
        rows, {"q": ["b", "a"]}, cutoff=1, method="ips", propensities="popularity"
    )
    # a has 160 clicks and b 40: b's chance is a quarter of a's, so its 40 clicks count 4 each.
    assert result.value == pytest.approx(40 * 4 / 200)
    assert result.logged == pytest.approx(160 / 200)
    normalised = gf.behaviour.would_earn(
        rows, {"q": ["b", "a"]}, cutoff=1, method="snips", propensities="popularity"
    )
    assert normalised.value == pytest.approx(160 / 320)


def test_noise_is_refused():
    strange = {
        query: [f"new{place}" for place in range(5)] + [*docs][:1] for query, docs in BEST.items()
    }
    with pytest.raises(
        gf.errors.InputError, match=r"83% of the run's documents never shown.*would be noise"
    ):
        gf.behaviour.would_earn(LOG, strange)
    few = table_of(LISTS)[:60]
    with pytest.raises(gf.errors.InputError, match="effective clicks"):
        gf.behaviour.would_earn(few, BEST)
    with pytest.raises(gf.errors.InputError, match="at least one query of the log"):
        gf.behaviour.would_earn(LOG, {"other": ["d1"]})
    with pytest.raises(gf.errors.InputError, match="the logged probability of each row"):
        gf.behaviour.would_earn(LOG, BEST, propensities="slot")


def test_intervals_of_a_run_like_the_log_cover_zero():
    inside = []
    for seed in range(60):
        lists = simulated(
            "pbm", TRUTH, lists=500, queries=QUERIES, docs=DOCS, depth=DEPTH, seed=100 + seed
        )
        rng = np.random.default_rng(seed)
        run = {f"q{q}": {f"d{d}": float(rng.random()) for d in range(DOCS)} for q in range(QUERIES)}
        theta = TRUTH.examination.tolist()
        result = gf.behaviour.would_earn(
            table_of(lists), run, cutoff=DEPTH, method="ips", examination=theta
        )
        logged = sum(1 / math.log2(r + 1) for r in range(1, DEPTH + 1)) * float(
            TRUTH.attraction.mean()
        )
        inside.append(result.low <= true_value(run) - logged <= result.high)
    assert np.mean(inside) > 0.86


def test_the_doubly_robust_estimate_needs_examinations():
    with pytest.raises(
        gf.errors.InputError, match="method: expected ips or clipped or snips, found 'dr'"
    ):
        gf.behaviour.would_earn(
            _with_propensities(), {"q": ["b", "a"]}, method="dr", propensities="slot"
        )
    assert (
        gf.behaviour.would_earn(_with_propensities(), {"q": ["b", "a"]}, propensities="slot").method
        == "ips"
    )


def test_the_axes_of_the_plot_are_ranks_and_examination():
    import json

    bias = gf.behaviour.position_bias(LOG, depth=DEPTH)
    text = json.dumps(bias.plot().to_dict())
    assert '"examination"' in text
    assert '"rank"' in text
    assert "mean examination" not in text
    assert "cutoff" not in text


# Open Bandit Pipeline 0.5.5 on the log below, with clicks times their discounts as rewards: SlateStandardIPS,
# SelfNormalizedSlateStandardIPS and SlateIndependentIPS. Its self-normalised independent IPS normalises each
# position on its own, which is another estimator.
OPEN_BANDIT = {
    ("slate", "ips"): 0.9556714886904971,
    ("slate", "snips"): 0.8191469903061404,
    ("slot", "ips"): 0.9451230497222427,
}


@pytest.mark.parametrize(("propensities", "method"), OPEN_BANDIT)
def test_logged_propensities_give_the_values_of_open_bandit_pipeline(propensities, method):
    rng = np.random.default_rng(3)
    lists, chances = ["abc", "bac", "cab"], [0.5, 0.3, 0.2]
    attraction = {"a": 0.6, "b": 0.35, "c": 0.1}
    rows = []
    picked = rng.choice(3, 300, p=chances).tolist()
    for session, place in enumerate(picked):
        for rank, doc in enumerate(lists[place], 1):
            of_slot = sum(
                chance for docs, chance in zip(lists, chances, strict=True) if docs[rank - 1] == doc
            )
            rows.append({
                "session": session, "query": "q", "doc": doc, "position": rank,
                "clicked": int(rng.random() < attraction[doc]),
                "propensity": chances[place] if propensities == "slate" else of_slot,
            })  # fmt: skip
    found = gf.behaviour.would_earn(
        rows, {"q": [*"bac"]}, cutoff=3, method=method, propensities=propensities
    )
    assert found.value == pytest.approx(OPEN_BANDIT[propensities, method], rel=1e-12)


def test_the_doubly_robust_value_is_near_that_of_open_bandit_pipeline():
    """Open Bandit Pipeline 0.5.5 knows which documents were seen, and estimates 0.8326 (DoublyRobust).

    Each document shown is a round of it, and that the document is seen is the action, with the probability θ.
    The true value is 0.2 + 0.7 / log2(3) + 0.4 / 2 = 0.8417.
    """
    rng = np.random.default_rng(4)
    theta, lists = [0.9, 0.6, 0.4], 20_000
    attraction = np.array([0.7, 0.4, 0.2])
    order = np.array([rng.permutation(3) for _ in range(lists)])
    seen = rng.random((lists, 3)) < theta
    clicks = seen & (rng.random((lists, 3)) < attraction[order])
    log = pd.DataFrame({
        "session": np.repeat(np.arange(lists), 3), "query": "q", "doc": np.array([*"abc"])[order.ravel()],
        "position": np.tile([1, 2, 3], lists), "clicked": clicks.ravel(),
    })  # fmt: skip
    found = gf.behaviour.would_earn(log, {"q": [*"cab"]}, cutoff=3, examination=theta)
    assert found.method == "dr"
    assert found.value == pytest.approx(0.8325996706981551, abs=0.01)
