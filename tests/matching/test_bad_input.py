"""Bad input: each kind has its own clear error."""

import io
import re
import uuid

import numpy as np
import pandas as pd
import pytest

import gainful as gf
from gainful import arguments
from gainful.message_texts import did_you_mean

JUDGMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"a": 0.5, "b": 0.4}, "q2": {"c": 1.0}}


@pytest.mark.parametrize(
    ("judgments", "run", "said"),
    [
        ({}, RUN, "judgments: expected at least one judged document, found none"),
        ({"q1": {}}, RUN, "judgments: expected at least one judged document, found none"),
        (JUDGMENTS, {}, "run: expected at least one retrieved document, found none"),
        ([1, 2], RUN, "judgments: expected a dict"),
        (JUDGMENTS, [("q1", 1.0)], "run, row 1: expected (query, doc, score) with a number, found a tuple of 2"),
        (JUDGMENTS, None, "run: expected a dict"),
        ({"q1": "a"}, RUN, "judgments, query 'q1': expected {doc: grade}, or a list of documents, found 'a'"),
        (JUDGMENTS, {"q1": 0.5}, "run, query 'q1': expected {doc: score}, or a list of documents, found 0.5"),
        ({"q1": {"a": float("nan")}}, RUN, "judgments, query 'q1', document 'a': expected a finite number as the grade, found nan"),
        ({"q1": {"a": float("inf")}}, RUN, "document 'a': expected a finite number as the grade, found inf"),
        ({"q1": {"a": "good"}}, RUN, "document 'a': expected a finite number as the grade, found 'good'"),
        ({"q1": {"a": None}}, RUN, "document 'a': expected a finite number as the grade, found None"),
        ({"q1": {"a": 10**400}}, RUN, "document 'a': expected a finite number as the grade"),
        (JUDGMENTS, {"q1": {"a": float("nan")}}, "run, query 'q1', document 'a': expected a finite number as the score, found nan"),
        ({"q1": {"a": 1, "b": float("nan")}}, RUN, "judgments, query 'q1', document 'b': expected a finite number as the grade, found nan"),
        (JUDGMENTS, {"q1": {"a": float("nan"), "b": 1.0}}, "run, query 'q1', document 'a': expected a finite number as the score, found nan"),
        (JUDGMENTS, {"q1": {"a": 1.0, "x": float("-inf")}}, "document 'x': expected a finite number as the score, found -inf"),
        (JUDGMENTS, {"q1": {"a": "0.5"}}, "document 'a': expected a finite number as the score, found '0.5'"),
        (JUDGMENTS, {"q1": {1.5: 1.0}}, "run, query 'q1', document ids: expected a string (or an integer) as id, found 1.5"),
        ({None: {"a": 1}}, RUN, "judgments, query ids: expected a string (or an integer) as id, found None"),
        ({True: {"a": 1}}, RUN, "judgments, query ids: expected a string (or an integer) as id, found True"),
        ({1: {"a": 1}, "1": {"a": 1}}, RUN, "judgments, query ids: expected each query once, found '1' as a string and as an integer"),
        (JUDGMENTS, {"x1": {"a": 1.0}, "x2": {}}, "query ids: expected judgments and run to share some, found none in common: judgments have 'q1', 'q2'; the run has 'x1', 'x2'."),
    ],
)  # fmt: skip
def test_dicts(judgments, run, said):
    with pytest.raises(gf.errors.InputError, match=re.escape(said)):
        gf.evaluate(judgments, run, "nDCG")


