"""Text files on Spark: Spark hands out lines, and the rules that hold on this machine read them.

Spark's own readers of CSV and JSON take what they can of a line. Here Spark only cuts files
into lines, as bytes. Python reads them where they are: many lines at a time where all of
them are plain, and else each by itself, as `rows` reads it.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.inputs.faulty_rows import Fault, Row, json_row, table_row, trec_row
from gainful.inputs.files import BYTE_ORDER_MARK, csv_fields
from gainful.inputs.format_detection import Layout, json_lines_layout, recognise_head
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.inputs.run_and_judgment_columns import kind_by_columns
from gainful.inputs.spark_frames import FAULT, Unread, functions, in_python, refuse_ranks
from gainful.message_texts import printable, shortened

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_HEAD = 50  # lines from which a format is told
_LINE_END = "\n"  # as on this machine; Spark would end lines at a carriage return, too
_INTEGERS_END = 2.0**53  # what is smaller is exact, whether it is an integer or not
_QUOTE, _RETURN = '"', "\r"
_NAMES = ["query", "doc", "number", "fault"]
_SCHEMA = f"query string, doc string, number double, fault {FAULT}"
_ONE_LINE = "a field in quotes that ends on its line, since Spark reads line by line"
_WITHOUT_SPARK = "Write the file as Parquet, or evaluate it without Spark."


@dataclass(frozen=True, slots=True)
class SparkText(Unread):
    """A text file, or several in a directory, before it is known what its columns hold.

    Attributes:
        name: what the caller wrote.
        lines: with the columns line (bytes), start (that of the part of the file) and, where
            there are several files, file.
    """

    name: str
    lines: "DataFrame"

    @property
    def sparkSession(self) -> "SparkSession":  # noqa: N802 - as a data frame has it
        """The session that reads it."""
        return self.lines.sparkSession

    def read(self, kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
        """Return the columns query, doc, number and fault; where there is a fault, only that."""
        sql = functions()
        begins = (sql.col("start") == sql.lit(0)) & sql.col("line").cast("string").rlike(r"\S")
        found = self.lines.where(begins).select("line").limit(_HEAD).collect()
        head = [bytes(row["line"]) for row in found]
        head[:1] = [line.removeprefix(BYTE_ORDER_MARK) for line in head[:1]]
        layout = recognise_head(b"\n".join(head), self.name, kind, columns)
        if layout.format == "jsonl":
            layout = json_lines_layout(head[0], self.name, kind, columns)
        elif layout.format not in ("trec", "table"):
            raise InputError(
                self.name,
                f"{kind.contents} as a table, JSON lines or TREC lines, which Spark reads",
                f"another format ({layout.format})",
                "Convert it: gainful convert."
                if kind is not JUDGMENTS
                else "Give it another ending, so that it is read on this machine.",
            )
        kind = kind_by_columns(layout.names, kind, columns)
        frame = in_python(self.lines, Parsing(self.name, layout, kind), _SCHEMA)
        refuse_ranks(frame, kind)
        return frame


def text_on_spark(name: str, session: "SparkSession") -> SparkText:
    """Open text files; what is wrong with the name is Spark's error."""
    sql = functions()
    found = session.read.text(name, lineSep=_LINE_END)
    several = len(found.inputFiles()) > 1
    columns = [
        sql.col("value").cast("binary").alias("line"),
        sql.col("_metadata.file_block_start").alias("start"),
        *([sql.col("_metadata.file_path").alias("file")] if several else []),
    ]
    return SparkText(name, found.select(*columns))


class _UnusualError(ValueError):
    """Some lines are not plain, and must be read one by one."""


