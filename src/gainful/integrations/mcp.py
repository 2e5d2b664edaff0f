"""A server of the Model Context Protocol: questions about rankings as tools, read-only, in named folders."""

import json
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Unpack

import gainful as gf
from gainful.errors import GainfulError, InputError
from gainful.integrations.required_hosts import requiring

with requiring("mcp"):
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations

__all__ = ["server"]

Answer = dict[str, Any]

_MOST = 50  # entries of a list in an answer
_LONGEST = 20_000  # characters of a text in an answer, because a model reads all of it
_LONGEST_BUG = 1000  # characters of an unexpected error
_INSTRUCTIONS = (
    "Measures rankings against judgments. Decide by the intervals, not by the means: if the interval of a "
    "difference contains 0, the difference is inconclusive. Mention the coverage if it is incomplete."
)
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def server(folders: Sequence[str | Path]) -> "MCPServer[Any]":
    """Return a server whose tools read files in some folders, and nothing else; `.run()` speaks over stdio.

    Args:
        folders: at least one folder. Tools may read its files, at any depth; links to files outside
            are rejected.
    """
    tools = _Tools(_Folders(folders))
    made: MCPServer[Any] = MCPServer(
        "gainful", instructions=_INSTRUCTIONS, version=gf.__version__, log_level="WARNING"
    )
    for tool in (
        tools.evaluate,
        tools.compare,
        tools.explain,
        tools.why,
        tools.check,
        tools.bounds,
    ):
        made.add_tool(_for_the_model(tool), annotations=_READ_ONLY, structured_output=False)
    return made


class _Folders:
    """The folders whose files may be read."""

    def __init__(self, folders: Sequence[str | Path]) -> None:
        if isinstance(folders, str) or not folders:
            raise InputError("folders", "a list of folders", repr(folders))
        for folder in folders:
            if not Path(folder).is_dir():
                raise InputError("folders", "existing folders", repr(str(folder)))
        self._roots = [Path(folder).resolve() for folder in folders]

    def file(self, name: str) -> str:
        """Return the path of a file inside one of the folders, after following links.

        Files outside get the same error as files that don't exist, so the error reveals nothing.
        """
        for root in self._roots:
            try:
                path = (root / name).resolve(strict=True)
            except (OSError, ValueError, RuntimeError):
                continue
            if path.is_file() and any(map(path.is_relative_to, self._roots)):
                return str(path)
        folders = ", ".join(map(str, self._roots))
        raise InputError(name, f"a file in {folders}", "none")


def _for_the_model(tool: Callable[..., Answer]) -> Callable[..., str]:
    """Wrap a tool, so that errors become messages for the model and the answer contains warnings."""

    @wraps(tool)
    def call(*values: object, **named: object) -> str:
        try:
            with _warnings() as heard:
                answer = tool(*values, **named)
        except GainfulError as problem:
            raise ToolError(str(problem)) from None
        except Exception as problem:  # noqa: BLE001 - a model can't use a traceback
            bug = _cut(
                f"this is a bug in gainful: {type(problem).__name__}: {problem}", _LONGEST_BUG
            )
            raise ToolError(bug) from None
        return json.dumps(_plain(answer | {"warnings": heard}), ensure_ascii=False)

    call.__annotations__ = {**tool.__annotations__, "return": str}
    return call


_ONE_AT_A_TIME = threading.Lock()  # tools run in threads, but warnings are global


@contextmanager
def _warnings() -> Iterator[list[str]]:
    heard: list[str] = []
    with _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield heard
        heard += dict.fromkeys(str(warning.message) for warning in caught)


