"""Slices: the same comparison for parts of the queries, corrected over all of them, worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gainful.analysis.comparison.differences import Difference, Pair, differences
from gainful.analysis.comparison.paired_scores import Paired
from gainful.analysis.comparison.settings import Settings
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.errors import InputError
from gainful.evaluation.score_slices import (
    Part,
    columns_to_cut_by,
    parts_by_metadata,
    parts_by_number,
)
from gainful.output.writing.result_base import Record
from gainful.rows.side_table_reader import InputTable

AUTOMATIC = ("judged", "baseline")
"""Slices that need no metadata: how many documents are judged, and the baseline's score."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Slice(Record):
    """One comparison of one part of the queries.

    Attributes:
        column: of the metadata, or `judged`, or `baseline`.
        value: that the queries have there, or a range of it.
        difference: of those queries. Its p is corrected over all slices, and its interval holds together with those of
            all slices, unless the correction is `none`.
    """

    column: str
    value: str
    difference: Difference

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
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
) -> tuple[Slice, ...]:
    """Compare within slices: the parts into which columns of metadata cut the queries."""
    paired = replace(paired.compared(), unjudged={})  # the shares are those of all queries
    parts = [
        part
        for column in columns_to_cut_by(by, metadata, AUTOMATIC)
        for part in _parts(column, paired, base, metadata, judged)
    ]
    if not parts:
        return ()
    # Tukey's is a family of whole runs; parts of them are corrected one by one.
    plain = replace(settings, correction=settings.adjustment)
    if CORRECTIONS[
        plain.correction
    ].changes:  # the intervals are corrected as p is, for the same comparisons
        tested = (np.count_nonzero(paired.kept[part.chosen], axis=0) > 1 for part in parts)
        made = len(pairs) * sum(int(np.count_nonzero(counts)) for counts in tested)
        plain = replace(plain, together=max(made, 1))
    differences_ = differences(paired, pairs, plain, [part.chosen for part in parts])
    slices = [
        Slice(part.column, part.value, difference)
        for part, own in zip(parts, differences_, strict=True)
        for difference in own
    ]
    return tuple(sorted(slices, key=lambda one: one.difference.difference))


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
                "slices", "judgments, to slice by how many there are", "scores from elsewhere"
            )
        counts = np.array([float(judged.get(query, 0)) for query in paired.queries])
        return parts_by_number(column, counts)
    # By the first measure: one order of the queries from hard to easy.
    return parts_by_number(column, paired.values[:, base, 0])
