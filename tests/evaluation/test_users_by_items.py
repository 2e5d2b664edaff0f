"""Matrices of users × items give the numbers of dicts with the same ranks and grades."""

import numpy as np
import pytest
from scipy import sparse

import gainful as gf
from gainful.matching import array_matching
from gainful.measures.measure import catalogue

USERS, ITEMS = 60, 40
MEASURES = ["nDCG@5", "P@5", "R(rel=2)@5", "AP@5", "RR@5", "Success@5"]
FULL = ["nDCG", "AP", "RR", "RBP", "nDCG@5"]


@pytest.fixture(params=["few", "many", "none"])
def data(request):
    rng = np.random.default_rng(3)
    relevant = np.where(rng.random((USERS, ITEMS)) < 0.15, rng.integers(1, 4, (USERS, ITEMS)), 0)
    seen = rng.random((USERS, ITEMS)) < 0.2
    relevant[seen] = 0
    relevant[:3] = 0
    scores = rng.normal(size=(USERS, ITEMS)).astype(np.float32)
    if request.param != "none":
        scores = np.round(scores, 1 if request.param == "few" else 0)
    scores[5, 3:] = -np.inf
    seen[6] = True
    relevant[6] = 0
    return scores, seen, relevant


@pytest.fixture(params=["all sorted", "searched"])
def way(request, monkeypatch):
    """Short lists are sorted with all their items; the ranks of relevant items in long ones are searched."""
    if request.param == "searched":
        monkeypatch.setattr(array_matching, "_LONG", 1)


def as_dicts(scores, seen, relevant):
    judgments = {str(u): {str(i): int(row[i]) for i in np.flatnonzero(row)} for u, row in enumerate(relevant)}  # fmt: skip
    returned = (scores > -np.inf) & ~seen
    run = {str(u): {str(i): float(scores[u, i]) for i in np.flatnonzero(returned[u])} for u in range(USERS)}  # fmt: skip
    return judgments, run


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("measures", [MEASURES, FULL])
@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_dense_and_sparse_matrices_are_what_dicts_are(data, measures, ties):
    scores, seen, relevant = data
    judgments, run = as_dicts(*data)
    expected = gf.evaluate(judgments, run, measures, policy={"ties": ties})
    for form in (np.asarray, sparse.csr_matrix, sparse.coo_array, sparse.csc_array):
        got = gf.evaluate_arrays(
            scores=scores,
            seen=form(seen),
            relevant=form(relevant),
            measures=measures,
            policy={"ties": ties},
        )
        for measure, value in expected.means.items():
            assert got[measure] == pytest.approx(value, rel=1e-12)
        assert got.coverage.seen == expected.coverage.seen
        assert got.coverage.unjudged == expected.coverage.unjudged
        assert len(got.coverage.empty) == len(expected.coverage.empty)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("cutoff", ["@5", ""])
def test_every_measure(data, cutoff):
    scores, seen, relevant = data
    relevant[7] = np.where(relevant[8] > 0, -1, 0)
    relevant[7, 0] = 2
    relevant[seen] = 0
    judgments, run = as_dicts(*data)
    compared = 0
    for family in catalogue(needs="grades"):
        for policy in ({"ties": "average"}, {"ties": "best"}):
            options = {"measures": f"{family.name}{cutoff}", "policy": policy}
            try:
                expected = gf.evaluate(judgments, run, **options)
            except (
                gf.errors.GainfulError
            ):  # with no cutoff or only with one, or without a mean over ties
                continue
            got = gf.evaluate_arrays(scores=scores, seen=seen, relevant=relevant, **options)
            assert [*got.means.values()] == pytest.approx(
                [*expected.means.values()], rel=1e-12, nan_ok=True
            )
            compared += 1
    assert compared > 30


def test_scores_in_a_sparse_matrix_are_the_list(data):
    scores, seen, relevant = data
    there = (np.arange(ITEMS) % 3 == 0) & (scores > -np.inf)
    rows, columns = np.nonzero(there)
    stored = sparse.csr_matrix((scores[there], (rows, columns)), scores.shape)
    dense = np.where(there, scores, -np.inf)
    for measures in (MEASURES, FULL):
        options = {"seen": seen, "relevant": relevant, "measures": measures}
        expected = gf.evaluate_arrays(scores=dense, **options)
        assert gf.evaluate_arrays(scores=stored, **options).means == expected.means


