"""Every family of the catalogue is worked out: the steps lead to the value that the kernels have."""

import itertools
import math
import random
import re
from decimal import Decimal
from fractions import Fraction

import ir_measures
import pytest

import gainful as gf
from gainful.analysis.explanation import explain as explaining
from gainful.evaluation import measuring
from random_measures import as_dicts, random_cutoff, random_list, random_parameters

FAMILIES = [family.name for family in gf.measures.families(needs="grades")]
ADDITIVE = {
    "CG", "DCG", "nDCG", "G", "binG", "SDCG", "grid_DCG", "grid_nDCG", "P", "R", "RelP", "Judged", "Unjudged", "UnjudgedMass",
    "NumRet", "NumRelRet", "NumNonrelRet", "AP", "GMAP", "RR", "Rprec", "bpref", "GMbpref", "infAP", "ERR", "nERR",
    "RBP", "Q", "GAP", "INST", "INSQ", "BPM", "ETG", "Compat",
}  # fmt: skip
POLICIES = [
    {"ties": "doc"},
    {"ties": "average"},
    {"ties": "best", "unjudged": "condense"},
    {"ties": "worst", "negative": "zero"},
    {"ties": "order", "unjudged": 1.0},
    {"ties": "doc_ascending", "empty": "one", "negative": "unjudged"},
]


