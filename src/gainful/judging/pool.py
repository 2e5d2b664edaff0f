"""`pool` and `next_to_judge`: the documents to judge, in order of priority."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Unpack

from gainful import arguments
from gainful.behaviour.judgments_from_clicks import ClickJudgments
from gainful.errors import InputError
from gainful.evaluation.request import Request, read_unmeasured, speaking
from gainful.evaluation.unjudged.bounds import PossibleGrades
from gainful.judging.gathered_inputs import (
    Gathered,
    gather,
    read_measured,
    read_whole,
)
from gainful.judging.judging_priorities import (
    prioritise,
    read_compared,
    weighted_by_clicks,
    widths_of_clicks,
)
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.notation import GivenMeasure
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, Table, as_text
from gainful.output.writing.output_files import POOLS, read_naming
from gainful.output.writing.result_base import ResultOfRows
from gainful.output.writing.runs_and_judgments import write_pool
from gainful.output.writing.table_files import write_table
from gainful.rows.identifiers import UNTYPED, IdType, in_order
from gainful.rows.input_types import Judgments, Run
from gainful.rows.runs_by_name import Runs, read_runs

_SHOWN = 10
_FILLED_IN = ("csv", "tsv", "json", "jsonl", "parquet")  # formats for assessors to fill in
_DIGITS = 6  # one document among many queries changes a mean only slightly
_ORDERS = ("pool", "priority")
_DEPTH = 100
_MEASURE = "nDCG@10"


@dataclass(frozen=True, slots=True)
class Pooled:
    """A document of a pool.

    Attributes:
        query: its query.
        doc: its id.
        rank: its best rank in any run.
        runs: the number of runs that contain it, down to the depth of the pool.
        judged: whether it is judged.
        grade: its grade.
        priority: how much its grade could change the measure, if requested.
        flips: whether its grade could change the order of two runs, if requested.
    """

    query: str
    doc: str
    rank: int
    runs: int
    judged: bool = False
    grade: float | None = None
    priority: float | None = None
    flips: bool | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Pool(ResultOfRows[Pooled]):
    """The documents retrieved by runs, with their ranks and grades; a sequence.

    It prints as a summary with the first rows, displays as HTML in a notebook, and can be exported
    with `to_dict()`, `table()` and `write`.

    Attributes:
        rows: the documents.
        names: the names of the runs.
        depth: the rank down to which documents of the runs were taken.
        marked: whether rows show what is judged; False without any judged document.
        measure: the measure of the priorities, if any.
        grades: the grades tested for the priorities, if any.
        compared: the two runs whose difference determines the priorities, if any.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
    """

    rows: tuple[Pooled, ...]
    names: tuple[str, ...]
    depth: int
    marked: bool = False
    measure: str | None = None
    grades: tuple[float, ...] | None = None
    compared: tuple[str, str] | None = None
    query_type: IdType = field(default=UNTYPED, compare=False)
    doc_type: IdType = field(default=UNTYPED, compare=False)

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries of the documents, in the order of the rows."""
        return tuple(dict.fromkeys(row.query for row in self.rows))

    @property
    def summary(self) -> str:
        """The counts in one line.

        >>> Pool((Pooled("q1", "a", 1, 2), Pooled("q1", "b", 2, 1)), ("one", "two"), 10).summary
        '2 documents of 1 query, from 2 runs down to rank 10'
        """
        text = (
            f"{counted(len(self), 'document')} of {counted(len(self.queries), 'query', 'queries')}"
        )
        text += f", from {counted(len(self.names), 'run')} down to rank {self.depth}"
        if self.marked:
            text += f"; {sum(not row.judged for row in self.rows)} unjudged"
        if self.compared is not None:
            text += f"; priority by {self.measure}, {self.compared[0]} minus {self.compared[1]}"
        elif self.measure is not None:
            text += f"; priority by {self.measure}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "runs": list(self.names),
            "depth": self.depth,
            "measure": self.measure,
            "grades": None if self.grades is None else list(self.grades),
            "compared": None if self.compared is None else list(self.compared),
            "documents": [asdict(row) for row in self.rows],
        }

    def table(self, *, grades: bool = False) -> Table:
        """Return the rows for display, with the summary as a note.

        Columns that were not requested are left out; `grades` adds a column to fill in.
        """
        arguments.truth(grades, "grades")
        columns = ["query", "doc", "rank", "runs"]
        columns += ["judged"] if self.marked else []
        columns += ["grade"] if self.marked or grades else []
        columns += ["priority"] if self.measure is not None else []
        columns += ["flips"] if self.compared is not None else []
        rows = [[_cell(row, name) for name in columns] for row in self.rows]
        notes = [self.summary]
        if self.compared is not None:
            notes.append("flips: whether its grade alone could change the order of the two runs")
        return Table(columns, rows, digits=_DIGITS, notes=notes)

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the rows to a file, which is replaced only when the new one is complete.

        A TREC file has lines `query 0 doc grade`, sorted by query, with `?` for missing grades; in
        the other formats the grade is empty. Such a file is for assessors to fill in. It is
        rejected as judgments until every grade is filled in, or its row removed.

        Args:
            path: the path of the file; `-` for standard output.
            format: trec; csv, tsv, json, jsonl or parquet, with all digits; markdown, latex, html
                or table, rounded. If None, it follows from the name: .qrels and .trec; .csv, .tsv,
                .json, .jsonl, .parquet, .md, .tex, .html, .txt. All formats except Parquet are
                compressed if the name ends in .gz or .zst.

        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp(), "pool.qrels")
        >>> rows = (Pooled("q1", "a", 1, 2, True, 3.0), Pooled("q1", "b", 2, 1))
        >>> Pool(rows, ("one", "two"), 10).write(file)
        >>> print(file.read_text(), end="")
        q1 0 a 3
        q1 0 b ?
        """
        naming = read_naming(path, format, POOLS)
        if naming.format != "trec":
            table = self.table(grades=naming.format in _FILLED_IN)
            write_table(table, path, format=format, id_types=self._id_types())
            return
        grades: dict[str, dict[str, float | None]] = {}
        for row in self.rows:
            grades.setdefault(row.query, {})[row.doc] = row.grade
        write_pool(grades, path, packing=naming.packing)

    def __str__(self) -> str:
        table = self.table()
        more = len(self) - _SHOWN
        notes = [f"… and {more} more", *table.notes] if more > 0 else table.notes
        return as_text(Table(table.columns, table.rows[:_SHOWN], table.digits, notes=notes))

    def __repr__(self) -> str:
        return f"Pool({self.summary})"


def _cell(row: Pooled, column: str) -> Cell:
    cell: Cell = getattr(row, column)
    if column == "grade" and isinstance(cell, float) and cell.is_integer():
        return int(cell)  # as assessors write grades
    return cell


@takes(MeasuringOptions)
def pool(
    runs: Runs | Sequence[Run],
    *,
    depth: int = _DEPTH,
    judgments: Judgments | None = None,
    order: str = "pool",
    measure: GivenMeasure | None = None,
    budget: int | None = None,
    grades: PossibleGrades | None = None,
    clicks: ClickJudgments | None = None,
    **options: Unpack[MeasuringOptions],
) -> Pool:
    """Return the pool of runs: for each query, all documents down to a depth in any run.

    The `ties` policy decides the order of documents with equal scores: by descending id, or the order of a search
    response.

    Args:
        runs: name → run, or a list of runs, called 1, 2, 3 … unless they are paths. Or a folder or
            a pattern, as for `gainful.inputs.find_runs`. Each is `{query: {doc: score}}`, the
            path of a file, a data frame, an Arrow object.
        depth: the rank down to which documents are taken.
        judgments: `{query: {doc: grade}}` or any other kind, to mark judged documents.
        order: the order within a query. `pool`: by best rank, then by id. `priority`: by how much
            the grade of a document could change a measure, as in `next_to_judge`, then by best
            rank; the priority is known for unjudged documents within the cutoff.
        measure: with `order="priority"`; nDCG@10 if None.
        budget: with `order="priority"`, the maximum number of documents to keep, those with the
            highest priority.
        grades: with `order="priority"`, the possible grades, as in `next_to_judge`.
        clicks: with `order="priority"`, what clicks say about the documents, as in `next_to_judge`.
        **options: see `MeasuringOptions`.

    >>> one, two = {"q1": {"a": 3, "b": 2, "c": 1}}, {"q1": {"b": 9, "d": 8}, "q2": {"e": 1}}
    >>> for row in pool({"one": one, "two": two}, depth=2, judgments={"q1": {"a": 3}}):
    ...     print(row.query, row.doc, row.rank, row.runs, row.judged)
    q1 a 1 1 True
    q1 b 1 2 False
    q1 d 2 1 False
    q2 e 1 1 False
    """
    named = read_runs(runs, judgments, numbered=True)
    deep = read_whole(depth, "depth")
    arguments.choice(order, "order", _ORDERS)
    if order == "priority":
        request = read_measured(_MEASURE if measure is None else measure, options)
        most = None if budget is None else read_whole(budget, "budget")
        return _prioritised(named, judgments, request, deep, most, grades, clicks, options)
    idle = {"measure": measure, "budget": budget, "grades": grades, "clicks": clicks}
    for name, value in idle.items():
        if value is not None:
            raise InputError(name, "None with order='pool'", shown(value), "Set order='priority'.")
    gathered = gather(named, judgments, read_unmeasured(options), depth=deep, options=options)
    return Pool(
        _rows(gathered),
        tuple(named),
        deep,
        marked=judgments is not None,
        query_type=gathered.query_type,
        doc_type=gathered.doc_type,
    )


@takes(MeasuringOptions)
def next_to_judge(
    judgments: Judgments,
    runs: Runs | Sequence[Run],
    measure: GivenMeasure = _MEASURE,
    *,
    budget: int | None = 50,
    grades: PossibleGrades | None = None,
    compare: tuple[str, str] | None = None,
    depth: int | None = None,
    clicks: ClickJudgments | None = None,
    **options: Unpack[MeasuringOptions],
) -> Pool:
    """Return the unjudged documents whose grade could change a measure the most.

    The priority of a document is the range of the measure's mean, highest minus lowest, if the
    document gets each of the grades in turn and everything else stays the same. Every value is
    computed as in `evaluate`, so the effect on the ideal counts as well. With several runs, the
    widest range counts. Documents without any effect are left out, as are queries without any
    judgment, which do not count in the mean.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        runs: as in `pool`; each `{query: {doc: score}}` or any
            of the others.
        measure: any measure with a mean or a sum over queries, as text or as a Measure.
        budget: the maximum number of documents to return; None for all.
        grades: the possible grades, such as (0, 3) or (0, 1, 2, 3). If None, the lowest and the
            highest of 0 and all judgments.
        compare: the names of two runs. The priority is then the range of the difference of their
            means, and `flips` is whether one of the grades would change their order.
        depth: the rank down to which documents of the runs are candidates; if None, the cutoff of
            the measure, or 100 without one.
        clicks: the result of `click_judgments`. The priority is then multiplied by the width of the interval of the
            document's grade from clicks (1 if users never saw it), so documents that the clicks say
            little about come first.
        **options: see `MeasuringOptions`.

    >>> judgments = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> run = {"q1": {"x": 3, "y": 2, "a": 1}, "q2": {"c": 2, "z": 1}}
    >>> for row in next_to_judge(judgments, {"mine": run}, "P@2"):
    ...     print(row.query, row.doc, row.rank, row.priority)
    q1 x 1 0.25
    q1 y 2 0.25
    q2 z 2 0.25
    """
    named = read_runs(runs, judgments, numbered=True)
    request = read_measured(measure, options)
    target = request.measure
    compared = read_compared(compare, named)
    if compared is not None:
        named = {name: named[name] for name in compared}
    most = None if budget is None else read_whole(budget, "budget")
    deep = read_whole(target.cutoff or _DEPTH if depth is None else depth, "depth")
    if judgments is None:
        raise InputError("judgments", "judgments", "None", "Without judgments, use pool().")
    gathered = gather(named, judgments, request, depth=deep, options=options)
    with speaking(request.tool):
        moves = prioritise(gathered, target, gathered.policy, grades, deep, compared)
    widths = weighted_by_clicks(moves.widths, widths_of_clicks(clicks))
    rows = [
        replace(row, priority=widths[row.query, row.doc])
        for row in _rows(gathered)
        if widths.get((row.query, row.doc), 0.0) > 0
    ]
    rows = _highest(rows, most)
    if compared is not None:
        rows = [replace(row, flips=moves.flips((row.query, row.doc), *compared)) for row in rows]
    return Pool(
        tuple(rows),
        tuple(named),
        deep,
        measure=str(target),
        grades=moves.grades,
        compared=compared,
        query_type=gathered.query_type,
        doc_type=gathered.doc_type,
    )


def _prioritised(
    runs: Mapping[str, Run],
    judgments: Judgments | None,
    request: Request,
    depth: int,
    budget: int | None,
    grades: PossibleGrades | None,
    clicks: ClickJudgments | None,
    options: MeasuringOptions,
) -> Pool:
    if judgments is None:
        raise InputError("judgments", "judgments, with order='priority'", "None")
    measure = request.measure
    gathered = gather(runs, judgments, request, depth=depth, options=options)
    deepest = min(depth, measure.cutoff or depth)
    with speaking(request.tool):
        moves = prioritise(gathered, measure, gathered.policy, grades, deepest)
    widths = weighted_by_clicks(moves.widths, widths_of_clicks(clicks))
    rows = [replace(row, priority=widths.get((row.query, row.doc))) for row in _rows(gathered)]
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
        grades=moves.grades,
        query_type=gathered.query_type,
        doc_type=gathered.doc_type,
    )


def _highest(rows: list[Pooled], budget: int | None) -> list[Pooled]:
    """Return the rows with the highest priorities; ties keep the order of the pool."""
    return sorted(rows, key=lambda row: -(row.priority or 0.0))[:budget]


def _by_priority(row: Pooled) -> tuple[bool, float, int, str]:
    return row.priority is None, -(row.priority or 0.0), row.rank, row.doc


def _rows(gathered: Gathered) -> tuple[Pooled, ...]:
    """Return all documents: queries by id, their documents by best rank, then by id."""
    ranks: dict[str, dict[str, list[int]]] = {}
    for lists in gathered.tops.values():
        for query, docs in lists.items():
            for rank, doc in enumerate(docs, 1):
                ranks.setdefault(query, {}).setdefault(doc, []).append(rank)
    if not ranks:
        raise InputError("runs", "at least one retrieved document", "none")
    rows = []
    for query in in_order(ranks):
        judged = gathered.judged.get(query, {})
        ranked = ((min(own), doc, len(own)) for doc, own in ranks[query].items())
        rows += [
            Pooled(query, doc, rank, count, doc in judged, judged.get(doc))
            for rank, doc, count in sorted(ranked)
        ]
    return tuple(rows)
