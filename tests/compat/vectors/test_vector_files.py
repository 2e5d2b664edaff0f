"""The conformance vectors: what writes them, what they promise, and that gainful gives their values."""

import json
import math
import random
import re
import tomllib

import jsonschema
import mpmath
import pytest

import gainful as gf
import literal
from every_case import assert_every_case
from gainful.compat.vectors.case_as_inputs import judgments_of, measure_of, policy_of, run_of
from gainful.compat.vectors.case_files import TOPICS
from vector_maker import VECTORS, make

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

CASES = gf.vectors.cases()
SCHEMA = json.loads((VECTORS / "schema" / "vectors.schema.json").read_text())
L3, L5, L6, L7 = (math.log2(number) for number in (3, 5, 6, 7))
# Worked by hand, apart from the program that writes the files.
BY_HAND = {
    "cg": 11,
    "dcg": 3 + 2 / L3 + 3 / 2 + 0 + 1 / L6 + 2 / L7,
    "dcg-five": 3 + 2 / L3 + 1 / L6,
    "dcg-not-normalised": 1.5,
    "ndcg-own-list": 0.960808,
    "ndcg-more-judged": 0.785002,
    "ndcg-five": 0.976239,
    "ndcg-perfect": 1,
    "mean-of-two": (1 + 1 / 2) / 2,
    "gain-exp2-high": ((2**29 - 1) + (2**30 - 1) / L3) / ((2**30 - 1) + (2**29 - 1) / L3),
    "gain-exp2-of-fractions": (
        ((2**0.5 - 1) + (2**1.5 - 1) / L3 + 3 / 2) / (3 + (2**1.5 - 1) / L3 + (2**0.5 - 1) / 2)
    ),
    "discount-jarvelin-dcg": 1 + 0 + 3 / L3 + 2 / 2,
    "discount-reciprocal-dcg": 1 + 3 / 3 + 2 / 4,
    "base-e-dcg": (1 + 3 / 2 + 2 / L5 + 1 / L7) / math.log(2),
    "ideal-retrieved-at-2": 1 / (2 + 1 / L3),
    "depth-cutoff-one-of-five": 0.339160,
    "ties-average-three": 0.80995312,
    "ties-average-one-relevant": 0.7103099,
    "ties-single": (1 + 2 / L3) / (2 + 1 / L3),
    "golden": 0.47499501,
    "unjudged-condense": (1 + 3 / L3 + 2 / 2) / (3 + 2 / L3 + 1 / 2),
    "empty-and-missing": 0.8597186998521972 / 3,
    "negative-both-gap": -0.738140,
    "negative-keep": (-1 + 2 / L3 + 1 / 2) / (2 + 1 / L3 + 1 / 2),
    "repeated-only": 1,
    "self-run": (1 + 2 / L3) / (3 + 2 / L3 + 1 / 2),
    "gdeval-golden": 0.30797979,
    "scikit-learn-golden": 0.85971870,
    "lightgbm-golden": 0.79670758,
    "lenskit-golden": 0.53277170,
    "recbole-golden": 0.76536064,
    "catboost-empty": (0.61990631 + 1) / 2,
    "ragas-short": 1,
}


def named(case):
    return case.id


def measured(case, **options):
    """The mean, or None where that is not a number."""
    asked = options.pop("measure", None) or measure_of(case)
    options = options or {"policy": policy_of(case.choices)}
    (value,) = gf.evaluate(judgments_of(case), run_of(case), asked, **options).means.values()
    return None if math.isnan(value) else value


def assert_value(case, found, ulps):
    expected = case.expect["value"]
    if expected is None:
        assert found is None
    else:
        assert abs(found - expected) <= ulps * math.ulp(max(1.0, abs(expected))), (found, expected)


@pytest.fixture(scope="module")
def written():
    return make.files()


def test_the_files_are_what_the_program_writes(written):
    assert {path.name for path in VECTORS.glob("*.json")} == set(written)
    for name, text in written.items():
        assert (VECTORS / name).read_text(encoding="utf-8") == text, "run python vectors/make.py"


def test_the_files_are_those_of_the_package_and_of_its_wheel(written):
    assert [f"{name}.json" for name in TOPICS] == list(written)
    settings = tomllib.loads((VECTORS.parent / "pyproject.toml").read_text())
    packed = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert packed == {
        f"vectors/{each}.json": f"gainful/compat/vectors/files/{each}.json" for each in TOPICS
    }
    assert "vectors/LICENSE" in settings["project"]["license-files"]


def test_the_files_keep_to_the_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    check = jsonschema.Draft202012Validator(SCHEMA)
    for name in TOPICS:
        check.validate(json.loads((VECTORS / f"{name}.json").read_text()))
    part = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/question"}
    for case in CASES:
        jsonschema.Draft202012Validator(part).validate(case.asked())
    assert not check.is_valid({"format": 1, "title": "t", "about": "a", "cases": [{"id": "x"}]})


def test_ids_are_unique_and_reasons_are_sentences():
    assert len({case.id for case in CASES}) == len(CASES)
    for case in CASES:
        assert not case.why[0].islower(), case.id
        assert case.why.endswith((".", "?", " …")), case.id


def test_every_gain_discount_choice_and_dialect_has_cases():
    assert {case.dialect for case in CASES} - {None} == {
        each.name for each in gf.measures.dialects()
    }
    words = {str(case.measure.get(key)) for case in CASES for key in ("gain", "discount")}
    forms = {"linear", "exp2", "binary", "log", "jarvelin", "reciprocal", "power", "none"}
    assert forms <= words
    assert any(word.startswith("[[") for word in words)
    known = SCHEMA["$defs"]["choices"]["properties"]
    for name, allowed in known.items():
        answers = {case.choices[name] for case in CASES if name in case.choices}
        wanted = allowed.get("enum") or allowed["oneOf"][0]["enum"]
        assert set(wanted) - answers <= ({"zero"} if name == "absent" else set()), name