def drawn(name, seed, grades=None):
    """Return a measure of a family, judgments, a run with ties, and a policy, all by chance."""
    rng = random.Random(f"{name} {seed}")  # noqa: S311
    family = next(family for family in gf.measures.families(needs="grades") if family.name == name)
    measure = gf.Measure(name, cutoff=random_cutoff(rng, family), **random_parameters(rng, family))
    judgments, run = as_dicts([random_list(rng)])
    if rng.random() < 0.5:  # ties
        run = {
            query: {doc: score // 2 for doc, score in docs.items()} for query, docs in run.items()
        }
    return rng, measure, judgments, run, gf.Policy(**rng.choice(POLICIES))


def values(judgments, run, measure, policy):
    return gf.evaluate(judgments, run, measure, policy=policy).per_query.to_dict()["q0"][
        str(measure)
    ]


def close(found, wanted):
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize("name", FAMILIES)
def test_the_steps_of_every_family_lead_to_its_value(name, deep, monkeypatch):
    worked_lists = []
    work_out = explaining.work_out

    def kept(*given):
        worked_lists.append(work_out(*given))
        return worked_lists[-1]

    monkeypatch.setattr(explaining, "work_out", kept)
    explained = 0
    for seed in range(400 if deep else 20):
        _, measure, judgments, run, policy = drawn(name, seed)
        if not run["q0"] or not judgments["q0"]:
            continue
        where = seed, str(measure), policy, judgments, run
        try:
            value = values(judgments, run, measure, policy)
        except (gf.errors.InputError, gf.errors.PolicyError) as problem:
            with pytest.raises(type(problem)):
                gf.explain(judgments, run, measure, query="q0", policy=policy)
            continue
        worked_lists.clear()
        found = gf.explain(judgments, run, measure, query="q0", policy=policy)
        explained += 1
        assert found.value == value, where
        assert " ".join(found.conclusion.split()) in " ".join(str(found).split()), where
        for part in found.parts:
            total = sum(step.gain * step.discount for step in part.steps)
            assert part.total is None or close(part.total, total), where
            if part.adds and part.steps:
                assert close(part.steps[-1].sum, part.total), where
        is_empty = "policy empty=" in found.remark
        for worked in worked_lists:
            if name in ADDITIVE and not is_empty and not measure.changes("norm"):
                divisor = 1.0 if worked.divisor is None else worked.divisor
                assert close(worked.total / divisor if divisor else 0.0, value), (where, worked)
        assert is_empty or a_reader_gets_the_value(found), (where, found.conclusion)
        if not (is_empty or found.working or found.remark):  # a reader sees only the sum
            assert [part.total for part in found.parts] == [pytest.approx(value)], where
    assert explained >= 10


def a_reader_gets_the_value(explanation):
    """Return whether the printed numbers give the printed value, to its last digit, however halves are rounded."""
    if not explanation.working:
        return True
    _, numbers, value = explanation.conclusion.partition("  (")[0].rsplit(" = ", 2)
    numbers = numbers.replace("·", "*").replace("−", "-").replace("^", "**")
    assert re.fullmatch(r"[-+*/(). \deln]*", numbers), numbers
    exactly = re.sub(r"[\d.]+(e-?\d+)?", r"Fraction('\g<0>')", numbers)
    try:
        found = eval(exactly, {"ln": math.log, "Fraction": Fraction})  # noqa: S307 - checked above
    except ZeroDivisionError:
        return explanation.value == 0
    last_digit = Fraction(10) ** Decimal(value).as_tuple().exponent
    return abs(found - Fraction(value)) < last_digit / 2


def test_every_printed_fraction_gives_the_printed_value_to_its_last_digit():
    measures = ["nDCG@3", "nDCG(gain=exp2)", "AP", "P@3", "F@3", "nERR", "Q"]
    explained = 0
    for grades in itertools.product(range(3), repeat=4):
        for measure in measures:
            found = gf.explanation.explain_grades(grades, measure, judged=[*grades, 2, 1, 1])
            assert a_reader_gets_the_value(found), found.conclusion
            explained += bool(found.working)
    assert explained > 483


def test_fractions_have_three_decimals_where_those_are_enough():
    for grades, said in {
        (1, 0, 0): "AP = sum / R = 1 / 3 = 0.333",
        (0, 1, 0): "AP = sum / R = 0.500 / 3 = 0.167",
        (0, 0, 1): "AP = sum / R = 0.333 / 3 = 0.111",
        (0, 1, 1): "AP = sum / R = 1.167 / 3 = 0.389",
    }.items():
        judged = [1, 1, 1, *[0] * 3]
        assert gf.explanation.explain_grades(grades, "AP", judged=judged).conclusion == said
    sixth = gf.explanation.explain_grades([0] * 5 + [1], "AP", judged=[0] * 5 + [1, 1])
    assert sixth.conclusion == "AP = sum / R = 0.1667 / 2 = 0.083"
    half = gf.explanation.explain_grades([0] * 7 + [1], "AP", judged=[0] * 7 + [1, 1])
    assert half.conclusion == "AP = sum / R = 0.125 / 2 = 0.0625"


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize("name", sorted(ADDITIVE))
def test_the_parts_of_documents_add_up_to_the_difference(name, deep):
    attributed = 0
    for seed in range(200 if deep else 20):
        rng, measure, judgments, run, policy = drawn(name, seed)
        if measure.changes("norm") or not run["q0"] or not judgments["q0"]:
            continue
        docs = [*run["q0"], *judgments["q0"], "new"]
        base = {"q0": {doc: float(rng.randint(0, 9)) for doc in docs if rng.random() < 0.6}}
        if not base["q0"]:
            continue
        try:
            wanted = [values(judgments, each, measure, policy) for each in (base, run)]
        except (gf.errors.InputError, gf.errors.PolicyError):
            continue
        found = gf.explanation.attribute(judgments, base, run, measure, query="q0", policy=policy)
        attributed += 1
        where = seed, str(measure), policy, judgments, base, run
        assert [found.base_value, found.run_value] == wanted, where
        parts = math.fsum(each.part for each in (*found.documents, *found.others))
        assert close(parts, wanted[1] - wanted[0]) or abs(parts - wanted[1] + wanted[0]) < 1e-9, (
            where
        )
        other = gf.explanation.attribute(judgments, run, base, measure, query="q0", policy=policy)
        assert {each.doc: each.part for each in found.documents} == pytest.approx(
            {each.doc: -each.part for each in other.documents}, rel=1e-9, abs=1e-12
        ), where
    assert attributed >= 5


def test_what_does_not_add_up_is_said_and_explained():
    judgments, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 2, "x": 1, "a": 0}}
    for name in sorted(set(FAMILIES) - ADDITIVE):
        measure = gf.Measure(name)
        with pytest.raises(gf.errors.MeasureError, match="a sum over the documents of a list"):
            gf.explanation.attribute(judgments, run, run, measure, query="q")
        assert gf.explain(judgments, run, measure, query="q").conclusion.startswith(f"{name} = ")


def test_a_list_of_grades_has_the_examples_of_the_catalogue():
    for family in gf.measures.families(needs="grades"):
        example = family.example
        if None in example.grades:
            continue
        judged = [*example.grades, *example.also]
        found = gf.explanation.explain_grades(example.grades, example.measure, judged=judged)
        digits = len(example.value.partition(".")[2])
        assert f"{found.value:.{digits}f}" == example.value, family.name
        assert found.value == pytest.approx(float(example.value), abs=0.6 * 10.0**-digits)


