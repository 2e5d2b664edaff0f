"""Measures of evidence: what the ranked chunks of a run cover of each query's passages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.kernels.cumulated_gain import divide_by_ideal
from gainful.arithmetic.kernels.spans import (
    NEVER,
    Covered,
    Intervals,
    distinct,
    expanded,
    first_ranks,
    greedy_gains,
    line_of,
    overlaps,
    rank_of_share,
)
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, MeasureError
from gainful.evaluation.coverage import digest_of
from gainful.evaluation.gains_ranks_and_ideals import discounts_of, gains_under
from gainful.evaluation.request import refuse_answers, refuse_option
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure, ValuesOfRun
from gainful.measures.policy import Policy
from gainful.rows.input_types import Run
from gainful.rows.spans_of_documents import Evidence, Located, RankedChunks

# The answers that have a meaning if chunks are parts of documents.
_ANSWERS = {
    "ties": ("auto", "doc", "doc_ascending", "order"),
    "unjudged": ("zero",),
    "absent": ("zero",),
    "fold": ("auto", "none"),
}


@dataclass(frozen=True, eq=False)
class EvidenceOfRun:
    """The evidence of all queries, and the chunks that a run returned for them.

    Attributes:
        evidence: the passages of each query.
        chunks: the ranked chunks of the run.
        table: all chunks of the chunking; None if unknown.
        policy: how negative grades count.
    """

    evidence: Evidence
    chunks: RankedChunks
    table: Located | None
    policy: Policy
    _covered: dict[object, Covered] = field(default_factory=dict)

    @cached_property
    def queries(self) -> list[str]:
        """The queries with evidence, or without any."""
        return [*self.evidence.documents]

    @cached_property
    def _retrieved(self) -> tuple[Bools, Ints, Ints]:
        """Which chunks are of a query with evidence, and the query and the document of these."""
        of_query = _among(self.chunks.documents, self.queries)
        query = of_query[self.chunks.query]
        chosen = query >= 0
        return (
            chosen,
            query[chosen],
            self._numbers_of(self.chunks.doc_names)[self.chunks.docs[chosen]],
        )

    def _numbers_of(self, docs: Sequence[str]) -> Ints:
        """Return the number of each document: its place in the evidence, or a number behind all of these."""
        known = _among(docs, self.evidence.doc_names)
        others = np.arange(len(docs)) + len(self.evidence.doc_names)
        return np.where(known < 0, others, known)

    @cached_property
    def _reach(self) -> Ints:
        """The end of the last chunk of each document with evidence, in the table of all chunks."""
        reach = np.zeros(len(self.evidence.doc_names), np.int64)
        if self.table is not None:
            docs = self._numbers_of(self.table.doc_names)[self.table.docs]
            known = docs < reach.size
            np.maximum.at(reach, docs[known], self.table.end[known])
        return reach

    @cached_property
    def _line(self) -> tuple[Intervals, Intervals, Ints, Ints]:
        """The passages and the chunks on one line, the section of each passage, and where each section begins."""
        chosen, query, docs = self._retrieved
        own = self.evidence.docs
        several = int(max(own.max(initial=0), docs.max(initial=0))) + 1
        keys = np.concatenate([self.evidence.query * several + own, query * several + docs])
        ends = np.concatenate(
            [np.maximum(self.evidence.end, self._reach[own]), self.chunks.end[chosen]]
        )
        number, begins = line_of(keys, ends)
        count = own.size
        at = begins[number] if number.size else number
        passages = Intervals(
            self.evidence.query, self.evidence.start + at[:count], self.evidence.end + at[:count]
        )
        chunks = Intervals(
            query, self.chunks.start[chosen] + at[count:], self.chunks.end[chosen] + at[count:]
        )
        return passages, chunks, number[:count], begins

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[str, int]]:
        """The place of each query in the evidence, and in the run."""
        sides = (self.evidence.documents, self.chunks.documents)
        evidence, run = ({query: at for at, query in enumerate(side)} for side in sides)
        return evidence, run

    @cached_property
    def _by_query(self) -> Ints:
        return np.argsort(self.evidence.query, kind="stable")

    def rows_of(self, query: str) -> tuple[Ints, Ints]:
        """Return the rows of a query: its passages in the evidence, and its chunks in the run."""
        own, of_run = (places.get(query, -1) for places in self._places)
        queries = self.evidence.query[self._by_query]
        first, last = np.searchsorted(queries, [own, own + 1]).tolist()
        begin, end = np.searchsorted(self.chunks.query, [of_run, of_run + 1]).tolist()
        return self._by_query[first:last], np.arange(begin, end)

    @property
    def passages(self) -> Intervals:
        """The passages, on the line."""
        return self._line[0]

    def relevant(self, rel: float) -> Bools:
        """Return which passages are relevant."""
        return self.evidence.grade >= rel

    def covered(self, measure: Measure) -> Covered:
        """Return what the chunks cover of the relevant passages, or of those with a gain."""
        parameters = measure.parameters
        key = parameters.get("gain", parameters.get("rel"))
        if key not in self._covered:
            self._covered[key] = self._cover(measure)
        return self._covered[key]

    def _cover(self, measure: Measure) -> Covered:
        parameters = measure.parameters
        if "gain" in parameters:
            gains = self._gains(measure)
        else:
            gains = self.relevant(parameters["rel"]).astype(np.float64)
        passages, chunks, _, _ = self._line
        chosen = gains != 0
        parts, worth = distinct(passages.chosen(chosen), gains[chosen])
        rank = self.chunks.rank[self._retrieved[0]]
        return Covered(len(self.queries), parts, worth, chunks, rank)

    def _gains(self, measure: Measure) -> Floats:
        grades, queries = self.evidence.grade, self.evidence.query
        return gains_under(
            self.policy,
            measure.parameters["gain"],
            grades,
            np.unique(grades),
            lambda row: f"judgments, query {self.queries[int(queries[row])]!r}",
        )

    def sections_of(self, intervals: Intervals) -> Ints:
        """Return the section of the line, one for each query and document, that intervals lie in."""
        begins = self._line[3]
        return np.searchsorted(begins, intervals.start, "right") - 1

    def all_chunks(self, measure: Measure) -> Intervals:
        """Return all chunks of the chunking in documents with evidence, for each query, on the line."""
        if self.table is None:
            raise MeasureError(
                str(measure),
                "the table of all chunks",
                "none",
                "Pass chunk_table=… or --chunk-table, or choose a measure that doesn't need it.",
            )
        docs = self._numbers_of(self.table.doc_names)[self.table.docs]
        several = np.arange(len(self.evidence.doc_names))
        order = np.argsort(docs, kind="stable")
        first = np.searchsorted(docs[order], several, "left")
        last = np.searchsorted(docs[order], several, "right")
        own = self.evidence.docs
        _, _, sections, begins = self._line
        _, some = np.unique(sections, return_index=True)
        pair, at = expanded(first[own[some]], last[own[some]])
        rows = order[at]
        position = begins[sections[some]][pair]
        return Intervals(
            self.evidence.query[some][pair],
            self.table.start[rows] + position,
            self.table.end[rows] + position,
        )

    def digest(self) -> str:
        """Return the hash of the evidence and of the retrieved chunks, for signatures."""
        evidence = self.evidence
        arrays = (
            *(evidence.query, evidence.docs, evidence.start, evidence.end),
            *(evidence.grade + 0.0, evidence.group),
        )
        names = ("\n".join(map(repr, texts)) for texts in (self.queries, evidence.doc_names))
        return digest_of(
            [
                *(array.tobytes() for array in arrays),
                *(text.encode() for text in names),
                evidence.unit.encode(),
            ]
        )


def evidence_of_run(reader: Reader, run: Run) -> EvidenceOfRun:
    """Return the evidence of a reader whose judgments are passages, and the chunks of a run."""
    spans = reader.spans
    assert spans is not None  # noqa: S101 - a request with such measures reads passages
    evidence, chunks = spans.evidence(reader.given), spans.chunks(run, reader.policy)
    table = spans.table_of(run)
    if evidence.unit != chunks.unit:
        raise InputError(
            "offsets",
            "the same unit in the evidence and in the run",
            f"{evidence.unit} and {chunks.unit}",
            f"If they count the same, name the unit: offsets={chunks.unit!r} (--offsets {chunks.unit}).",
        )
    return EvidenceOfRun(evidence, chunks, None if table is None else table.chunks, reader.policy)


def values_of_run(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    """Return the values of measures for a run: one of each query, None if it has no relevant passage."""
    refuse_answers(reader.policy, _ANSWERS, "measures of evidence")
    refuse_option(options, "chunks", "measures of evidence know the document of each chunk")
    found = evidence_of_run(reader, run)
    digest = found.digest()
    by_measure = {}
    for measure in measures:
        ratio = ratio_of(found, measure)
        values = ratio.values.tolist()
        by_query: dict[str, float | None] = dict(zip(found.queries, values, strict=True))
        for place in np.flatnonzero(ratio.empty).tolist():
            by_query[found.queries[place]] = None
        by_measure[measure] = ValuesOfRun(by_query, digest)
    return by_measure


@dataclass(frozen=True, eq=False)
class Ratio:
    """The values of a measure of evidence, each a quotient.

    Attributes:
        part: (q,) what is divided.
        whole: (q,) what it is divided by; if this is 0, the value is 0.
        empty: (q,) whether the query has no relevant passage.
        symbols: the quotient in words.
    """

    part: Floats
    whole: Floats
    empty: Bools
    symbols: str

    @property
    def values(self) -> Floats:
        """The quotients (q,)."""
        return divide_by_ideal(self.part, self.whole)


def ratio_of(found: EvidenceOfRun, measure: Measure) -> Ratio:
    """Return the values of a measure as quotients."""
    return COMPUTE[measure.name](found, measure)


def _among(names: Iterable[str], known: Iterable[str]) -> Ints:
    """Return the place of each name among the known ones; −1 if it isn't one of them."""
    place = {name: at for at, name in enumerate(known)}
    return np.array([place.get(name, -1) for name in names], np.int64)


