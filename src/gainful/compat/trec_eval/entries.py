"""trec_eval's measures by its names, in the order in which it prints them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gainful.measures.gain import gain
from gainful.measures.spec import Measure

CUTOFFS, SHARES, NUMBERS, PAIRS, NOTHING = "cutoffs", "shares", "numbers", "pairs", "nothing"
_DEFAULT_CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
_TENTHS = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True, slots=True)
class Settings:
    """What the options say: the grade from which on a document is relevant, and the collection."""

    rel: float = 1.0
    docs: float = 0.0


Numbers = Sequence[float]
Pairs = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Entry:
    """One of trec_eval's measures.

    Attributes:
        name: as trec_eval has it.
        takes: what may stand after its name and a point.
        default: what it takes without.
        measure: the measure for one number of those, or for all of them; None where the value is
            no measure of the catalogue.
        count: whether it is a whole number, which is summed over the queries.
        logarithm: whether the queries' values are logarithms, so that their mean is geometric.
        summary, each: whether it is printed for all queries, and for each.
    """

    name: str
    takes: str = NOTHING
    default: tuple[float, ...] = ()
    measure: Callable[[Settings, Numbers, Pairs], Measure] | None = None
    count: bool = False
    logarithm: bool = False
    summary: bool = True
    each: bool = True
    nicknames: frozenset[str] = field(default_factory=frozenset)


def _rel(name: str) -> Callable[[Settings, Numbers, Pairs], Measure]:
    return lambda settings, _, __: Measure(name, rel=settings.rel)


def _cut(name: str) -> Callable[[Settings, Numbers, Pairs], Measure]:
    return lambda settings, at, _: Measure(name, cutoff=int(at[0]), rel=settings.rel)


def _bare(name: str) -> Callable[[Settings, Numbers, Pairs], Measure]:
    return lambda _, __, ___: Measure(name)


def _gained(name: str) -> Callable[[Settings, Numbers, Pairs], Measure]:
    """Take gains by grade; a grade that is not named is its own gain."""

    def measure(settings: Settings, _: Numbers, pairs: Pairs) -> Measure:
        named = {int(grade): worth for grade, worth in pairs.items() if _is_whole(grade)}
        chosen = gain(lambda grade: named.get(int(grade), grade)) if named else gain("linear")
        if name == "RnDCG":
            return Measure(name, gain=chosen, rel=settings.rel)
        return Measure(name, gain=chosen)

    return measure


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdecimal()


def _utility(settings: Settings, numbers: Numbers, _: Pairs) -> Measure:
    a, b, c, d = numbers
    return Measure("Utility", a=a, b=b, c=c, d=d, docs=settings.docs, rel=settings.rel)


_ALL, _OFFICIAL, _SET = "all_trec", "official", "set"
_EVERY = frozenset({_ALL, _OFFICIAL, _SET})
_MAIN = frozenset({_ALL, _OFFICIAL})
_ALL_ONLY = frozenset({_ALL})
_SETS = frozenset({_ALL, _SET})

ENTRIES: tuple[Entry, ...] = (
    Entry("runid", each=False, nicknames=_EVERY),
    Entry("num_q", count=True, each=False, nicknames=_EVERY),
    Entry("num_ret", measure=_bare("NumRet"), count=True, nicknames=_EVERY),
    Entry("num_rel", measure=_rel("NumRel"), count=True, nicknames=_EVERY),
    Entry("num_rel_ret", measure=_rel("NumRelRet"), count=True, nicknames=_EVERY),
    Entry("map", measure=_rel("AP"), nicknames=_MAIN),
    Entry("gm_map", measure=_rel("GMAP"), logarithm=True, each=False, nicknames=_MAIN),
    Entry("Rprec", measure=_rel("Rprec"), nicknames=_MAIN),
    Entry("bpref", measure=_rel("bpref"), nicknames=_MAIN),
    Entry("recip_rank", measure=_rel("RR"), nicknames=_MAIN),
    Entry("iprec_at_recall", SHARES, _TENTHS, nicknames=_MAIN),
    Entry("P", CUTOFFS, _DEFAULT_CUTOFFS, _cut("P"), nicknames=_MAIN),
    Entry("relstring", NUMBERS, (10.0,), summary=False, nicknames=_ALL_ONLY),
    Entry("recall", CUTOFFS, _DEFAULT_CUTOFFS, _cut("R"), nicknames=_ALL_ONLY),
    Entry("infAP", measure=_rel("infAP"), nicknames=_ALL_ONLY),
    Entry("gm_bpref", measure=_rel("GMbpref"), logarithm=True, each=False, nicknames=_ALL_ONLY),
    Entry(
        "Rprec_mult",
        SHARES,
        tuple(fifth / 5 for fifth in range(1, 11)),
        lambda settings, at, _: Measure("Rprec", mult=at[0], rel=settings.rel),
        nicknames=_ALL_ONLY,
    ),
    Entry("utility", NUMBERS, (1.0, -1.0, 0.0, 0.0), _utility, nicknames=_SETS),
    Entry("11pt_avg", NUMBERS, _TENTHS, nicknames=_ALL_ONLY),
    Entry("binG", measure=_rel("binG"), nicknames=_ALL_ONLY),
    Entry("G", PAIRS, measure=_gained("G"), nicknames=_ALL_ONLY),
    Entry("ndcg", PAIRS, measure=_gained("nDCG"), nicknames=_ALL_ONLY),
    Entry("ndcg_rel", PAIRS, measure=_gained("nDCGrel"), nicknames=_ALL_ONLY),
    Entry("Rndcg", PAIRS, measure=_gained("RnDCG"), nicknames=_ALL_ONLY),
    Entry(
        "ndcg_cut",
        CUTOFFS,
        _DEFAULT_CUTOFFS,
        lambda _, at, __: Measure("nDCG", cutoff=int(at[0])),
        nicknames=_ALL_ONLY,
    ),
    Entry("map_cut", CUTOFFS, _DEFAULT_CUTOFFS, _cut("AP"), nicknames=_ALL_ONLY),
    Entry("relative_P", CUTOFFS, _DEFAULT_CUTOFFS, _cut("RelP"), nicknames=_ALL_ONLY),
    Entry("success", CUTOFFS, (1.0, 5.0, 10.0), _cut("Success"), nicknames=_ALL_ONLY),
    Entry("set_P", measure=_rel("P"), nicknames=_SETS),
    Entry("set_relative_P", measure=_rel("RelP"), nicknames=_SETS),
    Entry("set_recall", measure=_rel("R"), nicknames=_SETS),
    Entry("set_map", measure=_rel("SetAP"), nicknames=_SETS),
    Entry(
        "set_F",
        NUMBERS,
        (1.0,),
        # What trec_eval takes is the square.
        lambda settings, at, _: Measure("F", beta=math.sqrt(at[0]), rel=settings.rel),
        nicknames=_SETS,
    ),
    Entry("num_nonrel_judged_ret", measure=_rel("NumNonrelRet"), count=True, nicknames=_ALL_ONLY),
    Entry("yaap", measure=_rel("yaap")),
    Entry("rbp", PAIRS, nicknames=_ALL_ONLY),
    Entry("rbp_resid", PAIRS, nicknames=_ALL_ONLY),
    Entry(
        "unj",
        CUTOFFS,
        (5.0, 10.0, 20.0),
        lambda _, at, __: Measure("Unjudged", cutoff=int(at[0])),
        nicknames=_ALL_ONLY,
    ),
)
BY_NAME = {entry.name: entry for entry in ENTRIES}
NICKNAMES = (_OFFICIAL, _SET, _ALL)
_SINCE_TEN = frozenset({"rbp", "rbp_resid", "unj"})


def names_of(nickname: str, version: int) -> list[str]:
    """Return the measures that a nickname stands for."""
    return [
        entry.name
        for entry in ENTRIES
        if nickname in entry.nicknames and (version >= 10 or entry.name not in _SINCE_TEN)
    ]
