"""Runs next to runs, and measures next to measures: `similar` and `similar_measures`."""

import itertools
import math
from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
FILES = {name: str(COOKING / f"{name}.run") for name in ("keyword", "hybrid", "semantic")}
ALL = ("rbo", "tau", "tau_ap", "tau_h", "promoted")
ONE = {"q1": {"a": 5, "b": 4, "c": 3, "x": 2}, "q2": {"a": 2, "b": 1}, "q3": {"a": 1}}
TWO = {"q1": {"c": 5, "a": 4, "y": 3, "b": 2}, "q2": {"a": 2, "z": 1}, "q4": {"a": 1}}


def test_every_query_has_the_value_of_its_two_lists():
    found = gf.statistics.similar({"one": ONE, "two": TWO}, ALL)
    # The documents that both lists of q1 contain: a b c and c a b. q2 shares only a.
    first, second = list("abc"), list("cab")
    assert found.per_query("rbo", "one", "two") == {
        query: gf.statistics.rbo(ONE[query], TWO[query]) for query in ("q1", "q2")
    }
    assert found.per_query("tau", "one", "two") == {"q1": gf.statistics.kendall_tau(first, second)}
    assert found.per_query("tau_ap", "one", "two") == {"q1": gf.statistics.tau_ap(first, second)}
    assert found.per_query("tau_ap", "two", "one") == {"q1": gf.statistics.tau_ap(second, first)}
    assert found.per_query("tau_h", "two", "one") == {"q1": gf.statistics.tau_h(first, second)}
    # c rises from 3; y comes from behind the end of the four, and takes rank 3. z takes rank 2 from 3.
    assert found.per_query("promoted", "one", "two") == {"q1": 5, "q2": 3}
    assert found["promoted"]["one", "two"] == 4
    assert any("one lacks 'q4'; two lacks 'q3'" in note for note in found.notes)


@pytest.mark.parametrize("ties", ["doc", "a", "b", "w"])
def test_files_frames_and_dicts_give_the_same_result(ties):
    import pandas as pd

    dicts, frames = {}, {}
    for name, path in FILES.items():
        rows = [line.split() for line in Path(path).read_text().splitlines()]
        run = dicts[name] = {}
        for query, _, doc, _, score, _ in rows:
            run.setdefault(query, {})[doc] = float(score)
        flat = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        frames[name] = pd.DataFrame(flat, columns=["query", "doc", "score"])
    expected = gf.statistics.similar(dicts, ALL, ties=ties, depth=10)
    assert gf.statistics.similar(FILES, ALL, ties=ties, depth=10) == expected
    assert gf.statistics.similar(list(FILES.values()), ALL, ties=ties, depth=10) == expected
    assert gf.statistics.similar(frames, ALL, ties=ties, depth=10) == expected
    for query, value in expected.per_query("rbo", "keyword", "hybrid").items():
        one, other = dicts["keyword"][query], dicts["hybrid"][query]
        assert value == gf.statistics.rbo(one, other, depth=10, ties=ties)


def test_the_mean_has_the_interval_of_other_means():
    found = gf.statistics.similar(FILES, "rbo")
    values = [*found.per_query("rbo", "keyword", "hybrid").values()]
    (pair,) = (each for each in found.pairs if (each.first, each.second) == ("keyword", "hybrid"))
    assert pair.value == pytest.approx(sum(values) / len(values), abs=1e-15)
    assert pair.queries == len(values) == 23
    # Student's t, or wider on one side (Hall): 2.0739 is the 97.5% quantile with 22 degrees of freedom.
    sd = math.sqrt(sum((value - pair.value) ** 2 for value in values) / 22)
    reach = 2.0739 * sd / math.sqrt(23)
    assert pair.low <= pair.value - reach * 0.9999
    assert pair.high >= pair.value + reach * 0.9999
    wide = gf.statistics.similar(FILES, "rbo", level=0.99).pairs[0]
    assert wide.low < pair.low < pair.high < wide.high
    assert gf.statistics.similar({"one": ONE, "two": TWO}, "rbo").pairs[0].low is None  # 2 queries


def test_the_matrix_is_symmetric_where_the_measure_is():
    found = gf.statistics.similar(FILES, ALL)
    for by in ALL:
        table = found.matrix(by)
        assert list(table.columns) == [by, *FILES]
        values = {
            (row[0], name): value
            for row in table.rows
            for name, value in zip(FILES, row[1:], strict=True)
        }
        for one, other in itertools.permutations(FILES, 2):
            assert values[one, other] == found[by][one, other]
            if by in ("rbo", "tau", "tau_h"):
                assert values[one, other] == values[other, one]
        assert all(values[name, name] is None for name in FILES)
    assert [table.columns[0] for table in found.tables()] == [*ALL]
    assert len(found.table().rows) == 3 * 3 + 6 * 2
    assert "rank-biased overlap" in str(found)


