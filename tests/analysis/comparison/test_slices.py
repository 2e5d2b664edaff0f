"""Slices: the same comparison of parts of the queries, corrected over all of them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from generated_runs import collection, moved, normal, quick, scores, without_nan
from statsmodels.stats.multitest import multipletests

import gainful as gf

LOCALES = ("de", "en", "fr")


@pytest.fixture(scope="module")
def judged():
    return collection(queries=60)


def parts_of(found, column):
    """{value: its number of queries} of a column."""
    return {s.value: s.difference.queries for s in found.slices if s.column == column}


def subset(tables, queries):
    return {name: {query: table[query] for query in queries} for name, table in tables.items()}


def locales(queries):
    return {query: {"locale": LOCALES[int(query[1:]) % 3]} for query in queries}


def test_a_slice_is_the_comparison_of_its_queries(judged):
    judgments, runs = judged
    table = locales(judgments)
    found = without_nan(
        gf.compare(judgments, runs, ["nDCG@5", "RR"], slices=table, by="locale", resamples=100)
    )
    assert len(found.slices) == 3 * 2 * 2
    for one in found.slices:
        queries = [query for query in judgments if table[query]["locale"] == one.value]
        part = gf.compare(
            {query: judgments[query] for query in queries},
            subset(runs, queries),
            ["nDCG@5", "RR"],
            resamples=100,
            level=1 - 0.05 / 12,  # all twelve intervals hold at once
        )
        wanted = part[one.difference.run, one.difference.measure]
        for name in ("queries", "baseline_mean", "run_mean", "difference", "sd", "effect", "moved"):
            assert getattr(one.difference, name) == getattr(wanted, name)
        for name in ("wins", "ties", "losses", "interval", "intervals", "baseline"):
            assert getattr(one.difference, name) == getattr(wanted, name)
        for name, tested in one.difference.tests.items():
            assert tested.outcome == wanted.tests[name].outcome
    assert [one.to_dict() for one in found.differences] == [
        one.to_dict()
        for one in gf.compare(judgments, runs, ["nDCG@5", "RR"], resamples=100).differences
    ]


@pytest.mark.parametrize(
    ("correction", "method"),
    [("holm", "holm"), ("bonferroni", "bonferroni"), ("tukey", "holm"), ("none", None)],
)
def test_p_is_corrected_over_all_slices(judged, correction, method):
    judgments, runs = judged
    table = {query: row | {"long": int(query[1:]) % 2} for query, row in locales(judgments).items()}
    found = gf.compare(judgments, runs, ["nDCG@5", "RR"], slices=table, correction=correction)
    bare = [s.difference.tests["t"].p for s in found.slices]
    assert len(bare) == (3 + 2) * 2 * 2
    wanted = bare if method is None else multipletests(bare, method=method)[1].tolist()
    assert [s.difference.p for s in found.slices] == pytest.approx(wanted, rel=1e-12)
    notes = "\n".join(found.slices_table().notes)
    assert ("p corrected over 20 comparisons of slices (holm)" in notes) == (method == "holm")
    assert ("corrected" in notes) == (method is not None)


def test_the_worst_slice_comes_first(judged):
    judgments, runs = judged
    found = gf.compare(judgments, runs, ["nDCG@5", "DCG@5"], slices=locales(judgments))
    order = [s.difference.difference for s in found.slices]
    assert order == sorted(order)
    shown = found.slices_table().records()
    assert [row["difference"] for row in shown] == order
    assert shown[0]["value"] == found.slices[0].value
    assert found.to_dict()["slices"][0]["difference"] == order[0]
    assert set(found.to_dict()["slices"][0]) > {"slice", "value", "measure", "baseline", "run", "p"}


def test_slices_of_all_pairs_tell_both_runs(judged):
    judgments, runs = judged
    found = gf.compare(judgments, runs, "RR", slices=locales(judgments), pairs="all")
    rows = found.slices_table().records()
    assert len({(row["value"], row["baseline"], row["run"]) for row in rows}) == len(rows) == 9


def test_what_has_no_metadata_is_a_slice_of_its_own():
    tables = moved(normal(0.2))
    table = {query: {"locale": "de"} for query in list(tables["old"])[:20]}
    table["q3"] = {"locale": None}
    table["elsewhere"] = {"locale": "fr"}
    found = quick(tables, slices=table, by="locale")
    assert parts_of(found, "locale") == {"de": 19, "(none)": 11}
    table = {query: {"length": at % 3} for at, query in enumerate(list(tables["old"])[:20])}
    found = quick(tables, slices=table)
    assert parts_of(found, "length") == {"0": 7, "1": 7, "2": 6, "(none)": 10}


def test_truth_is_text():
    tables = moved(normal(0.2, count=10))
    table = {query: {"long": at < 4} for at, query in enumerate(tables["old"])}
    assert parts_of(quick(tables, slices=table), "long") == {"True": 4, "False": 6}


@pytest.mark.parametrize("values", [12, 13, 40])
def test_few_numbers_are_taken_as_they_are_and_many_in_quarters(values):
    tables = moved(normal(0.2, count=120))
    table = {query: {"length": at % values} for at, query in enumerate(tables["old"])}
    parts = parts_of(quick(tables, slices=table), "length")
    assert sum(parts.values()) == 120
    if values == 12:
        assert parts == {str(number): 10 for number in range(12)}
        return
    assert len(parts) == 4
    assert max(parts.values()) <= 120 / 4 + 120 / values
    ends = sorted(tuple(map(int, label.split(" to "))) for label in parts)
    assert ends[0][0] == 0
    assert ends[-1][1] == values - 1
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))
    for label, count in parts.items():
        low, high = map(int, label.split(" to "))
        assert count == sum(low <= row["length"] <= high for row in table.values())


def test_quarters_of_numbers_that_are_mostly_the_same():
    tables = moved(normal(0.2, count=100))
    table = {query: {"n": max(0, at - 80) + 0.5} for at, query in enumerate(tables["old"])}
    parts = parts_of(quick(tables, slices=table), "n")
    assert sum(parts.values()) == 100
    assert parts == {"0.5 to 0.5": 81, "1.5 to 19.5": 19}


def test_large_numbers_are_told_apart():
    tables = moved(normal(0.2, count=20))
    table = {query: {"day": 1_700_000_000 + at % 4} for at, query in enumerate(tables["old"])}
    parts = parts_of(quick(tables, slices=table), "day")
    assert parts == {str(1_700_000_000 + at): 5 for at in range(4)}
    table = {query: {"day": 0.1 + at % 4 / 1e9} for at, query in enumerate(tables["old"])}
    assert len(parts_of(quick(tables, slices=table), "day")) == 4


def test_slices_by_the_number_of_judged_documents(judged):
    judgments, runs = judged
    cut = {q: dict(list(d.items())[: 10 + int(q[1:]) % 3]) for q, d in judgments.items()}
    found = gf.compare(cut, runs, "RR", by="judged")
    assert parts_of(found, "judged") == {"10": 20, "11": 20, "12": 20}


def test_slices_by_judged_know_those_of_a_saved_baseline(judged, tmp_path):
    judgments, runs = judged
    gf.comparison.save_baseline(gf.evaluate(judgments, runs["old"], "RR"), tmp_path / "old.json")
    found = gf.compare(
        judgments, {"old": tmp_path / "old.json", "new": runs["new"]}, "RR", by="judged"
    )
    assert parts_of(found, "judged") == {"12": 60}


def test_slices_by_the_score_of_the_baseline_are_of_the_first_measure(judged):
    judgments, runs = judged
    found = gf.compare(judgments, runs, ["nDCG@5", "RR"], baseline="new", by="baseline")
    values = np.array(gf.evaluate(judgments, runs["new"], "nDCG@5").per_query["nDCG@5"])
    parts = {s.value: s.difference for s in found.slices if s.difference.run == "old"}
    assert len(parts) == 4
    lowest = min(parts, key=lambda label: float(label.split(" to ")[0]))
    chosen = values <= np.quantile(values, 0.25)
    assert parts[lowest].queries == chosen.sum() == 15
    one = next(
        s.difference
        for s in found.slices
        if (s.value, s.difference.measure, s.difference.run) == (lowest, "nDCG@5", "old")
    )
    assert one.baseline_mean == pytest.approx(values[chosen].mean(), rel=1e-12)
    assert any("by chance" in note for note in found.slices_table().notes)
    assert not any("by chance" in n for n in gf.compare(*judged, by="judged").slices_table().notes)


def test_a_query_that_is_not_compared_belongs_to_no_slice():
    old, new = scores(normal(0, count=40), normal(0.2, count=40, seed=8))
    for query in list(new)[20:]:
        del new[query]
    table = {query: {"n": at} for at, query in enumerate(old)}
    found = quick({"old": old, "new": new}, slices=table)
    assert parts_of(found, "n") == {"0 to 4": 5, "5 to 9": 5, "10 to 14": 5, "15 to 19": 5}
    found = quick({"old": old, "new": new}, by="baseline")
    assert sorted(parts_of(found, "baseline").values()) == [5, 5, 5, 5]


def test_a_slice_without_a_value_of_a_measure_has_no_row_of_it():
    judgments = {f"q{at}": {"a": int(at < 4), "b": 0} for at in range(8)}
    best = {query: {"a": 2, "b": 1} for query in judgments}
    worst = {query: {"a": 1, "b": 2} for query in judgments}
    kinds = {query: {"kind": "empty" if int(query[1:]) > 3 else "full"} for query in judgments}
    policy = gf.Policy(empty="skip")
    runs = {"best": best, "worst": worst}
    found = without_nan(gf.compare(judgments, runs, ["nDCG", "P@1"], slices=kinds, policy=policy))
    rows = {(s.value, s.difference.measure): s.difference.queries for s in found.slices}
    assert rows == {("full", "nDCG"): 4, ("full", "P@1"): 4, ("empty", "P@1"): 4}


def test_slices_of_one_query_are_no_comparisons():
    tables = moved(normal(0.2, count=12))
    table = {
        query: {"kind": "rare" if at == 5 else "usual"} for at, query in enumerate(tables["old"])
    }
    found = without_nan(quick(tables, slices=table))
    rare, usual = sorted(found.slices, key=lambda one: one.value)
    assert (rare.difference.p, rare.difference.verdict.word) == (None, "inconclusive")
    assert usual.difference.p == usual.difference.tests["t"].p  # one comparison, not two
    assert "over" not in usual.difference.verdict.sentence


def test_all_columns_unless_some_are_named():
    tables = moved(normal(0.2, count=12))
    table = pd.DataFrame(
        {
            "query": list(tables["old"]),
            "a": ["x", "y"] * 6,
            "b": [1, 2, 3] * 4,
            "judged": ["z"] * 12,
        }
    )
    found = quick(tables, slices=table)
    assert {s.column for s in found.slices} == {"a", "b", "judged"}
    found = quick(tables, slices=table, by=["b", "baseline", "b"])
    assert {s.column for s in found.slices} == {"b", "baseline"}
    assert parts_of(quick(tables, slices=table, by="judged"), "judged") == {"z": 12}


def test_metadata_from_files(files):
    tables = moved(normal(0.2, count=6))
    text = "query,locale\n" + "".join(f"q{at},{'de' if at % 2 else 'fr'}\n" for at in range(6))
    wanted = quick(
        tables, slices={f"q{at}": {"locale": "de" if at % 2 else "fr"} for at in range(6)}
    )
    found = quick(tables, slices=files("m.csv", text))
    assert found.to_json() == wanted.to_json()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"slices": {"q1": {"locale": "de"}}, "by": "local"}, "Did you mean 'locale'"),
        ({"by": "locale"}, "judged and baseline alone need no table"),
        ({"by": "judged"}, "judgments, to slice by their number"),
        ({"slices": {"Q1": {"locale": "de"}}}, "none of them; it has 'Q1'"),
        ({"slices": {"q9": {"locale": "de"}}}, "Measured are 'q0', 'q1', 'q2', …"),
        ({"slices": "none.csv"}, "none.csv"),
        ({"slices": {}}, "at least one query"),
    ],
)
def test_what_does_not_fit_is_said(options, told):
    tables = moved(normal(0.2, count=5))
    tables["old"]["q9"] = 0.5  # which is not compared
    with pytest.raises(gf.errors.InputError, match=told):
        quick(tables, **options)


def test_most_slices_are_shown_and_the_others_counted():
    tables = moved(normal(0.2, count=40))
    table = {query: {"kind": f"k{at % 20}"} for at, query in enumerate(tables["old"])}
    found = quick(tables, slices=table)
    assert len(found.slices) == len(found.slices_table().rows) == 20
    shown = found.tables()[1]
    assert len(shown.rows) == 12
    assert "8 more slices not shown" in shown.notes


@pytest.mark.parametrize(
    "correction", ["bonferroni", "holm", "benjamini-hochberg", "max-t", "none"]
)
@pytest.mark.parametrize("interval", ["t", "hall", "bca"])
def test_intervals_of_slices_are_corrected_as_p_is(judged, correction, interval):
    judgments, runs = judged
    options = {"correction": correction, "interval": interval, "resamples": 200}
    found = gf.compare(judgments, runs, slices=locales(judgments), by="locale", **options)
    made = sum(one.difference.p is not None for one in found.slices)
    level = 0.95 if correction == "none" else 1 - 0.05 / made
    for one in found.slices:
        for method in one.difference.intervals.values():
            assert method.level == pytest.approx(level, abs=1e-12)
    assert {one.interval.level for one in found.differences} == {0.95}  # of all queries
    notes = " ".join(found.slices_table().notes)
    assert (f"all {made} intervals hold simultaneously at 95%" in notes) == (correction != "none")


def test_an_interval_of_a_slice_agrees_with_its_verdict():
    draw = np.random.default_rng(4)
    parts = {f"q{i:03}": {"part": f"s{i % 8}"} for i in range(160)}
    old = {query: float(draw.normal()) for query in parts}
    agree = 0
    for shift in np.linspace(0, 1, 12):
        new = {query: value + float(draw.normal(shift)) for query, value in old.items()}
        found = gf.comparison.compare_scores(
            {"old": old, "new": new}, slices=parts, by="part", correction="bonferroni",
            interval="t", resamples=100,
        )  # fmt: skip
        for one in found.slices:
            ends = one.difference.interval
            decided = one.difference.verdict.word != "inconclusive"
            assert decided == (not ends.low <= 0 <= ends.high)
            agree += decided
    assert agree > 5
