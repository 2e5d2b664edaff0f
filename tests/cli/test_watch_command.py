"""The command `watch`: its exit codes, its files, its webhook, and its settings."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf
from example_programs import EXAMPLES
from hook_server import hook_server

SEARCH = """
import json, pathlib
DOCS = json.loads(pathlib.Path(__file__).with_name("docs.json").read_text())
def find(query):
    words = set(query.lower().split())
    return sorted(DOCS, key=lambda doc: (-len(words & set(DOCS[doc].lower().split())), doc))[:10]
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    for name in ("judgments.qrels", "keyword.run", "hybrid.run", "queries.tsv", "docs.tsv"):
        shutil.copy(EXAMPLES / "cooking" / name, tmp_path)
    rows = [line.split("\t") for line in (tmp_path / "docs.tsv").read_text().splitlines()[1:]]
    (tmp_path / "docs.json").write_text(json.dumps({row[0]: " ".join(row[1:]) for row in rows}))
    (tmp_path / "search.py").write_text(SEARCH)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def watch(cli):
    """Return a function that watches on the next day."""
    days = iter(range(1, 28))

    def call(*words):
        return cli("watch", *words, "--time", f"2026-05-{next(days):02}")

    return call


def labels(path="s.history"):
    return [entry.label for entry in gf.history.read(path)]


def test_the_paragraph_the_exit_code_and_the_files(files, watch):
    first = watch("judgments.qrels", "search=hybrid.run", "--store", "s.history", "--label", "1.0")
    assert first.returncode == 0, first.stderr
    assert "There is no earlier entry" in " ".join(first.stdout.split())
    assert "s.history: added search, 1.0" in first.stderr
    done = watch(
        "judgments.qrels", "search=keyword.run", "--store", "s.history", "--fail-if", "Δ nDCG@10 < -0.01",
        "--summary", "s.md", "--openmetrics", "s.prom", "--commit", "abc",
    )  # fmt: skip
    assert done.returncode == 1
    paragraph = " ".join(done.stdout.split())
    assert paragraph.startswith(
        "Failed: 1 of 1 condition. search (2026-05-02 00:00 UTC): nDCG@10 0.4400"
    )
    assert paragraph in Path("s.md").read_text().replace("\n", " ")
    assert 'gainful_condition_failed{run="search",condition="fail if Δ nDCG@10 < -0.01"} 1.0\n' in Path("s.prom").read_text()  # fmt: skip
    assert labels() == ["1.0", ""]
    assert gf.history.read("s.history")[-1].commit == "abc"


def test_the_output_has_every_format(files, watch):
    done = watch("judgments.qrels", "keyword.run", "--store", "s.sqlite", "-f", "json")
    assert json.loads(done.stdout)["result"] == "passed"
    done = watch("judgments.qrels", "keyword.run", "--store", "s.sqlite", "-f", "csv")
    assert done.stdout.startswith("run,measure,mean,low,high,baseline,difference,")


def test_a_run_is_recorded_from_a_service(files, watch):
    words = ("judgments.qrels", "--queries", "queries.tsv", "--call", "search:find", "--depth", "10", "--tag", "mine")  # fmt: skip
    done = watch(*words, "--store", "s.history", "--keep-runs", "runs")
    assert done.returncode == 0, done.stderr
    (entry,) = gf.history.read("s.history")
    sys.path.insert(0, str(files))
    try:
        from search import find

        run = gf.record("queries.tsv", find, depth=10, tag="mine")
    finally:
        sys.path.remove(str(files))
    assert entry.run == "mine"
    assert entry.means == dict(gf.evaluate("judgments.qrels", run))
    assert [path.name for path in Path("runs").iterdir()] == [
        "mine.20260501T000000.000000.jsonl.gz"
    ]


PROJECT = """
judgments = "judgments.qrels"
measures = ["nDCG@10", "RR"]
[run]
call = "search:find"
[gate]
fail_if = ["Δ nDCG@10 < -0.01", "missing > 3"]
[watch]
store = "kept/s.duckdb"
queries = "queries.tsv"
fail_on_drop = true
baseline = "release"
openmetrics = "s.prom"
level = 0.9
"""


def test_the_project_file_has_everything(files, cli, monkeypatch):
    Path("gainful.toml").write_text(PROJECT)
    Path("kept").mkdir()
    Path("inside").mkdir()
    monkeypatch.chdir("inside")
    refused = cli("watch")
    assert refused.returncode == 2
    assert "watch.store" in refused.stderr
    assert not any(Path("../kept").iterdir())
    done = cli("--trust", "watch", "--label", "1.0")
    assert done.returncode == 0, done.stderr
    assert labels("../kept/s.duckdb") == ["1.0"]
    assert Path("../s.prom").exists()
    done = cli("--trust", "watch", "../keyword.run")  # no service then
    assert done.returncode == 0, done.stderr
    assert [entry.run for entry in gf.history.read("../kept/s.duckdb")] == ["find", "keyword"]


