"""Ranks in place of scores: read as such from every form, and told where they are taken for scores."""

import json
import math
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest

import gainful as gf
from column_tables import NAMED, TEXTS, dicts, read_in, written
from every_case import assert_every_case
from gainful.matching.reader import open_input
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.run_and_judgment_columns import read_columns

# By hand: the one relevant document of each query stands at rank 2 and at rank 3.
JUDGMENTS = {"q": {"b": 1}, "r": {"c": 1}}
RANKED = [("q", "b", 2), ("q", "a", 1), ("r", "c", 3), ("r", "a", 1), ("r", "b", 2)]
VALUE = (1 / 1.584962500721156 + 1 / 2) / 2
FORMS = (*NAMED, "blank", "run")
LINES = (*TEXTS, "blank", "run")


@pytest.fixture(scope="module")
def session():
    with Session() as opened:
        yield opened


def table(form, rows, folder, name="rank", more=None):
    """Write rows of query, doc and a number under a name, in some form."""
    if form == "blank":
        path = folder / "table.txt"
        path.write_text("".join(f"{query} {doc}  {number}\n" for query, doc, number in rows))
        return path
    if form == "run":
        path = folder / "table.run"
        fields = "Q0 {1} {2} 0.5 t" if name == "rank" else "Q0 {1} 0 {2} t"
        path.write_text("".join(f"{row[0]} {fields.format(*row)}\n" for row in rows))
        return path
    query, doc, number = (list(column) for column in zip(*rows, strict=True))
    return written(form, {"query": query, "doc": doc, name: number} | (more or {}), folder)


def names(form, role="rank"):
    """Name the columns of what has none, or has both a score and a rank."""
    if form == "blank":
        return {"run.query": 1, "run.doc": 2, f"run.{role}": 3}
    return {"rank": "rank"} if form == "run" and role == "rank" else None


@pytest.mark.parametrize("form", FORMS)
def test_ranks_are_read_from_every_form(form, session, tmp_path):
    expected = dicts((query, doc, -rank) for query, doc, rank in RANKED)
    given = table(form, RANKED, tmp_path)
    assert gf.evaluate(JUDGMENTS, given, ["nDCG", "nDCG@2"], columns=names(form)).means == {
        "nDCG": VALUE,
        "nDCG@2": 1 / 1.584962500721156 / 2,
    }
    if form in ("blank", "run"):
        return
    for name in ("Rank", "position", "pos"):
        assert read_in(session, table(form, RANKED, tmp_path, name), "run", {}) == expected
    for key in ("rank", "run.rank"):
        given = table(form, RANKED, tmp_path, "place")
        assert read_in(session, given, "run", {key: "place"}) == expected
    # Where there are scores, they count.
    scores = [9.5, 9.0, 3.5, 2.5, 1.5]
    scored = dicts((*row[:2], score) for row, score in zip(RANKED, scores, strict=True))
    for columns, found in ({}, scored), ({"rank": "rank"}, expected):
        both = table(form, RANKED, tmp_path, more={"score": scores})
        assert read_in(session, both, "run", columns) == found


@pytest.mark.parametrize("form", FORMS)
def test_two_documents_of_a_query_have_two_ranks(form, session, tmp_path):
    rows = [*RANKED, ("q", "d", 2)]
    said = "rank 2 for 'b' and 'd' of query 'q'"
    where = ""
    if form in LINES:
        header = form not in ("blank", "run", "jsonl")
        where = f"{table(form, rows, tmp_path)}:{len(rows) + header}: "
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(JUDGMENTS, table(form, rows, tmp_path), "nDCG@1", columns=names(form))
    assert said in str(caught.value)
    assert str(caught.value).startswith(where)
    with pytest.raises(gf.errors.InputError, match=said):
        read_in(session, table(form, rows, tmp_path), "run", names(form))
    checked = gf.check(JUDGMENTS, {"one": table(form, rows, tmp_path)}, columns=names(form))
    found = {each.rule: each for each in checked}["unusable-rank"]
    assert (found.count, found.query, found.doc) == (1, "q", "d")


