"""`compare`: the numbers are those of SciPy and statsmodels on the values that `evaluate` gives."""

import math

import numpy as np
import pytest
from generated_runs import collection, without_nan
from scipy import stats
from statsmodels.stats.multitest import multipletests

import gainful as gf
from gainful.analysis.comparison.paired_scores import Paired

MEASURES = ["nDCG@5", "P@3", "RR"]
STATSMODELS = {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}


def per_query(judgments, run, measure, **options):
    return np.array(gf.evaluate(judgments, run, measure, **options).per_query[measure], np.float64)


@pytest.fixture(scope="module")
def compared():
    judgments, runs = collection()
    found = gf.compare(judgments, runs, MEASURES)
    values = {
        (name, measure): per_query(judgments, run, measure)
        for name, run in runs.items()
        for measure in MEASURES
    }
    return found, values


def test_an_example_worked_by_hand():
    """d = 0, ½, −¼, ¼, ½: mean 1/5; Σ(d − mean)² = 0.425, so sd² = 0.10625."""
    judgments = {f"q{at}": {"a": 1} for at in range(5)}

    def ranked(*ranks):
        return {
            query: {("a" if place == rank else f"x{place}"): -place for place in range(1, 6)}
            for query, rank in zip(judgments, ranks, strict=True)
        }

    runs = {"old": ranked(1, 2, 2, 4, 9), "new": ranked(1, 1, 4, 2, 2)}
    (one,) = gf.compare(judgments, runs, "RR").differences
    assert (one.measure, one.baseline, one.run, one.queries) == ("RR", "old", "new", 5)
    assert (one.baseline_mean, one.run_mean) == (0.45, 0.65)
    assert one.difference == pytest.approx(0.2, abs=1e-15)
    assert one.sd == pytest.approx(math.sqrt(0.10625))
    assert one.effect == pytest.approx(0.2 / math.sqrt(0.10625))
    assert (one.wins, one.ties, one.losses) == (3, 1, 1)
    # t = 0.2 / √(0.10625/5) = 1.37199; the table of t with 4 degrees of freedom has 2.776 for 95%.
    assert one.tests["t"].outcome.statistic == pytest.approx(1.37199, abs=1e-5)
    plain = one.intervals["t"]
    assert plain.high == pytest.approx(0.2 + 2.776445 * math.sqrt(0.02125), abs=1e-6)
    assert plain.low == pytest.approx(0.2 - 2.776445 * math.sqrt(0.02125), abs=1e-6)
    # Σ(d − mean)³ = −0.045, so the long tail is below: the lower end moves out, the upper stays.
    assert one.skewness == pytest.approx(-0.045 / 5 / (0.425 / 5) ** 1.5)
    assert one.interval.note == "too few queries for an interval (5; at least 10 needed)"
    # Of 16 flips of ½, −¼, ¼, ½, six have a sum as far from 0 as 1.
    assert one.tests["randomisation"].p == 6 / 16
    # Ranks 1½, 1½, 3½, 3½: the negative one has 1½, and 3 of 16 sums are no larger.
    assert one.tests["wilcoxon"].p == 6 / 16
    assert one.tests["wilcoxon"].outcome.statistic == 1.5
    assert one.tests["sign"].p == pytest.approx(2 * 5 / 16)  # at most 1 of 4
    assert [each.query for each in one.moved] == ["q1", "q4", "q2", "q3"]
    assert [each.difference for each in one.moved] == [0.5, 0.5, -0.25, 0.25]
    assert one.verdict.word == "inconclusive"


def test_means_and_differences_are_those_of_evaluate(compared):
    found, values = compared
    assert len(found.differences) == 2 * len(MEASURES)
    for one in found.differences:
        base, run = values[one.baseline, one.measure], values[one.run, one.measure]
        assert one.baseline_mean == math.fsum(base) / base.size
        assert one.run_mean == math.fsum(run) / run.size
        assert one.difference == pytest.approx((run - base).mean(), abs=1e-15)
        assert one.sd == pytest.approx((run - base).std(ddof=1), rel=1e-12)
        assert one.effect == pytest.approx(one.difference / one.sd, rel=1e-12)
        apart = np.round(run - base, 12)
        assert (one.wins, one.ties) == ((apart > 0).sum(), (apart == 0).sum())
        assert one.wins + one.ties + one.losses == one.queries == 40
        assert one.difference == pytest.approx(one.run_mean - one.baseline_mean, abs=1e-15)


