"""The parameters of the families, each defined once."""

from collections.abc import Mapping
from dataclasses import dataclass

from gainful.arguments import choice
from gainful.errors import MeasureError
from gainful.measures import discount, gain, layout
from gainful.measures.measure_family import GRADES, MEAN, Family, Parameter
from gainful.measures.written_numbers import Range, read_number, write_number
from gainful.message_texts import shown

# Limits that keep 2^max and the square of beta within float64.
_LARGEST_EXPONENT, _LARGEST_ROOT = 1000, 1e100


@dataclass(frozen=True, slots=True)
class ReadNumber:
    """Reads a number within a range."""

    name: str
    values: str
    allowed: Range

    def __call__(self, value: object) -> float:
        """Return the number, or raise an error with the expected range."""
        number = read_number(value, where=self.name, expected=self.values)
        if not self.allowed(number):
            raise MeasureError(self.name, self.values, shown(value))
        return number


@dataclass(frozen=True, slots=True)
class ReadWord:
    """Reads one of several words."""

    name: str
    answers: tuple[str, ...]

    def __call__(self, value: object) -> str:
        """Return the word, or raise an error with the choices."""
        return choice(value, self.name, self.answers, error=MeasureError)


def number(name: str, default: float, values: str, allowed: Range | None = None) -> Parameter:
    """Make a parameter that is a number within a range."""
    read = ReadNumber(name, values, Range() if allowed is None else allowed)
    return Parameter(name, default, values, read, write_number)


def word(name: str, answers: Mapping[str, str]) -> Parameter:
    """Make a parameter that is one of several words, the default first."""
    values = ". ".join(f"`{answer}`: {meaning}" for answer, meaning in answers.items())
    words = tuple(answers)
    return Parameter(name, words[0], values, ReadWord(name, words), str)


_USUAL_INNER = "nDCG"


@dataclass(frozen=True, slots=True)
class ReadInner:
    """Reads the measure that another one, `name`, is computed from: one of grades that is averaged over queries."""

    name: str

    def __call__(self, value: object) -> object:
        """Return the measure, None for the usual one, or raise an error with an example."""
        if value is None or value == _USUAL_INNER:
            return None
        family = getattr(value, "family", None)
        if not isinstance(family, Family):
            expected = f"a measure in the brackets, as in {self.name}(nDCG@10)"
            raise MeasureError(self.name, expected, shown(value))
        if family.needs != GRADES:
            raise MeasureError(self.name, "a measure of ranks and grades", f"'{value}'")
        if family.aggregate != MEAN:
            expected = "a measure that is averaged over queries"
            raise MeasureError(self.name, expected, f"the {family.aggregate}")
        return value


def _write_inner(value: object) -> str:
    return _USUAL_INNER if value is None else str(value)


def inner_of(name: str) -> Parameter:
    """Make the parameter that holds the measure from which the measure `name` is computed."""
    values = "any measure that is averaged over queries"
    return Parameter(INNER, None, values, ReadInner(name), _write_inner)


INNER = "measure"
"""The name of the parameter that is itself a measure."""
GAIN = Parameter(
    "gain",
    gain.gain("linear"),
    ". ".join(f"`{name}`: {form.meaning}" for name, form in gain.FORMS.items())
    + ". A table `{grade: gain}`, optionally with `else: linear` if the gain of all other grades is the grade itself. In "
    "Python, a function of the grade",
    gain.gain,
    str,
)
DISCOUNT = Parameter(
    "discount",
    discount.discount("log"),
    ". ".join(f"`{name}`: {form.meaning}" for name, form in discount.FORMS.items())
    + ". A table by rank: `[1, 0.5, 0.25]`, with 0 at all deeper ranks, or `[1, 0.5, ...]`, whose last entry applies to "
    "all deeper ranks. In Python, a function of an array of ranks",
    discount.discount,
    str,
)
BASE = Parameter(
    "base",
    discount.DEFAULT_BASE,
    f"any number above 1, or `e`: the base b of the discounts {discount.forms_with_base()}",
    discount.base,
    write_number,
)
COLUMNS = Parameter(
    "columns",
    layout.layout(4),
    "a whole number: every row has that many results. A list of one number for each row, such as `[5, 5, 10]`: the page "
    "ends after its last row, unless the list ends in `...`",
    layout.layout,
    str,
)


@dataclass(frozen=True, slots=True)
class ReadDiscount:
    """Reads the discount that the parameter `name` holds."""

    name: str

    def __call__(self, value: object) -> discount.Discount:
        """Return the discount, or raise an error that names the parameter."""
        try:
            return discount.discount(value)
        except MeasureError as problem:
            raise problem.at(self.name) from None


