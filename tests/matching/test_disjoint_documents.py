"""Where no document is judged, every form of the same data says so in the same words, which are true."""

import warnings

import duckdb
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gainful as gf

JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
UNDER_OTHERS = "Some of them match under other queries: check that both use the same query ids."
ELSEWHERE = "Check that both come from the same collection."


def frame(documents, number):
    rows = [(query, doc, each) for query, found in documents.items() for doc, each in found.items()]
    return pd.DataFrame(rows, columns=["query", "doc", number])


def reversed_frame(documents, number):
    return frame(documents, number).iloc[::-1].reset_index(drop=True)


def relation(documents, number):
    return duckdb.from_df(frame(documents, number))  # which the engine reads, however small


FORMS = {
    "dict": lambda documents, number: documents,
    "frame": frame,
    "reversed": reversed_frame,
    "engine": relation,
}


def evaluated(judgments, run, measures="nDCG", **options):
    """The values of queries, and what was warned of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        scores = gf.evaluate(judgments, run, measures, **options)
    return scores.per_query.to_dict(), scores.coverage, [str(each.message) for each in seen]


def told(judgments, run, measures="nDCG", **options):
    """What every form of both warns of, which must be one thing."""
    said = [
        evaluated(make(judgments, "grade"), make(run, "score"), measures, **options)[2]
        for make in FORMS.values()
    ]
    assert all(each == said[0] for each in said)
    return said[0]


@pytest.mark.parametrize(
    ("judged", "run", "hint"),
    [
        ({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"b": 0.5}, "q2": {"a": 0.7}}, UNDER_OTHERS),
        ({"q1": {"a": 1}, "q2": {"B": 1}}, {"q1": {"b": 0.5}, "q2": {"x": 0.7}}, ELSEWHERE),
        ({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"b": 0.5}, "q2": {"B": 0.7}},
         "They would match if compared case-insensitively."),
        ({"q1": {"a": 1}}, {"q1": {" a": 0.5}}, "They would match without surrounding whitespace."),
        ({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"b#1": 0.5}, "q2": {"a#1": 0.7}}, ELSEWHERE),
        ({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a#1": 0.5}, "q2": {"a#1": 0.7}},
         "They match as chunks of documents: pass chunks='#' (--chunks '#' on the command line)."),
    ],
    ids=["same ids", "spelled under others", "spelled", "blanks", "chunks of others", "chunks"],
)  # fmt: skip
def test_a_hint_is_about_documents_of_one_query(judged, run, hint):
    (said,) = told(judged, run)
    assert said.startswith("document ids: no retrieved document is judged: judgments have ")
    assert said.endswith(f". {hint}")
    (found,) = (
        each for each in gf.check(judged, {"run": run}) if each.rule == "no-shared-documents"
    )
    assert found.message.endswith(hint) or "as chunks of documents" in found.message


def test_a_pool_that_is_judged_for_other_queries():
    judged, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"b": 0.5}, "q2": {"a": 0.7}}
    with pytest.warns(gf.errors.GainfulWarning, match=UNDER_OTHERS):
        gf.judging.pool_bias(judged, {"one": run, "two": run})


@pytest.mark.parametrize("chunks", ["#", {f"d{n}#{m}": f"d{n}" for n in (1, 2) for m in (1, 2)}])
def test_ids_are_those_of_documents_where_chunks_are_folded(chunks):
    judged = {"q1": {"D1": 1}, "q2": {"D2": 1}}
    run = {"q1": {"d1#1": 0.5, "d1#2": 0.4}, "q2": {"d2#1": 0.7}}
    (said,) = told(judged, run, chunks=chunks)
    assert (
        "judgments have 'D1', 'D2'; the run has 'd1', 'd2'. They would match if compared case"
        in said
    )


@pytest.mark.parametrize("unjudged", [0, 0.5, -1, "zero", "condense"])
def test_it_is_said_whatever_unjudged_documents_are_worth(unjudged):
    run = {"q1": {"x": 0.5, "y": 0.4}, "q2": {"z": 0.7}}
    (said,) = told(JUDGED, run, policy={"unjudged": unjudged})
    assert "judgments have 'a', 'b', 'c'; the run has 'x', 'y', 'z'. Check" in said
    counts = {
        name: evaluated(
            make(JUDGED, "grade"), make(run, "score"), "nDCG", policy={"unjudged": unjudged}
        )[1]
        for name, make in FORMS.items()
    }
    assert all(each == counts["dict"] for each in counts.values())
    met = {"q1": {"x": 0.5, "a": 0.1}, "q2": {"z": 0.7}}
    assert told(JUDGED, met, policy={"unjudged": unjudged}) == []


def test_documents_that_are_left_out_are_not_shown():
    judged = {"q1": {"q1": 1, "a": -1, "b": 1}, "q2": {"c": 1}}
    run = {"q1": {"q1": 0.9, "a": 0.5, "x": 0.4}, "q2": {"y": 0.7}}
    (said,) = told(judged, run, policy={"drop_self": "yes", "negative": "unjudged"})
    assert "judgments have 'b', 'c'; the run has 'a', 'x', 'y'." in said
    (said,) = told({"q1": {"a": -1}}, {"q1": {"a": 0.5}}, policy={"negative": "unjudged"})
    assert "judgments have none; the run has 'a'. Check" in said


def test_no_id_is_shown_twice():
    judged = {f"q{number}": {"a": 1} for number in range(5)} | {"q5": {"b": 1}}
    run = {query: {"x": 0.5} for query in judged}
    (said,) = told(judged, run)
    assert "judgments have 'a', 'b'; the run has 'x'. " in said
    (found,) = (
        each for each in gf.check(judged, {"run": run}) if each.rule == "no-shared-documents"
    )
    assert found.example == "judgments have 'a', 'b'; the run has 'x'"


def test_many_queries_and_long_lists_tell_the_same():
    judged = {f"q{number}": {f"D{number}": 1} for number in range(300)}
    run = {query: {f"d{n}": 0.5 + n for n in range(40)} for query in judged}
    run["q7"] = {f"d{n}": n + 0.5 for n in range(1200)}
    (said,) = told(judged, run)
    assert (
        "judgments have 'D0', 'D1', 'D2', …; the run has 'd0', 'd1', 'd2', …. They would match"
        in said
    )


ids = st.sampled_from(["a", "A", " a", "b", "a#1", "b#1", "07", "7", "7.0", "q1"])
# Scores with fractions, since the order of rows tells whether 1, 2, 3 are ranks.
tables = st.dictionaries(
    st.sampled_from(["q1", "q2", "Q1"]),
    st.dictionaries(ids, st.sampled_from([0.25, 0.5, 1.5, 2.25]), min_size=1, max_size=4),
    min_size=1,
)
policies = st.fixed_dictionaries(
    {},
    optional={
        "unjudged": st.sampled_from(["zero", "condense", 0, 0.5]),
        "ties": st.sampled_from(["doc", "doc_ascending", "average", "best", "worst"]),
        "drop_self": st.sampled_from(["no", "yes", "run"]),
        "negative": st.sampled_from(["keep", "unjudged"]),
        "missing": st.sampled_from(["zero", "skip"]),
    },
)


@settings(max_examples=30, deadline=None)
@given(
    judged=tables,
    run=tables,
    measures=st.sampled_from(["nDCG", "nDCG@1", "AP@2"]),
    policy=policies,
    chunks=st.sampled_from([None, "#"]),
)
@example(
    {"q1": {"a": 0.5}, "q2": {"b": 0.5}},
    {"q1": {"b": 0.5, "a#1": 0.5}, "q2": {"a": 1.5}},
    "nDCG@1",
    {"unjudged": 0.5},
    None,
)
def test_the_order_of_rows_changes_nothing(judged, run, measures, policy, chunks):
    options = {"measures": measures, "policy": policy, "chunks": chunks}

    def found(make):
        try:
            return evaluated(make(judged, "grade"), make(run, "score"), **options)
        except gf.errors.InputError as problem:
            return str(problem)

    expected = found(frame)
    assert found(reversed_frame) == expected
    assert found(relation) == expected
    assert found(FORMS["dict"]) == expected
