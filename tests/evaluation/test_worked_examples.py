"""Numbers that a reader can check by hand, through Python and through the command line."""

import json

import pytest

import gainful as gf

LIST = [3, 2, 3, 0, 1, 2]
KNOWN = [*LIST, 3, 2]


@pytest.mark.parametrize(
    ("grades", "measure", "judged", "value"),
    [
        (LIST, "CG@6", None, "11.000"),
        (LIST, "DCG@6", None, "6.861"),
        (LIST, "IDCG@6", None, "7.141"),
        (LIST, "nDCG@6", None, "0.961"),
        (LIST, "IDCG@6", KNOWN, "8.740"),
        (LIST, "nDCG@6", KNOWN, "0.785"),
        ([1, 0, 1, 1, 0], "DCG@3", None, "1.500"),
        ([3, 2, 0, 0, 1], "DCG@5", None, "4.649"),
        ([3, 2, 0, 0, 1], "IDCG@5", None, "4.762"),
        ([3, 2, 0, 0, 1], "nDCG@5", None, "0.976"),
    ],
)
def test_the_printed_digits(cli, grades, measure, judged, value):
    explanation = gf.explanation.explain_grades(grades, measure, judged=judged)
    assert f"{explanation.value:.3f}" == value

    arguments = [",".join(map(str, grades)), "-m", measure]
    if judged is not None:
        arguments += ["--judged", ",".join(map(str, judged))]
    printed = cli("explain", *arguments).stdout
    assert printed.splitlines()[-1].endswith(f"= {value}")
    exported = json.loads(cli("explain", *arguments, "-f", "json").stdout)
    assert exported["value"] == explanation.value


def test_the_functions_on_grades():
    assert gf.cg(LIST) == 11.0
    assert f"{gf.dcg(LIST, k=6):.3f}" == "6.861"
    assert f"{gf.ndcg(LIST, k=6):.3f}" == "0.961"
    assert f"{gf.ndcg(LIST, k=6, judged=KNOWN):.3f}" == "0.785"
    assert gf.dcg([1, 0, 1, 1, 0], k=3) == 1.5
    assert f"{gf.dcg([3, 2, 0, 0, 1], k=5):.3f}" == "4.649"


def test_the_terms_of_the_first_example():
    (part,) = gf.explanation.explain_grades(LIST, "DCG@6").parts
    terms = [f"{step.contribution:.3f}" for step in part.steps]
    assert terms == ["3.000", "1.262", "1.500", "0.000", "0.387", "0.712"]


def test_a_bad_document_costs_only_if_its_grade_says_so(cli):
    assert gf.ndcg([1, 1, 1]) == gf.ndcg([1, 1, 1, 0]) == 1.0
    assert gf.ndcg([1, 1, 1, -1]) < gf.ndcg([1, 1, 1, 0])
    # 1 + 0.631 + 0.5 − 0.431, over 1 + 0.631 + 0.5
    assert gf.ndcg([1, 1, 1, -1]) == pytest.approx(1.700253 / 2.130930, abs=1e-6)
    assert cli("explain", "1,1,1").stdout.endswith("= 1.000\n")
    assert cli("explain", "1,1,1,0").stdout.endswith("= 1.000\n")
    assert cli("explain", "1,1,1,-1").stdout.endswith("= 0.798\n")


def test_missing_documents_cost_at_a_fixed_size(cli):
    assert gf.ndcg([1, 1, 1]) == gf.ndcg([1, 1, 1, 1, 1]) == 1.0
    # Five known documents, three of them returned: 2.131 / 2.948.
    assert gf.ndcg([1, 1, 1], k=5, judged=[1] * 5) == pytest.approx(2.130930 / 2.948459, abs=1e-6)
    printed = cli("explain", "1,1,1", "--judged", "1,1,1,1,1", "-m", "nDCG@5").stdout
    assert printed.endswith("= 0.723\n")
    # The remedy without knowing more: what is absent has the lowest grade of the scale.
    policy = gf.Policy(absent=-1)
    short = gf.explanation.explain_grades([1, 1, 1], "nDCG@5", policy=policy).value
    full = gf.explanation.explain_grades([1, 1, 1, 1, 1], "nDCG@5", policy=policy).value
    assert short == pytest.approx((2.130930 - 0.430677 - 0.386853) / 2.130930, abs=1e-6)
    assert full == 1.0
    assert cli("explain", "1,1,1", "-m", "nDCG@5", "--absent", "-1").stdout.endswith("= 0.616\n")


