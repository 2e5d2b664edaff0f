"""The files in examples/watch: they can be parsed, their commands run, and their names of metrics exist."""

import json
import os
import re
import shlex
import shutil
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

import gainful as gf
from example_programs import EXAMPLES
from hook_server import hook_server

FILES = EXAMPLES / "watch"
COOKING = EXAMPLES / "cooking"


@contextmanager
def search_service(run, *, worst_first=False):
    """Run a server that answers like OpenSearch, with the documents of a run."""
    rows = [line.split("\t") for line in (COOKING / "queries.tsv").read_text().splitlines()]
    ids = {row[1]: row[0] for row in rows}
    lists = {}
    for line in run.read_text().splitlines():
        query, _, doc, _, score, _ = line.split()
        lists.setdefault(query, []).append((float(score), doc))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            words = re.findall(r'"((?:[^"\\]|\\.)*)"', sent)
            query = next(ids[json.loads(f'"{word}"')] for word in words if json.loads(f'"{word}"') in ids)  # fmt: skip
            found = sorted(lists.get(query, []), reverse=not worst_first)
            hits = [{"_id": doc, "_score": score} for score, doc in found]
            shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
            answer = {"timed_out": False, "_shards": shards, "hits": {"hits": hits}}
            content = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with the judgments and queries that the examples name, and the variables that they need."""
    for name in ("judgments.qrels", "queries.tsv"):
        shutil.copy(COOKING / name, tmp_path)
    shutil.copy(FILES / "chat.json", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEARCH_KEY", "user:password")
    for name in ("history", "data"):
        (tmp_path / name).mkdir()
    return tmp_path


def called(cli, line, **variables):
    """Call the gainful command in a line of a shell."""
    command = re.search(r"gainful [^\n&]*watch[^\n]*", line)[0]
    for name, value in variables.items():
        command = command.replace(f"${name}", value)
    return cli(*shlex.split(command)[1:])


def settings(text, address, **others):
    """Return settings that name the test's own server."""
    text = re.sub(r"http://(localhost|opensearch):9200", address, text)
    for before, after in others.items():
        assert before in text
        text = text.replace(before, after)
    return text


def test_the_line_of_cron_fails_when_the_search_becomes_worse(project, cli, monkeypatch):
    line = (FILES / "search.crontab").read_text().splitlines()[-1]
    assert re.match(r"\d+ \d+ \* \* \*  cd ", line)
    codes = []
    for label, worst_first in (("1.0", False), ("", True)):
        service = search_service(COOKING / "hybrid.run", worst_first=worst_first)
        with service as address, hook_server() as hook:
            monkeypatch.setenv("CHAT_URL", hook.url)
            Path("gainful.toml").write_text(settings((FILES / "gainful.toml").read_text(), address))
            done = called(cli, f"{line} --label '{label}'")
            codes.append((done.returncode, json.loads(hook.requests[0][2])["text"]))
    assert codes == [(0, "gainful watch: passed"), (1, "gainful watch: failed")], done.stderr
    history = gf.history.read("search.history")
    assert [entry.run for entry in history] == ["opensearch"] * 2
    expected = gf.evaluate("judgments.qrels", COOKING / "hybrid.run", "nDCG@10")
    assert history[0].means["nDCG@10"] == pytest.approx(expected["nDCG@10"], abs=0.02)  # ties
    assert Path("search.prom").read_text().endswith("# EOF\n")
    assert Path("watch.md").read_text().startswith("## gainful watch: failed")
    assert len(os.listdir("runs")) == 2  # noqa: PTH208


def test_the_step_of_the_schedule_on_github(project, cli, monkeypatch):
    workflow = yaml.safe_load((FILES / "github.yml").read_text())
    (job,) = workflow["jobs"].values()
    (step,) = (one for one in job["steps"] if "gainful --" in one.get("run", ""))
    assert (
        workflow[True]["schedule"][0]["cron"].split()[1] == "6"
    )  # YAML reads on: as a truth value
    with search_service(COOKING / "hybrid.run") as address, hook_server() as hook:
        monkeypatch.setenv("CHAT_URL", hook.url)
        Path("gainful.toml").write_text(settings((FILES / "gainful.toml").read_text(), address))
        done = called(cli, step["run"], LABEL="1.0", GITHUB_SHA="abc", GITHUB_STEP_SUMMARY="step_summary_1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (entry,) = gf.history.read("history/search.history")
    assert (entry.label, entry.commit) == ("1.0", "abc")
    assert Path("step_summary_1").read_text().startswith("## gainful watch: passed")


def test_the_job_of_kubernetes(project, cli, monkeypatch):
    settings_of, job = yaml.safe_load_all((FILES / "kubernetes.yaml").read_text())
    spec = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    volumes = {volume["name"] for volume in spec["volumes"]}
    assert volumes == {mount["name"] for mount in container["volumeMounts"]}
    assert spec["volumes"][0]["configMap"]["name"] == settings_of["metadata"]["name"]
    assert len(job["spec"]["schedule"].split()) == 5
    for name in ("judgments.qrels", "queries.tsv"):
        shutil.copy(COOKING / name, project / "data")
    (script,) = container["args"]
    script = script.replace("/etc/gainful/gainful.toml", "gainful.toml")
    with search_service(COOKING / "hybrid.run") as address, hook_server() as hook:
        monkeypatch.setenv("CHAT_URL", hook.url)
        text = settings(
            settings_of["data"]["gainful.toml"], address, **{"/data": f"{project}/data"}
        )
        store = "postgresql://gainful@postgres/search"
        Path("gainful.toml").write_text(text.replace(store, f"{project}/search.sqlite"))
        done = called(cli, script)
    assert done.returncode == 0, done.stderr
    assert [entry.run for entry in gf.history.read("search.sqlite")] == ["opensearch"]
    assert (project / "data" / "runs").exists()


def metrics_of(text):
    return set(re.findall(r"\bgainful_\w+", text))


@pytest.fixture
def written(tmp_path):
    """The names of all metrics."""
    judged = {f"q{at}": {"a": 1} for at in range(12)}
    run = {query: {"b": 1.0, "a": 0.5} for query in judged}
    for day in (1, 2):
        watched = gf.history.watch(
            tmp_path / "h",
            judged,
            {"search": run},
            "RR",
            time=f"2026-05-0{day}",
            fail_if="Δ RR < 0",
        )
    return {line.split()[2] for line in watched.to_openmetrics().splitlines() if "# TYPE" in line}


def test_the_dashboard_shows_metrics_that_exist(written):
    dashboard = json.loads((FILES / "grafana.json").read_text())
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    named = {variable["name"] for variable in dashboard["templating"]["list"]}
    for panel in panels:
        x, width = panel["gridPos"]["x"], panel["gridPos"]["w"]
        assert x + width <= 24
        for target in panel["targets"]:
            assert target["datasource"]["uid"] == "${datasource}"
            assert set(re.findall(r"\$(\w+)", target["expr"])) <= named
            assert target["expr"].count("{") == target["expr"].count("}")
    shown = metrics_of(json.dumps(dashboard))
    assert shown <= written
    assert {
        "gainful_mean",
        "gainful_mean_low",
        "gainful_failed",
        "gainful_condition_failed",
    } <= shown


def test_the_alerts_are_about_metrics_that_exist(written):
    rules = yaml.safe_load((FILES / "alerts.yml").read_text())
    (group,) = rules["groups"]
    for rule in group["rules"]:
        assert {"alert", "expr", "annotations"} == {*rule}
        assert metrics_of(rule["expr"]) <= written
