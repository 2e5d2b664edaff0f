"""The cases, by topic, without their values: `make.py` works those out."""

from collections.abc import Iterator
from typing import Any

TOPICS: dict[str, dict[str, Any]] = {}


def topic(name: str, title: str, about: str) -> None:
    """Begin a file."""
    TOPICS[name] = {"title": title, "about": about, "cases": []}


def pairs(given: object, *, ranked: bool) -> list[list[Any]] | None:
    """Return documents with grades or scores; a text is a list in the order of rank."""
    if isinstance(given, str) and ranked:
        docs = given.split()
        return [[doc, len(docs) - place] for place, doc in enumerate(docs)]
    if isinstance(given, dict):
        return [[doc, value] for doc, value in given.items()]
    return given  # type: ignore[return-value]


def query(judged: object, run: object, name: str = "q") -> dict[str, Any]:
    """Return a query."""
    return {
        "query": name,
        "judged": pairs(judged, ranked=False),
        "run": pairs(run, ranked=True),
    }


def of_grades(*grades: float, more: tuple[float, ...] = ()) -> tuple[dict[str, float], str]:
    """Return judgments and a run of grades in the order of rank; `more` are judged and not returned."""
    docs = [f"d{rank}" for rank in range(1, len(grades) + 1)]
    judged = dict(zip(docs, grades, strict=True))
    judged |= {f"x{place}": grade for place, grade in enumerate(more, 1)}
    return judged, " ".join(docs)


def case(
    name: str,
    why: str,
    *queries: Any,
    of: str = "nDCG",
    k: int | None = None,
    gain: Any = "linear",
    discount: Any = "log",
    base: float | str = 2,
    exponent: float | None = None,
    dialect: str | None = None,
    **choices: Any,
) -> None:
    """Add a case to the topic that was begun last."""
    measure: dict[str, Any] = {"name": of, "k": k, "gain": gain, "discount": discount}
    if of == "AP":
        measure = {"name": of, "k": k, "denominator": "found"}
    elif of == "CG":
        measure["discount"] = "none"
    elif discount in ("log", "jarvelin"):
        measure["base"] = base
    elif discount == "power":
        measure["exponent"] = exponent
    given = [each if isinstance(each, dict) else query(*each) for each in queries]
    cases = next(reversed(TOPICS.values()))["cases"]
    told = {} if dialect is None else {"dialect": dialect}
    cases.append(
        {"id": name, "why": why, **told, "measure": measure, "choices": choices, "queries": given}
    )


# A table is read line by line.
# fmt: off
SIX = of_grades(3, 2, 3, 0, 1, 2)
SIX_OF_EIGHT = of_grades(3, 2, 3, 0, 1, 2, more=(3, 2))
SWAPPED = ({"a": 1, "b": 2}, "a b")  # 0.8597
EMPTY = query({"a": 0, "b": 0}, "a b", "empty")
MISSING = query({"a": 1, "b": 0}, None, "missing")
ORDINARY = query(*SWAPPED, "ordinary")