def test_p_values_are_those_of_scipy(compared):
    found, values = compared
    for one in found.differences:
        base, run = values[one.baseline, one.measure], values[one.run, one.measure]
        apart = np.round(run - base, 12)  # ranks of equal differences are equal
        changed = int((apart != 0).sum())
        assert one.tests["t"].p == pytest.approx(stats.ttest_rel(run, base).pvalue, rel=1e-9)
        assert one.tests["wilcoxon"].p == pytest.approx(stats.wilcoxon(apart).pvalue, rel=1e-9)
        by_signs = stats.binomtest(int((apart > 0).sum()), changed).pvalue
        assert one.tests["sign"].p == pytest.approx(by_signs, rel=1e-9)
        sampled = stats.permutation_test(
            (apart,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1
        ).pvalue
        error = math.sqrt(sampled * (1 - sampled) * (1 / 10_000 + 1 / 20_000))
        assert abs(one.tests["randomisation"].p - sampled) < 4 * error + 2e-4


def test_few_queries_are_flipped_in_all_ways():
    judgments, runs = collection(queries=12)
    (one,) = gf.compare(judgments, {name: runs[name] for name in ("old", "new")}, "DCG").differences
    apart = per_query(judgments, runs["new"], "DCG") - per_query(judgments, runs["old"], "DCG")
    exact = stats.permutation_test(
        (apart,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert one.tests["randomisation"].p == pytest.approx(exact, rel=1e-12)
    assert one.tests["randomisation"].outcome.exact


def test_intervals_are_those_of_scipy(compared):
    found, values = compared
    for one in found.differences:
        apart = values[one.run, one.measure] - values[one.baseline, one.measure]
        low, high = stats.ttest_1samp(apart, 0).confidence_interval(0.95)
        plain = one.intervals["t"]
        assert (plain.low, plain.high) == pytest.approx((low, high), abs=1e-12)
        assert one.interval == one.intervals["hall"]
        wanted = stats.bootstrap(
            (apart,), np.mean, n_resamples=20_000, method="BCa", rng=2
        ).confidence_interval
        ends = one.intervals["bca"]
        width = wanted.high - wanted.low
        assert ends.low == pytest.approx(wanted.low, abs=0.05 * width)
        assert ends.high == pytest.approx(wanted.high, abs=0.05 * width)


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_the_level_and_the_kind_of_the_interval(level):
    judgments, runs = collection()
    found = gf.compare(judgments, runs, "nDCG@5", level=level, interval="bca")
    apart = per_query(judgments, runs["new"], "nDCG@5") - per_query(
        judgments, runs["old"], "nDCG@5"
    )
    one = found["new", "nDCG@5"]
    assert one.interval == one.intervals["bca"]
    low, high = stats.ttest_1samp(apart, 0).confidence_interval(level)
    assert (one.intervals["t"].low, one.intervals["t"].high) == pytest.approx((low, high))
    assert one.interval.level == level
    assert f"{100 * level:g}% low" in found.table().columns


@pytest.mark.parametrize("test", ["t", "randomisation", "wilcoxon", "sign"])
@pytest.mark.parametrize("correction", STATSMODELS)
def test_p_is_corrected_over_runs_times_measures(correction, test):
    judgments, runs = collection()
    options = {"test": test, "resamples": 200}
    found = gf.compare(judgments, runs, MEASURES, correction=correction, **options)
    plain = gf.compare(judgments, runs, MEASURES, correction="none", **options)
    bare = [one.tests[test].p for one in plain.differences]
    assert [one.tests[test].p for one in found.differences] == bare
    wanted = multipletests(bare, method=STATSMODELS[correction])[1]
    assert [one.p for one in found.differences] == pytest.approx(wanted.tolist(), rel=1e-12)
    assert {one.test for one in found.differences} == {test}
    for name in ("t", "sign"):
        each = [one.tests[name].p for one in found.differences]
        adjusted = [one.tests[name].adjusted for one in found.differences]
        wanted = multipletests(each, method=STATSMODELS[correction])[1]
        assert adjusted == pytest.approx(wanted.tolist(), rel=1e-12)


def test_without_correction_every_comparison_stands_alone():
    judgments, runs = collection()
    found = gf.compare(judgments, runs, MEASURES, correction="none")
    assert all(one.p == one.tests["t"].p for one in found.differences)
    assert not any("over" in one for one in found.verdicts)


def test_where_t_is_not_defined_its_stand_in_belongs_to_the_same_family():
    """One family of decisions: 3 comparisons, two by t and one, of a constant, by flips."""
    zero = {f"q{at}": 0.0 for at in range(20)}
    some = {query: 0.1 * (at % 4) for at, query in enumerate(zero)}
    more = {query: 0.1 * (at % 5) - 0.1 for at, query in enumerate(zero)}
    same = dict.fromkeys(zero, 0.1)
    tables = {"zero": zero, "some": some, "same": same, "more": more}
    for correction, method in STATSMODELS.items():
        found = gf.comparison.compare_scores(tables, correction=correction)
        assert [one.test for one in found.differences] == ["t", "randomisation", "t"]
        bare = [one.tests[one.test].p for one in found.differences]
        wanted = multipletests(bare, method=method)[1].tolist()
        assert [one.p for one in found.differences] == pytest.approx(wanted, rel=1e-12)
        assert all("over 3 comparisons" in sentence for sentence in found.verdicts)


def by_hand(cube, resamples, rng):
    """Randomised Tukey HSD, literally: the range of the means of permuted scores."""
    ranges = np.array([np.ptp(rng.permuted(cube, axis=1).mean(axis=0)) for _ in range(resamples)])
    means = cube.mean(axis=0)
    return lambda one, two: (ranges >= abs(means[one] - means[two]) - 1e-12).mean()


def test_tukey_is_the_randomised_range(compared):
    _, values = compared
    judgments, runs = collection()
    found = gf.compare(judgments, runs, MEASURES, correction="tukey", pairs="all")
    names = list(runs)
    for measure in MEASURES:
        cube = np.stack([values[name, measure] for name in names], axis=1)
        wanted = by_hand(cube, 4_000, np.random.default_rng(9))
        for one, two in [(0, 1), (0, 2), (1, 2)]:
            alone = wanted(one, two)
            each = found[names[one], names[two], measure]
            assert each.test == "tukey"
            # One family for each of three measures.
            error = 3 * 4 * math.sqrt(alone * (1 - alone) * (1 / 4_000 + 1 / 10_000)) + 2e-3
            assert abs(each.p - min(1, 3 * alone)) < error
    assert any("p by tukey" in note for note in found.table().notes)
    without_nan(found)


def test_tukey_of_many_measures_is_never_beyond_1():
    judgments, runs = collection(queries=6)
    found = gf.compare(judgments, runs, ["nDCG@5", "P@3", "RR", "P@1"], correction="tukey")
    assert max(one.p for one in found.differences) == 1


def test_all_pairs_once_each_with_the_baseline_first():
    judgments, runs = collection()
    found = gf.compare(judgments, runs, "nDCG@5", pairs="all", baseline="new")
    pairs = [(one.baseline, one.run) for one in found.differences]
    assert pairs == [("new", "old"), ("new", "other"), ("old", "other")]
    bare = [one.tests["t"].p for one in found.differences]
    wanted = multipletests(bare, method="holm")[1]
    assert [one.p for one in found.differences] == pytest.approx(wanted.tolist(), rel=1e-12)
    assert found["old", "nDCG@5"] is found["new", "old", "nDCG@5"]
    alone = gf.compare(judgments, {name: runs[name] for name in ("old", "other")}, "nDCG@5")
    (wanted,) = alone.differences
    assert found["old", "other", "nDCG@5"].tests["t"].outcome == wanted.tests["t"].outcome
    assert found["old", "other", "nDCG@5"].intervals == wanted.intervals


def test_the_baseline_is_the_first_or_the_one_that_is_named():
    judgments, runs = collection()
    assert gf.compare(judgments, runs).baseline == "old"
    found = gf.compare(judgments, runs, baseline="other")
    assert found.baseline == "other"
    assert [(one.baseline, one.run) for one in found.differences] == [
        ("other", "old"),
        ("other", "new"),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "odl"}, "Did you mean 'old'"),
        ({"slices": "no-such-file.csv"}, "no-such-file.csv"),
    ],
)
@pytest.mark.parametrize("function", [gf.compare, gf.report])
def test_what_is_misspelled_is_said_before_anything_is_read(function, options, message):
    # These runs would be refused, too, once they are looked at.
    with pytest.raises(gf.errors.InputError, match=message):
        function("no-such.qrels", {"old": "no-such.run", "new": "no-such.run"}, **options)


