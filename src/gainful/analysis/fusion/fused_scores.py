"""`fused_scores`: the score of every document, by each method of `METHODS`.

Addends are sorted before they are added, so the order of the runs doesn't affect the last digit of a
sum, and documents that should tie have equal scores.
"""

from collections.abc import Callable

import numpy as np

from gainful.analysis.fusion.candidate_documents import Candidates
from gainful.analysis.fusion.settings import Settings
from gainful.array_types import Floats, Ints
from gainful.errors import InputError


def fused_scores(candidates: Candidates, settings: Settings) -> Floats:
    """Return the fused score (n,) of every document."""
    with np.errstate(over="ignore", invalid="ignore"):
        fused: Floats = _FUSE[settings.method](candidates, settings) + 0.0  # turns −0 into 0
    _refuse_infinite(fused, candidates, slice(None))
    return fused


def _refuse_infinite(values: Floats, candidates: Candidates, rows: Ints | slice) -> None:
    """Reject overflows of large scores; a NaN would look like a document that wasn't returned."""
    if np.isfinite(values).all():
        return
    owner = candidates.owner[rows][np.flatnonzero(~np.isfinite(values))[0]]
    raise InputError(
        f"runs, query {candidates.queries[owner]!r}",
        "scores and weights whose sums and differences fit in a float64",
        "larger ones",
        "Scale them down, or use a method that uses ranks, such as rrf.",
    )


def _weighted(parts: Floats, settings: Settings) -> Floats:
    """Multiply the parts (m, n) of each run by its weight."""
    return parts if settings.weights is None else parts * np.array(settings.weights)[:, None]


def _added(parts: Floats) -> Floats:
    """Return the sums (n,) of the parts (m, n) of all runs; NaN adds nothing."""
    if len(parts) > 2:  # the sum of two is the same in either order
        parts = np.sort(parts, axis=0)  # NaN last
    total = np.zeros(parts.shape[1])
    for part in parts:
        total += np.where(np.isnan(part), 0.0, part)
    return total


def _rrf(candidates: Candidates, settings: Settings) -> Floats:
    assert settings.k is not None  # noqa: S101 - always set for RRF
    return _added(_weighted(1 / (settings.k + candidates.ranks), settings))


def _summed(candidates: Candidates, settings: Settings) -> Floats:
    return _added(_weighted(normalised(candidates, settings.normalise), settings))


def _mnz(candidates: Candidates, settings: Settings) -> Floats:
    return candidates.hits * _summed(candidates, settings)


def _anz(candidates: Candidates, settings: Settings) -> Floats:
    return _summed(candidates, settings) / candidates.hits


def _min(candidates: Candidates, settings: Settings) -> Floats:
    lowest: Floats = np.fmin.reduce(normalised(candidates, settings.normalise), axis=0)
    return lowest


def _max(candidates: Candidates, settings: Settings) -> Floats:
    highest: Floats = np.fmax.reduce(normalised(candidates, settings.normalise), axis=0)
    return highest


def _med(candidates: Candidates, settings: Settings) -> Floats:
    ascending = np.sort(normalised(candidates, settings.normalise), axis=0)  # NaN last
    hits, places = candidates.hits, np.arange(candidates.owner.size)
    low, high = ascending[(hits - 1) // 2, places], ascending[hits // 2, places]
    return low + (high - low) / 2


def _borda(candidates: Candidates, settings: Settings) -> Floats:
    count = np.diff(candidates.offsets).astype(np.float64)  # (q,)
    left_over = (count - candidates.sizes + 1) / 2  # (m, q)
    left_over[candidates.sizes == 0] = np.nan  # runs without the query contribute nothing
    points = count[candidates.owner] - candidates.ranks + 1
    return _added(
        _weighted(np.where(candidates.present, points, left_over[:, candidates.owner]), settings)
    )


def _squares(candidates: Candidates, settings: Settings) -> Floats:
    return _added(_weighted(1 / candidates.ranks**2, settings))


def _isr(candidates: Candidates, settings: Settings) -> Floats:
    return candidates.hits * _squares(candidates, settings)


def _log_isr(candidates: Candidates, settings: Settings) -> Floats:
    return np.log(candidates.hits) * _squares(candidates, settings)


def _rbc(candidates: Candidates, settings: Settings) -> Floats:
    assert settings.p is not None  # noqa: S101 - always set for RBC
    return _added(_weighted((1 - settings.p) * settings.p ** (candidates.ranks - 1), settings))


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


def normalised(candidates: Candidates, name: str | None) -> Floats:
    """Return the scores (m, n) of the runs, normalised query by query; NaN for documents not returned."""
    if name is None or name == "none":
        return candidates.scores
    if name == "rank":
        return 1 - (candidates.ranks - 1) / candidates.sizes[:, candidates.owner]
    return np.stack([_normalised(candidates, run, name) for run in range(len(candidates.scores))])


def _normalised(candidates: Candidates, run: int, name: str) -> Floats:
    """Return the scores (n,) of a run, normalised by minmax, zscore or sum."""
    rows = np.flatnonzero(candidates.present[run])
    values = np.full(candidates.owner.size, np.nan)
    if not rows.size:
        return values
    sizes = candidates.sizes[run][candidates.sizes[run] > 0]
    starts = np.cumsum(sizes) - sizes
    scores = candidates.scores[run][rows]

    def spread(of_queries: Floats) -> Floats:
        return np.repeat(of_queries, sizes)

    low, high = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    flat = low == high  # exact, unlike a standard deviation with rounding errors
    if name == "zscore":
        apart = scores - spread(np.add.reduceat(scores, starts) / sizes)
        # Scaled by the largest, so that squares neither overflow nor underflow.
        farthest = np.maximum.reduceat(np.abs(apart), starts)
        apart = apart / spread(np.where(flat, 1.0, farthest))
        unit = np.sqrt(np.add.reduceat(apart**2, starts) / sizes)
        of_flat = np.zeros(sizes.size)
    else:
        apart = scores - spread(low)
        unit = high - low if name == "minmax" else np.add.reduceat(apart, starts)
        of_flat = np.ones(sizes.size) if name == "minmax" else 1 / sizes
    unit = np.where(flat, 1.0, unit)
    normal = np.where(spread(flat), spread(of_flat), apart / spread(unit))
    _refuse_infinite(normal, candidates, rows)
    values[rows] = normal
    return values
