"""`render`: scores, explanations, attributions, findings and the catalogue in every format."""

import math
import os
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, Union

from gainful import arguments
from gainful.errors import InputError
from gainful.measures.measure_family import ALWAYS, HIGHER, LOWER, MEAN, NEITHER, NEVER, RUN, Family
from gainful.measures.policy import shared_policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import (
    SCREEN,
    WRITERS,
    Cell,
    Table,
    as_text,
    read_digits,
    read_width,
)
from gainful.output.writing.result_base import Document
from gainful.version import VERSION

if TYPE_CHECKING:  # a command without such results imports none of them
    from gainful.analysis.explanation.attribution import Attribution
    from gainful.analysis.explanation.worked_tables import Explanation
    from gainful.analysis.linting.findings import Findings
    from gainful.evaluation.scores import Scores

_BETTER = {
    LOWER: "lower values",
    NEITHER: "neither higher nor lower values; it depends on the purpose",
}
_FOR_PEOPLE = ("table", "markdown", "latex", "html")


class Tabular(Protocol):
    """A result that has a table: bounds, curves, pools, comparisons and the like."""

    def table(self) -> Table:
        """Return the table."""


Renderable = Union[
    "Scores",
    Mapping[str, "Scores"],
    "Explanation",
    "Attribution",
    "Findings",
    Family,
    Sequence[Family],
    Dialect,
    Sequence[Dialect],
    Tabular,
]


def render(
    result: Renderable,
    format: str = "table",  # noqa: A002 - the word of the vocabulary, as on the command line
    *,
    per_query: bool = False,
    digits: int | None = None,
    interval: str | None = None,
    level: float = 0.95,
    width: int | None = None,
    verbose: bool = False,
) -> str:
    """Return a result as text.

    Args:
        result: scores, scores by the name of their run, an explanation, an attribution, the
            findings of a check, the catalogue, dialects, or any other result with a table.
        format: one of `formats()`. `table`, `markdown`, `latex` and `html` round numbers,
            `tsv`, `csv`, `json` and `jsonl` keep every digit.
        per_query: for scores, whether to write a row for each query instead of the means.
        digits: the number of decimals in the formats that round.
        interval: for scores, `hall`, `t`, `bca`, `betting` or `asymptotic`: a row for each run and measure, with the
            interval of the mean by this method. Slices always have a row and an interval each. With
            a row for each query, and judgments from clicks, each row has the range that the clicks allow.
        level: the level of the intervals.
        width: the width of a table in characters; if None, the terminal's width, and at least 80.
            A wider one is folded, or shown in parts.
        verbose: in a table, print everything, as the other formats do: all statistics and settings of
            a comparison, and every choice of the policy. Otherwise a comparison, the agreement of
            assessors and a calibration are sentences and one narrow table, and the policy is the choices
            that differ from the defaults.

    >>> import gainful as gf
    >>> scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.7}}, ["nDCG@10", "CG"])
    >>> print(gf.writing.render({"mine": scores}, "csv"))
    run,nDCG@10,CG
    mine,0.6309297535714575,1.0
    """
    arguments.choice(format, "format", WRITERS, expected="one of the formats")
    arguments.truth(per_query, "per_query")
    arguments.truth(verbose, "verbose")
    digits, width = read_digits(digits), read_width(width)
    write = WRITERS[format]
    if write is as_text:
        write = partial(as_text, width=width, verbose=verbose)
    if format == "table" and _is_brief(result) and not (interval or per_query or verbose):
        return result.brief_text(width=width, digits=digits)
    return _rendered(
        result, format, write, per_query=per_query, digits=digits, interval=interval, level=level
    )