def _recall(found: EvidenceOfRun, measure: Measure) -> Ratio:
    covered = found.covered(measure)
    part, whole = covered.found_within(measure.cutoff), covered.relevant
    return Ratio(part, whole, whole == 0, "found / evidence")


def _precision(found: EvidenceOfRun, measure: Measure) -> Ratio:
    covered = found.covered(measure)
    once = measure.parameters["overlap"] == "once"
    text = covered.retrieved_within(measure.cutoff, once=once)
    part = covered.found_within(measure.cutoff)
    return Ratio(part, text, covered.relevant == 0, "found / retrieved text")


def _intersection_over_union(found: EvidenceOfRun, measure: Measure) -> Ratio:
    covered = found.covered(measure)
    once = measure.parameters["overlap"] == "once"
    both = covered.found_within(measure.cutoff)
    text = covered.retrieved_within(measure.cutoff, once=once)
    whole = text + covered.relevant - both
    return Ratio(both, whole, covered.relevant == 0, "found / (retrieved text or evidence)")


def _precision_omega(found: EvidenceOfRun, measure: Measure) -> Ratio:
    covered = found.covered(measure)
    chunks = found.all_chunks(measure)
    chunk, _, _ = overlaps(chunks, covered.evidence)
    chosen = chunks.chosen(np.unique(chunk))
    ranks = np.ones(chosen.start.size, np.int64)
    best = Covered(covered.count, covered.evidence, covered.gain, chosen, ranks)
    once = measure.parameters["overlap"] == "once"
    part, whole = best.found_within(None), best.retrieved_within(None, once=once)
    return Ratio(part, whole, covered.relevant == 0, "evidence / text of its chunks")


