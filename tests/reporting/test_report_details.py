"""The details of a report are what `explain` and `attribute` say, to the last bit."""

import functools
import itertools
import math
import random
import warnings

import numpy as np
import pytest

import gainful as gf
from random_runs import random_case

WORKED = [
    "nDCG@3", "nDCG", "nDCG(gain=exp2)@5", "DCG@4", "CG@2", "DCG", "IDCG@3",
    "nDCG(ideal=retrieved)@3", "nDCG(depth=retrieved)@4", "nDCG(depth=all)@2",
    "nDCG(discount=jarvelin, base=3)@6", "nDCG(gain={-2:0, -1:0, 0:0, 0.5:1, 1:3, 2:1, 3:9})@4",
]  # fmt: skip
FAMILIES = [
    "AP", "AP@3", "P@2", "P", "R@5", "F@3", "RR", "bpref", "ERR@3", "nERR", "RBP@4", "Q@3", "Success@2", "RnDCG",
    "Compat", "INST", "Unjudged@3", "11pt",
]  # fmt: skip
ANSWERS = {
    "ties": ["auto", "doc_ascending", "average", "best", "worst", "order"],
    "unjudged": ["zero", "condense", 1.0],
    "absent": ["zero", "lowest", 1.0],
    "negative": ["keep", "zero", "both", "unjudged"],
    "missing": ["zero", "skip"],
    "empty": ["zero", "one", "abstain", "skip", "skip_all", "nan"],
}


def random_policy(rng):
    """Return the default, or one with some other answers."""
    return gf.Policy(
        **{name: rng.choice(some) for name, some in ANSWERS.items() if rng.random() < 0.4}
    )


def named(rows, detail):
    """Return rows with the ids of their documents."""
    return [(detail["docs"][row[0]][0], *row[1:]) for row in rows]


def none_for_nan(number):
    return None if math.isnan(number) else number


def check_list(detail, place, explained, measure, depth):
    """Compare the list of a run with its explanation."""
    shown = detail["lists"][place]
    assert shown["value"] == none_for_nan(explained.value)
    assert detail["conclusions"][place] == explained.conclusion
    if str(measure) in FAMILIES:
        return check_family(shown, detail, explained, depth)
    totals = {part.name.split("(")[0].split("@")[0]: part for part in explained.parts}
    ideal = totals.pop("IDCG", None)
    assert shown["ideal"] == (ideal.total if measure.name == "nDCG" else None)
    if not totals:
        return None
    (part,) = totals.values()
    assert shown["total"] == part.total
    steps = [
        (s.doc, s.rank, s.rank_last, s.gain, s.discount, s.contribution, s.sum)
        for s in part.steps
        if s.rank <= depth
    ]
    rows = named(shown["rows"], detail)
    assert rows[: len(steps)] == steps
    for _, rank, _, gain, discount, term, total in rows[len(steps) :]:
        assert term == 0
        assert (gain == 0 and discount > 0) or (discount == 0 and rank > measure.cutoff)
        assert not rows[: len(steps)] or total == rows[len(steps) - 1][-1]
    return None


def check_family(shown, detail, explained, depth):
    """Compare the list of a run with its explanation, under a measure that is no cumulated gain."""
    part = explained.parts[0]
    assert shown["total"] == part.total
    assert detail["conventions"] == explained.conventions
    assert detail["columns"][0] == part.worth
    assert bool(detail["columns"][2]) == part.adds
    steps = [
        (s.doc, s.rank, s.rank_last, s.gain, s.discount, s.contribution, s.sum)
        for s in part.steps
        if s.rank <= depth
    ]
    rows = named(shown["rows"], detail)
    assert rows[: len(steps)] == steps
    assert all(not row[-2] for row in rows[len(steps) :])


def check_ideal(detail, explained, depth):
    """Compare the ideal of a query with that of its explanation."""
    names = ("IDCG", "ideal")
    part = next((part for part in explained.parts if part.name.startswith(names)), None)
    if part is None:
        assert detail["ideal"] is None
        return
    assert detail["ideal"]["total"] == part.total
    steps = [
        (s.doc, s.rank, s.gain, s.discount, s.contribution, s.sum)
        for s in part.steps
        if s.rank <= depth
    ]
    assert named(detail["ideal"]["rows"], detail)[: len(steps)] == steps