def test_ranks_are_looked_at_in_every_query(tmp_path):
    given = table("csv", [*RANKED, ("s", "x", 7), ("s", "y", 7)], tmp_path)
    said = "rank 7 for 'x' and 'y' of query 's'"
    for call in (
        lambda: gf.evaluate(JUDGMENTS, given, "nDCG"),
        lambda: gf.pool({"one": given}),
        lambda: gf.write_run(given, tmp_path / "out.run"),
        lambda: gf.explain(JUDGMENTS, given, "nDCG", query="q"),
    ):
        with pytest.raises(gf.errors.InputError, match=said):
            call()


def test_a_document_twice_is_for_the_policy(tmp_path):
    rows = [*RANKED, ("q", "b", 5), ("r", "c", 3)]
    for form in ("csv", "polars"):
        given = table(form, rows, tmp_path)
        with pytest.raises(gf.errors.InputError, match="each document once"):
            gf.evaluate(JUDGMENTS, given, "nDCG")
        for rule in ("first", "best"):
            found = gf.evaluate(JUDGMENTS, given, "nDCG", policy=gf.Policy(duplicates=rule))
            assert found["nDCG"] == VALUE


@pytest.mark.parametrize("form", FORMS)
def test_ranks_are_finite_numbers(form, session, tmp_path):
    rows = [(query, doc, float(rank)) for query, doc, rank in RANKED]
    for odd in (math.inf, -math.inf, math.nan):
        rows[1] = ("q", "a", odd)
        with pytest.raises(
            gf.errors.InputError, match="a finite number as the rank, found"
        ) as caught:
            read_in(session, table(form, rows, tmp_path), "run", names(form))
        found = caught.value.found.strip("'").casefold()
        missing = math.isnan(odd) and form not in ("blank", "run")  # as pandas writes it
        assert found in (["nothing", "nan"] if missing else [str(odd), f"{odd}inity"])


@pytest.mark.parametrize("form", NAMED)
def test_scores_under_the_name_of_ranks_are_no_ranks(form, session, tmp_path):
    """As PostgreSQL's ts_rank gives them: the highest is the best."""
    for rows in ([("q", "a", 0.6), ("q", "b", 0.3)], [("q", "a", -2.0), ("q", "b", 1.0)]):
        with pytest.raises(
            gf.errors.InputError, match=r"whole numbers from 1 \(or 0\), because the name"
        ):
            read_in(session, table(form, rows, tmp_path), "run", {})
        for role, sign in (("score", 1), ("rank", -1)):
            given = table(form, rows, tmp_path)
            found = read_in(session, given, "run", {role: "rank"})
            assert found == dicts((query, doc, sign * rank) for query, doc, rank in rows)
    findings = gf.check(JUDGMENTS, {"one": table(form, rows, tmp_path)})
    assert {each.rule: each.doc for each in findings}["unusable-rank"] == "a"


def test_every_function_takes_ranks(tmp_path):
    path = table("csv", RANKED, tmp_path)
    assert gf.explain(JUDGMENTS, path, "nDCG", query="r").value == 1 / 2
    found = gf.pool({"one": path}, depth=2)
    assert [(row.query, row.doc, row.rank) for row in found] == [
        ("q", "a", 1), ("q", "b", 2), ("r", "a", 1), ("r", "b", 2),
    ]  # fmt: skip
    for end in ("run", "csv", "tsv", "jsonl", "parquet", "run.gz"):
        out = tmp_path / f"out.{end}"
        gf.write_run(path, out)
        assert gf.evaluate(JUDGMENTS, out, "nDCG")["nDCG"] == VALUE
    lines = (tmp_path / "out.run").read_text().splitlines()
    assert [line.split()[:4] for line in lines] == [
        [query, "Q0", doc, str(rank)] for query, doc, rank in sorted(RANKED, key=lambda row: (row[0], row[2]))
    ]  # fmt: skip
    assert "rank-as-score" not in {each.rule for each in gf.check(JUDGMENTS, {"one": path})}
    judged = {"q": {"s": {"b": 1}}, "r": {"s": {"c": 1}}}
    assert gf.subtopics.evaluate_subtopics(judged, path, "alpha_nDCG@3")[
        "alpha_nDCG@3"
    ] == pytest.approx(VALUE)
    single = gf.evaluate(JUDGMENTS, path, "nDCG", policy=gf.Policy(precision="single"))
    assert single["nDCG"] == VALUE


