"""Columns that are named are honoured or refused: every format, kind and way to name them."""

import json
import random

import pandas as pd
import pytest

import gainful as gf
from column_tables import NAMED, dicts, read_in, written
from gainful.rows.duckdb_engine import Session

# nDCG by hand: the grades 1, 3, 2 in the order of the scores, against 3, 2, 1.
GRADES = [("7", "1", 3), ("7", "2", 2), ("7", "3", 1)]
SCORES = [("7", "3", 9.5), ("7", "1", 8.5), ("7", "2", 7.5)]
RANKS = [("7", "2", 3), ("7", "3", 1), ("7", "1", 2)]
VALUE = (1 + 3 / 1.584962500721156 + 2 / 2) / (3 + 2 / 1.584962500721156 + 1 / 2)
SIDES = {"judgments": ("grade", GRADES), "run": ("score", SCORES), "ranks": ("rank", RANKS)}
BETWEEN = {"csv": ",", "tsv": "\t", "txt": "\t", "semicolon": ";", "pipe": "|", "blank": " "}


@pytest.fixture(scope="module")
def session():
    with Session() as opened:
        yield opened


def value_of(side, given, columns):
    """Evaluate a table as one side, beside a dict as the other."""
    if side == "judgments":
        return gf.evaluate(given, dicts(SCORES), "nDCG", columns=columns)["nDCG"]
    return gf.evaluate(dicts(GRADES), given, "nDCG", columns=columns)["nDCG"]


def with_more(rows, role):
    """Give rows a fourth column, which no one asks for, and another order."""
    return {
        "when": [978300760 + place for place in range(len(rows))],
        "what": [doc for _, doc, _ in rows],
        "much": [number for *_, number in rows],
        "who": [query for query, *_ in rows],
    }, {"query": "who", "doc": "what", role: "much"}


@pytest.mark.parametrize("form", NAMED)
@pytest.mark.parametrize("side", SIDES)
def test_names_are_honoured_or_refused_in_every_form(side, form, session, tmp_path):
    role, rows = SIDES[side]
    table, columns = with_more(rows, role)
    kind = "judgments" if side == "judgments" else "run"
    sign = -1 if side == "ranks" else 1
    expected = dicts((query, doc, sign * number) for query, doc, number in rows)
    for names in (columns, {f"{kind}.{key}": name for key, name in columns.items()}):
        assert read_in(session, written(form, table, tmp_path), kind, names) == expected
    wrong = [{**columns, key: name + "s"} for key, name in columns.items()]
    wrong.append({**columns, "query": "whos", "doc": "whats"})
    for names in wrong:
        key = next(key for key, name in names.items() if name.endswith("s"))
        said = rf"'{names[key]}' for {key}.*Did you mean '{columns[key]}'"
        with pytest.raises(gf.errors.InputError, match=said):
            read_in(session, written(form, table, tmp_path), kind, names)


@pytest.mark.parametrize("side", SIDES)
def test_names_of_the_other_side_are_refused_where_it_has_no_columns(side, tmp_path):
    role, rows = SIDES[side]
    table, columns = with_more(rows, role)
    given = written("csv", table, tmp_path)
    assert value_of(side, given, columns) == pytest.approx(VALUE, abs=1e-15)
    other = "run" if side == "judgments" else "judgments"
    with pytest.raises(gf.errors.InputError, match="including 'x', found none"):
        value_of(side, given, {**columns, f"{other}.query": "x"})


