"""`fused_scores`: the score of every document, by each method of `METHODS`.

Addends are sorted before they are added. So the order of the runs does not move the last digit of
a sum, and documents that tie in truth have equal scores.
"""

from collections.abc import Callable

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.fusion.candidate_documents import Candidates
from gainful.fusion.settings import Settings


def fused_scores(found: Candidates, settings: Settings) -> Floats:
    """Return the fused score (n,) of every document."""
    with np.errstate(over="ignore", invalid="ignore"):
        fused: Floats = _FUSE[settings.method](found, settings) + 0.0  # there is no −0
    _refuse_infinite(fused, found, slice(None))
    return fused


def _refuse_infinite(values: Floats, found: Candidates, rows: Ints | slice) -> None:
    """Refuse what came of scores that are too large; a NaN would be taken for an absent document."""
    if np.isfinite(values).all():
        return
    owner = found.owner[rows][np.flatnonzero(~np.isfinite(values))[0]]
    raise InputError(
        f"runs, query {found.queries[owner]!r}",
        "scores and weights whose sums and differences a float64 holds",
        "larger ones",
        "Scale them down, or use a method that uses ranks, such as rrf.",
    )


def _weighted(parts: Floats, settings: Settings) -> Floats:
    """Return the parts (m, n) of each run, times its weight."""
    return parts if settings.weights is None else parts * np.array(settings.weights)[:, None]


def _added(parts: Floats) -> Floats:
    """Return the sums (n,) of the parts (m, n) of all runs; NaN adds nothing."""
    if len(parts) > 2:  # of two, either order gives the same
        parts = np.sort(parts, axis=0)  # NaN last
    total = np.zeros(parts.shape[1])
    for part in parts:
        total += np.where(np.isnan(part), 0.0, part)
    return total


def _rrf(found: Candidates, settings: Settings) -> Floats:
    assert settings.k is not None  # noqa: S101 - of every RRF
    return _added(_weighted(1 / (settings.k + found.ranks), settings))


def _summed(found: Candidates, settings: Settings) -> Floats:
    return _added(_weighted(normalised(found, settings.normalise), settings))


def _mnz(found: Candidates, settings: Settings) -> Floats:
    return found.hits * _summed(found, settings)


def _anz(found: Candidates, settings: Settings) -> Floats:
    return _summed(found, settings) / found.hits


def _min(found: Candidates, settings: Settings) -> Floats:
    lowest: Floats = np.fmin.reduce(normalised(found, settings.normalise), axis=0)
    return lowest


def _max(found: Candidates, settings: Settings) -> Floats:
    highest: Floats = np.fmax.reduce(normalised(found, settings.normalise), axis=0)
    return highest


def _med(found: Candidates, settings: Settings) -> Floats:
    ascending = np.sort(normalised(found, settings.normalise), axis=0)  # NaN last
    places = np.arange(found.owner.size)
    low, high = ascending[(found.hits - 1) // 2, places], ascending[found.hits // 2, places]
    return low + (high - low) / 2


def _borda(found: Candidates, settings: Settings) -> Floats:
    count = np.diff(found.offsets).astype(np.float64)  # (q,)
    left_over = (count - found.sizes + 1) / 2  # (m, q)
    left_over[found.sizes == 0] = np.nan  # the run does not have the query: it has no say
    points = count[found.owner] - found.ranks + 1
    return _added(_weighted(np.where(found.present, points, left_over[:, found.owner]), settings))


def _squares(found: Candidates, settings: Settings) -> Floats:
    return _added(_weighted(1 / found.ranks**2, settings))


def _isr(found: Candidates, settings: Settings) -> Floats:
    return found.hits * _squares(found, settings)


def _log_isr(found: Candidates, settings: Settings) -> Floats:
    return np.log(found.hits) * _squares(found, settings)


def _rbc(found: Candidates, settings: Settings) -> Floats:
    assert settings.p is not None  # noqa: S101 - of every RBC
    return _added(_weighted((1 - settings.p) * settings.p ** (found.ranks - 1), settings))


_FUSE: dict[str, Callable[[Candidates, Settings], Floats]] = {
    "rrf": _rrf,
    "sum": _summed,
    "mnz": _mnz,
    "anz": _anz,
    "min": _min,
    "max": _max,
    "med": _med,
    "borda": _borda,
    "isr": _isr,
    "log_isr": _log_isr,
    "rbc": _rbc,
}


def normalised(found: Candidates, name: str | None) -> Floats:
    """Return the scores (m, n) of the runs, normalised query by query; NaN where there is none."""
    if name is None or name == "none":
        return found.scores
    if name == "rank":
        return 1 - (found.ranks - 1) / found.sizes[:, found.owner]
    return np.stack([_normalised(found, run, name) for run in range(len(found.scores))])


def _normalised(found: Candidates, run: int, name: str) -> Floats:
    """Return the scores (n,) of a run by its lowest, highest or mean score of each query."""
    rows = np.flatnonzero(found.present[run])
    values = np.full(found.owner.size, np.nan)
    if not rows.size:
        return values
    sizes = found.sizes[run][found.sizes[run] > 0]
    starts = np.cumsum(sizes) - sizes
    scores = found.scores[run][rows]

    def spread(of_queries: Floats) -> Floats:
        return np.repeat(of_queries, sizes)

    low, high = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    flat = low == high  # told by the scores themselves: a sum of squares has rounding errors
    if name == "zscore":
        apart = scores - spread(np.add.reduceat(scores, starts) / sizes)
        # In units of the largest, whose square neither overflows nor vanishes.
        farthest = np.maximum.reduceat(np.abs(apart), starts)
        apart = apart / spread(np.where(flat, 1.0, farthest))
        unit = np.sqrt(np.add.reduceat(apart**2, starts) / sizes)
        of_flat = np.zeros(sizes.size)
    else:
        apart = scores - spread(low)
        unit = high - low if name == "minmax" else np.add.reduceat(apart, starts)
        of_flat = np.ones(sizes.size) if name == "minmax" else 1 / sizes
    unit = np.where(flat, 1.0, unit)
    known = np.where(spread(flat), spread(of_flat), apart / spread(unit))
    _refuse_infinite(known, found, rows)
    values[rows] = known
    return values
