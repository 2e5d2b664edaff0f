"""The notation: one spelling for one measure, and the spellings of others."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gainful as gf
from gainful.measures.notation import parse, parse_all, read_measures

positive = st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_nan=False)
finite = st.floats(allow_infinity=False, allow_nan=False)
gains = st.one_of(
    st.sampled_from(["linear", "exp2", "binary"]), st.dictionaries(finite, finite, min_size=1)
)
bases = st.one_of(st.just(math.e), st.floats(min_value=1, exclude_min=True, allow_infinity=False))
shares = st.floats(0, 1, exclude_min=True, exclude_max=True)
discounts = st.one_of(
    st.sampled_from(["log", "jarvelin", "reciprocal", "none"]),
    positive.map(lambda exponent: f"power({exponent!r})"),
)
rows = st.lists(st.integers(1, 10**6), min_size=1, max_size=4)
VALUES = {
    "gain": gains,
    "discount": discounts,
    "norm": st.sampled_from(["ideal", "minmax"]),
    "ideal": st.sampled_from(["judged", "retrieved"]),
    "depth": st.sampled_from(["cutoff", "all", "retrieved"]),
    "base": bases,
    "denominator": st.sampled_from(["R", "min"]),
    "recall": st.floats(0, 1),
    "p": shares,
    "K": st.integers(1, 10**9),
    "user": st.sampled_from(["RBP", "INSQ", "INST", "BPM", "SDCG", "P"]),
    "beta": st.floats(0, 1e100, exclude_min=True),
    "columns": rows | rows.map(lambda listed: [*listed, "..."]) | st.integers(1, 10**6),
    **dict.fromkeys(("row", "column"), discounts),
    **dict.fromkeys(("mult", "floor", "T", "docs"), positive),
    **dict.fromkeys(("rel", "a", "b", "c", "d"), finite),
}
SCALES = {
    "number": st.floats(0, 1000, exclude_min=True),
    "text": st.sampled_from(["none", "query"]) | positive,
}


@st.composite
def measures(draw):
    """Any family, with random values of its own parameters and a cutoff where it has one."""
    family = draw(st.sampled_from(gf.measures.families(needs="grades")))
    parameters = {}
    for parameter in family.parameters:
        if parameter.name == "max":
            kind = "text" if parameter.default == "none" else "number"
            parameters["max"] = draw(SCALES[kind])
        else:
            parameters[parameter.name] = draw(VALUES[parameter.name])
    if "base" in parameters and parameters["discount"] not in ("log", "jarvelin"):
        del parameters["base"]
    if parameters.get("norm") == "minmax":
        del parameters["ideal"], parameters["depth"]
    cutoff = {
        "never": st.none(),
        "always": st.integers(1, 10**9),
        "optional": st.none() | st.integers(1, 10**9),
    }[family.cutoff]
    return gf.Measure(family.name, cutoff=draw(cutoff), **parameters)


@settings(max_examples=500)
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
        ("nDCG(depth=all, ideal=retrieved)@5", "nDCG(ideal=retrieved, depth=all)@5"),
        ("nDCG(ideal=judged, depth=cutoff)", "nDCG"),
        ("IDCG(depth=retrieved)", "IDCG(depth=retrieved)"),
        # trec_eval
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("map", "AP"),
        ("map_cut_5", "AP@5"),
        ("P_5", "P@5"),
        ("recall_10", "R@10"),
        ("recip_rank", "RR"),
        ("success_5", "Success@5"),
        ("set_P", "P"),
        ("set_recall", "R"),
        ("set_F", "F"),
        ("set_map", "SetAP"),
        ("set_relative_P", "RelP"),
        ("relative_P_10", "RelP@10"),
        ("Rprec_mult_1.20", "Rprec(mult=1.2)"),
        ("iprec_at_recall_0.10", "iprec(recall=0.1)"),
        ("11pt_avg", "11pt"),
        ("gm_map", "GMAP"),
        ("gm_bpref", "GMbpref"),
        ("bpref", "bpref"),
        ("infAP", "infAP"),
        ("G", "G"),
        ("binG", "binG"),
        ("ndcg_rel", "nDCGrel"),
        ("Rndcg", "RnDCG"),
        ("num_q", "NumQ"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
        ("num_nonrel_judged_ret", "NumNonrelRet"),
        ("unj_5", "Unjudged@5"),
        ("rbp", "RBP(p=0.9, max=query)"),
        ("rbp_resid", "RBPres(p=0.9)"),
        ("relative_P", "RelP"),
        ("success", "Success"),
        ("utility", "Utility"),
        # ranx
        ("precision@5", "P@5"),
        ("recall@5", "R@5"),
        ("mrr@10", "RR@10"),
        ("mrr", "RR"),
        ("map@10", "AP@10"),
        ("hit_rate@3", "Success@3"),
        ("hits@3", "NumRelRet@3"),
        ("f1@5", "F@5"),
        ("f1", "F"),
        ("r_precision", "Rprec"),
        ("rbp.95", "RBP(p=0.95)"),
        ("rbp.5", "RBP(p=0.5)"),
        # ranx, BEIR, and what people type
        ("ndcg@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("ndcg_burges@10", "nDCG(gain=exp2)@10"),
        ("dcg@3", "DCG@3"),
        # Spark, CatBoost, NTCIREVAL
        ("ndcgAt@10", "nDCG(gain=binary)@10"),
        ("ndcgAt(10)", "nDCG(gain=binary)@10"),
        (" ndcgat ( 10 ) ", "nDCG(gain=binary)@10"),
        ("NDCG:top=10;type=Exp", "nDCG(gain=exp2)@10"),
        ("NDCG:type=Base;top=5;denominator=Position", "nDCG(discount=reciprocal)@5"),
        ("NDCG:top=-1", "nDCG"),
        ("DCG:denominator=LogPosition; type = Exp", "DCG(gain=exp2)"),
        ("MSnDCG(gain=exp2)@10", "nDCG(gain=exp2)@10"),
        ("MSnDCG(gain={1: 1, 2: 3})", "nDCG(gain={1: 1, 2: 3})"),
        # ir_measures
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain=exp2)@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(gains={0:0,1:1,2:10})@10", "nDCG(gain={2: 10, else: linear})@10"),
        ("AP(rel=2)@10", "AP(rel=2)@10"),
        ("IPrec@0.1", "iprec(recall=0.1)"),
        ("Judged@10", "Judged@10"),
        ("SetP", "P"),
        ("SetR", "R"),
        ("SetF", "F"),
        ("SetAP", "SetAP"),
        ("NumRet", "NumRet"),
        ("Bpref", "bpref"),
        ("RBP(p=0.8, rel=1)", "RBP"),
        ("RBP(rel=2, p=0.5)@20", "RBP(p=0.5, rel=2)@20"),
        ("ERR@20", "ERR@20"),
        ("Success@5", "Success@5"),
        ("Compat(p=0.8)", "Compat(p=0.8)"),
        ("INST", "INST"),
        ("INSQ", "INSQ"),
        ("BPM", "BPM"),
        ("SDCG@10", "SDCG@10"),
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
        ("P.5,10", [5, 10]),
        ("map_cut", [5, 10, 15, 20, 30, 100, 200, 500, 1000]),
    ],
)
def test_several_cutoffs(text, cutoffs):
    assert [measure.cutoff for measure in parse_all(text)] == cutoffs
    with pytest.raises(gf.errors.MeasureError, match="one measure"):
        parse(text)


def test_several_shares():
    assert [str(measure) for measure in parse_all("iprec_at_recall.0.1,0.25")] == [
        "iprec(recall=0.1)",
        "iprec(recall=0.25)",
    ]


@pytest.mark.parametrize(
    "family", gf.measures.families(needs="grades"), ids=lambda family: family.name
)
def test_every_spelling_of_the_catalogue_is_read_as_its_family(family):
    for name in (family.name, family.name.upper(), *(s.name for s in family.spellings)):
        for measure in parse_all(f"{name}@7" if family.cutoff != "never" else name):
            assert measure.name == family.name


def test_no_two_families_share_a_spelling():
    spelled = [
        name.casefold()
        for family in gf.measures.families(needs="grades")
        for name in {family.name.casefold(), *(s.name.casefold() for s in family.spellings)}
    ]
    assert len(spelled) == len(set(spelled))


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
        ("nDCG@0", "a whole number from 1 to 1,000,000,000 as the cutoff, found '0'"),
        ("P@99999999999999999999", "a whole number from 1 to 1,000,000,000 as the cutoff"),
        ("unj", "a cutoff, such as Unjudged@10"),
        ("ERR(max=1100)", "at most 1000"),
        ("F(beta=1e200)", "at most 1e100"),
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
        ("nDCG(ideal=run)", "ideal: expected judged or retrieved, found 'run'"),
        ("nDCG(depth=10)", "depth: expected cutoff or all or retrieved, found '10'"),
        ("nDCG(norm=minmax, ideal=retrieved)", "ideal: expected judged with norm=minmax"),
        ("nDCG(norm=minmax, depth=all)@5", "depth: expected cutoff with norm=minmax"),
        ("DCG(ideal=retrieved)", "a parameter of this measure"),
        ("nDCG(gain=exp2, gain=linear)", "gain twice"),
        ("nDCG(gain)", "key=value"),
        ("nDCG(gain=)", "key=value"),
        ("nDCG(gain={1})", "a table such as"),
        ("nDCG(gain={1: x})", "a finite number as the gain"),
        ("nDCG(gain={1: 1, 1.0: 2})", "each grade once"),
        ("nDCG(gain=exp2", "a name such as"),
        ("CG(discount=log)", "a parameter of this measure"),
        ("Rprec@5", "Rprec: expected no cutoff"),
        ("infAP@5", "infAP: expected no cutoff"),
        ("SDCG", "SDCG: expected a cutoff, such as SDCG@10, found none"),
        ("Unjudged", "a cutoff, such as Unjudged@10"),
        ("P(rel=x)", "rel: expected a grade.*found 'x'"),
        ("iprec@2", "recall: expected a number from 0 to 1.*found '2'"),
        ("iprec(recall=-0.1)", "a number from 0 to 1"),
        ("RBP(p=1)", "p: expected a number between 0 and 1.*found '1'"),
        ("RBP(p=0)", "a number between 0 and 1"),
        ("RBP(max=nothing)", "none, query, or a number above 0"),
        ("F(beta=-1)", "beta: expected a non-negative number"),
        ("Q(beta=-1)", "beta: expected a non-negative number"),
        ("AP(denominator=max)", "denominator: expected R or min or found, found 'max'"),
        ("ERR(max=0)", "max: expected a number above 0"),
        ("GMAP(floor=0)", "floor: expected a number above 0"),
        ("INST(T=0)", "T: expected a number above 0"),
        ("BPM(K=2.5)", "K: expected a positive integer"),
        ("Rprec(mult=0)", "mult: expected a number above 0"),
        ("Utility(docs=-1)", "docs: expected the number of documents"),
        ("NumQ(rel=1)", "It has none"),
        ("P_0", "a whole number from 1 to"),
        ("", "a name such as"),
        ("@10", "a name such as"),
        (
            "ndcg@10-",
            r"XGBoost's notation for the policy empty=zero. Write 'ndcg@10' under that policy",
        ),
        ("map-", "XGBoost's notation for the policy empty=zero. Write 'map' under that policy"),
        ("nDCG(gain=exp2)@5-", r"Write 'nDCG\(gain=exp2\)@5' under that policy"),
        (
            "MSnDCG@10",
            r"a gain, which the name does not define.*'nDCG\(gain=exp2\)@10'.*dialect ntcir",
        ),
        ("MSnDCG", "a gain, which the name does not define"),
        ("MSnDCG(gain=exp2, discount=jarvelin)", "discount twice"),
        ("NDCG:top=ten", "found 'ten'"),
        ("NDCG:top=0", "found '0'"),
        ("NDCG:type=exp", "type=Base or Exp, found 'exp'. Did you mean 'Exp'"),
        ("NDCG:denominator=Log", "denominator=LogPosition or Position"),
        ("NDCG:tpye=Exp", "settings of CatBoost's metric.*Did you mean 'type'"),
        ("NDCG:", "settings of CatBoost's metric"),
        ("ndcgAt(0)", "found '0'"),
        ("ndcgAt(x)", "a measure from the catalogue, found 'ndcgAt'"),
    ],
)
def test_what_cannot_be_read_says_why(text, said):
    with pytest.raises(gf.errors.MeasureError, match=said):
        parse(text)


@pytest.mark.parametrize("character", ["\0", "\x0b", "\x1c", "\x1f", "\x7f", "\x85"])
@pytest.mark.parametrize("written", ["P.5,{}10", "nDCG{}@10", "{}nDCG", "nDCG(gain={}exp2)@5{}"])
def test_control_characters_are_no_white_space(written, character):
    text = written.replace("{}", character)
    for read in (parse_all, gf.measures.family, gf.measures.dialect("trec_eval").read):
        with pytest.raises(gf.errors.MeasureError, match="It contains a control character"):
            read(text)
    with pytest.raises(gf.errors.MeasureError, match="It contains a control character"):
        gf.subtopics.evaluate_subtopics({"q": {"t": {"a": 1}}}, {"q": {"a": 1.0}}, f"IA({text})")


def test_tabs_and_line_ends_are_white_space():
    assert parse_all("P.5,\t10\r\n") == (gf.measure("P@5"), gf.measure("P@10"))


@pytest.mark.parametrize("value", [None, 10, ["nDCG"]])
def test_a_measure_is_text(value):
    with pytest.raises(gf.errors.MeasureError, match="a string such as"):
        parse(value)


@pytest.mark.parametrize("value", [[], (), 3])
def test_measures_are_one_or_more(value):
    with pytest.raises(gf.errors.MeasureError):
        read_measures(value)


def test_a_function_has_no_notation_that_reads_back():
    measure = gf.Measure("nDCG", gain=lambda grade: grade)
    with pytest.raises(gf.errors.MeasureError, match="in Python, a function"):
        parse(str(measure))


PIECES = ["nDCG", "P", "@", ".", ",", "_", "(", ")", "=", "gain", "10", "5", "9" * 5000, "-", ":"]
ODD = [" ", "\t", "\n", "\x1c", "\x1f", "\x85", "\u2003", "\u0663", "²", "½", "\0", "\x1b[31m"]


@given(st.lists(st.sampled_from([*PIECES, *ODD]), max_size=8).map("".join))
@settings(max_examples=300)
def test_any_text_is_a_measure_or_refused(text):
    for read in (parse, parse_all):
        try:
            read(text)
        except gf.errors.MeasureError as problem:
            said = str(problem)
        else:
            said = ""
        assert said.isprintable()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("nDCG@10 AP, RR", ["nDCG@10", "AP", "RR"]),
        ("nDCG@5,10", ["nDCG@5", "nDCG@10"]),
        ("nDCG@5, 10 AP", ["nDCG@5", "nDCG@10", "AP"]),
        ("nDCG@5,10,AP", ["nDCG@5", "nDCG@10", "AP"]),
        ("AP,RR,P@5", ["AP", "RR", "P@5"]),
        ("  AP \n RR\t", ["AP", "RR"]),
        ("nDCG @ 10 , AP", ["nDCG@10", "AP"]),
        ("nDCG(gain=exp2, base=e)@10 P (rel=2) @5", ["nDCG(gain=exp2, base=e)@10", "P(rel=2)@5"]),
        ("nDCG(gain={1: 1, 2: 3, 3: 7})@5,RR", ["nDCG(gain={1: 1, 2: 3, 3: 7})@5", "RR"]),
        ("DCG(gain={2: 3, else: linear}) AP", ["DCG(gain={2: 3, else: linear})", "AP"]),
        ("ndcg_cut.5,10 map", ["nDCG@5", "nDCG@10", "AP"]),
        ("NDCG:top=10; type=Exp", ["nDCG(gain=exp2)@10"]),
        ("P@5,11pt", ["P@5", "11pt"]),
        ("AP AP nDCG@5 ndcg_cut_5", ["AP", "nDCG@5"]),
    ],
)
def test_several_measures_in_one_text(text, meant):
    assert [str(measure) for measure in read_measures(text)] == meant
    assert [str(measure) for measure in read_measures([text, "Success@1"])] == [*meant, "Success@1"]


@settings(deadline=None)
@given(st.lists(measures(), min_size=1, max_size=4, unique=True), st.sampled_from([" ", ",", ", "]))
def test_what_is_written_in_one_text_reads_back(several, between):
    assert read_measures(between.join(map(str, several))) == tuple(several)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nDCG@10 nDGC@5", "'nDGC'. Did you mean 'nDCG"),
        ("nDCG nDGC", "'nDGC'. Did you mean 'nDCG"),
        ("nDCG@10 ten", "'ten'"),
        ("average precision", "'average precision'. Did you mean 'AP'"),
        ("nDCG@10,", "cutoff"),
        ("nDCG(gain=exp2 AP", "a name such as"),
    ],
)
def test_what_is_no_measure_among_several(text, told):
    with pytest.raises(gf.errors.MeasureError) as refused:
        read_measures(text)
    assert told in str(refused.value)


def test_one_measure_where_one_is_asked_for():
    with pytest.raises(gf.errors.MeasureError, match=r"one measure, found 2\. Pass one of them"):
        gf.measure("nDCG@10 AP")
    with pytest.raises(gf.errors.MeasureError, match=r"one measure, found 2\. Pass one cutoff"):
        gf.measure("nDCG@5,10")
    with pytest.raises(gf.errors.MeasureError, match=r"one measure, found 2\. Pass one of them"):
        gf.bounds({"q": {"a": 1}}, {"q": {"a": 1}}, "nDCG@5", grades=[0, 1])["nDCG@5 AP"]


def test_one_option_of_the_command_line_takes_several(cli, files):
    judgments, run = files("j.qrels", "q1 0 a 1\n"), files("one.run", "q1 Q0 a 1 3 t\n")
    apart = cli("evaluate", judgments, run, "-m", "nDCG@5", "-m", "AP", "-m", "RR")
    assert apart.returncode == 0
    assert cli("evaluate", judgments, run, "-m", "nDCG@5 AP, RR").stdout == apart.stdout
    assert cli("evaluate", judgments, run, "-m", "nDCG@5 AP", "-m", "RR").stdout == apart.stdout
    refused = cli("explain", judgments, run, "--query", "q1", "-m", "nDCG@5 AP")
    assert refused.returncode == 2
    assert "Pass one of them" in refused.stderr
    gated = cli("evaluate", judgments, run, "-m", "nDCG@5 RR", "--fail-if", "missing > 0")
    assert gated.returncode == 0
    other = files("two.run", "q1 Q0 a 1 3 t\n")
    compared = cli("compare", judgments, run, other, "-m", "AP, RR", "--format", "csv").stdout
    assert [line.split(",")[0] for line in compared.splitlines()[1:3]] == ["AP", "RR"]
    judged = {"q1": {"a": 1}}
    found = gf.evaluate(judged, {"q1": {"a": 1}}, "ndcg_cut_5 map", dialect="trec_eval")
    assert [str(measure) for measure in found.measures] == ["nDCG@5", "AP"]
