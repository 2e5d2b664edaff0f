"""Values that are no numbers, and lines with a delimiter too many: the message has the remedy, and it works."""

import json
import re
import subprocess

import pandas as pd
import pyarrow as pa
import pytest

import gainful as gf

RUN = {"q1": {"d1": 2.0, "007": 1.0}}
REMEDIES = {
    "Substitute": "--grade-words esci (in Python, grade_words='esci')",
    "E": "--grade-words esci (in Python, grade_words='esci')",
    "20%": "without the sign in every row, 20 for 20%",
    "1,003.0": "thousands without a comma",
    "#N/A": "remove the row",
    "NULL": "remove the row",
    "#DIV/0!": "remove the row",
}
FORMS = (
    "csv",
    "tsv",
    "trec",
    "jsonl",
    "json",
    "records",
    "parquet",
    "frame",
    "arrow",
    "dict",
    "rows",
    "assessors",
    "subtopics",
)


def written(form, word, folder):
    rows = [("q1", "d1", "1"), ("q1", "007", word)]
    frame = pd.DataFrame(rows, columns=["query", "doc", "grade"])
    path = folder / f"judgments.{form}"
    records = [
        {"query": "q1", "doc": "d1", "grade": 1},
        {"query": "q1", "doc": "007", "grade": word},
    ]
    match form:
        case "csv":
            frame.to_csv(path, index=False)
        case "assessors" | "subtopics":
            frame.assign(assessor="x", subtopic="1").to_csv(path, index=False)
        case "tsv":
            frame.to_csv(path, index=False, sep="\t")
        case "trec":
            path.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows))
        case "jsonl":
            path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
        case "json":
            path.write_text(json.dumps({"q1": {"d1": 1, "007": word}}))
        case "records":
            path.write_text(json.dumps(records))
        case "parquet":
            frame.to_parquet(path)
        case _:
            return {
                "frame": frame, "arrow": pa.Table.from_pandas(frame), "dict": {"q1": {"d1": 1, "007": word}},
                "rows": [("q1", "d1", 1), ("q1", "007", word)],
            }[form]  # fmt: skip
    return path


def read(form, given):
    if form == "assessors":
        return gf.evaluate(given, RUN, "nDCG", assessors="mean")
    if form == "subtopics":
        return gf.subtopics.evaluate_subtopics(given, RUN, "strec@2")
    return gf.evaluate(given, RUN, "nDCG")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("word", REMEDIES)
def test_grades(tmp_path, form, word):
    with pytest.raises(gf.errors.InputError) as problem:
        read(form, written(form, word, tmp_path))
    assert REMEDIES[word] in str(problem.value)


@pytest.mark.parametrize(("score", "remedy"), [
    ("20%", "20 for 20%"), ("1,003.0", "thousands without a comma"), ("#N/A", "Give the document a score, or remove the row."),
])  # fmt: skip
def test_scores(files, score, remedy):
    path = files("run.csv", f'query,doc,score\nq1,d1,"{score}"\n')
    with pytest.raises(gf.errors.InputError, match=re.escape(remedy)):
        gf.evaluate({"q1": {"d1": 1}}, path, "nDCG")


@pytest.mark.parametrize(
    ("word", "grades", "grade"),
    [("Substitute", "esci", 2), ("E", "esci", 3), ("très bon", {"très bon": 1}, 1)],
)
def test_the_mapping_of_words_works(tmp_path, word, grades, grade):
    """As a frame, and through a file, in which ids keep their zeros."""
    right = gf.evaluate({"q1": {"d1": 1, "007": grade}}, RUN, "nDCG").means
    with pytest.raises(gf.errors.InputError, match=re.escape(word)):
        gf.evaluate(written("frame", word, tmp_path), RUN, "nDCG")
    for form in ("frame", "csv"):
        judgments = written(form, word, tmp_path)
        assert gf.evaluate(judgments, RUN, "nDCG", grade_words=grades).means == right


@pytest.mark.parametrize("mark", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["", "\r"])
@pytest.mark.parametrize("many", [1, 3])
def test_delimiters_at_the_ends_of_lines(files, tmp_path, mark, end, many):
    rows = [("query", "doc", "score"), ("q1", "d1", "2"), ("q1", "007", "1")]
    extra = [0, many, many]
    text = "".join(
        f"{mark.join(row)}{mark * count}{end}\n" for row, count in zip(rows, extra, strict=True)
    )
    slices = "".join(
        f"{mark.join(row)}{mark * count}{end}\n" for row, count in zip([("query", "locale"), ("q1", "de")], extra[:2], strict=True)
    )  # fmt: skip
    judged = {"q1": {"d1": 1}}
    for given, call in (
        (files("run.txt", text), lambda path: gf.evaluate(judged, path, "nDCG")),
        (files("slices.txt", slices), lambda path: gf.evaluate(judged, RUN, "nDCG", slices=path)),
    ):
        with pytest.raises(gf.errors.InputError) as problem:
            call(given)
        script = re.search(r"sed -E '(.*?)' FILE > NEW\.", str(problem.value))[1]
        fixed = subprocess.run(["sed", "-E", script, str(given)], capture_output=True, check=True)
        (tmp_path / "fixed.txt").write_bytes(fixed.stdout)
        assert call(tmp_path / "fixed.txt")["nDCG"] == 1.0


def test_a_field_too_many_that_holds_something_has_no_such_remedy(files):
    with pytest.raises(gf.errors.InputError, match="found 4") as problem:
        gf.evaluate({"q1": {"d1": 1}}, files("run.csv", "query,doc,score\nq1,d1,2,x\n"), "nDCG")
    assert "sed" not in str(problem.value)
