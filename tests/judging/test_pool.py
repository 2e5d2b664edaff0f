"""The pool of several runs: what is in it, in which order, from every kind of input, to every file."""

import copy
import csv
import gzip
import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gainful as gf
from input_forms import FORMS, WORDS, as_dicts
from odd_cases import cases

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ONE = {"q1": {"a": 3, "b": 2, "c": 1}, "q10": {"x": 1}}
TWO = {"q1": {"b": 9, "d": 8, "a": 7}, "q2": {"e": 1}}
RUNS = {"one": ONE, "two": TWO}
JUDGMENTS = {"q1": {"a": 3, "z": 1}, "q2": {"e": 0}}


def plain(pool):
    return [(row.query, row.doc, row.rank, row.runs, row.grade) for row in pool]


def test_worked_by_hand():
    pool = gf.pool(RUNS, depth=2, judgments=JUDGMENTS)
    assert plain(pool) == [
        ("q1", "a", 1, 1, 3.0),
        ("q1", "b", 1, 2, None),
        ("q1", "d", 2, 1, None),
        ("q2", "e", 1, 1, 0.0),
        ("q10", "x", 1, 1, None),
    ]
    assert [row.judged for row in pool] == [True, False, False, True, False]
    assert [row.priority for row in pool] == [None] * 5
    assert len(pool) == 5
    assert pool.queries == ("q1", "q2", "q10")
    assert pool[1].doc == "b"
    assert [row.doc for row in pool[1:3]] == ["b", "d"]


def literal(runs, depth):
    """The pool as its definition has it: (query, doc) → best rank and number of runs."""
    found = {}
    for run in runs:
        for query, scores in run.items():
            order = sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)
            for rank, doc in enumerate(order[:depth], 1):
                found.setdefault((query, doc), []).append(rank)
    return {key: (min(ranks), len(ranks)) for key, ranks in found.items()}


@given(st.data(), st.integers(1, 4))
def test_the_pool_is_that_of_its_definition_for_odd_ids(data, depth):
    runs = [as_dicts(data.draw(cases())[1]) for _ in range(data.draw(st.integers(1, 3)))]
    before = copy.deepcopy(runs)
    pool = gf.pool(runs, depth=depth)
    assert {(row.query, row.doc): (row.rank, row.runs) for row in pool} == literal(runs, depth)
    assert runs == before
    places = [(len(row.query), row.query, row.rank, row.doc) for row in pool]
    assert places == sorted(places)
    assert gf.pool(runs, depth=depth) == pool


ROWS = [("q1", "a", 3.0), ("q1", "b", 3.0), ("q1", "c", 1.0), ("q2", "b", -1.0), ("q2", "c", 0.5)]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_kind_of_input_gives_the_same(form, tmp_path):
    graded = [("q1", "b", 1.0), ("q2", "b", 0.0)]
    expected = gf.pool({"it": as_dicts(ROWS)}, depth=2, judgments=as_dicts(graded))
    run, judgments = form.make(ROWS, "run", tmp_path), form.make(graded, "judgments", tmp_path)
    found = gf.pool({"it": run}, depth=2, judgments=judgments)
    assert found == expected
    assert [row.doc for row in found] == ["b", "a", "c", "b"]
    if form.ids == WORDS and found:
        assert found.queries == ("q1", "q2")


def test_a_list_of_runs_is_named_by_numbers():
    assert gf.pool([ONE, TWO]).names == ("1", "2")
    assert gf.pool([ONE, TWO]).rows == gf.pool(RUNS).rows


def test_ids_may_be_integers():
    assert plain(gf.pool([{1: {7: 2.0, 8: 1.0}}], judgments={1: {8: 2}})) == [
        ("1", "7", 1, 1, None),
        ("1", "8", 2, 1, 2.0),
    ]


def test_an_empty_run_adds_nothing_and_nothing_at_all_is_refused():
    assert gf.pool({"one": ONE, "none": {}, "bare": {"q1": {}}}).rows == gf.pool([ONE]).rows
    with pytest.raises(gf.errors.InputError, match="at least one retrieved document"):
        gf.pool([{}, {"q": {}}])


