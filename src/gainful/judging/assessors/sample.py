"""`sample_queries` and `sample_documents`: draw random samples for people to judge."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Unpack, cast

from gainful import arguments
from gainful.errors import InputError
from gainful.evaluation.means_of_queries import parts_by_metadata
from gainful.evaluation.request import read_unmeasured
from gainful.judging.assessors.sample_design import (
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
from gainful.judging.pool import Pool, Pooled, pool
from gainful.matching.dict_matching import queries_of
from gainful.matching.keyword_options import MeasuringOptions, ReadingOptions, takes
from gainful.measures.written_numbers import write_number
from gainful.message_texts import shown
from gainful.rows.files import opened, path_of
from gainful.rows.identifiers import UNTYPED, IdType, examples, id_text, in_order, type_of_ids
from gainful.rows.input_types import Judgments, Run, TableLike
from gainful.rows.run_and_judgment_columns import ALIASES, plain_name, read_columns
from gainful.rows.runs_by_name import Runs
from gainful.rows.side_table_columns import QUERIES as TABLE_OF_QUERIES
from gainful.rows.side_table_columns import QUERY_TEXTS
from gainful.rows.side_table_reader import InputTable, read_table

_BANDS = (1, 3, 10, 30, 100)  # the last ranks of the strata by rank
_OF_DOCUMENTS = ("query", "rank", "grade")
_FORMS = "judgments, a run, a table of queries, or a list of their ids"


@takes(ReadingOptions)
def sample_queries(
    source: TableLike,
    size: int,
    *,
    strata: TableLike | None = None,
    by: str | None = None,
    allocation: str = "proportional",
    seed: int = 0,
    **options: Unpack[ReadingOptions],
) -> SampleDesign:
    """Draw queries at random for people to judge.

    `calibrate` reads the design, which records that the queries were drawn at random and from which
    population. Have people judge every drawn query, with every document that the model judges in
    it.

    Args:
        source: the population: judgments (such as a model's) or a run, in any form that `evaluate`
            accepts; queries with their texts; a list of ids; or a file with one id per line.
        size: the number of queries.
        strata: strata to draw from separately: `{query: stratum}`, or a table with a row for each
            query. Missing queries form their own stratum, and many different numbers are grouped
            into four.
        by: the column of the strata, if the table has several.
        allocation: `proportional`, in proportion to each stratum's share of all queries; or
            `equal`, the same number from each. Every stratum gets at least two.
        seed: a non-negative integer. The same seed draws the same queries from the same source; a
            larger size adds more queries.
        **options: see `ReadingOptions`.

    >>> design = sample_queries([f"q{number}" for number in range(1, 101)], 3)
    >>> design.queries, design.probability_of["q1",]
    (('q21', 'q37', 'q83'), 0.03)
    """
    many = arguments.whole(size, "size", least=1, most=arguments.MOST_DOCUMENTS)
    if arguments.choice(allocation, "allocation", ALLOCATIONS) != "proportional" and strata is None:
        expected = "proportional without strata"
        raise InputError("allocation", expected, shown(allocation), "Pass strata.")
    fixed = arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED)
    queries, kind = _queries(source, options)
    if not queries:
        raise InputError("source", f"{_FORMS}, with at least one query", "none")
    parts = read_strata(strata, by, queries, read_columns(options.get("columns")))
    least = least_of_each(QUERIES, len(parts))
    _refuse_size(many, len(queries), len(parts), least, "queries")
    drawn = draw(
        {name: [(query,) for query in members] for name, members in parts.items()},
        many,
        allocation=allocation,
        seed=fixed,
        least=least,
    )
    for stratum in drawn:
        if len(drawn) > 1 and len(stratum.population) < FEWEST:
            raise InputError(
                f"strata, {stratum.name}",
                f"at least {FEWEST} queries in each stratum",
                "1",
                "Merge it with another stratum, since one query has no variance.",
            )
    return SampleDesign(QUERIES, drawn, _named(strata, by), allocation, fixed, query_type=kind)


@takes(MeasuringOptions)
def sample_documents(
    runs: Runs | Sequence[Run] | Pool,
    size: int,
    *,
    depth: int = 10,
    model: Judgments | None = None,
    by: str | Sequence[str] = "query",
    allocation: str = "proportional",
    seed: int = 0,
    **options: Unpack[MeasuringOptions],
) -> SampleDesign:
    """Draw a stratified random sample of the runs' pool for people to judge.

    With it, `calibrate` estimates DCG and CG, which are sums over documents. nDCG needs whole
    queries: `sample_queries`.

    Args:
        runs: as in `pool`; or a pool.
        size: the number of documents.
        depth: the rank down to which documents are taken from the runs: the cutoff of the measure.
        model: the judgments of a model, for `by="grade"`.
        by: the strata: `query`, `rank`, `grade` (of the model), or several of them. `rank` is the
            best rank in any run: 1, 2 to 3, 4 to 10, 11 to 30 …
        allocation: as in `sample_queries`; at least one from each stratum.
        seed: a non-negative integer.
        **options: see `MeasuringOptions`.

    >>> run = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 2, "d": 1}}
    >>> design = sample_documents({"mine": run}, 3)
    >>> design.drawn, design.probability_of["q1", "a"]
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
        name = ", ".join(_label(row, part) for part in names) or ALL
        strata.setdefault(name, []).append((row.query, row.doc))
    _refuse_size(many, len(pooled), len(strata), 1, "documents")
    drawn = draw(
        strata, many, allocation=allocation, seed=fixed, least=least_of_each(DOCUMENTS, len(strata))
    )
    return SampleDesign(
        DOCUMENTS,
        drawn,
        ", ".join(names),
        allocation,
        fixed,
        pooled.depth,
        query_type=pooled.query_type,
        doc_type=pooled.doc_type,
    )


