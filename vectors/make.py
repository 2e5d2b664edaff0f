"""Write vectors/*.json: every case with its value, from the definitions alone.

Run `python vectors/make.py`. It needs nothing but Python's standard library, and shares no code
with the package. A case is worked out twice over: first as a closed form, a text such as
`(1 + 2/log2(3)) / (3 + 2/log2(3) + 1/2)`, literally as the definition says; then as a number, which is
that text evaluated with 60 digits. `conformance_cases.py` beside this file has the cases.
"""

import itertools
import json
import re
import struct
import sys
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FORMAT = 1
DIGITS = 30  # of the decimal that is written
_WORKING = Context(prec=60, rounding=ROUND_HALF_EVEN)

# Every choice with its answers, the usual one first. Numbers stand for any grade.
ANSWERS: dict[str, tuple[Any, ...]] = {
    "ideal": ("judged", "retrieved"),
    "depth": ("cutoff", "all", "retrieved"),
    "ties": ("doc", "doc_ascending", "order", "average", "best", "worst"),
    "unjudged": ("zero", "condense", 1, "error"),
    "absent": ("zero",),
    "negative": ("keep", "zero", "both", "unjudged"),
    "missing": ("zero", "skip"),
    "empty": ("zero", "one", "skip", "nan"),
    "duplicates": ("error", "first", "best"),
    "drop_self": ("no", "yes", "run"),
    "precision": ("double", "single"),
}
# Choices of which one decides whether the other has anything to say.
TOGETHER = (
    ("ideal", "empty"),
    ("depth", "empty"),
    ("depth", "unjudged"),
    ("unjudged", "negative"),
    ("ties", "precision"),
)
USUAL = {name: answers[0] for name, answers in ANSWERS.items()}


class RefusedError(Exception):
    """A case that must be refused, and why."""


# Closed forms.


def number(value: float | Fraction) -> str:
    """Write a grade or a gain: 3, 0.5, 1/3."""
    exact = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    text = format(_WORKING.divide(Decimal(exact.numerator), Decimal(exact.denominator)), "f")
    return text if Fraction(text) == exact else f"{exact.numerator}/{exact.denominator}"


def total(terms: Iterable[str]) -> str:
    """Write a sum."""
    text = ""
    for term in terms:
        if term == "0":
            continue
        if not text:
            text = term
        else:
            text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text or "0"


def enclosed(text: str) -> str:
    """Put what has operators of its own in brackets."""
    return text if re.fullmatch(r"-?[0-9.]+", text) else f"({text})"


def times(gain: str, discount: tuple[str, str]) -> str:
    """Write the gain at a rank, times what the rank is worth: a numerator and a denominator."""
    above, below = discount
    if gain == "0" or above == "0":
        return "0"
    factors = [each for each in (gain, above) if each != "1"]
    text = "*".join(each if "/" not in each else f"({each})" for each in factors) or "1"
    return text if below == "1" else f"{text}/{below}"


def discount_at(measure: dict[str, Any], rank: int) -> tuple[str, str]:
    """Return what a rank is worth, as the texts of a numerator and a denominator."""
    form = measure["discount"]
    if isinstance(form, list):
        return (number(form[rank - 1]) if rank <= len(form) else "0"), "1"
    if form in ("log", "jarvelin"):
        base = measure["base"]
        if form == "log":
            return _by_log(rank + 1, base)
        early = rank == 1 or (base != "e" and rank <= base) or (base == "e" and rank <= 2)
        return ("1", "1") if early else _by_log(rank, base)
    if form == "reciprocal":
        return "1", str(rank)
    if form == "power":
        return "1", "1" if rank == 1 else f"{rank}^{number(measure['exponent'])}"
    return "1", "1"


def _by_log(of: int, base: float | str) -> tuple[str, str]:
    """Return 1 / log_base(of)."""
    if base == 2:
        exact = of.bit_length() - 1
        return "1", str(exact) if 2**exact == of else f"log2({of})"
    if base == 10:
        return "1", f"log10({of})"
    if base == "e":
        return "1", f"ln({of})"
    return f"ln({number(base)})", f"ln({of})"


