"""Measures of users who spend time, read text, and ask several queries."""

from gainful.measures.catalogue.model_answers import ModelExample
from gainful.measures.measure_family import AMOUNT, LENGTHS, SESSIONS, SHARE, Family, Spelling
from gainful.measures.parameters import (
    BASE,
    DISCOUNT,
    GAIN,
    PERSISTENCE,
    REL,
    SCALE,
    number,
    word,
)
from gainful.measures.written_numbers import Range

_CHANCE = "a number from 0 to 1: the probability that the user"
_SECONDS = "a non-negative number: the number of seconds"

HALF_LIFE = number(
    "h",
    224.0,
    "a number above 0: the number of seconds after which half of the users have stopped",
    Range(0, above=True),
)
CLICK = number("click", 0.64, f"{_CHANCE} opens a relevant document", Range(0, 1))
OTHER_CLICK = number("click_other", 0.39, f"{_CHANCE} opens any other document", Range(0, 1))
SAVE = number(
    "save", 0.77, f"{_CHANCE} gains from a relevant document after opening it", Range(0, 1)
)
SUMMARY = number("summary", 4.4, f"{_SECONDS} spent on a summary", Range(0))
PER_WORD = number("word", 0.018, f"{_SECONDS} spent on each word of an opened document", Range(0))
OPENING = number(
    "opening", 7.8, f"{_SECONDS} spent on an opened document in addition to its words", Range(0)
)
WORDS = number(
    "words",
    500.0,
    "a non-negative number: the number of words in documents without a length",
    Range(0),
)
MOST_TEXT = number(
    "L",
    132000.0,
    "a number above 0: the number of characters after which nothing counts",
    Range(0, above=True),
)
SNIPPET = number(
    "snippet", 200.0, "a non-negative number: the number of characters in a snippet", Range(0)
)
SHARE_READ = number(
    "read", 0.2, "a number from 0 to 1: the share of a relevant document that is read", Range(0, 1)
)
CHARACTERS = number(
    "characters",
    3000.0,
    "a non-negative number: the number of characters in documents without a length",
    Range(0),
)

LATER = number(
    "bq",
    4.0,
    "a number above 1: the base of the logarithm that discounts queries by their place in the session",
    Range(1, above=True),
)
BALANCE = number(
    "b",
    0.8,
    "a number from 0 to 1: the probability that a user who goes on looks at the next document, rather than issuing the "
    "next query",
    Range(0, 1),
)
REPEATS = word(
    "repeats",
    {
        "count": "a document counts for every query of the session whose list contains it",
        "once": "a document counts only for the first query of the session whose list contains it, down to the cutoff",
    },
)

_SESSIONS = "judgments, and the session of each query"
_LAST = "The value describes the whole session, and is listed under its last judged query"
_SESSION_DCG = (
    "K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of "
    "multiple-query IR sessions, ECIR 2008, doi:10.1007/978-3-540-78646-7_4"
)
_LENGTHS = "judgments; and, unless all documents are equally long, the lengths of documents"
_REPEATED = "A document that repeats one above it, according to the table of lengths, is skipped"


def _example(measure: str, working: str, value: str) -> ModelExample:
    """Return the example of a session of two queries."""
    return ModelExample(
        measure,
        (),
        working,
        value,
        contents="session q1, q2; q1 has the list a, b, with b relevant, and q2 the list c, with c relevant",
        judgments={"q1": {"b": 1}, "q2": {"c": 1}},
        run={"q1": ["a", "b"], "q2": ["c"]},
        tables={"sessions": {"s": ["q1", "q2"]}},
    )