def write_result(
    result: Renderable,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as in `render`
    per_query: bool = False,
    interval: str | None = None,
    level: float = 0.95,
    partition_by: str | Sequence[str] = (),
) -> None:
    """Write what `render` returns to a file, which is replaced only when the new one is complete.

    Args:
        result: as in `render`.
        path: the path of the file; `-` is standard output.
        format: one of `formats()`, or parquet, which contains the table that csv contains. If None, it follows
            from the name: .csv, .tsv, .json, .jsonl, .parquet, .md, .tex, .html, .txt. All formats except
            Parquet are compressed if the name ends in .gz or .zst.
        per_query: as in `render`.
        interval: as in `render`.
        level: as in `render`.
        partition_by: the names of columns: write a folder of Parquet files, with a subfolder for each value
            of these columns, such as `run=bm25`. The folder must be new or empty.

    >>> import tempfile, pathlib, gainful as gf
    >>> scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.7}}, ["nDCG@10", "CG"])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "scores.csv")
    >>> gf.writing.write_result({"mine": scores}, path, per_query=True)
    >>> print(path.read_text(), end="")
    run,query,nDCG@10,CG
    mine,q,0.6309297535714575,1.0
    """
    # Imported here because most calls write nothing.
    from gainful.output.writing.output_files import TABLES, read_naming, write_text
    from gainful.output.writing.table_files import write_table

    arguments.truth(per_query, "per_query")
    columns = arguments.listed(partition_by, "partition_by", "names of columns")
    for column in columns:
        arguments.text(column, "partition_by", "names of columns")
    if columns and format not in (None, "parquet"):
        raise InputError("format", "parquet, because of partition_by", shown(format))
    chosen = "parquet" if columns else read_naming(path, format, TABLES).format
    how: dict[str, Any] = {"per_query": per_query, "interval": interval, "level": level}
    if chosen != "parquet":
        write_text(f"{render(result, chosen, width=SCREEN, verbose=True, **how)}\n", path)
        return
    tables: list[Table] = []

    def keep(table: Table) -> str:
        tables.append(table)
        return ""

    _rendered(result, "csv", keep, digits=None, **how)
    rows: Any = result.per_query if per_query and hasattr(result, "per_query") else result
    id_types = rows._id_types() if hasattr(rows, "_id_types") else {}  # noqa: SLF001 - of results, which are ours
    write_table(tables[0], path, format=chosen, id_types=id_types, partition_by=columns)


def _rendered(
    result: Any,
    format: str,  # noqa: A002
    write: Callable[[Table], str],
    *,
    per_query: bool,
    digits: int | None,
    interval: str | None,
    level: float,
) -> str:
    """Return a result as text, whose tables a function writes; in csv, there is exactly one."""
    if interval is not None and per_query:
        return _per_query_intervals(result, write, level=level, digits=digits)
    if interval is not None or (not per_query and _is_sliced(result)):
        method = "hall" if interval is None else interval
        return _intervals(result, format, write, method=method, level=level, digits=digits)
    match result:
        case Family() | Dialect():
            return _one(result, format, write)
        case list() | tuple():
            return write(_listed(result, format))
        case Mapping() if isinstance(result, dict) or not hasattr(result, "table"):
            return _scores(result, format, write, per_query=per_query, digits=digits)
    return _result(result, format, write, per_query=per_query, digits=digits)


def _result(
    result: object,
    format: str,  # noqa: A002
    write: Callable[[Table], str],
    *,
    per_query: bool,
    digits: int | None,
) -> str:
    """Write the result of a computation, depending on its kind."""
    from gainful.evaluation.scores import Scores

    if isinstance(result, Scores):
        return _scores({"run": result}, format, write, per_query=per_query, digits=digits)
    from gainful.analysis.explanation.worked_tables import Account, account_as_text
    from gainful.analysis.linting.findings import Findings

    if format == "table" and isinstance(result, Account):
        return account_as_text(result, write)
    if isinstance(result, Account | Findings) and format in _FOR_PEOPLE:
        return result.rendered(format)
    if callable(getattr(result, "table", None)):
        return _tabular(result, format, write, per_query=per_query, digits=digits)
    raise _unknown(result)


def _tabular(
    result: Any,
    format: str,  # noqa: A002
    write: Callable[[Table], str],
    *,
    per_query: bool,
    digits: int | None,
) -> str:
    """Write a result's table; if it has several, people get all of them."""
    if format == "json" and hasattr(result, "to_json"):
        return str(result.to_json())
    tables: list[Table] = [result.table(per_query=True) if per_query else result.table()]
    if format in _FOR_PEOPLE and hasattr(result, "tables"):
        tables = result.tables()
    rounded = [table if digits is None else replace(table, digits=digits) for table in tables]
    return "\n\n".join(write(table) for table in rounded)


def _scores(
    runs: "Mapping[str, Scores]",
    format: str,  # noqa: A002
    write: Callable[[Table], str],
    *,
    per_query: bool,
    digits: int | None,
) -> str:
    from gainful.evaluation.scores import means_table, refuse_unlike_scores

    refuse_unlike_scores(runs)
    if format == "json":
        import json

        return json.dumps(_document(runs, per_query=per_query), indent=2, ensure_ascii=False)
    table = _per_query(runs) if per_query else means_table(runs)
    return write(table if digits is None else replace(table, digits=digits))


