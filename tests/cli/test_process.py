"""The process around a command: its streams, its signals, and what it says of a bug."""

import json
import os
import pty
import signal
import subprocess
import sys

import pytest

import gainful as gf
import main_in_a_fork
from gainful.cli.main import main

ESCAPE = "\x1b[31m"
ID = f"q{ESCAPE}"


@pytest.fixture
def pair(files):
    qrels = files("qrels", f"{ID} 0 a 1\n{ID} 0 b 1\n")
    return qrels, files("run", f"{ID} Q0 a 1 2 t\n{ID} Q0 b 2 1 t\n")


# Calls the command line many times, each in a fork: what takes time is to import it.
FORKS = (
    main_in_a_fork.SOURCE
    + """
import json, gainful as gf
from gainful.cli import commands
for name in ("evaluate", "convert", "trec_eval", "measures", "pool", "check"):
    commands.commands.get_command(None, name)
gf.evaluate, gf.write_run, gf.writing.render({"x": gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}})})

def closed(number):
    os.close(number)
    setattr(sys, ("stdin", "stdout", "stderr")[number], None)  # as Python does when it begins

def full(number):
    os.dup2(os.open("/dev/full", os.O_WRONLY), number)

def broken(number):
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, number)

for arguments, *states in json.load(sys.stdin):
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        for state, number in states:
            globals()[state](number)
        exit_with_main(arguments)
    os.close(writer)
    with open(reader) as file:
        said = file.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said]), flush=True)
"""
)


def forked(calls):
    """Return the exit code and all output of calls: arguments, and states of their streams."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS], input=json.dumps(calls), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_streams_that_are_closed_full_or_not_read(pair):
    qrels, run = map(str, pair)
    commands = [
        ["--help"],
        ["evaluate", "--help"],
        ["--version"],
        ["measures", "nDCG"],
        ["evaluate", qrels, run],
        ["evaluate", qrels, run, "-f", "csv"],
        ["convert", run, "-", "--as", "run", "--format", "trec"],
        ["pool", run],
        ["check", qrels, run],
        ["trec_eval", qrels, run],
    ]
    told = "standard output: expected a file that can be written, found "
    expected = {
        "closed": (2, f"gainful: error: {told}none: it is closed.\n"),
        "full": (2, f"gainful: error: {told}No space left on device.\n"),
        "broken": (0, ""),
    }
    calls = [[command, [state, 1]] for command in commands for state in expected]
    for call, found in zip(calls, forked(calls), strict=True):
        code, said = expected[call[1][0]]
        notes = found[1].removesuffix(said) if said else found[1]
        assert found[0] == code, (call, found)
        assert found[1].endswith(said), (call, found)
        assert "error: " not in notes, (call, found)
        assert "Traceback" not in notes, (call, found)


def test_messages_that_nobody_can_read_change_nothing(pair, tmp_path):
    qrels, run = map(str, pair)
    output = str(tmp_path / "out.csv")
    calls = [
        [["evaluate", qrels, run, "-f", "csv"], 0],
        [["evaluate", qrels, run, "-o", output], 0],
        [["evaluate", qrels, "nowhere"], 2],
        [["evaluate", "--nonsense"], 2],
        [["nonsense"], 2],
    ]
    states = ["closed", "full", "broken"]
    found = forked([[arguments, [state, 2]] for arguments, _ in calls for state in states])
    assert [code for code, _ in found] == [code for _, code in calls for _ in states]
    both = forked(
        [[arguments, ["closed", 1], ["closed", 2], ["closed", 0]] for arguments, _ in calls]
    )
    assert [code for code, _ in both] == [2, 0, 2, 2, 2]
    assert forked([[["evaluate", "-", run], ["closed", 0]]]) == [
        [
            2,
            "gainful: error: standard input: expected something to read, found none: it is closed.\n",
        ]
    ]


def test_a_closed_output_of_a_real_process(pair):
    command = f"{sys.executable} -m gainful evaluate {pair[0]} {pair[1]} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "standard output" in done.stderr
    assert done.stderr.count("\n") == 1


def on_terminal(*arguments):
    """Return what a command prints on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gainful", *map(str, arguments)],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    printed = b""
    try:
        while part := os.read(ours, 1 << 16):
            printed += part
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    process.wait()
    return printed.decode()


