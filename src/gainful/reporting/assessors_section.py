"""The section of a report about assessors: tables of their agreement, and the rows of its charts."""

from collections.abc import Mapping, Sequence
from typing import Any

from gainful.judging.assessors.agreement import Agreement
from gainful.judging.assessors.agreement_result import LEAST_AGREEMENT
from gainful.judging.assessors.plot import confusion_rows, mean_rows, query_rows
from gainful.output.rendering.table_formats import Table
from gainful.reporting.payload_sections import finite

_MOST_FIELDS = 12  # the maximum number of grades in the chart of pairs
_MOST_QUERIES = 2000  # bars


def assessors_section(
    agreement: Agreement | None, texts: Mapping[str, str]
) -> dict[str, object] | None:
    """Return the data of the page's section about assessors; None without agreement.

    Args:
        agreement: the agreement of the assessors.
        texts: the text of queries, by their ids.
    """
    if agreement is None:
        return None
    drawn = len(agreement.scale) <= _MOST_FIELDS
    queries = query_rows(agreement)
    left = len(queries) - _MOST_QUERIES
    conclusions = agreement.conclusions
    coefficients, *others = agreement.tables()
    return {
        "summary": agreement.summary,
        "remark": agreement.remark,
        "changed": None if conclusions is None else len(conclusions.changed),
        "verdicts": None if conclusions is None else len(conclusions.by_single_assessors),
        "coefficients": _plain(coefficients),
        # A table on the page lists all queries, with links to them.
        "tables": [_plain(table) for table in others if table.title != LEAST_AGREEMENT],
        "confusion": confusion_rows(agreement) if drawn else [],
        "queries": [
            {**row, "text": texts.get(row["query"], "")} for row in queries[:_MOST_QUERIES]
        ],
        "queries_note": f"{left:,} more queries, on which they agree most, have no bar."
        if left > 0
        else None,
        "means": mean_rows(agreement),
    }


def _plain(table: Table) -> dict[str, Any]:
    rows: list[Sequence[Any]] = [
        [finite(cell) if isinstance(cell, float) else cell for cell in row] for row in table.rows
    ]
    return {
        "title": table.title,
        "columns": [*table.columns],
        "rows": rows,
        "notes": [*table.notes],
        "digits": [
            table.digits * any(isinstance(cell, float) for cell in column)
            for column in zip(*rows, strict=True)
        ],
    }
