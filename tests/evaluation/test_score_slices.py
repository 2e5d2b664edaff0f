"""Slices of one run: each is the evaluation of its queries."""

import json
import pickle
import random

import pandas as pd
import pytest

import gainful as gf
from gainful.arithmetic.statistics.intervals import INTERVALS

MEASURES = ["nDCG@5", "P@3", "NumRelRet@10"]


def collection(seed, queries=30):
    """Judgments, a run and slices with everything odd: missing, empty and extra queries, ties."""
    rng = random.Random(seed)  # noqa: S311
    judgments, run, slices = {}, {}, {}
    for i in range(queries):
        query = f"q{i}"
        docs = [f"d{j}" for j in range(12)]
        if rng.random() < 0.9:
            grades = {doc: rng.choice([0, 0, 1, 2]) for doc in rng.sample(docs, 6)}
            judgments[query] = dict.fromkeys(grades, 0) if rng.random() < 0.15 else grades
        if rng.random() < 0.85:
            run[query] = {doc: rng.choice([1.0, 2.0, 2.5, 3.0]) for doc in rng.sample(docs, 7)}
        if rng.random() < 0.9:
            slices[query] = {"locale": rng.choice(["de", "fr", None]), "length": rng.randint(1, 30)}
    return judgments, run, slices


def evaluated(judgments, run, queries, **options):
    """Evaluate the part of a collection that some queries make."""
    return gf.evaluate(
        {query: judgments[query] for query in judgments if query in queries},
        {query: run[query] for query in run if query in queries},
        MEASURES,
        **options,
    )


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"missing": "skip", "empty": "skip"},
        {"unjudged": "condense"},
        {"unjudged": 1},
        {"ties": "average"},
        {"empty": "one"},
    ],
    ids=str,
)
def test_a_slice_is_the_evaluation_of_its_queries(policy):
    for seed in range(4):
        judgments, run, slices = collection(seed)
        options = {"policy": gf.Policy(**policy)}
        scores = gf.evaluate(judgments, run, MEASURES, slices=slices, by="locale", **options)
        assert {each.value for each in scores.slices} == {"de", "fr", "(none)"}
        assert len(scores.slices) == 3 * len(MEASURES)
        whole = gf.evaluate(judgments, run, MEASURES, **options)
        assert whole.means == scores.means
        assert whole.slices == ()
        for one in scores.slices:
            value = None if one.value == "(none)" else one.value
            part = {
                query
                for query in {*judgments, *run}
                if slices.get(query, {"locale": None})["locale"] == value
            }
            alone = evaluated(judgments, run, part, **options)
            assert one.mean == alone[one.measure]
            assert one.coverage == alone.coverage
            assert one.queries == alone.counted_values(one.measure).size
            if one.measure.name != "NumRelRet":
                assert one.interval(method="t") == alone.interval(one.measure, method="t")


def test_parts_add_up_to_the_whole():
    judgments, run, slices = collection(7)
    scores = gf.evaluate(judgments, run, MEASURES, slices=slices)
    for column in ("locale", "length"):
        parts = [each for each in scores.slices if each.column == column]
        for measure in scores.measures:
            one = [each for each in parts if each.measure == measure]
            assert sum(each.queries for each in one) == scores.counted_values(measure).size
            for count, total in scores.coverage.counts().items():
                if count not in ("depth", "unjudged_share", "extra"):
                    assert sum(each.coverage.counts()[count] for each in one) == total, count
    # Queries without judgments are in the slice that the table puts them in, if it has them.
    extra = {query for each in scores.slices for query in each.coverage.extra}
    assert set(scores.coverage.extra) == extra


