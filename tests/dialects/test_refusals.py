"""What a dialect refuses, the names that it has and reads, and the rows themselves."""

import dataclasses

import numpy as np
import pytest

import gainful as gf
from gainful.evaluation.request import speaking
from gainful.measures.dialect_catalogue import ALIASES

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

NAMES = [each.name for each in gf.measures.dialects()]
RUN = {"q": {"a": 2.0, "b": 1.0}}

# A grade that a tool takes no measure of, and its reason.
REFUSED = [
    ("trec_eval-9", 0.5, "integer grades", "truncates fractions"),
    ("trec_eval-10", 2.5, "integer grades", "truncates fractions"),
    ("pytrec_eval", 0.5, "integer grades", "TypeError"),
    ("ir_measures", 0.5, "integer grades", "TypeError"),
    ("beir", 1.5, "integer grades", "TypeError"),
    ("ranx", 0.5, "integer grades", "as integers"),
    ("gdeval", 5, "integer grades up to 4", "ends with an error"),
    ("gdeval", 1.5, "integer grades up to 4", "ends with an error"),
    ("scikit-learn", -1, "non-negative grades", "ndcg_score raises a ValueError"),
    ("lightgbm", 0.5, "integer grades from 0 to 30", "label_gain"),
    ("lightgbm", -1, "integer grades from 0 to 30", "label_gain"),
    ("lightgbm", 31, "integer grades from 0 to 30", "label_gain"),
    ("lightgbm", 5000, "integer grades from 0 to 30", "label_gain"),  # whose gain is no float64
    ("xgboost", 32, "integer grades from 0 to 31", "ndcg_exp_gain=False"),
    ("xgboost", -2, "integer grades from 0 to 31", "ndcg_exp_gain=False"),
    ("xgboost", 1.25, "integer grades from 0 to 31", "ndcg_exp_gain=False"),
    ("tf-ranking", -1, "non-negative grades", "padding"),
    ("allrank", -1, "non-negative grades", "padding"),
    ("recommenders", 0, "grades above 0", "counts as relevant"),
    ("recommenders", -1, "grades above 0", "counts as relevant"),
]
# The outermost grades that it does take.
TAKEN = [
    ("gdeval", 4),
    ("gdeval", -3),
    ("lightgbm", 30),
    ("lightgbm", 0),
    ("xgboost", 31),
    ("scikit-learn", 0.25),
    ("pytrec_eval", -2),
    ("pytrec_eval", 3.0),
    ("catboost", -1.5),
    ("rax", 0.5),
    ("torchmetrics", -0.5),
    ("elasticsearch", -1),
    ("recommenders", 0.5),
]


