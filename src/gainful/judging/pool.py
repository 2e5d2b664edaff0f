"""`pool` and `next_to_judge`: which documents to judge, and which of them first."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Unpack, overload

from gainful import arguments
from gainful.errors import InputError
from gainful.evaluation.request import Request, read_unmeasured, speaking
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.identifiers import in_order
from gainful.inputs.runs_by_name import Runs, read_runs
from gainful.judging.gathered_inputs import (
    Gathered,
    gather,
    read_measured,
    read_whole,
)
from gainful.judging.judging_priorities import prioritise, read_compared
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.notation import GivenMeasure
from gainful.message_texts import counted, shown
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.file_formats import POOLS, read_naming
from gainful.writing.result_base import Result
from gainful.writing.runs_and_judgments import write_pool
from gainful.writing.table_files import write_table

_SHOWN = 10
_FILLED_IN = ("csv", "tsv", "json", "jsonl", "parquet")  # formats that assessors give grades in
_DIGITS = 6  # one document of many queries moves a mean by little
_ORDERS = ("pool", "priority")
_DEPTH = 100
_MEASURE = "nDCG@10"


@dataclass(frozen=True, slots=True)
class Pooled:
    """A document of a pool.

    Attributes:
        query: its query.
        doc: its id.
        rank: the best rank that it has in any of the runs.
        runs: how many of them have it, down to the depth of the pool.
        judged: whether it has a judgment.
        grade: of its judgment.
        priority: how far its grade could move the measure, where that was asked.
        flips: whether its grade could change the order of two runs, where that was asked.
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
class Pool(Result, Sequence[Pooled]):
    """The documents that runs retrieved, with what is known of each; a sequence.

    Prints as a summary and the first rows, shows as HTML in a notebook; `to_dict()` and `table()`
    export it, `write` writes files.

    Attributes:
        rows: the documents.
        names: of the runs.
        depth: the rank down to which documents of the runs were taken.
        marked: whether rows say what is judged: not without judgments, nor where nothing here is.
        measure: whose value the priorities are about, if there are any.
        grades: those that were tried for the priorities, if there are any.
        compared: the two runs whose difference the priorities are about, if there are.
        query_type: what the ids of queries were, before they were text.
        doc_type: what those of documents were.
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

    @overload
    def __getitem__(self, place: int) -> Pooled: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Pooled, ...]: ...
    def __getitem__(self, place: int | slice) -> Pooled | tuple[Pooled, ...]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Pooled]:
        return iter(self.rows)

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries that have documents here, in the order of the rows."""
        return tuple(dict.fromkeys(row.query for row in self.rows))

    @property
    def summary(self) -> str:
        """The counts in a line.

        >>> Pool((Pooled("q1", "a", 1, 2), Pooled("q1", "b", 2, 1)), ("one", "two"), 10).summary
        '2 documents of 1 query, from 2 runs down to rank 10'
        """
        text = (
            f"{counted(len(self), 'document')} of {counted(len(self.queries), 'query', 'queries')}"
        )
        text += f", from {counted(len(self.names), 'run')} down to rank {self.depth}"
        if self.marked:
            text += f"; {sum(not row.judged for row in self.rows)} not judged"
        if self.compared is not None:
            text += f"; priority: of {self.measure}, {self.compared[0]} less {self.compared[1]}"
        elif self.measure is not None:
            text += f"; priority: of {self.measure}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "runs": list(self.names),
            "depth": self.depth,
            "measure": self.measure,
            "grades": None if self.grades is None else list(self.grades),
            "compared": None if self.compared is None else list(self.compared),
            "documents": [asdict(row) for row in self.rows],
        }

    def table(self, *, grades: bool = False) -> Table:
        """Return the rows, with the summary as note, for rendering.

        There is no column for what was not asked for; with `grades` there is one to fill in.
        """
        arguments.truth(grades, "grades")
        columns = ["query", "doc", "rank", "runs"]
        columns += ["judged"] if self.marked else []
        columns += ["grade"] if self.marked or grades else []
        columns += ["priority"] if self.measure is not None else []
        columns += ["flips"] if self.compared is not None else []
        rows = [[_cell(row, name) for name in columns] for row in self.rows]
        return Table(columns, rows, digits=_DIGITS, notes=[self.summary])

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the rows to a file, which is replaced only when the new one is complete.

        A TREC file has the lines `query 0 doc grade`, queries by id, with `?` where there is no
        judgment; the other formats leave the grade open. Such a file is for assessors to fill in. As
        judgments it is refused while grades are open: give them, or remove their rows.

        Args:
            path: of the file; `-` is standard output.
            format: trec; csv, tsv, json, jsonl or parquet, which keep every digit; markdown,
                latex, html or table, which round. Told by the name if None: .qrels and .trec;
                .csv, .tsv, .json, .jsonl, .parquet, .md, .tex, .html, .txt. All but Parquet are
                packed where the name ends in .gz or .zst.

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
        return int(cell)  # as assessors write it
    return cell


