"""A page stays small: of many queries, those that matter are shown, and the page says so."""

import json
import random

import numpy as np
import pytest

import gainful as gf
from gainful.reporting.query_selection import by_importance, size_of, that_fit

MOST = 5_000_000


def collection(queries, runs, documents=12, digits=0, name="q"):
    """Return judgments and runs in which the differences of queries differ.

    With digits, the ids of documents are so long that they pack badly, and no two queries share one.
    The ids of queries begin with a name.
    """
    rng = random.Random(queries)  # noqa: S311
    ids = [f"document-{number:03d}" for number in range(documents + 12)]
    judgments, systems = {}, {f"run{number}": {} for number in range(runs)}
    for number in range(queries):
        query = f"{name}{number:06d}"
        if digits:
            ids = [f"{rng.getrandbits(4 * digits):0{digits}x}" for _ in ids]
        judgments[query] = {doc: rng.randint(0, 3) for doc in rng.sample(ids, 6)}
        for run in systems.values():
            run[query] = {doc: rng.random() for doc in rng.sample(ids, documents)}
    return judgments, systems


@pytest.fixture(scope="module")
def large():
    return gf.report(*collection(1000, 10), ["nDCG@10", "P@10"], resamples=9)


def test_ten_runs_of_a_thousand_queries(large):
    assert len(large.to_html().encode()) <= MOST
    assert large.payload()["kept"] == {"queries": 1000, "of": 1000, "why": None}


@pytest.fixture(scope="module")
def larger():
    return gf.report(*collection(700, 3, digits=400), ["nDCG@10", "P@10"], resamples=9)


def test_the_queries_that_differ_most_are_kept(larger):
    assert len(larger.to_html().encode()) <= MOST
    payload = larger.payload()
    assert 200 < payload["kept"]["queries"] < 700
    base, *others = payload["scores"][0]
    apart = [max(abs(other[place] - base[place]) for other in others) for place in range(len(base))]
    kept = {int(place) for place in payload["details"]}
    assert len(kept) == payload["kept"]["queries"]
    assert {place for place, query in enumerate(payload["queries"]) if query["detail"]} == kept
    left = [value for place, value in enumerate(apart) if place not in kept]
    assert min(apart[place] for place in kept) >= max(left)
    assert "the largest differences from the baseline" in payload["kept"]["why"]


def test_very_many_queries():
    """Which are fewer where their ids are long."""
    measures = ["nDCG@10", "P@5", "RR", "AP", "DCG", "R@5"]
    given = collection(4_500, 2, documents=2, name="query " * 100)
    page = gf.report(*given, measures, resamples=9)
    payload = page.payload()
    shown = len(payload["queries"])
    assert 1000 < shown < 4_500
    assert all(len(run) == shown for measure in payload["scores"] for run in measure)
    assert payload["kept"]["of"] == 4_500
    assert payload["notes"][-1].startswith(f"The scores of {shown:,} of 4,500 queries are shown")
    assert payload["verdicts"][0]["queries"] == 4_500
    assert len(page.to_html().encode()) <= MOST
    assert set(payload["details"]) <= {str(place) for place in range(shown)}
    assert payload["details"]


def test_texts_count():
    rng = random.Random(1)  # noqa: S311
    letters = [chr(number) for number in range(0x4E00, 0x9000)]  # that pack badly
    given, runs = collection(400, 2)

    def apart(queries):
        """Let no two queries share a document."""
        return {
            query: {f"{query} {doc}": number for doc, number in found.items()}
            for query, found in queries.items()
        }

    judgments, systems = apart(given), {name: apart(run) for name, run in runs.items()}
    docs = {doc for run in systems.values() for found in run.values() for doc in found}
    texts = {doc: ("<title>", "".join(rng.choices(letters, k=200))) for doc in sorted(docs)}
    assert gf.report(judgments, systems).payload()["kept"]["queries"] == 400
    page = gf.report(judgments, systems, docs=texts)
    assert len(page.to_html().encode()) <= MOST
    assert 100 < page.payload()["kept"]["queries"] < 400


def test_one_run_shows_the_odd_ones_first():
    values = [[0.5], [0.0], [0.9], [0.2], [0.7]]
    order, why = by_importance(np.array(values), None, [0])
    assert order == [0, 1, 2, 3, 4]
    assert (
        why
        == "queries without an answer or without relevant documents, and the lowest and highest scores"
    )


def test_a_run_without_a_value_makes_no_difference():
    nan = float("nan")
    order, _ = by_importance(np.array([[0.5, nan], [0.5, 0.6], [nan, 0.9]]), 0)
    assert order == [1, 0, 2]


def test_what_fits():
    assert that_fit([3, 1, 2], [5, 5, 5], 15) == [3, 1, 2]
    assert that_fit([3, 1, 2], [5, 5, 5], 14) == [3, 1]
    assert that_fit([3], [5], 4) == []


def test_sizes_are_those_of_a_page():
    for value in ({"a": [1, 2.5, None]}, "<&>", "é", "\u2028"):
        text = json.dumps(value, separators=(",", ":"))
        for mark in "<>&":
            text = text.replace(mark, f"\\u{ord(mark):04x}")
        assert size_of(value) == len(text)
