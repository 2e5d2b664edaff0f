"""`RecommendationScores`: the result of measuring recommendations beyond relevance."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.means_over_queries import means_of
from gainful.evaluation.per_query import PerQuery
from gainful.evaluation.scores import Scores, TieRange, evaluated_measure
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, name_of
from gainful.measures.policy import Policy
from gainful.message_texts import counted as counted_text
from gainful.recommending.coded_rows import RankedLists
from gainful.recommending.notation import RecommendationMeasure, parse
from gainful.recommending.sources import Sources, id_digests
from gainful.rendering.table_formats import Cell, Table

_HASH_BYTES = 6
_OF_THE_RUN = "the run"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ListCoverage(Coverage):
    """What measures of recommendations rest on, beside what `Coverage` has: queries are users.

    Attributes:
        catalogue: how many items could be shown; None where that is not known.
        shown: how many different items are shown down to the depth.
        unknown: how many of them are not in the table of items, the vectors, the history.
        without: by measure, how many users have no value.
        left_out: measures that were not asked for by name, of which nobody has a value.
    """

    catalogue: int | None = None
    shown: int = 0
    unknown: Mapping[str, int] | None = None
    without: Mapping[str, int] | None = None
    left_out: Sequence[str] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the counts, and the users that are missing, empty or extra."""
        return Coverage.to_dict(self) | {
            "catalogue": self.catalogue,
            "shown": self.shown,
            "unknown": dict(self.unknown or {}),
            "without": dict(self.without or {}),
            "left_out": [*self.left_out],
        }

    def __str__(self) -> str:
        within = "" if self.depth is None else f" down to rank {self.depth}"
        of = "" if self.catalogue is None else f", of {self.catalogue} in the catalogue"
        unknown = "".join(
            f", {count} not in the {name}" for name, count in (self.unknown or {}).items() if count
        )
        text = f"{self.evaluated} of {counted_text(self.judged, 'user')} with a list"
        if self.missing:
            text += f", {len(self.missing)} judged without one"
        if self.extra:
            text += f", {len(self.extra)} without judgments"
        if self.empty:
            text += f", {len(self.empty)} without a value of some measure"
        nothing = f"; no value of {', '.join(self.left_out)}" if self.left_out else ""
        return f"{text}; {counted_text(self.shown, 'item')} shown{within}{of}{unknown}{nothing}"


class RecommendationScores(Scores):
    """Means over users, the values of each user, and the values that the run has as a whole.

    It is as `Scores`, with users for queries. `means` has the mean over users of a measure of which
    users have values, and the value of the run of any other. `run_values` has the latter alone. They
    stand in no `per_query`, and have no interval.
    """

    _kind = "those of recommendations"

    def __init__(
        self,
        *,
        measures: tuple[RecommendationMeasure, ...],
        coverage: ListCoverage,
        means: dict[str, float],
        users: tuple[str, ...],
        values: Floats,
        counted: Bools,
        run_values: Mapping[str, float],
        lists: RankedLists,
        sources: Sources,
    ) -> None:
        super().__init__(
            measures=measures,
            policy=Policy().resolved(ids=True),
            coverage=coverage,
            means=means,
            queries=users,
            values=values,
            counted=counted,
            empty=tuple((coverage.without or {}).get(str(each), 0) for each in measures),
            batches=(),
        )
        self.run_values = dict(run_values)
        self._lists: RankedLists | None = lists
        self._sources: Sources | None = sources

    @property
    def ties(self) -> dict[str, TieRange]:
        """Refuse: items with equal scores stand by id, and no other order is measured."""
        raise InputError("ties", "scores of relevance", self._kind)

    @property
    def per_query(self) -> PerQuery:
        """The values of each user: columns query, and one for each measure of which users have values."""
        of_users = [
            place for place, each in enumerate(self.measures) if str(each) not in self.run_values
        ]
        names = tuple(str(self.measures[place]) for place in of_users)
        values, counted = self.values[:, of_users], self.counted[:, of_users]
        return _PerUser(self.queries, names, values, counted, self.query_type)

    @property
    def aggregates(self) -> list[str]:
        """What is said of measures that the run has as a whole."""
        if not self.run_values:
            return []
        return [f"{', '.join(self.run_values)}: of the run as a whole, no mean over users"]

    def table(self) -> Table:
        """Return the values, each with what it is of: so many users, or the run."""
        rows: list[list[Cell]] = []
        for column, (name, cell) in enumerate(zip(self.means, self.cells(), strict=True)):
            users = counted_text(self._count(column), "user")
            rows.append(
                [name, cell, _OF_THE_RUN if name in self.run_values else f"mean of {users}"]
            )
        return Table(["measure", "value", "of"], rows, notes=[f"coverage  {self.coverage}"])

    def to_dict(self) -> dict[str, Any]:
        """Return the values, those of the run as a whole once more, and what they rest on."""
        return super().to_dict() | {"run_values": self.run_values}

    def _count(self, column: int) -> int:
        if str(self.measures[column]) in self.run_values:
            return self.coverage.evaluated
        return super()._count(column)

    def _measure(self, measure: GivenMeasure) -> Measure:
        return evaluated_measure(measure, self.measures, parse)

    def _hashes(self, reach: int | None) -> tuple[str, str]:
        """Hash all that measures see besides the run, and the lists down to a reach."""
        if reach not in self._hashed:
            lists, sources = self._lists, self._sources
            assert lists is not None and sources is not None  # noqa: S101, PT018 - they are kept
            cut = lists.down_to(reach)
            users, items = id_digests(sources.users.names), id_digests(sources.items.names)
            digest = hashlib.blake2b(digest_size=_HASH_BYTES)
            for column in (users[cut.users[cut.owner]], items[cut.items], cut.rank):
                digest.update(np.ascontiguousarray(column).tobytes())
            self._hashed[reach] = sources.digest, digest.hexdigest()
        return self._hashed[reach]

    def _equal_by(self) -> tuple[object, ...]:
        return (*super()._equal_by(), self.run_values)

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {mean:.4f}" for name, mean in self.means.items())
        return f"RecommendationScores({means}; {counted_text(len(self.queries), 'user')})"


