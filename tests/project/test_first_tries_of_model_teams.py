"""What four users type first: an engineer of rankers, a student, a lead of annotators, a team with rules of its own.

Each test is a task of theirs, on data in the form that they have, with numbers worked out by hand.
"""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest

import gainful as gf

SECOND = 1 / math.log2(3)  # the discounts of the ranks 2 and 3
THIRD = 1 / 2


def refused(call, *words, error=gf.errors.GainfulError):
    """Check that a call is refused with a message that says these words."""
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


# An engineer of rankers: labels and predictions, without ids of documents.

LETOR = """\
2 qid:7 1:0.1 2:0.5 # a
0 qid:7 1:0.3 2:0.1 # b
1 qid:7 1:0.2 2:0.2 # c
0 qid:9 1:0.9 2:0.4 # d
0 qid:9 1:0.8 2:0.3 # e
"""
PREDICTIONS = (0.4, 0.9, 0.1, 0.3, 0.2)
# Query 7 is ranked 0, 2, 1, which is 2·SECOND + 1·THIRD of 2 + 1·SECOND; query 9 has no gain.
LINEAR = (2 * SECOND + THIRD) / (2 + SECOND)
EXPONENTIAL = (3 * SECOND + THIRD) / (3 + SECOND)


@pytest.fixture
def letor(tmp_path):
    labels, predictions = tmp_path / "test.svm", tmp_path / "pred.txt"
    labels.write_text(LETOR)
    predictions.write_text("".join(f"{each}\n" for each in PREDICTIONS))
    return labels, predictions


def test_a_ranker_is_measured_from_files_and_from_flat_arrays(letor, cli):
    labels, predictions = letor
    done = cli("evaluate", labels, predictions, "-m", "nDCG@10", "-f", "json")
    (row,) = json.loads(done.stdout)["runs"]
    assert row["means"]["nDCG@10"] == pytest.approx(LINEAR / 2)
    flat = {"labels": [2, 0, 1, 0, 0], "scores": np.array(PREDICTIONS), "measures": "nDCG@10"}
    for lists in ({"group": [3, 2]}, {"query": [7, 7, 7, 9, 9]}):
        scores = gf.evaluate_arrays(**flat, **lists)
        assert scores.per_query["nDCG@10"] == pytest.approx([LINEAR, 0])
    columns = {name: pd.Series(flat[name]) for name in ("labels", "scores")}
    assert gf.evaluate_arrays(**columns, group=[3, 2])["nDCG@10"] == pytest.approx(LINEAR / 2)


def test_lightgbm_and_scikit_learn_differ_by_the_gain_and_the_empty_query(letor):
    found = {
        name: gf.evaluate(*letor, "nDCG@10", dialect=name)["nDCG@10"]
        for name in ("lightgbm", "sklearn")
    }
    assert found == pytest.approx({"lightgbm": (EXPONENTIAL + 1) / 2, "sklearn": LINEAR / 2})
    why = gf.why(*letor, "nDCG@10", dialects=["lightgbm", "sklearn"])
    parts = {cause.name: cause.part for cause in why.causes if cause.part}
    assert parts == pytest.approx({"gain": (LINEAR - EXPONENTIAL) / 2, "empty": -1 / 2})
    # What LightGBM calls label_gain is a table here: the place in the list is the grade.
    table = gf.Measure("nDCG", k=10, gain=dict(enumerate([0, 1, 3])))
    assert gf.evaluate(*letor, table)[table] == pytest.approx(EXPONENTIAL / 2)
    refused(lambda: gf.Measure("nDCG", gain=[0, 1, 3]), "{0: 0, 1: 1, 2: 3}")


