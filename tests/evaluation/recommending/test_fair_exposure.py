"""Exposure of items and groups: literal formulas, closed forms for two items, and comparisons."""

import json
import math
import random
from pathlib import Path

import pytest

import gainful as gf

evaluate = gf.recommending.evaluate_recommendations
MODELS = {
    "log": lambda rank, _: 1 / math.log2(rank + 1),
    "geometric": lambda rank, p: p ** (rank - 1),
    "reciprocal": lambda rank, _: 1 / rank,
    "equal": lambda *_: 1.0,
}
ITEMS = {"a": ["x"], "b": ["x", "y"], "c": ["y"], "d": ["z"], "e": ["x", "y", "z"], "f": ["y"]}
GROUPS = ("x", "y", "z")


def exposures(docs, k, model, p=0.5):
    """The attention of each shown item."""
    return {doc: MODELS[model](rank, p) for rank, doc in enumerate(docs[:k], 1)}


def shares(weights):
    """The share of each group in items with weights; None if no item has a group."""
    total = sum(weight for item, weight in weights.items() if item in ITEMS)
    if not total:
        return None
    return {
        group: sum(
            weight / len(ITEMS[item])
            for item, weight in weights.items()
            if group in ITEMS.get(item, ())
        )
        / total
        for group in GROUPS
    }


def likeness(one, other):
    """1 − the Jensen-Shannon divergence, by its definition."""
    divergence = 0.0
    for group in GROUPS:
        middle = (one[group] + other[group]) / 2
        for side in (one, other):
            if side[group]:
                divergence += side[group] * math.log2(side[group] / middle) / 2
    return 1 - divergence


def expected(lists, judged, k, model, p=0.5):
    """EE-L, EE-D and EE-R of the sampled lists of a query."""
    items = {*judged, *(doc for docs in lists for doc in docs)}
    shown = {
        item: sum(exposures(docs, k, model, p).get(item, 0.0) for docs in lists) / len(lists)
        for item in items
    }
    relevant = [item for item, grade in judged.items() if grade >= 1]
    ranks = range(1, min(len(relevant), k or len(relevant)) + 1)
    each = sum(MODELS[model](rank, p) for rank in ranks) / max(len(relevant), 1)
    target = {item: each if item in relevant else 0.0 for item in items}
    return {
        "EE_L": sum((shown[item] - target[item]) ** 2 for item in items) if relevant else None,
        "EE_D": sum(value**2 for value in shown.values()),
        "EE_R": sum(shown[item] * target[item] for item in items) if relevant else None,
    }


def random_run(rng, users=8):
    run = {f"u{i}": rng.sample([*ITEMS, "unknown"], rng.randint(1, 7)) for i in range(users)}
    judgments = {
        user: {item: rng.choice([0, 1, 2]) for item in rng.sample([*ITEMS, "unknown"], 4)}
        for user in run
    }
    return run, judgments


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("model", MODELS)
def test_users_have_the_values_of_the_literal_formulas(model, k):
    rng = random.Random(f"{model} {k}")  # noqa: S311
    run, judgments = random_run(rng)
    at = "" if k is None else f"@{k}"
    how = f"attention={model}, p=0.7"
    names = {
        **{f"Exposure(group={group}, {how}){at}": group for group in GROUPS},
        **{
            f"AWRF(target={target}, {how}){at}": target
            for target in ("catalogue", "equal", "relevant")
        },
        **{f"{name}({how}){at}": name for name in ("EE_L", "EE_D", "EE_R")},
    }
    found = evaluate(run, [*names], items=ITEMS, judgments=judgments)
    printed = dict(zip(names.values(), found.measures, strict=True))
    per_query = found.per_query.to_dict()
    equal = dict.fromkeys(GROUPS, 1 / 3)
    for user, docs in run.items():
        own = shares(exposures(docs, k, model, 0.7))
        liked = {item: 1.0 for item, grade in judgments[user].items() if grade >= 1}
        targets = {
            "catalogue": shares(dict.fromkeys(ITEMS, 1.0)),
            "equal": equal,
            "relevant": shares(liked),
        }
        wanted = {group: None if own is None else own[group] for group in GROUPS}
        for name, target in targets.items():
            wanted[name] = None if own is None or target is None else likeness(own, target)
        wanted |= expected([docs], judgments[user], k, model, 0.7)
        for name, value in wanted.items():
            ours = per_query.get(user, {}).get(str(printed[name]))
            assert ours == (None if value is None else pytest.approx(value, abs=1e-12)), name


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("model", MODELS)
def test_the_parity_of_a_run_is_that_of_all_lists(model, k):
    run, _ = random_run(random.Random(4))  # noqa: S311
    measure = f"ExposureParity(attention={model})" + ("" if k is None else f"@{k}")
    total = dict.fromkeys(GROUPS, 0.0)
    for docs in run.values():
        for item, attention in exposures(docs, k, model).items():
            for group in ITEMS.get(item, ()):
                total[group] += attention / len(ITEMS[item])
    size = {g: sum(1 / len(own) for own in ITEMS.values() if g in own) for g in GROUPS}
    means = [total[group] / size[group] for group in GROUPS]
    found = evaluate(run, measure, items=ITEMS)
    assert [*found.run_values.values()] == pytest.approx([min(means) / max(means)], abs=1e-12)


