"""Every query of every comparison, and those that lost or gained the most."""

import math
import pickle

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf

OLD = {"q1": 0.5, "q2": 0.25, "q3": 1.0, "q4": 0.75, "q5": 0.5, "q6": 0.125}
NEW = {"q1": 0.75, "q2": 0.0, "q3": 1.0, "q4": 0.25, "q5": 1.0, "q6": 0.0}
# Differences 1/4, −1/4, 0, −1/2, 1/2, −1/8.


@pytest.fixture(scope="module")
def found():
    return gf.comparison.compare_scores({"old": OLD, "new": NEW}, resamples=50)


def test_there_is_a_row_for_each_query(found):
    rows = found.per_query
    assert len(rows) == 6
    assert rows["query"] == list(OLD)
    assert rows["difference"] == [0.25, -0.25, 0.0, -0.5, 0.5, -0.125]
    assert next(iter(rows)) == {
        "measure": "value", "baseline": "old", "run": "new", "query": "q1",
        "baseline score": 0.5, "run score": 0.75, "difference": 0.25,
    }  # fmt: skip
    assert repr(rows) == "QueryDifferences(6 rows of 1 comparison)"


def test_worst_and_best_have_the_sign_that_was_asked_for(found):
    rows = found.per_query
    assert rows.worst(2)["query"] == ["q4", "q2"]
    assert rows.best(1)["query"] == ["q5"]
    # No query that gained stands among the worst, however many are asked for; nor one that stayed.
    assert rows.worst(100)["query"] == ["q4", "q2", "q6"]
    assert rows.best(100)["query"] == ["q5", "q1"]
    assert rows.ends(worst=1, best=1)["query"] == ["q4", "q5"]
    assert len(rows.ends()) == 0
    assert rows.worst(2).table().title == "Queries that lost the most"
    assert "value, new − old: 2 gained and 3 lost, of 6 queries" in rows.worst(2).table().notes


def test_nobody_lost():
    rows = gf.comparison.compare_scores({"old": OLD, "same": OLD}).per_query
    assert len(rows.worst()) == len(rows.best()) == 0
    assert "0 gained and 0 lost, of 6 queries" in str(rows.worst())
    assert gf.writing.render(rows.worst(), "csv") == ",".join(rows.columns)


def test_ties_neither_gain_nor_lose():
    rows = gf.comparison.compare_scores({"old": OLD, "new": NEW}, tie=0.25, resamples=50).per_query
    assert rows.worst()["query"] == ["q4"]
    assert rows.best()["query"] == ["q5"]
    assert rows["difference"] == [0.25, -0.25, 0.0, -0.5, 0.5, -0.125]


def test_what_rounding_alone_moves_did_not_move():
    rows = gf.comparison.compare_scores(
        {"old": {"q": 0.3, "r": 1.0}, "new": {"q": 0.1 + 0.2, "r": 0.0}}
    )
    assert rows.per_query["difference"] == [0.0, -1.0]
    assert rows.per_query.worst()["query"] == ["r"]
    assert len(rows.per_query.best()) == 0


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])] * 2), min_size=1, max_size=12
    ),
    st.integers(0, 14),
)
def test_it_is_what_the_difference_is_made_of(pairs, count):
    old = {f"q{i:02}": one for i, (one, _) in enumerate(pairs)}
    new = {f"q{i:02}": two for i, (_, two) in enumerate(pairs)}
    found = gf.comparison.compare_scores({"old": old, "new": new}, resamples=10)
    one, rows = found.differences[0], found.per_query
    apart = dict(zip(rows["query"], rows["difference"], strict=True))
    assert apart == {query: new[query] - old[query] for query in old}
    assert one.difference == math.fsum(apart.values()) / len(apart)
    assert one.wins == len(rows.best(99))
    assert one.losses == len(rows.worst(99))
    # Sorted slowly: by the difference, then in the order of the queries.
    lost = sorted((query for query in apart if apart[query] < 0), key=lambda query: apart[query])
    gained = sorted((query for query in apart if apart[query] > 0), key=lambda query: -apart[query])
    assert rows.worst(count)["query"] == lost[:count]
    assert rows.best(count)["query"] == gained[:count]
    both = rows.ends(worst=count, best=count)
    assert both["query"] == lost[:count] + gained[:count]


