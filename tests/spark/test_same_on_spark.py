"""Spark, DuckDB and dicts give the same: every measure of the catalogue, every choice of a policy."""

import json

import pyarrow as pa
import pytest

import gainful as gf
from gainful.matching.spark import plan as cutting
from spark_cases import (
    CHUNKS,
    POLICIES,
    REFUSED,
    assert_same,
    close,
    every_measure,
    on_spark,
    random_sides,
    rows_of,
    that_can_be,
)

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

JUDGMENTS, RUN = random_sides("spark")


@pytest.fixture(scope="module")
def frames(spark):
    return on_spark(spark, JUDGMENTS, "grade").persist(), on_spark(spark, RUN, "score").persist()


def as_arrow(documents, number):
    query, doc, value = zip(*rows_of(documents), strict=True)
    return pa.table({"query": query, "doc": doc, number: value})


NAMES = list(dict.fromkeys(name for choices in POLICIES for name in choices))


def each_choice(choices):
    """Return an id of a policy in which each choice has its place: see THINNED in slow_tests.py."""
    told = (f"{name} {choices[name]}" if name in choices else "" for name in NAMES)
    return "-".join(each.replace("-", "−") for each in told)


@pytest.mark.parametrize("choices", POLICIES, ids=each_choice)
@pytest.mark.parametrize("cut", [True, False], ids=["cut", "whole"])
def test_every_measure_under_every_policy(frames, choices, cut):
    policy = gf.Policy(**choices)
    options = {"policy": policy, "chunks": CHUNKS if policy.fold == "max" else None}
    measures = every_measure(str(choices), cut=cut)
    kept = that_can_be(measures, JUDGMENTS, RUN, **options)
    assert len(kept) > len(measures) / 3
    expected = gf.evaluate(JUDGMENTS, RUN, kept, **options)
    on_duckdb = gf.evaluate(as_arrow(JUDGMENTS, "grade"), as_arrow(RUN, "score"), kept, **options)
    assert_same(on_duckdb, expected)
    assert_same(gf.evaluate(*frames, kept, **options), expected)


@pytest.mark.parametrize("choices", [POLICIES[0], POLICIES[1], POLICIES[4]], ids=str)
def test_very_many_queries_are_cut_in_another_way(frames, monkeypatch, choices):
    monkeypatch.setattr(cutting, "FEW", 0)
    policy = gf.Policy(**choices)
    expected = gf.evaluate(JUDGMENTS, RUN, ["nDCG@1,3", "P@10"], policy=policy)
    assert_same(gf.evaluate(*frames, ["nDCG@1,3", "P@10"], policy=policy), expected)


@pytest.mark.parametrize("choices", [POLICIES[0], {"unjudged": "condense"}], ids=str)
def test_slices_are_the_same(frames, choices):
    options = {"policy": gf.Policy(**choices), "by": ["kind", "judged"]}
    ids = sorted({*JUDGMENTS, *RUN})
    slices = {query: {"kind": "ab"[at % 2]} for at, query in enumerate(ids) if at % 5}
    expected = gf.evaluate(JUDGMENTS, RUN, ["nDCG@3", "P@10"], slices=slices, **options)
    found = gf.evaluate(*frames, ["nDCG@3", "P@10"], slices=slices, **options)
    assert len(expected.slices) > 6
    assert found.coverage == expected.coverage
    for one, other in zip(found.slices, expected.slices, strict=True):
        assert one.to_dict()["coverage"] == other.to_dict()["coverage"]
        assert (one.column, one.value, one.queries) == (other.column, other.value, other.queries)
        assert close(one.mean, other.mean)
        assert close(one.interval().low, other.interval().low)


def test_every_measure_and_every_answer_is_there():
    names = {measure.name for measure in every_measure("", cut=False)}
    assert names == {family.name for family in gf.measures.families(needs="grades")}
    for choice in gf.measures.choices():
        tried = {policy.get(choice.name, choice.default) for policy in POLICIES} - {1.0, -1.0}
        errors = {"error", "ignore"} if choice.name == "extra" else {"error"}
        wanted = set(choice.answers) - REFUSED.get(choice.name, set()) - errors
        assert tried | errors >= wanted, choice.name


def test_most_measures_are_measured_under_some_policy():
    measures = [
        gf.Measure(name.name, cutoff=None if name.cutoff == "never" else 5)
        for name in gf.measures.families(needs="grades")
    ]
    left = set(measures) - set(that_can_be(measures, JUDGMENTS, RUN, gf.Policy()))
    assert {measure.name for measure in left} <= {"ERR", "nERR"}


@pytest.mark.parametrize("local", ["dicts", "Arrow", "file"])
def test_judgments_from_this_machine(frames, local, tmp_path):
    given = {"dicts": JUDGMENTS, "Arrow": as_arrow(JUDGMENTS, "grade")}.get(local)
    if local == "file":
        given = tmp_path / "judgments.txt"
        given.write_text("".join(f"{q}\t0\t{d}\t{n}\n" for q, d, n in rows_of(JUDGMENTS)))
    expected = gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "AP"])
    assert_same(gf.evaluate(given, frames[1], ["nDCG@10", "AP"]), expected)


def test_a_query_without_judged_documents_is_one_all_the_same(frames):
    judgments = {**JUDGMENTS, "q none": {}, "q0": {}}
    expected = gf.evaluate(judgments, RUN, "nDCG@10")
    assert_same(gf.evaluate(judgments, frames[1], "nDCG@10"), expected)


