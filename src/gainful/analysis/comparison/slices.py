"""Slices: the comparison repeated for subsets of the queries, with p-values corrected over all slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from gainful.analysis.comparison.differences import Difference, Pair, differences
from gainful.analysis.comparison.paired_scores import Paired
from gainful.analysis.comparison.settings import Settings
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.errors import InputError
from gainful.evaluation.means_of_queries import (
    Part,
    columns_to_cut_by,
    parts_by_metadata,
    parts_by_number,
)
from gainful.output.writing.result_base import Record
from gainful.rows.side_table_reader import InputTable

AUTOMATIC = ("judged", "baseline")
"""Slices that need no metadata: by the number of judged documents, and by the baseline's score."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Slice(Record):
    """One comparison of one part of the queries.

    Attributes:
        column: a column of the metadata, `judged` or `baseline`.
        value: the value, or range of values, that the slice's queries have in that column.
        difference: the difference over these queries. Unless the correction is `none`, p is corrected over
            all slices, and the intervals of all slices together hold at the level.
        queries: the ids of the slice's queries.
    """

    column: str
    value: str
    difference: Difference
    queries: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the slice as plain values."""
        return {"slice": self.column, "value": self.value, **self.difference.to_dict()}


def slices_of(
    paired: Paired,
    pairs: Sequence[Pair],
    settings: Settings,
    *,
    base: int,
    by: Sequence[str],
    metadata: InputTable | None,
    judged: Mapping[str, int] | None,
    besides: Sequence[str] = (),
) -> tuple[Slice, ...]:
    """Compare within slices: groups of queries with the same value in a column of the metadata."""
    columns = columns_to_cut_by(by, metadata, AUTOMATIC, besides)
    if not columns:
        return ()
    paired = replace(paired.compared(), unjudged={})  # the shares are known only for all queries
    parts = [part for column in columns for part in _parts(column, paired, base, metadata, judged)]
    if not parts:
        return ()
    # Tukey's correction is for whole runs, so slices use a correction of single p-values.
    plain = replace(settings, correction=settings.adjustment)
    # The intervals are corrected for the same number of comparisons as the p-values.
    if CORRECTIONS[plain.correction].changes:
        tested = (np.count_nonzero(paired.kept[part.chosen], axis=0) > 1 for part in parts)
        made = len(pairs) * sum(int(np.count_nonzero(counts)) for counts in tested)
        plain = replace(plain, together=max(made, 1))
    differences_ = differences(paired, pairs, plain, [part.chosen for part in parts])
    slices = [
        Slice(part.column, part.value, difference, queries)
        for part, own in zip(parts, differences_, strict=True)
        for queries in (tuple(compress(paired.queries, part.chosen.tolist())),)
        for difference in own
    ]
    return tuple(sorted(slices, key=lambda part: part.difference.difference))


def _parts(
    column: str,
    paired: Paired,
    base: int,
    metadata: InputTable | None,
    judged: Mapping[str, int] | None,
) -> list[Part]:
    if metadata is not None and column in metadata.columns:
        return parts_by_metadata(column, paired.queries, metadata)
    if column == "judged":
        if judged is None:
            raise InputError(
                "slices", "judgments, to slice by their number", "scores without judgments"
            )
        counts = np.array([float(judged.get(query, 0)) for query in paired.queries])
        return parts_by_number(column, counts)
    # The first measure decides, so that there is only one order of queries from hard to easy.
    return parts_by_number(column, paired.values[:, base, 0])