def test_average_precision_by_hand():
    found = gf.explanation.explain_grades([1, 0, 2], "AP", judged=[1, 0, 2, 3])
    (part,) = found.parts
    assert part.columns == ("i", "", "grade", "relevant", "precision", "contribution", "sum")
    assert [(step.gain, step.discount) for step in part.steps] == [(1, 1), (0, 1 / 2), (1, 2 / 3)]
    assert found.conclusion == "AP = sum / R = 1.667 / 3 = 0.556"
    assert found.conventions.startswith("AP@k = (1/R) Σ P@i")


def test_tied_documents_share_what_is_expected_of_their_ranks():
    # b and x share ranks 1 and 2: of the two orders, RR is 1 or 1/2, AP (1 + 2/3)/2 or (1/2 + 2/3)/2.
    judgments, run = {"q": {"a": 1, "b": 1}}, {"q": {"b": 2, "x": 2, "a": 1}}
    policy = gf.Policy(ties="average")
    found = gf.explain(judgments, run, "AP", query="q", policy=policy)
    first, *_, last = found.parts[0].steps
    assert (first.doc, first.rank, first.rank_last) == ("b", 1, 2)
    assert first.contribution == pytest.approx((1 + 1 / 2) / 2)
    assert last.contribution == pytest.approx(2 / 3)
    rank = gf.explain(judgments, run, "RR", query="q", policy=policy)
    assert rank.value == rank.parts[0].total == pytest.approx(3 / 4)
    hits = gf.explain(judgments, run, "P@1", query="q", policy=policy)
    assert hits.parts[0].weight == "chance"
    assert hits.conclusion == "P@1 = sum / k = 0.500 / 1 = 0.500"


def test_the_scaled_form_of_ndcg_shows_the_worst_list():
    judgments, run = {"q": {"a": 2, "b": -1, "c": -3}}, {"q": {"b": 2, "a": 1}}
    found = gf.explain(judgments, run, "nDCG(norm=minmax)@2", query="q")
    worst = found.parts[-1]
    assert [step.doc for step in worst.steps] == ["c", "b"]
    low = -3 - math.log(2) / math.log(3)
    dcg = -1 + 2 * math.log(2) / math.log(3)
    assert worst.total == pytest.approx(low)
    assert found.value == pytest.approx((dcg - low) / (2 - low))
    assert (
        "(DCG@2 − worst) / (IDCG@2 − worst) = (0.262 − (-3.631)) / (2 − (-3.631))" in found.working
    )


def test_a_formula_shows_its_measures_and_their_values():
    judgments, run = {"q": {"a": 2, "b": 1}}, {"q": {"b": 2, "x": 1, "a": 0}}
    found = gf.explain(judgments, run, "0.5*nDCG@2 + 0.5*R@2 - min(AP, RR)", query="q")
    assert [part.name for part in found.parts] == [
        "DCG@2", "IDCG@2", "sum of R@2", "sum of AP", "sum of RR",
    ]  # fmt: skip
    assert found.working == "0.5*0.380 + 0.5*0.500 - min(0.833, 1)"
    assert found.value == gf.evaluate(judgments, run, found.measure).means[str(found.measure)]
    assert "AP = sum / R = 1.6667 / 2 = 0.833" in found.conclusion


@gf.measures.define("Half", cutoff=True)
def half(lists, *, share=0.5):
    """The share of what the grades sum to."""
    return lists.sums(lists.grade * share)


@gf.measures.define("Halves", cutoff=True, steps=lambda lists, *, share=0.5: lists.grade * share)
def halves(lists, *, share=0.5):
    """The share of what the grades sum to."""
    return lists.sums(lists.grade * share)


@gf.measures.define("HalfEach", per_query=True, steps=lambda one: one.grade / 4)
def half_each(one):
    """Half of what the grades sum to."""
    return one.grade.sum() / 2