def gain_of(measure: dict[str, Any], grade: float) -> str:
    """Return the gain of a grade, as text."""
    form = measure.get("gain", "binary")
    if isinstance(form, list):
        return number({0: 0, **dict(form)}[grade])
    if form == "linear":
        return number(grade)
    if form == "binary":
        return "1" if grade > 0 else "0"
    if float(grade).is_integer():
        return number(Fraction(2) ** int(grade) - 1)
    return f"(2^{number(grade)} - 1)"


@cache
def natural_log(x: Decimal) -> Decimal:
    """Return ln(x), kept: the same few are asked for again and again."""
    return x.ln()


@cache
def evaluated(text: str) -> Decimal:
    """Return the number that a closed form is."""
    names = {
        "D": Decimal,
        "ln": natural_log,
        "log2": lambda x: natural_log(x) / natural_log(Decimal(2)),
        "log10": lambda x: natural_log(x) / natural_log(Decimal(10)),
    }
    code = re.sub(r"(?<![a-z0-9.])[0-9]+(\.[0-9]+)?", r'D("\g<0>")', text.replace("^", "**"))
    with localcontext(_WORKING):
        return Decimal(eval(code, {"__builtins__": {}}, names))  # noqa: S307 - written above


# The definition, one query at a time.


def ranked(run: list[tuple[str, float]], ties: str, gains: dict[str, Decimal]) -> list[list[str]]:
    """Return blocks of documents in the order of rank; of one each where the rule orders ties."""
    scores = sorted({score for _, score in run}, reverse=True)
    blocks = [[doc for doc, score in run if score == each] for each in scores]
    if ties == "average":
        return blocks
    orders = {
        "doc": lambda block: sorted(block, key=str.encode, reverse=True),
        "doc_ascending": lambda block: sorted(block, key=str.encode),
        "order": list,
        "best": lambda block: sorted(block, key=lambda doc: -gains[doc]),
        "worst": lambda block: sorted(block, key=lambda doc: gains[doc]),
    }
    return [[doc] for block in blocks for doc in orders[ties](block)]


def cumulated(measure: dict[str, Any], blocks: Sequence[Sequence[str]], cut: int | None) -> str:
    """Return the sum of gain times discount; of a block of ties, mean gain times all its discounts."""
    terms, rank = [], 0
    for block in blocks:
        discounts = []
        for _ in block:
            rank += 1
            beyond = cut is not None and rank > cut
            discounts.append(("0", "1") if beyond else discount_at(measure, rank))
        if len(block) == 1:
            terms.append(times(block[0], discounts[0]))
            continue
        gains = total(block)
        worth = total(times("1", each) for each in discounts)
        if gains == "0" or worth == "0":
            continue
        try:
            mean = number(Fraction(evaluated(gains)) / len(block))
        except ValueError:
            mean = f"({gains})/{len(block)}"
        terms.append(worth if mean == "1" else f"{mean}*{enclosed(worth)}")
    return total(terms)


def once(pairs: list[list[Any]], rule: str, what: str) -> list[tuple[str, float]]:
    """Return each document once."""
    kept: dict[str, float] = {}
    for doc, value in pairs:
        if doc in kept and rule == "error":
            raise RefusedError(f"document {doc!r} comes twice in the {what}")
        if doc not in kept or (rule == "best" and value > kept[doc]):
            kept[doc] = value
    return list(kept.items())


def single(score: float) -> float:
    """Return a score as a float32 holds it."""
    return struct.unpack("f", struct.pack("f", score))[0]


Documents = list[tuple[str, float]]


def prepared(query: dict[str, Any], choices: dict[str, Any]) -> tuple[dict[str, float], Documents]:
    """Return the grades and the run of a query, after what the choices change about them."""
    grades = dict(once(query["judged"], choices["duplicates"], "judgments"))
    run = once(query["run"] or [], choices["duplicates"], "run")
    if choices["drop_self"] != "no":
        run = [(doc, score) for doc, score in run if doc != query["query"]]
    if choices["drop_self"] == "yes":
        grades.pop(query["query"], None)
    if choices["precision"] == "single":
        run = [(doc, single(score)) for doc, score in run]
    if choices["negative"] == "unjudged":
        grades = {doc: grade for doc, grade in grades.items() if grade >= 0}
    unjudged = [doc for doc, _ in run if doc not in grades]
    if choices["unjudged"] == "error" and unjudged:
        raise RefusedError(f"document {unjudged[0]!r} has no judgment")
    if choices["unjudged"] == "condense":
        run = [(doc, score) for doc, score in run if doc in grades]
    elif choices["unjudged"] != "zero":
        grades |= dict.fromkeys(unjudged, choices["unjudged"])
    return grades, run


