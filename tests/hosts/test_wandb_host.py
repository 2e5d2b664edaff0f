"""Results that are logged with W&B, offline: what its own reader finds in the file that it keeps."""

import json
import time

import pytest
import wandb
from wandb.proto import wandb_internal_pb2
from wandb.sdk.internal.datastore import DataStore

import gainful as gf
from questions import GRADES, evaluated, of_queries, run

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def history(path):
    """Yield what was logged in each step."""
    store = DataStore()
    store.open_for_scan(str(path))
    while (data := store.scan_data()) is not None:
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            yield {
                item.key or "/".join(item.nested_key): json.loads(item.value_json)
                for item in record.history.item
            }
    store.close()


def test_scores_and_comparisons_are_logged(tmp_path):
    scores = evaluated(["nDCG@10", "RR"])
    compared = gf.compare(GRADES, {"old": {"beer": {"f": 1}}, "new": run()}, baseline="old")
    with wandb.init(mode="offline", dir=tmp_path, project="rankings") as active:
        scores.log(wandb)
        compared.log(active, folder="compared")
    folder = next(tmp_path.glob("wandb/offline-run-*"))
    (kept,) = folder.glob("*.wandb")
    for _ in range(100):  # the process that writes the file may be behind
        steps = [*history(kept)]
        if len(steps) == 2:
            break
        time.sleep(0.1)
    first, second = steps
    assert (first["_step"], second["_step"]) == (0, 1)
    assert first["nDCG_at_10"] == scores["nDCG@10"]
    assert first["coverage/unjudged_share"] == scores.coverage.unjudged_share
    assert second["new_vs_old/nDCG_at_10/difference"] == compared["new", "nDCG@10"].difference
    table = json.loads((folder / "files" / first["gainful/per_query/path"]).read_text())
    assert table["columns"] == ["query", "nDCG@10", "RR"]
    assert {row[0]: row[1] for row in table["data"]} == of_queries()
    page = (folder / "files" / second["compared/table/path"]).read_text()
    assert compared.rendered("html") in page
