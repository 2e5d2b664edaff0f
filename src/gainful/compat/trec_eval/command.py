"""trec_eval as a function of its arguments: what it would print, and its exit code."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gainful.compat.trec_eval.columns import Asked, columns, strings
from gainful.compat.trec_eval.entries import Settings
from gainful.compat.trec_eval.lists import (
    chosen_queries,
    first_documents,
    judged_documents,
    nothing_retrieved,
    one_document,
    whole_grades,
)
from gainful.compat.trec_eval.options import (
    BAD_INPUT,
    HELP_TEXT,
    USAGE,
    Options,
    StoppedError,
    read_options,
)
from gainful.compat.trec_eval.zscores import Deviations, read_deviations
from gainful.errors import DisjointError, GainfulError, InputError
from gainful.inputs.files import Plain, plain_file
from gainful.inputs.tags import last_tag, write_first_fields
from gainful.matching.dispatch import Reader, reading
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy

Floats = NDArray[np.float64]

_LATEST = 10
_NO_QUERIES = 7  # exit code
_LOWEST = math.log(1e-5)


@dataclass(frozen=True, slots=True)
class Printed:
    """What is printed on standard output and on standard error, and the exit code."""

    output: str
    error: str = ""
    code: int = 0


def trec_eval(arguments: Sequence[str]) -> Printed:
    """Do what trec_eval does with these arguments.

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
        # What it advises to do is for other commands.
        told = f"{problem.where}: expected {problem.expected}, found {problem.found}."
        return Printed("", f"trec_eval: {told}\n", BAD_INPUT)


def _evaluated(options: Options) -> Printed:
    deviations = None if options.zscores is None else read_deviations(options.zscores)
    matched, tag = _matched(options)
    order = sorted(range(len(matched.queries)), key=lambda place: matched.queries[place].encode())
    lacking = [matched.queries[place] for place in order if matched.missing[place]]
    stopped = ""
    if options.version >= _LATEST and not options.complete and lacking:
        # It stops there, with the queries before it printed.
        stopped = lacking[0]
        order = [p for p in order if matched.queries[p].encode() < stopped.encode()]
    elif options.version < _LATEST:
        order = [place for place in order if not matched.missing[place]]
    relevant = int((matched.pool_grades > 0).sum())  # whatever the level
    judged = len(matched.queries), relevant
    found = _Values(chosen_queries(matched, order), options, tag, judged, deviations)
    each = "".join(found.each()) if options.each else ""
    if stopped:
        message = f"trec_eval: result qid '{stopped}' not found in qrels\n"
        return Printed(each, message, USAGE)
    if not order:
        message = "trec_eval: No queries with both results and relevance info\n"
        return Printed(each, message, _NO_QUERIES)
    return Printed(each + ("".join(found.summary()) if options.summary else ""))


def _matched(options: Options) -> tuple[Matched, str]:
    judgments, run = options.files
    policy = Policy(ties="doc", precision="single" if options.version < _LATEST else "double")
    for name, kind, what in ((judgments, "qrels", "qrels"), (run, "results", "results")):
        if name != "-" and (not Path(name).exists() or Path(name).is_dir()):
            message = f"trec_eval.get_{kind}: Cannot read {what} file '{name}'\n"
            raise StoppedError(f"{message}trec_eval: Quit in file '{name}'", BAD_INPUT)
    with reading(judgments, policy) as reader:
        file = plain_file(run, reader.session)
        tag = last_tag(file)
        try:
            matched = _with_six_fields(reader, file)
        except DisjointError:
            matched = nothing_retrieved(reader.match(reader.all_judged)[0])
    matched = whole_grades(matched)
    if options.complete and options.version >= _LATEST:
        matched = one_document(matched)
    if options.most is not None:
        matched = first_documents(matched, options.most)
    return (judged_documents(matched) if options.judged_only else matched), tag


def _with_six_fields(reader: Reader, file: Plain) -> Matched:
    """Match a run; what stands on its lines after the tag does not matter."""
    try:
        return reader.match(file.path)[0]
    except DisjointError:
        raise
    except InputError as problem:
        with reader.session.written_aside("run") as (shorter, copy):
            had_more = write_first_fields(file.path, copy)
        if not had_more:
            where = problem.where.replace(str(file.path), file.name)
            raise InputError(where, problem.expected, problem.found) from None
        return reader.match(shorter)[0]


class _Values:
    """The values of the queries that are evaluated, and the lines they make."""

    def __init__(
        self,
        matched: Matched,
        options: Options,
        tag: str,
        judged: tuple[int, int],
        deviations: Deviations | None,
    ) -> None:
        self.matched, self.options, self.tag = matched, options, tag
        self.judged, self.relevant = judged  # how many queries, and relevant documents, there are
        settings = Settings(float(options.level), float(options.docs))
        self.values = columns(matched, options.asked, settings, options.version)
        self._reset_missing()
        if deviations is not None:
            for name, values in self.values.items():
                self.values[name] = deviations.of(name, matched.queries, values)

    def _reset_missing(self) -> None:
        """Take back what the one document of a query that the run lacks has changed.

        Version 10 does so by the names of the values: those with parameters keep it.
        """
        for name, values in self.values.items():
            if name in ("num_ret", "utility", "rbp_resid") or name.startswith("unj"):
                values[self.matched.missing] = 0.0

    def each(self) -> Iterator[str]:
        """Yield a line for each value of each query."""
        printed: list[tuple[str, list[str]]] = []
        for asked in self.options.asked:
            if not asked.entry.each:
                continue
            if asked.entry.name == "relstring":
                texts = strings(self.matched, int(asked.numbers[0]))
                lost = self.matched.missing.tolist()
                shown = ["''" if gone else f"'{t}'" for t, gone in zip(texts, lost, strict=True)]
                printed.append((f"{asked.names[0]:<22}", shown))
                continue
            for name in asked.names:
                shown = [_written(value, asked) for value in self.values[name].tolist()]
                printed.append((f"{name:<22}", shown))
        for place, query in enumerate(self.matched.queries):
            for name, shown in printed:
                yield f"{name}\t{query}\t{shown[place]}\n"

    def summary(self) -> Iterator[str]:
        """Yield a line for each value over all queries."""
        complete = self.options.complete
        evaluated = len(self.matched.queries)
        queries = self.judged if complete else evaluated
        for asked in self.options.asked:
            if not asked.entry.summary:
                continue
            for name in asked.names:
                if name == "runid":
                    yield f"{name:<22}\tall\t{self.tag}\n"
                    continue
                if name == "num_q":
                    yield f"{name:<22}\tall\t{queries}\n"
                    continue
                # One after the other, as a rounded last digit depends on the order.
                total = float(np.add.accumulate(self.values[name])[-1])
                if name == "num_rel" and complete:  # of the queries that the run lacks, too
                    total = self.relevant
                if asked.entry.logarithm:
                    total = math.exp((total + (queries - evaluated) * _LOWEST) / queries)
                elif not asked.entry.count:
                    total /= queries
                yield f"{name:<22}\tall\t{_written(total, asked)}\n"


def _written(value: float, asked: Asked) -> str:
    if asked.entry.count:
        return str(int(value))
    return "  -nan" if math.isnan(value) else f"{value:6.4f}"
