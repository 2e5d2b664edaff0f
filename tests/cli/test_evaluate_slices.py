"""`gainful evaluate --slices` and `--by`."""

import csv
import io
import json

import pytest

import gainful as gf

JUDGMENTS = "".join(f"q{i} 0 a 1\n" for i in range(8))
RUN = "".join(f"q{i} Q0 x 1 {i} t\nq{i} Q0 a 2 2.5 t\n" for i in range(6))
SLICES = "query,locale,long\n" + "".join(f"q{i},{'de' if i < 3 else 'fr'},1\n" for i in range(8))


@pytest.fixture
def paths(files):
    return files("j.qrels", JUDGMENTS), files("one.run", RUN), files("slices.csv", SLICES)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_slices_stand_in_one_table_with_all_queries(cli, paths):
    judgments, run, slices = paths
    done = cli(
        "evaluate", judgments, run, "-m", "RR", "--slices", slices, "--by", "locale", "-f", "csv"
    )
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout)
    found = [(r["slice"], r["value"], r["queries"], r["mean"], r["missing"]) for r in rows]
    # Ranks 1 for scores below 2.5: q0 to q2; then 2; q6 and q7 are missing.
    assert found == [
        ("all", "", "8", "0.5625", "2"),
        ("locale", "fr", "5", "0.3", "2"),
        ("locale", "de", "3", "1.0", "0"),
    ]
    scores = gf.evaluate(judgments, run, "RR", slices=slices, by="locale")
    assert (rows[1]["95% low"] == "") == (not scores.slices[0].interval().known)
    assert "too few queries for an interval (3; at least 10 needed)" in done.stderr
    by_t = cli("evaluate", *paths[:2], "-m", "RR", "--slices", slices, "--by", "locale", "-f", "csv", "--interval", "t")  # fmt: skip
    assert float(rows_of(by_t.stdout)[1]["95% low"]) == scores.slices[0].interval(method="t").low
    assert "Only 3 queries" in by_t.stderr
    assert "RR, one, locale de: all queries have the same value" in by_t.stderr
    assert "policy: ties=doc" in done.stderr


def test_all_columns_are_taken_if_none_is_named(cli, paths):
    judgments, run, slices = paths
    done = cli("evaluate", judgments, run, "--slices", slices, "-f", "json", "--interval", "t",
               "--level", "0.8")  # fmt: skip
    found = json.loads(done.stdout)["runs"][0]["slices"]
    assert [(each["slice"], each["value"]) for each in found] == [
        ("locale", "fr"), ("locale", "de"), ("long", "1"),
    ]  # fmt: skip
    assert {each["interval"]["method"] for each in found} == {"t"}
    assert {each["interval"]["level"] for each in found} == {0.8}
    assert found[0]["coverage"]["missing_queries"] == ["q6", "q7"]


def test_judged_needs_no_table_and_standard_input_may_be_one(cli, paths):
    judgments, run, _ = paths
    done = cli("evaluate", judgments, run, "--by", "judged", "-m", "RR")
    assert "judged 1" in " ".join(done.stdout.split())
    done = cli("evaluate", judgments, run, "--slices", "-", "-m", "RR", "-f", "csv", stdin=SLICES)
    assert len(rows_of(done.stdout)) == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--by", "locale"], "a table of queries with the column 'locale', found none"),
        (["--by", "judged", "--per-query"], "--by cannot be combined with --per-query"),
        (
            ["--by", "judged", "--bounds", "--grades", "0,1"],
            "--bounds cannot be combined with --by",
        ),
        (["--by", "judged", "--subtopics"], "--subtopics cannot be combined with --by"),
        (["--slices", "no.csv"], "no.csv"),
        (["--slices", "{slices}", "-o", "{slices}"], "is one of the inputs"),
    ],
)
def test_what_does_not_go_is_refused(cli, paths, words, told):
    judgments, run, slices = paths
    done = cli("evaluate", judgments, run, *(word.format(slices=slices) for word in words))
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
