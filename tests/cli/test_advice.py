"""What messages advise can be done with the command that prints them."""

import json
import re

import pytest

import gainful as gf

QRELS = "q1 0 a 1\nq1 0 b 0\n"
RUN = "q1 Q0 a 1 0.9 t\nq1 Q0 b 2 0.8 t\n"
JUDGMENTS_AS_RUN = (
    "This looks like judgments, but they were passed as a run. Check the order of the arguments."
)
RUN_AS_JUDGMENTS = (
    "This looks like a run, but it was passed as judgments. Check the order of the arguments."
)


def said(done, code=2):
    assert (done.returncode, done.stdout) == (code, "")
    return done.stderr


@pytest.mark.parametrize(
    ("name", "text", "kind", "where"),
    [
        ("twice.run", RUN + "q1 Q0 a 3 0.7 t\n", "run", "twice.run:3: "),
        ("twice.qrels", QRELS + "q1 0 a 0\n", "judgments", "twice.qrels:3: "),
        ("twice.csv", "query,doc,score\nq,a,1\nq,a,2\n", "run", "twice.csv:3: "),
        ("twice.jsonl", '{"query":"q","doc":"a","score":1}\n' * 2, "run", "twice.jsonl:2: "),
    ],
)
def test_convert_has_no_policy_to_set(cli, files, tmp_path, name, text, kind, where):
    told = said(cli("convert", files(name, text), tmp_path / "x.tsv", "--as", kind))
    assert where in told
    assert "expected each document once for a query" in told
    assert told.endswith("again. Remove one of the rows.\n")
    assert not (tmp_path / "x.tsv").exists()


def test_writing_has_no_policy_to_set(tmp_path):
    for write in (gf.write_run, gf.write_judgments):
        with pytest.raises(gf.errors.InputError) as caught:
            write({"q": {1: 0.1, "1": 0.2}}, tmp_path / "x.csv")
        assert caught.value.remedy == "Remove one of them."
    with pytest.raises(
        gf.errors.InputError, match="Remove one, or set the policy duplicates=first"
    ):
        gf.evaluate({"q": {1: 1}}, {"q": {1: 0.1, "1": 0.2}})


def test_evaluate_has_one(cli, files):
    run = files("r.run", RUN + "q1 Q0 a 3 0.7 t\n")
    told = said(cli("evaluate", files("q.qrels", QRELS), run))
    assert "Remove one, or set the policy duplicates=first or duplicates=best." in told


def test_files_of_the_other_kind(cli, files, tmp_path):
    qrels, run = files("q.qrels", QRELS), files("r.run", RUN)
    table = files("q.csv", "query,doc,grade\nq1,a,1\n")
    for judgments in (qrels, table):
        for arguments in (
            ("convert", judgments, tmp_path / "x.csv", "--as", "run"),
            ("pool", judgments, run),
            ("evaluate", qrels, judgments),
            ("explain", qrels, judgments, "--query", "q1"),
        ):
            assert JUDGMENTS_AS_RUN in said(cli(*arguments)), arguments
    for arguments in (
        ("convert", run, tmp_path / "x.csv", "--as", "judgments"),
        ("evaluate", run, qrels),
        ("pool", run, "--judgments", run),
    ):
        assert RUN_AS_JUDGMENTS in said(cli(*arguments)), arguments
    told = said(cli("evaluate", run, qrels, "--subtopics"))
    assert "This looks like a run. Check the order of the arguments." in told


def test_scores_without_a_column_of_queries(cli, files):
    good = files("good.csv", "query,ndcg\nq1,0.5\nq2,0.6\n")
    odd = files("odd.csv", "session,ndcg\nq1,0.5\nq2,0.6\n")
    bare = files("bare.csv", "q1,0.5\nq2,0.6\n")
    remedy = "Give it one of these names: query_id, qid, "
    for arguments in (
        ("compare", "--scores", good, odd),
        ("compare", files("q.qrels", QRELS), files("r.run", RUN), files("s.run", RUN), "--slices", odd),
    ):  # fmt: skip
        told = said(cli(*arguments))
        assert "odd.csv:1: expected a column for query, found only 'session', 'ndcg'." in told
        assert remedy in told
        assert "columns query=" not in told  # which does not name columns of these tables
    told = said(cli("compare", "--scores", good, bare))
    assert (
        "expected column names, found 'q1', '0.5'. Name the columns in the first line: query."
        in told
    )
    assert "query=" not in told
    with pytest.raises(gf.errors.InputError, match=remedy):
        gf.comparison.compare_scores({"a": good, "b": [{"session": "q1", "ndcg": 1}]})


def test_a_format_is_said_with_an_option(cli, files, tmp_path):
    told = said(cli("convert", files("r.run", RUN), tmp_path / "x.other", "--as", "run"))
    assert "Or say it: format=…, on the command line --format …." in told


def test_check_says_once_that_a_file_is_of_the_other_kind(cli, files):
    qrels, run = files("q.qrels", QRELS), files("r.run", RUN)
    done = cli("check", run, qrels)
    assert done.returncode == 1
    assert done.stdout.count(RUN_AS_JUDGMENTS) == 1
    assert done.stdout.count(JUDGMENTS_AS_RUN) == 1
    assert "Correct the row" not in done.stdout
    found = json.loads(cli("check", run, qrels, "-f", "json").stdout)["findings"]
    assert [(each["rule"], each["count"]) for each in found] == [("unreadable-row", 2)] * 2
    assert [each["remedy"] for each in found] == [RUN_AS_JUDGMENTS, JUDGMENTS_AS_RUN]


def test_check_says_no_such_thing_of_a_file_that_can_be_read_in_part(cli, files):
    for text in (QRELS + RUN, RUN + QRELS):
        done = cli("check", files("q.qrels", text))
        assert "2 rows cannot be read" in done.stdout
        assert "Correct the row, or remove it." in done.stdout
        assert "This looks like" not in done.stdout


SUBTOPICS = "q 1 d1 1\nq 2 d2 1\np 1 d1 1\np 2 d3 1\n"


@pytest.mark.parametrize("command", ["compare", "leaderboard"])
def test_measures_of_subtopics_are_compared_by_the_route_that_is_named(cli, files, command):
    judgments = files("subtopics.qrels", SUBTOPICS)
    runs = [
        files(f"{name}.run", f"q Q0 {first} 1 2 x\np Q0 d1 1 2 x\n") for name, first in ("ad", "be")
    ]
    done = cli(command, "--subtopics", judgments, *runs)
    assert done.returncode == 2
    words = re.search(r"Pass (.+?)\.\n", done.stderr)[1].replace("FILE", str(judgments)).split()
    grades = files("grades.qrels", "q 0 d1 1\nq 0 d2 1\np 0 d1 1\np 0 d3 1\n")
    assert "alpha_nDCG@10" in cli(command, grades, *runs, *words).stdout


@pytest.mark.parametrize("command", ["explain", "why", "pool", "power"])
def test_commands_without_subtopics_say_what_measures_them(cli, command):
    done = cli(command, "--subtopics", "a", "b")
    assert done.returncode == 2
    assert "evaluate JUDGMENTS RUN --subtopics -m alpha_nDCG@10" in " ".join(done.stderr.split())
