"""Dicts and arrays give the same `Matched` for the same data, bit for bit."""

import functools
import random

import numpy as np
import pytest

from gainful.errors import InputError
from gainful.matching import array_matching
from gainful.measures.policy import Policy
from gainful.rows.arrays import read_lists
from same_matched import assert_same, match_dicts


@functools.cache
def random_lists(seed, levels, grades):
    """{query: [(grade, score), …]}; the same lists are matched under every rule."""
    rng = random.Random(seed)  # noqa: S311
    return {
        str(query): [
            (rng.choice(grades), rng.randrange(levels) / levels)
            for _ in range(rng.choice((1, 2, 3, 8, 40, 300)))
        ]
        for query in rng.sample(range(1000), 12)
    }


def as_dicts(lists):
    """The documents get ids in the order of the input."""
    judgments = {
        q: {f"d{n:04d}": pair[0] for n, pair in enumerate(docs)} for q, docs in lists.items()
    }
    run = {q: {f"d{n:04d}": pair[1] for n, pair in enumerate(docs)} for q, docs in lists.items()}
    return judgments, run


WHOLE, FRACTIONS = (-1, 0, 0, 1, 2, 3), (0.1, -0.5, 2.25, 1e6, 1e-9, 0.0)


@functools.cache
def in_every_way(seed, levels, grades):
    """Random lists as flat arrays, also with the documents of a query apart, and as dicts."""
    lists = random_lists(seed, levels, grades)
    rows = [(query, *pair) for query, docs in lists.items() for pair in docs]
    query, labels, scores = zip(*rows, strict=True)
    together = read_lists(labels, scores, query=query)
    # Documents of a query need not stand together; only their own order counts.
    places = sorted(range(len(rows)), key=lambda place: place % 7)
    query, labels, scores = zip(*(rows[place] for place in places), strict=True)
    apart = read_lists(labels, scores, query=[int(name) for name in query])
    return together, apart, as_dicts(lists)


@pytest.mark.parametrize("grades", [WHOLE, FRACTIONS], ids=["whole", "fractions"])
@pytest.mark.parametrize("ties", ["average", "order", "best", "worst"])
@pytest.mark.parametrize("levels", [1, 3, 10**6])
def test_flat_arrays_with_query_ids(ties, levels, grades):
    policy = Policy(ties=ties)
    for seed in range(30):
        together, apart, dicts = in_every_way(seed, levels, grades)
        expected = match_dicts(*dicts, policy)
        assert_same(array_matching.match(together, policy), expected)
        if ties != "order":
            assert_same(array_matching.match(apart, policy), expected)


@pytest.mark.parametrize("unjudged", ["zero", "condense", 1.0, -1.0])
@pytest.mark.parametrize("ties", ["average", "order", "best"])
def test_negative_labels_that_are_no_judgments(ties, unjudged):
    policy = Policy(ties=ties, unjudged=unjudged, negative="unjudged")
    for seed in range(15):
        lists = random_lists(seed, 3, WHOLE)
        expected = match_dicts(*as_dicts(lists), policy)
        assert expected.unjudged.any()
        query, labels, scores = zip(
            *((query, *pair) for query, docs in lists.items() for pair in docs), strict=True
        )
        found = array_matching.match(read_lists(labels, scores, query=query), policy)
        assert_same(found, expected)


def test_negative_labels_that_are_no_judgments_may_be_refused():
    policy = Policy(ties="average", unjudged="error", negative="unjudged")
    with pytest.raises(InputError, match=r"query '1': .*unjudged=error.* found 2 unjudged"):
        array_matching.match(read_lists([[1, 0, 2], [-1, 3, -2]], [[1, 2, 3]] * 2), policy)


@pytest.mark.parametrize("ties", ["average", "order"])
def test_a_batch_with_a_mask_a_flat_array_with_sizes_and_a_batch_with_ids(ties):
    policy = Policy(ties=ties)
    rng = np.random.default_rng(5)
    for levels in (3, 10**6):
        sizes = rng.integers(1, 30, 10)
        labels, scores = (
            rng.integers(0, 4, (10, 30)).astype(float),
            rng.integers(0, levels, (10, 30)),
        )
        mask = np.arange(30) < sizes[:, None]
        padded = np.where(mask, labels, np.nan)  # what is masked is not looked at
        batch = array_matching.match(read_lists(padded, scores, mask=mask), policy)
        flat = array_matching.match(read_lists(labels[mask], scores[mask], group=sizes), policy)
        assert_same(batch, flat)
        names = [str(number) for number in range(10)]
        assert_same(
            array_matching.match(read_lists(padded, scores, mask=mask, query=names), policy),
            batch,
        )
        lists = {
            names[row]: list(zip(labels[row][mask[row]], scores[row][mask[row]], strict=True))
            for row in range(10)
        }
        assert_same(match_dicts(*as_dicts(lists), policy), batch)