def test_every_comparison_has_its_rows():
    tables = {
        "one": {"q1": {"P@1": 1.0, "RR": 1.0}, "q2": {"P@1": 0.0, "RR": 0.5}},
        "two": {"q1": {"P@1": 0.0, "RR": 0.5}, "q2": {"P@1": 0.0, "RR": 0.25}},
        "three": {"q1": {"P@1": 1.0, "RR": 1.0}, "q3": {"P@1": 1.0, "RR": 1.0}},
    }
    found = gf.comparison.compare_scores(tables, pairs="all", resamples=10)
    rows = found.per_query
    # q2 and q3 are not in all of them, and are told below.
    assert set(rows["query"]) == {"q1"}
    pairs = [(row["measure"], row["baseline"], row["run"]) for row in rows]
    assert pairs == [(each.measure, each.baseline, each.run) for each in found.differences]
    assert rows.to_dict()["RR"] == {
        "one": {"two": {"q1": -0.5}, "three": {"q1": 0.0}},
        "two": {"three": {"q1": 0.5}},
    }
    assert any("2 queries left out" in note for note in rows.table().notes)


def test_it_agrees_with_the_scores_of_each_run():
    judgments = {f"q{i}": {"a": 3, "b": 1} for i in range(9)}
    old = {query: {"a": i % 3, "b": 1.5} for i, query in enumerate(judgments)}
    new = {query: {"a": 1, "b": i % 2} for i, query in enumerate(judgments)}
    found = gf.compare(judgments, {"old": old, "new": new}, ["nDCG@5", "RR"], resamples=10)
    scores = gf.evaluate_runs(judgments, {"old": old, "new": new}, ["nDCG@5", "RR"])
    for row in found.per_query:
        for side in ("baseline", "run"):
            known = scores[row[side]].per_query.to_dict()[row["query"]][row["measure"]]
            assert row[f"{side} score"] == known
    # The movers are the farthest of both ends.
    for each in found.differences:
        known = found.per_query.to_dict()[each.measure]["old"]["new"]
        assert {moved.query: moved.difference for moved in each.moved}.items() <= known.items()


def test_frames_files_and_pickles_have_the_same_rows(found, tmp_path):
    rows = found.per_query
    records = list(rows)
    assert rows.to_pandas().to_dict("records") == records
    assert rows.to_polars().to_dicts() == records
    assert rows.to_arrow().to_pylist() == records
    rows.worst(2).write(tmp_path / "worst.csv")
    assert pd.read_csv(tmp_path / "worst.csv")["query"].tolist() == ["q4", "q2"]
    rows.write(tmp_path / "all.parquet")
    assert pl.read_parquet(tmp_path / "all.parquet").to_dicts() == records
    again = pickle.loads(pickle.dumps(rows))  # noqa: S301
    assert again == rows != rows.worst(2)
    assert str(again) == str(rows)
    assert "<table>" in rows._repr_html_()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda rows: rows.worst(-1), "worst: expected a non-negative integer, found -1"),
        (lambda rows: rows.best(2.5), "best: expected a non-negative integer, found 2.5"),
        (lambda rows: rows["differences"], "Did you mean 'difference'"),
        (lambda rows: rows[0], "one of its columns"),
    ],
)
def test_what_is_not_there_is_refused(found, call, told):
    with pytest.raises(gf.errors.InputError, match=told):
        call(found.per_query)


def test_the_scores_of_a_run_are_written_query_by_query(tmp_path):
    scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["RR", "P@1"])
    scores.per_query.write(tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_text() == "query,RR,P@1\nq,1.0,1.0\n"


def test_former_names_work_with_a_warning():
    found = gf.comparison.compare_scores({"old": OLD, "new": NEW})
    one = found.differences[0]
    for old, new in {"base": "baseline", "base_mean": "baseline_mean"}.items():
        with pytest.warns(
            gf.errors.GainfulWarning, match=f"Difference.{old} is now Difference.{new}"
        ):
            assert getattr(one, old) == getattr(one, new)
    with pytest.warns(gf.errors.GainfulWarning, match="Comparison.systems is now Comparison.runs"):
        assert found.systems == found.runs == ("old", "new")
    with pytest.warns(
        gf.errors.GainfulWarning, match="the column 'base score' is now 'baseline score'"
    ):
        assert found.per_query["base score"] == found.per_query["baseline score"]
    with pytest.raises(AttributeError, match="has no attribute 'bse'"):
        one.bse  # noqa: B018


def test_a_single_baseline_is_stated_once_on_a_screen():
    two = gf.comparison.compare_scores({"old": OLD, "new": NEW}).per_query
    assert str(two.worst(1)).startswith(
        "Queries that lost the most (baseline: old)\n\nmeasure   run"
    )
    three = {"old": OLD, "new": NEW, "other": dict.fromkeys(OLD, 0.25)}
    all_pairs = gf.comparison.compare_scores(three, pairs="all").per_query
    assert set(all_pairs["baseline"]) == {"old", "new"}
    assert str(all_pairs).split()[:2] == ["measure", "baseline"]
    assert two.table().columns == all_pairs.table().columns