def test_items_in_rank_order():
    rng = np.random.default_rng(4)
    items = rng.permuted(np.tile(np.arange(ITEMS), (USERS, 1)), axis=1)[:, :12]
    items[3, 5:], items[4] = -1, -1
    relevant = rng.random((USERS, ITEMS)) < 0.1
    seen = rng.random((USERS, ITEMS)) < 0.1
    relevant &= ~seen
    judgments = {str(u): {str(i): 1 for i in np.flatnonzero(row)} for u, row in enumerate(relevant)}
    run = {str(u): [str(i) for i in row if i >= 0 and not seen[u, i]] for u, row in enumerate(items.tolist())}  # fmt: skip
    expected = gf.evaluate(judgments, run, FULL).means
    options = {"relevant": sparse.csr_array(relevant), "seen": seen, "measures": FULL}
    got = gf.evaluate_arrays(items=items, **options)
    assert got.means == pytest.approx(expected)
    numbers = -np.tile(np.arange(12.0), (USERS, 1))
    back = gf.evaluate_arrays(items=items[:, ::-1], scores=numbers[:, ::-1], **options)
    assert back.means == pytest.approx(expected)


def test_ids_weights_and_order_of_users():
    relevant = np.eye(3, 4)
    scores = np.array([[4, 3, 2, 1.0], [4, 3, 2, 1], [4, 3, 2, 1]])
    scores_of = gf.evaluate_arrays(relevant=relevant, scores=scores, query=["c", "a", "b"], weights=[1.0, 0, 3], measures="RR")  # fmt: skip
    assert scores_of.per_query.to_dict() == {"c": {"RR": 1.0}, "a": {"RR": 0.5}, "b": {"RR": 1 / 3}}
    assert scores_of["RR"] == pytest.approx((1 * 1 + 3 / 3) / 4)


def test_relevant_items_that_were_seen_are_left_out_with_a_warning():
    with pytest.warns(gf.errors.GainfulWarning, match="1 relevant item of 2 was already seen"):
        scores = gf.evaluate_arrays(relevant=[[1, 1, 0]], scores=[[0.9, 0.1, 0.5]], seen=[[1, 0, 0]], measures="RR")  # fmt: skip
    assert scores["RR"] == 0.5


def test_ratings_need_a_threshold():
    relevant = [[1, 5, 0, 0], [2, 0, 4, 3]]
    with pytest.warns(gf.errors.GainfulWarning, match=r"ratings, from 1 to 5 .* R\(rel=4\)@2"):
        gf.evaluate_arrays(relevant=relevant, scores=np.random.default_rng(0).random((2, 4)), measures="R@2")  # fmt: skip


SCORES = [[0.2, 0.1], [0.1, 0.3]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": SCORES}, "expected labels and scores, or relevant"),
        ({"relevant": np.eye(2)}, "scores"),
        ({"relevant": np.zeros((2, 2)), "scores": SCORES, "seen": np.ones((2, 2))}, "seen: expected items to rank"),
        ({"relevant": np.zeros((2, 2)), "scores": np.full((2, 2), -np.inf)}, "scores: expected items to rank"),
        ({"relevant": np.eye(2), "scores": [[1.0]]}, "the shape of relevant"),
        ({"relevant": np.eye(2), "scores": SCORES, "seen": [True]}, "the shape of relevant"),
        ({"relevant": np.eye(2), "scores": SCORES, "labels": SCORES}, "relevant and labels"),
        ({"relevant": np.eye(2), "scores": [[np.nan, 1], [0, 1]]}, r"scores\[0, 0\]"),
        ({"relevant": np.eye(2), "items": [[0, 2], [0, 1]]}, "0 to 1, or −1"),
        ({"relevant": np.eye(2), "items": [[0, 0], [0, 1]]}, "each item once"),
        ({"relevant": np.eye(2), "items": [[0.5, 0.0], [0, 1]]}, "as integers"),
        ({"relevant": np.eye(2), "scores": SCORES, "policy": {"unjudged": "condense"}}, "unjudged=zero"),
        ({"labels": SCORES, "scores": SCORES, "seen": SCORES}, "relevant=…"),
        ({"relevant": sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2)), "scores": SCORES}, "sum_duplicates"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(options, message):
    with pytest.raises(gf.errors.InputError, match=message):
        gf.evaluate_arrays(**options)
