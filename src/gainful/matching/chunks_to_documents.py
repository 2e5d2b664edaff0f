"""Fold chunks and passages into their documents, and remove queries from their own results."""

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gainful.errors import InputError, PolicyError
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session, quoted
from gainful.rows.identifiers import id_text

DocScores = Mapping[str, float]

FIRST = "first:"
"""The prefix of a delimiter that cuts ids at its first occurrence instead of the last."""

_EXPECTED = "a delimiter, a dict {chunk: doc} or a function from chunk to doc"
_EXAMPLE = "E.g. '#' for chunks doc7#1 and doc7#2; 'first:::' for doc7::256::3, which is cut at the first '::'."


@dataclass(frozen=True, slots=True)
class Chunks:
    """How to get the document of a chunk: by a delimiter, a dict, or a function.

    The document is the part of the id before the last delimiter, or before the first one if the delimiter
    has the prefix `first:`.

    >>> Chunks("#").document("doc7#2"), Chunks("#").document("doc8")
    ('doc7', 'doc8')
    >>> Chunks("::").document("doc7::256::3"), Chunks("first:::").document("doc7::256::3")
    ('doc7::256', 'doc7')
    >>> Chunks({"c1": "doc7"}).document("c1")
    'doc7'
    >>> Chunks(lambda chunk: chunk[:4]).document("doc7, page 3")
    'doc7'
    """

    by: str | Mapping[str, str] | Callable[[str], object]

    @property
    def delimiter(self) -> str:
        """The delimiter; empty for a dict or a function."""
        return self.by.removeprefix(FIRST) if isinstance(self.by, str) else ""

    @property
    def at_first(self) -> bool:
        """Whether ids are cut at the first delimiter rather than the last."""
        return isinstance(self.by, str) and self.by.startswith(FIRST)

    def document(self, chunk: str) -> str:
        """Return the document of a chunk."""
        if isinstance(self.by, str):
            parts = chunk.split(self.delimiter)
            kept = parts[:1] if self.at_first else parts[:-1]
            return self.delimiter.join(kept) if len(parts) > 1 else chunk
        if not isinstance(self.by, Mapping):
            return _returned(self.by, chunk)
        if chunk not in self.by:
            raise unknown_chunk(chunk)
        return self.by[chunk]

    def is_chunk(self, doc: str) -> bool:
        """Return whether an id is that of a chunk rather than of a document.

        >>> Chunks("#").is_chunk("doc7#2"), Chunks("#").is_chunk("doc7"), Chunks({"c1": "doc7"}).is_chunk("doc7")
        (True, False, False)
        """
        if isinstance(self.by, Mapping):
            return self.by.get(doc, doc) != doc
        try:
            return self.document(doc) != doc
        except InputError:  # a function of chunks may reject ids of documents
            return False

    def __reduce__(self) -> "tuple[type[Chunks], tuple[object]]":
        """Pickle without a function that cannot be pickled, such as a lambda."""
        if not isinstance(self.by, str | Mapping):
            try:
                pickle.dumps(self.by)
            except Exception:  # noqa: BLE001 - pickling may raise anything
                return Chunks, (_not_pickled,)
        return Chunks, (self.by,)

    def sql(self, session: Session, table: str) -> str:
        """Return SQL that adds the column `document` to a table of the columns query, doc, …."""
        if isinstance(self.by, str):
            mark = quoted(self.delimiter)
            parts = f"string_split(doc, {mark})"
            before = f"{parts}[1]" if self.at_first else f"array_to_string({parts}[:-2], {mark})"
            return (
                f"SELECT *, CASE WHEN contains(doc, {mark}) THEN {before} ELSE doc END "
                f"AS document FROM {table}"
            )
        chunks = [
            chunk for (chunk,) in session.rows(f"SELECT DISTINCT doc FROM {table} ORDER BY doc")
        ]
        documents = [self.document(chunk) for chunk in chunks]
        known = session.register(
            "chunks", {"chunk": np.array(chunks, object), "document": np.array(documents, object)}
        )
        return f"SELECT t.*, document FROM {table} t JOIN {known} k ON t.doc = k.chunk"