@pytest.mark.parametrize(
    ("judged", "ran", "hint"),
    [
        ("007", "7", "without leading zeros"),
        ("Q1", "q1", "if compared case-insensitively"),
        ("q1", " q1", "without surrounding whitespace"),
        ("query-12", "12", "without the prefix before their digits"),
        ("12", "12.0", "without the ending .0"),
        ("a", "b", "Check that both come from the same collection"),
    ],
)
def test_ids_that_never_overlap(judged, ran, hint):
    with pytest.raises(gf.errors.InputError, match=hint):
        gf.evaluate({judged: {"d": 1}}, {ran: {"d": 1}}, "nDCG")
    with pytest.warns(gf.errors.GainfulWarning, match=hint):
        scores = gf.evaluate({"q": {judged: 1}}, {"q": {ran: 1}}, "nDCG")
    assert scores["nDCG"] == 0.0


def test_which_of_several_runs_is_wrong():
    def told(run):
        with pytest.raises(gf.errors.InputError) as raised:
            gf.evaluate_runs({"q": {"a": 1}}, {"good": {"q": {"a": 1.0}}, "other": run})
        return str(raised.value)

    assert told({}).startswith("run 'other': expected at least one retrieved document, found none")
    assert told({"x": {"a": 1.0}}).startswith("run 'other', query ids: expected judgments and run")
    assert told({"q": {"a": "x"}}).startswith(
        "run 'other', query 'q', document 'a': expected a fin"
    )
    assert told("gone.run").startswith("gone.run: expected a file")


def test_which_of_several_runs_a_warning_is_about():
    runs = {name: {"q": {"x": 1.0}} for name in ("one", "two")}
    with pytest.warns(gf.errors.GainfulWarning) as seen:
        gf.evaluate_runs({"q": {"a": 1}}, runs)
    told = [str(each.message).partition(":")[0] for each in seen]
    assert told == ["run 'one', document ids", "run 'two', document ids"]


def test_a_file_that_is_judgments_and_run(tmp_path):
    file = tmp_path / "both.csv"
    file.write_text("query,doc,score\nq,a,1\n")
    with pytest.warns(gf.errors.GainfulWarning, match="judgments and run are the same file"):
        gf.evaluate(file, str(tmp_path / "." / "both.csv"))
    (found,) = (each for each in gf.check(file, {"one": file}) if each.rule == "run-as-judgments")
    assert found.message == "judgments and run 'one' are the same file"


def test_an_object_that_is_judgments_and_run():
    frame = pd.DataFrame({"query": ["q"], "doc": ["a"], "score": [1]})
    for given in ({"q": {"a": 1}}, {"q": ["a"]}, frame, [{"query": "q", "docs": ["a"]}]):
        with pytest.warns(gf.errors.GainfulWarning, match="judgments and run are the same object"):
            gf.evaluate(given, given)
        found = [each.message for each in gf.check(given, {"one": given})]
        assert "judgments and run 'one' are the same object" in found
    with pytest.warns(gf.errors.GainfulWarning, match="run 'b', judgments and run are the same"):
        gf.compare(RUN, {"a": {**RUN}, "b": RUN})
    both = frame.assign(grade=2)
    assert gf.evaluate(both, both, "RR")["RR"] == 1  # warnings are errors


def test_an_empty_name_is_not_the_current_folder(tmp_path, monkeypatch):
    pd.DataFrame({"query": ["q"], "doc": ["a"], "score": [1]}).to_parquet(tmp_path / "r.parquet")
    monkeypatch.chdir(tmp_path)
    for judgments, run in (("", {"q": {"a": 1}}), ({"q": {"a": 1}}, "")):
        with pytest.raises(
            gf.errors.InputError, match="expected the name of a file, found an empty text"
        ):
            gf.evaluate(judgments, run)


def test_long_ids_are_shortened_in_warnings():
    with pytest.warns(gf.errors.GainfulWarning) as seen:
        gf.evaluate({"q": {"a": 1}}, {"q": {"x" * 100_000: 1.0}})
    assert len(str(seen[0].message)) < 400


@pytest.mark.parametrize("letter", ["x", "\x1b", "\U000e0001"])
def test_long_names_are_shortened_in_errors(letter):
    name = letter * 100_000
    assert len(did_you_mean("q", [name] * 100)) < 1500
    assert len(str(gf.errors.InputError(name, "a name", name, name))) < 4000


