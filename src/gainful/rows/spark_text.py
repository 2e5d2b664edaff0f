"""Read text files on Spark: Spark splits them into lines, and Python workers parse the lines."""

# Spark's own CSV and JSON readers accept faulty lines. Clean lines are parsed many at a time, and
# others one by one as in `text_formats`, so that results and errors are the same as without Spark.

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.array_types import Ints
from gainful.errors import InputError
from gainful.message_texts import printable, shortened
from gainful.rows.clean_field_positions import finder_of_fields
from gainful.rows.clean_text_files import MARGIN
from gainful.rows.decimal_parsing import Bytes
from gainful.rows.files import BYTE_ORDER_MARK, csv_fields
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.rows.nested_json import read_line
from gainful.rows.packed_rows import words_of
from gainful.rows.run_and_judgment_columns import kind_by_columns
from gainful.rows.spark_frames import FAULT, Unread, functions, in_python, refuse_ranks
from gainful.rows.text_formats import (
    Fault,
    Layout,
    Row,
    json_lines_layout,
    json_row,
    recognise_head,
    table_row,
    trec_row,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_HEAD = 50  # lines from which the format is detected
_LINE_END = "\n"  # as without Spark, which would also end lines at a carriage return
_EXACT = 2**53  # a float64 represents every integer up to here
_SCHEMA = f"query string, doc string, number double, fault {FAULT}"


@dataclass(frozen=True, slots=True)
class SparkText(Unread):
    """A text file, or a directory of them, before its columns are known.

    Attributes:
        name: the path as the caller wrote it.
        lines: a frame with the columns line (bytes), start (the first byte of the file's part) and,
            if there are several files, file.
    """

    name: str
    lines: "DataFrame"

    @property
    def sparkSession(self) -> "SparkSession":  # noqa: N802 - as a data frame has it
        """The session that reads the files."""
        return self.lines.sparkSession

    def read(self, kind: Kind, columns: Mapping[str, str]) -> "DataFrame":
        """Return the columns query, doc, number and fault; a row with a fault has no other values."""
        sql = functions()
        begins = (sql.col("start") == sql.lit(0)) & sql.col("line").cast("string").rlike(r"\S")
        first = self.lines.where(begins).select("line").limit(_HEAD).collect()
        head = [bytes(row["line"]) for row in first]
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
                else "Change the extension, so that the file is read on this machine.",
            )
        kind = kind_by_columns(layout.names, kind, columns)
        frame = in_python(self.lines, Parsing(self.name, layout, kind), _SCHEMA)
        refuse_ranks(frame, kind)
        return frame


def text_on_spark(name: str, session: "SparkSession") -> SparkText:
    """Open text files; Spark raises an error if the path is wrong."""
    sql = functions()
    texts = session.read.text(name, lineSep=_LINE_END)
    several = len(texts.inputFiles()) > 1
    columns = [
        sql.col("value").cast("binary").alias("line"),
        sql.col("_metadata.file_block_start").alias("start"),
        *([sql.col("_metadata.file_path").alias("file")] if several else []),
    ]
    return SparkText(name, texts.select(*columns))


@dataclass(frozen=True, slots=True)
class Parsing:
    """Parses lines; Spark sends it to its workers.

    Attributes:
        name: the name of the file, if there is only one.
        layout: the layout of the rows.
        kind: the kind of input.
    """

    name: str
    layout: Layout
    kind: Kind

    def __call__(self, batches: Iterable[object]) -> Iterator[Any]:
        """Yield Arrow batches of the rows; the lines of a file's part arrive in order."""
        part, before, header = ("", -1), 0, False
        for batch in batches:
            for file, start, lines in _parts(batch, self.name):
                if (file, start) != part:
                    part, before, header = (file, start), 0, self.layout.header and start == 0
                    if start == 0:
                        lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
                if header:  # blank lines may precede it
                    named = (place for place, line in enumerate(lines, 1) if line.strip())
                    count = next(named, 0)
                    header, count = not count, count or len(lines)
                    yield self._one_by_one(lines[:count], part, before, header=True)
                    lines, before = lines[count:], before + count
                if lines:
                    yield self._read(lines, part, before)
                before += len(lines)

    def _read(self, lines: list[bytes], part: tuple[str, int], before: int) -> object:
        """Parse lines at once if they are clean or can be made so; otherwise one by one."""
        table = self.layout.format == "table"
        texts = [line for line in lines if (line if table else line.strip())]  # skip blank lines
        found = self._clean(texts, self.layout) if texts else None
        if found is None and texts:
            simple, layout = _simplified(texts, self.layout)
            found = None if simple is texts else self._clean(simple, layout)
        return self._one_by_one(lines, part, before) if found is None else found

    def _clean(self, lines: list[bytes], layout: Layout) -> Any | None:
        """Parse all lines at once; None if one of them isn't clean."""
        import pyarrow as pa

        content = b"\n".join([bytes(MARGIN) + lines[0], *lines[1:], bytes(MARGIN)])
        text = np.frombuffer(content, np.uint8)
        find, words = finder_of_fields(layout, lines[0] + b"\n"), words_of(text)
        fields = None if find is None else find(text, words, MARGIN, text.size - MARGIN)
        if fields is None:
            return None
        numbers = (-fields.numbers if self.kind.ascending else fields.numbers) + 0.0  # no −0
        texts = [_texts(text, *span) for span in (fields.queries, fields.docs)]
        faults = pa.nulls(len(lines), _schema().field("fault").type)
        return pa.record_batch([*texts, pa.array(numbers), faults], schema=_schema())

    def _one_by_one(
        self, lines: list[bytes], part: tuple[str, int], before: int, *, header: bool = False
    ) -> object:
        """Parse each line separately; an invalid line becomes a row with a fault."""
        import pyarrow as pa

        rows: list[dict[str, object]] = []
        for row in self._rows(lines, before, header=header):
            if isinstance(row, Row):
                rows.append({"query": row.query, "doc": row.doc, "number": row.number + 0.0})
                continue
            # Arrow can't hold lone surrogates.
            texts = map(printable, (part[0], row.expected, row.found, row.remedy))
            names = ("file", "expected", "found", "remedy")
            fault = dict(zip(names, texts, strict=True))
            rows.append({"fault": {**fault, "start": part[1], "line": row.line}})
        return pa.RecordBatch.from_pylist(rows, _schema())

    def _rows(self, lines: list[bytes], before: int, *, header: bool) -> Iterator[Row | Fault]:
        """Parse lines; the header, if any, is the last one."""
        if self.layout.format == "table":
            yield from self._rows_of_table(lines, before, header=header)
            return
        reader = trec_row if self.layout.format == "trec" else json_row
        read = (
            reader(number, line, self.layout, self.kind)
            for number, line in enumerate(lines, before + 1)
        )
        yield from (row for row in read if row is not None)

    def _rows_of_table(
        self, lines: list[bytes], before: int, *, header: bool
    ) -> Iterator[Row | Fault]:
        """Parse lines of a table; a carriage return within a line may also end a row."""
        names = list(self.layout.names)
        for number, line in enumerate(lines, before + 1):
            text = line.decode(errors="surrogateescape")
            whole = text if "\r" not in text[:-1] else io.StringIO(text, newline="")
            try:
                for fields in csv_fields(
                    [text] if whole is text else whole, self.layout.delimiter, strict=True
                ):
                    if header and any(field.strip() for field in fields):
                        header = False
                        if fields != names:
                            yield Fault(
                                number,
                                f"the columns {', '.join(names)}, as in another file",
                                shortened(", ".join(fields)),
                                "Write all files with the same columns.",
                            )
                    elif fields and not header:
                        yield table_row(number, fields, self.layout, self.kind)
            except csv.Error:
                yield Fault(
                    number,
                    "a field in quotes that ends on its line, since Spark reads line by line",
                    shortened(repr(line.decode(errors="replace"))),
                    "Write the file as Parquet, or evaluate it without Spark.",
                )


