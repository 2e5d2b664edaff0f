"""Measures of recommendations beyond relevance: catalogue, items and past interactions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gainful.arguments import is_writable
from gainful.errors import MeasureError
from gainful.measures import discount
from gainful.measures.measure_family import (
    ALWAYS,
    AMOUNT,
    ITEMS,
    LOWER,
    NEITHER,
    RUN,
    SHARE,
    Example,
    Family,
    Parameter,
    Spelling,
)
from gainful.measures.parameters import REL, number, word
from gainful.measures.written_numbers import Range
from gainful.message_texts import shown

VECTORS = "vectors"
"""The value of `by` that selects vectors instead of a column of the items."""
_NONE = "none"


@dataclass(frozen=True, slots=True)
class RecommendationExample(Example):
    """A value that a reader can check by hand; a test computes each.

    `lists` are the items of each user in rank order, one letter each; `given` contains the other
    arguments of `evaluate_recommendations` that the measure needs.
    """

    lists: tuple[str, ...] = ()
    given: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        shown_lists = ", ".join(self.lists)
        given = "".join(f"; {name} {_written(value)}" for name, value in self.given.items())
        return f"lists {shown_lists}{given}: {self.measure} = {self.working} = {self.value}"


def _written(given: object) -> str:
    """Write an argument of an example: a list of items, or a mapping of items or users."""
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
    """Make interactions or judgments: each user's items, once each."""
    return {user: dict.fromkeys(items, 1) for user, items in lists.items()}


def _read_text(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value == _NONE):
        return None
    if not isinstance(value, str) or not value.strip() or not is_writable(value):
        raise MeasureError("measure", "a string as the parameter", shown(value))
    return value.strip().strip("'\"") or None


def _write_text(value: str | None) -> str:
    return _NONE if value is None else value


def _named(name: str, values: str) -> Parameter:
    return Parameter(name, None, values, _read_text, _write_text)


BY = _named(
    "by",
    "the column of the items that contains their categories; optional if there is only one",
)
BY_OR_VECTORS = _named(
    "by",
    "the column of the items that contains their categories, or `vectors`; optional if only one of these is given",
)
SEGMENT = _named(
    "segment",
    "one value of the column; without it, every value becomes a separate measure",
)
COUNT = word(
    "count",
    {
        "once": "all of a user's interactions with an item count as one",
        "all": "every interaction counts",
    },
)
UNEXPECTED = word(
    "unexpected",
    {
        "list": "an item counts as 0 if it is one of the k expected items, else as 1. The expected items are the user's "
        "list in `expected`, or else the k items that most users in the history have; among equally popular "
        "items, larger ids come first",
        "rank": "an item at rank i counts as max(0, p(i) − p(r)), where p(i) = (n + 1 − i)/n for a catalogue of n "
        "items, and r is the rank of the item's popularity among all distinct values; p(r) is 0 if the item is not "
        "in the history",
    },
)
ALPHA = number(
    "alpha",
    0.01,
    "a number between 0 and 1: the share of p that is mixed into q so that no term is infinite",
    Range(0, 1, above=True, below=True),
)

GROUP = _named(
    "group",
    "one group of items, a value of the column; without it, every group becomes a separate measure",
)
GEOMETRIC, EQUAL = "geometric", "equal"
_OWN_ATTENTION = {
    GEOMETRIC: "a_i = p^(i−1), for a user who continues to the next item with probability p",
    EQUAL: "a_i = 1",
}


def _read_attention(value: object) -> object:
    return value if isinstance(value, str) and value in _OWN_ATTENTION else discount.discount(value)