def _ndcg(found: EvidenceOfRun, measure: Measure) -> Ratio:
    covered = found.covered(measure)
    query, rank, gains = covered.added()
    within = np.ones(rank.size, np.bool_) if measure.cutoff is None else rank <= measure.cutoff
    query, rank, gains = query[within], rank[within], gains[within]
    ideal = _IDEALS[measure.parameters["ideal"]](found, covered, measure)
    terms = gains * _discounts(measure, int(rank.max(initial=1)))[rank]
    totals = np.bincount(query, terms, covered.count).astype(np.float64)
    return Ratio(totals, ideal, ideal <= 0, "DCG / IDCG")


def _discounts(measure: Measure, depth: int) -> Floats:
    parameters = measure.parameters
    return discounts_of(parameters["discount"], parameters["base"], depth)


def _ideal_of_evidence(found: EvidenceOfRun, covered: Covered, measure: Measure) -> Floats:
    """Return the gains of lists whose chunks contain all evidence of a document each, the largest first."""
    sections = found.sections_of(covered.evidence)
    worth = covered.evidence.length * np.maximum(covered.gain, 0.0)
    of_section = np.bincount(sections, worth)
    query = np.zeros(of_section.size, np.int64)
    query[sections] = covered.evidence.query
    order = np.lexsort((-of_section, query))
    query, of_section = query[order], of_section[order]
    query, of_section = query[of_section > 0], of_section[of_section > 0]
    begins = np.searchsorted(query, query, "left")
    rank = np.arange(query.size) - begins + 1
    within = np.ones(rank.size, np.bool_) if measure.cutoff is None else rank <= measure.cutoff
    terms = of_section * _discounts(measure, int(rank.max(initial=1)))[rank]
    ideals: Floats = np.bincount(query[within], terms[within], covered.count).astype(np.float64)
    return ideals