@takes(MeasuringOptions)
def pool(
    runs: Runs | Sequence[object],
    *,
    depth: int = _DEPTH,
    judgments: object = None,
    order: str = "pool",
    measure: GivenMeasure | None = None,
    budget: int | None = None,
    grades: Sequence[float] | None = None,
    **options: Unpack[MeasuringOptions],
) -> Pool:
    """Return the pool of runs: for each query all documents down to a depth of any of them.

    Documents with equal scores are in the order of the policy `ties`: by id, descending, or as the
    response of a search showed them.

    Args:
        runs: name → run, or a list of runs, called 1, 2, 3 … unless they are paths. Or a folder or a
            pattern, as `gainful.inputs.find_runs` names them. Each is `{query: {doc: score}}`, the
            path of a file, a data frame, an Arrow object.
        depth: the rank down to which documents are taken.
        judgments: `{query: {doc: grade}}` or any of the others, to know what is judged.
        order: within a query, `pool`: by the best rank, then by id. `priority`: by how far the
            grade of a document could move a measure, as `next_to_judge` has it, then by the best
            rank. The former is known of what is not judged, and within the cutoff.
        measure: with `order="priority"`; nDCG@10 if None.
        budget: with `order="priority"`, keep only so many documents to judge, those with the
            highest priority.
        grades: with `order="priority"`, those that a document may get, as in `next_to_judge`.
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
        return _prioritised(named, judgments, request, deep, most, grades, options)
    idle = {"measure": measure, "budget": budget, "grades": grades}
    for name, value in idle.items():
        if value is not None:
            raise InputError(name, "none with order='pool'", shown(value), "Set order='priority'.")
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
    judgments: object,
    runs: Runs | Sequence[object],
    measure: GivenMeasure = _MEASURE,
    *,
    budget: int | None = 50,
    grades: Sequence[float] | None = None,
    compare: tuple[str, str] | None = None,
    depth: int | None = None,
    **options: Unpack[MeasuringOptions],
) -> Pool:
    """Return the documents without a judgment whose grade could move a measure most.

    The priority of a document is the width of the mean of the measure, highest less lowest. The
    document has each of the grades in turn, and all else stays as it is. Every value is computed
    as `evaluate` does, so what the document does to the ideal counts as well. Of several runs the
    widest counts. Documents that can move nothing are left out, as are those of queries without
    any judgment, which do not count in the mean.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        runs: as in `pool`; each `{query: {doc: score}}` or any
            of the others.
        measure: any that has a mean or a sum over the queries, in the notation or as a value.
        budget: the most documents to return; None for all.
        grades: those that a document may get, such as (0, 3) or (0, 1, 2, 3). The lowest and the
            highest of 0 and all judgments if None.
        compare: the names of two runs. The priority is the width of the difference of their means.
            `flips` says whether at one of the grades their order is another than now.
        depth: candidates are the documents down to this rank of the runs; the cutoff of the
            measure if None, 100 where it has none.
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
    asked = request.measure
    compared = read_compared(compare, named)
    if compared is not None:
        named = {name: named[name] for name in compared}
    most = None if budget is None else read_whole(budget, "budget")
    deep = read_whole(asked.cutoff or _DEPTH if depth is None else depth, "depth")
    if judgments is None:
        raise InputError("judgments", "judgments", "None", "Without any, see pool().")
    gathered = gather(named, judgments, request, depth=deep, options=options)
    with speaking(request.tool):
        found = prioritise(gathered, asked, gathered.policy, grades, deep, compared)
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
        query_type=gathered.query_type,
        doc_type=gathered.doc_type,
    )


def _prioritised(
    runs: Mapping[str, object],
    judgments: object,
    request: Request,
    depth: int,
    budget: int | None,
    grades: object,
    options: MeasuringOptions,
) -> Pool:
    if judgments is None:
        raise InputError("judgments", "judgments, with order='priority'", "None")
    measure = request.measure
    gathered = gather(runs, judgments, request, depth=depth, options=options)
    deepest = min(depth, measure.cutoff or depth)
    with speaking(request.tool):
        found = prioritise(gathered, measure, gathered.policy, grades, deepest)
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
        query_type=gathered.query_type,
        doc_type=gathered.doc_type,
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