@pytest.mark.parametrize("name", ["bool", "bool_"])
def test_true_and_false_of_every_numpy_are_no_numbers(name):
    value = type(name, (), {"__index__": lambda self: 1, "__bool__": lambda self: True})()
    assert arguments.truth(value, "dry") is True
    with pytest.raises(gf.errors.InputError, match="depth: expected a non-negative integer"):
        arguments.whole(value, "depth", least=0)


def test_integers_are_accepted_as_ids():
    scores = gf.evaluate({1: {10: 1, 11: 0}}, {"1": {"11": 0.1, "10": 0.9}}, "nDCG")
    assert scores.per_query.to_dict() == {"1": {"nDCG": 1.0}}
    scores = gf.evaluate({"1": {"10": 1, "11": 0}}, {np.int64(1): {11: 0.1, 10: 0.9}}, "nDCG")
    assert scores["nDCG"] == 1.0
    # Also where strings and integers are mixed.
    mixed = gf.evaluate({"q": {"7": 1, "a": 1}}, {"q": {"a": 0.2, 7: 0.9}}, "nDCG")
    assert mixed["nDCG"] == 1.0
    tied = gf.evaluate({"q": {"7": 1, "a": 0}}, {"q": {"a": 0.5, 3: 0.5, 7: 0.5}}, "nDCG")
    assert tied["nDCG"] == pytest.approx(1 / np.log2(3))  # a, 7, 3


def test_ids_of_mixed_types():
    judgments = {"q": {"a": 1, "-5": 2, "5": 1}}
    strings = gf.evaluate(judgments, {"q": {"a": 3, "-5": 2, "5": 1}}, "nDCG")
    assert gf.evaluate(judgments, {"q": {"a": 3, -5: 2, 5: 1}}, "nDCG")["nDCG"] == strings["nDCG"]
    assert (
        gf.evaluate({"q": {"a": 1, -5: 2, 5: 1}}, {"q": {"a": 3, "-5": 2, "5": 1}}, "nDCG")["nDCG"]
        == strings["nDCG"]
    )
    with pytest.raises(gf.errors.InputError, match="'5' as a string and as an integer"):
        gf.evaluate(judgments, {"q": {"5": 2, 5: 1}}, "nDCG")
    with pytest.raises(gf.errors.InputError, match="as id, found None"):
        gf.evaluate({"q": {"a": 1, None: 3}}, {"q": {"a": 1}}, "nDCG")
    with pytest.raises(gf.errors.InputError, match="as id, found True"):
        gf.evaluate_arrays(labels=[1, 1], scores=[1, 2], query=["b", True])
    with pytest.raises(gf.errors.InputError, match="a huge integer"):
        gf.evaluate({"q": {10**5000: 1}}, {"q": {"a": 1}}, "nDCG")


def test_what_looks_like_a_dict_and_is_none():
    import pandas as pd

    series = pd.Series({"a": 1.0})
    with pytest.raises(gf.errors.InputError, match=r"expected \{doc: grade\}, .* found Series"):
        gf.evaluate({"q": series}, {"q": {"a": 1}})
    with pytest.raises(gf.errors.InputError, match="found None"):
        gf.evaluate({"q": {"a": 1}}, {"q": None, "p": {"a": 1}})


