"""Cumulated gain: CG, DCG, IDCG, nDCG, and variants that average or scale it."""

from gainful.measures.measure_family import (
    ALWAYS,
    AMOUNT,
    NEITHER,
    NEVER,
    SHARE,
    Example,
    Family,
    Spelling,
)
from gainful.measures.parameters import (
    BASE,
    COLUMN,
    COLUMNS,
    DEPTH,
    DISCOUNT,
    GAIN,
    IDEAL,
    NORM,
    REL,
    ROW,
    SCALE,
)

TREC_EVAL_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

_CUMULATED = (
    "K. Järvelin and J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, "
    "ACM Transactions on Information Systems 20(4), 2002"
)
_LOG_DISCOUNT = (
    "C. Burges and others, Learning to rank using gradient descent, ICML 2005, "
    "for the gain 2^g − 1 and the discount 1/log(i+1), whose base it does not name"
)
_TREC_EVAL = "C. Buckley, trec_eval 9, 2008 (experimental there)"
_PAGES = (
    "the product of two discounts is gainful's choice. X. Xie and others, Grid-based evaluation metrics for web image "
    "search, WWW 2019, doi:10.1145/3308558.3313514, and M. Ferrari Dacrema, N. Felicioni and P. Cremonesi, Offline evaluation "
    "of recommender systems in a user interface with multiple carousels, Frontiers in Big Data 5, 2022, "
    "doi:10.3389/fdata.2022.910030, discount positions on a page in other ways"
)
_LIST = (3, 2, 3, 0, 1, 2)

