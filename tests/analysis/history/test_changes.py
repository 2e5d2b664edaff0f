"""Changes between entries: worked by hand, corrected for every look, and attributed to run or judgments."""

import math

import numpy as np
import pytest

import gainful as gf
from gainful.analysis.history.changes import changes_of

QUERIES = [f"q{at:02}" for at in range(40)]


def evaluated(ranks, judgments=None, measures="RR", **options):
    """Return the scores of a run whose relevant document is at these ranks."""
    run = {
        query: {f"d{at}": -at for at in range(1, 10)} | {"good": 0.5 - rank}
        for query, rank in zip(QUERIES, ranks, strict=False)
    }
    judged = judgments or {query: {"good": 1} for query in run}
    return gf.evaluate(judged, run, measures, **options)


def history_of(path, *many, **options):
    for scores in many:
        gf.history.add(path, scores, **options)
    return gf.history.read(path)


def test_a_change_worked_by_hand(tmp_path):
    """30 of 40 queries rise from 1/2 to 1: the mean by 15/40, and t = d/(s/√n) by its definition."""
    history = history_of(tmp_path / "h", evaluated([2] * 40), evaluated([1] * 30 + [2] * 10))
    (change,) = history.changes()
    assert (change.measure, change.cause, change.queries, change.changed) == ("RR", "run", 40, 30)
    assert change.difference == pytest.approx(15 / 40)
    assert (change.before, change.place) == (history[0].title, 1)
    assert change.low < 15 / 40 < change.high
    differences = np.array([0.5] * 30 + [0.0] * 10)
    t = differences.mean() / (differences.std(ddof=1) / math.sqrt(40))
    assert t > 10
    # One look, one measure: 1/(1 · 2) of the level. The t test's p is 5e-14, the sign flips' least 2^−29.
    assert change.p == pytest.approx(2 * 2.0**-29)
    assert {moved.query for moved in change.moved} <= {*QUERIES[:30]}
    assert all((moved.baseline, moved.run) == (0.5, 1.0) for moved in change.moved)


def test_the_bound_that_saves_time_changes_nothing(tmp_path, monkeypatch):
    """Shifts of every size, some of them just real and some just not."""
    draw = np.random.default_rng(8)
    many = [evaluated(np.clip(draw.integers(1, 9, 40) - shift, 1, 9).tolist(), measures=["RR", "P@3"]) for shift in (0, 1, 0, 2, 1, 3, 0, 4, 4, 2, 0, 5, 1, 0)]  # fmt: skip
    history = history_of(tmp_path / "h", *many)
    quick = [history.changes(level).to_dict() for level in (0.5, 0.95, 0.999)]
    monkeypatch.setattr("gainful.analysis.history.changes._may_be_below", lambda *_: True)
    assert [history.changes(level).to_dict() for level in (0.5, 0.95, 0.999)] == quick
    counts = [len(one["rows"]) for one in quick]
    assert counts[0] > counts[2] > 0


def test_equal_entries_are_no_look(tmp_path):
    same, other = evaluated([2] * 40), evaluated([1] * 30 + [2] * 10)
    changes = history_of(tmp_path / "h", same, same, same, other).changes()
    assert changes.looks == 1
    assert changes[0].p == pytest.approx(2 * 2.0**-29)


def test_each_look_gets_its_part_of_the_level(tmp_path):
    first, second = evaluated([2] * 40), evaluated([1] * 12 + [2] * 28)
    changes = history_of(tmp_path / "h", *[first, second] * 4).changes(0.5)
    least = 2.0 ** (1 - 12)
    single = gf.comparison.compare_scores({"a": first, "b": second}).differences[0].p
    assert changes.looks == 7
    expected = [max(single, least) * look * (look + 1) for look in range(1, 8)]
    assert [change.p for change in changes] == pytest.approx([p for p in expected if p < 0.5])


def test_measures_share_a_look(tmp_path):
    both = [evaluated(ranks, measures=["RR", "P@1"]) for ranks in ([2] * 40, [1] * 30 + [2] * 10)]
    changes = history_of(tmp_path / "h", *both).changes()
    assert [change.measure for change in changes] == ["RR", "P@1"]
    assert all(change.p == pytest.approx(2 * 2 * 2.0**-29) for change in changes)


def test_two_or_three_queries_never_make_a_change(tmp_path):
    """Nearly the same difference in every query has a tiny p by the t test, but three signs may be chance."""
    history = history_of(tmp_path / "h", evaluated([9, 9, 8]), evaluated([1, 1, 1]))
    assert not history.changes()
    assert history.changes().looks == 1