topic(
    "definition",
    "The definition",
    "CG, DCG, IDCG and nDCG of plain lists, and the mean over queries. Start here: the only conventions are "
    "the linear gain, the discount 1/log2(rank + 1) and the ideal of all judged documents.",
)
case("cg", "The sum of the gains; the order does not matter.", SIX, of="CG", k=6)
case("cg-cut", "At a cutoff, CG counts only the first k documents.", SIX, of="CG", k=3)
case("dcg", "The worked example of many texts: 3, 2/log2(3), 3/2, 0, 1/log2(6), 2/log2(7).", SIX, of="DCG", k=6)
case("dcg-rank-one", "The first rank is worth 1/log2(2) = 1: a discount of 1/log2(rank) would divide by 0.", of_grades(3), of="DCG")
case("dcg-log-of-sum", "The discount is 1/log2(rank + 1). Misread as 1/(log2(rank) + 1), it would be 1, 1/2, 0.3869 …", of_grades(1, 1, 1), of="DCG")
case("dcg-five", "Some texts publish 4.67, but 3 + 2/log2(3) + 1/log2(6) is 4.6487.", of_grades(3, 2, 0, 0, 1), of="DCG", k=5)
case("dcg-not-normalised", "DCG is not divided by anything, so it may be above 1.", of_grades(1, 0, 1, 1, 0), of="DCG", k=3)
case("idcg", "The DCG of the best order of all judged documents.", SIX, of="IDCG", k=6)
case("idcg-more-judged", "Judged documents that were not returned belong to the ideal.", SIX_OF_EIGHT, of="IDCG", k=6)
case("ndcg-own-list", "All judged documents were returned, so the ideal is the sorted list.", SIX, k=6)
case("ndcg-more-judged", "Two more documents are judged but not returned, so the same list scores less.", SIX_OF_EIGHT, k=6)
case("ndcg-five", "3, 2, 0, 0, 1 against 3, 2, 1.", of_grades(3, 2, 0, 0, 1), k=5)
case("ndcg-perfect", "A perfect order scores exactly 1.", of_grades(3, 2, 1, 0), k=4)
case("ndcg-perfect-deep", "A perfect order scores 1 at every cutoff.", of_grades(3, 2, 1, 0), k=2)
case("ndcg-worst", "The worst order doesn't score 0: its documents are found, only late.", of_grades(0, 1, 2, 3), k=4)
case("ndcg-nothing-found", "Without a relevant document above the cutoff, the score is 0.", of_grades(0, 0, 1), k=2)
case("ndcg-one-document", "The list has one document, the right one.", of_grades(1), k=10)
case("ndcg-at-one", "At cutoff 1, nDCG is the first gain divided by the highest gain.", of_grades(2, 3, 0), k=1)
case("ndcg-cut-list-and-ideal", "The cutoff applies to both the list and the ideal.", of_grades(0, 3, 2, 3), k=2)
case("ndcg-relevant-beyond-cutoff", "Documents below the cutoff count in the ideal, which isn't the list's first k documents, sorted.", of_grades(1, 0, 3), k=2)
case("ndcg-ideal-shorter-than-cutoff", "With fewer relevant documents than k, the ideal is shorter than k.", of_grades(0, 1, 0, 0, 0), k=5)
case("ndcg-no-cutoff", "Without a cutoff, the whole list and the whole ideal count.", of_grades(0, 2, 0, 1, more=(1,)))
case("ndcg-k-beyond-list", "A cutoff beyond the end of the list changes nothing but the ideal.", of_grades(1, 2, more=(3,)), k=100)
case("ndcg-k-beyond-everything", "A cutoff beyond the list and the judgments has no effect.", of_grades(1, 2, 0), k=1000)
case("ndcg-scores-decide", "A run is sorted by descending score, not by the order in which it is written.", ({"a": 3, "b": 1, "c": 0}, {"c": 0.1, "a": 0.9, "b": 0.5}), k=3)
case("ndcg-ranks-by-score-not-id", "Ids have no effect if scores differ.", ({"a": 1, "z": 0}, {"z": 1, "a": 2}), k=1)
case("ndcg-negative-scores", "Scores may be negative, such as logarithms of probabilities.", ({"a": 1, "b": 0, "c": 2}, {"a": -7.5, "b": -0.5, "c": -3.25}), k=3)
case("ndcg-scores-as-numbers", "Scores are compared as numbers: 10 is above 9.", ({"a": 1, "b": 2}, {"a": 9, "b": 10}), k=2)
case("ndcg-scores-tiny-and-huge", "Scores of very different size: 1e-300 is above 0, and 1e300 above all.", ({"a": 1, "b": 2, "c": 3}, {"a": 1e-300, "b": 0, "c": 1e300}), k=3)
case("ndcg-a-long-list", "Twenty documents: the discount of deep ranks.", of_grades(0, 0, 3, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 0, 3, 0, 0, 2, 0, 1), k=20)
case("ndcg-long-ideal", "There are more relevant documents than ranks, so the ideal contains only the best grade.", of_grades(1, 2, 3, more=(3, 3, 3, 3)), k=3)
case("mean-of-two", "The mean over queries is the mean of their nDCG, not the sum of DCG divided by the sum of the ideals.", query(*of_grades(3, 0), "one"), query(*of_grades(0, 0, 1), "two"), k=3)
case("mean-weighs-queries-alike", "A query with many documents counts as much as one with few.", query(*of_grades(1), "short"), query(*of_grades(0, 1, 0, 1, 0, 1, 0, 1), "long"), k=10)
case("mean-of-dcg", "The mean of DCG over queries.", query(*of_grades(2, 1), "one"), query(*of_grades(0, 3), "two"), of="DCG", k=2)
case("mean-of-ten-digits", "Three queries with a mean that has no short decimal form.", query(*of_grades(0, 1), "one"), query(*of_grades(1, 2), "two"), query(*of_grades(0, 0, 1), "three"))
case("unjudged-query", "A query of the run that nobody judged isn't measured or counted.", query(*SWAPPED, "judged"), query(None, "a b", "nobody"), k=10)

