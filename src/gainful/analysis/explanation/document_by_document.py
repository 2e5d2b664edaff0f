"""The arithmetic of a measure of time and text: when the user reaches each document, and what it is then worth."""

import math
from collections.abc import Mapping
from dataclasses import replace

from gainful.analysis.explanation.worked_tables import Explanation, Part, Step
from gainful.evaluation.gains_ranks_and_ideals import said
from gainful.evaluation.tables_beside_judgments import lengths_of
from gainful.evaluation.time_and_text import Walk, walk_of_query
from gainful.matching.reader import Reader
from gainful.rows.input_types import Run

_MOST_RANKS = 8  # in a remark
_HEADINGS = {"TBG": ("exp(−t·ln 2/h)", "seconds"), "U": ("1 − x/L", "characters")}


def document_by_document(
    worked: Explanation, reader: Reader, run: Run, query: str, tables: Mapping[str, object]
) -> Explanation:
    """Return the explanation of a measure of time and text, with what each document adds."""
    measure = worked.measure
    weight, unit = _HEADINGS[measure.name]
    walked = walk_of_query(measure, reader, run, query, lengths_of(reader, tables))
    steps, total = [], 0.0
    rows = zip(walked.docs, walked.grades, walked.gains, walked.weights, strict=True)
    for rank, (doc, grade, gain, decay) in enumerate(rows, 1):
        total += float(gain * decay)
        known = None if math.isnan(grade) else float(grade)
        steps.append(
            Step(rank, rank, doc, known, float(gain), float(decay), float(gain * decay), total)
        )
    last = max(
        (step.rank for step in steps if step.contribution or step.grade is not None), default=1
    )
    beyond = max(len(steps) - last, 0)
    part = Part("the list", "sum", tuple(steps[:last]), total, beyond, "gain", weight)
    return replace(worked, parts=(part,), remark=_remark(walked, last, unit))


def _remark(walked: Walk, last: int, unit: str) -> str:
    """Describe when each document counts, and which documents are skipped."""
    shown = min(last, _MOST_RANKS)
    at = ", ".join(said(float(when)) for when in walked.at[:shown])
    more = ", …" if shown < last else ""
    repeated = [
        doc for doc, again in zip(walked.docs[:last], walked.repeats, strict=False) if again
    ]
    passed = f"; skipped as repeated: {', '.join(repeated[:_MOST_RANKS])}" if repeated else ""
    return f"{unit} at each rank: {at}{more}{passed}" if shown else ""
