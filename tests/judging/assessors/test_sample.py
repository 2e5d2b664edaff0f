"""`sample_queries` and `sample_documents`: who is drawn how often, from every source, and the file of the design."""

import collections
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gainful as gf
from gainful.errors import InputError
from gainful.judging.assessors.sample_design import read_design

IDS = [f"q{number}" for number in range(1, 41)]
RUNS = {
    "one": {f"q{i}": {f"d{j}": 20.5 - j for j in range(12)} for i in range(4)},
    "two": {f"q{i}": {f"d{j}": 1.5 + j for j in range(8, 16)} for i in range(4)},
}


def test_the_same_seed_draws_the_same_whatever_the_order():
    first = gf.judging.sample_queries(IDS, 7, seed=5)
    assert gf.judging.sample_queries(IDS[::-1], 7, seed=5).queries == first.queries
    assert gf.judging.sample_queries(IDS, 7, seed=6).queries != first.queries
    assert len({*first.queries}) == 7
    assert {*first.queries} <= {*IDS}
    assert first.to_json() == gf.judging.sample_queries(IDS, 7, seed=5).to_json()


def test_a_larger_sample_keeps_what_was_drawn():
    strata = {query: query[-1] < "5" for query in IDS}
    for options in ({}, {"strata": strata}):
        drawn = [
            {*gf.judging.sample_queries(IDS, size, seed=5, **options).queries}
            for size in (6, 12, 40)
        ]
        assert drawn[0] < drawn[1] < drawn[2]


def test_every_query_is_drawn_as_often_as_its_probability_says():
    strata = {query: "few" if query in IDS[:8] else "many" for query in IDS}
    drawn = collections.Counter()
    for seed in range(600):
        found = gf.judging.sample_queries(IDS, 12, strata=strata, allocation="equal", seed=seed)
        drawn.update(found.queries)
    assert found.probability_of["q1",] == 6 / 8
    assert found.probability_of["q40",] == 6 / 32
    few, many = ([drawn[query] / 600 for query in part] for part in (IDS[:8], IDS[8:]))
    assert np.mean(few) == pytest.approx(6 / 8)
    assert max(abs(np.array(few) - 6 / 8)) < 0.07
    assert max(abs(np.array(many) - 6 / 32)) < 0.07


@pytest.mark.parametrize(
    ("sizes", "size", "allocation", "counts"),
    [
        ({"a": 10, "b": 30}, 8, "proportional", {"a": 2, "b": 6}),
        ({"a": 10, "b": 30}, 7, "proportional", {"a": 2, "b": 5}),
        ({"a": 4, "b": 36}, 6, "proportional", {"a": 2, "b": 4}),  # two at least
        ({"a": 10, "b": 30}, 8, "equal", {"a": 4, "b": 4}),
        ({"a": 3, "b": 37}, 10, "equal", {"a": 3, "b": 7}),  # no more than there are
        ({"a": 10, "b": 30}, 40, "equal", {"a": 10, "b": 30}),
        ({"a": 13, "b": 13, "c": 14}, 10, "proportional", {"a": 3, "b": 3, "c": 4}),
    ],
)
def test_how_many_are_drawn_from_each_stratum(sizes, size, allocation, counts):
    names = [name for name, count in sizes.items() for _ in range(count)]
    strata = dict(zip(IDS, names, strict=True))
    found = gf.judging.sample_queries(IDS, size, strata=strata, allocation=allocation)
    assert {each.name: len(each.drawn) for each in found.strata} == counts
    assert {each.name: len(each.population) for each in found.strata} == sizes


