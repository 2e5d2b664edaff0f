"""Responses of search services: the order returned is the order that counts, equal scores or not."""

import json

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from page_data import payload_in

# What the customer saw first is d1, which is the last by id, descending.
DOCS = ("d1", "d9", "d3")
JUDGMENTS = {"q1": {"d1": 1}, "q2": {"a": 1}}
BY_ID = 0.75  # (1/log2(4) + 1) / 2


def hits(id_name, score_name=None):
    return [{id_name: doc} | ({} if score_name is None else {score_name: 1.0}) for doc in DOCS]


RESPONSES = {
    "elasticsearch": {"took": 1, "hits": {"hits": hits("_id", "_score")}},
    "opensearch": {"took": 1, "timed_out": False, "hits": {"hits": hits("_id", "_score")}},
    "solr": {"responseHeader": {"status": 0}, "response": {"docs": hits("id", "score")}},
    "solr, grouped": {
        "grouped": {"maker": {"groups": [{"doclist": {"docs": hits("id", "score")}}]}}
    },
    "vespa": {"root": {"id": "toplevel", "children": hits("id", "relevance")}},
    "algolia": {"hits": hits("objectID"), "nbHits": 3},
    "typesense": {
        "found": 3,
        "hits": [{"document": {"id": doc}, "text_match": 7} for doc in DOCS],
    },
    "meilisearch": {"hits": hits("id", "_rankingScore"), "limit": 3},
    "qdrant": {"result": {"points": hits("id", "score")}, "status": "ok"},
    "qdrant, older": {"result": hits("id", "score"), "status": "ok"},
    "azure": {"@odata.context": "c", "value": hits("id", "@search.score")},
    "weaviate": {
        "data": {"Get": {"Doc": [{"_additional": {"id": d, "distance": 0.5}} for d in DOCS]}}
    },
    "chroma": {"ids": [[*DOCS]], "distances": [[0.5, 0.5, 0.5]]},
    "a list of hits": hits("_id", "_score"),
    "a list of objects": hits("doc", "score"),
}
SCORED = [name for name in RESPONSES if name not in ("algolia", "typesense", "weaviate", "chroma")]


def run_of(service):
    return {"q1": RESPONSES[service], "q2": ["a"]}


def written(service, folder):
    """The responses in files, in one piece and with an object on each line."""
    run = run_of(service)
    whole, lines = folder / "run.json", folder / "run.jsonl"
    whole.write_text(json.dumps(run))
    listed = run["q1"] if isinstance(run["q1"], dict) else {"results": run["q1"]}
    records = [{"query": "q1", **listed}, {"query": "q2", "retrieved": ["a"]}]
    lines.write_text("".join(json.dumps(each) + "\n" for each in records))
    return whole, lines


@pytest.mark.parametrize("service", RESPONSES)
def test_the_order_returned_is_kept(service, tmp_path):
    for run in (run_of(service), *written(service, tmp_path)):
        scores = gf.evaluate(JUDGMENTS, run, "nDCG@10")
        assert (scores["nDCG@10"], scores.policy.ties) == (1.0, "order")
        assert "ties=order" in str(scores)
        assert "| ties=order |" in scores.signature("nDCG@10")


@pytest.mark.parametrize("service", SCORED)
def test_a_rule_that_is_asked_for_wins(service, tmp_path):
    for run in (run_of(service), *written(service, tmp_path)):
        scores = gf.evaluate(JUDGMENTS, run, "nDCG@10", policy={"ties": "doc"})
        assert (scores["nDCG@10"], scores.policy.ties) == (pytest.approx(BY_ID), "doc")
        spoken = gf.evaluate(JUDGMENTS, run, "nDCG@10", dialect="trec_eval")
        assert (spoken["nDCG@10"], spoken.policy.ties) == (pytest.approx(BY_ID), "doc")


