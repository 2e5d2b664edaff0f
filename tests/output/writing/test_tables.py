"""Scores in files of every format."""

import csv
import gzip
import json
import math

import polars as pl
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 3, "b": 2}, "q2": {"d": 0}, 'q,"3': {"e": 1}}
RUN = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"d": 1.0}, 'q,"3': {"x": 2.0, "e": 1.0}}


@pytest.fixture(scope="module")
def scores():
    return gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "CG"], policy=gf.Policy(empty="skip"))


def test_every_query(scores, tmp_path):
    expected = list(scores.per_query)
    assert expected[1] == {"query": "q2", "nDCG@10": None, "CG": 0.0}
    for end, separator in (("csv", ","), ("tsv", "\t")):
        scores.write(tmp_path / f"x.{end}")
        with (tmp_path / f"x.{end}").open(newline="") as file:
            found = list(csv.DictReader(file, delimiter=separator))
        plain = [
            {"query": row["query"]}
            | {name: float(row[name]) if row[name] else None for name in ("nDCG@10", "CG")}
            for row in found
        ]
        assert plain == expected
    scores.write(tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == expected
    scores.write(tmp_path / "x.jsonl.gz")
    lines = gzip.decompress((tmp_path / "x.jsonl.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line) for line in lines] == expected
    scores.write(tmp_path / "x.parquet")
    frame = pl.read_parquet(tmp_path / "x.parquet")
    assert frame.equals(scores.per_query.to_polars(), null_equal=True)
    assert frame.schema == scores.per_query.to_polars().schema


def test_means(scores, tmp_path):
    scores.write(tmp_path / "x.csv", per_query=False)
    assert (tmp_path / "x.csv").read_text() == "measure,mean\n" + "".join(
        f"{name},{mean}\n" for name, mean in scores.means.items()
    )
    scores.write(tmp_path / "x.parquet", per_query=False)
    assert dict(pl.read_parquet(tmp_path / "x.parquet").iter_rows()) == scores.means


@pytest.mark.parametrize("per_query", [True, False])
@pytest.mark.parametrize(
    ("end", "sign"),
    [("txt", "───"), ("md", "| --- |"), ("tex", r"\toprule"), ("html", "<table>")],
)
def test_formats_for_people_say_policy_and_coverage(end, sign, per_query, scores, tmp_path):
    scores.write(tmp_path / f"x.{end}", per_query=per_query)
    text = (tmp_path / f"x.{end}").read_text()
    assert sign in text
    assert "empty=skip" in text
    assert "1 of 3 queries has no relevant documents (skipped)" in text
    assert ("q2" in text) == per_query
    assert text.endswith("\n")


def test_what_is_no_number_and_what_does_not_count_differ_in_parquet(tmp_path):
    policy = gf.Policy(empty="nan", missing="skip")
    scores = gf.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, ["nDCG", "CG"], policy=policy)
    scores.write(tmp_path / "x.parquet")
    (value,) = pl.read_parquet(tmp_path / "x.parquet")["nDCG"]
    assert math.isnan(value)


def test_a_file_of_scores_is_replaced_only_when_complete(scores, tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("old")
    with pytest.raises(gf.errors.InputError):
        scores.write(tmp_path / "no such folder" / "x.csv")
    monkeypatch.setattr("pathlib.Path.replace", None)
    with pytest.raises(TypeError):
        scores.write(tmp_path / "x.csv")
    monkeypatch.undo()
    assert (tmp_path / "x.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