def _discount_of(name: str, line: str) -> Parameter:
    values = f"any discount, applied to the number of the {line}; logarithms have base 2"
    return Parameter(name, discount.discount("log"), values, ReadDiscount(name), str)


ROW, COLUMN = _discount_of("row", "row"), _discount_of("column", "column, from the left")
REL = number("rel", 1.0, "a grade: documents with this grade or a higher one are relevant")
BETA = number(
    "beta",
    1.0,
    "a non-negative number, at most 1e100: how much more recall counts than precision",
    Range(0, _LARGEST_ROOT),
)
Q_BETA = number(
    "beta", 1.0, "a non-negative number: how much weight the cumulated gain has", Range(0)
)
DENOMINATOR = word(
    "denominator",
    {
        "R": "all relevant documents",
        "min": "as many relevant documents as fit above the cutoff, min(k, R)",
    },
)
AP_DENOMINATOR = word(
    "denominator",
    {
        "R": "all relevant documents",
        "min": "as many relevant documents as fit above the cutoff, min(k, R)",
        "found": "the number of relevant documents in the list down to the cutoff, F, so relevant documents that were "
        "not retrieved cost nothing",
    },
)
NORM = word(
    "norm",
    {
        "ideal": "DCG / IDCG",
        "minmax": "(DCG − WDCG) / (IDCG − WDCG): from 0 (the worst list) to 1. WDCG is the lowest DCG that a "
        "list of judged documents can have: only negative gains, in ascending order",
    },
)
IDEAL = word(
    "ideal",
    {
        "judged": "the ideal consists of all judged documents of the query, retrieved or not",
        "retrieved": "the ideal consists of the documents that the run returns, at any rank, as in tools that see only the lists",
    },
)
DEPTH = word(
    "depth",
    {
        "cutoff": "the ideal is cut at the cutoff k",
        "all": "the ideal is not cut",
        "retrieved": "the ideal is cut at the number of documents retrieved, or at k if k is smaller",
    },
)
RECALL = number("recall", 0.0, "a number from 0 to 1: the recall to reach", Range(0, 1))
MULT = number("mult", 1.0, "a number above 0: the multiple of R", Range(0, above=True))
FLOOR = number(
    "floor", 1e-5, "a number above 0: lower values are raised to it", Range(0, above=True)
)
PERSISTENCE = number(
    "p",
    0.8,
    "a number between 0 and 1: the probability that the user looks at the next document",
    Range(0, 1, above=True, below=True),
)
COMPAT_P = number("p", 0.95, PERSISTENCE.values, Range(0, 1, above=True, below=True))
ERR_MAX = number(
    "max",
    4.0,
    "a number above 0, at most 1000: the highest grade of the scale, which no grade may exceed",
    Range(0, _LARGEST_EXPONENT, above=True),
)
TARGET = number(
    "T", 1.0, "a number above 0: how much gain the user is looking for", Range(0, above=True)
)
PATIENCE = number(
    "K",
    10.0,
    "a positive integer: the number of documents after which the user gives up",
    Range(1, whole=True),
)


USER = word(
    "user",
    {
        "RBP": "the user modelled by RBP, with persistence p",
        "INSQ": "the user modelled by INSQ, who is looking for a gain of T",
        "INST": "the user modelled by INST, who is looking for a gain of T and adapts to what is found",
        "BPM": "the user modelled by BPM, who stops at a gain of T, or after K documents",
        "SDCG": "the user modelled by SDCG@K, who looks at rank i with probability d_i/d_1, where d_i is the discount, so "
        "that any table of probabilities is possible",
        "P": "the user modelled by P@K, who looks at K documents",
    },
)


def _read_scale(value: object) -> str | float:
    if isinstance(value, str) and value in ("none", "query"):
        return value
    expected = "none, query, or a number above 0"
    number = read_number(value, where="max", expected=expected)
    if number <= 0:
        raise MeasureError("max", expected, shown(value))
    return number


def _write_scale(value: str | float) -> str:
    return value if isinstance(value, str) else write_number(value)


SCALE = Parameter(
    "max",
    "none",
    "`none`: a document is worth 1 if it is relevant, else 0. A number: the highest grade, which is worth 1; lower "
    "grades are worth proportionally less, and higher ones are rejected. `query`: the same, but with the query's "
    "highest grade, if that is above 1",
    _read_scale,
    _write_scale,
)
UTILITY = (
    number("a", 1.0, "the worth of a relevant document that was retrieved"),
    number("b", -1.0, "the worth of any other document that was retrieved"),
    number("c", 0.0, "the worth of a relevant document that was not retrieved"),
    number("d", 0.0, "the worth of any other document that was not retrieved"),
    number("docs", 0.0, "the number of documents in the collection, required by d", Range(0)),
)
