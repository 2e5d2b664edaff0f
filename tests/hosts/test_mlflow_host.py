"""Scorers inside `mlflow.genai.evaluate`, and results that are logged, in a store of SQLite."""

import json

import mlflow
import pandas as pd
import pytest

import gainful as gf
from gainful.integrations.mlflow import scorer
from questions import BINARY, COUNTS, GRADES, NDCG, RETRIEVED, SKIP, evaluated, of_queries, run

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow warns of what it does itself


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'store.db'}")
    mlflow.create_experiment("rankings", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("rankings")
    yield
    mlflow.set_tracking_uri(before)


def test_an_evaluation_of_mlflow():
    data = [
        {
            "inputs": {"query": query},
            "outputs": RETRIEVED[query],
            "expectations": {"grades": GRADES[query]},
        }
        for query in GRADES
    ]
    scorers = [
        scorer("nDCG@10"),
        scorer("AP(rel=2)", policy=SKIP),
        scorer("RR", judgments=GRADES, name="first_hit"),
    ]
    found = mlflow.genai.evaluate(data=data, scorers=scorers)
    asked = evaluated(["nDCG@10", "RR"])
    assert found.metrics == pytest.approx(
        {
            "nDCG_at_10/mean": asked["nDCG@10"],
            "AP_rel_2/mean": evaluated("AP(rel=2)", policy=SKIP)["AP(rel=2)"],
            "first_hit/mean": asked["RR"],
        },
        rel=1e-15,
    )
    rows = found.result_df
    assert sorted(rows["nDCG_at_10/value"]) == sorted(of_queries().values())
    assert of_queries() == pytest.approx(NDCG, rel=1e-15)
    said = "3 of 4 retrieved ids judged; repeated, and counted once, at the first rank: 'a'"
    assert said in [*rows["nDCG_at_10/rationale"]]


def test_the_ideal_is_of_all_that_is_relevant_unlike_in_the_host():
    relevant = [*"abcde"]
    own = scorer("nDCG@10")(inputs={}, outputs=["a"], expectations={"grades": relevant})
    assert own.value == pytest.approx(0.339, abs=1e-3)
    host = mlflow.metrics.ndcg_at_k(10)
    assert host.eval_fn(pd.Series([["a"]]), pd.Series([relevant])).scores == [
        1.0
    ]  # as the page says


@pytest.mark.parametrize("query", GRADES)
def test_documents_in_the_forms_of_mlflow(query):
    """As retrievers have them in traces, and as its own expectations do."""
    own = scorer(
        "nDCG@10", retrieved="docs", expected="expected_retrieved_context", id_key="doc_uri"
    )
    outputs = {
        "docs": [{"page_content": "", "metadata": {"doc_uri": each}} for each in RETRIEVED[query]]
    }
    expected = [{"doc_uri": each} for each in BINARY[query]]
    found = own(inputs={}, outputs=outputs, expectations={"expected_retrieved_context": expected})
    binary = {query: dict.fromkeys(ids, 1) or {"g": 0} for query, ids in BINARY.items()}
    assert found.value == of_queries(judgments=binary)[query]
    assert found.metadata["repeated"] == str(COUNTS[query]["repeated"])
    assert found.metadata["retrieved"] == str(COUNTS[query]["retrieved"])


def test_what_a_policy_leaves_out_has_no_feedback():
    own = scorer("nDCG@10", policy=SKIP)
    assert own(inputs={}, outputs=["g"], expectations={"grades": GRADES["water"]}) is None


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        (
            {},
            {"outputs": "text", "expectations": {"grades": {}}},
            "outputs: expected a list of ids",
        ),
        (
            {},
            {"outputs": [], "expectations": None},
            "expectations: expected a dict with the key 'grades'",
        ),
        ({"id_key": "uri"}, {"outputs": [{}], "expectations": {}}, "a document with 'uri'"),
    ],
)
def test_what_cannot_be_measured_is_said(options, given, message):
    with pytest.raises(gf.errors.InputError, match=message):
        scorer(**options)(inputs={}, **given)


def logged(result, **options):
    """Log a result in a run of its own; return its metrics, and its files by name."""
    with mlflow.start_run() as active:
        result.log(mlflow, **options)
    client = mlflow.MlflowClient()
    kept = client.get_run(active.info.run_id)
    files = {}
    for each in client.list_artifacts(active.info.run_id, options.get("folder", "gainful")):
        files[each.path] = mlflow.artifacts.load_text(f"runs:/{active.info.run_id}/{each.path}")
    return kept.data.metrics, files, active.info.run_id