topic(
    "gains",
    "Gains",
    "The gain of a grade: the grade itself (linear), 2^grade − 1 (exp2), 1 or 0 (binary), or a table.",
)
GRADED = of_grades(1, 3, 0, 2, more=(3,))
for name, form, of, why in (
    ("linear", "linear", "nDCG", "The gain is the grade."),
    ("exp2", "exp2", "nDCG", "The gain is 2^grade − 1: 1, 7, 0, 3. The other common definition, and the most common cause of two different numbers."),
    ("binary", "binary", "nDCG", "The gain is 1 for every grade above 0."),
    ("table", [[1, 1], [2, 3], [3, 10]], "nDCG", "The gain is looked up; 0 has gain 0."),
    ("dcg-exp2", "exp2", "DCG", "DCG with the exponential gain."),
    ("cg-exp2", "exp2", "CG", "CG with the exponential gain: 1 + 7 + 0 + 3."),
    ("cg-binary", "binary", "CG", "CG with the binary gain is the number of relevant documents."),
    ("idcg-exp2", "exp2", "IDCG", "The ideal has the exponential gain, too."),
):
    case(f"gain-{name}", why, GRADED, of=of, k=4, gain=form)
BINARY = of_grades(0, 1, 1, more=(1,))
case("gain-linear-of-binary", "On grades 0 and 1 the linear gain …", BINARY, k=3)
case("gain-exp2-of-binary", "… and the exponential one agree, and …", BINARY, k=3, gain="exp2")
case("gain-binary-of-binary", "… so does the binary one.", BINARY, k=3, gain="binary")
case("gain-exp2-minus-one", "The gain is 2^grade − 1, not 2^grade, so grade 0 is worth nothing.", of_grades(0, 0, 1), k=3, gain="exp2")
case("gain-exp2-of-fractions", "The exponential gain supports fractions: 2^0.5 − 1, 2^1.5 − 1.", of_grades(0.5, 1.5, 2), k=3, gain="exp2")
case("gain-exp2-high", "Grades up to 30 fit into a double exactly; a table of gains must not end before.", of_grades(29, 30), gain="exp2")
case("gain-exp2-beyond-integers", "2^70 − 1 is beyond 64 bits: integers overflow, doubles do not.", of_grades(69, 70), gain="exp2")
case("gain-binary-of-fractions", "Any grade above 0 is relevant, including 0.25, which isn't rounded to 0.", of_grades(0, 0.25, 2), k=3, gain="binary")
case("gain-table-of-zero", "A table may give grade 0 a gain of its own.", of_grades(0, 1, 0), k=3, gain=[[0, 0.5], [1, 4]])
case("gain-table-not-rising", "A table need not rise, because the ideal is sorted by gain, not by grade.", of_grades(2, 1), k=2, gain=[[1, 5], [2, 1]])
case("gain-linear-scale-cancels", "With the linear gain, multiplying all grades by ten doesn't change nDCG.", of_grades(10, 30, 0, 20, more=(30,)), k=4)

topic(
    "discounts",
    "Discounts and bases",
    "The discount of rank i: log 1/log_b(i + 1); jarvelin 1 for i ≤ b, else 1/log_b(i); reciprocal 1/i; power i^−p; "
    "none 1; or a table.",
)
LATE = of_grades(1, 0, 3, 2, 0, 1, more=(2,))
for name, settings, why in (
    ("log", {}, "The usual discount, 1/log2(i + 1)."),
    ("jarvelin", {"discount": "jarvelin"}, "The discount of Järvelin and Kekäläinen, base 2: r1 + r2 + Σ r_i/log2(i). The first two ranks are worth 1."),
    ("reciprocal", {"discount": "reciprocal"}, "The discount 1/i."),
    ("power-half", {"discount": "power", "exponent": 0.5}, "The discount 1/√i."),
    ("power-two", {"discount": "power", "exponent": 2}, "The discount 1/i²."),
    ("none", {"discount": "none"}, "Every rank is worth 1: nDCG is CG by the CG of the ideal."),
    ("table", {"discount": [1, 0.5, 0.25]}, "A table by rank: 1, 0.5, 0.25, and nothing below its end."),
):
    case(f"discount-{name}", why, LATE, **settings)
    case(f"discount-{name}-dcg", f"The same for DCG. {why}", LATE, of="DCG", k=5, **settings)
for name, base in (("e", "e"), ("10", 10), ("3", 3), ("1.5", 1.5)):
    case(f"base-{name}-dcg", f"With the discount log, base {name} scales DCG by a constant.", LATE, of="DCG", base=base)
    case(f"base-{name}-ndcg", "In nDCG with the discount log, the base cancels.", LATE, base=base)
case("base-e-ndcg-exp2", "The base cancels whatever the gain; some texts wrongly claim that it matters for the exponential gain.", LATE, gain="exp2", base="e")
case("base-2-ndcg-exp2", "The same with base 2: the same number.", LATE, gain="exp2")
for name, base in (("e", "e"), ("10", 10), ("3", 3)):
    case(f"jarvelin-base-{name}", f"With the discount jarvelin the base does not cancel: ranks up to {name} are worth 1.", LATE, discount="jarvelin", base=base)
