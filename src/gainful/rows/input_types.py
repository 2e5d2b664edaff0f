"""Types of judgments, runs and tables in public signatures, and of the options about queries.

Contents are checked when they are read.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict


class ArrowStream(Protocol):
    """A table that exports Arrow: from polars, pyarrow, pandas, duckdb and others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a capsule with a stream of record batches."""


class DataFrame(Protocol):
    """A data frame with named columns: from pandas, polars, Spark and others."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""


TableLike: TypeAlias = (
    str | os.PathLike[str] | Mapping[Any, Any] | Iterable[Any] | ArrowStream | DataFrame
)
"""A path, a dict, records, a data frame or an Arrow object."""

Judgments: TypeAlias = TableLike
"""`{query: {document: grade}}`, lists of the relevant documents, records, a path, a data frame, an Arrow object …."""

Run: TypeAlias = TableLike
"""`{query: {document: score}}`, ranked lists, search responses, records, a path, a data frame, an Arrow object …."""

Record: TypeAlias = Mapping[Any, Any]
"""A dict of JSON, or of a client of a service: names of fields → values of any kind, which are checked where they are read."""


class SamplingOptions(TypedDict, total=False):
    """How queries were drawn, which determines their mean and its certainty.

    Each of the first three is a dict by query, a table with a row for each query, or the name of a
    column of `slices`.

    Attributes:
        weights: the weight of each query, such as its traffic: a non-negative number. All count the same if
            None.
        clusters: the cluster of each query: the user, the document or the template that it comes from.
            Also a function of the query's id, or "id:_" for the part of the id before the last "_".
        strata: the part of the traffic that each query was drawn from, such as head, torso and tail.
        arrival: when each query was added, as numbers or strings that sort, such as dates; intervals and tests
            by betting process queries in this order, and in the order of their ids if None.
        population: the number of queries in each stratum, {stratum: number}, for weights by
            population / drawn queries.
    """

    weights: TableLike | None
    clusters: TableLike | Callable[[str], object] | None
    strata: TableLike | Callable[[str], object] | None
    arrival: TableLike | None
    population: Mapping[str, float] | None


class UnjudgedOptions(TypedDict, total=False):
    """Facts and assumptions about unjudged documents, for bounds of a score and estimates between them.

    Attributes:
        estimate: how to estimate the scores as if every document down to the cutoff were judged: `bootstrap`,
            from judged documents at similar ranks; `conformal`, from completely judged queries; or
            `prediction-powered`, from individual judged documents. None for no estimate.
        grades: the grades that a document may have: the ends of a range, `(0, 3)`, or all grades,
            `(0, 1, 2, 3)` or `{0, 1}`. If None, the grades that occur in the judgments, and 0.
        model: a model's grades of the unjudged documents, as predictions for `conformal` and
            `prediction-powered`; without it, the grades of judged documents at similar ranks are the predictions.
        random_sample: additional human grades, drawn at random. For `conformal`, of every document of some
            queries, drawn from all queries; for `prediction-powered`, of individual documents, drawn from all
            unjudged documents of the runs down to the cutoff.
    """

    estimate: str | None
    grades: Iterable[float] | None
    model: Judgments | None
    random_sample: Judgments | None


SAMPLING = tuple(SamplingOptions.__annotations__)
"""The names of the options about how queries were drawn."""
