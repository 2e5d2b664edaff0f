"""Labels and scores in each other's place are told, where they can be; nothing else is."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest

import gainful as gf

METRICS = sorted(gf.metrics.__all__)
TOLD = "labels, scores: the labels .*, and all scores are whole numbers from 0 to 4"


def lists(seed, size=20):
    """Grades 0 to 4, and scores as models give them."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, rng.integers(2, 6), (3, size))
    grades[0, :2] = 0, 1  # at least two
    return grades, rng.normal(size=(3, size))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [int, float, np.float32])
def test_swapped_arrays_are_told(seed, kind):
    grades, scores = lists(seed, size=(2, 5, 20, 3000)[seed % 4])
    with pytest.warns(gf.errors.GainfulWarning, match=TOLD):
        gf.evaluate_arrays(labels=scores, scores=grades.astype(kind))
    with pytest.warns(gf.errors.GainfulWarning, match=TOLD):
        gf.evaluate_arrays(labels=scores.ravel(), scores=grades.astype(kind).ravel(), group=[grades.size])  # fmt: skip
    with pytest.warns(gf.errors.GainfulWarning, match="nowhere above 0"):  # ranks, negated
        gf.evaluate_arrays(labels=-1 - np.argsort(scores), scores=grades.astype(kind))
    gf.evaluate_arrays(labels=grades.astype(kind), scores=scores)  # warnings are errors


@pytest.mark.parametrize("name", METRICS)
def test_swapped_arrays_are_told_by_metrics(name):
    grades, scores = lists(1)
    mask = np.ones(grades.shape, bool)
    mask[:, -3:] = False
    padded = np.where(mask, grades.astype(float), np.nan)
    measure = getattr(gf.metrics, name)
    for given in (None, mask):
        with pytest.warns(gf.errors.GainfulWarning, match=TOLD):
            measure(padded if given is mask else grades.astype(float), scores, given)
        measure(scores, padded if given is mask else grades, given)


PROPER = {
    "fractions as grades": ([[0.5, 1, 0]], [[2.5, 1, 0]]),
    "negative grades": ([[-2, 0, 2]], [[2.0, 1.0, 0.0]]),
    "whole scores": ([[3, 0, 1]], [[2, 0, 1]]),
    "votes as scores": ([[3, 0, 1]], [[12, 0, 1]]),
    "one score": ([[0.5, 1, 0]], [[1.0, 1.0, 1.0]]),
    "no scores yet": ([[0.5, 1, 0]], [[0.0, 0.0, 0.0]]),
    "few fractions": ([[0.5, 0, 0, 0.5, 0]], [[4, 3, 2, 1, 0]]),
    "all grades bad": ([[-1, -2, 0]], [[0.5, 1, 2]]),
}


@pytest.mark.parametrize("name", PROPER)
def test_nothing_else_is_told(name):
    labels, scores = PROPER[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(ties|no positive|empty)")
        gf.evaluate_arrays(labels=labels, scores=scores)
        gf.metrics.ndcg(np.array(scores, float), np.array(labels))


def dicts(seed, queries=20):
    """Judgments with grades 0 to 4, and a run as systems give it."""
    rng = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(30)]
    judgments = {
        f"q{query}": dict(zip(docs, rng.integers(0, 5, 20).tolist(), strict=False))
        for query in range(queries)
    }
    run = {query: dict(zip(docs, rng.normal(size=30).tolist(), strict=True)) for query in judgments}
    return judgments, run


@pytest.mark.parametrize("queries", [1, 20, 200])
def test_swapped_dicts_are_told(queries, tmp_path):
    judgments, run = dicts(queries, queries)
    told = "judgments, run: the grades have fractions, and all scores are whole .* judgments come first"
    with pytest.warns(gf.errors.GainfulWarning, match=told):
        gf.evaluate(run, judgments)
    (tmp_path / "j.json").write_text(json.dumps(judgments))
    (tmp_path / "r.json").write_text(json.dumps(run))
    with pytest.warns(gf.errors.GainfulWarning, match=told):
        gf.evaluate(tmp_path / "r.json", tmp_path / "j.json")
    gf.evaluate(judgments, run)  # warnings are errors