case("jarvelin-base-4-at-4", "Rank b itself is worth 1, by both halves of the definition.", of_grades(0, 0, 0, 1, 1), discount="jarvelin", base=4)
case("jarvelin-below-2", "With a base below 2, rank 1 counts 1, and the logarithm applies from rank 2 on.", of_grades(0, 1, 1), of="DCG", discount="jarvelin", base=1.5)
case("jarvelin-two-first-alike", "With base 2, the first two ranks count the same, so swapping them changes nothing.", of_grades(1, 2, 0), discount="jarvelin")
case("jarvelin-binary", "The binary gain with the discount of Järvelin and Kekäläinen.", LATE, discount="jarvelin", gain="binary")
case("jarvelin-exp2", "The exponential gain with the discount of Järvelin and Kekäläinen.", LATE, discount="jarvelin", gain="exp2")
case("reciprocal-exp2", "The exponential gain with 1/i.", LATE, discount="reciprocal", gain="exp2", k=4)
case("discount-table-short", "The table ends above the cutoff, so deeper ranks count 0.", of_grades(0, 0, 1, 1), of="DCG", discount=[1, 1], k=4)

topic(
    "ideal",
    "The ideal",
    "The documents in the ideal, and its depth. Most incorrect implementations fail here: they sort the list they "
    "receive, or cut the ideal at the number of documents returned.",
)
HALF = of_grades(1, 0, 2, more=(3, 2))
for k in (None, 2, 5):
    at = "" if k is None else f"-at-{k}"
    for pool in ("judged", "retrieved"):
        told = "all judged documents" if pool == "judged" else "the documents of the list alone, as tools have it that are given a list of labels"
        case(f"ideal-{pool}{at}", f"The ideal of {told}.", HALF, k=k, ideal=pool)
case("ideal-retrieved-unjudged", "The ideal of the list alone contains a document without a judgment, which is worth nothing.", ({"a": 1, "b": 2, "x": 3}, "u a v b"), k=4, ideal="retrieved")
case("ideal-retrieved-below-cutoff", "The ideal is built from the whole list, including documents below the cutoff.", of_grades(1, 0, 3, more=(4,)), k=2, ideal="retrieved")
for depth, told in (("cutoff", "cut at k"), ("all", "not cut"), ("retrieved", "cut at the number of documents returned, where that is less than k")):
    case(f"depth-{depth}", f"The ideal is {told}: a short list.", of_grades(1, 2, more=(3, 1, 2)), k=4, depth=depth)
    case(f"depth-{depth}-cut", f"The ideal is {told}: a list longer than k.", of_grades(0, 2, 1, 3), k=2, depth=depth)
case("depth-retrieved-one-of-five", "Only one of five relevant documents is returned: 1 if the ideal is cut at the length of the list …", of_grades(1, more=(1, 1, 1, 1)), k=5, depth="retrieved")
case("depth-cutoff-one-of-five", "… and 0.339 if it is cut at k.", of_grades(1, more=(1, 1, 1, 1)), k=5)
case("depth-all-perfect-list", "With an ideal that is not cut, a perfect list of k documents does not reach 1.", of_grades(1, 1, more=(1,)), k=2, depth="all")
case("ideal-by-gain-not-by-rank", "The ideal is sorted by gain; judgments may be in any order.", ({"a": 0, "b": 1, "c": 3, "d": 2}, "d c b a"), k=4)
case("idcg-of-no-run", "The ideal does not depend on the run.", query({"a": 1, "b": 2}, "x y"), of="IDCG", k=2)
case("idcg-retrieved", "If it is built from the list's own documents, the ideal does depend on the run.", query({"a": 1, "b": 2}, "x a"), of="IDCG", k=2, ideal="retrieved")

topic(
    "ties",
    "Ties",
    "Documents with equal scores. doc: by id, descending, compared as UTF-8 bytes; doc_ascending; order: input order; "
    "average: the exact mean over all orders; best and worst: by gain.",
)
RULES = ("doc", "doc_ascending", "order", "average", "best", "worst")
TIED = ({"a": 2, "b": 0, "c": 3, "d": 1}, {"b": 0.5, "d": 0.5, "a": 0.5, "c": 0.5})
for rule in RULES:
    case(f"ties-{rule}", "Four documents with one score.", TIED, ties=rule)
    case(f"ties-{rule}-cut", "A tie across the cutoff: which of them are above it?", TIED, k=2, ties=rule)
    case(
        f"ties-{rule}-two-blocks",
        "Two blocks of ties, with a document between them.",
        ({"a": 1, "b": 0, "c": 2, "d": 0, "e": 3}, {"a": 0.9, "b": 0.9, "m": 0.5, "d": 0.1, "e": 0.1, "c": 0.1}),
        k=5,
        ties=rule,
    )
