"""Deviations of a query's values from the means of other runs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gainful.compat.trec_eval.options import StoppedError

Floats = NDArray[np.float64]

_UNKNOWN = -1_000_000.0  # what is printed where there is no mean
_FAILED = 255  # exit code


@dataclass(frozen=True, slots=True)
class Deviations:
    """Mean and standard deviation by query and measure."""

    known: dict[tuple[str, str], tuple[float, float]]

    def of(self, name: str, queries: tuple[str, ...], values: Floats) -> Floats:
        """Return how many standard deviations the values (q,) are from their means."""
        found = np.full(values.size, _UNKNOWN)
        for place, query in enumerate(queries):
            if (query, name) not in self.known:
                continue
            mean, deviation = self.known[query, name]
            if deviation:
                found[place] = (values[place] - mean) / deviation
            elif values[place] == mean:
                found[place] = 0.0
        return found


def read_deviations(path: str) -> Deviations:
    """Read lines of query, measure, mean and standard deviation."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        message = f"trec_eval.get_prefs: Cannot read zscores file '{path}'"
        raise StoppedError(message, _FAILED) from None
    known = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        try:
            query, name, mean, deviation = fields
            known[query, name] = float(mean), float(deviation)
        except ValueError:
            message = f"trec_eval.get_zscores: Malformed line {number}"
            raise StoppedError(message, _FAILED) from None
    return Deviations(known)
