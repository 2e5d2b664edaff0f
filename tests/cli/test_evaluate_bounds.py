"""`gainful evaluate --bounds`."""

import json

import pytest

import gainful as gf

JUDGMENTS = "q 0 a 1\nq 0 b 0\n"
RUN = "q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 x 3 1 t\n"
OTHER = "q Q0 b 1 3 t\nq Q0 a 2 2 t\nq Q0 x 3 1 t\n"


def test_bounds(cli, files):
    paths = files("j", JUDGMENTS), files("one", RUN), files("two", OTHER)
    done = cli("evaluate", *paths, "-m", "nDCG@3", "--bounds", "--grades", "0,1", "-f", "json")
    rows = {row["run"]: row for row in json.loads(done.stdout)}
    assert set(rows) == {"one", "two", "two − one"}
    expected = gf.bounds(paths[0], paths[1], "nDCG@3", grades={0, 1})["nDCG@3"]
    assert (rows["one"]["low"], rows["one"]["high"]) == (expected.low, expected.high)
    difference = gf.bounds(paths[0], paths[2], "nDCG@3", grades={0, 1}, against=paths[1])
    assert rows["two − one"]["high"] == difference["nDCG@3"].high
    table = cli(
        "evaluate", *paths, "-m", "nDCG@3", "--bounds", "--grades", "0..1", "--unseen", "any"
    )
    assert "from 0 to 1. Unseen documents: any number." in " ".join(table.stdout.split())
    assert "two − one" in table.stdout
    each = cli("evaluate", *paths[:2], "--bounds", "--grades", "0,1", "--per-query", "-f", "csv")
    assert each.stdout.splitlines()[0] == "run,query,measure,value,low,high"


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "json"])
def test_what_is_missing_is_said_where_there_is_no_room_for_notes(name, cli, files):
    paths = files("j", JUDGMENTS + "lost 0 a 1\n"), files("one", RUN)
    done = cli("evaluate", *paths, "--bounds", "--grades", "0,1", "-f", name)
    assert done.returncode == 0
    assert done.stderr.startswith("one: 1 of 2 queries returned nothing.")
    assert "\npolicy: ties=doc " in done.stderr
    table = cli("evaluate", *paths, "--bounds", "--grades", "0,1", "--verbose")
    assert table.stdout.split()[-len(done.stderr.split()) :] == done.stderr.split()
    assert table.stderr == ""


def test_a_warning_of_ties(cli, files):
    tied = files("tied", "q Q0 a 1 1 t\nq Q0 x 2 1 t\n")
    done = cli("evaluate", files("j", JUDGMENTS), tied, "-m", "nDCG@1", "--tie-warning", "0.1")
    assert done.returncode == 0
    assert "warning: ties: nDCG@1 is 0.0000, and would be from 0.0000 to 1.0000" in done.stderr
    quiet = cli("evaluate", files("j", JUDGMENTS), tied, "-m", "nDCG@1")
    assert "ties:" not in quiet.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--model", "model.qrels"], "--model requires --estimate"),
        (["--estimate", "bootstrap", "--interval"], "cannot be combined with --interval"),
        (["--estimate", "conformal"], "complete grades of at least 2 queries"),
        (["--grades", "0,1"], "requires --bounds"),
        (["--unseen", "1"], "requires --bounds"),
        (["--bounds", "--grades", "0,x"], "two ends"),
        (["--bounds", "--grades", "0,1", "--unseen", "-1"], "--unseen expects a number"),
        (["--bounds", "--grades", "0,1", "-m", "bpref"], "one of nDCG"),
        (["--bounds", "--grades", "0,1", "--subtopics"], "cannot be combined with --subtopics"),
    ],
)
def test_failures(options, told, cli, files):
    done = cli("evaluate", files("j", JUDGMENTS), files("r", RUN), *options)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_bounds_and_estimates_have_default_grades(cli, files):
    paths = files("j", JUDGMENTS), files("r", RUN)
    done = cli("evaluate", *paths, "-m", "DCG@3", "--bounds")
    assert done.returncode == 0, done.stderr
    assert "Possible grades of unjudged documents: 0, 1." in done.stdout
    done = cli(
        "evaluate", *paths, "-m", "DCG@3", "--estimate", "bootstrap", "--level", "0.9", "-f", "csv"
    )
    assert done.stdout.splitlines()[0] == "run,measure,value,low,high,estimate,90% low,90% high"
    expected = gf.bounds(*paths, "DCG@3", estimate="bootstrap", level=0.9)["DCG@3"].estimate
    cells = [float(cell) for cell in done.stdout.splitlines()[1].split(",")[-3:]]
    assert cells == [expected.value, expected.low, expected.high]
