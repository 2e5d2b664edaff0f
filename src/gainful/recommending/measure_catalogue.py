"""The catalogue of measures beyond relevance, for recommenders.

This is the single place for their names, parameters, defaults, definitions, ranges and
citations: the notation, the command line, the help and the documentation read it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gainful.arguments import is_writable
from gainful.errors import MeasureError
from gainful.measures.measure_family import (
    ALWAYS,
    AMOUNT,
    MEAN,
    RUN,
    SHARE,
    Example,
    Family,
    Parameter,
    Spelling,
)
from gainful.measures.name_suggestions import suggest_recommendation_measure
from gainful.measures.parameters import REL, number, word
from gainful.measures.written_numbers import Range
from gainful.message_texts import shown

ITEMS, VECTORS, HISTORY, JUDGMENTS = "items", "vectors", "history", "judgments"
"""What a measure may need besides a run."""
_NONE = "none"


@dataclass(frozen=True, slots=True)
class RecommendationExample(Example):
    """A value that a reader can check by hand; a test computes each.

    `lists` are the items of each user in rank order, a letter each; `given` is what else the
    measure needs, as `evaluate_recommendations` takes it.
    """

    lists: tuple[str, ...] = ()
    given: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        shown_lists = ", ".join(self.lists)
        given = "".join(f"; {name} {_written(value)}" for name, value in self.given.items())
        return f"lists {shown_lists}{given}: {self.measure} = {self.working} = {self.value}"


def _written(given: object) -> str:
    """Write what an example is given: items, and what each item or each user has."""
    if not isinstance(given, Mapping):
        return ", ".join(given)  # type: ignore[arg-type]
    return ", ".join(f"{key} {''.join(value)}" for key, value in given.items())


def _example(
    measure: str, lists: str, working: str, value: str, **given: object
) -> RecommendationExample:
    return RecommendationExample(
        measure, (), working, value, lists=tuple(lists.split()), given=given
    )


def _once(**lists: str) -> dict[str, dict[str, int]]:
    """Write interactions or judgments: the items of each user, once each."""
    return {user: dict.fromkeys(items, 1) for user, items in lists.items()}


def _read_text(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value == _NONE):
        return None
    if not isinstance(value, str) or not value.strip() or not is_writable(value):
        raise MeasureError("measure", "a text as parameter", shown(value))
    return value.strip().strip("'\"") or None


def _write_text(value: str | None) -> str:
    return _NONE if value is None else value


def _named(name: str, values: str) -> Parameter:
    return Parameter(name, None, values, _read_text, _write_text)


BY = _named(
    "by",
    "a column of the items, which holds their categories; the only one if it is not named",
)
BY_OR_VECTORS = _named(
    "by",
    "a column of the items, which holds their categories, or `vectors`; what is given if it is not named",
)
SEGMENT = _named(
    "segment",
    "one value of the column; if it is not named, each value is a measure of its own",
)
COUNT = word(
    "count",
    {
        "once": "a user's interactions with an item count as one, however many they are",
        "all": "each of them counts",
    },
)
UNEXPECTED = word(
    "unexpected",
    {
        "list": "an item counts 0 if it is among the k that are expected, else 1. The expected ones are those "
        "in the list of `expected` for the user, or the k that most users in the history have. Of equally popular "
        "items, those with the larger ids are expected",
        "rank": "an item at rank i counts max(0, p(i) − p(r)), where p(i) = (n + 1 − i)/n of n items in the "
        "catalogue. Its popularity has place r among all different ones; p(r) is 0 if the history lacks it",
    },
)
ALPHA = number(
    "alpha",
    0.01,
    "a number between 0 and 1: how much of p is mixed into q, so that no term is infinite",
    Range(0, 1, above=True, below=True),
)

_COVERAGE = (
    "M. Ge, C. Delgado-Battenfeld and D. Jannach, Beyond accuracy: evaluating recommender systems by "
    "coverage and serendipity, RecSys 2010"
)
_GINI = (
    "D. Fleder and K. Hosanagar, Blockbuster culture's next rise or fall: the impact of recommender "
    "systems on sales diversity, Management Science 2009; G. Shani and A. Gunawardana, Evaluating "
    "recommendation systems, Recommender Systems Handbook 2011"
)
_ENTROPY = (
    "G. Shani and A. Gunawardana, Evaluating recommendation systems, Recommender Systems Handbook "
    "2011"
)
_ZHOU = (
    "T. Zhou, Z. Kuscsik, J.-G. Liu, M. Medo, J. Wakeling and Y.-C. Zhang, Solving the apparent "
    "diversity-accuracy dilemma of recommender systems, PNAS 2010"
)
_VARGAS = (
    "S. Vargas and P. Castells, Rank and relevance in novelty and diversity metrics for recommender "
    "systems, RecSys 2011"
)
_POPULARITY = (
    "H. Yin, B. Cui, J. Li, J. Yao and C. Chen, Challenging the long tail recommendation, VLDB 2012"
)
_DIVERSITY = (
    "C.-N. Ziegler, S. McNee, J. Konstan and G. Lausen, Improving recommendation lists through topic "
    "diversification, WWW 2005"
)
_RANKS = (
    "T. Murakami, K. Mori and R. Orihara, Metrics for evaluating the serendipity of recommendation "
    "lists, JSAI 2007"
)
_HITS = (
    "M. Deshpande and G. Karypis, Item-based top-N recommendation algorithms, ACM TOIS 2004; "
    "P. Cremonesi, Y. Koren and R. Turrin, Performance of recommender algorithms on top-N "
    "recommendation tasks, RecSys 2010, for the segments"
)
_CALIBRATION = "H. Steck, Calibrated recommendations, RecSys 2018"
_CATALOGUE_OF = "items, or history, whose items are then the catalogue"
_SHOWN = "x_i is the number of lists in which item i stands down to rank k"

CATALOGUE: tuple[Family, ...] = (
    Family(
        name="Coverage",
        title="Catalogue coverage",
        definition=(
            "Coverage@k = the share of the n items of the catalogue that stand in at least one list "
            "down to rank k"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_COVERAGE,
        example=_example("Coverage@2", "ab ac", "3/4", "0.75", items=("a", "b", "c", "d")),
        parameters=(),
        spellings=tuple(
            Spelling(name) for name in ("catalogue_coverage", "catalog_coverage", "item_coverage")
        ),
        aggregate=RUN,
        needs=_CATALOGUE_OF,
    ),
    Family(
        name="Gini",
        title="Gini index of exposure",
        definition=(
            "Gini@k = Σ_{i=1..n} (2i − n − 1)·x_i / (n·Σ x), with the x_i in ascending order. Here "
            f"{_SHOWN}. The catalogue has n items, and x_i is 0 for those that are never shown"
        ),
        range="0, all items are shown as often, to (n − 1)/n, one item has it all",
        citation=_GINI,
        example=_example(
            "Gini@2",
            "ab ac",
            "(−3·0 − 1·1 + 1·1 + 3·2) / (4·4)",
            "0.375",
            items=("a", "b", "c", "d"),
        ),
        parameters=(),
        spellings=(Spelling("gini_index"), Spelling("giniindex")),
        aggregate=RUN,
        needs=_CATALOGUE_OF,
    ),
    Family(
        name="Entropy",
        title="Entropy of exposure",
        definition=f"Entropy@k = −Σ_i p_i·log2(p_i), p_i = x_i / Σ x. Here {_SHOWN}",
        range="0, one item has it all, to log2(n), all n items of the catalogue are shown as often",
        citation=_ENTROPY,
        example=_example(
            "Entropy@2", "ab ac", "1/2·1 + 1/4·2 + 1/4·2", "1.5", items=("a", "b", "c", "d")
        ),
        parameters=(),
        spellings=(Spelling("shannon_entropy"), Spelling("shannonentropy")),
        aggregate=RUN,
        needs=_CATALOGUE_OF,
    ),
    Family(
        name="Personalisation",
        title="Personalisation, or inter-list diversity",
        definition=(
            "Personalisation@k = 1 − the mean of |A∩B| / √(|A|·|B|) over all pairs of users, where A "
            "and B are their lists down to rank k. For lists of k items, it is the mean share of items "
            "not in common"
        ),
        range="0, all lists have the same items, to 1, no two lists share any",
        citation=_ZHOU,
        example=_example("Personalisation@2", "ab ac", "1 − 1/√(2·2)", "0.5"),
        parameters=(),
        spellings=(Spelling("personalization"), Spelling("inter_list_diversity")),
        aggregate=RUN,
    ),
    Family(
        name="Novelty",
        title="Novelty, mean self-information",
        definition=(
            "Novelty@k = the mean of −log2(p_i) over the items of a list down to rank k. Here p_i is "
            "the share of the users in the history that have item i. With count=all, it is the share "
            "that item i has of all interactions. An item that the history lacks counts as if one "
            "user had it once"
        ),
        range="0, every user has every item, or more",
        ends=AMOUNT,
        citation=f"{_ZHOU}; {_VARGAS}",
        example=_example(
            "Novelty@2", "ab", "(log2(2/2) + log2(2/1)) / 2", "0.5", history=_once(u="ab", v="a")
        ),
        parameters=(COUNT,),
        spellings=(Spelling("self_information"), Spelling("MIUF")),
        needs="history",
    ),
    Family(
        name="Popularity",
        title="Average popularity",
        definition=(
            "Popularity@k = the mean popularity of the items of a list down to rank k. That of an item "
            "is the number of users in the history that have it. With count=all, it is the number of "
            "interactions with it. An item that the history lacks has popularity 0"
        ),
        range="0 or more",
        ends=AMOUNT,
        citation=_POPULARITY,
        example=_example("Popularity@2", "ab", "(2 + 1) / 2", "1.5", history=_once(u="ab", v="a")),
        parameters=(COUNT,),
        spellings=(Spelling("ARP"), Spelling("average_popularity")),
        needs="history",
    ),
    Family(
        name="ILD",
        title="Intra-list diversity",
        definition=(
            "ILD@k = the mean distance over all pairs of items of a list down to rank k. The distance "
            "is 1 − |A∩B| / |A∪B|, where A and B are the categories of the two. By vectors, it is 1 − "
            "their cosine, which is 0 where one of them is all zeros"
        ),
        range="0, all items are alike, to 1; by vectors to 2",
        ends=(0.0, 2.0),
        citation=f"{_DIVERSITY}; {_VARGAS}",
        example=_example(
            "ILD@3", "abc", "(1 + 1 + 0) / 3", "0.6667", items={"a": "x", "b": "y", "c": "y"}
        ),
        parameters=(BY_OR_VECTORS,),
        spellings=(Spelling("intra_list_diversity"), Spelling("intralistdiversity")),
        needs="items with categories, or vectors",
    ),
    Family(
        name="Serendipity",
        title="Serendipity",
        definition=(
            "Serendipity@k = the mean of relevant·unexpected over the items of a list down to rank k. "
            "The first is 1 for a relevant item, else 0; the second is how unexpected it is"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=f"{_COVERAGE}; {_RANKS}, with unexpected=rank",
        example=_example(
            "Serendipity@2",
            "ab",
            "(1·0 + 1·1) / 2, since a and c are expected",
            "0.5",
            history=_once(u="ac", v="ac", w="b"),
            judgments=_once(u1="ab"),
        ),
        parameters=(UNEXPECTED, REL),
        cutoff=ALWAYS,
        needs="judgments, and history or, instead, a run of what is expected",
    ),
    Family(
        name="HitRate",
        title="Hit rate by segment of items",
        definition=(
            "HitRate(segment=s)@k = 1 if a relevant item of segment s stands in the list down to rank "
            "k, else 0. The mean is over the users with a relevant item in that segment"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_HITS,
        example=_example(
            "HitRate(segment=tail)@2",
            "ab",
            "0, since c alone is relevant in the tail",
            "0",
            items={"a": "head", "b": "tail", "c": "tail"},
            judgments=_once(u1="ac"),
        ),
        parameters=(BY, SEGMENT, REL),
        spellings=(Spelling("hit_rate"), Spelling("HR")),
        needs="items with categories, and judgments",
    ),
    Family(
        name="Miscalibration",
        title="Miscalibration, the divergence of categories from a user's history",
        definition=(
            "Miscalibration@k = Σ_c p_c·log2(p_c / ((1 − α)·q_c + α·p_c)). Here p_c is the share of "
            "category c in the user's history, and q_c in the list down to rank k. An item of several "
            "categories counts in equal parts for each"
        ),
        range="0, the shares are the same, to log2(1/α)",
        ends=AMOUNT,
        citation=_CALIBRATION,
        example=_example(
            "Miscalibration(alpha=0.5)@2",
            "ab",
            "1/2·log2(0.5/0.75) + 1/2·log2(0.5/0.25)",
            "0.2075",
            items={"a": "x", "b": "x", "c": "y"},
            history=_once(u1="ac"),
        ),
        parameters=(BY, ALPHA, COUNT),
        spellings=(Spelling("C_KL"), Spelling("calibration"), Spelling("KL")),
        needs="items with categories, and history",
    ),
)
"""In the order in which they are listed: those of the run as a whole, then those of users."""


def recommendation_catalogue() -> tuple[Family, ...]:
    """Return every measure beyond relevance, with its definition, range and citation.

    >>> [family.name for family in recommendation_catalogue()][:4]
    ['Coverage', 'Gini', 'Entropy', 'Personalisation']
    """
    return CATALOGUE


def recommendation_family(name: object) -> Family:
    """Return the entry of a measure, by its name in any case, or as other tools write it.

    >>> recommendation_family("novelty").name, recommendation_family("catalog-coverage").name
    ('Novelty', 'Coverage')
    """
    known = {
        _plain(spelled): family
        for family in CATALOGUE
        for spelled in (family.name, *(spelling.name for spelling in family.spellings))
    }
    found = known.get(_plain(name)) if isinstance(name, str) else None
    if found is None:
        raise MeasureError(
            "measure",
            "a measure of recommendations",
            shown(name),
            suggest_recommendation_measure(name, CATALOGUE),
        )
    return found


def has_users(family: Family) -> bool:
    """Return whether every user has a value, and not the run alone."""
    return family.aggregate == MEAN


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")