def test_no_false_change_in_most_histories_of_noise(tmp_path):
    draw = np.random.default_rng(5)
    false = 0
    for number in range(40):
        path = tmp_path / f"{number}.history"
        entries = [evaluated(draw.integers(1, 10, 40).tolist()) for _ in range(6)]
        false += bool(history_of(path, *entries).changes())
    assert false <= 6  # 2 expected at most; more than 6 with a probability of 0.5%


def test_weights_and_clusters_count(tmp_path):
    ranks = [2] * 40, [1] * 20 + [2] * 20
    weights = {query: 0.0 if at < 20 else 1.0 for at, query in enumerate(QUERIES)}
    history = history_of(tmp_path / "w", *(evaluated(each, weights=weights) for each in ranks))
    assert [entry.means["RR"] for entry in history] == [0.5, 0.5]
    assert not history.changes()
    clusters = {query: str(at // 20) for at, query in enumerate(QUERIES)}
    history = history_of(tmp_path / "c", *(evaluated(each, clusters=clusters) for each in ranks))
    assert not history.changes()
    assert history_of(tmp_path / "n", *map(evaluated, ranks)).changes()


JUDGED = {query: {"good": 1} for query in QUERIES}
STRICTER = {query: {"good": 1, "missed": 1} for query in QUERIES}


def test_a_jump_from_judgments_is_told_from_one_of_the_run(tmp_path):
    """AP of one relevant document at rank 2 is 1/2; with another that is never returned, 1/4."""
    old, new = [2] * 40, [1] * 20 + [2] * 20
    before = evaluated(old, JUDGED, "AP")
    again, after = (evaluated(ranks, STRICTER, "AP") for ranks in (old, new))
    path = tmp_path / "h"
    gf.history.add(path, before, label="may")
    gf.history.add(path, after, label="june", again=again)
    judgments, run = gf.history.read(path).changes()
    assert (judgments.cause, judgments.difference) == ("judgments", pytest.approx(-0.25))
    assert (run.cause, run.difference) == ("run", pytest.approx(0.125))


def test_without_the_old_run_a_jump_is_not_attributed(tmp_path):
    before, after = (
        evaluated([2] * 40, JUDGED, "AP"),
        evaluated([1] * 30 + [2] * 10, STRICTER, "AP"),
    )
    (change,) = history_of(tmp_path / "h", before, after).changes()
    assert change.cause == "run or judgments"
    assert "can't be attributed" in str(history_of(tmp_path / "h").changes())


def test_again_must_have_the_same_judgments(tmp_path):
    with pytest.raises(gf.errors.InputError, match="same judgments"):
        gf.history.add(
            tmp_path / "h", evaluated([1] * 40, JUDGED), again=evaluated([1] * 40, STRICTER)
        )


def test_another_policy_is_named(tmp_path):
    before = evaluated([2] * 40)
    after = evaluated([1] * 40, policy={"missing": "skip"})
    (change,) = history_of(tmp_path / "h", before, after).changes()
    assert change.cause == "policy"


def test_other_queries_leave_the_shared_ones(tmp_path):
    history = history_of(tmp_path / "h", evaluated([2] * 40), evaluated([1] * 30))
    (change,) = history.changes()
    assert (change.queries, change.cause) == (30, "run or judgments")
    assert change.difference == 0.5


def test_runs_are_separate_and_sorted_by_time(tmp_path):
    path = tmp_path / "h"
    for run, day, rank in (("a", 3, 1), ("b", 2, 2), ("a", 1, 2), ("b", 4, 2)):
        gf.history.add(
            path, evaluated([rank] * 40), run=run, time=f"2026-05-0{day}", label=f"{run}{day}"
        )
    history = gf.history.read(path)
    assert [entry.label for entry in history] == ["a1", "b2", "a3", "b4"]
    (change,) = history.changes()
    assert (change.run, change.before, change.after, change.place) == ("a", "a1", "a3", 2)
    assert history["a3"].run == "a"
    assert [entry.label for entry in history.of("b")] == ["b2", "b4"]
    with pytest.raises(gf.errors.InputError, match="'a3'"):
        _ = history["a33"]


@pytest.mark.parametrize("time", ["yesterday", 5, "2026-13-01"])
def test_a_time_must_be_one(tmp_path, time):
    with pytest.raises(gf.errors.InputError, match="time"):
        gf.history.add(tmp_path / "h", evaluated([1] * 12), time=time)


def test_a_history_of_one_entry_has_no_change():
    assert changes_of([], 0.95) == ([], 0)
