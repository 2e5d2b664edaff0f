"""Folders whose parts are in folders such as year=2026/month=01: read, with their columns, and written."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf

GRADED = "(VALUES ('2026','01','q1','a',1), ('2026','01','q1','b',0), ('2026','02','q1','b',2)) t(year, month, id, doc, grade)"
RANKED = "(VALUES ('2026','01','q1','a',0.3), ('2026','01','q1','b',0.5), ('2026','02','q1','b',0.1)) t(year, month, id, doc, score)"
KEY = {"query": "year,month,id"}
EXPECTED = {"2026/01/q1": {"RR": 0.5}, "2026/02/q1": {"RR": 1.0}}
COOKING = Path(__file__).parents[2] / "examples" / "cooking"


def write(select, folder, *columns):
    """Write a query, whose FROM is {graded} or {ranked}, to a folder."""
    select = select.format(graded=GRADED, ranked=RANKED)
    options = f"FORMAT parquet, PARTITION_BY ({', '.join(columns)})"
    duckdb.connect().execute(f"COPY ({select}) TO '{folder}' ({options})")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("FROM {graded}", "qrels", "year", "month")
    write("FROM {ranked}", "run", "year", "month")
    return tmp_path


@pytest.mark.parametrize(
    "run", ["run", "run/", "run/**/*.parquet", "run/year=2026/month=*/*.parquet"]
)
@pytest.mark.parametrize("judgments", ["qrels", "qrels/year=2026"])
def test_keys_are_drawn_from_the_names_of_folders(folder, judgments, run):
    scores = gf.evaluate(judgments, run, "RR", columns=KEY)
    assert scores.per_query.to_dict() == EXPECTED
    absolute = gf.evaluate(folder / judgments, folder / run, "RR", columns=KEY)
    assert absolute.per_query.to_dict() == EXPECTED


def test_commands_read_them(folder, cli):
    done = cli(
        "evaluate",
        "qrels",
        "run",
        "-m",
        "RR",
        "--columns",
        "query=year,month,id",
        "-f",
        "csv",
        "--per-query",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["run,2026/01/q1,0.5", "run,2026/02/q1,1.0"]
    assert cli("check", "qrels", "run", "--columns", "query=year,month,id").returncode == 0


def test_a_folder_for_each_query(folder):
    """Ids keep their zeros, and characters that file names can't contain."""
    write("SELECT month || '/ä b' AS query, doc, grade FROM {graded}", "q", "query")
    write("SELECT month || '/ä b' AS query, doc, score FROM {ranked}", "r", "query")
    assert gf.evaluate("q", "r", "RR").per_query.to_dict() == {
        "01/ä b": {"RR": 0.5},
        "02/ä b": {"RR": 1.0},
    }


def test_a_missing_query_is_an_error(folder):
    write(
        "SELECT CASE WHEN month = '01' THEN 'q' END AS query, doc, score FROM {ranked}",
        "r",
        "query",
    )
    with pytest.raises(gf.errors.InputError, match="expected an id as query, found nothing"):
        gf.evaluate({"q": {"a": 1}}, "r", "RR")


def test_side_tables_have_such_folders_too(folder):
    write(
        "FROM (VALUES ('q1', 'x', '2026'), ('q2', 'y', '2025')) t(query, kind, year)",
        "slices",
        "year",
    )
    judgments = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 0.1}, "q2": {"a": 0.2}}
    scores = gf.evaluate(judgments, run, "RR", slices="slices")
    assert {(one.column, one.value) for one in scores.slices if one.column == "year"} == {
        ("year", "2026"),
        ("year", "2025"),
    }


def test_folders_whose_names_differ_are_read_as_before(folder):
    for place in ("odd/part=1", "odd/part=1/deep=2"):
        Path(place).mkdir(parents=True)
        table = pa.table({"query": [f"q{len(place)}"], "doc": ["a"], "score": [0.5]})
        pq.write_table(table, f"{place}/x.parquet")
    assert len(gf.evaluate({"q10": {"a": 1}, "q17": {"a": 1}}, "odd", "RR").per_query) == 2