@pytest.mark.parametrize(
    "call",
    [
        lambda: gf.explain({"q": {"a": 1}}, {"q": {"a": 1}}, query="q", policy={"tie": "doc"}),
        lambda: gf.explanation.explain_grades([1], policy="average"),
        lambda: gf.explain({"q": {"a": None}}, {"q": {"a": 1}}, query="q", policy=gf.Policy(absent="lowest")),
        lambda: gf.explain({"1": {"a": 1}, 1: {"a": 2}}, {"1": {"a": 1}}, query=1),
        lambda: gf.ndcg([[[1], [1, 2]]]),
        lambda: gf.ndcg([[1, [2]], [3]]),
        lambda: gf.ndcg([0, 0], judged=[0], gain={0: 1}),
        lambda: gf.writing.render(None),
        lambda: gf.writing.render({"a": 1}),
        lambda: gf.writing.render(gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}), digits=-1),
        lambda: gf.writing.render(gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}), "excel"),
        lambda: gf.Measure(None),
        lambda: gf.measure("nDCG(cutoff=10)"),
        lambda: gf.measure("nDCG@" + "9" * 5000),
        lambda: gf.Policy(unjudged=10**400),
        lambda: gf.Policy(unjudged="e"),
        lambda: gf.dcg([1], base=10**400),
        lambda: gf.evaluate("a\0b", {"q": {"a": 1}}),
        lambda: gf.evaluate_runs({"q": {"a": 1}}, {}),
    ],
)  # fmt: skip
def test_every_complaint_is_of_the_one_tree(call):
    with pytest.raises(gf.errors.GainfulError):
        call()


def test_scores_that_do_not_belong_into_one_table():
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 1}}
    one, other = gf.evaluate(judgments, run, "nDCG"), gf.evaluate(judgments, run, "CG")
    with pytest.raises(gf.errors.InputError, match="the measures and the policy of the other runs"):
        gf.writing.render({"one": one, "other": other})
    skipping = gf.evaluate(judgments, run, "nDCG", policy=gf.Policy(missing="skip"))
    with pytest.raises(gf.errors.InputError, match="Render them separately"):
        gf.writing.render({"one": one, "other": skipping})


def test_query_ids_of_every_kind():
    import pandas as pd

    def queries(query):
        return gf.evaluate_arrays(labels=[1, 0], scores=[1, 2], query=query).queries

    assert queries(["a\0", "a"]) == ("a", "a\0")
    assert queries([2**63, -1]) == ("-1", str(2**63))
    assert queries((7, 7)) == ("7",)
    assert queries(np.array(["x", "y"], object)) == ("x", "y")
    with pytest.raises(gf.errors.InputError, match="as id, found"):
        queries(pd.Series(["a", None], dtype="string"))
    with pytest.raises(gf.errors.InputError, match="a sum of 18446744073709551618"):
        gf.evaluate_arrays(labels=[1, 0], scores=[1, 2], group=[2**63 - 1, 2**63 - 1, 4])
    with pytest.raises(gf.errors.InputError, match="at least one document"):
        gf.evaluate_arrays(labels=[], scores=[], group=[])
    assert gf.ndcg(np.zeros((0, 3))).shape == (0,)


def test_a_mean_of_huge_values():
    judgments, run = {"q": {"a": 1.7e308}, "p": {"a": 1.7e308}}, {"q": {"a": 1}, "p": {"a": 1}}
    assert gf.evaluate(judgments, run, "DCG")["DCG"] == 1.7e308


def test_leading_zeros_are_kept():
    scores = gf.evaluate({"007": {"d": 1}, "7": {"d": 0}}, {"007": {"d": 1}}, "CG")
    assert scores.per_query.to_dict() == {"007": {"CG": 1.0}, "7": {"CG": 0.0}}