def _simplified(lines: list[bytes], layout: Layout) -> tuple[list[bytes], Layout]:
    """Rewrite lines as a table of the needed columns without quotes; unusual lines stay unchanged."""
    places = [place for place in layout.places if place >= 0]
    names = tuple(layout.names[place] for place in places)
    rows: list[Any]
    try:
        if layout.format == "jsonl":
            rows = [itemgetter(*names)(read_line(line)) for line in lines]
            *ids, numbers = ({*map(type, column)} for column in zip(*rows, strict=True))
            plain = numbers <= {int, float} and all(types in ({str}, {int}) for types in ids)
            if (
                not plain
                or len(names) < len(layout.places)
                or any(abs(row[-1]) > _EXACT for row in rows)
            ):
                return lines, layout
        else:
            split: Iterable[list[str]] = csv_fields(
                map(bytes.decode, lines), layout.delimiter, strict=True
            )
            if layout.format == "trec":
                split = ([field.decode() for field in line.split()] for line in lines)
            rows = [*split]
            if len(rows) != len(lines) or {*map(len, rows)} != {len(layout.names)}:
                return lines, layout  # for example, a field continues on the next line
            rows = [*map(itemgetter(*places), rows)]
        texts = ["\t".join(map(str, row)).encode() for row in rows]
    except (csv.Error, LookupError, TypeError, ValueError, RecursionError):
        return lines, layout
    table = Layout("table", "\t", names, (0, 1, layout.places[2] if len(names) < 3 else 2))
    return texts, table


def _texts(text: Bytes, starts: Ints, ends: Ints) -> object:
    """Return the parts of a text between starts and ends (n,) as an Arrow array of strings."""
    import pyarrow as pa

    edges = np.concatenate(([0], np.cumsum(ends - starts)))
    places = np.arange(edges[-1]) + np.repeat(starts - edges[:-1], ends - starts)
    buffers = (pa.py_buffer(array) for array in (edges.astype(np.int32), text[places]))
    return pa.StringArray.from_buffers(starts.size, *buffers)


def _parts(batch: Any, name: str) -> Iterator[tuple[str, int, list[bytes]]]:
    """Split a batch by parts of files; yield the file, the part's first byte and its lines."""
    lines, starts = batch.column("line"), batch.column("start").to_numpy()
    files = batch.column("file").to_pylist() if "file" in batch.schema.names else None
    other = starts[1:] != starts[:-1]
    if files is not None:
        other |= np.array([file != after for file, after in pairwise(files)], np.bool_)
    edges = [0, *(np.flatnonzero(other) + 1).tolist(), len(lines)]
    for begin, end in pairwise(edges):
        if begin < end:
            file = name if files is None else files[begin].removeprefix("file:")
            yield file, int(starts[begin]), lines.slice(begin, end - begin).to_pylist()


def _schema() -> Any:
    """Return the Arrow schema of the rows."""
    import pyarrow as pa

    text, integer = pa.string(), pa.int64()
    place = [("file", text), ("start", integer), ("line", integer)]
    fault = pa.struct([*place, ("expected", text), ("found", text), ("remedy", text)])
    return pa.schema([("query", text), ("doc", text), ("number", pa.float64()), ("fault", fault)])
