"""Measures that ignore order within the list: precision, recall and counts."""

import math

from gainful.measures.measure_family import (
    ALWAYS,
    AMOUNT,
    LOWER,
    NEITHER,
    NEVER,
    SHARE,
    SUM,
    Example,
    Family,
    Spelling,
)
from gainful.measures.parameters import BASE, BETA, DISCOUNT, REL, UTILITY

_TREC_EVAL = "C. Buckley and E. Voorhees, Retrieval system evaluation, in TREC: Experiment and evaluation in information retrieval, MIT Press, 2005"
_RIJSBERGEN = "C. J. van Rijsbergen, Information retrieval, 2nd edition, Butterworths, 1979"
_BINARY = (1, 0, 1)


def _root(written: str) -> str:
    """Return the square root of a number, or the text unchanged if it has none; the parameter then rejects it."""
    try:
        return repr(math.sqrt(float(written)))
    except ValueError:
        return written


FAMILIES = (
    Family(
        name="P",
        title="Precision",
        definition=(
            "P@k = the number of relevant documents among the first k, divided by k, even if "
            "the list is shorter. Without a cutoff, k is the length of the list"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_RIJSBERGEN,
        example=Example("P@5", _BINARY, "2 / 5", "0.4"),
        parameters=(REL,),
        spellings=(Spelling("precision"), Spelling("set_P"), Spelling("SetP")),
    ),
    Family(
        name="R",
        title="Recall",
        definition=(
            "R@k = the number of relevant documents among the first k, divided by R, where R is the total "
            "number of relevant documents"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_RIJSBERGEN,
        example=Example("R@2", _BINARY, "1 / 4", "0.25", also=(1, 1)),
        parameters=(REL,),
        spellings=(
            Spelling("recall"),
            Spelling("set_recall"),
            Spelling("SetR"),
        ),
        normalised=True,
    ),
    Family(
        name="F",
        title="F-measure",
        definition=(
            "F@k = (1+β²)·P@k·R@k / (β²·P@k + R@k), the weighted harmonic mean of precision and "
            "recall"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_RIJSBERGEN,
        example=Example("F@3", _BINARY, "2·2 / (3+4)", "0.5714", also=(1, 1)),
        parameters=(BETA, REL),
        spellings=(
            Spelling("F1", {"beta": "1"}),
            Spelling("set_F", suffix="beta", read=_root),  # trec_eval takes the square
            Spelling("SetF"),
        ),
        normalised=True,
    ),
    Family(
        name="RelP",
        title="Relative precision",
        definition=(
            "RelP@k = the number of relevant documents among the first k, divided by the highest "
            "possible number, min(k, R)"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("RelP@5", _BINARY, "2 / min(5, 4)", "0.5", also=(1, 1)),
        parameters=(REL,),
        spellings=(
            Spelling("relative_P"),
            Spelling("set_relative_P"),
            Spelling("SetRelP"),
        ),
        normalised=True,
    ),
    Family(
        name="SetAP",
        title="Unranked average precision",
        definition="SetAP = P · R of the whole list",
        range="0 to 1",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("SetAP", _BINARY, "2/3 · 2/4", "0.3333", also=(1, 1)),
        parameters=(REL,),
        spellings=(Spelling("set_map"),),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="Success",
        title="Success, or hit rate",
        definition="Success@k = 1 if a relevant document is among the first k, else 0",
        range="0 or 1",
        ends=SHARE,
        citation=("N. Craswell and D. Hawking, Overview of the TREC-2004 Web track, TREC 2004"),
        example=Example("Success@2", (0, 1), "", "1"),
        parameters=(REL,),
        spellings=(
            Spelling("success"),
            Spelling("hit_rate"),
            Spelling("HR"),
        ),
    ),
    Family(
        name="Utility",
        title="Linear utility",
        definition=(
            "Utility = a·(relevant, retrieved) + b·(other, retrieved) + c·(relevant, not "
            "retrieved) + d·(other, not retrieved), where each pair of parentheses stands for the number of such documents"
        ),
        range="any real number",
        citation=("D. Hull and S. Robertson, The TREC-8 filtering track final report, TREC 1999"),
        example=Example("Utility", _BINARY, "2 − 1", "1"),
        parameters=(*UTILITY, REL),
        spellings=(Spelling("utility"),),
        cutoff=NEVER,
    ),
    Family(
        name="Judged",
        better=NEITHER,
        title="Share of judged documents",
        definition=(
            "Judged@k = the number of judged documents among the first k, divided by k, or by the "
            "length of the list if it is shorter. A negative grade counts as a judgment, except under the "
            "policy negative=unjudged"
        ),
        range="0 to 1",
        ends=SHARE,
        citation="S. MacAvaney, C. Macdonald and I. Ounis, Streamlining evaluation with ir-measures, ECIR 2022",
        example=Example("Judged@5", (1, None, 0), "2 / 3", "0.6667"),
        parameters=(),
    ),
    Family(
        name="Unjudged",
        better=NEITHER,
        title="Unjudged documents at a cutoff",
        definition=(
            "Unjudged@k = the number of documents among the first k without a judgment, divided "
            "by k, even if the list is shorter. A negative grade counts as a judgment, except under the "
            "policy negative=unjudged"
        ),
        range="0 to 1",
        ends=SHARE,
        citation="I. Soboroff, trec_eval 10, 2023",
        example=Example("Unjudged@5", (1, None, 0), "1 / 5", "0.2"),
        parameters=(),
        spellings=(Spelling("unj"),),
        cutoff=ALWAYS,
    ),
    Family(
        name="UnjudgedMass",
        better=NEITHER,
        title="Share of the discount on unjudged documents",
        definition=(
            "UnjudgedMass@k = Σ d_i over the ranks i ≤ k of documents without a judgment / Σ d_i over "
            "all ranks i ≤ k of the list: the share of the DCG that is unknown. A negative grade counts as "
            "a judgment, except under the policy negative=unjudged"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "the residual of A. Moffat and J. Zobel, Rank-biased precision, 2008, for any discount"
        ),
        example=Example("UnjudgedMass@2", (1, None, 0), "0.6309 / 1.6309", "0.3869"),
        parameters=(DISCOUNT, BASE),
    ),
    Family(
        name="NumQ",
        better=NEITHER,
        title="Number of queries",
        definition="NumQ = 1 for every query, summed",
        range="0 or more",
        ends=AMOUNT,
        citation=_TREC_EVAL,
        example=Example("NumQ", _BINARY, "", "1"),
        parameters=(),
        spellings=(Spelling("num_q"),),
        needs_run=False,
        cutoff=NEVER,
        aggregate=SUM,
    ),
    Family(
        name="NumRet",
        better=NEITHER,
        title="Number of documents retrieved",
        definition="NumRet@k = the number of documents in the list, at most k, summed over the queries",
        range="0 or more",
        ends=AMOUNT,
        citation=_TREC_EVAL,
        example=Example("NumRet", _BINARY, "", "3"),
        parameters=(),
        spellings=(Spelling("num_ret"),),
        aggregate=SUM,
    ),
    Family(
        name="NumRel",
        better=NEITHER,
        title="Number of relevant documents",
        definition="NumRel = R, the number of relevant documents, summed over the queries",
        range="0 or more",
        ends=AMOUNT,
        citation=_TREC_EVAL,
        example=Example("NumRel", _BINARY, "2 + 1", "3", also=(1,)),
        parameters=(REL,),
        spellings=(Spelling("num_rel"),),
        needs_run=False,
        cutoff=NEVER,
        aggregate=SUM,
    ),
    Family(
        name="NumRelRet",
        title="Number of relevant documents retrieved",
        definition=(
            "NumRelRet@k = the number of relevant documents among the first k, summed over the "
            "queries"
        ),
        range="0 or more",
        ends=AMOUNT,
        citation=_TREC_EVAL,
        example=Example("NumRelRet", _BINARY, "", "2", also=(1,)),
        parameters=(REL,),
        spellings=(Spelling("num_rel_ret"), Spelling("hits")),
        aggregate=SUM,
    ),
    Family(
        name="NumNonrelRet",
        better=LOWER,
        title="Number of documents retrieved that were judged not relevant",
        definition=(
            "NumNonrelRet@k = the number of documents among the first k with a grade of at least 0 "
            "that are not relevant, summed over the queries"
        ),
        range="0 or more",
        ends=AMOUNT,
        citation=_TREC_EVAL,
        example=Example("NumNonrelRet", (1, 0, None), "", "1"),
        parameters=(REL,),
        spellings=(Spelling("num_nonrel_judged_ret"),),
        aggregate=SUM,
        marks=True,
    ),
)
