"""A table of cells, and the formats it can be written in.

`table`, `markdown`, `latex` and `html` are for people: numbers are rounded. `csv`, `tsv`,
`json` and `jsonl` are for programs: numbers keep every digit.
"""

import csv
import html
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Cell = str | int | float | None

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
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)
_MARKDOWN_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_<>|[]"})


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns and rows of cells; numbers stand right, text left.

    `digits` is the number of decimals for people, `notes` are lines under the table.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 4
    title: str = ""
    notes: Sequence[str] = ()

    def table(self) -> "Table":
        """Return itself: a table is rendered like every result that has one."""
        return self

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows as dicts; what is not a number becomes None."""
        return [
            {
                column: None if isinstance(cell, float) and not math.isfinite(cell) else cell
                for column, cell in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]

    def written(self) -> list[list[str]]:
        """Return the cells as people read them."""
        return [[self._write(cell) for cell in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Return whether each column holds numbers, and so stands right."""
        return [
            bool(column) and all(isinstance(cell, int | float | None) for cell in column)
            for column in zip(*self.rows, strict=True)
        ] or [False] * len(self.columns)

    def _write(self, cell: Cell) -> str:
        if cell is None:
            return ""
        if isinstance(cell, float):
            return f"{cell:.{self.digits}f}"
        return str(cell)


def as_text(table: Table) -> str:
    """Write for a terminal, as wide as the cells need; nothing is cut off or folded."""
    rows = [[printable(cell) for cell in row] for row in (table.columns, *table.written())]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    numeric = table.numeric()
    lines = [
        "   ".join(
            " " * (width - _width(cell)) + cell if right else cell + " " * (width - _width(cell))
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "─" * (sum(widths) + 3 * (len(widths) - 1)))
    head = [printable(table.title), ""] if table.title else []
    notes = ["", *map(printable, table.notes)] if table.notes else []
    return "\n".join([*head, *lines, *notes])


def as_markdown(table: Table) -> str:
    """Write a GitHub-flavoured Markdown table."""
    rule = ["---:" if numeric else "---" for numeric in table.numeric()]
    rows = [list(table.columns), rule, *table.written()]
    lines = ["| " + " | ".join(_markdown_cell(cell) for cell in row) + " |" for row in rows]
    head = [f"**{_markdown_cell(table.title)}**", ""] if table.title else []
    notes = [line for note in table.notes for line in ("", _markdown_cell(note))]
    return "\n".join([*head, *lines, *notes])


def as_latex(table: Table) -> str:
    """Write a LaTeX tabular for the booktabs package."""
    alignment = "".join("r" if numeric else "l" for numeric in table.numeric())
    rows = [" & ".join(map(latex_text, row)) + r" \\" for row in table.written()]
    comments = [f"% {printable(line)}" for line in (table.title, *table.notes) if line]
    return "\n".join(
        [
            *comments,
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            " & ".join(map(latex_text, table.columns)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def as_html(table: Table) -> str:
    """Write an HTML table, every cell escaped."""
    align = [' style="text-align:right"' if numeric else "" for numeric in table.numeric()]
    head = "".join(
        f"<th{style}>{html.escape(name)}</th>"
        for name, style in zip(table.columns, align, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{style}>{html.escape(cell)}</td>" for cell, style in zip(row, align, strict=True)
        )
        + "</tr>"
        for row in table.written()
    )
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def as_csv(table: Table) -> str:
    """Write comma-separated values, quoted where needed."""
    return _separated(table, ",")


def as_tsv(table: Table) -> str:
    """Write tab-separated values, quoted where needed."""
    return _separated(table, "\t")


def as_json(table: Table) -> str:
    """Write a JSON list with an object for each row."""
    return json.dumps(table.records(), indent=2, ensure_ascii=False)


def as_jsonl(table: Table) -> str:
    """Write one JSON object a line for each row."""
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


def latex_text(text: str) -> str:
    """Escape what LaTeX would read as a command."""
    return text.translate(_LATEX_SPECIAL)


def printable(text: str) -> str:
    """Show what would steer a terminal, or break a line, as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    # Imported here because it costs time that few tables need to spend.
    from rich.cells import cell_len

    return cell_len(text)


def _markdown_cell(text: str) -> str:
    return text.replace("\n", " ").translate(_MARKDOWN_SPECIAL)


def _separated(table: Table, separator: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(table.columns)
    for record in table.records():
        cells = record.values()
        writer.writerow(["" if cell is None else cell for cell in cells])
    return out.getvalue().rstrip("\n")
