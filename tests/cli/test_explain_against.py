"""`gainful explain --against`: which documents moved, as a user asks for it."""

import csv
import io
import json

import pytest

import gainful as gf

QRELS = "q 0 a 3\nq 0 b 2\nq 0 c 1\nr 0 a 1\ns 0 a 1\n"
BASE = "q Q0 b 1 9 t\nq Q0 x 2 8 t\nq Q0 a 3 7 t\nr Q0 a 1 1 t\n"
RUN = "q Q0 a 1 9 t\nq Q0 b 2 8 t\nq Q0 c 3 7 t\n"


@pytest.fixture
def three(files):
    return files("qrels.txt", QRELS), files("new.run", RUN), files("old.run", BASE)


@pytest.fixture
def against(cli, three):
    judgments, run, base = three

    def call(*arguments, **options):
        return cli("explain", judgments, run, "--against", base, *arguments, **options)

    return call


def test_it_is_the_run_less_the_base(against, three):
    done = against("--query", "q", "-m", "nDCG@3")
    assert (done.returncode, done.stderr) == (0, "")
    judgments, run, base = three
    assert done.stdout == f"{gf.explanation.attribute(judgments, base, run, 'nDCG@3', query='q')}\n"
    lines = done.stdout.splitlines()
    assert lines[0] == "nDCG@3 of query q, run minus base"
    first, second = (line.split() for line in lines if line.startswith("a "))
    assert first == ["a", "3", "3", "3", "1", "1.5000", "3.0000", "1.5000"]
    assert second[-1] == "0.3150"
    assert lines[-1] == "nDCG@3: base 0.7350, run 1.0000, difference +0.2650"


def test_every_format(against, three):
    judgments, run, base = three
    found = gf.explanation.attribute(judgments, base, run, query="q")
    for name in gf.writing.formats():
        assert against("--query", "q", "-f", name).stdout == f"{gf.writing.render(found, name)}\n"
    rows = csv.DictReader(io.StringIO(against("--query", "q", "-f", "csv").stdout))
    assert sum(float(row["part of nDCG@10"]) for row in rows) == pytest.approx(found.difference)
    assert json.loads(against("--query", "q", "-f", "json").stdout) == found.to_dict()


def test_options_are_those_of_explain(against, tmp_path):
    out = tmp_path / "moved.json"
    done = against("-q", "q", "-m", "DCG@2", "--ties", "average", "--unjudged", "1", "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    plain = json.loads(out.read_text())
    assert (plain["measure"], plain["policy"]["unjudged"]) == ("DCG@2", "1")
    # b, x (taken as 1) and a in the base; a and b in the run.
    assert [each["doc"] for each in plain["documents"]] == ["a", "b", "x", "c"]


def test_a_run_may_come_from_standard_input(cli, three):
    judgments, run, _ = three
    done = cli("explain", judgments, run, "-q", "q", "--against", "-", stdin=BASE)
    assert done.stdout.endswith("difference +0.2650\n")


def test_a_query_that_one_run_lacks(against):
    done = against("--query", "r")
    assert done.stdout.endswith("nDCG@10: base 1.0000, run 0.0000, difference -1.0000\n")
    assert "the run lacks the query: policy missing=zero" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-q", "Q"], "expected a judged query, found 'Q'. Did you mean 'q'?"),
        (["-q", "s"], "expected a query of the base or of the run, found 's' in neither"),
        (["-q", "r", "--missing", "skip"], "no value there under the policy missing=skip"),
        (["-q", "q", "-m", "F"], "expected a measure that is a sum over the documents"),
        (["-q", "q", "-m", "IDCG"], "such as nDCG, AP, RBP or ERR, found 'IDCG', which isn't"),
        (["-q", "q", "-m", "nDGC"], "Did you mean 'nDCG'"),
        (["-q", "q", "--unjudged", "error"], "1 unjudged: 'x'"),
        ([], "--query ID"),
        ([], "For labels with qid:"),
        (["-q", "q", "--judged", "1,2"], "Pass a list of grades"),
    ],
)
def test_it_refuses(against, arguments, said):
    done = against(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_base_is_no_list_of_grades_and_is_never_overwritten(cli, three):
    judgments, run, base = three
    done = cli("explain", "3,2", "--against", base)
    assert done.returncode == 2
    assert "--against requires JUDGMENTS and RUN" in done.stderr
    done = cli("explain", judgments, run, "-q", "q", "--against", base, "-o", base)
    assert done.returncode == 2
    assert base.read_text() == BASE
    done = cli("explain", judgments, run, "-q", "q", "--against", base.with_name("none.run"))
    assert done.returncode == 2
    assert "none.run" in done.stderr


def test_a_list_of_grades_longer_than_the_name_of_a_file(cli, tmp_path):
    done = cli("explain", ",".join(["3"] * 400), "-o", tmp_path / "steps.csv")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "steps.csv").read_text().splitlines()[-1] == "nDCG,,,,,,,1.0"
