"""Comparisons that estimate differences as if every document were judged."""

import json

import pytest

import gainful as gf
from simulated_unjudged import MEASURE, simulated, true_values


@pytest.fixture(scope="module")
def world():
    return simulated(40, "unjudged are worse", 3)


@pytest.fixture(scope="module")
def compared(world):
    return gf.compare(world.judgments, world.runs, [MEASURE, "P@5"], estimate="bootstrap")


def test_a_comparison_has_the_estimates_of_bounds(world, compared):
    for row in compared.unjudged:
        bound = gf.bounds(
            world.judgments,
            world.runs["new"],
            row.measure,
            against=world.runs["old"],
            estimate="bootstrap",
        )[row.measure]
        inside = bound.estimate
        assert (row.difference, row.lowest, row.highest) == (bound.value, bound.low, bound.high)
        assert (row.estimate, row.low, row.high) == (
            inside.value,
            inside.low_of_others,
            inside.high_of_others,
        )
        assert row.word == (
            "better" if row.low > 0 else "worse" if row.high < 0 else "inconclusive"
        )
    assert [row.measure for row in compared.unjudged] == [MEASURE, "P@5"]


def test_the_estimate_is_near_the_truth_when_documents_are_judged_at_random():
    world = simulated(60, "at random", 5)
    (row,) = gf.compare(world.judgments, world.runs, MEASURE, estimate="bootstrap").unjudged
    assert row.low <= true_values(world)["new − old"] <= row.high


def test_numbers_of_the_comparison_stay_as_without_an_estimate(world, compared):
    plain = gf.compare(world.judgments, world.runs, [MEASURE, "P@5"])
    for one, other in zip(plain.differences, compared.differences, strict=True):
        assert (one.difference, one.interval, one.p) == (other.difference, other.interval, other.p)
    assert plain.unjudged == ()
    assert plain.bounds is None


def test_tables_and_json_contain_the_estimates(compared):
    assert "If every document down to the cutoff were judged" in str(compared)
    assert "judged documents at similar ranks" in " ".join(str(compared).split())
    rows = json.loads(compared.to_json())["unjudged"]
    assert [row["estimate"] for row in rows] == [row.estimate for row in compared.unjudged]
    assert len(compared.unjudged_table().rows) == 2
    assert "would be about" in str(compared.unjudged[0])


def test_a_report_shows_bounds_and_estimates(world, compared):
    page = gf.report(world.judgments, world.runs, MEASURE, estimate="bootstrap").payload()
    section = page["coverage"]
    assert section["columns"][-5:] == [
        f"{MEASURE} at least",
        f"{MEASURE} at most",
        "estimate",
        "95% low",
        "95% high",
    ]
    own = gf.bounds(world.judgments, world.runs["new"], MEASURE, estimate="bootstrap")[MEASURE]
    inside = own.estimate
    expected = [own.low, own.high, inside.value, inside.low, inside.high]
    assert section["rows"][1][-5:] == pytest.approx(expected)
    assert str(compared.unjudged[0]) in section["notes"]
    single = gf.report(world.judgments, {"new": world.runs["new"]}, MEASURE, estimate="bootstrap")
    assert single.payload()["coverage"]["rows"][0][-5:] == pytest.approx(expected)


def test_a_weighted_comparison_has_weighted_estimates(world):
    weights = {query: 1.0 + at % 4 for at, query in enumerate(world.truth)}
    options = {"estimate": "bootstrap", "weights": weights}
    compared = gf.compare(world.judgments, world.runs, MEASURE, **options)
    (row,) = compared.unjudged
    bounds = gf.judging.bounds_of_runs(world.judgments, world.runs, MEASURE, **options)
    bound = bounds.differences["new − old"][MEASURE]
    inside = bound.estimate
    assert (row.difference, row.lowest, row.highest) == (bound.value, bound.low, bound.high)
    assert (row.estimate, row.low, row.high) == (
        inside.value, inside.low_of_others, inside.high_of_others,
    )  # fmt: skip
    assert row.difference == pytest.approx(compared.differences[0].difference)
    page = gf.report(world.judgments, world.runs, MEASURE, **options).payload()
    for drawn, (name, own) in zip(page["coverage"]["bounds"], bounds.runs.items(), strict=True):
        found = own[MEASURE]
        assert drawn == {
            "run": name, "value": found.value, "lowest": found.low, "highest": found.high,
            "estimate": found.estimate.value, "low": found.estimate.low, "high": found.estimate.high,
        }  # fmt: skip
    mean = page["runs"][1]["means"][0]
    assert mean == pytest.approx(page["coverage"]["bounds"][1]["value"])


def test_bounds_in_a_report_follow_weights_and_possible_grades(world):
    weights = {query: 1.0 + at % 4 for at, query in enumerate(world.truth)}
    page = gf.report(world.judgments, world.runs, MEASURE, weights=weights).payload()
    own = gf.bounds(world.judgments, world.runs["new"], MEASURE, weights=weights)[MEASURE]
    drawn = page["coverage"]["bounds"][1]
    assert (drawn["lowest"], drawn["highest"]) == pytest.approx((own.low, own.high))
    assert drawn["estimate"] is None


def test_an_estimate_needs_input_that_allows_it(world):
    for message, options in (
        ("nDCG, DCG, CG or P with a cutoff", {"measures": "AP"}),
        ("independent queries.*Weights alone", {"clusters": dict.fromkeys(world.truth, "one")}),
        ("policy unjudged: expected zero", {"policy": {"unjudged": "condense"}}),
        ("estimate=… with random_sample", {"estimate": None, "random_sample": world.truth}),
    ):
        with pytest.raises(gf.errors.GainfulError, match=message):
            gf.compare(
                world.judgments,
                world.runs,
                **{"measures": MEASURE, "estimate": "bootstrap"} | options,
            )


def test_a_margin_makes_an_estimated_difference_equivalent(world):
    run = world.runs["new"]
    same = {"one": run, "two": {query: dict(docs) for query, docs in run.items()}}
    (row,) = gf.compare(world.judgments, same, MEASURE, estimate="bootstrap", margin=0.01).unjudged
    assert (row.estimate, row.word) == (0, "equivalent")


def test_the_command_line_compares_with_an_estimate(world, cli, tmp_path):
    for name, content in {
        "judgments": world.judgments,
        **world.runs,
        "sample": world.truth,
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    paths = [str(tmp_path / f"{name}.json") for name in ("judgments", "old", "new")]
    done = cli("compare", *paths, "-m", "nDCG@10", "--estimate", "bootstrap", "-f", "json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["unjudged"]
    (expected,) = gf.compare(
        *paths[:1], {"old": paths[1], "new": paths[2]}, MEASURE, estimate="bootstrap"
    ).unjudged
    assert row["estimate"] == expected.estimate
    failed = cli("compare", *paths, "--random-sample", paths[0])
    assert failed.returncode == 2
    assert "--random-sample requires --estimate" in failed.stderr
