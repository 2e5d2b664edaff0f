"""A saved baseline: the scores of a run, query by query, and everything that identifies them.

It is a JSON file, so a later comparison needs neither the old run nor its judgments. A value that doesn't count
is `null`; values that aren't finite are in quotes, `"nan"`, `"inf"` or `"-inf"`, because JSON has no numbers for them.
"""

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import GainfulError, InputError, MeasureError
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.measuring import Rows
from gainful.evaluation.query_samples import QuerySample
from gainful.evaluation.scores import PerQuery, Scores
from gainful.measures.measure import Measure, measures_inside
from gainful.measures.measure_family import GRADES
from gainful.measures.notation import parse
from gainful.measures.policy import CHOICES, Policy
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.output_files import PACKINGS, name_of, write_parts
from gainful.output.writing.result_base import Result
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import beginning, path_of, plain_file
from gainful.rows.identifiers import UNTYPED, IdType
from gainful.rows.nested_json import read_json
from gainful.version import VERSION

Member = TypeVar("Member")

_KIND, _FORMAT = "baseline", 1
_NO_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_COUNTS = tuple(Coverage(0, 0, (), (), (), 0, None, 0, 0, 0, 0).counts())
_REMEDY = "Save it again: gainful evaluate --save-baseline, or gf.comparison.save_baseline."
_TEXTS = "a string for each measure"
_SAMPLED = ("weights", "clusters", "strata", "arrival")
_EXPECTED: Mapping[str, str] = {
    "version": "a string",
    "measures": "measures in the notation",
    "policy": "choices of a policy, with a decided answer for ties",
    "coverage": f"the counts {', '.join(_COUNTS)}",
    **dict.fromkeys(("signatures", "judgments", "runs"), _TEXTS),
    "queries": "texts, each once",
    "judged": "a non-negative integer for each query",
    "values": "for each measure, a number or null for each query",
    "weights": "a non-negative number for each query",
    "arrival": "a number for each query",
    **dict.fromkeys(("clusters", "strata"), "a string for each query"),
}
"""The members of a file that depend on the scores."""
_SNIFFED = 300  # bytes
_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"gainful"\s*:\s*"baseline"')


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Baseline(Result):
    """The saved scores of a run, and the data they depend on.

    Attributes:
        measures: the measures, in the requested order.
        policy: the policy they were computed under, with ties decided.
        coverage: every count of the coverage by its name.
        queries: (q,) ids of the queries that count for at least one measure.
        values: [query, measure] float64, read-only; NaN where not counted.
        counted: [query, measure] bool, read-only.
        judged: (q,) int64, read-only: the number of judged documents of each query.
        signatures: the signature of each measure's mean, by the measure's name.
        judgments: the hash of the judgments used for each measure.
        runs: the hash of the run used for each measure.
        version: the version of gainful that computed the scores.
        name: its name in messages: the file, if it was read from one.
        query_type: the original type of the query ids; text if it was read from a file.
        sample: the weights and clusters of the queries; None if all count equally and independently.

    >>> import gainful as gf
    >>> baseline = Baseline.of(gf.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2, "a": 1}}, "RR"))
    >>> baseline.measures, baseline.queries, baseline.values.tolist(), baseline.judged.tolist()
    ((Measure('RR'),), ('q',), [[0.5]], [2])
    """

    measures: tuple[Measure, ...]
    policy: Policy
    coverage: Mapping[str, int | float | None]
    queries: tuple[str, ...]
    values: Floats
    counted: Bools
    judged: Ints
    signatures: Mapping[str, str]
    judgments: Mapping[str, str]
    runs: Mapping[str, str]
    version: str
    name: str = "baseline"
    query_type: IdType = field(default=UNTYPED, compare=False)
    sample: QuerySample | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for array in (self.values, self.counted, self.judged):
            array.flags.writeable = False

    @classmethod
    def of(cls, scores: Scores) -> "Baseline":
        """Return scores as a baseline; every measure must have a notation that reads back."""
        if not isinstance(scores, Scores):
            raise InputError("scores", "what evaluate returns, of one run", shown(scores))
        for measure in scores.measures:
            _refuse_without_notation(measure)
        names = [str(measure) for measure in scores.measures]
        hashes = {name: scores.hashes(name) for name in names}
        return cls(
            measures=scores.measures,
            policy=scores.policy,
            coverage=dict(scores.coverage.counts()),
            queries=scores.queries,
            values=scores.values,
            counted=scores.counted,
            judged=scores.judged,
            signatures={name: scores.signature(name) for name in names},
            judgments={name: judgments for name, (judgments, _) in hashes.items()},
            runs={name: run for name, (_, run) in hashes.items()},
            version=VERSION,
            query_type=scores.query_type,
            sample=scores.sample,
        )

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type}

    def table(self) -> Table:
        """Return the values of each query, for rendering."""
        rows = Rows(self.queries, self.values, self.counted)
        return PerQuery(rows, self.measures).table()

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the baseline to a file as JSON, whatever the name; a file is replaced once the new one is complete.

        It is compressed if the name ends in .gz or .zst; `-` is standard output.
        """
        if format is not None:
            arguments.choice(format, "format", ["json"])
        packing = PurePath(name_of(path)).suffix.lower()
        write_parts([self._text()], path, packing if packing in PACKINGS else None)

    def _text(self) -> bytes:
        columns = zip(self.measures, self.values.T, self.counted.T, strict=True)
        members = {
            "gainful": _KIND,
            "format": _FORMAT,
            "version": self.version,
            "measures": [str(measure) for measure in self.measures],
            # Grades as numbers: as text, Euler's number would be e.
            "policy": {choice.name: getattr(self.policy, choice.name) for choice in CHOICES},
            "coverage": dict(self.coverage),
            "signatures": dict(self.signatures),
            "judgments": dict(self.judgments),
            "runs": dict(self.runs),
            "queries": list(self.queries),
            "judged": self.judged.tolist(),
            **({} if self.sample is None else self.sample.columns(self.queries)),
            "values": {
                str(measure): _written(values, counted) for measure, values, counted in columns
            },
        }
        try:
            return _one_a_line(members, ascii_only=False).encode()
        except UnicodeEncodeError:  # an id that isn't valid text, but can be escaped
            return _one_a_line(members, ascii_only=True).encode()

    def __repr__(self) -> str:
        names = ", ".join(str(measure) for measure in self.measures)
        return f"Baseline({names}; {counted(len(self.queries), 'query', 'queries')})"


def save_baseline(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Save the scores of a run, query by query, for later comparisons.

    Args:
        scores: what `evaluate` returns.
        path: the JSON file, which is replaced once the new one is complete; compressed if the name ends in
            .gz or .zst.

    >>> import gainful as gf, pathlib, tempfile
    >>> scores = gf.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2, "a": 1}}, "RR")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_baseline(scores, pathlib.Path(folder, "main.json"))
    ...     print(read_baseline(pathlib.Path(folder, "main.json")).signatures["RR"])
    RR | ties=doc | queries=1 missing=0 empty=0 | judgments=... run=... | gainful ...
    """
    Baseline.of(scores).write(path)


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Read a saved baseline, compressed or not; `-` is standard input."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise InputError("baseline", "the path of a file", shown(path))
    with Session() as session:
        file = plain_file(path_of(path), session)
        content = read_json(file)
    if not isinstance(content, dict) or content.get("gainful") != _KIND:
        raise InputError(file.name, "a baseline that gainful saved", "other JSON", _REMEDY)
    if type(content.get("format")) is not int or content["format"] != _FORMAT:
        version = shown(content.get("version"))
        raise InputError(
            file.name,
            f"a baseline of format {_FORMAT}",
            f"format {shown(content.get('format'))}, of gainful {version}",
            "Read it with that version, or save it again.",
        )
    return _baseline(file.name, content)


