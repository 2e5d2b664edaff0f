"""The measures that are asked for, with what the caller wrote after their names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gainful.compat.trec_eval.c_library import decimal, whole
from gainful.compat.trec_eval.entries import (
    BY_NAME,
    CUTOFFS,
    ENTRIES,
    NICKNAMES,
    NOTHING,
    PAIRS,
    SHARES,
    Entry,
    Settings,
    names_of,
)
from gainful.compat.trec_eval.files import bytes_of
from gainful.compat.trec_eval.stopped import BAD_INPUT, USAGE, StoppedError
from gainful.measures.spec import Measure

_LONGEST_SHARE = 9  # characters, with the line before


@dataclass(frozen=True, slots=True)
class Asked:
    """A measure with what the caller wrote after its name."""

    entry: Entry
    numbers: tuple[float, ...] = ()
    pairs: tuple[tuple[str, float], ...] = ()
    written: str | None = None

    @property
    def names(self) -> list[str]:
        """What its values are called."""
        name = self.entry.name
        if self.entry.takes == CUTOFFS:
            return [f"{name}_{int(cutoff)}" for cutoff in self.numbers]
        if self.entry.takes == SHARES:
            return [name + f"_{share:3.2f}"[:_LONGEST_SHARE] for share in self.numbers]
        return [name if self.written is None else f"{name}_{self.written}"]

    def measures(self, settings: Settings) -> list[Measure]:
        """Return the measures of the catalogue that give its values, if any do."""
        if self.entry.measure is None or self.pairs:
            return []
        if self.entry.takes in (CUTOFFS, SHARES):
            return [self.entry.measure(settings, [each]) for each in self.numbers]
        return [self.entry.measure(settings, self.numbers)]


@dataclass(frozen=True, slots=True)
class Marked:
    """Names of measures, and what was written after some of them."""

    names: frozenset[str]
    parameters: dict[str, str] = field(default_factory=dict)


def mark(written: Sequence[str], version: int) -> Marked:
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
    return Marked(frozenset(chosen), parameters)


def read_parameters(marked: Marked) -> tuple[Asked, ...]:
    """Return the measures in the order of printing."""
    return tuple(
        _asked(entry, marked.parameters.get(entry.name))
        for entry in ENTRIES
        if entry.name in marked.names
    )


def _asked(entry: Entry, written: str | None) -> Asked:
    if written is None or entry.takes == NOTHING:
        return Asked(entry, entry.default)
    if entry.takes == PAIRS:
        return Asked(entry, pairs=_pairs(entry.name, written), written=written)
    parts = [bytes_of(part) for part in written.split(",")]
    if entry.takes not in (CUTOFFS, SHARES):
        return Asked(entry, tuple(map(decimal, parts)), written=written)
    read: Callable[[bytes], float] = whole if entry.takes == CUTOFFS else decimal
    numbers = tuple(sorted(read(part) for part in parts))
    if entry.takes == CUTOFFS and numbers[0] <= 0:
        raise _not_initialised("trec_eval: Negative cutoff detected", entry.name)
    if len(set(numbers)) < len(numbers):
        raise _not_initialised("trec_eval: duplicate cutoffs detected", entry.name)
    return Asked(entry, numbers, written=written)


def _pairs(name: str, written: str) -> tuple[tuple[str, float], ...]:
    found = []
    for part in written.split(","):
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            message = f"trec_eval: malformed pair parameters in '{written}'"
            raise _not_initialised(message, name)
        found.append((key, decimal(bytes_of(value))))
    return tuple(found)


def _not_initialised(message: str, name: str) -> StoppedError:
    return StoppedError(f"{message}\ntrec_eval: Cannot initialize measure '{name}'", BAD_INPUT)
