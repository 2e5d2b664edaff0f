"""`Pool`: documents of runs to judge, to look at, to print and to write."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, overload

from gainful.rendering.table import Cell, Table, as_html, as_text
from gainful.writing.cells import write_table
from gainful.writing.documents import write_pool
from gainful.writing.naming import POOLS, read_naming

_SHOWN = 10
_FILLED_IN = ("csv", "tsv", "json", "jsonl", "parquet")  # formats that assessors give grades in
_DIGITS = 6  # one document of many queries moves a mean by little


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


@dataclass(frozen=True, repr=False)
class Pool(Sequence[Pooled]):
    """Documents that runs have in common or alone, with what is known of them; a sequence.

    Prints as a summary and the first rows, shows as HTML in a notebook; `to_dict()` and `table()`
    export it, `write` writes files.

    Attributes:
        rows: the documents.
        names: of the runs.
        depth: the rank down to which documents of the runs were taken.
        marked: whether it is told what is judged: not without judgments, nor where nothing here is.
        measure: whose value the priorities are about, if there are any.
        grades: those that were tried for the priorities, if there are any.
        compared: the two runs whose difference the priorities are about, if there are.
    """

    rows: tuple[Pooled, ...]
    names: tuple[str, ...]
    depth: int
    marked: bool = False
    measure: str | None = None
    grades: tuple[float, ...] | None = None
    compared: tuple[str, str] | None = None

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
        text = f"{_counted(len(self), 'document')} of {_counted(len(self.queries), 'query')}"
        text += f", from {_counted(len(self.names), 'run')} down to rank {self.depth}"
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

        What was not asked has no column, but with `grades` there is one to fill in.
        """
        columns = ["query", "doc", "rank", "runs"]
        columns += ["judged"] if self.marked else []
        columns += ["grade"] if self.marked or grades else []
        columns += ["priority"] if self.measure is not None else []
        columns += ["flips"] if self.compared is not None else []
        rows = [[_cell(row, name) for name in columns] for row in self.rows]
        return Table(columns, rows, digits=_DIGITS, notes=[self.summary])

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
            write_table(self.table(grades=naming.format in _FILLED_IN), path, format=format)
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

    def _repr_html_(self) -> str:
        return as_html(self.table())


def _cell(row: Pooled, column: str) -> Cell:
    cell: Cell = getattr(row, column)
    if column == "grade" and isinstance(cell, float) and cell.is_integer():
        return int(cell)  # as assessors write it
    return cell


def _counted(count: int, noun: str) -> str:
    plural = "queries" if noun == "query" else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"