@pytest.mark.parametrize("form", BETWEEN)
@pytest.mark.parametrize("side", SIDES)
def test_numbers_mean_that_there_is_no_header(side, form, session, tmp_path):
    """All cells are digits, so that any row could be a header, or one of a TREC file."""
    role, rows = SIDES[side]
    sign = -1 if side == "ranks" else 1
    expected = dicts((query, doc, sign * number) for query, doc, number in rows)
    rng = random.Random(f"{side}{form}")  # noqa: S311 - no secret
    for width in (3, 4, 5, 6, 7):
        places = rng.sample(range(width), 3)
        lines = []
        for row in rows:
            cells = [str(rng.randint(1, width)) for _ in range(width)]
            for place, cell in zip(places, row, strict=True):
                cells[place] = str(cell)
            lines.append(BETWEEN[form].join(cells))
        path = tmp_path / f"table.{form}"
        path.write_text("\n".join(lines) + "\n" * rng.randint(0, 1))
        columns = {
            key: place + 1 for key, place in zip(("query", "doc", role), places, strict=True)
        }
        kind = "judgments" if side == "judgments" else "run"
        assert read_in(session, path, kind, columns) == expected, lines


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_first_row_that_holds_the_numbers_of_the_columns_is_a_row(delimiter, tmp_path):
    path = tmp_path / "run"
    path.write_text("\n".join(map(delimiter.join, [("1", "2", "3"), ("1", "1", "4")])))
    columns = {"query": 1, "doc": 2, "score": 3}
    found = gf.evaluate({"1": {"1": 0, "2": 1}}, path, ["nDCG", "NumRet"], columns=columns)
    assert found["NumRet"] == 2
    assert found["nDCG"] == pytest.approx(1 / 1.584962500721156, abs=1e-15)


@pytest.mark.parametrize("form", BETWEEN)
def test_numbers_where_there_is_a_header(form, session, tmp_path):
    path = tmp_path / "table"
    rows = ("user", "item", "rating"), ("7", "1", "3")
    path.write_text("\n".join(map(BETWEEN[form].join, rows)))
    said = r"table:1: expected a finite number as the grade, found 'rating'\. .* use the names"
    with pytest.raises(gf.errors.InputError, match=said):
        read_in(session, path, "judgments", {"query": 1, "doc": 2, "grade": 3})


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"query": 1, "doc": 2}, "a column number for each of query, doc, grade"),
        ({"query": 1, "doc": 2, "grade": "rating"}, "a column number for each of query, doc, grade"),
        ({"judgments.grade": 3}, "a column number for each of query, doc, grade"),
        ({"query": 1, "doc": 2, "grade": 5}, "column number 5 for grade, found 4"),
        ({"query": 0, "doc": 2, "grade": 3}, "column number 0 for query"),
        ({"query": "9" * 5000, "doc": 2, "grade": 3}, "a column number for each"),
        ({"query": 1, "doc": 1, "grade": 3}, "three columns"),
        ({"query": "user"}, "the column 'user' for query.*judgments only|run only, write run.query"),
        ({"judgments.query": "quary"}, "Did you mean 'query'"),
        ({"grade": "rel"}, "the column 'rel' for grade"),
        ({"run.query": "x"}, "look like user, item, rating and time.*judgments.query=1"),
        ({"grade": "grade", "score": "score"}, "columns, score: expected an input with columns"),
        ({"score": "s", "run.rank": "r"}, "either a score or a rank to order the run, found both"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("delimiter", ["\t", " "])
def test_what_is_refused_of_four_columns_without_a_header(columns, said, delimiter, tmp_path):
    """MovieLens' user, item, rating, time: four fields, as TREC judgments have."""
    path = tmp_path / "u.data"
    rows = ("7", "1", "3", "978300760"), ("7", "2", "2", "978300761")
    path.write_text("\n".join(map(delimiter.join, rows)))
    with pytest.raises(gf.errors.InputError, match=said):
        value_of("judgments", path, columns)


def test_fields_of_trec_files_have_names(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in GRADES))
    run.write_text("".join(f"{query} Q0 {doc} {rank} 1 x\n" for query, doc, rank in RANKS))
    for columns in (
        {"rank": "rank"},
        {"run.rank": "rank", "query": "query", "doc": "doc", "grade": "grade"},
        {"run.query": 1, "run.doc": 3, "run.rank": 4},
        {"run.query": 1, "run.doc": 3, "run.rank": 4, "judgments.query": 1, "judgments.doc": 3, "grade": 4},
    ):  # fmt: skip
        found = gf.evaluate(qrels, run, "nDCG", columns=columns)["nDCG"]
        assert found == pytest.approx(VALUE, abs=1e-15), columns
    with pytest.raises(gf.errors.InputError, match="judgments have '7'; the run has '1', '2', '3'"):
        gf.evaluate(qrels, run, columns={"run.query": "doc", "run.doc": "query"})


