"""Rank-biased overlap, τ_AP and τ_h of rankings with ties: literally, by enumeration, beside other tools."""

import itertools
import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gainful as gf

RECORDED = Path(__file__).parents[1] / "stand_ins" / "rbo_with_ties.json"
KINDS = ("extrapolated", "least", "most", "residual")
# --- literal formulas


def groups_of(scores):
    """The items by descending score, those with equal scores together."""
    return [
        [item for item in scores if scores[item] == score]
        for score in sorted(set(scores.values()), reverse=True)
    ]


def orders_of(scores):
    """All orders of the items that the scores allow, best first."""
    for blocks in itertools.product(*map(itertools.permutations, groups_of(scores))):
        yield [item for block in blocks for item in block]


def read_groups(text):
    """Read a ranking such as "a (b c) d" as scores."""
    groups = [group.strip("()").split() for group in re.findall(r"\([^)]*\)|\S+", text)]
    return {item: -place for place, group in enumerate(groups) for item in group}


def contribution(scores, item, depth, *, whole=False):
    """How much of an item is among the first `depth` ranks: 0, 1, or a share if its group is cut there."""
    if item not in scores:
        return 0.0
    top = 1 + sum(other > scores[item] for other in scores.values())
    tied = sum(other == scores[item] for other in scores.values())
    if whole:
        return float(depth >= top)
    return min(max(depth - top + 1, 0) / tied, 1.0)


def literal_minimum(first, second, p, ties, far=3000):
    """RBO_MIN by its definition: both lists continue with items that no other list has."""
    shorter, longer = sorted((first, second), key=len)
    total = 0.0
    for depth in range(1, far):
        if depth <= len(longer):
            pairs = [
                [contribution(each, item, depth, whole=ties == "w") for each in (shorter, longer)]
                for item in {*first, *second}
            ]
            sizes = []
            for place, each in enumerate((shorter, longer)):
                if depth > len(each):  # the unseen items have ranks of their own
                    sizes.append(float(depth))
                elif ties == "b":
                    sizes.append(sum(pair[place] ** 2 for pair in pairs))
                else:
                    sizes.append(sum(pair[place] for pair in pairs))
            overlap = sum(one * other for one, other in pairs)
            size = {"a": depth, "b": math.sqrt(sizes[0] * sizes[1]), "w": sum(sizes) / 2}[ties]
        else:
            overlap, size = len(first.keys() & second.keys()), depth
        total += (1 - p) * p ** (depth - 1) * overlap / size
    return total


def random_scores(rng, items, levels):
    return {item: rng.randrange(levels) for item in items}


# --- rank-biased overlap


def test_overlap_as_in_the_implementation_of_its_authors():
    """120 of 10,000 random pairs, by github.com/julian-urbano/sigir2024-rbo, rbo/Python/rbo.py.

    All 10,000 agreed to 1e-14, and so did the 10,000 pairs of the authors' own test data.
    """
    recorded = json.loads(RECORDED.read_text())
    assert len(recorded) == 120
    for first, second, p, *values in recorded:
        one, other = read_groups(first), read_groups(second)
        for ties, by_kind in zip("wab", values, strict=True):
            for kind, value in zip(KINDS, by_kind, strict=True):
                found = gf.statistics.rbo(one, other, p=p, kind=kind, ties=ties)
                assert found == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("ties", ["a", "b", "w"])