class _Tools:
    """The tools of the server; a model reads their docstrings."""

    def __init__(self, folders: _Folders) -> None:
        self._file = folders.file

    def evaluate(
        self,
        judgments: str,
        runs: list[str],
        measures: list[str] | None = None,
        weights: str | None = None,
        clusters: str | None = None,
    ) -> Answer:
        """Measure runs against judgments: means with 95% intervals, and coverage.

        Paths are of files (TREC, CSV, TSV, JSON, Parquet), relative to a folder of the server. Measures have
        names such as nDCG@10, AP, RR@10, P@5 and R@100; the default is nDCG@10.

        If queries stand for different amounts of traffic, weights is a table with a row for each query. If
        several queries come from the same user or document, clusters is such a table, or "id:_" for the
        part of a query's id before its last "_".
        """
        sampling = self._sampling(weights, clusters)
        results = self._evaluated(judgments, runs, measures, **sampling)
        sentences = [
            f"{name}: {measure} {_with_interval(mean, result['intervals'][measure])}"
            for name, result in results.items()
            for measure, mean in result["means"].items()
        ]
        return {"verdict": "; ".join(sentences), **_context(results)}

    def compare(
        self,
        judgments: str,
        base: str,
        run: str,
        measures: list[str] | None = None,
        fail_if: list[str] | None = None,
        fail_unless: list[str] | None = None,
        weights: str | None = None,
        clusters: str | None = None,
    ) -> Answer:
        """Decide whether a run is better than a baseline, by the paired interval, and list what moved.

        Base and run are files of runs; base may also be a saved baseline. Conditions look like
        'Δ nDCG@10 < -0.01' or 'missing > 0'; with conditions, the verdict reports whether the gate passed.
        Weights and clusters are as in evaluate.
        """
        judged = self._file(judgments)
        runs = {"base": self._file(base), "run": self._file(run)}
        sampling = self._sampling(weights, clusters)
        comparison = gf.compare(judged, runs, measures or ["nDCG@10"], **sampling)
        verdict = " ".join(comparison.verdicts)
        gate = None
        if fail_if or fail_unless:
            gate = comparison.gate(fail_if or [], fail_unless or [])
            word = "is inconclusive" if gate.inconclusive else gate.result
            verdict = f"The gate {word}. {verdict}"
        plain = comparison.to_dict()
        return {
            "verdict": verdict,
            "gate": None if gate is None else gate.table().records(),
            "intervals": [
                {
                    "measure": difference.measure,
                    "difference": difference.difference,
                    **_ends(difference.interval),
                    "p": difference.p,
                    "queries": difference.queries,
                }
                for difference in comparison.differences
            ],
            "coverage": plain["coverage"],
            "movers": gf.comparison.movers(comparison, judged, runs).table().records(),
            "notes": comparison.cautions(),
        }

    def explain(
        self,
        judgments: str,
        run: str,
        query: str,
        measure: str = "nDCG@10",
        against: str | None = None,
    ) -> Answer:
        """Show how the value of one query is computed; with `against`, which documents cause the difference."""
        judged, file = self._file(judgments), self._file(run)
        result: gf.results.Explanation | gf.results.Attribution
        if against is None:
            result = gf.explain(judged, file, measure, query=query)
        else:
            other = self._file(against)
            result = gf.explanation.attribute(judged, other, file, measure, query=query)
        context = _context(self._evaluated(judgments, [run], [measure]))
        return {"verdict": result.conclusion, "details": _cut(str(result)), **context}

    def why(
        self, judgments: str, run: str, dialects: list[str], measure: str = "nDCG@10"
    ) -> Answer:
        """Explain why two tools report different numbers for the same run, choice by choice.

        Dialects are the names of one or two tools, such as trec_eval, ranx, scikit-learn or gainful itself.
        """
        answer = gf.why(self._file(judgments), self._file(run), measure, dialects=dialects)
        details = str(answer)
        context = _context(self._evaluated(judgments, [run], [measure]))
        verdict = (
            f"{measure} is {answer.first_value:.4f} in {answer.first.name} and {answer.second_value:.4f} in "
            f"{answer.second.name} ({answer.gap:+.4f}); the details list the causes"
        )
        return {"verdict": verdict, "details": _cut(details), **context}

    def check(self, judgments: str, runs: list[str] | None = None) -> Answer:
        """Check judgments and runs for errors and probable mistakes."""
        named = self._runs(runs or [])
        result = gf.check(self._file(judgments), named)
        return {
            "verdict": result.summary,
            "clean": result.clean,
            "intervals": [],
            "coverage": result.counts,
            "details": _cut(gf.writing.render(result, "markdown")),
        }

    def bounds(
        self, judgments: str, run: str, grades: list[float], measures: list[str] | None = None
    ) -> Answer:
        """Compute the lowest and highest value of a measure over all possible grades of unjudged documents.

        Grades are all possible grades, such as [0, 1, 2, 3].
        """
        names = measures or ["nDCG@10"]
        result = gf.bounds(self._file(judgments), self._file(run), names, grades=tuple(grades))
        context = _context(self._evaluated(judgments, [run], names))
        rows = result.table().records()
        sentences = [
            f"{row['measure']} is {row['value']:.4f} with the present judgments, and {row['low']:.4f} to "
            f"{row['high']:.4f} for any grades of unjudged documents"
            for row in rows
        ]
        return {"verdict": "; ".join(sentences), "bounds": rows, **context}

    def _runs(self, names: Sequence[str]) -> dict[str, object]:
        """Return the files by their requested names, each once."""
        return {name: self._file(name) for name in names}

    def _sampling(self, weights: str | None, clusters: str | None) -> "gf.inputs.SamplingOptions":
        """Return weights and clusters, whose files must be in the folders."""
        by_id = clusters is not None and clusters.startswith("id:")
        return {
            "weights": None if weights is None else self._file(weights),
            "clusters": clusters if clusters is None or by_id else self._file(clusters),
        }

    def _evaluated(
        self,
        judgments: str,
        runs: Sequence[str],
        measures: Sequence[str] | None,
        **sampling: "Unpack[gf.inputs.SamplingOptions]",
    ) -> dict[str, Any]:
        """Return means, intervals and coverage of runs by name, as plain values."""
        if not runs:
            raise InputError("runs", "at least one run", "none")
        names = list(measures or ["nDCG@10"])
        scores = gf.evaluate_runs(self._file(judgments), self._runs(runs), names, **sampling)
        plain = json.loads(gf.writing.render(scores, "json", interval="hall"))
        return {run["run"]: run for run in plain["runs"]}