case("ties-average-three", "Three tied documents with grades 2, 1 and 0: every order is equally likely.", ({"a": 2, "b": 1, "c": 0}, dict.fromkeys("abc", 1)), ties="average")
case("ties-average-one-relevant", "Labels 1, 0, 0 with equal scores: (1 + 1/log2(3) + 1/2) / 3.", ({"a": 1, "b": 0, "c": 0}, dict.fromkeys("abc", 1)), ties="average")
case("ties-average-exp2", "The gains are averaged, instead of taking the gain of the mean grade.", TIED, ties="average", gain="exp2")
case("ties-average-dcg", "DCG with averaged ties.", TIED, of="DCG", k=3, ties="average")
case("ties-average-unjudged", "Documents without a judgment tie with the others.", ({"a": 2}, {"u": 1, "a": 1, "v": 1}), ties="average")
case("ties-all-alike", "Tied documents of the same grade: no rule matters.", ({"a": 1, "b": 1, "c": 0}, {"c": 2, "b": 1, "a": 1}))
case("ties-zero-and-minus-zero", "0 and −0 are the same score.", ({"a": 1, "b": 0}, [["a", 0.0], ["b", -0.0]]), ties="doc", k=1)
case("ties-doc-case", "Compared as bytes, a is greater than Z, so a comes first in descending order.", ({"Z": 1, "a": 0}, {"Z": 1, "a": 1}), ties="doc", k=1)
case("ties-doc-not-numeric", "Ids are text, so d9 is greater than d10.", ({"d10": 1, "d9": 0}, {"d10": 1, "d9": 1}), ties="doc", k=1)
case("ties-doc-prefix", "A longer id is greater than its prefix.", ({"ab": 1, "a": 0}, {"a": 1, "ab": 1}), ties="doc", k=1)
case("ties-doc-accents", "Compared as UTF-8 bytes, é is greater than z, whatever the machine's locale.", ({"é": 1, "z": 0}, {"é": 1, "z": 1}), ties="doc", k=1)
case("ties-doc-utf16", "Compared as UTF-8 bytes, 𝄞 (U+1D11E) is greater than ﬁ (U+FB01). In UTF-16, which JavaScript and Java compare, it is smaller.", ({"𝄞": 1, "ﬁ": 0}, {"𝄞": 1, "ﬁ": 1}), ties="doc", k=1)
CLOSE = ({"a": 2, "b": 1}, [["b", 0.5], ["a", 0.500000001]])
case("ties-double", "Scores that differ in the ninth digit differ.", CLOSE, precision="double")
case("ties-single", "Compared as float32, as in trec_eval up to version 9, these scores tie.", CLOSE, precision="single", ties="doc")
case("ties-single-average", "The same, averaged.", CLOSE, precision="single", ties="average")
case("ties-doubles-next-to-each-other", "Neighbouring doubles differ: no tolerance is applied to scores.", ({"a": 1, "b": 0}, [["b", 1.0], ["a", 1.0000000000000002]]), k=1, precision="double")

topic(
    "incomplete",
    "Unjudged, absent, missing, empty",
    "Unjudged: a document was returned and nobody judged it. Absent: the list is shorter than k. Missing: a judged "
    "query isn't in the run. Empty: a query has no relevant documents, so its ideal is 0.",
)
GOLDEN = ({"a": 1, "b": 2, "c": 0, "x": 3}, "a b c u")
case("golden", "One query that distinguishes tools: x is judged but was not returned, u was returned but is not judged.", GOLDEN, k=4)
HOLES = ({"a": 1, "b": 3, "c": 2}, "u a v b w c")
case("unjudged-zero", "Without a judgment, a document is worth nothing, and keeps its rank.", HOLES, k=4)
case("unjudged-condense", "An unjudged document is dropped, and the documents below it move up.", HOLES, k=4, unjudged="condense")
case("unjudged-grade", "An unjudged document counts as judged with grade 1, in the list and in the ideal.", HOLES, k=4, unjudged=1)
case("unjudged-error", "An unjudged document is an error.", HOLES, k=4, unjudged="error")
case("unjudged-at-the-end", "At the end of the list, an unjudged document costs nothing.", ({"a": 1}, "a u v"), k=3)
case("unjudged-everything", "A list without judged documents scores 0.", ({"a": 1}, "u v w"), k=3)
SHORT = of_grades(2, 1, more=(-1,))
case("absent-zero", "Three of five equally good results, at cutoff 5: unfilled ranks have gain 0.", of_grades(1, 1, 1, more=(1, 1)), k=5)
case("absent-lowest", "Unfilled ranks have the lowest grade in the judgments, here −1.", SHORT, k=4, absent="lowest")
case("absent-grade", "Unfilled ranks have grade −0.5.", SHORT, k=4, absent=-0.5)
case("absent-not-needed", "A list of k documents has no unfilled ranks, so their grade doesn't matter.", of_grades(2, 1, -1), k=3, absent="lowest")
for rule in ("zero", "skip"):
    case(f"missing-{rule}", f"A judged query that the run lacks {'counts as 0' if rule == 'zero' else 'is left out of the mean'}.", ORDINARY, MISSING, k=10, missing=rule)
