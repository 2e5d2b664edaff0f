"""`Settings`: the validated settings of a fusion."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gainful import arguments
from gainful.analysis.fusion.method_table import METHODS, NORMALISATIONS, RANKS, TIES, Method
from gainful.errors import InputError
from gainful.message_texts import shown

K, P = 60.0, 0.8
"""The usual k of RRF, and the usual p of RBC."""
DEFAULTS: Mapping[str, float] = {"k": K, "p": P}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a fusion.

    Attributes:
        method: a key of `METHODS`.
        k: the parameter of RRF; None for other methods.
        p: the parameter of RBC; None for other methods.
        weights: one for each run; None if all are equal.
        normalise: a key of `NORMALISATIONS`; None if the method uses ranks.
        depth: the deepest rank that is used in each run; None for whole runs.
        ties: a key of `TIES`.
    """

    method: str
    k: float | None = None
    p: float | None = None
    weights: tuple[float, ...] | None = None
    normalise: str | None = None
    depth: int | None = None
    ties: str = "auto"

    @property
    def entry(self) -> Method:
        """The entry of the method in `METHODS`."""
        return METHODS[self.method]

    def chosen(self) -> dict[str, Any]:
        """Return the settings as arguments of `fuse`, without unset ones."""
        own = {name: getattr(self, name) for name in ("method", "k", "p", "weights", "normalise")}
        own |= {"depth": self.depth, "ties": None if self.ties == "auto" else self.ties}
        return {name: value for name, value in own.items() if value is not None}

    def __str__(self) -> str:
        """Return the settings in one line.

        >>> str(Settings("rrf", k=60.0, weights=(1.0, 2.5)))
        'rrf, k=60, weights=1,2.5'
        """
        parts = [self.method]
        for name, value in self.chosen().items():
            if name == "weights":
                parts.append(f"weights={','.join(f'{weight:g}' for weight in value)}")
            elif name != "method":
                parts.append(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}")
        return ", ".join(parts)


def read_settings(
    runs: int,
    method: object,
    *,
    k: object = None,
    p: object = None,
    weights: object = None,
    normalise: object = None,
    depth: object = None,
    ties: object = "auto",
) -> Settings:
    """Validate the arguments of `fuse` for a number of runs.

    >>> str(read_settings(2, "rrf")), str(read_settings(2, "mnz", weights=[1, 3]))
    ('rrf, k=60', 'mnz, weights=1,3, normalise=minmax')
    """
    entry = METHODS[arguments.choice(method, "method", METHODS, expected="a method of fusion")]
    for name, value in (("k", k), ("p", p), ("weights", weights)):
        if value is not None and name not in entry.parameters:
            takers = [own.name for own in METHODS.values() if name in own.parameters]
            raise InputError(
                name, f"none with method={entry.name!r}", shown(value),
                f"{name} is a parameter of {', '.join(takers)}.",
            )  # fmt: skip
    return Settings(
        entry.name,
        None if "k" not in entry.parameters else _read_k(k),
        None if "p" not in entry.parameters else _read_p(p),
        None if weights is None else read_weights(weights, runs),
        _read_normalise(normalise, entry),
        None
        if depth is None
        else arguments.whole(depth, "depth", least=1, most=arguments.MOST_DOCUMENTS),
        arguments.choice(ties, "ties", TIES),
    )


def _read_k(value: object) -> float:
    if value is None:
        return K
    return arguments.number(value, "k", "a non-negative number", lambda k: k >= 0)


def _read_p(value: object) -> float:
    if value is None:
        return P
    return arguments.number(value, "p", "a number above 0 and below 1", lambda p: 0 < p < 1)


def read_weights(value: object, runs: int) -> tuple[float, ...]:
    """Return a weight for each run, in the order of the runs."""
    expected = f"{runs} numbers of at least 0, one for each run"
    if isinstance(value, str | Mapping):
        raise InputError("weights", expected, shown(value))
    listed = arguments.listed(value, "weights", expected)
    if len(listed) != runs:
        raise InputError("weights", expected, f"{len(listed)}: {shown(value)}")
    weights = tuple(
        arguments.number(value, "weights", expected, lambda weight: weight >= 0) for value in listed
    )
    if not any(weights):
        raise InputError("weights", "at least one weight above 0", shown(value))
    return weights


def _read_normalise(value: object, entry: Method) -> str | None:
    if entry.uses == RANKS:
        if value is not None:
            raise InputError(
                "normalise",
                f"none with method={entry.name!r}, which uses only ranks",
                shown(value),
                "Leave it out, or use a method that uses scores, such as sum.",
            )
        return None
    if value is None:
        return next(iter(NORMALISATIONS))
    return arguments.choice(value, "normalise", NORMALISATIONS, expected="a normalisation")