def _ideal_of_chunks(found: EvidenceOfRun, covered: Covered, measure: Measure) -> Floats:
    """Return the gains of the greedy lists of chunks."""
    good = covered.gain > 0
    evidence, gain = covered.evidence.chosen(good), covered.gain[good]
    chunk, _, overlap = overlaps(found.all_chunks(measure), evidence)
    if not chunk.size:
        return np.zeros(covered.count)
    pieces, _ = first_ranks(overlap, np.ones(chunk.size, np.int64))
    ideals = np.zeros(covered.count)
    # Pieces are cut wherever a chunk begins or ends only if chunks overlap; otherwise they are the overlaps.
    worth = pieces.length * gain[np.searchsorted(evidence.start, pieces.start, "right") - 1]
    first = np.searchsorted(pieces.start, overlap.start, "left")
    last = np.searchsorted(pieces.start, overlap.end, "left")
    pair, piece = expanded(first, last)
    order = np.argsort(overlap.query[pair], kind="stable")
    pair, piece = pair[order], piece[order]
    query = overlap.query[pair]
    bounds = np.flatnonzero(np.diff(query, prepend=-1, append=-1))
    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows, row = np.unique(chunk[pair[start:end]], return_inverse=True)
        columns, column = np.unique(piece[start:end], return_inverse=True)
        matrix = np.zeros((rows.size, columns.size), np.bool_)
        matrix[row, column] = True
        depth = rows.size if measure.cutoff is None else measure.cutoff
        gains = greedy_gains(matrix, worth[columns], depth)
        ideals[query[start]] = float(
            (gains * _discounts(measure, max(gains.size, 1))[1 : gains.size + 1]).sum()
        )
    return ideals


_IDEALS: Mapping[str, Callable[[EvidenceOfRun, Covered, Measure], Floats]] = {
    "evidence": _ideal_of_evidence,
    "chunks": _ideal_of_chunks,
}


def _ranks_of_groups(found: EvidenceOfRun, measure: Measure) -> tuple[Ints, Ints]:
    """Return the query of each group, and the rank at which the chunks cover one of its passages."""
    covered = found.covered(measure)
    chosen = found.relevant(measure.parameters["rel"])
    passages = found.passages.chosen(chosen)
    ranks = rank_of_share(covered, passages, measure.parameters["cover"])
    groups, number = np.unique(found.evidence.group[chosen], return_inverse=True)
    best = np.full(groups.size, NEVER)
    np.minimum.at(best, number, ranks)
    query = np.zeros(groups.size, np.int64)
    query[number] = passages.query
    if measure.cutoff is not None:
        best[best > measure.cutoff] = NEVER
    return query, best


def _groups(found: EvidenceOfRun, measure: Measure) -> Ratio:
    query, rank = _ranks_of_groups(found, measure)
    whole = np.bincount(query, minlength=len(found.queries)).astype(np.float64)
    reached = np.bincount(query[rank < NEVER], minlength=len(found.queries)).astype(np.float64)
    return Ratio(reached, whole, whole == 0, "covered groups / groups")


def _last_rank(found: EvidenceOfRun, measure: Measure) -> tuple[Ints, Bools]:
    """Return the rank (q,) at which all groups are covered, and which queries have no group."""
    query, rank = _ranks_of_groups(found, measure)
    last = np.zeros(len(found.queries), np.int64)
    np.maximum.at(last, query, rank)
    return last, last == 0


def _complete(found: EvidenceOfRun, measure: Measure) -> Ratio:
    last, empty = _last_rank(found, measure)
    complete = ((last < NEVER) & ~empty).astype(np.float64)
    return Ratio(complete, np.ones(last.size), empty, "")


