"""The parts of the documents sum to the difference of the values, and each is what it should be."""

import csv
import io
import itertools
import json
import math
import random
import re

import pytest

import gainful as gf
from random_measures import TABLE
from random_runs import random_case

JUDGMENTS = {"q": {"a": 3, "b": 2, "c": 1, "z": 0}, "r": {"a": 1}, "s": {"a": 1}}
BASE = {"q": {"b": 9, "x": 8, "a": 7, "z": 6}, "r": {"a": 1}}
RUN = {"q": {"a": 9, "b": 8, "c": 7, "z": 6}}
SECOND = 1 / math.log2(3)  # the discount of rank 2


def parts(attribution):
    return {each.doc: each.part for each in attribution.documents}


def test_worked_by_hand():
    # base: b (2) at 1, x at 2, a (3) at 3: 2 + 0 + 3/2. run: a, b, c, which is the ideal.
    found = gf.explanation.attribute(JUDGMENTS, BASE, RUN, "nDCG@3", query="q")
    ideal = 3 + 2 * SECOND + 1 / 2
    assert (found.base_total, found.run_total) == pytest.approx((3.5, ideal))
    assert found.base_ideal == found.run_ideal == pytest.approx(ideal)
    assert found.base_value == pytest.approx(3.5 / ideal)
    assert found.run_value == 1.0
    assert found.difference == found.run_value - found.base_value
    assert [
        (each.doc, each.grade, each.gain, each.base_rank, each.run_rank) for each in found.documents
    ] == [
        ("a", 3.0, 3.0, 3, 1),
        ("b", 2.0, 2.0, 1, 2),
        ("c", 1.0, 1.0, None, 3),
        ("x", None, 0.0, 2, None),
        ("z", 0.0, 0.0, 4, 4),
    ]
    assert [(each.base_term, each.run_term) for each in found.documents[:3]] == [
        (1.5, 3.0),
        (2.0, pytest.approx(2 * SECOND)),
        (0.0, 0.5),
    ]
    assert [each.change for each in found.documents] == pytest.approx(
        [1.5, 2 * SECOND - 2, 0.5, 0, 0]
    )
    assert [each.part for each in found.documents] == pytest.approx(
        [1.5 / ideal, (2 * SECOND - 2) / ideal, 0.5 / ideal, 0, 0]
    )
    assert found.others == ()
    assert "\nsum " in str(found)
    assert str(found).endswith("nDCG@3: base 0.7350, run 1.0000, difference +0.2650")


def test_tied_documents_have_the_mean_discount_of_their_block():
    base = {"q": {"a": 1, "b": 1}}
    policy = gf.Policy(ties="average")
    found = gf.explanation.attribute(JUDGMENTS, base, RUN, "DCG@1", query="q", policy=policy)
    # Either of a and b is at rank 1 half the time; rank 2 is below the cutoff.
    assert parts(found) == pytest.approx({"a": 3 - 3 / 2, "b": 0 - 2 / 2, "c": 0, "z": 0})
    (first, *_) = found.documents
    assert (first.base_rank, first.base_rank_last, first.run_rank) == (1, 2, 1)
    assert "1–2" in str(found)


def test_open_ranks_have_a_row_of_their_own():
    policy = gf.Policy(absent=-1)
    found = gf.explanation.attribute(
        JUDGMENTS, {"q": {"a": 1}}, RUN, "nDCG@3", query="q", policy=policy
    )
    (absent,) = found.others
    ideal = 3 + 2 * SECOND + 1 / 2
    assert (absent.name, absent.run_term) == ("absent", 0.0)
    assert absent.base_term == pytest.approx(-SECOND - 1 / 2)
    assert absent.part == pytest.approx((SECOND + 1 / 2) / ideal)
    assert "(absent)" in str(found)
    assert absent.change + sum(each.change for each in found.documents) == pytest.approx(
        found.run_total - found.base_total
    )


