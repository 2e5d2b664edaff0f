"""COEC as OpenSearch's search relevance workbench computes it, by hand and by a literal program."""

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pandas as pd
import pytest

import gainful as gf
from gainful.behaviour.coec_dialects import _rounded
from simulated_clicks import Truth, simulated

NAME = "opensearch-workbench"


def lists_of(*texts):
    """Return a log with a list per text, such as "a1 b0": documents, clicked or not."""
    return pd.DataFrame([
        {"session": number, "query": "q", "doc": word[0], "position": rank, "clicked": int(word[1])}
        for number, text in enumerate(texts)
        for rank, word in enumerate(text.split())
    ])  # fmt: skip


def test_by_hand():
    log = lists_of("a1 b0", "a0 b1", "b1 a1", "c0 a0")
    # Rank 1: clicks on a and b in 4 impressions, 0.5. Rank 2: b and a in 4, 0.5.
    # a: shown 4 times, 2 clicks: 2 / (4 × 0.5); b: 3 times, 2 clicks: 2 / (3 × 0.5); c: 0.
    grades = gf.behaviour.click_judgments(log, dialect=NAME)["q"]
    assert grades == {"a": 1.0, "b": 1.333, "c": 0.0}
    log = lists_of("a1 b0", "a1 b0", "a0 b1", "b0 a0")
    # Rank 1: 0.5; rank 2: 0.25. b was once at rank 1, so 1 / (4 × 0.5), although it was mostly at rank 2.
    assert gf.behaviour.click_judgments(log, dialect=NAME)["q"] == {"a": 1.0, "b": 0.5}
    plain = gf.behaviour.click_judgments(log, "coec")["q"]
    assert plain["b"] > 0.6  # expected are 3 × 0.25 + 0.5


def test_nothing_expected_counts_0():
    log = lists_of("a1 b0", "a0 b0")
    judgments = gf.behaviour.click_judgments(log, "coec", dialect=NAME)
    assert judgments["q"] == {"a": 1.0, "b": 0.0}
    assert judgments.rows[1].high == np.inf


def test_halves_are_rounded_up():
    assert _rounded(np.array([0.0625, 1.0005, 2.0015, 0.0004, 0.1235])).tolist() == [0.063, 1.001, 2.002, 0.0, 0.124]  # fmt: skip


def test_a_literal_program():
    """Count events one by one, as the workbench does from its index."""
    truth = Truth.drawn(5, 6, 4)
    lists = simulated("pbm", truth, lists=400, queries=5, docs=6, depth=4)
    impressions, clicks, at, clicked, lowest = Counter(), Counter(), Counter(), Counter(), {}
    events = [*zip(lists.pairs.tolist(), (lists.ranks - 1).tolist(), lists.clicks.tolist(), strict=True)]  # fmt: skip
    for pair, rank, click in events:
        impressions[pair] += 1
        at[rank] += 1
        clicks[pair] += click
        clicked[rank] += click
        lowest[pair] = min(rank, lowest.get(pair, 99))
    expected = {
        pair: float(
            Decimal(
                repr(clicks[pair] / (clicked[lowest[pair]] / at[lowest[pair]] * impressions[pair]))
            ).quantize(Decimal("0.001"), ROUND_HALF_UP)
        )
        for pair in impressions
    }
    table = pd.DataFrame({
        "session": lists.owners, "query": [f"q{pair // 6}" for pair in lists.pairs],
        "doc": [f"d{pair % 6}" for pair in lists.pairs], "position": lists.ranks, "clicked": lists.clicks,
    })  # fmt: skip
    judgments = gf.behaviour.click_judgments(table, dialect=NAME)
    found = {int(row.query[1:]) * 6 + int(row.doc[1:]): row.grade for row in judgments.rows}
    assert found == expected
    assert np.all((judgments.low <= judgments.grades) & (judgments.grades <= judgments.high))
    spread = judgments.resampled(100).std(axis=0) / (judgments.high - judgments.low)
    assert np.median(spread) * 2 * 1.96 == pytest.approx(1, abs=0.2)
    assert f"by coec as in {NAME}" in judgments.summary
    run = {query: dict(docs) for query, docs in judgments.items()}
    assert gf.evaluate(judgments, run, "DCG@3").interval(method="t").from_grades is not None


def test_only_for_coec():
    with pytest.raises(gf.errors.InputError, match="model coec"):
        gf.behaviour.click_judgments(lists_of("a1 b0", "a0 b0"), "pbm", dialect=NAME)
    with pytest.raises(gf.errors.InputError, match="dialect"):
        gf.behaviour.click_judgments(lists_of("a1 b0", "a0 b0"), dialect="opensearch")
