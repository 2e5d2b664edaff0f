"""Measures for queries with subtopics."""

from dataclasses import dataclass

from gainful.measures.measure_family import (
    ALWAYS,
    AMOUNT,
    NEVER,
    SHARE,
    SUBTOPICS,
    Example,
    Family,
    Parameter,
    Spelling,
)
from gainful.measures.parameters import GAIN, REL, inner_of, number
from gainful.measures.written_numbers import Range

INTENT_AWARE = "IA"


@dataclass(frozen=True, slots=True)
class SubtopicExample(Example):
    """A value that a reader can check by hand; a test computes each.

    `docs` are the documents of the list in rank order, each as a string with one letter per
    subtopic that it is relevant to; `lost` are judged documents that were not retrieved.
    """

    docs: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __str__(self) -> str:
        listed = ", ".join(doc or "–" for doc in self.docs)
        others = f", not retrieved {', '.join(self.lost)}" if self.lost else ""
        return f"subtopics {listed}{others}: {self.measure} = {self.working} = {self.value}"


def _example(
    measure: str, docs: tuple[str, ...], working: str, value: str, lost: tuple[str, ...] = ()
) -> SubtopicExample:
    return SubtopicExample(measure, (), working, value, docs=docs, lost=lost)


def _share(name: str, values: str, allowed: Range | None = None) -> Parameter:
    return number(name, 0.5, values, Range(0, 1) if allowed is None else allowed)


ALPHA = _share(
    "alpha", "a number from 0 to 1: how much less a subtopic is worth each time it is repeated"
)
BETA = _share(
    "beta",
    "a number between 0 and 1: the probability that the user looks at the next document",
    Range(0, 1, above=True, below=True),
)
GAMMA = _share(
    "gamma", "a number from 0 to 1: the weight of subtopic recall; the rest is the weight of D_nDCG"
)
INNER = inner_of(INTENT_AWARE)

_NOVELTY = (
    "C. Clarke, M. Kolla, G. Cormack, O. Vechtomova, A. Ashkan, S. Büttcher and I. MacKinnon, "
    "Novelty and diversity in information retrieval evaluation, SIGIR 2008"
)
_COMPARED = (
    "C. Clarke, N. Craswell, I. Soboroff and A. Ashkan, A comparative analysis of cascade measures "
    "for novelty and diversity, WSDM 2011"
)
_ERR = (
    "O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, Expected reciprocal rank for graded "
    "relevance, CIKM 2009"
)
_NRBP = (
    "C. Clarke, M. Kolla and O. Vechtomova, An effectiveness measure for ambiguous and "
    "underspecified queries, ICTIR 2009"
)
_INTENTS = (
    "R. Agrawal, S. Gollapudi, A. Halverson and S. Ieong, Diversifying search results, WSDM 2009"
)
_SHARP = (
    "T. Sakai and R. Song, Evaluating diversified search results using per-intent graded "
    "relevance, SIGIR 2011"
)
_RECALL = (
    "C. Zhai, W. Cohen and J. Lafferty, Beyond independent relevance: methods and evaluation "
    "metrics for subtopic retrieval, SIGIR 2003"
)
_IDEAL = "that of the greedy ideal. At each rank, this ideal picks the judged document with the highest gain"

