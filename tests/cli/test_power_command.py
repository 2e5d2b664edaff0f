"""`gainful power`, as a user calls it."""

import csv
import io
import json
from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS, KEYWORD, HYBRID = (
    str(COOKING / name) for name in ("judgments.qrels", "keyword.run", "hybrid.run")
)
FILES = (JUDGMENTS, KEYWORD, HYBRID)


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (("--difference", 0.02), {"difference": 0.02}),
        (("--queries", 200), {"queries": 200}),
        (("--difference", 0.02, "--queries", 200), {"difference": 0.02, "queries": 200}),
        (("--difference", 0.02, "--power", 0.9, "--alpha", 0.01),
         {"difference": 0.02, "power": 0.9, "alpha": 0.01}),
    ],
)  # fmt: skip
def test_it_solves_for_what_is_not_given(cli, options, given):
    done = cli("power", "--sd", 0.18, *options, "-f", "jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    wanted = gf.power(sd=0.18, **given)
    names = ("sd", "difference", "queries", "power", "alpha")
    assert json.loads(done.stdout) == {name: getattr(wanted, name) for name in names}


def test_the_table(cli):
    done = cli("power", "--sd", 0.1, "--difference", 0.05)
    assert done.returncode == 0
    assert done.stdout == f"{gf.power(sd=0.1, difference=0.05)}\n"
    assert done.stdout.rstrip().endswith("solved for queries; two-sided paired t test")


def test_the_spread_comes_from_two_runs(cli, tmp_path):
    done = cli("power", *FILES, "--difference", 0.02, "-m", "RR", "-f", "csv")
    assert done.returncode == 0, done.stderr
    (one,) = gf.compare(JUDGMENTS, {"base": KEYWORD, "run": HYBRID}, "RR").differences
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert float(row["sd"]) == one.sd
    assert int(row["queries"]) == gf.power(sd=one.sd, difference=0.02).queries
    saved = tmp_path / "main.json"
    gf.comparison.save_baseline(gf.evaluate(JUDGMENTS, KEYWORD, "RR"), saved)
    again = cli("power", JUDGMENTS, saved, HYBRID, "--difference", 0.02, "-m", "RR", "-f", "csv")
    assert again.stdout == done.stdout


def test_weights_and_clusters_of_the_queries_count(cli, tmp_path):
    queries = [f"user{at // 4}_q{at}" for at in range(80)]
    judgments, base, run = (tmp_path / name for name in ("j.qrels", "a.run", "b.run"))
    judgments.write_text("".join(f"{query} 0 a 1\n" for query in queries))
    for file, step in ((base, 2), (run, 3)):
        lines = [
            f"{query} Q0 {doc} 1 {score} t\n"
            for at, query in enumerate(queries)
            for doc, score in (("a", at // step % 3), ("b", 1.5))
        ]
        file.write_text("".join(lines))
    weights = {query: 1 + at % 3 for at, query in enumerate(queries)}
    (tmp_path / "weights.json").write_text(json.dumps(weights))
    sampling = ("--weights", tmp_path / "weights.json", "--clusters", "id:_")
    done = cli(
        "power", judgments, base, run, "-m", "RR", "--difference", 0.1, *sampling, "-f", "json"
    )
    assert done.returncode == 0, done.stderr
    assert "80 queries in 20 clusters" in done.stderr
    runs = {"base": str(base), "run": str(run)}
    (one,) = gf.compare(str(judgments), runs, "RR", weights=weights, clusters="id:_").differences
    (row,) = json.loads(done.stdout)
    clusters = gf.power(sd=one.sd, difference=0.1).queries
    assert (row["sd"], row["queries"]) == (one.sd, 4 * clusters)
    typed = cli("power", "--sd", one.sd, "--cluster-size", 4, "--difference", 0.1, "-f", "json")
    assert json.loads(typed.stdout) == [row]
    refused = cli("power", "--sd", 0.1, "--difference", 0.1, "--clusters", "id:_")
    assert "--clusters requires RUNs" in refused.stderr


def test_the_policy_reaches_the_runs(cli):
    done = cli("power", *FILES, "--queries", 50, "--missing", "skip", "-f", "jsonl")
    policy = gf.Policy(missing="skip")
    (one,) = gf.compare(JUDGMENTS, {"base": KEYWORD, "run": HYBRID}, policy=policy).differences
    assert json.loads(done.stdout)["sd"] == one.sd


def test_what_the_spread_rests_on_is_said(cli, files):
    judgments = files("j.qrels", "q1 0 a 1\nq2 0 a 1\nq3 0 a 1\n")
    base = files("a.run", "q1 Q0 a 1 2 t\nq2 Q0 b 1 2 t\nq2 Q0 a 2 1 t\n")
    run = files("b.run", "".join(f"q{n} Q0 a 1 2 t\n" for n in (1, 2, 3)))
    asked = ("power", judgments, base, run, "--difference", 0.1, "-m", "RR")
    table = cli(*asked, "--verbose")
    told = table.stdout[table.stdout.index("sd of the differences in RR over 3 queries\n") :]
    assert "\npolicy: ties=doc " in told
    assert "base: 1 of 3 queries returned nothing" in told
    assert "\nrun: 3 queries." in told
    assert table.stderr == ""
    for name in ("csv", "tsv", "jsonl", "json"):
        assert cli(*asked, "-f", name).stderr.split() == told.split()
    for name in ("markdown", "latex", "html"):
        done = cli(*asked, "-f", name)
        assert "base: 1 of 3 queries returned nothing" in done.stdout
        assert done.stderr == ""


def test_a_run_from_standard_input(cli):
    done = cli("power", JUDGMENTS, "-", HYBRID, "--queries", 50, stdin=Path(KEYWORD).read_text())
    assert (done.returncode, done.stdout) == (0, cli("power", *FILES, "--queries", 50).stdout)


def test_an_output_in_the_format_of_its_name(cli, tmp_path):
    target = tmp_path / "power.md"
    done = cli("power", "--sd", 0.1, "--difference", 0.05, "-o", target)
    assert (done.returncode, done.stdout) == (0, "")
    wanted = gf.writing.render(gf.power(sd=0.1, difference=0.05), "markdown")
    assert target.read_text() == f"{wanted}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Pass --sd, or JUDGMENTS BASE RUN"),
        (("--difference", "0.1"), "Pass --sd, or JUDGMENTS BASE RUN"),
        (("--sd", "0.1"), "a difference or a number of queries"),
        (("--sd", "0", "--queries", "9"), "--sd"),
        (("--sd", "nan", "--queries", "9"), "sd: expected a number above 0"),
        (("--sd", "inf", "--queries", "9"), "sd: expected a number above 0"),
        (("--sd", "much", "--queries", "9"), "--sd"),
        (("--sd", "0.1", "--difference", "0"), "--difference"),
        (("--sd", "0.1", "--difference", "1e-9"), "at least 1e-07 standard deviations"),
        (("--sd", "0.1", "--queries", "1"), "--queries"),
        (("--sd", "0.1", "--queries", "9", "--power", "1"), "--power"),
        (("--sd", "0.1", "--queries", "9", "--power", "0.01"), "more than alpha"),
        (("--sd", "0.1", "--queries", "9", "--difference", "0.1", "--power", "0.5"), "all of them"),
        (("--sd", "0.1", "--queries", "9", "--alpha", "0"), "--alpha"),
        ((JUDGMENTS, KEYWORD, "--queries", "9"), "Expected JUDGMENTS BASE RUN"),
        ((*FILES, JUDGMENTS, "--queries", "9"), "Expected JUDGMENTS BASE RUN"),
        ((*FILES, "--sd", "0.1", "--queries", "9"), "--sd cannot be combined with RUNs"),
        ((JUDGMENTS, "-", "-", "--queries", "9"), "Standard input can be read only once"),
        ((JUDGMENTS, KEYWORD, "none.run", "--queries", "9"), "none.run"),
        ((KEYWORD, JUDGMENTS, HYBRID, "--queries", "9"), "a run, but it was passed as judgments"),
        ((JUDGMENTS, KEYWORD, KEYWORD, "--queries", "9"), "expected each run once"),
        ((*FILES, "-m", "nDGC", "--queries", "9"), "Did you mean"),
        ((*FILES, "-m", "nDCG@10", "-m", "AP", "--queries", "9"), "accepts one measure"),
        ((*FILES, "-o", HYBRID, "--queries", "9"), "is one of the inputs"),
        ((*FILES, "-o", "x.nope", "--queries", "9"), "isn't the extension of a format"),
    ],
)
def test_mistakes_are_said_in_a_paragraph(arguments, told, cli):
    before = Path(HYBRID).read_bytes()
    done = cli("power", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert Path(HYBRID).read_bytes() == before


def test_one_query_has_no_spread(cli, files):
    judgments, one = files("j.qrels", "q 0 a 1\n"), files("a.run", "q Q0 a 1 2 t\n")
    two = files("b.run", "q Q0 b 1 2 t\nq Q0 a 2 1 t\n")
    done = cli("power", judgments, one, two, "--queries", 9)
    assert done.returncode == 2
    assert "runs that differ from query to query, found one query" in done.stderr
