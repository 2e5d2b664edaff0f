"""What to judge next: every priority against evaluate on judgments with that one document more."""

import copy
import itertools
import math
import random
import warnings

import pytest

import gainful as gf
from input_forms import FORMS, as_dicts
from random_runs import random_case

MEASURES = (
    "nDCG@3", "nDCG", "nDCG(gain=exp2, discount=reciprocal)@2", "DCG@2", "DCG(gain=exp2)", "CG@3",
    "nDCG(ideal=retrieved)@2", "nDCG(depth=retrieved)@3",
    "P@2", "R@3", "RBP(p=0.6)", "AP", "AP@3", "RR", "ERR", "ERR@2", "bpref", "num_rel_ret",
)  # fmt: skip
POLICIES = (
    {}, {"ties": "average"}, {"ties": "best"}, {"ties": "worst"}, {"ties": "order"},
    {"ties": "doc_ascending"}, {"negative": "both"},
    {"empty": "one"}, {"empty": "skip"}, {"missing": "skip"}, {"unjudged": "condense"},
    {"unjudged": 1}, {"absent": 1}, {"negative": "zero"},
)  # fmt: skip


@pytest.fixture(autouse=True)
def _without_warnings():
    """Random judgments and runs may not meet; that is said, and not what is looked at here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        yield


def mean(judgments, run, measure, policy):
    return gf.evaluate(judgments, run, measure, policy=policy)[measure]


def candidates(judgments, runs, depth):
    """The documents of judged queries that any run has down to a depth, without a judgment."""
    found = set()
    for run in runs.values():
        for query in run.keys() & judgments.keys():
            scores = run[query]
            order = sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)
            found |= {(query, doc) for doc in order[:depth] if doc not in judgments[query]}
    return found


def means_with(judgments, runs, measure, policy, documents, grades):
    """Literally: the judgments with one document more, at each grade, for each run.

    Return {document: {run: [mean at each grade]}}. The queries of all those judgments are
    evaluated at once, each under the number of its judgments.
    """
    every, lists = {}, {name: {} for name in runs}
    cases = [(query, doc, grade) for query, doc in documents for grade in grades]
    for number, (query, doc, grade) in enumerate(cases):
        more = {**judgments, query: {**judgments[query], doc: grade}}
        every |= {f"{number} {each}": judged for each, judged in more.items()}
        for name, run in runs.items():
            lists[name] |= {f"{number} {each}": listed for each, listed in run.items()}
    found = {document: {name: [] for name in runs} for document in documents}
    for name, run in lists.items() if cases else ():
        values = [[] for _ in cases]
        rows = gf.evaluate(every, run, measure, policy=policy).per_query.to_dict()
        for query, (value,) in ((query, row.values()) for query, row in rows.items()):
            values[int(query.partition(" ")[0])].append(value)
        for (query, doc, _), some in zip(cases, values, strict=True):
            count = 1 if measure == "num_rel_ret" else len(some)  # the sum of a count is told
            found[query, doc][name].append(math.fsum(some) / count)
    return found


def random_runs(seed):
    """Judgments, and runs that each share a query with them."""
    judgments, one = random_case(seed, grades=(0, 0, 1, 2, 3, -1))
    judgments["q0"]["always"] = 2  # so that there is a mean under every policy
    rng = random.Random(seed + 1)  # noqa: S311
    two = {query: {doc: rng.choice((0, 1, 2)) for doc in docs} for query, docs in one.items()}
    two["q0"]["new"] = 1.5
    return judgments, {"A": one, "B": two}


CASES = [
    (seed, measure, policy)
    for seed, (measure, policy) in enumerate(
        [*itertools.product(MEASURES, ({},)), *itertools.product(MEASURES, POLICIES[1:])]
    )
    # Over all orders of tied documents, these have no known expectation.
    if (policy != {"ties": "average"} or not measure.startswith(("ERR", "bpref")))
    # Where a list holds nothing good, and is all there is, there may be no query to average over.
    and (policy != {"empty": "skip"} or "ideal=retrieved" not in measure)
]


@pytest.mark.parametrize(
    ("seed", "measure", "policy"), CASES, ids=[f"{each[0]}-{each[1]}-{each[2]}" for each in CASES]
)
def test_priorities_are_those_of_a_literal_recomputation(seed, measure, policy, deep):
    for case in range(seed * 3, seed * 3 + (3 if deep else 1)):
        judgments, runs = random_runs(case)
        chosen, grades = gf.Policy(**policy), (0, 1, 3)
        cutoff = gf.measure(measure).cutoff
        expected, apart = {}, {}
        documents = candidates(judgments, runs, cutoff or 100)
        every = means_with(judgments, runs, measure, chosen, documents, grades)
        for document, means in every.items():
            expected[document] = max(max(each) - min(each) for each in means.values())
            differences = [a - b for a, b in zip(means["A"], means["B"], strict=True)]
            apart[document] = max(differences) - min(differences)
        options = {"grades": grades, "policy": chosen, "budget": None}
        found = gf.judging.next_to_judge(judgments, runs, measure, **options)
        compared = gf.judging.next_to_judge(judgments, runs, measure, compare=("A", "B"), **options)
        for pool, wanted in ((found, expected), (compared, apart)):
            priorities = {(row.query, row.doc): row.priority for row in pool}
            assert priorities.keys() <= wanted.keys()
            for key, width in wanted.items():
                assert priorities.get(key, 0.0) == pytest.approx(width, abs=1e-12)
            order = [row.priority for row in pool]
            assert order == sorted(order, reverse=True)


def sign(number):
    return (number > 0) - (number < 0)


@pytest.mark.parametrize("measure", ["nDCG@3", "DCG@2", "P@2", "AP"])
def test_flips_are_those_of_a_literal_recomputation(measure, deep):
    seen = set()
    for seed in range(60 if deep else 30):
        judgments, runs = random_runs(seed)
        policy, grades = gf.Policy(), (0, 3)
        now = mean(judgments, runs["A"], measure, policy) - mean(
            judgments, runs["B"], measure, policy
        )
        found = gf.judging.next_to_judge(
            judgments, runs, measure, grades=grades, compare=("A", "B")
        )
        documents = [(row.query, row.doc) for row in found]
        every = means_with(judgments, runs, measure, policy, documents, grades)
        for row in found:
            means = every[row.query, row.doc]
            signs = {sign(a - b) for a, b in zip(means["A"], means["B"], strict=True)}
            assert row.flips == (signs != {sign(now)})
            seen.add(row.flips)
    assert seen == {True, False}


def test_a_small_grade_moves_ndcg_by_its_derivative():
    """∂nDCG/∂g = (d_r − nDCG · d_s)/IDCG, with r the rank in the list and s that in the ideal."""
    cutoff, step = 4, 1e-6

    def discount(rank):
        return 1 / math.log2(rank + 1) if rank <= cutoff else 0.0

    for seed in range(30):
        rng = random.Random(seed)  # noqa: S311
        docs = [f"d{number}" for number in range(7)]
        judgments = {"q": {doc: rng.choice((0, 1, 2, 3)) for doc in rng.sample(docs, 3)} | {"z": 1}}
        run = {"q": {doc: -place for place, doc in enumerate(rng.sample(docs, 6), 1)}}
        gains = sorted((grade for grade in judgments["q"].values() if grade), reverse=True)
        ideal = sum(gain * discount(rank) for rank, gain in enumerate(gains, 1))
        value = gf.evaluate(judgments, run, f"nDCG@{cutoff}")[f"nDCG@{cutoff}"]
        found = gf.judging.next_to_judge(judgments, [run], f"nDCG@{cutoff}", grades=(0, step))
        for row in found:
            slope = (discount(row.rank) - value * discount(len(gains) + 1)) / ideal
            assert row.priority / step == pytest.approx(abs(slope), rel=1e-4, abs=1e-8)


def test_worked_by_hand():
    judgments, run = {"q": {"a": 1}, "other": {"b": 1}}, {"q": {"x": 3, "a": 2}, "other": {"b": 1}}
    # DCG@2 of q: x at rank 1 is worth 0 to 3 there, and the mean is over two queries.
    assert [(row.doc, row.priority) for row in gf.judging.next_to_judge(
        judgments, [run], "DCG@2", grades=(0, 3)
    )] == [("x", 1.5)]  # fmt: skip
    # nDCG@2 of q: 0.6309 with x at 0; with x at 3, the list is the ideal order: 1.
    (row,) = gf.judging.next_to_judge(judgments, [run], "nDCG@2", grades=(0, 3))
    assert row.priority == pytest.approx((1 - 1 / math.log2(3)) / 2, abs=1e-15)


def test_a_run_without_the_document_falls_through_the_ideal():
    judgments = {"q": {"a": 1}}
    runs = {"has": {"q": {"a": 2, "x": 1}}, "lacks": {"q": {"a": 1}}}
    (row,) = gf.judging.next_to_judge(
        judgments, {"lacks": runs["lacks"], "has": runs["has"]}, "nDCG@2", grades=(0, 1)
    )
    # has: 1 → 1. lacks: 1 → 1 / (1 + 1/log2(3)).
    assert (row.doc, row.runs) == ("x", 1)
    assert row.priority == pytest.approx(1 - 1 / (1 + 1 / math.log2(3)), abs=1e-15)


def test_grades_between_the_ends_count():
    """NDCG of a list may rise and fall again with the grade of one document."""
    judgments = {"q": {"a": 2, "b": 2, "c": 2}}
    run = {"q": {"a": 9, "b": 8, "x": 7, "c": 6}}
    ends, all_of_them = (
        gf.judging.next_to_judge(judgments, [run], "nDCG@4", grades=grades)[0].priority
        for grades in ((0, 9), (0, 2, 9))
    )
    assert all_of_them > ends


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_kind_of_input_gives_the_same(form, tmp_path):
    rows = [
        ("q1", "a", 3.0),
        ("q1", "b", 3.0),
        ("q1", "c", 1.0),
        ("q2", "b", -1.0),
        ("q2", "c", 0.5),
    ]
    graded = [("q1", "c", 2.0), ("q2", "b", 1.0)]
    for place, measure in enumerate(("nDCG@2", "AP")):
        expected = gf.judging.next_to_judge(as_dicts(graded), {"it": as_dicts(rows)}, measure)
        assert len(expected) == 3
        folder = tmp_path / str(place)  # streams are read once, so each measure has its own
        folder.mkdir()
        run, judgments = form.make(rows, "run", folder), form.make(graded, "judgments", folder)
        assert gf.judging.next_to_judge(judgments, {"it": run}, measure) == expected


def test_queries_without_judgments_and_missing_ones_do_not_matter():
    judgments = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"A": {"q1": {"x": 2, "a": 1}, "new": {"y": 1}}, "B": {"q2": {"z": 2, "b": 1}}}
    found = gf.judging.next_to_judge(judgments, runs, "nDCG@2", grades=(0, 1))
    assert [(row.query, row.doc) for row in found] == [("q1", "x"), ("q2", "z")]


def test_runs_without_a_judged_query_are_refused():
    with pytest.raises(gf.errors.InputError, match="none in common"):
        gf.judging.next_to_judge({"q1": {"a": 1}}, [{"q2": {"a": 1}}])
    with pytest.raises(gf.errors.InputError, match="at least one retrieved document"):
        gf.judging.next_to_judge({"q1": {"a": 1}}, [{}])


def test_judged_queries_may_have_no_documents_yet():
    found = gf.judging.next_to_judge(
        {"q1": {}, "q2": {"b": 1}}, [{"q1": {"x": 1}, "q2": {"b": 1}}], "P@1"
    )
    assert [(row.query, row.doc, row.priority) for row in found] == [("q1", "x", 0.5)]


def test_a_document_with_the_id_of_its_query_is_none():
    judgments, run = {"q": {"a": 1, "q": 3}}, {"q": {"q": 9, "x": 8, "a": 7}}
    policy = gf.Policy(drop_self="yes")
    found = gf.judging.next_to_judge(judgments, [run], "nDCG@1", grades=(0, 3), policy=policy)
    assert [(row.doc, row.rank, row.priority) for row in found] == [("x", 1, 1.0)]


def test_the_lowest_grade_is_that_of_all_judgments():
    judgments = {"q1": {"a": 1}, "q2": {"b": -1, "c": 1}}
    run = {"q1": {"x": 2}, "q2": {"c": 1}}
    policy = gf.Policy(absent="lowest")
    every = means_with(judgments, {"it": run}, "DCG@2", policy, [("q1", "x")], (0, 2))
    means = every["q1", "x"]["it"]
    (row,) = gf.judging.next_to_judge(judgments, [run], "DCG@2", grades=(0, 2), policy=policy)
    assert row.priority == pytest.approx(means[1] - means[0], abs=1e-15)


def test_the_budget_ends_the_list_and_ties_stand_by_query_rank_and_id():
    judgments = {query: {"a": 1} for query in ("q1", "q2", "q10")}
    run = {query: {"y": 3, "x": 3, "a": 1} for query in judgments}
    every = gf.judging.next_to_judge(judgments, [run], "P@2", budget=None)
    assert [(row.query, row.doc) for row in every] == [
        ("q1", "y"), ("q1", "x"), ("q2", "y"), ("q2", "x"), ("q10", "y"), ("q10", "x"),
    ]  # fmt: skip
    assert gf.judging.next_to_judge(judgments, [run], "P@2", budget=3).rows == every.rows[:3]
    assert all(not row.judged and row.grade is None and row.flips is None for row in every)


def test_the_default_grades_are_the_ends_of_those_that_occur_and_zero():
    run = {"q": {"x": 1}}
    assert gf.judging.next_to_judge({"q": {"a": 2, "b": 1}}, [run]).grades == (0.0, 2.0)
    assert gf.judging.next_to_judge({"q": {"a": -1, "b": 1}}, [run]).grades == (-1.0, 1.0)
    with pytest.raises(gf.errors.InputError, match="such as \\(0, 3\\)"):
        gf.judging.next_to_judge({"q": {"a": 0}}, [run])
    assert len(gf.judging.next_to_judge({"q": {"a": 0}}, [run], grades=(0, 1))) == 1


def test_many_copies_are_evaluated_in_parts(monkeypatch):
    from gainful.judging import judging_priorities as variants

    judgments, runs = random_runs(2)
    whole = gf.judging.next_to_judge(judgments, runs, "nDCG@3", grades=(0, 1, 2))
    assert len(whole) > 1
    monkeypatch.setattr(variants, "_TOGETHER", 1)
    assert gf.judging.next_to_judge(judgments, runs, "nDCG@3", grades=(0, 1, 2)) == whole


def test_nothing_that_is_given_changes():
    judgments, runs = random_runs(7)
    before = copy.deepcopy((judgments, runs))
    first = gf.judging.next_to_judge(judgments, runs, grades=(0, 3))
    assert (judgments, runs) == before
    assert gf.judging.next_to_judge(judgments, runs, grades=(0, 3)) == first


def test_ids_that_never_meet_are_warned_of():
    with pytest.warns(gf.errors.GainfulWarning, match="case-insensitively"):
        gf.judging.next_to_judge({"q": {"D1": 1}}, [{"q": {"d1": 1}}])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"budget": 0},
            gf.errors.InputError,
            "budget: expected a whole number from 1 to [0-9,]+, found 0",
        ),
        ({"budget": -1}, gf.errors.InputError, "budget"),
        ({"budget": 2.5}, gf.errors.InputError, "budget"),
        ({"depth": 0}, gf.errors.InputError, "depth"),
        ({"grades": (1, 1)}, gf.errors.InputError, "two different grades"),
        ({"grades": "03"}, gf.errors.InputError, "grades"),
        ({"grades": (0, float("nan"))}, gf.errors.InputError, "grades"),
        ({"compare": ("A", "C")}, gf.errors.InputError, "the names of two of the runs, found 'C'"),
        ({"compare": ("A", "A")}, gf.errors.InputError, "compare"),
        ({"compare": "AB"}, gf.errors.InputError, "compare"),
        ({"judgments": None}, gf.errors.InputError, "use pool"),
        ({"measure": "IDCG@3"}, gf.errors.MeasureError, "measure of judgments alone"),
        ({"measure": "GMAP"}, gf.errors.MeasureError, "geometric mean"),
        ({"measure": "nDCG@5,10"}, gf.errors.MeasureError, "one measure"),
        ({"measure": 5}, gf.errors.MeasureError, "a string such as"),
        ({"policy": gf.Policy(empty="nan")}, gf.errors.PolicyError, "which define a mean"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, error, message):
    usual = {"judgments": {"q": {"a": 1}}, "runs": {"A": {"q": {"x": 1}}, "B": {"q": {"a": 1}}}}
    with pytest.raises(error, match=message):
        gf.judging.next_to_judge(**{**usual, **arguments})


def test_clicks_put_documents_first_that_they_say_little_about():
    judgments = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {query: {"seen": 4, "rare": 3, "new": 2, "a": 1} for query in judgments}
    shows = [("seen", 400), ("rare", 8)]
    counts = [
        {"query": query, "doc": doc, "impressions": count, "clicks": count // 4}
        for query in judgments
        for doc, count in shows
    ]
    clicks = gf.behaviour.click_judgments(counts, "ctr")
    plain = {
        (r.query, r.doc): r.priority
        for r in gf.judging.next_to_judge(judgments, run_of(run), "P@3")
    }
    found = gf.judging.next_to_judge(judgments, run_of(run), "P@3", clicks=clicks)
    assert [row.doc for row in found] == ["new", "new", "rare", "rare", "seen", "seen"]
    widths = {(row.query, row.doc): row.high - row.low for row in clicks.rows}
    for row in found:
        width = widths.get((row.query, row.doc), 1.0)
        assert row.priority == pytest.approx(plain[row.query, row.doc] * width)
    pooled = gf.pool(
        run_of(run), judgments=judgments, order="priority", measure="P@3", clicks=clicks
    )
    assert [row.doc for row in pooled][:3] == ["new", "rare", "seen"]
    with pytest.raises(gf.errors.InputError, match="order='priority'"):
        gf.pool(run_of(run), judgments=judgments, clicks=clicks)
    with pytest.raises(gf.errors.InputError, match="click_judgments"):
        gf.judging.next_to_judge(judgments, run_of(run), "P@3", clicks={"q1": {"seen": 1}})


def run_of(run):
    return {"mine": run}
