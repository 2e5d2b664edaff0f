"""The server of the Model Context Protocol, asked by a real client over standard input and output."""

import asyncio
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import gainful as gf

ROOT = Path(__file__).parents[2]
COOKING = ROOT / "examples" / "cooking"
PAGE = (ROOT / "docs" / "hosts" / "mcp.md").read_text()
SECRET = "planted-4711"  # noqa: S105 - outside of the folder, and in the environment
J = {"judgments": "judgments.qrels"}
CALLS = {
    "evaluate": ("evaluate", {**J, "runs": ["keyword.run", "hybrid.run"], "measures": ["nDCG@10", "RR"]}),
    "compare": ("compare", {**J, "base": "keyword.run", "run": "hybrid.run", "fail_if": ["Δ nDCG@10 > 0"]}),
    "weighted": ("evaluate", {**J, "runs": ["keyword.run"], "weights": "weights.json", "clusters": "id:-"}),
    "weighted comparison": ("compare", {**J, "base": "keyword.run", "run": "hybrid.run", "weights": "weights.json"}),
    "weights outside": ("evaluate", {**J, "runs": ["keyword.run"], "weights": "../secret.qrels"}),
    "explain": ("explain", {**J, "run": "hybrid.run", "query": "pad-thai"}),
    "attribute": ("explain", {**J, "run": "hybrid.run", "query": "pad-thai", "against": "keyword.run"}),
    "why": ("why", {**J, "run": "hybrid.run", "dialects": ["trec_eval-9"]}),
    "check": ("check", {**J, "runs": ["keyword.run"]}),
    "bounds": ("bounds", {**J, "run": "hybrid.run", "grades": [0, 1, 2, 3], "measures": ["nDCG@5,10"]}),
    "above": ("check", {"judgments": "../secret.qrels"}),
    "from the root": ("check", {"judgments": "{outside}/secret.qrels"}),
    "by a link": ("check", {"judgments": "link.qrels"}),
    "a folder": ("check", {"judgments": "."}),
    "not there": ("check", {"judgments": "gone.qrels"}),
    "a pattern": ("evaluate", {**J, "runs": ["*.run"]}),
    "standard input": ("evaluate", {**J, "runs": ["-"]}),
    "a bad measure": ("evaluate", {**J, "runs": ["keyword.run"], "measures": ["nDCH@10"]}),
    "no runs": ("evaluate", {**J, "runs": []}),
    "a bad condition": ("compare", {**J, "base": "keyword.run", "run": "hybrid.run", "fail_if": ["x"]}),
}  # fmt: skip
OUTSIDE = ("above", "weights outside", "from the root", "by a link", "a folder", "not there")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    inside = outside / "inside"
    inside.mkdir()
    for name in ("judgments.qrels", "keyword.run", "hybrid.run"):
        (inside / name).write_bytes((COOKING / name).read_bytes())
    queries = {line.split()[0] for line in (COOKING / "judgments.qrels").read_text().splitlines()}
    weights = {query: 1 + at % 3 for at, query in enumerate(sorted(queries))}
    (inside / "weights.json").write_text(json.dumps(weights))
    (outside / "secret.qrels").write_text(f"{SECRET} 0 a 1\n")
    (inside / "link.qrels").symlink_to(outside / "secret.qrels")
    return outside, inside


@pytest.fixture(scope="module")
def answers(folders):
    """Ask everything of one server, started as the page says."""
    import mcp  # here, since it takes a second, and of the processes of xdist one uses it
    from mcp.client.stdio import stdio_client

    outside, inside = folders
    (setting,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    started = json.loads(setting)["mcpServers"]["gainful"]
    assert started["command"] == "gainful"
    command, _ = started["args"]
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    given = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "gainful", command, str(inside)],
        env={"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "SEARCH_TOKEN": SECRET},
    )

    async def ask():
        async with mcp.Client(stdio_client(given)) as client:
            tools = (await client.list_tools()).tools
            found = {}
            for name, (tool, arguments) in CALLS.items():
                text = json.dumps(arguments).replace("{outside}", str(outside))
                found[name] = await client.call_tool(tool, json.loads(text))
            return tools, found

    before = sorted(outside.rglob("*"))
    # In a thread of its own: that of the tests may have a loop of the browser's.
    with ThreadPoolExecutor(1) as own:
        tools, found = own.submit(lambda: asyncio.run(ask())).result()
    assert sorted(outside.rglob("*")) == before
    texts = {name: each.content[0].text for name, each in found.items()}
    assert SECRET not in "".join(texts.values())
    return tools, {name: (each.is_error, texts[name]) for name, each in found.items()}


def answer(answers, name):
    failed, text = answers[1][name]
    assert not failed, text
    found = json.loads(text)
    assert {"verdict", "intervals", "coverage", "warnings"} <= found.keys()
    return found


def test_the_tools_are_these_and_read_only(answers):
    tools, _ = answers
    assert {each.name for each in tools} == {
        *["evaluate", "compare", "explain", "why", "check", "bounds"]
    }
    assert all(each.annotations.read_only_hint and each.description for each in tools)


def test_evaluate(answers, folders):
    found = answer(answers, "evaluate")
    scores = gf.evaluate(folders[1] / "judgments.qrels", folders[1] / "keyword.run", "RR")
    (row,) = [e for e in found["intervals"] if (e["run"], e["measure"]) == ("keyword.run", "RR")]
    assert row["mean"] == scores["RR"]
    assert row["interval"]["low"] == scores.interval("RR").low
    assert found["coverage"]["keyword.run"]["missing"] == 1
    assert f"keyword.run: RR {scores['RR']:.4f}, 95% interval" in found["verdict"]