FAMILIES = (
    Family(
        name="alpha_nDCG",
        needs=SUBTOPICS,
        title="Normalised discounted cumulated gain with novelty",
        definition=(
            "alpha_nDCG@k = Σ_{i=1..k} g_i/log2(i+1) / "
            f"{_IDEAL}. Here g_i = Σ_s (1−α)^n over the subtopics s that the document at rank i is "
            "relevant to, where n is the number of documents above it that are also relevant to s"
        ),
        range="0 or more; at most 1, unless the greedy ideal is not the best order",
        ends=AMOUNT,
        citation=_NOVELTY,
        example=_example(
            "alpha_nDCG@3",
            ("a", "", "b"),
            "(1 + 1/2) / (1 + 1/log2(3) + 1/2·1/2)",
            "0.7975",
            ("a",),
        ),
        parameters=(ALPHA, REL),
        spellings=(Spelling("andcg"),),
        normalised=True,
    ),
    Family(
        name="alpha_DCG",
        needs=SUBTOPICS,
        title="Discounted cumulated gain with novelty",
        definition=(
            "alpha_DCG@k = Σ_{i=1..k} g_i/log2(i+1) / (S·Σ_{i=1..k} (1−α)^(i−1)/log2(i+1)), with g_i as "
            "in alpha_nDCG. The denominator is the value of k documents that are relevant to all S "
            "subtopics, whether or not such documents exist"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=f"{_NOVELTY}; {_COMPARED}, for the denominator",
        example=_example(
            "alpha_DCG@2", ("a", "b"), "(1 + 1/log2(3)) / (2·(1 + 0.5/log2(3)))", "0.6199"
        ),
        parameters=(ALPHA, REL),
        spellings=(Spelling("adcg"),),
        normalised=True,
        cutoff=ALWAYS,
    ),
    Family(
        name="ERR_IA",
        needs=SUBTOPICS,
        title="Intent-aware expected reciprocal rank",
        definition=(
            "ERR_IA@k = Σ_{i=1..k} g_i/i / (S·Σ_{i=1..k} (1−α)^(i−1)/i), with g_i as in alpha_nDCG. The "
            "denominator is the value of k documents that are relevant to all S subtopics"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=f"{_ERR}; {_COMPARED}",
        example=_example("ERR_IA@2", ("a", "b"), "(1 + 1/2) / (2·(1 + 0.5/2))", "0.6"),
        parameters=(ALPHA, REL),
        normalised=True,
        cutoff=ALWAYS,
    ),
    Family(
        name="nERR_IA",
        needs=SUBTOPICS,
        title="Normalised intent-aware expected reciprocal rank",
        definition=f"nERR_IA@k = Σ_{{i=1..k}} g_i/i / {_IDEAL}. Here g_i is as in alpha_nDCG",
        range="0 or more; at most 1, unless the greedy ideal is not the best order",
        ends=AMOUNT,
        citation=_COMPARED,
        example=_example("nERR_IA@2", ("", "b"), "(1/2) / (1 + 1/2)", "0.3333", ("a",)),
        parameters=(ALPHA, REL),
        normalised=True,
    ),
    Family(
        name="NRBP",
        needs=SUBTOPICS,
        title="Novelty- and rank-biased precision",
        definition="NRBP = (1 − (1−α)·β)/S · Σ_i β^(i−1)·g_i, with g_i as in alpha_nDCG",
        range="0 to 1",
        ends=SHARE,
        citation=_NRBP,
        example=_example("NRBP", ("a", "b"), "0.75/2 · (1 + 0.5)", "0.5625"),
        parameters=(ALPHA, BETA, REL),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="nNRBP",
        needs=SUBTOPICS,
        title="Normalised novelty- and rank-biased precision",
        definition=f"nNRBP = NRBP / {_IDEAL}",
        range="0 or more; at most 1, unless the greedy ideal is not the best order",
        ends=AMOUNT,
        citation=_NRBP,
        example=_example("nNRBP", ("", "b"), "0.5 / (1 + 0.5)", "0.3333", ("a",)),
        parameters=(ALPHA, BETA, REL),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="P_IA",
        needs=SUBTOPICS,
        title="Intent-aware precision",
        definition="P_IA@k = Σ_s P(s)·(documents down to rank k that are relevant to s)/k",
        range="0 to 1",
        ends=SHARE,
        citation=_INTENTS,
        example=_example("P_IA@2", ("ab", "a"), "1/2·2/2 + 1/2·1/2", "0.75"),
        parameters=(REL,),
        normalised=True,
        cutoff=ALWAYS,
    ),
    Family(
        name="AP_IA",
        needs=SUBTOPICS,
        title="Intent-aware average precision",
        definition="AP_IA = Σ_s P(s)·AP_s, where AP_s is the average precision for subtopic s alone",
        range="0 to 1",
        ends=SHARE,
        citation=_INTENTS,
        example=_example("AP_IA", ("a", "b"), "1/2·1 + 1/2·1/2", "0.75"),
        parameters=(REL,),
        spellings=(Spelling("MAP_IA"),),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="strec",
        needs=SUBTOPICS,
        title="Subtopic recall",
        definition="strec@k = the share of the S subtopics that at least one document down to rank k is relevant to",
        range="0 to 1",
        ends=SHARE,
        citation=_RECALL,
        example=_example("strec@2", ("a", "a"), "1/2", "0.5", ("b",)),
        parameters=(REL,),
        spellings=(Spelling("Irec"), Spelling("I_rec"), Spelling("StRecall")),
        normalised=True,
    ),
    Family(
        name="D_nDCG",
        needs=SUBTOPICS,
        title="Normalised discounted cumulated gain of all subtopics combined",
        definition=(
            "D_nDCG@k = Σ_{i=1..k} g_i/log2(i+1) / that of the ideal. This ideal contains all judged documents, "
            "sorted by descending g. Here g = Σ_s P(s)·g_s: a document's gains for the subtopics, weighted by "
            "the probability of each subtopic"
        ),
        range="at most 1; 0 or more without negative grades",
        ends=SHARE,
        citation=_SHARP,
        example=_example(
            "D_nDCG@2", ("a", "ab"), "(0.5 + 1/log2(3)) / (1 + 0.5/log2(3))", "0.8597"
        ),
        parameters=(GAIN,),
        normalised=True,
    ),
    Family(
        name="Dsharp_nDCG",
        needs=SUBTOPICS,
        title="D_nDCG and subtopic recall",
        definition=(
            "Dsharp_nDCG@k = γ·strec@k + (1−γ)·D_nDCG@k, where a document is relevant to a subtopic if its "
            "gain is positive. The literature writes D♯-nDCG"
        ),
        range="at most 1; 0 or more without negative grades",
        ends=SHARE,
        citation=_SHARP,
        example=_example("Dsharp_nDCG@1", ("a",), "0.5·1/2 + 0.5·0.5/1", "0.5", ("ab",)),
        parameters=(GAMMA, GAIN),
        normalised=True,
    ),
    Family(
        name=INTENT_AWARE,
        needs=SUBTOPICS,
        title="The intent-aware version of any measure",
        definition=(
            "IA(M) = Σ_s P(s)·M_s, where M_s is the measure computed with the judgments of subtopic s alone. "
            "M is any measure that is averaged over queries, with its parameters and cutoff"
        ),
        range="the range of the measure",
        citation=_INTENTS,
        example=_example("IA(RR)", ("a", "b"), "1/2·1 + 1/2·1/2", "0.75"),
        parameters=(INNER,),
        normalised=True,
        cutoff=NEVER,  # the cutoff belongs to the inner measure
    ),
)
