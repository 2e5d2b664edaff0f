"""Every command takes `-`, standard input, in the place of each of its files, and says the same."""

import io
import re
import sys

import pyarrow as pa
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.matching import reader as open_input
from input_forms import Bare

QRELS = "q1 0 a 3\nq1 0 b 2\nq1 0 c 0\nq2 0 d 1\nq2 0 e 0\n"
ONE = "q1 Q0 a 1 0.9 t\nq1 Q0 c 2 0.7 t\nq1 Q0 b 3 0.7 t\nq2 Q0 x 1 3 t\nq2 Q0 d 2 2 t\n"
TWO = "q1 Q0 b 1 0.9 t\nq1 Q0 y 2 0.8 t\nq1 Q0 a 3 0.7 t\nq2 Q0 d 1 3 t\nq2 Q0 e 2 2 t\n"
SUBTOPICS = "q1 1 a 1\nq1 2 b 1\nq2 1 d 1\n"
FILES = {"qrels": QRELS, "one.run": ONE, "two.run": TWO, "subtopics": SUBTOPICS}

COMMANDS = {
    "evaluate": ["evaluate", "qrels", "one.run", "two.run", "-f", "json"],
    "evaluate to the end": ["evaluate", "qrels", "one.run", "-m", "AP", "--per-query", "-f", "json"],
    "evaluate, ties": ["evaluate", "qrels", "one.run", "--tie-warning", "0", "-m", "nDCG@2", "-f", "json"],
    "bounds": ["evaluate", "qrels", "one.run", "two.run", "--bounds", "--grades", "0..3", "-m", "nDCG@3", "-m", "CG", "-f", "json"],
    "subtopics": ["evaluate", "subtopics", "one.run", "two.run", "--subtopics", "-f", "json"],
    "compare": ["compare", "qrels", "one.run", "two.run", "-f", "json"],
    "explain": ["explain", "qrels", "one.run", "--query", "q1", "-f", "json"],
    "attribute": ["explain", "qrels", "one.run", "--query", "q1", "--against", "two.run", "-f", "json"],
    "why": ["why", "qrels", "one.run", "--dialects", "gdeval,lightgbm", "-f", "json"],
    "which": ["why", "qrels", "one.run", "--got", "0.9", "-f", "json"],
    "check": ["check", "qrels", "one.run", "two.run", "-f", "json"],
    "convert": ["convert", "--as", "run", "one.run", "out.csv"],
    "pool": ["pool", "one.run", "two.run", "--depth", "2", "-f", "json"],
    "power": ["power", "qrels", "one.run", "two.run", "--difference", "0.1", "-f", "json"],
    "report": ["report", "qrels", "one.run", "two.run", "-o", "page.html", "--title", "t"],
}  # fmt: skip
PLACES = [
    (command, place)
    for command, words in COMMANDS.items()
    for place, word in enumerate(words)
    if word in FILES
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def called(words, stdin=""):
    done = CliRunner().invoke(commands, words, input=stdin, catch_exceptions=False)
    assert done.exit_code in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "convert"])
def test_two_files_are_not_both_standard_input(command, files):
    words = ["-" if word in FILES else word for word in COMMANDS[command]]
    done = CliRunner().invoke(commands, words, input=QRELS)
    assert done.exit_code == 2
    assert "Standard input can be read only once: pass - for one file only." in done.stderr


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """What each command prints and writes where all its files are files, found out once."""
    known = {}

    def found(command):
        if command not in known:
            folder = tmp_path_factory.mktemp("usual")
            for name, text in FILES.items():
                (folder / name).write_text(text)
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folder)
                known[command] = called(COMMANDS[command]), written_in(folder)
        return known[command]

    return found


def written_in(folder):
    return [file.read_bytes() for file in sorted(folder.glob("out*"))]


@pytest.mark.parametrize(
    ("command", "place"), PLACES, ids=[f"{command} {place}" for command, place in PLACES]
)
@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_every_file_may_be_standard_input(command, place, files, usual):
    words = COMMANDS[command]
    name = words[place]
    expected, made = usual(command)
    found = called([*words[:place], "-", *words[place + 1 :]], FILES[name])
    if command == "report":
        return  # which says the names of the runs
    # A run is called by its file, and messages name it.
    called_so = name.removesuffix(".run")
    found = found.replace("standard input", name)
    assert re.sub(r'(?<=[" ])-(?=[" ])', called_so, found) == expected
    assert written_in(files) == made