def test_scores_are_logged():
    scores = evaluated(["nDCG@10", "nDCG(gain=exp2)@5", "AP(rel=2)"])
    metrics, files, _ = logged(scores)
    names = ["nDCG_at_10", "nDCG_gain_exp2_at_5", "AP_rel_2"]
    assert [metrics[name] for name in names] == [*scores.means.values()]
    counts = {name: count for name, count in scores.coverage.counts().items() if count is not None}
    assert {key: value for key, value in metrics.items() if key not in names} == {
        f"coverage/{name}": count for name, count in counts.items()
    }
    assert set(files) == {"gainful/scores.json", "gainful/per_query.json", "gainful/table.html"}
    table = json.loads(files["gainful/per_query.json"])
    assert table["columns"] == ["query", *scores.means]
    found = {row[0]: row[1] for row in table["data"]}
    assert found == pytest.approx(of_queries(), abs=1e-10)  # MLflow writes ten digits
    assert "<table" in files["gainful/table.html"]


def test_runs_steps_and_the_report_are_logged():
    runs = {"bm25 + rm3": run(), "bm25/rm3@10": {query: {"a": 1} for query in GRADES}}
    scores = gf.evaluate_runs(GRADES, runs)
    report = gf.report(GRADES, runs, baseline="bm25 + rm3", created="2026-01-01")
    metrics, files, run_id = logged(scores, step=3, folder="mine", per_query=False, report=report)
    assert metrics["bm25_rm3/nDCG_at_10"] == scores["bm25 + rm3"]["nDCG@10"]
    assert metrics["bm25_rm3_at_10/nDCG_at_10"] == scores["bm25/rm3@10"]["nDCG@10"]
    assert set(files) == {"mine/scores.json", "mine/report.html"}
    assert files["mine/report.html"] == report.to_html()
    (point,) = mlflow.MlflowClient().get_metric_history(run_id, "bm25_rm3/nDCG_at_10")
    assert point.step == 3


def test_a_comparison_is_logged():
    runs = {"old": {query: {"a": 1} for query in GRADES}, "new": run()}
    found = gf.compare(GRADES, runs, ["nDCG@10", "RR"], baseline="old", interval="t")
    metrics, files, _ = logged(found)
    difference = found["new", "nDCG@10"]
    names = ("difference", "low", "high", "p")
    values = (
        difference.difference,
        difference.interval.low,
        difference.interval.high,
        difference.p,
    )
    assert tuple(metrics[f"new_vs_old/nDCG_at_10/{name}"] for name in names) == values
    assert len(metrics) == 8
    assert "verdict" in json.loads(files["gainful/scores.json"])["columns"]


def test_odd_names_are_taken_by_mlflow():
    odd = ["..", "/", "a//b", "../x", "ä@(=,)%", "\N{SNOWMAN}" * 300, "x" * 300, "", " . "]
    names = [gf.writing.flat_name(each) for each in odd]
    with mlflow.start_run():
        mlflow.log_metrics({f"{name}/{name}/difference": 1.0 for name in names})


def test_every_step_has_rows_of_its_own_in_the_tables():
    scores = [evaluated("nDCG@10"), evaluated("nDCG@10", policy={"empty": "one"})]
    with mlflow.start_run() as active:
        for step, each in enumerate(scores, 5):
            each.log(mlflow, step=step)
    uri = f"runs:/{active.info.run_id}/gainful/per_query.json"
    table = json.loads(mlflow.artifacts.load_text(uri))
    assert table["columns"] == ["step", "query", "nDCG@10"]
    found = {(step, query): value for step, query, value in table["data"]}
    assert len(found) == len(table["data"]) == 2 * len(GRADES)
    assert (found[5, "water"], found[6, "water"]) == (0.0, 1.0)


def test_a_row_that_fails_falls_out_of_the_mean_of_the_host():
    """As the page says."""
    data = [
        {"inputs": {"query": query}, "outputs": ["a"], "expectations": {"grades": grades}}
        for query, grades in {"beer": {"a": 1}, "rum": {"a": "much"}}.items()
    ]
    found = mlflow.genai.evaluate(data=data, scorers=[scorer("RR")])
    assert found.metrics == {"RR/mean": 1.0}
    assert len(found.result_df) == 2


def test_errors_name_the_query_where_there_is_one():
    own = scorer("RR")
    for inputs, named in (({"query": "beer"}, ", query 'beer'"), ({}, ""), (None, "")):
        with pytest.raises(gf.errors.InputError, match=f"^expectations{named}, document 'f'"):
            own(inputs=inputs, outputs=["f"], expectations={"grades": {"f": "much"}})