def test_the_least_overlap_is_the_sum_of_the_definition(ties):
    rng = random.Random(3)  # noqa: S311
    for _ in range(12):
        first = random_scores(rng, rng.sample("abcdefgh", rng.randint(1, 8)), 4)
        second = random_scores(rng, rng.sample("cdefghij", rng.randint(1, 8)), 4)
        value = gf.statistics.rbo(first, second, kind="least", ties=ties)
        expected = literal_minimum(first, second, 0.9, ties, far=400)
        assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_variant_a_is_the_mean_over_all_orders(kind):
    """Exactly for lists of one length; the orders of the ties are independent."""
    rng = random.Random(5)  # noqa: S311
    for _ in range(8):
        first = random_scores(rng, rng.sample("abcdefg", 5), 3)
        second = random_scores(rng, rng.sample("abcdefg", 5), 3)
        values = [
            gf.statistics.rbo(one, other, kind=kind)
            for one in orders_of(first)
            for other in orders_of(second)
        ]
        value = gf.statistics.rbo(first, second, kind=kind, ties="a")
        assert value == pytest.approx(sum(values) / len(values), abs=1e-13)


def test_overlap_of_tied_lists_by_hand():
    # Both lists tie all of two items. a: A_1 = 2 · (1/2)² = 1/2, A_2 = 1; b and w: A_1 = A_2 = 1.
    both = {"x": 1, "y": 1}
    assert gf.statistics.rbo(both, both, ties="a", p=0.5) == pytest.approx(0.5 * 0.5 + 0.5)
    assert gf.statistics.rbo(both, both, ties="b") == gf.statistics.rbo(both, both, ties="w") == 1
    # x y against (x y): w has A_1 = 2 · 1/(1 + 2), b has A_1 = (1/2)/√(1 · 1/2).
    order = {"x": 2, "y": 1}
    assert gf.statistics.rbo(order, both, ties="w", p=0.5) == pytest.approx((2 / 3 + 1) / 2)
    assert gf.statistics.rbo(order, both, ties="b", p=0.5) == pytest.approx(
        (math.sqrt(0.5) + 1) / 2
    )


def test_variants_are_the_same_without_ties_and_keep_groups_at_the_depth():
    first, second = {"a": 3, "b": 2, "c": 1}, {"b": 9, "a": 8, "x": 7, "c": 6}
    for kind in KINDS:
        values = {gf.statistics.rbo(first, second, kind=kind, ties=ties) for ties in "abw"}
        assert values == {gf.statistics.rbo(first, second, kind=kind)}
    tied = {"a": 3, "b": 2, "c": 2, "d": 1}
    for ties in "abw":
        cut = gf.statistics.rbo(tied, first, depth=2, ties=ties)
        assert cut == gf.statistics.rbo({"a": 3, "b": 2, "c": 2}, {"a": 3, "b": 2}, ties=ties)


# --- τ_AP and τ_h


def test_tau_ap_a_is_the_mean_over_all_orders():
    rng = random.Random(7)  # noqa: S311
    for _ in range(30):
        items = "abcde"[: rng.randint(2, 5)]
        first, second = random_scores(rng, items, 3), random_scores(rng, items, 3)
        values = [
            gf.statistics.tau_ap(one, other)
            for one in orders_of(first)
            for other in orders_of(second)
        ]
        value = gf.statistics.tau_ap(first, second, ties="a")
        assert value == pytest.approx(sum(values) / len(values), abs=1e-13)
        backwards = gf.statistics.tau_ap(second, first, ties="a")
        both = gf.statistics.tau_ap(first, second, ties="a", symmetric=True)
        assert both == pytest.approx((value + backwards) / 2)


# The data and the values of the tests of github.com/julian-urbano/ircor, rounded there to 4 digits.
IRCOR = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        0.7454,
        0.7321,
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        0.2692,
        0.297,
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        -0.5558,
        -0.7047,
    ),
]


@pytest.mark.parametrize(("untied", "first", "second", "a", "b"), IRCOR)
def test_tau_ap_as_in_ircor(untied, first, second, a, b):
    untied, first, second = (dict(enumerate(scores)) for scores in (untied, first, second))
    assert gf.statistics.tau_ap(untied, second, ties="a") == pytest.approx(a, abs=5e-5)
    assert gf.statistics.tau_ap(first, second, ties="b") == pytest.approx(b, abs=5e-5)
    assert gf.statistics.tau_ap(second, first, ties="b") == pytest.approx(b, abs=5e-5)


