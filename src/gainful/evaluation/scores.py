"""`Scores`: the result of an evaluation, with all that is needed to quote it."""

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, did_you_mean
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.per_query import PerQuery
from gainful.matching.matched import Matched, cut
from gainful.measures.family import GEOMETRIC, MEAN, SUM
from gainful.measures.notation import parse
from gainful.measures.policy import CHOICES, Policy
from gainful.measures.spec import Measure
from gainful.rendering.table import Cell, Table, as_html, as_text
from gainful.version import VERSION
from gainful.writing.cells import write_table

if TYPE_CHECKING:
    from gainful.evaluation.ties import TieRange

_HASH_BYTES = 6

# What the two hashes of a signature cover.
_JUDGMENTS = ("pool_offsets", "pool_grades")
_RUN = ("offsets", "rank_first", "rank_last", "rank", "grade", "retrieved", "missing")


class Scores:
    """Means over queries, the values of each query, and what they rest on.

    Attributes:
        measures: the measures, in the order asked.
        policy: the policy they were computed under, ties decided.
        coverage: what was counted and what was missing.
        queries: (q,) ids of the queries that count for at least one measure.
        values: [query, measure] float64, read-only; NaN where not counted.
        counted: [query, measure] bool, read-only.
    """

    def __init__(
        self,
        *,
        measures: tuple[Measure, ...],
        policy: Policy,
        coverage: Coverage,
        queries: tuple[str, ...],
        values: NDArray[np.float64],
        counted: NDArray[np.bool_],
        empty: tuple[int, ...],
        batches: tuple[Matched, ...],
    ) -> None:
        for array in (values, counted):
            array.flags.writeable = False
        self.measures = measures
        self.policy = policy
        self.coverage = coverage
        self.queries = queries
        self.values = values
        self.counted = counted
        self._empty = empty  # how many queries have no positive gain, for each measure
        self._batches = batches
        self._hashed: dict[int | None, tuple[str, str]] = {}
        self.dialect: str | None = None  # of another tool, where it was asked for
        self.match_whole: Callable[[], Sequence[Matched]] | None = None  # where lists were cut

    def __getitem__(self, measure: str | Measure) -> float:
        """Return the mean over queries, or what the measure has in its place."""
        return self.means[str(self._measure(measure))]

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean over queries of every measure, by its name; counts are summed.

        Sums are exact before the one rounding at the end, so the order of the queries does
        not matter.
        """
        means = {}
        for column, measure in enumerate(self.measures):
            values = self.values[self.counted[:, column], column].tolist()
            means[str(measure)] = _AGGREGATES[measure.family.aggregate](values, measure)
        return means

    @cached_property
    def ties(self) -> dict[str, "TieRange"]:
        """How far the order of tied documents moves the mean of every measure, by its name.

        Where all measures have cutoffs, the judgments and the run are read once more, whole.
        """
        # Imported here because it measures again, which is a step above.
        from gainful.evaluation.ties import tie_ranges

        batches = self._batches if self.match_whole is None else self.match_whole()
        return tie_ranges(batches, self.measures, self.policy)

    def warn_of_ties(self, amount: float) -> None:
        """Warn where ties move the mean of a measure with a cutoff by more than an amount."""
        from gainful.evaluation.ties import warn_of_ties

        if isinstance(amount, bool) or not isinstance(amount, int | float) or not amount >= 0:
            raise InputError("tie_warning", "an amount from 0", repr(amount))
        warn_of_ties(self, float(amount))

    @property
    def per_query(self) -> PerQuery:
        """The values of each query: columns query, and one for each measure."""
        names = tuple(str(measure) for measure in self.measures)
        return PerQuery(self.queries, names, self.values, self.counted)

    def signature(self, measure: str | Measure) -> str:
        """Return one line that pins the number down.

        It names the measure, every choice of the policy that is not the default (ties always),
        the queries counted, a hash of what was measured on either side, and the version. The
        hashes are of the grades and ranks that the measure sees, down to its reach: they are
        the same whatever kind of input or engine the data came through, and whatever else
        was measured with it.
        """
        found = self._measure(measure)
        column = self.measures.index(found)
        choices = [
            f"{name}={answer}"
            for choice, (name, answer) in zip(CHOICES, self.policy.answers().items(), strict=True)
            if name == "ties" or answer != choice.default
        ]
        if self.dialect is not None:
            choices.insert(0, f"dialect={self.dialect}")
        coverage = self.coverage
        counts = f"queries={int(self.counted[:, column].sum())}"
        counts += f" missing={len(coverage.missing)} empty={self._empty[column]}"
        judgments, run = self._hashes(found.reach)
        return " | ".join(
            [
                str(found),
                " ".join(choices),
                counts,
                f"judgments={judgments} run={run}",
                f"gainful {VERSION}",
            ]
        )

    def grades(self) -> list[float]:
        """Return the grades that the judgments have, each once, ascending."""
        pools = [np.unique(batch.pool_grades) for batch in self._batches]
        return np.unique(np.concatenate(pools)).tolist() if pools else []

    def hashes(self, measure: str | Measure) -> tuple[str, str]:
        """Return the hashes of the judgments and of the run, as the signature of a measure has them."""
        return self._hashes(self._measure(measure).reach)

    @cached_property
    def judged(self) -> NDArray[np.int64]:
        """The number of judged documents of each of `queries` (q,), read-only."""
        counts: dict[str, int] = {}
        for batch in self._batches:
            judged = np.diff(batch.pool_offsets)
            if isinstance(self.policy.unjudged, float):  # the others have that grade in the pool
                judged = judged - batch.unjudged
            counts.update(zip(batch.queries, judged.tolist(), strict=True))
        if not self._batches:  # of subtopics, whose documents are judged for each
            raise InputError("judged", "scores of queries without subtopics", "those of subtopics")
        found = np.array([counts[query] for query in self.queries], np.int64)
        found.flags.writeable = False
        return found

    def _hashes(self, reach: int | None) -> tuple[str, str]:
        if reach not in self._hashed:
            batches = [cut(batch, reach) for batch in self._batches]
            judgments, run = (_hash(batches, fields) for fields in (_JUDGMENTS, _RUN))
            self._hashed[reach] = judgments, run
        return self._hashed[reach]

    def _measure(self, measure: str | Measure) -> Measure:
        by_name = {str(known): known for known in self.measures}
        if isinstance(measure, str) and measure in by_name:
            return by_name[measure]  # a gain that is a function has no notation that reads back
        found = measure if isinstance(measure, Measure) else parse(measure)
        if found not in self.measures:
            names = [str(known) for known in self.measures]
            raise InputError(
                "scores",
                "a measure that was evaluated",
                f"'{found}'",
                did_you_mean(str(found), names),
            )
        return found

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
        per_query: bool = True,
    ) -> None:
        """Write the scores to a file, which is replaced only when the new one is complete.

        Args:
            path: of the file; `-` is standard output.
            format: csv, tsv, json, jsonl or parquet, which keep every digit; markdown, latex,
                html or table, which round and say policy and coverage. Told by the name if
                None: .csv, .tsv, .json, .jsonl, .parquet, .md, .tex, .html, .txt. All but
                Parquet are packed where the name ends in .gz or .zst.
            per_query: a row for each query; else one for the mean of each measure.
        """
        means = self.table()
        table = replace(self.per_query.table(), notes=means.notes) if per_query else means
        write_table(table, path, format=format)

    def cells(self) -> list[Cell]:
        """Return the means for a table: sums that are whole without a point."""
        return [
            int(mean) if measure.family.aggregate == SUM and mean.is_integer() else mean
            for measure, mean in zip(self.measures, self.means.values(), strict=True)
        ]

    @property
    def aggregates(self) -> list[str]:
        """What is said of measures whose value over all queries is not their mean."""
        return [
            f"{measure}: the {measure.family.aggregate} over the queries"
            for measure in self.measures
            if measure.family.aggregate != MEAN
        ]

    def table(self) -> Table:
        """Return the means, with policy and coverage as notes, for rendering."""
        rows = [[name, cell] for name, cell in zip(self.means, self.cells(), strict=True)]
        notes = [f"policy    {self.policy}", f"coverage  {self.coverage}"]
        notes += [f"          {note}" for note in self.aggregates]
        return Table(["measure", "mean"], rows, notes=notes)

    def __str__(self) -> str:
        return as_text(self.table())

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {mean:.4f}" for name, mean in self.means.items())
        return f"Scores({means}; {len(self.queries)} queries)"

    def _repr_html_(self) -> str:
        return as_html(self.table())


def _mean(values: list[float], _: Measure) -> float:
    try:
        return math.fsum(values) / len(values)
    except OverflowError:  # of the sum; the mean may still be a number
        return math.fsum(value / len(values) for value in values)


def _geometric_mean(values: list[float], measure: Measure) -> float:
    floor = measure.parameters["floor"]
    if any(math.isnan(value) for value in values):
        return math.nan
    return math.exp(math.fsum(math.log(max(value, floor)) for value in values) / len(values))


def _sum(values: list[float], _: Measure) -> float:
    return math.fsum(values)


_AGGREGATES = {MEAN: _mean, GEOMETRIC: _geometric_mean, SUM: _sum}


def _hash(batches: Sequence[Matched], fields: tuple[str, ...]) -> str:
    """Hash arrays field by field, as if the batches were one."""
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for batch in batches:
        digest.update(
            "".join(f"{query}\n" for query in batch.queries).encode(errors="surrogatepass")
        )
    for field in fields:
        for batch in batches:
            array = getattr(batch, field)
            if field.endswith("offsets"):
                array = np.diff(array)
            # Little-endian everywhere, and no −0 beside 0, so that equal values hash the same.
            plain = array + 0.0 if array.dtype.kind == "f" else array
            digest.update(plain.astype(plain.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
