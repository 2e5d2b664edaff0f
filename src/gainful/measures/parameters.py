"""The parameters of the families, each defined once."""

from collections.abc import Callable, Mapping

from gainful.errors import MeasureError, did_you_mean, shown
from gainful.measures import discount, gain
from gainful.measures.family import Parameter
from gainful.measures.number import read_number, write_number

# So that 2^max and the square of beta are float64.
_LARGEST_EXPONENT, _LARGEST_ROOT = 1000, 1e100


def _number(
    name: str, default: float, values: str, holds: Callable[[float], bool] | None = None
) -> Parameter:
    """Make a parameter that is a number of some range."""

    def read(value: object) -> float:
        number = read_number(value, where=name, expected=values)
        if holds is not None and not holds(number):
            raise MeasureError(name, values, shown(value))
        return number

    return Parameter(name, default, values, read, write_number)


def _word(name: str, answers: Mapping[str, str]) -> Parameter:
    """Make a parameter that is one of some words, the default first."""

    def read(value: object) -> str:
        if isinstance(value, str) and value in answers:
            return value
        expected = " or ".join(answers)
        raise MeasureError(name, expected, shown(value), did_you_mean(value, answers))

    values = "; ".join(f"`{answer}` {meaning}" for answer, meaning in answers.items())
    return Parameter(name, next(iter(answers)), values, read, str)


GAIN = Parameter(
    "gain",
    gain.gain("linear"),
    "; ".join(f"`{name}` {meaning}" for name, meaning in gain.FORMS.items())
    + "; a table `{grade: gain}`; in Python a function of the grade",
    gain.gain,
    str,
)
DISCOUNT = Parameter(
    "discount",
    discount.discount("log"),
    "; ".join(f"`{name}` {meaning}" for name, meaning in discount.FORMS.items()),
    discount.discount,
    str,
)
BASE = Parameter(
    "base",
    discount.DEFAULT_BASE,
    "any number above 1, or `e`: the base b of the discounts log and jarvelin",
    discount.base,
    write_number,
)
REL = _number("rel", 1.0, "a grade: documents of this grade or a higher one are relevant")
BETA = _number(
    "beta",
    1.0,
    "a number from 0, at most 1e100: how much more recall counts than precision",
    lambda b: 0 <= b <= _LARGEST_ROOT,
)
Q_BETA = _number(
    "beta", 1.0, "a number from 0: how much the cumulated gain counts", lambda b: b >= 0
)
DENOMINATOR = _word(
    "denominator",
    {
        "R": "all relevant documents",
        "min": "as many of them as a list down to the cutoff can hold, min(k, R)",
    },
)
NORM = _word(
    "norm",
    {
        "ideal": "DCG / IDCG",
        "minmax": "(DCG − WDCG) / (IDCG − WDCG): from 0, the worst, to 1. WDCG is the lowest DCG that any "
        "list of judged documents could have: negative gains in ascending order, others left out",
    },
)
IDEAL = _word(
    "ideal",
    {
        "judged": "of all judged documents of the query, retrieved or not",
        "retrieved": "of the documents that the run returns, at any rank: all there is for a tool that is given lists alone",
    },
)
DEPTH = _word(
    "depth",
    {
        "cutoff": "the ideal is cut at the cutoff k",
        "all": "it is not cut",
        "retrieved": "it is cut at the number of documents retrieved, and at k where that is less",
    },
)
RECALL = _number("recall", 0.0, "a share from 0 to 1: the recall to reach", lambda r: 0 <= r <= 1)
MULT = _number("mult", 1.0, "a number above 0: how many times R documents", lambda m: m > 0)
FLOOR = _number("floor", 1e-5, "a number above 0: what lower values count as", lambda f: f > 0)
PERSISTENCE = _number(
    "p",
    0.8,
    "a number between 0 and 1: the chance to look at the next document",
    lambda p: 0 < p < 1,
)
COMPAT_P = _number("p", 0.95, PERSISTENCE.values, lambda p: 0 < p < 1)
ERR_MAX = _number(
    "max",
    4.0,
    "a number above 0, at most 1000: the highest grade of the scale, above which none may be",
    lambda m: 0 < m <= _LARGEST_EXPONENT,
)
TARGET = _number("T", 1.0, "a number above 0: how much gain the user looks for", lambda t: t > 0)
PATIENCE = _number(
    "K",
    10.0,
    "a whole number from 1: after how many documents the user gives up",
    lambda k: k >= 1 and k == int(k),
)


def _read_scale(value: object) -> str | float:
    if isinstance(value, str) and value in ("none", "query"):
        return value
    expected = "none, query, or a number above 0"
    number = read_number(value, where="max", expected=expected)
    if number <= 0:
        raise MeasureError("max", expected, shown(value))
    return number


SCALE = Parameter(
    "max",
    "none",
    "`none` a document is worth 1 if it is relevant, else 0; a number: the grade that is worth 1, "
    "above which none may be, others as much of it as they are; `query` the same with the highest grade of the query, "
    "where that is above 1",
    _read_scale,
    lambda value: value if isinstance(value, str) else write_number(value),
)
UTILITY = (
    _number("a", 1.0, "what a relevant document retrieved is worth"),
    _number("b", -1.0, "what another document retrieved is worth"),
    _number("c", 0.0, "what a relevant document not retrieved is worth"),
    _number("d", 0.0, "what another document not retrieved is worth"),
    _number("docs", 0.0, "how many documents there are, which d needs", lambda n: n >= 0),
)
