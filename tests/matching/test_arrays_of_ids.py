"""Two-dimensional arrays of ids give the same `Matched` as the same lists do, bit for bit."""

import warnings

import numpy as np
import pytest

import gainful as gf
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from same_matched import assert_same

QUERIES = [f"q{place}" for place in range(40)]


def matched(judgments, run, policy, depth):
    with reading(judgments, policy, {"queries": QUERIES}) as reader:
        return reader.match(run, depth)[0]


def cases():
    rng = np.random.default_rng(3)
    places = np.arange(12) * 50 + rng.integers(0, 50, (len(QUERIES), 12))
    texts = np.char.add("d", places.astype(str))
    repeated = places.copy()
    repeated[3, 7] = repeated[3, 2]
    return {
        "integers": places,
        "small integers": places.astype(np.int16),
        "negatives": -places,
        "texts": texts,
        "wide texts": texts.astype("U40"),
        "other letters": np.char.add("é", texts),
        "integers as texts": places.astype(str),
        "repeated": repeated,
        "repeated texts": repeated.astype(str),
        "objects": texts.astype(object),
        "Fortran's order": np.asfortranarray(texts),
    }


def judgments_of(ids):
    """Some documents of each list, some of other lists, and some that only look like one."""
    rng = np.random.default_rng(4)
    judged = {
        query: {str(doc): int(rng.integers(0, 3)) for doc in rng.choice(row, 4)}
        | {str(ids[0, 0]): 1, "0": 1, "007": 2, f"{row[0]}0": 1, f"0{row[1]}": 1, "x" * 50: 2}
        for query, row in zip(QUERIES, ids, strict=True)
    }
    judged.pop("q5")
    return judged | {"unanswered": {"a": 1}}


@pytest.mark.parametrize(
    "policy", [{}, {"unjudged": "condense"}, {"unjudged": 1}, {"precision": "single"}]
)
@pytest.mark.parametrize("depth", [None, 1, 5, 100])
@pytest.mark.parametrize("name", cases())
def test_the_same_as_lists(name, depth, policy):
    ids = cases()[name]
    judgments, decided = judgments_of(ids), Policy(ties="doc", **policy)
    with warnings.catch_warnings():
        if "repeated" in name:
            warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        found = matched(judgments, ids, decided, depth)
        assert_same(found, matched(judgments, ids.tolist(), decided, depth))


def test_what_is_odd_is_said_as_of_lists():
    ids = np.array([["a", "b"], ["c", "c"]])
    with pytest.warns(gf.errors.GainfulWarning, match="'c' of query 'r' is repeated in its list"):
        assert gf.evaluate({"q": ["b"]}, ids, "RR", queries=["q", "r"])["RR"] == 0.5
    with pytest.raises(gf.errors.InputError, match="query 'r', item 2: expected an id"):
        gf.evaluate({"q": ["b"]}, np.array([["a", "b"], ["c", ""]]), "RR", queries=["q", "r"])
    with pytest.raises(gf.errors.InputError, match="each query once"):
        gf.evaluate({"q": ["b"]}, ids[:, :1], "RR", queries=["q", "q"])
    with pytest.raises(gf.errors.InputError, match="2 ids, one for each list"):
        gf.evaluate({"q": ["b"]}, ids, "RR", queries=["q"])
    with pytest.raises(gf.errors.InputError, match="none in common"):
        gf.evaluate({"z": ["b"]}, ids[:, :1], "RR", queries=["q", "r"])


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
@pytest.mark.parametrize("policy", [{}, {"unjudged": "condense"}])
def test_minus_one_at_the_end_of_a_row_is_padding(dtype, policy):
    ids = np.array([[7, 8, 9], [8, 7, -1], [7, -1, -1], [-1, -1, -1], [-1, 7, 8]], dtype)
    lists = [[7, 8, 9], [8, 7], [7], [], [-1, 7, 8]]
    queries = [*"abcde"]
    judgments = {query: {"7": 1, "8": 2, "-1": 1} for query in queries}
    options = {"queries": queries, "policy": policy}
    measures = ["nDCG", "P@3", "NumRet", "R", "Unjudged@3"]
    found, expected = (gf.evaluate(judgments, run, measures, **options) for run in (ids, lists))
    assert found.per_query == expected.per_query
    assert found.coverage == expected.coverage
    assert [*gf.fuse([ids, ids], queries=queries)["b"]] == ["8", "7"]
    texts = np.array([["a", "-1"], ["-1", "a"]])  # of texts, it is an id as any other
    scores = gf.evaluate({"q": ["-1"], "r": ["-1"]}, texts, "RR", queries=["q", "r"])
    assert scores["RR"] == 0.75


def test_every_function_takes_them():
    ids = np.array([[7, 8], [9, 7]])
    judgments = {"q": {"8": 1}, "r": {"9": 1}}
    scores = gf.evaluate(judgments, ids, "nDCG@10", queries=["q", "r"])
    assert scores["nDCG@10"] == pytest.approx((1 / np.log2(3) + 1) / 2)
    assert scores.interval is not None
    found = gf.explain(judgments, ids, "nDCG@10", query="q", queries=["q", "r"])
    assert found.value == pytest.approx(1 / np.log2(3))
    fused = gf.fuse([ids, {"q": {"7": 1.0}}], queries=["q", "r"])
    assert [*fused["q"]] == ["7", "8"]
