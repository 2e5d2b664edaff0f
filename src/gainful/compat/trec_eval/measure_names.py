"""trec_eval's measures by name, in its printing order, and the syntax for requesting them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gainful.compat.trec_eval.c_numbers_and_sorting import (
    BAD_INPUT,
    USAGE,
    StoppedError,
    decimal,
    whole,
)
from gainful.compat.trec_eval.files import bytes_of
from gainful.measures.measure import Measure

QRELS, PREFERENCES, GROUPS = "qrels", "prefs", "qrels_jg"
CUTOFFS, SHARES, NUMBERS, PAIRS, NOTHING = "cutoffs", "shares", "numbers", "pairs", "nothing"
_DEFAULT_CUTOFFS = (5.0, 10.0, 15.0, 20.0, 30.0, 100.0, 200.0, 500.0, 1000.0)
_DEEPEST = 10**9
_TENTHS = tuple(tenth / 10 for tenth in range(11))
_ALL, _OFFICIAL, _SET = "all_trec", "official", "set"
_ALL_PREFERENCES, _PREFERENCES = "all_prefs", "prefs"
_EVERY = frozenset({_ALL, _OFFICIAL, _SET})
_MAIN = frozenset({_ALL, _OFFICIAL})
_ALL_ONLY = frozenset({_ALL})
_SETS = frozenset({_ALL, _SET})
_GROUPS = frozenset({GROUPS})
_ANY_FORMAT = _EVERY | {_ALL_PREFERENCES, _PREFERENCES, GROUPS}
_FIFTHS = tuple(fifth / 5 for fifth in range(1, 11))


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings from options: the lowest grade of a relevant document, and the collection size."""

    rel: float = 1.0
    docs: float = 0.0


Numbers = Sequence[float]


@dataclass(frozen=True, slots=True)
class Entry:
    """One of trec_eval's measures.

    Attributes:
        name: its name in trec_eval.
        format: the format of the judgments that it needs; "" for any.
        takes: the parameters allowed after its name and a dot.
        default: its default parameters.
        measure: the catalogue's measure for one parameter, or for all of them; None if the
            catalogue has no such measure, or for named gains.
        count: whether it is a whole number that is summed over queries.
        logarithm: whether per-query values are logarithms, which gives a geometric mean.
        summary, each: whether it is printed over all queries, and for each query.
        since: the first version that has it.
        nicknames: the nicknames of the sets that contain it.
    """

    name: str
    takes: str = NOTHING
    default: tuple[float, ...] = ()
    measure: Callable[[Settings, Numbers], Measure] | None = None
    count: bool = False
    logarithm: bool = False
    summary: bool = True
    each: bool = True
    format: str = QRELS
    since: int = 9
    nicknames: frozenset[str] = field(default_factory=frozenset)


def _rel(name: str) -> Callable[[Settings, Numbers], Measure]:
    return lambda settings, _: Measure(name, rel=settings.rel)


def _cutoff(at: Numbers) -> int:
    return min(int(at[0]), _DEEPEST)  # deeper than any list


def _cut(name: str) -> Callable[[Settings, Numbers], Measure]:
    return lambda settings, at: Measure(name, cutoff=_cutoff(at), rel=settings.rel)


def _bare(name: str) -> Callable[[Settings, Numbers], Measure]:
    return lambda _, __: Measure(name)


def _preferences(name: str, *nicknames: str, count: bool = False) -> Entry:
    sets = frozenset({_ALL_PREFERENCES, *nicknames})
    return Entry(f"prefs_{name}", count=count, format=PREFERENCES, nicknames=sets)


