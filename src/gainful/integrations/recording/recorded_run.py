"""`RecordedRun`: the run of a search service, and how it was recorded."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar

from gainful import arguments
from gainful.message_texts import counted, printable, shortened, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.output_files import FUSED, read_naming, write_parts
from gainful.output.writing.run_like_result import DocumentsByQuery
from gainful.output.writing.runs_and_judgments import refuse_queries, write_run
from gainful.rows.identifiers import UNTYPED, IdType

_SHOWN = 10
_DIGITS = 6
_PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class RecordedQuery:
    """A query and its result.

    Attributes:
        query: its id.
        docs: the returned documents, in the order of the service; None if the query failed.
        scores: their scores; None if the query failed.
        seconds: how long the service took; None if the query failed.
        cached: whether the answer came from the cache.
        why: the reason for the failure; empty if there was none.
    """

    query: str
    docs: tuple[str, ...] | None
    scores: tuple[float, ...] | None
    seconds: float | None
    cached: bool = False
    why: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class RecordedRun(DocumentsByQuery):
    """The run of a search service: a dict {query: {doc: score}}, and a table with a row for each document.

    It can be used wherever a run is accepted: `evaluate`, `compare`, `write_run`. It contains a
    query that returned nothing, with no documents; a query that failed is listed in `failed`
    instead.

    Attributes:
        tag: the name of the run; the last field of every row of a file, with the beginning of the hash.
        request_hash: a hash of everything in a request except the query: address, template,
            headers without keys, depth.
        rows: the queries, in their original order.
        depth: the maximum number of documents per query.
        scored_by: `service`; or `rank`, depth + 1 − rank, if the service's scores don't strictly
            decrease.
        calls: the number of calls, including retries.
        repeated: the number of repeated documents in lists; the first occurrence counts.
        query_type: the original type of query ids, before they became text.
        sent: which column of the queries was sent, if there was a choice.
    """

    _called: ClassVar = "recorded run"
    tag: str
    request_hash: str
    rows: tuple[RecordedQuery, ...]
    depth: int
    scored_by: str
    calls: int
    repeated: int = 0
    query_type: IdType = field(default=UNTYPED, compare=False)
    sent: str = ""

    def __post_init__(self) -> None:
        by_query = {
            row.query: dict(zip(row.docs, row.scores, strict=True))
            for row in self.rows
            if row.docs is not None and row.scores is not None
        }
        object.__setattr__(self, "_by_query", by_query)

    def _documents(self, query: str) -> dict[str, float]:
        return dict(self._by_query[query])

    def _instead_of(self, query: object) -> str:
        failed = self.failed.get(query) if isinstance(query, str) else None
        return shown(query) if failed is None else f"{shown(query)}, which failed: {failed}"

    @property
    def failed(self) -> dict[str, str]:
        """The queries without an answer, each with the reason."""
        return {row.query: row.why for row in self.rows if row.docs is None}

    @property
    def empty(self) -> tuple[str, ...]:
        """The queries for which the service returned nothing."""
        return tuple(row.query for row in self.rows if row.docs == ())

    @property
    def cached(self) -> int:
        """The number of queries answered from the cache."""
        return sum(row.cached for row in self.rows)

    @property
    def latency(self) -> dict[str, float]:
        """The 50th, 95th and 99th percentile of the service's latency in seconds, and the maximum.

        A percentile is the lowest value that this percentage of the values doesn't exceed. Failed
        attempts and the waits between attempts are not included.
        """
        times = sorted(row.seconds for row in self.rows if row.seconds is not None)
        if not times:
            return {}
        percentiles = {
            f"p{percent}": times[math.ceil(percent / 100 * len(times)) - 1]
            for percent in _PERCENTILES
        }
        return {**percentiles, "max": times[-1]}

    @property
    def full_tag(self) -> str:
        """The tag with the beginning of the request's hash, as in TREC files."""
        return f"{self.tag}-{self.request_hash[:12]}"

    @property
    def summary(self) -> str:
        """The counts and the latency in one line."""
        text = (
            f"{self.tag}: {len(self):,} of {counted(len(self.rows), 'query', 'queries')} recorded"
        )
        text += f", {len(self.failed):,} failed" if self.failed else ""
        text += f", {len(self.empty):,} with no document" if self.empty else ""
        text += f"; {counted(self.calls, 'call')}, {self.cached:,} cached"
        if self.scored_by == "rank":
            text += "; scored by rank"
        text += f"; {self.sent}" if self.sent else ""
        if self.repeated:
            text += f"; {counted(self.repeated, 'repeated document')} left out"
        if self.latency:
            latencies = ", ".join(
                f"{name} {1000 * seconds:,.1f}" for name, seconds in self.latency.items()
            )
            text += f"; latency in ms: {latencies}"
        return f"{text}; request {self.request_hash[:12]}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "tag": self.tag,
            "request_hash": self.request_hash,
            "depth": self.depth,
            "scored_by": self.scored_by,
            **({"sent": self.sent} if self.sent else {}),
            "calls": self.calls,
            "cached": self.cached,
            "repeated": self.repeated,
            "latency": self.latency,
            "seconds": {row.query: row.seconds for row in self.rows if row.seconds is not None},
            "failed": self.failed,
            "documents": {query: self[query] for query in self},
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """Return a row for each document, with the columns query, doc, score and tag, which contains the request's hash."""
        return self._document_rows(self.full_tag)

    def tables(self) -> list[Table]:
        """Return all tables for people, with the tag shown only once."""
        return [self._document_rows(), *([self._failures()] if self.failed else [])]

    def _document_rows(self, *more: Cell) -> Table:
        columns = ["query", "doc", "score", "tag"][: 3 + len(more)]
        rows: list[list[Cell]] = [
            [query, doc, score, *more] for query in self for doc, score in self[query].items()
        ]
        return Table(columns, rows, digits=_DIGITS, notes=[self.summary])

    def _failures(self) -> Table:
        rows: list[list[Cell]] = [[*pair] for pair in islice(self.failed.items(), _SHOWN)]
        more = len(self.failed) - len(rows)
        notes = [f"{more:,} more; JSON and `failed` have all"] if more > 0 else []
        return Table(["query", "why"], rows, title="failed", notes=notes)

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
        dry: bool = False,
    ) -> None:
        """Write the run to a file, which is replaced only when the new one is complete.

        Args:
            path: the path of the file; `-` is standard output.
            format: trec, csv, tsv, jsonl or parquet, whose last field is the tag with the beginning of the request's
                hash. json, which contains everything; markdown, latex, html or table. If None, it
                follows from the name: .run, .trec, .txt, .csv, .tsv, .jsonl, .parquet, .json, .md,
                .tex, .html. All formats except Parquet are compressed if the name ends in .gz or
                .zst.
            dry: whether to write nothing, and only check the format and the ids of queries.
        """
        naming = read_naming(path, format, FUSED)
        if arguments.truth(dry, "dry"):
            refuse_queries("run", self, naming.format)
            return
        if naming.format != "trec":
            super().write(path, format=format)
        elif any(self.values()):
            write_run(dict(self), path, format=format, tag=self.full_tag)
        else:
            write_parts([b""], path, naming.packing)

    def __repr__(self) -> str:
        return f"RecordedRun({shortened(printable(self.summary), 400)})"