def test_scores_that_differ_in_their_last_bits_only():
    """The fast sort cannot tell them apart, and must notice."""
    close = [1.0]
    for _ in range(40):
        close.append(float(np.nextafter(close[-1], 2)))
    rng = random.Random(1)  # noqa: S311
    for ties in ("average", "order"):
        for _ in range(50):
            scores = [rng.choice(close) * rng.choice((1, -1)) for _ in range(60)]
            lists = {
                "q": [(grade % 4, score) for grade, score in enumerate(scores)],
                "r": [(1, 0.5)],
            }
            query = ["q"] * 60 + ["r"]
            labels, flat = zip(*(lists["q"] + lists["r"]), strict=True)
            assert_same(
                array_matching.match(read_lists(labels, flat, query=query), Policy(ties=ties)),
                match_dicts(*as_dicts(lists), Policy(ties=ties)),
            )


SCALES = {
    "from 0 to 1": lambda rng: round(rng.random(), 1),
    "of either sign": lambda rng: round(rng.uniform(-9, 9)) / 7,
    "negative": lambda rng: -rng.choice([0.1, 0.3, 1e300]),
    "zero in two ways": lambda rng: rng.choice([0.0, -0.0, 1.0]),
    "far apart": lambda rng: rng.choice([5e-324, 1e-300, 0.1, 1.7e308, -5e-324, -1.7e308]),
    "of single precision": lambda rng: float(np.float32(rng.choice([-0.1, 0.7, 1e30]))),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("highest", [1, 4, 4095, 10**9])
def test_tied_scores_of_every_scale(scale, highest):
    """Score and grade share the bits of one integer; which bits depends on both scales."""
    rng = random.Random(4)  # noqa: S311
    lists = {
        f"q{number}": [
            (rng.choice([0, 1, highest]), SCALES[scale](rng)) for _ in range(rng.randint(1, 40))
        ]
        for number in range(30)
    }
    labels, scores = zip(*(row for rows in lists.values() for row in rows), strict=True)
    query = [name for name, rows in lists.items() for _ in rows]
    for ties in ("average", "order"):
        assert_same(
            array_matching.match(read_lists(labels, scores, query=query), Policy(ties=ties)),
            match_dicts(*as_dicts(lists), Policy(ties=ties)),
        )


def test_fractional_grades_a_whole_step_apart_keep_their_bits():
    """1.1 − 1 is not 0.1."""
    labels, scores = [[0.1, 1.1] * 8] * 9, [[1.0] * 16] * 9
    matched = array_matching.match(read_lists(labels, scores), Policy(ties="average"))
    assert set(matched.grade.tolist()) == set(matched.pool_grades.tolist()) == {0.1, 1.1}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, np.uint16, np.int64, np.bool_])
@pytest.mark.parametrize("levels", [2, 100])
def test_numbers_of_every_type(kind, levels):
    rng = np.random.default_rng(8)
    for shape in ((40, 12), (480,)):
        labels = rng.integers(0, 3, shape).astype(kind)
        scores = rng.integers(0, levels, shape).astype(kind)
        sizes = None if len(shape) == 2 else [1, 79, 0, 100, 300]
        for ties in ("average", "order"):
            assert_same(
                array_matching.match(read_lists(labels, scores, group=sizes), Policy(ties=ties)),
                array_matching.match(
                    read_lists(labels.astype(float), scores.astype(float), group=sizes),
                    Policy(ties=ties),
                ),
            )


def test_half_precision_grades_far_apart():
    labels = np.array([[4094, 1, 2, 3] * 8], np.float16)
    matched = array_matching.match(read_lists(labels, np.ones((1, 32))), Policy(ties="average"))
    assert set(matched.grade.tolist()) == {float(labels[0, 0]), 1.0, 2.0, 3.0}


def test_zero_and_minus_zero_tie():
    matched = array_matching.match(read_lists([1, 2, 3], [0.0, -0.0, 0.0]), Policy(ties="order"))
    assert matched.grade.tolist() == [1, 2, 3]
    assert matched.rank_last.tolist() == [3, 3, 3]


def test_very_unequal_lists_are_sorted_in_buckets():
    rng = np.random.default_rng(2)
    sizes = np.array([1, 1, 5000, 2, 40, 0, 900, 1])
    labels, scores = rng.integers(0, 3, sizes.sum()), rng.integers(0, 50, sizes.sum())
    query = np.repeat(np.arange(sizes.size), sizes)
    by_size = array_matching.match(read_lists(labels, scores, group=sizes), Policy(ties="average"))
    lists = {
        str(number): list(zip(labels[query == number], scores[query == number], strict=True))
        for number in range(sizes.size)
    }
    assert_same(by_size, match_dicts(*as_dicts(lists), Policy(ties="average")))


def test_batches_change_nothing(monkeypatch):
    import gainful as gf
    from gainful.evaluation import measuring as batches

    rng = np.random.default_rng(3)
    labels, scores = rng.integers(-1, 4, (200, 15)), rng.integers(0, 9, (200, 15))
    policy = gf.Policy(absent="lowest", empty="skip")
    measures = ["nDCG@20", "DCG(discount=jarvelin)"]
    whole = gf.evaluate_arrays(labels=labels, scores=scores, measures=measures, policy=policy)
    monkeypatch.setattr(batches, "batches_for", lambda _: 7)
    monkeypatch.setattr("gainful.evaluation.evaluate.batches_for", lambda _: 7)
    split = gf.evaluate_arrays(labels=labels, scores=scores, measures=measures, policy=policy)
    assert split.values.tobytes() == whole.values.tobytes()
    assert split.coverage == whole.coverage
    assert split.signature("nDCG@20") == whole.signature("nDCG@20")
