"""Interleaving: lists made from several runs, and a verdict from the clicks on them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from gainful import arguments
from gainful.arithmetic.kernels.interleaving import MAKERS, credit_of
from gainful.arithmetic.statistics.distributions import coin_two_sided, normal_quantile, t_quantile
from gainful.array_types import Floats
from gainful.behaviour.click_log import ClickLog, read_log
from gainful.behaviour.log_tables import LogOptions
from gainful.errors import InputError, warn
from gainful.matching.keyword_options import takes
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, PValue, Signed, Table
from gainful.output.writing.result_base import Document, ResultOfRows
from gainful.rows.input_types import Run, TableLike
from gainful.rows.runs_by_name import Runs, read_runs

_FEW = 10  # fewest lists with a preference that allow a verdict
_POWER = 0.8
_TEAMS = "team_draft"


@dataclass(frozen=True, slots=True)
class InterleavedDocument:
    """A document of an interleaved list.

    Attributes:
        query: the query.
        position: from 1.
        doc: the document.
        team: the run that it came from; empty if the method doesn't assign documents to runs.
    """

    query: str
    position: int
    doc: str
    team: str


@dataclass(frozen=True, eq=False, repr=False)
class Interleaved(ResultOfRows[InterleavedDocument]):
    """Lists to show to users, made from several runs: a sequence of rows, and `lists` by query.

    Attributes:
        rows: a row for each document.
        method: how the lists were made.
        runs: the names of the runs.
        seed: the seed; the same seed gives the same lists.
    """

    rows: tuple[InterleavedDocument, ...]
    method: str
    runs: tuple[str, ...]
    seed: int

    @property
    def lists(self) -> dict[str, list[str]]:
        """The documents of each query, in order."""
        lists: dict[str, list[str]] = {}
        for row in self.rows:
            lists.setdefault(row.query, []).append(row.doc)
        return lists

    @property
    def summary(self) -> str:
        """The number, runs and method of the lists, in one sentence."""
        return f"{counted(len(self.lists), 'list')} made from {', '.join(self.runs)} by {self.method}, seed {self.seed}"

    def table(self) -> Table:
        """Return the lists for display."""
        rows: list[list[Cell]] = [[row.query, row.position, row.doc, row.team] for row in self.rows]
        return Table(["query", "position", "doc", "team"], rows, notes=[f"{self.summary}."])

    def __repr__(self) -> str:
        return f"Interleaved({self.summary})"


def interleave(
    rankings: Mapping[str, Sequence[str]],
    *,
    method: str = _TEAMS,
    depth: int = 10,
    seed: int = 0,
    query: str = "",
) -> list[InterleavedDocument]:
    """Make one list from several rankings, for example in a service that answers a query.

    Args:
        rankings: the ids of each ranker's documents, best first, by the ranker's name.
        method: team_draft, balanced (of two rankings), probabilistic or optimised.
        depth: the number of documents.
        seed: a non-negative integer. The same seed, query and rankings give the same list; use another seed
            for each list, such as the number of the request.
        query: the query, which the result contains.

    >>> rows = interleave({"A": ["a", "b", "c"], "B": ["b", "d", "a"]}, depth=3, seed=1)
    >>> [(row.doc, row.team) for row in rows]
    [('a', 'A'), ('b', 'B'), ('c', 'A')]
    """
    arguments.refuse_unnamed(rankings, "rankings", "a dict {name: [document, …]}")
    names, lists = (
        [*rankings],
        [_listed(rankings[name], f"rankings, {name!r}") for name in rankings],
    )
    _refuse_number(method, len(names))
    size = arguments.whole(depth, "depth", least=1, most=1000)
    start = arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED)
    arguments.text(query, "query")
    entropy = np.random.SeedSequence(start, spawn_key=tuple(query.encode()))
    docs, teams = MAKERS[method](lists, size, np.random.Generator(np.random.PCG64(entropy)))
    return [
        InterleavedDocument(query, place, doc, names[team] if team >= 0 else "")
        for place, (doc, team) in enumerate(zip(docs, teams, strict=True), 1)
    ]


def _listed(ranking: object, where: str) -> list[str]:
    docs = arguments.listed(ranking, where, "a list of document ids, best first")
    if len({*docs}) < len(docs):
        raise InputError(where, "each document once", "a document twice")
    return docs


def _refuse_number(method: str, count: int) -> None:
    """Reject a method that doesn't exist, or that can't make a list from that many rankings."""
    arguments.choice(method, "method", MAKERS)
    if count < 2 or (method == "balanced" and count > 2):
        expected = "two rankings" if method == "balanced" else "two or more rankings"
        raise InputError("rankings", expected, str(count))


def interleave_runs(
    runs: Runs | Sequence[Run],
    *,
    method: str = _TEAMS,
    depth: int = 10,
    seed: int = 0,
) -> Interleaved:
    """Make a list for each query of two or more runs, to show to users.

    Args:
        runs: name → run, or paths of runs. Only queries that are in all runs get a list.
        method: team_draft: in each round, in random order, every run picks its best remaining document;
            balanced: two runs are merged, and a coin decides which goes first; probabilistic: each document is
            drawn from a random run in proportion to 1 / rank³; optimised: lists are chosen so that random clicks
            favour no run and other clicks distinguish the runs best. More than two runs (multileaving) need
            team_draft, probabilistic or optimised.
        depth: the number of documents of each list.
        seed: a non-negative integer; the same seed gives the same lists.
    """
    named = read_runs(runs, least=2)
    _refuse_number(method, len(named))
    lists = _rankings(named, None)
    queries = [query for query in lists[0] if all(query in ranking for ranking in lists)]
    if not queries:
        raise InputError("runs", "at least one query that is in all runs", "none")
    rows = [
        row
        for query in queries
        for row in interleave(
            dict(zip(named, (ranking[query] for ranking in lists), strict=True)),
            method=method, depth=depth, seed=seed, query=query,
        )
    ]  # fmt: skip
    return Interleaved(tuple(rows), method, tuple(named), seed)


def _rankings(runs: Mapping[str, Run], depth: int | None) -> list[dict[str, list[str]]]:
    """Return the documents of each query of each run, best first."""
    with reading(None, Policy()) as reader:
        return [reader.lists(run, depth) for run in runs.values()]


# --- verdicts


@dataclass(frozen=True, slots=True)
class Preference:
    """How often users preferred a run to the baseline.

    Attributes:
        run: its name.
        base: the name of the baseline.
        wins: the number of lists in which the run got more credit.
        losses: the number of lists in which the baseline got more credit.
        ties: the number of lists with equal credit, such as lists without clicks.
        preference: (wins + ties/2) / lists − 1/2, from −1/2 to 1/2.
        low: the lower end of its interval; None if there are too few lists.
        high: the upper end.
        p: the p-value of the sign test on wins and losses.
        word: better, worse or inconclusive.
        lists_needed: the number of lists that would show a preference of this size with 80 % power; None if it isn't
            needed or can't be estimated.
    """

    run: str
    base: str
    wins: int
    losses: int
    ties: int
    preference: float
    low: float | None
    high: float | None
    p: float
    word: str
    lists_needed: int | None


@dataclass(frozen=True, eq=False, repr=False)
class InterleavingVerdict(Document, ResultOfRows[Preference]):
    """Whether users prefer a run, from the clicks on interleaved lists.

    Attributes:
        rows: a row for each run except the baseline.
        lists: the number of lists.
        sessions: the number of sessions or users; 0 if the log has none.
        method: how the lists were made.
        level: the level of the intervals.
    """

    rows: tuple[Preference, ...]
    lists: int
    sessions: int
    method: str
    level: float

    def sentences(self) -> list[str]:
        """Return a verdict for each run."""
        return [self._sentence(row) for row in self.rows]

    def _sentence(self, row: Preference) -> str:
        grounds = f"{counted(row.wins, 'win')}, {counted(row.losses, 'loss', 'losses')}, {counted(row.ties, 'tie')}"
        if row.low is None or row.high is None:
            return f"Users' preference between {row.run} and {row.base} is inconclusive: too few lists with a preference ({grounds})."
        interval = f"preference {row.preference:+.3f}, {self.level:.0%} interval {row.low:+.3f} to {row.high:+.3f}; {grounds}"
        if row.word != "inconclusive":
            return f"{row.run} is {row.word} than {row.base} ({interval})."
        more = ""
        if row.lists_needed is not None:
            more = f" If the preference is that large, {max(row.lists_needed - self.lists, 1):,} more lists would settle it."
        return f"Users' preference between {row.run} and {row.base} is inconclusive ({interval}).{more}"

    def table(self) -> Table:
        """Return the preferences for display."""
        rows: list[list[Cell]] = [
            [
                row.run, row.base, row.wins, row.losses, row.ties, Signed(row.preference),
                None if row.low is None else Signed(row.low), None if row.high is None else Signed(row.high),
                PValue(row.p), row.word,
            ]
            for row in self.rows
        ]  # fmt: skip
        columns = [
            "run",
            "base",
            "wins",
            "losses",
            "ties",
            "preference",
            "low",
            "high",
            "p",
            "verdict",
        ]
        return Table(columns, rows)

    def __repr__(self) -> str:
        return f"InterleavingVerdict({' '.join(self.sentences())})"


@takes(LogOptions)
def interleaving_verdict(
    log: TableLike | ClickLog,
    *,
    runs: Runs | Sequence[Run] | None = None,
    method: str = _TEAMS,
    baseline: str | None = None,
    level: float = 0.95,
    **options: Unpack[LogOptions],
) -> InterleavingVerdict:
    """Decide from the clicks on interleaved lists whether users prefer a run.

    Each list is one vote for the run whose documents got more clicks. For the interval, all lists of a user
    (or session) form one cluster.

    Args:
        log: a log with lists, in any shape that `read_log` reads. For team_draft it needs a column `team`, the
            run that each document came from.
        runs: the runs that the lists were made from; required for balanced, probabilistic and optimised, whose
            credit depends on every rank of the runs.
        method: how the lists were made.
        baseline: the name of the baseline; the first if None.
        level: the level of the intervals.
        **options: see `LogOptions`.

    >>> rows = [
    ...     {"session": s, "query": "soup", "doc": d, "position": p, "team": t, "clicked": t == "B" and s % 4 > 0}
    ...     for s in range(40) for p, (d, t) in enumerate([("a", "A"), ("b", "B")], 1)
    ... ]
    >>> print(interleaving_verdict(rows).sentences()[0])
    B is better than A (preference +0.375, 95% interval +0.305 to +0.445; 30 wins, 0 losses, 10 ties).
    """
    arguments.choice(method, "method", MAKERS)
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    read = read_log(log, **options)
    if not read.has_lists:
        raise InputError("log", "separate lists", f"{read.shape} per row", "Name the column of the session or the list.")  # fmt: skip
    names, credit = (
        _credit_of_teams(read) if method == _TEAMS else _credit_of_runs(read, runs, method)
    )
    base = names[0] if baseline is None else arguments.choice(baseline, "baseline", names)
    owners = np.arange(len(credit)) if read.owners is None else read.owners
    rows = tuple(
        _preference(name, base, credit[:, place] - credit[:, names.index(base)], owners, share)
        for place, name in enumerate(names)
        if name != base
    )
    return InterleavingVerdict(rows, len(credit), read.sessions, method, share)


def _credit_of_teams(log: ClickLog) -> tuple[list[str], Floats]:
    """Return the names of the teams, and the clicks (m, t) of each list on each team's documents."""
    if log.teams is None:
        raise InputError(
            "log", "the run that each document came from, in a column such as team", "none",
            "Name the column: columns team=…. For lists made by another method, pass the method and the runs.",
        )  # fmt: skip
    teams = np.array([None if team is None else str(team) for team in log.teams.tolist()], object)
    names = sorted({team for team in teams.tolist() if team})
    if len(names) < 2:
        raise InputError("log, team", "two or more teams", ", ".join(names) or "none")
    starts, clicks = log.shown.starts, log.shown.clicks
    unknown = int((clicks & ~np.isin(teams, names)).sum())
    if unknown:
        warn(
            f"interleaving_verdict: {counted(unknown, 'click')} of {int(clicks.sum())} on documents without a team "
            "aren't counted for any run."
        )
    counts = [np.add.reduceat(clicks & (teams == name), starts[:-1]) for name in names]
    return names, np.stack(counts, axis=1).astype(np.float64)


