"""Evidence in place of judgments: passages of documents, and runs of chunks, which may come with tables of chunks."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.errors import InputError, PolicyError
from gainful.matching.dict_matching import queries_of
from gainful.matching.input import DictInput, Input
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.rows.identifiers import UNTYPED, examples, id_text
from gainful.rows.run_and_judgment_columns import PASSAGE_ROLES, Columns, asked_columns
from gainful.rows.side_table_columns import WHOLE_DOC_TEXTS
from gainful.rows.side_table_reader import read_table
from gainful.rows.spans_of_documents import (
    CHUNK_TABLE,
    EVIDENCE,
    RETRIEVED,
    UNITS,
    Evidence,
    Located,
    RankedChunks,
    Texts,
    chunks_of,
    evidence_of,
    located,
    numbered,
    ranked_chunks,
    read_span_rows,
    text_of,
)
from gainful.rows.spark_frames import refuse_spark

Result = TypeVar("Result")

_TIES = ("auto", "doc", "doc_ascending", "order")
_TEXT_FILES = (".txt", ".md", ".markdown", ".rst", ".html", ".htm")


@dataclass(frozen=True, eq=False)
class SpanInputs:
    """Reads evidence and runs of chunks, each once.

    Attributes:
        options: the caller's documents, offsets and table of chunks.
        columns: unusual names of columns.
        session: the engine's session.
        open_run: opens a run of ids.
        names: the name of each run, by its identity.
    """

    options: Mapping[str, Any]
    columns: Columns
    session: Session
    open_run: Callable[[object], Input]
    names: dict[int, str] = field(default_factory=dict)
    _read: dict[tuple[str, int], Any] = field(default_factory=dict)

    @cached_property
    def texts(self) -> Texts:
        """The documents, and the unit of the offsets."""
        unit = self.options.get("offsets")
        if unit is not None:
            arguments.choice(unit, "offsets", UNITS)
        documents = self.options.get("documents")
        return Texts(unit, None if documents is None else texts_of(documents, self.session))

    def opened(self, given: object, kind: Kind, policy: Policy) -> Input:
        """Open evidence, or a run of parts of documents, as whole documents."""
        parts: Evidence | RankedChunks
        parts = self.evidence(given) if kind is JUDGMENTS else self.chunks(given, policy)
        types = parts.query_type, UNTYPED
        opened = DictInput(parts.documents, kind, kind.name, self.session, types)
        opened.again = parts.documents
        return opened

    def evidence(self, given: object) -> Evidence:
        """Return the evidence in place of judgments."""
        if isinstance(given, Evidence):
            return given

        def read() -> Evidence:
            refuse_spark(given, EVIDENCE.name)
            rows = read_span_rows(given, EVIDENCE, self._asked(JUDGMENTS), self.session)
            return evidence_of(rows, self.texts)

        return self._once(JUDGMENTS.name, given, read)

    def chunks(self, given: object, policy: Policy) -> RankedChunks:
        """Return the chunks of a run."""
        if isinstance(given, RankedChunks):
            return given
        return self._once(RUN.name, given, lambda: self._ranked(given, policy))

    def forget(self, run: object) -> None:
        """Release the chunks of a run that is no longer needed."""
        self._read.pop((RUN.name, id(run)), None)

    def _once(self, what: str, given: object, read: Callable[[], Result]) -> Result:
        """Read an input, unless it has been read before; it is kept, so that no other object gets its id."""
        key = what, id(given)
        if key not in self._read:
            self._read[key] = given, read()
        result: Result = self._read[key][1]
        return result

    def _ranked(self, given: object, policy: Policy) -> RankedChunks:
        refuse_spark(given, RUN.name)
        if policy.ties not in _TIES:
            expected = f"{' or '.join(_TIES)} for chunks of documents"
            raise PolicyError("policy ties", expected, shown(policy.ties))
        table = self.table_of(given)
        if table is None and self.texts.unit != "documents":
            rows = read_span_rows(given, RETRIEVED, self._asked(RUN), self.session)
            return chunks_of(rows, self.texts, ties=policy.ties, duplicates=policy.duplicates)
        return self._of_ids(given, table, policy)

    def _of_ids(self, given: object, table: "ChunkTable | None", policy: Policy) -> RankedChunks:
        """Return the chunks of a run that has only their ids; without a table, documents are chunks."""
        opened = self.open_run(given)
        queries = queries_of(opened.documents(policy), RUN.name)
        keys = [query for query, scores in queries.items() for _ in scores]
        ids = [str(one) for scores in queries.values() for one in scores]
        scores = np.array([score for one in queries.values() for score in one.values()], np.float64)
        ties = policy.ties if policy.ties != "auto" else "order" if opened.in_order else "doc"

        def place(row: int) -> str:
            return f"{opened.name}, query {keys[row]!r}, chunk {ids[row]!r}"

        if table is None:
            ones = np.ones(len(ids), np.int64)
            places = Located(*numbered(keys), *numbered(ids), ones - 1, ones, "documents")
        else:
            places = table.located(keys, ids, place)
        bare = [query for query, found in queries.items() if not found]
        ranked = ranked_chunks(places, scores, ids, ties, policy.duplicates, place, bare)
        return replace(ranked, query_type=opened.query_type)

    def table_of(self, run: object) -> "ChunkTable | None":
        """Return the table of the chunks of a run; None without one."""
        given = self.options.get("chunk_table")
        if given is None:
            return None
        names = {*self.names.values()}
        if isinstance(given, Mapping) and names and _is_by_run(given, names):
            if unknown := {*given} - names:
                expected = f"names of runs: {examples(dict.fromkeys(self.names.values()))}"
                raise InputError("chunk_table", expected, repr(min(map(str, unknown))))
            given = given.get(self.names.get(id(run), ""))
            if given is None:
                return None

        def read() -> ChunkTable:
            rows = read_span_rows(given, CHUNK_TABLE, {}, self.session)
            return ChunkTable(rows.name, located(rows, self.texts))

        return self._once(CHUNK_TABLE.name, given, read)

    def _asked(self, kind: Kind) -> Mapping[str, str]:
        asked = asked_columns(kind, self.columns, also=PASSAGE_ROLES)
        for role in asked:
            self.columns.use(role, kind)
        return asked


def _is_by_run(tables: Mapping[Any, Any], names: set[str]) -> bool:
    """Return whether this is a table of chunks for each run, rather than one by the ids of chunks."""
    return not names.isdisjoint(tables) or all(
        isinstance(one, str | os.PathLike) and os.path.isfile(one)  # noqa: PTH113 - also of a long text
        for one in tables.values()
    )


@dataclass(frozen=True, eq=False)
class ChunkTable:
    """Where the chunks of a chunking are.

    Attributes:
        name: its name in messages.
        chunks: all chunks, by id.
    """

    name: str
    chunks: Located

    @cached_property
    def _rows(self) -> dict[str, int]:
        names, keys = self.chunks.queries, self.chunks.query
        if len(names) < keys.size:
            again = names[int(np.flatnonzero(np.bincount(keys) > 1)[0])]
            raise InputError(self.name, "each chunk once", f"{again!r} again")
        return {name: row for row, name in enumerate(names)}  # numbered in the order of the rows

    def located(self, keys: list[str], ids: list[str], place: Callable[[int], str]) -> Located:
        """Return where some chunks are."""
        rows = self._rows
        at = np.array([rows.get(one, -1) for one in ids], np.int64)
        if (at < 0).any():
            row = int(np.flatnonzero(at < 0)[0])
            expected = f"a chunk of {self.name}, such as {examples(rows)}"
            raise InputError(place(row), expected, repr(ids[row]))
        query, queries = numbered(keys)
        return replace(self.chunks.at(at), query=query, queries=queries)


def texts_of(given: object, session: Session) -> dict[str, str]:
    """Return the text of each document, from a table or from a folder of text files."""
    if is_folder_of_texts(given):
        folder = Path(given)
        files = sorted(one for one in folder.rglob("*") if one.suffix.lower() in _TEXT_FILES)
        if not files:
            raise InputError(str(given), f"text files: {', '.join(_TEXT_FILES)}", "none")
        return {file.relative_to(folder).as_posix(): _text_in(file) for file in files}
    if isinstance(given, list | tuple) and given and not isinstance(given[0], Mapping):
        return _texts_of_objects(given)
    table = read_table(given, WHOLE_DOC_TEXTS, "documents", session=session)
    return {doc: text or "" for doc, text in zip(table["doc"], table["text"], strict=True)}


def _text_in(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(str(file), "UTF-8 text", "invalid bytes") from None


def _texts_of_objects(documents: Sequence[object]) -> dict[str, str]:
    """Return the texts of documents of LangChain, LlamaIndex or Haystack."""
    texts: dict[str, str] = {}
    for number, document in enumerate(documents, 1):
        where = f"documents, {number}"
        doc, text = text_of(document)
        if doc is None or not isinstance(text, str):
            raise InputError(where, "a document with text, and an id or a source", shown(document))
        if texts.setdefault(id_text(doc, where=where), text) != text:
            raise InputError(where, "each document once", f"{doc!r} again, with another text")
    return texts


def is_folder_of_texts(given: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether documents are a folder of text files, rather than one of Parquet files."""
    if not isinstance(given, str | os.PathLike):
        return False
    is_folder = os.path.isdir(given)  # noqa: PTH112 - also of a name too long for a path
    return is_folder and next(Path(given).rglob("*.parquet"), None) is None
