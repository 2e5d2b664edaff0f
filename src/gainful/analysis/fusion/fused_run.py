"""`Fused`: a run that was fused from others."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gainful.analysis.fusion.settings import Settings
from gainful.array_types import Floats, Ints
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.output_files import FUSED, read_naming
from gainful.output.writing.run_like_result import DocumentsByQuery
from gainful.output.writing.runs_and_judgments import write_run
from gainful.rows.identifiers import UNTYPED, IdType

_DIGITS = 6  # scores of rank fusion are close to each other


@dataclass(frozen=True, eq=False, repr=False)
class Fused(DocumentsByQuery):
    """A fused run: a dict {query: {doc: score}}, and also a table with a row for each document.

    Every function that accepts a run accepts it: `evaluate`, `compare`, `write_run` and `fuse`.
    Documents are sorted by score, the best first, and documents with equal scores by id, descending.

    Attributes:
        settings: the settings of the fusion.
        runs: the names of the original runs.
        queries: (q,) ids, in order.
        offsets: (q+1,) the first row of each query.
        docs: (n,) ids, in the order of their ranks.
        scores: (n,) fused scores.
        notes: remarks, such as queries that some runs lack.
        query_type: the original type of query ids, before they became text.
        doc_type: the original type of document ids.
    """

    _called: ClassVar = "fused run"
    settings: Settings
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    offsets: Ints
    docs: NDArray[np.object_]
    scores: Floats
    notes: tuple[str, ...] = ()
    query_type: IdType = field(default=UNTYPED, compare=False)
    doc_type: IdType = field(default=UNTYPED, compare=False)

    def __post_init__(self) -> None:
        places = {query: place for place, query in enumerate(self.queries)}
        object.__setattr__(self, "_by_query", places)
        for array in (self.offsets, self.docs, self.scores):
            array.flags.writeable = False

    def _documents(self, query: str) -> dict[str, float]:
        place = self._by_query[query]
        rows = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
        return dict(zip(self.docs[rows].tolist(), self.scores[rows].tolist(), strict=True))

    @property
    def summary(self) -> str:
        """The settings and the numbers of documents, queries and runs, in one line.

        >>> import gainful as gf
        >>> gf.fuse([{"q": {"a": 2, "b": 1}}, {"q": {"b": 5}}]).summary
        'rrf, k=60: 2 documents of 1 query, from 2 runs'
        """
        return summary_of(self.settings, self.docs.size, len(self), len(self.runs))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, the notes and the documents as plain values."""
        settings = self.settings.chosen()
        return {
            **{name: [*value] if name == "weights" else value for name, value in settings.items()},
            "runs": [*self.runs],
            "notes": [*self.notes],
            "documents": dict(self.items()),
        }

    def table(self) -> Table:
        """Return a row for each document, with the columns query, doc and score."""
        owners = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets)).tolist()
        rows: list[list[Cell]] = [
            [self.queries[owner], doc, score]
            for owner, doc, score in zip(
                owners, self.docs.tolist(), self.scores.tolist(), strict=True
            )
        ]
        columns = ["query", "doc", "score"]
        return Table(columns, rows, digits=_DIGITS, notes=[self.summary, *self.notes])

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
        tag: str = "fused",
    ) -> None:
        """Write the run to a file, which is replaced only when the new one is complete.

        Args:
            path: the path of the file; `-` is standard output.
            format: trec, csv, tsv, jsonl or parquet, as in `write_run`; also json, markdown, latex, html
                or table. Inferred from the name if None: .run, .trec, .txt, .csv, .tsv, .jsonl,
                .parquet, .json, .md, .tex, .html. All formats except Parquet are compressed if the
                name ends in .gz or .zst.
            tag: the last field of the lines of a TREC file.
        """
        naming = read_naming(path, format, FUSED)
        if naming.format == "trec":
            write_run(self, path, format=format, tag=tag)
        else:
            super().write(path, format=format)

    def __repr__(self) -> str:
        return f"Fused({self.summary})"


def summary_of(settings: Settings, docs: int, queries: int, runs: int) -> str:
    """Return the settings and the numbers of documents, queries and runs, in one line."""
    return (
        f"{settings}: {counted(docs, 'document')} of {counted(queries, 'query', 'queries')}, "
        f"from {counted(runs, 'run')}"
    )