def test_the_policy_counts_in_the_pool():
    run = {"q": {"q": 3.0, "a": 2.0, "b": 1.0}}
    assert [row.doc for row in gf.pool([run], depth=1, policy=gf.Policy(drop_self="yes"))] == ["a"]
    near = {"q": {"a": 0.500000001, "b": 0.5}}
    assert [row.doc for row in gf.pool([near], depth=1)] == ["a"]
    single = gf.Policy(precision="single")
    assert [row.doc for row in gf.pool([near], depth=1, policy=single)] == ["b"]


def test_files_are_cut_after_the_policy(files):
    twice = files("twice.run", "q Q0 a 1 0.1 t\nq Q0 b 2 0.5 t\nq Q0 a 3 0.9 t\n")
    first = gf.Policy(duplicates="first")
    assert [row.doc for row in gf.pool([twice], depth=1, policy=first)] == ["b"]
    near = files("near.run", "q Q0 a 1 0.500000001 t\nq Q0 b 2 0.5 t\n")
    single = gf.Policy(precision="single")
    assert [row.doc for row in gf.pool([near], depth=1, policy=single)] == ["b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": {}}, "at least 1 run, found 0"),
        ({"runs": []}, "at least 1 run, found 0"),
        ({"runs": "a.run"}, "a.run: expected a file, found none"),
        ({"runs": {1: ONE}}, "a string as the name"),
        ({"depth": 0}, "depth: expected a whole number from 1 to [0-9,]+, found 0"),
        ({"depth": 1.5}, "depth"),
        ({"depth": True}, "depth"),
        ({"order": "prority"}, "Did you mean 'priority'"),
        ({"order": "priority"}, "judgments, with order='priority'"),
        ({"measure": "nDCG@10"}, "Set order='priority'"),
        ({"budget": 5}, "Set order='priority'"),
        ({"grades": (0, 1)}, "Set order='priority'"),
        ({"order": "priority", "judgments": JUDGMENTS, "budget": 0}, "budget: .* found 0"),
        ({"policy": "ties"}, "policy"),
        ({"runs": [3]}, "run: expected a dict"),
        ({"runs": [{"q": {"a": float("nan")}}]}, "a finite number as the score"),
        ({"judgments": {"q1": {"a": "much"}}}, "a finite number as the grade"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(gf.errors.InputError, match=message):
        gf.pool(**{"runs": RUNS, **arguments})


def test_labels_and_predictions_have_no_documents(files):
    labels = files("labels.txt", "1 qid:1 1:0.5\n0 qid:1 1:0.1\n")
    predictions = files("predictions.txt", "0.5\n0.1\n")
    with pytest.raises(gf.errors.InputError, match="columns query, doc and score"):
        gf.pool([predictions])
    with pytest.raises(gf.errors.InputError, match="columns query, doc and grade"):
        gf.pool([ONE], judgments=labels)


def test_priority_orders_a_query_and_a_budget_keeps_the_highest():
    judgments = {"q1": {"a": 3}, "q2": {"e": 1}}
    pool = gf.pool(RUNS, judgments=judgments, order="priority", measure="DCG@2", depth=3)
    rows = [(row.query, row.doc, row.priority is None) for row in pool]
    # c is below the cutoff of both, q10 has no judgments, a and e have theirs.
    assert rows == [
        ("q1", "b", False), ("q1", "d", False), ("q1", "a", True), ("q1", "c", True),
        ("q2", "e", True), ("q10", "x", True),
    ]  # fmt: skip
    assert pool.measure == "DCG@2"
    assert pool.grades == (0.0, 3.0)
    few = gf.pool(RUNS, judgments=judgments, order="priority", measure="DCG@2", budget=1)
    assert [(row.doc, row.priority) for row in few] == [("b", pool[0].priority)]


def test_a_pool_is_frozen():
    pool = gf.pool(RUNS)
    with pytest.raises(AttributeError):
        pool.depth = 3
    with pytest.raises(AttributeError):
        pool[0].rank = 3


def test_it_prints_its_first_rows_and_says_how_many_more_there_are():
    many = {"q": {f"d{number:02}": -number for number in range(12)}}
    text = str(gf.pool([many]))
    assert "d09" in text
    assert "d10" not in text
    assert "… and 2 more" in text
    assert text.endswith("12 documents of 1 query, from 1 run down to rank 100")
    assert repr(gf.pool([many])).startswith("Pool(12 documents")
    assert "<table>" in gf.pool([many])._repr_html_()


def test_it_exports_plain_values():
    found = gf.pool(RUNS, depth=1, judgments=JUDGMENTS).to_dict()
    assert found["runs"] == ["one", "two"]
    assert found["documents"][0] == {
        "query": "q1", "doc": "a", "rank": 1, "runs": 1,
        "judged": True, "grade": 3.0, "priority": None, "flips": None,
    }  # fmt: skip
    json.dumps(found)


def test_it_writes_files(tmp_path):
    pool = gf.pool(RUNS, depth=2, judgments=JUDGMENTS)
    pool.write(tmp_path / "pool.qrels")
    lines = (tmp_path / "pool.qrels").read_text().splitlines()
    assert lines == ["q1 0 a 3", "q1 0 b ?", "q1 0 d ?", "q2 0 e 0", "q10 0 x ?"]
    pool.write(tmp_path / "pool.csv")
    with (tmp_path / "pool.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["doc"] for row in rows] == ["a", "b", "d", "e", "x"]
    assert [row["grade"] for row in rows] == ["3", "", "", "0", ""]
    pool.write(tmp_path / "pool.jsonl")
    records = [json.loads(line) for line in (tmp_path / "pool.jsonl").read_text().splitlines()]
    assert records[0] == {
        "query": "q1", "doc": "a", "rank": 1, "runs": 1, "judged": True, "grade": 3,
    }  # fmt: skip
    assert records[1]["grade"] is None
    pool.write(tmp_path / "pool.parquet")
    assert pq.read_table(tmp_path / "pool.parquet")["doc"].to_pylist() == list("abdex")


READABLE = ("qrels", "trec", "qrels.gz", "csv", "tsv", "csv.zst", "json", "jsonl", "parquet")
SHOWN = ("markdown", "latex", "html", "table")
OPEN = r"a finite number as the grade, found ('\?'|nothing|None)\. Give the document a grade, or remove the row"


def rows_in(path):
    """The columns query, doc and grade of a pool, as its format has them."""
    name = path.name
    if name.endswith("parquet"):
        return pq.read_table(path).to_pylist()
    unpack = {".gz": gzip.decompress, ".zst": zstd.decompress}.get(path.suffix, bytes)
    text = unpack(path.read_bytes()).decode()
    assert "-1" not in text
    if "csv" in name or "tsv" in name:
        return list(csv.DictReader(text.splitlines(), delimiter="," if "csv" in name else "\t"))
    if "json" in name:
        lines = text.splitlines()
        return [*map(json.loads, lines)] if name.endswith("jsonl") else json.loads(text)
    return [
        dict(zip(("query", "0", "doc", "grade"), line.split(), strict=True))
        for line in text.splitlines()
    ]


def write_rows(rows, path):
    """Write them back as somebody does who fills them in; grades are as they stand."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return
    columns = list(rows[0])
    if path.suffix in (".json", ".jsonl"):
        texts = [json.dumps(row) for row in rows]
        text = "\n".join(texts) if path.suffix == ".jsonl" else f"[{', '.join(texts)}]"
    elif path.suffix in (".csv", ".tsv"):
        mark = "," if path.suffix == ".csv" else "\t"
        lines = [columns, *([row[name] for name in columns] for row in rows)]
        text = "\n".join(
            mark.join("" if cell is None else str(cell) for cell in line) for line in lines
        )
    else:
        text = "\n".join(" ".join(row.values()) for row in rows)
    path.write_text(text + "\n")


def graded(row, grade):
    """A row with a grade, as its format has the others."""
    return {**row, "grade": str(grade) if isinstance(row["doc"], str) and "0" in row else grade}


@pytest.mark.parametrize("ending", READABLE)
def test_a_pool_is_written_filled_in_by_half_and_evaluated(ending, tmp_path):
    """What is not filled in is never taken for a judgment: not by a number, not by a default."""
    path = tmp_path / f"pool.{ending}"
    gf.pool(RUNS, depth=2, judgments=JUDGMENTS).write(path)
    with pytest.raises(gf.errors.InputError, match=OPEN):
        gf.evaluate(path, ONE, "nDCG@2")
    rows = rows_in(path)
    assert [(row["query"], row["doc"]) for row in rows] == [
        ("q1", "a"), ("q1", "b"), ("q1", "d"), ("q2", "e"), ("q10", "x"),
    ]  # fmt: skip
    half = tmp_path / f"half.{ending.split('.')[0]}"
    filled = [graded(row, 1) if row["doc"] in "b" else row for row in rows]
    write_rows(filled, half)
    with pytest.raises(gf.errors.InputError, match=OPEN):
        gf.evaluate(half, ONE, "nDCG@2")
    if ending == "json":  # a list of objects is read as a whole
        with pytest.raises(gf.errors.InputError, match=OPEN):
            gf.check(half)
    else:
        assert any(each.severity == "error" for each in gf.check(half))
    # Without the rows that are open, it is what was judged.
    write_rows([row for row in filled if row["grade"] not in ("?", "", None)], half)
    known = {"q1": {"a": 3, "b": 1}, "q2": {"e": 0}}
    measures = ["nDCG@2", "Judged@2", "Unjudged@2", "UnjudgedMass@2"]
    found, expected = (gf.evaluate(each, ONE, measures) for each in (half, known))
    assert found.per_query.to_dict() == expected.per_query.to_dict()
    assert found.coverage == expected.coverage
    write_rows([graded(row, 2) if row["grade"] in ("?", "", None) else row for row in rows], half)
    complete = {"q1": {"a": 3, "b": 2, "d": 2}, "q2": {"e": 0}, "q10": {"x": 2}}
    whole = gf.evaluate(half, TWO, measures).per_query.to_dict()
    assert whole == gf.evaluate(complete, TWO, measures).per_query.to_dict()


@pytest.mark.parametrize("ending", [*READABLE, *SHOWN])
@pytest.mark.parametrize("judgments", [None, JUDGMENTS], ids=["none judged", "some judged"])
def test_no_pool_that_is_open_is_taken_for_judgments(ending, judgments, tmp_path):
    path = tmp_path / f"pool.{ending}"
    format_ = ending if ending in SHOWN else None
    gf.pool(RUNS, depth=2, judgments=judgments).write(path, format=format_)
    with pytest.raises(gf.errors.InputError):
        gf.evaluate(path, ONE, "nDCG@2")


def test_a_grade_of_minus_one_in_the_judgments_is_not_judged_where_the_policy_says_so():
    judgments = {"q1": {"a": 3, "b": -1}}
    policy = gf.Policy(negative="unjudged")
    rows = {row.doc: row.judged for row in gf.pool([ONE], judgments=judgments, policy=policy)}
    assert rows == {"a": True, "b": False, "c": False, "x": False}
    docs = [row.doc for row in gf.judging.next_to_judge(judgments, [ONE], "DCG@3", policy=policy)]
    assert docs == ["b", "c"]
    keep = gf.Policy(negative="keep")
    assert [
        row.doc for row in gf.judging.next_to_judge(judgments, [ONE], "DCG@3", policy=keep)
    ] == ["c"]


def test_a_file_that_cannot_hold_an_id_is_left_as_it_was(tmp_path):
    path = tmp_path / "pool.qrels"
    path.write_text("old")
    with pytest.raises(gf.errors.InputError, match="without white space"):
        gf.pool([{"q": {"a b": 1.0}}]).write(path)
    assert path.read_text() == "old"
    with pytest.raises(gf.errors.InputError, match="Did you mean"):
        gf.pool([ONE]).write(tmp_path / "pool.qrel")


def test_nothing_left_to_judge_is_an_empty_file(tmp_path):
    empty = gf.judging.next_to_judge({"q": {"a": 1}}, [{"q": {"a": 1}}])
    assert len(empty) == 0
    empty.write(tmp_path / "next.qrels")
    assert (tmp_path / "next.qrels").read_text() == ""
    assert str(empty).endswith(
        "0 documents of 0 queries, from 1 run down to rank 10; priority by nDCG@10"
    )


@pytest.mark.parametrize("ending", READABLE)
def test_a_pool_without_judgments_has_a_grade_to_fill_in(ending, tmp_path):
    path = tmp_path / f"pool.{ending}"
    gf.pool(RUNS, depth=2).write(path)
    rows = rows_in(path)
    assert {row["grade"] for row in rows} <= {"?", "", None}
    full = tmp_path / f"full.{ending.split('.')[0]}"
    write_rows([graded(row, 2) for row in rows], full)
    known = {}
    for row in rows:
        known.setdefault(row["query"], {})[row["doc"]] = 2
    found, expected = (gf.evaluate(each, ONE, "CG").per_query.to_dict() for each in (full, known))
    assert found == expected
