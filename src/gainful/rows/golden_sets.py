"""Golden sets and supporting facts of other tools: the documents of each query in their records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gainful.errors import InputError, warn
from gainful.message_texts import shortened, shown
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.rows.identifiers import is_id
from gainful.rows.input_types import Record
from gainful.rows.run_and_judgment_columns import ALIASES
from gainful.rows.search_responses import FOUND, RELEVANT, fields_named, first_list, items_of

Documents = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Golden:
    """What a record of another tool says about one query.

    Attributes:
        query: its id or its text.
        groups: the relevant documents: all groups are needed, and any document of a group will do. None if
            the record has none.
        others: documents that were judged as not relevant.
        retrieved: the retrieved documents, in rank order: ids, or hits; None if the record has none.
        by_text: whether documents are identified by their texts.
    """

    query: Any
    groups: Sequence[Documents] | None = None
    others: Documents = ()
    retrieved: Documents | None = None
    by_text: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """The form of one tool's records.

    Attributes:
        name: the tool, or what the records are, for messages.
        fields: sets of fields; a record has this form if it contains all fields of any set.
        read: returns the query and the documents; None if the record has another form after all.
        relevant: the fields of relevant documents, for messages.
        retrieved: the fields of retrieved documents, for messages.
    """

    name: str
    fields: tuple[frozenset[str], ...]
    read: Callable[[Record], Golden | None]
    relevant: str
    retrieved: str = ""


def form_of(record: object) -> Form | None:
    """Return the form of a record; None if it is none of `FORMS`.

    >>> form_of({"qid": "q1", "retrieval_gt": [["a"]]}).name, form_of({"query": "q1", "doc": "a"})
    ('AutoRAG', None)
    """
    if not isinstance(record, Mapping) or record.keys().isdisjoint(_MARKS):
        return None
    names = record.keys()
    forms = (form for form in FORMS if any(fields <= names for fields in form.fields))
    return next((form for form in forms if form.read(record) is not None), None)


def golden_records(value: Any) -> list[Any] | None:
    """Return the records of a golden set; None for any other value."""
    if isinstance(value, Mapping):
        listed = value.get("examples") if "examples" in value else [value]
        value = list(items_of(listed) or ())
    return value if isinstance(value, list) and value and form_of(value[0]) else None


def fields_of_golden(record: Any, kind: Kind) -> str:
    """Return the fields of a record with the documents for judgments or for a run, for messages."""
    form = form_of(record)
    if form is None:
        return ""
    return form.relevant if kind.name == JUDGMENTS.name else form.retrieved


def documents_of_golden(
    records: Iterable[Any], kind: Kind, name: str, query: str | None
) -> Iterator[tuple[Any, Documents]]:
    """Yield the query of each record, and its documents for judgments or for a run.

    Args:
        records: the records, the first of which has one of `FORMS`.
        kind: judgments or run.
        name: the name of the input in messages.
        query: the field of the query, if the caller named it.
    """
    judged, warned = kind.name == JUDGMENTS.name, set[str]()
    for place, record in enumerate(records, 1):
        form, where = form_of(record), f"{name}, record {place}"
        golden = None if form is None else form.read(record)
        if form is None or golden is None:
            first = (
                ", ".join(map(repr, record))
                if isinstance(record, Mapping)
                else type(record).__name__
            )
            raise InputError(where, "the same fields as in record 1", shortened(first))
        if not is_id(asked := golden.query if query is None else record.get(query)):
            expected = "the query, as an id or as text"
            raise InputError(
                where, expected, "none", f"Name its field: columns {kind.name}.query=…."
            )
        found = golden.groups if judged else golden.retrieved
        if found is None:
            raise _no_documents(form, golden, where, judged=judged)
        docs = [doc for group in golden.groups or () for doc in group] if judged else []
        if not all(map(is_id, docs)):
            raise InputError(where, f"ids of documents in {form.relevant}", shortened(shown(docs)))
        if judged:
            for warning in _doubts(golden):
                if warning not in warned:
                    warned.add(warning)
                    warn(f"{name}: {warning}")
            graded = dict.fromkeys(golden.others, 0) | {
                doc: 1 for group in golden.groups or () for doc in group
            }
            found = [*graded.items()]
        yield asked, found


def _doubts(golden: Golden) -> Iterator[str]:
    """Yield what measures of documents miss in a record."""
    if golden.by_text:
        yield (
            "documents are identified by their texts, so a retrieved text counts only if it is the same, apart "
            "from white space. Ids of documents don't have this limit."
        )
    if any(len(group) > 1 for group in golden.groups or ()):
        yield (
            "a query needs any one of several documents, but most measures expect all of them. Pass the file "
            "as subtopics, too (subtopics=…, or --subtopic-judgments), and measure strec@k: the share of "
            "what a query needs that was found."
        )


def _no_documents(form: Form, golden: Golden, where: str, *, judged: bool) -> InputError:
    what, other = ("relevant", "retrieved") if judged else ("retrieved", "relevant")
    fields = form.relevant if judged else form.retrieved
    has_other = (golden.retrieved if judged else golden.groups) is not None
    found = f"a record of {form.name} {f'with {other}' if has_other else 'without'} documents"
    if not fields:
        remedy = (
            f"Records of {form.name} are judgments. Pass what your retriever returned as the run."
        )
        return InputError(where, f"{what} documents", found, remedy, code="input.swapped")
    remedy = f"Or pass {{query: [doc, …]}} with the {what} documents."
    return InputError(where, f"{what} documents in {fields}", found, remedy)


# --- the forms


def plain_text(text: Any) -> Any:
    """Return a text without differences in white space; anything else as it is."""
    return " ".join(text.split()) if isinstance(text, str) else text


def _texts(value: Any) -> list[Any] | None:
    """Return texts without differences in white space, each once; None for anything else."""
    items = items_of(value)
    if items is None or not all(isinstance(item, str) for item in items):
        return None
    return [*dict.fromkeys(map(plain_text, items))]


def _each(docs: Iterable[Any] | None) -> list[list[Any]] | None:
    """Return each document as a group of its own."""
    return None if docs is None else [[doc] for doc in docs]


def _query(record: Record) -> Any:
    """Return the id of a record's query, or else its text."""
    names = ("_id", "id", *ALIASES["query"])
    return next((record[name] for name in (*fields_named(record, names),)), None)