def test_compare(answers, folders):
    found = answer(answers, "compare")
    runs = {"base": folders[1] / "keyword.run", "run": folders[1] / "hybrid.run"}
    compared = gf.compare(folders[1] / "judgments.qrels", runs)
    assert found["verdict"] == f"The gate failed. {compared.verdicts[0]}"
    (row,) = found["intervals"]
    assert (row["low"], row["high"]) == (compared.differences[0].interval.low, compared.differences[0].interval.high)  # fmt: skip
    assert found["coverage"]["base"]["missing"] == 1
    assert found["movers"][0]["query"] == "waffles-buttermilk"
    assert "recipe-0363 1 → 14" in found["movers"][0]["documents"]
    assert found["gate"][0]["result"] == "failed"


def test_weights_and_clusters(answers, folders):
    judgments, keyword, hybrid = (
        folders[1] / name for name in ("judgments.qrels", "keyword.run", "hybrid.run")
    )
    weights = json.loads((folders[1] / "weights.json").read_text())
    scores = gf.evaluate(judgments, keyword, weights=weights, clusters="id:-")
    (row,) = answer(answers, "weighted")["intervals"]
    assert (row["mean"], row["interval"]["low"]) == (scores["nDCG@10"], scores.interval().low)
    compared = gf.compare(judgments, {"base": keyword, "run": hybrid}, weights=weights)
    found = answer(answers, "weighted comparison")
    assert found["verdict"] == compared.verdicts[0]
    assert found["intervals"][0]["difference"] == compared.differences[0].difference


def test_the_others_say_what_the_functions_say(answers, folders):
    judgments, run = folders[1] / "judgments.qrels", folders[1] / "hybrid.run"
    worked = gf.explain(judgments, run, query="pad-thai")
    assert answer(answers, "explain")["verdict"] == worked.conclusion
    moved = gf.explanation.attribute(judgments, folders[1] / "keyword.run", run, query="pad-thai")
    assert answer(answers, "attribute")["verdict"] == moved.conclusion
    why = gf.why(judgments, run, dialects=["trec_eval-9"])
    assert f"{why.gap:+.4f}" in answer(answers, "why")["verdict"]
    assert answer(answers, "check")["verdict"].startswith("0 errors, 3 warnings")
    bound = gf.bounds(judgments, run, "nDCG@5", grades=(0, 1, 2, 3))["nDCG@5"]
    said = answer(answers, "bounds")
    assert f"{bound.low:.4f} to {bound.high:.4f}" in said["verdict"]
    assert said["bounds"][0]["low"] == bound.low
    assert said["coverage"]["hybrid.run"]["judged"] == 24


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_is_refused_as_what_is_not_there(answers, folders, name):
    failed, text = answers[1][name]
    assert failed
    named = CALLS[name][1]
    asked = named.get("weights", named["judgments"]).format(outside=folders[0])
    assert text.endswith(f"{asked}: expected a file in {folders[1]}, found none.")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a pattern", "expected a file in"),
        ("standard input", "expected a file in"),
        ("a bad measure", "nDCG"),
        ("no runs", "at least one run"),
        ("a bad condition", "a condition such as"),
    ],
)
def test_bad_input_is_an_error_that_a_model_can_read(answers, name, said):
    failed, text = answers[1][name]
    assert failed
    assert said in text
    assert "Traceback" not in text


def test_folders_are_needed_and_are_there(cli, tmp_path):
    assert cli("mcp").returncode == 2
    done = cli("mcp", str(tmp_path / "gone"))
    assert done.returncode == 2
    assert "existing folders" in done.stderr


def test_long_answers_are_cut_with_a_word():
    from gainful.integrations.mcp import _cut, _plain

    assert _plain({"a": list(range(60)), "b": float("nan")}) == {
        "a": [*range(50), "… 10 more"],
        "b": None,
    }
    assert _cut("x" * 20_001).endswith("… cut: 1 more characters")


def test_what_nobody_foresaw_is_one_short_message():
    from mcp.server.mcpserver.exceptions import ToolError

    from gainful.integrations.mcp import _for_the_model

    def deep(number):
        return deep(number + 1)

    def broken(number):
        raise KeyError("x" * 9000)

    with pytest.raises(ToolError, match=r"^this is a bug in gainful: RecursionError: ") as raised:
        _for_the_model(deep)(0)
    assert (raised.value.__suppress_context__, len(raised.traceback)) == (True, 2)
    with pytest.raises(ToolError, match="KeyError: 'xxx") as raised:
        _for_the_model(broken)(0)
    assert len(str(raised.value)) < 1100


@pytest.mark.parametrize("name", [name for name, (tool, _) in CALLS.items() if tool == name])
@pytest.mark.parametrize("judged", [1, 2, 10])
def test_every_tool_answers_about_few_judged_queries(name, judged, tmp_path):
    """Fewer than ten queries have no interval, and no tool writes one."""
    from gainful.integrations.mcp import _Folders, _for_the_model, _Tools

    queries = [f"q{i}" for i in range(judged)]
    (tmp_path / "judgments.qrels").write_text("".join(f"{q} 0 a 2\n{q} 0 b 0\n" for q in queries))
    for run, scores in (("keyword", (2, 1)), ("hybrid", (1, 2))):
        lines = [
            f"{q} Q0 {doc} 1 {score} t\n"
            for q in queries
            for doc, score in zip("ab", scores, strict=True)
        ]
        (tmp_path / f"{run}.run").write_text("".join(lines))
    arguments = {**CALLS[name][1]}
    if "query" in arguments:
        arguments["query"] = "q0"
    tool = getattr(_Tools(_Folders([tmp_path])), name)
    found = json.loads(_for_the_model(tool)(**arguments))
    assert found["verdict"]
    if name == "evaluate":
        assert ("without an interval" in found["verdict"]) == (judged < 10)
