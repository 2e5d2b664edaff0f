"""What a report says of assessors: the numbers are those of `gf.judging.agreement`; and the commands that write it."""

import json
import re

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands

ANN = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "b": 1}, "q3": {"a": 1}}
BOB = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "b": 1}, "q4": {"a": 1}}
OLD = {"q1": {"c": 3, "b": 2, "a": 1}, "q2": {"a": 2, "b": 1}, "q3": {"a": 1}}
NEW = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"b": 2, "a": 1}, "q3": {"a": 1}}
RUNS = {"old": OLD, "new": NEW}


@pytest.fixture(scope="module")
def found():
    return gf.judging.agreement(
        [ANN, BOB], names=["ann", "bob"], runs=RUNS, measures=["nDCG@10", "P@1"]
    )


@pytest.fixture(scope="module")
def payload(found):
    merged = gf.judging.merge_judgments([ANN, BOB], names=["ann", "bob"])
    texts = {"q1": "first", "q2": "second"}
    return gf.report(merged, RUNS, ["nDCG@10", "P@1"], queries=texts, agreement=found).payload()


def test_tables_are_those_of_the_agreement(found, payload):
    first, *others = found.tables()
    told = payload["assessors"]
    assert told["coefficients"]["rows"] == [list(row) for row in first.rows]
    titles = [each.title for each in others]
    titles.remove("queries with the least agreement")  # of which the page has all
    assert [each["title"] for each in told["tables"]] == titles
    assert told["summary"] == found.summary
    json.dumps(payload, allow_nan=False)


def test_rows_of_charts_by_hand(found, payload):
    told = payload["assessors"]
    assert [(row["query"], row["agreement"], row["text"]) for row in told["queries"]] == [
        ("q1", pytest.approx(1 / 3), "first"),  # a alike; b and c apart
        ("q2", 1.0, "second"),
    ]
    shares = {(row["grade"], row["other"]): row["share"] for row in told["confusion"]}
    # Five documents of both: (2, 2), (1, 0), (0, 1), (0, 0), (1, 1).
    assert shares["2", "2"] == pytest.approx(0.2)
    assert shares["0", "1"] == shares["1", "0"] == pytest.approx(0.2)
    assert sum(shares.values()) == pytest.approx(1)
    of_ann = gf.evaluate_runs(ANN, RUNS, ["nDCG@10", "P@1"])
    means = {(row["measure"], row["run"], row["assessor"]): row["value"] for row in told["means"]}
    assert means["nDCG@10", "new", "ann"] == of_ann["new"].means["nDCG@10"]
    assert {assessor for _, _, assessor in means} == {"ann", "bob", "merged (mean)"}


def test_the_charts_of_an_agreement(found):
    rows = found.plot.assessor_means("P@1").to_dict()["data"]["values"]
    assert {row["run"] for row in rows} == {"old", "new"}
    assert len(rows) == 6
    assert len(found.plot.confusion().to_dict()["data"]["values"]) == 9
    assert len(found.plot.query_agreement().to_dict()["data"]["values"]) == 2
    with pytest.raises(gf.errors.InputError, match=r"one of nDCG@10, P@1, found 'AP'"):
        found.plot.assessor_means("AP")
    with pytest.raises(gf.errors.InputError, match="an agreement with runs"):
        gf.judging.agreement([ANN, BOB]).plot.assessor_means()


def test_without_assessors_the_payload_says_so():
    assert gf.report(ANN, {"old": OLD}).payload()["assessors"] is None
    with pytest.raises(gf.errors.InputError, match="agreement: expected what agreement returns"):
        gf.report(ANN, {"old": OLD}, agreement=[ANN, BOB])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, each in (("ann", ANN), ("bob", BOB)):
        gf.write_judgments(each, f"{name}.qrels")
    for name, run in RUNS.items():
        gf.write_run(run, f"{name}.run")
    return tmp_path


def written(path):
    found = re.search(
        r'<script type="application/json" id="payload">(.*?)</script>', path.read_text(), re.DOTALL
    )
    return json.loads(found[1])["assessors"]


def test_commands_write_the_section(files, found):
    call = CliRunner().invoke
    asked = ["-m", "nDCG@10", "-m", "P@1"]
    done = call(
        commands,
        [
            "agreement",
            "ann.qrels",
            "bob.qrels",
            "--run",
            "old.run",
            "--run",
            "new.run",
            *asked,
            "--html",
            "a.html",
        ],
    )
    assert done.exit_code == 0, done.output
    done = call(
        commands,
        [
            "report",
            "ann.qrels",
            "old.run",
            "new.run",
            *asked,
            "--grades",
            "ann.qrels",
            "--grades",
            "bob.qrels",
            "-o",
            "b.html",
        ],
    )
    assert done.exit_code == 0, done.output
    one, two = (written(files / name) for name in ("a.html", "b.html"))
    assert one == two
    assert one["coefficients"]["rows"] == [list(row) for row in found.table().rows]
    done = call(
        commands,
        [
            "report",
            "ann.qrels",
            "old.run",
            "--grades",
            "ann.qrels",
            "--grades",
            "bob.qrels",
            "-o",
            "c.html",
        ],
    )
    assert done.exit_code == 0, done.output
    assert written(files / "c.html")["changed"] is None  # of one run there is no verdict


def test_commands_say_what_goes_together(files):
    call = CliRunner().invoke
    done = call(commands, ["agreement", "ann.qrels", "bob.qrels", "--html", "a.html"])
    assert done.exit_code == 2
    assert "--html requires --run." in done.output
    done = call(
        commands,
        [
            "report",
            "ann.qrels",
            "old.run",
            "-",
            "--grades",
            "ann.qrels",
            "--grades",
            "bob.qrels",
            "-o",
            "c.html",
        ],
        input="q1 Q0 a 1 1 x\n",
    )
    assert done.exit_code == 2
    assert "pass files" in done.output
    assert not (files / "c.html").exists()
