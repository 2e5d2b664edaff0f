"""Progress: told while work goes on, shown on a terminal alone."""

import io
import sys
import threading
import time
from types import SimpleNamespace

import pytest

import gainful as gf
from gainful.cli import main as process
from gainful.rows import spark_engine


def test_progress_is_told_for_every_run(tmp_path):
    qrels = tmp_path / "qrels.csv"
    qrels.write_text("query,doc,grade\nq,a,1\n")
    told = []
    runs = {"one": {"q": {"a": 1}}, "two": {"q": {"a": 2}}}
    gf.evaluate_runs(qrels, runs, progress=lambda share, name: told.append((share, name)))
    assert [(share, name) for share, name in told if share in (0.5, 1.0)] == [
        (0.5, "one"),
        (1.0, "two"),
    ]
    told.clear()
    gf.evaluate(qrels, runs["one"], progress=lambda *what: told.append(what))
    assert told[-1] == (1.0, "run")


class Terminal(io.StringIO):
    """What is written to a terminal, or to what is none."""

    def __init__(self, *, is_one):
        super().__init__()
        self.is_one = is_one

    def isatty(self):
        return self.is_one


@pytest.mark.parametrize("patience", [0, 60])
def test_a_bar_on_a_terminal_after_a_while(monkeypatch, patience):
    terminal = Terminal(is_one=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(process, "_PATIENCE", patience)
    with process.progress_bar() as tell:
        for share in (0.25, 0.75, 0.1):  # the bar does not go back
            tell(share, "mine")
    assert ("75%" in terminal.getvalue()) == (patience == 0)
    assert ("mine" in terminal.getvalue()) == (patience == 0)


def test_what_is_waited_for_is_shown_though_nothing_more_is_told(monkeypatch):
    """The start of another program tells nothing until it is done."""
    terminal = Terminal(is_one=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(process, "_PATIENCE", 0.05)
    with process.progress_bar() as tell:
        tell(0.0, "Spark starts")
        until = time.monotonic() + 20
        while "Spark starts" not in terminal.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert "Spark starts" in terminal.getvalue()


def test_a_start_of_spark_is_told_before_it_is_waited_for(monkeypatch):
    told = []
    before = []

    def read(engine, judgments, runs):
        before.extend(told)
        return judgments, runs

    monkeypatch.setattr(gf.Spark, "read", read)
    for runs in ({"one": {"q": {"a": 1}}}, {name: {"q": {"a": 1}} for name in ("one", "two")}):
        gf.evaluate_runs(
            {"q": {"a": 1}},
            runs,
            engine=gf.Spark(master="local[2]"),
            progress=lambda share, name: told.append((share, name)),
        )
    start = "starting Spark and Java"
    assert before[0] == (0.0, start)
    assert before[-1] == (0.0, f"one: {start}")


class Tracker:
    """As Spark tells of its stages: name and number of tasks, and how many are done."""

    def __init__(self, stages):
        self.stages = stages

    def getActiveStageIds(self):  # noqa: N802 - as Spark has it
        return list(self.stages)

    def getStageInfo(self, stage):  # noqa: N802
        if self.stages[stage] is None:
            raise ConnectionError("the session has ended")
        done, tasks = self.stages[stage]
        return SimpleNamespace(numTasks=tasks, numCompletedTasks=done)


def test_stages_are_counted_as_they_come():
    look, seen = spark_engine._progress, set()
    assert look(None, seen) is None
    assert look(Tracker({}), seen) is None
    assert look(Tracker({7: (1, 4)}), seen) == (1 / 4 / 8, "Spark, stage 1: 1 of 4 tasks")
    found = look(Tracker({7: (4, 4), 9: (0, 2)}), seen)
    assert found == (1 / 8, "Spark, stage 2: 0 of 2 tasks")
    assert look(Tracker({11: None}), seen) is None
    for number in range(20, 40):
        share, _ = look(Tracker({number: (2, 2)}), seen)
    assert share == 1.0  # with more stages than usual, it never goes beyond


def test_stages_are_told_while_a_call_waits(monkeypatch):
    monkeypatch.setattr(spark_engine, "_EVERY", 0.01)
    monkeypatch.setattr(spark_engine, "_tracker", lambda: Tracker({1: (1, 2)}))
    told = threading.Event()
    heard = []

    def tell(share, step):
        heard.append((share, step))
        told.set()

    with spark_engine.telling_stages(tell):
        assert told.wait(20)
    count = len(heard)
    assert heard[0] == (1 / 16, "Spark, stage 1: 1 of 2 tasks")
    assert len(heard) == count  # and nothing after it
    with spark_engine.telling_stages(None):
        pass


def test_names_neither_steer_the_terminal_nor_style_the_bar(monkeypatch):
    terminal = Terminal(is_one=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(process, "_PATIENCE", 0)
    with process.progress_bar() as tell:
        tell(0.5, "a\x1b[5mb\n[bold]c[/nothing]")
    assert r"a\x1b[5mb\n[bold]c[/nothing]" in terminal.getvalue()
    assert "\x1b[5m" not in terminal.getvalue()


def test_no_bar_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal(is_one=False))
    with process.progress_bar() as tell:
        assert tell is None