def test_runs_here_and_there_in_one_call(frames):
    runs = {"here": RUN, "there": frames[1]}
    for judgments in (JUDGMENTS, frames[0]):
        found = gf.evaluate_runs(judgments, runs, "nDCG@10")
        assert_same(found["there"], found["here"])


def test_comparisons_are_the_same(frames):
    other = {q: {doc: -score for doc, score in found.items()} for q, found in RUN.items()}
    expected = gf.compare(JUDGMENTS, {"one": RUN, "two": other}, "nDCG@10", by="judged")
    found = gf.compare(frames[0], {"one": frames[1], "two": other}, "nDCG@10", by="judged")
    assert str(found) == str(expected)


def test_a_dialect_is_the_same(frames):
    judgments = {q: {d: max(int(g), 0) for d, g in found.items()} for q, found in JUDGMENTS.items()}
    for measures in (["nDCG@5"], ["nDCG", "AP"]):
        expected = gf.evaluate(judgments, RUN, measures, dialect="trec_eval-9")
        found = gf.evaluate(judgments, frames[1], measures, dialect="trec_eval-9")
        assert_same(found, expected)


def test_a_saved_baseline_is_the_same(frames, tmp_path):
    gf.comparison.save_baseline(gf.evaluate(JUDGMENTS, RUN, "nDCG@10"), tmp_path / "here.json")
    gf.comparison.save_baseline(gf.evaluate(*frames, "nDCG@10"), tmp_path / "there.json")
    assert (tmp_path / "here.json").read_bytes() == (tmp_path / "there.json").read_bytes()


def test_an_explanation_fetches_one_query(frames):
    expected = gf.explain(JUDGMENTS, RUN, "nDCG@5", query="q1", policy=gf.Policy(absent="lowest"))
    found = gf.explain(*frames, "nDCG@5", query="q1", policy=gf.Policy(absent="lowest"))
    assert str(found) == str(expected)
    with pytest.raises(gf.errors.InputError, match="a judged query"):
        gf.explain(*frames, "nDCG@5", query="q1 ")


def test_what_ties_can_do(frames):
    expected = gf.evaluate(JUDGMENTS, RUN, "nDCG@3").ties["nDCG@3"]
    scores = gf.evaluate(JUDGMENTS, frames[1], "nDCG@3")
    found = scores.ties["nDCG@3"]
    for end in ("worst", "expected", "best"):
        assert getattr(found, end) == pytest.approx(getattr(expected, end), abs=1e-12)
    scores.unpersist()


def test_what_ties_can_do_leaves_nothing_behind(spark):
    run = on_spark(spark, RUN, "score")
    kept = spark.sparkContext._jsc.getPersistentRDDs
    before = {*kept()}
    scores = gf.evaluate(JUDGMENTS, run, "nDCG@3")
    _ = scores.ties
    scores.unpersist()
    assert {*kept()} <= before


def test_the_values_of_queries_stay_on_spark(frames):
    scores = gf.evaluate(*frames, ["nDCG@5", "AP"], policy=gf.Policy(empty="skip"))
    expected = gf.evaluate(JUDGMENTS, RUN, ["nDCG@5", "AP"], policy=gf.Policy(empty="skip"))
    assert repr(scores) == repr(expected)
    frame = scores.per_query.to_spark()
    assert frame.columns == ["query", "nDCG@5", "AP"]
    assert len(scores.per_query) == len(expected.per_query)
    assert "_collected" not in vars(scores)  # nothing above has fetched the queries
    rows = {row["query"]: (row["nDCG@5"], row["AP"]) for row in frame.collect()}
    assert rows.keys() == set(expected.queries)
    for query, each in expected.per_query.to_dict().items():
        assert rows[query] == pytest.approx(tuple(each.values()), abs=1e-12)
    assert scores.per_query.to_dict().keys() == set(expected.queries)
    assert scores.per_query.to_pandas()["query"].tolist() == list(expected.queries)
    assert scores.evidence.grades() == expected.evidence.grades()


def test_a_mean_whose_sum_is_too_large(spark):
    judgments = {f"q{number}": {"a": 1.5e308} for number in range(3)}
    run = {query: {"a": 1.0} for query in judgments}
    expected = gf.evaluate(judgments, run, "CG")["CG"]
    assert gf.evaluate(judgments, on_spark(spark, run, "score"), "CG")["CG"] == expected == 1.5e308


def test_rows_without_a_grade_have_grade_1(spark, tmp_path):
    rows = [(query, doc) for query, docs in JUDGMENTS.items() for doc in docs]
    clicks = spark.createDataFrame(rows, "user_id string, item_id string")
    judged = {query: dict.fromkeys(docs, 1) for query, docs in JUDGMENTS.items()}
    expected = gf.evaluate(judged, RUN, "nDCG")
    assert_same(gf.evaluate(clicks, RUN, "nDCG"), expected)
    path, other = tmp_path / "clicks.tsv", tmp_path / "clicks.jsonl"
    path.write_text("user_id\titem_id\n" + "".join(f"{q}\t{d}\n" for q, d in rows))
    other.write_text("".join(f'{{"user_id": "{q}", "item_id": "{d}"}}\n' for q, d in rows))
    for file in (path, other):
        assert_same(gf.evaluate(file, as_file(tmp_path), "nDCG", engine=gf.Spark()), expected)


def as_file(folder):
    path = folder / "run.jsonl"
    names = ("query", "doc", "score")
    path.write_text(
        "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows_of(RUN))
    )
    return path
