"""Judgments of subtopics, from any kind of input, as dicts: query → subtopic → document → grade."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Unpack

from gainful.errors import InputError, PolicyError
from gainful.matching.chunks_to_documents import without_self
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.matched import without_negative
from gainful.matching.reader import opened_session
from gainful.measures.policy import GivenPolicy, Policy, read_policy
from gainful.message_texts import shown, shown_with_type
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.id_types import UNTYPED, IdType
from gainful.rows.identifiers import id_text
from gainful.rows.input_types import Judgments
from gainful.rows.run_and_judgment_columns import Columns, asked_columns, read_columns
from gainful.rows.side_table_columns import SUBTOPICS
from gainful.rows.side_table_reader import read_table
from gainful.rows.spark_frames import refuse_spark

Judged = dict[str, dict[str, dict[str, float]]]
Weights = Mapping[str, Mapping[str, float]]

# What has a meaning where documents belong to several subtopics.
_ANSWERS = {
    "ties": ("auto", "doc", "doc_ascending"),
    "unjudged": ("zero", "condense", "error"),
    "absent": ("zero",),
    "fold": ("auto", "none"),
}

_REMEDY = "Judgments without subtopics are for evaluate."


@takes(ReadingOptions)
def read_subtopics(
    judgments: Judgments,
    *,
    policy: GivenPolicy | None = None,
    **options: Unpack[ReadingOptions],
) -> Judged:
    """Read judgments of subtopics once, to measure several runs with them.

    Args:
        judgments: `{query: {subtopic: {doc: grade}}}`, the path of a file, a data frame, an Arrow
            object. A file is TREC with the four fields query, subtopic, doc and grade, or CSV, TSV,
            JSON, JSON lines, Parquet.
        policy: of which duplicates and drop_self matter here.
        **options: see `ReadingOptions`; subtopic is among the usual columns.

    Returns:
        A dict `{query: {subtopic: {doc: grade}}}`, ids as strings.

    >>> read_subtopics({"jaguar": {"cat": {"d1": 1}, "car": {"d2": 1, 3: 0}}})["jaguar"]["car"]
    {'d2': 1.0, '3': 0.0}
    """
    columns = options.get("columns")
    names = read_columns(columns, None, options.get("assessors"), subtopics=True)
    with opened_session(options) as session:
        judged, _ = read_judged(judgments, names, read_policy(policy), session)
    if names is not columns:  # else they are checked where they were read
        names.refuse_unused()
    return judged


def read_judged(
    given: object, columns: Columns, policy: Policy, session: Session
) -> tuple[Judged, IdType]:
    """Read what a caller gives as judgments, and what the ids of its queries were."""
    refuse_spark(given, JUDGMENTS.name)
    asked = asked_columns(JUDGMENTS, columns, also="subtopic")
    table = read_table(given, SUBTOPICS, JUDGMENTS.name, columns=asked, session=session)
    if table.has_columns:
        for role in asked:
            columns.use(role, JUDGMENTS)
    judged: Judged = {}
    for query, *subtopics in table.groups:  # of dicts, some may be empty
        judged.setdefault(query, {}).update({subtopic: {} for subtopic in subtopics})
    rows = zip(*(table[name] for name in ("query", "subtopic", "doc", "grade")), strict=True)
    for row, (query, subtopic, doc, grade) in enumerate(rows):
        docs = judged.setdefault(query, {}).setdefault(subtopic, {})
        if doc not in docs:
            docs[doc] = grade
        elif policy.duplicates == "best":
            docs[doc] = max(docs[doc], grade)
        elif policy.duplicates == "error":
            raise InputError(
                table.where(row),
                "each document once for a subtopic of a query",
                f"document {doc!r} of query {query!r}, subtopic {subtopic!r} again",
                "Remove one, or set the policy duplicates to first or best.",
                code="rows.duplicate",
            )
    counting = {
        query: {name: _counting(docs, query, policy) for name, docs in subtopics.items()}
        for query, subtopics in judged.items()
    }
    return counting, table.types.get("query", UNTYPED)


def _counting(docs: Mapping[str, float], query: str, policy: Policy) -> dict[str, float]:
    """Return the judged documents of a subtopic that count."""
    if policy.drop_self == "yes":
        docs = without_self(docs, query)
    return dict(without_negative(docs) if policy.negative == "unjudged" else docs)


def read_weights(given: object, judged: Judged) -> Weights | None:
    """Check the weights of the subtopics of every judged query.

    >>> read_weights({"q": {"a": 3, "b": 1}}, {"q": {"a": {}, "b": {}}})
    {'q': {'a': 3.0, 'b': 1.0}}
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        shape = "a dict {query: {subtopic: probability}}"
        raise InputError("weights", shape, f"{type(given).__name__}")
    weights: dict[str, dict[str, float]] = {}
    for query, subtopics in _by_id(given, "weights", "query"):
        where = f"weights, query {query!r}"
        if not isinstance(subtopics, Mapping):
            found = shown_with_type(subtopics)
            raise InputError(where, "a dict {subtopic: probability}", found, _REMEDY)
        weights[query] = {}
        for name, weight in _by_id(subtopics, where, "subtopic"):
            if not _is_weight(weight):
                expected = "a finite number from 0"
                raise InputError(f"{where}, subtopic {name!r}", expected, shown(weight))
            weights[query][name] = float(weight)
    for query in judged:
        if query not in weights:
            raise InputError("weights", "every judged query", f"none for query {query!r}")
    return weights


def _by_id(given: Mapping[Any, Any], where: str, role: str) -> Iterator[tuple[str, Any]]:
    """Yield what a dict holds by its id as a string."""
    seen = set()
    for key, value in given.items():
        text = id_text(key, where=f"{where}, {role} ids")
        if text in seen:
            raise InputError(where, f"each {role} once", f"{text!r} as a string and as an integer")
        seen.add(text)
        yield text, value


def _is_weight(value: object) -> bool:
    if isinstance(value, bool | str):
        return False
    try:
        return 0 <= float(value) < math.inf  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def refuse_policy(policy: Policy) -> None:
    """Refuse a policy without a meaning where documents belong to several subtopics."""
    for choice, answers in _ANSWERS.items():
        if getattr(policy, choice) not in answers:
            raise PolicyError(
                f"policy {choice}",
                f"{' or '.join(answers)} for queries with subtopics",
                shown(getattr(policy, choice)),
            )
