"""`sample_queries` and `sample_documents`: draw at random what people judge, so that models can be held to it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Unpack, cast

from gainful import arguments
from gainful.assessors.sample_design import (
    ALL,
    ALLOCATIONS,
    DOCUMENTS,
    FEWEST,
    QUERIES,
    SampleDesign,
    Unit,
    draw,
    least_of_each,
)
from gainful.errors import InputError
from gainful.evaluation.query_slicing import parts_by_metadata
from gainful.evaluation.request import read_unmeasured
from gainful.inputs.files import opened, path_of
from gainful.inputs.id_types import UNTYPED, IdType, type_of_ids
from gainful.inputs.identifiers import examples, id_text, in_order
from gainful.inputs.run_and_judgment_columns import ALIASES, plain_name
from gainful.inputs.runs_by_name import Runs
from gainful.inputs.side_table_columns import QUERIES as TABLE_OF_QUERIES
from gainful.inputs.side_table_columns import QUERY_TEXTS
from gainful.inputs.side_table_reader import InputTable, read_table
from gainful.judging.pool import Pool, Pooled, pool
from gainful.matching.dict_matching import queries_of
from gainful.matching.keyword_options import MeasuringOptions, ReadingOptions, takes
from gainful.measures.written_numbers import write_number
from gainful.message_texts import shown

_BANDS = (1, 3, 10, 30, 100)  # the last ranks of the strata by rank
_OF_DOCUMENTS = ("query", "rank", "grade")
_FORMS = "judgments, a run, a table of queries, or a list of their ids"


@takes(ReadingOptions)
def sample_queries(
    source: object,
    size: int,
    *,
    strata: object = None,
    by: str | None = None,
    allocation: str = "proportional",
    seed: int = 0,
    **options: Unpack[ReadingOptions],
) -> SampleDesign:
    """Draw queries at random for people to judge.

    `calibrate` reads the design, and knows by it that the queries were drawn at random, and from which. Have people judge
    every query that was drawn, and every document that the model judges there.

    Args:
        source: what to draw from: judgments, such as those of a model, or a run, of any kind that `evaluate` reads. Or
            queries with their texts, a list of ids, or a file with one on each line.
        size: how many queries.
        strata: draw from each stratum by itself: `{query: stratum}`, or a table with a row for each query. Queries that it
            does not have are a stratum of their own, and many different numbers are cut into four.
        by: the column of the strata, where it has several.
        allocation: `proportional`, from each stratum as its share of all queries; or `equal`, as many from each. There are
            two at least.
        seed: a whole number from 0; the same draws the same queries from the same source, and a larger size those and more.
        **options: see `ReadingOptions`.

    >>> found = sample_queries([f"q{number}" for number in range(1, 101)], 3)
    >>> found.queries, found.probability_of["q1",]
    (('q21', 'q37', 'q83'), 0.03)
    """
    many = arguments.whole(size, "size", least=1, most=arguments.MOST_DOCUMENTS)
    if arguments.choice(allocation, "allocation", ALLOCATIONS) != "proportional" and strata is None:
        expected = "proportional where there are no strata to draw from"
        raise InputError("allocation", expected, shown(allocation), "Give strata.")
    fixed = arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED)
    queries, kind = _queries(source, options)
    if not queries:
        raise InputError("source", f"{_FORMS}, with at least one query", "none")
    parts = read_strata(strata, by, queries)
    least = least_of_each(QUERIES, len(parts))
    _refuse_size(many, len(queries), len(parts), least, "queries")
    found = draw(
        {name: [(query,) for query in members] for name, members in parts.items()},
        many,
        allocation=allocation,
        seed=fixed,
        least=least,
    )
    for each in found:
        if len(found) > 1 and len(each.population) < FEWEST:
            raise InputError(
                f"strata, {each.name}",
                f"at least {FEWEST} queries in each stratum",
                "1",
                "Join it with another: one query has no spread.",
            )
    return SampleDesign(QUERIES, found, _named(strata, by), allocation, fixed, query_type=kind)


@takes(MeasuringOptions)
def sample_documents(
    runs: Runs | Sequence[object] | Pool,
    size: int,
    *,
    depth: int = 10,
    model: object = None,
    by: str | Sequence[str] = "query",
    allocation: str = "proportional",
    seed: int = 0,
    **options: Unpack[MeasuringOptions],
) -> SampleDesign:
    """Draw documents of the pool of runs at random for people to judge, from strata.

    With them `calibrate` estimates DCG and CG, which are sums over documents. nDCG needs whole queries: `sample_queries`.

    Args:
        runs: as in `pool`; or a pool.
        size: how many documents.
        depth: the rank down to which documents are taken from the runs: the cutoff of the measure.
        model: the judgments of a model, for `by="grade"`.
        by: what the strata are: `query`, `rank`, `grade` (of the model), or several of them. `rank` is the best in any run: 1,
            2 to 3, 4 to 10, 11 to 30 …
        allocation: as in `sample_queries`; at least one from each stratum.
        seed: a whole number from 0.
        **options: see `MeasuringOptions`.

    >>> run = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 2, "d": 1}}
    >>> found = sample_documents({"mine": run}, 3)
    >>> found.drawn, found.probability_of["q1", "a"]
    ((('q1', 'a'), ('q1', 'c'), ('q2', 'd')), 0.6666666666666666)
    """
    many = arguments.whole(size, "size", least=1, most=arguments.MOST_DOCUMENTS)
    arguments.choice(allocation, "allocation", ALLOCATIONS)
    fixed = arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED)
    listed = arguments.listed(by, "by", "query, rank, grade, or several of them")
    names = list(dict.fromkeys(arguments.choice(name, "by", _OF_DOCUMENTS) for name in listed))
    pooled = runs if isinstance(runs, Pool) else pool(runs, depth=depth, judgments=model, **options)
    if "grade" in names and not pooled.marked:
        raise InputError("model", "the judgments of a model, for strata by grade", "none")
    strata: dict[str, list[Unit]] = {}
    for row in pooled:
        name = ", ".join(_label(row, each) for each in names) or ALL
        strata.setdefault(name, []).append((row.query, row.doc))
    _refuse_size(many, len(pooled), len(strata), 1, "documents")
    found = draw(
        strata, many, allocation=allocation, seed=fixed, least=least_of_each(DOCUMENTS, len(strata))
    )
    return SampleDesign(
        DOCUMENTS,
        found,
        ", ".join(names),
        allocation,
        fixed,
        pooled.depth,
        query_type=pooled.query_type,
        doc_type=pooled.doc_type,
    )


def _label(row: Pooled, by: str) -> str:
    """Return the stratum of a document by its query, its rank or the model's grade of it."""
    if by == "query":
        return row.query
    if by == "grade":
        return "not graded" if row.grade is None else f"grade {write_number(row.grade)}"
    below = 0
    for last in _BANDS:
        if row.rank <= last:
            return f"rank {last}" if last == below + 1 else f"ranks {below + 1} to {last}"
        below = last
    return f"ranks from {below + 1}"