def clipped(text: str, negative: str) -> str:
    """Return a gain under the choice about negative ones."""
    if evaluated(text) >= 0:
        return text
    if negative == "error":
        raise RefusedError(f"a gain of {text}")
    return "0" if negative == "zero" else text


def of_query(
    measure: dict[str, Any], choices: dict[str, Any], query: dict[str, Any], lowest: float | None
) -> str | None:
    """Return the value of a query as a closed form; None where it is undefined."""
    grades, run = prepared(query, choices)
    k, negative = measure["k"], choices["negative"]
    gains = {doc: clipped(gain_of(measure, grade), negative) for doc, grade in grades.items()}
    gains |= {doc: "0" for doc, _ in run if doc not in gains}
    worth = {doc: evaluated(text) for doc, text in gains.items()}
    if measure["name"] == "AP":
        return _average_precision(measure, run, worth)
    absent = "0"
    if choices["absent"] != "zero":
        grade = lowest if choices["absent"] == "lowest" else choices["absent"]
        absent = clipped(gain_of(measure, grade), negative)
    blocks = [[gains[doc] for doc in block] for block in ranked(run, choices["ties"], worth)]
    open_places = max(0, (k or 0) - len(run))
    value = cumulated(measure, [*blocks, *[[absent]] * open_places], k)
    judged = choices["ideal"] == "judged"
    pool = [gains[doc] for doc in (grades if judged else dict(run))]
    if judged and choices["depth"] == "cutoff" and evaluated(absent) > 0:
        pool += [absent] * (k or 0)  # there are as many of them as one likes
    best = ideal_of(measure, choices, pool, len(run))
    if measure["name"] != "nDCG":
        return best if measure["name"] == "IDCG" else value
    return None if evaluated(best) <= 0 else by_ideal(value, best)


def ideal_of(
    measure: dict[str, Any], choices: dict[str, Any], pool: list[str], returned: int
) -> str:
    """Return the DCG of the best order of some gains."""
    if choices["negative"] != "both":
        pool = [text for text in pool if evaluated(text) > 0]
    k = measure["k"]
    cut = {"cutoff": k, "all": None, "retrieved": min(returned, k or returned)}[choices["depth"]]
    return cumulated(measure, [[text] for text in sorted(pool, key=evaluated, reverse=True)], cut)


def by_ideal(value: str, best: str) -> str:
    """Write a ratio."""
    if value in ("0", best):
        return "0" if value == "0" else "1"
    return value if best == "1" else f"{enclosed(value)} / {enclosed(best)}"


def _average_precision(
    measure: dict[str, Any], run: list[tuple[str, float]], worth: dict[str, Decimal]
) -> str | None:
    """Return the mean of the precision at each relevant document that was returned."""
    order = [doc for doc, _ in sorted(run, key=lambda pair: -pair[1])]
    at = [rank for rank, doc in enumerate(order, 1) if worth[doc] > 0]
    if measure["denominator"] != "found":
        raise NotImplementedError(measure)
    precisions = [number(Fraction(place, rank)) for place, rank in enumerate(at, 1)]
    if not at:
        return None if not any(gain > 0 for gain in worth.values()) else "0"
    text = total(precisions)
    return text if len(at) == 1 else f"({text}) / {len(at)}"


def of_case(case: dict[str, Any], choices: dict[str, Any]) -> dict[str, str | None]:
    """Return the closed form of each query that counts."""
    measure = case["measure"]
    judged = [query for query in case["queries"] if query["judged"] is not None]
    known = [grade for query in judged for _, grade in query["judged"]]
    if choices["negative"] == "unjudged":
        known = [grade for grade in known if grade >= 0]
    values: dict[str, str | None] = {}
    for query in judged:
        missing = query["run"] is None
        if missing and choices["missing"] == "error":
            raise RefusedError(f"query {query['query']!r} is missing")
        if missing and choices["missing"] == "skip":
            continue
        value = of_query(measure, choices, query, min(known, default=None))
        of_run = "retrieved" in (choices["ideal"], choices["depth"])
        if missing and measure["name"] != "IDCG" and (value is not None or of_run):
            value = "0"  # what is missing decides before what is empty, where that is not known
        if value is None:
            if choices["empty"] == "error":
                raise RefusedError(f"query {query['query']!r} has no relevant document")
            if choices["empty"] == "skip":
                continue
            value = {"zero": "0", "one": "1", "nan": None}[choices["empty"]]
        values[query["query"]] = value
    return values