def test_a_ranker_hears_what_is_wrong_with_its_arrays_and_files(letor, tmp_path):
    labels, _ = letor
    flat = {"labels": [2, 0, 1], "scores": [0.4, 0.9, 0.1]}
    wrong = TypeError
    refused(lambda: gf.evaluate_arrays(**flat, groups=[3]), "mean 'group'", error=wrong)
    refused(lambda: gf.evaluate_arrays(**flat, qid=[7, 7, 7]), "mean 'query'", error=wrong)
    refused(lambda: gf.evaluate_arrays(y_true=[1], y_score=[1]), "mean 'labels'", error=wrong)
    refused(
        lambda: gf.evaluate_arrays([2, 0], [1, 2]),
        "takes nothing by position, and everything else by keyword, such as labels=… and scores=…",
        error=wrong,
    )
    refused(lambda: gf.evaluate_arrays(**flat, group=[1, 1]), "add up to the 3", "a sum of 2")
    refused(lambda: gf.metrics.ndcg(np.array([2, 0]), np.array([0.1, 0.2])), "Pass scores first")
    refused(lambda: gf.evaluate(labels, np.array(PREDICTIONS)), "evaluate_arrays(labels=…")
    (tmp_path / "comma.txt").write_text("0.4\n0,9\n0.1\n0.3\n0.2\n")
    refused(lambda: gf.evaluate(labels, tmp_path / "comma.txt"), "comma.txt:2", "with a point")
    np.save(tmp_path / "pred.npy", PREDICTIONS)
    refused(lambda: gf.evaluate(labels, tmp_path / "pred.npy"), "an array of NumPy", "savetxt")
    (tmp_path / "bare.svm").write_text(LETOR.replace("qid:7 ", "").replace("qid:9 ", ""))
    refused(lambda: gf.evaluate(tmp_path / "bare.svm", letor[1]), "labels with qid:", "group=…")


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_sizes_of_lists_that_numpy_read_as_floats_are_sizes(kind):
    flat = {"labels": [1, 0, 2, 0, 1], "scores": [0.1, 0.2, 0.3, 0.2, 0.1], "measures": "nDCG"}
    sizes = np.array([2, 0, 3], kind)
    found = gf.evaluate_arrays(**flat, group=sizes)
    assert found.means == gf.evaluate_arrays(**flat, group=[2, 0, 3]).means
    assert sizes.dtype == kind


@pytest.mark.parametrize("first", ["nan", "NaN", "inf", "-inf", "score", "# made by me\nscore"])
def test_a_first_line_that_is_no_prediction_has_a_message_of_its_own(tmp_path, first):
    labels, predictions = tmp_path / "labels.txt", tmp_path / "predictions.txt"
    labels.write_text("1 qid:1 1:0.5\n0 qid:1 1:0.2\n")
    predictions.write_text(f"{first}\n0.5\n")
    line = first.count("\n") + 1
    said = (
        f"predictions.txt:{line}: expected a finite number as the score, found "
        f"{first.rpartition(chr(10))[2]!r}. Predictions are one number on each line, and no header."
    )
    refused(lambda: gf.evaluate(labels, predictions), said)
    refused(lambda: gf.compare(labels, {"a": predictions, "b": predictions}), said)
    refused(lambda: gf.check(labels, {"a": predictions}), said)
    predictions.write_text("1 Q0 a 1 0.5 t\n")  # a run
    refused(lambda: gf.evaluate(labels, predictions), "labels with qid: and documents with ids")


def test_columns_of_pandas_are_paired_by_place_and_that_is_said():
    labels = pd.Series([2, 0, 1], index=[2, 1, 0])
    with pytest.warns(gf.errors.GainfulWarning, match=r"scores\.reindex\(labels\.index\)"):
        gf.evaluate_arrays(labels=labels, scores=pd.Series([0.4, 0.9, 0.1]))
    # A part of a table keeps its rows, and predictions for it are counted from 0: they fit.
    labels.index = [12, 15, 11]
    found = gf.evaluate_arrays(labels=labels, scores=pd.Series([0.4, 0.9, 0.1]))
    assert found["nDCG@10"] == pytest.approx(LINEAR)