def _is_brief(result: object) -> TypeGuard[Document]:
    """Return whether a result has sentences and narrow tables."""
    return isinstance(result, Document) and bool(result.sentences())


def _is_sliced(result: object) -> bool:
    """Return whether a result is scores that have slices, or several of them."""
    first = next(iter(result.values()), None) if isinstance(result, Mapping) else result
    if not getattr(first, "slices", ()):
        return False
    from gainful.evaluation.scores import Scores

    return isinstance(first, Scores)  # a comparison also has slices


def _intervals(
    result: object,
    format: str,  # noqa: A002
    write: Callable[[Table], str],
    *,
    method: str,
    level: float,
    digits: int | None,
) -> str:
    """Write the means of scores and of their slices, with intervals."""
    from gainful.evaluation.scores import Scores, notes_of_runs

    runs = {"run": result} if isinstance(result, Scores) else result
    if not isinstance(runs, Mapping):
        raise InputError("interval", "scores, whose means have one", type(result).__name__)
    make = Scores.slices_table if _is_sliced(result) else Scores.intervals_table
    table = make(runs, method=method, level=level)
    if format != "json":
        table = replace(table, notes=[*table.notes, *notes_of_runs(runs)])
        return write(table if digits is None else replace(table, digits=digits))
    import json

    plain = {
        name: {
            str(measure): None if interval is None else interval.to_dict()
            for measure in scores.measures
            for interval in (scores.interval_or_none(measure, method=method, level=level),)
        }
        for name, scores in runs.items()
    }
    sliced = {
        name: [part.to_dict(method=method, level=level) for part in scores.slices]
        for name, scores in runs.items()
    }
    document = _document(runs, intervals=plain, slices=sliced)
    return json.dumps(document, indent=2, ensure_ascii=False)


def _per_query_intervals(
    result: object, write: Callable[[Table], str], *, level: float, digits: int | None
) -> str:
    """Write the value of each query with what the clicks behind its grades allow."""
    from gainful.evaluation.scores import Scores

    runs: dict[str, Any] = {**result} if isinstance(result, Mapping) else {"run": result}
    if not all(isinstance(own, Scores) and own.redrawn is not None for own in runs.values()):
        expected = "means, or scores with judgments from clicks"
        raise InputError("interval", expected, "per_query=True, whose rows have none")
    tables = {name: own.per_query_intervals(level=level, name=name) for name, own in runs.items()}
    first = next(iter(tables.values()))
    rows: list[list[Cell]] = [[name, *row] for name, table in tables.items() for row in table.rows]
    notes = list(dict.fromkeys(note for table in tables.values() for note in table.notes))
    table = Table(["run", *first.columns], rows, notes=notes)
    return write(table if digits is None else replace(table, digits=digits))


def _per_query(runs: "Mapping[str, Scores]") -> Table:
    from gainful.evaluation.scores import notes_of_runs

    columns = ["run", *next(iter(runs.values())).per_query.columns]
    rows: list[list[Cell]] = [
        [name, *row.values()] for name, scores in runs.items() for row in scores.per_query
    ]
    return Table(columns, rows, notes=notes_of_runs(runs))


def _document(
    runs: "Mapping[str, Scores]",
    *,
    per_query: bool = False,
    intervals: Mapping[str, Mapping[str, object]] | None = None,
    slices: Mapping[str, Sequence[object]] | None = None,
) -> dict[str, object]:
    return {
        "gainful": VERSION,
        "policy": shared_policy(result.policy for result in runs.values()).answers(),
        "runs": [
            {
                "run": name,
                "means": _finite(scores.means),
                **({"run_values": dict(scores.run_values)} if scores.run_values else {}),
                **({} if intervals is None else {"intervals": intervals[name]}),
                **({"slices": slices[name]} if slices and slices[name] else {}),
                "signatures": {str(m): scores.signature(m) for m in scores.measures},
                "coverage": scores.coverage.to_dict(),
                **({"per_query": scores.per_query.table().records()} if per_query else {}),
            }
            for name, scores in runs.items()
        ],
    }


def _finite(means: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(mean) else mean for name, mean in means.items()}


def _one(entry: Family | Dialect, format: str, write: Callable[[Table], str]) -> str:  # noqa: A002
    if isinstance(entry, Family):
        return _family(entry, format, write)
    return _dialect(entry, format, write)


def _ended(text: str) -> str:
    """Return text with a period after its last sentence, if it has several."""
    return f"{text}." if ". " in text else text