def test_a_measure_is_found_in_any_spelling():
    judgments, runs = collection()
    found = gf.compare(judgments, runs, ["ndcg_cut_5", "map", "nDCG@5"])
    assert found.measures == ("nDCG@5", "AP")
    wanted = gf.compare(judgments, runs, ["nDCG@5", "AP"])
    assert found.to_dict() == wanted.to_dict()
    one = found["new", "nDCG@5"]
    assert found["new", "ndcg_cut_5"] is found["new", gf.measure("nDCG@5")] is one
    assert found["old", "new", "ndcg@5"] is one


def test_a_measure_does_not_depend_on_what_is_measured_beside_it(compared):
    judgments, runs = collection()
    for measure in MEASURES:
        alone = gf.compare(judgments, runs, measure)
        for name in ("new", "other"):
            one, beside = alone[name, measure], compared[0][name, measure]
            assert one.intervals == beside.intervals
            assert [t.outcome for t in one.tests.values()] == [
                t.outcome for t in beside.tests.values()
            ]


def test_a_measure_of_huge_values_does_not_drown_one_of_small():
    """What counts as rounding is told by the scores of a measure and a pair, not of all."""
    grades = {f"q{at}": {"a": 1e16 * (1 + at % 3), "b": 1.0} for at in range(20)}
    good = {query: {"a": 2, "b": 1} for query in grades}
    bad = {query: {"a": 1, "b": 2} for query in grades}
    found = gf.compare(grades, {"good": good, "bad": bad}, ["DCG", "nDCG"])
    alone = gf.compare(grades, {"good": good, "bad": bad}, "nDCG")
    assert found["bad", "nDCG"].losses == 20
    assert found["bad", "nDCG"].difference == alone["bad", "nDCG"].difference < -0.3


