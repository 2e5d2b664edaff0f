"""Average precision and other measures of where the relevant documents rank."""

from gainful.measures.catalogue.cumulated_gain import TREC_EVAL_CUTOFFS
from gainful.measures.measure_family import GEOMETRIC, NEVER, SHARE, Example, Family, Spelling
from gainful.measures.parameters import AP_DENOMINATOR, FLOOR, MULT, RECALL, REL

_TREC_EVAL = "C. Buckley and E. Voorhees, Retrieval system evaluation, in TREC: Experiment and evaluation in information retrieval, MIT Press, 2005"
_ROBERTSON = "S. Robertson, On GMAP: and other transformations, CIKM 2006; the floor of 0.00001 is trec_eval's"
_BPREF = "C. Buckley and E. Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004"

FAMILIES = (
    Family(
        name="AP",
        title="Average precision",
        definition=(
            "AP@k = (1/R) Σ P@i over the ranks i ≤ k of the relevant documents. The denominator "
            "is R, the number of relevant documents; alternatively min(k, R), or F, the number of relevant "
            "documents found"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("AP", (1, 0, 1), "(1/1 + 2/3) / 2", "0.8333"),
        parameters=(AP_DENOMINATOR, REL),
        spellings=(
            Spelling("map"),
            Spelling("map_cut", cutoffs=TREC_EVAL_CUTOFFS),
        ),
        normalised=True,
    ),
    Family(
        name="GMAP",
        title="Geometric mean average precision",
        definition=(
            "GMAP = the geometric mean of AP over the queries, with values below the floor raised to "
            "the floor. The value of a single query is its AP"
        ),
        range="from the floor to 1",
        ends=SHARE,
        citation=_ROBERTSON,
        example=Example("GMAP", (1, 0, 1), "(1/1 + 2/3) / 2", "0.8333"),
        parameters=(FLOOR, REL),
        spellings=(Spelling("gm_map"),),
        normalised=True,
        cutoff=NEVER,
        aggregate=GEOMETRIC,
    ),
    Family(
        name="RR",
        title="Reciprocal rank",
        definition=(
            "RR@k = 1 / the rank of the first relevant document; 0 if no relevant document is in the top k. "
            "Its mean over the queries is known as MRR"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "P. Kantor and E. Voorhees, The TREC-5 confusion track, Information Retrieval 2, 2000"
        ),
        example=Example("RR", (0, 0, 1), "1/3", "0.3333"),
        parameters=(REL,),
        spellings=(Spelling("recip_rank"), Spelling("mrr")),
    ),
    Family(
        name="Rprec",
        title="R-precision",
        definition=(
            "Rprec = the precision of the first R documents, where R is the number of relevant "
            "documents. With mult=m, it is the precision of the first ⌊m·R + 0.9⌋ documents (m·R "
            "rounded up, as in trec_eval)"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("Rprec", (1, 0, 1), "1 / 2", "0.5"),
        parameters=(MULT, REL),
        spellings=(
            Spelling("R_prec"),
            Spelling("r_precision"),
            Spelling("Rprec_mult", suffix="mult"),
        ),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="iprec",
        title="Interpolated precision at a recall level",
        definition=(
            "iprec(recall=r) = the highest P@i over all ranks i by which at least ⌊r·R + 0.9⌋ relevant "
            "documents are found; 0 if the list never reaches that many. ⌊r·R + 0.9⌋ is r·R rounded up "
            "as in trec_eval 9"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("iprec(recall=1)", (1, 0, 1), "2 / 3", "0.6667"),
        parameters=(RECALL, REL),
        spellings=(
            Spelling("iprec_at_recall", suffix="recall"),
            Spelling("IPrec", suffix="recall"),
        ),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="11pt",
        title="Eleven-point average precision",
        definition="11pt = the mean of iprec(recall=r) for r = 0, 0.1, …, 1",
        range="0 to 1",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("11pt", (1, 0, 1), "(6·1 + 5·2/3) / 11", "0.8485"),
        parameters=(REL,),
        spellings=(Spelling("11pt_avg"),),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="bpref",
        title="Binary preference",
        definition=(
            "bpref = (1/R) Σ (1 − min(n, R)/min(N, R)) over the relevant documents retrieved. N is the "
            "number of documents judged not relevant, and n the number of those that rank above the relevant document, "
            "whose term is 1 if n = 0. A negative grade marks a document as unjudged"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_BPREF,
        example=Example("bpref", (0, None, 1), "(1 − min(1,2)/min(2,2)) / 2", "0.25", also=(1, 0)),
        parameters=(REL,),
        normalised=True,
        cutoff=NEVER,
        marks=True,
    ),
    Family(
        name="GMbpref",
        title="Geometric mean binary preference",
        definition=(
            "GMbpref = the geometric mean of bpref over the queries, with values below the floor "
            "raised to the floor. The value of a single query is its bpref"
        ),
        range="from the floor to 1",
        ends=SHARE,
        citation=f"{_BPREF}; {_ROBERTSON}",
        example=Example("GMbpref", (0, None, 1), "(1 − 1/2) / 2", "0.25", also=(1, 0)),
        parameters=(FLOOR, REL),
        spellings=(Spelling("gm_bpref"),),
        normalised=True,
        cutoff=NEVER,
        aggregate=GEOMETRIC,
        marks=True,
    ),
    Family(
        name="infAP",
        title="Inferred average precision",
        definition=(
            "infAP = (1/R) Σ (1/i + (b/i)·(r+ε)/(r+n+2ε)) over the relevant documents retrieved at "
            "rank i; ε = 0.00001. Of the documents above rank i, r are relevant, n were judged not relevant and "
            "b are in the pool. A negative grade marks a document that is in the pool but unjudged. The term at "
            "rank 1 is 1"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "E. Yilmaz and J. Aslam, Estimating average precision with incomplete and imperfect "
            "judgments, CIKM 2006"
        ),
        example=Example("infAP", (1, None, 1), "(1 + 1/3 + 1/3·1) / 2", "0.8333"),
        parameters=(REL,),
        normalised=True,
        cutoff=NEVER,
        marks=True,
    ),
    Family(
        name="yaap",
        title="Yet another average precision",
        definition=(
            "yaap = ln((1+s) / (1+R−s)), where s is the sum of P@i over the ranks i of the relevant "
            "documents"
        ),
        range="−ln(1+R) to ln(1+R)",
        citation="S. Robertson, On smoothing average precision, ECIR 2012",
        example=Example("yaap", (1, 0, 1), "ln(2.667 / 1.333)", "0.693"),
        parameters=(REL,),
        cutoff=NEVER,
    ),
)