case("missing-error", "A judged query that is missing from the run is an error.", ORDINARY, MISSING, k=10, missing="error")
case("missing-is-not-empty-list", "A query that returned nothing is not missing: it counts as 0, whatever missing queries do.", ORDINARY, query({"a": 1}, [], "nothing"), k=10, missing="skip")
for rule, told in (("zero", "counts as 0"), ("one", "counts as 1"), ("skip", "is left out of the mean"), ("nan", "is undefined, and so is the mean")):
    case(f"empty-{rule}", f"A query without a relevant document {told}.", ORDINARY, EMPTY, k=10, empty=rule)
    if rule != "skip":  # a mean over no query is undefined, or an error
        case(f"empty-{rule}-alone", "The same query alone.", EMPTY, k=10, empty=rule)
case("empty-error", "A query with no relevant documents is an error.", ORDINARY, EMPTY, k=10, empty="error")
case("empty-and-missing", "All three kinds: an ordinary query, an empty one, a missing one. The mean is over three.", ORDINARY, EMPTY, MISSING, k=10)
case("empty-and-missing-skipped", "The mean is over one.", ORDINARY, EMPTY, MISSING, k=10, empty="skip", missing="skip")
case("empty-of-the-list", "With the ideal of the list alone, a query is empty if its list contains no relevant documents.", ORDINARY, query({"a": 1, "b": 0}, "b", "not found"), k=10, ideal="retrieved", empty="one")
case("empty-dcg", "DCG is defined for a query with no relevant documents: it is 0, and it counts.", ORDINARY, EMPTY, of="DCG", k=10)
case("empty-binary", "With the binary gain, documents with grades of 0 and below aren't relevant.", ORDINARY, query({"a": -1, "b": 0}, "a b", "bad"), k=10, gain="binary", empty="one")

topic(
    "grades",
    "Negative, fractional and other grades",
    "Grades are numbers. keep: a negative gain lowers the score but isn't in the ideal; zero: it counts as 0; both: it "
    "is also in the ideal if that has room; unjudged: a negative grade isn't a judgment.",
)
BAD = of_grades(-1, 2, 1, more=(1,))
for rule in ("keep", "zero", "both", "unjudged"):
    case(f"negative-{rule}", "A bad document on top.", BAD, negative=rule)
    case(f"negative-{rule}-last", "A bad document at the end of a list that has nothing better.", of_grades(1, 1, -1), negative=rule)
    case(f"negative-{rule}-exp2", "With the exponential gain, grade −1 has gain −1/2.", BAD, k=3, gain="exp2", negative=rule)
case("negative-error", "A negative gain is an error.", BAD, negative="error")
case("negative-below-zero", "The value may be below 0.", of_grades(-2, 0, 1), negative="keep")
case("negative-unjudged-condense", "A negative grade isn't a judgment, and unjudged documents are dropped.", of_grades(-1, 1, 2), negative="unjudged", unjudged="condense")
case("negative-only", "All documents are bad, so the ideal is 0 and the query is empty.", ORDINARY, query(*of_grades(-1, -2), "bad"))
case("negative-binary", "With the binary gain, a negative grade has gain 0 and costs nothing.", BAD, gain="binary")
case("negative-dcg", "DCG with a negative gain.", BAD, of="DCG", k=2)
case("negative-both-gap", "Under both, three judged documents, one of them bad, fill an ideal of three ranks.", of_grades(-1, 1, 0), negative="both")
case("fraction", "Grades are not truncated to whole numbers: 0.5 is not 0.", of_grades(0.5, 1.5, 0.25), k=3)
case("fraction-tenths", "Grades such as 0.1 have no exact representation as a double.", of_grades(0.1, 0.3, 0.7), k=3)
case("fraction-below-one", "All grades below 1: nothing is rounded to 0, and the query is not empty.", of_grades(0.2, 0.9), k=2)
case("fraction-means-of-judges", "Means of three judges, with thirds as decimals.", of_grades(1.3333, 2.6667, 0.3333), k=3)
case("grade-large", "Grades may be large: counts of clicks, seconds.", of_grades(250, 1000000, 12), k=3)
case("grade-small", "Grades may be small, and the query is then not empty.", of_grades(0, 0.000001), k=2)
case("grade-judged-zero", "Grade 0 is a judgment: the document is worth nothing, but stays in the list.", ({"a": 0, "b": 1}, "a b"), k=2)
case("grade-all-equal", "All grades equal: every order is perfect.", of_grades(2, 2, 2), k=3)

