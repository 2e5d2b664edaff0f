"""The data of a report, from scores and comparisons, within the size limit."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats
from gainful.behaviour.click_log import ClickLog
from gainful.errors import GainfulError, GainfulWarning
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import Scores, at_cutoffs, measure_matched, sampled_like
from gainful.evaluation.unjudged.bounds import RunBounds
from gainful.judging.assessors.agreement import Agreement
from gainful.matching.matched import Matched
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy, shared_policy
from gainful.message_texts import counted
from gainful.output.plotting import charts, theme
from gainful.reporting.assessors_section import assessors_section
from gainful.reporting.compressed_details import Packed, pack
from gainful.reporting.coverage_section import (
    checks_section,
    coverage_section,
    estimates_of,
    find_bounds,
    policy_section,
    unjudged_by_rank,
)
from gainful.reporting.evidence_passages import EvidencePassages
from gainful.reporting.log_section import log_section
from gainful.reporting.payload_sections import (
    finite,
    heading,
    means_notes,
    means_of,
    method_of,
    notes_of,
    runs_section,
    scores_section,
    slices_section,
    verdicts_section,
)
from gainful.reporting.query_and_document_texts import captions_of_docs, texts_of_queries
from gainful.reporting.query_details import DetailOptions, detail_of, docs_in, with_captions
from gainful.reporting.query_selection import (
    LEAST_DETAIL,
    PAYLOAD,
    TABLE,
    by_importance,
    row_sizes,
    size_of,
    that_fit,
)
from gainful.reporting.what_if_section import what_if_section
from gainful.reporting.worked_query_lists import RankedLists
from gainful.rows.duckdb_engine import Progress
from gainful.rows.input_types import Run

_USUAL_DEPTH = 20
_DEEPEST = 100  # the default length of a list or a curve
_BANDED = 6  # runs whose intervals are distinguishable on one chart
_LEAST = 20  # bytes of a run's empty list, compressed
_NO_IDS = "the documents have no ids"
_NO_DOCUMENTS = "the scores come without documents"


@dataclass(frozen=True)
class ReportInputs:
    """The input of a report.

    Attributes:
        reader: the reader of the judgments and the runs, under the caller's policy.
        runs: the runs to read, by name.
        evaluated: all runs, evaluated or saved, in order.
        measures: the measures, the primary one first.
        comparison: the comparison; None with one run.
        queries: the text of queries.
        docs: the titles and texts of documents.
        depth: the last rank to show, if the caller sets it.
        progress: called with the completed share of the work.
        agreement: the agreement of several assessors, if any.
        log: the click log behind the judgments, if any.
        bounds: the bounds of runs and differences that the unjudged documents allow, if known.
    """

    reader: Reader
    runs: Mapping[str, Run]
    evaluated: Mapping[str, Scores | Baseline]
    measures: tuple[Measure, ...]
    comparison: Comparison | None
    queries: object
    docs: object
    depth: int | None
    progress: Progress | None
    agreement: Agreement | None = None
    log: ClickLog | None = None
    bounds: RunBounds | None = None

    @property
    def names(self) -> list[str]:
        """The measures as text."""
        return [str(measure) for measure in self.measures]

    @property
    def shown(self) -> int:
        """The last rank that lists show."""
        return self.depth or min(self.measures[0].cutoff or _USUAL_DEPTH, _DEEPEST)

    @property
    def baseline(self) -> str | None:
        """The name of the baseline, if runs are compared."""
        return None if self.comparison is None else self.comparison.baseline

    @property
    def decided(self) -> Policy:
        """The policy of all runs, with the rule for ties resolved if they share one."""
        return shared_policy(scores.policy for scores in self.scores.values())

    @property
    def dialect(self) -> str | None:
        """The dialect of the scores, if any."""
        return next(iter(self.scores.values())).dialect

    @property
    def scores(self) -> dict[str, Scores]:
        """The runs that were evaluated now, without saved baselines."""
        return {name: r for name, r in self.evaluated.items() if isinstance(r, Scores)}

    @cached_property
    def whole(self) -> dict[str, Matched]:
        """Each run matched with the judgments, down to the last rank."""
        with warnings.catch_warnings():
            # Warnings were issued when the runs were measured.
            warnings.simplefilter("ignore", GainfulWarning)
            return {name: result.evidence.whole()[0] for name, result in self.scores.items()}

    def tell(self, share: float, name: str) -> None:
        """Report the completed share of the work."""
        if self.progress is not None:
            self.progress(share, name)


@dataclass(frozen=True)
class _Table:
    """The scores of all queries, and which queries are shown.

    Attributes:
        queries: the ids.
        values: [query, run, measure].
        order: the positions of the queries, the most important first.
        why: the criterion of importance, in words.
        kept: the positions of the queries in the table, in the order of the ids.
        entries: the id, text and counts of each query in the table.
    """

    queries: Sequence[str]
    values: Floats
    order: Sequence[int]
    why: str
    kept: Sequence[int]
    entries: Sequence[dict[str, Any]]

    def notes(self) -> list[str]:
        """Return a note if queries are left out of the table."""
        if len(self.kept) == len(self.queries):
            return []
        shown = f"{len(self.kept):,} of {counted(len(self.queries), 'query', 'queries')}"
        return [f"The scores of {shown} are shown: {self.why}. Means and verdicts are over all."]


def of_comparison(comparison: Comparison, title: str, created: str) -> dict[str, object]:
    """Return the data of a report without documents."""
    paired = comparison.paired
    table = _table(paired.queries, paired.values, paired.systems.index(comparison.baseline))
    means = {name: means_of(comparison, name) for name in paired.systems}
    verdicts, more = verdicts_section(comparison)
    better = {name: comparison.paired.better_values(name) for name in comparison.measures}
    return {
        **heading(title, created, better, comparison.baseline),
        "runs": runs_section(means, comparison, {}, better),
        "means": means_notes(means, table.values, comparison.measures, Policy()),
        "verdicts": verdicts,
        "queries": table.entries,
        "scores": scores_section(table.values, table.kept),
        "curve": None,
        "slices": slices_section(comparison),
        "assessors": None,
        "log": None,
        "coverage": checks_section(comparison.checks or {}),
        "what_if": {"why": _NO_DOCUMENTS},
        "policy": [],
        "settings": str(comparison.settings),
        "method": method_of(comparison),
        "notes": [*notes_of(comparison), *more, *table.notes()],
        **_looks(comparison),
        "details": {},
        "kept": {"queries": 0, "of": len(paired.queries), "why": _NO_DOCUMENTS},
    }


def of_evaluated(
    inputs: ReportInputs, title: str, created: str
) -> tuple[dict[str, object], Packed]:
    """Return the data of a report with documents: everything except the details, and the details."""
    table = _table_of(inputs)
    data = _sections(inputs, table, title, created)
    inputs.tell(0.3, "details")
    packed, why = _details(inputs, table, max(PAYLOAD - size_of(data), LEAST_DETAIL))
    places = {place for group in packed.groups for place in group.places}
    entries = [
        {**entry, "detail": str(place) in places} for place, entry in enumerate(table.entries)
    ]
    kept = {"queries": len(packed), "of": len(table.queries), "why": why}
    return {**data, "queries": entries, "kept": kept}, packed


def _sections(inputs: ReportInputs, table: _Table, title: str, created: str) -> dict[str, Any]:
    """Return everything except the details."""
    comparison, names, primary = inputs.comparison, inputs.names, inputs.measures[0]
    means = {
        name: [*result.means.values()] if isinstance(result, Scores) else means_of(comparison, name)
        for name, result in inputs.evaluated.items()
    }
    verdicts, more = verdicts_section(comparison)
    alone = next(iter(inputs.scores.values())).sample_notes if comparison is None else []
    inputs.tell(0.0, "coverage")
    policy, folded = inputs.reader.policy, inputs.reader.chunks is not None
    bounds, notes = estimates_of(inputs.bounds, comparison, primary)
    if not bounds:
        bounds, why = find_bounds(
            inputs.scores, lambda: inputs.whole, primary, policy, folded=folded
        )
        notes = [why]
    level = 0.95 if comparison is None else comparison.settings.level
    covered = coverage_section(inputs.evaluated, primary, bounds, notes, level)
    inputs.tell(0.2, "curve")
    curve, without = _curve(inputs)
    better = {str(measure): measure.family.better for measure in inputs.measures}
    return {
        **heading(title, created, better, inputs.baseline),
        "runs": runs_section(means, comparison, inputs.evaluated, better),
        "means": means_notes(means, table.values, names, inputs.decided),
        "verdicts": verdicts,
        "queries": table.entries,
        "scores": scores_section(table.values, table.kept),
        "curve": curve,
        "slices": slices_section(comparison),
        "assessors": assessors_section(
            inputs.agreement, {entry["id"]: entry["text"] or "" for entry in table.entries}
        ),
        "log": log_section(inputs.log),
        "coverage": {
            **covered,
            "unjudged": unjudged_by_rank(inputs.evaluated, inputs.shown),
        },
        "what_if": what_if_section(primary, inputs.decided, inputs.whole),
        "policy": policy_section(inputs.decided, ids=inputs.reader.has_ids, dialect=inputs.dialect),
        "settings": "" if comparison is None else str(comparison.settings),
        "method": method_of(comparison),
        "notes": [*notes_of(comparison), *alone, *more, *without, *table.notes()],
        **_looks(comparison),
    }


def _looks(comparison: Comparison | None) -> dict[str, object]:
    """Return the charts without rows, and their colours."""
    base = None if comparison is None else comparison.baseline
    level = 0.95 if comparison is None else comparison.settings.level
    return {
        "charts": charts.empty(base=base, level=level),
        "themes": {
            "light": theme.LIGHT,
            "dark": theme.DARK,
            "grades": {"light": list(theme.GRADES_LIGHT), "dark": list(theme.GRADES_DARK)},
        },
    }


def _table_of(inputs: ReportInputs) -> _Table:
    texts_of = inputs.queries
    first = next(iter(inputs.scores.values()))
    if inputs.comparison is None:
        queries, values, base = first.queries, first.values[:, None, :], None
    else:
        paired = inputs.comparison.paired
        queries, base = paired.queries, paired.systems.index(inputs.comparison.baseline)
        # A measure of the run as a whole has no values of queries, and isn't compared.
        of_queries = [place for place, one in enumerate(inputs.measures) if one.has_users]
        values = np.full((*paired.values.shape[:2], len(inputs.measures)), np.nan)
        values[:, :, of_queries] = paired.values
    judged: dict[str, int] = {}
    for result in inputs.evaluated.values():
        judged |= dict(zip(result.queries, result.judged.tolist(), strict=True))
    odd = {*first.coverage.missing, *first.coverage.empty}
    texts = texts_of_queries(texts_of, queries, inputs.reader.columns)
    return _table(queries, values, base, texts=texts, judged=judged, odd=odd)


def _table(
    queries: Sequence[str],
    values: Floats,
    base: int | None,
    *,
    texts: Mapping[str, str] | None = None,
    judged: Mapping[str, int] | None = None,
    odd: frozenset[str] | set[str] = frozenset(),
) -> _Table:
    first = [place for place, query in enumerate(queries) if query in odd]
    order, why = by_importance(values[:, :, 0], base, first)
    entries = [
        {
            "id": query,
            "text": (texts or {}).get(query),
            "judged": (judged or {}).get(query),
            "detail": False,
        }
        for query in queries
    ]
    cells = values.shape[1] * values.shape[2]
    kept = sorted(that_fit(order, row_sizes(order, entries, cells), TABLE))
    return _Table(queries, values, order, why, kept, [entries[place] for place in kept])


def _curve(inputs: ReportInputs) -> tuple[dict[str, object] | None, list[str]]:
    """Return nDCG at each cutoff, or a note on why it is left out."""
    primary = inputs.measures[0]
    measure = Measure("nDCG")
    if primary.name == "nDCG":
        measure = primary.at(None)
    elif "gain" in primary.parameters:
        measure = Measure("nDCG", gain=primary.parameters["gain"])
    deepest = min(max(primary.cutoff or 0, _USUAL_DEPTH), _DEEPEST)
    try:
        curves = {
            name: sampled_like(
                inputs.scores[name],
                measure_matched(
                    [matched], at_cutoffs(measure, deepest), inputs.scores[name].policy
                ),
            )
            for name, matched in inputs.whole.items()
        }
    except GainfulError as problem:
        return None, [f"{measure} over its cutoffs is left out. {problem}"]
    level = 0.95 if inputs.comparison is None else inputs.comparison.settings.level
    banded = len(curves) <= _BANDED
    rows = [
        {"run": name, "k": cutoff, "value": value, **(_ends(scores, at, level) if banded else {})}
        for name, scores in curves.items()
        for cutoff, (at, mean) in enumerate(
            zip(scores.measures, scores.means.values(), strict=True), 1
        )
        if (value := finite(mean)) is not None
    ]
    drawn = {row["run"] for row in rows}
    lost = [name for name in curves if name not in drawn]
    why = f"Left out, as the mean is undefined (policy empty={inputs.decided.empty}): {', '.join(lost)}."
    return {"measure": str(measure), "rows": rows, "level": level, "why": why if lost else None}, []


def _ends(scores: Scores, measure: Measure, level: float) -> dict[str, float | None]:
    """Return the ends of the interval of a mean; None without one."""
    found = scores.interval_or_none(measure, level=level)
    low, high = (None, None) if found is None else (finite(found.low), finite(found.high))
    return {"low": low, "high": high}


def _details(inputs: ReportInputs, table: _Table, budget: int) -> tuple[Packed, str | None]:
    """Return the details of the most important queries, as many as fit, and the reason if some are left out."""
    if not inputs.reader.has_ids:
        return Packed(), _NO_IDS
    packed = pack(_made(inputs, table, budget), budget)
    if inputs.docs is not None:
        captions = captions_of_docs(
            inputs.docs, docs_in(d for _, d in packed.items()), inputs.reader.columns
        )
        packed = pack(((p, with_captions(d, captions)) for p, d in packed.items()), budget)
    all_of_them = len(packed) == len(table.queries)
    return packed, None if all_of_them else f"the page stays below 5 MB: it shows {table.why}"


def _made(
    inputs: ReportInputs, table: _Table, budget: int
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the details of queries by their position in the table, the most important first."""
    place_of = {place: number for number, place in enumerate(table.kept)}
    most = budget // (_LEAST * len(inputs.evaluated))
    order = [place for place in table.order if place in place_of][:most]
    shown = DetailOptions(inputs.measures[0], [*inputs.evaluated], inputs.baseline, inputs.shown)
    lists = RankedLists(
        inputs.reader,
        inputs.runs,
        inputs.measures[0],
        {name: result.policy for name, result in inputs.scores.items()},
        inputs.shown,
        inputs.whole,
    )
    passages = None
    if inputs.reader.spans is not None:
        passages = EvidencePassages(inputs.reader, inputs.runs, shown.runs, inputs.shown)
    for done, query in enumerate(lists.of([table.queries[at] for at in order])):
        place = order[done]
        inputs.tell(0.3 + 0.7 * done / len(order), "details")
        values = dict(zip(shown.runs, table.values[place, :, 0].tolist(), strict=True))
        more = {} if passages is None else passages.of(table.queries[place])
        yield str(place_of[place]), {**detail_of(query, shown, values), **more}
