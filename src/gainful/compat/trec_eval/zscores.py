"""z-scores: the distance of a query's values from the means of other runs, in deviations."""

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np

from gainful.array_types import Floats
from gainful.compat.trec_eval.c_numbers_and_sorting import StoppedError, decimal
from gainful.compat.trec_eval.files import bytes_of, read_rows

Line = tuple[bytes, bytes, float, float]  # query, name, mean, standard deviation

_UNKNOWN = -1_000_000.0  # printed if there is no mean
_FAILED = 255  # exit code
_FIELDS = 4
_WITHOUT_COMMENTS = 9  # no version skips comments here


@dataclass(frozen=True, slots=True)
class Deviations:
    """Mean and standard deviation by query and name, in the order of both."""

    lines: list[Line]
    starts: dict[bytes, tuple[int, int]]

    def of(self, name: str, queries: tuple[str, ...], values: Floats) -> Floats:
        """Return the distance of values (q,) from their means, in standard deviations."""
        return np.array(
            [
                self._deviation(bytes_of(query), bytes_of(name), value)
                for query, value in zip(queries, values.tolist(), strict=True)
            ]
        )

    def _deviation(self, query: bytes, name: bytes, value: float) -> float:
        line = self._line_of(query, name)
        if line is None:
            return _UNKNOWN
        _, _, mean, deviation = line
        if deviation:
            return (value - mean) / deviation
        return 0.0 if value == mean else _UNKNOWN

    def _line_of(self, query: bytes, name: bytes) -> Line | None:
        """Use binary search as trec_eval does, which decides among lines of the same name.

        It looks one line too far: a missing name of a query may match the next query's first line.
        """
        if query not in self.starts:
            return None
        low, high = self.starts[query]
        first, past = low, high
        while first <= past:
            middle = low + (first - low + past - low) // 2
            if middle == len(self.lines):
                return None
            other = self.lines[middle][1]
            if name == other:
                return self.lines[middle]
            if name < other:
                past = middle - 1
            else:
                first = middle + 1
        return None


def read_deviations(path: str) -> Deviations:
    """Read lines of query, name, mean and standard deviation."""
    if not Path(path).is_file() or not Path(path).stat().st_size:
        message = f"trec_eval.get_zscores: Cannot read zscores file '{path}'"
        raise StoppedError(message, _FAILED)
    try:
        rows = read_rows(Path(path), _FIELDS, "get_zscores", _WITHOUT_COMMENTS)
    except StoppedError as problem:
        raise StoppedError(str(problem), _FAILED) from None
    lines = [
        (query, name, decimal(mean), decimal(deviation)) for query, name, mean, deviation in rows
    ]
    lines.sort(key=itemgetter(0, 1))
    starts, place = {}, 0
    for query, group in groupby(lines, key=itemgetter(0)):
        count = sum(1 for _ in group)
        starts[query] = place, place + count
        place += count
    return Deviations(lines, starts)