ENTRIES: tuple[Entry, ...] = (
    Entry("runid", each=False, format="", nicknames=_ANY_FORMAT),
    Entry("num_q", count=True, each=False, format="", nicknames=_ANY_FORMAT),
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
    Entry("Rprec_mult", SHARES, _FIFTHS, nicknames=_ALL_ONLY),
    Entry("utility", NUMBERS, (1.0, -1.0, 0.0, 0.0), nicknames=_SETS),
    Entry("11pt_avg", NUMBERS, _TENTHS, nicknames=_ALL_ONLY),
    Entry("binG", measure=_rel("binG"), nicknames=_ALL_ONLY),
    Entry("G", PAIRS, measure=_bare("G"), nicknames=_ALL_ONLY),
    Entry("dcg", PAIRS, since=10),
    Entry("ideal_dcg", PAIRS, since=10),
    Entry("ndcg", PAIRS, measure=_bare("nDCG"), nicknames=_ALL_ONLY),
    Entry("ndcg_rel", PAIRS, measure=_bare("nDCGrel"), nicknames=_ALL_ONLY),
    Entry("Rndcg", PAIRS, measure=_rel("RnDCG"), nicknames=_ALL_ONLY),
    Entry(
        "ndcg_cut",
        CUTOFFS,
        _DEFAULT_CUTOFFS,
        lambda _, at: Measure("nDCG", cutoff=_cutoff(at)),
        nicknames=_ALL_ONLY,
    ),
    Entry("map_cut", CUTOFFS, _DEFAULT_CUTOFFS, _cut("AP"), nicknames=_ALL_ONLY),
    Entry("relative_P", CUTOFFS, _DEFAULT_CUTOFFS, _cut("RelP"), nicknames=_ALL_ONLY),
    Entry("success", CUTOFFS, (1.0, 5.0, 10.0), _cut("Success"), nicknames=_ALL_ONLY),
    Entry("set_P", measure=_rel("P"), nicknames=_SETS),
    Entry("set_relative_P", measure=_rel("RelP"), nicknames=_SETS),
    Entry("set_recall", measure=_rel("R"), nicknames=_SETS),
    Entry("set_map", measure=_rel("SetAP"), nicknames=_SETS),
    Entry("set_F", NUMBERS, (1.0,), nicknames=_SETS),
    Entry("num_nonrel_judged_ret", measure=_rel("NumNonrelRet"), count=True, nicknames=_ALL_ONLY),
    _preferences("num_prefs_poss", _PREFERENCES, count=True),
    _preferences("num_prefs_ful", _PREFERENCES, count=True),
    _preferences("num_prefs_ful_ret", _PREFERENCES, count=True),
    _preferences("simp", _PREFERENCES),
    _preferences("pair", _PREFERENCES),
    _preferences("avgjg", _PREFERENCES),
    _preferences("avgjg_Rnonrel"),
    _preferences("simp_ret"),
    _preferences("pair_ret"),
    _preferences("avgjg_ret"),
    _preferences("avgjg_Rnonrel_ret"),
    _preferences("simp_imp"),
    _preferences("pair_imp"),
    _preferences("avgjg_imp"),
    Entry("map_avgjg", format=GROUPS, nicknames=_GROUPS),
    Entry("P_avgjg", CUTOFFS, _DEFAULT_CUTOFFS, format=GROUPS, nicknames=_GROUPS),
    Entry("Rprec_mult_avgjg", SHARES, _FIFTHS, format=GROUPS, nicknames=_GROUPS),
    Entry("yaap", measure=_rel("yaap")),
    Entry("rbp", PAIRS, since=10, nicknames=_ALL_ONLY),
    Entry("rbp_resid", PAIRS, since=10, nicknames=_ALL_ONLY),
    Entry(
        "unj",
        CUTOFFS,
        (5.0, 10.0, 20.0),
        lambda _, at: Measure("Unjudged", cutoff=_cutoff(at)),
        since=10,
        nicknames=_ALL_ONLY,
    ),
)
BY_NAME = {entry.name: entry for entry in ENTRIES}
NICKNAMES = (_OFFICIAL, _SET, _ALL, _ALL_PREFERENCES, _PREFERENCES, GROUPS)


def names_of(nickname: str, version: int) -> list[str]:
    """Return the measures that a nickname stands for."""
    return [
        entry.name for entry in ENTRIES if nickname in entry.nicknames and entry.since <= version
    ]