def _reciprocal_rank(found: EvidenceOfRun, measure: Measure) -> Ratio:
    last, empty = _last_rank(found, measure)
    complete = (last < NEVER) & ~empty
    whole = np.where(complete, last, 1).astype(np.float64)
    return Ratio(complete.astype(np.float64), whole, empty, "1 / rank of completeness")


COMPUTE: dict[str, Callable[[EvidenceOfRun, Measure], Ratio]] = {
    "evidence_recall": _recall,
    "evidence_precision": _precision,
    "evidence_IoU": _intersection_over_union,
    "evidence_precision_omega": _precision_omega,
    "evidence_nDCG": _ndcg,
    "evidence_groups": _groups,
    "evidence_complete": _complete,
    "evidence_complete_RR": _reciprocal_rank,
}


# --- the passages of one query, part by part


@dataclass(frozen=True, slots=True)
class ListedChunk:
    """A retrieved chunk.

    Attributes:
        rank: its rank, from 1.
        doc: its document.
        start: its first position.
        end: the position behind its last one.
        grade: the highest grade of a passage that it overlaps; 0 without one.
    """

    rank: int
    doc: str
    start: int
    end: int
    grade: float = 0.0

    @property
    def place(self) -> str:
        """Its document and its offsets."""
        return f"{self.doc} {self.start}–{self.end}"


@dataclass(frozen=True, slots=True)
class PassagePart:
    """A part of a passage, and the first chunk that contains it.

    Attributes:
        start: its first position.
        end: the position behind its last one.
        chunk: the chunk; None if no chunk contains it.
    """

    start: int
    end: int
    chunk: ListedChunk | None


@dataclass(frozen=True, slots=True)
class CoveredPassage:
    """A passage of a query.

    Attributes:
        doc: its document.
        start: its first position.
        end: the position behind its last one.
        grade: its grade.
        group: its group, as a number from 1.
        parts: what chunks contain, in the order of the text.
    """

    doc: str
    start: int
    end: int
    grade: float
    group: int
    parts: tuple[PassagePart, ...]

    @property
    def found(self) -> int:
        """The length of the parts that chunks contain."""
        return sum(part.end - part.start for part in self.parts if part.chunk is not None)


def listed_chunks(found: EvidenceOfRun, query: str, depth: int | None) -> list[ListedChunk]:
    """Return the chunks of a query in rank order, down to a rank."""
    chunks, passages = found.chunks, _passages(found, query)
    listed = []
    for row in found.rows_of(query)[1][:depth].tolist():
        doc, start, end = chunks.doc_names[chunks.docs[row]], chunks.start[row], chunks.end[row]
        grades = [
            grade
            for of_doc, first, last, grade, _ in passages
            if of_doc == doc and first < end and start < last
        ]
        rank = int(chunks.rank[row])
        listed.append(ListedChunk(rank, doc, int(start), int(end), max(grades, default=0.0)))
    return listed


def covered_passages(
    found: EvidenceOfRun, chunks: Sequence[ListedChunk], query: str
) -> list[CoveredPassage]:
    """Return the passages of a query, and which chunk contains each part of them first."""
    numbers: dict[int, int] = {}
    covered = []
    for doc, start, end, grade, group in _passages(found, query):
        number = numbers.setdefault(group, len(numbers) + 1)
        here = [one for one in chunks if one.doc == doc and one.start < end and start < one.end]
        ends = [min(max(at, start), end) for one in here for at in (one.start, one.end)]
        parts: list[PassagePart] = []
        for first, last in pairwise(sorted({start, end, *ends})):
            chunk = next((one for one in here if one.start <= first and last <= one.end), None)
            if parts and parts[-1].chunk == chunk:
                first = parts.pop().start
            parts.append(PassagePart(first, last, chunk))
        covered.append(CoveredPassage(doc, start, end, grade, number, tuple(parts)))
    return covered


def _passages(found: EvidenceOfRun, query: str) -> list[tuple[str, int, int, float, int]]:
    """Return the document, the ends, the grade and the group of each passage of a query, as given."""
    evidence, rows = found.evidence, found.rows_of(query)[0]
    columns = (evidence.docs, evidence.start, evidence.end, evidence.grade, evidence.group)
    numbers, *others = (column[rows].tolist() for column in columns)
    return list(zip((evidence.doc_names[number] for number in numbers), *others, strict=True))