def test_dicts_that_may_be_right_are_not_told():
    docs = [f"d{number}" for number in range(12)]
    fractions = {doc: place / 4 for place, doc in enumerate(docs)}
    for grades, scores in (
        ({"a": 0.5, "b": 1, "c": 0}, {"a": 2, "b": 1, "c": 0}),
        (
            {doc: place / 2 % 2 for place, doc in enumerate(docs)},
            dict.fromkeys(docs[:6], 2) | {"x": 1},
        ),
        (fractions, {doc: float(place % 12) for place, doc in enumerate(docs)} | {"x": 20.0}),
        (fractions, dict.fromkeys(docs, 1.0)),
        ({doc: float(place) for place, doc in enumerate(docs)}, dict.fromkeys(docs, 1) | {"x": 2}),
    ):
        gf.evaluate({"q": grades}, {"q": scores})  # warnings are errors


@pytest.mark.parametrize(
    "odd", ["abc", None, [1], math.nan, 10**400, {}], ids=lambda odd: str(odd)[:9]
)
def test_a_query_that_is_not_judged_may_hold_anything(odd):
    run = {"q": {"a": 1.0}, "other": {"a": odd}}
    assert gf.evaluate({"q": {"a": 1}}, run, "RR").means == {"RR": 1.0}


def falling(seed, queries=4):
    """A run as systems write it: the best first."""
    _, run = dicts(seed, queries)
    return {
        query: dict(sorted(found.items(), key=lambda item: -item[1]))
        for query, found in run.items()
    }


def as_format(given, name, number, folder):
    """Return documents in another kind of input, whose numbers stand under a name."""
    rows = [(query, doc, value) for query, found in given.items() for doc, value in found.items()]
    if name == "frame":
        return pd.DataFrame(rows, columns=["query", "doc", number])
    path = folder / f"{number}-{len(list(folder.iterdir()))}.{name}"
    if name == "csv":
        lines = [f"query,doc,{number}", *(f"{q},{doc},{value}" for q, doc, value in rows)]
    elif name == "jsonl":
        lines = [json.dumps({"query": q, "doc": doc, number: value}) for q, doc, value in rows]
    else:
        lines = [json.dumps(given)]
    path.write_text("\n".join(lines))
    return path


SWAPPED = "judgments, run: the grades have fractions, and all scores are whole numbers from 0 to 4"
TWO_RUNS = "decrease down every list, .* this looks like two runs without judgments. Check that the judgments come first, and the run second"
FORMATS = ("csv", "jsonl", "json", "frame")


@pytest.mark.parametrize("name", FORMATS)
def test_swapped_tables_are_told(name, tmp_path):
    judgments, run = dicts(3, 4)
    judged = as_format(judgments, name, "score", tmp_path)  # as in files of BEIR
    scored = as_format(run, name, "score", tmp_path)
    with pytest.warns(gf.errors.GainfulWarning, match=SWAPPED):
        told = gf.evaluate(scored, judged)["nDCG@10"]
    assert gf.evaluate(judged, scored)["nDCG@10"] != told  # warnings are errors
    if name == "json":  # which has no columns
        return
    gf.evaluate(as_format(run, name, "grade", tmp_path), judged)
    gf.evaluate(scored, judged, columns={"grade": "score"})


@pytest.mark.parametrize("name", [*FORMATS, "dict"])
def test_two_runs_without_judgments_are_told(name, tmp_path):
    one, other, again = map(falling, (1, 2, 3))
    if name != "dict":
        one, other, again = (
            as_format(each, name, "score", tmp_path) for each in (one, other, again)
        )
    with pytest.warns(gf.errors.GainfulWarning, match=TWO_RUNS):
        gf.evaluate(one, other)
    with pytest.warns(gf.errors.GainfulWarning, match=TWO_RUNS):
        gf.compare(one, {"old": other, "new": again}, "nDCG@10")


