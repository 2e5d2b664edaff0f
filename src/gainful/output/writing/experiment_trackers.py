"""`Logged`: results that can be logged to an experiment tracker, as numbers with flat names, tables and a page.

MLflow and Weights & Biases are recognised by their methods and never imported, because a caller
who passes one has imported it.
"""

import re
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gainful import arguments
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.result_base import Result

_LONGEST = 80  # letters of each part of a name: MLflow accepts 250 in total
_LAST_STEP = 2**63 - 1  # what databases hold
_NO_NAME = "unnamed"
_OF_MLFLOW = ("log_metrics", "log_table", "log_text")


def flat_name(name: str) -> str:
    """Return the name of a measure or a run in a form that trackers accept: letters, digits, `_`, `-` and periods.

    MLflow rejects names with `@`, brackets, `=` and commas.

    >>> flat_name("nDCG@10"), flat_name("nDCG(gain=exp2)@10"), flat_name("runs/bm25.run")
    ('nDCG_at_10', 'nDCG_gain_exp2_at_10', 'runs_bm25.run')
    """
    arguments.text(name, "name")
    flat = re.sub(r"[^\w.\-]+", "_", name.replace("@", "_at_"))
    flat = re.sub(r"_{2,}", "_", flat).strip("_.")
    if len(flat) > _LONGEST:
        flat = f"{flat[: _LONGEST - 9]}_{zlib.crc32(name.encode()):08x}"
    return flat or _NO_NAME


def flat_names(names: Iterable[str]) -> list[str]:
    """Return the flat names of some names, each once.

    >>> flat_names(["a b", "a_b", "c"])
    ['a_b', 'a_b_2', 'c']
    """
    unique: list[str] = []
    for name in names:
        flat, number = flat_name(name), 1
        while flat in unique:
            number += 1
            flat = f"{flat_name(name)}_{number}"
        unique.append(flat)
    return unique


@dataclass(frozen=True, slots=True)
class _Sent:
    """The data that a tracker receives."""

    numbers: Mapping[str, float]
    tables: Mapping[str, Table]
    page_name: str
    page: str
    step: int | None


class Logged(Result):
    """A result that can be logged."""

    __slots__ = ()

    def log(
        self,
        tracker: Any,
        *,
        step: int | None = None,
        folder: str = "gainful",
        per_query: bool = True,
        report: Any = None,
    ) -> None:
        """Log the result with MLflow, Weights & Biases, or any function that accepts a dict of numbers.

        Numbers have flat names: `nDCG_at_10`, `coverage/unjudged_share`; for several runs,
        `bm25/nDCG_at_10`; for a comparison, `new_vs_old/nDCG_at_10/difference`, with `low`, `high`
        and `p`. Undefined values, such as the p-value of equal runs, are not logged.

        Args:
            tracker: `mlflow`, which logs to the active run; `wandb` or one of its runs; or a
                function, which is only called with the numbers, {name: number}.
            step: the training step, for trackers that draw curves; None if the tracker is a
                function. In MLflow, which adds the rows of every step to the same tables, it is
                their first column.
            folder: the folder of the tables and the page in the tracker.
            per_query: whether to log the values of each query as a table, too.
            report: what `report` returns, logged as the page; the table of the result if None.
        """
        if step is not None:
            arguments.whole(step, "step", least=0, most=_LAST_STEP)
        arguments.truth(per_query, "per_query")
        if not re.fullmatch(r"[\w\-]+", arguments.text(folder, "folder")):
            raise InputError("folder", "letters, digits, _ and -", shown(folder))
        if report is not None and not callable(getattr(report, "to_html", None)):
            raise InputError("report", "what report returns", shown(report))
        send = _way_to(tracker)
        if send is None:
            if step is not None:
                raise InputError("step", "None if the tracker is a function", shown(step))
            tracker(self._numbers())
            return
        kinds = {"scores": self, **({"per_query": self.per_query} if per_query else {})}
        tables = {f"{folder}/{name}": result.table() for name, result in kinds.items()}
        name = "report" if report else "table"
        page = report.to_html() if report else self.rendered("html")
        send(tracker, _Sent(self._numbers(), tables, f"{folder}/{name}", page, step))

    def _numbers(self) -> dict[str, float]:
        """Return the logged numbers by flat names."""
        raise NotImplementedError

    @property
    def per_query(self) -> Result:
        """The values of each query."""
        raise NotImplementedError


def _way_to(tracker: object) -> Callable[[Any, _Sent], None] | None:
    """Return the function that logs with a tracker; None for a function."""
    if all(callable(getattr(tracker, name, None)) for name in _OF_MLFLOW):
        return _to_mlflow
    if callable(getattr(tracker, "log", None)) and _classes_of_wandb(tracker) is not None:
        return _to_wandb
    if callable(tracker) and not isinstance(tracker, type):
        return None
    raise InputError("tracker", "mlflow, wandb, or a function of a dict", shown(tracker))


def _to_mlflow(tracker: Any, sent: _Sent) -> None:
    tracker.log_metrics({**sent.numbers}, step=sent.step)
    for name, table in sent.tables.items():
        columns = table.columns_by_name()
        if sent.step is not None:  # MLflow adds rows to an existing table
            rows = len(table.rows)
            columns = {"step": [sent.step] * rows, **columns}
        tracker.log_table(data=columns, artifact_file=f"{name}.json")
    tracker.log_text(sent.page, f"{sent.page_name}.html")


def _to_wandb(tracker: Any, sent: _Sent) -> None:
    classes = _classes_of_wandb(tracker)
    logged: dict[str, Any] = {**sent.numbers, sent.page_name: classes.Html(sent.page)}
    for name, table in sent.tables.items():
        columns = table.columns_by_name()
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        logged[name] = classes.Table(columns=[*columns], data=rows)
    # In one call: without a step, W&B treats every call as the next step.
    tracker.log(logged, step=sent.step)


def _classes_of_wandb(tracker: object) -> Any:
    """Return the package of a run's class, which also contains the classes of tables and pages."""
    package = sys.modules.get(type(tracker).__module__.partition(".")[0])
    for module in (tracker, package):
        if all(hasattr(module, name) for name in ("Table", "Html")):
            return module
    return None