def test_a_run_agrees_with_itself():
    found = gf.statistics.similar({"one": ONE, "same": ONE}, ALL, ties="b")
    assert found["rbo"]["one", "same"] == found["tau"]["one", "same"] == 1
    assert found["tau_ap"]["same", "one"] == found["tau_h"]["one", "same"] == 1
    assert found["promoted"]["one", "same"] == 0


def test_ties_are_reported_and_treated():
    tied = {"q": {"a": 1, "b": 1, "c": 0}}
    other = {"q": {"a": 3, "b": 2, "c": 1}}
    found = gf.statistics.similar({"tied": tied, "other": other}, ALL)
    assert any("1 of tied" in note for note in found.notes)
    # By id, descending: b a c.
    assert found["tau"]["tied", "other"] == gf.statistics.kendall_tau(list("bac"), list("abc"))
    for ties, tau in (("a", 2 / 3), ("b", 2 / math.sqrt(6)), ("w", 2 / math.sqrt(6))):
        found = gf.statistics.similar({"tied": tied, "other": other}, ALL, ties=ties)
        assert found["tau"]["tied", "other"] == pytest.approx(tau)
        assert found["rbo"]["tied", "other"] == gf.statistics.rbo(tied["q"], other["q"], ties=ties)
        assert found.notes == ()
    responses = {"q": {"hits": [{"id": "a", "score": 1}, {"id": "b", "score": 1}]}}
    with_order = gf.statistics.similar({"shown": responses, "other": {"q": ["a", "b"]}}, "tau")
    assert with_order["tau"]["shown", "other"] == 1  # in the order that users saw
    assert with_order.notes == ()


def test_undefined_values_are_left_out():
    one, two = {"q": {"a": 1}}, {"q": {"b": 1}}
    found = gf.statistics.similar({"one": one, "two": two}, ALL)
    assert found["tau"] == {("one", "two"): None, ("two", "one"): None}
    assert found["rbo"]["one", "two"] == 0
    apart = gf.statistics.similar({"one": one, "two": {"p": {"a": 1}}}, "rbo")
    assert apart["rbo"]["one", "two"] is None
    assert apart.pairs[0].queries == 0


def test_measures_are_compared_by_the_order_of_the_means():
    judgments = str(COOKING / "judgments.qrels")
    measures = ["nDCG@10", "AP", "P@5"]
    scores = gf.evaluate_runs(judgments, FILES, measures)
    means = {measure: {name: run[measure] for name, run in scores.items()} for measure in measures}
    found = gf.statistics.similar_measures(judgments, FILES, measures, ["tau", "tau_ap", "tau_h"])
    for one, other in itertools.permutations(measures, 2):
        first, second = means[one], means[other]
        assert found["tau"][one, other] == gf.statistics.kendall_tau(first, second)
        assert found["tau_ap"][one, other] == gf.statistics.tau_ap(first, second, ties="b")
        assert found["tau_h"][one, other] == pytest.approx(gf.statistics.tau_h(first, second))
    assert found.of == "measures"
    assert found.table().columns == ["by", "first", "second", "value"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gf.statistics.similar({"one": ONE}), "at least 2 runs"),
        (lambda: gf.statistics.similar({"one": ONE, "two": TWO}, "tua"), "tau"),
        (lambda: gf.statistics.similar({"one": ONE, "two": TWO}, []), "by"),
        (lambda: gf.statistics.similar({"one": ONE, "two": TWO}, ties="c"), "ties"),
        (lambda: gf.statistics.similar({"one": ONE, "two": TWO}, kind="least ever"), "kind"),
        (lambda: gf.statistics.similar({"one": ONE, "two": TWO}, depth=0), "depth"),
        (lambda: gf.statistics.similar({"one": ONE, "two": TWO}, level=1), "level"),
        (lambda: gf.statistics.similar({"one": ONE, "two": TWO})["tau_h"], "rbo or tau"),
        (
            lambda: gf.statistics.similar_measures(
                {"q1": {"a": 1}}, {"one": ONE, "two": TWO}, "RR"
            ),
            "at least two measures",
        ),
        (
            lambda: gf.statistics.similar_measures(
                {"q1": {"a": 1}}, {"one": ONE, "two": TWO}, ["RR", "AP"], "rbo"
            ),
            "tau or tau_ap or tau_h",
        ),
    ],
)
def test_bad_arguments(call, said):
    with pytest.raises(gf.errors.InputError, match=said):
        call()