def refusal(call):
    with pytest.raises(gf.errors.InputError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(("name", "grade", "expected", "reason"), REFUSED)
def test_grades_that_the_tool_does_not_take(name, grade, expected, reason):
    def by_ids():
        return gf.evaluate({"q": {"a": 1, "b": grade}}, RUN, dialect=name)

    def not_retrieved():
        return gf.evaluate({"q": {"a": 1, "x": grade}}, RUN, dialect=name)

    def in_arrays():
        return gf.evaluate_arrays(labels=[[1, grade]], scores=[[2.0, 1.0]], dialect=name)

    # A tool of lists is not given what was not retrieved.
    others = () if gf.measures.dialect(name).lists else (not_retrieved,)
    for call in (by_ids, in_arrays, *others):
        problem = refusal(call)
        assert (problem.where, problem.expected) == (f"dialect {name}", expected)
        assert problem.found == f"grade {grade}"
        assert reason in problem.remedy


@pytest.mark.parametrize(("name", "grade"), TAKEN)
def test_grades_that_it_takes(name, grade):
    found = gf.evaluate({"q": {"a": 1, "b": grade}}, RUN, dialect=name)
    assert found.dialect == name
    assert len(found.means) == 1


def test_scikit_learn_refuses_for_ndcg_alone():
    judgments = {"q": {"a": 1, "b": -1}}
    found = gf.evaluate(judgments, RUN, "dcg_score", dialect="sklearn")
    assert found["DCG"] == pytest.approx(1 - 1 / np.log2(3))
    for measures in ("ndcg_score", ["DCG", "nDCG@10"]):
        assert refusal(lambda m=measures: gf.evaluate(judgments, RUN, m, dialect="sklearn"))


@pytest.mark.parametrize(
    "labels", [[[1, 0, 2]], np.array([[1, 0, 2]], np.int8), [[True, False, True]]]
)
def test_labels_of_every_type(labels):
    found = gf.evaluate_arrays(labels=labels, scores=[[3.0, 2.0, 1.0]], dialect="lightgbm")
    assert 0 < next(iter(found.means.values())) < 1


def test_what_is_masked_is_not_refused():
    found = gf.evaluate_arrays(
        labels=[[1, 0, -1]], scores=[[3, 2, 1]], mask=[[True, True, False]], dialect="lightgbm"
    )
    assert next(iter(found.means.values())) == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_beside_a_dialect(name):
    for call in (
        lambda: gf.evaluate({"q": {"a": 1}}, RUN, policy=gf.Policy(), dialect=name),
        lambda: gf.evaluate_arrays(
            labels=[[1]], scores=[[1]], policy=gf.Policy(ties="best"), dialect=name
        ),
        lambda: gf.evaluate_runs({"q": {"a": 1}}, {"r": RUN}, policy=gf.Policy(), dialect=name),
    ):
        problem = refusal(call)
        assert problem.where == "policy"
        assert name in problem.expected
        assert "dataclasses.replace" in problem.remedy


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("lightgm", "lightgbm"),
        ("treceval", "trec_eval"),
        ("scikit", "scikit-learn"),
        ("rakx", "rax"),
    ],
)
def test_an_unknown_name_suggests(written, meant):
    with pytest.raises(gf.errors.MeasureError, match=f"Did you mean '{meant}'"):
        gf.evaluate({"q": {"a": 1}}, RUN, dialect=written)


@pytest.mark.parametrize("name", [None, 7, "", "gainful"])
def test_what_is_no_name(name):
    with pytest.raises(gf.errors.MeasureError, match="the name of a tool"):
        gf.measures.dialect(name)


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_aliases(alias, name):
    assert gf.measures.dialect(alias) is gf.measures.dialect(name)
    assert gf.measures.dialect(alias.upper()).name == name
    assert alias not in NAMES
    assert gf.measures.dialect(gf.measures.dialect(name)) is gf.measures.dialect(name)


def test_a_dialect_of_ones_own():
    mine = dataclasses.replace(
        gf.measures.dialect("lightgbm"), name="ours", policy=gf.Policy(ties="best", empty="zero")
    )
    found = gf.evaluate({"q": {"a": 0, "b": 1}}, {"q": {"a": 1, "b": 1}}, "nDCG@2", dialect=mine)
    assert found.values.tolist() == [[1.0]]
    assert "| dialect=ours ties=best |" in found.signature("nDCG(gain=exp2, ideal=retrieved)@2")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("asked", ["nDCG", "nDCG@7", "DCG@3", "IDCG", "CG@2", "P@5", "AP"])
def test_the_measure_of_every_row_reads_back(name, asked):
    tool = gf.measures.dialect(name)
    measure = tool.measure(asked)
    assert gf.measure(str(measure)) == measure
    assert tool.measure(measure) == measure  # once is enough
    assert tool.measure(gf.measure(asked)) == measure
    assert measure.name == gf.measure(asked).name
    if asked == "AP":
        assert measure == gf.measure(f"AP(denominator={tool.average})")
    elif asked == "P@5":
        assert measure == gf.measure(asked)
    else:
        assert measure.cutoff == (gf.measure(asked).cutoff or tool.cutoff)