@pytest.fixture
def files(tmp_path):
    texts = {
        "ids.txt": "q1\nq2\nq3\n",
        "head.csv": "query\nq1\nq2\nq3\n",
        "texts.tsv": "q1\twhat is this\nq2\tand that\nq3\tor\n",
        "texts.jsonl": '{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n{"_id": "q3", "text": "c"}\n',
        "table.csv": "query,length,locale\nq1,2,de\nq2,3,en\nq3,4,en\n",
        "a.qrels": "q1 0 d1 1\nq2 0 d1 0\nq3 0 d1 0\nq3 0 d2 1\n",
        "a.run": "q1 Q0 d1 1 2.5 x\nq2 Q0 d1 1 2 x\nq3 Q0 d1 1 2 x\n",
        "a.json": '{"q1": {"d": 1}, "q2": {"d": 1.5}, "q3": {"d": 0}}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


def test_queries_come_from_every_source(files):
    judgments = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"b": 2}}
    rows = [(query, doc, grade) for query, docs in judgments.items() for doc, grade in docs.items()]
    frame = pd.DataFrame(rows, columns=["query", "doc", "grade"])
    sources = [
        *files,
        judgments,
        {"one": {"q1": {"a": 1.0}, "q2": {"b": 2.0}}, "two": {"q3": {"c": 1.0}}},
        {"q1": "text", "q2": "text", "q3": "text"},
        ("q1", "q2", "q3"),
        {"q1", "q2", "q3"},
        np.array(["q1", "q2", "q3"]),
        pd.Series(["q1", "q2", "q3"]),
        frame,
        pl.from_pandas(frame),
        pd.DataFrame({"query": ["q1", "q2", "q3"], "text": ["a", "b", "c"]}),
        frame.to_dict("records"),
        gf.judging.sample_queries(["q1", "q2", "q3"], 1),
    ]
    for source in sources:
        found = gf.judging.sample_queries(source, 2, seed=1)
        assert [unit[0] for unit in found.population] == ["q1", "q2", "q3"], source
        assert found.queries == gf.judging.sample_queries(["q1", "q2", "q3"], 2, seed=1).queries


def test_numbers_stay_numbers_in_frames():
    found = gf.judging.sample_queries(range(1, 30), 3)
    assert found.to_pandas()["query"].dtype.kind == "i"
    assert all(isinstance(query, str) for query in found.queries)


def test_strata_are_read_as_slices_are(tmp_path):
    (tmp_path / "kinds.csv").write_text("query,locale,length\n" + "".join(f"{q},{'de' if i % 2 else 'en'},{i}\n" for i, q in enumerate(IDS)))  # fmt: skip
    found = gf.judging.sample_queries(IDS, 10, strata=tmp_path / "kinds.csv", by="locale")
    assert [each.name for each in found.strata] == ["de", "en"]
    assert found.by == "locale"
    cut = gf.judging.sample_queries(IDS, 10, strata=tmp_path / "kinds.csv", by="length")
    assert sorted(each.name for each in cut.strata) == sorted(
        ["0 to 9", "10 to 19", "20 to 29", "30 to 39"]
    )
    some = gf.judging.sample_queries(IDS, 10, strata=dict.fromkeys(IDS[:20], "a"))
    assert [each.name for each in some.strata] == ["(none)", "a"]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (IDS, {"size": 41}, "size: expected at most 40 queries, the size of the population, found 41"),
        (IDS, {"size": 0}, "size: expected a whole number from 1"),
        (IDS, {"size": 3, "strata": {q: q > "q3" for q in IDS}}, "size: expected at least 4 queries, 2 from each of 2 strata, found 3"),
        (IDS, {"size": 9, "strata": {q: q == "q3" for q in IDS}}, "strata, True: expected at least 2 queries in each stratum, found 1"),
        (IDS, {"size": 9, "strata": {"x": 1}}, "expected queries of the population, found none of them; it has 'x'"),
        (IDS, {"size": 9, "strata": {q: {"a": 1, "b": 2} for q in IDS}}, "expected one column, or by= one of them, found 'a', 'b'"),
        (IDS, {"size": 9, "by": "a"}, "by: expected None without strata"),
        (IDS, {"size": 9, "allocation": "even"}, "allocation: expected proportional or equal"),
        (["a", "a"], {"size": 1}, "source: expected each query once, found 'a' twice"),
        ([], {"size": 1}, "with at least one query, found none"),
        ("nowhere.run", {"size": 1}, "expected a file, found none"),
        (3, {"size": 1}, "source: expected judgments, a run, a table of queries, or a list of their ids, found 3"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(given, options, message):
    with pytest.raises(InputError, match=message):
        gf.judging.sample_queries(given, **options)


def test_a_file_without_queries_says_what_was_expected(tmp_path):
    (tmp_path / "odd.txt").write_text("some words\nthat are nothing\n")
    with pytest.raises(
        InputError, match=r"odd\.txt: expected judgments, a run, a table of queries.*none of these"
    ):
        gf.judging.sample_queries(tmp_path / "odd.txt", 1)


def test_the_design_reads_back_as_it_was(tmp_path):
    for found in (
        gf.judging.sample_queries(IDS, 9, strata={q: q < "q3" for q in IDS}, seed=2**70),
        gf.judging.sample_documents(RUNS, 20, by=["rank"]),
    ):
        found.write(tmp_path / "design.json")
        assert read_design(tmp_path / "design.json") == found
        assert read_design(found.to_dict()) == found
        found.write(tmp_path / "design.json.gz")
        assert read_design(tmp_path / "design.json.gz") == found
        assert read_design(str(tmp_path / "design.json")).probability_of == found.probability_of
        plain = json.loads((tmp_path / "design.json").read_text())
        assert plain["size"] == len(found.drawn)
    found.write(tmp_path / "drawn.csv")
    assert len((tmp_path / "drawn.csv").read_text().splitlines()) == 21


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(kind="runs"), "damaged"),
        (lambda d: d.pop("strata"), "damaged"),
        (lambda d: d["strata"][0]["drawn"].append("q999"), "units of another one"),
        (lambda d: d["strata"][0]["population"].append("q1"), "repeated"),
        (lambda d: d["strata"][0]["population"].append(3), "damaged"),
        (lambda d: d.update(format="other"), "something else"),
        (lambda d: d.update(size=7), "size 7, and 9 drawn"),
        (lambda d: d.update(seed=-1), "an invalid allocation or seed"),
        (lambda d: d.update(allocation="x"), "an invalid allocation or seed"),
        (lambda d: d["strata"][0].update(probability=0.5), "probability 0.5, not 0.225"),
        (lambda d: d["strata"][0]["drawn"].append(d["strata"][0]["drawn"][0]), "drawn twice"),
    ],
)
def test_a_damaged_design_is_refused(change, message, tmp_path):
    plain = gf.judging.sample_queries(IDS, 9).to_dict()
    change(plain)
    (tmp_path / "design.json").write_text(json.dumps(plain))
    with pytest.raises(InputError, match=message):
        read_design(tmp_path / "design.json")
    (tmp_path / "design.json").write_text("{")
    with pytest.raises(InputError, match="no JSON"):
        read_design(tmp_path / "design.json")