def _credit_of_runs(log: ClickLog, runs: Any, method: str) -> tuple[list[str], Floats]:
    """Return the names of the runs, and the credit (m, r) of each for the clicks on each list."""
    if runs is None:
        raise InputError(
            "runs", f"the runs that the lists were made from, for {method}", shown(runs)
        )
    named = read_runs(runs, least=2)
    _refuse_number(method, len(named))
    rankings = _rankings(named, None)
    credit = np.zeros((log.lists, len(named)))
    shown_lists = log.shown
    for place in range(log.lists):
        rows = slice(int(shown_lists.starts[place]), int(shown_lists.starts[place + 1]))
        if not shown_lists.clicks[rows].any():
            continue
        pairs = shown_lists.pairs[rows]
        query, docs = log.queries[pairs[0]], log.docs[pairs].tolist()
        clicked = log.docs[pairs[shown_lists.clicks[rows]]].tolist()
        missing = [
            name for name, ranking in zip(named, rankings, strict=True) if query not in ranking
        ]
        if missing:
            raise InputError(
                f"runs, {missing[0]!r}", "the queries of the log", f"no query {query!r}"
            )
        credit[place] = credit_of(method, [ranking[query] for ranking in rankings], docs, clicked)
    return [*named], credit


def _preference(run: str, base: str, beyond: Floats, owners: Any, level: float) -> Preference:
    """Return the preference for a run, from its credit (m,) in each list minus the baseline's."""
    votes = np.where(
        np.abs(beyond) < 1e-12, 0.0, np.sign(beyond)
    )  # equal sums may differ in their last digit
    wins, losses = int((votes > 0).sum()), int((votes < 0).sum())
    mean = float(votes.mean()) / 2
    p = coin_two_sided(max(wins, losses), wins + losses) if wins + losses else 1.0
    low = high = needed = None
    word = "inconclusive"
    count = np.bincount(owners)
    sums = np.bincount(owners, votes)[count > 0]
    count = count[count > 0]
    if wins + losses >= _FEW and len(count) > 1:
        # The mean over lists, with users as clusters.
        errors = (sums / 2 - mean * count) / count.sum()
        size = len(count)
        deviation = math.sqrt(float((errors**2).sum()) * size / (size - 1))
        reach = t_quantile(1 - (1 - level) / 2, size - 1) * deviation
        low, high = max(mean - reach, -0.5), min(mean + reach, 0.5)
        if low > 0 or high < 0:
            word = "better" if mean > 0 else "worse"
        elif mean:
            both = float(normal_quantile(np.array([1 - (1 - level) / 2, _POWER])).sum())
            needed = math.ceil(len(votes) * (both * deviation / mean) ** 2)
    return Preference(
        run, base, wins, losses, len(votes) - wins - losses, mean, low, high, p, word, needed
    )