def test_ideals_that_differ_have_a_row_of_their_own():
    # The base is a, its own ideal, 1; the run is x, a with x taken as 2: its own ideal, too.
    judgments, base, run = {"q": {"a": 1}}, {"q": {"a": 2}}, {"q": {"x": 2, "a": 1}}
    policy = gf.Policy(unjudged=2)
    found = gf.explanation.attribute(judgments, base, run, "nDCG", query="q", policy=policy)
    assert (found.base_value, found.run_value) == (1.0, 1.0)
    assert (found.base_ideal, found.run_ideal) == pytest.approx((1, 2 + SECOND))
    weight = (1 + 1 / (2 + SECOND)) / 2
    assert parts(found) == pytest.approx({"x": 2 * weight, "a": (SECOND - 1) * weight})
    (ideal,) = found.others
    assert (ideal.name, ideal.base_term, ideal.run_term) == ("ideal", 0.0, 0.0)
    assert ideal.part == pytest.approx((3 + SECOND) / 2 * (1 / (2 + SECOND) - 1))
    assert "IDCG = 1.0000 for the base, 2.6309 for the run" in str(found)
    # DCG has no ideal, and the same ideal has no part.
    assert (
        gf.explanation.attribute(judgments, base, run, "DCG", query="q", policy=policy).others == ()
    )
    policy = gf.Policy(unjudged=0)
    assert (
        gf.explanation.attribute(judgments, base, run, "nDCG", query="q", policy=policy).others
        == ()
    )


GAINS = ("linear", "exp2", "binary", TABLE, lambda grade: grade * grade - 1)
DISCOUNTS = (
    {"discount": "log"},
    {"discount": "log", "base": 10},
    {"discount": "jarvelin", "base": 3.5},
    {"discount": "reciprocal"},
    {"discount": "power(0.5)"},
    {"discount": "none"},
)
CHOICES = {
    "ties": ("doc", "doc_ascending", "average", "best", "worst", "order"),
    "unjudged": ("zero", "zero", "condense", 0.0, 1.0, 3.0, -1.0),
    "absent": ("zero", "zero", "lowest", -1.0, 2.0),
    "negative": ("keep", "zero", "both", "unjudged"),
    "empty": ("zero", "one"),
    "drop_self": ("no", "yes", "run"),
    "precision": ("double", "single"),
}


def random_measure(rng):
    name, cutoff = rng.choice(["CG", "DCG", "nDCG", "nDCG"]), rng.choice([None, 1, 2, 3, 5, 9])
    given = {"gain": rng.choice(GAINS), **({} if name == "CG" else rng.choice(DISCOUNTS))}
    if name == "nDCG" and rng.random() < 0.5:
        given["ideal"] = rng.choice(["judged", "retrieved"])
        given["depth"] = rng.choice(["cutoff", "all", "retrieved"])
    return gf.Measure(name, cutoff=cutoff, **given)


def random_pair(seed, rng):
    """Judgments and two runs, one of which may lack a query; a query may be a document."""
    judgments, run = random_case(seed)
    _, base = random_case(seed + 1_000_000)
    for documents in (judgments, base, run):
        for query in documents:
            if rng.random() < 0.2:
                documents[query][query] = 2
    return judgments, base, run


def cases(count, first=0):
    for seed in range(first, count):
        rng = random.Random(seed)  # noqa: S311
        judgments, base, run = random_pair(seed, rng)
        policy = gf.Policy(**{name: rng.choice(answers) for name, answers in CHOICES.items()})
        yield seed, judgments, base, run, random_measure(rng), policy