def test_sampled_lists_have_the_exposure_of_their_query():
    rng = random.Random(6)  # noqa: S311
    lists = {f"q{q}#{s}": rng.sample([*ITEMS], 4) for q in range(3) for s in range(1, 5)}
    judgments = {f"q{q}": dict.fromkeys(rng.sample([*ITEMS], 2), 1) for q in range(3)}
    names = [f"{name}(samples=#)@3" for name in ("EE_L", "EE_D", "EE_R")]
    found = evaluate(lists, names, judgments=judgments).per_query.to_dict()
    for query, judged in judgments.items():
        own = [docs for name, docs in lists.items() if name.startswith(f"{query}#")]
        wanted = expected(own, judged, 3, "log")
        assert [*found[query].values()] == pytest.approx([*wanted.values()], abs=1e-12)
    assert len(found) == 3  # one value per query, so that intervals don't count samples
    without = evaluate(lists, "EE_D(samples=#)@3").per_query.to_dict()
    assert [*without] == ["q0#1", "q1#1", "q2#1"]


def test_closed_forms_for_two_items():
    """Two relevant items, and a share s of the lists that begin with a: ε = s·1 + (1 − s)·1/2 and so on."""
    judgments = {"q": {"a": 1, "b": 1}}
    for first in range(11):
        run = {f"q#{i}": ["a", "b"] if i < first else ["b", "a"] for i in range(10)}
        names = [f"{name}(samples=#, attention=reciprocal)@2" for name in ("EE_L", "EE_D", "EE_R")]
        found = evaluate(run, names, judgments=judgments)
        share = first / 10
        one, other = share + (1 - share) / 2, (1 - share) + share / 2
        loss = 2 * (one - 0.75) ** 2
        assert [*found.means.values()] == pytest.approx(
            [loss, one**2 + other**2, 0.75 * (one + other)], abs=1e-12
        )
        # EE-L = EE-D − 2·EE-R + the constant Σ ε*².
        loss, disparity, relevance = found.means.values()
        assert loss == pytest.approx(disparity - 2 * relevance + 2 * 0.75**2, abs=1e-12)
    # One item of each of two groups: exposure 2/3 and 1/3 with attention 1, 1/2; parity 1/2.
    items = {"a": "x", "b": "y"}
    names = ["Exposure(group=x, attention=reciprocal)", "ExposureParity(attention=reciprocal)",
             "AWRF(attention=reciprocal)"]  # fmt: skip
    found = evaluate({"u": ["a", "b"]}, names, items=items)
    # The middle of (2/3, 1/3) and (1/2, 1/2) is (7/12, 5/12).
    h = lambda share: -share * math.log2(share) - (1 - share) * math.log2(1 - share)  # noqa: E731
    wanted = [2 / 3, 0.5, 1 - (h(7 / 12) - (h(2 / 3) + 1) / 2)]
    assert [found[name] for name in names] == pytest.approx(wanted, abs=1e-12)


def test_exposure_has_intervals_and_is_compared():
    rng = random.Random(8)  # noqa: S311
    runs = {
        name: {f"u{i}": sorted(ITEMS, key=lambda item: (ITEMS[item] == ["x"]) * lift + rng.random())
               for i in range(40)}
        for name, lift in (("fair", 0), ("unfair", 5))
    }  # fmt: skip
    measures = ["Exposure(group=x)@3", "AWRF(target=equal)@3", "EE_D@3"]
    found = gf.recommending.evaluate_recommendation_runs(
        runs, measures, items=ITEMS, judgments={f"u{i}": {"a": 1} for i in range(40)}
    )
    interval = found["fair"].interval("Exposure(group=x)@3")
    assert interval.low < found["fair"]["Exposure(group=x)@3"] < interval.high
    compared = gf.comparison.compare_scores(found, baseline="fair")
    words = {each.measure: each.verdict.word for each in compared.differences}
    assert words["Exposure(group=x)@3"] == "lower"
    assert words["EE_D@3"] == "inconclusive"  # of lists with equal lengths, the same


def test_groups_are_measures_of_their_own_and_unknown_groups_are_rejected():
    run = {"u": ["a", "c", "d"]}
    found = evaluate(run, "Exposure@3", items=ITEMS)
    assert [*found.means] == [f"Exposure(group={group})@3" for group in GROUPS]
    assert sum(found.means.values()) == pytest.approx(1)
    with pytest.raises(gf.errors.InputError, match="a group of the items"):
        evaluate(run, "Exposure(group=q)@3", items=ITEMS)
    with pytest.raises(gf.errors.InputError, match="judgments"):
        evaluate(run, "EE_L@3", items=ITEMS)
    with pytest.raises(gf.errors.InputError, match="judgments"):
        evaluate(run, "AWRF(target=relevant)@3", items=ITEMS)


