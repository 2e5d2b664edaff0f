"""`gainful evaluate --interval`."""

import csv
import io
import json

import pytest

import gainful as gf

JUDGMENTS = "".join(f"q{i} 0 a 1\n" for i in range(12))
RUN = "".join(f"q{i} Q0 x 1 {i % 6} t\nq{i} Q0 a 2 2.5 t\n" for i in range(12))


@pytest.fixture
def paths(files):
    return files("j.qrels", JUDGMENTS), files("one.run", RUN)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("place", ["before", "between", "after"])
def test_alone_it_takes_no_file_for_a_method(place, cli, paths):
    judgments, run = paths
    given = {
        "before": ["--interval", judgments, run],
        "between": [judgments, "--interval", run],
        "after": [judgments, run, "--interval"],
    }[place]
    done = cli("evaluate", *given, "-m", "RR", "-f", "csv")
    assert done.returncode == 0, done.stderr
    (row,) = rows_of(done.stdout)
    wanted = gf.evaluate(judgments, run, "RR").interval("RR")
    assert (float(row["95% low"]), float(row["95% high"])) == (wanted.low, wanted.high)
    assert (row["run"], row["measure"], row["mean"], row["queries"]) == ("one", "RR", "0.75", "12")
    assert "interval of each mean on its own, by Student's t and Hall's correction" in done.stderr
    assert "Only 12 queries" in done.stderr
    assert "policy: ties=doc" in done.stderr


@pytest.mark.parametrize("words", [["--interval", "t"], ["--interval=t"]])
def test_a_method_and_a_level_can_be_named(words, cli, paths):
    done = cli("evaluate", *words, *paths, "-m", "RR", "--level", "0.9", "-f", "json")
    (run,) = json.loads(done.stdout)["runs"]
    wanted = gf.evaluate(*paths, "RR").interval("RR", method="t", level=0.9)
    assert run["intervals"] == {"RR": wanted.to_dict()}


def test_the_table_for_people_has_all_that_is_to_be_said(cli, paths):
    done = cli("evaluate", *paths, "--interval", "-m", "RR", "--digits", "2")
    head, _, row, *rest = done.stdout.splitlines()
    assert head.split() == ["run", "measure", "mean", "95%", "low", "95%", "high", "queries"]
    assert row.split()[:3] == ["one", "RR", "0.75"]
    assert any("kinds of query" in line for line in rest)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--interval=normal"], "one of hall, t, bca, betting, asymptotic, not 'normal'"),
        (["--level", "0.9"], "--level requires --interval or --slices or --by"),
        (
            ["--interval", "--per-query"],
            "--interval cannot be combined with --per-query",
        ),
        (
            ["--interval", "--bounds", "--grades", "0,1"],
            "--bounds cannot be combined with --interval",
        ),
        (["--interval", "--level", "95"], "--level"),
    ],
)
def test_what_does_not_go_together_is_refused(words, told, cli, paths):
    done = cli("evaluate", *paths, *words)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())


def test_after_two_dashes_all_words_are_files(cli, paths):
    done = cli("evaluate", "--", *paths, "--interval")
    assert done.returncode == 2
    assert "--interval" in done.stderr


def test_queries_with_subtopics_have_intervals_too(cli, files):
    judgments = files("s.qrels", "".join(f"q{i} {i % 2 + 1} a 1\n" for i in range(6)))
    run = files("one.run", RUN)
    done = cli("evaluate", judgments, run, "--subtopics", "-m", "P_IA@2", "--interval", "-f", "csv")
    assert done.returncode == 0, done.stderr
    assert rows_of(done.stdout)[0]["measure"] == "P_IA@2"
