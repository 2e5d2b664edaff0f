"""Judgments of subtopics, from any kind of input, as dicts: query → subtopic → document → grade."""

from collections.abc import Mapping
from typing import Unpack

from gainful.errors import InputError, PolicyError
from gainful.matching.chunks_to_documents import without_self
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.matched import without_negative
from gainful.matching.reader import opened_session
from gainful.measures.policy import GivenPolicy, Policy, read_policy
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.id_types import UNTYPED, IdType
from gainful.rows.input_types import Judgments
from gainful.rows.run_and_judgment_columns import Columns, asked_columns, read_columns
from gainful.rows.side_table_columns import SUBTOPICS, WEIGHTS
from gainful.rows.side_table_reader import read_table
from gainful.rows.spark_frames import refuse_spark

Judged = dict[str, dict[str, dict[str, float]]]
Weights = Mapping[str, Mapping[str, float]]

# The answers that have a meaning if documents belong to several subtopics.
_ANSWERS = {
    "ties": ("auto", "doc", "doc_ascending"),
    "unjudged": ("zero", "condense", "error"),
    "absent": ("zero",),
    "fold": ("auto", "none"),
}


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
        policy: only its duplicates, drop_self and negative matter here.
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
    if names is not columns:  # otherwise, they are checked where they were read
        names.refuse_unused()
    return judged


def read_judged(
    judgments: object, columns: Columns, policy: Policy, session: Session
) -> tuple[Judged, IdType]:
    """Read judgments of subtopics, and the original type of their query ids."""
    refuse_spark(judgments, JUDGMENTS.name)
    asked = asked_columns(JUDGMENTS, columns, also="subtopic")
    table = read_table(judgments, SUBTOPICS, JUDGMENTS.name, columns=asked, session=session)
    if table.has_columns:
        for role in asked:
            columns.use(role, JUDGMENTS)
    judged: Judged = {}
    for query, *subtopics in table.groups:  # of dicts, which may be empty
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
    for query, subtopics_of in judged.items():
        for subtopic, docs in subtopics_of.items():
            kept = without_self(docs, query) if policy.drop_self == "yes" else docs
            unmarked = without_negative(kept) if policy.negative == "unjudged" else kept
            subtopics_of[subtopic] = {**unmarked}
    return judged, table.types.get("query", UNTYPED)


def read_weights(weights: object, judged: Judged) -> Weights | None:
    """Read the weights of the subtopics of every judged query; None if there are none.

    >>> read_weights({"q": {"a": 3, "b": 1}}, {"q": {"a": {}, "b": {}}})
    {'q': {'a': 3.0, 'b': 1.0}}
    """
    if weights is None:
        return None
    table = read_table(weights, WEIGHTS, "weights")
    by_query: dict[str, dict[str, float]] = {}
    rows = zip(table["query"], table["subtopic"], table["weight"], strict=True)
    for query, subtopic, weight in rows:
        if weight < 0:
            where = f"weights, query {query!r}, subtopic {subtopic!r}"
            raise InputError(where, "a number from 0", shown(weight))
        by_query.setdefault(query, {})[subtopic] = weight
    for query in judged:
        if query not in by_query:
            raise InputError("weights", "every judged query", f"none for query {query!r}")
    return by_query


def refuse_policy(policy: Policy) -> None:
    """Refuse a policy without a meaning if documents belong to several subtopics."""
    for choice, answers in _ANSWERS.items():
        if getattr(policy, choice) not in answers:
            raise PolicyError(
                f"policy {choice}",
                f"{' or '.join(answers)} for queries with subtopics",
                shown(getattr(policy, choice)),
            )