def test_what_can_be_done_is_told(tmp_path):
    """Where there is a column, the advice names it, and following it ends the warning."""
    one, other = (as_format(falling(seed), "csv", "score", tmp_path) for seed in (1, 2))
    with pytest.warns(
        gf.errors.GainfulWarning, match=r"grades, name their column: columns grade=score\.$"
    ):
        gf.evaluate(one, other)
    gf.evaluate(one, other, columns={"grade": "score"})  # warnings are errors
    with pytest.warns(gf.errors.GainfulWarning, match=r"come first, and the run second\.$"):
        gf.evaluate(falling(1), falling(2))
    zero_one = {"q": {f"d{place}": place % 2 for place in range(20)}}
    means = {"q": {f"d{place}": place / 7 for place in range(20)}}
    with pytest.warns(gf.errors.GainfulWarning, match="whole numbers from 0 to 1, as grades are"):
        gf.evaluate(means, zero_one)


def test_two_runs_are_told_on_the_command_line(cli, tmp_path):
    old, new = (as_format(falling(seed), "csv", "score", tmp_path) for seed in (1, 2))
    done = cli("evaluate", old, new, as_format(falling(3), "csv", "score", tmp_path))
    assert done.returncode == 0
    assert done.stderr.count("this looks like two runs without judgments") == 1
    named = cli("evaluate", old, new, "--columns", "grade=score")
    assert "judgments" not in named.stderr


def test_soft_grades_are_not_taken_for_a_run():
    run = falling(5)
    thirds = {q: {doc: place % 10 / 3 for place, doc in enumerate(found)} for q, found in run.items()}  # fmt: skip
    for soft in (
        dicts(6, 4)[1],  # in no order
        {q: dict(sorted(found.items(), key=lambda item: -item[1])) for q, found in thirds.items()},
        {"q1": {f"d{place}": 1 - place / 10 for place in range(10)}},  # too few to tell
        # What a model says, or rates of clicks, the best first.
        {q: {doc: 1 / (place + 1) for place, doc in enumerate(found)} for q, found in run.items()},
        {q: {doc: 10 - place / 8 for place, doc in enumerate(found)} for q, found in run.items()},
    ):
        gf.evaluate(soft, run)  # warnings are errors
    whole = {q: {doc: -place for place, doc in enumerate(found)} for q, found in run.items()}
    gf.evaluate(falling(7), whole)  # a list in the order of rank beside soft grades


@pytest.mark.parametrize("name", ["csv", "jsonl", "frame"])
def test_two_runs_of_whole_scores_are_told_by_their_ranks(name, tmp_path):
    """Whole numbers that fall may be grades, but not beside a column of ranks."""
    rows = [(f"q{q}", f"d{place}", place + 1, 90 - place) for q in (1, 2) for place in range(20)]
    names = ["query", "doc", "rank", "score"]

    def given(columns):
        frame = pd.DataFrame(rows, columns=names)[columns]
        path = tmp_path / f"{len(columns)}-{len(list(tmp_path.iterdir()))}.{name}"
        if name == "csv":
            frame.to_csv(path, index=False)
        elif name == "jsonl":
            frame.to_json(path, orient="records", lines=True)
        return frame if name == "frame" else path

    told = "the grades are next to ranks and decrease down every list, .* looks like two runs"
    with pytest.warns(gf.errors.GainfulWarning, match=told):
        gf.evaluate(given(names), given(names))
    gf.evaluate(given(names), given(names), columns={"grade": "score"})  # warnings are errors
    gf.evaluate(given(["query", "doc", "score"]), given(names))
    rows = [(q, doc, rank, score % 5) for q, doc, rank, score in rows]
    gf.evaluate(given(names), given(names))  # grades of what stood at each rank


def test_means_over_assessors_are_not_taken_for_scores():
    docs = [f"d{number}" for number in range(60)]
    means = {"q": {doc: number % 13 / 3 for number, doc in enumerate(docs)}}
    votes = {"q": {doc: number % 5 for number, doc in enumerate(docs)}}
    gf.evaluate(means, votes)  # warnings are errors
    cosines = {"q": {doc: 1 - number / 70 for number, doc in enumerate(docs)}}
    with pytest.warns(gf.errors.GainfulWarning, match="pass them as a table with a column grade"):
        gf.evaluate(cosines, votes)
    rows = [("q", doc, grade) for doc, grade in cosines["q"].items()]
    gf.evaluate(pd.DataFrame(rows, columns=["query", "doc", "grade"]), votes)
