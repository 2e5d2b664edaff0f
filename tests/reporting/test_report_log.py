"""The section of the report about the click log behind the judgments."""

import pytest

import gainful as gf
from example_programs import EXAMPLES

CLICKS = EXAMPLES / "clicks"
RUNS = {name: CLICKS / f"{name}.run" for name in ("old", "new")}
LOG = gf.behaviour.read_log(CLICKS / "impressions.csv", columns={"doc": "product"})


def test_judgments_from_clicks_bring_their_log():
    judgments = gf.behaviour.click_judgments(LOG, "ctr")
    section = gf.report(judgments, RUNS, "nDCG@5", resamples=50).payload()["log"]
    assert section["summary"] == LOG.summary
    assert section["columns"] == ["rank", "shown", "clicks", "click rate", "examination", "95% low", "95% high"]  # fmt: skip
    bias = gf.behaviour.position_bias(LOG, resamples=100, depth=20)
    assert [row[:4] for row in section["rows"]] == [[r.rank, r.shown, r.clicks, r.rate] for r in LOG.ranks]  # fmt: skip
    assert [row[4:] for row in section["rows"]] == [[r.examination, r.low, r.high] for r in bias]
    assert section["examination"] == bias.summary
    assert {row["run"] for row in section["chart"]} == {"estimated", "1/log2(rank + 1)", "1/rank", "RBP(0.8)"}  # fmt: skip
    assert section["oddities"] == []


def test_any_judgments_with_a_log():
    rows = [
        {"session": s, "query": "q", "doc": doc, "position": place, "clicked": int(s % 3 == 0 and doc == "a")}
        for s in range(9) for place, doc in enumerate(["a", "b", "a"], 1)
    ]  # fmt: skip
    judgments = {"q": {"a": 1}}
    page = gf.report(judgments, {"one": {"q": ["a", "b"]}}, "RR", log=rows)
    assert page.payload()["log"]["oddities"] == [
        "Documents shown again in the same list: 9 (counted once, at their first position)"
    ]
    assert gf.report(judgments, {"one": {"q": ["a", "b"]}}, "RR").payload()["log"] is None
    # All documents are at one rank, so nothing separates documents from ranks.
    flat = [
        {"query": "q", "doc": d, "impressions": 9, "clicks": c} for d, c in (("a", 3), ("b", 1))
    ]
    section = gf.report(judgments, {"one": {"q": ["a", "b"]}}, "RR", log=flat).payload()["log"]
    assert section["examination"] is None
    assert section["chart"] == []
    assert section["columns"] == ["rank", "shown", "clicks", "click rate"]


def test_on_the_command_line(cli, tmp_path):
    gf.write_judgments(gf.behaviour.click_judgments(LOG, "ctr"), tmp_path / "clicks.qrels")
    files = [str(tmp_path / "clicks.qrels"), *(str(run) for run in RUNS.values())]
    target = str(tmp_path / "page.html")
    log = ["--log", str(CLICKS / "impressions.csv")]
    done = cli("report", *files, *log, "--columns", "log.doc=product", "-o", target)
    assert done.returncode == 0, done.stderr
    assert LOG.summary in (tmp_path / "page.html").read_text()
    done = cli("report", *files, "--columns", "log.doc=product", "-o", target)
    assert done.returncode == 2
    assert "--columns log.doc needs --log" in done.stderr


@pytest.mark.parametrize("wrong", [{"q": {"a": 1}}, 3])
def test_what_is_no_log_is_rejected(wrong):
    with pytest.raises(gf.errors.GainfulError):
        gf.report({"q": {"a": 1}}, {"one": {"q": ["a"]}}, "RR", log=wrong)
