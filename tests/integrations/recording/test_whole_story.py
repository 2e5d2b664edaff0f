"""From a search service to a decision: two versions are recorded, and gated by pytest and by the action for GitHub."""

import json
import sqlite3
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from action_steps import SECRET
from gainful.cli.commands import commands
from page_data import payload_in
from pytest_suites import keep_modules  # noqa: F401 - a fixture
from search_server import plain, serving

pytest_plugins = ["pytester"]

WORDS = [
    "bread",
    "butter",
    "cheese",
    "coffee",
    "garlic",
    "honey",
    "lemon",
    "onion",
    "pepper",
    "rice",
    "salt",
    "tomato",
]
MOVED = WORDS[3:]  # of the others there is one document, which no weight moves
FAIL_IF = "Δ nDCG@10 < -0.01"


def service():
    """Return a search service: SQLite's FTS5 over titles and texts, each with the weight that a request asks for."""
    base = sqlite3.connect(":memory:", check_same_thread=False)
    base.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, title, text)")
    for word in WORDS:
        docs = [(f"about-{word}", f"all about {word}", "what one should know")]
        if word in MOVED:
            docs.append((f"with-{word}", "a recipe of my aunt", f"{word} and more {word}"))
        base.executemany("INSERT INTO docs VALUES (?, ?, ?)", docs)
    lock = threading.Lock()
    sql = "SELECT id, -bm25(docs, 0, ?, ?) AS score FROM docs WHERE docs MATCH ? ORDER BY score DESC, id LIMIT ?"

    def answer(asked, _):
        weights = (float(asked.body["title"]), float(asked.body["text"]))
        with lock:
            return plain(base.execute(sql, (*weights, asked.query, asked.body["size"])).fetchall())

    return answer


def record(server, name, **weights):
    """Record a version of the service by the command line."""
    template = {"query": "{query}", "size": "{depth}", **weights}
    Path(f"{name}.json").write_text(json.dumps(template))
    paths = ["--ids", "hits[*].id", "--scores", "hits[*].score"]
    called = ["run", "queries.tsv", "--url", server.url, "--template", f"{name}.json", *paths]
    options = ["--key-variable", "SEARCH_TOKEN", "--tag", name, "-o", f"{name}.run"]
    done = CliRunner().invoke(commands, [*called, *options])
    assert done.exit_code == 0, (done.output, done.exception)
    assert f"{name}: 12 of 12 queries recorded; 12 calls" in done.stderr
    return done.output


@pytest.fixture
def gated(pytester, monkeypatch):
    """Return a function that gates a run by the plug-in, in a test suite of its own."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)

    def call(base, run, **outcomes):
        pytester.makepyfile(
            f"""
            def test_search(ranking_gate):
                ranking_gate("judgments.qrels", "{base}.run", "{run}.run", "nDCG@10", fail_if="{FAIL_IF}")
            """
        )
        found = pytester.runpytest_inprocess("-p", "gainful.integrations.pytest")
        found.assert_outcomes(**outcomes)
        return found.stdout.str()

    return call


def test_two_versions_of_a_service_are_recorded_and_gated(pytester, gated, runner, monkeypatch):
    monkeypatch.setenv("SEARCH_TOKEN", SECRET)
    Path("queries.tsv").write_text("".join(f"{word}\t{word}\n" for word in WORDS))
    Path("judgments.qrels").write_text(
        "".join(f"{word} 0 about-{word} 2\n" for word in WORDS)
        + "".join(f"{word} 0 with-{word} 1\n" for word in MOVED)
    )
    with serving(service()) as server:
        said = [
            record(server, "titles", title=10, text=1),
            record(server, "texts", title=1, text=10),
        ]
        asked = [each.query for each in server.requests]
        assert sorted(asked) == sorted(WORDS * 2)
        assert {each.headers["Authorization"] for each in server.requests} == {f"Bearer {SECRET}"}

    said += [gated("titles", "texts", failed=1), gated("texts", "titles", passed=1)]
    # About-… has gone from rank 1 to 2: (1 + 2 / log2(3)) / (2 + 1 / log2(3)) = 0.8597.
    moved = "nDCG@10 rice 1.0000 → 0.8597 (-0.1403): "
    assert f"fail if {FAIL_IF}: -0.1052, 95% interval -0." in said[-2]
    assert moved in said[-2]
    assert "about-rice 1 → 2" in said[-2]
    assert not any(f"nDCG@10 {word} " in said[-2] for word in {*WORDS} - {*MOVED})
    assert "0 of 1 gates failed" in said[-1]

    here = Path.cwd()
    files = {"judgments": f"{here}/judgments.qrels", "fail-if": f"{FAIL_IF}\nmissing > 0"}
    turned = {"base": f"{here}/titles.run", "runs": f"{here}/texts.run", "movers": "9"}
    assert runner.action(**files, **turned) == 1
    assert runner.outputs["result"]["result"] == "failed"
    folder = runner.folder / "temp" / "gainful"
    page = payload_in((folder / "report.html").read_text())
    assert page["verdicts"][0]["word"] == "worse"
    assert "## gainful: failed" in runner.summary
    for place, query in enumerate(page["queries"]):
        word, detail = query["id"], page["details"][str(place)]
        ranks = {detail["docs"][doc][0]: (old, new) for doc, old, new, _ in detail["parts"][1]}
        moved = {f"about-{word}": (1, 2), f"with-{word}": (2, 1)} if word in MOVED else {}
        assert {doc: pair for doc, pair in ranks.items() if pair[0] != pair[1]} == moved
        assert (f"| {word} |" in runner.summary) == bool(moved)
        assert (f"about-{word} 1 → 2" in runner.summary) == bool(moved)
        assert (f"with-{word} 2 → 1" in runner.summary) == bool(moved)

    said += [runner.log, runner.summary]
    said += [path.read_text(errors="replace") for path in folder.iterdir()]
    said += [path.read_text() for path in Path.cwd().iterdir() if path.is_file()]
    assert not [text for text in said if SECRET in text]
