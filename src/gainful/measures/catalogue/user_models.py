"""Graded measures and models of users who stop reading."""

from gainful.measures.measure_family import (
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
    COMPAT_P,
    DENOMINATOR,
    DISCOUNT,
    ERR_MAX,
    GAIN,
    PATIENCE,
    PERSISTENCE,
    Q_BETA,
    REL,
    SCALE,
    TARGET,
    USER,
)

_ERR = (
    "O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, Expected reciprocal rank for graded "
    "relevance, CIKM 2009"
)
_RBP = (
    "A. Moffat and J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, "
    "ACM Transactions on Information Systems 27(1), 2008"
)
_INST = (
    "A. Moffat, P. Bailey, F. Scholer and P. Thomas, Incorporating user expectations and behavior "
    "into the measurement of search effectiveness, ACM Transactions on Information Systems "
    "35(3), 2017"
)
_INSQ = (
    "A. Moffat, F. Scholer and P. Thomas, Models and metrics: IR evaluation as a user process, "
    "ADCS 2012"
)

_CWL = (
    "A. Moffat, P. Bailey, F. Scholer and P. Thomas, Incorporating user expectations and behavior into the measurement of "
    "search effectiveness, ACM Transactions on Information Systems 35(3), 2017, doi:10.1145/3052768; L. Azzopardi, P. Thomas "
    "and A. Moffat, cwl_eval: an evaluation tool for information retrieval, SIGIR 2019, doi:10.1145/3331184.3331398"
)


def _decimals(written: str) -> str:
    """Read the digits that ranx writes after a point: rbp.95 is p=0.95."""
    return f"0.{written}" if written.isdecimal() else written