ATTENTION = Parameter(
    "attention",
    discount.discount("log"),
    ". ".join(f"`{name}`: {meaning}" for name, meaning in _OWN_ATTENTION.items())
    + ". Or any discount of DCG as a_i, with base 2: `log`, `jarvelin` (as in the TREC fair ranking tracks), `reciprocal`, "
    "or a table by rank, such as `[1, 0.6, 0.45]`, estimated from a log",
    _read_attention,
    str,
)
PATIENCE = number(
    "p",
    0.5,
    "a number above 0 and below 1, for attention=geometric",
    Range(0, 1, above=True, below=True),
)
TARGET = word(
    "target",
    {
        "catalogue": "the share of group g among the items of the catalogue",
        "relevant": "its share among the user's relevant items; users without relevant items have no value",
        "equal": "the same for every group",
    },
)
SAMPLES = _named(
    "samples",
    "the separator before the number of a sampled list: with samples=#, the lists q1#1 and q1#2 are two draws for "
    "q1 and give one value (only in `gainful recommend` and `evaluate_recommendations`)",
)
_IN_PARTS = (
    "An item in several groups is split equally among them, and an item in none doesn't count"
)
_SINGH = "A. Singh and T. Joachims, Fairness of exposure in rankings, KDD 2018"
_AWRF = (
    "P. Sapiezynski, W. Zeng, R. Robertson, A. Mislove and C. Wilson, Quantifying the impact of user attention on "
    "fair group representation in ranked lists, WWW companion 2019; M. Ekstrand, G. McDonald, A. Raj and I. Johnson, "
    "Overview of the TREC 2021 fair ranking track, for the divergence"
)
_EE = (
    "F. Diaz, B. Mitra, M. Ekstrand, A. Biega and B. Carterette, Evaluating stochastic rankings with expected "
    "exposure, CIKM 2020"
)
_EXPOSURES = (
    "ε_d is the mean of a_i over the sampled lists of the query, where i is the rank of item d; a_i is 0 below "
    "rank k and in lists that don't show the item"
)
_TARGETS = "ε*_d is Σ_{i=1..min(m, k)} a_i / m for each of the m relevant items, which share the first ranks equally, and 0 for others"

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
_CATALOGUE_OF = "items, or a history, whose items then form the catalogue"
_SHOWN = "x_i is the number of lists that contain item i down to rank k"

