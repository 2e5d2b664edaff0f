"""The action for GitHub and the component for GitLab: their scripts, run as the runners do."""

import json
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import yaml

from action_steps import ACTION, ROOT, SECRET, STEPS

SPEC, JOBS = yaml.safe_load_all((ROOT / "templates" / "gainful.yml").read_text())
JOB = JOBS["gainful"]
PAGE = (ROOT / "docs" / "guides" / "ci.md").read_text()
COOKING = {
    "judgments": "examples/cooking/judgments.qrels",
    "base": "examples/cooking/keyword.run",
    "runs": "examples/cooking/hybrid.run",
}
LIMIT = 1024 * 1024


def section(heading):
    """Return the example in a section of the page."""
    (found,) = re.findall(rf"^## {heading}\n.*?^```yaml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return yaml.safe_load(found)


def test_the_example_on_the_page(runner):
    (used,) = [
        step["with"]
        for step in section("GitHub")["jobs"]["gate"]["steps"]
        if "gainful" in step["uses"]
    ]
    assert runner.action(**used) == 0
    assert runner.outputs["result"]["result"] == "passed"
    assert runner.outputs["result"]["exit-code"] == "0"
    folder = runner.folder / "temp" / "gainful"
    assert runner.outputs["result"]["summary"] == str(folder / "gate.md")
    assert runner.summary.startswith("[The report, and all of this summary](https://example.org/")
    for said in ("## gainful: passed", "fail if Δ nDCG@10 ", "| RR ", "recipe-0363 1 → 14"):
        assert said in runner.summary
    assert "<html" in (folder / "report.html").read_text()
    assert 'failures="0"' in (folder / "gate.xml").read_text()
    files = [path.read_text(errors="replace") for path in folder.iterdir()]
    assert SECRET not in "".join([runner.log, runner.summary, *files])
    # The log has the table between marks that stop the runner from reading commands in it.
    stop, *_ = re.findall(r"^::stop-commands::(stop-\d+)\n", runner.log)
    assert f"\n::{stop}::\n" in runner.log


def test_a_gate_that_fails_and_blank_lines(runner):
    turned = {"base": COOKING["runs"], "runs": f"\n  {COOKING['base']}  \n\n"}
    rules = {"fail-if": "\nmissing > 0\n\n", "report": "false", "movers": "0", "fail-unless": " \n"}
    assert runner.action(**COOKING | turned | rules) == 1
    assert runner.outputs["result"]["result"] == "failed"
    assert "missing is 1" in runner.summary
    assert "documents that moved" not in runner.summary
    assert not (runner.folder / "temp" / "gainful" / "report.html").exists()


def test_a_second_step_keeps_nothing_of_the_first(runner):
    folder = runner.folder / "temp" / "gainful"
    folder.mkdir()
    for name in ("gate.xml", "report.html", "gate.md"):
        (folder / name).write_text("of an earlier step")
    assert runner.action(**COOKING, report="false", movers="0") == 0
    assert {path.name for path in folder.iterdir()} == {"gate.md", "table.txt", "messages.txt"}
    assert "earlier" not in runner.summary


def test_an_artefact_that_is_not_kept_changes_no_verdict():
    assert STEPS["Keep the report"]["continue-on-error"] is True
    assert "continue-on-error" not in STEPS["Compare"] | STEPS["Summary"] | STEPS["Verdict"]


def test_what_cannot_be_read_is_an_error_that_the_summary_says(runner):
    # Text that a shell would run, were it ever part of a script.
    odd = f'"; touch {runner.folder}/owned; echo $(touch {runner.folder}/owned) `touch {runner.folder}/owned`'
    rules = {"runs": odd, "fail-if": f"$(touch {runner.folder}/owned)", "report": "false"}
    assert runner.action(**COOKING | rules) == 2
    assert runner.outputs["result"]["result"] == "error"
    assert (
        "## gainful: nothing was compared\n\n    gainful: error: fail-if: expected a condition"
        in runner.summary
    )
    assert not (runner.folder / "owned").exists()


@pytest.mark.parametrize("letter", ["x", "Δ"])
def test_a_long_summary_is_cut_between_lines(runner, letter):
    folder = runner.folder / "temp" / "gainful"
    folder.mkdir()
    line = f"| {letter * 96} |\n"
    (folder / "gate.md").write_text("## gainful: passed\n\n" + line * 20_000)
    runner.outputs = {"compare": {"exit-code": "0"}, "upload": {"artifact-url": "https://x/1"}}
    assert runner.step("Summary", {}) == 0
    assert len(runner.summary.encode()) < LIMIT
    *kept, blank, last = runner.summary.splitlines()
    assert len(runner.summary.encode()) > LIMIT * 0.98
    assert {f"{each}\n" for each in kept[4:]} == {line}
    assert blank == ""
    assert "cut here" in last
    # One that fits is whole.
    (folder / "gate.md").write_text("short\n")
    runner.summary = ""
    runner.step("Summary", {})
    assert runner.summary.endswith("\n\nshort\n")


def test_it_installs_itself(runner):
    told = runner.folder / "told"
    (runner.folder / "programs" / "python").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {told}\n')
    assert runner.step("Install", {}, GITHUB_ACTION_PATH="/a folder/gainful") == 0
    assert told.read_text().splitlines()[-1] == "/a folder/gainful[report]"


def test_no_input_is_text_of_a_script():
    for step in STEPS.values():
        assert "${{" not in step.get("run", "")
    assert not any("$[[" in line for line in [*JOB["script"], *JOB["before_script"]])
    for names in ACTION["outputs"].values():
        assert re.fullmatch(r"\$\{\{ steps\.(result|upload)\.outputs\.[a-z-]+ \}\}", names["value"])


def test_both_compare_in_the_same_way():
    (script,) = JOB["script"]
    shared, _, _ = STEPS["Compare"]["run"].partition("# Lines of files")
    assert shared in script
    inputs = {name for name in ACTION["inputs"] if name not in ("artifact", "install")}
    assert {*SPEC["spec"]["inputs"]} == inputs | {"stage", "image", "package"}
    for name in inputs:
        ours, theirs = ACTION["inputs"][name], SPEC["spec"]["inputs"][name]
        assert ours.get("default") == theirs.get("default")
        assert f"`{name}`" in PAGE
    assert {*STEPS["Compare"]["env"]} == {*JOB["variables"]} - {"GAINFUL_PACKAGE"}


class Notes(BaseHTTPRequestHandler):
    """Takes notes as GitLab does, or refuses them."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.append((self.path, self.headers["PRIVATE-TOKEN"], body["body"]))
        self.send_response(self.server.answer)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def gitlab():
    server = HTTPServer(("127.0.0.1", 0), Notes)
    server.told, server.answer = [], 201
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("answer", [201, 403])
def test_gitlab(environment, tmp_path, gitlab, answer):
    gitlab.answer = answer
    (used,) = [each["inputs"] for each in section("GitLab")["include"]]
    described = SPEC["spec"]["inputs"]
    inputs = {name: each.get("default") for name, each in described.items()} | used
    inputs |= {"report": "false", "fail-if": "missing > 0\nΔ nDCG@10 > 0"}
    values = {
        name: re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda found: inputs[found[1]], text)
        for name, each in JOB["variables"].items()
        for text in [each if isinstance(each, str) else each["value"]]
    }
    for each in COOKING.values():
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text((ROOT / each).read_text())
    done = subprocess.run(
        ["sh", "-ec", *JOB["script"]],
        env=environment
        | values
        | {
            "CI_API_V4_URL": f"http://127.0.0.1:{gitlab.server_port}/api/v4",
            "CI_PROJECT_ID": "7",
            "CI_MERGE_REQUEST_IID": "3",
            "GAINFUL_NOTE_TOKEN": SECRET,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    folder = tmp_path / JOB["artifacts"]["paths"][0]
    assert 'failures="1"' in (tmp_path / JOB["artifacts"]["reports"]["junit"]).read_text()
    ((path, token, body),) = gitlab.told
    assert (path, token) == ("/api/v4/projects/7/merge_requests/3/notes", SECRET)
    assert body == (folder / "gate.md").read_text()
    assert "## gainful: failed" in body
    assert "recipe-0363 1 → 14" in body
    assert ("GitLab took no note: 403" in done.stderr) == (answer == 403)
    files = [each.read_text() for each in folder.iterdir()]
    assert SECRET not in "".join([done.stdout, done.stderr, *files])


GIVEN = {"report": "false", "movers": "0", "base": "base.run", "runs": "new.run"}
# Judgments in each form that a run may have, too; the new run is worse by them.
FORMS = {
    "judged.json": json.dumps({f"q{i}": {"a": 1, "b": 0} for i in range(12)}),
    "judged.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"q{i}\ta\t1\nq{i}\tb\t0\n" for i in range(12)),
    "judged.qrels": "".join(f"q{i} 0 a 1\nq{i} 0 b 0\n" for i in range(12)),
}  # fmt: skip


@pytest.fixture
def repository(tmp_path):
    """A repository with a project file that names other judgments, measures and a gate, and runs code."""
    folder = tmp_path / "repository"
    folder.mkdir()
    for name, (first, second) in {"base.run": "ab", "new.run": "ba"}.items():
        rows = (f"q{i} Q0 {first} 1 2 t\nq{i} Q0 {second} 2 1 t\n" for i in range(12))
        (folder / name).write_text("".join(rows))
    for name, text in FORMS.items():
        (folder / name).write_text(text)
    (folder / "other.json").write_text(json.dumps({f"q{i}": {"b": 1} for i in range(12)}))
    (folder / "pwn.py").write_text(
        "open('pwned', 'w')\nimport gainful as gf\nm = gf.measures.define('m', gain={1: 1})"
    )
    return folder


@pytest.mark.parametrize("is_same", [False, True])
@pytest.mark.parametrize("judgments", FORMS)
@pytest.mark.parametrize("config", ["", "gainful.toml"])
def test_judgments_stay_judgments_beside_a_project_file(
    runner, repository, is_same, judgments, config
):
    """Whether the project's file names the same ones or others, and whether or not it counts."""
    named = judgments if is_same else "other.json"
    (repository / "gainful.toml").write_text(
        f'judgments = "{named}"\nmeasures = "RR"\n[policy]\nunjudged = "zero"\n[gate]\nfail_if = "Δ RR < 0"\n'
    )
    runner.at = repository
    code = runner.action(**GIVEN, judgments=judgments, measures="nDCG@10", config=config)
    assert code == 0, runner.log
    assert "nDCG@10: new is worse than base" in " ".join(runner.log.split())
    assert "judged" not in runner.summary.replace("unjudged", "")
    assert ("gainful.toml: unjudged=zero" in runner.log) == bool(config)


def test_code_of_a_project_file_needs_trust_in_the_action(runner, repository, monkeypatch):
    (repository / "gainful.toml").write_text('define = ["pwn:m"]\n')
    runner.at = repository
    given = {**GIVEN, "judgments": "judged.qrels"}
    assert runner.action(**given) == 0
    assert runner.action(**given, config="gainful.toml") == 2
    assert "expected a file that you trust to run code" in runner.summary
    assert not (repository / "pwned").exists()
    runner.environment["GAINFUL_TRUST"] = "1"
    assert runner.action(**given, config="gainful.toml") == 0
    assert (repository / "pwned").exists()
