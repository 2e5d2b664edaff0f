"""With precision=single, scores are rounded to float32 before anything is done with them.

The oracle rounds the scores itself, and matches them as dicts in double precision.
"""

import dataclasses
import json
import random
import re
import struct

import numpy as np
import pytest

import gainful as gf
from gainful.matching import array_matching
from gainful.matching import input as inputs
from gainful.matching.chunks_to_documents import read_chunks
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.rows import clean_text_files
from gainful.rows.arrays import read_lists
from input_forms import FORMS, as_dicts
from same_matched import assert_same, match_dicts

pytestmark = pytest.mark.usefixtures("on_engine")

# One of each way to a matcher; the first is also read without the engine.
CHOSEN = ("TREC", "ragged TREC", "CSV", "JSON lines", "JSON dicts", "JSON records", "Parquet",
          "Parquet folder", "pandas", "Arrow reader", "dicts")  # fmt: skip
ONE_OF_EACH = [form for form in FORMS if form.name in CHOSEN]

# Two that a float32 cannot tell apart, and one that it can.
HALF, MORE, MUCH_MORE = 0.5, 0.500000001, 0.5000001
BY_HAND = 2.0 + 1.0 / np.log2(3), 1.0 + 2.0 / np.log2(3)  # DCG of the grades 2, 1 and 1, 2


def rounded(run):
    """The run with its scores in single precision."""
    return {
        query: {doc: struct.unpack("f", struct.pack("f", score))[0] for doc, score in docs.items()}
        for query, docs in run.items()
    }


def close_rows(seed):
    """Judgments and a run of which many scores differ by less than a float32 can hold.

    The rows of each query stand together; those of some by score, those of others not.
    """
    rng = random.Random(seed)  # noqa: S311
    judgments, run = [], []
    for query in ("q1", "q2", "q10", "p"):
        docs = rng.sample([f"d{number}" for number in range(30)], 20)
        judgments += [(query, doc, float(rng.randrange(-1, 4))) for doc in docs[:12]]
        levels = (HALF, 3.3, -7.25)
        scores = [rng.choice(levels) + rng.randrange(40) * 1e-8 for _ in docs]
        scores[:3] = HALF, MORE, MUCH_MORE
        if query != "q1":
            scores.sort(reverse=True)
        run += zip([query] * 20, docs, scores, strict=True)
    return judgments, run


def matched(judgments, run, policy, depth=None):
    with reading(judgments, policy) as reader:
        return reader.match(run, depth)[0]


def differs(one, other):
    """Whether the ranks are not the same."""
    return any(
        getattr(one, name).tolist() != getattr(other, name).tolist()
        for name in ("rank", "rank_first", "rank_last", "seen")
    )


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize(("ties", "depth"), [("doc", 1), ("average", None), ("order", 3)])
def test_every_form_of_a_run(form, ties, depth, tmp_path):
    judgments, run = close_rows(1)
    exact = match_dicts(as_dicts(judgments), as_dicts(run), Policy(ties=ties), depth)
    expected = match_dicts(as_dicts(judgments), rounded(as_dicts(run)), Policy(ties=ties), depth)
    assert differs(exact, expected)
    given = form.make(run, "run", tmp_path)
    policy = Policy(ties=ties, precision="single")
    assert_same(matched(as_dicts(judgments), given, policy, depth), expected)


