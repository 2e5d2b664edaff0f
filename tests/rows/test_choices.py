"""The choices of a policy that matter to matching, on files and tables, beside plain oracles."""

import random

import pytest

import gainful as gf
from gainful.matching.chunks_to_documents import read_chunks
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from input_forms import FORMS, as_dicts
from same_matched import assert_same, match_dicts

pytestmark = [
    pytest.mark.filterwarnings("ignore:document ids"),
    pytest.mark.usefixtures("on_engine"),  # small tables are compared with it elsewhere
]

# One of each way to the engine; every form is read the same in test_same_from_every_form.py.
CHOSEN = ("TREC", "CSV", "Parquet folder", "Arrow reader")
ONE_OF_EACH = [form for form in FORMS if form.name in CHOSEN]


def repeated_rows(seed, numbers):
    rng = random.Random(seed)  # noqa: S311
    queries, docs = ["q1", "q2", "q3"], [f"d{number}" for number in range(9)]
    return [(rng.choice(queries), rng.choice(docs), rng.choice(numbers)) for _ in range(40)]


def without_repeats(rows, rule):
    """The oracle: row by row, the first counts or the highest does; each stands where it was first."""
    found = {}
    for query, doc, number in rows:
        known = found.setdefault(query, {})
        if doc not in known or (rule == "best" and number > known[doc]):
            known[doc] = number
    return found


def matched(judgments, run, policy, depth=None, chunks=None):
    with reading(judgments, policy, {"chunks": chunks}) as reader:
        return reader.match(run, depth)[0]


def folder_in(tmp_path, *names):
    folder = tmp_path / " ".join(map(str, names))
    folder.mkdir()
    return folder


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize("ties", ["order", "worst"])
@pytest.mark.parametrize("rule", ["first", "best"])
def test_duplicates(rule, ties, form, tmp_path):
    judgments = repeated_rows(1, [0.0, 1.0, 2.0, -1.0])
    run = repeated_rows(2, [0.5, 0.25, 1.0, -0.0, 0.0])
    policy = Policy(ties=ties, duplicates=rule)
    once = without_repeats(judgments, rule), without_repeats(run, rule)
    expected = {depth: match_dicts(*once, policy, depth) for depth in (None, 2)}

    for place, given in enumerate((form.make(judgments, "judgments", tmp_path), once[0])):
        with reading(given, policy) as reader:
            for depth, right in expected.items():
                rows = form.make(run, "run", folder_in(tmp_path, place, depth))
                assert_same(reader.match(rows, depth)[0], right)


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize("rule", ["first", "best"])
def test_a_rule_for_duplicates_where_there_are_none(form, rule, tmp_path):
    rows = [("q", "a", 1.0), ("q", "b", 2.0), ("p", "a", 0.0)]
    policy = Policy(ties="doc", duplicates=rule)
    found = matched(
        form.make(rows, "judgments", tmp_path), form.make(rows, "run", tmp_path), policy
    )
    assert_same(found, match_dicts(as_dicts(rows), as_dicts(rows), policy))


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
def test_duplicates_are_an_error_wherever_they_matter(form, tmp_path):
    once = [("q", "a", 3.0), ("q", "b", 2.0), ("q", "c", 1.0)]
    for place, again in enumerate((("q", "a", 3.0), ("q", "a", 0.5), ("q", "c", 9.0))):
        for measure in ("nDCG", "nDCG@1"):
            folder = folder_in(tmp_path, place, measure)
            run = form.make([*once, again], "run", folder)
            # With cutoffs alone, the run is looked at no deeper, if it can be read again: one below changes no value.
            if measure == "nDCG@1" and place != 0 and form.name != "Arrow reader":
                best = gf.Policy(duplicates="best")
                found = gf.evaluate(as_dicts(once), run, measure)
                run = form.make([*once, again], "run", folder_in(folder, "again"))
                assert found.means == gf.evaluate(as_dicts(once), run, measure, policy=best).means
                continue
            with pytest.raises(gf.errors.InputError, match="each document once"):
                gf.evaluate(as_dicts(once), run, measure)
            judgments = form.make([*once, again], "judgments", folder)
            with pytest.raises(gf.errors.InputError, match="each document once"):
                gf.evaluate(judgments, as_dicts(once), measure)
            with pytest.raises(gf.errors.InputError, match="each document once"):
                gf.evaluate(form.make([*once, again], "judgments", folder_in(folder, "x")), form.make(
                    once, "run", folder_in(folder, "y")), measure)  # fmt: skip