def mean_of(values: dict[str, str | None]) -> str | None:
    """Return the mean over the queries as a closed form."""
    texts = list(values.values())
    known = [text for text in texts if text is not None]
    if not texts or len(known) < len(texts):
        return None
    if len(known) == 1:
        return known[0]
    text = total(known)
    if text in ("0", str(len(known))):
        return "0" if text == "0" else "1"
    whole = sum(map(int, known)) if all(re.fullmatch("-?[0-9]+", each) for each in known) else None
    return f"({text}) / {len(known)}" if whole is None else number(Fraction(whole, len(known)))


# What is written.


def outcome(case: dict[str, Any], choices: dict[str, Any]) -> object:
    """Return the value of a case under some choices, to compare it: a number, None or "refused"."""
    try:
        text = mean_of(of_case(case, choices))
    except RefusedError:
        return "refused"
    return None if text is None else decimal(evaluated(text))


def named(case: dict[str, Any], choices: dict[str, Any]) -> dict[str, Any]:
    """Return the choices on which the value depends: that another answer would change."""
    here = outcome(case, choices)

    def matters(**changed: Any) -> bool:
        return outcome(case, choices | changed) != here

    found = {
        name
        for name, answers in ANSWERS.items()
        if any(matters(**{name: answer}) for answer in answers)
    }
    for pair in TOGETHER:
        answers = itertools.product(*(ANSWERS[name] for name in pair))
        if not found & set(pair) and any(
            matters(**dict(zip(pair, both, strict=True))) for both in answers
        ):
            found |= set(pair)
    return {name: choices[name] for name in ANSWERS if name in found}


def expected(case: dict[str, Any], choices: dict[str, Any]) -> dict[str, Any]:
    """Return what a case must give."""
    try:
        values = of_case(case, choices)
    except RefusedError as refused:
        return {"error": str(refused)}
    text = mean_of(values)
    if text is None:
        return {"value": None}
    return {
        "value": plain(evaluated(text)),
        "decimal": decimal(evaluated(text)),
        "expression": text,
        "queries": {query: plain(evaluated(str(each))) for query, each in values.items()},
    }


def decimal(value: Decimal) -> str:
    """Write a number with as many digits as are told."""
    context = Context(prec=DIGITS)
    return format(context.normalize(context.plus(value)), "f")


def plain(value: Decimal) -> float | int:
    """Return the double that is nearest; a whole number as such."""
    rounded = Decimal(decimal(value))
    return int(rounded) if rounded == rounded.to_integral_value() else float(value)


def complete(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case with its choices and what it must give."""
    choices = USUAL | case["choices"]
    case = case | {"choices": named(case, choices)}
    return case | {"expect": expected(case, choices)}


def written(title: str, about: str, cases: Iterable[dict[str, Any]]) -> str:
    """Return a file as text: a line for each part of a case."""

    def line(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    def listed(case: dict[str, Any]) -> str:
        parts = []
        for key, value in case.items():
            if key == "queries":
                rows = ",\n".join(f"        {line(query)}" for query in value)
                parts.append(f'      "queries": [\n{rows}\n      ]')
            else:
                parts.append(f"      {line(key)}: {line(value)}")
        return "    {\n" + ",\n".join(parts) + "\n    }"

    body = ",\n".join(listed(case) for case in cases)
    head = f'  "format": {FORMAT},\n  "title": {line(title)},\n  "about": {line(about)},\n'
    return f'{{\n{head}  "cases": [\n{body}\n  ]\n}}\n'


def files() -> dict[str, str]:
    """Return the text of every file, by its name."""
    sys.path.insert(0, str(HERE))
    try:
        from conformance_cases import TOPICS
    finally:
        sys.path.remove(str(HERE))
    return {
        f"{name}.json": written(topic["title"], topic["about"], map(complete, topic["cases"]))
        for name, topic in TOPICS.items()
    }


def main() -> None:
    """Write all files."""
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
