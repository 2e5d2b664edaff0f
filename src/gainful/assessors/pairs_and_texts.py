"""What is graded: pairs of a query and a document from whatever holds them, and the texts of both."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from gainful import arguments
from gainful.errors import InputError
from gainful.evaluation.request import read_unmeasured
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.inputs.id_types import UNTYPED, IdType, type_of_ids
from gainful.inputs.identifiers import examples, id_text
from gainful.inputs.run_and_judgment_columns import ALIASES, asked_columns, plain_name, read_columns
from gainful.inputs.side_table_columns import (
    PAIRS,
    WHOLE_DOC_TEXTS,
    WHOLE_QUERY_TEXTS,
    Roles,
)
from gainful.inputs.side_table_reader import read_table
from gainful.inputs.spark_frames import refuse_spark
from gainful.matching.keyword_options import InputOptions, MeasuringOptions
from gainful.matching.reader import opened_session
from gainful.message_texts import counted, shown
from gainful.writing.result_base import Result

_NAME = "pairs"
_EXPECTED = (
    "a pool, judgments, a table with query and doc, a list of (query, doc), a dict {query: [doc, …]}, or "
    "a run with a depth"
)
_OF_A_RUN = "Say how deep it is graded: depth=10, on the command line --depth 10."


@dataclass(frozen=True, slots=True)
class Pairs:
    """Queries and documents to grade, each pair once, in the order in which they came."""

    items: tuple[tuple[str, str], ...]
    query_type: IdType = UNTYPED
    doc_type: IdType = UNTYPED


def read_pairs(given: object, depth: int | None, options: InputOptions) -> Pairs:
    """Read the pairs of a pool, of judgments, of a table; with a depth, those of a run down to there."""
    if (rule := options.get("assessors")) is not None:
        raise InputError("assessors", "none: no grades are read", shown(rule), "Leave it out.")
    plain = cast("MeasuringOptions", {**options, "progress": None})
    found = _of_run(given, depth, plain) if depth is not None else _of_table(given, plain)
    if not found.items:
        raise InputError(_NAME, "at least one query and document", "none")
    return Pairs(tuple(dict.fromkeys(found.items)), found.query_type, found.doc_type)


def _of_run(given: object, depth: int, options: MeasuringOptions) -> Pairs:
    deep = arguments.whole(depth, "depth", least=1, most=arguments.MOST_DOCUMENTS)
    with read_unmeasured({}).reader_of(None, options) as reader:
        lists = reader.lists(given, deep)
        types = reader.query_type(given), reader.doc_type(given)
    return Pairs(tuple((query, doc) for query, docs in lists.items() for doc in docs), *types)


def _of_table(given: object, options: MeasuringOptions) -> Pairs:
    if isinstance(given, Result):
        table = given.table()
        _refuse_run(table.columns)
        if not {"query", "doc"} <= {*table.columns}:
            raise InputError(_NAME, _EXPECTED, type(given).__name__)
        columns = table.columns_by_name()
        types = given._id_types()  # noqa: SLF001 - of results, which are ours
        return Pairs(
            tuple(zip(map(str, columns["query"]), map(str, columns["doc"]), strict=True)),
            types.get("query", UNTYPED),
            types.get("doc", UNTYPED),
        )
    if isinstance(given, Mapping):
        return _of_ids((query, _docs(docs, query)) for query, docs in given.items())
    if isinstance(given, list | tuple) and given and all(map(_is_pair, given)):
        return _of_ids((query, [doc]) for query, doc in given)
    refuse_spark(given, _NAME)
    names = read_columns(options.get("columns"), None)
    asked = {
        role: name
        for role, name in asked_columns(JUDGMENTS, names).items()
        if role in ("query", "doc")
    }
    with opened_session(options) as session:
        found = read_table(given, PAIRS, _NAME, columns=asked, session=session)
    if found.has_columns:
        for role in asked:
            names.use(role, JUDGMENTS)
    names.refuse_unused()
    _refuse_run(found.columns)
    return Pairs(
        tuple(zip(found["query"], found["doc"], strict=True)),
        found.types.get("query", UNTYPED),
        found.types.get("doc", UNTYPED),
    )


def _refuse_run(columns: Iterable[str]) -> None:
    """Refuse a run without a depth: all of it is more than anybody wants to pay for by mistake."""
    scores = [name for name in columns if plain_name(name) in ALIASES[RUN.number]]
    if scores:
        raise InputError(_NAME, "a depth for a run", f"none, and a column {scores[0]!r}", _OF_A_RUN)


def _is_pair(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2


def _docs(given: Any, query: object) -> list[Any]:
    """Return the documents of a query in a dict: its keys, or the items of a list."""
    if isinstance(given, Mapping | list | tuple | set | frozenset):
        return list(given)
    raise InputError(
        f"{_NAME}, query {shown(query)}", "a list of docs, or {doc: grade}", shown(given)
    )


def _of_ids(given: Iterable[tuple[Any, Iterable[Any]]]) -> Pairs:
    found, queries, docs = [], [], []
    for query, listed in given:
        name = id_text(query, where=f"{_NAME}, query ids")
        for doc in listed:
            found.append((name, id_text(doc, where=f"{_NAME}, query {name!r}, document ids")))
            queries.append(query)
            docs.append(doc)
    if any(not each for pair in found for each in pair):
        raise InputError(_NAME, "ids", "an empty text")
    return Pairs(tuple(found), type_of_ids(queries), type_of_ids(docs))


@dataclass(frozen=True, slots=True)
class Texts:
    """What queries and documents say, by id, and how many documents were cut."""

    queries: Mapping[str, str]
    docs: Mapping[str, str]
    cut: int


def read_texts(
    pairs: Pairs, queries: object, docs: object, *, longest: int | None, skip_missing: bool
) -> Texts:
    """Read the texts of all queries and documents to grade.

    Args:
        pairs: what is graded.
        queries: `{query: text}` or a table of texts.
        docs: `{doc: text}`, `{doc: (title, text)}` or such a table.
        longest: the most characters of a document that are shown to a model; None for all.
        skip_missing: whether a text may be missing; else that is refused.
    """
    found = []
    for given, roles, name, wanted in (
        (queries, WHOLE_QUERY_TEXTS, "queries", {query for query, _ in pairs.items}),
        (docs, WHOLE_DOC_TEXTS, "docs", {doc for _, doc in pairs.items}),
    ):
        texts = _texts(given, roles, name, wanted)
        order = dict.fromkeys(pair[name == "docs"] for pair in pairs.items)
        missing = [each for each in order if each not in texts]
        if missing and not (skip_missing and texts):
            raise InputError(
                name,
                f"a text for each of {counted(len(wanted), 'id')}",
                f"none for {len(missing):,}: {examples(missing)}",
                "Add them, or leave these documents not judged: missing_texts='skip', on the command line --missing-texts skip."
                if texts
                else "Check the ids.",
            )
        found.append(texts)
    cut = [doc for doc, text in found[1].items() if longest is not None and len(text) > longest]
    shortened = {doc: found[1][doc][:longest] for doc in cut}
    return Texts(found[0], {**found[1], **shortened}, len(cut))


def _texts(given: object, roles: Roles, name: str, wanted: Collection[str]) -> dict[str, str]:
    table = read_table(given, roles, name, wanted=frozenset(wanted))
    rows = zip(table[roles.keys[0].name], table["title"], table["text"], strict=True)
    found = {}
    for one, title, text in rows:
        told = "\n\n".join(part.strip() for part in (title, text) if part and part.strip())
        if told:  # a blank text is none
            found[one] = told
    return found