def test_queries_that_do_not_count_are_left_out_of_the_measure_that_they_do_not_count_for():
    """`empty=skip`: q3 has nothing relevant for nDCG; P counts it."""
    judgments = {f"q{at}": {"a": 1, "b": 0} for at in range(6)}
    judgments["q3"] = {"a": 0, "b": 0}
    best = {query: {"a": 2, "b": 1} for query in judgments}
    worst = {query: {"a": 1, "b": 2 if query != "q1" else 0} for query in judgments}
    policy = gf.Policy(empty="skip")
    found = gf.compare(judgments, {"best": best, "worst": worst}, ["nDCG@2", "P@1"], policy=policy)
    assert found["worst", "nDCG@2"].queries == 5
    assert found["worst", "P@1"].queries == 6
    assert found.paired.left_out() == {"nDCG@2": ("q3",), "P@1": ()}
    assert "nDCG@2: 1 query left out, because some run has no value" in found.notes()
    for measure in ("nDCG@2", "P@1"):
        one = found["worst", measure]
        assert one.baseline_mean == gf.evaluate(judgments, best, measure, policy=policy)[measure]
        assert one.run_mean == gf.evaluate(judgments, worst, measure, policy=policy)[measure]
    assert f"policy: {gf.evaluate(judgments, best, policy=policy).policy}" in found.notes()


