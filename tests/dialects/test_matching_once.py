"""`why` and `which` match a run once for all policies that it is matched alike under."""

import itertools
import random
from contextlib import contextmanager

import pytest

import gainful as gf
from gainful.analysis.explanation.ways_to_measure import WayMeasurer, before
from gainful.matching.reader import Reader, reading
from same_matched import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

TIES = ("doc", "doc_ascending", "average", "best", "worst", "order")
POLICIES = [
    gf.Policy(ties=ties, unjudged=unjudged, drop_self=drop_self, precision=precision, **rest)
    for ties, unjudged, drop_self, precision, rest in itertools.product(
        TIES, ("zero", "condense", 1.0), ("no", "yes"), ("double", "single"),
        ({}, {"duplicates": "best"}, {"empty": "one", "missing": "skip"}, {"negative": "unjudged"}),
    )
]  # fmt: skip
NEAR = (0.5, 0.5 + 1e-12, 0.5 - 1e-12, 0.25)  # three of them are one number in single precision
SPREAD = tuple(float(number) for number in range(1, 60))


def case(seed, scores, *, itself):
    """Queries whose ids may be documents, retrieved without being judged, or judged alone."""
    rng = random.Random(seed)  # noqa: S311
    judgments, run = {}, {}
    for number in range(5):
        query = f"q{number}"
        ids = [f"d{place}" for place in range(12)] + [query] * itself
        judgments[query] = {doc: rng.choice((0, 0, 1, 2, -1)) for doc in rng.sample(ids, 7)}
        if number:
            docs = rng.sample(ids, 8)
            given = rng.sample(scores, 8) if scores is SPREAD else rng.choices(scores, k=8)
            run[query] = dict(zip(docs, given, strict=True))
    return judgments, run


@contextmanager
def measuring_of(judgments, run):
    with reading(judgments, gf.Policy()) as reader:
        yield WayMeasurer(reader, run)


@pytest.mark.parametrize("itself", [False, True], ids=["others", "itself"])
@pytest.mark.parametrize(
    "scores", [SPREAD, NEAR, (0.25, 0.5, 0.75)], ids=["spread", "near", "tied"]
)
@pytest.mark.parametrize("seed", range(6))
def test_what_serves_for_several_policies_is_what_each_of_them_gives(seed, scores, itself):
    judgments, run = case(f"{seed} {itself}", scores, itself=itself)
    rng = random.Random(seed)  # noqa: S311
    with measuring_of(judgments, run) as measuring:
        for policy in rng.sample(POLICIES, 60):
            with reading(judgments, before(policy)) as reader:
                direct, _ = reader.match(run)
            assert_same(measuring._match(measuring.alike(policy)), direct)
            scored = measuring.scores([gf.measure("nDCG@3")], policy)
            assert scored.policy == policy.resolved(ids=True)
            expected = gf.evaluate(judgments, run, "nDCG@3", policy=policy)
            assert scored["nDCG@3"] == expected["nDCG@3"]


def test_documents_without_ids(tmp_path):
    labels, predictions = tmp_path / "test.svm", tmp_path / "predictions.txt"
    labels.write_text("1 qid:1 1:0\n2 qid:1 1:0\n0 qid:1 1:0\n1 qid:2 1:0\n0 qid:2 1:0\n")
    predictions.write_text("3\n2\n2\n1\n1\n")
    with measuring_of(labels, predictions) as measuring:
        assert not measuring.ids
        for ties, precision in itertools.product(TIES, ("double", "single")):
            policy = gf.Policy(ties=ties, precision=precision)
            if ties.startswith("doc"):
                with pytest.raises(gf.errors.PolicyError, match="no document ids"):
                    measuring.scores([gf.measure("nDCG")], policy)
                continue
            with reading(labels, before(policy)) as reader:
                direct, _ = reader.match(predictions)
            assert_same(measuring._match(measuring.alike(policy)), direct)


@pytest.fixture
def matches(monkeypatch):
    """The policies that runs are matched under."""
    seen, match = [], Reader.match

    def noting(self, run, depth=None):
        seen.append(self.policy)
        return match(self, run, depth)

    monkeypatch.setattr(Reader, "match", noting)
    return seen


@pytest.mark.parametrize(
    ("scores", "itself", "most"),
    [(SPREAD, False, 6), ((0.25, 0.5), False, 12), (NEAR, True, 36)],
    ids=["plain", "tied", "everything"],
)
def test_how_often_a_run_is_matched(matches, scores, itself, most):
    """Once for each answer of the choices that are often idle, to know that they are; then condensed.

    Where −1 is a grade, `negative=unjudged` is matched on its own. Tied documents also stand in
    three orders, condensed or not.
    """
    judgments, run = case("often", scores, itself=itself)
    found = gf.explanation.which(judgments, run, got="0.5")
    assert found.tried > 300
    assert len(matches) == len(set(matches)) <= most


def test_two_tools_that_match_alike_are_matched_once(matches):
    judgments, run = case("twice", SPREAD, itself=False)
    gf.why(judgments, run, dialects=["gainful", "gdeval"])
    assert len(matches) == 1