LETOR = "3 qid:7 1:0.5\n2 qid:7 1:0.1\n"
WITHOUT = {
    "dict": (dicts(GRADES), dicts(SCORES)),
    "json": ("j.json", "r.json"),
    "letor": ("labels.txt", "predictions.txt"),
}


@pytest.mark.parametrize("form", WITHOUT)
@pytest.mark.parametrize(
    "key", ["query", "doc", "grade", "score", "rank", "judgments.query", "run.doc", "run.rank"]
)
def test_names_are_refused_where_no_input_has_columns(form, key, tmp_path):
    (tmp_path / "j.json").write_text(json.dumps(dicts(GRADES)))
    (tmp_path / "r.json").write_text(json.dumps(dicts(SCORES)))
    (tmp_path / "labels.txt").write_text(LETOR)
    (tmp_path / "predictions.txt").write_text("0.5\n0.25\n")
    judgments, run = WITHOUT[form]
    if form != "dict":
        judgments, run = tmp_path / judgments, tmp_path / run
    for name in ("user", 1):
        with pytest.raises(
            gf.errors.InputError, match=f"columns, {key}: expected an input with columns"
        ):
            gf.evaluate(judgments, run, columns={key: name})


def test_one_input_that_has_the_columns_is_enough(tmp_path):
    table, columns = with_more(SCORES, "score")
    runs = {"frame": pd.DataFrame(table), "dict": dicts(SCORES)}
    for names in (columns, {f"run.{key}": name for key, name in columns.items()}):
        found = gf.evaluate_runs(dicts(GRADES), runs, "nDCG", columns=names)
        assert [each["nDCG"] for each in found.values()] == pytest.approx([VALUE, VALUE])
        bounds = gf.judging.bounds_of_runs(
            dicts(GRADES), runs, "nDCG@3", grades=(0, 3), columns=names
        )
        assert bounds.runs["frame"]["nDCG@3"].low == bounds.runs["dict"]["nDCG@3"].low


def test_subtopics(tmp_path):
    rows = [("7", "s1", "1", 1), ("7", "s2", "2", 1)]
    path = tmp_path / "judged"
    path.write_text(
        "".join(f"{doc}\t{grade}\t{part}\t{query}\n" for query, part, doc, grade in rows)
    )
    columns = {"judgments.query": 4, "judgments.doc": 1, "grade": 2, "subtopic": 3}
    assert (
        gf.subtopics.evaluate_subtopics(path, {"7": {"1": 2, "2": 1}}, "strec@2", columns=columns)[
            "strec@2"
        ]
        == 1
    )
    for wrong in (
        {"grade": 2},
        {**columns, "subtopic": "intent"},
        {"subtopic": "intent"},
        {"run.score": "s"},
    ):
        with pytest.raises(gf.errors.InputError):
            gf.subtopics.evaluate_subtopics(path, {"7": {"1": 2}}, "strec@2", columns=wrong)
    with pytest.raises(gf.errors.InputError, match="columns, subtopic"):
        gf.subtopics.read_subtopics({"7": {"s1": {"1": 1}}}, columns={"subtopic": "intent"})


