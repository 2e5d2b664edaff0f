"""What does not matter to a comparison: order, the kind of input, cores, who is called base."""

import copy
import json
import os
import pickle
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pytest
from generated_runs import collection, moved, normal, quick, scores
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf

MEASURES = ["nDCG@5", "RR"]
PAIR = ("old", "new")


def rows(table, number):
    return [
        {"query": query, "doc": doc, number: value}
        for query, documents in table.items()
        for doc, value in documents.items()
    ]


def as_file(table, number, path):
    lines = (
        f"{r['query']} 0 {r['doc']} {r[number]!r}"
        if number == "grade"
        else f"{r['query']} Q0 {r['doc']} 1 {r[number]!r} tag"
        for r in rows(table, number)
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def given_and_found():
    judgments, runs = collection()
    return judgments, runs, gf.compare(judgments, runs, MEASURES, slices=sliced(runs), by="kind")


def sliced(runs):
    return {query: {"kind": "odd" if int(query[1:]) % 2 else "even"} for query in runs["old"]}


@pytest.mark.parametrize("kind", ["file", "pandas", "polars", "csv"])
def test_the_kind_of_input_does_not_matter(kind, given_and_found, tmp_path):
    judgments, runs, found = given_and_found
    tables = {"judgments": judgments, **runs}
    made = {}
    for name, table in tables.items():
        number = "grade" if name == "judgments" else "score"
        if kind == "file":
            made[name] = as_file(table, number, tmp_path / name)
            continue
        frame = (pl if kind == "polars" else pd).DataFrame(rows(table, number))
        if kind == "csv":
            made[name] = tmp_path / f"{name}.csv"
            frame.to_csv(made[name], index=False)
        else:
            made[name] = frame
    again = gf.compare(made.pop("judgments"), made, MEASURES, slices=sliced(runs), by="kind")
    assert again.to_json() == found.to_json()


def test_the_order_of_queries_and_documents_does_not_matter(given_and_found):
    judgments, runs, found = given_and_found

    def turned(table):
        return {
            query: dict(reversed(documents.items())) for query, documents in reversed(table.items())
        }

    again = gf.compare(
        turned(judgments),
        {name: turned(run) for name, run in runs.items()},
        MEASURES,
        slices=dict(reversed(sliced(runs).items())),
        by="kind",
    )
    assert again.to_json() == found.to_json()


def test_the_order_of_runs_and_measures_moves_rows_alone(given_and_found):
    judgments, runs, found = given_and_found
    turned = dict(reversed(runs.items()))
    again = gf.compare(judgments, turned, MEASURES[::-1], baseline="old", correction="holm")
    assert again.runs == ("other", "new", "old")
    for one in found.differences:
        assert again[one.run, one.measure].to_dict() == one.to_dict()


@pytest.mark.parametrize("correction", ["holm", "tukey"])
def test_exchanged_runs_change_the_sign_and_nothing_else(correction):
    judgments, runs = collection()
    there = gf.compare(judgments, {name: runs[name] for name in PAIR}, correction=correction)
    back = gf.compare(judgments, {name: runs[name] for name in PAIR[::-1]}, correction=correction)
    (one,), (two,) = there.differences, back.differences
    assert (one.difference, one.effect) == (-two.difference, -two.effect)
    assert (one.baseline_mean, one.run_mean) == (two.run_mean, two.baseline_mean)
    assert (one.wins, one.ties, one.losses) == (two.losses, two.ties, two.wins)
    for name in one.tests:
        assert one.tests[name].p == two.tests[name].p
    if correction == "holm":
        assert one.p == two.p
    else:  # other permutations of the same scores
        assert one.p == pytest.approx(two.p, abs=0.03)
    assert one.interval.low == pytest.approx(-two.interval.high, abs=1e-15)
    width = one.intervals["bca"].high - one.intervals["bca"].low
    assert one.intervals["bca"].low == pytest.approx(-two.intervals["bca"].high, abs=0.02 * width)


EXCHANGED = {
    "better": ("worse", normal(0.5)),
    "worse": ("better", normal(-0.5)),
    "inconclusive": ("inconclusive", normal(0.1)),
}


@pytest.mark.parametrize("test", ["t", "randomisation", "wilcoxon", "sign"])
@pytest.mark.parametrize("word", EXCHANGED)
def test_exchanged_runs_exchange_the_verdict(word, test):
    other, differences = EXCHANGED[word]
    tables = moved(differences)
    assert quick(tables, test=test).differences[0].verdict.word == word
    turned = quick(tables, test=test, baseline="new")
    assert turned.differences[0].verdict.word == other


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0]), min_size=4, max_size=14),
    st.randoms(use_true_random=False),
)
def test_any_scores_in_any_order_have_the_same_bits(values, random):
    half = len(values) // 2
    old, new = scores(values[:half], values[half : 2 * half])
    found = gf.comparison.compare_scores({"old": old, "new": new}, resamples=20, margin=0.1)
    order = list(old)
    random.shuffle(order)
    tables = {name: {q: table[q] for q in order} for name, table in (("old", old), ("new", new))}
    assert (
        gf.comparison.compare_scores(tables, resamples=20, margin=0.1).to_json() == found.to_json()
    )
    (one,) = found.differences
    assert one.wins + one.ties + one.losses == one.queries == half
    assert 0 <= one.p <= 1 if half > 1 else one.verdict.word == "inconclusive"
    assert one.interval.low <= one.difference <= one.interval.high


