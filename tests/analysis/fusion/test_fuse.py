"""`gf.fuse`: every method against its formula, its rules, and what it refuses."""

import itertools
import json
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gainful as gf
import literal_fusion

METHODS = [method.name for method in gf.fusion.methods()]
NORMALISATIONS = [each.name for each in gf.fusion.normalisations()]
OF_SCORES = [method.name for method in gf.fusion.methods() if method.uses == "scores"]
WEIGHTED = [method.name for method in gf.fusion.methods() if "weights" in method.parameters]


def random_runs(seed, *, runs=3, queries=6, documents=9, ties=True):
    """Runs with ties, absent documents, constant lists, and queries that some do not have."""
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    found = []
    for _ in range(runs):
        run = {}
        for query in range(queries):
            if chance.random() < 0.15:
                continue
            docs = chance.sample(
                [f"d{doc}" for doc in range(documents)], chance.randint(1, documents)
            )
            scores = {
                doc: chance.choice([-1.5, 0.0, 0.25, 2.0, 3.5]) if ties else chance.uniform(-5, 5)
                for doc in docs
            }
            if ties and chance.random() < 0.2:
                scores = dict.fromkeys(docs, 0.1)
            run[f"q{query}"] = scores
        run.setdefault("q0", {"d0": 1.0})
        found.append(run)
    return found


def assert_same(fused, expected):
    """The same queries and documents, the same scores, and the order of the scores."""
    assert fused.keys() == expected.keys()
    for query, scores in expected.items():
        found = fused[query]
        assert found == pytest.approx(scores, rel=1e-12, abs=1e-13)
        order = sorted(found, reverse=True)
        order.sort(key=lambda doc: -found[doc])
        assert list(found) == order


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_its_formula(method, deep):
    seeds = range(8 if deep else 3)
    for seed, ties in itertools.product(seeds, ["doc", "doc_ascending", "average"]):
        runs = random_runs(seed)
        for normalise in NORMALISATIONS if method in OF_SCORES else [None]:
            given = {} if normalise is None else {"normalise": normalise}
            for depth in (None, 3):
                fused = gf.fuse(runs, method, ties=ties, depth=depth, **given)
                expected = literal_fusion.fuse(runs, method, ties=ties, depth=depth, **given)
                assert_same(fused, expected)


@pytest.mark.parametrize("method", WEIGHTED)
def test_weights_and_parameters_are_in_the_formula(method):
    given = {"rrf": {"k": 7}, "rbc": {"p": 0.35}}.get(method, {})
    for seed in range(8):
        runs = random_runs(seed)
        weights = [2, 0.25, 0] if seed % 2 else [1, 3, 0.5]
        fused = gf.fuse(runs, method, weights=weights, **given)
        assert_same(fused, literal_fusion.fuse(runs, method, weights=weights, **given))


ONE = {"q": {"a": 30, "b": 20, "c": 10}}
TWO = {"q": {"c": 0.9, "a": 0.5, "d": 0.1}}


def test_rrf_by_hand():
    # a: 1/61 + 1/62; c: 1/63 + 1/61; b: 1/62; d: 1/63.
    assert gf.fuse([ONE, TWO])["q"] == pytest.approx(
        {"a": 123 / 3782, "c": 124 / 3843, "b": 1 / 62, "d": 1 / 63}
    )
    assert list(gf.fuse([ONE, TWO], k=0)["q"]) == ["a", "c", "b", "d"]  # 3/2, 4/3, 1/2, 1/3


def test_comb_mnz_by_hand():
    # Min-max: 1, 1/2, 0 in both. a: 2·(1 + 1/2); c: 2·(0 + 1); b: 1/2; d: 0.
    assert gf.fuse([ONE, TWO], "mnz")["q"] == {"a": 3.0, "c": 2.0, "b": 0.5, "d": 0.0}


def test_borda_by_hand():
    # Four documents: 4, 3, 2 points in either run, and the 1 that is left over to the absent one.
    assert gf.fuse([ONE, TWO], "borda")["q"] == {"a": 7.0, "c": 6.0, "b": 4.0, "d": 3.0}
    # Two are absent from a run of two: they share 2 + 1.
    short = {"q": {"d": 2, "a": 1}}
    assert gf.fuse([ONE, short], "borda")["q"] == {"a": 7.0, "d": 5.0, "b": 4.5, "c": 3.5}


