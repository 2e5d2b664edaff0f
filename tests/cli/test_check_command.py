"""`gainful check` as a user calls it: output, exit codes, formats."""

import csv
import io
import json

import pytest

import gainful as gf

QRELS = "q1 0 a 3\nq1 0 b 2\nq2 0 d 1\n"
RUN = "q1 Q0 a 1 0.9 t\nq1 Q0 b 2 0.8 t\nq2 Q0 d 1 2 t\nq2 Q0 b 2 1 t\n"
TIED = RUN.replace("0.9", "0.8")
TWICE = RUN + "q2 Q0 d 3 0.5 t\n"


@pytest.fixture
def judgments(files):
    return files("qrels.txt", QRELS)


def test_a_clean_check_says_so(cli, judgments, files):
    done = cli("check", judgments, files("good.run", RUN), "-k", 2, "--scale", "0..3", "--strict")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "clean: 0 errors, 0 warnings, 0 notes in judgments, good\n"
    done = cli("check", judgments)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "clean: 0 errors, 0 warnings, 1 note in judgments"


def test_errors_fail_and_warnings_only_when_strict(cli, judgments, files):
    twice, tied = files("twice.run", TWICE), files("tied.run", TIED)
    done = cli("check", judgments, twice, "-k", 2)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{twice}:5: query 'q2', document 'd'" in done.stdout
    assert "[duplicate-document]" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 error, 0 warnings, ")
    warned = cli("check", judgments, tied, "-k", 2)
    assert warned.returncode == 0
    assert "[constant-score]" in warned.stdout
    assert cli("check", judgments, tied, "-k", 2, "--strict").returncode == 1
    both = cli("check", judgments, twice, tied, "-k", 2)
    assert both.returncode == 1
    assert both.stdout.splitlines()[-1].endswith("in judgments, twice, tied")


def test_the_scale(cli, judgments):
    assert cli("check", judgments, "--scale", "0..2").returncode == 1
    assert cli("check", judgments, "--scale", "-1.5..3").returncode == 0
    for wrong in ("3", "a..b", "3..0", ".."):
        done = cli("check", judgments, "--scale", wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr


def test_json_is_a_document_with_findings_and_counts(cli, judgments, files):
    run = files("twice.run", TWICE)
    done = cli("check", judgments, run, "-f", "json")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["counts"]["error"] == 1
    assert document["cutoff"] == 10
    assert document["inputs"] == ["judgments", "twice"]
    first = document["findings"][0]
    assert (first["severity"], first["rule"], first["input"]) == (
        "error",
        "duplicate-document",
        "twice",
    )
    assert (first["count"], first["place"], first["doc"]) == (1, f"{run}:5", "d")
    assert first["remedy"]


def test_other_formats_and_a_file(cli, judgments, files, tmp_path):
    run = files("twice.run", TWICE)
    done = cli("check", judgments, run, "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert rows[0]["rule"] == "duplicate-document"
    assert done.stderr.startswith("1 error, ")
    for name in gf.writing.formats():
        done = cli("check", judgments, run, "-f", name)
        assert (done.returncode, "Traceback" in done.stderr) == (1, False)
        assert "duplicate-document" in done.stdout
    target = tmp_path / "findings.json"
    done = cli("check", judgments, run, "-f", "json", "-o", target)
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(target.read_text())["counts"]["error"] == 1
    assert cli("check", judgments, run, "-o", run).returncode == 2
    assert run.read_text() == TWICE


def test_what_cannot_be_read_at_all(cli, judgments, files, tmp_path):
    for path in (tmp_path / "none", tmp_path, files("binary", b"\x00\x01\xff\n")):
        for arguments in ((path,), (judgments, path)):
            done = cli("check", *arguments)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr.startswith("gainful: error: ")
    assert cli("check").returncode == 2
    assert cli("check", judgments, "-k", 0).returncode == 2
    assert cli("check", "-", "-", stdin=QRELS).returncode == 2


def test_standard_input_and_columns(cli, files):
    done = cli("check", "-", stdin=QRELS + "q9\n")
    assert done.returncode == 1
    assert "standard input:4: expected 4 fields" in done.stdout
    table = files("table.csv", "who,doc,grade\nq1,a,1\n")
    assert cli("check", table, "--columns", "query=who", "--memory", "1GB").returncode == 0


def test_files_with_empty_lists_keep_their_names(cli, files):
    judgments = files("ej.json", '{"q1": ["d1"], "q2": ["d4"], "q4": []}')
    run = files("er.json", '{"q1": ["d1"], "q2": [], "q4": ["d1"]}')
    told = [line.split(":")[:2] for line in cli("check", judgments, run).stdout.splitlines()]
    named = [each[1].strip() for each in told if each[0] in ("error", "warning", "note")]
    assert named == ["judgments", "er", "judgments", "er"]
    found = json.loads(cli("check", judgments, run, "-f", "json").stdout)
    assert [each["input"] for each in found["findings"]] == named
    assert [each["place"] for each in found["findings"] if each["query"] is None] == ["judgments"]


def test_what_reading_warns_of_is_counted(cli, files):
    judgments = files("ev.csv", "query,doc,event\nq1,a,click\nq1,b,purchase\n")
    run = files("again.json", '{"q1": ["a", "a"]}')
    assert cli("check", judgments, run, "-k", 1).returncode == 0
    done = cli("check", judgments, run, "-k", 1, "--strict")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[-1] == "0 errors, 2 warnings, 1 note in judgments, again"
    found = json.loads(cli("check", judgments, run, "-k", 1, "-f", "json").stdout)
    assert (found["clean"], found["counts"]["warning"]) == (False, 2)
    named = [each["input"] for each in found["findings"] if each["rule"] == "doubtful-reading"]
    assert named == ["judgments", "again"]


def test_names_that_would_steer_a_terminal_are_shown(cli, files):
    done = cli("check", files("qrels\x1b[31m", "q1 0 a\n"))
    assert done.returncode == 1
    assert "\x1b" not in done.stdout


def test_help_has_every_rule(cli):
    told = " ".join(cli("help", "check").stdout.split())
    for rule in gf.results.Findings.rules:
        assert f"{rule.name} ({rule.severity}): {rule.what}" in told
    assert "check" in cli("--help").stdout
