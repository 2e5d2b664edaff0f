"""`CollectedGrades`: the grades given by a model, and the unjudged documents with reasons."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from gainful.message_texts import counted, printable, shortened
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.judgments_result import JudgmentsResult
from gainful.output.writing.output_files import POOLS
from gainful.rows.identifiers import UNTYPED, IdType

_SHOWN = 10
_LONGEST_ANSWER = 80  # characters of an answer in a table
State = Literal["graded", "unread", "failed", "no text", "not asked"]
_LABELS: Mapping[State, str] = {
    "graded": "graded",
    "unread": "with an unreadable answer",
    "failed": "without an answer",
    "no text": "without text",
    "not asked": "not asked yet",
}


@dataclass(frozen=True, slots=True)
class CollectedItem:
    """A document of a query, and the outcome of asking a model about it.

    Attributes:
        query: its query.
        doc: its id.
        state: graded; unread, if the answer contains no readable grade; failed, without an answer;
            no text, if text is missing; or not asked.
        grade: the model's grade; None unless it is graded.
        answer: the model's answer, if any.
        why: the reason why it is not graded, or empty.
    """

    query: str
    doc: str
    state: State
    grade: float | None = None
    answer: str | None = None
    why: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class CollectedGrades(JudgmentsResult):
    """The grades given by a model: a dict {query: {doc: grade}}, and a table with a row for each.

    It can be used wherever judgments are accepted: `evaluate`, `compare`, `agreement` and so on.
    Documents without a grade are not in the dict but in `unread`, `failed`, `without_text` and
    `waiting`, with their details.

    Attributes:
        model: the name of the model, as assessor.
        rows: all documents to grade, in the original order.
        prompts: the number of distinct prompts.
        calls: the number of calls, including failed and repeated ones.
        cached: the number of prompts answered from the cache.
        tokens_in: the tokens of these calls' prompts, as counted by the server.
        tokens_out: the tokens of their answers.
        cost: the cost of these calls, if prices are known.
        cut: the number of documents that were truncated for the model.
        prompt_hash: a hash of the template and the scale.
        first_prompt: the first prompt, as the model would see it.
        unasked: the number of prompts that were not sent.
        unasked_characters: the total length of these prompts.
        limit: the limit that stopped the work, `max_calls` or `max_cost`, or None.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
    """

    _called: ClassVar = "collected grades"
    _endings: ClassVar = POOLS
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
        by_query: dict[str, dict[str, float]] = {}
        for item in self.rows:
            if item.grade is not None:
                by_query.setdefault(item.query, {})[item.doc] = item.grade
        object.__setattr__(self, "_by_query", by_query)

    def _documents(self, query: str) -> dict[str, float]:
        return dict(self._by_query[query])

    @property
    def graded(self) -> tuple[CollectedItem, ...]:
        """The documents with a grade."""
        return self._in_state("graded")

    @property
    def unread(self) -> tuple[CollectedItem, ...]:
        """The documents with unreadable answers, with these answers."""
        return self._in_state("unread")

    @property
    def failed(self) -> tuple[CollectedItem, ...]:
        """The documents without an answer, with the reasons."""
        return self._in_state("failed")

    @property
    def without_text(self) -> tuple[CollectedItem, ...]:
        """The documents that were not sent because text is missing."""
        return self._in_state("no text")

    @property
    def waiting(self) -> tuple[CollectedItem, ...]:
        """The documents that were not sent, in a dry run or beyond a limit."""
        return self._in_state("not asked")

    def _in_state(self, state: State) -> tuple[CollectedItem, ...]:
        return tuple(item for item in self.rows if item.state == state)

    @property
    def summary(self) -> str:
        """The counts in one line."""
        counts = Counter(item.state for item in self.rows)
        text = f"{self.model}: {counts['graded']:,} of {counted(len(self.rows), 'document')} graded"
        text += "".join(
            f", {counts[state]:,} {label}"
            for state, label in _LABELS.items()
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
        """Return everything as plain values."""
        return {**super().to_dict(), "judgments": {query: self[query] for query in self}}

    def to_json(self) -> str:
        """Return everything as JSON."""
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
        """Return all tables for display."""
        return [self.table(), *([self._others()] if len(self.graded) < len(self.rows) else [])]

    def _others(self) -> Table:
        """Return the unjudged documents and the reasons, with the beginning of answers."""
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
        notes = [f"{more:,} more; see JSON or `rows` for all"] if more > 0 else []
        return Table(["query", "doc", "why", "answer"], rows, title="not judged", notes=notes)

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def __repr__(self) -> str:
        return f"CollectedGrades({shortened(printable(self.summary), 400)})"


def _grade(value: float) -> Cell:
    return int(value) if value.is_integer() else value