def test_many_numbers_are_cut_where_the_judged_queries_say():
    judgments = {f"q{i}": {"a": 1} for i in range(16)}
    run = {f"q{i}": {"a": 1} for i in range(20)}
    slices = {f"q{i}": {"length": i if i < 16 else 100 + i} for i in range(20)}
    scores = gf.evaluate(judgments, run, "RR", slices=slices, by="length")
    parts = {each.value: each for each in scores.slices}
    assert list(parts) == ["0 to 3", "4 to 7", "8 to 11", "12 to 15"]
    assert [len(each.coverage.extra) for each in parts.values()] == [0, 0, 0, 4]


def test_by_how_many_documents_are_judged_needs_no_table():
    judgments = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1, "b": 0}}
    run = {"q1": {"x": 2, "a": 1}, "q2": {"a": 1}, "q4": {"a": 1}}
    scores = gf.evaluate(judgments, run, "RR", by="judged")
    found = [(each.value, each.mean, each.queries) for each in scores.slices]
    assert found == [("1", 0.5, 1), ("2", 0.5, 2)]
    assert scores.slices[1].coverage.missing == ("q3",)
    assert all(each.coverage.extra == () for each in scores.slices)
    both = gf.evaluate(judgments, run, "RR", slices={"q1": {"kind": "x"}}, by=["judged", "kind"])
    assert {each.column for each in both.slices} == {"judged", "kind"}


def test_the_worst_comes_first_within_column_and_measure():
    judgments, run, slices = collection(3)
    scores = gf.evaluate(judgments, run, MEASURES, slices=slices, by=["length", "locale"])
    places = [
        (["length", "locale"].index(each.column), scores.measures.index(each.measure), each.mean)
        for each in scores.slices
    ]
    assert places == sorted(places)


def test_a_slice_in_which_no_query_counts_is_shown_without_a_mean():
    judgments = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    slices = {"q1": {"kind": "new"}, "q2": {"kind": "old"}, "q3": {"kind": "old"}}
    run = {"q2": {"a": 1}, "q3": {"x": 2, "a": 1}}
    policy = gf.Policy(missing="skip")
    scores = gf.evaluate(judgments, run, "RR", slices=slices, policy=policy)
    old, new = scores.slices
    assert (old.value, old.mean, old.queries) == ("old", 0.75, 2)
    assert (new.value, new.mean, new.queries) == ("new", None, 0)
    assert new.coverage.missing == ("q1",)
    with pytest.raises(gf.errors.InputError, match="RR of kind new: expected a query that counts"):
        new.interval()
    assert new.to_dict()["mean"] is new.to_dict()["interval"] is None
    row = gf.results.Scores.slices_table({"run": scores}).records()[2]
    assert (row["value"], row["queries"], row["mean"], row["95% low"]) == ("new", 0, None, None)


def test_undefined_means_are_empty_and_last():
    judgments = {"q1": {"a": 0}, "q2": {"a": 1}}
    slices = {"q1": {"kind": "a"}, "q2": {"kind": "b"}}
    policy = gf.Policy(empty="nan")
    run = {"q1": {"a": 1}, "q2": {"a": 1}}
    scores = gf.evaluate(judgments, run, "nDCG@5", slices=slices, policy=policy)
    assert [each.value for each in scores.slices] == ["b", "a"]
    assert scores.slices[1].to_dict()["mean"] is None
    assert json.loads(gf.writing.render(scores, "json"))["runs"][0]["slices"][1]["mean"] is None