# A student: grades in a list, and the numbers of a textbook.

GRADES = [3, 2, 3, 0, 1, 2]


def test_a_student_finds_the_numbers_of_the_textbook():
    assert gf.cg(GRADES) == 11
    assert gf.dcg(GRADES) == pytest.approx(6.861, abs=5e-4)
    assert gf.idcg(GRADES) == pytest.approx(7.141, abs=5e-4)
    assert gf.ndcg(GRADES) == pytest.approx(0.961, abs=5e-4)
    assert gf.dcg(GRADES) / gf.idcg(GRADES) == pytest.approx(gf.ndcg(GRADES))
    assert gf.ap([1, 0, 1, 0, 0, 1]) == pytest.approx((1 / 1 + 2 / 3 + 3 / 6) / 3)
    assert (gf.precision([1, 0, 1, 0], k=2), gf.recall([1, 0, 1, 0], k=1)) == (0.5, 0.5)
    assert gf.rr([0, 0, 1]) == pytest.approx(1 / 3)
    assert gf.ndcg(pd.Series(GRADES)) == gf.ndcg(tuple(GRADES)) == gf.ndcg(np.array(GRADES))


def test_a_student_sees_each_step(cli):
    shown = cli("explain", "3,2,3,0,1,2").stdout
    assert shown == f"{gf.explanation.explain_grades(GRADES, 'nDCG')}\n"
    assert shown.splitlines()[-1] == "nDCG = DCG / IDCG = 6.861 / 7.141 = 0.961"
    assert cli("explain", "3,", "2,", "3").stdout == cli("explain", "3,2,3").stdout
    assert "--judged expects grades such as" in cli("explain", "3,2", "--judged", "all").stderr
    for option in ("--gain", "-k"):
        done = cli("explain", "3,2", option, "exp2")
        assert "It is part of the measure: -m 'nDCG(gain=exp2)@10'" in done.stderr


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gf.ndcg("3,2,3"), "a list of grades"),
        (lambda: gf.ndcg(["3", "2"]), "Convert them to numbers first."),
        (lambda: gf.ndcg(np.array([3, 2], object)), "astype(float)"),
        (lambda: gf.ndcg([3, None]), "such as None"),
        (lambda: gf.ndcg([3, math.nan]), "grades[1]: expected a finite number"),
        (lambda: gf.ndcg([[[3]]]), "another nesting"),
        (lambda: gf.ndcg(GRADES, k=0), "a whole number from 1"),
        (lambda: gf.ndcg(GRADES, k=-1), "found -1"),
        (lambda: gf.Measure("nDCG@10"), "To read the notation, use gainful.measure('nDCG@10')."),
    ],
)
def test_a_student_hears_what_is_no_list_and_no_cutoff(call, said):
    refused(call, said)


def test_a_student_hears_which_argument_is_meant():
    refused(
        lambda: gf.ndcg(GRADES, 3),
        "takes grades by position, and everything else by keyword, such as k=…",
        error=TypeError,
    )
    refused(lambda: gf.ndcg(GRADES, cutoff=3), "Did you mean 'k'?", error=TypeError)
    refused(lambda: gf.kendall_tau, "gainful.statistics.kendall_tau", error=AttributeError)
    refused(lambda: gf.InputError, "gainful.errors.InputError", error=AttributeError)


# A lead of annotators: tables as spreadsheets write them, several grades for a document.

ASSESSED = """\
\ufeffQuery;Doc;Annotator;Grade
q1;d1;ann;3
q1;d1;bob;1
q1;d1;eve;1

q1;d2;ann;2.5
q2;d3;ann;0
q2;d3;bob;1
"""
RANKED = "query;doc;rank\nq1;d2;1\nq1;d1;2\nq1;d9;3\nq2;d7;1\nq2;d3;2\n"


