"""The rows of a run or of judgments on the engine, in the order in which they are written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gainful.errors import warn
from gainful.inputs.engine import Session
from gainful.inputs.identifiers import examples, in_order
from gainful.inputs.kinds import RUN, Kind
from gainful.matching.judged import unique
from gainful.matching.opening import open_input
from gainful.matching.records import stored


@dataclass(frozen=True, slots=True)
class Rows:
    """What is written.

    Attributes:
        session: where the rows are.
        kind: whether they are of a run or of judgments.
        name: what messages call their source.
        table: with the columns query, doc, number and rank, which is from 1.
        queries: (q,) ids, in order.
    """

    session: Session
    kind: Kind
    name: str
    table: str
    queries: tuple[str, ...]


def read_rows(given: object, kind: Kind, columns: Mapping[str, str], session: Session) -> Rows:
    """Read what a caller passed as run or judgments, check it, and put it in order.

    Queries stand by id. The documents of a run stand by score, the best first, those with equal
    scores by id, descending; those of judgments stand as they came.
    """
    opened = open_input(given, kind, columns, session)
    source = opened.table(None)
    _warn_of_lost_queries(opened.bare_queries(), kind)
    copy = stored(session, source)
    placed, _ = unique(session, source, copy, "number", None)
    if kind is RUN:
        opened.warn_of_ranks()  # when nothing is wrong with it
    found = session.columns(f"SELECT query, count(*) AS n FROM {placed} GROUP BY query")
    sizes = dict(zip(found["query"].tolist(), found["n"].tolist(), strict=True))
    queries = in_order(sizes)
    ends = np.cumsum([sizes[query] for query in queries])
    starts = session.register(
        "starts",
        {
            "query": np.array(queries, object),
            "start": np.concatenate(([0], ends[:-1])).astype(np.int64),
        },
    )
    ordered, table = session.name("ordered"), session.name("rows")
    order = "number DESC, doc DESC" if kind is RUN else "place"
    # Sorted once: where a row stands, and where its query begins, is its rank.
    session.execute(
        f"CREATE TEMP TABLE {ordered} AS SELECT query, doc, number, start "
        f"FROM {placed} JOIN {starts} USING (query) ORDER BY start, {order}"
    )
    session.execute(
        f"CREATE TEMP VIEW {table} AS SELECT query, doc, number, rowid - start + 1 AS rank "
        f"FROM {ordered}"
    )
    session.execute(f"DROP VIEW {placed}")
    session.drop(copy)
    return Rows(session, kind, source.name, table, tuple(queries))


def _warn_of_lost_queries(queries: Iterable[str], kind: Kind) -> None:
    """Say which queries are not in the file, because they have no documents."""
    lost = in_order(queries)
    if lost:
        warn(f"{kind.name}: queries without documents are not in the file: {examples(lost)}.")
