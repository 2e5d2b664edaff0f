"""The shown documents of a log as arrays, with whole numbers instead of queries and documents.

The engine returns only numbers: a 64-bit hash for each pair of query and document, for each list and for
each session. Among a million of them, two have the same hash in one of 40 million logs.
Long logs are read in parts, between which the engine may keep them on disk.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.cores import in_parallel
from gainful.arithmetic.kernels.numbered_keys import numbered
from gainful.array_types import AnyArray, Bools, Ints
from gainful.behaviour.log_tables import Oddity, Shape
from gainful.errors import InputError
from gainful.rows.duckdb_engine import Columns, Session, reading_table

_MOST_ROWS = 1 << 24  # read at once
_BLOCK = 1 << 16  # lists that are sorted together
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

        def keys_of(first: int, end: int) -> Ints:
            """Return a key for each row of these lists; rows with the same document of a list have the same key."""
            begins = self.starts[first : end + 1]
            keys = np.repeat(np.arange(end - first) * count, np.diff(begins))
            return keys + pairs[begins[0] : begins[-1]]

        def repeats_in(first: int) -> int:
            # Sorting is much faster than finding the order, which few logs need.
            keys = np.sort(keys_of(first, min(first + _BLOCK, lists)))
            return int(np.count_nonzero(keys[1:] == keys[:-1]))

        repeats = sum(in_parallel(repeats_in, range(0, lists, _BLOCK)))
        oddities.append(Oddity(repeats, "documents shown again in the same list", "counted once, at their first position"))  # fmt: skip
        if not repeats:
            return
        keys = keys_of(0, lists)
        order = np.argsort(keys, kind="stable")
        again = np.concatenate([[False], np.diff(keys[order]) == 0])
        leaders = order[~again][np.cumsum(~again) - 1]
        values = self.columns["value"].copy()
        np.maximum.at(values, leaders, self.columns["value"][order])
        self.columns["value"] = values
        kept = np.ones(len(keys), bool)
        kept[order[again]] = False
        self.keep(kept)


def rows_of_log(shape: Shape, session: Session) -> tuple[LogRows, Columns, int]:
    """Return the rows with a query and a document, the query and doc (p,) of each pair, and the number of all rows."""
    with reading_table("log"):
        rows = session.name("rows")
        session.execute(f"CREATE TEMP VIEW {rows} AS {shape.select}")
        ((total,),) = session.rows(f"SELECT count(*) FROM {rows}")
        source = f"FROM {rows} WHERE query IS NOT NULL AND doc IS NOT NULL"
        if shape.has_numbers and not _has_nulls(rows, session):
            source = f"FROM {rows} WHERE true"
        parts: list[LogRows] = []
        hashes: list[AnyArray] = []  # of the pairs of each part
        places: list[Ints] = []  # of a row of each of them
        marks: list[AnyArray] = []  # of that row
        pair_count = row_count = 0
        for columns in _parts(shape, source, int(total), session):
            numbers, distinct = numbered(columns.pop("key"))
            chosen = _any_row(numbers, len(distinct))
            hashes.append(distinct)
            places.append(chosen.astype(np.int64) + row_count)
            marks.append(distinct ^ columns["list"][chosen] if shape.has_lists else distinct)
            columns["pair"] = numbers + np.int32(pair_count) if pair_count else numbers
            pair_count += len(distinct)
            row_count += len(numbers)
            parts.append(_in_lists(columns))
        if not pair_count:
            raise InputError("log", "at least one row with a query and a document", "none")
        pairs, distinct = np.arange(pair_count), hashes[0]
        if len(parts) > 1:
            pairs, distinct = numbered(np.concatenate(hashes))
        first = _any_row(pairs, len(distinct))
        if shape.has_numbers and row_count == total:
            table = session.register("chosen", {"row": np.concatenate(places)[first]})
            select = (
                f"SELECT query, doc, {_PAIR} AS key {source} AND row IN (SELECT row FROM {table})"
            )
        else:  # a mark makes it possible to skip the texts of all other rows
            mark = f"xor({_PAIR}, list)" if shape.has_lists else _PAIR
            table = session.register("chosen", {"mark": np.concatenate(marks)[first]})
            select = f"SELECT DISTINCT query, doc, {_PAIR} AS key {source} AND {mark} IN (SELECT mark FROM {table})"
        names, order = _names(select, distinct, session)
    joined = _joined(parts)
    joined.columns["pair"] = order[pairs][joined.columns["pair"]]
    return joined, names, int(total)


def _any_row(numbers: AnyArray, count: int) -> AnyArray:
    """Return any row (p,) of each number (n,)."""
    rows: AnyArray = np.empty(count, np.int32)
    rows[numbers] = np.arange(len(numbers), dtype=np.int32)
    return rows


def _has_nulls(rows: str, session: Session) -> bool:
    """Return whether some rows lack a query or a document, which the metadata of a Parquet file tell without reading it."""
    ((most, queries, docs),) = session.rows(
        f"SELECT count(*), count(query), count(doc) FROM {rows}"
    )
    return bool(queries < most or docs < most)


def _numbers(shape: Shape) -> str:
    """Return SQL for the columns of the arrays."""
    columns = [f"{_PAIR} AS key", "position"]
    if shape.has_counts:
        columns += ["shown", "clicked"]
    else:
        columns.append("value")
        for column, there in (
            ("list", shape.has_lists),
            ("owner", shape.has_owners),
            ("coalesce(propensity, 'nan'::DOUBLE) AS propensity", shape.has_propensities),
            ("team", shape.has_teams),
        ):
            columns += [column] if there else []
    return ", ".join(columns)


def _parts(shape: Shape, source: str, total: int, session: Session) -> Iterator[Columns]:
    """Yield the rows of the log, in parts of a bounded size."""
    select = f"SELECT {_numbers(shape)} {source}"
    starts = range(0, total, _MOST_ROWS)
    if len(starts) <= 1:
        yield _columns(select, session)
    elif shape.has_numbers:  # the engine skips the other parts of the file
        for start in starts:
            yield _columns(f"{select} AND row >= {start} AND row < {start + _MOST_ROWS}", session)
    else:
        table = session.name("numbers")
        session.execute(f"CREATE TEMP TABLE {table} AS {select}")
        for start in starts:
            part = f"WHERE rowid >= {start} AND rowid < {start + _MOST_ROWS}"
            yield _columns(f"SELECT * FROM {table} {part}", session)
        session.drop(table)


def _columns(select: str, session: Session) -> Columns:
    """Return the columns of a query; unknown positions are NaN."""
    columns = session.masked_columns(select)
    position = columns["position"]
    if np.ma.is_masked(position):
        columns["position"] = np.ma.filled(position.astype(np.float32), np.nan)
    return {name: np.ma.getdata(column) for name, column in columns.items()}


def _in_lists(columns: Columns) -> LogRows:
    """Return rows as lists: a list for each series of rows with the same one."""
    count = len(columns["pair"])
    lists, owners = columns.pop("list", None), columns.pop("owner", None)
    if lists is None:
        return LogRows(columns, np.arange(count + 1), None, owners)
    heads = np.flatnonzero(np.append(np.ones(min(count, 1), bool), lists[1:] != lists[:-1]))
    of_lists = None if owners is None else owners[heads]
    return LogRows(columns, np.append(heads, count), lists[heads], of_lists)


def _joined(parts: list[LogRows]) -> LogRows:
    """Return the rows of all parts, and empty the parts."""
    if len(parts) == 1:
        return parts[0]
    names = [*parts[0].columns]
    sizes = [len(part.columns["pair"]) for part in parts]
    before = np.cumsum([0, *sizes])
    columns = {name: np.concatenate([part.columns.pop(name) for part in parts]) for name in names}
    heads = np.concatenate(
        [part.starts[:-1] + start for part, start in zip(parts, before, strict=False)]
    )
    lists = _one_array([part.lists for part in parts])
    owners = _one_array([part.owners for part in parts])
    joined = LogRows(columns, np.append(heads, before[-1]), lists, owners)
    if lists is not None:  # a list may continue in the next part
        chosen = np.flatnonzero(np.append(True, lists[1:] != lists[:-1]))
        joined.choose_lists(np.append(heads[chosen], before[-1]), chosen)
    return joined


def _one_array(arrays: Sequence[AnyArray | None]) -> AnyArray | None:
    known = [array for array in arrays if array is not None]
    return np.concatenate(known) if known else None


def _names(select: str, hashes: AnyArray, session: Session) -> tuple[Columns, AnyArray]:
    """Return the query and doc (p,) of each pair, in order, and the place (p,) of each pair among them.

    Args:
        select: SQL for the query, the doc and the hash of each pair.
        hashes: (p,) of each pair, in order.
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
    places = np.argsort(keys).astype(np.int32)
    if not np.array_equal(keys[places], hashes):
        raise InputError(
            "log", "pairs of query and document with different hashes, and the same rows each time", "others",
            "Write the log to a file, with a prefix to all ids if this persists.",
        )  # fmt: skip
    return {"query": queries[pairs["place"]], "doc": pairs["doc"]}, places
