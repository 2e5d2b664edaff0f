"""Tables that are no files here: every message names code that works, and the tests run that code."""

import sqlite3
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUN = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
ROWS = pa.table({"query": ["q1", "q2"], "doc": ["a", "b"], "score": [1.0, 1.0], "part": ["x", "y"]})
USES = {
    "run": lambda given: gf.evaluate(JUDGMENTS, given, "nDCG"),
    "judgments": lambda given: gf.evaluate(given, RUN, "nDCG", columns={"judgments.grade": "score"}),
    "slices": lambda given: gf.evaluate(JUDGMENTS, RUN, "nDCG", slices=given),
}  # fmt: skip
PATHS = {**USES, "runs": lambda given: gf.evaluate_runs(JUDGMENTS, [given], "nDCG")}
COPY = "Copy the file to this machine first, or pass a data frame in Python."
ADDRESSES = {
    "s3://lake/run.parquet": COPY,
    "s3://lake/run/*.parquet": COPY,
    "hdfs:///data/bm25.run": COPY,
    "https://example.com/bm25.run": COPY,
    "sftp://host/bm25.run": COPY,
    "mysql://host/db": "pandas.read_sql('SELECT * FROM my_table', connection)",
    "postgresql://host/db": "Name its table: postgresql://host/db::my_table.",
    "postgresql+psycopg://host/db": "write the table to a CSV or Parquet file first",
    "file:///data/bm25.run": "Write the path without file://.",
    "sqlite:///wh.db": "Write the path without sqlite://.",
}


@pytest.mark.parametrize("use", PATHS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses(address, use):
    for given in (address, Path(address)):  # a path makes one slash of two or three
        with pytest.raises(gf.errors.InputError, match="address") as problem:
            PATHS[use](given)
        assert ADDRESSES[address] in str(problem.value)
        assert "found none" not in str(problem.value)


def test_addresses_on_the_command_line(cli, files):
    judgments = files("judgments.qrels", "q1 0 a 1\n")
    for address, advice in ADDRESSES.items():
        done = cli("evaluate", judgments, address)
        assert done.returncode == 2
        assert advice in done.stderr


@pytest.mark.parametrize("address", [
    "postgresql://user:hidden@host/db", "https://user:hidden@host/run.txt", "s3://lake/run.csv?key=hidden",
])  # fmt: skip
def test_no_password_is_printed(address):
    with pytest.raises(gf.errors.InputError) as problem:
        gf.evaluate(JUDGMENTS, address, "nDCG")
    assert "hidden" not in str(problem.value)


def test_a_file_whose_name_looks_like_an_address_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s3:").mkdir()
    Path("s3:/bm25.run").write_text("q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\n")
    assert gf.evaluate(JUDGMENTS, "s3://bm25.run", "nDCG")["nDCG"] == 1.0


@pytest.fixture
def databases(tmp_path):
    with duckdb.connect(tmp_path / "wh.duckdb") as connection:
        connection.register("rows", ROWS)
        connection.execute("CREATE TABLE my_table AS FROM rows")
    connection = sqlite3.connect(tmp_path / "wh.db")
    ROWS.to_pandas().to_sql("my_table", connection, index=False)
    connection.close()
    return tmp_path


@pytest.mark.parametrize("use", PATHS)
@pytest.mark.parametrize("name", ["wh.duckdb", "wh.db"])
def test_files_of_databases(databases, name, use):
    path = str(databases / name)
    with pytest.raises(gf.errors.InputError) as problem:
        PATHS[use](path)
    address = str(problem.value).partition("Name its table: ")[2].removesuffix(".")
    result = PATHS[use](address)
    if use != "runs":
        assert result["nDCG"] == 1.0


def test_objects_that_hold_a_table(tmp_path):
    pq.write_table(ROWS, tmp_path / "run.parquet")
    connection = sqlite3.connect(":memory:")
    ROWS.to_pandas().to_sql("my_table", connection, index=False)
    engine = duckdb.connect()
    engine.register("my_table", ROWS)
    dataset = pyarrow.dataset.dataset(tmp_path / "run.parquet")
    held = {
        "dataset": (dataset, ["dataset.to_table()", "dataset.scanner().to_reader()"]),
        "scanner": (dataset.scanner(), ["scanner.to_table()", "scanner.to_reader()"]),
        "duckdb": (engine, ["connection.sql('FROM my_table')"]),
        "sqlite": (connection, ["pandas.read_sql('SELECT * FROM my_table', connection)"]),
    }
    for name, (given, calls) in held.items():
        for use, evaluate in USES.items():
            with pytest.raises(gf.errors.InputError) as problem:
                evaluate(given)
            for call in calls:
                assert call in str(problem.value), (name, use)
                names = {"dataset": given, "scanner": given, "connection": given, "pandas": pd}
                assert evaluate(eval(call, names))["nDCG"] == 1.0, (name, call)  # noqa: S307
    connection.close()