def test_what_is_written_out_stays():
    tool = gf.measures.dialect("xgboost")
    assert str(tool.measure("nDCG(gain=linear)@5")) == "nDCG(ideal=retrieved)@5"
    assert str(tool.measure("nDCG(gain=linear, ideal=judged)@5")) == "nDCG@5"
    assert (
        str(tool.measure("nDCG(discount=none)@5"))
        == "nDCG(gain=exp2, discount=none, ideal=retrieved)@5"
    )
    assert str(gf.measures.dialect("ntcir").measure("nDCG(gain={1: 1, 2: 3})@5")) == (
        "nDCG(gain={1: 1, 2: 3}, discount=jarvelin)@5"
    )


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("trec_eval-9", "ndcg", ["nDCG"]),
        ("trec_eval-9", "ndcg_cut_10", ["nDCG@10"]),
        ("trec_eval-9", "ndcg_cut.5,10", ["nDCG@5", "nDCG@10"]),
        ("pytrec_eval", "ndcg_cut", [f"nDCG@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
        ("ir_measures", "nDCG@10", ["nDCG@10"]),
        ("ir_measures", "nDCG(dcg='exp-log2')@10", ["nDCG(gain=exp2)@10"]),
        ("beir", "NDCG@10", ["nDCG@10"]),
        ("ranx", "ndcg_burges@5", ["nDCG(gain=exp2)@5"]),
        ("scikit-learn", "ndcg_score@5", ["nDCG(ideal=retrieved)@5"]),
        ("scikit-learn", "dcg_score", ["DCG"]),
        ("torchmetrics", "RetrievalNormalizedDCG@3", ["nDCG(ideal=retrieved)@3"]),
        ("torchmetrics", "retrieval_normalized_dcg", ["nDCG(ideal=retrieved)"]),
        ("lightgbm", "ndcg@1,5", [f"nDCG(gain=exp2, ideal=retrieved)@{k}" for k in (1, 5)]),
        ("xgboost", "ndcg", ["nDCG(gain=exp2, ideal=retrieved)@32"]),
        ("catboost", "NDCG", ["nDCG(ideal=retrieved)"]),
        ("rax", "ndcg_metric@10", ["nDCG(gain=exp2, ideal=retrieved)@10"]),
        ("tf-ranking", "NDCGMetric", ["nDCG(gain=exp2, ideal=retrieved)"]),
        ("recommenders", "ndcg_at_k", ["nDCG(gain=binary)@10"]),
    ],
)  # fmt: skip
def test_the_names_of_the_tool(name, written, meant):
    tool = gf.measures.dialect(name)
    assert [str(each) for each in tool.read(written)] == meant
    found = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, written, dialect=name)
    assert list(found.means) == meant
    if len(meant) > 1:
        with pytest.raises(gf.errors.MeasureError, match="one measure"):
            tool.measure(written)


def test_names_of_other_tools_are_not_known():
    with pytest.raises(gf.errors.MeasureError, match="catalogue"):
        gf.measures.dialect("rax").measure("ndcg_score")
    with pytest.raises(gf.errors.MeasureError):
        gf.measures.dialect("xgboost").measure("ndcg@10-")


@pytest.mark.parametrize("measures", [7, None, [], [7], "nDCG@", ["nDCG@10", "nope"]])
def test_what_is_no_measure(measures):
    with pytest.raises(gf.errors.MeasureError):
        gf.evaluate({"q": {"a": 1}}, RUN, measures, dialect="rax")


def test_a_measure_that_becomes_another_is_measured_once():
    found = gf.evaluate({"q": {"a": 1}}, RUN, ["nDCG", "nDCG@32"], dialect="xgboost")
    assert list(found.means) == ["nDCG(gain=exp2, ideal=retrieved)@32"]