@pytest.mark.parametrize("topic", TOPICS)
def test_gainful_gives_the_values(topic):
    def check(case):
        if "error" in case.expect:
            with pytest.raises(gf.errors.GainfulError):
                measured(case)
        else:
            assert_value(case, measured(case), ulps=2)

    assert_every_case(check, [case for case in CASES if case.topic == topic])


def test_every_dialect_gives_its_values():
    def check(case):
        k = case.measure["k"]
        asked = case.measure["name"] if k is None else f"{case.measure['name']}@{k}"
        if "error" in case.expect:
            with pytest.raises(gf.errors.GainfulError):
                measured(case, measure=asked, dialect=case.dialect)
        else:
            assert_value(case, measured(case, measure=asked, dialect=case.dialect), ulps=2)

    assert_every_case(check, [case for case in CASES if case.dialect])


def test_values_worked_by_hand():
    known = {case.id: case for case in CASES}
    for name, value in BY_HAND.items():
        assert known[name].expect["value"] == pytest.approx(value, abs=1e-6), name


def test_expressions_are_the_decimals():
    names = {"log2": lambda x: mpmath.log(x, 2), "log10": mpmath.log10, "ln": mpmath.log}
    names["number"] = mpmath.mpf
    with mpmath.workdps(50):
        for case in CASES:
            if "expression" not in case.expect:
                continue
            code = case.expect["expression"].replace("^", "**")
            code = re.sub(r"(?<![a-z0-9.])[0-9.]+", r"number('\g<0>')", code)
            found, told = eval(code, names), mpmath.mpf(case.expect["decimal"])  # noqa: S307
            assert abs(found - told) <= mpmath.mpf("1e-29") * max(1, abs(told)), case.id
            assert case.expect["value"] == pytest.approx(float(told), rel=1e-16)


def test_values_by_the_literal_formula():
    """The other literal formula of the tests, which tries every order of tied documents."""
    apart = {"duplicates", "drop_self", "precision"}

    def check(case):
        measure, choices = dict(case.measure), dict(case.choices)
        gain = measure["gain"]
        form = measure["discount"]
        if isinstance(form, list):
            return
        found = literal.evaluate(
            {
                each["query"]: dict(each["judged"])
                for each in case.queries
                if each["judged"] is not None
            },
            {each["query"]: dict(each["run"]) for each in case.queries if each["run"] is not None},
            measure["name"],
            gain={0: 0, **dict(gain)} if isinstance(gain, list) else gain,
            discount=f"power({measure['exponent']})" if form == "power" else form,
            base={"e": math.e}.get(measure.get("base"), measure.get("base", 2)),
            k=measure["k"],
            **choices,
        )
        mean = math.fsum(found.values()) / len(found)
        expected = case.expect["value"]
        assert mean == pytest.approx(
            math.nan if expected is None else expected, nan_ok=True, abs=1e-12
        )

    cases = [
        case
        for case in CASES
        if "error" not in case.expect
        and case.measure["name"] != "AP"
        and not apart & set(case.choices)
    ]
    assert len(cases) > 350
    assert_every_case(check, cases)


def others(choice, answer):
    """Other answers to a choice, each alone, or with any answer to one that goes together with it."""
    for each in make.ANSWERS[choice]:
        if each != answer:
            yield {choice: each}
            for pair in make.TOGETHER:
                if choice in pair:
                    (beside,) = set(pair) - {choice}
                    yield from ({choice: each, beside: other} for other in make.ANSWERS[beside])


def test_a_choice_that_is_named_matters_and_one_that_is_not_does_not(deep):
    """Also several of the latter at once, at random."""
    free = [name for name in make.ANSWERS if name != "absent"]
    rng = random.Random(29)  # noqa: S311

    def check(case):
        plain = {"measure": case.measure, "queries": case.queries}
        full = make.USUAL | case.choices
        here = make.outcome(plain, full)
        for name, answer in case.choices.items():
            found = [make.outcome(plain, full | each) for each in others(name, answer)]
            assert any(each != here for each in found), name
        for _ in range(25 if deep else 2):
            unnamed = {
                each: rng.choice(make.ANSWERS[each]) for each in free if each not in case.choices
            }
            assert make.outcome(plain, full | unnamed) == here, unnamed

    assert_every_case(check, CASES)


def test_a_case_with_unjudged_documents_names_what_they_count():
    for case in CASES:
        lists = [(q["judged"], q["run"]) for q in case.queries if q["judged"] and q["run"]]
        judged_and_run = [
            ({doc for doc, _ in judged}, {doc for doc, _ in run}) for judged, run in lists
        ]
        if any(run - judged for judged, run in judged_and_run) and case.expect.get("error") is None:
            assert case.choices.get("drop_self", "no") != "no" or "unjudged" in case.choices, (
                case.id
            )


def test_cases_cannot_be_spoiled():
    case = gf.vectors.cases(topics="ties")[0]
    case.asked()["choices"].clear()
    case.queries[0]["run"].clear()
    assert gf.vectors.cases(topics="ties")[0].queries[0]["run"]


@pytest.mark.parametrize("topics", ["tie", ["ties", "none"], 3, [3]])
def test_topics_that_do_not_exist(topics):
    with pytest.raises(gf.errors.InputError, match=r"expected (one of definition|names of topics)"):
        gf.vectors.cases(topics=topics)
