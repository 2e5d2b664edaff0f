"""Formulas of measures: read, written, and computed query by query."""

import math
import pickle
import random

import numpy as np
import pytest

import gainful as gf
from random_runs import random_cases

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

JUDGMENTS, RUN = random_cases(range(60), grades=(0, 0, 1, 2, 3), scores=(0.1, 0.5, 0.7, 3.0))
BY_HAND = (
    {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}},
    {
        "q1": {"a": 3.0, "x": 2.0},
        "q2": {"x": 2.0, "c": 1.0},
    },
)  # P@2: 1/2, 1/2; R@2: 1/2, 1; RR: 1, 1/2


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("P@2 + R@2", 1.0, 1.5),
        ("0.25*P@2 + 0.75*R@2", 0.5, 0.875),
        ("RR - R@2", 0.5, -0.5),
        ("RR - R@2 - P@2", 0.0, -1.0),
        ("RR - (R@2 - P@2)", 1.0, 0.0),
        ("2*RR/(R@2*4)", 1.0, 0.25),
        ("2*RR/R@2*4", 16.0, 4.0),
        ("-RR + 1", 0.0, 0.5),
        ("min(RR, R@2, 0.75)", 0.5, 0.5),
        ("max(RR, R@2)", 1.0, 1.0),
        ("hmean(P@2, R@2)", 0.5, 2 / 3),
        ("1e1*RR", 10.0, 5.0),
        ("(P(rel=1)@2 + RR)/2", 0.75, 0.5),
    ],
)
def test_worked_by_hand(text, first, second):
    found = gf.evaluate(*BY_HAND, text)
    (measure,) = found.measures
    assert found.per_query[measure] == pytest.approx([first, second], abs=1e-15)
    assert found[text] == pytest.approx((first + second) / 2)
    assert gf.measure(str(measure)) == measure
    assert gf.evaluate(*BY_HAND, measure).means == found.means


def nested(depth):
    return "(" * depth + "RR" + ")" * depth


@pytest.mark.parametrize(
    "text", [nested(99), "-" * 99 + "RR", "+".join(["RR"] * 201), "min(1, " * 99 + "RR" + ")" * 99]
)
def test_as_deep_and_as_long_as_it_may_be(text):
    """Its value, its name and its name read back."""
    found = gf.evaluate(*BY_HAND, text)
    (measure,) = found.measures
    values = {"+": [201.0, 100.5], "-": [-1.0, -0.5]}.get(text.strip("R")[0], [1.0, 0.5])
    assert found.per_query[measure] == pytest.approx(values, abs=1e-12)
    assert str(gf.measure(str(measure))) == str(measure)
    assert pickle.loads(pickle.dumps(gf.measure(text))) == gf.measure(text)  # noqa: S301


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (nested(100), "at most 100 nested brackets and signs, found more"),
        (nested(3000), "at most 100 nested brackets"),
        ("(" * 3000 + "nDCG", "at most 100 nested brackets"),
        ("-" * 3000 + "RR", "at most 100 nested brackets"),
        ("hmean(RR, " * 3000, "at most 100 nested brackets"),
        ("+".join(["RR"] * 202), "at most 200 operations, found more"),
        ("*".join(["RR"] * 3000), "at most 200 operations"),
        ("RR" + "(baseline)" * 3000, "(baseline) once, found it twice"),
        ("RR + x" + "(" * 3000, ""),
        ("nDCG(gain=" + "{" * 3000 + ")", ""),
        ("RR + " + "9" * 5000, ""),
    ],
)
def test_too_deep_or_too_long(text, said):
    with pytest.raises(gf.errors.MeasureError) as refused:
        gf.measure(text)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 300 or not said


def test_the_harmonic_mean_of_precision_and_recall_is_f():
    found = gf.evaluate(JUDGMENTS, RUN, ["hmean(P@5, R@5)", "F@5"])
    assert found.per_query["hmean(P@5, R@5)"] == pytest.approx(found.per_query["F@5"], abs=1e-12)


def random_formula(rng, depth=3):
    """A formula as text, and as a function of the values of its measures."""
    names = ["nDCG@3", "AP", "RR", "P(rel=2)@5", "nDCG(gain={1: 1, 2: 5, 3: 9})"]
    kind = rng.choice(["measure", "number"]) if depth == 0 else rng.choice("+-*nmxh")
    if kind == "measure":
        name = rng.choice(names)
        return name, lambda values: values[name]
    if kind == "number":
        number = rng.choice([0.5, 2.0, 10.0])
        return f"{number}", lambda _: number
    one, of_one = random_formula(rng, depth - 1)
    other, of_other = random_formula(rng, depth - 1)
    if kind == "n":
        return f"-({one})", lambda values: -of_one(values)
    if kind in "mx":
        name, call = {"m": ("min", min), "x": ("max", max)}[kind]
        return f"{name}({one}, {other})", lambda values: call(of_one(values), of_other(values))
    if kind == "h":
        return f"({one}) / 4", lambda values: of_one(values) / 4
    calls = {
        "+": lambda values: of_one(values) + of_other(values),
        "-": lambda values: of_one(values) - of_other(values),
        "*": lambda values: of_one(values) * of_other(values),
    }
    return f"({one}) {kind} ({other})", calls[kind]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"empty": "skip"},
        {"empty": "one"},
        {"empty": "abstain"},
        {"missing": "skip"},
        {"empty": "skip_all"},
    ],
    ids=str,
)
def test_the_formula_of_the_values_of_each_query(seed, choices):
    rng = random.Random(seed)  # noqa: S311
    text, literal = random_formula(rng)
    try:
        measure = gf.measure(text)
    except gf.errors.MeasureError as problem:
        assert "at least one measure" in str(problem)  # noqa: PT017
        return
    parts = ["nDCG@3", "AP", "RR", "P(rel=2)@5", "nDCG(gain={1: 1, 2: 5, 3: 9})"]
    policy = gf.Policy(**choices)
    used = [part for part in parts if part in str(measure)]
    found = gf.evaluate(JUDGMENTS, RUN, [measure, *used], policy=policy)
    expected = []
    for query, row in found.per_query.to_dict().items():
        values = {part: row[part] for part in used}
        if all(value is not None and not math.isnan(value) for value in values.values()):
            expected.append(literal(values))
            assert row[str(measure)] == pytest.approx(expected[-1], abs=1e-12), query
    assert found[measure] == pytest.approx(math.fsum(expected) / len(expected), abs=1e-12)
    assert gf.measure(str(measure)) == measure
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301