def test_duplicates_by_the_policy():
    judgments, run = {"q": {"1": 1, "2": 0}}, {"q": {"1": 0.1, "2": 0.5, 1: 0.9}}
    with pytest.raises(
        gf.errors.InputError, match="each document once, found '1' as a string and as"
    ):
        # '1' is found as a string; the integer is noticed where ids matter, in a tie.
        gf.evaluate({"q": {1: 1, "1": 1}}, run, "nDCG")
    first = gf.evaluate(
        judgments, {"q": {1: 0.1, "2": 0.5, "1": 0.9}}, "nDCG", policy=gf.Policy(duplicates="first")
    )
    best = gf.evaluate(
        judgments, {"q": {1: 0.1, "2": 0.5, "1": 0.9}}, "nDCG", policy=gf.Policy(duplicates="best")
    )
    assert first["nDCG"] < best["nDCG"] == 1.0
    with pytest.raises(gf.errors.InputError, match="each document once"):
        gf.evaluate(judgments, {"q": {1: 0.1, "2": 0.5, "1": 0.9}}, "nDCG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"labels": [], "scores": []}, "labels: expected at least one document, found none"),
        ({"labels": [[1, 0]], "scores": [1, 0]}, "scores: expected the shape of labels, (1, 2), found (2,)"),
        ({"labels": [[[1]]], "scores": [[[1]]]}, "labels: expected [batch, list] or a flat array, found 3 dimensions"),
        ({"labels": 1, "scores": 1}, "labels: expected [batch, list] or a flat array, found 0 dimensions"),
        ({"labels": [[1, 0], [1]], "scores": [[1, 0], [1]]}, "Flatten lists of different lengths"),
        ({"labels": [1, float("nan")], "scores": [1, 2]}, "labels[1]: expected a finite number, found nan"),
        ({"labels": [[1, 2]], "scores": [[1, float("inf")]]}, "scores[0, 1]: expected a finite number, found inf"),
        ({"labels": ["a", "b"], "scores": [1, 2]}, "labels: expected numbers, found an array of <U1"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [1]}, "group: expected sizes that add up to the 2 documents, found a sum of 1"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [3, -1]}, "group: expected a flat array of sizes"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [1.5, 0.5]}, "group: expected a flat array of sizes"),
        ({"labels": [1, 2], "scores": [1, 2], "group": np.array([1.5, 0.5])}, r"found ndarray of shape (2,) and dtype float64"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [float("nan")]}, "group: expected a flat array of sizes"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [1e300]}, "group: expected a flat array of sizes"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [3.0, -1.0]}, "group: expected a flat array of sizes"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [1.0]}, "group: expected sizes that add up to the 2 documents, found a sum of 1"),
        ({"labels": [1, 2], "scores": [1, 2], "group": [2], "query": [1, 1]}, "group= and query="),
        ({"labels": [[1, 2]], "scores": [[1, 2]], "group": [2]}, "group= and a batch of lists"),
        ({"labels": [1, 2], "scores": [1, 2], "query": [1]}, "query: expected 2 ids, one for each of the documents, found shape (1,)"),
        ({"labels": [1, 2], "scores": [1, 2], "query": np.array([0.5, 1.5])}, "query: expected strings (or integers) as ids"),
        ({"labels": [[1], [2]], "scores": [[1], [2]], "query": ["a", "a"]}, "a different id for each list of the batch"),
        ({"labels": [1, 2], "scores": [1, 2], "mask": [1, 0]}, "mask: expected booleans of the shape of labels, (2,)"),
        ({"labels": [1, 2], "scores": [1, 2], "mask": [True]}, "mask: expected booleans"),
        ({"labels": [1, 2], "scores": [1, 2], "mask": [False, False]}, "labels: expected at least one document"),
        ({"labels": [1], "scores": [1], "policy": gf.Policy(ties="doc")}, "policy ties: expected average, best, worst or order"),
        ({"labels": [1], "scores": [1], "policy": gf.Policy(ties="doc_ascending")}, "found 'doc_ascending'"),
        ({"labels": [1], "scores": [1], "policy": "average"}, "policy: expected a gainful.Policy or a dict of choices, found 'average'"),
    ],
)  # fmt: skip
def test_arrays(arguments, said):
    with pytest.raises(gf.errors.GainfulError, match=re.escape(said)):
        gf.evaluate_arrays(**arguments, measures="nDCG")