def _ragas(record: Record) -> Golden | None:
    """Read a record such as {"user_input": "…", "reference_contexts": ["…"], "retrieved_contexts": ["…"]}."""
    relevant, retrieved = (
        (items_of(record.get(f"{side}_context_ids")), _texts(record.get(f"{side}_contexts")))
        for side in ("reference", "retrieved")
    )
    by_text = relevant[0] is None and relevant[1] is not None
    groups, found = (ids if ids is not None else texts for ids, texts in (relevant, retrieved))
    query = record.get("user_input", record.get("query"))
    if groups is None and found is None:
        return None
    return Golden(query, _each(groups), (), None if found is None else [*found], by_text)


def _deepeval(record: Record) -> Golden | None:
    """Read a record such as {"input": "…", "context": ["…"], "retrieval_context": ["…"]}."""
    relevant, retrieved = _texts(record.get("context")), _texts(record.get("retrieval_context"))
    if relevant is None and retrieved is None:
        return None
    return Golden(record["input"], _each(relevant), (), retrieved, by_text=True)


def _autorag(record: Record) -> Golden | None:
    """Read lists of lists: all of these, any of those; also one list, or one id.

    Such as {"qid": "q1", "query": "…", "retrieval_gt": [["d1"], ["d2", "d3"]]}.
    """
    given = record["retrieval_gt"]
    groups = items_of(given)
    if groups is None:
        return Golden(_query(record), [[given]]) if is_id(given) else None
    nested = [items_of(group) for group in groups]
    return Golden(
        _query(record),
        [
            [group] if inner is None else [*inner]
            for group, inner in zip(groups, nested, strict=True)
        ],
    )


