"""`gather`: read runs of any kind, check them, and combine them into `Candidates`.

Dicts are combined in Python. If a run is a file or a data frame, the engine reads all runs and joins
their documents; ids stay in the engine until they are needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gainful.analysis.fusion.candidate_documents import Candidates
from gainful.analysis.fusion.clean_runs import gather_clean
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.request import naming_run
from gainful.matching.dict_matching import documents_of, numbers_of, queries_of
from gainful.matching.engine_rows import refuse_first_duplicate, stored
from gainful.matching.input import Input
from gainful.matching.reader import Reader
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.identifiers import in_order
from gainful.rows.input_types import Run
from gainful.rows.packed_rows import IdWords
from gainful.rows.spark_frames import refuse_spark

Ids = NDArray[np.object_]
_AXES = 2  # documents and runs
_NAN = "CAST('nan' AS DOUBLE)"


@dataclass(frozen=True)
class Gathered:
    """Runs that were read.

    Attributes:
        candidates: their documents, without ids.
        session: the session of the engine.
        table: the table of ids in the engine, with the columns code and doc, in the order of the rows;
            empty if the ids are in Python.
        codes: the table of queries in the engine, with the columns query and code (its position).
        doc_ids: (n,) the ids as text, if they are in Python.
        ids: (n,) the ids as packed integers, if they were read that way.
    """

    candidates: Candidates
    session: Session
    table: str = ""
    codes: str = ""
    doc_ids: Ids | None = None
    ids: IdWords | None = None

    def docs(self, rows: Ints | slice = slice(None)) -> Ids:
        """Return the ids of the documents in all or some rows."""
        if self.ids is not None:
            return self.ids.at(rows).texts()
        if self.doc_ids is not None:
            return self.doc_ids[rows]
        return self.session.columns(f"SELECT doc FROM {self.table}")["doc"][rows]


def gather(reader: Reader, runs: Mapping[str, Run], ties: str) -> Gathered:
    """Read runs by name; errors contain the name of the run."""
    opened: dict[str, Input] = {}
    for name, run in runs.items():
        with naming_run(name, runs):
            refuse_spark(run, RUN.name)
            opened[name] = reader.run(run)
            if not opened[name].has_ids:
                opened[name].refuse("Fusing runs requires document ids.")
    # Tables in the engine don't keep the order of tied documents.
    kept = ties == "auto" and any(run.in_order for run in opened.values())
    if not kept and any(run.on_engine for run in opened.values()):
        return _from_clean_texts(reader, opened, ties) or _from_tables(reader, opened, ties)
    return _from_dicts(reader, opened, ties)


def _from_clean_texts(reader: Reader, opened: Mapping[str, Input], ties: str) -> Gathered | None:
    """Combine runs without the engine; None if the engine is needed, also to report an error."""
    runs = []
    for run in opened.values():
        rows = run.clean_ids()
        if rows is None:
            return None
        runs.append(rows)
    gathered = gather_clean(runs, ties)
    if gathered is None:
        return None
    for name, run in opened.items():
        with naming_run(name, opened):
            run.warn_of_ranks()
    candidates, ids = gathered
    return Gathered(candidates, reader.session, ids=ids)


def _table(scores: list[list[float]]) -> Floats:
    """Return the scores of each document, (documents, runs)."""
    try:
        table = np.array(scores, np.float64)
    except (TypeError, ValueError, RuntimeError):  # tensors among other numbers
        table = np.empty(())
    return table if table.ndim == _AXES else np.array([[*map(float, row)] for row in scores])


def _from_dicts(reader: Reader, opened: Mapping[str, Input], ties: str) -> Gathered:
    scores_by_query: dict[str, dict[str, list[float]]] = {}  # query → document → score in each run
    absent = [np.nan] * len(opened)
    for place, (name, run) in enumerate(opened.items()):
        with naming_run(name, opened):
            returned = queries_of(run.documents(reader.policy), RUN.name)
            if not any(returned.values()):
                raise InputError(RUN.name, RUN.least, "none")
            for query, returned_docs in returned.items():
                numbers = documents_of(returned_docs, RUN, query, None)
                numbers_of([numbers], RUN, [query])  # rejects invalid numbers
                if not numbers:
                    continue
                rows = scores_by_query.setdefault(query, {})
                for doc, score in numbers.items():
                    row = rows.get(doc)
                    if row is None:
                        row = rows[doc] = absent.copy()
                    row[place] = score
            run.warn_of_ranks()  # only if the run is valid
    queries = in_order(scores_by_query)
    docs: list[str] = []
    scores: list[list[float]] = []
    for query in queries:
        listed = sorted(scores_by_query[query], reverse=True)
        docs += listed
        scores += [scores_by_query[query][doc] for doc in listed]
    owner = np.repeat(np.arange(len(queries)), [len(scores_by_query[query]) for query in queries])
    table = _table(scores).T.copy() + 0.0  # turns −0 into 0
    shown = None
    if any(run.in_order for run in opened.values()):
        keys = [(queries[at], doc) for at, doc in zip(owner.tolist(), docs, strict=True)]
        shown = _places(reader, opened, keys)
    doc_ids = np.empty(len(docs), object)
    doc_ids[:] = docs
    return Gathered(
        Candidates(tuple(queries), owner, table, ties, shown), reader.session, doc_ids=doc_ids
    )


def _places(reader: Reader, opened: Mapping[str, Input], keys: list[tuple[str, str]]) -> Floats:
    """Return the position of each document in runs that keep their order, and 0 in other runs."""
    places = np.zeros((len(opened), len(keys)))
    rows = {key: row for row, key in enumerate(keys)}
    for place, run in enumerate(opened.values()):
        if run.in_order:
            for query, docs in queries_of(run.documents(reader.policy), RUN.name).items():
                for at, doc in enumerate(docs):
                    places[place, rows[query, doc]] = at
    return places


def _from_tables(reader: Reader, opened: Mapping[str, Input], ties: str) -> Gathered:
    session = reader.session
    tables = []
    for name, run in opened.items():
        with naming_run(name, opened):
            tables.append(stored(session, run.table(None)))
            run.warn_of_ranks()
    codes, table = session.name("codes"), session.name("candidates")
    every = " UNION ".join(f"SELECT query FROM {source}" for source in tables)
    session.execute(
        f"CREATE TEMP TABLE {codes} AS SELECT query, "
        f"CAST(row_number() OVER (ORDER BY length(query), query) - 1 AS INTEGER) AS code FROM ({every})"
    )
    rows = " UNION ALL ".join(
        f"SELECT code, doc, number + 0.0 AS number, {place} AS run FROM {source} JOIN {codes} USING (query)"
        for place, source in enumerate(tables)
    )
    columns = ", ".join(
        f"max(number) FILTER (run = {place}) AS score_{place}" for place in range(len(tables))
    )
    # The engine returns the rows of a table in the order of insertion.
    session.execute(
        f"CREATE TEMP TABLE {table} AS SELECT code, doc, {columns} FROM ({rows}) "
        "GROUP BY code, doc ORDER BY code, doc DESC"
    )
    counts = session.rows(
        "SELECT " + ", ".join(f"count(score_{place})" for place in range(len(tables)))
        + f" FROM {table}"
    )[0]  # fmt: skip
    for (name, run), source, count in zip(opened.items(), tables, counts, strict=True):
        if session.rows(f"SELECT count(*) FROM {source}")[0][0] > count:
            with naming_run(name, opened):
                refuse_first_duplicate(session, run.table(None), source)
        session.drop(source)
    scores = ", ".join(
        f"coalesce(score_{place}, {_NAN}) AS score_{place}" for place in range(len(tables))
    )
    by_run = session.columns(f"SELECT code, {scores} FROM {table}")
    queries = session.columns(f"SELECT query FROM {codes} ORDER BY code")["query"].tolist()
    owner = by_run.pop("code").astype(np.int64)
    return Gathered(
        Candidates(tuple(queries), owner, np.stack([*by_run.values()]), ties), session, table, codes
    )
