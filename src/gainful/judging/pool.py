"""`pool` and `next_to_judge`: which documents to judge, and which of them first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gainful import arguments
from gainful.errors import InputError, shown
from gainful.evaluation.evaluate import read_policy
from gainful.inputs.engine import Engine
from gainful.inputs.identifiers import in_order
from gainful.judging.gathering import (
    Gathered,
    gather,
    read_measure,
    read_runs,
    read_whole,
)
from gainful.judging.pooled import Pool, Pooled
from gainful.judging.priorities import prioritise, read_compared
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

_ORDERS = ("pool", "priority")
_DEPTH = 100
_MEASURE = "nDCG@10"


def pool(
    runs: Mapping[str, object] | Sequence[object],
    *,
    depth: int = _DEPTH,
    judgments: object = None,
    order: str = "pool",
    measure: str | Measure | None = None,
    budget: int | None = None,
    grades: Sequence[float] | None = None,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Pool:
    """Return the pool of runs: for each query all documents down to a depth of any of them.

    Documents with equal scores stand by id, descending, as under the policy `ties=doc`.

    Args:
        runs: name → run, or a list of runs; each `{query: {doc: score}}`, the path of a file, a
            data frame, an Arrow object.
        depth: the rank down to which documents are taken.
        judgments: `{query: {doc: grade}}` or any of the others, to know what is judged.
        order: within a query, `pool`: by the best rank, then by id; `priority`: by how far the
            grade of a document could move a measure, as `next_to_judge` has it, where that is
            known (not judged, and within the cutoff), then by the best rank.
        measure: with `order="priority"`; nDCG@10 if None.
        budget: with `order="priority"`, keep only so many documents to judge, those with the
            highest priority.
        grades: with `order="priority"`, those that a document may get, as in `next_to_judge`.
        policy: the choices that are not the measure's; the defaults if None.
        columns: names of columns that are not among the usual, as in `evaluate`.
        engine: what may be used of the machine for files and tables.

    >>> one, two = {"q1": {"a": 3, "b": 2, "c": 1}}, {"q1": {"b": 9, "d": 8}, "q2": {"e": 1}}
    >>> for row in pool({"one": one, "two": two}, depth=2, judgments={"q1": {"a": 3}}):
    ...     print(row.query, row.doc, row.rank, row.runs, row.judged)
    q1 a 1 1 True
    q1 b 1 2 False
    q1 d 2 1 False
    q2 e 1 1 False
    """
    named = read_runs(runs)
    deep = read_whole(depth, "depth")
    chosen = read_policy(policy)
    arguments.choice(order, "order", _ORDERS)
    if order == "priority":
        asked = read_measure(_MEASURE if measure is None else measure)
        most = None if budget is None else read_whole(budget, "budget")
        return _prioritised(
            named, judgments, asked, chosen, deep, most, grades, columns=columns, engine=engine
        )
    idle = {"measure": measure, "budget": budget, "grades": grades}
    for name, value in idle.items():
        if value is not None:
            raise InputError(name, "none with order='pool'", shown(value), "Set order='priority'.")
    gathered = gather(
        named, judgments, None, depth=deep, policy=chosen, columns=columns, engine=engine
    )
    return Pool(_rows(gathered), tuple(named), deep, marked=judgments is not None)


def next_to_judge(
    judgments: object,
    runs: Mapping[str, object] | Sequence[object],
    measure: str | Measure = _MEASURE,
    *,
    budget: int | None = 50,
    grades: Sequence[float] | None = None,
    compare: tuple[str, str] | None = None,
    depth: int | None = None,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Pool:
    """Return the documents without a judgment whose grade could move a measure most.

    The priority of a document is the width of the mean of the measure, highest less lowest, when
    the document has each of the grades in turn and all else stays as it is; every value is
    computed as `evaluate` does, so what the document does to the ideal counts as well. Of several
    runs the widest counts. Documents that can move nothing are left out, as are those of queries
    without any judgment, which do not count in the mean.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        runs: name → run, or a list of runs, called 1, 2, 3 …; each `{query: {doc: score}}` or any
            of the others.
        measure: any that has a mean or a sum over the queries, in the notation or as a value.
        budget: the most documents to return; None for all.
        grades: those that a document may get, such as (0, 3) or (0, 1, 2, 3); the lowest and the
            highest of 0 and all judgments if None.
        compare: the names of two runs: the priority is the width of the difference of their
            means, and `flips` says whether at one of the grades their order is another than now.
        depth: candidates are the documents down to this rank of the runs; the cutoff of the
            measure if None, 100 where it has none.
        policy: the choices that are not the measure's; the defaults if None.
        columns: names of columns that are not among the usual, as in `evaluate`.
        engine: what may be used of the machine for files and tables.

    >>> judgments = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> run = {"q1": {"x": 3, "y": 2, "a": 1}, "q2": {"c": 2, "z": 1}}
    >>> for row in next_to_judge(judgments, {"mine": run}, "P@2"):
    ...     print(row.query, row.doc, row.rank, row.priority)
    q1 x 1 0.25
    q1 y 2 0.25
    q2 z 2 0.25
    """
    named = read_runs(runs)
    asked = read_measure(measure)
    compared = read_compared(compare, named)
    if compared is not None:
        named = {name: named[name] for name in compared}
    most = None if budget is None else read_whole(budget, "budget")
    deep = read_whole(asked.cutoff or _DEPTH if depth is None else depth, "depth")
    if judgments is None:
        raise InputError("judgments", "judgments", "None", "Without any, see pool().")
    chosen = read_policy(policy)
    gathered = gather(
        named, judgments, asked, depth=deep, policy=chosen, columns=columns, engine=engine
    )
    found = prioritise(gathered, asked, chosen, grades, deep, compared)
    rows = [
        replace(row, priority=found.widths[row.query, row.doc])
        for row in _rows(gathered)
        if found.widths.get((row.query, row.doc), 0.0) > 0
    ]
    rows = _highest(rows, most)
    if compared is not None:
        rows = [replace(row, flips=found.flips((row.query, row.doc), *compared)) for row in rows]
    return Pool(
        tuple(rows),
        tuple(named),
        deep,
        measure=str(asked),
        grades=found.grades,
        compared=compared,
    )


def _prioritised(
    runs: Mapping[str, object],
    judgments: object,
    measure: Measure,
    policy: Policy,
    depth: int,
    budget: int | None,
    grades: object,
    *,
    columns: Mapping[str, str] | None,
    engine: Engine | None,
) -> Pool:
    if judgments is None:
        raise InputError("judgments", "judgments, with order='priority'", "None")
    gathered = gather(
        runs, judgments, measure, depth=depth, policy=policy, columns=columns, engine=engine
    )
    found = prioritise(gathered, measure, policy, grades, min(depth, measure.cutoff or depth))
    rows = [
        replace(row, priority=found.widths.get((row.query, row.doc))) for row in _rows(gathered)
    ]
    if budget is not None:
        rows = _highest([row for row in rows if row.priority is not None], budget)
    places = {query: place for place, query in enumerate(in_order({row.query for row in rows}))}
    rows.sort(key=lambda row: (places[row.query], *_by_priority(row)))
    return Pool(
        tuple(rows),
        tuple(runs),
        depth,
        marked=True,
        measure=str(measure),
        grades=found.grades,
    )


def _highest(rows: list[Pooled], budget: int | None) -> list[Pooled]:
    """Return the rows with the highest priorities; equal ones stay in the order of the pool."""
    return sorted(rows, key=lambda row: -(row.priority or 0.0))[:budget]


def _by_priority(row: Pooled) -> tuple[bool, float, int, str]:
    return row.priority is None, -(row.priority or 0.0), row.rank, row.doc


def _rows(gathered: Gathered) -> tuple[Pooled, ...]:
    """Return all documents: queries by id, their documents by the best rank, then by id."""
    ranks: dict[str, dict[str, list[int]]] = {}
    for lists in gathered.tops.values():
        for query, docs in lists.items():
            for rank, doc in enumerate(docs, 1):
                ranks.setdefault(query, {}).setdefault(doc, []).append(rank)
    if not ranks:
        raise InputError("runs", "at least one retrieved document", "none")
    rows = []
    for query in in_order(ranks):
        known = gathered.judged.get(query, {})
        found = ((min(each), doc, len(each)) for doc, each in ranks[query].items())
        rows += [
            Pooled(query, doc, rank, count, doc in known, known.get(doc))
            for rank, doc, count in sorted(found)
        ]
    return tuple(rows)
