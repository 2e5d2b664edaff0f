"""What the engine may use of the machine: memory, cores, and a folder that is left empty."""

import re

import duckdb
import pytest

import gainful as gf
from gainful.matching.dispatch import reading
from same_matched import assert_same


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Judgments and a run of some millions of rows, with ties, in no order of queries."""
    folder = tmp_path_factory.mktemp("large")
    with duckdb.connect() as connection:
        rows = connection.sql(
            "SELECT 'q' || (i % 3000) AS query, 'document-' || i AS doc, i FROM range(3000000) t(i)"
        )
        run = rows.project("query, doc, CAST((i * 7919) % 9973 AS DOUBLE) / 16 AS score")
        run.write_parquet(str(folder / "run.parquet"))
        judged = rows.filter("i % 97 = 0").project("query, doc, CAST(i % 4 AS DOUBLE) AS grade")
        judged.write_parquet(str(folder / "judgments.parquet"))
    return folder / "judgments.parquet", folder / "run.parquet"


@pytest.mark.parametrize("depth", [None, 10])
@pytest.mark.parametrize("ties", ["doc", "order"])
def test_little_memory_gives_the_same(large, depth, ties, tmp_path):
    found = []
    policy = gf.Policy(ties=ties)
    for engine in (None, gf.Engine(memory="200MB", threads=2, folder=tmp_path)):
        with reading(large[0], policy, engine=engine) as reader:
            found.append(reader.match(large[1], depth)[0])
    assert_same(*found)
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_is_said(large, tmp_path):
    with pytest.raises(gf.InputError, match="Raise the memory limit"):
        gf.evaluate(*large, "nDCG", policy=gf.Policy(ties="order"),
                    engine=gf.Engine(memory="4MB", folder=tmp_path))  # fmt: skip
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("memory", ["lots", "", "4", "0GB", "-1GB", "GB", "4 XB", 4, True])
def test_sizes_that_are_none(memory, tmp_path):
    run = tmp_path / "run"
    run.write_text("q Q0 a 1 1 t\n")
    said = re.escape(f"engine, memory: expected a size such as '4GB', found {memory!r}")
    with pytest.raises(gf.InputError, match=said):
        gf.evaluate({"q": {"a": 1}}, run, engine=gf.Engine(memory=memory))
    with pytest.raises(gf.InputError, match=said):  # also where it is not needed
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, engine=gf.Engine(memory=memory))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, 10**9, 10**30])
def test_numbers_of_threads_that_are_none(threads):
    with pytest.raises(gf.InputError, match="engine, threads: expected a whole number from 1"):
        gf.Engine(threads=threads)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(gf.InputError, match="engine, folder: expected a directory"):
        gf.Engine(folder=tmp_path / "nowhere")
    with pytest.raises(gf.InputError, match=r"engine: expected a gainful\.Engine, found '4GB'"):
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, engine="4GB")


def test_options_of_the_command_line(cli, tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q 0 a 1\n")
    run.write_text("q Q0 a  1 1 t\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    call = ("evaluate", qrels, run, "-f", "csv")
    done = cli(*call, "--memory", "100MB", "--threads", "1", "--temp-dir", temporary)
    assert done.returncode == 0, done.stderr
    assert done.stdout == cli(*call).stdout
    assert list(temporary.iterdir()) == []
    for wrong in (("--memory", "lots"), ("--threads", "0"), ("--temp-dir", tmp_path / "nowhere")):
        done = cli(*call, *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_nothing_is_left_by_threads_that_fail(tmp_path):
    run = tmp_path / "run.csv"
    run.write_text("query,doc,score\nq,a,1\nq,b,x\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    with pytest.raises(gf.InputError):
        gf.evaluate({"q": {"a": 1}}, run, engine=gf.Engine(folder=folder))
    assert list(folder.iterdir()) == []
