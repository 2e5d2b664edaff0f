"""The worked table has the arithmetic of the evaluation, and shows all of it."""

import pickle
import random
import re

import pytest

import gainful as gf
from gainful.analysis.explanation.worked_tables import Account
from random_runs import random_case

JUDGMENTS = {"q": {"a": 3, "b": 2, "c": 0, "x": 1}, "r": {"a": 1, "b": -2}}
RUN = {"q": {"b": 0.9, "u": 0.8, "a": 0.8, "c": 0.1, "v": 0.0}, "r": {"a": 1.0}}


def test_a_query_of_a_run():
    explanation = gf.explain(JUDGMENTS, RUN, "nDCG@4", query="q")
    listed, ideal = explanation.parts
    assert [(step.rank, step.doc, step.grade) for step in listed.steps] == [
        (1, "b", 2.0),
        (2, "u", None),
        (3, "a", 3.0),
        (4, "c", 0.0),
    ]
    assert [step.doc for step in ideal.steps] == ["a", "b", "x"]
    assert listed.total == pytest.approx(2 + 3 / 2)
    assert explanation.value == pytest.approx(3.5 / (3 + 2 * 0.63092975 + 0.5))
    assert str(explanation).endswith("nDCG@4 = DCG@4 / IDCG@4 = 3.500 / 4.762 = 0.735")


def test_ties_averaged_show_the_block_and_its_mean_discount():
    policy = gf.Policy(ties="average")
    explanation = gf.explain(JUDGMENTS, RUN, "DCG@2", query="q", policy=policy)
    (part,) = explanation.parts
    step = part.steps[1]
    assert (step.doc, step.rank, step.rank_last) == ("a", 2, 3)
    assert step.discount == pytest.approx(0.63092975 / 2)  # rank 3 is below the cutoff
    assert "2–3" in str(explanation)


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
def test_the_value_is_that_of_the_evaluation_and_the_steps_add_up_to_it(deep):
    choices = {
        "ties": ("doc", "doc_ascending", "average", "best", "worst", "order"),
        "unjudged": ("zero", "condense", 1.0, -1.0),
        "absent": ("zero", "lowest", -1.0, 1.0),
        "negative": ("keep", "zero", "both", "unjudged"),
        "empty": ("zero", "one"),
    }
    for seed in range(400 if deep else 200):
        rng = random.Random(seed)  # noqa: S311
        judgments, run = random_case(seed)
        policy = gf.Policy(**{name: rng.choice(answers) for name, answers in choices.items()})
        measure = rng.choice(
            [
                "CG@3",
                "DCG(gain=exp2)@5",
                "IDCG@2",
                "nDCG@3",
                "nDCG",
                "nDCG(discount=jarvelin)@7",
                "nDCG(ideal=retrieved)@3",
                "nDCG(depth=all)@2",
                "nDCG(depth=retrieved)@4",
                "nDCG(ideal=retrieved, depth=all)@1",
                "IDCG(ideal=retrieved)@2",
                "IDCG(depth=retrieved)",
            ]
        )
        values = gf.evaluate(judgments, run, measure, policy=policy).per_query.to_dict()
        for query in judgments.keys() & run.keys():
            explanation = gf.explain(judgments, run, measure, query=query, policy=policy)
            assert explanation.value == values[query][measure], (seed, query, measure, policy)
            for part in explanation.parts:
                total = sum(step.gain * step.discount for step in part.steps)
                assert part.total == pytest.approx(total, abs=1e-12), (seed, query, measure, policy)
                if part.steps:
                    assert part.steps[-1].sum == pytest.approx(part.total, abs=1e-12)


def test_long_tails_that_add_nothing_are_counted_not_shown():
    run = {"q": {"a": 100.0, **{f"u{number}": 50.0 - number for number in range(40)}}}
    explanation = gf.explain(JUDGMENTS, run, "nDCG", query="q")
    assert len(explanation.parts[0].steps) == 1
    assert "40 more ranks add nothing" in str(explanation)


def test_markdown_html_and_plain_values():
    explanation = gf.explain(JUDGMENTS, RUN, "nDCG@4", query="q")
    markdown = explanation.to_markdown()
    assert "| i | doc | grade | gain | discount | contribution | sum |" in markdown
    assert "| 2 | u | unjudged | 0 | 0.631 | 0.000 | 2.000 |" in markdown
    page = explanation._repr_html_()
    assert page.count("<table>") == 2
    assert "<td>unjudged</td>" in page
    plain = explanation.to_dict()
    assert plain["value"] == explanation.value
    assert plain["parts"]["DCG@4"]["steps"][1]["grade"] is None


def test_what_would_be_markup_shows_as_text():
    nasty = "<script>alert(1)</script>"
    explanation = gf.explain(
        {nasty: {nasty: 1, "|": 1}}, {nasty: {nasty: 1, "|": 0}}, "nDCG", query=nasty
    )
    assert "<script>" not in explanation.to_html()
    assert r"\|" in explanation.to_markdown()


def test_no_positive_gain_is_remarked_on():
    judgments = {"q": {"a": 0, "b": -1}}
    explanation = gf.explain(judgments, {"q": {"b": 1}}, "nDCG", query="q")
    assert explanation.value == 0.0
    told = " ".join(str(explanation).split())
    assert "no judged document has a positive gain: policy empty=zero" in told


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Q", "expected a judged query, found 'Q'. Did you mean 'q'?"),
        ("s", "'s' missing from it. It scores 0 because the run returned nothing for it (policy"),
        ("u", "'u' without judgments. The run has it"),
        (None, "a string (or an integer) as id"),
    ],
)
def test_queries_that_cannot_be_explained(query, said):
    with pytest.raises(gf.errors.InputError, match=re.escape(said)):
        gf.explain({**JUDGMENTS, "s": {"a": 1}}, {**RUN, "u": {"a": 1}}, "nDCG", query=query)


def test_the_lowest_grade_is_that_of_the_documents_that_count():
    judgments, run = {"q": {"q": -5, "a": 1}}, {"q": {"a": 1}}
    policy = gf.Policy(absent="lowest", drop_self=True)
    value = gf.evaluate(judgments, run, "DCG@2", policy=policy)["DCG@2"]
    assert gf.explain(judgments, run, "DCG@2", query="q", policy=policy).value == value


def test_explanations_and_attributions_are_accounts_and_hold_nothing_but_their_fields():
    run = {"q": {"a": 1.0}}
    for account in (gf.explain(JUDGMENTS, RUN, query="q"), gf.explanation.attribute(JUDGMENTS, RUN, run, query="q")):  # fmt: skip
        assert isinstance(account, Account)
        assert not hasattr(account, "__dict__")
        assert pickle.loads(pickle.dumps(account)) == account  # noqa: S301
        texts = str(account), account.to_markdown(), account.to_html()
        for text in texts:
            assert account.conventions in text
            assert account.heading in text
            assert account.conclusion in text
        assert account._repr_html_() == account.to_html()


def test_choices_stand_in_the_order_of_the_table_of_policies():
    choices = {"ties": "average", "unjudged": 1, "missing": "skip", "drop_self": "yes"}
    names = [choice.name for choice in gf.measures.choices()]
    for given in (choices, dict(reversed(choices.items()))):
        worked = gf.explain({"q": {"a": 1}}, {"q": {"a": 0.5}}, query="q", policy=given)
        assert "policy: ties=average unjudged=1 missing=skip drop_self=yes, else" in str(worked)
        assert [*worked.to_dict()["policy"]] == names
