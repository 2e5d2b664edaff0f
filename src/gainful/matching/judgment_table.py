"""`JudgmentTable`: judgments as a table on the engine, prepared once for any number of runs."""

from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.inputs.cores import cached_property
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.table_source import Source, refuse_duplicate
from gainful.matching.dict_table_conversion import stored
from gainful.matching.rank_search import Segments, with_repeats
from gainful.matching.sorting import descending_in_blocks
from gainful.measures.policy import Policy


@dataclass(frozen=True)
class JudgmentTable:
    """Judgments on the engine.

    Attributes:
        session: where they are.
        table: a table, or SQL in brackets for one, with the columns query, code, doc, grade.
        codes: a table with the columns query and code, the number of the query from 0.
        queries: (q,) ids, in order of their numbers.
        lowest: the lowest grade.
        graded: numbers of queries (m,), ascending, and grades (m,), if they are at hand.
    """

    session: Session
    table: str
    codes: str
    queries: tuple[str, ...]
    lowest: float
    graded: tuple[Ints, Floats] | None = None

    @cached_property
    def pools(self) -> tuple[Ints, Floats]:
        """How many judged documents each query has (q,), and their grades (m,), descending."""
        if self.graded is not None:
            code, grade = self.graded
        else:
            found = self.session.columns(f"SELECT code, grade FROM {self.table}")
            order = np.argsort(found["code"], kind="stable")
            code, grade = found["code"][order], found["grade"][order]
        sizes = np.bincount(code, minlength=len(self.queries))
        return sizes, descending_in_blocks(code.astype(np.int64), grade)


def prepare(session: Session, source: Source, policy: Policy) -> JudgmentTable:
    """Read judgments, check them, and number their queries."""
    codes = session.name("queries")
    table = stored(session, source)
    session.execute(
        f"CREATE TEMP TABLE {codes} AS SELECT query, "
        "CAST(row_number() OVER (ORDER BY length(query), query) - 1 AS INTEGER) AS code "
        f"FROM (SELECT DISTINCT query FROM {table})"
    )
    graded = _graded(session, table, codes) if policy.duplicates == "error" else None
    if graded is None:
        table, _ = unique(session, source, table, "number", policy)
    kept = ["query <> doc"] if policy.drop_self == "yes" else []
    kept += ["number >= 0"] if policy.negative == "unjudged" else []
    keep = ""
    if kept:  # the query stays, with the documents that are left
        keep, graded = f" WHERE {' AND '.join(kept)}", None
    # + 0: there is no −0.
    judged = (
        f"(SELECT query, code, doc, number + 0.0 AS grade FROM {table} JOIN {codes} "
        f"USING (query){keep})"
    )
    if graded is None:
        lowest = session.rows(f"SELECT min(number) + 0.0 FROM {table}{keep}")[0][0]
    else:
        lowest = graded[1].min()
    queries = session.columns(f"SELECT query FROM {codes} ORDER BY code")["query"]
    names = tuple(queries.tolist())
    return JudgmentTable(
        session, judged, codes, names, np.inf if lowest is None else float(lowest), graded
    )


def _graded(session: Session, table: str, codes: str) -> tuple[Ints, Floats] | None:
    """Return the numbers of queries and the grades; None if a query may have a document twice.

    Hashes of the ids tell fast that none has; where two agree, the ids themselves must be seen.
    """
    found = session.columns(
        f"SELECT code, number + 0.0 AS grade, hash(doc) AS id FROM {table} JOIN {codes} USING (query)"
    )
    order = np.argsort(found["code"], kind="stable")
    code = found["code"][order].astype(np.int64)
    sizes = np.bincount(code)
    if with_repeats(found["id"][order], Segments(np.cumsum(sizes) - sizes, sizes)).size:
        return None
    return code, found["grade"][order]


def unique(
    session: Session, source: Source, table: str, number: str, policy: Policy | None
) -> tuple[str, str]:
    """Treat documents that a query has twice as the policy says, and add the column place.

    Where there is no policy to set, they are refused. Returns the table, and what numbers its rows without a gap.
    """
    placed = session.name(table)
    count, distinct = session.rows(
        f"SELECT (SELECT count(*) FROM {table}), "
        f"(SELECT count(*) FROM (SELECT DISTINCT query, doc FROM {table}))"
    )[0]
    if count == distinct:
        session.execute(f"CREATE TEMP VIEW {placed} AS SELECT *, rowid AS place FROM {table}")
        return placed, "place"
    rule = "error" if policy is None else policy.duplicates
    if rule == "error":
        refuse_first_duplicate(session, source, table, by_policy=policy is not None)
    choose = f"arg_min({number}, rowid)" if rule == "first" else f"max({number})"
    session.execute(
        f"CREATE TEMP TABLE {placed} AS SELECT query, doc, {choose} AS {number}, "
        f"min(rowid) AS place FROM {table} GROUP BY query, doc ORDER BY place"
    )
    return placed, "rowid"


def refuse_first_duplicate(
    session: Session, source: Source, table: str, *, by_policy: bool = True
) -> None:
    """Refuse the first document that a query has twice, if one has."""
    found = session.rows(
        f"SELECT query, doc FROM {table} GROUP BY query, doc HAVING count(*) > 1 "
        "ORDER BY query, doc LIMIT 1"
    )
    if found:
        refuse_duplicate(source, *found[0], by_policy=by_policy)
