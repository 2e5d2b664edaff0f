"""Every command on a terminal: it does there what it does in a pipe, and its bar, if it has one, is shown."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf
import main_in_a_fork
from gainful.cli.commands import commands

EXAMPLES = Path(__file__).parents[2] / "examples"
J, RUNS = "judgments.qrels", ("keyword.run", "hybrid.run")
ANSWER = (
    "import json, sys\n"
    "for line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'skip': 'no time'}))\n"
)
SEARCH = "def search(query):\n    return [('a', 2.0), ('b', 1.0)]\n"
MODEL = (
    "def grade(prompt):\n    return 'grade: 1'\n"
    "def list_facts(prompt):\n    return 'vital: one\\nokay: two'\n"
    "def quote(prompt):\n"
    "    text = prompt.split('The text:\\n')[1].split('\\n\\nHow to copy')[0]\n"
    "    return f'passage: {text.strip()}'\n"
)
TEXTS = ("--queries", "queries.tsv", "--docs", "docs.tsv")
# The calls of each command, with the exit code that is expected if it is not 0.
CALLS = {
    "run": [("run", "queries.tsv", "--call", "search:search", "-o", "recorded.run")],
    "demo": [("demo",), ("demo", "one.csv", 2)],
    "evaluate": [
        ("evaluate", J, *RUNS, "-m", "nDCG@10"),
        ("evaluate", J, RUNS[0], "-m", "nDCG@10", "--bounds", "--grades", "0..3"),
        ("evaluate", J, RUNS[0], "-m", "nDCG@10", "-f", "csv", "-o", "scores.csv"),
        ("evaluate", J, RUNS[0], "-m", "nDCG@10", "-o", "scores.parquet"),
        ("evaluate", J, *RUNS, "-m", "nDCG@10", "-o", "scores", "--partition-by", "run"),
    ],
    "compare": [
        ("compare", J, *RUNS, "--resamples", "99"),
        ("compare", "--scores", "one.csv", "two.csv", "--resamples", "99"),
        ("compare", J, *RUNS, "--fail-if", "nDCG@10 < 2", 1),
    ],
    "leaderboard": [
        ("leaderboard", J, *RUNS, "--resamples", "99"),
        ("leaderboard", "--scores", "one.csv", "two.csv", "--resamples", "99"),
    ],
    "sql": [("sql", "nDCG@10"), ("sql", "ERR@10", 2)],
    "report": [("report", J, *RUNS, "--resamples", "99", "-o", "page.html")],
    "explain": [("explain", J, RUNS[0], "--query", "pad-thai", "-m", "nDCG@3")],
    "why": [("why", J, RUNS[1], "--dialects", "trec_eval,ir_measures")],
    "check": [("check", "truth.qrels"), ("check", J, RUNS[0], "--strict", 1)],
    "pool": [
        ("pool", *RUNS, "--depth", "2"),
        ("pool", *RUNS, "--judgments", J, "--budget", "3"),
    ],
    "judge": [
        ("judge", *RUNS, *TEXTS, "--no-open", "--port", "0", "--depth", "1"),
        (
            "judge",
            "new.run",
            "--queries",
            "sought.tsv",
            "--docs",
            "products.tsv",
            "--no-open",
            "--port",
            "0",
            "--depth",
            "3",
            "--order",
            "effect",
            "--clicks",
            "impressions.csv",
            "--columns",
            "clicks.doc=product",
        ),
    ],
    "agreement": [("agreement", J, "truth.qrels", "--resamples", "99")],
    "clicks": [
        ("clicks", "impressions.csv", "--columns", "doc=product"),
        ("clicks", "impressions.csv", "--columns", "doc=product", "-o", "clicks.qrels"),
        (
            "clicks",
            "impressions.csv",
            "--columns",
            "doc=product",
            "--show",
            "models",
            "--rounds",
            "9",
        ),
        ("clicks", "impressions.csv", "--columns", "doc=product", "--show", "positions"),
        ("clicks", "impressions.csv", "--columns", "doc=product", "--show", "log"),
        (
            "clicks",
            "impressions.csv",
            "--columns",
            "doc=product",
            "--show",
            "earnings",
            "--run",
            "new.run",
        ),
        ("clicks", "interleaved.csv", "--show", "preference"),
        ("clicks", "interleaved.csv", "--show", "preference", "--actions", "like=2", 2),
        ("clicks", "ubi_events.jsonl", "--show", "log", 2),
        ("clicks", "ubi_events.jsonl", "--lists", "ubi_queries.jsonl", "--model", "pbm"),
        ("clicks", *RUNS, "--interleave"),
    ],
    "collect": [
        ("collect", RUNS[0], "--depth", "1", *TEXTS, "--call", "model:grade", "-o", "model.csv"),
        ("collect", RUNS[0], "--depth", "1", *TEXTS, "--call", "model:quote", "--ask", "evidence"),
        (
            "collect",
            RUNS[0],
            "--depth",
            "1",
            *TEXTS,
            "--call",
            "model:list_facts",
            "--ask",
            "nuggets",
            "-o",
            "nuggets.csv",
        ),
        (
            "collect",
            RUNS[0],
            "--depth",
            "1",
            *TEXTS,
            "--call",
            "model:grade",
            "--ask",
            "support",
            "--nuggets",
            "facts.csv",
        ),
    ],
    "sample": [("sample", J, "--size", "5", "--design", "design.json")],
    "calibrate": [
        ("calibrate", "--human", "people.qrels", "--model", J, *RUNS, "--drawn-at-random")
    ],
    "merge": [("merge", J, "truth.qrels")],
    "fuse": [
        ("fuse", *RUNS, "-o", "fused.run"),
        ("fuse", *RUNS),
        ("fuse", *RUNS, "--judgments", J, "--k", "10,60", "--folds", "2", "-o", "tuned.run"),
        ("fuse", *RUNS, "-o", "refused.run", "--columns", "query=topic", 2),
    ],
    "recommend": [
        ("recommend", "lists.csv", "--items", "items.csv", "-m", "Coverage@2"),
        ("recommend", "lists.csv", "other.csv", "--history", "history.csv", "--compare"),
        (
            "recommend",
            "lists.csv",
            "--history",
            "history.csv",
            "--judgments",
            "liked.csv",
            "--debias",
            "ips",
        ),
    ],
    "history": [
        ("history", "add", "new.history", J, *RUNS, "--label", "v1"),
        ("history", "show", "old.history"),
        ("history", "show", "old.history", "--changes"),
        ("history", "page", "old.history", "-o", "page.html"),
        ("history", "show", "none.history", 2),
    ],
    "similar": [
        ("similar", *RUNS),
        ("similar", *RUNS, "--judgments", J, "-m", "nDCG@10 AP"),
        ("similar", RUNS[0], 2),
    ],
    "watch": [
        ("watch", J, *RUNS, "--store", "watched.duckdb", "--label", "v1", "--time", "2026-05-01"),
        ("watch", J, RUNS[0], "--store", "watched.duckdb", "--time", "2026-05-02"),
        ("watch", J, RUNS[0], "--store", "old.history", "--dry-run", "--time", "2026-05-09"),
        ("watch", J, RUNS[0], 2),
    ],
    "power": [("power", J, *RUNS, "--difference", "0.02")],
    "measures": [("measures",), ("measures", "nDCG")],
    "dialects": [("dialects",)],
    "conformance": [
        ("conformance", "--topic", "definition", sys.executable, "-S", "answer.py", 1),
        ("conformance", "--topic", "definition", "--print"),
    ],
    "convert": [
        ("convert", RUNS[0], "again.csv", "--as", "run"),
        ("convert", "history.csv", "held.csv", "--as", "judgments", "--hold-out", "random"),
    ],
    "config": [("config",)],
    "completion": [("completion", "zsh"), ("completion", "fish")],
    "help": [("help", "policy"), ("help", "evaluate")],
    "mcp": [("mcp", ".")],
    "trec_eval": [("trec_eval", J, RUNS[1]), ("trec_eval", J, "none.run", 2)],
}
# Those that serve until they are ended: what they print first, the key that ends them on a terminal, and
# whether a pipe is ended by a signal, or by the end of standard input.
SERVING = {"judge": ("/i/", "\x03"), "mcp": ("", "\x04")}
# Calls the command line on a terminal of 80 columns and in pipes, each in a fork: what takes time is to import it.
# Bars are shown at once. Standard output has a terminal of its own, so that a bar shows where it is written to.
FORKS = (
    main_in_a_fork.SOURCE
    + """