def test_wherever_a_measure_is(tmp_path):
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in RUN.items()}
    text = "0.5*nDCG@5 + 0.5*R@5"
    found = gf.compare(JUDGMENTS, {"one": RUN, "two": other}, [text, "nDCG@5", "R@5"])
    parts = found["two", "nDCG@5"].difference + found["two", "R@5"].difference
    assert found["two", text].difference == pytest.approx(parts / 2)
    scores = gf.evaluate(JUDGMENTS, RUN, text)
    gf.comparison.save_baseline(scores, tmp_path / "base.json")
    assert [*map(str, gf.comparison.read_baseline(tmp_path / "base.json").measures)] == [text]
    low, high = scores.interval(text).low, scores.interval(text).high
    assert low < scores[text] < high
    arrays = gf.evaluate_arrays(labels=[[1, 0]], scores=[[2.0, 1.0]], measures="P@1 - P@2")
    assert arrays["P@1 - P@2"] == 0.5
    assert scores.coverage == gf.evaluate(JUDGMENTS, RUN, "nDCG@5").coverage
    both = gf.evaluate(JUDGMENTS, RUN, "2*AP AP - RR nDCG@5, RR")
    assert [*map(str, both.measures)] == ["2*AP", "AP - RR", "nDCG@5", "RR"]


def test_no_deeper_than_its_measures():
    assert gf.measure("nDCG@10 + P@20").reach == 20
    assert gf.measure("nDCG@10 + AP").reach is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("AP +", "a measure or a number, found its end"),
        ("* AP", "a measure or a number"),
        ("AP**2", r"a measure or a number, found '\*2'"),
        ("(AP", "a closing bracket, found its end"),
        ("min(AP)", "two values or more in min, found one"),
        ("2*3", "at least one measure in a formula"),
        ("nDCG@5,10 + AP", "between measures, found ',10"),
        ("NumRet + AP", "averaged over queries, found NumRet, the sum"),
        ("GMAP*2", "the geometric mean over queries"),
        ("AP + nope", "a measure from the catalogue, found 'nope'"),
        ("2*AP@5,", "between measures"),
    ],
)
def test_a_bad_formula_is_told(text, words):
    with pytest.raises(gf.errors.MeasureError, match=words):
        gf.measure(text)


def test_a_division_by_nothing_is_told_with_its_query():
    with pytest.raises(gf.errors.InputError, match=r"RR/P@1 of query 'q2': .* a division by 0"):
        gf.evaluate(*BY_HAND, "RR/P@1")
    with pytest.raises(gf.errors.InputError, match="of query 'q2': expected a finite value"):
        gf.evaluate(*BY_HAND, "hmean(RR - 1, R@2)")


def test_it_has_no_cutoff_nor_parameters_of_its_own():
    measure = gf.measure("AP + RR")
    with pytest.raises(gf.errors.MeasureError, match="no cutoff of its own"):
        measure @ 10
    with pytest.raises(gf.errors.MeasureError, match="no parameters of its own, found rel"):
        measure.having(rel=2)
    with pytest.raises(gf.errors.GainfulError):
        gf.curve(JUDGMENTS, RUN, measure)
    with pytest.raises(gf.errors.GainfulError):
        gf.bounds(JUDGMENTS, RUN, measure, grades=(0, 1, 2, 3))


def test_on_the_command_line(cli, files):
    judgments, run = files("j", "q 0 a 1\nq 0 b 3\n"), files("r", "q 0 a 1 2 t\nq 0 b 2 1 t\n")
    done = cli("evaluate", judgments, run, "-m", "0.5*P@1 + 0.5*AP", "-f", "csv")
    assert done.stdout.splitlines()[-1].endswith(",1.0")
    done = cli("evaluate", judgments, run, "-m", "0.5*P@1 +")
    assert done.returncode == 2
    assert np.isclose(gf.evaluate(judgments, run, "AP - RR")["AP - RR"], 0)


def test_what_is_nearly_a_formula_is_told_how_to_write_it():
    for text, said in {
        "AP-RR": "A minus between measures needs blanks around it: AP - RR",
        "nDCG@10-R@100": "blanks around it: nDCG@10 - R@100",
        "F@5 0.5*AP + RR": "Pass formulas and other measures",
    }.items():
        with pytest.raises(gf.errors.MeasureError, match=said):
            gf.measure(text)


def test_a_formula_tunes_a_fusion():
    runs = {"one": RUN, "two": {query: dict(reversed(docs.items())) for query, docs in RUN.items()}}
    found = gf.fusion.tune(JUDGMENTS, runs, "0.5*nDCG@10 + 0.5*AP", k=[1, 60], folds=2)
    assert str(found).startswith("rrf") or "0.5*nDCG@10 + 0.5*AP" in str(found)
