"""A table of cells, and the formats it can be written in.

`table`, `markdown`, `latex` and `html` are for people: numbers are rounded. `csv`, `tsv`,
`json` and `jsonl` are for programs: numbers keep every digit.
"""

import importlib
import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any

from gainful import arguments
from gainful.errors import MissingDependencyError
from gainful.message_texts import printable


@dataclass(frozen=True, slots=True)
class Marked:
    """A number as papers show it: in bold if it is the best, and with superscript marks.

    Programs get only the number.
    """

    number: float
    best: bool = False
    marks: str = ""


class PValue(float):
    """A p-value, which is never shown as 0, but as below the last decimal."""

    __slots__ = ()


class Signed(float):
    """A difference, shown with its sign, and never as 0 unless it is."""

    __slots__ = ()


class Note(str):
    """A line below a table, in full in files; a screen shows `brief` instead."""

    __slots__ = ("brief",)
    brief: str

    def __new__(cls, text: str, brief: str = "") -> "Note":
        """Make a note from its text and its short form."""
        note = super().__new__(cls, text)
        note.brief = brief or text
        return note


Cell = str | int | float | Marked | None

_LATEX_SPECIAL = str.maketrans(
    {
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "`": r"\textasciigrave{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        # At the start of a row, they would be read as options of the previous row's end.
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "†": r"\dag{}",
        "‡": r"\ddag{}",
        "≈": r"$\approx$",
    }
)
_MARKDOWN_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_<>|[]&~$"})
_LEAST_SHOWN, _TOO_LONG = 0.0001, 1e9  # the last of four decimals; nobody needs more digits
# Characters that end a line, or are printed as a blank: a row of a table is one line.
SCREEN = 80
"""The width of a file, and of output without a terminal."""
_GAP, _NARROW_GAP = 3, 2  # blanks between columns
# the minimum width of a text before other columns are left out, and of any text
_SHORT, _SHORTEST = 24, 8
_LEAST_PROSE = 20  # columns, below which a folded text is hard to read
_INDENT = "  "  # the indentation of the following lines of a folded note
_LONGEST_WIDTH = 6  # digits
_MOST_DIGITS = 17  # more digits than a float64 has
_LINE_END = "\r\n"
# A spreadsheet runs cells that begin with one of these; some read wide characters as narrow ones.
_FORMULA = re.compile("[=+\\-@\t\r\n＝＋－＠]")
_WHOLE = re.compile("`[^`]*`|p [<=] [0-9.]+")  # commands and p-values, which must not be broken
_BREAK = re.compile("[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and rows of cells; numbers are aligned right, text left.

    `digits` is the number of decimals for people, `notes` are the lines below the table, and `caption` is
    the caption in a paper: with one, LaTeX gets a whole table rather than only the tabular. `prose` names
    the columns of texts that people typed: in CSV and TSV, which spreadsheets open, none of them can be a
    formula.

    A table with `optional` columns is never folded or shown in parts: a screen that is too narrow leaves out
    these groups of columns, in this order, and then shortens texts. `once` names columns that a screen
    states above the table if all rows have the same value.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 4
    title: str = ""
    notes: Sequence[str] = ()
    caption: str = ""
    prose: Sequence[str] = ()
    optional: Sequence[Sequence[str]] = ()
    once: Sequence[str] = ()

    def table(self) -> "Table":
        """Return itself: a table is rendered like every result that has one."""
        return self

    def records(self) -> list[dict[str, str | int | float | None]]:
        """Return the rows as dicts; NaN and infinity become None."""
        return [
            {column: _plain(cell) for column, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]

    def columns_by_name(self) -> dict[str, list[Cell]]:
        """Return the columns, each of one type, for data frames; marked numbers lose their marks."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return {
            name: _of_one_type(cells) for name, cells in zip(self.columns, columns, strict=True)
        }

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame, with every digit."""
        return data_frame_library("pandas").DataFrame(self.columns_by_name())

    def to_polars(self) -> Any:
        """Return the rows as a polars DataFrame, with every digit."""
        return data_frame_library("polars").DataFrame(self.columns_by_name())

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow Table, with every digit."""
        return data_frame_library("pyarrow").table(self.columns_by_name())

    def written(self, mark: "Callable[[str, Marked], str]") -> list[list[str]]:
        """Return the cells as text for people; `mark` writes cells that may have marks."""
        return [
            [
                mark(self._write(cell.number), cell)
                if isinstance(cell, Marked)
                else self._write(cell)
                for cell in row
            ]
            for row in self.rows
        ]

    def for_screen(self) -> "Table":
        """Return the table with the columns of `once` in its title if all rows have the same value."""
        title, kept = self.title, []
        for place, column in enumerate(self.columns):
            cells = {row[place] for row in self.rows} if column in self.once else set()
            if len(cells) == 1:
                stated = f"{column}: {cells.pop()}"
                title = f"{title} ({stated})" if title else stated
            else:
                kept.append(place)
        rows = [[row[place] for place in kept] for row in self.rows]
        columns = [self.columns[place] for place in kept]
        return replace(self, columns=columns, rows=rows, title=title)

    def lines_below(self) -> list[str]:
        """Return the caption and the notes, which are printed below the table."""
        return [*([self.caption] if self.caption else []), *self.notes]

    def numeric(self) -> list[bool]:
        """Return whether each column contains numbers, which are aligned right."""
        return [
            bool(column) and all(isinstance(cell, int | float | Marked | None) for cell in column)
            for column in zip(*self.rows, strict=True)
        ] or [False] * len(self.columns)

    def without(self, columns: Sequence[str]) -> "Table":
        """Return the table without some of its columns."""
        places = [place for place, name in enumerate(self.columns) if name not in columns]
        rows = [[row[place] for place in places] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in places], rows=rows)

    def _write(self, cell: str | int | float | None) -> str:
        if cell is None:
            return ""
        if isinstance(cell, Signed) and 0 < abs(cell) < 10.0**-self.digits / 2:
            return f"{cell:+.2g}"
        if isinstance(cell, float) and abs(cell) >= _TOO_LONG:
            return f"{cell:.6g}"
        if isinstance(cell, Signed):
            return f"{cell:+.{self.digits}f}"
        if isinstance(cell, PValue) and cell < 10.0**-self.digits:
            return f"< {10.0**-self.digits:.{self.digits}f}"
        if isinstance(cell, float):
            return f"{cell:.{self.digits}f}"
        return str(cell)


def data_frame_library(package: str, asking: str | None = None) -> Any:
    """Import and return a library of data frames; raise an error if it isn't installed."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingDependencyError(
            asking or f"to_{'arrow' if package == 'pyarrow' else package}()",
            f"the package {package}",
            "none installed",
            f"Install it: pip install {package}",
        ) from None


def _of_one_type(cells: Any) -> list[Cell]:
    """Return cells in the form in which one column of a data frame can contain them."""
    plain = [cell.number if isinstance(cell, Marked) else cell for cell in cells]
    plain = [float(cell) if isinstance(cell, float) else cell for cell in plain]
    kinds = {type(cell) for cell in plain if cell is not None}
    if len(kinds) <= 1:
        return plain
    if all(issubclass(kind, int | float) and kind is not bool for kind in kinds):
        return [None if cell is None else float(cell) for cell in plain]
    return [None if cell is None else str(cell) for cell in plain]


def as_text(table: Table, *, width: int | None = None, verbose: bool = False) -> str:
    """Write for a terminal; nothing is cut off.

    If a table is wider than the screen, its gaps become narrower, then its texts are folded, and
    finally it is shown in parts, one below the other, each with the first columns.

    Args:
        table: the table to write.
        width: the width in characters; if None, the terminal's width, and at least 80.
        verbose: print notes in full instead of their short form.
    """
    most = read_width(width)
    if table.optional:
        return as_text(_narrowed_table(table, most), width=most, verbose=verbose)
    table = table.for_screen() if table.once else table
    written = zip(*map(_padded, *_columns(table)), strict=True) if table.rows else []
    rows = [[printable(cell) for cell in row] for row in (table.columns, *written)]
    notes = [
        note.brief if isinstance(note, Note) and not verbose else note
        for note in table.lines_below()
    ]
    parts = _fitted(rows, table.numeric(), most)
    head = [*_folded(printable(table.title), most), ""] if table.title else []
    below = [line for note in notes for line in _folded(printable(note), most, _INDENT)]
    return "\n".join([*head, "\n\n".join(parts), *([""] if below else []), *below])


def _narrowed_table(table: Table, most: int) -> Table:
    """Return the table with the columns that fit the screen, and with texts shortened as far as necessary."""
    for left_out in (*table.optional, ()):
        cells = zip(table.columns, *table.written(_unmarked), strict=True)
        widths = [max(_width(printable(cell)) for cell in column) for column in cells]
        texts = {at: width for at, width in enumerate(widths) if not table.numeric()[at]}
        excess = _total(widths, _NARROW_GAP) - most
        if excess <= sum(max(0, width - _SHORT) for width in texts.values()):
            break
        table = table.without(left_out)
    while excess > 0 and max(texts.values(), default=0) > _SHORTEST:
        texts[max(texts, key=texts.__getitem__)] -= 1
        excess -= 1
    rows = [
        [
            _shortened(cell, texts[place]) if place in texts and isinstance(cell, str) else cell
            for place, cell in enumerate(row)
        ]
        for row in table.rows
    ]
    return replace(table, rows=rows, optional=())


def _shortened(text: str, most: int) -> str:
    """Return a text with … in place of its middle if it is too wide, because names of runs often differ at their ends."""
    shown = printable(text)
    if _width(shown) <= most:
        return text
    ends = range(len(shown) // 2, 0, -1)
    texts = (f"{shown[:end]}…{shown[-end:]}" for end in ends)
    return next((text for text in texts if _width(text) <= most), "…")


def read_digits(digits: int | None) -> int | None:
    """Return the caller's number of decimals; None if each table has its usual number."""
    if digits is None:
        return None
    return arguments.whole(digits, "digits", least=0, most=_MOST_DIGITS)


def read_width(width: int | None) -> int:
    """Return the caller's width for text; if None, the terminal's, and at least 80."""
    return _screen_width() if width is None else arguments.whole(width, "width", least=1)


def _screen_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and len(columns) <= _LONGEST_WIDTH:
        return max(SCREEN, int(columns))
    try:
        return max(SCREEN, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (AttributeError, ValueError, OSError):  # closed, captured, or not a terminal
        return SCREEN


def _fitted(rows: list[list[str]], numeric: list[bool], most: int) -> list[str]:
    """Lay out rows of cells, the first of which contains the column names, in as many parts as the screen requires."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    if _total(widths, _GAP) <= most:
        return [_laid_out(rows, widths, numeric, _GAP)]
    widths = _narrowed(rows, widths, numeric, most)
    if _total(widths, _NARROW_GAP) <= most:
        return [_laid_out(rows, widths, numeric, _NARROW_GAP)]
    return [
        _laid_out(
            [[row[place] for place in places] for row in rows],
            [widths[place] for place in places],
            [numeric[place] for place in places],
            _NARROW_GAP,
        )
        for places in _parts(rows, widths, numeric, most)
    ]


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _narrowed(
    rows: list[list[str]], widths: list[int], numeric: list[bool], most: int
) -> list[int]:
    """Return column widths that fit the screen, if folding texts makes the table fit."""
    narrowed = list(widths)
    prose = [
        place
        for place, column in enumerate(zip(*rows, strict=True))
        if not numeric[place] and any(" " in cell for cell in column[1:])
    ]
    for place in sorted(prose, key=lambda place: -widths[place]):
        excess = _total(narrowed, _NARROW_GAP) - most
        if excess <= 0:
            break
        words = max(_width(word) for row in rows for word in row[place].split(" "))
        narrowed[place] = min(widths[place], max(words, _LEAST_PROSE, widths[place] - excess))
    return narrowed if _total(narrowed, _NARROW_GAP) <= most else widths


def _parts(
    rows: list[list[str]], widths: list[int], numeric: list[bool], most: int
) -> list[list[int]]:
    """Return the columns of each part: the first columns, which name a row, and as many others as fit.

    Names that are the same in all rows are printed in the first part only.
    """
    after = 1 if numeric[0] else 0  # such as a rank before the run that has it
    names = next((at for at in range(after, len(numeric)) if numeric[at]), len(numeric)) or 1
    while names > 1 and _total(widths[:names], _NARROW_GAP) > most // 2:
        names -= 1
    parts = [list(range(names))]
    telling = [place for place in parts[0] if len({row[place] for row in rows[1:]}) > 1] or [0]
    for place in range(names, len(widths)):
        wider = [*parts[-1], place]
        if _total([widths[column] for column in wider], _NARROW_GAP) <= most:
            parts[-1] = wider
        else:
            parts.append([*telling, place])
    return parts


def _laid_out(rows: list[list[str]], widths: list[int], numeric: list[bool], gap: int) -> str:
    """Write rows, the first of which contains the column names, and fold cells that are too wide."""
    lines: list[str] = []
    for row in rows:
        cells = [_folded(cell, width) for cell, width in zip(row, widths, strict=True)]
        head = not lines
        lines += [_line(line, widths, numeric, gap) for line in zip_longest(*cells, fillvalue="")]
        if head:
            lines.append("─" * _total(widths, gap))
    return "\n".join(lines)


def _line(cells: Sequence[str], widths: list[int], numeric: list[bool], gap: int) -> str:
    padded = (
        " " * (width - _width(cell)) + cell if right else cell + " " * (width - _width(cell))
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    )
    return (" " * gap).join(padded).rstrip()


def folded(text: str, width: int | None = None) -> str:
    """Return a line of text, broken into lines for a screen of this width; 80 if None."""
    return "\n".join(_folded(text, SCREEN if width is None else width, _INDENT))


def _folded(text: str, most: int, indent: str = "") -> list[str]:
    """Break a text between words, but not inside a command or a p-value, into lines that are as short as necessary."""
    if _width(text) <= most:
        return [text]
    whole = _WHOLE.sub(lambda found: found[0].replace(" ", "\0"), text.lstrip(" "))
    words = [word.replace("\0", " ") for word in whole.split(" ")]
    before = " " * (len(text) - len(text.lstrip(" ")))
    lines = [before + words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if _width(longer) <= most:
            lines[-1] = longer
        else:
            lines.append(f"{before}{indent}{word}")
    return [line.rstrip() for line in lines]


def as_markdown(table: Table) -> str:
    """Write a GitHub-flavoured Markdown table."""
    rule = ["---:" if numeric else "---" for numeric in table.numeric()]
    cells = [
        [
            cell if isinstance(raw, Marked) else _markdown_cell(cell)
            for cell, raw in zip(*row, strict=True)
        ]
        for row in zip(table.written(_marked_markdown), table.rows, strict=True)
    ]
    rows = [list(map(_markdown_cell, table.columns)), rule, *cells]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    head = [f"**{_markdown_cell(table.title)}**", ""] if table.title else []
    notes = [line for note in table.lines_below() for line in ("", _markdown_cell(note))]
    return "\n".join([*head, *lines, *notes])


def as_latex(table: Table) -> str:
    """Write a LaTeX tabular for the booktabs package, inside a table environment if it has a caption.

    Numbers with marks take two columns, so that the numbers are aligned below the name of their
    column.
    """
    split = [
        any(isinstance(cell, Marked) and cell.marks for cell in column)
        for column in zip(*table.rows, strict=True)
    ] or [False] * len(table.columns)
    alignment = "".join(
        "r@{}l" if marked else "r" if numeric else "l"
        for marked, numeric in zip(split, table.numeric(), strict=True)
    )
    head = [
        f"{latex_text(name)} &" if marked else latex_text(name)
        for name, marked in zip(table.columns, split, strict=True)
    ]
    rows = [
        [
            _latex_cell(cell, raw, split=marked)
            for cell, raw, marked in zip(*row, split, strict=True)
        ]
        for row in zip(table.written(_unmarked), table.rows, strict=True)
    ]
    tabular = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if table.caption:
        caption = rf"\caption{{{latex_text(table.caption)}}}"
        tabular = [r"\begin{table}", r"\centering", caption, *tabular, r"\end{table}"]
    comments = [f"% {printable(line)}" for line in (table.title, *table.notes) if line]
    return "\n".join([*comments, *tabular])


def as_html(table: Table) -> str:
    """Write an HTML table with every cell escaped."""
    import html

    align = [' style="text-align:right"' if numeric else "" for numeric in table.numeric()]
    head = "".join(
        f"<th{style}>{html.escape(name)}</th>"
        for name, style in zip(table.columns, align, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{style}>{cell if isinstance(raw, Marked) else html.escape(cell)}</td>"
            for cell, raw, style in zip(*row, align, strict=True)
        )
        + "</tr>"
        for row in zip(table.written(_marked_html), table.rows, strict=True)
    )
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.lines_below())
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def as_csv(table: Table) -> str:
    """Write comma-separated values, quoted where needed."""
    return _separated(table, ",")


def as_tsv(table: Table) -> str:
    """Write tab-separated values, quoted where needed."""
    return _separated(table, "\t")


def as_json(table: Table) -> str:
    """Write a JSON list with an object for each row."""
    import json

    return json.dumps(table.records(), indent=2, ensure_ascii=False)


def as_jsonl(table: Table) -> str:
    """Write a JSON object for each row, on a line of its own."""
    import json

    return "\n".join(json.dumps(record, ensure_ascii=False) for record in table.records())


WRITERS: Mapping[str, Callable[[Table], str]] = {
    "table": as_text,
    "tsv": as_tsv,
    "csv": as_csv,
    "json": as_json,
    "jsonl": as_jsonl,
    "markdown": as_markdown,
    "latex": as_latex,
    "html": as_html,
}
"""The formats by name, the default first."""


def formats() -> tuple[str, ...]:
    """Return the names of the formats, the default first.

    >>> formats()
    ('table', 'tsv', 'csv', 'json', 'jsonl', 'markdown', 'latex', 'html')
    """
    return tuple(WRITERS)


def latex_text(text: str) -> str:
    r"""Escape, on one line, what LaTeX would read as a command or print as something else.

    >>> latex_text("a_b"), latex_text("`x`"), latex_text("v1--v2")
    ('a\\_b', '\\textasciigrave{}x\\textasciigrave{}', 'v1-{}-v2')
    """
    escaped = printable(_on_one_line(text)).translate(_LATEX_SPECIAL)
    return re.sub("-(?=-)", "-{}", escaped)  # two of them would form a dash


def _width(text: str) -> int:
    """Return how many columns of a terminal a text occupies."""
    if text.isascii():
        return len(text)
    # Imported here because it takes time, and few tables need it.
    from rich.cells import cell_len

    return cell_len(text)


def _plain(cell: Cell) -> str | int | float | None:
    """Return the value of a cell for programs; NaN and infinity become None."""
    value = cell.number if isinstance(cell, Marked) else cell
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _unmarked(number: str, _: Marked) -> str:
    return number


def _columns(table: Table) -> tuple[list[tuple[str, ...]], list[tuple[Cell, ...]]]:
    """Return the columns as they are written without marks, and unchanged."""
    return (
        list(zip(*table.written(_unmarked), strict=True)),
        list(zip(*table.rows, strict=True)),
    )


def _padded(written: Sequence[str], cells: Sequence[Cell]) -> list[str]:
    """Write the marks of a column so that its numbers stay aligned."""
    marked = [cell if isinstance(cell, Marked) else Marked(0) for cell in cells]
    if not any(cell.best or cell.marks for cell in marked):
        return list(written)
    widest = max(_width(cell.marks) for cell in marked)
    plain = [
        f"*{text}*" if cell.best else f" {text} "
        for text, cell in zip(written, marked, strict=True)
    ]
    return [
        f"{text} {cell.marks}{' ' * (widest - _width(cell.marks))}" if widest else text
        for text, cell in zip(plain, marked, strict=True)
    ]


def _marked_markdown(number: str, cell: Marked) -> str:
    shown = f"**{number}**" if cell.best else number
    return f"{shown}<sup>{_markdown_cell(cell.marks)}</sup>" if cell.marks else shown


def _marked_html(number: str, cell: Marked) -> str:
    import html

    shown = f"<strong>{number}</strong>" if cell.best else number
    return f"{shown}<sup>{html.escape(cell.marks)}</sup>" if cell.marks else shown


def _latex_cell(written: str, cell: Cell, *, split: bool) -> str:
    shown = latex_text(written)
    if not isinstance(cell, Marked):
        return f"{shown} &" if split else shown
    shown = rf"\textbf{{{shown}}}" if cell.best else shown
    marks = rf" \textsuperscript{{{latex_text(cell.marks)}}}" if cell.marks else ""
    return f"{shown} &{marks}" if split else shown


def _markdown_cell(text: str) -> str:
    return _on_one_line(text).translate(_MARKDOWN_SPECIAL)


def _on_one_line(text: str) -> str:
    return _BREAK.sub(" ", text)


def _separated(table: Table, separator: str) -> str:
    import csv

    lines: list[str] = []
    out = SimpleNamespace(write=lambda line: lines.append(line[: -len(_LINE_END)]))
    # The line end determines which characters are quoted in cells: readers accept either as the
    # end of a line.
    writer = csv.writer(out, delimiter=separator, lineterminator=_LINE_END)
    writer.writerow(table.columns)
    typed = [column in table.prose for column in table.columns]
    for row in table.rows:  # not the records, because two columns may have the same name
        cells = [
            _no_formula(cell) if prose else _plain(cell)
            for cell, prose in zip(row, typed, strict=True)
        ]
        writer.writerow(["" if cell is None else cell for cell in cells])
    return "\n".join(lines).rstrip("\n")


def _no_formula(cell: Cell) -> str | int | float | None:
    """Return a cell with an apostrophe in front of anything that a spreadsheet would run, as OWASP advises."""
    plain = _plain(cell)
    return f"'{plain}" if isinstance(plain, str) and _FORMULA.match(plain) else plain


def signed(number: float) -> str:
    """Write a difference for people: four decimals, or as many as show that it is not 0.

    >>> signed(0.05), signed(-2.5e-7), signed(0.0), signed(1e20)
    ('+0.0500', '-2.5e-07', '+0.0000', '+1e+20')
    """
    usual = not number or _LEAST_SHOWN / 2 <= abs(number) < _TOO_LONG
    return f"{number:+.4f}" if usual else f"{number:+.2g}"