@settings(max_examples=40)
@given(st.floats(1e-6, 1e6), st.floats(-10, 10))
def test_scale_and_shift_of_all_scores_change_no_decision(scale, shift):
    base = np.round(np.random.default_rng(4).random(12), 3)
    run = np.round(base + np.random.default_rng(5).normal(0.02, 0.1, 12), 3)
    found = gf.comparison.compare_scores(
        dict(zip(PAIR, scores(base, run), strict=True)), resamples=20
    )
    columns = scores(base * scale + shift * scale, run * scale + shift * scale)
    again = gf.comparison.compare_scores(dict(zip(PAIR, columns, strict=True)), resamples=20)
    (one,), (two,) = found.differences, again.differences
    assert two.difference == pytest.approx(scale * one.difference, rel=1e-6)
    assert two.tests["t"].p == pytest.approx(one.tests["t"].p, rel=1e-6)
    for name in ("randomisation", "wilcoxon", "sign"):
        assert two.tests[name].p == one.tests[name].p
    assert (two.wins, two.ties, two.losses) == (one.wins, one.ties, one.losses)


CODE = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from generated_runs import collection
    import gainful as gf

    judgments, runs = collection(queries=150)
    kinds = {query: {"kind": query[-1]} for query in judgments}
    for correction in ("holm", "tukey"):
        print(gf.compare(
            judgments, runs, ["nDCG@5", "RR"], correction=correction, interval="bca",
            slices=kinds, resamples=2_000, seed=7,
        ).to_json())
"""


def in_a_process(prefix=(), **variables):
    done = subprocess.run(
        [*prefix, sys.executable, "-c", textwrap.dedent(CODE), os.path.dirname(__file__)],  # noqa: PTH120
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=os.environ | variables,
    )
    return done.stdout


def test_the_same_seed_gives_the_same_bits_on_any_number_of_cores():
    alone = ["taskset", "-c", "0"] if shutil.which("taskset") else []
    found = in_a_process(OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="1")
    assert json.loads(found[: found.index("\n}\n") + 2])["differences"]
    assert found == in_a_process(OPENBLAS_NUM_THREADS="4", PYTHONHASHSEED="2")
    assert found == in_a_process(alone, OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="3")


def test_another_seed_draws_other_resamples():
    judgments, runs = collection()
    one, same, other = (
        gf.compare(judgments, runs, "nDCG@5", seed=seed).differences[0] for seed in (0, 0, 1)
    )
    assert one == same
    assert one.tests["randomisation"].p != other.tests["randomisation"].p
    assert one.intervals["bca"] != other.intervals["bca"]
    assert one.tests["randomisation"].p == pytest.approx(other.tests["randomisation"].p, abs=0.03)
    for name in ("t", "wilcoxon", "sign"):
        assert one.tests[name] == other.tests[name]


def test_nothing_that_is_passed_in_is_modified():
    judgments, runs = collection(queries=9)
    kinds, measures, by = sliced(runs), ["nDCG@5", "nDCG@5", "RR"], ["kind", "judged"]
    frame = pd.DataFrame(rows(runs["other"], "score"))
    before = copy.deepcopy((judgments, runs, kinds, measures, by, frame.to_dict()))
    gf.compare(judgments, {**runs, "frame": frame}, measures, slices=kinds, by=by)
    assert (judgments, runs, kinds, measures, by, frame.to_dict()) == before
    values = gf.evaluate(judgments, runs["old"], "RR")
    bits = values.values.tobytes()
    gf.comparison.compare_scores({"old": values, "new": gf.evaluate(judgments, runs["new"], "RR")})
    assert values.values.tobytes() == bits


def test_a_comparison_goes_through_pickle():
    judgments, runs = collection(queries=9)
    found = gf.compare(judgments, runs, MEASURES, by="judged", progress=lambda *_: None)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert again.to_json() == found.to_json()
    assert again.gate("Δ RR < 0").checked == found.gate("Δ RR < 0").checked
