"""A saved baseline: the scores of a run, query by query, with what pins them down.

It is a file of JSON, so that a later comparison needs neither the old run nor its judgments.
A value that does not count is `null`; one that is no finite number is its name in quotes,
`"nan"`, `"inf"` or `"-inf"`, which JSON has no numbers for.
"""

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NoReturn

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import GainfulError, InputError, MeasureError
from gainful.evaluation.coverage import Coverage, count_queries
from gainful.evaluation.measuring import Rows
from gainful.evaluation.scores import PerQuery, Scores
from gainful.measures.measure import Measure, measures_inside
from gainful.measures.measure_family import GRADES
from gainful.measures.notation import parse
from gainful.measures.policy import CHOICES, Policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.atomic_files import name_of, replacing
from gainful.output.writing.packing import PACKINGS
from gainful.output.writing.result_base import Result
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import BYTE_ORDER_MARK, LocalFile, beginning, opened, path_of, plain_file
from gainful.rows.id_types import UNTYPED, IdType
from gainful.rows.nested_json import RepeatedError, unique_keys
from gainful.version import VERSION

_KIND, _FORMAT = "baseline", 1
_NO_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LARGEST = float(np.finfo(np.float64).max)
_COUNTS = tuple(Coverage(0, 0, (), (), (), 0, None, 0, 0, 0, 0).counts())
_REMEDY = "Save it again: gainful evaluate --save-baseline, or gf.comparison.save_baseline."
_SNIFFED = 300  # bytes
_BEGINNING = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"gainful"\s*:\s*"baseline"')


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Baseline(Result):
    """The scores of a run as they were saved, and what they rest on.

    Attributes:
        measures: the measures, in the order asked.
        policy: the policy they were computed under, ties decided.
        coverage: every count of the coverage by its name.
        queries: (q,) ids of the queries that count for at least one measure.
        values: [query, measure] float64, read-only; NaN where not counted.
        counted: [query, measure] bool, read-only.
        judged: (q,) int64, read-only: the number of judged documents of each query.
        signatures: of each measure, by its name, the line that pins its mean down.
        judgments: of each measure the hash of the judgments that it saw.
        runs: of each measure the hash of the run that it saw.
        version: of the package that measured.
        name: what messages call it: the file, if it comes from one.
        query_type: what the ids were, before they were text; in a file they are text.

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
        """Write the baseline to a file, which is replaced only when the new one is complete.

        It is packed where the name ends in .gz or .zst; `-` is standard output. The format is json,
        whatever the name.
        """
        if format is not None:
            arguments.choice(format, "format", ["json"])
        parts: Iterable[bytes] = [self._text()]
        packing = PurePath(name_of(path)).suffix.lower()
        if packing in PACKINGS:
            parts = PACKINGS[packing](parts)
        with replacing(path) as file, file.open("wb") as target:
            target.writelines(parts)

    def _text(self) -> bytes:
        names = [str(measure) for measure in self.measures]
        members = {
            "gainful": _KIND,
            "format": _FORMAT,
            "version": self.version,
            "measures": names,
            # Grades as numbers: as text, Euler's would be e.
            "policy": {choice.name: getattr(self.policy, choice.name) for choice in CHOICES},
            "coverage": dict(self.coverage),
            "signatures": dict(self.signatures),
            "judgments": dict(self.judgments),
            "runs": dict(self.runs),
            "queries": list(self.queries),
            "judged": self.judged.tolist(),
            "values": {
                name: _written(self.values[:, column], self.counted[:, column])
                for column, name in enumerate(names)
            },
        }
        try:
            return _one_a_line(members, ascii_only=False).encode()
        except UnicodeEncodeError:  # an id that is no text, which an escape can still name
            return _one_a_line(members, ascii_only=True).encode()

    def __repr__(self) -> str:
        names = ", ".join(str(measure) for measure in self.measures)
        return f"Baseline({names}; {count_queries(len(self.queries))})"


def save_baseline(scores: Scores, path: str | os.PathLike[str]) -> None:
    """Save the scores of a run, query by query, for comparisons that come later.

    Args:
        scores: what `evaluate` returns.
        path: of the file, JSON, which is replaced only when the new one is complete; packed where
            the name ends in .gz or .zst.

    >>> import gainful as gf, pathlib, tempfile
    >>> scores = gf.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"b": 2, "a": 1}}, "RR")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_baseline(scores, pathlib.Path(folder, "main.json"))
    ...     print(read_baseline(pathlib.Path(folder, "main.json")).signatures["RR"])
    RR | ties=doc | queries=1 missing=0 empty=0 | judgments=... run=... | gainful ...
    """
    Baseline.of(scores).write(path)


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Read a baseline that was saved, packed or not; `-` is standard input."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise InputError("baseline", "the path of a file", shown(path))
    with Session() as session:
        file = plain_file(path_of(path), session)
        return _Saved(file.name, _members(file)).baseline()


def is_baseline(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as a saved baseline does; False for whatever is none.

    >>> is_baseline("no such file")
    False
    """
    return _BEGINNING.match(beginning(path, _SNIFFED)) is not None