def _family(family: Family, format: str, write: Callable[[Table], str]) -> str:  # noqa: A002
    if format not in ("table", "markdown"):
        return write(_catalogue([family], full=True))
    facts = [
        ("definition", _ended(family.definition)),
        ("range", _ended(family.range)),
        *([] if family.better == HIGHER else [("better", _BETTER[family.better])]),
        *([("example", str(family.example))] if family.example is not None else []),
        *([("citation", family.citation)] if family.citation else []),
        *([("aliases", _spellings(family))] if family.spellings else []),
        *(
            (
                parameter.name,
                f"{parameter.values}. Default: {parameter.write(parameter.default)}.",
            )
            for parameter in family.parameters
        ),
        ("cutoff", _cutoff(family)),
        *([("needs", family.requires)] if family.requires else []),
        *(
            [
                (
                    "empty",
                    "undefined for a query with no relevant documents; the `empty` policy decides its value",
                )
            ]
            if family.normalised
            else []
        ),
        *_over_queries(family),
    ]
    if format == "markdown":
        lines = [f"- **{name}**: {text}" for name, text in facts]
        return "\n".join([f"### {family.name}", "", f"{family.title}.", "", *lines])
    width = max(len(name) for name, _ in facts)
    lines = [_hanging(f"{name:<{width}}  {text}", width + 2) for name, text in facts]
    return "\n".join([f"{family.name}: {family.title}", "", *lines])


def _over_queries(family: Family) -> list[tuple[str, str]]:
    """Return how the value of a run is computed if it isn't a mean."""
    if family.aggregate == MEAN:
        return []
    if family.aggregate == RUN:
        return [
            (
                "value",
                "describes the run as a whole; there are no values for single queries or users, and there is no interval",
            )
        ]
    return [("over queries", f"the {family.aggregate}")]


def _cutoff(family: Family) -> str:
    if family.cutoff == NEVER:
        return "none"
    written = f"a positive integer, as in {family.name}@10"
    return f"{written}; required" if family.cutoff == ALWAYS else f"{written}; none by default"


def _spellings(family: Family) -> str:
    return ", ".join(spelling.name for spelling in family.spellings)


def _listed(result: Any, format: str) -> Table:  # noqa: A002
    listed, full = list(result), format not in ("table", "markdown", "latex")
    if listed and all(isinstance(item, Dialect) for item in listed):
        return _dialects(listed, full=full)
    if all(isinstance(item, Family) for item in listed):
        return _catalogue(listed, full=full)
    raise _unknown(result)


def _unknown(result: object) -> InputError:
    return InputError(
        "render",
        "scores, scores by the name of their run, an explanation, findings, or the catalogue",
        type(result).__name__,
    )


def _dialect(dialect: Dialect, format: str, write: Callable[[Table], str]) -> str:  # noqa: A002
    facts = dialect.facts()
    match format:
        case "table":
            indent = max(len(name) for name, _ in facts) + 2
            lines = [_hanging(f"{name:<{indent}}{text}", indent) for name, text in facts]
            return "\n".join([dialect.name, "", *lines])
        case "markdown":
            lines = [f"- **{name}**: {text}" for name, text in facts]
            return "\n".join([f"### {dialect.name}", "", *lines])
        case _:
            return write(_dialects([dialect], full=True))


def _hanging(text: str, indent: int) -> str:
    """Fold a line, and indent the continuation lines."""
    return textwrap.fill(
        text, SCREEN, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def _dialects(dialects: Sequence[Dialect], *, full: bool) -> Table:
    if full:
        rows: list[list[Cell]] = [[dialect.name, *dialect.entry().values()] for dialect in dialects]
        return Table(["dialect", *dialects[0].entry()], rows)
    choices = ("ties", "missing", "empty")
    return Table(
        ["dialect", "its nDCG", *choices],
        [
            [
                dialect.name,
                dialect.main(),
                *(getattr(dialect.policy, name) for name in choices),
            ]
            for dialect in dialects
        ],
        notes=["gainful dialects NAME describes one in full."],
    )


def _catalogue(families: Sequence[Family], *, full: bool) -> Table:
    if not full:
        rows: list[list[Cell]] = [
            [family.name, family.title, ", ".join(p.name for p in family.parameters)]
            for family in families
        ]
        return Table(["measure", "title", "parameters"], rows)
    return Table(
        ["measure", "title", "definition", "range", "parameters", "example", "citation"],
        [
            [
                family.name,
                family.title,
                family.definition,
                family.range,
                "; ".join(f"{p.name}={p.write(p.default)}" for p in family.parameters),
                "" if family.example is None else str(family.example),
                family.citation,
            ]
            for family in families
        ],
    )