def test_absent_documents_say_nothing():
    low = {"q": {"a": -5.0, "b": -1.0}}
    other = {"q": {"a": -5.0}}
    raw = {"normalise": "none"}
    assert gf.fuse([low, other], "sum", **raw)["q"] == {"b": -1.0, "a": -10.0}
    assert gf.fuse([low, other], "max", **raw)["q"] == {"b": -1.0, "a": -5.0}
    assert gf.fuse([low, other], "anz", **raw)["q"] == {"b": -1.0, "a": -5.0}
    assert gf.fuse([low, other], "log_isr")["q"]["b"] == 0.0


def test_equal_scores_have_no_spread():
    flat = {"q": {"a": 0.1, "b": 0.1, "c": 0.1}}
    for name, value in (("minmax", 1.0), ("zscore", 0.0), ("sum", 1 / 3), ("none", 0.1)):
        with pytest.warns(gf.errors.GainfulWarning, match="is the only run"):
            fused = gf.fuse([flat], "sum", normalise=name)
        assert fused["q"] == dict.fromkeys("cba", value)
        assert list(fused["q"]) == ["c", "b", "a"]


def test_the_order_of_the_runs_does_not_matter_to_the_last_bit(deep):
    for seed in range(6 if deep else 2):
        runs = random_runs(seed, runs=4, ties=bool(seed % 2))
        for method in METHODS:
            first = dict(gf.fuse(runs, method))
            for other in itertools.permutations(runs):
                again = dict(gf.fuse(list(other), method))
                assert again == first
                assert all(list(again[query]) == list(first[query]) for query in first)


def test_mirrored_ranks_tie_and_stand_by_id():
    one = {"q": {"a": 3, "b": 2, "c": 1}}
    two = {"q": {"a": 1, "b": 2, "c": 3}}
    three = {"q": {"a": 2, "c": 1, "b": 3}}
    four = {"q": {"c": 2, "a": 1, "b": 3}}
    found = gf.fuse([one, two, three, four])["q"]
    assert found["a"] == found["c"]
    assert list(found) == ["b", "c", "a"]


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_one_run_keeps_its_order():
    (run,) = random_runs(3, runs=1)
    for method in METHODS:
        if method == "log_isr":  # ln 1 is 0: it has no order for one run
            continue
        fused = gf.fuse([run], method)
        for query, scores in run.items():
            order = sorted(scores, reverse=True)
            order.sort(key=lambda doc: -scores[doc])
            assert list(fused[query]) == order, method


def test_a_run_fused_with_itself_keeps_its_order():
    (run,) = random_runs(5, runs=1)
    for method in METHODS:
        fused = gf.fuse([run, run], method)
        for query, scores in run.items():
            order = sorted(scores, reverse=True)
            order.sort(key=lambda doc: -scores[doc])
            assert list(fused[query]) == order, method


def test_depth_and_top():
    fused = gf.fuse([ONE, TWO], depth=1)
    assert fused["q"] == {"c": 1 / 61, "a": 1 / 61}
    assert list(gf.fuse([ONE, TWO], top=2)["q"]) == ["a", "c"]
    assert dict(gf.fuse([ONE, TWO], depth=99, top=99)) == dict(gf.fuse([ONE, TWO]))


def test_queries_of_some_runs_are_fused_from_those_and_counted():
    fused = gf.fuse({"one": ONE, "two": {"q": {"a": 1}, "r": {"x": 2}, "s": {"y": 2}}})
    assert fused["r"] == {"x": 1 / 61}
    (note,) = fused.notes
    assert note.startswith("2 of 3 queries are not in all runs")
    assert "'one' lacks 'r', 's'" in note
    assert gf.fuse([ONE, TWO]).notes == ()


@pytest.mark.parametrize("form", ["dicts", "lists", "files"])
def test_a_query_that_a_run_answers_with_nothing_is_not_lacking(form, tmp_path):
    runs = {"one": {"q": ["a"], "r": [], "e": []}, "two": {"q": ["a"], "r": ["x"], "s": ["y"]}}
    if form == "dicts":
        runs = {
            name: {query: dict.fromkeys(docs, 1) for query, docs in run.items()}
            for name, run in runs.items()
        }
    elif form == "files":
        for name, run in runs.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(run))
        runs = {name: tmp_path / f"{name}.json" for name in runs}
    fused = gf.fuse(runs)
    assert fused["r"] == {"x": 1 / 61}
    assert fused.notes == (
        "1 of 3 queries is not in all runs, and is fused from the others: 'one' lacks 's'",
        "1 query has no document in any run and is left out: 'e'",
    )
    assert gf.fusion.write_fused(runs, tmp_path / "x.run")[1:] == fused.notes
    both = {"one": {"q": {"a": 1}, "r": {}}, "two": {"q": {}, "r": {"x": 1}}}
    assert gf.fuse(both).notes == ()


