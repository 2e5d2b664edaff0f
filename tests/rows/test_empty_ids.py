"""An empty id is refused in every form, with its place: as a query and as a document, judged or returned."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gainful as gf

PLACES = r"record 2|row 2|item 2|query 'q', document ids|query ids|e\.(csv|jsonl|run):\d"


def forms(role, folder):
    """A row with an empty id, the second, in every form that can hold one."""
    empty = {"query": "q", "doc": "a", "score": 1.0} | {role: ""}
    records = [{"query": "q", "doc": "b", "score": 2.0}, empty]
    frame = pd.DataFrame(records)
    dicts = {}
    for record in records:
        dicts.setdefault(record["query"], {})[record["doc"]] = record["score"]
    texts = {
        "e.json": json.dumps(dicts),
        "records.json": json.dumps(records),
        "lists.json": json.dumps({query: [*docs] for query, docs in dicts.items()}),
        "e.jsonl": "".join(json.dumps(record) + "\n" for record in records),
        "e.csv": "query,doc,score\n" + "".join(f"{r['query']},{r['doc']},1\n" for r in records),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    frame.to_parquet(folder / "e.parquet")
    return [
        dicts,
        {query: [*docs] for query, docs in dicts.items()},
        {query: [*docs.items()] for query, docs in dicts.items()},
        {
            query: [{"id": doc, "score": n} for doc, n in docs.items()]
            for query, docs in dicts.items()
        },
        records,
        [tuple(record.values()) for record in records],
        frame,
        frame.astype("category").astype({"score": float}),
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        *(folder / name for name in (*texts, "e.parquet")),
    ]


@pytest.mark.parametrize("role", ["query", "doc"])
def test_an_empty_id_is_refused_with_its_place(role, tmp_path):
    for given in forms(role, tmp_path):
        for judgments, run in ((given, {"q": ["b"]}), ({"q": ["b"]}, given)):
            with pytest.raises(gf.errors.InputError, match=r"expected an id( as|,)") as problem:
                gf.evaluate(judgments, run, "RR")
            assert problem.match(PLACES)
