"""trec_eval as a function from arguments to output and exit code."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from gainful.array_types import Floats
from gainful.compat.trec_eval.c_numbers_and_sorting import (
    BAD_INPUT,
    BAD_QUERY,
    NO_QUERIES,
    StoppedError,
    written,
)
from gainful.compat.trec_eval.files import bytes_of
from gainful.compat.trec_eval.measure_names import (
    GROUPS,
    PREFERENCES,
    QRELS,
    AskedMeasure,
    read_parameters,
)
from gainful.compat.trec_eval.measure_values import LOWEST_MEAN
from gainful.compat.trec_eval.options import HELP_TEXT, Options, read_options
from gainful.compat.trec_eval.preferences import read_preferred
from gainful.compat.trec_eval.run_with_graded_judgments import read_graded
from gainful.compat.trec_eval.several_judges import read_grouped
from gainful.compat.trec_eval.zscores import Deviations, read_deviations
from gainful.errors import GainfulError
from gainful.rows.duckdb_engine import Session
from gainful.rows.files import plain_file

_LATEST = 10
_UTILITY = 4  # the number of its coefficients
_RUN_FORMAT = "trec_results"


@dataclass(frozen=True, slots=True)
class Printed:
    """The text on standard output and standard error, and the exit code."""

    output: str
    error: str = ""
    code: int = 0


class MatchedRun(Protocol):
    """Judgments of some format, matched with a run."""

    @property
    def queries(self) -> tuple[str, ...]:
        """All judged queries."""

    @property
    def missing(self) -> Sequence[bool]:
        """The queries that the run lacks."""

    @property
    def faults(self) -> Mapping[str, str]:
        """Errors of queries."""

    @property
    def first_faults(self) -> Mapping[str, str]:
        """Errors of queries that only matter for the first query evaluated."""

    @property
    def tag(self) -> str:
        """The tag of the run."""

    @property
    def relevant(self) -> int:
        """The number of documents with a positive grade."""

    def values(
        self, places: list[int], asked: Sequence[AskedMeasure], options: Options
    ) -> dict[str, Floats]:
        """Return the values of some queries by name."""

    def strings(self, places: list[int], asked: AskedMeasure) -> list[str]:
        """Return the grades of the first documents of some queries, one character each."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of judgments.

    Attributes:
        measured: its name in the entries of measures.
        reader: the name of its reader and its file in messages.
        read: the function that matches it with a run.
    """

    measured: str
    reader: tuple[str, str]
    read: Callable[[Path, Path, Options, Session], MatchedRun]


FORMATS = {
    "qrels": Format(QRELS, ("get_qrels", "qrels"), read_graded),
    "qrels_jg": Format(GROUPS, ("get_qrels_jg", "qrels"), read_grouped),
    "prefs": Format(PREFERENCES, ("get_prefs", "prefs"), read_preferred),
    "qrels_prefs": Format(PREFERENCES, ("get_prefs", "prefs"), read_preferred),
}


def trec_eval(arguments: Sequence[str]) -> Printed:
    """Run trec_eval with some arguments.

    >>> trec_eval(["-m", "map"]).code
    1
    """
    try:
        options = read_options(arguments)
        if options.show_version:
            return Printed("", f"trec_eval version {options.version}, as gainful prints it\n")
        if options.help:
            return Printed(f"{HELP_TEXT}\n")
        return _evaluated(options)
    except StoppedError as problem:
        return Printed("", f"{problem}\n", problem.code)
    except GainfulError as problem:
        # The error's advice is for other commands.
        fault = f"{problem.where}: expected {problem.expected}, found {problem.found}."
        return Printed("", f"trec_eval: {fault}\n", BAD_INPUT)


def _evaluated(options: Options) -> Printed:
    sides = _matched_run(options)
    deviations = None if options.zscores is None else read_deviations(options.zscores)
    asked = read_parameters(options.marked)
    places, stopped = _evaluable(sides, asked, options)
    lines = _Lines(sides, places, asked, options, deviations)
    query_lines = "".join(lines.each()) if options.each else ""
    if stopped is not None:
        return Printed(query_lines, f"{stopped}\n", stopped.code)
    return Printed(query_lines + ("".join(lines.summary()) if options.summary else ""))


def _matched_run(options: Options) -> MatchedRun:
    """Read judgments, then the run, and match them."""
    judgments, run = options.files
    form = FORMATS.get(options.judgments_format)
    if form is None:
        message = f"trec_eval: Illegal rel_format '{options.judgments_format}'"
        raise StoppedError(message, BAD_INPUT)
    _refuse_unreadable(judgments, *form.reader)
    if options.run_format == _RUN_FORMAT:
        _refuse_unreadable(run, "get_results", "results")
    with Session() as session:
        # Piped input is a file for as long as these objects are kept.
        judged = plain_file(judgments, session)
        if options.run_format != _RUN_FORMAT:
            message = f"trec_eval: Illegal retrieval results format '{options.run_format}'"
            raise StoppedError(message, BAD_INPUT)
        returned = plain_file(run, session)
        return form.read(judged.path, returned.path, options, session)


def _refuse_unreadable(name: str, reader: str, what: str) -> None:
    path = Path(name)
    there = name == "-" or (path.exists() and not path.is_dir())
    if not there or (path.is_file() and not path.stat().st_size):
        message = f"trec_eval.{reader}: Cannot read {what} file '{name}'\n"
        raise StoppedError(f"{message}trec_eval: Quit in file '{name}'", BAD_INPUT)


def _evaluable(
    sides: MatchedRun, asked: Sequence[AskedMeasure], options: Options
) -> tuple[list[int], StoppedError | None]:
    """Return the queries to evaluate, in order, and the error that stops the evaluation, if any.

    It stops at the first query with an error; the values of earlier queries are printed.
    """
    order = sorted(range(len(sides.queries)), key=lambda place: bytes_of(sides.queries[place]))
    missing = sides.missing
    places: list[int] = []
    for place in order:
        query = sides.queries[place]
        if options.only is not None and query != options.only:
            continue
        if missing[place] and options.version < _LATEST:
            continue
        if missing[place] and not options.complete:
            message = (
                f"trec_eval: query '{query}' is judged, but missing from the run. Use -c to count "
                f"such queries as 0, or --version-of 9 to leave them out."
            )
            return places, StoppedError(message, BAD_QUERY)
        faults = sides.faults if places else {**sides.faults, **sides.first_faults}
        fault = _fault(faults.get(query), asked, options)
        if fault is not None:
            return places, fault
        places.append(place)
    if not places:
        message = "trec_eval: No queries with both results and relevance info"
        return places, StoppedError(message, NO_QUERIES)
    return places, None


def _fault(
    query_fault: str | None, asked: Sequence[AskedMeasure], options: Options
) -> StoppedError | None:
    """Return an error for the first measure that cannot be computed, for a query or at all."""
    measured = FORMATS[options.judgments_format].measured
    for measure in asked:
        entry = measure.entry
        reason = query_fault if entry.format else None
        if entry.format not in ("", measured):
            reason = f"trec_eval: -R {options.judgments_format} has no judgments for this measure"
        elif entry.name == "utility" and len(measure.numbers) != _UTILITY:
            reason = reason or "trec_eval.calc_utility: improper number of coefficients"
        if reason is not None:
            message = f"{reason}\ntrec_eval: Can't calculate measure '{entry.name}'"
            return StoppedError(message, BAD_QUERY)
    return None


class _Lines:
    """The lines to print for the values of the evaluated queries."""

    def __init__(
        self,
        sides: MatchedRun,
        places: list[int],
        asked: Sequence[AskedMeasure],
        options: Options,
        deviations: Deviations | None,
    ) -> None:
        self.sides, self.places, self.asked, self.options = sides, places, asked, options
        self.queries = tuple(sides.queries[place] for place in places)
        self.prefix = "" if deviations is None else "Z"
        self.values = sides.values(places, asked, options) if places else {}
        if deviations is not None:
            for name, values in self.values.items():
                self.values[name] = deviations.of(name, self.queries, values)

    def each(self) -> Iterator[str]:
        """Yield a line for each value of each query."""
        printed: list[tuple[str, list[str]]] = []
        for asked in self.asked:
            if not asked.entry.each or not self.places:
                continue
            if asked.entry.name == "relstring":
                texts = self.sides.strings(self.places, asked)
                printed.append((f"{asked.names[0]:<22}", [f"'{text}'" for text in texts]))
                continue
            for name in asked.names:
                shown = [self._written(value, asked) for value in self.values[name].tolist()]
                printed.append((f"{self.prefix}{name:<22}", shown))
        for place, query in enumerate(self.queries):
            for name, shown in printed:
                yield f"{name}\t{query}\t{shown[place]}\n"

    def summary(self) -> Iterator[str]:
        """Yield a line for each value over all queries."""
        for asked in self.asked:
            if not asked.entry.summary:
                continue
            for name in asked.names:
                if name == "runid":
                    yield f"{name:<22}\tall\t{self.sides.tag}\n"
                else:
                    shown = self._written(self._over_all(name, asked), asked)
                    yield f"{self.prefix}{name:<22}\tall\t{shown}\n"

    def _over_all(self, name: str, asked: AskedMeasure) -> float:
        """Return the sum or the mean of the values; with -c, over all judged queries."""
        complete, evaluated = self.options.complete, len(self.places)
        queries = len(self.sides.queries) if complete else evaluated
        if name == "num_q":
            return queries
        if name == "num_rel" and complete:
            return self.sides.relevant
        # In sequence, since the last digit depends on the order; 0 and −0 are 0.
        total = 0.0 + float(np.add.accumulate(self.values[name])[-1])
        if asked.entry.logarithm:
            lost = (queries - evaluated) * math.log(LOWEST_MEAN)
            return math.exp((total + lost) / queries)
        return total if asked.entry.count else total / queries

    def _written(self, value: float, asked: AskedMeasure) -> str:
        if asked.entry.count and not self.prefix:
            return str(int(value))
        return written(value)