@pytest.mark.parametrize("service", RESPONSES)
def test_every_part_keeps_it(service, tmp_path):
    run, other = run_of(service), {"q1": dict.fromkeys(DOCS, 1.0), "q2": {"a": 1.0}}
    whole, lines = written(service, tmp_path)
    compared = gf.compare(JUDGMENTS, {"other": other, "run": run, "file": whole}, "nDCG@10")
    assert compared["run", "nDCG@10"].run_mean == 1.0
    assert compared["file", "nDCG@10"].run_mean == 1.0
    assert compared["run", "nDCG@10"].baseline_mean == pytest.approx(BY_ID)
    moved = gf.comparison.movers(compared, JUDGMENTS, {"other": other, "run": run, "file": whole})
    assert {each.documents[0].partition(" (")[0] for each in moved.moved} == {"d1 3 → 1"}
    for given in (run, whole, lines):
        assert gf.explain(JUDGMENTS, given, "nDCG@10", query="q1").value == 1.0
        fused = gf.fuse([given, {"q1": {"z": 1.0}}])
        assert [doc for doc in fused["q1"] if doc in DOCS] == [*DOCS]
        assert gf.check(JUDGMENTS, {"run": given}).counts["warning"] == 0
        assert gf.why(JUDGMENTS, given, "nDCG@10", dialects="trec_eval").first_value == 1.0
    pooled = gf.pool({"run": run}, depth=1)
    assert {each.doc for each in pooled.rows} == {"d1", "a"}
    gf.report(JUDGMENTS, {"run": run, "other": other}, "nDCG@10").write(tmp_path / "page.html")
    page = payload_in((tmp_path / "page.html").read_text())
    (detail,) = (each for each in page["details"].values() if len(each["docs"]) == len(DOCS))
    shown = [[detail["docs"][row[0]][0] for row in each["rows"]] for each in detail["lists"]]
    assert shown == [[*DOCS], sorted(DOCS, reverse=True)]
    parts = gf.explanation.attribute(JUDGMENTS, other, run, "nDCG@10", query="q1")
    assert parts.difference == pytest.approx(0.5)


def test_the_command_line_keeps_it(tmp_path):
    whole, lines = written("elasticsearch", tmp_path)
    judged = tmp_path / "judged.json"
    judged.write_text(json.dumps(JUDGMENTS))
    for asked, expected in (([], 1.0), (["--ties", "doc"], BY_ID)):
        command = ["evaluate", str(judged), str(whole), "-m", "nDCG@10", "-f", "json", *asked]
        done = CliRunner().invoke(commands, command, catch_exceptions=False)
        result = json.loads(done.output)
        assert result["runs"][0]["means"]["nDCG@10"] == pytest.approx(expected)
        assert result["policy"]["ties"] == ("doc" if asked else "order")
    command = ["fuse", str(whole), str(lines)]
    done = CliRunner().invoke(commands, command, catch_exceptions=False)
    assert [line.split()[2] for line in done.stdout.splitlines()] == [*DOCS, "a"]


def test_runs_that_differ_in_it_say_auto(tmp_path):
    runs = {"responses": run_of("solr"), "dict": {"q1": {"d1": 1.0}}}
    scores = gf.evaluate_runs(JUDGMENTS, runs, "nDCG@10")
    assert [each.policy.ties for each in scores.values()] == ["order", "doc"]
    assert scores.policy.ties == "auto"
    same = gf.evaluate_runs(JUDGMENTS, {"one": run_of("solr"), "two": run_of("vespa")}, "nDCG@10")
    assert same.policy.ties == "order"


def test_what_is_written_has_the_order(tmp_path):
    path = tmp_path / "run.trec"
    with pytest.warns(gf.errors.GainfulWarning, match="under the policy ties=order"):
        gf.write_run(run_of("elasticsearch"), path)
    assert [line.split()[2] for line in path.read_text().splitlines()] == [*DOCS, "a"]
    assert gf.evaluate(JUDGMENTS, path, "nDCG@10", policy={"ties": "order"})["nDCG@10"] == 1.0


def test_other_runs_have_their_ties_by_id():
    for run in (
        {"q1": dict.fromkeys(DOCS, 1.0), "q2": ["a"]},
        {"q1": [(doc, 1.0) for doc in DOCS], "q2": ["a"]},
        [{"query": "q1", "doc": doc, "score": 1.0} for doc in DOCS]
        + [{"query": "q2", "doc": "a", "score": 1.0}],
    ):
        scores = gf.evaluate(JUDGMENTS, run, "nDCG@10")
        assert (scores["nDCG@10"], scores.policy.ties) == (pytest.approx(BY_ID), "doc")