def _hotpot(record: Record) -> Golden | None:
    """Read supporting facts: [title, sentence] pairs, or a dict of both lists.

    Such as {"_id": "q1", "supporting_facts": [["title", 0]], "context": [["title", ["…"]]]}.
    """
    facts = record["supporting_facts"]
    titles = items_of(facts.get("title")) if isinstance(facts, Mapping) else None
    if titles is None:
        pairs = [items_of(fact) for fact in items_of(facts) or ()]
        if not all(pairs):
            return None
        titles = [next(iter(pair)) for pair in pairs if pair]
    if not all(map(is_id, titles)):
        return None
    context = record.get("context")
    known = items_of(context.get("title")) if isinstance(context, Mapping) else None
    if known is None:
        known = [next(iter(pair)) for pair in map(items_of, items_of(context) or ()) if pair]
    return Golden(_query(record), _each(dict.fromkeys(titles)), tuple(filter(is_id, known)))


_TRUTH = ("is_supporting", "is_relevant", "is_selected")
_PASSAGE_IDS = ("doc_id", "docid", "id", "title", "idx")


def _passages(record: Record) -> Golden | None:
    """Read passages that are marked as relevant or not.

    Such as {"id": "q1", "paragraphs": [{"title": "d1", "is_supporting": True}]}.
    """
    name = next((name for name in ("paragraphs", "passages") if name in record), "")
    passages = items_of(record.get(name))
    if not passages or not all(isinstance(passage, Mapping) for passage in passages):
        return None
    mark = next((mark for mark in _TRUTH if mark in next(iter(passages))), None)
    if mark is None:
        return None
    docs: dict[Any, bool] = {}
    for passage in passages:
        if not is_id(doc := _passage_id(passage)):
            return None
        docs[doc] = docs.get(doc, False) or bool(passage.get(mark))
    relevant = [doc for doc, is_relevant in docs.items() if is_relevant]
    # Paragraphs are a pool, in no order; passages are a list that was retrieved.
    retrieved = [*docs] if name == "passages" else None
    return Golden(_query(record), _each(relevant), tuple(docs), retrieved)


def _passage_id(passage: Record) -> Any:
    field = next((field for field in _PASSAGE_IDS if field in passage), None)
    return plain_text(passage.get("text")) if field is None else passage[field]


def _langsmith(record: Record) -> Golden | None:
    """Read the text among the inputs, and the documents among the outputs.

    Such as {"inputs": {"question": "…"}, "outputs": {"documents": ["d1"]}}.
    """
    inputs, outputs = record["inputs"], record.get("outputs")
    if not isinstance(inputs, Mapping) or not isinstance(outputs, Mapping | None):
        return None
    texts = {name: text for name, text in inputs.items() if isinstance(text, str)}
    named = fields_named(texts, ("question", "query", "input", *ALIASES["query"]))
    query = next(iter([texts[name] for name in named] or texts.values()), None)
    lists = {name: value for name, value in (outputs or {}).items() if items_of(value) is not None}
    only = [*lists.values()] if len(lists) == 1 else []
    relevant, found = (
        first_list(lists, names) if not only else items_of(only[0]) for names in (RELEVANT, FOUND)
    )
    groups, groups_by_text = _identified(relevant)
    retrieved, _ = _identified(found)
    return Golden(query, _each(groups), (), retrieved, groups_by_text)


def _identified(docs: Iterable[Any] | None) -> tuple[list[Any] | None, bool]:
    """Return the ids of documents, or else their texts, each once, and whether any is a text."""
    if docs is None:
        return None, False
    pairs = [(_id_within(doc), doc) for doc in docs]
    ids = [plain_text(_text_of(doc)) if id_ is None else id_ for id_, doc in pairs]
    if not all(map(is_id, ids)):
        return None, False
    return [*dict.fromkeys(ids)], any(id_ is None for id_, _ in pairs)


def _id_within(doc: Any) -> Any:
    """Return the id of a document, also of one with metadata; None for a document without one."""
    if not isinstance(doc, Mapping):
        return doc if is_id(doc) else None
    for fields in (doc, doc.get("metadata"), doc.get("kwargs")):
        if isinstance(fields, Mapping):
            for name in fields_named(fields, ("id", "_id", *ALIASES["doc"], "source")):
                if is_id(fields[name]):
                    return fields[name]
    return None


def _text_of(doc: Any) -> Any:
    if not isinstance(doc, Mapping):
        return None
    return next((doc[name] for name in ("page_content", "text", "content") if name in doc), None)