def test_a_query_that_one_run_lacks_counts_as_zero_or_is_left_out_for_all():
    judgments, runs = collection(queries=10)
    del runs["new"]["q4"]
    zero = gf.compare(judgments, runs, "RR")
    assert zero["new", "RR"].queries == 10
    skip = gf.compare(judgments, runs, "RR", policy=gf.Policy(missing="skip"))
    assert skip.paired.left_out() == {"RR": ("q4",)}
    assert {one.queries for one in skip.differences} == {9}  # every run has the same queries
    rest = {query: grades for query, grades in judgments.items() if query != "q4"}
    assert skip["other", "RR"].baseline_mean == gf.evaluate(rest, runs["old"], "RR")["RR"]
    without_nan(skip)


def test_undefined_values_are_left_out_and_said():
    judgments, runs = collection(queries=8)
    judgments["q2"] = dict.fromkeys(judgments["q2"], 0)
    found = gf.compare(judgments, runs, ["nDCG", "P@3"], policy=gf.Policy(empty="nan"))
    assert found.paired.left_out() == {"nDCG": ("q2",), "P@3": ()}
    assert found["new", "nDCG"].queries == 7
    assert any(note.startswith("nDCG: 1 query left out") for note in found.notes())
    assert found.to_dict()["left_out"]["nDCG"] == ["q2"]
    without_nan(found)


def test_all_that_is_shown_is_in_the_tables():
    judgments, runs = collection()
    found = gf.compare(judgments, runs, MEASURES, by="judged")
    rows = found.table().records()
    assert [row["difference"] for row in rows] == [one.difference for one in found.differences]
    assert [row["p"] for row in rows] == [one.p for one in found.differences]
    assert [row["95% low"] for row in rows] == [one.interval.low for one in found.differences]
    assert found.table().notes[: len(rows)] == list(found.verdicts)
    tests = found.tests_table().records()
    assert len(tests) == 4 * len(rows)
    assert tests[0]["p, holm"] == found.differences[0].tests["t"].adjusted
    assert [table.title for table in found.tables()] == [
        "",
        "Slices, worst first",
        "Queries that moved the most",
    ]
    for writer in gf.writing.formats():
        assert gf.writing.render(found, writer)
    assert gf.writing.render(found, "json") == found.to_json()


def test_progress_goes_on_and_ends_with_the_comparison():
    judgments, runs = collection()
    told = []
    found = gf.compare(judgments, runs, progress=lambda share, name: told.append((share, name)))
    assert all(0 <= share <= 1 for share, _ in told)
    assert {name for _, name in told} == {"old", "new", "other", "comparing"}
    assert max(share for share, _ in told) == 1
    heard = len(told)
    found.gate("Δ nDCG@10 < -0.5")
    bca = gf.compare(judgments, runs, interval="bca", progress=lambda *_: told.append(_))
    heard = len(told)
    bca.gate("Δ nDCG@10 < -0.5")
    assert len(told) == heard  # whoever showed the progress has long put it away


