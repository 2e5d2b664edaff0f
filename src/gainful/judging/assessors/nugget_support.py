"""`collect_support`: have a model say which documents support which nuggets of a query's answer."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

from gainful.errors import InputError, warn
from gainful.evaluation.model_answers import is_vital
from gainful.judging.assessors.collected_grades import CollectedGrades
from gainful.judging.assessors.collecting import (
    DEFAULTS,
    CollectingOptions,
    read_call,
    refuse_fixed,
)
from gainful.judging.assessors.pairs_and_texts import Pairs, read_pairs
from gainful.judging.assessors.prompts import SUPPORT_PROMPT, SUPPORT_SCALE, read_template
from gainful.matching.keyword_options import takes
from gainful.message_texts import counted, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.judgments_result import JudgmentsResult
from gainful.output.writing.output_files import POOLS
from gainful.rows.identifiers import UNTYPED, IdType, examples
from gainful.rows.input_types import TableLike
from gainful.rows.side_table_columns import FACTS
from gainful.rows.side_table_reader import read_table

_WORDS = {grade: word for word, grade in SUPPORT_SCALE.words.items()}
_OWN = ("grades", "per_prompt")


@dataclass(frozen=True, eq=False, repr=False)
class CollectedSupport(JudgmentsResult):
    """The support that a model finds in documents for nuggets; as judgments, the best support of each nugget.

    Its table has a row for each nugget and document, and is what `nuggets=` reads. As a dict, it is
    {query: {nugget: best support}}, for `calibrate`.

    Attributes:
        importance: {(query, nugget): vital or okay}.
        collected: the grades as collected, with the pair [query, nugget] as JSON in place of a query:
            unreadable answers, calls, tokens and cost.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
    """

    _called: ClassVar = "collected support"
    _endings: ClassVar = POOLS
    importance: Mapping[tuple[str, str], str]
    collected: CollectedGrades
    query_type: IdType = UNTYPED
    doc_type: IdType = UNTYPED

    def __post_init__(self) -> None:
        best: dict[str, dict[str, float]] = {}
        for query, nugget in self.importance:
            if support := self._support(query, nugget):
                best.setdefault(query, {})[nugget] = max(support.values())
        object.__setattr__(self, "_by_query", best)

    def _documents(self, query: str) -> dict[str, float]:
        return dict(self._by_query[query])

    def _support(self, query: str, nugget: str) -> dict[str, float]:
        """Return the support of a nugget by each document: 1, 0.5 or 0."""
        return dict(self.collected.get(_key(query, nugget), {}))

    @property
    def nuggets(self) -> dict[str, dict[str, dict[str, tuple[str, str]]]]:
        """The same as a dict {query: {nugget: {doc: (importance, support)}}}, for `nuggets=`."""
        nested: dict[str, dict[str, dict[str, tuple[str, str]]]] = {}
        for query, nugget, doc, importance, support in self.table().rows:
            docs = nested.setdefault(str(query), {}).setdefault(str(nugget), {})
            docs[str(doc)] = str(importance), str(support)
        return nested

    @property
    def summary(self) -> str:
        """The counts in one line."""
        count = counted(len(self.importance), "nugget")
        return f"{count}; {self.collected.summary.replace('documents graded', 'answers read')}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        rows = [dict(zip(self.table().columns, row, strict=True)) for row in self.table().rows]
        return {"nuggets": rows, "collected": self.collected.to_dict()}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """Return a row for each nugget and document, with the columns query, nugget, doc, importance and support."""
        rows: list[list[Cell]] = [
            [query, nugget, doc, importance, _WORDS[support]]
            for (query, nugget), importance in self.importance.items()
            for doc, support in self._support(query, nugget).items()
        ]
        return Table(
            ["query", "nugget", "doc", "importance", "support"], rows, notes=[self.summary]
        )

    def tables(self) -> list[Table]:
        """Return all tables for display."""
        return [self.table(), *self.collected.tables()[1:]]

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "doc": self.doc_type}

    def __repr__(self) -> str:
        return f"CollectedSupport({self.summary})"


@takes(CollectingOptions, DEFAULTS)
def collect_support(
    pairs: TableLike,
    model: Callable[..., Any] | str,
    *,
    nuggets: TableLike,
    docs: TableLike,
    queries: TableLike | None = None,
    **options: Unpack[CollectingOptions],
) -> CollectedSupport:
    r"""Have a model say which documents support which nuggets, the facts that an answer needs.

    The model reads one document and one nugget at a time, and ends its answer with `grade: support`,
    `grade: partial_support` or `grade: not_support`. Answers are read, cached and counted as in
    `collect_grades`.

    Args:
        pairs: the documents to read: a pool, judgments, a table with query and doc, `{query: [doc, …]}`;
            with a `depth`, a run. A generated answer is a document, too.
        model: a function from prompt to answer, or its location `module:name`; with an `endpoint`,
            the name of a model.
        nuggets: `{query: [nugget, …]}`, `{query: {nugget: importance}}`, or a table with a query, a nugget and
            optionally its importance, `vital` or `okay`. Without one, nuggets are vital.
        docs: the text of documents, as for `collect_grades`.
        queries: the text of queries; None if the ids are the questions themselves.
        **options: see `CollectingOptions`; `grades` and `per_prompt` are fixed. In a `prompt`, {query} is the question
            and the nugget.

    >>> def model(prompt):
    ...     return "grade: support" if "thirty days" in prompt.split("The text:")[1] else "grade: not_support"
    >>> found = collect_support(
    ...     {"q": ["a", "b"]}, model, nuggets={"q": ["within 30 days"]}, queries={"q": "refunds?"},
    ...     docs={"a": "Return it within thirty days.", "b": "Bring the receipt."},
    ... )
    >>> found.nuggets, found["q"]
    ({'q': {'within 30 days': {'a': ('vital', 'support'), 'b': ('vital', 'not_support')}}}, {'within 30 days': 1.0})
    """
    refuse_fixed(options, _OWN)
    chosen: CollectingOptions = {**DEFAULTS, **options}
    call = read_call(model, chosen)
    prompt = chosen.get("prompt")
    template = read_template(SUPPORT_PROMPT if prompt is None else prompt, SUPPORT_SCALE)
    importance = _importance_of(nuggets)
    read = read_pairs(pairs, chosen.get("depth"), chosen)
    asked = dict.fromkeys(query for query, _ in importance)
    to_read = replace(read, items=tuple(pair for pair in read.items if pair[0] in asked))
    if not to_read.items:
        queries_read = dict.fromkeys(query for query, _ in read.items)
        expected = f"nuggets of the queries to read, such as {examples(queries_read)}"
        raise InputError("nuggets", expected, examples(asked) or "none")
    texts = call.texts(to_read, queries, docs)
    by_query: dict[str, list[str]] = {}
    for query, nugget in importance:
        by_query.setdefault(query, []).append(nugget)
    lists, questions = _questions(to_read, by_query, texts.queries)
    to_ask = tuple((key, doc) for key, listed in lists.items() for doc in listed)
    collected = call.collected(Pairs(to_ask), replace(texts, queries=questions), template)
    known = {pair: word for pair, word in importance.items() if _key(*pair) in lists}
    bare = [pair for pair in known if _key(*pair) not in collected]
    if bare and not call.dry:
        warn(
            f"nuggets: {counted(len(bare), 'nugget')} of {len(known):,} have no readable answer, and are left out: "
            f"{examples([nugget for _, nugget in bare])}."
        )
    return CollectedSupport(known, collected, to_read.query_type, to_read.doc_type)


def _key(query: str, nugget: str) -> str:
    """Return the id of a nugget, as JSON, so that no two are the same."""
    return json.dumps([query, nugget], ensure_ascii=False)


def _importance_of(given: TableLike) -> dict[tuple[str, str], str]:
    """Return the importance of each nugget of each query."""
    if isinstance(given, Mapping):
        given = [
            {"query": query, "nugget": nugget, "importance": word}
            for query, listed in given.items()
            for nugget, word in _words_of(query, listed)
        ]
    table = read_table(given, FACTS, "nuggets")
    importance = {}
    rows = zip(table["query"], table["nugget"], table["importance"], strict=True)
    for row, (query, nugget, word) in enumerate(rows):
        where = f"{table.where(row)}, query {query!r}, nugget {shown(nugget)}"
        importance[query, nugget] = "vital" if is_vital(word, where) else "okay"
    return importance


def _words_of(query: object, listed: object) -> Iterable[tuple[object, object]]:
    """Return the nuggets of a query in a dict, each with its importance or None."""
    if isinstance(listed, Mapping):
        return listed.items()
    if isinstance(listed, list | tuple | set | frozenset):
        return [(nugget, None) for nugget in listed]
    expected = "a list of nuggets, or {nugget: importance}"
    raise InputError(f"nuggets, query {shown(query)}", expected, shown(listed))


def _questions(
    pairs: Pairs, nuggets: Mapping[str, list[str]], texts: Mapping[str, str]
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the documents and the text of each nugget of the queries to read, by its id."""
    lists: dict[str, list[str]] = {}
    questions = {}
    for query, doc in pairs.items:
        for nugget in nuggets[query]:
            key = _key(query, nugget)
            lists.setdefault(key, []).append(doc)
            if query in texts:
                questions[key] = f"{texts[query]}\n\nThe fact:\n{nugget}"
    return lists, questions
