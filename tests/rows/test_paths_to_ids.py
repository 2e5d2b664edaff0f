"""Ids that stand deeper in the items of a list are named by their path."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"c1": 1}, "q2": {"c3": 1}}
SHAPES = {
    "contexts.metadata.chunk_id": lambda doc: {"text": "…", "metadata": {"chunk_id": doc, "page": 1}},
    "contexts.key": lambda doc: {"key": doc, "text": "…"},
    "contexts.node.metadata.source.key": lambda doc: {"node": {"metadata": {"source": {"key": doc}}}},
}  # fmt: skip


def forms(records, folder):
    (folder / "run.json").write_text(json.dumps(records))
    (folder / "run.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    table = pa.Table.from_pylist(records)
    pq.write_table(table, folder / "run.parquet")
    paths = [folder / f"run.{ending}" for ending in ("json", "jsonl", "parquet")]
    return [records, pd.DataFrame(records), table, *paths]


def records_of(shape, **more):
    lists = {"q1": ["c2", "c1"], "q2": ["c3"]}
    return [
        {"question": query, "answer": "…", "contexts": [{**shape(doc), **more} for doc in docs]}
        for query, docs in lists.items()
    ]


@pytest.mark.parametrize("path", SHAPES)
def test_a_run(tmp_path, path):
    for given in forms(records_of(SHAPES[path]), tmp_path):
        for key in ("doc", "run.doc"):
            assert gf.evaluate(JUDGMENTS, given, "RR", columns={key: path}).means == {"RR": 0.75}
        with pytest.raises(gf.errors.InputError):
            gf.evaluate(JUDGMENTS, given, "RR", columns={"run.doc": f"{path}.nothing"})
        with pytest.raises(gf.errors.InputError):
            gf.evaluate(JUDGMENTS, given, "RR", columns={"run.doc": f"nothing.{path}"})


@pytest.mark.parametrize("path", SHAPES)
def test_judgments(tmp_path, path):
    run = {"q1": {"c9": 2.0, "c1": 1.0}, "q2": {"c3": 1.0}}
    for given in forms(records_of(SHAPES[path]), tmp_path):
        assert gf.evaluate(given, run, "RR", columns={"judgments.doc": path}).means == {"RR": 0.75}


def test_one_record_and_one_line(tmp_path):
    record = records_of(SHAPES["contexts.metadata.chunk_id"])[0]
    (tmp_path / "run.jsonl").write_text(json.dumps(record) + "\n")
    for given in (record, [record], tmp_path / "run.jsonl"):
        found = gf.evaluate(
            {"q1": {"c1": 1}}, given, "RR", columns={"run.doc": "contexts.metadata.chunk_id"}
        )
        assert found["RR"] == 0.5


def test_the_message_names_the_path(tmp_path):
    path = "contexts.metadata.chunk_id"
    for given in forms(records_of(SHAPES[path]), tmp_path):
        with pytest.raises(gf.errors.InputError, match=rf"columns run\.doc={path}\."):
            gf.evaluate(JUDGMENTS, given, "RR")


def test_the_command(tmp_path, cli, files):
    forms(records_of(SHAPES["contexts.metadata.chunk_id"]), tmp_path)
    judgments = files("judgments.qrels", "q1 0 c1 1\nq2 0 c3 1\n")
    done = cli(
        "evaluate", judgments, tmp_path / "run.jsonl", "-m", "RR", "-f", "csv",
        "--columns", "run.doc=contexts.metadata.chunk_id",
    )  # fmt: skip
    assert done.stdout.splitlines()[1].split(",")[1] == "0.75", done.stderr


def test_a_field_of_that_very_name_is_taken():
    given = [{"query": "q1", "contexts.key": ["c1"], "contexts": [{"key": "c2"}]}]
    assert (
        gf.evaluate({"q1": {"c1": 1}}, given, "RR", columns={"run.doc": "contexts.key"})["RR"]
        == 1.0
    )


@pytest.mark.parametrize("named", [None, "contexts", "contexts.metadata"])
def test_the_whole_path_is_advised_at_once(tmp_path, named):
    shape = {"document": {"metadata": {"chunk_id": "c1", "text": "…"}}, "score": 0.5}
    run = tmp_path / "run.jsonl"
    run.write_text(json.dumps({"question": "q1", "found": 7, "contexts": [shape]}) + "\n")
    columns = {"run.query": "question"} | ({} if named is None else {"run.doc": named})
    with pytest.raises(gf.errors.InputError, match=r"doc=contexts\.document\.metadata\.chunk_id\."):
        gf.evaluate(JUDGMENTS, run, "RR", columns=columns)


def test_a_field_that_may_hold_the_query_is_named():
    answer = {"search_phrase": "q1", "response": {"hits": {"hits": [{"_id": "c1"}]}}}
    with pytest.raises(gf.errors.InputError, match=r"\(--columns run\.query=search_phrase\)"):
        gf.evaluate(JUDGMENTS, [answer], "RR")
    with pytest.raises(gf.errors.InputError, match=r"columns run\.query=…"):
        gf.evaluate(JUDGMENTS, [{"search_phrase": "q1", "response": ["c1"]}], "RR")
    found = gf.evaluate(JUDGMENTS, [answer], "RR", columns={"run.query": "search_phrase"})
    assert found.means == {"RR": 0.5}