def check_parts(detail, place, attribution):
    """Compare what documents have in a difference."""
    expected = {
        each.doc: (each.base_rank, each.run_rank, each.part)
        for each in attribution.documents
        if each.part
    }
    expected |= {f"({o.name})": (None, None, o.part) for o in attribution.others if o.part}
    found = named(detail["parts"][place], detail)
    assert {doc: tuple(row) for doc, *row in found} == expected
    sizes = [abs(row[-1]) for row in found]
    assert sizes == sorted(sizes, reverse=True)


def explained_of(judgments, run, measure, query, policy):
    try:
        return gf.explain(judgments, run, measure, query=query, policy=policy)
    except gf.errors.InputError:
        return None


def attribution_of(judgments, base, run, measure, query, policy):
    try:
        return gf.explanation.attribute(judgments, base, run, measure, query=query, policy=policy)
    except gf.errors.GainfulError:
        return None


def check_query(judgments, runs, detail, query, measure, policy, depth):
    asked, first, base = gf.measure(measure), True, next(iter(runs.values()))
    for place, run in enumerate(runs.values()):
        explained = explained_of(judgments, run, measure, query, policy)
        shown = detail["lists"][place]
        assert shown["missing"] == (query not in run)
        if explained is None:
            assert not shown["missing"] or shown["rows"] == []
        else:
            check_list(detail, place, explained, asked, depth)
            if first:
                check_ideal(detail, explained, depth)
                first = False
        if place == 0 or asked.name == "IDCG":
            assert detail["parts"][place] is None
            continue
        attribution = attribution_of(judgments, base, run, measure, query, policy)
        if attribution is None:
            assert not detail["parts"][place]
        else:
            check_parts(detail, place, attribution)


def failure(function, *arguments, **options):
    """Return what a call fails with, None if it does not."""
    try:
        function(*arguments, **options)
    except gf.errors.GainfulError as problem:
        return str(problem)
    return None