def test_evaluate_computes_fairness_next_to_relevance():
    judgments = {"u": {"a": 1, "c": 1}, "v": {"b": 1}}
    run = {"u": {"a": 3, "b": 2, "c": 1}, "v": {"d": 2, "b": 1}}
    scores = gf.evaluate(judgments, run, ["nDCG@3", "AWRF@3", "EE_L@3"], items=ITEMS)
    alone = evaluate(run, ["AWRF@3", "EE_L@3"], items=ITEMS, judgments=judgments)
    assert [scores["AWRF@3"], scores["EE_L@3"]] == pytest.approx([*alone.means.values()])
    assert gf.evaluate(judgments, run, "EE_L@3")["EE_L@3"] == scores["EE_L@3"]  # needs no items


RECORDED = json.loads((Path(__file__).parents[2] / "stand_ins" / "fair_exposure.json").read_text())


@pytest.mark.parametrize("case", RECORDED["cases"], ids=range(len(RECORDED["cases"])))
class TestOtherTools:
    """What other tools answered, recorded by tests/record_fair_exposure.py."""

    def test_expected_exposure_is_that_of_expeval(self, case):
        given = case["given"]
        run = {f"{query}#{n}": docs for query, lists in given["lists"].items() for n, docs in enumerate(lists)}  # fmt: skip
        names = {"disparity": "EE_D", "relevance": "EE_R", "difference": "EE_L"}
        for p, answers in case["expeval"].items():
            measures = [f"{name}(samples=#, attention=geometric, p={p})" for name in names.values()]
            found = evaluate(run, measures, judgments=given["relevant"]).per_query.to_dict()
            assert {query: [*values.values()] for query, values in found.items()} == {
                query: pytest.approx([answer[name] for name in names])
                for query, answer in answers.items()
            }

    def test_rank_fairness_is_that_of_the_trec_track(self, case):
        """Its discount is 1/log2(max(i, 2)), in single precision, and its divergence has the natural logarithm."""
        given = case["given"]
        run = {query: lists[0] for query, lists in given["lists"].items()}
        items = {item: {"group": parts} for item, parts in given["items"].items()}
        measure = "AWRF(target=relevant, attention=jarvelin)"
        found = evaluate(run, measure, items=items, judgments=given["relevant"])
        values = {
            query: 1 - (1 - own[measure]) * math.log(2)
            for query, own in found.per_query.to_dict().items()
        }
        assert values == pytest.approx(case["AWRF"], abs=1e-6)

    def test_the_gini_index_is_that_of_lenskit(self, case):
        given = case["given"]
        run = {query: lists[0] for query, lists in given["lists"].items()}
        assert evaluate(run, "Gini", items=[*given["items"]])["Gini"] == pytest.approx(case["ListGini"], abs=1e-6)  # fmt: skip


@pytest.mark.parametrize(
    "items",
    [
        {"a": {"g": {"x": 3, "y": 1}}, "b": {"g": "y"}},
        [{"item": "a", "g": "x", "share": 0.75}, {"item": "a", "g": "y", "share": 0.25}, {"item": "b", "g": "y", "share": 7}],
        [{"item": "a", "g": "x", "g_share": 3}, {"item": "a", "g": "y", "g_share": 1}, {"item": "b", "g": "y", "g_share": None}],
    ],
)  # fmt: skip
def test_unequal_parts_of_two_items(items):
    def value(measure):
        return evaluate({"u": ["a", "b"]}, measure, items=items)[measure]

    assert value("Exposure(group=x, attention=reciprocal)") == pytest.approx(0.75 / 1.5)
    # Members: x has 3/4 of an item, and y has 5/4.
    assert value("ExposureParity(attention=reciprocal)") == pytest.approx(((0.25 + 0.5) / 1.25) / (0.75 / 0.75))  # fmt: skip
    assert value("ILD") == pytest.approx(1 / 2)


def test_a_negative_share():
    items = [{"item": "a", "g": "x", "share": -1}, {"item": "a", "g": "y", "share": 1}]
    with pytest.raises(gf.errors.InputError, match="a share of at least 0"):
        evaluate({"u": ["a"]}, "Exposure", items=items)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"x": math.nan, "y": 1}, "item 'a': expected a g_share, found none"),
        ({"x": "half", "y": 1}, "item 'a', g: expected the share of each group, as a number, found 'half'"),
    ],
)  # fmt: skip
def test_a_share_that_is_missing_or_no_number(groups, message):
    with pytest.raises(gf.errors.InputError, match=message):
        evaluate({"u": ["a", "b"]}, "Exposure", items={"a": {"g": groups}, "b": {"g": {"y": 1}}})


def test_attention_from_a_log():
    items = {"a": "x", "b": "y", "c": "x"}
    found = evaluate({"u": ["a", "b", "c"]}, "Exposure(group=x, attention=[1, 0.6, 0.2])", items=items)  # fmt: skip
    assert [*found.means.values()] == pytest.approx([1.2 / 1.8])