def _context(runs: Mapping[str, Any]) -> Answer:
    """Return the mean of each run with its interval, and its coverage."""
    intervals = [
        {"run": name, "measure": measure, "mean": mean, "interval": run["intervals"][measure]}
        for name, run in runs.items()
        for measure, mean in run["means"].items()
    ]
    return {
        "intervals": intervals,
        "coverage": {name: run["coverage"] for name, run in runs.items()},
    }


def _plain(value: object) -> Any:
    """Return an answer as valid JSON: without NaN, and with long lists cut short."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        rest = [f"… {len(value) - _MOST} more"] if len(value) > _MOST else []
        return [*map(_plain, value[:_MOST]), *rest]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _ends(interval: Any) -> Answer:
    ends = {"low": interval.low, "high": interval.high, "level": interval.level}
    return ends if interval.known else ends | {"note": interval.note}


def _with_interval(mean: float | None, interval: Mapping[str, Any] | None) -> str:
    if mean is None:
        return "has no value"
    if (
        interval is None or interval["low"] is None or interval["high"] is None
    ):  # one query has none
        return f"{mean:.4f}, without an interval"
    if interval["low"] is None or interval["high"] is None:
        return f"{mean:.4f}, {interval['note'] or 'without an interval'}"
    return f"{mean:.4f}, {100 * interval['level']:g}% interval {interval['low']:.4f} to {interval['high']:.4f}"


def _cut(text: str, most: int = _LONGEST) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… cut: {len(text) - most} more characters"
