"""The passages of a query in a report: their text, and the chunk of each run that contains each part of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gainful.arithmetic.cores import cached_property
from gainful.evaluation.evidence import (
    CoveredPassage,
    EvidenceOfRun,
    covered_passages,
    evidence_of_run,
    listed_chunks,
)
from gainful.matching.reader import Reader
from gainful.message_texts import shortened
from gainful.rows.input_types import Run
from gainful.rows.spans_of_documents import Texts

_MOST = 20  # passages of a query
_AROUND = 80  # characters before and after a passage
_LONGEST = 800  # characters of a part


@dataclass(frozen=True)
class EvidencePassages:
    """What the page shows about passages.

    Attributes:
        reader: the reader of the evidence and the runs.
        runs: the runs to read, by name.
        names: the names of all runs; a saved baseline has no chunks.
        depth: the last rank to show.
    """

    reader: Reader
    runs: Mapping[str, Run]
    names: Sequence[str]
    depth: int

    @cached_property
    def _found(self) -> list[EvidenceOfRun | None]:
        runs = (self.runs.get(name) for name in self.names)
        return [None if run is None else evidence_of_run(self.reader, run) for run in runs]

    def of(self, query: str) -> dict[str, Any]:
        """Return the passages of a query, with what each run contains of them."""
        by_run = [
            None
            if found is None
            else covered_passages(found, listed_chunks(found, query, self.depth), query)
            for found in self._found
        ]
        known = next((found for found in self._found if found is not None), None)
        some = next((passages for passages in by_run if passages is not None), None)
        if known is None or some is None:
            return {}
        texts = known.evidence.texts
        several = len({passage.group for passage in some}) < len(some)
        passages = [
            {
                "doc": passage.doc,
                "start": passage.start,
                "end": passage.end,
                "group": passage.group if several else None,
                **_around(texts, passage),
                "runs": [None if own is None else _parts(texts, own[place]) for own in by_run],
            }
            for place, passage in enumerate(some[:_MOST])
        ]
        unit = known.evidence.unit
        return {"evidence": {"unit": unit, "passages": passages, "of": len(some)}}


def _text(texts: Texts, doc: str, start: int, end: int) -> str | None:
    if texts.texts is None or texts.unit == "tokens" or doc not in texts.texts:
        return None
    return texts.part(doc, start, end)


def _around(texts: Texts, passage: CoveredPassage) -> dict[str, str]:
    """Return the text before and after a passage; empty where it is unknown."""
    start = max(0, passage.start - _AROUND)
    before = _text(texts, passage.doc, start, passage.start) or ""
    after = _text(texts, passage.doc, passage.end, passage.end + _AROUND) or ""
    return {
        "before": f"…{before}" if start > 0 else before,
        "after": f"{after}…" if len(after) == _AROUND else after,
    }


def _parts(texts: Texts, passage: CoveredPassage) -> list[list[Any]]:
    """Return the parts of a passage: the text, the ends, and the rank and the ends of the chunk."""
    parts = []
    for part in passage.parts:
        text = _text(texts, passage.doc, part.start, part.end)
        chunk = part.chunk
        of_chunk = [None] * 3 if chunk is None else [chunk.rank, chunk.start, chunk.end]
        text = None if text is None else shortened(text, _LONGEST)
        parts.append([text, part.start, part.end, *of_chunk])
    return parts
