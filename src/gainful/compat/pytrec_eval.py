"""pytrec_eval's evaluator on gainful's kernels."""

import math
import numbers
from collections.abc import Iterable, Mapping

from gainful import arguments
from gainful.compat.trec_eval.c_numbers_and_sorting import StoppedError
from gainful.compat.trec_eval.measure_names import (
    CUTOFFS,
    ENTRIES,
    NICKNAMES,
    QRELS,
    SHARES,
    AskedMeasure,
    Settings,
    mark,
    names_of,
    read_parameters,
)
from gainful.compat.trec_eval.measure_values import columns
from gainful.compat.trec_eval.ranked_lists import chosen_queries, judged_documents
from gainful.errors import DisjointError, InputError, MeasureError
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.message_texts import did_you_mean, shown
from gainful.rows.input_types import Judgments, Run

_TEXTS = frozenset({"runid", "relstring"})
# the version whose values it computes, and the version whose measures it knows
_VERSION, _LATEST = 9, 10
_ENTRIES = {entry.name: entry for entry in ENTRIES if entry.format in ("", QRELS)}
_NICKNAMES = tuple(name for name in NICKNAMES if set(names_of(name, _VERSION)) <= set(_ENTRIES))

supported_measures = frozenset(_ENTRIES) - _TEXTS
"""trec_eval's numeric measures."""


supported_nicknames = {
    nickname: frozenset(names_of(nickname, _VERSION)) - _TEXTS for nickname in _NICKNAMES
}
"""The measures that a nickname stands for."""


class RelevanceEvaluator:
    """Evaluate runs as pytrec_eval does: scores compared as float32, query by query.

    Args:
        query_relevance: `{query: {doc: grade}}`, or any other kind of judgments.
        measures: trec_eval's names, with parameters after a dot or an underscore: `map`,
            `ndcg_cut.10,20`, `P_5`; nicknames such as `official` and `all_trec` too.
        relevance_level: the lowest grade of a relevant document.
        judged_docs_only_flag: whether to drop unjudged documents first.

    >>> judgments = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
    >>> evaluator = RelevanceEvaluator(judgments, {"map", "ndcg_cut.5"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 0.9}})
    {'q1': {'map': 0.5, 'ndcg_cut_5': 0.6309297535714575}}
    """

    def __init__(
        self,
        query_relevance: Judgments,
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002 - as it is elsewhere
    ) -> None:
        self._judgments = query_relevance
        self._asked = _asked_measures(measures)
        expected = "the lowest grade of a relevant document"
        level = arguments.number(relevance_level, "relevance_level", expected, lambda _: True)
        self._settings = Settings(level)
        self._judged_only = bool(arguments.truth(judged_docs_only_flag, "judged_docs_only_flag"))

    def evaluate(self, run: Run) -> dict[str, dict[str, float]]:
        """Return the values of every judged query in the run.

        Args:
            run: `{query: {doc: score}}`, or any other kind of run.
        """
        if isinstance(run, Mapping) and not run:
            return {}
        try:
            with reading(self._judgments, Policy(ties="doc", precision="single")) as reader:
                matched, _ = reader.match(run)
        except DisjointError:  # the run has no judged query
            return {}
        if self._judged_only:
            matched = judged_documents(matched)
        matched = chosen_queries(matched, [p for p, lost in enumerate(matched.missing) if not lost])
        values = columns(matched, self._asked, self._settings, _VERSION)
        names = list(values)
        if not names:
            return {query: {} for query in matched.queries}
        rows = zip(*(values[name].tolist() for name in names), strict=True)
        return {
            query: dict(zip(names, row, strict=True))
            for query, row in zip(matched.queries, rows, strict=True)
        }


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Return the value that trec_eval prints for all queries: a mean, a sum or a geometric mean.

    >>> compute_aggregated_measure("num_ret", [3, 4]), compute_aggregated_measure("map", [0.5, 1])
    (7.0, 0.75)
    """
    arguments.text(measure, "measure", "one of trec_eval's names")
    listed_values = arguments.listed(values, "values", "the values of the queries")
    for value in listed_values:
        if arguments.is_truth(value) or not isinstance(value, numbers.Real):
            raise InputError("values", "numbers", shown(value))
    listed = [arguments.as_float(value) for value in listed_values]
    if not listed:
        raise InputError("values", "the values of at least one query", "none")
    entry = next(
        (
            _ENTRIES[name]
            for name in sorted(_ENTRIES, key=len, reverse=True)
            if measure.startswith(name)
        ),
        None,
    )
    if entry is not None and entry.count:
        return math.fsum(listed)
    mean = math.fsum(listed) / len(listed)
    return math.exp(mean) if entry is not None and entry.logarithm else mean


def _asked_measures(measures: Iterable[str]) -> tuple[AskedMeasure, ...]:
    written = []
    for measure in arguments.listed(measures, "measures", "names of trec_eval's measures"):
        name = arguments.text(measure, "measures", "names of trec_eval's measures")
        for entry_name, entry in _ENTRIES.items():
            rest = name.removeprefix(f"{entry_name}_")
            if entry.takes in (CUTOFFS, SHARES) and rest != name and rest[:1].isdigit():
                name = f"{entry_name}.{rest}"
                break
        written.append((name.partition(".")[0], name))
    for name, text in written:
        if name not in _ENTRIES and name not in _NICKNAMES:
            raise MeasureError(
                "measures", "one of trec_eval's", shown(text), did_you_mean(name, _ENTRIES)
            )
    together: dict[str, list[str]] = {}
    for name, text in written:
        together.setdefault(name, []).extend(part for part in [text.partition(".")[2]] if part)
    texts = []
    for name, parts in together.items():
        names = names_of(name, _VERSION) if name in _NICKNAMES else [name]
        texts += [f"{variant}.{','.join(parts)}" if parts else variant for variant in names]
    try:
        parsed = read_parameters(mark(texts, _LATEST))
    except StoppedError as problem:
        raise MeasureError("measures", "valid parameters", str(problem)) from None
    return tuple(measure for measure in parsed if measure.entry.name not in _TEXTS)


def parse_qrel(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read judgments from the lines of an open file: query, iteration, doc, grade.

    >>> parse_qrel(["q1 0 d1 2"])
    {'q1': {'d1': 2.0}}
    """
    return _parsed(lines, 4, 3, "judgments")


def parse_run(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read a run from the lines of an open file: query, Q0, doc, rank, score, tag.

    >>> parse_run(["q1 Q0 d1 1 0.5 tag"])
    {'q1': {'d1': 0.5}}
    """
    return _parsed(lines, 6, 4, "run")


def _parsed(
    lines: Iterable[str], fields: int, number: int, what: str
) -> dict[str, dict[str, float]]:
    by_query: dict[str, dict[str, float]] = {}
    expected = "the lines of a file"
    for place, line in enumerate(arguments.listed(lines, what, expected), 1):
        parts = arguments.text(line, f"{what}, line {place}", expected).split()
        if not parts:
            continue
        where = f"{what}, line {place}"
        if len(parts) != fields:
            raise InputError(where, f"{fields} fields", str(len(parts)))
        docs = by_query.setdefault(parts[0], {})
        if parts[2] in docs:
            raise InputError(where, "each document of a query once", f"{parts[2]!r} again")
        try:
            docs[parts[2]] = float(parts[number])
        except ValueError:
            raise InputError(where, "a number", shown(parts[number])) from None
    return by_query
