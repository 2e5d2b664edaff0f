"""The shown documents of a log as arrays, with whole numbers instead of queries and documents.

The engine returns only numbers: a 64-bit hash for each pair of query and document, for each list and for
each session. Among a million of them, two have the same hash in one of 40 million logs.
Long logs are read in parts, between which the engine may keep them on disk.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.arithmetic.cores import in_parallel
from gainful.arithmetic.kernels.numbered_keys import KeyNumbers
from gainful.array_types import AnyArray, Bools, Ints
from gainful.behaviour.log_tables import Oddity, Shape
from gainful.errors import InputError
from gainful.rows.duckdb_engine import Columns, Session, reading_table

_BLOCK_ROWS = 1 << 22  # that are numbered while the next ones are read
_TAKEN = 1 << 18  # entries that are looked up together
_BLOCK, _FEWEST_LISTS = 1 << 16, 1 << 12  # lists that are sorted together
_PAIR = "hash(hash(query), hash(doc))"  # the engine hashes each text of a dictionary once


@dataclass(slots=True)
class LogRows:
    """The shown documents of a log.

    Attributes:
        columns: arrays (n,): pair, position or rank, value; propensity and team if the log has them; for counts,
            shown and clicked instead of value.
        starts: (m+1,) where the rows of each list begin.
        lists: (m,) the key of each list; None if the log doesn't distinguish them.
        owners: (m,) the key of each list's session or user; None if the log has neither.
    """

    columns: Columns
    starts: Ints
    lists: AnyArray | None
    owners: AnyArray | None

    def keep(self, kept: Bools) -> None:
        """Keep these rows (n,); lists without rows disappear."""
        if kept.all():
            return
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        left = np.append(np.diff(starts) > 0, True)
        self.columns = {name: column[kept] for name, column in self.columns.items()}
        self.choose_lists(starts[left], np.flatnonzero(left[:-1]))

    def choose_lists(self, starts: Ints, chosen: Ints) -> None:
        """Keep the chosen lists, whose rows begin at these places."""
        self.starts = starts
        self.lists = None if self.lists is None else self.lists[chosen]
        self.owners = None if self.owners is None else self.owners[chosen]

    def _take(self, rows: Ints) -> None:
        """Put the rows in this order."""
        self.columns = {name: column[rows] for name, column in self.columns.items()}

    def sort(self) -> None:
        """Put the rows in the order of lists and ranks."""
        assert self.lists is not None  # noqa: S101 - the caller has checked
        ranks = self.columns["rank"]
        in_order = np.sort(self.lists)
        if (in_order[1:] == in_order[:-1]).any():  # lists of which other lists separate the parts
            order = np.lexsort((ranks[self.starts[:-1]], self.lists))
            sizes = np.diff(self.starts)[order]
            ends = np.cumsum(sizes)
            self._take(
                np.repeat(self.starts[:-1][order] - ends + sizes, sizes) + np.arange(len(ranks))
            )
            lists = self.lists[order]
            heads = np.flatnonzero(np.append(True, lists[1:] != lists[:-1]))
            self.choose_lists(np.append((ends - sizes)[heads], len(ranks)), order[heads])
        ranks = self.columns["rank"]
        begins = np.zeros(len(ranks), bool)
        begins[self.starts[:-1]] = True
        if not (begins[1:] | (ranks[1:] >= ranks[:-1])).all():
            self._take(np.lexsort((ranks, np.cumsum(begins))))

    def merge_repeats(self, oddities: list[Oddity]) -> None:
        """Keep each document once per list, at its first position, and clicked if any of its rows is."""
        pairs, lists = self.columns["pair"], len(self.starts) - 1
        count = int(pairs.max()) + 1

        def keys_of(first: int, end: int, type_: type[np.integer[Any]]) -> AnyArray:
            """Return a key for each row of these lists; rows with the same document of a list have the same key."""
            begins = self.starts[first : end + 1]
            keys = np.repeat(np.arange(end - first, dtype=type_) * type_(count), np.diff(begins))
            keys += pairs[begins[0] : begins[-1]].astype(type_)
            return keys

        def repeats_in(first: int) -> int:
            # Sorting is much faster than finding the order, which few logs need.
            keys = np.sort(keys_of(first, min(first + block, lists), type_))
            return int(np.count_nonzero(keys[1:] == keys[:-1]))

        short = (1 << 32) // count >= _FEWEST_LISTS  # sorting keys of 32 bits is faster still
        type_ = np.uint32 if short else np.int64
        block = min(_BLOCK, (1 << 32) // count) if short else _BLOCK
        repeats = sum(in_parallel(repeats_in, range(0, lists, block)))
        oddities.append(Oddity(repeats, "documents shown again in the same list", "counted once, at their first position"))  # fmt: skip
        if not repeats:
            return
        keys = keys_of(0, lists, np.int64)
        order = np.argsort(keys, kind="stable")
        again = np.concatenate([[False], np.diff(keys[order]) == 0])
        leaders = order[~again][np.cumsum(~again) - 1]
        values = self.columns["value"].copy()
        np.maximum.at(values, leaders, self.columns["value"][order])
        self.columns["value"] = values
        kept = np.ones(len(keys), bool)
        kept[order[again]] = False
        self.keep(kept)


def rows_of_log(
    shape: Shape, session: Session
) -> tuple[LogRows, Callable[[LogRows], Columns], int]:
    """Return the rows with a query and a document, a function, and the number of all rows.

    The function gives the pairs of these rows their final numbers, and returns the query and doc (p,) of each
    pair. Until it is called, the engine reads these texts, while the rows can be worked on.
    """
    with reading_table("log"):
        source = _source(shape, session)
        blocks: list[LogRows] = []
        known = KeyNumbers()  # of the pairs
        places: list[AnyArray] = []  # of a row of each of them
        read = 0
        select = f"SELECT {_numbers(shape, source)} FROM {source.name}"
        with closing(session.blocks(select, _BLOCK_ROWS)) as found:
            for columns in found:
                numbers, new = known.add(columns.pop("key"))
                places.append(new.astype(np.int64) + read)
                read += len(numbers)
                blocks.append(_in_lists(columns | {"pair": numbers}))
        table = session.register("chosen", {"number": np.concatenate(places)})
        select = f"SELECT query, doc, {_PAIR} AS key FROM {source.name} WHERE {source.number} IN (SELECT number FROM {table})"
        teams = _teams(source, session) if shape.has_teams else None
        waited = session.begin(lambda: _names(select, known, session))
        joined = _joined(blocks)
        if teams is not None:
            keys, names = teams
            joined.columns["team"] = names[np.searchsorted(keys, joined.columns["team"])]

    def named(rows: LogRows) -> Columns:
        with reading_table("log"):
            names, order = waited()
        pairs, numbers = rows.columns["pair"], np.empty(len(rows.columns["pair"]), np.int32)

        def number(start: int) -> None:
            numbers[start : start + _TAKEN] = order.take(pairs[start : start + _TAKEN])

        in_parallel(number, range(0, len(pairs), _TAKEN))
        rows.columns["pair"] = numbers
        return names

    return joined, named, source.total


def _teams(source: "_Source", session: Session) -> tuple[AnyArray, AnyArray]:
    """Return the hashes of all teams, in order, and their names."""
    teams = session.rows(f"SELECT DISTINCT hash(team) AS key, team FROM {source.name} ORDER BY key")
    keys, names = zip(*teams, strict=True)
    return np.array(keys, np.uint64), np.array(names, object)


@dataclass(frozen=True, slots=True)
class _Source:
    """Rows with a query and a document, which the engine can look up by their numbers.

    Attributes:
        name: the view.
        number: SQL for the number of a row, from 0.
        total: the number of all rows, including those without a query or a document.
        has_positions: whether all rows have a position.
    """

    name: str
    number: str
    total: int
    has_positions: bool


def _source(shape: Shape, session: Session) -> _Source:
    """Return the rows that count; those in Parquet files stay there, unless some lack a query or a document."""

    def counts(table: str) -> list[int]:
        ((*numbers,),) = session.rows(
            f"SELECT count(*), count(query), count(doc), count(position) FROM {table}"
        )
        return numbers

    rows = session.name("rows")
    session.execute(f"CREATE TEMP VIEW {rows} AS {shape.select}")
    if shape.files:
        total, queries, docs, positions = counts(rows)  # the metadata of the files contain them
        if queries == docs == total > 0:
            number = "row"
            if shape.files > 1:
                sizes = session.rows(f"SELECT file, count(*) FROM {rows} GROUP BY file")
                ends = np.cumsum([dict(sizes).get(file, 0) for file in range(shape.files)])
                number = f"(row + {[0, *ends.tolist()]}[CAST(file AS INT) + 1])"
            return _Source(rows, number, total, positions == total)
    stored = session.name("stored")
    without = "EXCLUDE (file, row)" if shape.files else ""
    session.execute(f"CREATE TEMP TABLE {stored} AS SELECT * {without} FROM {rows}")
    total, queries, docs, positions = counts(stored)
    kept = total
    if min(queries, docs) < total:
        all_rows, stored = stored, session.name("stored")
        session.execute(
            f"CREATE TEMP TABLE {stored} AS FROM {all_rows} WHERE query IS NOT NULL AND doc IS NOT NULL"
        )
        session.drop(all_rows)
        kept, *_, positions = counts(stored)
    if not kept:
        raise InputError("log", "at least one row with a query and a document", "none")
    return _Source(stored, "rowid", total, positions == kept)


def _numbers(shape: Shape, source: _Source) -> str:
    """Return SQL for the columns of the arrays; an unknown position is NaN."""
    position = "position" if source.has_positions else "coalesce(CAST(position AS FLOAT), 'nan'::FLOAT) AS position"  # fmt: skip
    columns = [f"{_PAIR} AS key", position]
    if shape.has_counts:
        columns += ["shown", "clicked"]
    else:
        columns.append("value")
        for column, there in (
            ("list", shape.has_lists),
            ("owner", shape.has_owners),
            ("coalesce(propensity, 'nan'::DOUBLE) AS propensity", shape.has_propensities),
            ("hash(team) AS team", shape.has_teams),
        ):
            columns += [column] if there else []
    return ", ".join(columns)


def _in_lists(columns: Columns) -> LogRows:
    """Return rows as lists: a list for each series of rows with the same one."""
    count = len(columns["pair"])
    lists, owners = columns.pop("list", None), columns.pop("owner", None)
    if lists is None:
        return LogRows(columns, np.arange(count + 1), None, owners)
    heads = np.flatnonzero(np.append(np.ones(min(count, 1), bool), lists[1:] != lists[:-1]))
    of_lists = None if owners is None else owners[heads]
    return LogRows(columns, np.append(heads, count), lists[heads], of_lists)


def _joined(blocks: list[LogRows]) -> LogRows:
    """Return the rows of all blocks, and empty the blocks."""
    if len(blocks) == 1:
        return blocks[0]
    before = np.cumsum([0, *(len(block.columns["pair"]) for block in blocks)])
    columns = {
        name: np.concatenate([block.columns.pop(name) for block in blocks])
        for name in [*blocks[0].columns]
    }
    heads = np.concatenate(
        [block.starts[:-1] + start for block, start in zip(blocks, before, strict=False)]
    )
    lists = _one_array([block.lists for block in blocks])
    owners = _one_array([block.owners for block in blocks])
    joined = LogRows(columns, np.append(heads, before[-1]), lists, owners)
    if lists is not None:  # a list may continue in the next block
        chosen = np.flatnonzero(np.append(True, lists[1:] != lists[:-1]))
        joined.choose_lists(np.append(heads[chosen], before[-1]), chosen)
    return joined


def _one_array(arrays: Sequence[AnyArray | None]) -> AnyArray | None:
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if known else None


def _names(select: str, known: KeyNumbers, session: Session) -> tuple[Columns, AnyArray]:
    """Return the query and doc (p,) of each pair, in order, and the place (p,) among them of each number of a pair.

    Args:
        select: SQL for the query, the doc and the hash of each pair.
        known: the numbers of the hashes.
        session: the engine's session.
    """
    names, of_queries = session.name("names"), session.name("queries")
    session.execute(f"CREATE TEMP TABLE {names} AS {select}")
    session.execute(
        f"CREATE TEMP TABLE {of_queries} AS SELECT query, row_number() OVER (ORDER BY query) - 1 AS place "
        f"FROM (SELECT DISTINCT query FROM {names})"
    )
    queries = session.columns(f"SELECT query FROM {of_queries} ORDER BY place")["query"]
    # Sorting by the places of the queries is much faster than by their texts.
    pairs = session.columns(
        f"SELECT place, doc, key FROM {names} JOIN {of_queries} USING (query) ORDER BY place, doc"
    )
    keys = pairs["key"]
    in_order = np.argsort(keys).astype(np.int32)
    if not np.array_equal(keys[in_order], known.keys):
        raise InputError("log", "the same rows each time it is read", "others", "Don't change the log while it is read.")  # fmt: skip
    places = np.empty(len(in_order), np.int32)
    places[known.numbers] = in_order
    return {"query": queries[pairs["place"]], "doc": pairs["doc"]}, places