@pytest.fixture
def annotated(tmp_path):
    judgments, run = tmp_path / "judged.csv", tmp_path / "system.csv"
    judgments.write_bytes(ASSESSED.replace("\n", "\r\n").encode())
    run.write_text(RANKED)
    return judgments, run


@pytest.mark.parametrize(
    ("rule", "first", "third"), [("mean", 5 / 3, 0.5), ("median", 1, 0.5), ("majority", 1, 0)]
)
def test_grades_of_several_annotators_become_one(annotated, rule, first, third):
    scores = gf.evaluate(*annotated, "DCG@2", assessors=rule)
    # q1 is d2, d1, and q2 has d3 at rank 2.
    assert scores.per_query["DCG@2"] == pytest.approx([2.5 + first * SECOND, third * SECOND])


def test_what_to_judge_next_and_what_it_could_change(annotated, cli, tmp_path):
    judgments, run = annotated
    bounds = gf.bounds(judgments, run, "P@3", grades=(0, 1), assessors="max")
    # Of q1, two of three are relevant and one is open; of q2 one is, one is open, and one lacks.
    assert (bounds["P@3"].low, bounds["P@3"].high) == pytest.approx((1 / 2, 5 / 6))
    target = tmp_path / "next.csv"
    given = ("--judgments", judgments, "--assessors", "max", "-m", "P@3", "--grades", "0,1")
    assert cli("pool", run, *given, "-o", target).returncode == 0
    rows = [line.split(",") for line in target.read_text().splitlines()]
    assert rows[0] == ["query", "doc", "rank", "runs", "grade", "priority"]
    # Each of the two documents moves P@3 of its query by a third, and the mean by a sixth.
    assert [row[:5] for row in rows[1:]] == [["q1", "d9", "3", "1", ""], ["q2", "d7", "1", "1", ""]]
    assert [float(row[5]) for row in rows[1:]] == pytest.approx([1 / 6, 1 / 6])


def test_files_of_annotators_are_checked_with_what_to_do(annotated, cli, tmp_path):
    judgments, run = annotated
    done = cli("check", judgments)
    assert done.returncode == 1
    assert "The column 'Annotator' names assessors" in done.stdout
    assert cli("check", judgments, run, "--assessors", "median").returncode == 0
    wrong = tmp_path / "wrong.csv"
    for text, where, said in (
        ("query;doc;grade\nq1;d1;2,5\n", ":2", "Write decimals with a point, as in 2.5"),
        ("query;doc;grade\nq1;d1;2\n;;\n", ":3", "Remove the row: all of its fields are blank."),
        (
            "sep=;\nquery;doc;grade\nq1;d1;2\n",
            ":1",
            "Remove the line, which is only for spreadsheets",
        ),
    ):
        wrong.write_text(text)
        refused(lambda: gf.evaluate(wrong, run), f"wrong.csv{where}: expected", said)
    wrong.write_text(f"{ASSESSED}q2;d3;bob;2\n")
    refused(
        lambda: gf.evaluate(wrong, run, assessors="mean"),
        "wrong.csv:9: expected each assessor once for a document of a query, found 'bob' again",
    )
    book = tmp_path / "grades.xlsx"
    book.write_bytes(b"PK\x03\x04" + bytes(20))
    refused(lambda: gf.evaluate(book, run), "Save the spreadsheet as CSV")


# A team with measures of its own: gains, a policy and gates in a project's file.

JUDGED = {"q1": {"a": 3, "b": 2, "c": 0}, "q2": {"d": 1}, "q3": {"e": 1}}
RETURNED = {"q1": {"a": 0.9, "u": 0.8, "b": 0.7}, "q2": {"x": 2.0, "d": 1.0}}


def squared(grade):
    """The gain of the team: twice the grade is worth four times as much."""
    return grade**2