@dataclass(frozen=True, slots=True)
class Parsing:
    """Reads lines, as it is sent to the machines of Spark.

    Attributes:
        name: of the file, if there is but one.
        layout: how its rows are written.
        kind: what they hold.
    """

    name: str
    layout: Layout
    kind: Kind

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield Arrow batches of the rows; the lines of a part of a file come in their order."""
        part, before, begun = ("", -1), 0, False
        for batch in batches:
            for file, start, lines in _parts(batch, self.name):
                if (file, start) != part:
                    part, before, begun = (file, start), 0, start > 0
                if not begun:  # blank lines may stand before the header
                    first = _first_that_is_not_blank(lines, before)
                    begun = first is not None
                    count = len(lines) if first is None else first + 1
                    yield self._one_by_one(lines.slice(0, count), part, before, header=True)
                    lines, before = lines.slice(count), before + count
                yield self._read(lines, part, before)
                before += len(lines)

    def _read(self, lines: Any, part: tuple[str, int], before: int) -> Any:
        import pyarrow.compute as pc

        try:
            reader = {"trec": self._trec, "table": self._table, "jsonl": self._json}
            query, doc, number = reader[self.layout.format](lines)
            return _batch(query, doc, pc.negate(number) if self.kind.ascending else number)
        except (ValueError, RecursionError):  # of Arrow, of JSON, of bytes that are no UTF-8
            return self._one_by_one(lines, part, before)

    def _trec(self, lines: Any) -> tuple[Any, Any, Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pc.ascii_trim_whitespace(lines.cast(pa.string()))
        text = text.filter(pc.greater(pc.binary_length(text), 0))
        return self._columns(pc.ascii_split_whitespace(text))

    def _table(self, lines: Any) -> tuple[Any, Any, Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        text = lines.cast(pa.string())
        if pc.any(pc.match_substring(text, _RETURN)).as_py():
            text = pc.utf8_rtrim(text, _RETURN)
            if pc.any(pc.match_substring(text, _RETURN)).as_py():
                raise _UnusualError
        if pc.any(pc.match_substring(text, _QUOTE)).as_py():
            return self._quoted(text)
        text = text.filter(pc.greater(pc.binary_length(text), 0))
        return self._columns(pc.split_pattern(text, self.layout.delimiter))

    def _quoted(self, text: Any) -> tuple[Any, Any, Any]:
        import pyarrow as pa

        try:
            rows = list(csv_fields(text.to_pylist(), self.layout.delimiter, strict=True))
        except csv.Error:
            raise _UnusualError from None
        if len(rows) != len(text):  # a field that goes on on the next line
            raise _UnusualError
        return self._columns(pa.array([row for row in rows if row], pa.list_(pa.string())))

    def _columns(self, fields: Any) -> tuple[Any, Any, Any]:
        """Return the ids and numbers of rows that have the right number of fields."""
        import pyarrow as pa
        import pyarrow.compute as pc

        width = len(self.layout.names)
        if not pc.all(pc.equal(pc.list_value_length(fields), width)).as_py():
            raise _UnusualError
        flat = fields.flatten()
        query, doc, *numbers = (
            flat.take(pa.array(np.arange(place, len(flat), width)))
            for place in self.layout.places
            if place >= 0
        )
        if not numbers:
            return query, doc, pa.array(np.full(len(query), self.kind.implied))
        return query, doc, numbers[0].cast(pa.float64())

    def _json(self, lines: Any) -> tuple[Any, Any, Any]:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.json

        texts = [line for line in lines.to_pylist() if line and not line.isspace()]
        if not texts:
            raise _UnusualError
        stripped = pc.ascii_trim_whitespace(pa.array(texts, pa.string()))
        # So no object goes on on another line, and as many objects as lines are one on each.
        if not pc.all(pc.and_(pc.starts_with(stripped, "{"), pc.ends_with(stripped, "}"))).as_py():
            raise _UnusualError
        if self.kind.implied is not None:
            raise _UnusualError  # few have no number
        query, doc, number = (self.layout.names[place] for place in self.layout.places)
        first = json.loads(texts[0])
        types = [
            (key, pa.int64() if type(first.get(key)) is int else pa.string())
            for key in (query, doc)
        ]
        content = b"\n".join(texts)
        found = pyarrow.json.read_json(
            pa.BufferReader(content),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(content) + 1),
            pyarrow.json.ParseOptions(
                explicit_schema=pa.schema([*types, (number, pa.float64())]),
                unexpected_field_behavior="ignore",
            ),
        ).combine_chunks()
        if len(found) != len(texts):
            raise _UnusualError
        numbers = _whole(found[number])
        if not pc.all(pc.less(pc.abs(numbers), _INTEGERS_END)).as_py():
            raise _UnusualError
        return _whole(found[query]).cast(pa.string()), _whole(found[doc]).cast(pa.string()), numbers

    def _one_by_one(
        self, lines: Any, part: tuple[str, int], before: int, *, header: bool = False
    ) -> Any:
        good: list[Row] = []
        faults: list[Fault] = []
        for number, line in enumerate(lines.to_pylist(), before + 1):
            for row in self._rows(number, line, header=header):
                if isinstance(row, Row):
                    good.append(row)
                else:
                    faults.append(row)
        return _checked(good, faults, part)

    def _rows(self, number: int, line: bytes, *, header: bool) -> Iterator[Row | Fault]:
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if self.layout.format == "table":
            yield from self._fields(number, line, header=header and self.layout.header)
            return
        reader = trec_row if self.layout.format == "trec" else json_row
        row = reader(number, line, self.layout, self.kind)
        if row is not None:
            yield row

    def _fields(self, number: int, line: bytes, *, header: bool) -> Iterator[Row | Fault]:
        """Read a line of a table; a carriage return in it may end a row, too."""
        text = io.StringIO(line.decode(errors="surrogateescape"), newline="")
        reader = csv_fields(text, self.layout.delimiter, strict=True)
        try:
            for fields in reader:
                if header and any(field.strip() for field in fields):
                    header = False
                    if fields != list(self.layout.names):
                        names = ", ".join(self.layout.names)
                        yield Fault(
                            number,
                            f"the columns {names}, as in another file",
                            shortened(", ".join(fields)),
                            "Write all files with the same columns.",
                        )
                elif fields and not header:
                    yield table_row(number, fields, self.layout, self.kind)
        except csv.Error:
            found = shortened(repr(line.decode(errors="replace")))
            yield Fault(number, _ONE_LINE, found, _WITHOUT_SPARK)


def _parts(batch: Any, name: str) -> Iterator[tuple[str, int, Any]]:
    """Cut a batch where another part of a file begins: its file, its first byte, its lines."""
    lines, starts = batch.column("line"), batch.column("start").to_numpy()
    files = batch.column("file") if "file" in batch.schema.names else None
    other = starts[1:] != starts[:-1]
    if files is not None and len(files) > 1:
        import pyarrow.compute as pc

        same = pc.equal(files.slice(1), files.slice(0, len(files) - 1))
        other = other | ~same.to_numpy(zero_copy_only=False)
    edges = [0, *(np.flatnonzero(other) + 1).tolist(), len(lines)]
    for begin, end in pairwise(edges):
        if begin < end:
            file = name if files is None else files[begin].as_py().removeprefix("file:")
            yield file, int(starts[begin]), lines.slice(begin, end - begin)


def _batch(query: Any, doc: Any, number: Any) -> Any:
    """Return rows without a fault, if they have none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for ids in (query, doc):
        if ids.null_count or pc.any(pc.equal(pc.binary_length(ids), 0)).as_py():
            raise _UnusualError
    numbers: Floats = number.to_numpy(zero_copy_only=False) + 0.0  # there is no −0
    if not np.isfinite(numbers).all():  # what is missing is NaN here
        raise _UnusualError
    faults = pa.nulls(len(query), _fault_type())
    return pa.record_batch([query, doc, pa.array(numbers), faults], _NAMES)