def evaluated(judgments, run, measure, policy):
    return {
        query: row[str(measure)]
        for query, row in gf.evaluate(judgments, run, measure, policy=policy)
        .per_query.to_dict()
        .items()
    }


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_the_parts_sum_to_the_difference_of_the_evaluation(deep):
    seen = set()
    for seed, judgments, base, run, measure, policy in cases(600, 0 if deep else 225):
        values = [evaluated(judgments, each, measure, policy) for each in (base, run)]
        for query in judgments.keys() & (base.keys() | run.keys()):
            where = (seed, query, measure, policy)
            found = gf.explanation.attribute(
                judgments, base, run, measure, query=query, policy=policy
            )
            assert found.base_value == values[0][query], where
            assert found.run_value == values[1][query], where
            rows = [*found.documents, *found.others]
            total = math.fsum(row.part for row in rows)
            assert abs(total - (values[1][query] - values[0][query])) < 1e-12, where
            for side in ("base", "run"):
                terms = math.fsum(getattr(row, f"{side}_term") for row in rows)
                assert abs(terms - getattr(found, f"{side}_total")) < 1e-12, where
            docs = [each.doc for each in found.documents]
            assert len(set(docs)) == len(docs)
            sizes = [abs(each.part) for each in found.documents]
            assert sizes == sorted(sizes, reverse=True)
            names = {other.name for other in found.others}
            of_run = "=retrieved" in str(measure)
            assert "ideal" not in names or isinstance(policy.unjudged, float) or of_run
            seen |= names | set(found.remarks)
    # The cases are worth nothing if what is rare is not among them.
    assert {"absent", "ideal"} <= seen
    assert {"the base lacks the query: policy missing=zero"} <= seen
    assert {"the run lacks the query: policy missing=zero"} <= seen
    assert {"no judged document has a positive gain: policy empty=one"} <= seen
    assert {"no judged document has a positive gain for the base: policy empty=one"} <= seen
    assert {"no document of the ideal has a positive gain for the run: policy empty=one"} <= seen
    assert {"the ideal is not above 0 for the base: policy empty=zero"} <= seen


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_exchanging_base_and_run_changes_the_signs_and_nothing_else(deep):
    for seed, judgments, base, run, measure, policy in cases(150 if deep else 75):
        for query in judgments.keys() & base.keys() & run.keys():
            there = gf.explanation.attribute(
                judgments, base, run, measure, query=query, policy=policy
            )
            back = gf.explanation.attribute(
                judgments, run, base, measure, query=query, policy=policy
            )
            assert parts(back) == pytest.approx(
                {doc: -part for doc, part in parts(there).items()}, abs=1e-12
            ), (seed, query)


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_each_part_is_the_gain_times_the_difference_of_the_discounts(deep):
    for seed in range(200 if deep else 100):
        judgments, base, run = random_pair(seed, random.Random(seed))  # noqa: S311
        for query in judgments.keys() & base.keys() & run.keys():
            grades = judgments[query]
            best = sorted((max(grade, 0) for grade in grades.values()), reverse=True)[:3]
            ideal = sum(grade / math.log2(i + 2) for i, grade in enumerate(best))
            ranked = [
                sorted(side[query], key=lambda doc: (side[query][doc], doc), reverse=True)
                for side in (base, run)
            ]
            found = gf.explanation.attribute(judgments, base, run, "nDCG@3", query=query)
            for each in found.documents:
                before, after = (
                    1 / math.log2(docs.index(each.doc) + 2) if each.doc in docs[:3] else 0.0
                    for docs in ranked
                )
                change = grades.get(each.doc, 0) * (after - before)
                assert each.change == pytest.approx(change, abs=1e-12)
                assert each.part == pytest.approx(change / ideal if ideal else 0.0, abs=1e-12)
            shown = {each.doc for each in found.documents}
            assert shown == {*ranked[0][:3], *ranked[1][:3]} | (
                grades.keys() & {*ranked[0], *ranked[1]}
            )


def test_ranks_below_the_cutoff_are_shown_and_count_nothing():
    found = gf.explanation.attribute(JUDGMENTS, BASE, RUN, "DCG@2", query="q")
    (first, *_) = found.documents
    assert (first.doc, first.base_rank, first.base_term) == ("a", 3, 0.0)
    assert "c" in parts(found)  # judged, and returned below the cutoff