@pytest.mark.parametrize("name", NAMES)
def test_rows(name):
    tool = gf.measures.dialect(name)
    assert str(tool) == name == name.casefold()
    # No choice is left open but what negative grades are, which are kept as they are then, and
    # whether there are chunks to fold.
    kept = "keep" if tool.policy.negative == "auto" else tool.policy.negative
    decided = dataclasses.replace(tool.policy, negative=kept, fold="none")
    assert tool.policy.fold == "auto"
    assert tool.policy.resolved(ids=True) == decided
    tool.for_arrays().resolved(ids=False)  # which refuses an order by ids
    assert tool.tool
    for text in (tool.ties, tool.note, tool.faults):
        assert not text or text.endswith(".")
    for written, known in tool.names.items():
        assert tool.measure(written) == tool.measure(known)
    facts = dict(tool.facts())
    own = str(tool.measure("nDCG")) if tool.has_ndcg else "AP(denominator=found)"
    assert facts["its nDCG" if tool.has_ndcg else "its measure"] == own == tool.main()
    assert ("grades" in facts) == (tool.grades is not None)


def test_a_signature_tells_the_dialect():
    judgments, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}
    spoken = gf.evaluate(judgments, run, "nDCG@10", dialect="pytrec-eval-terrier")
    policy = spoken.policy
    plain = gf.evaluate(judgments, run, "nDCG@10", policy=policy)
    assert plain.dialect is None
    assert spoken.signature("nDCG@10") == plain.signature("nDCG@10").replace(
        "| ties=", "| dialect=pytrec_eval ties="
    )
    assert "dialect: pytrec_eval" in gf.writing.render(spoken)
    assert "dialect" not in gf.writing.render(plain)