FAMILIES = (
    Family(
        name="CG",
        title="Cumulated gain",
        definition="CG@k = Σ_{i=1..k} g_i, the sum of the gains of the first k documents; some authors call it graded precision",
        range="any real number; 0 or more without negative grades",
        ends=AMOUNT,
        citation=_CUMULATED,
        example=Example("CG@6", _LIST, "3+2+3+0+1+2", "11"),
        parameters=(GAIN,),
        spellings=(Spelling("cg"),),
    ),
    Family(
        name="DCG",
        title="Discounted cumulated gain",
        definition="DCG@k = Σ_{i=1..k} g_i · d_i, each gain times the discount of its rank",
        range="any real number; 0 or more without negative grades",
        ends=AMOUNT,
        citation=f"{_CUMULATED}; {_LOG_DISCOUNT}",
        example=Example("DCG@6", _LIST, "3 + 1.262 + 1.5 + 0 + 0.387 + 0.712", "6.861"),
        parameters=(GAIN, DISCOUNT, BASE),
        spellings=(
            Spelling("dcg"),
            Spelling("dcg_cut"),
            Spelling("dcg_burges", {"gain": "exp2"}),
        ),
    ),
    Family(
        name="IDCG",
        better=NEITHER,
        title="Ideal discounted cumulated gain",
        definition=(
            "IDCG@k = the DCG@k of the ideal list: all judged documents of the query, "
            "retrieved or not, by descending gain, without negative gains, cut at k. The parameters "
            "ideal and depth change which documents it contains and where it is cut"
        ),
        range="0 or more; any real number under the policy negative=both, which keeps negative gains",
        ends=AMOUNT,
        citation=_CUMULATED,
        example=Example("IDCG@6", _LIST, "the DCG@6 of 3,3,3,2,2,2", "8.740", also=(3, 2)),
        parameters=(GAIN, DISCOUNT, BASE, IDEAL, DEPTH),
        spellings=(Spelling("idcg"),),
        needs_run=False,
    ),
    Family(
        name="nDCG",
        title="Normalised discounted cumulated gain",
        definition="nDCG@k = DCG@k / IDCG@k, with the same parameters for both; a perfect order scores 1",
        range=(
            "at most 1, except under the policy negative=both, or if unfilled ranks have a gain "
            "that the ideal lacks. 0 or more without negative grades, or with norm=minmax"
        ),
        ends=SHARE,
        citation=f"{_CUMULATED}; {_LOG_DISCOUNT}",
        example=Example("nDCG@6", _LIST, "6.861 / 8.740", "0.785", also=(3, 2)),
        parameters=(GAIN, DISCOUNT, BASE, NORM, IDEAL, DEPTH),
        spellings=(
            Spelling("ndcg"),
            Spelling("ndcg_cut", cutoffs=TREC_EVAL_CUTOFFS),
            Spelling("ndcg_burges", {"gain": "exp2"}),
        ),
        normalised=True,
    ),
    Family(
        name="nDCGrel",
        title="nDCG averaged over the relevant documents",
        definition=(
            "nDCGrel = the mean of nDCG@r over all documents with a positive gain, where r is the rank of the "
            "document. A document that was not retrieved counts as the DCG of the whole list divided by the "
            "IDCG of the whole ideal"
        ),
        range="0 to 1 without negative grades",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("nDCGrel", (1, 0, 1), "(1 + 1.5/1.631) / 2", "0.9599"),
        parameters=(GAIN,),
        spellings=(Spelling("ndcg_rel"),),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="RnDCG",
        title="nDCG averaged at the ranks where the ideal changes",
        definition=(
            "RnDCG = the mean of nDCG@r over the ranks r where the gain of the ideal falls: after the "
            "last document with the highest gain, after the last one with the second-highest, and so on "
            "down to the last positive gain. If the list goes on for at least two ranks below the last of these ranks, the nDCG of "
            "the whole list is included in the mean. Undefined for a query without a relevant document"
        ),
        range="0 to 1 without negative grades",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("RnDCG", (1, 2), "(1/2 + 2.262/2.631) / 2", "0.680"),
        parameters=(GAIN, REL),
        spellings=(Spelling("Rndcg"),),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="G",
        title="Normalised gain",
        definition=(
            "G = Σ_i g_i / log2(2 + c_i − s_i) / Σ_j ideal_j. Here s_i is the gain of the list down to rank i, "
            "and c_i the gain of the ideal down to rank i, where each rank counts as at least 1"
        ),
        range="0 to 1 without negative grades",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("G", (0, 2), "2/log2(2+3−2) / 2", "0.6309"),
        parameters=(GAIN,),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="binG",
        title="Normalised gain of relevant documents",
        definition=(
            "binG = (1/R) Σ 1/log2(2 + n) over the relevant documents retrieved, where n is the number of "
            "other documents above the relevant one"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_TREC_EVAL,
        example=Example("binG", (1, 0, 1), "(1/log2 2 + 1/log2 3) / 2", "0.8155"),
        parameters=(REL,),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="SDCG",
        title="Scaled discounted cumulated gain",
        definition=(
            "SDCG@k = Σ_{i=1..k} w_i·d_i / Σ_{i=1..k} d_i. Here w_i is the worth of the document at rank i, and d_i the "
            "discount, which is 1/log2(i+1) by default. The denominator is the DCG of k documents that are each worth 1. If the "
            "discount is the share of users who look at rank i, SDCG is the gain per document that they look at"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "A. Moffat, P. Bailey, F. Scholer and P. Thomas, Incorporating user expectations and "
            "behavior into the measurement of search effectiveness, ACM Transactions on "
            "Information Systems 35(3), 2017"
        ),
        example=Example("SDCG@2", (0, 1), "0.6309 / 1.6309", "0.3869"),
        parameters=(REL, SCALE, DISCOUNT, BASE),
        cutoff=ALWAYS,
    ),
    Family(
        name="grid_DCG",
        title="Discounted cumulated gain of a page with rows and columns",
        definition=(
            "grid_DCG@k = Σ_{i=1..k} g_i·r_i·c_i. The results fill the rows of a page from the left, row by row; r_i is the "
            "discount of the row of rank i, and c_i the discount of its column. Ranks below the end of the page count as 0"
        ),
        range="any real number; 0 or more without negative grades",
        ends=AMOUNT,
        citation=_PAGES,
        example=Example("grid_DCG(columns=2)@4", (0, 1, 2), "1·1·0.6309 + 2·0.6309·1", "1.8928"),
        parameters=(GAIN, COLUMNS, ROW, COLUMN),
        cutoff=ALWAYS,
    ),
    Family(
        name="grid_nDCG",
        title="Normalised discounted cumulated gain of a page with rows and columns",
        definition=(
            "grid_nDCG@k = grid_DCG@k / the grid_DCG@k of the best page: the judged documents with the highest "
            "gains, without negative ones, are at the ranks, among the first k, whose products of discounts "
            "are highest"
        ),
        range="0 to 1 without negative grades",
        ends=SHARE,
        citation=_PAGES,
        example=Example(
            "grid_nDCG(columns=2)@4", (0, 1, 2), "1.8928 / (2·1·1 + 1·1·0.6309)", "0.7194"
        ),
        parameters=(GAIN, COLUMNS, ROW, COLUMN),
        normalised=True,
        cutoff=ALWAYS,
    ),
)
