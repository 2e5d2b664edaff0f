"""The example log is what its script simulates."""

import runpy
from pathlib import Path

import gainful as gf

FOLDER = Path(__file__).parents[2] / "examples" / "clicks"


def test_the_script_simulates_the_files(tmp_path):
    runpy.run_path(str(FOLDER / "simulate.py"))["main"](tmp_path)
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert files == {path.name: path.read_text() for path in FOLDER.iterdir() if path.name in files}
    assert len(files) == 6


def test_the_shapes_of_one_log_are_alike():
    rows = gf.behaviour.read_log(FOLDER / "impressions.csv", columns={"doc": "product"})
    events = gf.behaviour.read_log(FOLDER / "ubi_events.jsonl", lists=FOLDER / "ubi_queries.jsonl")
    assert rows.ranks == events.ranks
    assert (rows.lists, rows.sessions, rows.clicks) == (
        events.lists,
        events.sessions,
        events.clicks,
    )
    first, second = (gf.behaviour.click_judgments(log, "pbm") for log in (rows, events))
    assert first.grades.tolist() == second.grades.tolist()
