"""`movers`: the queries that lost and gained the most between runs, and the documents responsible."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from gainful import arguments
from gainful.analysis.comparison.compare import split_runs
from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.explanation.attribution import Attribution, Side, attribution_of
from gainful.analysis.explanation.worked_lists import (
    has_parts,
    judged_ranking_of,
    look_at_grades,
    sums_of,
    with_lowest,
)
from gainful.errors import InputError
from gainful.evaluation.request import policy_for, read_unmeasured
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.notation import read_measure
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table, signed
from gainful.output.writing.result_base import FormerNames, Result
from gainful.rows.input_types import Judgments, Run
from gainful.rows.runs_by_name import Runs, read_runs

_TITLE = "Queries and documents that moved the most"


@dataclass(frozen=True, slots=True)
class MovedQuery(FormerNames):
    """A query that lost or gained, and why.

    Attributes:
        measure: the name of the measure.
        baseline: the name of the baseline.
        run: the name of the compared run.
        query: the id of the query.
        baseline_score: its score under the baseline.
        run_score: its score under the run.
        difference: the run's score minus the baseline's.
        documents: the documents with the largest share of the difference, as text: the rank in the baseline,
            the rank in the run, and the part.
    """

    _FORMER: ClassVar = {"base": "baseline", "base_score": "baseline_score"}

    measure: str
    baseline: str
    run: str
    query: str
    baseline_score: float
    run_score: float
    difference: float
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Movers(Result):
    """The queries that lost the most and gained the most in each comparison, with their documents.

    Attributes:
        moved: for each comparison, the queries that lost, the worst first, then the queries that gained.
        notes: the reason if documents are not named.
    """

    moved: tuple[MovedQuery, ...]
    notes: tuple[str, ...] = ()

    def table(self) -> Table:
        """Return a row for each query."""
        columns = [
            "measure",
            "baseline",
            "run",
            "query",
            "baseline score",
            "run score",
            "difference",
        ]
        rows: list[list[Cell]] = [
            [moved.measure, moved.baseline, moved.run, moved.query, moved.baseline_score, moved.run_score,
             moved.difference, "; ".join(moved.documents)]
            for moved in self.moved
        ]  # fmt: skip
        return Table(
            [*columns, "documents"], rows, title=_TITLE, notes=list(self.notes), once=("baseline",)
        )


@takes(MeasuringOptions)
def movers(
    comparison: Comparison,
    judgments: Judgments,
    runs: Runs,
    *,
    count: int = 5,
    documents: int = 3,
    **options: Unpack[MeasuringOptions],
) -> Movers:
    """Return the queries that changed most between compared runs, and the documents behind each change.

    The contribution of a document is computed as in `attribute`. For measures that are not a sum over
    documents, and for saved baselines, the result contains only queries, with a note.

    Args:
        comparison: the result of `compare`.
        judgments: the same as in that call.
        runs: the same as in that call.
        count: the maximum number of queries that lost, and of queries that gained, in each
            comparison.
        documents: the maximum number of documents for each query.
        **options: the
            `MeasuringOptions` of that call.

    >>> import gainful as gf
    >>> judgments = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> old = {query: {"a": 2, "b": 1} for query in judgments}
    >>> runs = {"old": old, "new": old | {"q2": {"a": 1, "b": 2}}}
    >>> result = gf.comparison.movers(gf.compare(judgments, runs, "RR"), judgments, runs)
    >>> [(moved.query, moved.difference, moved.documents) for moved in result.moved]
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
        reader.name_runs(fresh)
        if reader.is_on_spark(fresh.values()) or not reader.has_ids:
            notes["documents are not named: the input does not provide them by id"] = None
            groups: dict[tuple[str, str, str], list[str]] = {}
        else:
            groups = _groups(rows)
        for (measure, base, run), names in groups.items():
            target = _measure(comparison, measure)
            if why := _without(target, [name for name in (base, run) if name not in fresh]):
                notes[f"{measure}, {run} − {base}: documents are not named: {why}"] = None
                continue
            own = reader.under(policy_for(request.policy, (target,)))
            attributions = _attributed(own, (fresh[base], fresh[run]), target, request.tool, names)
            for query, attribution in attributions.items():
                parts[measure, base, run, query] = tuple(_words(attribution, most_docs))
    moved = (_moved_query(row, parts.get(_key(row), ())) for row in rows)
    return Movers(tuple(moved), tuple(notes))


def _moved_query(row: Mapping[str, Any], documents: tuple[str, ...]) -> MovedQuery:
    base_score, run_score = row["baseline score"], row["run score"]
    return MovedQuery(*_key(row), base_score, run_score, row["difference"], documents)


def _key(row: Mapping[str, Cell]) -> tuple[str, str, str, str]:
    measure, base, run, query = (str(row[name]) for name in ("measure", "baseline", "run", "query"))
    return measure, base, run, query


def _groups(rows: Iterable[Mapping[str, Cell]]) -> dict[tuple[str, str, str], list[str]]:
    """Return the queries of each comparison."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        measure, base, run, query = _key(row)
        groups.setdefault((measure, base, run), []).append(query)
    return groups


def _measure(comparison: Comparison, name: str) -> Measure:
    """Return a measure by its name; a dialect may have read it from another."""
    measures = (measure for scores in comparison.scores.values() for measure in scores.measures)
    return next((m for m in measures if str(m) == name), None) or read_measure(name)


def _without(measure: Measure, saved: Sequence[str]) -> str:
    """Return why the documents behind a difference are unknown; empty if they are known."""
    if saved:
        return f"{saved[0]} is a saved baseline"
    return "" if has_parts(measure) else "the measure isn't a sum over documents"


def _attributed(
    reader: Reader,
    runs: tuple[Run, Run],
    measure: Measure,
    tool: Dialect | None,
    queries: Sequence[str],
) -> dict[str, Attribution]:
    """Return the documents' parts of the differences of some queries; each input is read once."""
    policies = [with_lowest(reader, reader.decided(run)) for run in runs]
    judged = reader.judged_of(queries)(queries)
    returned = [reader.returned_of(run, queries)(queries) for run in runs]
    attributions = {}
    for query in queries:
        if query not in judged:
            raise InputError("judgments", "the judgments of the comparison", f"none of {query!r}")
        sides = []
        for scores, decided in zip(returned, policies, strict=True):
            listed = judged_ranking_of(
                query, judged[query], scores.get(query), decided, reader.chunks
            )
            if tool is not None:  # without a tool, the comparison has already warned about −1
                look_at_grades(listed, measure, decided, tool)
            sides.append(Side(listed, sums_of([listed], measure, listed.policy), 0))
        attributions[query] = attribution_of(sides[0], sides[1], idle=False)
    return attributions


def _words(attribution: Attribution, most: int) -> list[str]:
    """Return the ranks of the documents with the largest shares, in both runs."""
    return [
        f"{document.doc} {_rank(document.base_rank)} → {_rank(document.run_rank)} ({signed(document.part)})"
        for document in attribution.documents[:most]
    ]


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
