"""The notation: one spelling for one measure, and the spellings of others."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gainful as gf
from gainful.measures.notation import parse, parse_all, read_measures

positive = st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False)
finite = st.floats(allow_infinity=False, allow_nan=False)
gains = st.one_of(
    st.sampled_from(["linear", "exp2", "binary"]), st.dictionaries(finite, finite, min_size=1)
)
bases = st.one_of(st.just(math.e), st.floats(min_value=1, exclude_min=True, allow_infinity=False))


@st.composite
def measures(draw):
    family = draw(st.sampled_from([family.name for family in gf.catalogue()]))
    parameters = {"gain": draw(gains)}
    if family != "CG":
        discount = draw(
            st.one_of(
                st.sampled_from(["log", "jarvelin", "reciprocal", "none"]),
                positive.map(lambda exponent: f"power({exponent!r})"),
            )
        )
        parameters["discount"] = discount
        if discount in ("log", "jarvelin"):
            parameters["base"] = draw(bases)
    return gf.Measure(family, cutoff=draw(st.none() | st.integers(1, 10**9)), **parameters)


@given(measures())
def test_what_is_written_reads_back_as_the_same_measure(measure):
    assert parse(str(measure)) == measure
    assert hash(parse(str(measure))) == hash(measure)
    assert str(parse(str(measure))) == str(measure)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("nDCG@10", "nDCG@10"),
        ("nDCG(gain=linear, base=2)@10", "nDCG@10"),
        ("nDCG(gain=exp2, base=e)@10", "nDCG(gain=exp2, base=e)@10"),
        ("nDCG(base=e,gain=exp2)@10", "nDCG(gain=exp2, base=e)@10"),
        (" ndcg ( gain = exp2 ) @ 10 ", "nDCG(gain=exp2)@10"),
        ("DCG(discount=power(0.50))", "DCG(discount=power(0.5))"),
        ("nDCG(gain={2: 3, 1: 1.5})@5", "nDCG(gain={1: 1.5, 2: 3})@5"),
        # trec_eval
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        # ranx, BEIR, and what people type
        ("ndcg@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("ndcg_burges@10", "nDCG(gain=exp2)@10"),
        ("dcg@3", "DCG@3"),
        # ir_measures
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp2)@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(gains={0:0,1:1,2:10})@10", "nDCG(gain={0: 0, 1: 1, 2: 10})@10"),
    ],
)
def test_spellings(text, written):
    assert str(gf.measure(text)) == written


@pytest.mark.parametrize(
    ("text", "cutoffs"),
    [
        ("ndcg_cut.10,20", [10, 20]),
        ("nDCG@5,10", [5, 10]),
        ("ndcg_cut", [5, 10, 15, 20, 30, 100, 200, 500, 1000]),
    ],
)
def test_several_cutoffs(text, cutoffs):
    assert [measure.cutoff for measure in parse_all(text)] == cutoffs
    with pytest.raises(gf.MeasureError, match="one measure"):
        parse(text)


def test_a_measure_named_twice_is_kept_once():
    assert read_measures(["nDCG@10", "ndcg_cut.10,20", "CG"]) == (
        parse("nDCG@10"),
        parse("nDCG@20"),
        parse("CG"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nDGC@10", "Did you mean 'nDCG'"),
        ("nDCG@0", "a whole number from 1 as cutoff, found '0'"),
        ("nDCG@2.5", "found '2.5'"),
        ("nDCG@-1", "found '-1'"),
        ("nDCG@", "found ''"),
        ("nDCG@10,", "found ''"),
        ("nDCG@1_0", "found '1_0'"),
        ("nDCG(gain=exp3)", "Did you mean 'exp2'"),
        ("nDCG(gian=exp2)", "Did you mean 'gain'"),
        ("nDCG(base=1)", "a number above 1"),
        ("nDCG(base=0.5)", "a number above 1"),
        ("nDCG(base=nan)", "a number above 1"),
        ("nDCG(base=inf)", "a number above 1"),
        ("nDCG(discount=lgo)", "Did you mean 'log'"),
        ("nDCG(discount=power)", r"power\(0.5\)"),
        ("nDCG(discount=power(0))", "p > 0"),
        ("nDCG(discount=power(-1))", "p > 0"),
        ("nDCG(discount=log(3))", "without an argument"),
        ("nDCG(discount=none, base=3)", "no base beside discount=none"),
        ("nDCG(gain=exp2, gain=linear)", "gain twice"),
        ("nDCG(gain)", "key=value"),
        ("nDCG(gain=)", "key=value"),
        ("nDCG(gain={1})", "a table such as"),
        ("nDCG(gain={1: x})", "a finite number as gain"),
        ("nDCG(gain={1: 1, 1.0: 2})", "each grade once"),
        ("nDCG(gain=exp2", "a name such as"),
        ("CG(discount=log)", "a parameter of this measure"),
        ("", "a name such as"),
        ("@10", "a name such as"),
    ],
)
def test_what_cannot_be_read_says_why(text, said):
    with pytest.raises(gf.MeasureError, match=said):
        parse(text)


@pytest.mark.parametrize("value", [None, 10, ["nDCG"]])
def test_a_measure_is_text(value):
    with pytest.raises(gf.MeasureError, match="a text such as"):
        parse(value)


@pytest.mark.parametrize("value", [[], (), 3])
def test_measures_are_one_or_more(value):
    with pytest.raises(gf.MeasureError):
        read_measures(value)


def test_a_function_has_no_notation_that_reads_back():
    measure = gf.Measure("nDCG", gain=lambda grade: grade)
    with pytest.raises(gf.MeasureError, match="in Python, a function"):
        parse(str(measure))