_LONGEST_SHARE = 9  # characters, including the underscore before


@dataclass(frozen=True, slots=True)
class AskedMeasure:
    """A measure with the parameters that the caller wrote after its name."""

    entry: Entry
    numbers: tuple[float, ...] = ()
    pairs: tuple[tuple[str, float], ...] = ()
    written: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of its values."""
        name = self.entry.name
        if self.entry.takes == CUTOFFS:
            return [f"{name}_{int(cutoff)}" for cutoff in self.numbers]
        if self.entry.takes == SHARES:
            return [name + f"_{share:3.2f}"[:_LONGEST_SHARE] for share in self.numbers]
        return [name if self.written is None else f"{name}_{self.written}"]

    def measures(self, settings: Settings) -> list[Measure]:
        """Return the catalogue's measures for its values, if there are any."""
        if self.entry.measure is None or self.pairs:
            return []
        if self.entry.takes in (CUTOFFS, SHARES):
            return [self.entry.measure(settings, [number]) for number in self.numbers]
        return [self.entry.measure(settings, self.numbers)]


@dataclass(frozen=True, slots=True)
class MarkedMeasures:
    """Names of measures, and the parameters written after some of them."""

    names: frozenset[str]
    parameters: dict[str, str] = field(default_factory=dict)


def mark(written: Sequence[str], version: int) -> MarkedMeasures:
    """Read names and nicknames; the first parameters of a name count."""
    parameters: dict[str, str] = {}
    chosen: set[str] = set()
    for text in written:
        name, point, rest = text.partition(".")
        if point:
            if not rest:
                message = f"trec_eval: improper measure in parameter '{name}'\n"
                raise StoppedError(f"{message}trec_eval: illegal measure '{name}'", USAGE)
            parameters.setdefault(name, rest)
        if name in NICKNAMES:
            chosen.update(names_of(name, version))
        elif name in BY_NAME and BY_NAME[name].since <= version:
            chosen.add(name)
        else:
            raise StoppedError(f"trec_eval: illegal measure '{name}'", USAGE)
    return MarkedMeasures(frozenset(chosen), parameters)


def read_parameters(marked: MarkedMeasures) -> tuple[AskedMeasure, ...]:
    """Return the measures in the order of printing."""
    return tuple(
        _asked_measure(entry, marked.parameters.get(entry.name))
        for entry in ENTRIES
        if entry.name in marked.names
    )


def _asked_measure(entry: Entry, written: str | None) -> AskedMeasure:
    if written is None or entry.takes == NOTHING:
        return AskedMeasure(entry, entry.default)
    if entry.takes == PAIRS:
        return AskedMeasure(entry, pairs=_pairs(entry.name, written), written=written)
    parts = [bytes_of(part) for part in written.split(",")]
    if entry.takes not in (CUTOFFS, SHARES):
        return AskedMeasure(entry, tuple(map(decimal, parts)), written=written)
    read: Callable[[bytes], float] = whole if entry.takes == CUTOFFS else decimal
    numbers = tuple(sorted(read(part) for part in parts))
    if entry.takes == CUTOFFS and numbers[0] <= 0:
        raise _not_initialised("trec_eval: Negative cutoff detected", entry.name)
    if len(set(numbers)) < len(numbers):
        raise _not_initialised("trec_eval: duplicate cutoffs detected", entry.name)
    return AskedMeasure(entry, numbers, written=written)


def _pairs(name: str, written: str) -> tuple[tuple[str, float], ...]:
    pairs = []
    for part in written.split(","):
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            message = f"trec_eval: malformed pair parameters in '{written}'"
            raise _not_initialised(message, name)
        pairs.append((key, decimal(bytes_of(value))))
    return tuple(pairs)


def _not_initialised(message: str, name: str) -> StoppedError:
    return StoppedError(f"{message}\ntrec_eval: Cannot initialize measure '{name}'", BAD_INPUT)