def reported(judgments, runs, measure, policy, depth):
    """Return a report; None where it fails, as a comparison does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        why = failure(gf.compare, judgments, runs, measure, policy=policy, resamples=9)
        if why is None:
            return gf.report(judgments, runs, measure, policy=policy, depth=depth, resamples=9)
        assert failure(gf.report, judgments, runs, measure, policy=policy, resamples=9) == why
        return None


@pytest.mark.parametrize("measure", [*WORKED, *FAMILIES])
def test_random_details(measure, deep):
    shown, enough = 0, 15 if deep else 5
    for seed in range(15 if deep else 10):
        if shown > enough and not deep:
            break
        rng = random.Random(f"{measure} {seed}")  # noqa: S311
        judgments, one = random_case(rng.random())
        runs = {"one": one} | {name: random_case(rng.random())[1] for name in ("two", "three")}
        policy, depth = random_policy(rng), rng.choice([None, 1, 2, 5, 9])
        page = reported(judgments, runs, measure, policy, depth)
        if page is None:
            continue
        payload = page.payload()
        deepest = depth or gf.measure(measure).cutoff or 20
        for place, query in enumerate(payload["queries"]):
            detail = payload["details"][str(place)]
            values = [scores[place] for scores in payload["scores"][0]]
            assert [each["value"] for each in detail["lists"]] == values
            check_query(judgments, runs, detail, query["id"], measure, policy, deepest)
            shown += 1
    assert shown > enough


def rank_of(detail, run, doc):
    """Return the rank that a detail tells of a document, by its number."""
    shown = detail["lists"][run]
    below = dict(zip(shown["below"][::2], shown["below"][1::2], strict=True))
    return next((row[1] for row in shown["rows"] if row[0] == doc), below.get(doc))


@pytest.mark.parametrize("measure", ["nDCG@3", "AP"])
def test_every_document_shown_has_its_rank_in_every_run(measure):
    below = 0
    for seed in range(8):
        rng = random.Random(seed)  # noqa: S311
        docs = [f"d{place}" for place in range(12)]
        judgments = {"q": {doc: rng.randint(0, 2) for doc in docs[:6]} | {"d0": 1}}
        runs = {
            name: {"q": {doc: rng.random() for doc in rng.sample(docs, 8)}}
            for name in ("one", "two", "three")
        }
        detail = gf.report(judgments, runs, measure, depth=3).payload()["details"]["0"]
        for place, run in enumerate(runs.values()):
            order = sorted(run["q"], key=lambda doc: -run["q"][doc])
            for row in itertools.chain(*(shown["rows"] for shown in detail["lists"])):
                doc = detail["docs"][row[0]][0]
                rank = order.index(doc) + 1 if doc in order else None
                assert rank_of(detail, place, row[0]) == rank
                below += rank is not None and rank > 3
    assert below > 10


def test_saved_scores_tell_of_no_ranks():
    judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1}}
    saved = gf.results.Baseline.of(gf.evaluate(judgments, {"q": {"b": 1}}, "nDCG@10"))
    detail = gf.report(judgments, {"old": saved, "new": run}).payload()["details"]["0"]
    assert [shown["below"] for shown in detail["lists"]] == [None, []]


def test_below_the_cutoff_a_discount_is_0():
    judgments = {"q": {"a": 1, "b": 2}}
    runs = {"one": {"q": {"a": 3, "x": 2, "b": 1}}}
    (detail,) = gf.report(judgments, runs, "nDCG@1", depth=3).payload()["details"].values()
    assert named(detail["lists"][0]["rows"], detail) == [
        ("a", 1, 1, 1, 1, 1, 1),
        ("x", 2, 2, 0, 0, 0, 1),
        ("b", 3, 3, 2, 0, 0, 1),
    ]
    assert (detail["lists"][0]["retrieved"], detail["lists"][0]["more"]) == (3, 0)


def test_what_a_changed_list_is_recomputed_from():
    """The gain below the list, the gains below the shown ideal, and the gain of every grade."""
    judgments = {"q": {"a": 1, "b": 2, "c": 3, "d": 1, "e": 0, "f": -1}}
    runs = {"one": {"q": {"a": 3, "x": 2, "c": 1, "b": 0}}}
    payload = gf.report(judgments, runs, "nDCG(gain=exp2)@2").payload()
    detail = payload["details"]["0"]
    assert detail["lists"][0]["next"] == 7
    assert detail["ideal"]["rest"] == [[1, 2]]
    assert payload["what_if"] == {
        "why": "", "sum": "DCG(gain=exp2)@2", "ideal": "IDCG(gain=exp2)@2", "cutoff": 2,
        "gains": [[-1, -0.5], [0, 0], [1, 1], [2, 3], [3, 7]],
        "refused": {"swap": "", "move": "", "remove": "", "regrade": ""},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "policy", "refused"),
    [
        ("nDCG(ideal=retrieved)@5", {}, {"remove": "ideal depends", "regrade": "ideal depends"}),
        ("DCG@5", {"absent": "lowest"}, {"remove": "policy absent", "regrade": "policy absent"}),
        ("nDCG@5", {"negative": "both"}, {"regrade": "policy negative"}),
    ],
)
def test_changes_that_the_page_cannot_compute_say_why(measure, policy, refused):
    judgments, runs = {"q": {"a": 1, "b": -1}}, {"one": {"q": {"a": 1, "b": 2}}}
    page = gf.report(judgments, runs, measure, policy=gf.Policy(**policy)).payload()
    why = page["what_if"]["refused"]
    assert {kind for kind, reason in why.items() if reason} == refused.keys()
    assert all(reason in why[kind] for kind, reason in refused.items())


def test_a_measure_without_a_worked_table():
    judgments = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    runs = {"one": {"q": {"b": 2, "a": 1}}, "two": {"q": {"a": 2, "c": 1}, "r": {"a": 1}}}
    payload = gf.report(judgments, runs, "2*AP", depth=1).payload()
    detail = payload["details"]["0"]
    assert detail["docs"] == [["b", 0, None, None], ["a", 1, None, None]]
    assert detail["lists"][0] == {
        "rows": [[0, 1, 1, None, None, None, None]],
        "value": 1, "total": None, "ideal": None, "retrieved": 2, "more": 1, "missing": False,
        "next": None, "below": [1, 2],
    }  # fmt: skip
    assert (detail["ideal"], detail["parts"], detail["conventions"]) == (None, [None, None], "")
    assert detail["conclusions"] == ["2*AP = 1.000", "2*AP = 2.000"]
    lacking = payload["details"]["1"]
    assert lacking["lists"][0]["missing"]
    assert lacking["lists"][0]["rows"] == []
    assert "policy missing=zero" in lacking["conclusions"][0]


def test_a_family_shows_what_its_documents_add():
    judgments = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    runs = {"one": {"q": {"b": 2, "a": 1}}, "two": {"q": {"a": 2, "c": 1}, "r": {"a": 1}}}
    payload = gf.report(judgments, runs, "AP", depth=1).payload()
    detail = payload["details"]["0"]
    assert detail["lists"][0] == {
        "rows": [[0, 1, 1, 0, 0, 0, 0]],
        "value": 0.5, "total": 0.5, "ideal": 1, "retrieved": 2, "more": 1, "missing": False,
        "next": None, "below": [1, 2],
    }  # fmt: skip
    assert detail["columns"] == ["relevant", "precision", "sum"]
    assert named(detail["parts"][1], detail) == [("a", 2, 1, 0.5)]
    assert detail["conclusions"] == [
        "AP = sum / R = 0.500 / 1 = 0.500",
        "AP = sum / R = 1 / 1 = 1.000",
    ]


def test_ties_share_a_block_of_ranks():
    judgments = {"q": {"a": 2, "b": 1}}
    run = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    policy = gf.Policy(ties="average")
    (detail,) = (
        gf.report(judgments, {"run": run}, "nDCG@2", policy=policy).payload()["details"].values()
    )
    rows = named(detail["lists"][0]["rows"], detail)
    assert [row[:3] for row in rows] == [("a", 1, 3), ("b", 1, 3), ("c", 1, 3)]
    expected = (1 + 1 / math.log2(3)) / 3
    assert [row[4] for row in rows] == pytest.approx([expected] * 3)
    assert detail["lists"][0]["more"] == 1


def test_files_give_the_details_of_dicts(tmp_path):
    judgments, one = random_case(5)
    _, two = random_case(6)
    qrels = tmp_path / "judgments.qrels"
    gf.write_judgments(judgments, qrels)
    files = {}
    for name, run in (("one", one), ("two", two)):
        files[name] = tmp_path / f"{name}.parquet"
        gf.write_run(run, files[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        for ties, measure in itertools.product(["doc", "average"], ["nDCG@3", "nDCG"]):
            policy = gf.Policy(ties=ties)
            by_dict = gf.report(judgments, {"one": one, "two": two}, measure, policy=policy)
            by_file = gf.report(qrels, files, measure, policy=policy)
            assert by_file.payload() == by_dict.payload()


@functools.cache
def page_of(kind, policy):
    """A page whose grades and scores are of a type of numbers."""
    judgments = {"q": {"a": kind(1), "b": kind(0)}, "r": {"c": kind(1)}}
    runs = {
        "one": {"q": {"x": 3, "b": 2, "a": 1}, "r": {"c": 1}},
        "two": {"q": {"a": kind(1)}, "r": {"x": 2, "c": kind(1)}},
    }
    measures = ["nDCG@3", "AP"]
    page = gf.report(judgments, runs, measures, policy=policy, created="2026-11-15", resamples=50)
    return page.to_html()


@pytest.mark.parametrize("kind", [int, np.int64, np.int8, np.float32, bool, np.bool_])
def test_grades_of_any_type_of_number(kind):
    for policy in (gf.Policy(), gf.Policy(unjudged=1), gf.Policy(absent=1)):
        assert page_of(kind, policy) == page_of(float, policy)


@pytest.mark.parametrize(
    ("measure", "policy", "whose"),
    [
        ("nDCG@3", gf.Policy(), None),
        ("nDCG(depth=all)@3", gf.Policy(), None),
        ("nDCG(ideal=retrieved)@3", gf.Policy(), 1),
        ("nDCG(depth=retrieved)@3", gf.Policy(), 1),
        ("nDCG@3", gf.Policy(unjudged=2), 1),
    ],
)
def test_an_ideal_says_whose_it_is_where_each_run_has_its_own(measure, policy, whose):
    judgments = {"q": {"a": 2, "b": 1, "c": 1}, "r": {"a": 1}}
    runs = {
        "lacking": {"r": {"a": 1}},
        "two": {"q": {"a": 1, "x": 2}, "r": {"a": 1}},
        "three": {"q": {"b": 1}, "r": {"a": 1}},
    }
    detail = gf.report(judgments, runs, measure, policy=policy).payload()["details"]["0"]
    assert detail["ideal"]["run"] == whose
    explained = gf.explain(judgments, runs["two"], measure, query="q", policy=policy)
    check_ideal(detail, explained, 3)
    assert f"{detail['ideal']['pool']}, best first" in explained.parts[1].title
    alone = {"two": runs["two"]}
    detail = gf.report(judgments, alone, measure, policy=policy).payload()["details"]["0"]
    assert detail["ideal"]["run"] is None
