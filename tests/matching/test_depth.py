"""With cutoffs alone, matching goes no deeper than the deepest; no value, no signature changes."""

import pytest

import gainful as gf
from every_case import assert_every_case
from gainful.measures.policy import Policy
from random_runs import random_case
from same_matched import match_dicts


@pytest.mark.filterwarnings("ignore:document ids")
@pytest.mark.parametrize("ties", ["doc", "doc_ascending", "average", "best", "worst", "order"])
def test_values_and_signatures_are_those_of_the_whole_run(ties):
    def check(seed):
        judgments, run = random_case(seed)
        policy = gf.Policy(ties=ties, absent=("zero", -1)[seed % 2])
        for cutoff in (1, 2, 3, 50):
            name = f"nDCG@{cutoff}"
            near = gf.evaluate(judgments, run, [name], policy=policy)
            whole = gf.evaluate(judgments, run, [name, "DCG"], policy=policy)
            assert near.per_query[name] == whole.per_query[name]
            assert near.signature(name) == whole.signature(name)
            assert near.coverage.retrieved == whole.coverage.retrieved
            assert near.coverage.depth == cutoff
            assert whole.coverage.depth is None

    assert_every_case(check, range(12))


def test_what_is_seen_down_to_a_depth():
    judgments = {"q": {"a": 1, "b": 2, "c": 3}}
    run = {"q": {"a": 5, "x": 4, "b": 3, "y": 3, "c": 1}}
    matched = match_dicts(judgments, run, Policy(ties="doc"), 3)
    # y stands before b by the tie rule; both share the score at rank 3, so both are seen.
    assert matched.rank.tolist() == [1]
    assert (matched.retrieved.tolist(), matched.seen.tolist()) == ([5], [4])
    assert matched.unjudged.tolist() == [2]
    matched = match_dicts(judgments, run, Policy(ties="average"), 3)
    assert matched.rank_first.tolist() == [1, 3]
    assert matched.rank_last.tolist() == [1, 4]


def test_documents_below_the_depth_count_as_shared():
    # No warning that no document is judged: one is, further down.
    scores = gf.evaluate({"q": {"a": 1}}, {"q": {"x": 2, "a": 1}}, "nDCG@1")
    assert scores["nDCG@1"] == 0.0
    assert str(scores.coverage) == "1 query. All of the first documents have no grade."