def _label(row: Pooled, by: str) -> str:
    """Return the stratum of a document by its query, its rank or the model's grade."""
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
        raise InputError(
            "size", f"at most {population:,} {what}, the size of the population", f"{size:,}"
        )
    if size < least * strata:
        few = f"{least} from each of {strata:,} strata" if strata > 1 else str(least)
        raise InputError(
            "size",
            f"at least {least * strata:,} {what}, {few}",
            f"{size:,}",
            "Draw more, or use fewer strata.",
        )


def read_strata(
    strata: TableLike | None,
    by: str | None,
    queries: Sequence[str],
    keys: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Return the queries of each stratum by its name; one stratum if there are none.

    Args:
        strata: a table with a row for each query; None for no strata.
        by: its column; None if there is only one.
        queries: the population.
        keys: the caller's names of columns in judgments and runs, which may join several into one key.
    """
    if strata is None:
        if by is not None:
            raise InputError("by", "None without strata", shown(by), "Pass the table: strata=….")
        return {ALL: [*queries]}
    table = read_table(strata, TABLE_OF_QUERIES, "strata", keys=keys or {})
    column = _column(table, by)
    if {*table["query"]}.isdisjoint(queries):
        raise InputError(
            f"strata {table.name}",
            "queries of the population",
            f"none of them; it has {examples(table['query'])}",
            f"The population contains {examples(queries)}.",
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
        names = ", ".join(map(shown, table.columns))
        raise InputError(f"strata {table.name}", "one column, or by= one of them", names)
    return next(iter(table.columns))


def _named(strata: TableLike | None, by: str | None) -> str:
    return "" if strata is None else by or "stratum"


def _queries(source: object, options: ReadingOptions) -> tuple[list[str], IdType]:
    """Return the ids of queries in any source, in order, and their original types."""
    if isinstance(source, str | os.PathLike):
        return _in_file(path_of(source), options), UNTYPED
    if isinstance(source, Mapping):
        return _in_dict(source, options)
    if isinstance(source, SampleDesign):
        return in_order({unit[0] for unit in source.population}), source.query_type
    if _is_table(source):
        return _of_table(cast("TableLike", source), options), UNTYPED
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise InputError("source", _FORMS, shown(source))
    try:
        ids = list(source)
    except TypeError:  # an array without dimensions claims to be iterable
        raise InputError("source", _FORMS, shown(source)) from None
    texts = [id_text(item, where=f"source, item {place}") for place, item in enumerate(ids, 1)]
    return _once(texts, "source"), type_of_ids(ids)


def _is_table(source: object) -> bool:
    """Return whether something has columns: a data frame, an Arrow object, or a list of records."""
    if isinstance(source, list | tuple):
        return any(isinstance(item, Mapping | list | tuple) for item in source)
    return any(hasattr(source, name) for name in ("columns", "column_names"))


def _in_dict(source: Mapping[Any, Any], options: ReadingOptions) -> tuple[list[str], IdType]:
    deep = next((value for value in source.values() if isinstance(value, Mapping)), None)
    inner = None if deep is None else next((value for value in deep.values()), None)
    if isinstance(inner, Mapping) and options.get("assessors") is None:
        # {name: run}: every query of any run. With assessors it would be {query: {doc: {assessor: grade}}}.
        queries = {id_text(query, where="source") for run in source.values() for query in run}
        return in_order(queries), type_of_ids(deep or ())
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
    return _of_table(name, options)


def _lines(name: str) -> list[str] | None:
    """Return the ids of a text with one per line; None if it contains more, or is compressed."""
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
    seen: set[str] = set()
    for query in ids:
        if query in seen:
            raise InputError(where, "each query once", f"{shown(query)} twice")
        seen.add(query)
    return in_order(seen)


def _of_table(source: TableLike, options: ReadingOptions) -> list[str]:
    """Return the queries of judgments, of a run, or of a table of queries."""
    problems = []
    for read in (_judged, _returned, _named_queries):
        try:
            return in_order({*read(source, options)})
        except InputError as problem:
            problems.append(problem)
    if options.get("assessors") is not None or problems[0].code == "judgments.several-assessors":
        raise problems[0]
    where = path_of(source) if isinstance(source, str | os.PathLike) else "source"
    raise InputError(where, _FORMS, "none of these", f"As judgments: {problems[0]}")


def _judged(source: TableLike, options: ReadingOptions) -> Iterable[str]:
    with read_unmeasured({}).reader_of(source, cast("MeasuringOptions", options)) as reader:
        return [*queries_of(reader.judgments.documents, "judgments")]


def _returned(source: Run, options: ReadingOptions) -> Iterable[str]:
    with read_unmeasured({}).reader_of(None, cast("MeasuringOptions", options)) as reader:
        return [*reader.returned(source)]


def _named_queries(source: object, _: ReadingOptions) -> Iterable[str]:
    try:
        return cast("Iterable[str]", read_table(source, QUERY_TEXTS, "source")["query"])
    except InputError:
        return cast("Iterable[str]", read_table(source, TABLE_OF_QUERIES, "source")["query"])