def test_a_table_has_all_queries_and_every_run_beside_each_other():
    judgments, run, slices = collection(1)
    other = {query: {"d1": 1.0, "d2": 0.5} for query in run}
    runs = {"one": run, "two": other}
    found = gf.evaluate_runs(judgments, runs, ["nDCG@5", "RR"], slices=slices, by="locale")
    rows = gf.results.Scores.slices_table(found, level=0.9).records()
    assert len(rows) == (1 + 3) * 2 * 2
    assert [row["run"] for row in rows] == ["one", "two"] * 8
    assert {row["slice"] for row in rows[:4]} == {"all"}
    assert rows[0]["mean"] == found["one"]["nDCG@5"]
    assert rows[0]["90% low"] == found["one"].interval("nDCG@5", level=0.9).low
    for row in rows[4:]:
        (known,) = [
            each
            for each in found[row["run"]].slices
            if (each.value, str(each.measure)) == (row["value"], row["measure"])
        ]
        interval = known.interval(level=0.9)
        assert (row["mean"], row["queries"]) == (known.mean, known.queries)
        assert (row["90% low"], row["90% high"]) == (
            (interval.low, interval.high) if interval.known else (None, None)
        )
        assert row["missing"] == len(known.coverage.missing)
        assert row["empty"] == len(known.coverage.empty)
        assert row["unjudged"] == known.coverage.unjudged_share


def test_sliced_scores_show_their_slices_in_every_form():
    judgments, run, slices = collection(2)
    scores = gf.evaluate(judgments, run, "RR", slices=slices, by="locale")
    plain = gf.evaluate(judgments, run, "RR")
    shown = str(scores)
    assert shown.startswith("Slices, worst first\n")
    assert "kinds of query that make up" in shown
    assert "policy: default" in shown
    assert "<caption>Slices, worst first</caption>" in scores._repr_html_()
    assert gf.writing.render(scores, "csv").count("\n") == 4
    assert "run,slice" not in gf.writing.render(plain, "csv")
    assert gf.writing.render(scores, "csv", per_query=True) == gf.writing.render(
        plain, "csv", per_query=True
    )
    assert "90% low" in gf.writing.render(scores, "csv", interval="t", level=0.9)
    document = json.loads(gf.writing.render(scores, "json"))["runs"][0]
    assert document["slices"] == [json.loads(json.dumps(each.to_dict())) for each in scores.slices]
    assert "slices" not in json.loads(gf.writing.render(plain, "json"))["runs"][0]
    again = pickle.loads(pickle.dumps(scores))  # noqa: S301
    assert again.slices == scores.slices
    assert str(again) == shown


def test_slices_are_read_from_frames_and_files(tmp_path):
    judgments, run, slices = collection(5)
    wanted = gf.evaluate(judgments, run, "RR", slices=slices, by="length").slices
    frame = pd.DataFrame([{"query": query, **row} for query, row in slices.items()])
    assert gf.evaluate(judgments, run, "RR", slices=frame, by="length").slices == wanted
    frame.to_csv(tmp_path / "slices.csv", index=False)
    path = tmp_path / "slices.csv"
    assert gf.evaluate(judgments, run, "RR", slices=path, by="length").slices == wanted


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"by": "locale"},
            "a table of queries with the column 'locale', found none. Pass slices=…",
        ),
        ({"by": "baseline"}, "a table of queries with the column 'baseline', found none"),
        ({"slices": {"q0": {"locale": "de"}}, "by": "local"}, "Did you mean 'locale'"),
        ({"slices": {"q99": {"locale": "de"}}}, "none of them; it has 'q99'. Measured are 'q0'"),
        ({"slices": 3}, "slices"),
        ({"by": 3}, "by: expected names of columns"),
        ({"slices": "no-such-file.csv"}, "no-such-file.csv"),
    ],
)
def test_what_does_not_fit_is_said(options, told):
    judgments = {"q0": {"a": 1}, "q1": {"a": 1}}
    with pytest.raises(gf.errors.GainfulError, match=told):
        gf.evaluate(judgments, {"q0": {"a": 1}}, "RR", **options)


def test_it_is_said_before_the_work():
    with pytest.raises(gf.errors.InputError, match="a table of queries with the column"):
        gf.evaluate("no.qrels", "no.run", "RR", by="locale")


def test_the_defaults_are_those_of_a_comparison():
    judgments, run, _ = collection(0)
    scores = gf.evaluate(judgments, run, "RR", by="judged")
    assert scores.interval().method == scores.slices[0].interval().method == next(iter(INTERVALS))
