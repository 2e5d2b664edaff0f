"""Ranks, their intervals and letters: worked by hand, counted from all comparisons, and held to their promise."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gainful as gf
from gainful.analysis.comparison.leaderboard import _How, _ranked
from gainful.analysis.comparison.paired_scores import Paired

TASKS = [f"t{number}" for number in range(8)]
LOW = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2]  # mean 0.15
HIGH = [0.5, 0.6, 0.6, 0.5, 0.5, 0.6, 0.6, 0.5]  # mean 0.55
NEAR = [0.6, 0.5, 0.5, 0.6, 0.6, 0.5, 0.5, 0.7]  # mean 0.5625
THREE = {"low": LOW, "high": HIGH, "near": NEAR}
BY_NAME = {name: dict(zip(TASKS, values, strict=True)) for name, values in THREE.items()}


def board(scores, measure=None, **options):
    return gf.comparison.leaderboard_of_scores(scores, measure, **options)


def rows(found):
    return [
        (each.rank, each.run, each.best_rank, each.worst_rank, each.letters)
        for each in found.places
    ]


def random_scores(seed, queries, means, spread=0.15):
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.2, (queries, 1))
    return shared + rng.normal(0, spread, (queries, len(means))) + np.array(means)


def named(scores):
    return {
        f"r{at}": {f"q{query}": value for query, value in enumerate(column)}
        for at, column in enumerate(scores.T.tolist())
    }


def test_by_hand():
    """low is below the others in all 8 tasks: 2 of the 256 flips are as far, and it is the largest t."""
    found = board(BY_NAME)
    assert rows(found) == [
        (1, "near", 1, 2, "a"),
        (2, "high", 1, 2, "a"),
        (3, "low", 3, 3, "b"),
    ]
    assert found.groups == (("near", "high"), ("low",))
    assert found["near"].value == pytest.approx(0.5625)
    assert found.runs == ("near", "high", "low")
    assert found.together("near", "high")
    assert not found.together("low", "high")
    assert found.p[1, 2] <= 4 / 256
    assert found.queries == 8
    assert found.measure == "value"
    assert "2 runs may be the best; 1 of 2 differences between neighbours are" in found.notes()[0]


def test_the_same_from_every_form(tmp_path):
    frame = pd.DataFrame({"task": TASKS, **THREE})
    path = tmp_path / "board.csv"
    frame.to_csv(path, index=False)
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, values in BY_NAME.items():
        (folder / f"{name}.json").write_text(json.dumps(values))
    expected = rows(board(BY_NAME))
    for form in (
        frame,
        pl.from_pandas(frame),
        frame.rename(columns={"task": "qid"}),
        path,
        str(path),
    ):
        found = board(form, "nDCG@10")
        assert rows(found) == expected
        assert found.measure == "nDCG@10"
    assert board(frame).measure == "score"
    assert rows(board(folder)) == expected
    assert rows(board([folder / f"{name}.json" for name in THREE])) == expected


def test_scores_without_a_name_take_the_name_that_is_passed():
    found = board(BY_NAME, "nDCG@10")
    assert found.measure == "nDCG@10"
    assert rows(found) == rows(board(BY_NAME))
    assert board(BY_NAME, "success rate").measure == "success rate"
    named = {
        name: {task: {"RR": value} for task, value in own.items()} for name, own in BY_NAME.items()
    }
    with pytest.raises(gf.errors.InputError, match="a column of AP"):
        board(named, "AP")


def test_tables_of_each_run_name_their_tasks_as_a_board_does(tmp_path):
    frames = {name: pd.DataFrame({"task": TASKS, "score": THREE[name]}) for name in THREE}
    assert rows(board(frames)) == rows(board(BY_NAME))
    for key in ("dataset", "benchmark", "task_name", "qid"):
        for name, frame in frames.items():
            frame.rename(columns={"task": key}).to_csv(tmp_path / f"{name}.csv", index=False)
        assert rows(board([tmp_path / f"{name}.csv" for name in THREE])) == rows(board(BY_NAME))
    # Where there are queries, a task is a column like others.
    both = {n: frame.assign(qid=[f"q{at}" for at in range(8)]) for n, frame in frames.items()}
    assert rows(board(both)) == rows(board(BY_NAME))


def test_a_run_without_a_name_is_not_passed_over(tmp_path):
    path = tmp_path / "board.csv"
    for header in ("task,low,,near", "task,,high,near", ",low,task,near"):
        body = zip(TASKS, LOW, HIGH, NEAR, strict=True)
        if header.startswith(","):
            body = ((low, high, task, near) for task, low, high, near in body)
        path.write_text("\n".join([header, *(",".join(map(str, row)) for row in body)]))
        with pytest.raises(gf.errors.InputError, match="found a column without a name"):
            board(path)
    pd.DataFrame({"task": TASKS, **THREE}).to_csv(path)  # with the numbers of rows
    with pytest.warns(gf.errors.GainfulWarning, match="contains row numbers; it is ignored"):
        assert rows(board(path)) == rows(board(BY_NAME))


def test_runs_give_what_their_scores_give(tmp_path):
    rng = np.random.default_rng(3)
    docs = [f"d{n}" for n in range(6)]
    judgments = {f"q{n}": {doc: int(rng.integers(0, 4)) for doc in docs} for n in range(20)}
    noise = {"a": 0.2, "b": 1.0, "c": 4.0, "d": 4.5}
    runs = {
        name: {
            query: {doc: grade + float(rng.normal(0, spread)) for doc, grade in judged.items()}
            for query, judged in judgments.items()
        }
        for name, spread in noise.items()
    }
    found = gf.leaderboard(judgments, runs, "nDCG@5", resamples=500)
    scores = gf.evaluate_runs(judgments, runs, "nDCG@5")
    assert {each.run: each.value for each in found.places} == {
        name: each["nDCG@5"] for name, each in scores.items()
    }
    again = board(scores, resamples=500)
    assert rows(again) == rows(found)
    assert found.policy
    assert found.checks.keys() == runs.keys()
    in_dialect = gf.leaderboard(judgments, runs, "ndcg@5", dialect="lightgbm", resamples=99)
    assert in_dialect.measure == "nDCG(gain=exp2, ideal=retrieved)@5"
    assert in_dialect.dialect == "lightgbm"
    assert found["a"].best_rank == 1
    # A saved baseline stands beside runs.
    gf.comparison.save_baseline(scores["c"], tmp_path / "saved.json")
    beside = gf.leaderboard(
        judgments, {**runs, "c": tmp_path / "saved.json"}, "nDCG@5", resamples=500
    )
    assert rows(beside) == rows(found)


@pytest.mark.parametrize("correction", gf.comparison.comparison_choices()["correction"])
def test_intervals_and_letters_follow_from_the_comparisons(correction):
    """What `compare` decides of all pairs is what the board counts."""
    scores = named(random_scores(7, 40, [0.5, 0.5, 0.6, 0.7, 0.72, 0.9]))
    found = board(scores, correction=correction, resamples=400)
    compared = gf.comparison.compare_scores(
        scores, pairs="all", correction=correction, resamples=400
    )
    p = {frozenset((each.baseline, each.run)): each.p for each in compared.differences}
    means = {each.run: each.value for each in found.places}
    for at, one in enumerate(found.places):
        others = [other for other in found.places if other is not one]
        for place, other in enumerate(found.places):
            if other is not one:
                expected = p[frozenset((one.run, other.run))]
                assert found.p[at, place] == pytest.approx(expected, abs=1e-12)
        sure = [other for other in others if p[frozenset((one.run, other.run))] < 0.05]
        above = [other for other in sure if means[other.run] > one.value]
        assert one.best_rank == 1 + len(above)
        assert one.worst_rank == len(means) - (len(sure) - len(above))
        for other in others:
            shared = bool(set(one.letters) & set(other.letters))
            assert shared == (other not in sure) == found.together(one.run, other.run)
    assert 1 < len(found.groups) < 6
    promised = correction not in ("benjamini-hochberg", "none")
    assert ("All true ranks are within" in found.notes()[1]) == promised


def true_ranks_missed(means, trials, correction="max-t-single"):
    """The share of trials where some true rank is outside its interval; ties may have any of their ranks."""
    missed = 0
    for seed in range(trials):
        # As `board` does once it has read the scores, which takes longer.
        scores = random_scores(seed, 25, means)[:, :, None]
        names = tuple(f"r{at}" for at in range(len(means)))
        paired = Paired(names, ("score",), tuple(map(str, range(25))), scores)
        found = _ranked(paired, _How(correction, 0.8, 200, seed, None))
        for each in found.places:
            mean = means[int(each.run[1:])]
            low = 1 + sum(other > mean for other in means)
            high = len(means) - sum(other < mean for other in means)
            if each.best_rank > low or each.worst_rank < high:
                missed += 1
                break
    return missed / trials


@pytest.mark.parametrize("means", [[0.5] * 5, [0.5, 0.5, 0.5, 0.8, 0.8]], ids=["equal", "in parts"])
def test_all_intervals_hold_at_once(means):
    """At 80%, no more than 20% of boards may miss; 3.5 standard errors of 400 trials are 0.07."""
    assert true_ranks_missed(means, 400) <= 0.2 + 0.07


def test_without_a_correction_they_do_not_hold():
    """The test above can fail: 10 comparisons at 80% each find something most of the time."""
    assert true_ranks_missed([0.5] * 5, 60, correction="none") > 0.5


def test_equal_means_share_a_rank():
    found = board({"one": BY_NAME["low"], "two": BY_NAME["low"], "best": BY_NAME["high"]})
    assert [(each.rank, each.run) for each in found.places] == [(1, "best"), (2, "one"), (2, "two")]
    assert found.p[1, 2] == 1


def test_few_queries_cannot_tell():
    found = board({"one": {"q1": 0.1, "q2": 0.2}, "two": {"q1": 0.8, "q2": 0.9}})
    assert rows(found) == [(1, "two", 1, 2, "a"), (2, "one", 1, 2, "a")]
    assert any(note.startswith("With so few queries, ") for note in found.notes())
    alone = board({"one": {"q1": 0.1}, "two": {"q1": 0.8}}, correction="holm")
    assert alone.groups == (("two", "one"),)


def test_queries_that_a_run_lacks_are_left_out_and_told():
    part = {task: value for task, value in BY_NAME["high"].items() if task != "t3"}
    found = board({**BY_NAME, "high": part})
    assert found.left_out == ("t3",)
    assert found.queries == 7
    assert "1 query left out, because some run has no value" in found.notes()
    frame = pd.DataFrame({"task": TASKS, **THREE})
    frame.loc[3, "high"] = math.nan
    assert board(frame).left_out == ("t3",)
    assert "1 task left out, because some run has no value" in board(frame).notes()


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("task", "task"),
        ("Task Name", "task"),
        ("dataset", "dataset"),
        ("benchmark", "benchmark"),
        ("qid", "query"),
    ],
)
def test_a_board_says_what_its_rows_are(tmp_path, key, unit):
    frame = pd.DataFrame({key: TASKS, **THREE})
    frame.to_csv(tmp_path / "board.csv", index=False)
    frame.to_parquet(tmp_path / "board.parquet")
    each = {name: frame[[key, name]].rename(columns={name: "score"}) for name in THREE}
    more = "queries" if unit == "query" else f"{unit}s"
    for form in (frame, tmp_path / "board.csv", tmp_path / "board.parquet", each):
        found = board(form)
        assert (found.unit, found.to_dict()["unit"]) == (unit, unit)
        assert any(note.startswith(f"3 pairs compared over 8 {more}:") for note in found.notes())
        assert f"8 {more}." in found.notes()
    few = board(frame[:2])
    assert any(note.startswith(f"With so few {more}, ") for note in few.notes())


def test_a_board_whose_tables_differ_in_what_their_rows_are_says_queries():
    kinds = dict(zip(THREE, ("task", "dataset", "task"), strict=True))
    frames = {n: pd.DataFrame({kinds[n]: TASKS, "score": THREE[n]}) for n in THREE}
    assert board(frames).unit == board(BY_NAME).unit == "query"


def test_many_runs_are_told_of_where_they_lack_queries():
    scores = {f"r{n}": dict(BY_NAME["low"]) for n in range(20)}
    del scores["r4"]["t0"]
    told = [note for note in board(scores, resamples=9).notes() if "returned nothing" in note]
    assert told == ["r4: 1 of 8 queries returned nothing."]


def test_the_result():
    found = board(BY_NAME)
    assert found == board(BY_NAME)
    assert found != board(BY_NAME, seed=1)
    frame = found.to_pandas()
    assert list(frame) == ["rank", "run", "value", "best rank", "worst rank", "letters"]
    assert frame["letters"].tolist() == ["a", "a", "b"]
    document = json.loads(found.to_json())
    assert document["places"][2] == {
        "rank": 3, "run": "low", "value": pytest.approx(0.15), "best_rank": 3, "worst_rank": 3, "letters": "b"
    }  # fmt: skip
    assert document["groups"] == [["near", "high"], ["low"]]
    assert "near" in str(found)
    before = json.dumps(BY_NAME)
    board(BY_NAME)
    assert json.dumps(BY_NAME) == before


@pytest.mark.parametrize(
    ("scores", "options", "told"),
    [
        ({"one": BY_NAME["low"]}, {}, "at least 2 runs to compare"),
        (BY_NAME, {"correction": "holms"}, "correction: expected one of its choices"),
        (BY_NAME, {"level": 1}, "level: expected a number above 0 and below 1"),
        (BY_NAME, {"resamples": 0}, "resamples: expected a whole number from 1"),
        ({"a": {"q": {"AP": 1, "P": 1}}, "b": {"q": {"AP": 1, "P": 0}}}, {}, "measure: expected one measure to rank by, found AP, P"),
        ({"one": {"q1": 1.0}, "two": {"q2": 1.0}}, {}, "at least one query with a value of value in all"),
        (pd.DataFrame({"task": TASKS, **THREE, "kind": ["x"] * 8}), {}, "kind"),
        (pd.DataFrame(THREE), {}, "query"),
        (pd.DataFrame(THREE, index=TASKS), {}, r"rename_axis\("),
        (pd.DataFrame(), {}, "scores: expected a column for each run, found a table without columns"),
        (pl.DataFrame(), {}, "scores: expected a column for each run, found a table without columns"),
        ([{"task": "t1", "a": "NA", "b": 1}, {"task": "t2", "a": 2, "b": 3}], {}, "found 'NA'. If a run has no score, leave"),
        (3, {}, "scores"),
    ],
)  # fmt: skip
def test_refusals(scores, options, told):
    with pytest.raises(gf.errors.InputError, match=told):
        board(scores, **options)


def test_ranks_of_the_smallest_numbers_lie_within_their_intervals():
    """Both means are 2 units: 1.5 and 2.5 round to an even number."""
    unit = 5e-324
    more = {task: unit * (2 + at % 2) for at, task in enumerate(TASKS)}
    less = {task: unit * (1 + at % 2) for at, task in enumerate(TASKS)}
    for given in ({"more": more, "less": less}, {"less": less, "more": more}):
        assert rows(board(given)) == [(1, "more", 1, 1, "a"), (2, "less", 2, 2, "b")]


def test_a_narrow_screen_names_the_run_in_every_part():
    *_, second = gf.writing.render(board(BY_NAME), width=40).split("\n\n")[:2]
    assert second.splitlines()[0].split()[:2] == ["rank", "run"]
    assert second.splitlines()[2].split()[:2] == ["1", "near"]


def test_an_unknown_run():
    found = board(BY_NAME)
    for ask in (lambda: found["hihg"], lambda: found.together("near", "hihg")):
        with pytest.raises(gf.errors.InputError, match="Did you mean 'high'"):
            ask()
    with pytest.raises(gf.errors.InputError, match="geometric mean"):
        gf.leaderboard({"q": {"a": 1}}, {"x": {"q": {"a": 1}}, "y": {"q": {"a": 1}}}, "GMAP")