def test_a_file_alone_has_only_its_own_columns(folder):
    Path("rank=3").mkdir()
    table = pa.table({"query": ["q1", "q1"], "doc": ["a", "b"], "score": [0.3, 0.5]})
    pq.write_table(table, "rank=3/x.parquet")
    assert gf.evaluate({"q1": {"a": 1}}, "rank=3/x.parquet", "RR")["RR"] == 0.5


RUNS = (COOKING / "keyword.run", COOKING / "hybrid.run")


def test_scores_of_many_runs_are_written_and_compared(folder, cli):
    measure = ("-m", "nDCG@10")
    judgments = COOKING / "judgments.qrels"
    done = cli(
        "evaluate",
        judgments,
        *RUNS,
        *measure,
        "--per-query",
        "-o",
        "scores/",
        "--partition-by",
        "run",
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path("scores").iterdir()) == ["run=hybrid", "run=keyword"]
    rows = (
        duckdb.connect()
        .sql("FROM read_parquet('scores/**/*.parquet') ORDER BY run, query")
        .fetchall()
    )
    expected = gf.evaluate_runs(judgments, RUNS, "nDCG@10").per_query
    assert sorted(rows) == sorted((row["query"], row["nDCG@10"], row["run"]) for row in expected)
    assert [*gf.inputs.find_runs("scores")] == ["hybrid", "keyword"]
    compared = gf.comparison.compare_scores("scores", baseline="keyword", resamples=99)
    direct = gf.compare(judgments, {run.stem: run for run in RUNS}, "nDCG@10", resamples=99)
    assert compared.differences[0].difference == pytest.approx(direct.differences[0].difference)
    assert cli("compare", "--scores", "scores", "--resamples", "99").returncode == 0


def test_runs_are_folders_in_a_folder(folder):
    write(
        "SELECT id AS query, doc, score, 'a b' AS system FROM {ranked} WHERE month = '01'",
        "runs",
        "system",
    )
    results = gf.evaluate_runs({"q1": {"a": 1}}, "runs", "RR")
    assert {name: scores["RR"] for name, scores in results.items()} == {"a b": 0.5}


def test_several_columns(folder, cli):
    done = cli(
        "evaluate", COOKING / "judgments.qrels", *RUNS, "--interval", "-o", "out",
        "--partition-by", "run", "--partition-by", "measure",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len([*Path("out").glob("run=*/measure=nDCG%4010/*.parquet")]) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--partition-by", "run"), "--partition-by requires --output"),
        (("-o", "scores/"), "scores/: to write a folder, pass --partition-by COLUMN."),
        (
            ("--partition-by", "run", "-o", "-"),
            "expected a new or empty folder, found standard output",
        ),
        (
            ("--partition-by", "run", "-o", "qrels"),
            "expected a new or empty folder, found one with files in it",
        ),
        (("--partition-by", "run", "-o", "none/x"), "none/x: expected a new or empty folder"),
        (("--partition-by", "ru", "-o", "x"), "Did you mean 'run'?"),
        (
            ("--partition-by", "run", "-o", "x", "-f", "csv"),
            "--partition-by writes Parquet, not csv",
        ),
    ],
)
def test_errors(folder, cli, words, message):
    before = sorted(folder.rglob("*"))
    done = cli("evaluate", COOKING / "judgments.qrels", RUNS[0], *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert sorted(folder.rglob("*")) == before


def test_python_says_what_is_wrong(folder):
    scores = gf.evaluate_runs(COOKING / "judgments.qrels", RUNS, "nDCG@10")
    Path("file").write_text("")
    for how, message in (
        (
            {"path": "x", "partition_by": "run", "format": "csv"},
            "expected parquet, because of partition_by",
        ),
        (
            {"path": "x", "partition_by": ["run", "nDCG@10"]},
            "expected at least one column for the files",
        ),
        ({"path": "file", "partition_by": "run"}, "expected a new or empty folder, found a file"),
    ):
        with pytest.raises(gf.errors.InputError, match=message):
            gf.writing.write_result(scores, **how)
    Path("empty").mkdir()
    gf.writing.write_result(scores, "empty", partition_by="run")
    assert {path.parent.name for path in Path("empty").rglob("*.parquet")} == {
        "run=keyword",
        "run=hybrid",
    }