def test_a_reason_that_is_of_one_gain_is_said_of_that_gain():
    judgments, run = {"q": {"a": 0.5, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    with pytest.raises(gf.errors.InputError, match="ndcg_exp_gain"):
        gf.evaluate(judgments, run, "nDCG@2", dialect="xgboost")
    linear = gf.evaluate(judgments, run, "nDCG(gain=linear)@2", dialect="xgboost")
    assert list(linear.means.values()) == pytest.approx(
        [(0.5 + 2 / 1.5849625) / (2 + 0.5 / 1.5849625)]
    )


def test_quepid_has_two_forms():
    judgments = {"q": dict.fromkeys("abcd", 1)}
    run = {"q": {"a": 2.0, "b": 1.0}}
    whole, cut = (
        gf.evaluate(judgments, run, name, dialect="quepid").means.values()
        for name in ("NDCG@2", "NDCG_CUT@2")
    )
    assert list(cut) == [1.0]
    assert list(whole) == pytest.approx([0.6367], abs=1e-4)


def test_why_takes_one_measure():
    with pytest.raises(gf.errors.MeasureError, match="one measure"):
        gf.why({"q": {"a": 1}}, {"q": {"a": 1}}, ["nDCG@4"], dialects=["ranx", "sklearn"])
    with pytest.raises(gf.errors.InputError, match="one or two names"):
        gf.why({"q": {"a": 1}}, {"q": {"a": 1}}, dialects=None)


def test_which_names_the_tools_that_refuse():
    found = gf.explanation.which({"q": {"a": 1.5, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}, got="0.63")
    assert "lightgbm" in found.refused
    assert "scikit-learn" not in found.refused  # which takes fractions
    assert "lightgbm" in str(found)


def test_a_tool_of_lists_sees_the_grades_in_the_lists_alone():
    judgments = {"q": {"a": 1, "b": 0, "lost": -1}}
    run = {"q": {"a": 1.0, "b": 2.0}}
    for name in ("scikit-learn", "lightgbm"):
        scores = gf.evaluate(judgments, run, "nDCG@2", dialect=name)
        assert list(scores.means.values()) == pytest.approx([0.63093], abs=1e-5)
        with pytest.raises(gf.errors.InputError, match="grade -1"):
            gf.evaluate(judgments, {"q": {**run["q"], "lost": 0.5}}, "nDCG@2", dialect=name)


@pytest.mark.parametrize(
    ("name", "written", "read"),
    [
        ("catboost", "NDCG:top=10;type=Exp", "nDCG(gain=exp2, ideal=retrieved)@10"),
        ("catboost", "NDCG:type=Base", "nDCG(ideal=retrieved)"),
        ("lightgbm", "NDCG:type=Base;top=3", "nDCG(ideal=retrieved)@3"),  # it is written out
        ("spark-mllib", "ndcgAt(10)", "nDCG(gain=binary)@10"),
        ("spark-mllib", "precisionAt(3)", "P@3"),
        ("spark-mllib", "meanAveragePrecisionAt(3)", "AP(denominator=min)@3"),
        ("spark-mllib", "meanAveragePrecision", "AP"),
        ("ntcir", "MSnDCG@10", "nDCG@10"),
        ("ntcir", "MSnDCG(gain={1: 1, 2: 3})@10", "nDCG(gain={1: 1, 2: 3})@10"),
        ("ntcir", "nDCG@10", "nDCG(discount=jarvelin)@10"),
    ],
)
def test_what_the_tools_write(name, written, read):
    assert str(gf.measures.dialect(name).measure(written)) == read


def test_a_minus_is_a_policy_in_the_dialect_too():
    with pytest.raises(gf.errors.MeasureError, match=r"dialect\('xgboost'\)\.measure\('ndcg@10'\)"):
        gf.evaluate({"q": {"a": 1}}, RUN, "ndcg@10-", dialect="xgboost")


def test_a_hint_names_all_dialects_those_that_are_near_first():
    with pytest.raises(gf.errors.MeasureError) as caught:
        gf.measures.dialect("trec-eval")
    hint = caught.value.remedy
    assert hint.startswith("Did you mean 'trec_eval' or ")
    listed = hint.partition("Choices: ")[2].rstrip(".").split(", ")
    assert listed[0] == "trec_eval"
    assert sorted(listed) == sorted({*NAMES, *ALIASES})
    with pytest.raises(gf.errors.MeasureError, match=rf"found 'zzzz'\. Choices: {NAMES[0]}, "):
        gf.measures.dialect("zzzz")


@pytest.mark.parametrize("order", [["ranx", "rax"], ["rax", "trec_eval"]])
def test_why_says_whose_policy_refuses(order):
    judgments = {"q": {"a": 1}, "lost": {"a": 1}}
    refusing = next(name for name in order if name != "rax")
    said = rf"\(policy missing=error, set by dialect {gf.measures.dialect(refusing)}\), found 1 missing.*[Ww]ithout (the|a) dialect"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.why(judgments, {"q": {"a": 1.0}}, dialects=order)


def test_why_says_nothing_of_a_dialect_where_the_policy_is_given():
    judgments = {"q": {"a": 1}, "lost": {"a": 1}}
    with pytest.raises(gf.errors.InputError, match=r"\(policy missing=error\), found 1 missing"):
        gf.why(judgments, RUN, dialects=["rax"], policy=gf.Policy(missing="error"))


def test_what_a_dialect_says_of_a_choice():
    found = gf.errors.InputError(
        "nDCG", "at least one query", "none under the policy empty=skip", choice="empty=skip"
    )
    said = r"policy empty=skip, set by dialect gdeval\."
    with pytest.raises(gf.errors.InputError, match=said), speaking("gdeval"):
        raise found
    other = gf.errors.InputError("run", "a finite number as the score", "nan")
    for name in ("gdeval", None):
        with pytest.raises(gf.errors.InputError) as caught, speaking(name):
            raise other
        assert caught.value is other


@pytest.mark.parametrize(
    "name", [each.name for each in gf.measures.dialects() if each.policy.missing == "error"]
)
def test_a_missing_query_is_refused_with_what_works(name):
    judgments = {"q": {"a": 1}, "lost": {"a": 1}}
    with pytest.raises(gf.errors.InputError) as refused:
        gf.evaluate(judgments, {"q": {"a": 1.0}}, "nDCG@10", dialect=name)
    assert refused.value.remedy == gf.measures.dialect(name).on_missing
    if name == "trec_eval-10":
        assert "trec_eval-9" in refused.value.remedy
        assert (
            gf.evaluate(judgments, {"q": {"a": 1.0}}, "nDCG@10", dialect="trec_eval-9")["nDCG@10"]
            == 1
        )
    assert gf.evaluate(judgments, {"q": {"a": 1.0}}, "nDCG@10")["nDCG@10"] == 0.5
