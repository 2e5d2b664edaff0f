"""Chunks and passages folded to their documents, and queries that retrieve themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.inputs.engine import Session, quoted
from gainful.inputs.identifiers import id_text
from gainful.measures.policy import Policy
from gainful.message_texts import shown

DocScores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Chunks:
    """How the id of a chunk tells its document: what stands before the last delimiter, or a dict.

    >>> Chunks("#").document("doc7#2"), Chunks("#").document("doc8")
    ('doc7', 'doc8')
    >>> Chunks({"c1": "doc7"}).document("c1")
    'doc7'
    """

    by: str | Mapping[str, str]

    def document(self, chunk: str) -> str:
        """Return the document of a chunk."""
        if isinstance(self.by, str):
            parts = chunk.split(self.by)
            return self.by.join(parts[:-1]) if len(parts) > 1 else chunk
        if chunk not in self.by:
            raise unknown_chunk(chunk)
        return self.by[chunk]

    def sql(self, session: Session, table: str) -> str:
        """Return SQL that adds the column `document` to a table of the columns query, doc, …."""
        if isinstance(self.by, str):
            mark = quoted(self.by)
            return (
                f"SELECT *, CASE WHEN contains(doc, {mark}) THEN "
                f"array_to_string(string_split(doc, {mark})[:-2], {mark}) ELSE doc END "
                f"AS document FROM {table}"
            )
        chunks, documents = list(self.by), list(self.by.values())
        known = session.register(
            "chunks", {"chunk": np.array(chunks, object), "document": np.array(documents, object)}
        )
        lost = session.rows(
            f"SELECT doc FROM {table} ANTI JOIN {known} ON doc = chunk ORDER BY doc LIMIT 1"
        )
        if lost:
            raise unknown_chunk(lost[0][0])
        return f"SELECT t.*, document FROM {table} t JOIN {known} k ON t.doc = k.chunk"


def read_chunks(chunks: object, policy: Policy) -> Chunks | None:
    """Check how chunks tell their documents; it goes with the policy `fold`."""
    if chunks is None:
        if policy.fold == "none":
            return None
        raise InputError(
            "chunks",
            "a delimiter or a dict {chunk: doc}",
            "none",
            "E.g. '#' for chunks doc7#1 and doc7#2.",
            choice=f"fold={policy.fold}",
        )
    if policy.fold == "none":
        raise InputError(
            "chunks", "a policy that folds them", "fold=none", "Say fold=max or first."
        )
    if isinstance(chunks, Chunks):  # read before, for another policy
        return chunks
    if isinstance(chunks, str) and chunks:
        return Chunks(chunks)
    if isinstance(chunks, Mapping) and chunks:
        return Chunks(
            {id_text(k, where="chunks"): id_text(v, where="chunks") for k, v in chunks.items()}
        )
    raise InputError("chunks", "a delimiter or a dict {chunk: doc}", shown(chunks))


def without_self(documents: Mapping[Any, float], query: str) -> Mapping[Any, float]:
    """Return the documents of a query without the query itself."""
    if query not in documents:
        return documents
    return {doc: number for doc, number in documents.items() if doc != query}


def fold(scores: DocScores, policy: Policy, chunks: Chunks) -> DocScores:
    """Fold the chunks of one query to documents: the highest score, or that of the first."""
    folded: dict[str, float] = {}
    for chunk, score in scores.items():
        doc = chunks.document(chunk)
        if doc not in folded:
            folded[doc] = score
        elif policy.fold == "max":
            folded[doc] = max(folded[doc], score)
    return folded


def unknown_chunk(chunk: str) -> InputError:
    """Return the error for a chunk without a document."""
    return InputError("chunks", "a document for every chunk of the run", f"none for {chunk!r}")
