"""`read_log`: read a click log once, to answer any number of questions about it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.kernels.click_models import ShownLists
from gainful.arithmetic.kernels.numbered_keys import numbered
from gainful.array_types import AnyArray, Floats, Ints
from gainful.behaviour.log_rows import LogRows, rows_of_log
from gainful.behaviour.log_tables import LogOptions, Oddity, Shape, shown_rows
from gainful.errors import InputError
from gainful.matching.keyword_options import takes
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, Note, Table
from gainful.output.writing.result_base import Result
from gainful.rows.duckdb_engine import Columns, Progress, Session
from gainful.rows.input_types import TableLike

_MOST_POSITIONS = 10_000
_BUSY = 100  # clicks above which a session or a user may be a bot


@dataclass(frozen=True, slots=True)
class RankOfLog:
    """The documents and clicks at one rank.

    Attributes:
        rank: from 1.
        shown: the number of documents shown there.
        clicks: how many of them were clicked.
        rate: clicks / shown.
    """

    rank: int
    shown: int
    clicks: int
    rate: float


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog(Result):
    """A log of shown lists and clicks; it prints what it contains, rank by rank.

    Attributes:
        shape: what a row of the log describes: a shown document, a list, an event, or counts of a document.
        shown: the rows, as the click models use them.
        queries: (p,) the query of each pair of query and document.
        docs: (p,) the document of each pair.
        values: (n,) the weight of each row's action, 0 if there was no action; None if all clicks count 1.
        owners: (m,) the number of each list's session or user; None if the log has neither.
        propensities: (n,) the logged probability of showing each row's document there, or None.
        teams: (n,) the ranker that each row's document came from, in a log of interleaved lists, or None.
        has_lists: whether the log records which documents were shown together.
        first_position: the position of the first document in the log.
        oddities: everything unusual in the log, and how it was treated.
    """

    shape: str
    shown: ShownLists
    queries: NDArray[np.object_]
    docs: NDArray[np.object_]
    values: Floats | None = None
    owners: Ints | None = None
    propensities: Floats | None = None
    teams: NDArray[np.object_] | None = None
    has_lists: bool = True
    first_position: int = 1
    oddities: tuple[Oddity, ...] = field(default=())

    @property
    def lists(self) -> int:
        """The number of lists; 0 if the log doesn't distinguish them."""
        return len(self.shown.starts) - 1 if self.has_lists else 0

    @property
    def sessions(self) -> int:
        """The number of sessions or users; 0 if the log has none."""
        return 0 if self.owners is None else int(self.owners.max(initial=-1)) + 1

    @property
    def impressions(self) -> int:
        """The number of documents shown."""
        return round(self.shown.total)

    @property
    def clicks(self) -> int:
        """The number of clicked documents."""
        return round(self.shown.clicked)

    @property
    def ranks(self) -> tuple[RankOfLog, ...]:
        """The documents and clicks at each rank."""
        seen = self.shown.by_rank()
        clicks = self.shown.by_rank(self.shown.clicks)
        return tuple(
            RankOfLog(
                rank, round(seen[rank]), round(clicks[rank]), float(clicks[rank] / seen[rank])
            )
            for rank in np.flatnonzero(seen).tolist()
        )

    @property
    def summary(self) -> str:
        """The contents of the log, in one sentence."""
        parts = [counted(self.lists, "list")] if self.has_lists else []
        if self.sessions and self.sessions != self.lists:
            parts.append(counted(self.sessions, "session"))
        parts += [
            counted(len({*self.queries.tolist()}), "query", "queries"),
            f"{counted(self.impressions, 'document')} shown",
            counted(self.clicks, "click"),
        ]
        return f"{', '.join(parts)}; positions start at {self.first_position}"

    def table(self) -> Table:
        """Return the ranks for display, with the oddities as notes."""
        rows: list[list[Cell]] = [[r.rank, r.shown, r.clicks, r.rate] for r in self.ranks]
        notes: list[str] = [f"{self.summary}."]
        notes += [Note(f"{oddity}.") for oddity in self.oddities]
        return Table(["rank", "shown", "clicks", "rate"], rows, notes=notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return {
            "shape": self.shape,
            "lists": self.lists,
            "sessions": self.sessions,
            "impressions": self.impressions,
            "clicks": self.clicks,
            "first_position": self.first_position,
            "ranks": [
                {"rank": r.rank, "shown": r.shown, "clicks": r.clicks, "rate": r.rate}
                for r in self.ranks
            ],
            "oddities": [
                {"count": o.count, "what": o.what, "treatment": o.treatment} for o in self.oddities
            ],
        }

    def __repr__(self) -> str:
        return f"ClickLog({self.summary})"


@takes(LogOptions)
def read_log(log: TableLike | ClickLog, **options: Unpack[LogOptions]) -> ClickLog:
    """Read a click log in any common shape.

    A log has a row per shown document (session or list, query, document, position, clicked); a row per list
    (query, the shown ids, the clicked ids or positions); a row per event (such as OpenSearch's UBI events),
    with the lists that were shown in `lists`; or counts of impressions and clicks per query and document.
    Columns with common names are recognised.

    Args:
        log: a file (CSV, TSV, JSON, JSON lines, Parquet), a data frame, a DuckDB relation, or a list of dicts.
            Spark counts the impressions and clicks of a Spark data frame, so only ctr, coec and pbm can use it.
        **options: see `LogOptions`.

    >>> rows = [
    ...     {"session": "s1", "query": "soup", "doc": "a", "position": 0, "clicked": 0},
    ...     {"session": "s1", "query": "soup", "doc": "b", "position": 1, "clicked": 1},
    ... ]
    >>> read_log(rows)
    ClickLog(1 list, 1 query, 2 documents shown, 1 click; positions start at 0)
    """
    if isinstance(log, ClickLog):
        named = [name for name, value in options.items() if value is not None]
        if named:
            raise InputError(
                "log",
                "no options for a log that has already been read",
                f"{', '.join(named)}",
                "Pass the options to read_log.",
            )
        return log
    columns = options.get("columns")
    if columns is not None and not isinstance(columns, Mapping):
        raise InputError("columns", "a dict {role: name}", shown(columns))
    with Session(options.get("engine")) as session:
        shape = shown_rows(log, options, session)
        return _collected(shape, options, session)


def _collected(shape: Shape, options: LogOptions, session: Session) -> ClickLog:
    """Return the log of shown rows, with whole numbers for pairs, lists and sessions."""
    if options.get("most_clicks") is not None and not shape.has_owners:
        raise InputError("most_clicks", "a log with sessions or users", "a log without either", "Name their column: columns session=….")  # fmt: skip
    if shape.has_counts:
        return _of_counts(shape, options, session)
    rows, named, total = rows_of_log(shape, session)
    oddities = [*shape.oddities]
    left_out = total - len(rows.columns["pair"])
    oddities.append(Oddity(left_out, "rows without a query or a document", "left out"))
    first = _set_ranks(rows, shape, options, oddities)
    if shape.has_lists:
        rows.sort()
        rows.merge_repeats(oddities)
        _leave_out_bots(rows, options, oddities)
        oddities += _gaps(rows)
    names = named(rows)
    if len(rows.columns["pair"]) < total:
        where = "that appear only in rows or sessions left out"
        names = _without_unseen(rows.columns, names, where, oddities)
    return _built(shape, rows, names, first, tuple(o for o in oddities if o.count > 0))


def _without_unseen(
    columns: Columns, names: Columns, where: str, oddities: list[Oddity]
) -> Columns:
    """Drop the pairs without rows, and return the query and doc (p,) of the others."""
    seen = np.bincount(columns["pair"], minlength=len(names["doc"])) > 0
    unseen = f"pairs of query and document {where}"
    oddities.append(Oddity(int((~seen).sum()), unseen, "not graded"))
    columns["pair"] = (np.cumsum(seen) - 1).astype(np.int32)[columns["pair"]]
    return {name: texts[seen] for name, texts in names.items()}


def _first_position(least: float, options: LogOptions) -> int:
    """Return the position of first documents: as asked, or 0 if there is any."""
    asked = options.get("first_position")
    if asked is None:
        return 0 if least < 1 else 1
    first = arguments.whole(asked, "first_position", least=0, most=1, expected="0 or 1")
    if least < first:
        raise InputError("log, position", "positions from 1", f"{least:g}", "Set first_position to 0.")  # fmt: skip
    return first


def _of_counts(shape: Shape, options: LogOptions, session: Session) -> ClickLog:
    """Return a log of counts: each pair and rank has a row with a click and a row without one, weighted by the counts."""
    rows, named, total = rows_of_log(shape, session)
    oddities = [*shape.oddities]
    left_out = total - len(rows.columns["pair"])
    oddities.append(Oddity(left_out, "rows without a query or a document", "left out"))
    first = _set_ranks(rows, shape, options, oddities)
    names, ranks = named(rows), rows.columns["rank"].astype(np.int64)
    shown_, clicked, pairs = (rows.columns[name] for name in ("shown", "clicked", "pair"))
    weights = np.concatenate([shown_ - clicked, clicked]).astype(np.float64)
    clicks = np.repeat([False, True], len(ranks))
    kept = weights > 0
    columns = {"pair": np.tile(pairs, 2)[kept]}
    names = _without_unseen(columns, names, "without impressions", oddities)
    lists = ShownLists(
        columns["pair"], np.tile(ranks, 2)[kept], clicks[kept],
        np.arange(int(kept.sum()) + 1), len(names["query"]), weights[kept],
    )  # fmt: skip
    log = ClickLog(
        shape.name, lists, names["query"], names["doc"], has_lists=False, first_position=first,
        oddities=tuple(o for o in oddities if o.count > 0),
    )  # fmt: skip
    _refuse_empty(log)
    return log


def _whole_positions(position: AnyArray) -> AnyArray:
    """Return positions, which must be whole numbers of a plausible size."""
    wrong = [end for end in (position.min(), position.max()) if not 0 <= end <= _MOST_POSITIONS]
    if not wrong and not _is_whole(position):
        wrong = position[position != np.floor(position)][:1].tolist()
    if wrong:
        raise InputError(
            "log, position", f"whole numbers from 0 or 1 to {_MOST_POSITIONS:,}", f"{float(wrong[0]):g}",
            "If another column contains the positions, name it: columns position=….",
        )  # fmt: skip
    return position


def _is_whole(position: AnyArray) -> bool:
    return bool(np.issubdtype(position.dtype, np.integer))


def _set_ranks(rows: LogRows, shape: Shape, options: LogOptions, oddities: list[Oddity]) -> int:
    """Replace the positions of all rows by ranks from 1, and return the position of first documents."""
    if not _is_whole(rows.columns["position"]):
        known = ~np.isnan(rows.columns["position"])
        if not known.any():
            if shape.has_lists:
                raise InputError(
                    "log", "the position of each document in its list", "none",
                    "Name its column: columns position=…. Without positions, count the clicks and impressions of each document.",
                )  # fmt: skip
            rows.columns["position"], known = np.ones(len(known), np.int32), ~known
        oddities.append(Oddity(int((~known).sum()), "rows without a position", "left out"))
        rows.keep(known)
    position = _whole_positions(rows.columns.pop("position"))
    first = _first_position(float(position.min()), options)
    ranks = position.astype(np.int32, copy=False)
    rows.columns["rank"] = ranks if first else ranks + np.int32(1)
    return first


def _gaps(rows: LogRows) -> Iterator[Oddity]:
    """Yield how many lists have unusual positions."""
    ranks, starts = rows.columns["rank"], rows.starts
    steps = np.diff(ranks)
    steps[starts[1:-1] - 1] = 1  # from a list to the next one
    yield Oddity(
        int((steps == 0).sum()),
        "documents at the same position as another one in their list",
        "kept",
    )
    yield Oddity(
        int((steps > 1).sum()),
        "gaps in the positions of a list",
        "kept, as documents that weren't logged",
    )
    yield Oddity(
        int((ranks[starts[:-1]] > 1).sum()), "lists that begin below the first position", "kept"
    )


def _leave_out_bots(rows: LogRows, options: LogOptions, oddities: list[Oddity]) -> None:
    """Leave out sessions of too many clicks, if there is a limit; otherwise only count busy sessions."""
    most = options.get("most_clicks")
    if rows.owners is None:
        return
    rows.owners, _ = numbered(rows.owners)
    owners = rows.owners
    clicked = np.flatnonzero(rows.columns["value"] > 0)
    of_list = np.diff(np.searchsorted(clicked, rows.starts))
    clicks = np.bincount(owners, of_list)
    limit = _BUSY if most is None else arguments.whole(most, "most_clicks", least=1)
    busy = int((clicks > limit).sum())
    treatment = "kept; most_clicks leaves them out" if most is None else "left out as bots"
    oddities.append(Oddity(busy, f"sessions with more than {limit:,} clicks", treatment))
    if most is not None:
        rows.keep(np.repeat((clicks <= limit)[owners], np.diff(rows.starts)))
        rows.owners, _ = numbered(rows.owners.astype(np.uint64))


def _built(
    shape: Shape, rows: LogRows, names: Columns, first: int, oddities: tuple[Oddity, ...]
) -> ClickLog:
    columns, values = rows.columns, rows.columns["value"]
    clicks = values > 0
    has_weights = values.dtype.kind == "f" and bool((values[clicks] != 1).any())
    log = ClickLog(
        shape.name,
        ShownLists(columns["pair"], columns["rank"], clicks, rows.starts, len(names["query"])),
        names["query"],
        names["doc"],
        values.astype(np.float64) if has_weights else None,
        rows.owners,
        columns.get("propensity"),
        columns.get("team"),
        shape.has_lists,
        first,
        oddities,
    )
    _refuse_empty(log)
    return log


def _refuse_empty(log: ClickLog) -> None:
    """Reject a log without clicks, or in which everything was clicked."""
    clicks, impressions = log.clicks, log.impressions
    if not impressions:
        raise InputError("log", "documents that were shown", "none")
    if not clicks:
        raise InputError(
            "log", "at least one click", f"none on {counted(impressions, 'shown document')}",
            "Check which column or action records the clicks.",
        )  # fmt: skip
    if clicks == impressions:
        raise InputError(
            "log", "documents that were shown and not clicked", f"a click on every one of {counted(impressions, 'document')}",
            "The log may contain only the clicks: pass the lists that were shown, lists=….",
        )  # fmt: skip


def drawn_weights(log: ClickLog, generator: np.random.Generator) -> Floats:
    """Return how often each row (n,) is in a resample of the sessions."""
    if not log.has_lists:  # counts: drawn independently of each other
        counts = log.shown.weighted(np.ones(len(log.shown.pairs)))
        return generator.poisson(counts).astype(np.float64)
    count = sessions_or_lists(log)
    times = np.bincount(generator.integers(0, count, count), minlength=count)
    return _of_rows(log, times.astype(np.float64))


def halves() -> Callable[[ClickLog, np.random.Generator], Floats]:
    """Return a function that returns how often each row (n,) is in a random half of the sessions, then in the other half.

    Of counts, it returns a random half of each. The mean over both halves varies little from draw to draw.
    """
    other: list[Floats] = []

    def half(log: ClickLog, generator: np.random.Generator) -> Floats:
        if other:
            return other.pop()
        if log.has_lists:
            count = sessions_or_lists(log)
            whole, chosen = np.ones(len(log.shown.pairs)), np.zeros(count)
            chosen[generator.permutation(count)[: count // 2]] = 1.0
            weights = _of_rows(log, chosen)
        else:
            whole = np.rint(log.shown.weighted(np.ones(len(log.shown.pairs))))
            weights = generator.binomial(whole.astype(np.int64), 1 / 2).astype(np.float64)
        other.append(whole - weights)
        return weights

    return half


def sessions_or_lists(log: ClickLog) -> int:
    """Return the number of units that are resampled: sessions, or lists in a log without sessions."""
    return log.sessions or log.lists


def _of_rows(log: ClickLog, times: Floats) -> Floats:
    """Return how often each row (n,) counts, if each session or list counts so many times."""
    by_list = times if log.owners is None else times[log.owners]
    return np.repeat(by_list, np.diff(log.shown.starts))


def estimating(progress: Progress | None) -> Callable[[float], object] | None:
    """Return a function to call with the share of the rounds that is done."""
    arguments.function(progress, "progress")
    return None if progress is None else lambda share: progress(share, "estimating")