topic(
    "ids",
    "Ids and repetitions",
    "Ids are text. A document counts once: a list that repeats a document is an error, or the first or the best one counts.",
)
TWICE = ({"a": 1, "b": 2, "c": 1}, [["a", 3], ["b", 2.5], ["a", 2], ["c", 1]])
for rule, told in (("first", "the first counts"), ("best", "the one with the highest score counts")):
    case(f"repeated-{rule}", f"A document comes twice: {told}. Counted twice, values above 1 occur.", TWICE, duplicates=rule)
    case(f"repeated-{rule}-later-better", f"The second has the higher score: {told}.", ({"a": 1, "b": 2}, [["a", 1], ["b", 2], ["a", 3]]), duplicates=rule)
    case(f"repeated-{rule}-judgment", f"A document is judged twice: {told.replace('score', 'grade')}.", ([["a", 1], ["b", 2], ["a", 3]], "a b"), duplicates=rule)
case("repeated-error", "A document that is listed twice in the run is an error.", TWICE, duplicates="error")
case("repeated-only", "The only relevant document is returned three times: the score is 1, not 2.13.", ({"a": 1}, [["a", 3], ["a", 2], ["a", 1]]), k=3, duplicates="first")
case("id-leading-zeros", "007 and 7 are two documents.", ({"007": 2, "7": 1}, "7 007"), k=2)
case("id-like-numbers", "1.0 and 1 are two documents.", ({"1.0": 1, "1": 2}, {"1.0": 2, "1": 1}), k=2)
case("id-case", "A and a are two documents.", ({"A": 2, "a": 1}, "a A"), k=2)
case("id-spaces", "An id may contain spaces, which also count at its ends.", ({"a": 1, "a ": 2, "b c": 3}, {"a ": 3, "a": 2, "b c": 1}), k=3)
case("id-composed", "The letter é, written as one character or as two, gives two different ids: ids are not normalised.", ({"\u00e9": 2, "e\u0301": 1}, {"e\u0301": 2, "\u00e9": 1}), k=2)
case("id-words", "Words such as true, null, __proto__ and constructor are valid ids.", ({"true": 1, "null": 2, "__proto__": 3, "constructor": 1}, "null constructor true __proto__"), k=4)
case("id-same-in-two-queries", "A document has a separate grade for each query.", query({"a": 2, "b": 1}, "a b", "one"), query({"a": 0, "b": 3}, "a b", "two"), k=2)
SELF = query({"q": 3, "a": 1, "b": 2}, "q a b")
case("self-no", "A document with the id of its query counts like any other.", SELF, drop_self="no")
case("self-run", "A document with the id of its query is removed from the run but stays in the ideal, as in BEIR.", SELF, drop_self="run")
case("self-yes", "A document with the id of its query is removed from run and judgments.", SELF, drop_self="yes")