def test_condensed_lists_have_no_unjudged_documents():
    policy = gf.Policy(unjudged="condense")
    found = gf.explanation.attribute(JUDGMENTS, BASE, RUN, "DCG@3", query="q", policy=policy)
    assert {each.doc: each.base_rank for each in found.documents} == {
        "a": 2,
        "b": 1,
        "c": None,
        "z": 3,
    }


def test_documents_without_a_part_are_counted_not_shown():
    same = {f"u{number}": -number for number in range(20)}
    base, run = {"q": {**BASE["q"], **same}}, {"q": {**RUN["q"], **same}}
    found = gf.explanation.attribute(JUDGMENTS, base, run, "nDCG", query="q")
    assert len(found.documents) == len(found.table().rows) == 25
    (shown,) = found.tables()
    # a, b and c with a part, three without, and the sum.
    assert [row[0] for row in shown.rows] == ["a", "b", "c", "x", "z", "u0", "sum"]
    assert "19 more documents do not affect the difference\n" in str(found)


def test_terms_that_are_not_shown_are_summed():
    judged = {f"d{number}": 1 for number in range(6)}
    scores = {"q": {doc: -place for place, doc in enumerate(judged)}}
    found = gf.explanation.attribute({"q": judged}, scores, scores, "CG", query="q")
    assert found.difference == 0.0
    assert "3 more documents do not affect the difference; 3.0000 of either sum" in str(found)


def test_every_format():
    found = gf.explanation.attribute(JUDGMENTS, BASE, RUN, "nDCG@3", query="q")
    assert gf.writing.render(found) == str(found)
    rows = list(csv.DictReader(io.StringIO(gf.writing.render(found, "csv"))))
    assert [float(row["part of nDCG@3"]) for row in rows] == [*parts(found).values()]
    assert [row["run rank"] for row in rows] == ["1", "2", "3", "", "4"]
    assert rows[3]["grade"] == "unjudged"
    assert gf.writing.render(found, "tsv").startswith("doc\tgrade\tgain\tbase rank\t")
    lines = [json.loads(line) for line in gf.writing.render(found, "jsonl").splitlines()]
    assert lines[2]["base rank"] is None
    plain = json.loads(gf.writing.render(found, "json"))
    assert plain == found.to_dict()
    assert plain["difference"] == found.difference
    assert plain["policy"]["ties"] == "doc"
    assert [each["part"] for each in plain["documents"]] == [*parts(found).values()]
    assert "| c | 1 | 1 |  | 3 | 0.0000 | 0.5000 | 0.5000 | 0.1050 |" in found.to_markdown()
    assert r"c & 1 & 1 &  & 3 & 0.0000 & 0.5000 & 0.5000 & 0.1050 \\" in gf.writing.render(
        found, "latex"
    )
    assert found._repr_html_() == gf.writing.render(found, "html")
    assert "<td>unjudged</td>" in found.to_html()


def test_a_bare_sum_has_one_column_of_parts():
    found = gf.explanation.attribute(JUDGMENTS, BASE, RUN, "CG@3", query="q")
    assert found.table().columns[-2:] == ["run term", "part of CG@3"]
    assert (found.base_ideal, found.run_ideal) == (None, None)
    assert parts(found) == {"c": 1.0, "a": 0.0, "b": 0.0, "x": 0.0, "z": 0.0}


def test_what_would_be_markup_shows_as_text():
    nasty = "<script>alert(1)</script>\x1b"
    run = {nasty: {nasty: 1, "|": 0}}
    found = gf.explanation.attribute({nasty: {nasty: 1, "|": 1}}, run, run, "nDCG", query=nasty)
    assert "<script>" not in found.to_html()
    assert r"\|" in found.to_markdown()
    assert "\x1b" not in str(found)