def test_what_nobody_asks_for_is_not_computed(monkeypatch):
    """The verdict needs one test and one interval; the others wait until they are asked for."""
    from gainful.arithmetic.statistics import intervals, paired_tests

    asked = []

    def counted(table, name):
        entry = table[name]

        class Counted:
            def __getattr__(self, each):
                return getattr(entry, each)

            def __call__(self, *given):
                asked.append(name)
                return entry(*given)

            def build(self, *given):
                asked.append(name)
                return entry.build(*given)

        monkeypatch.setitem(table, name, Counted())

    for name in paired_tests.TESTS:
        counted(paired_tests.TESTS, name)
    for name in intervals.INTERVALS:
        counted(intervals.INTERVALS, name)
    judgments = {f"q{n}": {"a": 1, "b": 2} for n in range(12)}
    runs = {
        "one": {q: {"a": 2, "b": 1} for q in judgments},
        "two": {q: {"a": 1, "b": 2} for q in judgments},
    }
    runs["two"]["q0"] = {"a": 2, "b": 1}
    found = gf.compare(judgments, runs, "nDCG@10")
    str(found)
    assert asked == ["t", "hall"]
    difference = found["two", "nDCG@10"]
    assert difference.tests["wilcoxon"].p is not None
    assert difference.intervals["bca"].low < difference.intervals["bca"].high
    assert asked == ["t", "hall", "wilcoxon", "bca"]
    assert {*difference.tests} >= {"t", "randomisation", "wilcoxon", "sign"}
    with pytest.raises(KeyError):
        difference.tests["none"]


@pytest.mark.parametrize("digits", [1, 2, 12])
def test_the_queries_that_moved_most_are_the_first_of_all_in_order(digits):
    rng = np.random.default_rng(digits)
    values = rng.random((60, 5)).round(digits)  # with one digit many tie
    values[:57, 4] = values[:57, 3]  # three queries moved
    tables = {
        f"s{at}": {f"q{query:02}": one for query, one in enumerate(column)}
        for at, column in enumerate(values.T.tolist())
    }
    found = gf.comparison.compare_scores(tables, pairs="all", resamples=20)
    for each in found.differences:
        base, run = (values[:, int(name[1:])] for name in (each.baseline, each.run))
        apart = np.where(np.abs(run - base) < 1e-14, 0, run - base)
        order = [at for at in np.argsort(-np.abs(apart), kind="stable")[:5] if apart[at]]
        assert [one.query for one in each.moved] == [f"q{at:02}" for at in order]
        assert [one.baseline for one in each.moved] == base[order].tolist()
        assert (each.wins, each.losses) == ((apart > 0).sum(), (apart < 0).sum())


def test_differences_of_pairs_are_those_of_each_pair():
    values = np.random.default_rng(5).random((40, 4, 2)).round(1)
    values[:, 1] = values[:, 0] * (1 + 3e-16)  # but for rounding the same
    values[:, 2, 0] *= 1e12
    paired = Paired(("a", "b", "c", "d"), ("x", "y"), tuple(map(str, range(40))), values)
    rows, pairs = np.arange(3, 39), [(0, 1), (2, 1), (3, 0), (2, 3)]
    for measure in (0, 1):
        found = paired.apart_in_pairs(rows, pairs, measure)
        expected = [paired.apart(rows, base, run, measure) for base, run in pairs]
        assert np.array_equal(found, expected)
        assert not found[0].any()


def test_tied_scores_are_reported_as_by_evaluate():
    judgments = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    tied = {query: {"a": 1, "b": 1} for query in judgments}
    clear = {query: {"a": 2, "b": 1} for query in judgments}
    runs = {"tied": tied, "clear": clear}
    note = "tied: 12 queries. 24 judged documents have tied scores (ordered by id)."
    evaluated = gf.evaluate_runs(judgments, runs, "nDCG@10")
    assert note in str(evaluated)
    compared, board = gf.compare(judgments, runs), gf.leaderboard(judgments, runs)
    for found in (compared, board):
        assert note in found.basis
        assert "clear: 12 queries." in found.basis
        assert found.to_dict()["coverage"]["tied"]["tied"] == 24
    averaged = gf.compare(judgments, runs, policy={"ties": "average"})
    assert "tied scores (averaged over all orders)." in averaged.basis[0]


def test_tied_scores_of_a_saved_baseline_are_reported(tmp_path):
    judgments = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    tied = {query: {"a": 1, "b": 1} for query in judgments}
    gf.comparison.save_baseline(gf.evaluate(judgments, tied, "nDCG@10"), tmp_path / "main.json")
    found = gf.compare(judgments, {"main": tmp_path / "main.json", "new": tied})
    assert "main: 12 queries. 24 judged documents have tied scores (ordered by id)." in found.basis
