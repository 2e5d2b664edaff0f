"""The catalogue: one entry for each family of measures.

This is the single place for names, parameters, defaults, definitions, ranges and
citations: the notation, the command line, the help and the documentation read it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gainful.errors import MeasureError, did_you_mean
from gainful.measures import discount, gain
from gainful.measures.number import write_number

TREC_EVAL_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a family: its name, default, values, and how to read and write it."""

    name: str
    default: Any
    values: str
    read: Callable[[object], Any]
    write: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Spelling:
    """How another tool writes a family: read by the notation, never printed.

    `cutoffs` are the ones that the tool means when it gives none.
    """

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    cutoffs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """A catalogue entry.

    `needs_run` is False where the value depends on the judgments alone, `normalised` is
    True where the value is undefined for a query without positive gain (policy `empty`).
    """

    name: str
    title: str
    definition: str
    range: str
    citation: str
    example: str
    parameters: tuple[Parameter, ...]
    spellings: tuple[Spelling, ...] = ()
    needs_run: bool = True
    normalised: bool = False

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name, or say what there is."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        raise MeasureError(
            self.name, "a parameter of this measure", repr(name), did_you_mean(name, names)
        )


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
    2.0,
    "any number above 1, or `e`: the base b of the discounts log and jarvelin",
    discount.base,
    write_number,
)

_CUMULATED = (
    "K. Järvelin and J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, "
    "ACM Transactions on Information Systems 20(4), 2002"
)
_LOG_DISCOUNT = (
    "C. Burges and others, Learning to rank using gradient descent, ICML 2005, "
    "for the discount 1/log2(i+1) and the gain 2^g − 1"
)

CATALOGUE: tuple[Family, ...] = (
    Family(
        name="CG",
        title="Cumulated gain",
        definition="CG@k = Σ_{i=1..k} g_i, the sum of the gains of the first k documents",
        range="any real number; 0 or more without negative grades",
        citation=_CUMULATED,
        example="grades 3,2,3,0,1,2: CG@6 = 3+2+3+0+1+2 = 11",
        parameters=(GAIN,),
        spellings=(Spelling("cg"),),
    ),
    Family(
        name="DCG",
        title="Discounted cumulated gain",
        definition="DCG@k = Σ_{i=1..k} g_i · d_i, each gain times the discount of its rank",
        range="any real number; 0 or more without negative grades",
        citation=f"{_CUMULATED}; {_LOG_DISCOUNT}",
        example="grades 3,2,3,0,1,2: DCG@6 = 3 + 1.262 + 1.5 + 0 + 0.387 + 0.712 = 6.861",
        parameters=(GAIN, DISCOUNT, BASE),
        spellings=(
            Spelling("dcg"),
            Spelling("dcg_cut"),
            Spelling("dcg_burges", {"gain": "exp2"}),
        ),
    ),
    Family(
        name="IDCG",
        title="Ideal discounted cumulated gain",
        definition=(
            "IDCG@k = the DCG@k of the ideal: all judged documents of the query, retrieved or "
            "not, by gain descending, cut at k, negative gains left out"
        ),
        range="0 or more",
        citation=_CUMULATED,
        example="judged grades 3,2,3,0,1,2,3,2: IDCG@6 = the DCG@6 of 3,3,3,2,2,2 = 8.740",
        parameters=(GAIN, DISCOUNT, BASE),
        spellings=(Spelling("idcg"),),
        needs_run=False,
    ),
    Family(
        name="nDCG",
        title="Normalised discounted cumulated gain",
        definition="nDCG@k = DCG@k / IDCG@k; 1 for a perfect order",
        range="at most 1; 0 or more without negative grades",
        citation=f"{_CUMULATED}; {_LOG_DISCOUNT}",
        example=(
            "grades 3,2,3,0,1,2, two more judged documents with grades 3 and 2: "
            "nDCG@6 = 6.861 / 8.740 = 0.785"
        ),
        parameters=(GAIN, DISCOUNT, BASE),
        spellings=(
            Spelling("ndcg"),
            Spelling("ndcg_cut", cutoffs=TREC_EVAL_CUTOFFS),
            Spelling("ndcg_burges", {"gain": "exp2"}),
        ),
        normalised=True,
    ),
)


def catalogue() -> tuple[Family, ...]:
    """Return every family of measures with its definition, range, citation and parameters.

    >>> [family.name for family in catalogue()]
    ['CG', 'DCG', 'IDCG', 'nDCG']
    """
    return CATALOGUE


def family(name: object) -> Family:
    """Return the catalogue entry of a family, by its name in any case.

    >>> family("ndcg").title
    'Normalised discounted cumulated gain'
    """
    for entry in CATALOGUE:
        if entry.name.casefold() == str(name).casefold():
            return entry
    names = [entry.name for entry in CATALOGUE]
    raise MeasureError(
        "measure", "a measure of the catalogue", repr(name), did_you_mean(str(name), names)
    )