def _refuse_size(size: int, population: int, strata: int, least: int, what: str) -> None:
    if size > population:
        raise InputError("size", f"at most the {population:,} {what} that there are", f"{size:,}")
    if size < least * strata:
        few = f"{least} from each of {strata:,} strata" if strata > 1 else str(least)
        raise InputError(
            "size",
            f"at least {least * strata:,} {what}, {few}",
            f"{size:,}",
            "Draw more, or have fewer strata.",
        )


def read_strata(strata: object, by: str | None, queries: Sequence[str]) -> dict[str, list[str]]:
    """Return the queries of each stratum by its name; one stratum where none are given.

    Args:
        strata: a table with a row for each query; None for no strata.
        by: its column; None where there is but one.
        queries: all that are drawn from.
    """
    if strata is None:
        if by is not None:
            raise InputError("by", "none without strata", shown(by), "Give the table: strata=….")
        return {ALL: [*queries]}
    table = read_table(strata, TABLE_OF_QUERIES, "strata")
    column = _column(table, by)
    if {*table["query"]}.isdisjoint(queries):
        raise InputError(
            f"strata {table.name}",
            "some of the queries that are drawn from",
            f"none of them; it has {examples(table['query'])}",
            f"Drawn from are {examples(queries)}.",
        )
    parts = parts_by_metadata(column, queries, table)
    return {
        part.value: [query for query, inside in zip(queries, part.chosen, strict=True) if inside]
        for part in parts
    }


def _column(table: InputTable, by: str | None) -> str:
    if by is not None:
        return arguments.choice(by, "by", table.columns, expected="a column of the strata")
    if len(table.columns) != 1:
        found = ", ".join(map(shown, table.columns))
        raise InputError(f"strata {table.name}", "one column, or by= one of them", found)
    return next(iter(table.columns))


