"""`page`: a history as one HTML document, with each measure over time and its real changes."""

import os
from typing import Any

from gainful import arguments
from gainful.analysis.history.changes import CAUSES, Change
from gainful.analysis.history.history import History, read
from gainful.reporting.page.compose import as_data, asset, content_policy

_STYLES = ("page.css", "history.css")
_DOCUMENT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main id="main" class="history"><noscript><p>This page needs JavaScript, which is switched off in this browser.</p></noscript></main>
<script type="application/json" id="payload">{payload}</script>
<script>{script}</script>
</body>
</html>"""


def page(
    history: History | str | os.PathLike[str], *, title: str = "History", level: float = 0.95
) -> str:
    """Return a history as one HTML page that needs nothing else.

    It shows each measure of each run over time, with intervals and labels, marks the real changes, and lists the queries
    behind them.

    Args:
        history: what `gf.history.read` returns, or the path of the file.
        title: the title of the page.
        level: the joint level of the comparisons, as in `History.changes`.

    >>> page(History("search.history", ()))[:15]
    '<!DOCTYPE html>'
    """
    entries = history if isinstance(history, History) else read(history)
    name = arguments.text(title, "title")
    changes = entries.changes(level)
    payload: dict[str, Any] = {
        "title": name,
        "measures": entries.measures,
        "runs": entries.runs,
        "entries": [
            {
                "time": entry.time.timestamp(),
                "run": entry.run,
                "label": entry.label,
                "commit": entry.commit,
                "means": _plain(entry.means),
                "intervals": {name: ends for name, ends in entry.intervals.items() if ends},
            }
            for entry in entries
        ],
        "changes": [_change(change) for change in changes],
        "looks": changes.looks,
        "level": changes.level,
        "causes": CAUSES,
    }
    script = '"use strict";\n(() => {\n' + asset("history.js") + "\n})();\n"
    style = "\n".join(map(asset, _STYLES))
    return _DOCUMENT.format(
        policy=content_policy([script], style).replace('"', "&quot;"),
        title=name.replace("&", "&amp;").replace("<", "&lt;"),
        style=style,
        payload=as_data(payload),
        script=script,
    )


def _plain(means: Any) -> dict[str, float]:
    return {name: mean for name, mean in means.items() if abs(mean) < float("inf")}


def _change(change: Change) -> dict[str, Any]:
    names = (
        "run",
        "measure",
        "before",
        "after",
        "place",
        "cause",
        "difference",
        "low",
        "high",
        "p",
        "queries",
        "changed",
    )
    moved = [[query.query, query.baseline, query.run] for query in change.moved]
    return {name: getattr(change, name) for name in names} | {"moved": moved}
