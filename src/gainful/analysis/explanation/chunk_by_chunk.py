"""The arithmetic of a measure of evidence: what each retrieved chunk adds, and which passages the chunks cover."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gainful.analysis.explanation.printed_arithmetic import written_working
from gainful.analysis.explanation.worked_tables import Explanation, Part, Step
from gainful.evaluation.covered_passages import (
    CoveredPassage,
    ListedChunk,
    covered_passages,
    listed_chunks,
)
from gainful.evaluation.evidence import EvidenceOfRun, evidence_of_run, ratio_of
from gainful.evaluation.gains_ranks_and_ideals import Working, discounts_of
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure
from gainful.message_texts import counted
from gainful.rows.input_types import Run

_SUMS = ("evidence_recall", "evidence_precision", "evidence_IoU", "evidence_nDCG")
_MOST_PASSAGES = 8  # in a remark


def chunk_by_chunk(worked: Explanation, reader: Reader, run: Run, query: str) -> Explanation:
    """Return the explanation of a measure of evidence with the chunks instead of their documents."""
    found, measure = evidence_of_run(reader, run), worked.measure
    chunks = listed_chunks(found, query, measure.cutoff)
    ratio, place = ratio_of(found, measure), found.queries.index(query)
    if ratio.empty[place]:
        return worked
    sums = measure.name in _SUMS
    steps = _steps(found, measure, chunks, place)
    discounted = "discount" in measure.parameters
    last = max((step.rank for step in steps if step.gain or step.grade), default=1)
    part = Part(
        "the chunks",
        "DCG" if discounted else "found",
        steps[:last],
        steps[-1].sum if steps and sums else None,
        max(len(steps) - last, 0),
        worth="new evidence",
        weight="discount" if discounted else "",
        adds=sums and bool(steps),
    )
    quotient = (float(ratio.part[place]), float(ratio.whole[place]))
    is_worked = ratio.symbols and (sums or quotient[0])
    working = Working(ratio.symbols, "{} / {}", quotient) if is_worked else Working()
    remark = _remark(covered_passages(found, chunks, query), found.evidence.unit)
    return replace(
        worked, parts=(part,), remark=remark, working=written_working(working, worked.value)
    )


def _steps(
    found: EvidenceOfRun, measure: Measure, chunks: Sequence[ListedChunk], place: int
) -> tuple[Step, ...]:
    """Return what each chunk adds to the chunks above it."""
    query, rank, gains = found.covered(measure).added()
    own = query == place
    added = np.bincount(rank[own], gains[own], minlength=len(chunks) + 1)
    discounts = np.ones(len(chunks) + 1)
    if "discount" in measure.parameters:
        parameters = measure.parameters
        discounts = discounts_of(parameters["discount"], parameters["base"], len(chunks))
    steps, total = [], 0.0
    for chunk in chunks:
        gain, discount = float(added[chunk.rank]), float(discounts[chunk.rank])
        total += gain * discount
        steps.append(
            Step(
                chunk.rank,
                chunk.rank,
                chunk.place,
                chunk.grade,
                gain,
                discount,
                gain * discount,
                total,
            )
        )
    return tuple(steps)


def _remark(passages: Sequence[CoveredPassage], unit: str) -> str:
    """Describe where each passage was found."""
    several = len({passage.group for passage in passages}) < len(passages)
    said = [_said(passage, several=several) for passage in passages[:_MOST_PASSAGES]]
    if len(passages) > _MOST_PASSAGES:
        said.append(f"and {counted(len(passages) - _MOST_PASSAGES, 'more passage')}")
    return f"{unit}; {'; '.join(said)}"


def _said(passage: CoveredPassage, *, several: bool) -> str:
    ranks = dict.fromkeys(part.chunk.rank for part in passage.parts if part.chunk is not None)
    where = f"{passage.doc} {passage.start}–{passage.end}"
    if several:
        where += f" of group {passage.group}"
    if not ranks:
        return f"{where}: not retrieved"
    size = passage.end - passage.start
    share = "all" if passage.found == size else f"{passage.found} of {size}"
    at = "ranks" if len(ranks) > 1 else "rank"
    return f"{where}: {share} at {at} {', '.join(map(str, ranks))}"
