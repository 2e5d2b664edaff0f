"""`Sampling`: how queries were drawn, which decides how sure a mean over them is.

Queries may stand for different shares of the traffic (weights), move together because they come from
one user or document (clusters), or have been drawn from parts of the traffic (strata). Instead of one
formula for each test and interval, values are replaced by as many independent values whose plain mean
is the weighted mean, and whose plain standard error is the right one.
"""

import math
from dataclasses import dataclass

import numpy as np

from gainful.array_types import AnyArray, Bools, Floats, Ints

FEW_CLUSTERS = 30
"""With fewer clusters, their spread is itself uncertain, and intervals miss more often than they say."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """How (q,) queries were drawn.

    Attributes:
        weights: (q,) float64 from 0, what each query counts; all count the same if None.
        clusters: (q,) int64, the number of each query's cluster; each query is its own if None.
        strata: (q,) int64, the number of each query's stratum; all are drawn together if None.
        arrival: (q,) float64, when each query was added, for bets in that order; as listed if None.
        once: (q,) bool, which values are added without their weight, as LightGBM adds those of queries
            without any gain; none if None.
    """

    weights: Floats | None = None
    clusters: Ints | None = None
    strata: Ints | None = None
    arrival: Floats | None = None
    once: Bools | None = None

    def at(self, rows: AnyArray | list[int]) -> "Sampling":
        """Return the sampling of some of the queries."""
        return Sampling(
            None if self.weights is None else self.weights[rows],
            None if self.clusters is None else self.clusters[rows],
            None if self.strata is None else self.strata[rows],
            None if self.arrival is None else self.arrival[rows],
            None if self.once is None else self.once[rows],
        )

    @property
    def plain(self) -> bool:
        """Whether every query counts the same, on its own."""
        return self.weights is None and self.clusters is None and self.strata is None

    def mean(self, values: Floats) -> float:
        """Return Σ w·v / Σ w of (q,) values; NaN if no query has a weight.

        >>> Sampling(np.array([3.0, 1.0])).mean(np.array([0.2, 1.0]))
        0.4
        """
        if self.weights is None:
            return math.fsum(values.tolist()) / values.size
        total = math.fsum(self.weights.tolist())
        weighted = self._weighted(values[:, None])[:, 0]
        return math.fsum(weighted.tolist()) / total if total else math.nan

    def units(self, count: int) -> int:
        """Return the number of independent units among so many queries: their clusters, or the queries."""
        return len(self._totals_of_weights(count))

    def effective(self, count: int) -> float:
        """Return the effective number (Σ W)² / Σ W² of units with the total weights W.

        As many units that count the same would determine a mean as well.

        >>> Sampling(np.array([3.0, 1.0])).effective(2)
        1.6
        """
        totals = self._totals_of_weights(count)
        return float(totals.sum() ** 2 / np.square(totals).sum())

    def spread(self, values: Floats) -> Floats:
        """Return (u, c) independent values with the weighted means of (q, c) values, and their error.

        With u units and the mean m, the value of a unit is m + u·Σ w·(v − m)/Σ w, summed over its
        queries. The mean of these is m, and the square of their standard error
        Σ (Σ w·(v − m))² / (Σ w)² · u/(u − 1): the variance of a weighted mean, robust to clusters.
        Within strata, deviations are from the mean of the stratum, so that what differs between
        strata adds no error.

        >>> Sampling(clusters=np.array([0, 0, 1])).spread(np.array([[0.0], [1.0], [2.0]])).round(3).tolist()
        [[0.333], [1.667]]
        """
        if self.plain:
            return values
        means = np.array([self.mean(column) for column in values.T])
        if self.strata is None:
            units = self._totals(self._weighted(values, means))
        else:
            of_strata = self._means_of_strata(values, self.strata)
            units = self._totals(self._weighted(values, of_strata))
            units *= self._scales_of_strata(self.strata)[:, None]
        spread: Floats = means + len(units) * units / self._weights(len(values)).sum()
        return spread

    def contributions(self, values: Floats) -> Floats:
        """Return (u, c) what each unit adds to the weighted means of (q, c) values: u·Σ w·v / Σ w.

        If neither of two runs is better, the sign of each contribution to their difference is random.

        >>> Sampling(clusters=np.array([0, 0, 1])).contributions(np.array([[0.0], [1.0], [2.0]])).round(3).tolist()
        [[0.667], [1.333]]
        """
        if self.weights is None and self.clusters is None:
            return values
        units = self._totals(self._weighted(values))
        scaled: Floats = len(units) * units / self._weights(len(values)).sum()
        return scaled

    def stream(self, values: Floats) -> tuple[Floats, Floats]:
        """Return (u, c) the mean of each unit and its weight (u,), in the order of their first queries.

        >>> means, weights = Sampling(clusters=np.array([7, 4, 7])).stream(np.array([[0.0], [1.0], [2.0]]))
        >>> means.tolist(), weights.tolist()
        ([[1.0], [1.0]], [2.0, 1.0])
        """
        count = len(values)
        weights = self._weights(count)
        arrival = np.arange(count, dtype=np.float64) if self.arrival is None else self.arrival
        places = np.arange(count) if self.clusters is None else _places(self.clusters)
        total = np.bincount(places, weights)
        weighted = self._weighted(values)
        sums = np.stack([np.bincount(places, column) for column in weighted.T], axis=1)
        first = np.full(total.size, np.inf)
        np.minimum.at(first, places, arrival)
        order = np.argsort(first, kind="stable")
        order = order[total[order] > 0]
        means: Floats = sums[order] / total[order, None]
        return means, total[order].astype(np.float64)

    def _weights(self, count: int) -> Floats:
        return np.ones(count) if self.weights is None else self.weights

    def _weighted(self, values: Floats, mean: Floats | float = 0.0) -> Floats:
        """Return (q, c) w·(v − mean); a value that is added without its weight is v − w·mean."""
        weights = self._weights(len(values))[:, None]
        weighted: Floats = weights * (values - mean)
        if self.once is None:
            return weighted
        return np.where(self.once[:, None], values - weights * mean, weighted)

    def _counts(self, count: int) -> Bools:
        """Return (q,) which queries count at all."""
        counts: Bools = self._weights(count) > 0
        return counts if self.once is None else counts | self.once

    def _totals(self, weighted: Floats) -> Floats:
        """Return (u, c) the sums of (q, c) over the queries of each unit; units that count nothing are left out."""
        counts = self._counts(len(weighted))
        if self.clusters is None:
            return weighted[counts]
        places = _places(self.clusters)
        counting = np.bincount(places, counts)
        totals = np.zeros((counting.size, weighted.shape[1]))
        np.add.at(totals, places, weighted)
        return totals[counting > 0]

    def _totals_of_weights(self, count: int) -> Floats:
        """Return (u,) the sum of the weights of each unit."""
        totals: Floats = self._totals(self._weights(count)[:, None])[:, 0]
        return totals

    def _means_of_strata(self, values: Floats, strata: Ints) -> Floats:
        """Return (q, c) the weighted mean of each query's stratum."""
        places, weights = _places(strata), self._weights(len(values))
        totals = np.maximum(np.bincount(places, weights), np.finfo(np.float64).tiny)
        weighted = self._weighted(values)
        sums = np.stack([np.bincount(places, column) for column in weighted.T], axis=1)
        means: Floats = (sums / totals[:, None])[places]
        return means

    def _scales_of_strata(self, strata: Ints) -> Floats:
        """Return (u,) factors that give each unit the variance n/(n − 1) of its own stratum's n units."""
        counts, of_units = self._counts(strata.size), strata
        if self.clusters is not None:
            places = _places(self.clusters)
            counts = np.bincount(places, counts) > 0
            of_units = np.zeros(counts.size, np.int64)
            of_units[places] = strata
        places = _places(of_units[counts])
        sizes = np.bincount(places)
        within = sizes / np.maximum(sizes - 1, 1)
        scales: Floats = np.sqrt(within * (places.size - 1) / places.size)[places]
        return scales


def _places(labels: Ints) -> Ints:
    """Return (n,) the place of each label among the distinct ones."""
    places: Ints = np.unique(labels, return_inverse=True)[1]
    return places