def _first_that_is_not_blank(lines: Any, before: int) -> int | None:
    """Return the place of the first line with text; a byte order mark on line 1 of a file is none."""
    for place, line in enumerate(lines):
        text = line.as_py()
        if before + place == 0:
            text = text.removeprefix(BYTE_ORDER_MARK)
        if text.strip():
            return place
    return None


def _checked(good: list[Row], faults: list[Fault], part: tuple[str, int]) -> Any:
    """Return rows, and below them faults."""
    import pyarrow as pa

    none = [None] * len(faults)
    file, start = part
    told = [
        (
            printable(file),  # Arrow holds no text with half a character
            start,
            fault.line,
            *(printable(text) for text in (fault.expected, fault.found, fault.remedy)),
        )
        for fault in faults
    ]
    names = [field.name for field in _fault_type()]
    columns = {
        "query": pa.array([row.query for row in good] + none, pa.string()),
        "doc": pa.array([row.doc for row in good] + none, pa.string()),
        "number": pa.array([row.number + 0.0 for row in good] + none, pa.float64()),
        "fault": pa.array(
            [None] * len(good) + [dict(zip(names, each, strict=True)) for each in told],
            _fault_type(),
        ),
    }
    return pa.record_batch(columns)


def _whole(column: Any) -> Any:
    import pyarrow as pa

    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _fault_type() -> Any:
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("expected", "found", "remedy")]
    return pa.struct([("file", pa.string()), ("start", pa.int64()), ("line", pa.int64()), *texts])
