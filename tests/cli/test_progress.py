"""Progress: told while work goes on, shown on a terminal alone."""

import io
import sys

import pytest

import gainful as gf
from gainful.cli import progress


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
    shares = []
    gf.evaluate(qrels, runs["one"], progress=shares.append)
    assert shares[-1] == 1.0


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
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    with progress.progress_bar() as tell:
        for share in (0.25, 0.75, 0.1):  # the bar does not go back
            tell(share, "mine")
    assert ("75%" in terminal.getvalue()) == (patience == 0)
    assert ("mine" in terminal.getvalue()) == (patience == 0)


def test_names_neither_steer_the_terminal_nor_style_the_bar(monkeypatch):
    terminal = Terminal(is_one=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    with progress.progress_bar() as tell:
        tell(0.5, "a\x1b[5mb\n[bold]c[/nothing]")
    assert r"a\x1b[5mb\n[bold]c[/nothing]" in terminal.getvalue()
    assert "\x1b[5m" not in terminal.getvalue()


def test_no_bar_without_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal(is_one=False))
    with progress.progress_bar() as tell:
        assert tell is None