def test_tau_ap_b_by_hand():
    # Second as the ranking: b and c share the first place, a below both; only c is above a in the first.
    # C(a) = 1 of 2, nothing else counts: 2 · 1/2 − 1 = 0. First as the ranking, c (a b): a and b have c
    # above them; in the second, c is above a but tied with b: 2/2 · (1 + 0) − 1 = 0.
    first, second = {"a": 1, "b": 1, "c": 2}, {"a": 1, "b": 2, "c": 2}
    assert gf.statistics.tau_ap(first, second, ties="b") == 0
    same = {"a": 3, "b": 2, "c": 1}
    assert gf.statistics.tau_ap(same, same, ties="b") == 1


def test_tau_h_as_in_scipy():
    rng = np.random.default_rng(11)
    for _ in range(40):
        size = int(rng.integers(3, 40))
        first, second = (
            rng.integers(0, 9, size),
            rng.normal(size=size).round(int(rng.integers(0, 3))),
        )
        if len(set(first)) < 2 or len(set(second)) < 2:
            continue
        expected = stats.weightedtau(first, second).statistic
        value = gf.statistics.tau_h(
            dict(enumerate(first.tolist())), dict(enumerate(second.tolist()))
        )
        assert value == pytest.approx(expected, abs=1e-12)


def test_tau_h_by_hand():
    # Ranks 1, 2, 3 of the first: the pairs weigh 1 + 1/2, 1 + 1/3, 1/2 + 1/3, and the last one is swapped:
    # (17/6 − 5/6)/(22/6) = 6/11. By the ranks of the second, the same.
    assert gf.statistics.tau_h(["a", "b", "c"], ["a", "c", "b"]) == pytest.approx(6 / 11)


@pytest.mark.parametrize(
    "function",
    [gf.statistics.tau_h, lambda one, other: gf.statistics.tau_ap(one, other, ties="b")],
)
def test_a_ranking_without_any_order_is_rejected(function):
    with pytest.raises(gf.errors.InputError, match="at least two different scores"):
        function({"a": 1, "b": 2}, {"a": 1, "b": 1})


# --- the least item promoted


def literal_promoted(reference, ranking, depth):
    ranks = [
        reference.index(item) + 1 if item in reference else len(reference) + 1 for item in ranking
    ]
    promoted = [rank for place, rank in enumerate(ranks[:depth], 1) if place < rank]
    return max(promoted, default=0)


def test_least_item_promoted_of_all_orders():
    for ranking in itertools.permutations("abcdx", 4):
        for depth in (1, 2, 4, None):
            value = gf.statistics.least_item_promoted(list("abcd"), list(ranking), depth=depth)
            assert value == literal_promoted(list("abcd"), list(ranking), depth)


def test_least_item_promoted_of_ties():
    # b and c share rank 2, so c at rank 2 is not promoted; a reference that ties all promotes nothing.
    assert gf.statistics.least_item_promoted({"a": 2, "b": 1, "c": 1}, ["a", "c", "b"]) == 0
    assert gf.statistics.least_item_promoted({"a": 1, "b": 1, "c": 1}, ["c", "b", "a"]) == 0
    assert gf.statistics.least_item_promoted(["a", "b", "c"], {"c": 2, "a": 1, "b": 1}) == 3


# --- runs

FUNCTIONS = {
    "rbo": gf.statistics.rbo,
    "tau": gf.statistics.kendall_tau,
    "tau_a": lambda one, other: gf.statistics.kendall_tau(one, other, variant="a"),
    "tau_ap": gf.statistics.tau_ap,
    "tau_ap_a": lambda one, other: gf.statistics.tau_ap(one, other, ties="a", symmetric=True),
    "tau_ap_b": lambda one, other: gf.statistics.tau_ap(one, other, ties="b"),
    "tau_h": gf.statistics.tau_h,
    "promoted": gf.statistics.least_item_promoted,
}