FAMILIES = (
    Family(
        name="Coverage",
        title="Catalogue coverage",
        definition=(
            "Coverage@k = the share of the n items of the catalogue that appear in at least one list "
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
        needs=ITEMS,
        requires=_CATALOGUE_OF,
    ),
    Family(
        name="Gini",
        better=LOWER,
        title="Gini index of exposure",
        definition=(
            "Gini@k = Σ_{i=1..n} (2i − n − 1)·x_i / (n·Σ x), with the x_i in ascending order. Here "
            f"{_SHOWN}. The catalogue has n items, and x_i is 0 for items that are never shown"
        ),
        range="from 0 (all items are shown equally often) to (n − 1)/n (only one item is shown)",
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
        needs=ITEMS,
        requires=_CATALOGUE_OF,
    ),
    Family(
        name="Entropy",
        title="Entropy of exposure",
        definition=f"Entropy@k = −Σ_i p_i·log2(p_i), where p_i = x_i / Σ x. Here {_SHOWN}",
        range="from 0 (only one item is shown) to log2(n) (all n items of the catalogue are shown equally often)",
        citation=_ENTROPY,
        example=_example(
            "Entropy@2", "ab ac", "1/2·1 + 1/4·2 + 1/4·2", "1.5", items=("a", "b", "c", "d")
        ),
        parameters=(),
        spellings=(Spelling("shannon_entropy"), Spelling("shannonentropy")),
        aggregate=RUN,
        needs=ITEMS,
        requires=_CATALOGUE_OF,
    ),
    Family(
        name="Personalisation",
        needs=ITEMS,
        title="Personalisation, or inter-list diversity",
        definition=(
            "Personalisation@k = 1 − the mean of |A∩B| / √(|A|·|B|) over all pairs of users, where A "
            "and B are their lists down to rank k. If all lists have k items, this is the mean share of items "
            "that two lists don't have in common"
        ),
        range="from 0 (all lists have the same items) to 1 (no two lists share an item)",
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
            "Novelty@k = the mean of −log2(p_i) over the items in a list down to rank k. Here p_i is "
            "the share of users in the history who have item i. With count=all, p_i is item i's share "
            "of all interactions. An item that is not in the history counts as if it "
            "had one interaction by one user"
        ),
        range="0 or more; 0 if every user has every item",
        ends=AMOUNT,
        citation=f"{_ZHOU}; {_VARGAS}",
        example=_example(
            "Novelty@2", "ab", "(log2(2/2) + log2(2/1)) / 2", "0.5", history=_once(u="ab", v="a")
        ),
        parameters=(COUNT,),
        spellings=(Spelling("self_information"), Spelling("MIUF")),
        needs=ITEMS,
        requires="history",
    ),
    Family(
        name="Popularity",
        better=NEITHER,
        title="Average popularity",
        definition=(
            "Popularity@k = the mean popularity of the items in a list down to rank k. The popularity of an "
            "item is the number of users in the history who have it or, with count=all, the number of its "
            "interactions. An item that is not in the history has popularity 0"
        ),
        range="0 or more",
        ends=AMOUNT,
        citation=_POPULARITY,
        example=_example("Popularity@2", "ab", "(2 + 1) / 2", "1.5", history=_once(u="ab", v="a")),
        parameters=(COUNT,),
        spellings=(Spelling("ARP"), Spelling("average_popularity")),
        needs=ITEMS,
        requires="history",
    ),
    Family(
        name="ILD",
        title="Intra-list diversity",
        definition=(
            "ILD@k = the mean distance over all pairs of items in a list down to rank k. The distance "
            "is 1 − |A∩B| / |A∪B|, where A and B are the categories of the two items. With vectors, the distance "
            "is 1 − their cosine, and the cosine is 0 if one of them is all zeros"
        ),
        range="from 0 (all items are the same) to 1, or to 2 with vectors",
        ends=(0.0, 2.0),
        citation=f"{_DIVERSITY}; {_VARGAS}",
        example=_example(
            "ILD@3", "abc", "(1 + 1 + 0) / 3", "0.6667", items={"a": "x", "b": "y", "c": "y"}
        ),
        parameters=(BY_OR_VECTORS,),
        spellings=(Spelling("intra_list_diversity"), Spelling("intralistdiversity")),
        needs=ITEMS,
        requires="items with categories, or vectors",
    ),
    Family(
        name="Serendipity",
        title="Serendipity",
        definition=(
            "Serendipity@k = the mean of relevant·unexpected over the items in a list down to rank k. "
            "The first factor is 1 for a relevant item, else 0; the second is how unexpected the item is"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=f"{_COVERAGE}; {_RANKS}, with unexpected=rank",
        example=_example(
            "Serendipity@2",
            "ab",
            "(1·0 + 1·1) / 2 (a and c are expected)",
            "0.5",
            history=_once(u="ac", v="ac", w="b"),
            judgments=_once(u1="ab"),
        ),
        parameters=(UNEXPECTED, REL),
        cutoff=ALWAYS,
        needs=ITEMS,
        requires="judgments, and a history or a run of expected items",
    ),
    Family(
        name="HitRate",
        title="Hit rate by segment of items",
        definition=(
            "HitRate(segment=s)@k = 1 if the list contains a relevant item in segment s down to rank "
            "k, else 0. The mean is over the users with a relevant item in that segment"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_HITS,
        example=_example(
            "HitRate(segment=tail)@2",
            "ab",
            "0 relevant tail items in the list",
            "0",
            items={"a": "head", "b": "tail", "c": "tail"},
            judgments=_once(u1="ac"),
        ),
        parameters=(BY, SEGMENT, REL),
        spellings=(Spelling("hit_rate"), Spelling("HR")),
        needs=ITEMS,
        requires="items with categories, and judgments",
    ),
    Family(
        name="Miscalibration",
        better=LOWER,
        title="Miscalibration, the divergence of the list's categories from the user's history",
        definition=(
            "Miscalibration@k = Σ_c p_c·log2(p_c / ((1 − α)·q_c + α·p_c)). Here p_c is the share of "
            "category c in the user's history, and q_c its share in the list down to rank k. An item with several "
            "categories is split equally among them"
        ),
        range="from 0 (the shares are the same) to log2(1/α)",
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
        needs=ITEMS,
        requires="items with categories, and history",
    ),
    Family(
        name="Exposure",
        title="Exposure of a group of items",
        better=NEITHER,
        definition=(
            "Exposure(group=g)@k = Σ_i a_i·m_i / Σ_i a_i over the items in a list down to rank k. Here a_i is the "
            f"attention that rank i gets, and m_i the part of the item that belongs to group g. {_IN_PARTS}"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=_SINGH,
        example=_example(
            "Exposure(group=x)@3",
            "abc",
            "(1 + 1/2) / (1 + 0.6309 + 1/2)",
            "0.7039",
            items={"a": "x", "b": "y", "c": "x"},
        ),
        parameters=(BY, GROUP, ATTENTION, PATIENCE),
        spellings=(Spelling("group_exposure"),),
        needs=ITEMS,
        requires="items with categories",
    ),
    Family(
        name="AWRF",
        title="Attention-weighted rank fairness",
        definition=(
            "AWRF@k = 1 − JS(ε, τ), where JS is the Jensen-Shannon divergence with log2. Here ε_g is the exposure of group g in a "
            "list down to rank k, as in Exposure(group=g), and τ_g its target"
        ),
        range="from 0 (only groups whose target is 0 are shown) to 1 (every group has its target)",
        ends=SHARE,
        citation=_AWRF,
        example=_example(
            "AWRF(attention=equal)@1",
            "a",
            "1 − (H(3/4, 1/4) − (0 + 1)/2)",
            "0.6887",
            items={"a": "x", "b": "y"},
        ),
        parameters=(BY, TARGET, ATTENTION, PATIENCE, REL),
        spellings=(Spelling("attention_weighted_rank_fairness"),),
        needs=ITEMS,
        requires="items with categories, and judgments if target=relevant",
    ),
    Family(
        name="ExposureParity",
        title="Demographic parity of exposure",
        definition=(
            "ExposureParity@k = the lowest e_g / the highest e_g of all groups. Here e_g is the sum of a_i·m_i over the items "
            "of all lists down to rank k, divided by the number of items in group g in the catalogue. "
            f"{_IN_PARTS}"
        ),
        range="from 0 (a group is never shown) to 1 (the items of every group have the same exposure on average)",
        ends=SHARE,
        citation=_SINGH,
        example=_example(
            "ExposureParity(attention=reciprocal)@2",
            "ab",
            "1/2 / (1/1)",
            "0.5",
            items={"a": "x", "b": "y"},
        ),
        parameters=(BY, ATTENTION, PATIENCE),
        spellings=(Spelling("demographic_parity"),),
        aggregate=RUN,
        needs=ITEMS,
        requires="items with categories",
    ),
    Family(
        name="EE_L",
        title="Loss of expected exposure",
        better=LOWER,
        definition=f"EE_L@k = Σ_d (ε_d − ε*_d)². Here {_EXPOSURES}; {_TARGETS}",
        range="0 or more; 0 if the exposure equals the target",
        ends=AMOUNT,
        citation=_EE,
        example=_example(
            "EE_L(attention=reciprocal)@2",
            "ab",
            "(1 − 3/4)² + (1/2 − 3/4)²",
            "0.125",
            judgments=_once(u1="ab"),
        ),
        parameters=(SAMPLES, ATTENTION, PATIENCE, REL),
        spellings=(Spelling("EE-L"),),
        needs=ITEMS,
        requires="judgments",
    ),
    Family(
        name="EE_D",
        title="Disparity of expected exposure",
        better=LOWER,
        definition=f"EE_D@k = Σ_d ε_d². Here {_EXPOSURES}",
        range="0 or more; lower if the lists of a query differ",
        ends=AMOUNT,
        citation=_EE,
        example=_example(
            "EE_D(attention=reciprocal)@2", "ab", "1² + (1/2)²", "1.25", judgments=_once(u1="ab")
        ),
        parameters=(SAMPLES, ATTENTION, PATIENCE),
        spellings=(Spelling("EE-D"),),
        needs=ITEMS,
    ),
    Family(
        name="EE_R",
        title="Relevance of expected exposure",
        definition=f"EE_R@k = Σ_d ε_d·ε*_d. Here {_EXPOSURES}; {_TARGETS}",
        range="0 or more",
        ends=AMOUNT,
        citation=_EE,
        example=_example(
            "EE_R(attention=reciprocal)@2",
            "ab",
            "1·3/4 + 1/2·3/4",
            "1.125",
            judgments=_once(u1="ab"),
        ),
        parameters=(SAMPLES, ATTENTION, PATIENCE, REL),
        spellings=(Spelling("EE-R"),),
        needs=ITEMS,
        requires="judgments",
    ),
)
"""The families in display order: measures of the run as a whole, then measures of users."""