def test_ids_keep_their_bytes_for_programs_and_are_shown_to_people(cli, pair, tmp_path):
    shown = ID.replace("\x1b", r"\x1b")
    for name in ("csv", "tsv", "jsonl"):
        call = ("evaluate", *pair, "--per-query", "-f", name)
        raw = shown if name == "jsonl" else ID  # which JSON has escapes of its own for
        piped = cli(*call)
        assert raw.replace(r"\x1b", r"\u001b") in piped.stdout
        assert "\x1b" not in piped.stderr
        output = tmp_path / f"out.{name}"
        cli(*call, "-o", output)
        assert output.read_bytes().decode() == piped.stdout
    for call in (
        ("evaluate", *pair, "--per-query"),
        ("explain", *pair, "--query", ID),
        ("explain", *pair, "--query", ID, "--against", pair[1]),
        ("check", *pair),
        ("pool", pair[1]),
    ):
        done = cli(*call)
        assert "\x1b" not in done.stdout + done.stderr
        assert shown in done.stdout
    printed = on_terminal("evaluate", *pair, "--per-query", "-f", "csv")
    assert "\x1b" not in printed
    assert f",{shown},1.0\r\n" in printed


NASTY = "a\nb\x1b[31m\x9b\u202e\r"


@pytest.mark.parametrize(
    "call",
    [
        ("evaluate", "{qrels}", NASTY),
        ("evaluate", "{qrels}", f"{NASTY}*"),
        ("evaluate", "{qrels}", "{run}", "-m", NASTY),
        ("evaluate", "{qrels}", "{run}", "-o", f"{NASTY}/x"),
        ("evaluate", "{qrels}", "{run}", f"--{NASTY}"),
        ("evaluate", "{qrels}", "{run}", "--ties", NASTY),
        ("evaluate", "{qrels}", "{run}", "--columns", NASTY),
        ("evaluate", "{qrels}", "{run}", "--memory", NASTY),
        ("evaluate", "{qrels}", "{run}", "--temp-dir", NASTY),
        ("evaluate", "{qrels}", "{run}", "--digits", NASTY),
        ("evaluate", "{qrels}", "{run}", "--dialect", NASTY),
        ("evaluate", "{qrels}", "{run}", "-f", NASTY),
        ("explain", "{qrels}", "{run}", "--query", NASTY),
        ("explain", NASTY),
        ("why", "{qrels}", "{run}", "--got", NASTY),
        ("power", NASTY),
        (NASTY,),
    ],
    ids=lambda call: " ".join(call[:1] + call[-2:]).encode("unicode_escape").decode(),
)
def test_no_words_of_a_user_break_a_message(cli, pair, call):
    qrels, run = map(str, pair)
    done = cli(*(part.format(qrels=qrels, run=run) for part in call))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.replace("\n", "").isprintable()
    assert r"a\nb\x1b[31m" in done.stderr
    assert len(done.stderr.rstrip("\n").partition("rror: ")[2].splitlines()) == 1


