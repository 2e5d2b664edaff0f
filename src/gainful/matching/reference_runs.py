"""`reference_judgments`: what a reference run found, as judgments of another run."""

from collections.abc import Mapping
from typing import Unpack

from gainful import arguments
from gainful.errors import InputError, warn
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.ranked_documents import by_score
from gainful.matching.reader import Reader, opened_session
from gainful.measures.policy import Policy
from gainful.message_texts import counted
from gainful.rows.input_types import Run


@takes(ReadingOptions)
def reference_judgments(
    run: Run,
    *,
    k: int = 10,
    within: float | None = None,
    **options: Unpack[ReadingOptions],
) -> dict[str, dict[str, float]]:
    """Return the first documents of a reference run as judgments with grade 1.

    The recall of another run against them is the share of the reference's top k that it found: of an
    approximate search against an exact one, or of a small model against a large one.

    Args:
        run: the reference, in any form of a run; distances are named as in any run, `columns={"rank": "distance"}`.
        k: the number of documents that count per query.
        within: also accept further documents whose score, or distance, differs from that of the k-th
            document by at most this much; 0 accepts ties. The reference must be deeper than k. Measure
            RelP@k, which divides by at most k.
        **options: see `ReadingOptions`.

    >>> exact = {"q": {"a": 0.9, "b": 0.8, "c": 0.795, "d": 0.3}}
    >>> reference_judgments(exact, k=2)
    {'q': {'a': 1.0, 'b': 1.0}}
    >>> reference_judgments(exact, k=2, within=0.01)
    {'q': {'a': 1.0, 'b': 1.0, 'c': 1.0}}
    """
    arguments.whole(k, "k", least=1)
    if within is not None:
        within = arguments.number(
            within, "within", "a non-negative number", lambda number: number >= 0
        )
    with opened_session(options) as (session, columns):
        reader = Reader(None, Policy(), session, columns, None)
        ties, returned = reader.decided(run).ties, reader.returned(run)
    if within is not None and all(map(_is_by_rank, returned.values())):
        expected = "a run with scores or distances, for documents within a distance"
        raise InputError("run", expected, "lists in rank order", "Leave within out.")
    judgments, shallow = {}, []
    for query, scores in returned.items():
        docs = by_score(scores, ties=ties)
        count = min(k, len(docs))
        if within is not None and count == k:
            least = scores[docs[k - 1]] - within
            count = sum(scores[doc] >= least for doc in docs)
            if count == len(docs):
                shallow.append(query)
        judgments[query] = dict.fromkeys(docs[:count], 1.0)
    if not any(judgments.values()):
        raise InputError("run", "a reference with documents", "empty lists only")
    if shallow:
        queries = counted(len(shallow), "query", "queries")
        warn(
            f"reference: every document of {queries}, such as {shallow[0]!r}, is within {within:g} of the one at "
            f"rank {k}, so documents below may be, too. Record the reference deeper."
        )
    return judgments


def _is_by_rank(scores: Mapping[str, float]) -> bool:
    """Return whether the scores only say the order: −1, −2 and so on."""
    return [*scores.values()] == [-rank for rank in range(1, len(scores) + 1)]