def test_files_frames_and_chunks_are_read_as_in_an_evaluation(files):
    expected = gf.explanation.attribute(JUDGMENTS, BASE, RUN, query="q").to_dict()
    for name, documents in (("base", BASE), ("run", RUN)):
        gf.write_run(documents, files(f"{name}.run", ""))
    judgments = files("judgments.qrels", "")
    gf.write_judgments(JUDGMENTS, judgments)
    base, run = judgments.parent / "base.run", judgments.parent / "run.run"
    assert gf.explanation.attribute(judgments, base, run, query="q").to_dict() == expected
    assert gf.explanation.attribute(JUDGMENTS, base, RUN, query="q").to_dict() == expected
    chunked = {"q": {"a#1": 9, "b#1": 8, "a#2": 7.5, "c#1": 7, "z#1": 6}}
    policy = gf.Policy(fold="max")
    found = gf.explanation.attribute(JUDGMENTS, BASE, chunked, query="q", policy=policy, chunks="#")
    assert found.to_dict()["documents"] == expected["documents"]


def test_a_query_that_a_run_lacks_is_0_there():
    found = gf.explanation.attribute(JUDGMENTS, BASE, RUN, "nDCG", query="r")
    assert (found.base_value, found.run_value) == (1.0, 0.0)
    assert parts(found) == {"a": -1.0}
    assert "the run lacks the query: policy missing=zero" in str(found)


@pytest.mark.parametrize(
    ("query", "choices", "said"),
    [
        ("Q", {}, "expected a judged query, found 'Q'. Did you mean 'q'?"),
        ("s", {}, "expected a query of the base or of the run, found 's' in neither"),
        ("r", {"missing": "skip"}, "It has no value there under the policy missing=skip"),
        ("r", {"missing": "error"}, "missing from the run"),
        ("q", {"unjudged": "error"}, "1 unjudged: 'x'"),
        (None, {}, "a string (or an integer) as id"),
    ],
)
def test_queries_that_cannot_be_attributed(query, choices, said):
    with pytest.raises(gf.errors.InputError, match=re.escape(said)):
        gf.explanation.attribute(JUDGMENTS, BASE, RUN, query=query, policy=gf.Policy(**choices))


@pytest.mark.parametrize("empty", ["skip", "error", "nan"])
def test_a_value_that_the_policy_does_not_have_has_no_parts(empty):
    judgments = {"q": {"a": 0, "b": -1}}
    policy = gf.Policy(empty=empty)
    with pytest.raises(
        gf.errors.InputError, match=f"It has no value under the policy empty={empty}"
    ):
        gf.explanation.attribute(judgments, BASE, RUN, query="q", policy=policy)
    assert (
        gf.explanation.attribute(judgments, BASE, RUN, "DCG", query="q", policy=policy).difference
        > 0
    )


def test_without_positive_gain_only_the_sums_have_parts():
    found = gf.explanation.attribute({"q": {"a": 0, "b": -1}}, BASE, RUN, query="q")
    assert found.difference == 0.0
    (first, *_) = found.documents
    assert (first.doc, first.part) == ("b", 0.0)
    assert first.change == pytest.approx(1 - SECOND)
    assert "no judged document has a positive gain: policy empty=zero" in str(found)


def test_the_scaled_form_of_ndcg_is_not_attributed():
    with pytest.raises(gf.errors.MeasureError, match="a sum over the documents of a list"):
        gf.explanation.attribute(JUDGMENTS, BASE, RUN, "nDCG(norm=minmax)", query="q")


def test_nothing_that_is_passed_is_changed():
    before = [json.dumps(each) for each in (JUDGMENTS, BASE, RUN)]
    for unjudged, absent in itertools.product((1, "condense"), ("lowest", 2)):
        policy = gf.Policy(unjudged=unjudged, absent=absent)
        gf.explanation.attribute(JUDGMENTS, BASE, RUN, query="q", policy=policy)
    assert [json.dumps(each) for each in (JUDGMENTS, BASE, RUN)] == before