def calls(judgments, run, columns, folder):
    """Call everything that reads files, with the names of their columns."""
    runs = {"one": run, "two": run}
    own = {key: name for key, name in columns.items() if not key.startswith("judgments.")}
    other = {key: name for key, name in columns.items() if not key.startswith("run.")}
    return {
        "evaluate": lambda: gf.evaluate(judgments, run, columns=columns),
        "runs": lambda: gf.evaluate_runs(judgments, runs, columns=columns),
        "compare": lambda: gf.compare(judgments, runs, "nDCG", columns=columns),
        "explain": lambda: gf.explain(judgments, run, "nDCG", query="7", columns=columns),
        "attribute": lambda: gf.explanation.attribute(
            judgments, run, run, "nDCG@10", query="7", columns=columns
        ),
        "why": lambda: gf.why(judgments, run, "nDCG@10", dialects="trec_eval", columns=columns),
        "check": lambda: gf.check(judgments, runs, columns=columns),
        "report": lambda: gf.report(judgments, {"one": run}, columns=columns),
        "pool": lambda: gf.pool(runs, judgments=judgments, columns=columns),
        "next": lambda: gf.judging.next_to_judge(
            judgments, runs, "nDCG@10", grades=(0, 3), columns=columns
        ),
        "bounds": lambda: gf.bounds(judgments, run, "nDCG@10", grades=(0, 3), columns=columns),
        "curve": lambda: gf.curve(judgments, run, upto=3, columns=columns),
        "run": lambda: gf.write_run(run, folder / "out.run", columns=own),
        "judgments": lambda: gf.write_judgments(judgments, folder / "out.qrels", columns=other),
    }


def test_every_function_honours_or_refuses(tmp_path):
    judgments, run = tmp_path / "u.data", tmp_path / "list.tsv"
    judgments.write_text("".join(f"{query}\t{doc}\t{grade}\t9\n" for query, doc, grade in GRADES))
    run.write_text("".join(f"{query}\t{doc}\t{rank}\n" for query, doc, rank in RANKS))
    columns = {"judgments.query": 1, "judgments.doc": 2, "judgments.grade": 3}
    columns |= {"run.query": 1, "run.doc": 2, "run.rank": 3}
    for name, call in calls(judgments, run, columns, tmp_path).items():
        found = call()
        if name == "evaluate":
            assert found["nDCG@10"] == pytest.approx(VALUE, abs=1e-15)
    written = gf.evaluate(tmp_path / "out.qrels", tmp_path / "out.run", "nDCG")["nDCG"]
    assert written == pytest.approx(VALUE, abs=1e-15)
    for wrong in ({"judgments.doc": "item"}, {"run.rank": 4}, {"run.query": "user"}):
        side = next(iter(wrong)).partition(".")[0]
        for name, call in calls(judgments, run, {**columns, **wrong}, tmp_path).items():
            if name == {"run": "judgments", "judgments": "run"}[side]:
                continue
            with pytest.raises(gf.errors.InputError, match=r"one is a number|column number 4"):
                call()
    unused = calls(dicts(GRADES), dicts(SCORES), {"run.doc": "x", "judgments.doc": "y"}, tmp_path)
    for call in unused.values():
        with pytest.raises(gf.errors.InputError, match="an input with columns"):
            call()


@pytest.mark.parametrize("given", [{"query": "1", "doc": "3", "grade": "2"}, {"grade": "stars"}])
@pytest.mark.parametrize("place", range(4))
def test_columns_are_honoured_or_refused_where_the_first_line_is_no_utf_8(given, place, tmp_path):
    """Four fields are those of TREC judgments, but not where columns are named."""
    fields = [b"q", b"2.0", b"a", b"0"]
    fields[place] += b"\xb2"
    path = tmp_path / "judgments"
    path.write_bytes(b"\t".join(fields) + b"\nq\t1\tb\t0\n")
    with pytest.raises(gf.errors.InputError, match=r":1: expected UTF-8 text, found .*\\xb2"):
        gf.evaluate(path, {"q": {"a": 1.0}}, columns=given)


@pytest.mark.parametrize("line", [b'q1\t2\t"a\t0\n', b'"q1"x\t2\ta\t0\n'])
def test_columns_by_number_need_quotes_around_whole_fields(line, tmp_path):
    """They are not taken for lines of words, whose quotes mean nothing."""
    file = tmp_path / "mine.tsv"
    file.write_bytes(line + b"q1\t1\tb\t0\n")
    columns = {"judgments.query": "1", "judgments.doc": "3", "judgments.grade": "2"}
    with pytest.raises(gf.errors.InputError, match="quote"):
        gf.evaluate(file, {"q1": {"a": 1, "b": 2}}, columns=columns)