def test_a_sample_that_its_seed_does_not_draw_is_warned_of(tmp_path):
    plain = gf.judging.sample_queries(IDS, 9).to_dict()
    (tmp_path / "design.json").write_text(json.dumps({**plain, "seed": 99}))
    with pytest.warns(gf.errors.GainfulWarning, match="the seed 99 does not reproduce this sample"):
        read_design(tmp_path / "design.json")
    (tmp_path / "design.json").write_text(json.dumps(plain))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_design(tmp_path / "design.json").drawn


def test_documents_are_drawn_from_the_pool_of_runs():
    found = gf.judging.sample_documents(RUNS, 12, depth=5)
    rows = {(row.query, row.doc) for row in gf.pool(RUNS, depth=5)}
    assert {*found.population} == rows
    assert len(found.drawn) == 12
    assert {each.name for each in found.strata} == {f"q{i}" for i in range(4)}
    assert {len(each.drawn) for each in found.strata} == {3}
    same = gf.judging.sample_documents(gf.pool(RUNS, depth=5), 12)
    assert same.drawn == found.drawn


def test_strata_of_documents():
    model = {f"q{i}": {f"d{j}": j % 3 for j in range(12)} for i in range(4)}
    ranks = gf.judging.sample_documents({"one": RUNS["one"]}, 20, depth=12, by="rank")
    assert {each.name: len(each.population) for each in ranks.strata} == {
        "rank 1": 4,
        "ranks 2 to 3": 8,
        "ranks 4 to 10": 28,
        "ranks 11 to 30": 8,
    }
    grades = gf.judging.sample_documents(RUNS, 20, model=model, by="grade")
    assert [each.name for each in grades.strata] == ["grade 0", "grade 1", "grade 2", "not graded"]
    both = gf.judging.sample_documents(
        RUNS, 20, model=model, by=["rank", "grade"], allocation="equal"
    )
    assert "rank 1, grade 0" in {each.name for each in both.strata}
    with pytest.raises(InputError, match="model: expected the judgments of a model"):
        gf.judging.sample_documents(RUNS, 20, by="grade")
    with pytest.raises(InputError, match="by: expected query or rank or grade, found 'doc'"):
        gf.judging.sample_documents(RUNS, 20, by="doc")
    with pytest.raises(InputError, match="at least 4 documents, 1 from each of 4 strata"):
        gf.judging.sample_documents(RUNS, 3)


def test_what_is_printed_is_short():
    found = gf.judging.sample_queries(IDS, 30)
    assert repr(found) == "SampleDesign(30 queries of 40, drawn at random, seed 0)"
    assert "… and 10 more" in str(found)
    assert len(found.table().rows) == 30


def test_an_allocation_needs_strata():
    with pytest.raises(gf.errors.InputError, match=r"allocation: .*without strata.*Pass strata"):
        gf.judging.sample_queries([*"abcd"], 2, allocation="equal")
