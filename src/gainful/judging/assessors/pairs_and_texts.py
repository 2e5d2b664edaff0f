"""Pairs of queries and documents to grade, from any source, and their texts."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from gainful import arguments
from gainful.errors import InputError
from gainful.evaluation.request import read_unmeasured
from gainful.matching.dict_matching import queries_of
from gainful.matching.keyword_options import InputOptions, MeasuringOptions
from gainful.matching.reader import opened_session
from gainful.matching.span_inputs import is_folder_of_texts, texts_of
from gainful.message_texts import counted, shown
from gainful.output.writing.result_base import Result
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.identifiers import UNTYPED, IdType, examples, id_text, type_of_ids
from gainful.rows.input_types import Run, TableLike
from gainful.rows.run_and_judgment_columns import ALIASES, asked_columns, plain_name
from gainful.rows.side_table_columns import (
    PAIRS,
    WHOLE_DOC_TEXTS,
    WHOLE_QUERY_TEXTS,
    Roles,
)
from gainful.rows.side_table_reader import read_table
from gainful.rows.spark_frames import refuse_spark

_NAME = "pairs"
_EXPECTED = (
    "a pool, judgments, a table with query and doc, a list of (query, doc), a dict {query: [doc, …]}, or "
    "a run with a depth"
)
_OF_A_RUN = "Set the depth to grade: depth=10, on the command line --depth 10."


@dataclass(frozen=True, slots=True)
class Pairs:
    """Queries and documents to grade, each pair once, in their original order."""

    items: tuple[tuple[str, str], ...]
    query_type: IdType = UNTYPED
    doc_type: IdType = UNTYPED


def read_pairs(source: TableLike, depth: int | None, options: InputOptions) -> Pairs:
    """Read the pairs of a pool, judgments or a table; with a depth, of a run down to that rank."""
    for name in ("assessors", "grade_words"):
        if (value := options.get(name)) is not None:
            expected = "None, since no grades are read"
            raise InputError(name, expected, shown(value), "Leave it out.")
    plain = cast("MeasuringOptions", {**options, "progress": None})
    pairs = _of_run(source, depth, plain) if depth is not None else _of_table(source, plain)
    if not pairs.items:
        raise InputError(_NAME, "at least one query and document", "none")
    return Pairs(tuple(dict.fromkeys(pairs.items)), pairs.query_type, pairs.doc_type)


def _of_run(run: Run, depth: int, options: MeasuringOptions) -> Pairs:
    deep = arguments.whole(depth, "depth", least=1, most=arguments.MOST_DOCUMENTS)
    with read_unmeasured({}).reader_of(None, options) as reader:
        lists = reader.lists(run, deep)
        types = reader.query_type(run), reader.doc_type(run)
    return Pairs(tuple((query, doc) for query, docs in lists.items() for doc in docs), *types)


def _of_table(source: object, options: MeasuringOptions) -> Pairs:
    if isinstance(source, Result):
        table = source.table()
        _refuse_run(table.columns)
        if not {"query", "doc"} <= {*table.columns}:
            raise InputError(_NAME, _EXPECTED, type(source).__name__)
        columns = table.columns_by_name()
        types = source._id_types()  # noqa: SLF001 - of results, which are ours
        return Pairs(
            tuple(zip(map(str, columns["query"]), map(str, columns["doc"]), strict=True)),
            types.get("query", UNTYPED),
            types.get("doc", UNTYPED),
        )
    if isinstance(source, Mapping):
        return _of_ids((query, _docs(docs, query)) for query, docs in source.items())
    if isinstance(source, list | tuple) and source and all(map(_is_pair, source)):
        return _of_ids((query, [doc]) for query, doc in source)
    refuse_spark(source, _NAME)
    try:
        return _of_columns(source, options)
    except InputError as problem:
        if problem.code != "rows.no-column" or not isinstance(source, str | os.PathLike | list):
            raise
        try:
            return _of_golden_set(source, options)
        except InputError:
            raise problem from None


def _of_golden_set(source: TableLike, options: MeasuringOptions) -> Pairs:
    """Return the judged documents of records that have lists of them."""
    with read_unmeasured({}).reader_of(source, options) as reader:
        judged = queries_of(reader.judgments.documents, _NAME)
        types = reader.query_type(), reader.doc_type()
    return Pairs(tuple((query, doc) for query, docs in judged.items() for doc in docs), *types)


def _of_columns(source: object, options: MeasuringOptions) -> Pairs:
    """Return the pairs of a table, one in each row."""
    with opened_session({**options, "queries": None}) as (session, names):
        asked = {
            role: name
            for role, name in asked_columns(JUDGMENTS, names).items()
            if role in ("query", "doc")
        }
        rows = read_table(source, PAIRS, _NAME, columns=asked, session=session)
        if rows.has_columns:
            for role in asked:
                names.use(role, JUDGMENTS)
    _refuse_run(rows.columns)
    return Pairs(
        tuple(zip(rows["query"], rows["doc"], strict=True)),
        rows.types.get("query", UNTYPED),
        rows.types.get("doc", UNTYPED),
    )


def _refuse_run(columns: Iterable[str]) -> None:
    """Reject a run without a depth, so that nobody pays for grading all of it by mistake."""
    scores = [name for name in columns if plain_name(name) in ALIASES[RUN.number]]
    if scores:
        raise InputError(_NAME, "a depth for a run", f"none, and a column {scores[0]!r}", _OF_A_RUN)


def _is_pair(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


def _docs(docs: object, query: object) -> list[object]:
    """Return the documents of a query in a dict: its keys, or the items of a list."""
    if isinstance(docs, Mapping | list | tuple | set | frozenset):
        return list(docs)
    raise InputError(
        f"{_NAME}, query {shown(query)}", "a list of docs, or {doc: grade}", shown(docs)
    )


def _of_ids(lists: Iterable[tuple[object, Iterable[object]]]) -> Pairs:
    pairs, queries, docs = [], [], []
    for query, listed in lists:
        name = id_text(query, where=f"{_NAME}, query ids")
        for doc in listed:
            pairs.append((name, id_text(doc, where=f"{_NAME}, query {name!r}, document ids")))
            queries.append(query)
            docs.append(doc)
    if any(not key for pair in pairs for key in pair):
        raise InputError(_NAME, "ids", "an empty text")
    return Pairs(tuple(pairs), type_of_ids(queries), type_of_ids(docs))


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of queries and documents by id, and the number of truncated documents."""

    queries: Mapping[str, str]
    docs: Mapping[str, str]
    cut: int