def tables():
    """Judgments and two runs as tables."""
    for number, text in (("grade", QRELS), ("score", ONE), ("score", TWO)):
        rows = [line.split() for line in text.splitlines()]
        place = 3 if number == "grade" else 4
        yield pa.table(
            {
                "query": [row[0] for row in rows],
                "doc": [row[2] for row in rows],
                number: [float(row[place]) for row in rows],
            }
        )


FUNCTIONS = {
    "evaluate": lambda j, one, two: gf.evaluate(j, one, "nDCG@2").means,
    "evaluate_runs": lambda j, one, two: {
        name: each.means for name, each in gf.evaluate_runs(j, {"1": one, "2": two}).items()
    },
    "ties": lambda j, one, two: gf.evaluate(j, one, "nDCG@2").ties,
    "ties of several": lambda j, one, two: [
        each.ties for each in gf.evaluate_runs(j, {"1": one, "2": two}, "nDCG@2").values()
    ],
    "tie_warning": lambda j, one, two: gf.evaluate(j, one, "nDCG@2", tie_warning=1).means,
    "bounds": lambda j, one, two: str(gf.bounds(j, one, "nDCG@2", grades=(0, 3))),
    "bounds against": lambda j, one, two: str(
        gf.bounds(j, one, ["nDCG@2", "CG"], grades=(0, 3), against=two)
    ),
    "bounds_of_runs": lambda j, one, two: str(
        gf.judging.bounds_of_runs(j, {"1": one, "2": two}, ["nDCG@2", "CG", "P@3"], grades=(0, 3))
    ),
    "compare": lambda j, one, two: gf.writing.render(gf.compare(j, {"1": one, "2": two}), "json"),
    "curve": lambda j, one, two: str(gf.curve(j, one, "nDCG", upto=3)),
    "explain": lambda j, one, two: str(gf.explain(j, one, query="q1", policy=gf.Policy(absent="lowest"))),
    "attribute": lambda j, one, two: str(gf.explanation.attribute(j, one, two, query="q1")),
    "why": lambda j, one, two: str(gf.why(j, one, dialects=["gdeval", "lightgbm"])),
    "which": lambda j, one, two: str(gf.explanation.which(j, one, got="0.9")),
    "check": lambda j, one, two: str(gf.check(j, {"1": one, "2": two})),
    "pool": lambda j, one, two: str(gf.pool([one, two], depth=2)),
    "next_to_judge": lambda j, one, two: str(gf.judging.next_to_judge(j, {"1": one, "2": two}, budget=2)),
    "pool_bias": lambda j, one, two: str(gf.judging.pool_bias(j, {"1": one, "2": two})),
    "random_order": lambda j, one, two: str(gf.judging.random_order(j, one)),
    "report": lambda j, one, two: gf.report(
        j, {"1": one, "2": two}, "nDCG@2", created="2026-01-01"
    ).payload(),
    "report, then ties": lambda j, one, two: [
        each.ties for each in gf.report(j, {"1": one, "2": two}, "nDCG@2").scores.values()
    ],
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_every_function_takes_what_can_be_read_once(function, files):
    call = FUNCTIONS[function]
    once = [Bare(table.to_reader()) for table in tables()]
    assert repr(call(*once)) == repr(call(*tables()))


def test_what_is_below_a_cutoff_of_standard_input_is_known_later(files, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ONE.encode())))
    scores = gf.evaluate("qrels", "-", "nDCG@1")
    assert scores.ties == gf.evaluate("qrels", "one.run", "nDCG@1").ties


def test_bounds_open_every_run_once(files, monkeypatch):
    seen, plain = [], open_input.kept_file

    def noting(name, session):
        seen.append(name)
        return plain(name, session)

    monkeypatch.setattr(open_input, "kept_file", noting)
    runs = {"one": "one.run", "two": "two.run", "again": str(files / "one.run")}
    gf.judging.bounds_of_runs("qrels", runs, ["nDCG@2", "nDCG", "CG", "P@2"], grades=(0, 3))
    assert sorted(seen) == sorted(["qrels", *runs.values()])