FAMILIES = (
    Family(
        name="TBG",
        title="Time-biased gain",
        definition=(
            "TBG@k = Σ_{i=1..k} g_i·exp(−t_i·ln 2/h), where t_i is the expected time, in seconds, until the user reaches "
            "rank i. Each document above rank i takes summary + c·(word·l + opening) seconds. Here l is its length in words, and "
            "c the probability of opening it: click if it is relevant, else click_other. The gain g_i is click·save for a "
            f"relevant document, else 0. {_REPEATED}: it takes no time and gains nothing"
        ),
        range="0 or more: the number of relevant documents that a user is expected to save",
        ends=AMOUNT,
        citation=(
            "M. Smucker and C. Clarke, Time-based calibration of effectiveness measures, SIGIR 2012, "
            "doi:10.1145/2348283.2348300"
        ),
        example=ModelExample(
            "TBG@2",
            (),
            "0.64·0.77·exp(−(4.4 + 0.39·(0.018·1000 + 7.8))·ln 2/224)",
            "0.4712",
            contents="list a, b; b relevant; a has 1000 words",
            judgments={"q": {"b": 1}},
            run={"q": ["a", "b"]},
            tables={"lengths": {"a": {"words": 1000}, "b": {"words": 300}}},
        ),
        parameters=(
            HALF_LIFE,
            REL,
            CLICK,
            OTHER_CLICK,
            SAVE,
            SUMMARY,
            PER_WORD,
            OPENING,
            WORDS,
        ),
        spellings=(Spelling("time_biased_gain"),),
        needs=LENGTHS,
        requires=_LENGTHS,
    ),
    Family(
        name="U",
        title="U-measure",
        definition=(
            "U@k = Σ_{i=1..k} g_i·max(0, 1 − x_i/L), where x_i is the number of characters that the user has read at the "
            "end of rank i: a snippet for each document down to rank i, and, for each of them that has a positive gain, "
            f"the share of its text that is read. Only positive gains count. {_REPEATED}: the user doesn't read it, and it gains nothing"
        ),
        range="0 or more",
        ends=AMOUNT,
        citation=(
            "T. Sakai and Z. Dou, Summaries, ranked retrieval and sessions: a unified framework for information access "
            "evaluation, SIGIR 2013, doi:10.1145/2484028.2484031"
        ),
        example=ModelExample(
            "U(L=10000)@2",
            (),
            "1·(1 − (2·200 + 0.2·3000)/10000)",
            "0.9",
            contents="list a, b; b has grade 1 and 3000 characters",
            judgments={"q": {"b": 1}},
            run={"q": ["a", "b"]},
            tables={"lengths": {"b": {"characters": 3000}}},
        ),
        parameters=(GAIN, MOST_TEXT, SNIPPET, SHARE_READ, CHARACTERS),
        spellings=(Spelling("U_measure"), Spelling("Umeasure")),
        needs=LENGTHS,
        requires=_LENGTHS,
    ),
    Family(
        name="session_DCG",
        title="Discounted cumulated gain of a session",
        definition=(
            "session_DCG@k = Σ_m DCG_m@k / (1 + log_bq m), where DCG_m@k is the DCG@k of the query at place m of the session. "
            f"{_LAST}"
        ),
        range="any real number; 0 or more without negative grades",
        ends=AMOUNT,
        citation=_SESSION_DCG,
        example=_example("session_DCG@2", "1/log2 3 + 1/(1 + log4 2)", "1.2976"),
        parameters=(GAIN, DISCOUNT, BASE, LATER, REPEATS),
        needs=SESSIONS,
        requires=_SESSIONS,
    ),
    Family(
        name="session_nDCG",
        title="Normalised discounted cumulated gain of a session",
        definition=(
            "session_nDCG@k = session_DCG@k / the session_DCG@k of the best lists that the judgments allow. With repeats=count, "
            "these are the ideals of all queries; with repeats=once, they show every document once, for the query and at the "
            f"rank that make the sum highest. {_LAST}"
        ),
        range="at most 1; 0 or more without negative grades",
        ends=SHARE,
        citation=(
            f"{_SESSION_DCG}; E. Kanoulas, B. Carterette, P. Clough and M. Sanderson, Evaluating multi-query sessions, SIGIR "
            "2011, doi:10.1145/2009916.2010056, for the normalisation, which is exact here if repeats=once"
        ),
        example=_example(
            "session_nDCG@2", "(1/log2 3 + 1/(1 + log4 2)) / (1 + 1/(1 + log4 2))", "0.7786"
        ),
        parameters=(GAIN, DISCOUNT, BASE, LATER, REPEATS),
        spellings=(Spelling("nsDCG"),),
        normalised=True,
        needs=SESSIONS,
        requires=_SESSIONS,
    ),
    Family(
        name="session_RBP",
        title="Rank-biased precision of a session",
        definition=(
            "session_RBP@k = (1−p) Σ_m ((p − b·p)/(1 − b·p))^(m−1) Σ_{i=1..k} w_i·(b·p)^(i−1), where w_i is the worth, "
            f"from 0 to 1, of the document at rank i for the query at place m of the session. {_LAST}"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "A. Lipani, B. Carterette and E. Yilmaz, From a user model for query sessions to session rank biased precision "
            "(sRBP), ICTIR 2019, doi:10.1145/3341981.3344216"
        ),
        example=_example("session_RBP(b=0.5)", "0.2·(0.4 + (0.8 − 0.4)/(1 − 0.4))", "0.2133"),
        parameters=(PERSISTENCE, BALANCE, REL, SCALE, REPEATS),
        spellings=(Spelling("sRBP"),),
        needs=SESSIONS,
        requires=_SESSIONS,
    ),
)