def read_chunks(chunks: object, policy: Policy) -> Chunks | None:
    """Check the chunks option, and that the policy folds if it is given."""
    rule = policy.folding(chunks=chunks is not None).fold
    if chunks is None:
        if rule == "none":
            return None
        raise InputError("chunks", _EXPECTED, "none", _EXAMPLE, choice=f"fold={rule}")
    if rule == "none":
        raise InputError(
            "chunks",
            "none, as documents stay in chunks",
            shown(chunks),
            "To fold them, leave fold=none out.",
            choice="fold=none",
        )
    if isinstance(chunks, Chunks):  # already checked, for another policy
        return chunks
    if callable(chunks) and not isinstance(chunks, type):
        return Chunks(chunks)
    if isinstance(chunks, str) and Chunks(chunks).delimiter:
        return Chunks(chunks)
    if isinstance(chunks, Mapping) and chunks:
        return Chunks(
            {id_text(k, where="chunks"): id_text(v, where="chunks") for k, v in chunks.items()}
        )
    raise InputError("chunks", _EXPECTED, shown(chunks), _EXAMPLE)


class FurtherChunk(str):
    """The id of a chunk whose `document` is listed by a better chunk; the chunk keeps its rank."""

    document: str


def refuse_in_place(policy: Policy, remedy: str) -> None:
    """Reject the policy fold=in_place for results in which only whole documents have a rank."""
    if policy.fold == "in_place":
        raise PolicyError("policy fold", "none, max or first here", "'in_place'", remedy)


def fold(scores: DocScores, policy: Policy, chunks: Chunks) -> DocScores:
    """Fold the chunks of one query into documents, with the highest score or that of the first chunk.

    With fold=in_place, the best chunk represents its document, and the other chunks remain.

    >>> scores = {"a#1": 3.0, "a#2": 2.0, "b#1": 1.0}
    >>> fold(scores, Policy(fold="max"), Chunks("#"))
    {'a': 3.0, 'b': 1.0}
    >>> fold(scores, Policy(fold="in_place"), Chunks("#"))
    {'a': 3.0, 'a#2 (further chunk)': 2.0, 'b': 1.0}
    """
    if policy.fold == "in_place":
        return _fold_in_place(scores, chunks)
    folded: dict[str, float] = {}
    for chunk, score in scores.items():
        doc = chunks.document(chunk)
        if doc not in folded:
            folded[doc] = score
        elif policy.fold != "first":
            folded[doc] = max(folded[doc], score)
    return folded


def _fold_in_place(scores: DocScores, chunks: Chunks) -> DocScores:
    documents = {chunk: chunks.document(chunk) for chunk in scores}
    best: dict[str, str] = {}
    for chunk, doc in documents.items():
        if doc not in best or scores[chunk] > scores[best[doc]]:
            best[doc] = chunk
    folded = {}
    for chunk, doc in documents.items():
        listed = doc
        if best[doc] != chunk:
            listed = FurtherChunk(f"{chunk} (further chunk)")
            listed.document = doc
        folded[listed] = scores[chunk]
    return folded


def unknown_chunk(chunk: str) -> InputError:
    """Return the error for a chunk without a document."""
    return InputError("chunks", "a document for every chunk of the run", f"none for {chunk!r}")


def _not_pickled(_: str) -> str:
    message = "the function that was given cannot be pickled"
    raise ValueError(message)


def _returned(function: Callable[[str], object], chunk: str) -> str:
    """Return the document that the caller's function returns for a chunk."""
    try:
        found = function(chunk)
    except Exception as problem:  # noqa: BLE001 - a user function may raise anything
        reason = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        raise InputError(
            "chunks", "a function from chunk to document", f"{reason} for {chunk!r}"
        ) from None
    if found is None:
        raise unknown_chunk(chunk)
    return id_text(found, where=f"chunks, document of {chunk!r}")
