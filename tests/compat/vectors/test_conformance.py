"""Wrong implementations are found out, each by the convention or the slip that it has."""

import dataclasses
import math

import pytest

import gainful as gf
from gainful.compat.vectors.causes_of_wrong_values import likely_conventions
from vector_maker import make, value_under

CASES = {case.id: case for case in gf.vectors.cases()}
SOME = ["gains", "ideal", "incomplete"]


def right(asked):
    return value_under(asked)


def deviating(measure=None, **choices):
    """An implementation that always does something one way, whatever the case asks for."""

    def answer(asked):
        plain = asked["measure"]["name"] == "CG" and "discount" in (measure or {})
        return value_under(asked, None if plain else measure, **choices)

    return answer


def simple(dcg=None, gain=None, pool=None, order=None, unlike=None):
    """nDCG in few lines, with one part replaced by a wrong one; for cases that name no choice."""

    def usual(gains):
        return sum(worth / math.log2(rank + 1) for rank, worth in enumerate(gains, 1))

    def answer(asked):
        if asked["measure"]["name"] != "nDCG" or set(asked["choices"]) - {"ideal", "depth"}:
            raise NotImplementedError("other choices")
        if (
            asked["measure"]["gain"] != (unlike or "linear")
            or asked["measure"]["discount"] != "log"
        ):
            raise NotImplementedError("other measures")
        if {"ideal": "judged", "depth": "cutoff"} | asked["choices"] != {
            "ideal": "judged",
            "depth": "cutoff",
        }:
            raise NotImplementedError("another ideal")
        values, k = [], asked["measure"]["k"]
        for query in asked["queries"]:
            if query["judged"] is None:
                continue
            worth = {doc: (gain or float)(grade) for doc, grade in query["judged"]}
            ranked = sorted(query["run"], key=order or (lambda pair: -pair[1]))
            listed = [worth.get(doc, 0) for doc, _ in ranked]
            best = sorted((pool or (lambda _, all_: all_))(listed[:k], list(worth.values())))[::-1]
            low, high = (dcg or usual)(listed[:k]), (dcg or usual)(best[:k])
            values.append(low / high if high else 0)
        return sum(values) / len(values)

    return answer


def cut_by(step):
    """An implementation that counts one document too few or too many."""

    def answer(asked):
        k = asked["measure"]["k"]
        if k is None or k + step < 1:
            return NotImplemented
        return value_under(asked, {"k": k + step})

    return answer


def test_the_definition_itself_conforms():
    found = gf.vectors.conformance(right)
    assert (found.conforms, len(found.passed)) == (True, len(CASES))
    assert found.summary == f"conforms: {len(CASES)} passed, 0 failed, 0 skipped"
    assert gf.vectors.conformance(simple(), topics=SOME).conforms


@pytest.mark.parametrize(
    ("implementation", "topics", "name"),
    [
        (deviating({"gain": "exp2"}), "ideal", "gain=exp2"),
        (deviating(ideal="retrieved"), "ideal", "ideal=retrieved"),
        (deviating(depth="retrieved"), "ideal", "depth=retrieved"),
        (deviating(depth="all"), "ideal", "depth=all"),
        (deviating(ties="order"), "ties", "ties=order"),
        (deviating(ties="average"), "ties", "ties=average"),
        (deviating(missing="skip"), "incomplete", "missing=skip"),
        (deviating(empty="one"), "incomplete", "empty=one"),
        (deviating(empty="nan"), "incomplete", "empty=nan"),
        (deviating(unjudged="condense"), "incomplete", "unjudged=condense"),
        (deviating(negative="zero"), "grades", "negative=zero"),
        (deviating({"discount": "reciprocal"}), "ideal", "discount=reciprocal"),
        (deviating({"base": "e"}), "definition", "base=e"),
        (deviating({"k": None}), "ideal", "no cutoff"),
        (deviating({"name": "DCG"}), "gains", "DCG"),
        (deviating(duplicates="first"), "ids", "duplicates=first"),
    ],
)  # fmt: skip
def test_one_choice_that_is_made_otherwise(implementation, topics, name):
    found = gf.vectors.conformance(implementation, topics=topics)
    assert not found.conforms
    assert name in {each.name for each, _ in found.conventions[:3]}
    for each in found.failed:
        assert name in {one.name for one in each.conventions}, each.case.id
    assert name in str(found)