UUID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    "run",
    [
        {UUID: {"a": 1.0}},
        {"q1": {UUID: 1.0}},
        {"q1": [UUID]},
        {"q1": [(UUID, 1.0)]},
        [{"query": "q1", "doc": UUID, "score": 1.0}],
        pd.DataFrame({"query": ["q1"], "doc": [UUID], "score": [1.0]}),
    ],
)
def test_a_uuid_is_to_be_made_a_string(run):
    with pytest.raises(
        gf.errors.InputError,
        match=r"found UUID\('0.*'\)\. Make the ids? (a string|strings) first\.$",
    ):
        gf.evaluate(JUDGMENTS, run)


def test_an_open_file_is_answered_by_its_path(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 a 1 0.5 t\n")
    calls = (
        lambda file: gf.evaluate(JUDGMENTS, file),
        lambda file: gf.evaluate(file, RUN),
        lambda file: gf.evaluate(file, RUN, assessors="mean"),
        lambda file: gf.compare(JUDGMENTS, {"one": RUN, "two": file}),
        lambda file: gf.compare(JUDGMENTS, file),
    )
    for call in calls:
        for mode in ("r", "rb"):
            with (
                path.open(mode) as file,
                pytest.raises(
                    gf.errors.InputError,
                    match=r"expected the path of a file, found an open file, .*Pass the path of a file instead\.",
                ),
            ):
                call(file)
        with pytest.raises(gf.errors.InputError, match=r"StringIO\. Pass the path"):
            call(io.StringIO("q1 Q0 a 1 0.5 t\n"))


def test_a_list_that_is_masked_whole_is_not_dropped():
    mask = [[True, True], [False, False]]
    labels, scores = [[1, 0], [1, 1]], [[1, 2], [1, 2]]
    scores = gf.evaluate_arrays(labels=labels, scores=scores, mask=mask, measures="nDCG")
    assert scores.queries == ("0", "1")
    assert scores.coverage.empty == ("1",)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gf.ndcg([1, float("nan")]), "grades[1]: expected a finite number, found nan"),
        (lambda: gf.ndcg(["a"]), "grades: expected numbers"),
        (lambda: gf.ndcg(3), "grades: expected a list of grades, or [batch, list], found int"),
        (lambda: gf.ndcg([[[1]]]), "grades: expected a list of grades, or a list of such lists"),
        (lambda: gf.ndcg([3, 2], judged=[2]), "grade 3: 0 in judged, 1 in the list"),
        (lambda: gf.ndcg([[3], [2]], judged=[3, 2]), "judged: expected a list for each list of grades"),
        (lambda: gf.ndcg([3], k=0), "cutoff"),
        (lambda: gf.ndcg([3], base=1), "base"),
        (lambda: gf.ndcg([2000], gain="exp2"), "gain exp2: expected a finite gain for every grade, found none for grade 2000"),
        (lambda: gf.cg([1e308, 1e308]), "a sum that fits in a float64"),
        (lambda: gf.ndcg([3], gain={1: 1}), "none for grade 3. Add it to the table, or 'else: linear'"),
        (lambda: gf.explanation.explain_grades([[1], [2]]), "one list of grades"),
    ],
)  # fmt: skip
def test_grades(call, said):
    with pytest.raises(gf.errors.GainfulError, match=re.escape(said)):
        call()


def test_lists_of_grades_may_differ_in_length_and_be_empty():
    values = gf.ndcg([[3, 2], [0, 1, 1], []])
    assert values == pytest.approx([1.0, gf.ndcg([0, 1, 1]), 0.0])
    assert gf.ndcg([]) == 0.0
    assert gf.cg(np.array([[1, 2], [3, 4]])).tolist() == [3.0, 7.0]
    assert gf.ndcg([[1, 0], [1]], judged=[[1, 1, 0], [1]]).shape == (2,)


def test_a_gain_may_be_a_function():
    assert gf.cg([3, 2, 0], gain=lambda grade: grade**2) == 13.0
    assert gf.ndcg([2, 3], gain=lambda grade: -grade) == 0.0
