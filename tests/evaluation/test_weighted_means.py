"""`weights`, `clusters`, `strata` and `population` in `evaluate`, in every form that they take."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gainful as gf
from gainful.errors import InputError

JUDGMENTS = {f"u{i // 3}_q{i}": {"a": 1, "b": 2} for i in range(36)}
RUN = {query: {"a": 3.0 - (i % 3), "b": 1.5, "c": 2.5 - i % 2} for i, query in enumerate(JUDGMENTS)}
WEIGHTS = {query: 1 + i % 5 for i, query in enumerate(JUDGMENTS)}
USERS = {query: query.partition("_")[0] for query in JUDGMENTS}
PLAIN = gf.evaluate(JUDGMENTS, RUN, ["nDCG@2", "P@1"])


def values(measure: str) -> dict[str, float]:
    return dict(zip(PLAIN.queries, PLAIN.counted_values(measure).tolist(), strict=True))


def test_the_mean_is_the_weighted_mean() -> None:
    scores = gf.evaluate(JUDGMENTS, RUN, ["nDCG@2", "P@1"], weights=WEIGHTS)
    for measure in ("nDCG@2", "P@1"):
        by_query = values(measure)
        total = sum(WEIGHTS.values())
        expected = math.fsum(WEIGHTS[q] * by_query[q] for q in by_query) / total
        assert scores[measure] == pytest.approx(expected, abs=1e-15)
        assert scores[measure] != PLAIN[measure]


def test_a_query_counts_as_often_as_its_weight_says() -> None:
    """Whole weights equal copies of the queries; only how sure the mean is differs."""
    copies = {f"{q}#{n}": d for q, d in JUDGMENTS.items() for n in range(WEIGHTS[q])}
    run = {copy: RUN[copy.partition("#")[0]] for copy in copies}
    scores = gf.evaluate(JUDGMENTS, RUN, "nDCG@2", weights=WEIGHTS)
    copied = gf.evaluate(copies, run, "nDCG@2", clusters="id:#")
    assert scores["nDCG@2"] == pytest.approx(copied["nDCG@2"], abs=1e-15)
    one, other = scores.interval(), copied.interval()
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


def test_equal_weights_change_no_bit() -> None:
    scores = gf.evaluate(JUDGMENTS, RUN, ["nDCG@2", "P@1"], weights=dict.fromkeys(JUDGMENTS, 7))
    assert scores.means == PLAIN.means
    assert scores.interval("P@1") == PLAIN.interval("P@1")
    assert scores.signature("P@1") == PLAIN.signature("P@1")


def a_dict(_: Path) -> object:
    return WEIGHTS


def records(_: Path) -> object:
    return [{"query": query, "traffic": weight} for query, weight in WEIGHTS.items()]


def a_csv_file(folder: Path) -> object:
    path = folder / "weights.csv"
    path.write_text("query_id,weight\n" + "".join(f"{q},{w}\n" for q, w in WEIGHTS.items()))
    return str(path)


def a_frame(_: Path) -> object:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"qid": [*WEIGHTS], "weight": [*WEIGHTS.values()], "note": "x"})


@pytest.mark.parametrize("form", [a_dict, records, a_csv_file, a_frame])
def test_weights_come_in_every_form_of_a_table(
    form: Callable[[Path], object], tmp_path: Path
) -> None:
    scores = gf.evaluate(JUDGMENTS, RUN, "P@1", weights=form(tmp_path))  # type: ignore[arg-type]
    assert scores["P@1"] == gf.evaluate(JUDGMENTS, RUN, "P@1", weights=WEIGHTS)["P@1"]


def test_a_column_of_the_slices_can_be_named_and_is_no_slice() -> None:
    table = {
        query: {"traffic": WEIGHTS[query], "user": USERS[query], "long": i % 2}
        for i, query in enumerate(JUDGMENTS)
    }
    scores = gf.evaluate(JUDGMENTS, RUN, "P@1", slices=table, weights="traffic", clusters="user")
    assert {part.column for part in scores.slices} == {"long"}
    assert scores["P@1"] == gf.evaluate(JUDGMENTS, RUN, "P@1", weights=WEIGHTS)["P@1"]
    for part in scores.slices:
        chosen = [q for i, q in enumerate(JUDGMENTS) if str(i % 2) == part.value]
        by_query = values("P@1")
        expected = sum(WEIGHTS[q] * by_query[q] for q in chosen) / sum(WEIGHTS[q] for q in chosen)
        assert part.mean == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("clusters", [USERS, "id:_", lambda query: query.partition("_")[0]])
def test_clusters_widen_the_interval_and_leave_the_mean(clusters: object) -> None:
    scores = gf.evaluate(JUDGMENTS, RUN, "P@1", clusters=clusters)  # type: ignore[arg-type]
    assert scores["P@1"] == PLAIN["P@1"]
    assert scores.counted_sampling("P@1").units(36) == 12  # type: ignore[union-attr]
    assert scores.interval("P@1") != PLAIN.interval("P@1")
    assert any("36 queries in 12 clusters" in note for note in scores.table().notes)


def test_a_sample_of_strata_is_weighted_by_the_population() -> None:
    stratum = {query: "head" if i < 30 else "tail" for i, query in enumerate(JUDGMENTS)}
    population = {"head": 100, "tail": 900}
    scores = gf.evaluate(JUDGMENTS, RUN, "nDCG@2", strata=stratum, population=population)
    by_query = values("nDCG@2")
    means = {
        part: np.mean([by_query[q] for q in JUDGMENTS if stratum[q] == part]) for part in population
    }
    assert scores["nDCG@2"] == pytest.approx(0.1 * means["head"] + 0.9 * means["tail"])


def test_sums_and_values_of_a_whole_run_have_no_weights() -> None:
    asked = ["NumRet", "nDCG@2"]
    scores = gf.evaluate(JUDGMENTS, RUN, asked, weights=WEIGHTS)
    assert scores["NumRet"] == gf.evaluate(JUDGMENTS, RUN, asked)["NumRet"]


def test_the_signature_and_the_written_mean_name_the_weights(tmp_path: Path) -> None:
    scores = gf.evaluate(JUDGMENTS, RUN, "P@1", weights=WEIGHTS, clusters=USERS)
    signature = scores.signature("P@1")
    assert " weights=" in signature
    assert " clusters=" in signature
    other = gf.evaluate(JUDGMENTS, RUN, "P@1", weights={**WEIGHTS, "u0_q0": 9}, clusters=USERS)
    assert other.signature("P@1") != signature
    scores.write(tmp_path / "means.json", per_query=False)
    assert json.loads((tmp_path / "means.json").read_text())[0]["mean"] == scores["P@1"]


WRONG: dict[str, tuple[dict[str, object], str]] = {
    "a query without weight": (
        {"weights": {"u0_q0": 1}},
        "weights: expected a weight for every query, found none for 35 queries: 'u0_q1'",
    ),
    "a negative weight": ({"weights": {**WEIGHTS, "u0_q0": -1}}, "a non-negative weight, found -1"),
    "no weight": ({"weights": {**WEIGHTS, "u0_q0": math.nan}}, "a non-negative weight, found none"),
    "a weight that is too large": (
        {"weights": {**WEIGHTS, "u0_q0": 1e300}},
        "a weight from 0 to 1e+100, found 1e+300",
    ),
    "a column without a table": (
        {"weights": "traffic"},
        "weights: expected a file, or the name of a column of slices, found 'traffic'. For a column, also",
    ),
    "another column": (
        {"clusters": "usr", "slices": {q: {"user": "a", "part": 1} for q in JUDGMENTS}},
        "a column of slices: user, part, found 'usr'. Did you mean 'user'?",
    ),
    "only zeros": ({"weights": dict.fromkeys(JUDGMENTS, 0)}, "a weight above 0 among the queries"),
    "text": ({"weights": {**WEIGHTS, "u0_q0": "much"}}, "u0_q0"),
    "a query without cluster": ({"clusters": {"u0_q0": "u0"}}, "a cluster for every query"),
    "a population without strata": ({"population": {"a": 1}}, "strata=… with it, found no strata"),
    "a stratum without population": (
        {"strata": USERS, "population": {"u0": 5}},
        "population: expected every stratum, found none for 11 strata: 'u1'",
    ),
    "weights and a population": (
        {"strata": USERS, "population": {"u0": 5}, "weights": WEIGHTS},
        "weights or a population, not both",
    ),
    "several columns": (
        {"weights": {q: {"a": 1, "b": 2} for q in JUDGMENTS}},
        "one column besides the query, or one named weight, found 2: a, b",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_samples_are_rejected_with_a_remedy(case: str) -> None:
    options, message = WRONG[case]
    with pytest.raises(InputError) as problem:
        gf.evaluate(JUDGMENTS, RUN, "P@1", **options)  # type: ignore[arg-type]
    assert message in str(problem.value)