def _named(strata: object, by: str | None) -> str:
    return "" if strata is None else by or "stratum"


def _queries(source: object, options: ReadingOptions) -> tuple[list[str], IdType]:
    """Return the ids of the queries of anything that has some, in order, and what they were."""
    if isinstance(source, str | os.PathLike):
        return _in_file(path_of(source), options), UNTYPED
    if isinstance(source, Mapping):
        return _in_dict(source, options)
    if isinstance(source, SampleDesign):
        return in_order({unit[0] for unit in source.population}), source.query_type
    if _is_table(source):
        return _read(source, options), UNTYPED
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise InputError("source", _FORMS, shown(source))
    try:
        ids = list(source)
    except TypeError:  # an array of no dimension says that it can be iterated over
        raise InputError("source", _FORMS, shown(source)) from None
    texts = [id_text(each, where=f"source, item {place}") for place, each in enumerate(ids, 1)]
    return _once(texts, "source"), type_of_ids(ids)


def _is_table(source: object) -> bool:
    """Return whether something has columns: a data frame, an Arrow object, or a list of records."""
    if isinstance(source, list | tuple):
        return any(isinstance(each, Mapping | list | tuple) for each in source)
    return any(hasattr(source, name) for name in ("columns", "column_names"))


def _in_dict(source: Mapping[Any, Any], options: ReadingOptions) -> tuple[list[str], IdType]:
    deep = next((each for each in source.values() if isinstance(each, Mapping)), None)
    inner = None if deep is None else next((each for each in deep.values()), None)
    if isinstance(inner, Mapping) and options.get("assessors") is None:
        # {name: run}: every query of any run. With assessors it would be {query: {doc: {assessor: grade}}}.
        found = {id_text(query, where="source") for run in source.values() for query in run}
        return in_order(found), type_of_ids(deep or ())
    return in_order({id_text(query, where="source") for query in source}), type_of_ids(source)


def _in_file(name: str, options: ReadingOptions) -> list[str]:
    if name == "-":
        raise InputError(
            "source", "a file that can be read twice", "standard input", "Name a file."
        )
    with suppress(UnicodeDecodeError):
        ids = _lines(name)
        if ids is not None:
            return _once(ids, name)
    return _read(name, options)


def _lines(name: str) -> list[str] | None:
    """Return the ids in a text that has one on each line; None where it has more, or is packed."""
    with opened(name) as file:
        head = file.read(4)
        if head.startswith((b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"{", b"[")):
            return None
        content = head + file.read()
    lines = [line.split() for line in content.decode("utf-8-sig").splitlines() if line.strip()]
    if not lines or any(len(line) != 1 or "," in line[0] for line in lines):
        return None
    ids = [line[0] for line in lines]
    return ids[1:] if plain_name(ids[0]) in ALIASES["query"] else ids


def _once(ids: Sequence[str], where: str) -> list[str]:
    known: set[str] = set()
    for each in ids:
        if each in known:
            raise InputError(where, "each query once", f"{shown(each)} twice")
        known.add(each)
    return in_order(known)


def _read(source: object, options: ReadingOptions) -> list[str]:
    """Return the queries of judgments, of a run, or of a table of queries, whichever it is."""
    problems = []
    for read in (_judged, _returned, _told):
        try:
            return in_order({*read(source, options)})
        except InputError as problem:
            problems.append(problem)
    if options.get("assessors") is not None or _mentions_assessors(problems[0]):
        raise problems[0]
    where = path_of(source) if isinstance(source, str | os.PathLike) else "source"
    raise InputError(where, _FORMS, "none of these", f"As judgments: {problems[0]}")


def _mentions_assessors(problem: InputError) -> bool:
    return "assessor" in problem.remedy


def _judged(source: object, options: ReadingOptions) -> Iterable[str]:
    with read_unmeasured({}).reader_of(source, cast("MeasuringOptions", options)) as reader:
        return [*queries_of(reader.judgments.documents, "judgments")]


def _returned(source: object, options: ReadingOptions) -> Iterable[str]:
    with read_unmeasured({}).reader_of(None, cast("MeasuringOptions", options)) as reader:
        return [*reader.returned(source)]


def _told(source: object, _: ReadingOptions) -> Iterable[str]:
    try:
        return cast("Iterable[str]", read_table(source, QUERY_TEXTS, "source")["query"])
    except InputError:
        return cast("Iterable[str]", read_table(source, TABLE_OF_QUERIES, "source")["query"])
