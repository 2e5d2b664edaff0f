"""Judgments and runs as rows, made by Hypothesis, with ids and numbers that trip readers up."""

from hypothesis import strategies as st

from gainful.matching.chunks_to_documents import read_chunks
from gainful.measures.policy import Policy
from input_forms import ANY, WORDS, as_dicts

_WORDS = (
    "1", "01", "001", "1.0", "1e0", "-1", "+1", "0x1", "a", "A", "#", "#1", "a#1", "a#2", "b#c#1",
    '"', '"a"', "'a'", 'a"b', "a,b", "a;b", "a|b", "a\\", "é", "é", "ß", "日本", "😀", "👩‍🔬",
    "\xa0", "a\u3000b", "\u2028", "NULL", "null", "nan", "inf", "true", "None", "x" * 3000,
    "$", "%", "*", "?", "~", "/a/b", "http://a?b=c#d", "2020-01-01", "12:30", "\x7f", "\x1f", "ﬁ",
)  # fmt: skip
_FILLED = (" ", " a", "a ", "a b", "\t", "a\tb", "\n", "a\nb", "a\r\nb", "\r", 'a"\n"b', "a\0b")
_WHITE = " \t\n\v\f\r"

GRADES = (0, 1, 2, 3, -1, -2, 0.5, -0.25, 0.1, -0.0, 1e-9)
SCORES = (
    0.0, -0.0, 1.0, 1.0, 0.5, -1.0, 0.1, 0.30000000000000004, 0.3, 5e-324, -1e300, 1e17,
    0.500000001, 1.00000001, -0.999999999, 100000000000000016.0,
)  # fmt: skip
BEYOND_SINGLE = 3e38


def identifiers(kind):
    """Ids that a form of this kind can hold."""
    letters = st.characters(exclude_categories=("Cs",), exclude_characters=_WHITE + "\0")
    # A line that begins with one of these is taken for JSON.
    words = st.text(letters, min_size=1, max_size=6).filter(lambda text: text[0] not in "{[")
    some = st.one_of(st.sampled_from(_WORDS), words)
    if kind == WORDS:
        return some
    return st.one_of(
        some,
        st.sampled_from(_FILLED),
        st.text(st.characters(exclude_categories=("Cs",)), min_size=1),
    )


@st.composite
def cases(draw, ids=ANY):
    """Rows of judgments and of a run that share a query; each document once for a query.

    The rows of a query stand together, or do not.
    """
    names = identifiers(ids)
    queries = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    docs = draw(st.lists(names, min_size=1, max_size=8, unique=True))
    scores = st.one_of(
        st.sampled_from(SCORES), st.floats(allow_nan=False, allow_infinity=False, width=64)
    )
    found = []
    for numbers in (st.sampled_from(GRADES).map(float), scores):
        rows = []
        for place, query in enumerate(queries):
            if place and draw(st.booleans()) and draw(st.booleans()):
                continue  # missing here, or extra there
            some = draw(
                st.lists(st.sampled_from(docs + queries), min_size=1, max_size=9, unique=True)
            )
            rows += [(query, doc, draw(numbers)) for doc in some]
        found.append(draw(st.permutations(rows)) if draw(st.booleans()) else rows)
    return found[0], found[1]


@st.composite
def choices(draw, judgments, run):
    """A policy with its ties decided, how chunks are folded, and a depth."""
    unjudged = draw(st.sampled_from(["zero", "zero", "zero", "condense", 0.5, -1]))
    fold = draw(st.sampled_from(["none", "none", "max", "first"]))
    chunks = None
    if fold != "none":
        docs = sorted({doc for _, doc, _ in run})
        chunks = draw(st.sampled_from(["#", "1", {doc: doc[:1] or "empty" for doc in docs}]))
    # Where all documents of a query are the query itself, see the tests of drop_self.
    alone = any(
        set(docs) == {query}
        for rows in (judgments, run)
        for query, docs in as_dicts(rows).items()
    )  # fmt: skip
    in_single = all(abs(score) < BEYOND_SINGLE for _, _, score in run)
    policy = Policy(
        ties=draw(st.sampled_from(["doc", "doc_ascending", "average", "best", "worst", "order"])),
        unjudged=unjudged,
        fold=fold,
        drop_self="no" if alone else draw(st.sampled_from(["no", "yes", "run"])),
        negative=draw(st.sampled_from(["keep", "keep", "unjudged"])),
        precision=draw(st.sampled_from(["double", "double", "single"])) if in_single else "double",
    )
    depth = draw(st.sampled_from([None, 1, 2, 3, 100])) if unjudged == "zero" else None
    return policy, chunks, read_chunks(chunks, policy), depth
