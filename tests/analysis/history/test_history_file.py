"""The file of a history: completed entries survive kills and other writers, and nothing is half-read."""

import json
import os

import numpy as np
import pytest

import gainful as gf
from gainful.analysis.history.packed_arrays import packed_numbers, unpacked_floats
from history_writers import kill_writers, on_linux, scores_of, write_at_once


@on_linux
def test_kills_at_random_times_lose_no_completed_entry(tmp_path):
    kill_writers(tmp_path / "killed.history", 50)


@on_linux
def test_a_thousand_kills_lose_no_completed_entry(tmp_path):
    kill_writers(tmp_path / "killed.history", 1000)


@on_linux
def test_processes_can_write_at_the_same_time(tmp_path):
    path = tmp_path / "shared.history"
    write_at_once(path)
    lines = path.read_bytes().splitlines()
    assert sum(line.startswith(b'{"queries"') for line in lines) == 2


@pytest.mark.parametrize("cut", [1, 2, 30, 500, "header"])
def test_an_incomplete_line_is_left_out_and_removed(tmp_path, cut):
    path, scores = tmp_path / "torn.history", scores_of(queries=20)
    gf.history.add(path, scores, label="first")
    whole = path.read_bytes()
    gf.history.add(path, scores, label="second")
    content = path.read_bytes()
    path.write_bytes(content[:10] if cut == "header" else content[:-cut])
    kept = [] if cut == "header" else ["first"]
    with pytest.warns(gf.errors.GainfulWarning, match="left out"):
        assert [entry.label for entry in gf.history.read(path)] == kept
    with pytest.warns(gf.errors.GainfulWarning, match="removed"):
        gf.history.add(path, scores, label="third", time="2100-01-01")
    assert [entry.label for entry in gf.history.read(path)] == [*kept, "third"]
    if kept:
        assert path.read_bytes().startswith(whole)


@pytest.mark.parametrize("content", ["q1 0 a 1\n", "{}", '{"gainful": "baseline"', "x"])
def test_other_files_are_never_changed(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(gf.errors.InputError, match="a history that gainful wrote"):
        gf.history.add(path, scores_of(queries=12))
    with pytest.raises(gf.errors.InputError, match="a history that gainful wrote"):
        gf.history.read(path)
    assert path.read_text() == content


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path, scores = tmp_path / "full.history", scores_of(queries=20)
    gf.history.add(path, scores)
    before, write = path.read_bytes(), os.write
    asked = []

    def half(file, data):
        if asked:
            raise OSError(28, "No space left on device")
        asked.append(len(data))
        return write(file, data[: len(data) // 2])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", half)
        with pytest.raises(gf.errors.InputError, match="No space left"):
            gf.history.add(path, scores)
    assert path.read_bytes() == before


@pytest.mark.parametrize("path", ["no/such/folder/a.history", ""])
def test_a_path_that_cannot_be_written_is_rejected(path):
    with pytest.raises(gf.errors.InputError):
        gf.history.add(path, scores_of(queries=12))


@pytest.mark.parametrize("damage", ["values", "entry", "ids"])
def test_a_damaged_line_is_named(tmp_path, damage):
    path = tmp_path / "damaged.history"
    gf.history.add(path, scores_of(queries=20), label="v1")
    header, queries, entry = path.read_bytes().splitlines(keepends=True)
    if damage == "ids":
        members = json.loads(queries)
        members["ids"] = members["ids"][8:]
        queries = json.dumps(members).encode() + b"\n"
    else:
        members = json.loads(entry)
        if damage == "entry":
            del members["entry"]["time"]
        else:
            members["scores"]["values"]["AP"] = "=AAAA"
        entry = json.dumps(members).encode() + b"\n"
    path.write_bytes(header + queries + entry)
    where = {"values": "entry v1", "entry": "line 3", "ids": "line 2"}[damage]
    with pytest.raises(gf.errors.InputError, match=where):
        _ = gf.history.read(path)[0].scores


def test_values_keep_every_bit():
    draw = np.random.default_rng(3)
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 0.1, 1 / 3]
    for values in (
        np.array(special),
        draw.random(1000),
        np.repeat(draw.random(3), 300),
        np.empty(0),
    ):
        assert unpacked_floats(packed_numbers(values)).tobytes() == values.tobytes()


def test_an_entry_keeps_everything_that_identifies_scores(tmp_path):
    path = tmp_path / "whole.history"
    judgments = {"q1": {"a": 1}, "q\n2": {"b": 0}, "ü": {"c": 2, "d": 1}}
    scores = gf.evaluate(
        judgments, {"q1": {"a": 1}, "ü": {"d": 1}}, ["nDCG@10", "NumRet"], policy={"empty": "skip"}
    )
    gf.history.add(
        path, scores, label="v1", commit="abc", time="2026-05-01T08:00+02:00", run="bm25"
    )
    (entry,) = gf.history.read(path)
    again = entry.scores
    assert (entry.label, entry.commit, entry.run) == ("v1", "abc", "bm25")
    assert entry.time.isoformat() == "2026-05-01T06:00:00+00:00"
    assert again.queries == scores.queries
    assert again.policy == scores.policy
    np.testing.assert_array_equal(again.values, scores.values)
    np.testing.assert_array_equal(again.counted, scores.counted)
    np.testing.assert_array_equal(again.judged, scores.judged)
    assert entry.means == dict(scores)
    assert again.signatures["nDCG@10"] == scores.signature("nDCG@10")