import fcntl, json, pty, select, signal, struct, termios, time
import duckdb, mcp.server, numpy, rich.progress, scipy.stats, gainful as gf
from gainful.cli import commands
from gainful.cli import main as process
for name in commands.commands.list_commands(None):
    commands.commands.get_command(None, name)
import gainful.reporting.report
process._PATIENCE = 0

def called(arguments, folder, serving, on_terminal):
    ends = [pty.openpty() for _ in range(2)] if on_terminal else [os.pipe() for _ in range(2)]
    child = os.fork()
    if not child:
        os.chdir(folder)
        os.setsid()
        mine = [theirs for _, theirs in ends]
        if on_terminal:
            for number in mine:
                fcntl.ioctl(number, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
            fcntl.ioctl(mine[1], termios.TIOCSCTTY, 0)
        os.dup2(mine[1] if on_terminal else os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(mine[0], 1)
        os.dup2(mine[1], 2)
        sys.stdin, sys.stdout, sys.stderr = (open(n, "rw"[n > 0], closefd=False) for n in range(3))
        exit_with_main(arguments)
    for _, theirs in ends:
        os.close(theirs)
    said = {ours: b"" for ours, _ in ends}
    output, messages = said
    open_ones, until = set(said), time.monotonic() + 30
    while open_ones:
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
        for ours in select.select([*open_ones], [], [], 1)[0]:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the end of a terminal
                part = b""
            said[ours] += part
            if not part:
                open_ones.discard(ours)
                os.close(ours)
        if serving and serving[0].encode() in said[output]:
            if on_terminal:
                os.write(messages, serving[1].encode())
            elif serving[0]:
                os.kill(child, signal.SIGINT)
            serving = None
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [code, *(text.decode(errors="replace") for text in said.values())]

for arguments, serving in json.load(sys.stdin):
    print(json.dumps([called(arguments, name, serving, name == "terminal") for name in ("pipe", "terminal")]))
"""
)
_STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of all calls, once for those in pipes and once for those on a terminal."""
    folder = tmp_path_factory.mktemp("calls")
    for name in ("pipe", "terminal"):
        place = folder / name
        place.mkdir()
        for path in (EXAMPLES / "cooking").glob("*.*"):
            if path.suffix != ".toml":
                shutil.copy(path, place)
        for path in (EXAMPLES / "clicks").glob("*.*"):
            shutil.copy(path, place)
        log = gf.behaviour.read_log(place / "impressions.csv", columns={"doc": "product"})
        for name, ids in (("sought", log.queries), ("products", log.docs)):
            (place / f"{name}.tsv").write_text("".join(f"{i}\tAbout {i}\n" for i in sorted({*ids})))
        judgments = (place / J).read_text()
        (place / "truth.qrels").write_text(judgments.replace(" -1\n", " 0\n"))
        graded = judgments.splitlines(keepends=True)
        some = sorted({line.split()[0] for line in graded})[:8]
        (place / "people.qrels").write_text(
            "".join(line for line in graded if line.split()[0] in some)
        )
        (place / "search.py").write_text(SEARCH)
        (place / "answer.py").write_text(ANSWER)
        (place / "model.py").write_text(MODEL)
        queries = (place / "queries.tsv").read_text().splitlines()
        facts = [f"{line.split(chr(9))[0]},a fact\n" for line in queries]
        (place / "facts.csv").write_text(f"query,nugget\n{''.join(facts)}")
        for day, run in enumerate(RUNS, 1):
            scores = gf.evaluate(place / J, place / run, "nDCG@10")
            gf.history.add(place / "old.history", scores, time=f"2026-05-0{day}")
        (place / "lists.csv").write_text("query,doc,score\nu,a,2\nu,b,1\nv,a,2\nv,c,1\n")
        (place / "other.csv").write_text("query,doc,score\nu,c,2\nu,b,1\nv,b,2\nv,c,1\n")
        (place / "items.csv").write_text("item,genre\na,jazz\nb,rock\nc,jazz\nd,folk\n")
        (place / "liked.csv").write_text("user,item\nu,b\nv,a\n")
        (place / "history.csv").write_text("user,item\nu,a\nu,d\nv,a\nv,b\n")
        for name, shift in (("one", 0.0), ("two", 0.01)):
            rows = [f"q{i},{(i % 7) / 10 + shift * (i % 5)}\n" for i in range(20)]
            (place / f"{name}.csv").write_text(f"query,nDCG@10\n{''.join(rows)}")
    return folder


def parted(call):
    """Return the words of a call, and the exit code that is expected."""
    return (call[:-1], call[-1]) if isinstance(call[-1], int) else (call, 0)


@pytest.fixture(scope="module")
def done(folder):
    """What all calls did, in a pipe and on a terminal: exit code, standard output and standard error."""
    calls = [call for each in CALLS.values() for call in each]
    given = json.dumps([(parted(call)[0], SERVING.get(call[0])) for call in calls])
    work = subprocess.run(
        [sys.executable, "-c", FORKS], input=given, capture_output=True, text=True, cwd=folder
    )
    assert work.returncode == 0, work.stderr
    answers = [json.loads(line) for line in work.stdout.splitlines()]
    return dict(zip(calls, answers, strict=True))


def plain(printed):
    """Return what a terminal was sent as a pipe has it."""
    return _STEERING.sub("", printed).replace("\r\n", "\n")


def test_every_command_has_a_call():
    assert sorted(CALLS) == sorted(commands.list_commands(None))
    assert all(call[0] == name for name, calls in CALLS.items() for call in calls)


@pytest.mark.parametrize(
    "call",
    [call for calls in CALLS.values() for call in calls],
    ids=lambda call: " ".join(str(word) for word in call if word != sys.executable),
)
def test_a_terminal_changes_nothing_but_bars_and_colours(done, call):
    (piped, output, messages), (code, shown, told) = done[call]
    assert [piped, code] == [parted(call)[1]] * 2, (messages, told)
    assert "Traceback" not in output + messages + shown + told
    assert "this is a bug" not in messages + told
    if call[0] != "judge":  # whose links are new each time
        assert plain(shown) == output
    assert "━" not in output + messages + shown  # bars are for people, beside the data


WITH_BARS = {
    "clicks", "demo", "evaluate", "compare", "report", "leaderboard", "power", "pool", "collect", "calibrate", "run", "fuse", "recommend",
    "history", "similar", "watch",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_command_with_a_bar_shows_it(done, name):
    assert (name in WITH_BARS) == any("━" in done[call][1][2] for call in CALLS[name])


def test_the_files_are_the_same(folder, done):
    files = [
        {path.name for path in (folder / name).iterdir() if not path.is_dir()}
        for name in ("pipe", "terminal")
    ]
    assert files[0] == files[1]
    assert {"fused.run", "tuned.run", "recorded.run", "page.html", "again.csv"} < files[0]
    assert "refused.run" not in files[0]
    for name in ("fused.run", "tuned.run", "recorded.run", "again.csv", "scores.csv"):
        assert (folder / "pipe" / name).read_bytes() == (folder / "terminal" / name).read_bytes()
    assert (
        gf.evaluate(str(folder / "pipe" / J), str(folder / "terminal" / "fused.run"))["nDCG@10"] > 0
    )
