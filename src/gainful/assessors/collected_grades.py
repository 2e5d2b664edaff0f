"""`CollectedGrades`: the grades that a model gave, and what is not judged and why."""

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from gainful.inputs.id_types import UNTYPED, IdType
from gainful.message_texts import counted, printable, shortened
from gainful.rendering.table_formats import Cell, Table
from gainful.writing.file_formats import POOLS, read_naming
from gainful.writing.packing import write_parts
from gainful.writing.run_like_result import DocumentsByQuery
from gainful.writing.runs_and_judgments import write_judgments

_SHOWN = 10
_LONGEST_ANSWER = 80  # characters of an answer in a table
State = Literal["graded", "unread", "failed", "no text", "not asked"]
_TOLD: Mapping[State, str] = {
    "graded": "graded",
    "unread": "with an answer that cannot be read",
    "failed": "without an answer",
    "no text": "without a text",
    "not asked": "not asked yet",
}


@dataclass(frozen=True, slots=True)
class CollectedItem:
    """A document of a query, and what came of asking a model about it.

    Attributes:
        query: its query.
        doc: its id.
        state: graded; unread, where the answer has no grade that can be read; failed, where there is no
            answer; no text, where nobody could be asked; or not asked.
        grade: what the model gave; None unless it is graded.
        answer: what the model said, if it did.
        why: it is not graded; empty where it is.
    """

    query: str
    doc: str
    state: State
    grade: float | None = None
    answer: str | None = None
    why: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class CollectedGrades(DocumentsByQuery):
    """The grades that a model gave: a dict {query: {doc: grade}}, and a table with a row for each.

    It goes wherever judgments go: to `evaluate`, `compare`, `agreement` and the like. What is not graded is not in the
    dict, but in `unread`, `failed`, `without_text` and `waiting`, each with what is known of it.

    Attributes:
        model: its name, the assessor.
        rows: all that was to be graded, in the order in which it came.
        prompts: how many prompts they make; the same one counts once.
        calls: how many calls were made, those that failed and those that were made again among them.
        cached: how many prompts were answered by the cache.
        tokens_in: of the prompts of these calls, as the server counts them.
        tokens_out: of their answers.
        cost: of these calls, where prices are given.
        cut: how many documents were longer than the model was shown.
        prompt_hash: of the template and the scale.
        first_prompt: as the model was, or would be, asked.
        unasked: how many prompts were not asked.
        unasked_characters: how long these are.
        limit: the one that ended the work, `max_calls` or `max_cost`; None where none did.
        query_type: what the ids of queries were, before they were text.
        doc_type: what those of documents were.
    """

    _called: ClassVar = "collected grades"
    model: str
    rows: tuple[CollectedItem, ...]
    prompts: int
    calls: int
    cached: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    cut: int
    prompt_hash: str
    first_prompt: str
    unasked: int = 0
    unasked_characters: int = 0
    limit: str | None = None
    query_type: IdType = field(default=UNTYPED, compare=False)
    doc_type: IdType = field(default=UNTYPED, compare=False)

    def __post_init__(self) -> None:
        found: dict[str, dict[str, float]] = {}
        for item in self.rows:
            if item.grade is not None:
                found.setdefault(item.query, {})[item.doc] = item.grade
        object.__setattr__(self, "_by_query", found)

    def _documents(self, query: str) -> dict[str, float]:
        return dict(self._by_query[query])

    @property
    def graded(self) -> tuple[CollectedItem, ...]:
        """What has a grade."""
        return self._in_state("graded")

    @property
    def unread(self) -> tuple[CollectedItem, ...]:
        """What was answered in a way that cannot be read, with the answers."""
        return self._in_state("unread")

    @property
    def failed(self) -> tuple[CollectedItem, ...]:
        """What was asked and not answered, with the reasons."""
        return self._in_state("failed")

    @property
    def without_text(self) -> tuple[CollectedItem, ...]:
        """What was not asked because a text is missing."""
        return self._in_state("no text")

    @property
    def waiting(self) -> tuple[CollectedItem, ...]:
        """What was not asked: in a dry run, or beyond a limit."""
        return self._in_state("not asked")

    def _in_state(self, state: State) -> tuple[CollectedItem, ...]:
        return tuple(item for item in self.rows if item.state == state)

    @property
    def summary(self) -> str:
        """The counts in a line."""
        counts = Counter(item.state for item in self.rows)
        text = f"{self.model}: {counts['graded']:,} of {counted(len(self.rows), 'document')} graded"
        text += "".join(
            f", {counts[state]:,} {told}"
            for state, told in _TOLD.items()
            if state != "graded" and counts[state]
        )
        text += f"; {counted(self.calls, 'call')}, {self.cached:,} cached"
        if self.tokens_in or self.tokens_out:
            text += f"; {self.tokens_in:,} tokens in, {self.tokens_out:,} out"
        if self.cost is not None:
            text += f"; cost {self.cost:,.4f}"
        if self.limit is not None:
            text += f"; stopped at {self.limit}, {counted(self.unasked, 'prompt')} left"
        if self.cut:
            text += f"; {counted(self.cut, 'text')} cut"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {**super().to_dict(), "judgments": {query: self[query] for query in self}}

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """Return a row for each grade, with the columns query, doc, assessor and grade."""
        rows: list[list[Cell]] = [
            [item.query, item.doc, self.model, _grade(item.grade)]
            for item in self.rows
            if item.grade is not None
        ]
        return Table(["query", "doc", "assessor", "grade"], rows, notes=[self.summary])

    def tables(self) -> list[Table]:
        """Return all that is shown to people."""
        return [self.table(), *([self._others()] if len(self.graded) < len(self.rows) else [])]

    def _others(self) -> Table:
        """Return what is not judged, and why; of answers, their beginning."""
        left = [item for item in self.rows if item.state != "graded"]
        rows: list[list[Cell]] = [
            [
                item.query,
                item.doc,
                item.why,
                None if item.answer is None else shortened(printable(item.answer), _LONGEST_ANSWER),
            ]
            for item in left[:_SHOWN]
        ]
        more = len(left) - len(rows)
        notes = [f"{more:,} more; JSON and `rows` have all"] if more > 0 else []
        return Table(["query", "doc", "why", "answer"], rows, title="not judged", notes=notes)

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the grades to a file, which is replaced only when the new one is complete.

        Args:
            path: of the file; `-` is standard output.
            format: trec, the lines `query 0 doc grade`; csv, tsv, jsonl or parquet, with the name of the model as
                assessor. json, which has what is not judged, too; markdown, latex, html or table. Told by the
                name if None: .qrels and .trec; .csv, .tsv, .json, .jsonl, .parquet, .md, .tex, .html, .txt. All
                but Parquet are packed where the name ends in .gz or .zst.
        """
        naming = read_naming(path, format, POOLS)
        if naming.format != "trec":
            super().write(path, format=format)
        elif self:
            write_judgments(self, path, format=format)
        else:
            write_parts([b""], path, naming.packing)

    def __repr__(self) -> str:
        return f"CollectedGrades({shortened(printable(self.summary), 400)})"


def _grade(value: float) -> Cell:
    return int(value) if value.is_integer() else value
