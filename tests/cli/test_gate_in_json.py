"""A gate in the JSON of every command that checks one; a policy as an object everywhere; Δ under any locale."""

import json
import os
import subprocess
import sys

import pytest

import gainful as gf

QRELS = "".join(f"q{n} 0 a {n % 3}\nq{n} 0 b {(n + 1) % 2}\n" for n in range(12))
RUN = "".join(f"q{n} Q0 a 1 2 x\nq{n} Q0 b 2 1 x\n" for n in range(12))
OTHER = "".join(f"q{n} Q0 a 1 1 x\nq{n} Q0 b 2 2 x\n" for n in range(12))
DELTA = "Δ nDCG@10 < -0.9"


@pytest.fixture
def given(files):
    return [files("q.qrels", QRELS), files("a.run", RUN), files("b.run", OTHER)]


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_the_result_of_a_gate_is_in_the_json(cli, given, command, failing):
    files = given if command == "compare" else given[:2]
    rule = "mean(nDCG@10) < 0.99" if failing else "mean(nDCG@10) < -1"
    done = cli(command, *files, "-f", "json", "--fail-if", rule)
    found = json.loads(done.stdout)
    assert done.returncode == int(failing)
    assert found["gate"]["failed"] is failing
    (checked,) = found["gate"]["checked"]
    assert checked["rule"] == f"fail if {rule}"
    assert checked["result"] == ("failed" if failing else "passed")
    plain = json.loads(cli(command, *files, "-f", "json").stdout)
    assert found == plain | {"gate": found["gate"]}


def test_other_tables_stay_lists(cli, given):
    done = cli("compare", *given, "-f", "json", "--per-query", "--fail-if", DELTA)
    assert isinstance(json.loads(done.stdout), list)


@pytest.mark.parametrize("command", ["evaluate", "compare", "leaderboard"])
def test_the_policy_is_an_object(cli, given, command):
    files = given if command != "evaluate" else given[:2]
    found = json.loads(cli(command, *files, "-f", "json", "--missing", "skip").stdout)
    policy = gf.Policy(missing="skip").resolved(ids=True)
    assert found["policy"] == policy.answers()


def test_without_a_policy_it_is_null():
    scores = {"old": {"q1": 0.1, "q2": 0.4}, "new": {"q1": 0.2, "q2": 0.6}}
    assert gf.comparison.compare_scores(scores).to_dict()["policy"] is None
    assert gf.comparison.leaderboard_of_scores(scores).to_dict()["policy"] is None


LOCALES = {
    "C": {"LC_ALL": "C"},
    "C, without UTF-8": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "ASCII output": {"PYTHONIOENCODING": "ascii"},
    "both": {
        "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"
    },
}  # fmt: skip


@pytest.mark.parametrize("locale", LOCALES)
def test_a_change_can_be_asked_for_under_any_locale(given, locale):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    words = [sys.executable, "-m", "gainful", "compare", *map(str, given), "--fail-if", DELTA]
    done = subprocess.run(
        [word.encode() for word in words],
        env=environment | LOCALES[locale],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Gate passed" in done.stderr


@pytest.mark.parametrize("sign", ["\udcc4", "?", "Ä"])
def test_a_delta_of_another_encoding_is_answered_with_words(sign):
    for blank in (" ", ""):
        with pytest.raises(gf.errors.InputError, match=r"write 'change\(nDCG@10\)'"):
            gf.results.Gate.check_conditions("nDCG@10", f"{sign}{blank}nDCG@10 < -0.01")