@pytest.mark.parametrize("raw", [b"\xff", "ü.run".encode("latin-1")])
def test_names_of_files_that_are_no_text(cli, raw, tmp_path, pair):
    """Whatever the engine takes, they can be read and written, and are named in what is said."""
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/" + raw)
    os.mkdir(folder)  # noqa: PTH102 - of bytes
    name = os.path.join(folder, os.fsdecode(raw))  # noqa: PTH118 - of bytes
    for text in (f"{ID} Q0 a 1 2 t\n", f"{ID}  Q0 a 1 2 t\n", f"query,doc,score\n{ID},a,2\n"):
        with open(name, "w") as file:  # noqa: PTH123 - of bytes
            file.write(text)
        done = cli("evaluate", pair[0], name, "-f", "csv", "-o", f"{name}.csv")
        assert done.returncode == 0, done.stderr
        with open(f"{name}.csv", "rb") as file:  # noqa: PTH123 - of bytes
            assert os.path.splitext(raw)[0] in file.read()  # noqa: PTH122 - of bytes
        assert cli("check", pair[0], name).returncode == 0
        assert cli("evaluate", pair[0], name).returncode == 0
    for ending in ("csv", "parquet", "run.gz"):
        assert cli("convert", name, f"{name}.{ending}", "--as", "run").returncode == 0
        assert cli("evaluate", pair[0], f"{name}.{ending}").returncode == 0
    for call in (("evaluate", pair[0], f"{name}.no"), ("evaluate", *pair, "-o", f"{folder}no/x")):
        done = cli(*call)
        assert done.returncode == 2
        assert r"\udc" in done.stderr
        assert done.stderr.encode().count(b"\n") == 1


def test_a_temporary_folder_whose_name_is_no_text(cli, pair, tmp_path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    os.mkdir(folder)  # noqa: PTH102 - of bytes
    done = cli("convert", pair[1], tmp_path / "x.csv", "--as", "run", "--temp-dir", folder)
    assert done.returncode == 2
    assert "temporary directory: expected a path in UTF-8" in done.stderr


def fail(problem):
    def run(*_, **__):
        raise problem

    return run


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (KeyError("x\ny"), "this is a bug in gainful: KeyError: 'x\\ny'"),
        (RecursionError("deep"), "this is a bug in gainful: RecursionError: deep"),
        (EOFError("early"), "this is a bug in gainful: EOFError: early"),
        (MemoryError(), "memory: expected room for the work"),
        (OSError(28, "No space left"), "the operating system: No space left."),
        (OSError(5, "Input/output error", "some file"), "some file: Input/output error."),
    ],
)
def test_what_is_left_is_one_paragraph(monkeypatch, capsys, problem, said, traced):
    monkeypatch.setattr(gf.measures, "families", fail(problem))
    monkeypatch.setattr(sys.modules[main.__module__], "_hear_signals", lambda: None)
    arguments = ["--traceback", "measures"] if traced else ["measures"]
    monkeypatch.setattr(sys, "argv", ["gainful", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    printed, told = capsys.readouterr()
    assert (done.value.code, printed) == (2, "")
    *above, last = told.strip("\n").split("\n")
    assert last.startswith(f"gainful: error: {said}")
    assert ("Traceback (most recent call last):" in above) == traced
    if "bug" in said:
        assert f"gainful {gf.__version__}" in last
        assert "gainful --traceback" in last


@pytest.mark.parametrize("module", ["click", "numpy"])
@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")]
)
def test_a_signal_while_modules_are_imported(module, number, said, tmp_path):
    (tmp_path / f"{module}.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "gainful", "compare", "-h"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.returncode, done.stdout) == (128 + number, "")
    assert done.stderr.strip() == f"gainful: {said}"


def test_a_second_signal_ends_the_process_at_once():
    """Also where the first is still at work, as in the removal of much."""
    code = (
        "import signal, sys, time\nfrom gainful.cli.main import main\n"
        "def busy(**_):\n"
        "    try:\n        signal.raise_signal(signal.SIGTERM)\n"
        "    finally:\n        signal.raise_signal(signal.SIGINT)\n        print('late')\n"
        "import gainful as gf\ngf.measures.families = busy\n"
        "sys.argv = ['gainful', 'measures']\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_what_is_ignored_stays_ignored():
    code = (
        "import signal, sys\nfrom gainful.cli.main import _hear_signals\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "_hear_signals()\n"
        "print(*(signal.getsignal(n).name for n in (signal.SIGINT, signal.SIGHUP)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "SIG_IGN SIG_IGN\n"
    code = "import signal, gainful.evaluation.evaluate, gainful.rows.duckdb_engine\n"
    code += "print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True\n"