def _nuggets(record: Record) -> Golden | None:
    """Read the nuggets that an answer or a document supports; an answer is a document, in a list of its own.

    Such as {"qid": "q1", "docid": "d1", "nuggets": [{"text": "…", "assignment": "support"}]}.
    """
    nuggets = items_of(record["nuggets"])
    doc = next((record[name] for name in ("docid", "doc_id", "run_id") if name in record), None)
    if not is_id(doc) or not nuggets or not all(isinstance(each, Mapping) for each in nuggets):
        return None
    supported = any(nugget.get("assignment") == "support" for nugget in nuggets)
    return Golden(_query(record), [[doc]] if supported else [], () if supported else (doc,), [doc])


def _sets(*fields: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(names.split()) for names in fields)


FORMS: tuple[Form, ...] = (
    Form(
        "AutoRAG",
        _sets("retrieval_gt"),
        _autorag,
        "retrieval_gt",
    ),
    Form(
        "ragas",
        _sets(
            "user_input reference_contexts",
            "user_input reference_context_ids",
            "user_input retrieved_contexts",
            "user_input retrieved_context_ids",
            "query reference_contexts reference_answer",
        ),
        _ragas,
        "reference_context_ids or reference_contexts",
        "retrieved_context_ids or retrieved_contexts",
    ),
    Form(
        "deepeval",
        _sets("input context", "input retrieval_context"),
        _deepeval,
        "context",
        "retrieval_context",
    ),
    Form(
        "HotpotQA",
        _sets("supporting_facts question"),
        _hotpot,
        "supporting_facts",
    ),
    Form(
        "passages with marks",
        _sets("paragraphs question", "passages question", "passages query"),
        _passages,
        "paragraphs or passages",
        "passages",
    ),
    Form(
        "nuggetizer",
        _sets("nuggets qid"),
        _nuggets,
        "nuggets with support",
        "docid or run_id",
    ),
    Form(
        "LangSmith",
        _sets("inputs outputs"),
        _langsmith,
        "outputs",
        "outputs",
    ),
)
"""The forms, in the order in which they are tried."""
_MARKS = frozenset(name for form in FORMS for fields in form.fields for name in fields)


# --- other tables in the same records


def subtopic_rows(record: Record) -> Iterator[Record] | None:
    """Yield the relevant documents of a golden set with their groups as subtopics; None for other records.

    >>> [*subtopic_rows({"qid": "q1", "retrieval_gt": [["a"], ["b", "c"]]})][-1]
    {'query': 'q1', 'subtopic': '2', 'doc': 'c', 'grade': 1}
    """
    form = form_of(record)
    golden = None if form is None else form.read(record)
    if golden is None or golden.groups is None:
        return None
    return (
        {"query": golden.query, "subtopic": str(place), "doc": doc, "grade": 1}
        for place, group in enumerate(golden.groups, 1)
        for doc in group
    )


def nugget_rows(record: Record) -> Iterator[Record] | None:
    """Yield the nuggets that nuggetizer assigned to an answer or a document; None for other records."""
    if "nuggets" not in record or (golden := _nuggets(record)) is None:
        return None
    (doc,) = golden.retrieved or ()
    return (
        {
            "query": golden.query,
            "nugget": nugget.get("text"),
            "doc": doc,
            "importance": nugget.get("importance"),
            "support": nugget.get("assignment"),
        }
        for nugget in record["nuggets"]
    )


def abstention_rows(record: Record) -> Iterator[Record] | None:
    """Yield the probability of each passage in a record of UDCG's authors; None for other records."""
    passages = items_of(record.get("passages"))
    if not passages or not all(isinstance(passage, Mapping) for passage in passages):
        return None
    query = _query(record)
    return (
        {"query": query, "doc": _passage_id(passage), "probability": _probability(passage)}
        for passage in passages
    )


def _probability(passage: Record) -> Any:
    """Return the probability of the only model."""
    models = passage.get("models_info")
    if not isinstance(models, Mapping):
        return passage.get("no_res_prob")
    if len(models) != 1:
        found = shortened(", ".join(map(repr, models)) or "none")
        raise InputError("abstentions", "the probabilities of one model", found)
    return next(iter(models.values())).get("no_res_prob")
