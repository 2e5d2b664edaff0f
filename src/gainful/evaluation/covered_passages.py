"""The passages of one query, part by part: which chunk of a run contains each part first."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gainful.evaluation.evidence import EvidenceOfRun


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
