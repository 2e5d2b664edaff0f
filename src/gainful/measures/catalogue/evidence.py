"""Measures of evidence: which parts of the passages that answer a question the retrieved chunks contain."""

from dataclasses import dataclass

from gainful.measures.measure_family import (
    EVIDENCE,
    NEVER,
    SHARE,
    Example,
    Family,
    Spelling,
)
from gainful.measures.parameters import BASE, DISCOUNT, GAIN, number, word
from gainful.measures.written_numbers import Range


@dataclass(frozen=True, slots=True)
class EvidenceExample(Example):
    """A value that a reader can check by hand; a test computes each.

    `spans` are the parts of documents that are evidence, such as "d 0-10", each a group of its own.
    `chunks` are the retrieved chunks in rank order, written in the same way, and `others` the chunks that
    were not retrieved.
    """

    spans: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        retrieved, spans = ", ".join(self.chunks), ", ".join(self.spans)
        others = f", not retrieved {', '.join(self.others)}" if self.others else ""
        given = f"evidence {spans}; chunks {retrieved}{others}"
        return f"{given}: {self.measure} = {self.working} = {self.value}"


def _example(
    measure: str, spans: str, chunks: str, working: str, value: str, others: str = ""
) -> EvidenceExample:
    parts = (tuple(one for one in text.split(", ") if one) for text in (spans, chunks, others))
    return EvidenceExample(measure, (), working, value, (), *parts)


REL = number("rel", 1.0, "a grade: passages with this grade or a higher one are relevant")
OVERLAP = word(
    "overlap",
    {
        "once": "text in several retrieved chunks counts once",
        "every": "it counts in each of these chunks, because the model reads it again",
    },
)
IDEAL = word(
    "ideal",
    {
        "evidence": "the ideal list has one chunk for each document with evidence, and that chunk contains all of "
        "the document's evidence. This ideal is the same however the documents are cut into "
        "chunks, so values for different chunkings can be compared",
        "chunks": "the greedy ideal over the table of chunks: at each rank, the chunk that adds the most. The "
        "value then shows how good the order is, given these chunks",
    },
)
COVER = number(
    "cover",
    1.0,
    "a number above 0, at most 1: the share of a passage that the chunks must contain to cover it",
    Range(0, 1, above=True),
)

_CHROMA = "B. Smith and A. Troynikov, Evaluating chunking strategies for retrieval, Chroma technical report, 2024"
_IR = (
    "K. Järvelin and J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS 2002, for "
    "the discounted gain"
)
_OWN = "gainful: every group is needed, and any one passage of a group is enough"
_TWO = "d 0-10, e 0-10"
_CHUNKS = "d 0-20, d 5-25, e 5-15"

FAMILIES = (
    Family(
        name="evidence_recall",
        needs=EVIDENCE,
        title="Recall of evidence",
        definition=(
            "evidence_recall@k = |E ∩ C_k| / |E|. E is the evidence of the query, and C_k the text of the "
            "first k chunks. Both are counted in the unit of the offsets, such as characters"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_CHROMA,
        example=_example("evidence_recall@3", _TWO, _CHUNKS, "(10 + 5) / 20", "0.75"),
        parameters=(REL,),
        normalised=True,
    ),
    Family(
        name="evidence_precision",
        needs=EVIDENCE,
        title="Precision of evidence",
        definition=(
            "evidence_precision@k = |E ∩ C_k| / |C_k|, with E and C_k as in evidence_recall. With "
            "overlap=every, |C_k| is the sum of the lengths of the chunks. It is 0 if nothing was retrieved"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=f"{_CHROMA}, with overlap=every",
        example=_example("evidence_precision@3", _TWO, _CHUNKS, "(10 + 5) / (25 + 10)", "0.4286"),
        parameters=(OVERLAP, REL),
        normalised=True,
    ),
    Family(
        name="evidence_IoU",
        needs=EVIDENCE,
        title="Intersection over union of evidence and chunks",
        definition=(
            "evidence_IoU@k = |E ∩ C_k| / (|C_k| + |E| − |E ∩ C_k|), with |C_k| as in evidence_precision"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=f"{_CHROMA}, with overlap=every",
        example=_example("evidence_IoU@3", _TWO, _CHUNKS, "15 / (35 + 20 − 15)", "0.375"),
        parameters=(OVERLAP, REL),
        spellings=(Spelling("IoU"),),
        normalised=True,
    ),
    Family(
        name="evidence_precision_omega",
        needs=EVIDENCE,
        title="The precision that a chunking allows",
        definition=(
            "evidence_precision_omega = |E ∩ C_Ω| / |C_Ω|, where C_Ω is the text of all chunks of the chunk "
            "table that contain evidence: the precision of a retriever that finds exactly these chunks"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_CHROMA,
        example=_example(
            "evidence_precision_omega", "d 0-10", "d 20-40", "10 / 20", "0.5", "d 0-20"
        ),
        parameters=(OVERLAP, REL),
        spellings=(Spelling("precision_omega"), Spelling("evidence_precision_Ω")),
        normalised=True,
        needs_run=False,
        cutoff=NEVER,
        requires="a table of all chunks",
    ),
    Family(
        name="evidence_nDCG",
        needs=EVIDENCE,
        title="Normalised discounted cumulated gain of evidence",
        definition=(
            "evidence_nDCG@k = Σ_{i=1..k} g_i·d_i / that of the ideal. Here g_i is the evidence that the chunk "
            "at rank i adds to the chunks above it: each position in the text counts as the gain of its highest grade"
        ),
        range="0 to 1 if ideal=evidence; otherwise it may exceed 1, because the greedy ideal may not be the best order",
        ends=SHARE,
        citation=_IR,
        example=_example(
            "evidence_nDCG@3", _TWO, _CHUNKS, "(10 + 0 + 5/2) / (10 + 10/log2(3))", "0.7664"
        ),
        parameters=(GAIN, DISCOUNT, BASE, IDEAL),
        normalised=True,
    ),
    Family(
        name="evidence_groups",
        needs=EVIDENCE,
        title="Share of the groups of evidence that are covered",
        definition=(
            "evidence_groups@k = the share of the query's groups in which the first k chunks together cover "
            "at least one passage. If the evidence has no groups, every passage forms its own group"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_OWN,
        example=_example("evidence_groups@3", _TWO, _CHUNKS, "1/2", "0.5"),
        parameters=(COVER, REL),
        normalised=True,
    ),
    Family(
        name="evidence_complete",
        needs=EVIDENCE,
        title="Whether the evidence is complete",
        definition="evidence_complete@k = 1 if the first k chunks cover every group, else 0",
        range="0 or 1",
        ends=SHARE,
        citation=_OWN,
        example=_example("evidence_complete@3", _TWO, "d 0-20, e 0-20", "1", "1"),
        parameters=(COVER, REL),
        spellings=(Spelling("Complete"),),
        normalised=True,
    ),
    Family(
        name="evidence_complete_RR",
        needs=EVIDENCE,
        title="Reciprocal rank of completeness",
        definition=(
            "evidence_complete_RR@k = 1/r, where r is the first rank at which the chunks cover every group; 0 if "
            "they never do, down to rank k"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_OWN,
        example=_example("evidence_complete_RR", _TWO, "d 0-20, e 0-20", "1/2", "0.5"),
        parameters=(COVER, REL),
        normalised=True,
    ),
)