topic(
    "dialects",
    "Thirty-one tools",
    "The same small data, measured as each tool does. Measure and choices define the calculation, so you needn't know the tool; "
    "`gainful dialects NAME` describes it. Choices that a tool leaves open, such as the order of ties, have no case.",
)
EXP2, BIN, JK = {"gain": "exp2"}, {"gain": "binary"}, {"discount": "jarvelin"}
LIST = {"ideal": "retrieved", "missing": "skip"}
TREC = {"ties": "doc", "negative": "zero", "missing": "skip", "precision": "single"}
# How each tool measures; `without`: the data that it does not take, or leaves open.
TOOLS: dict[str, dict[str, Any]] = {
    "trec_eval-9": TREC,
    "trec_eval-10": {**TREC, "missing": "error", "precision": "double"},
    "pytrec_eval": TREC,
    "ir_measures": {**TREC, "missing": "zero"},
    "gdeval": {**TREC, **EXP2, "precision": "double", "empty": "skip"},
    "ranx": {"negative": "zero", "missing": "error", "without": "ties close"},
    "scikit-learn": {**LIST, "ties": "average", "negative": "error", "with": "fraction"},
    "torchmetrics": {**LIST, "ties": "average", "negative": "both", "precision": "single", "with": "fraction"},
    "lightgbm": {**LIST, **EXP2, "ties": "order", "empty": "one", "negative": "error"},
    "xgboost": {**LIST, **EXP2, "ties": "order", "empty": "one", "negative": "error", "precision": "single"},
    "catboost": {**LIST, "ties": "worst", "empty": "one", "negative": "both", "with": "fraction"},
    "tf-ranking": {**LIST, **EXP2, "without": "ties close negative"},
    "rax": {**LIST, **EXP2, "ties": "order", "negative": "both", "precision": "single", "with": "fraction"},
    "allrank": {**LIST, **EXP2, "empty": "one", "without": "ties close negative"},
    "kaggle": {**EXP2, "empty": "one", "negative": "both", "without": "ties close"},
    "elasticsearch": {**EXP2, "depth": "retrieved", "negative": "both", "missing": "skip", "without": "ties close"},
    "quepid": {**EXP2, "depth": "all", "missing": "skip", "without": "ties close"},
    "beir": {**TREC, "drop_self": "run", "with": "self"},
    "ntcir": {**JK, "empty": "error", "without": "ties close"},
    "spark-mllib": {**BIN, "missing": "skip", "without": "ties close"},
    "recommenders": {**BIN, "ties": "order", "without": "zero negative"},
    "recbole": {**BIN, "missing": "skip", "without": "ties close"},
    "lenskit": {**JK, "negative": "both", "missing": "skip", "without": "ties close", "with": "fraction"},
    "sentence-transformers": {**BIN, "ties": "doc_ascending", "missing": "skip", "empty": "skip"},
    "mteb": {**TREC, "with": "self"},
    "mlflow": {**BIN, "depth": "retrieved", "without": "ties close"},
    "llamaindex": {**BIN, "depth": "all", "missing": "error", "empty": "error", "without": "ties close"},
    "haystack": {"depth": "all", "negative": "both", "without": "ties close", "with": "fraction"},
    "ragas": {"of": "AP", "without": "cut ties close negative"},
    "vespa": {**BIN, "empty": "skip", "without": "ties close"},
    "opensearch-workbench": {**EXP2, "negative": "both", "missing": "skip", "without": "ties close"},
}
SCORED = {"b": 0.5, "c": 0.5, "a": 0.5, "d": 0.5}


def situations() -> Iterator[tuple[str, str, int | None, tuple[dict[str, Any], ...]]]:
    """Yield the data that every tool is given: a name, why, the cutoff, the queries."""
    yield "golden", "One document is judged and was not returned, one was returned and is not judged.", 4, (query(*GOLDEN),)
    yield "cut", "A list that is longer than the cutoff, with something better below it and elsewhere.", 2, (query({"a": 3, "b": 2, "c": 1, "d": 2}, "c u a d"),)
    yield "short", "A list that is shorter than the cutoff.", 5, (query({"a": 1, "b": 2, "c": 3, "d": 1}, "a b"),)
    yield "ties", "Four documents with one score: does the tool go by id, by order of input, by chance?", 3, (query({"a": 2, "b": 0, "c": 3, "d": 0}, SCORED),)
    yield "close", "Two scores that are the same in single precision.", 2, (query({"a": 2, "b": 0}, [["b", 0.5], ["a", 0.500000001]]),)
    yield "empty", "An ordinary query and one without a relevant document.", 10, (query({"a": 2, "b": 1, "c": 0}, "c b a", "ordinary"), EMPTY)
    yield "missing", "An ordinary query and one that the run lacks.", 10, (query({"a": 2, "b": 1, "c": 0}, "c b a", "ordinary"), MISSING)
    yield "negative", "A document with a negative grade on top.", 10, (query({"a": -1, "b": 2, "c": 1}, "a b c"),)
    yield "fraction", "Grades that are not whole.", 10, (query({"a": 0.5, "b": 1.75, "c": 0}, "c a b"),)
    yield "self", "A document with the id of its query.", 10, (SELF,)


def without_zeros(queries: tuple[dict[str, Any], ...]) -> list[dict[str, Any]]:
    """Return queries without judgments of grade 0, for a tool to which every row is relevant."""
    return [each | {"judged": [pair for pair in each["judged"] if pair[1]]} for each in queries]


for tool, way in TOOLS.items():
    settings = {name: value for name, value in way.items() if name not in ("with", "without")}
    left_out, taken = way.get("without", "").split(), way.get("with", "").split()
    for situation, why, k, queries in situations():
        if situation in left_out or (situation in ("fraction", "self") and situation not in taken):
            continue
        if situation == "empty" and "zero" in left_out:
            continue
        whole = {"haystack": situation != "cut", "ragas": True}.get(tool, False)
        if tool == "haystack" and not whole:
            continue  # it has no cutoff
        given = without_zeros(queries) if "zero" in left_out else queries
        case(f"{tool}-{situation}", why, *given, k=None if whole else k, dialect=tool, **settings)
