"""`gainful compare`, as a user calls it."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS, KEYWORD, HYBRID, SEMANTIC = (
    str(COOKING / name) for name in ("judgments.qrels", "keyword.run", "hybrid.run", "semantic.run")
)
RUNS = {"keyword": KEYWORD, "hybrid": HYBRID, "semantic": SEMANTIC}
ALL = (JUDGMENTS, *RUNS.values())
TWO = (JUDGMENTS, KEYWORD, HYBRID)


@pytest.fixture(scope="module")
def found():
    return gf.compare(JUDGMENTS, RUNS, ["nDCG@5", "RR"])


@pytest.fixture(scope="module")
def scores():
    return gf.evaluate_runs(JUDGMENTS, RUNS, ["nDCG@5", "RR"])


def without_shares(comparison):
    """Return the differences without the shares of unjudged documents, which scores do not tell."""
    return [
        {name: value for name, value in each.items() if name != "unjudged"}
        for each in comparison["differences"]
    ]


def test_the_table_is_that_of_the_comparison(cli, found):
    done = cli("compare", *ALL, "-m", "nDCG@5", "-m", "ndcg_cut_5", "-m", "RR")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{found}\n"
    assert gf.compare(JUDGMENTS, RUNS).measures == ("nDCG@10",)
    assert cli("compare", *ALL).stdout == f"{gf.compare(JUDGMENTS, RUNS)}\n"


@pytest.mark.parametrize("table", ["--systems", "--tests"])
@pytest.mark.parametrize("writer", ["csv", "tsv", "json", "jsonl"])
def test_what_was_missing_is_said_beside_bare_tables(cli, table, writer):
    done = cli("compare", *TWO, table, "-f", writer)
    assert done.returncode == 0
    assert "policy: ties=doc" in done.stderr
    assert "keyword: 1 of 24 queries returned nothing (scored 0)." in done.stderr


@pytest.mark.parametrize("option", ["--fail-if", "--fail-unless"])
def test_conditions_are_read_before_the_files(cli, option):
    done = cli("compare", "no.qrels", "no.run", "no2.run", "-m", "P@5", option, "P@50 < 0")
    assert done.returncode == 2
    assert "Did you mean 'P@5'" in done.stderr


@pytest.mark.parametrize("writer", gf.writing.formats())
def test_formats(writer, cli, found, tmp_path):
    done = cli("compare", *ALL, "-m", "nDCG@5", "-m", "RR", "-f", writer)
    out = done.stdout
    assert (done.returncode, out) == (0, gf.writing.render(found, writer) + "\n")
    notes = found.notes() if writer in ("csv", "tsv", "jsonl") else []
    assert done.stderr.splitlines() == notes
    match writer:
        case "csv" | "tsv":
            delimiter = "," if writer == "csv" else "\t"
            read = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
            assert [float(row["p"]) for row in read] == [one.p for one in found.differences]
        case "json":
            assert json.loads(out) == found.to_dict()
        case "jsonl":
            read = [json.loads(line) for line in out.splitlines()]
            assert [row["verdict"] for row in read] == [
                one.verdict.word for one in found.differences
            ]
        case _:
            assert found.differences[0].run in out


def test_the_format_follows_the_name_of_the_output(cli, found, tmp_path):
    for name, writer in (("c.csv", "csv"), ("c.md", "markdown"), ("c.json", "json")):
        target = tmp_path / name
        code, out, _ = cli("compare", *ALL, "-m", "nDCG@5", "-m", "RR", "-o", target)
        assert (code, out) == (0, "")
        assert target.read_text() == gf.writing.render(found, writer) + "\n"


def test_digits(cli, found):
    _, out, _ = cli("compare", *ALL, "-m", "nDCG@5", "-m", "RR", "--digits", 2)
    assert f"{found.differences[0].baseline_mean:.2f}   " in out
    assert f"{found.differences[0].baseline_mean:.4f}" not in out.split("\n\n", maxsplit=1)[0]


OPTIONS = {
    "test": "wilcoxon",
    "correction": "bonferroni",
    "interval": "bca",
    "pairs": "all",
    "level": 0.9,
    "margin": 0.3,
    "tie": 0.1,
    "resamples": 500,
    "seed": 3,
}


def test_every_choice_reaches_the_comparison(cli):
    given = [part for name, value in OPTIONS.items() for part in (f"--{name}", value)]
    code, out, _ = cli("compare", *ALL, "-f", "json", *given)
    wanted = gf.compare(JUDGMENTS, RUNS, **OPTIONS)
    assert (code, json.loads(out)) == (0, wanted.to_dict())
    assert "correction=bonferroni interval=bca level=0.9 margin=0.3 tie=0.1 resamples=500" in out
    assert set(gf.comparison.comparison_choices()) < set(OPTIONS)


def test_the_policy_reaches_the_comparison(cli):
    options = ("--missing", "skip", "--ties", "best")
    code, out, _ = cli("compare", *ALL, "-f", "json", *options, "--threads", 1)
    wanted = gf.compare(JUDGMENTS, RUNS, policy=gf.Policy(missing="skip", ties="best"))
    assert (code, json.loads(out)) == (0, wanted.to_dict())


def test_all_tests(cli, found):
    code, out, _ = cli("compare", *ALL, "-m", "nDCG@5", "-m", "RR", "--tests", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, len(rows)) == (0, 4 * 4)
    for row in rows:
        tested = found[row["run"], row["measure"]].tests[row["test"]]
        assert (float(row["p"]), float(row["p, holm"])) == (tested.p, tested.adjusted)
        assert row["exact"] == ("yes" if tested.outcome.exact else "no")


def test_scores_that_are_there_already(cli, found, scores, tmp_path):
    files = [tmp_path / "keyword.csv", tmp_path / "hybrid.jsonl", tmp_path / "semantic.json"]
    for file, each in zip(files[:2], scores.values(), strict=False):
        each.write(file)
    gf.comparison.save_baseline(scores["semantic"], files[2])
    code, out, _ = cli("compare", "--scores", *files, "-f", "json")
    assert code == 0
    assert without_shares(json.loads(out)) == without_shares(found.to_dict())
    code, out, _ = cli("compare", "--scores", *files, "-m", "recip_rank", "-f", "json")
    assert json.loads(out)["measures"] == ["RR"]


def test_the_output_of_trec_eval(cli, tmp_path):
    files, values = [], []
    for name, run in list(RUNS.items())[:2]:
        done = cli("trec_eval", "-q", "-m", "ndcg_cut.5", "-m", "recip_rank", JUDGMENTS, run)
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text(done.stdout)
        rows = [line.split() for line in done.stdout.splitlines()]
        values.append({q: float(v) for m, q, v in rows if m == "recip_rank" and q != "all"})
    code, out, err = cli("compare", "--scores", *files, "-m", "RR", "-f", "json")
    assert (code, err) == (0, "")
    both = [query for query in values[0] if query in values[1]]
    (one,) = json.loads(out)["differences"]
    wanted = sum(values[1][query] - values[0][query] for query in both) / len(both)
    assert (one["measure"], one["queries"]) == ("RR", len(both))
    assert one["difference"] == pytest.approx(wanted, abs=1e-12)
    assert set(json.loads(out)["left_out"]["RR"]) == {*values[0], *values[1]} - {*both}


def test_the_json_that_evaluate_prints(cli, tmp_path):
    files = [tmp_path / f"{name}.json" for name in list(RUNS)[:2]]
    for file, run in zip(files, RUNS.values(), strict=False):
        assert cli("evaluate", JUDGMENTS, run, "-m", "RR", "--per-query", "-o", file)[0] == 0
    found = json.loads(cli("compare", "--scores", *files, "-f", "json")[1])
    wanted = json.loads(cli("compare", *TWO, "-m", "RR", "-f", "json")[1])
    assert without_shares(found) == without_shares(wanted)
    both, means = tmp_path / "both.json", tmp_path / "means.json"
    cli("evaluate", *TWO, "--per-query", "-o", both)
    cli("evaluate", JUDGMENTS, next(iter(RUNS.values())), "-o", means)
    for odd, told in ((both, "of one run, found 2 runs"), (means, "--per-query")):
        code, _, err = cli("compare", "--scores", odd, files[1])
        assert code == 2
        assert told in err


def test_a_gate(cli):
    passing = ("--fail-if", "Δ nDCG@10 < -0.01", "--fail-if", "saturation > 0.9")
    done = cli("compare", *TWO, *passing)
    assert done.returncode == 0
    assert done.stderr.strip().startswith("Gate passed")
    assert done.stdout == cli("compare", *TWO).stdout
    # The other way round the run is worse.
    done = cli("compare", JUDGMENTS, HYBRID, KEYWORD, *passing)
    assert done.returncode == 1
    assert done.stderr.strip().startswith("Gate failed")
    assert "Traceback" not in done.stderr
    assert cli("compare", *TWO, "--fail-unless", "Δ nDCG@10 > 0")[0] == 0
    assert cli("compare", *TWO, "--fail-unless", "Δ nDCG@10 > 0.1")[0] == 1
    assert cli("compare", *TWO, "--fail-if", "missing > 0")[0] == 0
    assert cli("compare", JUDGMENTS, HYBRID, KEYWORD, "--fail-if", "missing > 0")[0] == 1


def test_files_for_machines_and_people(cli, tmp_path):
    junit, summary, page = (tmp_path / name for name in ("gate.xml", "gate.md", "page.html"))
    code, out, _ = cli(
        "compare", JUDGMENTS, HYBRID, KEYWORD, "--fail-if", "Δ nDCG@10 < -0.01", "--fail-if",
        "missing > 3", "--junit", junit, "--summary", summary, "--html", page, "-f", "csv",
    )  # fmt: skip
    assert code == 1  # and all is written all the same
    assert out.startswith("measure,baseline,run")
    runs = {"hybrid": HYBRID, "keyword": KEYWORD}
    gate = gf.compare(JUDGMENTS, runs).gate(["Δ nDCG@10 < -0.01", "missing > 3"])
    assert junit.read_text() == gate.to_junit()
    cases = ET.parse(junit).getroot().findall(".//testcase")  # noqa: S314
    assert [case.get("name") for case in cases] == [
        "fail if Δ nDCG@10 < -0.01",
        "fail if missing > 3",
    ]
    assert [len(case) for case in cases] == [1, 0]
    assert summary.read_text() == gate.to_markdown()
    assert "<title>page</title>" in page.read_text()
    assert "gate failed: keyword: fail if Δ nDCG@10" in page.read_text()


def test_a_summary_without_a_gate(cli, tmp_path):
    target = tmp_path / "s.md"
    assert cli("compare", *TWO, "--summary", target)[0] == 0
    runs = {"keyword": KEYWORD, "hybrid": HYBRID}
    assert target.read_text() == gf.compare(JUDGMENTS, runs).to_markdown() + "\n"


def test_a_saved_baseline(cli, tmp_path):
    saved = tmp_path / "main.json"
    assert cli("evaluate", JUDGMENTS, KEYWORD, "--save-baseline", saved)[0] == 0
    code, out, err = cli("compare", JUDGMENTS, saved, HYBRID, "-f", "json", "--fail-if", "changed")
    assert code == 0
    assert "The judgments have not changed." in err
    wanted = gf.compare(JUDGMENTS, {"main": KEYWORD, "hybrid": HYBRID})
    assert json.loads(out)["differences"] == wanted.to_dict()["differences"]
    other = tmp_path / "other.qrels"
    lines = Path(JUDGMENTS).read_text().splitlines(keepends=True)
    other.write_text("".join(lines[1:]))
    done = cli("compare", other, saved, HYBRID, "--fail-if", "changed")
    assert done.returncode == 1
    assert (
        "gainful: warning: The judgments have changed since the baseline 'main' was saved"
        in done.stderr
    )
    assert "Gate failed" in done.stderr


@pytest.mark.parametrize("by", [(), ("--by", "kind"), ("--by", "kind", "--by", "baseline")])
def test_slices(cli, tmp_path, by):
    queries = gf.evaluate(JUDGMENTS, KEYWORD).queries
    table = {query: {"kind": "short" if len(query) < 12 else "long"} for query in queries}
    file = tmp_path / "kinds.csv"
    file.write_text("query,kind\n" + "".join(f"{q},{row['kind']}\n" for q, row in table.items()))
    call = ("compare", *TWO, "--slices", file, *by, "--resamples", "200")
    code, out, _ = cli(*call, "-f", "json")
    runs = {"keyword": KEYWORD, "hybrid": HYBRID}
    wanted = gf.compare(JUDGMENTS, runs, slices=table, by=by[1::2], resamples=200)
    assert (code, json.loads(out)["slices"]) == (0, wanted.to_dict()["slices"])
    assert "Slices, worst first" in cli(*call)[1]


def test_standard_input(cli, scores, found, tmp_path):
    done = cli("compare", JUDGMENTS, KEYWORD, "-", "-f", "csv", stdin=Path(HYBRID).read_text())
    assert done.returncode == 0, done.stderr
    plain = cli("compare", JUDGMENTS, KEYWORD, HYBRID, "-f", "csv").stdout
    assert done.stdout == plain.replace(",hybrid,", ",-,")
    scores["hybrid"].write(tmp_path / "hybrid.csv")
    text = gf.writing.render(scores["keyword"], "csv", per_query=True)
    done = cli("compare", "--scores", "-", tmp_path / "hybrid.csv", "-f", "jsonl", stdin=text)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        row = json.loads(line)
        assert row["difference"] == found["hybrid", row["measure"]].difference
    assert len(done.stdout.splitlines()) == 2


MISTAKES = [
    ((), "Missing argument"),
    ((JUDGMENTS,), "Expected JUDGMENTS BASE RUN"),
    ((JUDGMENTS, KEYWORD), "Expected JUDGMENTS BASE RUN"),
    (("--scores", KEYWORD), "Expected BASE RUN"),
    ((JUDGMENTS, KEYWORD, KEYWORD), "runs: expected each run once, found"),
    (("-", "-", KEYWORD), "Standard input can be read only once"),
    ((JUDGMENTS, KEYWORD, "-", "--slices", "-"), "Standard input can be read only once"),
    ((*TWO, "--test", "anova"), "anova"),
    ((*TWO, "--correction", "sidak"), "sidak"),
    ((*TWO, "--level", "95"), "--level"),
    ((*TWO, "--level", "nan"), "level: expected a number above 0 and below 1"),
    ((*TWO, "--margin", "0"), "--margin"),
    ((*TWO, "--margin", "nan"), "margin: expected"),
    ((*TWO, "--tie", "-1"), "--tie"),
    ((*TWO, "--tie", "nan"), "tie: expected"),
    ((*TWO, "--resamples", "0"), "--resamples"),
    ((*TWO, "--seed", "-1"), "--seed"),
    ((*TWO, "--by", "locale"), "judged and baseline alone need no table"),
    ((*TWO, "-m", "nDGC"), "Did you mean"),
    ((*TWO, "-m", "GMAP"), "geometric mean"),
    ((*TWO, "-f", "xml"), "xml"),
    ((*TWO, "-o", "x.nope"), "isn't the extension of a format"),
    ((*TWO, "--fail-if", "nDCG@10"), "a condition such as"),
    ((*TWO, "--fail-if", "nDCG@10 < low"), "low isn't a number"),
    ((*TWO, "--fail-if", "Δ nDCG@5 < 0"), "Did you mean 'nDCG@10'"),
    ((*TWO, "--fail-unless", "mising < 1"), "Did you mean 'missing'"),
    ((*TWO, "--fail-if", "changed"), "a saved baseline"),
    ((*TWO, "--junit", "gate.xml"), "--junit requires --fail-if or --fail-unless"),
    ((*TWO, "--html", "x", "--summary", "x"), "a file of its own"),
    ((*TWO, "-o", "y", "--html", "./y"), "a file of its own"),
    ((*TWO, "--ties", "random"), "ties"),
    ((*TWO, "--columns", "query"), "ROLE=NAME"),
    (
        ("--scores", KEYWORD, HYBRID, "--missing", "skip"),
        "--missing cannot be combined with --scores",
    ),
    (
        ("--scores", KEYWORD, HYBRID, "--drop-self", "no"),
        "--drop-self cannot be combined with --scores",
    ),
    (
        ("--scores", KEYWORD, HYBRID, "--columns", "query=q"),
        "--columns cannot be combined with --scores",
    ),
    (("--scores", KEYWORD, HYBRID, "--chunks", "#"), "--chunks cannot be combined with --scores"),
    (("--scores", "{csv}", "{two}", "--by", "judged"), "judgments, to slice by"),
    (("--scores", "{csv}", "{two}", "--fail-if", "unjudged > 0"), "to compute unjudged"),
    (("--scores", "{csv}", "{two}", "-m", "P@1"), "a column of P@1"),
]


@pytest.mark.parametrize(("arguments", "told"), MISTAKES)
def test_mistakes_are_said_in_a_paragraph(arguments, told, cli, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {
        "csv": files("one.csv", "query,value\nq1,1\nq2,2\n"),
        "two": files("two.csv", "query,value\nq1,1\nq2,1\n"),
    }
    before = {path.name for path in tmp_path.iterdir()}
    code, out, err = cli("compare", *(str(one).format(**names) for one in arguments))
    assert (code, out) == (2, "")
    assert told in err
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("option", ["-o", "--junit", "--summary", "--html"])
def test_targets_are_checked_before_the_files_are_read(option, cli):
    given = ("none.qrels", "none.run", "no.run", "--fail-if", "Δ nDCG@10 < 0", option)
    code, out, err = cli("compare", *given, "no such folder/x")
    assert (code, out) == (2, "")
    assert "no such folder/x: expected a file that can be written" in err
    assert "expected the name of a file to write" in cli("compare", *given, "").stderr


@pytest.mark.parametrize("option", ["-o", "--junit", "--summary", "--html"])
@pytest.mark.parametrize("target", ["judgments", "run", "slices"])
def test_no_input_is_written_over(option, target, cli, files):
    inputs = {
        "judgments": files("j.qrels", "q1 0 a 1\nq2 0 a 1\n"),
        "run": files("a.run", "q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n"),
        "slices": files("s.csv", "query,kind\nq1,x\nq2,y\n"),
    }
    other = files("b.run", "q1 Q0 a 1 2 t\nq2 Q0 b 1 2 t\n")
    before = {name: path.read_bytes() for name, path in inputs.items()}
    code, _, err = cli(
        "compare", inputs["judgments"], inputs["run"], other, "--slices", inputs["slices"],
        "--fail-if", "missing > 0", option, inputs[target],
    )  # fmt: skip
    assert code == 2
    assert "is one of the inputs" in err
    assert {name: path.read_bytes() for name, path in inputs.items()} == before


BAD = {
    "missing": None,
    "empty": b"",
    "binary": b"\x00\x01\xff\xfe\x80 binary",
    "words": b"hello world\n",
    "json": b'{"a": [1, 2',
    "latin": "caf\xe9 Q0 a 1 2 t\n".encode("latin-1"),
    "saved and cut": b'{"gainful": "baseline", "format": 1, "version": "0',
    "saved later": b'{"gainful": "baseline", "format": 99, "version": "9"}',
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("place", ["judgments", "base", "run", "slices", "scores"])
def test_bad_files_are_named(kind, place, cli, tmp_path, files):
    bad = tmp_path / "bad file"
    if BAD[kind] is not None:
        bad.write_bytes(BAD[kind])
    if place == "scores":
        good = files("good.csv", "query,value\nq1,1\nq2,2\n")
        arguments = ["--scores", good, bad]
    else:
        arguments = {
            "judgments": [bad, KEYWORD, HYBRID],
            "base": [JUDGMENTS, bad, HYBRID],
            "run": [JUDGMENTS, KEYWORD, bad],
            "slices": [*TWO, "--slices", bad],
        }[place]
    code, out, err = cli("compare", *arguments)
    assert (code, out) == (2, "")
    assert "bad file" in err
    assert err.startswith("gainful: error: ")


def test_judgments_and_runs_exchanged(cli):
    code, _, err = cli("compare", KEYWORD, JUDGMENTS, HYBRID)
    assert code == 2
    assert "This looks like a run, but it was passed as judgments" in err
    code, _, err = cli("compare", KEYWORD, HYBRID, JUDGMENTS)
    assert code == 2
    code, _, err = cli("compare", JUDGMENTS, KEYWORD, JUDGMENTS)
    assert code == 2
    assert "This looks like judgments" in err
    code, _, err = cli("compare", "--scores", KEYWORD, HYBRID)
    assert code == 2
    assert "a column for query" in err


def test_saved_baselines_alone(cli, tmp_path, scores):
    for name in ("keyword", "hybrid"):
        gf.comparison.save_baseline(scores[name], tmp_path / f"{name}.json")
    both = (tmp_path / "keyword.json", tmp_path / "hybrid.json")
    code, _, err = cli("compare", JUDGMENTS, *both, "-m", "RR")
    assert code == 2
    assert "--scores" in err
    assert cli("compare", "--scores", *both)[0] == 0


def test_every_query_is_a_row(cli, found):
    done = cli("compare", *ALL, "-m", "nDCG@5", "-m", "RR", "--per-query", "-f", "csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 24 * 2 * 2
    known = list(found.per_query)
    assert [row["query"] for row in rows] == [row["query"] for row in known]
    assert [float(row["difference"]) for row in rows] == [row["difference"] for row in known]
    assert "nDCG@5, hybrid − keyword: " in done.stderr
    assert "policy: ties=doc" in done.stderr


@pytest.mark.parametrize(("option", "sign"), [("--worst", -1), ("--best", 1)])
def test_the_queries_that_moved_most_have_the_sign_that_was_asked_for(cli, option, sign):
    done = cli("compare", *TWO, option, "9", "-f", "json")
    apart = [row["difference"] for row in json.loads(done.stdout)]
    assert apart == sorted(apart, reverse=sign > 0)
    assert all(sign * each > 0 for each in apart)
    assert len(apart) == (9 if sign > 0 else 6)  # no more than six queries lost


def test_both_ends_stand_in_one_table(cli):
    done = cli("compare", *TWO, "--worst", "2", "--best", "1", "--digits", "1")
    assert done.stdout.startswith("Queries that lost and gained the most (baseline: keyword)\n")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("nDCG@10  ")]
    assert [(row[2], row[-1]) for row in rows] == [
        ("waffles-buttermilk", "-0.3"), ("pad-thai", "-0.3"), ("udon-soup", "0.9"),
    ]  # fmt: skip
    assert "17 gained and 6 lost, of 24 queries" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--worst", "0"], "--worst"),
        (["--best", "few"], "--best"),
        (["--worst", "3", "--per-query"], "--per-query cannot be combined with --worst"),
        (["--per-query", "--tests"], "--tests cannot be combined with --per-query"),
        (["--systems", "--best", "2"], "--systems cannot be combined with --best"),
    ],
)
def test_tables_of_queries_are_asked_for_one_by_one(cli, words, told):
    done = cli("compare", *TWO, *words)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())


def test_movers_are_in_the_summary(cli, tmp_path):
    target = tmp_path / "summary.md"
    done = cli("compare", *TWO, "-m", "nDCG@5", "--summary", target, "--movers", 2)
    assert done.returncode == 0, done.stderr
    judgments, *runs = TWO
    options = {"measures": "nDCG@5"}
    runs = {Path(path).stem: path for path in runs}
    compared = gf.compare(judgments, runs, **options)
    moved = gf.comparison.movers(compared, judgments, runs, count=2)
    assert moved.moved
    assert all(each.documents for each in moved.moved)
    table = gf.writing.render(moved, "markdown")
    assert target.read_text() == f"{compared.to_markdown()}\n\n{table}\n"
    assert all(each.documents[0].split()[0] in table for each in moved.moved)


def test_movers_go_with_a_summary_and_with_runs(cli, tmp_path):
    target = tmp_path / "summary.md"
    assert "--movers requires --summary." in cli("compare", *TWO, "--movers", 2).stderr
    piped = cli("compare", "-", *TWO[1:], "--movers", 2, "--summary", target)
    assert piped.returncode == 2
    assert "With --movers, files cannot be read from standard input" in piped.stderr
