"""The command `history`: it appends entries, shows them, and writes the page."""

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
