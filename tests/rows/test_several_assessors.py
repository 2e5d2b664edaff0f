"""Judgments of several assessors: merged by the rule that is given, never by one that is not."""

import json

import pandas as pd
import polars as pl
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.rows.several_assessors import RULES

ROWS = [
    ("q1", "a", "ann", 3),
    ("q1", "a", "bob", 1),
    ("q1", "a", "eve", 1),
    ("q1", "b", "ann", 0),
    ("q1", "b", "bob", 2),
    ("q2", "c", "bob", 1),
]
NAMES = ["query", "doc", "annotator", "grade"]
RUN = {"q1": ["a", "b"], "q2": ["x", "c"]}
# By hand, from the rows above.
MERGED = {
    "mean": {"q1": {"a": 5 / 3, "b": 1}, "q2": {"c": 1}},
    "median": {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}},
    "majority": {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}},
    "max": {"q1": {"a": 3, "b": 2}, "q2": {"c": 1}},
    "min": {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}},
    "bob": {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}},
}
RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]


def as_file(folder, name):
    path = folder / name
    if name.endswith("json"):
        path.write_text(json.dumps(RECORDS))
    elif name.endswith("jsonl"):
        path.write_text("".join(json.dumps(each) + "\n" for each in RECORDS))
    elif name.endswith("parquet"):
        pyarrow.parquet.write_table(pl.DataFrame(RECORDS).to_arrow(), path)
    else:
        mark = "\t" if name.endswith("tsv") else ","
        path.write_text("\n".join(mark.join(map(str, row)) for row in [NAMES, *ROWS]) + "\n")
    return path


def shapes(folder):
    nested = {}
    for query, doc, assessor, grade in ROWS:
        nested.setdefault(query, {}).setdefault(doc, {})[assessor] = grade
    yield "dicts", nested
    yield "records", RECORDS
    yield "pandas", pd.DataFrame(RECORDS)
    yield "polars", pl.DataFrame(RECORDS)
    for name in ("j.csv", "j.tsv", "j.json", "j.jsonl", "j.parquet"):
        yield name, as_file(folder, name)


@pytest.mark.parametrize("rule", MERGED)
def test_every_rule_from_every_shape(tmp_path, rule):
    expected = gf.evaluate(MERGED[rule], RUN, ["nDCG@10", "CG"])
    for shape, judgments in shapes(tmp_path):
        found = gf.evaluate(judgments, RUN, ["nDCG@10", "CG"], assessors=rule)
        assert found.means == expected.means, shape
        assert found.signature("CG") == expected.signature("CG"), shape


def test_without_a_rule_none_is_chosen(tmp_path):
    for shape, judgments in shapes(tmp_path):
        if shape == "dicts":
            continue
        with pytest.raises(
            gf.errors.InputError,
            match=rf"'annotator' names assessors.*assessors={', '.join(RULES)}, or the name.*--assessors\.$",
        ):
            gf.evaluate(judgments, RUN)


def test_without_a_rule_a_named_column_is_told_as_a_known_one_is(tmp_path):
    frame = pd.DataFrame(RECORDS).rename(columns={"annotator": "Bewerter"})
    frame.to_csv(tmp_path / "grades.csv", index=False)
    frame.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    frame.to_parquet(tmp_path / "grades.parquet")
    frame.to_json(tmp_path / "grades.jsonl", orient="records", lines=True)
    frame.to_json(tmp_path / "grades.json", orient="records")
    for judgments in (frame, *tmp_path.iterdir()):
        for role in ("assessor", "judgments.assessor"):
            with pytest.raises(
                gf.errors.InputError, match=r"'Bewerter' names assessors.*--assessors\.$"
            ):
                gf.evaluate(judgments, RUN, columns={role: "Bewerter"})


def test_one_assessor_for_each_document_needs_no_rule():
    rows = [each for each in RECORDS if each["annotator"] == "bob"]
    found = gf.evaluate(pl.DataFrame(rows), RUN, "CG")
    assert found.means == gf.evaluate(MERGED["bob"], RUN, "CG").means


def test_a_column_of_another_name():
    frame = pd.DataFrame(RECORDS).rename(columns={"annotator": "who"})
    found = gf.evaluate(frame, RUN, "CG", assessors="max", columns={"assessor": "who"})
    assert found.means == gf.evaluate(MERGED["max"], RUN, "CG").means


def test_what_is_wrong_is_told():
    with pytest.raises(
        gf.errors.InputError, match=r"one of the assessors 'ann', 'bob', 'eve'.*Did you mean 'mean'"
    ):
        gf.evaluate(RECORDS, RUN, assessors="maen")
    with pytest.raises(gf.errors.InputError, match="assessors: expected mean, median"):
        gf.evaluate(RECORDS, RUN, assessors=3)
    with pytest.raises(gf.errors.InputError, match="assessor"):
        gf.evaluate(
            pd.DataFrame({"query": ["q1"], "doc": ["a"], "grade": [1]}), RUN, assessors="mean"
        )
    twice = [*RECORDS, RECORDS[0]]
    with pytest.raises(gf.errors.InputError, match="again"):
        gf.evaluate(twice, RUN, assessors="mean")
    with pytest.raises(gf.errors.InputError, match="assessor"):
        gf.subtopics.evaluate_subtopics({"q1": {"s": {"a": 1}}}, RUN, assessors="mean")


def test_a_rule_without_judgments_is_refused(tmp_path):
    with pytest.raises(gf.errors.InputError, match=r"assessors: expected judgments.*Leave it out"):
        gf.write_run(RUN, tmp_path / "run.txt", assessors="mean")


def test_the_command_line(tmp_path):
    path = as_file(tmp_path, "j.csv")
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    asked = [
        "evaluate",
        str(path),
        str(tmp_path / "run.json"),
        "--assessors",
        "max",
        "-m",
        "CG",
        "-f",
        "tsv",
    ]
    done = CliRunner().invoke(commands, asked, catch_exceptions=False)
    assert str(gf.evaluate(MERGED["max"], RUN, "CG")["CG"]) in done.output
    target = tmp_path / "merged.qrels"
    asked = ["convert", str(path), str(target), "--as", "judgments", "--assessors", "majority"]
    assert CliRunner().invoke(commands, asked, catch_exceptions=False).exit_code == 0
    expected = gf.evaluate(MERGED["majority"], RUN, "CG")
    assert gf.evaluate(target, RUN, "CG").means == expected.means