@pytest.mark.parametrize(
    ("implementation", "topics", "name"),
    [
        (simple(dcg=lambda gains: sum(g / (math.log2(i) + 1) for i, g in enumerate(gains, 1))), SOME,
         "discount 1/(log2(i) + 1)"),
        (simple(dcg=lambda gains: sum(g / math.log2(i + 2) for i, g in enumerate(gains, 1))), SOME,
         "discount 1/log2(i + 2)"),
        (simple(pool=lambda listed, _: listed), SOME, "ideal of the first k"),
        (simple(order=lambda pair: pair[1]), "definition", "ascending scores"),
        (simple(order=lambda _: 0), "definition", "scores ignored"),
        (simple(gain=int), "grades", "whole grades"),
        (simple(gain=lambda grade: 2**grade, unlike="exp2"), "gains", "gain 2^g"),
        (lambda asked: right(asked) and right(asked) * 100, "ideal", "percent"),
        (lambda asked: 1 - right(asked), "ideal", "1 − value"),
        (cut_by(-1), "ideal", "cut at k − 1"),
        (cut_by(1), "ideal", "cut at k + 1"),
        (lambda asked: round(right(asked), 4), "ideal", "rounded to 4 digits"),
    ],
)  # fmt: skip
def test_usual_slips(implementation, topics, name):
    found = gf.vectors.conformance(implementation, topics=topics)
    assert found.failed
    for each in found.failed:
        named = {one.name for one in each.conventions}
        if name == "ideal of the first k" and each.case.measure["k"] is None:
            assert "ideal=retrieved" in named  # which it is without a cutoff
        else:
            assert name in named, (each.case.id, each.answer)


def test_sums_and_repetitions():
    def likely(name, value):
        return {each.name for each in likely_conventions(CASES[name], value, 1e-9)}

    both = (3 + 1 / 2) / (3 + 1)
    assert "sum of DCG by sum of ideals" in likely("mean-of-two", both)
    assert likely("repeated-only", 1 + 1 / math.log2(3) + 1 / 2) == {"repeated documents"}
    assert "single precision" in likely("golden", 0.47499502)
    assert likely("golden", 0.123) == set()
    assert "scikit-learn" in likely("golden", CASES["scikit-learn-golden"].expect["value"])


def test_slips_worked_by_hand():
    """Of grades 2 and 3, in this order, and a list that has the lower one first; log2(3) is x."""
    x = math.log2(3)
    query = {"query": "q", "judged": [["a", 2], ["b", 3], ["c", 1]], "run": [["a", 2], ["b", 1]]}
    like = next(each for each in CASES.values() if each.id == "golden")
    ideal, dcg = 3 + 2 / x, 2 + 3 / x
    measure = {
        **like.measure,
        "name": "nDCG",
        "gain": "linear",
        "discount": "log",
        "base": 2,
        "k": 2,
    }
    case = dataclasses.replace(
        like, queries=(query,), measure=measure, choices={}, expect={"value": dcg / ideal}
    )

    def names(value, case=case):
        return {each.name for each in likely_conventions(case, value, 1e-9)}

    assert "list cut at k − 1" in names(2 / ideal)
    assert "cut at k − 1" in names(2 / 3)
    assert "cut at k + 1" in names(dcg / (ideal + 1 / 2))
    assert "divided by k" in names(dcg / 2)
    turned = dataclasses.replace(case, queries=({**query, "judged": query["judged"][::-1]},))
    assert "ideal not sorted" in names(dcg / (1 + 3 / x), turned)
    # 0.91340… has the same four digits as five.
    assert names(round(dcg / ideal, 4)) == {"rounded to 4 digits", "rounded to 5 digits"}
    assert names(dcg / ideal + 1e-7) == {"single precision"}
    two = CASES["mean-of-two"]
    added = likely_conventions(two, 2 * two.expect["value"], 1e-9)
    assert "sum over queries" in {each.name for each in added}


def test_an_undefined_value_is_no_unsorted_ideal():
    for case in gf.vectors.cases(topics=["ids", "grades"]):
        named = {each.name for each in likely_conventions(case, math.nan, 1e-9)}
        assert "ideal not sorted" not in named, case.id