def test_a_gain_of_the_team_goes_through_every_result(tmp_path):
    measure = gf.Measure("nDCG", k=10, gain=squared)
    scores = gf.evaluate(JUDGED, RETURNED, [measure, "nDCG@10"], policy={"missing": "skip"})
    first = (9 + 4 * THIRD) / (9 + 4 * SECOND)
    assert scores[measure] == pytest.approx((first + SECOND) / 2)
    assert scores.per_query.to_dict()["q1"][str(measure)] == pytest.approx(first)
    assert json.loads(json.dumps(scores.to_dict()))["means"] == scores.means
    assert pickle.loads(pickle.dumps(scores)) == scores  # noqa: S301 - what it wrote itself
    assert scores.per_query.to_pandas()[str(measure)].tolist() == scores.per_query[measure]
    scores.write(tmp_path / "scores.csv")
    refused(lambda: scores.write(tmp_path / "scores.xlsx"), ".csv, .tsv")
    refused(lambda: scores.per_query["q1"], "the query 'q1'", "to_dict()['q1']")
    refused(lambda: gf.evaluate(JUDGED, RETURNED, {"ours": measure}), "pass the values of the dict")
    table = gf.Measure("nDCG", k=10, gain={1: 1, 2: 4, 3: 9})
    assert (
        gf.evaluate(JUDGED, RETURNED, table, policy={"missing": "skip"})[table] == scores[measure]
    )


def test_a_gain_that_fails_says_what_it_was_called_with():
    with pytest.raises(TypeError) as caught:
        gf.dcg([2, 1], gain=lambda grade: [0, 1, 3][grade])
    assert caught.value.__notes__ == ["raised by gain <lambda>, called with the grade 1.0"]


PROJECT = """\
judgments = "dev.qrels"
measures = ["nDCG(gain={1: 1, 2: 4, 3: 9})@10", "P(rel=2)@2"]

[policy]
missing = "skip"
"""


@pytest.fixture
def project(tmp_path):
    gf.write_judgments(JUDGED, tmp_path / "dev.qrels")
    gf.write_run(RETURNED, tmp_path / "new.run")
    (tmp_path / "gainful.toml").write_text(PROJECT)
    return tmp_path


def test_the_measures_and_the_policy_of_a_project_count(project, cli):
    settings = ("--config", project / "gainful.toml")
    done = cli(*settings, "evaluate", project / "new.run", "-f", "csv")
    header, row = done.stdout.splitlines()
    assert header == 'run,"nDCG(gain={1: 1, 2: 4, 3: 9})@10",P(rel=2)@2'
    means = [float(cell) for cell in row.split(",")[1:]]
    # Without q3, which the run lacks; a has grade 3, and stands first.
    first = (9 + 4 * THIRD) / (9 + 4 * SECOND)
    assert means == pytest.approx([(first + SECOND) / 2, (1 / 2 + 0) / 2])
    rows = json.loads(cli(*settings, "config", "-f", "json").stdout)
    told = {row["setting"]: (row["value"], row["from"]) for row in rows}
    assert told["policy.missing"][0] == "skip"
    assert told["policy.ties"] == ("auto", "default")


def test_a_gate_says_which_measure_is_meant_and_a_file_which_ending(project, cli):
    call = ("--config", project / "gainful.toml", "evaluate", project / "new.run")
    assert cli(*call, "--fail-if", "P(rel=2)@2 < 0.9").returncode == 1
    done = cli(*call, "--fail-if", "ndcg@10 < 0.9")
    assert done.returncode == 2
    assert "Did you mean 'nDCG(gain={1: 1, 2: 4, 3: 9})@10'?" in done.stderr
    assert "The number is missing." in cli(*call, "--fail-if", "P(rel=2)@2 < ").stderr
    for name, said in (("x.xlsx", "Spreadsheets open .csv."), ("x.png", "promises a picture")):
        done = cli(*call, "-o", project / name)
        assert done.returncode == 2
        assert said in done.stderr
        assert not (project / name).exists()
