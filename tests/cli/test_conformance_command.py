"""`gainful conformance`: programs that conform, that fail, and that do not keep to the protocol."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

import gainful as gf

EXAMPLES = Path(__file__).parents[2] / "vectors" / "examples"
NODE = compute_driver_executable()[0]
PYTHON = (sys.executable, "-S", "-c")  # without site packages, which take time
SKIP = 'import sys, json; [print(json.dumps({"id": json.loads(l)["id"], "skip": "no"})) for l in sys.stdin]'
KNOWN = """
import sys, json
known = json.load(open(sys.argv[1]))
for line in sys.stdin:
    print(json.dumps(known[json.loads(line)["id"]]))
"""


@pytest.fixture
def conformance(cli, tmp_path):
    """Call the command with a program that answers from a table, or with another program."""

    def call(program, *options, answers=None, topic="ids"):
        words = [*PYTHON, program]
        if answers is not None:
            (tmp_path / "answers.json").write_text(json.dumps(answers))
            words.append(tmp_path / "answers.json")
        return cli("conformance", "--topic", topic, *options, "--", *words)

    return call


def answers_to(topic, **changed):
    found = {}
    for case in gf.vectors.cases(topics=topic):
        expect = case.expect
        said = {"error": "no"} if "error" in expect else {"value": expect["value"]}
        found[case.id] = {"id": case.id, **changed.get(case.id.replace("-", "_"), said)}
    return found


def test_right_answers(conformance):
    done = conformance(KNOWN, answers=answers_to("ids"))
    count = len(gf.vectors.cases(topics="ids"))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"conforms: {count} passed, 0 failed, 0 skipped" in done.stdout


def test_wrong_answers_look_like_something(conformance):
    answers = answers_to("incomplete", empty_skip={"value": 0.9298593499260985})
    done = conformance(KNOWN, answers=answers, topic="incomplete")
    assert done.returncode == 1
    assert "empty-skip" in done.stdout
    assert "empty=one" in done.stdout
    done = conformance(KNOWN, "-f", "json", answers=answers, topic="incomplete")
    plain = json.loads(done.stdout)
    assert (done.returncode, plain["counts"]["failed"]) == (1, 1)
    (failed,) = [each for each in plain["cases"] if each["outcome"] == "failed"]
    assert failed["conventions"][0] == "empty=one (as 1, and it is reported)"
    done = conformance(KNOWN, "-f", "csv", answers=answers, topic="incomplete")
    assert done.stdout.splitlines()[1].startswith("empty-skip,incomplete,0.8597186998521972,")
    assert "27 passed, 1 failed, 0 skipped" in done.stderr


def test_answers_in_another_order_and_blank_lines(conformance):
    program = KNOWN.replace(
        "for line in sys.stdin:", "for line in [*sys.stdin][::-1]:\n    print()"
    )
    assert conformance(program, answers=answers_to("ids")).returncode == 0


def test_skips_alone_are_no_conformance(conformance):
    done = conformance(SKIP)
    assert done.returncode == 1
    assert "nothing was checked: 0 passed, 0 failed" in done.stdout


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('hello')", "the command, line 1: expected a line such as .*found 'hello'. Print only answers to standard output"),
        ("print('[1]')", r"line 1: expected a line such as .*found '\[1\]'"),
        ("print('[' * 9000)", "line 1: expected a line such as"),
        ("print('{\"value\": 1}')", "line 1: expected a line such as"),
        ("print('{\"id\": \"repeated-first\"}')", "exactly one of value, error or skip, found none of them"),
        ("print('{\"id\": \"repeated-first\", \"value\": 1, \"skip\": \"\"}')", "found value and skip"),
        ("print('{\"id\": \"repeated-first\", \"value\": \"1\"}')", "expected a number, or none .*found '1'"),
        ("print('{\"id\": \"cg\", \"value\": 1}')", "one answer to each case of the input, found one to 'cg'"),
        ("[print('{\"id\": \"repeated-first\", \"value\": 1}') for _ in '12']", "line 2: .*a second one to 'repeated-first'"),
        ("", "an answer to each of 18 cases, found 0; the first case without one is 'repeated-first': the command ended"),
        ("1 / 0", "found 0; .*the command ended with exit status 1: ZeroDivisionError: division by zero"),
        ("import os; os.abort()", "the command was terminated by SIGABRT"),
        ("import os; os.write(1, bytes(range(256)))", "line 1: expected a line such as"),
    ],
)  # fmt: skip
def test_programs_that_do_not_answer(conformance, program, said):
    import re

    done = conformance(program)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(said, done.stderr), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_program_that_hangs_is_ended_with_what_it_started(conformance, tmp_path):
    mark = tmp_path / "child"
    program = (
        f"import subprocess, sys, time; child = subprocess.Popen(['sleep', '60']); "
        f"open({str(mark)!r}, 'w').write(str(child.pid)); time.sleep(60)"
    )
    done = conformance(program, "--timeout", "1")
    assert done.returncode == 2
    assert "the command did not end within 1 s" in done.stderr
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", mark.read_text()], capture_output=True, text=True
    )
    assert state.stdout.strip()[:1] in ("", "Z")


def test_a_program_that_does_not_stop_printing(conformance):
    done = conformance("while True: print('x' * 65536)", "--timeout", "30")
    assert done.returncode == 2
    assert "the command printed more than 16 MB" in done.stderr


def test_one_by_one_counts_what_breaks_off(conformance):
    program = KNOWN.replace("    print(", '    assert "best" not in line\n    print(')
    done = conformance(program, "--one-by-one", "-f", "json", answers=answers_to("ids"))
    plain = json.loads(done.stdout)
    failed = {each["case"]: each["found"] for each in plain["cases"] if each["outcome"] == "failed"}
    assert set(failed) >= {"repeated-best", "repeated-best-judgment"}
    assert set(failed.values()) == {"failure: ended with exit status 1: AssertionError"}
    assert plain["counts"]["passed"] == 18 - len(failed)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Expected COMMAND"),
        (["--print", "cat"], "--print runs nothing"),
        (["no-such-program-anywhere"], "expected a program that can be started, found no program of this name"),
        ([str(EXAMPLES / "conform.js")], "found a file that is not executable. Name its interpreter"),
        (["--topic", "tie", "cat"], "expected one of definition"),
        (["--dialect", "trek", "cat"], "expected the name of a tool"),
        (["--dialect", "ranx", "--topic", "ties", "cat"], "which are in the topic dialects"),
        (["--tolerance", "1", "cat"], "--tolerance"),
        (["--timeout", "0", "cat"], "--timeout"),
        (["-f", "yaml", "cat"], "yaml"),
    ],
)  # fmt: skip
def test_bad_usage(cli, words, said):
    done = cli("conformance", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_options_after_the_program_are_its_own(cli):
    done = cli("conformance", "--topic", "ids", sys.executable, "-S", "-c", SKIP, "--topic", "ties")
    assert f"{len(gf.vectors.cases(topics='ids'))} skipped" in done.stdout


def test_print_shows_what_is_sent(cli):
    done = cli("conformance", "--print", "--topic", "ties", "--topic", "definition")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines == [case.asked() for case in gf.vectors.cases(topics=["ties", "definition"])]
    assert all("expect" not in line and "why" not in line for line in lines)


@pytest.mark.parametrize(
    "program", [(sys.executable, "conform.py"), (NODE, "conform.js")], ids=["py", "js"]
)
def test_the_examples_conform(cli, program):
    done = cli("conformance", program[0], EXAMPLES / program[1])
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.partition("conforms: ")[2].split()[0]) > 90
