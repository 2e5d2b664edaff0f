"""What the engine may use of the machine: memory, cores, and a folder that is left empty."""

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from types import SimpleNamespace

import duckdb
import numpy as np
import pytest

import gainful as gf
from gainful.matching.reader import reading
from gainful.rows.duckdb_engine import EngineError, Session, _close_idle, _idle
from same_matched import assert_same

pytestmark = pytest.mark.usefixtures("on_engine")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Judgments and a run of a million rows, with ties, in no order of queries."""
    folder = tmp_path_factory.mktemp("large")
    with duckdb.connect() as connection:
        rows = connection.sql(
            "SELECT 'q' || (i % 3000) AS query, 'document-' || i AS doc, i FROM range(1200000) t(i)"
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
    for engine in (None, gf.Engine(memory="80MB", threads=2, folder=tmp_path)):
        with reading(large[0], policy, {"engine": engine}) as reader:
            found.append(reader.match(large[1], depth)[0])
    assert_same(*found)
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_is_said(large, tmp_path):
    with pytest.raises(gf.errors.InputError, match="Raise the memory limit"):
        gf.evaluate(*large, "nDCG", policy=gf.Policy(ties="order"),
                    engine=gf.Engine(memory="4MB", folder=tmp_path))  # fmt: skip
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("memory", ["lots", "", "4", "0GB", "-1GB", "GB", "4 XB", 4, True])
def test_sizes_that_are_none(memory, tmp_path):
    run = tmp_path / "run"
    run.write_text("q Q0 a 1 1 t\n")
    said = re.escape(f"engine, memory: expected a size such as '4GB', found {memory!r}")
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate({"q": {"a": 1}}, run, engine=gf.Engine(memory=memory))
    with pytest.raises(gf.errors.InputError, match=said):  # also where it is not needed
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, engine=gf.Engine(memory=memory))


@pytest.mark.parametrize("size", ["lots", "", "4", "0GB", "-1GB", 4, True])
def test_sizes_of_what_is_unpacked_that_are_none(size):
    with pytest.raises(
        gf.errors.InputError, match="engine, unpacked: expected a size such as '4GB'"
    ):
        gf.Engine(unpacked=size)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, 10**9, 10**30])
def test_numbers_of_threads_that_are_none(threads):
    with pytest.raises(
        gf.errors.InputError, match="engine, threads: expected a whole number from 1"
    ):
        gf.Engine(threads=threads)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(gf.errors.InputError, match="engine, folder: expected a directory"):
        gf.Engine(folder=tmp_path / "nowhere")
    with pytest.raises(
        gf.errors.InputError, match=r"engine: expected a gainful\.Engine, found '4GB'"
    ):
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, engine="4GB")


def test_options_of_the_command_line(cli, tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q 0 a 1\n")
    run.write_text("q Q0 a  1 1 t\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    call = ("evaluate", qrels, run, "-f", "csv")
    done = cli(
        *call, "--memory", "100MB", "--threads", "1", "--temp-dir", temporary, "--unpacked", "1GB"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == cli(*call).stdout
    assert list(temporary.iterdir()) == []
    for wrong in (
        ("--memory", "lots"),
        ("--unpacked", "lots"),
        ("--threads", "0"),
        ("--temp-dir", tmp_path / "nowhere"),
    ):
        done = cli(*call, *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_nothing_is_left_by_threads_that_fail(tmp_path):
    run = tmp_path / "run.csv"
    run.write_text("query,doc,score\nq,a,1\nq,b,x\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    with pytest.raises(gf.errors.InputError):
        gf.evaluate({"q": {"a": 1}}, run, engine=gf.Engine(folder=folder))
    assert list(folder.iterdir()) == []


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """What a handler of a signal raises."""


@pytest.fixture
def handled():
    """Have a signal raise, as Ctrl-C does."""

    def stop(*_):
        raise Stopped

    before = signal.signal(signal.SIGUSR1, stop)
    yield
    signal.signal(signal.SIGUSR1, before)


def engine_threads():
    return [thread for thread in threading.enumerate() if thread.name == "gainful engine"]


ENDLESS = "SELECT sum(hash(i)) FROM range(10_000_000_000_000) t(i)"


@pytest.mark.parametrize("ask", [Session.execute, Session.rows, Session.columns])
def test_a_signal_stops_a_query(handled, ask, tmp_path):
    session = Session(gf.Engine(folder=tmp_path))
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    with session, pytest.raises(Stopped):
        ask(session, ENDLESS)
    assert list(tmp_path.iterdir()) == []
    for thread in engine_threads():
        thread.join(10)
    assert engine_threads() == []


def test_a_progress_that_fails_stops_a_query(tmp_path):
    def fail(*_):
        raise Stopped

    with Session(gf.Engine(folder=tmp_path), fail) as session, pytest.raises(Stopped):
        session.execute(ENDLESS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("signals", [1, 2])
def test_a_query_that_does_not_stop_is_left_to_itself(handled, signals, tmp_path, monkeypatch):
    """After a while, or at once where a second signal comes."""
    monkeypatch.setattr("gainful.rows.duckdb_engine._PATIENCE", 0.2 if signals == 1 else 1e9)
    go_on = threading.Event()

    def work():
        os.kill(os.getpid(), signal.SIGUSR1)
        go_on.wait()

    def interrupt():
        if signals > 1:
            signal.raise_signal(signal.SIGUSR1)

    session = Session(gf.Engine(folder=tmp_path))
    assert session.folder.exists()
    # Without `close`, which would wait.
    session._connection = SimpleNamespace(interrupt=interrupt)
    with session, pytest.raises(Stopped):
        session._done(work)
    assert list(tmp_path.iterdir()) == []
    go_on.set()
    for thread in engine_threads():
        thread.join(10)
    assert engine_threads() == []


def test_nothing_is_loaded_by_what_a_file_is_named():
    with Session() as session:
        settings = session.rows(
            "SELECT value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"
        )
        assert settings == [("false",), ("false",)]
        loaded = session.rows("SELECT extension_name FROM duckdb_extensions() WHERE loaded")
        assert {("json",), ("parquet",)} <= set(loaded)


@pytest.fixture
def small(tmp_path):
    """A small file that the engine reads: ids that span lines are not plain."""
    (tmp_path / "a.csv").write_text('query,doc,score\nq,"c\nd",0\nq,a,1\nq,b,2\n')
    return tmp_path / "a.csv"


@pytest.fixture
def opened(monkeypatch):
    """Count the databases that are opened, the first of them because none is left from before."""
    _close_idle()
    made, connect = [], duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda **given: made.append(given) or connect(**given))
    yield made
    _close_idle()


def test_brief_sessions_share_a_database_and_nothing_in_it(opened, tmp_path):
    for turn in range(3):
        with Session(gf.Engine(folder=tmp_path)) as session:
            name = session.register("frame", {"a": np.array([turn])})
            session.execute(f"CREATE TEMP TABLE made_1 AS FROM {name}")
            assert session.rows("FROM made_1") == [(turn,)]
            assert session.rows("SELECT current_setting('temp_directory')") == [
                (str(session._spilled),)
            ]
        with Session(gf.Engine(threads=3)) as session:
            for table in ("made_1", name):
                with pytest.raises(EngineError):
                    session.rows(f"FROM {table}")
            assert session.rows("SELECT current_setting('threads')") == [(3,)]
        with Session() as session:
            (threads,) = session.rows("SELECT current_setting('threads')")[0]
            assert threads == os.cpu_count()
    assert len(opened) == 1
    assert list(tmp_path.iterdir()) == []


def test_sessions_at_the_same_time_have_a_database_each(opened):
    with Session() as one, Session() as other:
        for number, session in enumerate((one, other)):
            session.execute(f"CREATE TEMP TABLE made_1 AS SELECT {number} AS a")
        assert (one.rows("FROM made_1"), other.rows("FROM made_1")) == ([(0,)], [(1,)])
    assert len(opened) == 2
    assert len(_idle) == 1


def test_an_error_in_an_input_leaves_the_database_and_another_does_not(opened, small):
    small.write_text("query,doc,score\nq,a,1\nq,b,much\n")
    for _ in range(2):
        with pytest.raises(gf.errors.InputError, match="much"):
            gf.evaluate({"q": {"a": 1}}, small)
    assert (len(opened), len(_idle)) == (1, 1)
    for problem in (KeyboardInterrupt, ValueError):
        with suppress(problem), Session() as session:
            session.execute("SELECT 1")
            raise problem
        assert _idle == []


def test_how_the_engine_writes_is_not_left(opened, small, tmp_path):
    setting = "SELECT current_setting('async_threads')"
    with Session() as session:
        usual = session.rows(setting)
    for _ in range(2):
        gf.write_run(small, tmp_path / "b.parquet")
        with Session() as session:
            assert session.rows(setting) == usual
            session.prepare_writing()
            assert session.rows(setting) == [(0,)] != usual
    assert len(opened) == 1


def test_what_was_long_or_changed_is_not_left(opened, small, monkeypatch):
    gf.evaluate({"q": {"a": 1}}, small, engine=gf.Engine(memory="1GB"))
    assert _idle == []
    with Session() as session:
        session.execute("SELECT 1")
        session._spilled.mkdir()
    assert _idle == []
    monkeypatch.setattr("gainful.rows.duckdb_engine._BRIEF", 0.0)
    gf.evaluate({"q": {"a": 1}}, small)
    assert _idle == []


def test_a_database_that_an_error_has_ended_is_not_used_again(opened, small):
    gf.evaluate({"q": {"a": 1}}, small)
    _idle[0].close()
    assert gf.evaluate({"q": {"a": 1}}, small, "P@2")["P@2"] == 0.5
    assert len(opened) == 2


@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_copy_of_the_process_has_no_database_of_another(opened, small):
    gf.evaluate({"q": {"a": 1}}, small)
    assert len(_idle) == 1
    child = os.fork()
    if child == 0:  # which must leave without pytest's goodbyes
        value = gf.evaluate({"q": {"a": 1}}, small, "P@2")["P@2"]
        os._exit(0 if value == 0.5 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert _idle == []


def test_nothing_is_said_at_the_end_of_a_process():
    # Overloads, of which this module has some, outlive all modules.
    code = "import gainful as gf; gf.pool({'one': [('q', 'a', 1.0)]}, depth=2)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("", "")