def is_baseline(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like a saved baseline; False for anything else.

    >>> is_baseline("no such file")
    False
    """
    return _BEGINNING.match(beginning(path, _SNIFFED)) is not None


def _baseline(name: str, members: Mapping[str, Any]) -> Baseline:
    """Return the saved baseline, or raise an error for the first invalid member, because people edit files."""

    def member(key: str, read: Callable[[Any], Member]) -> Member:
        """Read a member; an error says which one is invalid."""
        try:
            return read(members[key])
        except GainfulError as problem:
            where = problem.where if problem.where.startswith(key) else key
            expected, found, remedy = problem.expected, problem.found, problem.remedy
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            where, expected, remedy = key, _EXPECTED[key], _REMEDY
            found = shown(members.get(key))
        raise InputError(f"{name}, {where}", expected, found, remedy)

    # A measure's spelling in the file is its key there.
    measures = member("measures", lambda texts: {text: parse(text) for text in texts})
    queries = member("queries", lambda ids: tuple(dict.fromkeys(ids)))
    size = len(queries)

    def by_measure(texts: Mapping[str, str]) -> dict[str, str]:
        return {str(measure): texts[text] for text, measure in measures.items()}

    def cells(columns: Mapping[str, Any]) -> NDArray[np.object_]:
        return np.stack([_cells(columns[text], size) for text in measures], axis=1)

    values = member("values", cells)
    sampled = {
        name: member(name, partial(_sampled, name, size)) for name in _SAMPLED if name in members
    }
    return Baseline(
        version=member("version", str),
        measures=tuple(measures.values()),
        policy=member("policy", _policy),
        coverage=member("coverage", lambda counts: {count: counts[count] for count in _COUNTS}),
        queries=queries,
        values=values.astype(np.float64),
        counted=values != None,  # noqa: E711 - of each cell
        judged=member("judged", lambda counts: np.array(counts, np.int64).reshape(size)),
        signatures=member("signatures", by_measure),
        judgments=member("judgments", by_measure),
        runs=member("runs", by_measure),
        name=name,
        sample=QuerySample.of_columns(queries, sampled) if sampled else None,
    )


def _sampled(name: str, size: int, column: Sequence[Any]) -> list[Any]:
    """Return the weight, the cluster and so on of each query (q,)."""
    read = str if name in ("clusters", "strata") else float
    cells: list[Any] = [read(cell) for cell in column]
    if len(cells) != size:
        raise ValueError
    if name == "weights" and not all(0 <= weight < math.inf for weight in cells):
        raise ValueError
    return cells


def _policy(answers: Mapping[str, Any]) -> Policy:
    # A choice that is missing was added after the file was written, and had the effect of its default.
    policy = Policy(**answers)
    if policy.ties == "auto":
        raise ValueError
    return policy


def _cells(column: Sequence[Any], size: int) -> NDArray[np.object_]:
    """Return the values (q,) of a measure; None where it doesn't count."""
    cells = [_NO_NUMBERS[cell] if isinstance(cell, str) else cell for cell in column]
    numbers = [cell if cell is None else float(cell) for cell in cells]
    return np.array(numbers, np.object_).reshape(size)


def _refuse_without_notation(measure: Measure) -> None:
    if measure.of_baseline:
        raise InputError(
            "baseline",
            "measures of one run",
            f"'{measure}', which is of two",
            f"Save its parts: {', '.join(map(str, dict.fromkeys(measures_inside([measure]))))}.",
        )
    try:
        if measure.family.needs == GRADES and parse(str(measure)) == measure:
            return
    except MeasureError:
        pass  # raised below
    raise InputError(
        "baseline",
        "measures that their notation names in full",
        f"'{measure}'",
        "gainful.measures.define names a gain or a discount that is a function, and gainful.measures.use registers "
        "your own measures, gains and discounts. Measures of subtopics or of recommendations can't be saved.",
    )


def _written(values: Floats, counted: Bools) -> list[float | str | None]:
    """Return values for JSON."""
    if np.isfinite(values).all() and counted.all():
        return values.tolist()  # type: ignore[no-any-return]
    return [
        None if not known else value if math.isfinite(value) else repr(value)
        for value, known in zip(values.tolist(), counted.tolist(), strict=True)
    ]


def _one_a_line(members: Mapping[str, object], *, ascii_only: bool) -> str:
    """Return an object as JSON with one member per line."""
    lines = (
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)}"
        for name, value in members.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"
