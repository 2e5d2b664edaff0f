"""The worst and the best queries of one run and of several."""

import math

import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 0}}
ONE = {"q1": ["b", "a"], "q2": ["a"], "q3": ["b", "c", "a"], "q4": ["a"]}
TWO = {"q1": ["a"], "q2": ["b", "a"], "q4": ["b"]}


def test_the_lowest_come_first_and_equal_ones_in_their_order():
    rows = gf.evaluate(JUDGMENTS, ONE, ["RR", "P@1"]).per_query
    assert rows["RR"] == [0.5, 1.0, 1 / 3, 0.0]
    assert rows.worst(3).queries == ("q4", "q3", "q1")
    assert rows.worst(2, measure="P@1").queries == ("q1", "q3")
    assert rows.best(2).queries == ("q2", "q1")
    assert rows.ends(worst=1, best=1).to_dict() == {
        "q4": {"RR": 0.0, "P@1": 0.0},
        "q2": {"RR": 1.0, "P@1": 1.0},
    }


def test_no_query_is_named_twice_however_many_are_asked_for():
    rows = gf.evaluate(JUDGMENTS, ONE, "RR").per_query
    assert rows.ends(worst=3, best=9).queries == ("q4", "q3", "q1", "q2")
    assert len(rows.ends()) == 0


@pytest.mark.parametrize(("empty", "worst"), [("skip", "q3"), ("zero", "q4")])
def test_queries_that_do_not_count_are_no_ends(empty, worst):
    policy = {"empty": empty}
    rows = gf.evaluate(JUDGMENTS, ONE, ["nDCG", "P@1"], policy=policy).per_query
    assert rows.worst(1).queries == (worst,)


def test_what_is_no_number_is_neither_worst_nor_best():
    rows = gf.evaluate(JUDGMENTS, ONE, "nDCG", policy={"empty": "nan"}).per_query
    assert rows.worst(1).queries == ("q3",)
    assert rows.best(1).queries == ("q2",)
    assert math.isnan(rows.worst(4)["nDCG"][-1])


def test_each_run_has_its_own_ends():
    found = gf.evaluate_runs(JUDGMENTS, {"one": ONE, "two": TWO}, ["RR", "P@1"]).per_query
    assert found.columns == ("run", "query", "RR", "P@1")
    assert len(found) == 8
    rows = [(row["run"], row["query"], row["RR"]) for row in found.ends(worst=1, best=1)]
    assert rows == [("one", "q4", 0.0), ("one", "q2", 1.0), ("two", "q3", 0.0), ("two", "q1", 1.0)]
    assert found.to_dict()["two"]["q2"] == {"RR": 0.5, "P@1": 0.0}


def test_a_measure_that_is_not_there_is_refused():
    rows = gf.evaluate(JUDGMENTS, ONE, "RR").per_query
    for measure in ("AP", "query"):
        with pytest.raises(gf.errors.InputError):
            rows.worst(1, measure=measure)
    with pytest.raises(gf.errors.InputError, match="worst: expected a non-negative integer"):
        rows.worst(-1)


def test_the_command_prints_them(tmp_path, cli):
    gf.write_judgments(JUDGMENTS, tmp_path / "judged.qrels")
    for name, run in (("one", ONE), ("two", TWO)):
        gf.write_run(run, tmp_path / f"{name}.run")
    files = [tmp_path / name for name in ("judged.qrels", "one.run", "two.run")]
    done = cli("evaluate", *files, "-m", "RR", "--worst", "1", "--best", "1", "--format", "csv")
    rows = ["run,query,RR", "one,q4,0.0", "one,q2,1.0", "two,q3,0.0", "two,q1,1.0"]
    assert done.stdout.splitlines() == rows
    assert "one: 4 queries." in done.stderr
    table = cli("evaluate", *files, "-m", "RR", "--worst", "1").stdout
    assert table.startswith("Queries with the lowest RR\n")
    for more in (
        ["--per-query"],
        ["--interval"],
        ["--by", "judged"],
        ["--bounds", "--grades", "0,1"],
    ):
        refused = cli("evaluate", *files, "--worst", "1", *more)
        assert refused.returncode == 2
        assert "--worst" in refused.stderr