# Ranks that are taken for scores.


def warned(call, *arguments):
    """Return whether a call warns of ranks, once."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call(*arguments)
    told = [str(each.message) for each in seen]
    assert all("look like ranks" in each or "usually contains ranks" in each for each in told)
    assert len(told) <= 1
    return bool(told)


RISING = [("q", "a", 1), ("r", "a", 1), ("q", "b", 2), ("q", "c", 3), ("r", "c", 2)]
LISTS = {
    "rising": (RISING, True),
    "from 0": ([(query, doc, rank - 1) for query, doc, rank in RISING], True),
    "falling": (sorted(RISING, key=lambda row: -row[2]), False),
    "falling in one query": (
        [("q", "a", 2), ("q", "b", 1), ("r", "a", 1), ("r", "b", 2), ("r", "c", 3)],
        True,
    ),
    "by document": (
        [("q", "a", 3), ("r", "a", 2), ("q", "b", 1), ("r", "b", 1), ("q", "c", 2)],
        True,
    ),
    "shuffled, from 0": ([("q", "a", 2), ("q", "b", 0), ("q", "c", 3), ("q", "d", 1)], True),
    "a number twice": ([("q", "a", 1), ("q", "b", 3), ("q", "c", 3), ("r", "a", 1)], False),
    "from 0 and from 1": ([*RISING, ("s", "a", 0), ("s", "b", 1)], False),
    "not in every query": ([*RISING, ("s", "a", 0.5)], False),
    "with a gap": ([*RISING, ("r", "d", 4)], False),
    "with a tie": ([*RISING, ("r", "d", 2)], False),
    "from 2": ([(query, doc, rank + 1) for query, doc, rank in RISING], False),
    "halves": ([(query, doc, rank / 2) for query, doc, rank in RISING], False),
    "one document each": ([("q", "a", 1), ("r", "a", 1)], False),
    "zero and one": ([("q", "a", 0), ("q", "b", 1), ("r", "a", 0)], False),
}


def as_given(form, rows, folder):
    """Return a run and the names of its columns."""
    if form == "dict":
        return dicts(rows), None
    if form == "nested":
        path = folder / "run.json"
        path.write_text(json.dumps(dicts(rows)))
        return path, None
    return table(form, rows, folder, "score"), names(form, "score")


@pytest.mark.parametrize("form", [*FORMS, "dict", "nested"])
def test_scores_that_look_like_ranks(form, session, tmp_path):
    def check(case):
        rows, expected = LISTS[case]
        if form in ("dict", "nested") and case == "from 0":
            expected = False  # 0, 1, 2, which a dict of an example may have
        (tmp_path / case).mkdir()
        given, columns = as_given(form, rows, tmp_path / case)
        opened = open_input(given, RUN, read_columns(columns), session)
        assert warned(opened.warn_of_ranks) == expected

    assert_every_case(check, LISTS)


@pytest.mark.parametrize("form", ["csv", "polars", "run", "dict"])
def test_every_reader_of_runs_warns(form, tmp_path):
    given, _ = as_given(form, RISING, tmp_path)
    assert warned(gf.evaluate, JUDGMENTS, given, "nDCG")
    assert warned(gf.evaluate, JUDGMENTS, given, "nDCG@1")
    assert warned(lambda: gf.explain(JUDGMENTS, given, "nDCG", query="q"))
    assert warned(lambda: gf.pool({"one": given}))
    assert warned(gf.write_run, given, tmp_path / "out.run")
    subtopics = {"q": {"s": {"b": 1}}}
    assert warned(gf.subtopics.evaluate_subtopics, subtopics, given, "strec@2")
    assert "rank-as-score" in {each.rule for each in gf.check(JUDGMENTS, {"run": given})}
    given, _ = as_given(form, RISING[::-1], tmp_path)
    assert not warned(gf.evaluate, JUDGMENTS, given, "nDCG")
    assert "rank-as-score" not in {each.rule for each in gf.check(JUDGMENTS, {"run": given})}


def test_the_name_of_a_run_is_in_the_warning(tmp_path):
    good, bad = (
        table(form, rows, tmp_path, "score")
        for form, rows in (("csv", RISING[::-1]), ("tsv", RISING))
    )
    with pytest.warns(
        gf.errors.GainfulWarning,
        match="^run 'bad', scores: the scores of every query are 1, 2, 3 …",
    ):
        gf.evaluate_runs(JUDGMENTS, {"good": good, "bad": bad}, "nDCG")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "run"])
def test_a_long_run_is_looked_at_to_its_end(form, session, tmp_path):
    rows = [(query, f"d{rank}", rank) for query in "qrs" for rank in range(1, 301)]
    shuffled = sorted(rows, key=lambda row: (row[2] * 7919 % 300, row[0]))
    for given, expected in (
        (rows, True),
        (shuffled, True),
        (rows[::-1], False),
        ([*rows[:-1], ("s", "d300", 300.5)], False),
        ([("s", "d300", 299) if row == rows[-1] else row for row in shuffled], False),
    ):
        written = table(form, given, tmp_path, "score")
        opened = open_input(written, RUN, read_columns(None), session)
        assert warned(opened.warn_of_ranks) == expected


@pytest.mark.parametrize("form", [*NAMED, "json"])
@pytest.mark.parametrize("name", ["rank", "Position", "pos"])
def test_a_column_of_ranks_that_is_named_as_scores(name, form, session, tmp_path):
    """Whatever whole numbers it has, even falling ones; others, as of ts_rank, are no ranks."""
    for numbers, expected in (((5, 2), True), ((2, 1), True), ((0.5, 0.25), False)):
        rows = [("q", "a", numbers[0]), ("q", "b", numbers[1])]
        if form == "json":
            given = tmp_path / "run.json"
            keys = ("query", "doc", name)
            given.write_text(json.dumps([dict(zip(keys, row, strict=True)) for row in rows]))
        else:
            given = table(form, rows, tmp_path, name)
        opened = open_input(given, RUN, read_columns({"score": name}), session)
        assert warned(opened.warn_of_ranks) == expected


def test_clean_lines_are_looked_at_without_the_engine(tmp_path):
    (tmp_path / "qrels").write_text("q 0 d1 1\n")
    for numbers in (range(300, 0, -1), [0.5] * 300, [1, 3, 2]):
        lines = (f"q Q0 d{place} {place + 1} {score} t\n" for place, score in enumerate(numbers))
        (tmp_path / "run").write_text("".join(lines))
        code = "import sys, gainful; gainful.evaluate('qrels', 'run', 'nDCG'); print('duckdb' in sys.modules)"
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([[1, 2, 3], [1, 2, 3]], True),
        ([[0, 1, 2, 3], [0, 1, 2, 3]], True),
        ([[2, 1, 3], [3, 1, 2]], True),
        ([[3, 2, 1], [1, 3, 2]], True),
        ([[3, 3, 1], [1, 3, 2]], False),
        ([[1, 2, 3], [1, 3, 3]], False),
        ([[1, 2], [1, 2]], False),
        ([[3, 2, 1], [3, 2, 1]], False),
        ([[1, 2, 3], [1, 2, 4]], False),
        ([[1.0, 2.0, 2.5], [1.0, 2.0, 3.0]], False),
        ([[False, True, True], [True, True, False]], False),
    ],
)
def test_arrays_of_scores_that_look_like_ranks(scores, expected, tmp_path):
    array = np.array(scores)
    labels = np.zeros(array.shape, int)
    labels[:, 0] = 1
    call = partial(gf.evaluate_arrays, measures="nDCG")
    size = array.shape[1]
    sizes, ids = [size, size], ["b"] * size + ["a"] * size
    flat = {"labels": labels.ravel(), "scores": array.ravel()}
    assert warned(lambda: call(labels=labels, scores=array)) == expected
    assert warned(lambda: call(**flat, group=sizes)) == expected
    assert warned(lambda: call(**flat, query=ids)) == expected
    (tmp_path / "labels").write_text("".join(f"{label} qid:{name} 1:0\n" for label, name in zip(labels.ravel(), ids, strict=True)))  # fmt: skip
    (tmp_path / "run").write_text("".join(f"{score + 0}\n" for score in array.ravel()))
    assert warned(gf.evaluate, tmp_path / "labels", tmp_path / "run", "nDCG") == expected
