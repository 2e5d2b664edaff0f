"""The same rows give the same `Matched` in every form, bit for bit, as dicts of dicts do."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from input_forms import FORMS, STRICTEST_FIRST, WORDS, as_dicts
from odd_cases import cases, choices
from same_matched import assert_same, match_dicts

pytestmark = [
    pytest.mark.filterwarnings("ignore:document ids"),
    pytest.mark.usefixtures("on_engine"),  # small tables are compared with it elsewhere
]

QUERIES = ("q10", "q9", "007", "7", "Q9", "日本", '"q"', "#", "x,y;z")
DOCS = ("d1", "D1", "01", "1", "1.0", 'a"b', "'c'", "a,b", "e;f", "ü", "😀", "#", "x#1", "x#2")


def fixed_case():
    """Rows with ties, missing and extra queries, in no order."""
    judgments = [
        (query, doc, float((place * 7 + number * 3) % 5 - 1) / 2)
        for place, query in enumerate(QUERIES[:-1])
        for number, doc in enumerate(DOCS)
        if (place + number) % 3
    ]
    run = [
        (query, doc, [0.5, -0.0, 0.0, 1.0, 1e-300, 0.1][(place + number * number) % 6])
        for place, query in enumerate(QUERIES[1:])
        for number, doc in enumerate(DOCS)
        if (place * number) % 4 != 1
    ]
    return sorted(judgments, key=hash_of), sorted(run, key=hash_of)


def hash_of(row):
    """An order without meaning that is the same in every run of the tests."""
    return sum(map(ord, row[0] + row[1])) * 7919 % 101, row


def matched(judgments, run, policy, depth=None, chunks=None):
    with reading(judgments, policy, {"chunks": chunks}) as reader:
        return reader.match(run, depth)[0]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize(
    ("ties", "depth"), [("doc", None), ("doc_ascending", 3), ("order", None), ("average", 2)]
)
def test_as_a_run(form, ties, depth, tmp_path):
    judgments, run = fixed_case()
    expected = match_dicts(as_dicts(judgments), as_dicts(run), Policy(ties=ties), depth)
    given = form.make(run, "run", tmp_path)
    assert_same(matched(as_dicts(judgments), given, Policy(ties=ties), depth), expected)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_as_judgments(form, tmp_path):
    judgments, run = fixed_case()
    policy = Policy(ties="doc")
    expected = match_dicts(as_dicts(judgments), as_dicts(run), policy)
    given = form.make(judgments, "judgments", tmp_path)
    other = FORMS[(FORMS.index(form) * 7 + 3) % len(FORMS)]
    assert_same(matched(given, other.make(run, "run", tmp_path), policy), expected)


@pytest.mark.parametrize("form", FORMS[::3], ids=str)
def test_evaluated(form, tmp_path):
    judgments, run = fixed_case()
    for measures in (["nDCG@3", "DCG@1"], ["nDCG", "CG@2"]):
        folder = tmp_path / measures[0]
        folder.mkdir()
        found = gf.evaluate(
            form.make(judgments, "judgments", folder), form.make(run, "run", folder), measures
        )
        expected = gf.evaluate(as_dicts(judgments), as_dicts(run), measures)
        assert found.values.tobytes() == expected.values.tobytes()
        assert (found.queries, found.coverage) == (expected.queries, expected.coverage)
        for measure in measures:
            assert found.signature(measure) == expected.signature(measure)


@pytest.mark.filterwarnings("ignore:.*is the id of a chunk:gainful.errors.GainfulWarning")
@settings(max_examples=20)
@given(data=st.data())
def test_whatever_the_ids_the_numbers_and_the_policy(data):
    several = [
        (data.draw(st.sampled_from(FORMS)), data.draw(st.sampled_from(FORMS))) for _ in range(2)
    ]
    ids = min((form.ids for pair in several for form in pair), key=STRICTEST_FIRST.index)
    judgments, run = data.draw(cases(ids))
    policy, chunks, folding, depth = data.draw(choices(judgments, run))
    expected = match_dicts(as_dicts(judgments), as_dicts(run), policy, depth, folding)
    for one, other in several:
        with tempfile.TemporaryDirectory() as folder:
            made = one.make(judgments, "judgments", Path(folder))
            found = matched(made, other.make(run, "run", Path(folder)), policy, depth, chunks)
        assert_same(found, expected)


@pytest.mark.filterwarnings("ignore:.*is the id of a chunk:gainful.errors.GainfulWarning")
@settings(max_examples=20)
@given(data=st.data())
def test_ids_of_every_kind_in_the_forms_that_hold_them(data):
    """With fields of lines left out, ids may have blanks, tabs and line feeds."""
    wide = [form for form in FORMS if form.ids != WORDS]
    form = data.draw(st.sampled_from(wide))
    judgments, run = data.draw(cases(form.ids))
    policy, chunks, folding, depth = data.draw(choices(judgments, run))
    expected = match_dicts(as_dicts(judgments), as_dicts(run), policy, depth, folding)
    with tempfile.TemporaryDirectory() as folder:
        made = form.make(judgments, "judgments", Path(folder))
        found = matched(made, form.make(run, "run", Path(folder)), policy, depth, chunks)
    assert_same(found, expected)


@pytest.mark.parametrize("form", FORMS[1::3], ids=str)
def test_several_runs_with_the_same_judgments(form, tmp_path):
    judgments, run = fixed_case()
    other = [(query, doc, -score) for query, doc, score in run]
    policy = Policy(ties="doc", unjudged=1)
    with reading(form.make(judgments, "judgments", tmp_path), policy) as reader:
        for rows, given in ((run, form.make(run, "run", tmp_path)), (other, as_dicts(other))):
            expected = match_dicts(as_dicts(judgments), as_dicts(rows), policy)
            assert_same(reader.match(given)[0], expected)


@pytest.mark.filterwarnings("error:document ids")
@pytest.mark.parametrize("form", FORMS[::3], ids=str)
def test_the_same_warning_where_no_document_is_judged(form, tmp_path):
    judgments, run = [("q", "Doc1", 1.0)], [("q", "doc1", 1.0), ("q", "doc2", 1.0)]
    for measure in ("nDCG", "nDCG@1"):
        folder = tmp_path / measure
        folder.mkdir()
        with pytest.warns(
            gf.errors.GainfulWarning, match="They would match if compared case-insensitively"
        ):
            gf.evaluate(as_dicts(judgments), form.make(run, "run", folder), measure)
        # One that is judged further down is enough.
        deeper = [*run, ("q", "Doc1", 0.5)]
        (folder / "deeper").mkdir()
        given = form.make(deeper, "run", folder / "deeper")
        assert gf.evaluate(as_dicts(judgments), given, measure).coverage.retrieved == 3