def test_queries_without_a_document_in_any_run_are_named(tmp_path):
    one, two = {**ONE, "e": {}, "r": {}}, {"q": {"a": 1}, "r": {"x": 2}, "f": {}}
    fused = gf.fuse([one, two])
    assert [*fused] == ["q", "r"]
    told = "2 queries have no document in any run and are left out: 'e', 'f'"
    assert fused.notes[-1] == told
    assert gf.fusion.write_fused([one, two], tmp_path / "x.run")[-1] == told
    assert gf.fuse([{**ONE, "e": {}}, TWO]).notes == (
        "1 query has no document in any run and is left out: 'e'",
    )


def forms(runs, folder):
    """The runs as files and as frames."""
    for number, run in enumerate(runs):
        gf.write_run(run, folder / f"{number}.run")
        gf.write_run(run, folder / f"{number}.parquet")
    rows = [
        [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        for run in runs
    ]
    columns = ["query", "doc", "score"]
    return {
        "trec": [folder / f"{number}.run" for number in range(len(runs))],
        "parquet": [folder / f"{number}.parquet" for number in range(len(runs))],
        "pandas": [pd.DataFrame(each, columns=columns) for each in rows],
        "polars": [pl.DataFrame(each, schema=columns, orient="row") for each in rows],
        "mixed": [runs[0], folder / "1.run", *runs[2:]],
    }


@pytest.mark.parametrize("ties", [True, False])
def test_the_same_numbers_from_every_form(tmp_path, ties):
    runs = random_runs(11, queries=12, ties=ties)
    every = forms(runs, tmp_path)
    for place, method in enumerate(METHODS):
        depth = 4 if place % 2 == ties else None  # each method in either way, once with ties
        expected = gf.fuse(runs, method, depth=depth)
        for form, given in every.items():
            found = gf.fuse(given, method, depth=depth)
            assert dict(found) == dict(expected), (method, form)
            assert found.queries == expected.queries
            assert found.docs.tolist() == expected.docs.tolist()
            if form not in ("trec", "parquet"):  # which are called by the names of their files
                assert found.notes == expected.notes


def test_a_fused_run_goes_wherever_a_run_goes(tmp_path):
    judgments = {"q": {"a": 2, "d": 1}}
    fused = gf.fuse([ONE, TWO])
    value = gf.evaluate(judgments, fused, "nDCG@3")["nDCG@3"]
    assert value == gf.evaluate(judgments, dict(fused), "nDCG@3")["nDCG@3"]
    assert gf.fuse([fused, ONE]).keys() == {"q"}
    assert "q" in fused
    assert fused.get("r") is None
    with pytest.raises(gf.errors.InputError, match="one of its queries: 'q', found 'r'"):
        fused["r"]
    assert gf.evaluate(judgments, fused.to_pandas(), "nDCG@3")["nDCG@3"] == value
    for ending in ("run", "trec", "txt", "csv", "tsv", "jsonl", "parquet", "run.gz", "csv.zst"):
        file = tmp_path / f"fused.{ending}"
        fused.write(file)
        assert gf.evaluate(judgments, file, "nDCG@3")["nDCG@3"] == value
        again = gf.fuse({"one": file, "two": file}, "max", normalise="none")
        assert dict(again) == dict(fused)
    gf.write_run(fused, tmp_path / "again.run", tag="fused")
    assert (tmp_path / "again.run").read_text() == (tmp_path / "fused.run").read_text()


def test_ids_have_the_type_that_they_had():
    frame = pd.DataFrame({"query": [7, 7], "doc": [1, 12], "score": [0.5, 0.25]})
    fused = gf.fuse([frame, frame])
    assert list(fused) == ["7"]
    assert fused.to_pandas()["doc"].tolist() == [1, 12]
    assert fused.to_pandas()["query"].dtype == np.int64
    fused = gf.fuse([{7: {1: 0.5}}, {7: {12: 0.25, 1: 2}}])
    assert fused.to_pandas()["doc"].tolist() == [1, 12]


def test_nothing_that_was_passed_is_changed():
    runs = random_runs(2)
    before = [{query: dict(docs) for query, docs in run.items()} for run in runs]
    gf.fuse(runs, "borda", depth=2)
    assert runs == before
    fused = gf.fuse(runs)
    with pytest.raises(ValueError, match="read-only"):
        fused.scores[0] = 5


@pytest.mark.parametrize(
    ("runs", "given", "message"),
    [
        ([], {}, "at least 1 run"),
        ({}, {}, "at least 1 run"),
        ([ONE, {}], {}, "run '2': expected at least one retrieved document, found none"),
        ([ONE, {"q": {}}], {}, "run '2': expected at least one retrieved document, found none"),
        (ONE, {}, "a dict of runs by name"),
        ([ONE, TWO], {"method": "rff"}, "Did you mean 'rrf'?"),
        ([ONE, TWO], {"method": "combsum"}, "expected a method of fusion"),
        ([ONE, TWO], {"k": -1}, "k: expected a non-negative number, found -1"),
        ([ONE, TWO], {"k": float("nan")}, "k: expected"),
        ([ONE, TWO], {"method": "sum", "k": 5}, "k: expected none with method='sum', found 5. k is a parameter of rrf"),
        ([ONE, TWO], {"p": 0.5}, "p is a parameter of rbc"),
        ([ONE, TWO], {"method": "rbc", "p": 1}, "above 0 and below 1"),
        ([ONE, TWO], {"weights": [1]}, "2 numbers of at least 0, one for each run, found 1"),
        ([ONE, TWO], {"weights": [1, 2, 3]}, "found 3"),
        ([ONE, TWO], {"weights": [1, -2]}, "weights: expected 2 numbers of at least 0"),
        ([ONE, TWO], {"weights": [1, float("nan")]}, "weights: expected 2 numbers"),
        ([ONE, TWO], {"weights": [0, 0]}, "at least one weight above 0"),
        ([ONE, TWO], {"weights": "12"}, "weights: expected 2 numbers"),
        ([ONE, TWO], {"method": "max", "weights": [1, 2]}, "weights: expected none with method='max'"),
        ([ONE, TWO], {"normalise": "minmax"}, "uses only ranks"),
        ([ONE, TWO], {"method": "sum", "normalise": "min-max"}, "Did you mean 'minmax'?"),
        ([ONE, TWO], {"ties": "best"}, "ties: expected auto or doc or doc_ascending or average"),
        ([ONE, TWO], {"depth": 0}, "depth: expected a whole number from 1"),
        ([ONE, TWO], {"top": 0}, "top: expected a whole number from 1"),
        ([ONE, {"q": {"a": float("nan")}}], {}, "run '2', query 'q', document 'a': expected a finite"),
        ([ONE, {"q": {"a": "x"}}], {}, "run '2', query 'q', document 'a': expected a finite"),
        ([{"q": {"a": 1e308, "b": -1e308}}] * 2, {"method": "sum"}, "fit in a float64"),
    ],
)  # fmt: skip
def test_what_is_refused(runs, given, message):
    with pytest.raises(gf.errors.InputError) as found:
        gf.fuse(runs, **given)
    assert message in str(found.value)


def test_what_is_wrong_in_a_file_is_said_with_its_place(tmp_path):
    good, twice, bad = (tmp_path / name for name in ("good.run", "twice.run", "bad.run"))
    gf.write_run(ONE, good)
    twice.write_text("q Q0 a 1 2.0 t\nq Q0 a 2 1.0 t\n")
    bad.write_text("q Q0 a 1 2.0 t\nq Q0 b 2 nan t\n")
    with pytest.raises(gf.errors.InputError, match=r"twice\.run.*'a'"):
        gf.fuse([good, twice])
    with pytest.raises(gf.errors.InputError, match=r"bad\.run:2"):
        gf.fuse([good, bad])


def test_one_run_is_warned_of():
    with pytest.warns(
        gf.errors.GainfulWarning, match="'mine' is the only run: there is nothing to fuse"
    ):
        gf.fuse({"mine": ONE})


def test_ranks_instead_of_scores_are_warned_of():
    ranks = {f"q{query}": {f"d{rank}": rank for rank in range(1, 12)} for query in range(12)}
    with pytest.warns(gf.errors.GainfulWarning, match="rank"):
        gf.fuse([ranks, ranks])
