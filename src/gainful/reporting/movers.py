"""`movers`: the queries that lost and gained most between runs, and the documents that made them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from gainful import arguments
from gainful.comparison.compare import split_runs
from gainful.comparison.comparison_gate_and_charts import Comparison
from gainful.errors import InputError
from gainful.evaluation.request import policy_for, read_unmeasured
from gainful.explanation.attribution import Attribution, attribution_of, has_parts, side_of
from gainful.explanation.judged_ranking import (
    judged_ranking_of,
    look_at_grades,
    sums_of,
    with_lowest,
)
from gainful.inputs.runs_by_name import Runs, read_runs
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import Reader
from gainful.measures.dialect import Dialect
from gainful.measures.measure import Measure
from gainful.measures.notation import read_measure
from gainful.message_texts import shown
from gainful.rendering.table_formats import Cell, Table, signed
from gainful.writing.result_base import Result

_TITLE = "Queries and documents that moved most"


@dataclass(frozen=True, slots=True)
class MovedQuery:
    """A query that lost or gained, and why.

    Attributes:
        measure: its name, like those of the base and the run.
        base: the name of the one.
        run: the name of the other.
        query: its id.
        base_score: what it had.
        run_score: what it has.
        difference: the second less the first.
        documents: those with the largest part in the difference, as words: the rank in the base, the
            rank in the run, and the part.
    """

    measure: str
    base: str
    run: str
    query: str
    base_score: float
    run_score: float
    difference: float
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Movers(Result):
    """The queries that lost most and gained most in each comparison, with their documents.

    Attributes:
        moved: of each comparison those that lost, the worst first, then those that gained.
        notes: why documents are not named, where they are not.
    """

    moved: tuple[MovedQuery, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """Return a row for each query."""
        columns = ["measure", "base", "run", "query", "base score", "run score", "difference"]
        rows: list[list[Cell]] = [
            [each.measure, each.base, each.run, each.query, each.base_score, each.run_score,
             each.difference, "; ".join(each.documents)]
            for each in self.moved
        ]  # fmt: skip
        return Table([*columns, "documents"], rows, title=_TITLE, notes=list(self.notes))


@takes(MeasuringOptions)
def movers(
    comparison: Comparison,
    judgments: object,
    runs: Runs,
    *,
    count: int = 5,
    documents: int = 3,
    **options: Unpack[MeasuringOptions],
) -> Movers:
    """Name the queries that moved most between runs that were compared, and the documents behind each.

    What a document adds to a difference is its part as `attribute` has it. Measures that are no sum
    over documents, and saved baselines, have queries alone, and that is said.

    Args:
        comparison: what `compare` returned.
        judgments: those that it was given.
        runs: those that it was given.
        count: how many queries that lost and how many that gained, at most, in each comparison.
        documents: how many of each query, at most.
        **options: see `MeasuringOptions`; those that `compare` was given.

    >>> import gainful as gf
    >>> judgments = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> old = {query: {"a": 2, "b": 1} for query in judgments}
    >>> runs = {"old": old, "new": old | {"q2": {"a": 1, "b": 2}}}
    >>> found = gf.comparison.movers(gf.compare(judgments, runs, "RR"), judgments, runs)
    >>> [(each.query, each.difference, each.documents) for each in found.moved]
    [('q2', -0.5, ('a 1 → 2 (-0.5000)',))]
    """
    if not isinstance(comparison, Comparison):
        raise InputError("comparison", "what `compare` returned", shown(comparison))
    most = arguments.whole(count, "count", least=1)
    most_docs = arguments.whole(documents, "documents", least=0)
    _, fresh = split_runs(read_runs(runs, judgments, engine=options.get("engine")), None)
    if unknown := [name for name in comparison.scores if name not in fresh]:
        raise InputError("runs", "the runs that were compared", f"none called {unknown[0]!r}")
    rows = list(comparison.per_query.ends(worst=most, best=most))
    request = read_unmeasured(options)
    notes: dict[str, None] = {}
    parts: dict[tuple[str, str, str, str], tuple[str, ...]] = {}
    with request.reader_of(judgments, options) as reader:
        if reader.is_on_spark(fresh.values()) or not reader.has_ids:
            notes["documents are not named: the input does not hand them out by id"] = None
            groups: dict[tuple[str, str, str], list[str]] = {}
        else:
            groups = _groups(rows)
        for (measure, base, run), names in groups.items():
            asked = _measure(comparison, measure)
            if why := _without(asked, [name for name in (base, run) if name not in fresh]):
                notes[f"{measure}, {run} − {base}: documents are not named: {why}"] = None
                continue
            own = reader.under(policy_for(request.policy, (asked,)))
            found = _attributed(own, (fresh[base], fresh[run]), asked, request.tool, names)
            for query, each in found.items():
                parts[measure, base, run, query] = tuple(_words(each, most_docs))
    moved = (_moved_query(row, parts.get(_key(row), ())) for row in rows)
    return Movers(tuple(moved), tuple(notes))


def _moved_query(row: Mapping[str, Any], documents: tuple[str, ...]) -> MovedQuery:
    base_score, run_score = row["base score"], row["run score"]
    return MovedQuery(*_key(row), base_score, run_score, row["difference"], documents)


def _key(row: Mapping[str, Cell]) -> tuple[str, str, str, str]:
    measure, base, run, query = (str(row[name]) for name in ("measure", "base", "run", "query"))
    return measure, base, run, query


def _groups(rows: Iterable[Mapping[str, Cell]]) -> dict[tuple[str, str, str], list[str]]:
    """Return the queries of each comparison."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        measure, base, run, query = _key(row)
        found.setdefault((measure, base, run), []).append(query)
    return found


def _measure(comparison: Comparison, name: str) -> Measure:
    """Return a measure by its name; a dialect may have read it from another."""
    known = (measure for each in comparison.scores.values() for measure in each.measures)
    return next((each for each in known if str(each) == name), None) or read_measure(name)


def _without(measure: Measure, saved: Sequence[str]) -> str:
    """Say why the documents behind a difference are not known; nothing where they are."""
    if saved:
        return f"{saved[0]} is a saved baseline"
    return "" if has_parts(measure) else "the measure is no sum over documents"


def _attributed(
    reader: Reader,
    runs: tuple[object, object],
    measure: Measure,
    tool: Dialect | None,
    queries: Sequence[str],
) -> dict[str, Attribution]:
    """Return the parts of documents in the difference of some queries; each input is read once."""
    policies = [with_lowest(reader, reader.decided(run)) for run in runs]
    judged = reader.judged_of(queries)(queries)
    returned = [reader.returned_of(run, queries)(queries) for run in runs]
    found = {}
    for query in queries:
        if query not in judged:
            raise InputError("judgments", "those that were compared with", f"none of {query!r}")
        sides = []
        for scores, decided in zip(returned, policies, strict=True):
            listed = judged_ranking_of(
                query, judged[query], scores.get(query), decided, reader.chunks
            )
            if tool is not None:  # of −1 without a tool, the comparison has warned
                look_at_grades(listed, measure, decided, tool)
            sides.append(side_of(listed, sums_of([listed], measure, listed.policy), 0))
        found[query] = attribution_of(sides[0], sides[1], idle=False)
    return found


def _words(found: Attribution, most: int) -> list[str]:
    """Say where the documents with the largest parts stood and stand."""
    return [
        f"{each.doc} {_rank(each.base_rank)} → {_rank(each.run_rank)} ({signed(each.part)})"
        for each in found.documents[:most]
    ]


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
