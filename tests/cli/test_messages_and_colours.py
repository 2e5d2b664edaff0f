"""Messages: one style for every error, colours and lines for terminals alone, and words that stay whole."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import gainful as gf
from gainful.cli.commands import commands

DEMO = Path(gf.__file__).parent / "cli" / "demo_files"
COMPARE = ("compare", "judgments.csv", "keyword.csv", "hybrid.csv", "--resamples", "99")
GREEN, RED, YELLOW = "\x1b[32m{}\x1b[0m", "\x1b[31m{}\x1b[0m", "\x1b[33m{}\x1b[0m"


def on_terminal(*arguments, columns=60, **environment):
    """Call the command line in a process on a terminal; return what the terminal got."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    usual = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    work = subprocess.Popen(
        [sys.executable, "-m", "gainful", *map(str, arguments)],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=DEMO,
        env={**usual, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the end of a terminal
            break
        if not part:
            break
        text += part
    work.wait()
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def test_better_and_worse_are_coloured_on_a_terminal_alone(process, monkeypatch):
    monkeypatch.chdir(DEMO)
    shown = on_terminal(*COMPARE)
    assert f"hybrid is {GREEN.format('better')} than keyword" in shown
    assert f"+0.1903   {GREEN.format('better')}\n" in shown
    worse = on_terminal(
        "compare", "judgments.csv", "hybrid.csv", "keyword.csv", "--resamples", "99"
    )
    assert f"keyword is {RED.format('worse')} than hybrid" in worse
    for text in (on_terminal(*COMPARE, NO_COLOR="1"), on_terminal(*COMPARE, TERM="dumb")):
        assert "better" in text
        assert "\x1b[32m" not in text
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b" not in process(*COMPARE).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert GREEN.format("better") in process(*COMPARE).stdout
    assert "\x1b" not in process(*COMPARE, "-f", "json").stdout


def test_errors_and_warnings_are_coloured_and_broken_between_words():
    shown = on_terminal("evaluate", "judgments.csv", "judgments.csv")
    lines = shown.strip().split("\n")
    assert lines[0].startswith(RED.format("gainful: error:"))
    plain = [re.sub(r"\x1b\[\d+m", "", line) for line in lines]
    assert len(plain) > 2
    assert max(map(len, plain)) <= 60
    assert "This looks like judgments" in " ".join(line.strip() for line in plain)
    path = f"/none/{'deep/' * 20}judgments.qrels"
    assert path in on_terminal("evaluate", path, "run.csv")


def test_a_warning_is_yellow(tmp_path):
    judgments, run = tmp_path / "j.qrels", tmp_path / "r.run"
    judgments.write_text("q1 0 a 1\nq1 0 b 0\n")
    run.write_text("q1 Q0 x 1 1 t\n")
    assert YELLOW.format("gainful: warning:") in on_terminal("evaluate", judgments, run)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalute"], "No such command 'evalute'. Did you mean 'gainful evaluate'?"),
        (["--nope"], "No such option '--nope'. See `gainful --help`."),
        (
            ["evaluate"],
            "Missing argument '[JUDGMENTS] RUN [RUN]...'. See `gainful evaluate --help`.",
        ),
        (
            ["evaluate", "--mesure", "x"],
            "No such option '--mesure'. Did you mean '--measure'? See `gainful evaluate --help`.",
        ),
        (["dialects", "--formt", "csv"], "No such option '--formt'. Did you mean '--format'?"),
        (
            ["compare", "a", "b", "-m"],
            "Option '-m' requires an argument. See `gainful compare --help`.",
        ),
        (
            ["compare", "a", "b", "c", "--test", "wilcoxn"],
            "Invalid value for '--test': found 'wilcoxn'. Did you mean 'wilcoxon'? Choices: t, ",
        ),
        (["compare", "a", "b", "c", "--level", "x"], "'x' is not a valid number."),
        (["compare", "a", "b", "c", "--level", "2"], "2.0 is not in the range 0<x<1."),
        (["evaluate", "none.qrels", "none.run"], "none.qrels: expected a file"),
        (["compare", "a", "b", "c", "--junit", "x.xml"], "--junit requires --fail-if"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_every_error_has_one_style(cli, arguments, message):
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gainful: error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr.replace("python -m gainful", "gainful").replace(
        "pytest", "gainful"
    )


@pytest.mark.parametrize("name", sorted({*commands.list_commands(None)} - {"trec_eval"}))
def test_every_command_reports_an_unknown_option_in_that_style(cli, name):
    done = cli(name, "--no-such-thing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gainful: error: ")
    assert "--no-such-thing" in done.stderr


def test_help_breaks_no_option_at_its_hyphens(cli):
    for name in ("evaluate", "compare", "collect"):
        for text in (cli(name, "--help").stdout, cli("help", name).stdout):
            assert not re.search(r"\w-\n", text)
            assert "\u2011" not in text