def test_a_weak_guess_is_not_told():
    """A third of the failures are of one choice; the others are of none."""

    def odd(asked):
        count = sum(map(ord, asked["id"])) % 3
        return value_under(asked, {"gain": "exp2"}) if count == 0 else 0.123456789

    found = gf.vectors.conformance(odd, topics="ideal")
    (_, most), *_ = found.conventions
    assert 0 < 2 * most < len(found.failed)
    assert "no known convention explains most of these" in str(found)
    assert "failures" not in "".join(found.table().notes)
    known = gf.vectors.conformance(deviating({"gain": "exp2"}), topics="ideal")
    assert "nothing known" not in str(known)


def test_a_tool_is_told_whatever_the_cases_ask_for():
    def as_lightgbm(asked):
        plain = {"name": "nDCG", "gain": "exp2", "discount": "log", "base": 2}
        if asked["measure"]["name"] != "nDCG" or any(q["judged"] is None for q in asked["queries"]):
            raise NotImplementedError
        return value_under(
            asked,
            plain,
            ideal="retrieved",
            depth="cutoff",
            ties="order",
            empty="one",
            missing="skip",
        )

    found = gf.vectors.conformance(as_lightgbm, topics=["gains", "ideal"])
    (first, count), *_ = found.conventions
    assert (first.name, first.tool) == ("lightgbm", True)
    assert count == len(found.failed)


def test_what_is_refused_skipped_or_breaks():
    def implementation(asked):
        if asked["id"] == "repeated-error":
            raise ValueError("twice")  # as it should
        if asked["id"] == "repeated-first":
            raise ZeroDivisionError("by nothing")
        if asked["id"] == "repeated-best":
            return NotImplemented
        if asked["id"] == "repeated-only":
            return float("nan")
        return right(asked)

    found = gf.vectors.conformance(implementation, topics="ids")
    outcomes = {each.case.id: each for each in found.checked}
    assert outcomes["repeated-error"].outcome == "passed"
    assert outcomes["repeated-first"].outcome == "failed"
    assert str(outcomes["repeated-first"].answer) == "error: ZeroDivisionError: by nothing"
    assert outcomes["repeated-best"].outcome == "skipped"
    assert str(outcomes["repeated-only"].answer) == "undefined"
    assert "ZeroDivisionError: by nothing" in str(found)
    assert "skipped: ids 1" in str(found)


def test_a_value_where_an_error_is_due():
    found = gf.vectors.conformance(deviating(missing="zero"), topics="incomplete")
    (each,) = [each for each in found.failed if each.case.id == "missing-error"]
    assert (each.expected, each.in_short[0]) == ("error: query 'missing' is missing", "refused")
    assert "missing=zero" in {one.name for one in each.conventions}


def test_the_tolerance():
    def rough(asked):
        value = right(asked)
        return value if value is None else value * (1 + 1e-7)

    assert not gf.vectors.conformance(rough, topics="ties").conforms
    assert gf.vectors.conformance(rough, topics="ties", tolerance=1e-6).conforms
    exact = gf.vectors.conformance(right, topics="ties", tolerance=0)
    assert exact.conforms


def test_nothing_but_skips_is_no_conformance():
    found = gf.vectors.conformance(lambda _: NotImplemented, topics="ties")
    assert not found.conforms
    assert found.summary == f"nothing was checked: 0 passed, 0 failed, {len(found.checked)} skipped"


def test_plain_values_and_frames():
    found = gf.vectors.conformance(deviating({"gain": "exp2"}), topics="gains")
    plain = found.to_dict()
    assert plain["conforms"] is False
    assert plain["counts"]["failed"] == len(found.failed) == len(found.to_pandas())
    assert plain["conventions"][0] == {
        "convention": "gain=exp2 (2^g − 1)",
        "failures": len(found.failed),
    }


@pytest.mark.parametrize("given", [3, "text", None])
def test_what_is_no_function(given):
    with pytest.raises(gf.errors.InputError, match="expected a function of a case"):
        gf.vectors.conformance(given)


@pytest.mark.parametrize("given", ["text", [], True, object()])
def test_an_answer_that_is_no_number(given):
    with pytest.raises(gf.errors.InputError, match="case cg: expected a number"):
        gf.vectors.conformance(lambda _: given)


def test_a_dialect_alone():
    found = gf.vectors.conformance(right, dialect="sklearn")
    assert {each.case.dialect for each in found.checked} == {"scikit-learn"}
    with pytest.raises(gf.errors.InputError, match="no cases of 'sklearn', which are in the topic"):
        gf.vectors.conformance(right, dialect="sklearn", topics="ties")
    assert make.FORMAT == 1
