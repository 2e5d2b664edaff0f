"""The section of a report about the click log behind its judgments: what it contains, and how far down users look."""

from typing import Any

from gainful.behaviour.click_log import ClickLog
from gainful.behaviour.examination import PositionBias, position_bias
from gainful.errors import InputError, without_warnings
from gainful.message_texts import counted
from gainful.reporting.payload_sections import finite

_DEEPEST = 20
_RESAMPLES = 100


def log_section(log: ClickLog | None) -> dict[str, Any] | None:
    """Return the data of the page's section about a click log; None without a log."""
    if log is None:
        return None
    bias = _bias(log)
    examined = {} if bias is None else {row.rank: row for row in bias}
    columns = ["rank", "shown", "clicks", "click rate"]
    if bias is not None:
        columns += ["examination", "95% low", "95% high"]
    rows: list[list[float | None]] = []
    for row in log.ranks[:_DEEPEST]:
        cells: list[float | None] = [row.rank, row.shown, row.clicks, row.rate]
        if bias is not None:
            ends = examined.get(row.rank)
            cells += [None] * 3 if ends is None else map(finite, (ends.examination, ends.low, ends.high))  # fmt: skip
        rows.append(cells)
    deeper = len(log.ranks) - len(rows)
    notes = [f"{counted(deeper, 'deeper rank')} not shown"] if deeper > 0 else []
    return {
        "summary": log.summary,
        "examination": None if bias is None else bias.summary,
        "columns": columns,
        "rows": rows,
        "digits": [0, 0, 0, 4, 4, 4, 4][: len(columns)],
        "chart": [] if bias is None else bias.chart_rows(),
        "oddities": [str(oddity) for oddity in log.oddities],
        "notes": notes,
    }


def _bias(log: ClickLog) -> PositionBias | None:
    """Return how often users look at each rank; None if the log can't tell."""
    try:
        with without_warnings():
            return position_bias(log, depth=_DEEPEST, resamples=_RESAMPLES)
    except InputError:
        return None
