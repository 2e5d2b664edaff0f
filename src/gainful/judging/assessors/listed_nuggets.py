"""`collect_nuggets`: have a model list the facts that an answer to a query needs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from gainful.judging.assessors.answer_reading import Reading, forms_of, read_listed
from gainful.judging.assessors.collected_grades import CollectedGrades
from gainful.judging.assessors.collecting import (
    DEFAULTS,
    CollectingOptions,
    read_call,
    refuse_fixed,
)
from gainful.judging.assessors.pairs_and_texts import read_pairs
from gainful.judging.assessors.prompts import NUGGETS_PROMPT, PASSAGE_SCALE, read_template
from gainful.matching.keyword_options import takes
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.run_like_result import ByQuery
from gainful.rows.identifiers import UNTYPED, IdType
from gainful.rows.input_types import TableLike

_WORDS = ("vital", "okay")
_DEFAULTS: CollectingOptions = {**DEFAULTS, "per_prompt": 20}


@dataclass(frozen=True, eq=False, repr=False)
class CollectedNuggets(ByQuery[dict[str, str]]):
    """The facts that answers need, as a model lists them: a dict {query: {nugget: importance}}, and a table.

    It is what `collect_support` accepts as `nuggets`, and so are the files that `write` creates.

    Attributes:
        collected: the answers as collected; a document has the grade 1 if facts are listed from its prompt, else 0.
        query_type: the original type of query ids, before conversion to text.
    """

    _called: ClassVar = "collected nuggets"
    collected: CollectedGrades
    query_type: IdType = UNTYPED

    def __post_init__(self) -> None:
        by_query: dict[str, dict[str, tuple[str, str]]] = {}
        for row in self.collected.graded:
            items, _ = read_listed(row.answer or "", _WORDS)
            facts = by_query.setdefault(row.query, {})
            for word, text in items or ():
                fact = " ".join(forms_of(text)[1].split())
                before = facts.get(fact.casefold(), (fact, word))
                # A fact of several prompts is vital if one of them says so.
                facts[fact.casefold()] = before[0], min(word, before[1], key=_WORDS.index)
        listed = {query: dict(facts.values()) for query, facts in by_query.items() if facts}
        object.__setattr__(self, "_by_query", listed)

    def _documents(self, query: str) -> dict[str, str]:
        return dict(self._by_query[query])

    @property
    def summary(self) -> str:
        """The counts in one line."""
        count = counted(sum(map(len, self._by_query.values())), "nugget")
        queries = counted(len(self), "query", "queries")
        return f"{count} for {queries}; {self.collected.summary.replace(' graded', ' read')}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"nuggets": dict(self), "collected": self.collected.to_dict()}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """Return a row for each nugget, with the columns query, nugget and importance."""
        rows: list[list[Cell]] = [
            [query, fact, word] for query, facts in self.items() for fact, word in facts.items()
        ]
        return Table(["query", "nugget", "importance"], rows, notes=[self.summary])

    def tables(self) -> list[Table]:
        """Return all tables for display."""
        return [self.table(), *self.collected.tables()[1:]]

    def _id_types(self) -> dict[str, IdType]:
        return {"query": self.query_type}

    def __repr__(self) -> str:
        return f"CollectedNuggets({self.summary})"


@takes(CollectingOptions, _DEFAULTS)
def collect_nuggets(
    pairs: TableLike,
    model: Callable[..., Any] | str,
    *,
    docs: TableLike,
    queries: TableLike | None = None,
    **options: Unpack[CollectingOptions],
) -> CollectedNuggets:
    r"""Have a model list the nuggets of queries: the facts that an answer needs, vital or okay.

    The model reads the documents of a query together, and ends its answer with a line `vital: …` or `okay: …` for
    each fact, or with JSON, `{"vital": ["…"], "okay": ["…"]}`. Facts of several prompts about a query are joined;
    equal ones count once. Answers are cached, counted and limited as in `collect_grades`. Have people check the
    facts before `collect_support` looks for them in documents.

    Args:
        pairs: the documents to read: a pool, judgments, a table with query and doc, `{query: [doc, …]}`; with a
            `depth`, a run.
        model: a function from prompt to answer, or its location `module:name`; with an `endpoint`, the name of a
            model.
        docs: the text of documents, as for `collect_grades`.
        queries: the text of queries; None if the ids are the questions themselves.
        **options: see `CollectingOptions`; `grades` is fixed. A `prompt` contains {documents}.

    >>> def model(prompt):
    ...     return "vital: Return it within 30 days.\nokay: Any branch accepts returns."
    >>> docs = {"a": "Return it within 30 days, in any branch."}
    >>> collect_nuggets({"How do refunds work?": ["a"]}, model, docs=docs)["How do refunds work?"]
    {'Return it within 30 days.': 'vital', 'Any branch accepts returns.': 'okay'}
    """
    refuse_fixed(options, ("grades",))
    chosen: CollectingOptions = {**_DEFAULTS, **options}
    call = read_call(model, chosen)
    prompt = chosen.get("prompt")
    template = read_template(
        NUGGETS_PROMPT if prompt is None else prompt, PASSAGE_SCALE, several=call.together > 1
    )
    to_read = read_pairs(pairs, chosen.get("depth"), chosen)
    texts = call.texts(to_read, queries, docs)
    collected = call.collected(to_read, texts, template, _readings)
    return CollectedNuggets(collected, to_read.query_type)


def _readings(answer: str, docs: Sequence[str]) -> list[Reading]:
    """Return whether an answer lists facts; its documents share the answer."""
    facts, why = read_listed(answer, _WORDS)
    return [Reading(None if facts is None else float(bool(facts)), why)] * len(docs)