@pytest.mark.parametrize("setting", ['fail_on_drop = "yes"', "store = 3", 'baselin = "last"'])
def test_a_wrong_setting_is_named(files, cli, setting):
    Path("gainful.toml").write_text(f"[watch]\n{setting}\n")
    done = cli("watch", "judgments.qrels", "keyword.run", "--store", "s.history")
    assert done.returncode == 2
    assert f"gainful.toml, watch.{setting.split()[0]}" in done.stderr


def test_the_webhook_gets_the_result(files, watch, monkeypatch):
    words = ("judgments.qrels", "search=hybrid.run", "--store", "s.history")
    Path("hook.json").write_text('{"content": "{result}: {runs}", "all": "{details}"}')
    with hook_server() as server:
        monkeypatch.setenv("CHAT_URL", server.url)
        assert watch(*words, "--webhook", "CHAT_URL").returncode == 0
        assert watch(*words, "--webhook", "CHAT_URL", "--webhook-template", "hook.json").returncode == 0  # fmt: skip
    first, second = (json.loads(body) for _, _, body in server.requests)
    assert first["text"].startswith(
        "gainful watch: passed. search (2026-05-01 00:00 UTC): nDCG@10 0."
    )
    assert second["content"] == "passed: search"
    assert second["all"]["runs"][0]["run"] == "search"


@pytest.mark.parametrize(("rule", "code"), [("missing > 100", 2), ("missing < 100", 1)])
def test_a_webhook_that_fails_never_loses_the_entry(files, watch, monkeypatch, rule, code):
    with hook_server(404, 404) as server:
        monkeypatch.setenv("CHAT_URL", server.url)
        words = ("judgments.qrels", "hybrid.run", "--store", "s.history", "--fail-if", rule, "--webhook", "CHAT_URL")  # fmt: skip
        done = watch(*words, "--label", "1.0", "--openmetrics", "s.prom")
    assert done.returncode == code
    assert "webhook: expected an answer, found 404" in done.stderr
    assert "SECRET" not in done.stderr
    assert labels() == ["1.0"]
    assert Path("s.prom").exists()
    assert "nDCG@10 0." in done.stdout


def test_a_failure_to_measure_is_posted_too(files, watch, monkeypatch):
    words = ("judgments.qrels", "--queries", "queries.tsv", "--command", f"{sys.executable} none.py", "--store", "s.history")  # fmt: skip
    with hook_server() as server:
        monkeypatch.setenv("CHAT_URL", server.url)
        done = watch(*words, "--retries", "0", "--webhook", "CHAT_URL")
    assert done.returncode == 2
    assert not Path("s.history").exists()
    ((_, _, body),) = server.requests
    assert json.loads(body)["text"].startswith("gainful watch: error. Nothing was measured. ")


def test_a_dry_run_writes_nothing(files, watch, monkeypatch):
    with hook_server() as server:
        monkeypatch.setenv("CHAT_URL", server.url)
        done = watch(
            "judgments.qrels", "hybrid.run", "--store", "s.history", "--dry-run", "--summary", "s.md", "--openmetrics", "s.prom",
            "--keep-runs", "runs", "--webhook", "CHAT_URL",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not server.requests
    assert not {"s.history", "s.md", "s.prom", "runs"} & set(os.listdir())  # noqa: PTH208
    for said in ("nothing was added to s.history", "would write s.md", "would write s.prom", 'would post {"text": '):  # fmt: skip
        assert f"dry run: {said}" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Expected JUDGMENTS RUN"),
        (["judgments.qrels", "hybrid.run"], "Name the history: --store"),
        (["judgments.qrels", "--store", "s.history"], "Pass a RUN, or the search service"),
        (["judgments.qrels", "hybrid.run", "--store", "s.history", "--call", "search:find"], "--call records a run"),
        (["judgments.qrels", "--store", "s.history", "--call", "search:find"], "QUERIES"),
        (["judgments.qrels", "--store", "s.history", "--call", "search:find", "--url", "http://x"], "exactly one of"),
        (["judgments.qrels", "hybrid.run", "--store", "judgments.qrels"], "a history that gainful wrote"),
        (["judgments.qrels", "hybrid.run", "--store", "s.history", "--baseline", "2.0"], "last, release, or the label"),
        (["judgments.qrels", "hybrid.run", "--store", "s.history", "--webhook", "NO_SUCH"], "environment variable"),
        (["judgments.qrels", "hybrid.run", "--store", "s.history", "--fail-if", "Δ AP < 0"], "AP"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_rejected(files, cli, words, said):
    done = cli("watch", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not Path("s.history").exists()


def test_a_broken_pipe_is_no_failure(files):
    command = (
        f"{sys.executable} -m gainful watch judgments.qrels hybrid.run --store s.history | true"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert "Traceback" not in done.stderr
    assert len(labels()) == 1
