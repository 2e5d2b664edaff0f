"""A check of JSON in one piece finds what it finds in dicts and in lines."""

import json
import math

import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"d": 1, "e": 0}}


def findings_of(run, judgments=JUDGMENTS):
    return [
        (each.severity, each.rule, each.input, each.count)
        for each in gf.check(judgments, {"mine": run}, cutoff=2)
    ]


def records(documents):
    return [
        {"query": query, "doc": doc, "score": number}
        for query, found in documents.items()
        for doc, number in found.items()
    ]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_findings_in_every_form(files, number):
    run = {"q1": {"a": 0.9, "b": number, "c": 0.7}, "q2": {"d": number, "e": 0.5, "f": 0.1}}
    lines = "".join(json.dumps(record) + "\n" for record in records(run))
    forms = [
        files("nested.json", json.dumps(run)),
        files("records.json", json.dumps(records(run))),
        files("lines.jsonl", lines),
    ]
    expected = findings_of(run)
    assert ("error", "not-finite", "mine", 2) in expected
    for form in forms:
        assert findings_of(form) == expected, form.name
        # And a measure still refuses the first of them, with its place.
        with pytest.raises(
            gf.errors.InputError, match=f"a finite number as the score, found {number}"
        ) as at:
            gf.evaluate(JUDGMENTS, form)
        assert at.value.where.startswith(str(form))
        assert "'b'" in at.value.where or at.value.where == f"{form}:2"


def test_numbers_that_are_not_finite_among_judgments(files):
    judgments = {"q1": {"a": 3, "b": math.nan}, "q2": {"d": 1, "e": 0}}
    run = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"d": 0.5, "e": 0.1}}
    nested = files("nested.json", json.dumps(judgments))
    assert findings_of(run, nested) == findings_of(run, judgments)
    text = json.dumps(records(judgments)).replace("score", "grade")
    assert findings_of(run, files("records.json", text)) == findings_of(run, judgments)
    (finding,) = (each for each in gf.check(nested) if each.rule == "not-finite")
    assert finding.place == "query 'q1', document 'b'"
    assert finding.example == "the grade is nan"


def test_what_is_no_number_is_counted_and_the_others_checked(files):
    """As a grade, true is 1; as a score it is no number, neither here nor to a measure."""
    run = '{"q1": {"a": "1", "b": null, "c": true, "d": 9007199254740993, "e": [], "f": 1e999}}'
    found = {each.rule: each for each in gf.check(JUDGMENTS, {"mine": files("run.json", run)})}
    assert (found["unreadable-row"].count, found["not-finite"].count) == (5, 1)
    assert found["unreadable-row"].place == "query 'q1', document 'a'"
    for word in ("null", '"1"', "[]"):
        path = files("run.json", f'{{"q1": {{"a": 1, "b": {word}}}}}')
        (each,) = (one for one in gf.check(path) if one.rule == "unreadable-row")
        assert (each.count, each.doc) == (1, "b")
        with pytest.raises(gf.errors.InputError, match="document 'b': expected a finite number"):
            gf.evaluate(JUDGMENTS, path)


@pytest.mark.parametrize("number", [2**53 + 1, 2**64 + 1, -(2**63) - 1])
def test_integers_in_lines_that_a_float64_does_not_hold(files, number):
    path = files(
        "run.jsonl",
        '{"query": "q1", "doc": "a", "score": 1}\n'
        f'{{"query": "q1", "doc": "b", "score": {number}}}\n',
    )
    (each,) = (one for one in gf.check(JUDGMENTS, {"mine": path}) if one.rule == "unreadable-row")
    assert (each.count, each.place) == (1, f"{path}:2")
    assert str(number) in each.example


def test_large_numbers_in_lines_that_a_float64_holds_are_clean(files):
    run = {"q1": {"a": 1e300, "b": 2.0**64, "c": 0.5}, "q2": {"d": 1.0, "e": -1e300}}
    path = files("run.jsonl", "".join(json.dumps(each) + "\n" for each in records(run)))
    assert findings_of(path) == findings_of(run) == [("note", "grades", "judgments", 3)]


def test_what_is_no_dict_of_dicts_cannot_be_read_at_all(files):
    with pytest.raises(gf.errors.InputError, match=r"query 'q2': expected \{doc: grade\}"):
        gf.check(files("x.json", '{"q1": {"a": 1},\n "q2": 5}'))
    with pytest.raises(gf.errors.InputError, match="query 'q1': expected each document once"):
        gf.check(files("x.json", '{"q1": {"a": 1, "a": 2}}'))