def test_a_measure_of_ones_own_shows_its_list_and_its_steps_if_it_gives_them():
    judgments, run = {"q": {"a": 2, "b": 1}, "r": {"a": 9}}, {"q": {"b": 2, "x": 1, "a": 0}}
    plain = gf.explain(judgments, run, half @ 3, query="q")
    assert [step.doc for step in plain.parts[0].steps] == ["b", "x", "a"]
    assert plain.parts[0].columns == ("i", "doc", "grade", "", "", "", "")
    assert plain.conclusion == "Half@3 = 1.500  (the measure was defined without a steps function)"
    assert plain.conventions == "The share of what the grades sum to"
    found = gf.explain(judgments, run, (halves @ 3)(share=2), query="q")
    assert [step.contribution for step in found.parts[0].steps] == [2, 0, 4]
    assert found.conclusion == "Halves(share=2)@3 = 6.000"
    wrong = gf.explain(judgments, run, half_each, query="q")
    assert wrong.conclusion == "HalfEach = 1.500  (its steps add up to 0.750)"
    listed = gf.explanation.explain_grades([1, 0, 2], halves)
    assert listed.value == listed.parts[0].total == 1.5


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (lambda lists: lists.grade[:0], "one number for each of the 2 judged documents"),
        (lambda lists: 1 / 0, "ZeroDivisionError"),
        (lambda lists: "a", "one number for each"),
        (lambda lists: lists.grade * math.nan, "one number for each"),
    ],
)
def test_steps_that_cannot_be_shown_are_refused(steps, said):
    @gf.measures.define("Odd", steps=steps)
    def odd(lists):
        return lists.sums(lists.grade)

    with pytest.raises(gf.errors.InputError, match=said):
        gf.explain({"q": {"a": 2, "b": 1}}, {"q": {"b": 2, "a": 0}}, odd, query="q")
    with pytest.raises(gf.errors.MeasureError, match="a function of the same arguments"):
        gf.measures.define("Odd", steps="a")


@pytest.mark.parametrize("name", FAMILIES)
def test_the_ideal_of_bare_grades_is_that_of_the_list(name, cli):
    """No other document is known, so none is promised; with judged grades, the ideal is of all of them."""
    family = gf.measures.family(name)
    measure = family.example.measure
    found = gf.explanation.explain_grades([1, 0, 1], measure)
    done = cli("explain", "1,0,1", "-m", measure)
    for text in (str(found), found.to_markdown(), found.to_html(), done.stdout):
        assert "all judged documents, best first" not in text
    titles = [part.title for part in found.parts]
    parts = [title for title in titles if "ideal" in title]
    assert set(parts) <= {"the ideal of the list itself, best first"}
    assert bool(parts) == (name in ("nDCG", "IDCG", "grid_nDCG", "nERR", "Compat"))
    divides = family.normalised
    assert (bool(parts) or "the list, which has all known relevant documents" in titles) == (
        divides or name == "IDCG"
    )
    judged = gf.explanation.explain_grades([1, 0, 1], measure, judged=[1, 0, 1, 1])
    others = [part.title for part in judged.parts]
    assert "the list, which has all known relevant documents" not in others
    assert ("the ideal: all judged documents, best first" in others) == bool(parts)


def test_every_family_has_its_terms_beside_its_values():
    assert {*measuring.COMPUTE} == {*FAMILIES}


def test_another_policy_than_the_default_is_named():
    judgments, run = {"q": {"a": 1}}, {"q": {"x": 3, "a": 2, "y": 2}}
    assert "policy" not in str(gf.explain(judgments, run, "AP", query="q"))
    policy = {"ties": "average", "unjudged": "condense"}
    told = str(gf.explain(judgments, run, "AP", query="q", policy=policy))
    assert "policy: ties=average unjudged=condense, else default" in told
    assert "policy" not in str(gf.explanation.explain_grades([1, 0], "AP"))


def test_what_an_evaluation_refuses_is_not_explained():
    judgments, run = {"q": {"a": 1}}, {"q": {"a": 5, "x": 4, "y": 4}}
    policy = {"ties": "average", "unjudged": 2}
    for call in (gf.evaluate, lambda *given, **how: gf.explain(*given, query="q", **how)):
        with pytest.raises(gf.errors.InputError, match="no tied documents"):
            call(judgments, run, "ERR@1", policy=policy)
    assert (
        gf.explain(judgments, run, "ERR@1", query="q", policy={"ties": "average"}).value == 1 / 16
    )


def test_parts_that_two_measures_share_are_named_apart():
    found = gf.explanation.explain_grades([3, 2, 1, 0], "0.5*nDCG@3 + 0.5*nDCG(depth=all)@3")
    names = [part.name for part in found.parts]
    assert len({*names}) == len(names) == 4
    assert names[0] == "DCG@3 of nDCG@3"


def test_a_small_value_keeps_its_digits():
    judged = [1, *[1] * 2499]
    found = gf.explanation.explain_grades([0, 0, 1], "AP", judged=[0, 0, *judged])
    assert found.conclusion == "AP = sum / R = 0.333 / 2500 = 0.000133"


def test_a_function_of_ir_measures_is_not_explained():
    mine = ir_measures.define_byquery(lambda qrels, run: len(run), name="Mine")
    with pytest.raises(gf.errors.MeasureError, match="that returns only a value"):
        gf.explain({"q": {"a": 1}}, {"q": {"a": 1}}, mine @ 2, query="q")