def written_in_all_forms(run, path):
    """The same run as a dict, the path of a file, a frame, records, and lists where scores don't tie."""
    import pandas as pd

    gf.write_run(run, path)
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frame = pd.DataFrame(rows, columns=["query", "doc", "score"])
    forms = [run, path, str(path), frame, frame.to_dict("records")]
    if all(len(set(docs.values())) == len(docs) for docs in run.values()):
        forms.append(
            {query: sorted(docs, key=docs.get, reverse=True) for query, docs in run.items()}
        )
    return forms


@pytest.mark.parametrize("name", FUNCTIONS)
def test_runs_of_any_form_have_the_value_of_each_query(name, tmp_path):
    function = FUNCTIONS[name]
    tied = name not in ("rbo", "tau_ap")
    first = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0 + tied}, "q2": {"x": 1.0}, "q3": {"y": 1.0}}
    second = {"q1": {"b": 9.0, "a": 8.0, "d": 4.0, "c": 3.0}, "q2": {"x": 1.0, "z": 0.5}}
    if name in ("rbo", "promoted"):
        expected = {query: function(first[query], second[query]) for query in second}
    else:  # about the common items, at least two
        expected = {"q1": function(first["q1"], {doc: second["q1"][doc] for doc in "abc"})}
    forms = (
        written_in_all_forms(run, tmp_path / f"{place}.run")
        for place, run in enumerate((first, second))
    )
    for one, other in itertools.product(*forms):
        assert function(one, other) == expected


@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_queries_at_a_time_have_the_values_of_single_queries(name):
    rng = random.Random(13)  # noqa: S311
    levels = 10**6 if name == "tau_ap" else 4
    runs = [
        {
            f"q{query}": random_scores(rng, rng.sample("abcdefghij", rng.randint(1, 10)), levels)
            for query in range(60)
        }
        for _ in range(2)
    ]
    values = FUNCTIONS[name](*runs)
    undefined = 0
    for query in runs[0]:
        one, other = (run[query] for run in runs)
        if name not in ("rbo", "promoted"):
            both = one.keys() & other.keys()
            one, other = ({doc: each[doc] for doc in both} for each in (one, other))
        try:
            expected = FUNCTIONS[name](one, other)
        except gf.errors.InputError:
            assert query not in values
            undefined += 1
        else:
            assert values[query] == pytest.approx(expected, abs=1e-12)
    assert len(values) + undefined == 60


@pytest.mark.parametrize("function", FUNCTIONS.values())
def test_two_runs_without_a_common_query_are_rejected(function):
    with pytest.raises(gf.errors.InputError, match="expected queries in common"):
        function({"q1": {"a": 2, "b": 1}}, {"q2": {"a": 2, "b": 1}})
    with pytest.raises(gf.errors.InputError, match="expected a run"):
        function({"q1": {"a": 2, "b": 1}}, ["a", "b"])


@pytest.mark.parametrize("name", ["tau", "tau_a", "tau_ap", "tau_ap_a", "tau_ap_b", "tau_h"])
def test_two_runs_without_common_documents_have_no_tau(name):
    with pytest.raises(gf.errors.InputError, match=r"at least two documents in common"):
        FUNCTIONS[name]({"q": {"a": 2, "b": 1}}, {"q": {"a": 2, "c": 1}})


def test_tau_ap_names_the_query_with_equal_scores():
    run, tied = (
        {"p": {"a": 2, "b": 1}, "q": {"a": 2, "b": 1}},
        {"p": {"a": 2, "b": 1}, "q": {"a": 1, "b": 1}},
    )
    with pytest.raises(gf.errors.InputError, match=r"ranking, query 'q': .*different score"):
        gf.statistics.tau_ap(run, tied)
    assert gf.statistics.tau_ap(run, tied, ties="a") == {"p": 1.0, "q": 0.0}
