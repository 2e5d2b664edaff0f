"""The command `history`: it appends entries, shows them, and writes the page."""

import json
import shutil
from pathlib import Path

import pytest

import gainful as gf
from example_programs import EXAMPLES


@pytest.fixture
def files(tmp_path, monkeypatch):
    for name in ("judgments.qrels", "keyword.run", "hybrid.run"):
        shutil.copy(EXAMPLES / "cooking" / name, tmp_path)
    monkeypatch.chdir(tmp_path)


def test_entries_are_added_and_shown(files, cli):
    for run, label in (("keyword", "1.0"), ("hybrid", "2.0")):
        done = cli(
            *("history", "add", "s.history", "judgments.qrels", f"search={run}.run"),
            *(
                "--label",
                label,
                "--commit",
                "abc",
                "--time",
                "2026-05-01T06:00",
                "-m",
                "nDCG@10 RR",
            ),
        )
        assert done.returncode == 0, done.stderr
        assert f"s.history: added search, {label}" in done.stderr
        assert done.stdout.split()[:3] == ["run", "nDCG@10", "RR"]
    history = gf.history.read("s.history")
    expected = gf.evaluate("judgments.qrels", "hybrid.run", ["nDCG@10", "RR"])
    assert history["2.0"].means == dict(expected)
    assert (history["2.0"].run, history["2.0"].commit) == ("search", "abc")
    shown = cli("history", "show", "s.history", "-f", "csv").stdout.splitlines()
    assert shown[0] == "time,run,label,commit,nDCG@10,RR"
    assert shown[1].startswith("2026-05-01 06:00,search,1.0,abc,")
    assert "tested together at 95%" in cli("history", "show", "s.history", "--changes").stdout


def test_the_old_run_is_measured_again(files, cli):
    text = "s.history", "judgments.qrels", "hybrid.run"
    assert cli("history", "add", *text, "--again", "keyword.run").returncode == 0
    again = gf.history.read("s.history")[0].again
    expected = gf.evaluate("judgments.qrels", "keyword.run", "nDCG@10")
    assert again.values.tolist() == expected.values.tolist()


def test_the_page_is_complete_and_safe(files, cli):
    scores = gf.evaluate("judgments.qrels", "keyword.run", "nDCG@10")
    gf.history.add("s.history", scores, label="</script><script>alert(1)</script>")
    assert cli("history", "page", "s.history", "-o", "page.html").returncode == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.rstrip() == gf.history.page("s.history")
    assert "alert(1)</script>" not in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "s.history"], "Expected add FILE JUDGMENTS RUN"),
        (["add", "s.history", "judgments.qrels", "keyword.run", "hybrid.run", "--again", "keyword.run"], "one RUN at a time"),
        (["add", "judgments.qrels", "judgments.qrels", "keyword.run"], "a history that gainful wrote"),
        (["show", "s.history", "keyword.run"], "found also keyword.run"),
        (["show", "s.history", "--label", "x"], "--label needs the action add"),
        (["page", "s.history", "--changes"], "--changes needs the action show"),
        (["show", "none.history"], "No such file"),
        (["remove", "s.history"], "remove"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_rejected(files, cli, arguments, said):
    done = cli("history", *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


@pytest.fixture
def history(files):
    """Entries of search (1.0 and one without a label) and, if asked for, of another run."""
    for run, name, day in (("keyword", "1.0", 1), ("hybrid", "", 2)):
        scores = gf.evaluate("judgments.qrels", f"{run}.run", "nDCG@10")
        gf.history.add("s.history", scores, run="search", label=name, time=f"2026-05-0{day}")
    return gf.history.read("s.history")


def differences(done):
    assert done.returncode == 0, done.stderr
    return [(row["baseline"], row["difference"]) for row in json.loads(done.stdout)["differences"]]


def test_an_entry_is_the_baseline_of_a_comparison(history, cli):
    for name, entry in (("last", history[1]), ("release", history[0]), ("1.0", history[0])):
        done = cli("compare", "judgments.qrels", f"s.history@{name}", "hybrid.run", "-f", "json")
        fresh = {"base": entry.scores, "hybrid": "hybrid.run"}
        expected = gf.compare("judgments.qrels", fresh, "nDCG@10")["hybrid", "nDCG@10"]
        assert differences(done) == [(entry.title, expected.difference)]
    assert expected.difference > 0.1
    named = cli("compare", "--scores", "a=s.history@release", "b=s.history@last", "-f", "json")
    assert differences(named) == [("a", expected.difference)]
    page = cli("report", "judgments.qrels", "s.history@1.0", "hybrid.run", "-o", "page.html")
    assert page.returncode == 0, page.stderr


def test_an_entry_of_several_runs_is_named_with_its_run(history, cli):
    scores = gf.evaluate("judgments.qrels", "hybrid.run", "nDCG@10")
    gf.history.add("s.history", scores, run="a@b", label="a@b", time="2026-05-03")
    line = ("compare", "judgments.qrels", "s.history@release", "hybrid.run", "-f", "json")
    done = cli(*line)
    assert done.returncode == 2
    assert "several runs: search, a@b" in done.stderr
    assert "s.history@search@release" in done.stderr
    assert differences(cli(*line[:2], "s.history@a@b@a@b", *line[3:])) == [("a@b", 0)]
    both = differences(cli(*line[:2], "s.history@search@release", *line[3:]))
    assert both == [("1.0", pytest.approx(history[1].means["nDCG@10"] - history[0].means["nDCG@10"]))]  # fmt: skip


def test_an_entry_that_does_not_exist_is_rejected(history, cli):
    for run, said in (
        ("s.history@1.1", "Did you mean '1.0'?"),
        ("none.history@last", "none.history@last"),
        ("keyword.run@last", "a history that gainful wrote"),
    ):
        done = cli("compare", "judgments.qrels", run, "hybrid.run")
        assert done.returncode == 2
        assert said in done.stderr
    shutil.copy("hybrid.run", "s.history@last")  # a file of that name is a run
    done = cli("compare", "judgments.qrels", "s.history@last", "hybrid.run", "-f", "json")
    assert [difference for _, difference in differences(done)] == [0]


def test_the_last_release_may_repeat_a_label(history):
    for day, label in ((3, "2.0"), (4, "1.0")):
        scores = gf.evaluate("judgments.qrels", "hybrid.run", "nDCG@10")
        gf.history.add("s.history", scores, run="search", label=label, time=f"2026-05-0{day}")
    read = gf.history.read("s.history")
    assert read.entry("release") is read[3]
    assert read.entry("1.0") is read[3]
    gf.history.add("s.history", scores, run="other")
    with pytest.raises(gf.errors.InputError, match="search, other"):
        gf.history.read("s.history").entry("last")
    with pytest.raises(gf.errors.InputError, match="no label"):
        gf.history.read("s.history").entry("release", "other")