def test_one_good_restaurant_against_five(cli):
    """nDCG@1 cannot tell them apart; the ideal over more ranks, and CG, can."""
    one, five = [1, 0, 0, 0, 0], [1, 1, 1, 1, 1]
    judged = [1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert gf.ndcg(one, k=1, judged=judged) == gf.ndcg(five, k=1, judged=judged) == 1.0
    curve = [gf.ndcg(one, k=k, judged=judged) for k in range(1, 6)]
    assert curve == sorted(curve, reverse=True)
    assert [gf.ndcg(five, k=k, judged=judged) for k in range(1, 6)] == [1.0] * 5
    assert gf.cg(one, k=5) < gf.cg(five, k=5)
    known = "1,1,1,1,1,0,0,0,0"
    for measure, values in (("nDCG@1", ("1.000", "1.000")), ("nDCG@5", ("0.339", "1.000"))):
        for grades, value in zip(("1,0,0,0,0", "1,1,1,1,1"), values, strict=True):
            printed = cli("explain", grades, "--judged", known, "-m", measure).stdout
            assert printed.endswith(f"= {value}\n")


def test_the_golden_vector():
    judgments = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}
    run = {"q": {"a": 4, "b": 3, "c": 2, "u": 1}}
    measures = ["nDCG", "nDCG@4", "nDCG(gain=exp2)", "nDCG(discount=jarvelin)"]
    scores = gf.evaluate(judgments, run, measures)
    assert [f"{scores[measure]:.8f}" for measure in measures] == [
        "0.47499501",
        "0.47499501",
        "0.30797979",
        "0.53277170",
    ]
    binary = gf.evaluate(judgments, run, "nDCG(gain=binary)@4")["nDCG(gain=binary)@4"]
    assert f"{binary:.8f}" == "0.76536064"
    lists = {"labels": [[1, 2, 0, 0]], "scores": [[4, 3, 2, 1]]}
    assert f"{gf.evaluate_arrays(**lists, measures='nDCG')['nDCG']:.8f}" == "0.85971870"
    exponential = gf.evaluate_arrays(**lists, measures="nDCG(gain=exp2)")["nDCG(gain=exp2)"]
    assert f"{exponential:.8f}" == "0.79670758"


def test_ties_of_three_documents():
    judgments, run = {"q": {"a": 2, "b": 1, "c": 0}}, {"q": {"a": 1, "b": 1, "c": 1}}
    values = {
        ties: gf.evaluate(judgments, run, "nDCG", policy=gf.Policy(ties=ties))["nDCG"]
        for ties in ("doc", "average", "best", "worst", "order")
    }
    assert {ties: f"{value:.4f}" for ties, value in values.items()} == {
        "doc": "0.6199",
        "average": "0.8100",
        "best": "1.0000",
        "worst": "0.6199",
        "order": "1.0000",
    }
    equal = gf.evaluate_arrays(labels=[[1, 0, 0]], scores=[[1, 1, 1]], measures="nDCG")
    assert f"{equal['nDCG']:.4f}" == "0.7103"


def test_scores_are_compared_in_double_precision():
    judgments = {"q": {"a": 2, "b": 1}}
    assert gf.evaluate(judgments, {"q": {"a": 0.500000001, "b": 0.5}}, "nDCG")["nDCG"] == 1.0


@pytest.mark.parametrize(
    "family", gf.measures.families(needs="grades"), ids=lambda family: family.name
)
def test_the_example_of_every_family_gives_the_digits_shown(family):
    example = family.example
    run = {"q": {f"d{rank}": -rank for rank in range(len(example.grades))}}
    judged = {f"d{rank}": grade for rank, grade in enumerate(example.grades) if grade is not None}
    judged |= {f"u{place}": grade for place, grade in enumerate(example.also)}
    value = gf.evaluate({"q": judged}, run, example.measure)[example.measure]
    decimals = len(example.value.partition(".")[2])
    assert f"{value:.{decimals}f}" == example.value
    assert gf.measure(example.measure).name == family.name
    assert str(example).endswith(f" = {example.value}")