TABLE = {"a#1": "A", "a#2": "A", "b": "b", "#": "A", "c##1é2": "b", "a#1#3": "x"}
FOLDS = ["#", "##", "é", TABLE, TABLE.get, lambda chunk: len(chunk)]


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize("fold", ["max", "first", "in_place"])
@pytest.mark.parametrize(("ties", "depth"), [("order", None), ("average", 1)])
@pytest.mark.parametrize("chunks", FOLDS)
@pytest.mark.filterwarnings("ignore:.*is the id of a chunk:gainful.errors.GainfulWarning")
def test_chunks(form, fold, ties, depth, chunks, tmp_path):
    judgments = [("q", "a", 2.0), ("q", "A", 1.0), ("q", "b", 1.0), ("p", "c#", 1.0)]
    run = [
        ("q", "a#2", 0.5), ("p", "a#1#3", 1.0), ("q", "b", 0.75), ("q", "a#1", 1.0),
        ("q", "c##1é2", 0.75), ("p", "#", 1.0), ("q", "a#1#3", 0.1), ("p", "c##1é2", 1.0),
    ]  # fmt: skip
    policy = Policy(ties=ties, fold=fold)
    expected = match_dicts(
        as_dicts(judgments), as_dicts(run), policy, depth, read_chunks(chunks, policy)
    )
    both = form.make(judgments, "judgments", tmp_path), form.make(run, "run", tmp_path)
    assert_same(matched(*both, policy, depth, chunks), expected)


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
def test_a_chunk_of_a_query_without_judgments_needs_no_document(form, tmp_path):
    run = [("q", "c1", 1.0), ("extra", "c9", 1.0)]
    scores = [
        gf.evaluate({"q": {"a": 1}}, given, policy=gf.Policy(fold="max"), chunks={"c1": "a"})
        for given in (as_dicts(run), form.make(run, "run", tmp_path))
    ]
    assert scores[0].coverage == scores[1].coverage
    with pytest.raises(gf.errors.InputError, match="a document for every chunk"):
        gf.evaluate(
            {"q": {"a": 1}},
            form.make(run, "run", folder_in(tmp_path, "lost")),
            chunks={"c9": "a"},
        )


@pytest.mark.parametrize("form", [*ONE_OF_EACH, None], ids=str)
def test_a_function_that_does_not_tell_the_document_is_refused(form, tmp_path):
    run = [("q", "c1", 1.0), ("q", "c2", 1.0)]

    def said(number, function):
        given = (
            as_dicts(run) if form is None else form.make(run, "run", folder_in(tmp_path, number))
        )
        with pytest.raises(gf.errors.InputError) as problem:
            gf.evaluate({"q": {"a": 1}}, given, chunks=function)
        return str(problem.value)

    assert said(1, {"c1": "a"}.get) == (
        "chunks: expected a document for every chunk of the run, found none for 'c2'."
    )
    assert said(2, lambda chunk: {"c1": "a"}[chunk]) == (
        "chunks: expected a function from chunk to document, found KeyError: 'c2' for 'c2'."
    )
    assert said(3, lambda chunk: "a" if chunk == "c1" else 0.5) == (
        "chunks, document of 'c2': expected a string (or an integer) as id, found 0.5. "
        "Make the id a string first."
    )


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize("only", ["neither", "run", "judgments", "both"])
def test_queries_that_retrieve_themselves(form, only, tmp_path):
    """A query of which nothing else is judged, or retrieved, is there all the same."""
    judgments = [("q", "q", 1.0), ("q", "a", 2.0), ("p", "p", 1.0), ("p", "a", 1.0)]
    run = [("q", "q", 3.0), ("q", "a", 2.0), ("p", "x", 0.5), ("p", "p", 2.0), ("e", "e", 1.0)]
    if only in ("judgments", "both"):
        judgments.pop()
    if only in ("run", "both"):
        run.pop(2)
    policy = Policy(ties="doc", drop_self="yes")
    with reading(form.make(judgments, "judgments", tmp_path), policy) as reader:
        for depth in (None, 1):
            given = form.make(run, "run", folder_in(tmp_path, depth))
            expected = match_dicts(as_dicts(judgments), as_dicts(run), policy, depth)
            assert_same(reader.match(given, depth)[0], expected)


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize("unjudged", ["condense", 2])
def test_unjudged(form, unjudged, tmp_path):
    judgments = [("q", "a", 2.0), ("q", "b", -1.0), ("p", "c", 1.0), ("r", "z", 1.0)]
    run = [("q", "x", 9.0), ("p", "x", 1.0), ("q", "b", 2.0), ("q", "a", 2.0), ("q", "y", 2.0),
           ("e", "a", 1.0), ("r", "z", 0.0), ("r", "y", -0.0)]  # fmt: skip
    for ties in ("doc", "order"):
        policy = Policy(ties=ties, unjudged=unjudged)
        folder = folder_in(tmp_path, ties)
        both = form.make(judgments, "judgments", folder), form.make(run, "run", folder)
        assert_same(matched(*both, policy), match_dicts(as_dicts(judgments), as_dicts(run), policy))


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (gf.Policy(unjudged="error"), "1 unjudged: 'x'"),
        (gf.Policy(missing="error"), "1 missing: 'p'"),
        (gf.Policy(extra="error"), "1 without judgments: 'e'"),
    ],
)
def test_policies_that_refuse(form, policy, said, tmp_path):
    judgments = form.make([("q", "a", 1.0), ("p", "b", 1.0)], "judgments", tmp_path)
    run = form.make([("q", "a", 0.5), ("q", "x", 2.0), ("e", "a", 1.0)], "run", tmp_path)
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(judgments, run, "nDCG@5", policy=policy)


def test_chunks_of_the_query_itself_are_dropped(tmp_path):
    judgments = {"q": {"q": 3, "doc7": 1, "doc8": 0}}
    run = {"q": {"q#1": 7.0, "doc7#1": 0.95, "doc8#1": 0.9}}
    policy = gf.Policy(fold="max", drop_self=True)
    path = tmp_path / "run.csv"
    path.write_text("query,doc,score\n" + "".join(f"q,{d},{s}\n" for d, s in run["q"].items()))
    for given in (run, path):
        assert gf.evaluate(judgments, given, "nDCG", policy=policy, chunks="#")["nDCG"] == 1.0


def test_columns_of_the_other_kind_are_noticed(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("query,doc,grade\nq,a,1\n")
    with pytest.raises(
        gf.errors.InputError, match="looks like judgments, but they were passed as a run"
    ):
        gf.evaluate({"q": {"a": 1}}, path)
