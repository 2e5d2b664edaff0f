"""Lines of user, item, rating and time are no judgments of TREC: the message has the options that read them."""

import re
import shlex

import pytest

import gainful as gf

RATINGS = [(7, 1, 3), (7, 2, 2), (7, 3, 1), (8, 1, 5)]
TIMES = {
    "seconds": "978300760", "recent seconds": "1763500000", "parts of seconds": "1763500000.25",
    "thousandths": "1763500000123", "millionths": "1763500000123456",
}  # fmt: skip
MARKS = {"tabs": "\t", "blanks": " ", "commas": ","}
RUN = {"7": {"1": 3.0, "2": 2.0, "3": 1.0}, "8": {"1": 1.0}}
JUDGMENTS = {"7": {"1": 3, "2": 2, "3": 1}, "8": {"1": 5}}
USES = {
    "judgments": lambda path, columns: gf.evaluate(path, RUN, "nDCG", columns=columns)["nDCG"],
    "run": lambda path, columns: gf.evaluate(JUDGMENTS, path, "nDCG", columns=columns)["nDCG"],
    "history": lambda path, columns: gf.recommending.evaluate_recommendations(
        RUN, "Coverage@3", history=path, columns=columns
    )["Coverage@3"],
}  # fmt: skip


def written(tmp_path, mark, time):
    path = tmp_path / "u.data"
    path.write_text("".join(f"{mark.join(map(str, row))}{mark}{time}\n" for row in RATINGS))
    return path


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("time", TIMES)
def test_the_message_has_the_columns_to_pass(tmp_path, time, mark, use):
    path = written(tmp_path, MARKS[mark], TIMES[time])
    with pytest.raises(
        gf.errors.InputError, match="look like user, item, rating and time"
    ) as problem:
        USES[use](path, None)
    columns = re.search(r"columns=(\{.*\})", str(problem.value))[1]
    assert USES[use](path, eval(columns)) == 1.0  # noqa: S307 - what the message tells people to write


@pytest.mark.parametrize("mark", MARKS)
def test_the_message_has_the_options_to_type(tmp_path, cli, mark):
    path = written(tmp_path, MARKS[mark], TIMES["seconds"])
    (tmp_path / "run.csv").write_text("query,doc,score\n7,1,3\n7,2,2\n7,3,1\n8,1,1\n")
    for command in ("evaluate", "check"):
        done = cli(command, path, tmp_path / "run.csv")
        assert done.returncode == 2
        options = shlex.split(re.search(r"(--columns .*); in Python", done.stderr)[1])
        assert cli(command, path, tmp_path / "run.csv", *options).returncode == 0


def test_two_colons(tmp_path):
    path = written(tmp_path, "::", TIMES["seconds"])
    with pytest.raises(gf.errors.InputError, match="sed 's/::/") as problem:
        gf.evaluate(path, RUN, "nDCG")
    columns = re.search(r"columns=(\{.*\})", str(problem.value))[1]
    path.write_text(path.read_text().replace("::", "\t"))
    assert gf.evaluate(path, RUN, "nDCG", columns=eval(columns))["nDCG"] == 1.0  # noqa: S307


def test_subtopics_and_pairs(tmp_path):
    path = written(tmp_path, "\t", TIMES["seconds"])
    with pytest.raises(gf.errors.InputError, match="found a Unix time in field 4"):
        gf.subtopics.evaluate_subtopics(path, RUN, "ERR_IA@10")


@pytest.mark.parametrize("grade", ["0", "1", "2.5", "-1", "100", "20240131", "99999999"])
def test_grades_of_judgments_stay_what_they_are(tmp_path, grade):
    path = tmp_path / "qrels"
    path.write_text(f"978300760 0 978300761 {grade}\n7 0 d1 1\n")
    assert (
        gf.evaluate(path, {"7": {"d1": 1.0}, "978300760": {"978300761": 1.0}}, "P@1")["P@1"] >= 0.5
    )


def test_a_single_high_grade_is_no_column_of_times(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("7 0 d1 978300760\n7 0 d2 1\n")
    assert gf.evaluate(path, {"7": {"d1": 1.0}}, "P@1")["P@1"] == 1.0


def test_a_field_that_the_caller_names_is_taken(tmp_path):
    path = written(tmp_path, "\t", TIMES["seconds"])
    assert (
        gf.evaluate(path, {"7": {"3": 1.0}}, "P@1", columns={"judgments.grade": "grade"})["P@1"]
        == 0.5
    )