class _PerUser(PerQuery):
    """The same table, whose columns are found by any spelling of their measures."""

    def _place(self, column: GivenMeasure) -> int:
        name = name_of(column)
        if name is None or name in self.columns or name in self.queries:
            return super()._place(column)
        meant = column if isinstance(column, RecommendationMeasure) else parse(name)
        if not meant.has_users:
            found = f"'{meant}', which the run has as a whole"
            raise InputError("per_query", "a measure of which users have values", found)
        return super()._place(meant)


def scores_of(
    measures: Sequence[RecommendationMeasure],
    found: Mapping[RecommendationMeasure, Floats | float],
    lists: RankedLists,
    sources: Sources,
    *,
    left_out: Sequence[str] = (),
) -> RecommendationScores:
    """Put values together: those of users, which count where they are known, and those of the run."""
    values = np.full((lists.count, len(measures)), np.nan)
    run_values: dict[str, float] = {}
    for column, measure in enumerate(measures):
        value = found[measure]
        if isinstance(value, float):
            run_values[str(measure)] = value
        else:
            values[:, column] = value
    counted: Bools = ~np.isnan(values)
    of_users = [place for place, each in enumerate(measures) if str(each) not in run_values]
    kept: Bools = (
        np.logical_or.reduce(counted[:, of_users], axis=1)
        if of_users
        else np.ones(lists.count, np.bool_)
    )
    each_user = [measures[place] for place in of_users]
    means = means_of(each_user, values[:, of_users], counted[:, of_users]) | run_values
    names = sources.users.names
    ids = np.array([names[code] for code in lists.users.tolist()], object)
    cutoffs = [measure.cutoff for measure in measures]
    depth = None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)
    coverage = _coverage(measures, counted, of_users, ids, lists, sources, depth)
    coverage = replace(coverage, left_out=left_out)
    return RecommendationScores(
        measures=tuple(measures),
        coverage=coverage,
        means={str(each): means[str(each)] for each in measures},
        users=tuple(ids[kept].tolist()),
        values=values[kept],
        counted=counted[kept],
        run_values=run_values,
        lists=lists,
        sources=sources,
    )


def _coverage(
    measures: Sequence[RecommendationMeasure],
    counted: Bools,
    of_users: list[int],
    ids: np.ndarray,
    lists: RankedLists,
    sources: Sources,
    depth: int | None,
) -> ListCoverage:
    """Count what the values rest on."""
    cut = lists.down_to(depth)
    has_list = lists.lengths > 0
    judged = np.ones(lists.count, np.bool_)
    if sources.judgments is not None:
        judged = np.isin(lists.users, sources.judgments.users)
    shown = np.unique(cut.items)
    known = {
        "items": None if sources.table is None else sources.table.items,
        "vectors": None if sources.vectors is None else sources.vectors.items,
        "history": None if sources.history is None else sources.history.items,
    }
    has_catalogue = sources.table is not None or sources.history is not None
    lacking = (
        np.logical_or.reduce(~counted[:, of_users], axis=1)
        if of_users
        else np.zeros(lists.count, np.bool_)
    )
    return ListCoverage(
        judged=lists.count,
        evaluated=int(has_list.sum()),
        missing=tuple(ids[~has_list & judged].tolist()) if sources.judgments is not None else (),
        empty=tuple(ids[lacking].tolist()),
        extra=tuple(ids[~judged].tolist()),
        retrieved=lists.items.size,
        depth=depth,
        seen=cut.items.size,
        unjudged=0,
        tied=0,
        tied_queries=0,
        catalogue=sources.catalogue("coverage").size if has_catalogue else None,
        shown=shown.size,
        unknown={
            name: int((~np.isin(shown, items)).sum())
            for name, items in known.items()
            if items is not None
        },
        without={str(measures[place]): int((~counted[:, place]).sum()) for place in of_users},
    )