@pytest.mark.parametrize("depth", [None, 1, 3, 10, 100])
@pytest.mark.parametrize("ties", ["doc", "average", "order"])
@pytest.mark.parametrize(("name", "chunk"), [("TREC", 97), ("TREC", 1 << 20), ("JSON lines", 300)])
def test_clean_files_without_the_engine(ties, depth, name, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(clean_text_files, "_chunk_size", lambda size: chunk)
    form = next(form for form in FORMS if form.name == name)
    policy = Policy(ties=ties, precision="single")
    asked = []
    work = inputs.work_on_clean_rows

    def noted(*given, **options):
        asked.append(work(*given, **options))
        return asked[-1]

    monkeypatch.setattr(inputs, "work_on_clean_rows", noted)
    for seed in range(5):
        folder = tmp_path / str(seed)
        folder.mkdir()
        judgments, run = close_rows(seed)
        both = form.make(judgments, "judgments", folder), form.make(run, "run", folder)
        expected = match_dicts(
            as_dicts(judgments), rounded(as_dicts(run)), Policy(ties=ties), depth
        )
        assert_same(matched(*both, policy, depth), expected)
    assert len(asked) == 5
    assert None not in asked


CHOICES = (
    {"fold": "max", "ties": "order"},
    {"fold": "first", "ties": "doc"},
    {"fold": "max", "drop_self": "yes", "ties": "average"},
    {"drop_self": "yes", "ties": "doc"},
    {"duplicates": "best", "ties": "order"},
    {"unjudged": "condense", "ties": "doc"},
    {"unjudged": 1, "ties": "average"},
)


@pytest.mark.parametrize(
    ("choices", "depth"),
    [
        (choices, depth)
        for choices in CHOICES
        # What is unjudged is looked for in the whole run.
        for depth in ((None,) if "unjudged" in choices else (None, 2))
    ],
    ids=str,
)
@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
def test_beside_other_choices(depth, choices, form, tmp_path):
    judgments = [
        ("q", "a", 2.0),
        ("q", "b", 1.0),
        ("q", "q", 1.0),
        ("p", "c", 1.0),
        ("p", "d", 3.0),
    ]
    run = [
        ("q", "a#1", MUCH_MORE - 1e-9), ("q", "b#1", HALF), ("q", "a#2", HALF), ("q", "q", MORE),
        ("q", "b", MUCH_MORE), ("q", "a", HALF), ("p", "c", MORE), ("p", "d", HALF), ("p", "x", HALF),
    ]  # fmt: skip
    policy = Policy(**choices, precision="single")
    in_double = dataclasses.replace(policy, precision="double")
    chunks = "#" if "fold" in choices else None
    expected, exact = (
        match_dicts(as_dicts(judgments), given, in_double, depth, read_chunks(chunks, policy))
        for given in (rounded(as_dicts(run)), as_dicts(run))
    )
    assert differs(exact, expected)
    given = form.make(run, "run", tmp_path)
    with reading(as_dicts(judgments), policy, {"chunks": chunks}) as reader:
        assert_same(reader.match(given, depth)[0], expected)


@pytest.mark.parametrize("ties", ["average", "order", "best", "worst"])
@pytest.mark.parametrize("levels", [1, 1000])
def test_arrays(ties, levels):
    rng = np.random.default_rng(levels)
    labels = rng.integers(0, 4, (30, 25)).astype(float)
    scores = rng.integers(1, levels + 1, (30, 25)) / 7 + rng.integers(0, 30, (30, 25)) * 1e-8
    mask = np.arange(25) < rng.integers(1, 26, 30)[:, None]
    single, double = Policy(ties=ties, precision="single"), Policy(ties=ties)
    known = scores.astype(np.float32).astype(np.float64)
    expected = array_matching.match(read_lists(labels, known, mask=mask), double)
    assert differs(array_matching.match(read_lists(labels, scores, mask=mask), double), expected)
    lists = read_lists(labels, scores, mask=mask)
    assert_same(array_matching.match(lists, single), expected)
    for part in lists.split(4):  # each a part of the same arrays
        whole = dataclasses.replace(part, scores=lists.scores.astype(np.float32).astype(float))
        assert_same(
            array_matching.match(part, single),
            array_matching.match(whole, double),
        )
    # Lists that do not stand in the order of their ids.
    ids = rng.permutation(30).astype(str)
    assert_same(
        array_matching.match(read_lists(labels, scores, query=ids), single),
        array_matching.match(read_lists(labels, known, query=ids), double),
    )
    found, right = (
        gf.evaluate_arrays(labels=labels, scores=given, mask=mask, measures="nDCG", policy=policy)
        for given, policy in ((scores, single), (known, double))
    )
    assert found.values.tobytes() == right.values.tobytes()
    assert found.coverage == right.coverage


def test_numbers_of_every_type_in_arrays():
    policy = Policy(ties="average", precision="single")
    for kind in (np.int64, np.uint32, np.float32, np.float64, np.longdouble):
        # A float32 has every integer up to 2^24, and of those above every other.
        scores = np.array([[2**24 + 1, 2**24, 2**24 - 1]]).astype(kind)
        found = array_matching.match(read_lists([[0, 1, 2]], scores), policy)
        assert found.rank_last.tolist() == [2, 2, 3], kind


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@1"])
def test_labels_and_predictions(measure, files):
    labels = files("labels.txt", "2 qid:1 1:1\n1 qid:1 1:1\n0 qid:1 1:1\n")
    predictions = files("predictions.txt", f"{HALF}\n{MORE}\n0.25\n")
    best, other = BY_HAND if measure == "nDCG" else (2.0, 1.0)
    exact = gf.evaluate(labels, predictions, measure)
    assert exact[measure] == pytest.approx(other / best)
    tied = gf.evaluate(labels, predictions, measure, policy=gf.Policy(precision="single"))
    assert tied[measure] == pytest.approx((best + other) / 2 / best)


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize(
    ("docs", "ties", "expected"),
    [
        ("yx", "doc", BY_HAND[0] / BY_HAND[0]),  # y, with grade 2, stands before x
        ("xy", "doc", BY_HAND[1] / BY_HAND[0]),
        ("xy", "average", sum(BY_HAND) / 2 / BY_HAND[0]),
        ("xy", "best", 1.0),
        ("yx", "worst", BY_HAND[1] / BY_HAND[0]),
    ],
)
def test_worked_by_hand(form, docs, ties, expected, tmp_path):
    good, fair = docs
    judgments = {"q": {good: 2, fair: 1}}
    rows = [("q", good, HALF), ("q", fair, MORE)]
    run = form.make(rows, "run", tmp_path)
    found = gf.evaluate(judgments, run, "nDCG", policy=gf.Policy(ties=ties, precision="single"))
    assert found["nDCG"] == pytest.approx(expected, abs=1e-15)
    assert (found.coverage.tied, found.coverage.tied_queries) == (2, 1)
    assert f"ties={ties} precision=single |" in found.signature("nDCG")
    exact = gf.evaluate(judgments, as_dicts(rows), "nDCG", policy=gf.Policy(ties=ties))
    assert exact["nDCG"] == pytest.approx(0.8597, abs=5e-5)
    assert exact.coverage.tied == 0
    assert "precision" not in exact.signature("nDCG")


@pytest.mark.parametrize("name", ["run.txt", "run.csv", "run.jsonl", "run.json", "ragged.txt"])
def test_text_is_read_as_float64_before_it_is_rounded(name, files):
    """Between 1 and the next float32, a little above the middle, where the nearest float64 is."""
    above = "1.0000000596046447753906251"
    text = {
        "run.txt": "q Q0 a 1 {} t\nq Q0 b 2 1.0 t\n",
        "ragged.txt": "q Q0 a 1 {}  t\n q Q0 b 2 1.0 t\n",
        "run.csv": "query,doc,score\nq,a,{}\nq,b,1.0\n",
        "run.jsonl": '{{"query": "q", "doc": "a", "score": {}}}\n{{"query": "q", "doc": "b", "score": 1.0}}\n',
        "run.json": '{{"q": {{"a": {}, "b": 1.0}}}}',
    }[name]  # fmt: skip
    judgments = files("judgments.qrels", "q 0 a 1\n")
    run = files(name, text.format(above))
    for given in (str(judgments), {"q": {"a": 1}}):
        for depth in (None, 1):
            found = matched(given, run, Policy(ties="average", precision="single"), depth)
            assert found.rank_last.tolist() == [2]
            assert matched(given, run, Policy(ties="average"), depth).rank_last.tolist() == [1]


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
def test_what_is_rounded_to_zero_is_zero(form, tmp_path):
    rows = [("q", "a", -1e-50), ("q", "b", 0.0), ("q", "c", 1e-50), ("q", "d", -1e-30)]
    run = form.make(rows, "run", tmp_path)
    policy = Policy(ties="doc", precision="single")
    found = matched({"q": {"a": 1, "b": 2, "d": 0}}, run, policy)
    assert found.rank.tolist() == [2, 3, 4]
    assert found.rank_last.tolist() == [3, 3, 4]


LARGEST = 2.0**128 - 2.0**104  # of float32
MIDDLE = 2.0**128 - 2.0**103  # between it and what would follow
TOO_LARGE = (1e39, -1e39, MIDDLE)


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@1"])
@pytest.mark.parametrize("score", TOO_LARGE)
def test_scores_that_a_float32_cannot_hold(form, measure, score, tmp_path):
    rows = [("q", "a", 1.0), ("q", "b", score), ("q", "c", 0.5)]
    judgments, policy = {"q": {"a": 1, "b": 1}}, gf.Policy(precision="single")
    run = form.make(rows, "run", tmp_path)
    said = "expected a score that a float32 can hold (policy precision=single), found "
    with pytest.raises(gf.errors.InputError, match=re.escape(f"{said}{score!r}.")) as caught:
        gf.evaluate(judgments, run, measure, policy=policy)
    where = {
        "TREC": f"{run}:2",
        "ragged TREC": None,  # with blank lines among its lines
        "CSV": f"{run}:3",
        "JSON lines": f"{run}:2",
        "Parquet": f"{run}, row 2, query 'q', document 'b'",
        "JSON dicts": "run, query 'q', document 'b'",
    }.get(form.name)
    if where is not None:
        assert caught.value.where == where
    again = tmp_path / "again"
    again.mkdir()
    both = form.make(rows, "judgments", again), form.make(rows, "run", again)
    with pytest.raises(gf.errors.InputError, match=re.escape(f"{said}{score!r}.")):
        gf.evaluate(*both, measure, policy=policy)


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
@pytest.mark.parametrize("measure", ["nDCG", "nDCG@1"])
def test_as_float64_they_are_scores_as_any_other(form, measure, tmp_path):
    rows = [("q", "a", 1.0), *zip("qqq", "bcd", TOO_LARGE, strict=True)]
    found = gf.evaluate({"q": {"a": 1, "b": 1}}, form.make(rows, "run", tmp_path), measure)
    assert found.coverage.retrieved == 4


@pytest.mark.parametrize("form", ONE_OF_EACH, ids=str)
def test_the_largest_that_it_can_hold(form, tmp_path):
    below = float(np.nextafter(MIDDLE, 0.0))
    run = form.make([("q", "a", LARGEST), ("q", "b", below), ("q", "c", -below)], "run", tmp_path)
    found = matched({"q": {"a": 1, "c": 1}}, run, Policy(ties="average", precision="single"))
    assert found.rank_first.tolist() == [1, 3]
    assert found.rank_last.tolist() == [2, 3]


def test_scores_in_arrays_that_a_float32_cannot_hold(files):
    policy = gf.Policy(precision="single")
    said = "scores, query '8': expected a score that a float32 can hold"
    arguments = {"labels": [1, 0, 1], "scores": [-1e39, 0.5, 1.0], "query": [8, 7, 7]}
    with pytest.raises(gf.errors.InputError, match=re.escape(said)):
        gf.evaluate_arrays(**arguments, policy=policy)
    assert gf.evaluate_arrays(**arguments).coverage.retrieved == 3
    labels = files("labels.txt", "2 qid:8 1:1\n1 qid:7 1:1\n")
    with pytest.raises(gf.errors.InputError, match=re.escape(said)):
        gf.evaluate(labels, files("predictions.txt", "1e39\n1\n"), policy=policy)


@pytest.mark.parametrize(
    "form", [form for form in ONE_OF_EACH if not form.name.startswith("JSON")], ids=str
)
def test_what_is_no_number_is_said_as_ever(form, tmp_path):
    run = form.make([("q", "a", 1.0), ("q", "b", float("nan"))], "run", tmp_path)
    with pytest.raises(gf.errors.InputError, match="a finite number as the score"):
        gf.evaluate({"q": {"a": 1}}, run, policy=gf.Policy(precision="single"))


def test_an_explanation_shows_the_ties():
    judgments, run = {"q": {"b": 2, "a": 1}}, {"q": {"b": HALF, "a": MORE}}
    for ties in ("doc", "average", "worst"):
        policy = gf.Policy(ties=ties, precision="single")
        explained = gf.explain(judgments, run, "nDCG", query="q", policy=policy)
        assert explained.value == gf.evaluate(judgments, run, "nDCG", policy=policy)["nDCG"]
        ranks = [(step.doc, step.rank, step.rank_last) for step in explained.parts[0].steps]
        assert (
            ranks
            == {
                "doc": [("b", 1, 1), ("a", 2, 2)],
                "average": [("b", 1, 2), ("a", 1, 2)],
                "worst": [("a", 1, 1), ("b", 2, 2)],
            }[ties]
        )


def test_on_the_command_line(cli, files):
    judgments = files("judgments.qrels", "q 0 b 2\nq 0 a 1\n")
    run = files("mine.run", f"q Q0 a 1 {MORE} t\nq Q0 b 2 {HALF} t\n")
    values = {}
    for precision in ("double", "single"):
        done = cli("evaluate", judgments, run, "-m", "nDCG", "-f", "json", "--precision", precision)
        assert done.returncode == 0, done.stderr
        values[precision] = done.stdout
        assert json.loads(done.stdout)["policy"]["precision"] == precision
    assert "0.8597" in values["double"]
    assert "0.8597" not in values["single"]
    refused = cli("explain", "3,2", "--precision", "single")
    assert refused.returncode == 2
    assert "--precision requires JUDGMENTS and RUN" in refused.stderr
