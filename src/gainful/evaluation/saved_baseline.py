"""A saved baseline: the scores of a run, query by query, and everything that identifies them.

It is a JSON file, so a later comparison needs neither the old run nor its judgments. A value that doesn't count
is `null`; values that aren't finite are in quotes, `"nan"`, `"inf"` or `"-inf"`, because JSON has no numbers for them.
"""

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import GainfulError, InputError, MeasureError
from gainful.evaluation.coverage import Coverage, count_queries
from gainful.evaluation.measuring import Rows
from gainful.evaluation.scores import Scores
from gainful.evaluation.scores_per_query import PerQuery
from gainful.measures.measure import Measure, measures_inside
from gainful.measures.measure_family import GRADES
from gainful.measures.notation import parse
from gainful.measures.policy import CHOICES, Policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.output_files import PACKINGS, name_of, write_parts
from gainful.output.writing.result_base import Result
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import beginning, path_of, plain_file
from gainful.rows.identifiers import UNTYPED, IdType
from gainful.rows.nested_json import read_json
from gainful.version import VERSION

_KIND, _FORMAT = "baseline", 1
_NO_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LARGEST = float(np.finfo(np.float64).max)
_COUNTS = tuple(Coverage(0, 0, (), (), (), 0, None, 0, 0, 0, 0).counts())
_REMEDY = "Save it again: gainful evaluate --save-baseline, or gf.comparison.save_baseline."
_MEMBERS: Mapping[str, tuple[type, str]] = {
    "version": (str, "a text"),
    **dict.fromkeys(("measures", "queries", "judged"), (list, "a list")),
    **dict.fromkeys(
        ("policy", "coverage", "signatures", "judgments", "runs", "values"), (dict, "an object")
    ),
}
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
        return f"Baseline({names}; {count_queries(len(self.queries))})"


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
    return _Saved(file.name, content).baseline()


def is_baseline(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like a saved baseline; False for anything else.

    >>> is_baseline("no such file")
    False
    """
    return _BEGINNING.match(beginning(path, _SNIFFED)) is not None


class _Saved:
    """The members of a file, which are checked because people edit files."""

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self.name, self.members = name, members

    def expect(self, key: str, expected: str, found: object, *, met: bool = False) -> None:
        """Reject a member unless the expectation is met."""
        if not met:
            raise InputError(f"{self.name}, {key}", expected, shown(found), _REMEDY)

    def baseline(self) -> Baseline:
        """Return the saved baseline, or raise an error for the first invalid member."""
        members = self.members
        for key, (kind, words) in _MEMBERS.items():
            self.expect(key, words, members.get(key), met=type(members.get(key)) is kind)
        for key in ("measures", "queries"):
            texts = members[key]
            once = bool(texts) and {*map(type, texts)} == {str} and len({*texts}) == len(texts)
            self.expect(key, "texts, at least one and each once", texts, met=once)
        measures, queries = members["measures"], tuple(members["queries"])
        parsed = {text: self._called("measures", parse, text) for text in measures}
        for key in ("signatures", "judgments", "runs", "values"):
            member = members[key]
            names = f"the measures {', '.join(measures)}"
            self.expect(key, names, [*member], met={*member} == {*measures})
            if key != "values":
                texts = [*member.values()]
                met = {*map(type, texts)} == {str}
                self.expect(key, "a text for each measure", texts, met=met)
        judged = members["judged"]
        counts = [count for count in judged if type(count) is int and 0 <= count < 2**63]
        met = len(counts) == len(judged) == len(queries)
        self.expect("judged", f"{len(queries)} whole numbers from 0", judged, met=met)
        columns = [self._values(text, len(queries)) for text in measures]
        signatures, judgments, runs = (
            # A measure's spelling in the file is its key there.
            {str(measure): members[key][text] for text, measure in parsed.items()}
            for key in ("signatures", "judgments", "runs")
        )
        return Baseline(
            measures=tuple(parsed.values()),
            policy=self._policy(),
            coverage=self._coverage(),
            queries=queries,
            values=np.stack([np.array(column, np.float64) for column in columns], axis=1),
            counted=np.stack([[cell is not None for cell in column] for column in columns], axis=1),
            judged=np.array(judged, np.int64),
            signatures=signatures,
            judgments=judgments,
            runs=runs,
            version=members["version"],
            name=self.name,
        )

    def _called(self, key: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call a function; its errors begin with the name of the file."""
        try:
            return function(*given, **named)
        except GainfulError as problem:
            where = problem.where if problem.where.startswith(key) else key
            raise InputError(
                f"{self.name}, {where}", problem.expected, problem.found, problem.remedy
            ) from None

    def _policy(self) -> Policy:
        answers = self.members["policy"]
        unknown = [choice for choice in answers if choice not in {known.name for known in CHOICES}]
        self.expect("policy", "choices of a policy", unknown, met=not unknown)
        # A choice that is missing was added after the file was written, and had the effect of its default.
        policy: Policy = self._called("policy", Policy, **answers)
        self.expect("policy", "a decided answer for ties", "auto", met=policy.ties != "auto")
        return policy

    def _coverage(self) -> dict[str, int | float | None]:
        counts: dict[str, int | float | None] = self.members["coverage"]
        names = f"the counts {', '.join(_COUNTS)}"
        self.expect("coverage", names, [*counts], met={*counts} == {*_COUNTS})
        for count, value in counts.items():
            is_amount = type(value) in (int, float) and 0 <= value < math.inf  # type: ignore[operator]
            met = is_amount or (value is None and count == "depth")
            self.expect(f"coverage, {count}", "a number from 0", value, met=met)
        return counts

    def _values(self, name: str, size: int) -> list[Any]:
        """Return the values (q,) of a measure; None where it doesn't count."""
        cells, where = self.members["values"][name], f"values, {name}"
        met = type(cells) is list and len(cells) == size and any(cell is not None for cell in cells)
        self.expect(
            where, f"a list of {size}, one for each query, and not only null", cells, met=met
        )
        values: list[Any] = [
            _NO_NUMBERS.get(cell, cell) if type(cell) is str else cell for cell in cells
        ]
        for value in values:
            is_number = type(value) in (int, float) and not abs(value) > _LARGEST
            met = value is None or is_number or value in _NO_NUMBERS.values()
            self.expect(where, "numbers, null, 'nan', 'inf' or '-inf'", value, met=met)
        return values


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