class _Saved:
    """The members of a file, each checked as it is taken: files are edited, too."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self.name = name
        self.members = members

    def baseline(self) -> Baseline:
        """Return what was saved, or say what is wrong with it."""
        version = self._take("version", str)
        # Their spelling is the key of what was saved of them.
        measures = {text: self._measure(text) for text in self._texts("measures")}
        queries = self._texts("queries")
        columns = [self._values(text, len(queries)) for text in measures]
        return Baseline(
            measures=tuple(measures.values()),
            policy=self._policy(),
            coverage=self._coverage(),
            queries=queries,
            values=np.stack([values for values, _ in columns], axis=1),
            counted=np.stack([counted for _, counted in columns], axis=1),
            judged=self._judged(len(queries)),
            signatures=self._told("signatures", measures),
            judgments=self._told("judgments", measures),
            runs=self._told("runs", measures),
            version=version,
            name=self.name,
        )

    def _take(self, key: str, kind: type) -> Any:
        if key not in self.members:
            raise InputError(self.name, f"the member {key!r}", "none", _REMEDY)
        value = self.members[key]
        if type(value) is not kind:
            words: dict[type, str] = {str: "a text", list: "a list", dict: "an object"}
            self._refuse(key, words[kind], value)
        return value

    def _refuse(self, key: str, expected: str, found: object) -> NoReturn:
        raise InputError(f"{self.name}, {key}", expected, shown(found), _REMEDY)

    def _texts(self, key: str) -> tuple[str, ...]:
        texts = self._take(key, list)
        if not texts or {*map(type, texts)} != {str} or len({*texts}) < len(texts):
            self._refuse(key, "texts, at least one and each once", texts)
        return tuple(texts)

    def _measure(self, text: str) -> Measure:
        try:
            return parse(text)
        except MeasureError as problem:
            raise InputError(
                f"{self.name}, measures", problem.expected, problem.found, problem.remedy
            ) from None

    def _policy(self) -> Policy:
        answers = self._take("policy", dict)
        # A choice that is younger than the file had the effect of its default.
        known = {choice.name for choice in CHOICES}
        for choice in answers:
            if choice not in known:
                self._refuse("policy", "choices of a policy", choice)
        try:
            policy = Policy(**answers)
        except GainfulError as problem:
            raise InputError(
                f"{self.name}, {problem.where}", problem.expected, problem.found, problem.remedy
            ) from None
        if policy.ties == "auto":
            self._refuse("policy", "an answer for ties that is decided", "auto")
        return policy

    def _coverage(self) -> dict[str, int | float | None]:
        counts = self._take("coverage", dict)
        if {*counts} != {*_COUNTS}:
            self._refuse("coverage", f"the counts {', '.join(_COUNTS)}", [*counts])
        for count, value in counts.items():
            if not (value is None and count == "depth") and not _is_amount(value):
                self._refuse(f"coverage, {count}", "a number from 0", value)
        return counts  # type: ignore[no-any-return]

    def _told(self, key: str, measures: Mapping[str, Measure]) -> dict[str, str]:
        texts = self._of_measures(key, measures)
        for text in texts.values():
            if not isinstance(text, str):
                self._refuse(key, "a text for each measure", text)
        return {str(measure): texts[spelled] for spelled, measure in measures.items()}

    def _of_measures(self, key: str, measures: Iterable[str]) -> dict[str, Any]:
        found = self._take(key, dict)
        if {*found} != {*measures}:
            self._refuse(key, f"the measures {', '.join(measures)}", [*found])
        return found  # type: ignore[no-any-return]

    def _judged(self, size: int) -> Ints:
        counts = self._take("judged", list)
        self._refuse_length("judged", counts, size)
        wrong = [count for count in counts if type(count) is not int or not 0 <= count < 2**63]
        if wrong:
            self._refuse("judged", "whole numbers from 0", wrong[0])
        return np.array(counts, np.int64)

    def _values(self, name: str, size: int) -> tuple[Floats, Bools]:
        """Return the values (q,) of a measure, and which of them count (q,)."""
        cells = self._of_measures("values", self.members["measures"])[name]
        where = f"values, {name}"
        if not isinstance(cells, list):
            self._refuse(where, "a list", cells)
        self._refuse_length(where, cells, size)
        counted = np.array([cell is not None for cell in cells], np.bool_)
        if not counted.any():
            self._refuse(where, "a value of at least one query", "none")
        values = np.array([self._value(cell, where) for cell in cells], np.float64)
        return values, counted

    def _value(self, cell: object, where: str) -> float:
        if cell is None:
            return math.nan
        if isinstance(cell, str) and cell in _NO_NUMBERS:
            return _NO_NUMBERS[cell]
        # Other tools write 1.0 as 1; what is larger than any float64 is no value.
        if type(cell) not in (int, float) or not -_LARGEST <= cell <= _LARGEST:  # type: ignore[operator]
            self._refuse(where, "numbers, null, 'nan', 'inf' or '-inf'", cell)
        return float(cell)  # type: ignore[arg-type]

    def _refuse_length(self, key: str, found: list[Any], size: int) -> None:
        if len(found) != size:
            raise InputError(
                f"{self.name}, {key}", f"{size}, one for each query", str(len(found)), _REMEDY
            )


def _members(file: LocalFile) -> dict[str, Any]:
    """Return the object that a file of a baseline is."""
    with opened(str(file.path)) as content:
        text = content.read().removeprefix(BYTE_ORDER_MARK)
    try:
        found = json.loads(text, object_pairs_hook=unique_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as problem:
        raise InputError(
            f"{file.name}:{problem.lineno}",
            "a whole baseline, in JSON",
            f"{problem.msg.lower()} at column {problem.colno}",
            _REMEDY,
        ) from None
    except RepeatedError as problem:
        raise InputError(file.name, "each key once", f"{problem} again", _REMEDY) from None
    except (ValueError, RecursionError) as problem:
        raise InputError(file.name, "a baseline, in JSON", str(problem), _REMEDY) from None
    if not isinstance(found, dict) or found.get("gainful") != _KIND:
        raise InputError(file.name, "a baseline that gainful saved", "other JSON", _REMEDY)
    if type(found.get("format")) is not int or found["format"] != _FORMAT:
        raise InputError(
            file.name,
            f"a baseline of format {_FORMAT}",
            f"format {shown(found.get('format'))}, of gainful {shown(found.get('version'))}",
            "Read it with that version, or save it again.",
        )
    return found


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"the bare word {word}")


def _is_amount(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < math.inf  # type: ignore[operator]


def _refuse_without_notation(measure: Measure) -> None:
    if measure.of_baseline:
        raise InputError(
            "baseline",
            "measures of one run",
            f"'{measure}', which is of two",
            f"Save what it is made of: {', '.join(map(str, dict.fromkeys(measures_inside([measure]))))}.",
        )
    try:
        if measure.family.needs == GRADES and parse(str(measure)) == measure:
            return
    except MeasureError:
        pass  # said below
    raise InputError(
        "baseline",
        "measures that their notation names in full",
        f"'{measure}'",
        "A gain or a discount that is a function gets a name by gainful.measures.define. What is your own needs its name first: "
        "gainful.measures.use. Measures of subtopics or of recommendations cannot be saved.",
    )


def _written(values: Floats, counted: Bools) -> list[float | str | None]:
    """Return values as JSON has them."""
    if np.isfinite(values).all() and counted.all():
        return values.tolist()  # type: ignore[no-any-return]
    return [
        None if not known else value if math.isfinite(value) else repr(value)
        for value, known in zip(values.tolist(), counted.tolist(), strict=True)
    ]


def _one_a_line(members: Mapping[str, object], *, ascii_only: bool) -> str:
    """Write an object with each member on a line of its own."""
    lines = (
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)}"
        for name, value in members.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"