def read_texts(
    pairs: Pairs,
    queries: object,
    docs: object,
    *,
    longest: int | None,
    skip_missing: bool,
    keys: Mapping[str, str],
) -> Texts:
    """Read the texts of all queries and documents to grade.

    Args:
        pairs: the pairs to grade.
        queries: `{query: text}` or a table of texts; None if the ids are the questions themselves.
        docs: `{doc: text}`, `{doc: (title, text)}`, such a table, or a folder of text files.
        longest: the maximum number of characters of a document shown to a model; None for all.
        skip_missing: whether texts may be missing; otherwise that is an error.
        keys: the caller's names of columns in judgments and runs, which may join several into one key.
    """
    wanted = dict.fromkeys(doc for _, doc in pairs.items)
    texts = _texts(docs, WHOLE_DOC_TEXTS, "docs", wanted, keys)
    questions = query_texts(pairs, queries, skip_missing=skip_missing, keys=keys)
    refuse_missing_texts(wanted, texts, "docs", skip_missing=skip_missing)
    cut = [doc for doc, text in texts.items() if longest is not None and len(text) > longest]
    return Texts(questions, {**texts, **{doc: texts[doc][:longest] for doc in cut}}, len(cut))


def query_texts(
    pairs: Pairs, queries: object, *, skip_missing: bool, keys: Mapping[str, str]
) -> dict[str, str]:
    """Return the texts of all queries to grade; without any, their ids are the texts."""
    wanted = dict.fromkeys(query for query, _ in pairs.items)
    if queries is not None:
        texts = _texts(queries, WHOLE_QUERY_TEXTS, "queries", wanted, keys)
        refuse_missing_texts(wanted, texts, "queries", skip_missing=skip_missing)
        return texts
    if not any(len(query.split()) > 1 for query in wanted):
        found = f"none, and ids that aren't texts: {examples(wanted)}"
        remedy = "Pass queries={id: text}, or on the command line --queries FILE."
        raise InputError("queries", "the text of the queries", found, remedy)
    return {query: query for query in wanted}


def refuse_missing_texts(
    wanted: Collection[str], texts: Mapping[str, str], name: str, *, skip_missing: bool
) -> None:
    """Reject ids without a text, unless these may be missing."""
    missing = [key for key in wanted if key not in texts]
    if missing and not (skip_missing and texts):
        raise InputError(
            name,
            f"text for each of {counted(len(wanted), 'id')}",
            f"none for {len(missing):,}: {examples(missing)}",
            "Add them, or leave these documents unjudged with missing_texts='skip' "
            "(--missing-texts skip on the command line)."
            if texts
            else "Check the ids.",
        )


def _texts(
    source: object, roles: Roles, name: str, wanted: Collection[str], keys: Mapping[str, str]
) -> dict[str, str]:
    if name == "docs" and is_folder_of_texts(source):
        with Session() as session:
            by_id = texts_of(source, session)
        return {doc: by_id[doc] for doc in wanted if by_id.get(doc, "").strip()}
    table = read_table(source, roles, name, wanted=frozenset(wanted), keys=keys)
    rows = zip(table[roles.keys[0].name], table["title"], table["text"], strict=True)
    texts = {}
    for key, title, text in rows:
        whole = "\n\n".join(part.strip() for part in (title, text) if part and part.strip())
        if whole:  # a blank text counts as missing
            texts[key] = whole
    return texts
