"""`collect_evidence`: have a model quote the passages of documents that answer a query, and locate the quotes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Unpack, cast

from gainful import arguments
from gainful.analysis.linting.located_evidence import (
    FOUND,
    LocatedEvidence,
    Passage,
    located_passage,
)
from gainful.errors import InputError
from gainful.evaluation.request import read_unmeasured
from gainful.judging.assessors.answer_reading import Reading, forms_of, read_listed
from gainful.judging.assessors.collected_grades import CollectedGrades
from gainful.judging.assessors.collecting import (
    DEFAULTS,
    CollectingOptions,
    read_call,
    refuse_fixed,
)
from gainful.judging.assessors.pairs_and_texts import (
    Pairs,
    Texts,
    query_texts,
    read_pairs,
    refuse_missing_texts,
)
from gainful.judging.assessors.prompts import PASSAGE_SCALE, PASSAGES_PROMPT, read_template
from gainful.matching.keyword_options import InputOptions, MeasuringOptions, takes
from gainful.matching.reader import opened_session
from gainful.matching.span_inputs import texts_of
from gainful.message_texts import counted, shortened, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.run_like_result import ByQuery
from gainful.rows.identifiers import UNTYPED, IdType, examples
from gainful.rows.input_types import Run, TableLike
from gainful.rows.text_location import TextFinder

_PASSAGE = "passage"
_OWN = ("grades", "per_prompt")
_UNITS = ("characters", "bytes")
_SHOWN = 10
_SHOWN_TEXT = 60
_NO_DEPTH = "Set the depth: depth=10, on the command line --depth 10."


@dataclass(frozen=True, eq=False, repr=False)
class CollectedEvidence(ByQuery[list[dict[str, Any]]]):
    """The passages that a model quotes as evidence: a dict {query: [passage, …]}, and a table with a row for each.

    It can be used wherever evidence is accepted, in `evaluate`, `compare`, `calibrate` and so on, and so can
    the files that `write` creates. Only quotes that occur exactly once in the text that the model read are
    included. Offsets count characters. A query that has no passage has an empty list, if all of its documents
    were read; otherwise it is left out.

    Attributes:
        passages: all quotes, each with its place, or with the nearest passage and the reason for doubt.
        collected: the answers as collected: a document has the grade 1 if it contains a passage, and 0 if the model
            quotes none. Documents with a quote that isn't found exactly once are among the unread ones.
        query_type: the original type of query ids, before conversion to text.
        doc_type: the original type of document ids.
    """

    _called: ClassVar = "collected evidence"
    passages: tuple[Passage, ...]
    collected: CollectedGrades
    query_type: IdType = UNTYPED
    doc_type: IdType = UNTYPED

    def __post_init__(self) -> None:
        read: dict[str, bool] = {}
        for row in self.collected.rows:
            read[row.query] = read.get(row.query, True) and row.state == "graded"
        by_query: dict[str, dict[tuple[object, ...], dict[str, Any]]] = {
            query: {} for query in read
        }
        for one in self.passages:
            if one.status == FOUND:
                place = {"document": one.doc, "start_char": one.start, "end_char": one.end}
                by_query[one.query][*place.values()] = {**place, "text": one.text}
        lists = {
            query: [*places.values()] for query, places in by_query.items() if places or read[query]
        }
        object.__setattr__(self, "_by_query", lists)

    def _documents(self, query: str) -> list[dict[str, Any]]:
        return [dict(one) for one in self._by_query[query]]

    @property
    def doubtful(self) -> list[Passage]:
        """The quotes that are left out, because they occur nowhere in the text, or several times."""
        return [one for one in self.passages if one.status != FOUND]

    @property
    def summary(self) -> str:
        """The counts in one line."""
        count = sum(map(len, self._by_query.values()))
        text = f"{counted(count, _PASSAGE)} for {counted(len(self), 'query', 'queries')}"
        if self.doubtful:
            text += f", {counted(len(self.doubtful), 'quote')} left out"
        answers = self.collected.summary.replace(" graded", " read")
        return f"{text}; {answers.replace('an unreadable', 'a doubtful')}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        plain = super().to_dict()
        return {"evidence": dict(self), **plain, "collected": self.collected.to_dict()}

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def table(self) -> Table:
        """Return a row for each passage, with single blanks; a query without a passage has a row with the grade 0."""
        names = ("document", "start_char", "end_char")
        rows: list[list[Cell]] = []
        for query, passages in self._by_query.items():
            rows += [
                [query, *(one[name] for name in names), 1, " ".join(one["text"].split())]
                for one in passages
            ]
            rows += [] if passages else [[query, None, None, None, 0, None]]
        return Table(["query", *names, "grade", "text"], rows, notes=[self.summary])

    def tables(self) -> list[Table]:
        """Return all tables for display."""
        return [
            self.table(),
            *([self._left_out()] if self.doubtful else []),
            *self.collected.tables()[1:],
        ]

    def _left_out(self) -> Table:
        """Return the quotes that are left out, each with the nearest passage."""
        table = LocatedEvidence(self.doubtful).table()
        more = len(table.rows) - _SHOWN
        notes = [f"{more:,} more; see JSON or `doubtful` for all"] if more > 0 else []
        return Table(table.columns, table.rows[:_SHOWN], title="quotes left out", notes=notes)

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type, "document": self.doc_type}

    def __repr__(self) -> str:
        return f"CollectedEvidence({self.summary})"


@takes(CollectingOptions, DEFAULTS)
def collect_evidence(
    pairs: TableLike,
    model: Callable[..., Any] | str,
    *,
    docs: TableLike,
    queries: TableLike | None = None,
    offsets: str | None = None,
    chunk_table: TableLike | None = None,
    **options: Unpack[CollectingOptions],
) -> CollectedEvidence:
    r"""Have a model quote the passages of documents that answer a query, as evidence for `evaluate`.

    The model reads one document at a time, and ends its answer with a line `passage: …` for each passage, or with
    `passage: none`; or with JSON, `{"passages": ["…"]}`. Each quote is then located in the text that the model
    read, exactly or ignoring white space and the style of quotation marks. If a quote doesn't occur exactly once,
    it is left out, reported with the nearest passage, and its document counts as unread: the model is asked about
    it again if `ask_again` allows. Answers are cached, counted and limited as in `collect_grades`.

    Args:
        pairs: the documents to read: a pool, judgments, a table with query and doc, `{query: [doc, …]}`; with a
            `depth`, a run.
        model: a function from prompt to answer, or its location `module:name`; with an `endpoint`, the name of a
            model.
        docs: the text of the documents, in the same forms as the `documents` of `evaluate`: `{document: text}`, a
            table, or a folder of text files.
        queries: the text of the queries, as for `collect_grades`; None if the ids are the questions.
        offsets: "characters" or "bytes", if the pairs are a run of chunks with start and end. The model then reads
            chunks instead of documents.
        chunk_table: the positions of chunks, if the pairs are a run with ids of chunks, as for `evaluate`.
        **options: see `CollectingOptions`; `grades` and `per_prompt` are fixed.

    >>> def model(prompt):
    ...     return "passage: 25 days  of leave" if "25 days" in prompt else "passage: none"
    >>> docs = {"leave.md": "Staff have 25 days of leave.", "travel.md": "Book trains early."}
    >>> found = collect_evidence({"How many days of leave?": ["leave.md", "travel.md"]}, model, docs=docs)
    >>> found["How many days of leave?"]
    [{'document': 'leave.md', 'start_char': 11, 'end_char': 27, 'text': '25 days of leave'}]
    >>> found.summary
    '1 passage for 1 query; model: 2 of 2 documents read; 2 calls, 0 cached'
    """
    refuse_fixed(options, _OWN)
    chosen: CollectingOptions = {**DEFAULTS, **options}
    call = read_call(model, chosen)
    prompt = chosen.get("prompt")
    template = read_template(PASSAGES_PROMPT if prompt is None else prompt, PASSAGE_SCALE)
    if offsets is None and chunk_table is None:
        pairs_read, parts = _documents(pairs, docs, chosen, skip_missing=call.skips_missing)
    else:
        spans = {"documents": docs, "offsets": offsets, "chunk_table": chunk_table}
        pairs_read, parts = _chunks(pairs, spans, chosen)
    texts = {key: part.text[: call.longest] for key, part in parts.items()}
    cut = sum(len(text) < len(parts[key].text) for key, text in texts.items())
    questions = query_texts(pairs_read, queries, skip_missing=call.skips_missing, keys=call.keys)
    finder = TextFinder(texts)
    collected = call.collected(
        pairs_read, Texts(questions, texts, cut), template, partial(_readings, finder)
    )
    passages: list[Passage] = []
    for row in collected.rows:
        if row.answer is None:
            continue
        part = parts[row.doc]
        quotes, _ = read_listed(row.answer, (_PASSAGE,))
        passages += [
            _moved(one, part) for one in _located(quotes or (), row.doc, finder, row.query)
        ]
    return CollectedEvidence(tuple(passages), collected, pairs_read.query_type, pairs_read.doc_type)


class _Part(NamedTuple):
    """A text to read: a document, or a chunk that begins somewhere in it."""

    doc: str
    start: int
    text: str


def _documents(
    given: TableLike, docs: TableLike, options: CollectingOptions, *, skip_missing: bool
) -> tuple[Pairs, dict[str, _Part]]:
    """Return the documents to read."""
    pairs = read_pairs(given, options.get("depth"), options)
    with opened_session({**options, "queries": None}) as (session, _):
        texts = texts_of(docs, session)
    wanted = dict.fromkeys(doc for _, doc in pairs.items)
    found = {doc: texts[doc] for doc in wanted if texts.get(doc, "").strip()}
    refuse_missing_texts(wanted, found, "docs", skip_missing=skip_missing)
    return pairs, {doc: _Part(doc, 0, text) for doc, text in found.items()}


def _chunks(
    run: Run, spans: Mapping[str, Any], options: CollectingOptions
) -> tuple[Pairs, dict[str, _Part]]:
    """Return the chunks of a run to read, each with an id that tells its place."""
    depth = options.get("depth")
    if spans["offsets"] is not None:
        arguments.choice(spans["offsets"], "offsets", _UNITS)
    if depth is None:
        raise InputError("pairs", "a depth for a run of chunks", "none", _NO_DEPTH)
    deep = arguments.whole(depth, "depth", least=1, most=arguments.MOST_DOCUMENTS)
    plain = {name: value for name, value in options.items() if name in InputOptions.__annotations__}
    reading = cast("MeasuringOptions", {**plain, **spans, "progress": None})
    with read_unmeasured({}).reader_of(None, reading) as reader:
        assert reader.spans is not None  # noqa: S101 - one of its options is set
        chunks = reader.spans.chunks(run, reader.policy)
        texts = replace(reader.spans.texts, unit=chunks.unit)
    if chunks.unit not in _UNITS:
        raise InputError("offsets", " or ".join(_UNITS), chunks.unit, "Quotes have no tokens.")
    pairs, parts = [], {}
    known = texts.texts or {}
    columns = (chunks.query, chunks.docs, chunks.start, chunks.end, chunks.rank)
    for query, number, start, end, rank in zip(*(one.tolist() for one in columns), strict=True):
        doc = chunks.doc_names[number]
        if rank > deep:
            continue
        where = f"run, query {chunks.queries[query]!r}, rank {rank}"
        if doc not in known:
            raise InputError(where, f"one of the documents: {examples(known)}", repr(doc))
        if end > texts.length(doc):
            expected = (
                f"an end within document {doc!r}, which has {texts.length(doc)} {chunks.unit}"
            )
            raise InputError(where, expected, str(end))
        key = f"{doc} {start}–{end}"
        first = len(texts.part(doc, 0, start))
        parts[key] = _Part(doc, first, texts.part(doc, start, end))
        pairs.append((chunks.queries[query], key))
    if not pairs:
        raise InputError("pairs", "at least one query and chunk", "none")
    return Pairs(tuple(pairs), chunks.query_type), parts


def _readings(finder: TextFinder, answer: str, docs: Sequence[str]) -> list[Reading]:
    """Return whether an answer quotes passages of its document, each of which occurs exactly once."""
    (doc,) = docs
    quotes, why = read_listed(answer, (_PASSAGE,))
    if quotes is None:
        return [Reading(None, why)]
    for one in _located(quotes, doc, finder, ""):
        if one.status != FOUND:
            return [Reading(None, _doubt(one, doc, finder))]
    return [Reading(float(bool(quotes)))]


def _doubt(passage: Passage, doc: str, finder: TextFinder) -> str:
    """Return why a quote is left out."""
    quote = shown(shortened(passage.text, _SHOWN_TEXT))
    if passage.places:
        return f"{quote} occurs {passage.places:,} times in the text"
    near = finder.nearest(passage.text, doc)
    if near is None:
        return f"{quote} does not occur in the text"
    passed = shown(shortened(near.text, _SHOWN_TEXT))
    return f"{quote} does not occur in the text; the nearest passage is {passed} ({near.similarity:.0%} alike)"


def _located(
    quotes: Sequence[tuple[str, str]], doc: str, finder: TextFinder, query: str
) -> list[Passage]:
    """Return the place of each quote in a text; a quote may be in quotation marks of its own."""
    passages = []
    for _, quote in dict.fromkeys(quotes):
        forms = forms_of(quote)
        form = next((one for one in forms if finder.find(one, doc) is not None), forms[-1])
        passages.append(located_passage(query, form, doc, finder))
    return passages


def _moved(passage: Passage, part: _Part) -> Passage:
    """Return a passage with its place in the document instead of the text that was read."""
    start, end = passage.start, passage.end
    if start is None or end is None:
        return passage
    text = part.text[start:end] if passage.status == FOUND else passage.text
    start, end = start + part.start, end + part.start
    return replace(passage, text=text, doc=part.doc, start=start, end=end)
