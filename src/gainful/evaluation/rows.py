"""`Rows`: queries and their values, held here or fetched when one is looked at."""

import numpy as np
from numpy.typing import NDArray

Held = tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.bool_]]


class Rows:
    """A row for each query, a column for each measure."""

    def __init__(
        self,
        queries: tuple[str, ...],
        values: NDArray[np.float64],
        counted: NDArray[np.bool_],
    ) -> None:
        self._rows = queries, values, counted

    def _held(self) -> Held:
        return self._rows

    @property
    def queries(self) -> tuple[str, ...]:
        """(q,) ids of the queries that count for at least one measure."""
        return self._held()[0]

    @property
    def values(self) -> NDArray[np.float64]:
        """[query, measure], read-only; NaN where not counted."""
        return self._held()[1]

    @property
    def counted(self) -> NDArray[np.bool_]:
        """[query, measure], read-only."""
        return self._held()[2]