FAMILIES = (
    Family(
        name="ERR",
        title="Expected reciprocal rank",
        definition=(
            "ERR@k = Σ_{i=1..k} (1/i)·s_i·Π_{j<i} (1 − s_j), where s = (2^g − 1) / 2^max is the probability "
            "that a document with grade g satisfies the user"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_ERR,
        example=Example("ERR(max=1)", (0, 1, 1), "1/2·1/2 + 1/3·1/2·1/2", "0.3333"),
        parameters=(ERR_MAX,),
        spellings=(Spelling("err"),),
    ),
    Family(
        name="nERR",
        title="Normalised expected reciprocal rank",
        definition="nERR@k = ERR@k / the ERR@k of all judged documents by descending grade",
        range="0 to 1",
        ends=SHARE,
        citation=_ERR,
        example=Example("nERR(max=1)", (0, 1, 1), "0.3333 / (1/2 + 1/2·1/2·1/2)", "0.5333"),
        parameters=(ERR_MAX,),
        normalised=True,
    ),
    Family(
        name="RBP",
        title="Rank-biased precision",
        definition=(
            "RBP@k = (1−p) Σ_{i=1..k} w_i·p^(i−1), where w_i is the worth, from 0 to 1, of the document "
            "at rank i"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_RBP,
        example=Example("RBP(p=0.5)", (1, 0, 1), "0.5·(1 + 0.25)", "0.625"),
        parameters=(PERSISTENCE, REL, SCALE),
        spellings=(Spelling("rbp", {"p": "0.9", "max": "query"}, suffix="p", read=_decimals),),
    ),
    Family(
        name="RBPres",
        better=NEITHER,
        title="Residual of rank-biased precision",
        definition=(
            "RBPres@k = (1−p) Σ p^(i−1) over the ranks i ≤ k of documents without a judgment, plus "
            "p^n for all ranks below the n documents in the list. This is how much higher RBP would be if all of these "
            "documents were relevant. A negative grade counts as a judgment, except under the policy negative=unjudged"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_RBP,
        example=Example("RBPres(p=0.5)", (1, None, 1), "0.5·0.5 + 0.125", "0.375"),
        parameters=(PERSISTENCE,),
        spellings=(Spelling("rbp_resid", {"p": "0.9"}),),
    ),
    Family(
        name="Q",
        title="Q-measure",
        definition=(
            "Q@k = (1/R) Σ (c_i + β·s_i) / (i + β·t_i) over the ranks i ≤ k of documents with a "
            "positive gain. Down to rank i, c_i documents have a positive gain, s_i is the sum of their gains, "
            "and t_i is that sum in the ideal. The denominator is R, the number of documents with a positive "
            "gain, or min(k, R)"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "T. Sakai, On the reliability of information retrieval metrics based on graded "
            "relevance, Information Processing and Management 43(2), 2007"
        ),
        example=Example("Q", (0, 2, 1), "((1+2)/(2+3) + (2+3)/(3+3)) / 2", "0.7167"),
        parameters=(GAIN, Q_BETA, DENOMINATOR),
        spellings=(Spelling("Q_measure"), Spelling("Qmeasure")),
        normalised=True,
    ),
    Family(
        name="GAP",
        title="Graded average precision",
        definition=(
            "GAP = Σ_n (1/n) Σ_{m≤n} min(g_m, g_n) / Σ g, over the ranks m and n of documents "
            "with a positive gain. The last sum is over the positive gains of all judged documents. "
            "With linear gain, every threshold of relevance is equally likely"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "S. Robertson, E. Kanoulas and E. Yilmaz, Extending average precision to graded "
            "relevance judgments, SIGIR 2010"
        ),
        example=Example("GAP", (1, 0, 2), "(1/1 + (1+2)/3) / 3", "0.6667"),
        parameters=(GAIN,),
        normalised=True,
        cutoff=NEVER,
    ),
    Family(
        name="INST",
        title="Expected rate of gain of a user who adapts",
        definition=(
            "INST = Σ w_i·W(i). The user continues from rank i with probability ((i+T+T_i−1)/(i+T+T_i))². "
            "T is the gain that the user is looking for, and T_i the part still missing after rank i. W(i) is "
            "the share of attention that rank i gets in an infinite list"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_INST,
        example=Example("INST", (1,), "1 / (1 + 1/4 · 4·(π²/6 − 1))", "0.6079"),
        parameters=(TARGET, REL, SCALE),
        cutoff=NEVER,
    ),
    Family(
        name="INSQ",
        title="Expected rate of gain of a user with a goal",
        definition=(
            "INSQ = Σ w_i·W(i), where W(i) is proportional to 1/(i+2T−1)² over an infinite list, and T is the "
            "gain that the user is looking for"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_INSQ,
        example=Example("INSQ", (1,), "1/4 / (π²/6 − 1)", "0.3876"),
        parameters=(TARGET, REL, SCALE),
        cutoff=NEVER,
    ),
    Family(
        name="BPM",
        title="Bejeweled player model",
        definition=(
            "BPM = the mean worth of the documents down to the rank where the user stops: where the "
            "total worth reaches T, or at rank K if that comes first"
        ),
        range="0 to 1",
        ends=SHARE,
        citation="F. Zhang and others, Evaluating web search with a bejeweled player model, SIGIR 2017",
        example=Example("BPM(T=2)", (1, 0, 1, 1), "(1+0+1) / 3", "0.6667"),
        parameters=(TARGET, PATIENCE, REL, SCALE),
        cutoff=NEVER,
    ),
    Family(
        name="ETG",
        title="Expected total gain",
        definition=(
            "ETG = Σ w_i·v_i, where w_i is the worth, from 0 to 1, of the document at rank i, and v_i the probability that the "
            "user looks at it. Here v_1 is 1, and v_(i+1) = v_i·C(i), where C(i) is the probability that the user goes on from "
            "rank i"
        ),
        range="0 or more: the average gain that a user has collected by the time they stop",
        ends=AMOUNT,
        citation=_CWL,
        example=Example("ETG(p=0.5)", (1, 0, 1), "1 + 0.5·0.5", "1.25"),
        parameters=(USER, PERSISTENCE, TARGET, PATIENCE, REL, SCALE, DISCOUNT, BASE),
        spellings=(Spelling("ETU"),),
        cutoff=NEVER,
    ),
    Family(
        name="ED",
        better=NEITHER,
        title="Expected depth",
        definition=(
            "ED = Σ v_i = 1 / W(1), where v_i is the probability that the user looks at rank i of an infinite list, as in ETG, "
            "and W(1) the share of all attention that rank 1 gets"
        ),
        range="1 or more: the average number of documents that a user looks at",
        ends=(1.0, float("inf")),
        citation=_CWL,
        example=Example("ED(p=0.5)", (1, 0, 1), "1 / (1 − 0.5)", "2"),
        parameters=(USER, PERSISTENCE, TARGET, PATIENCE, REL, SCALE, DISCOUNT, BASE),
        spellings=(Spelling("expected_depth"),),
        cutoff=NEVER,
    ),
    Family(
        name="Compat",
        title="Compatibility with an ideal list",
        definition=(
            "Compat = RBO(list, ideal) / RBO(ideal, ideal), where RBO = Σ_{i=1..1000} p^(i−1)·(documents "
            "in both lists down to rank i)/i. The ideal contains all documents with a positive grade, "
            "best first; documents with equal grades are in the order of the list"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "C. Clarke, A. Vtyurina and M. Smucker, Assessing top-k preferences, ACM Transactions "
            "on Information Systems 39(3), 2021"
        ),
        example=Example("Compat(p=0.5)", (0, 1), "(2·ln 2 − 1) / (2·ln 2)", "0.2787"),
        parameters=(COMPAT_P,),
        normalised=True,
        cutoff=NEVER,
    ),
)
