"""`Coverage` and `Evidence`: the queries and documents behind scores."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise
from typing import Any

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.matching.matched import Matched, cut
from gainful.matching.ranking import distinct
from gainful.measures.policy import Policy, brief_policy
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Note
from gainful.output.writing.result_base import Record

_DIGITS = 9  # smaller values in a sum are rounding errors
_COUNTS = (
    *("judged", "evaluated", "missing", "empty", "extra", "retrieved"),
    *("depth", "seen", "unjudged", "unjudged_share", "tied", "tied_queries"),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coverage(Record):
    """Counts of everything that could affect the scores of an evaluation.

    Attributes:
        judged: the number of queries with judgments.
        evaluated: how many of them are in the run.
        missing: the judged queries that the run lacks.
        empty: the judged queries without positive gain for at least one of the measures.
        extra: the run's queries without judgments.
        retrieved: the number of documents that the run contains for judged queries.
        depth: the rank down to which documents were examined, the deepest cutoff; None for all.
        seen: the number of documents down to this rank.
        unjudged: how many of these have no judgment; the expected number if ties are averaged over.
        tied: how many judged documents down to this rank share their score with another document.
        tied_queries: the number of queries with such documents.
    """

    judged: int
    evaluated: int
    missing: Sequence[str]
    empty: Sequence[str]
    extra: Sequence[str]
    retrieved: int
    depth: int | None
    seen: int
    unjudged: float
    tied: int
    tied_queries: int

    @property
    def unjudged_share(self) -> float:
        """The share of the examined documents without a judgment; 0 without documents."""
        return self.unjudged / self.seen if self.seen else 0.0

    def counts(self) -> Mapping[str, int | float | None]:
        """Every count by its name."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        return {
            name: len(count) if isinstance(count, Sequence) else count
            for name, count in counts.items()
        }

    def to_dict(self) -> dict[str, object]:
        """Return the counts, and the queries that are missing, empty or extra."""
        return dict(self.counts()) | {
            "missing_queries": [*self.missing],
            "empty_queries": [*self.empty],
            "extra_queries": [*self.extra],
        }

    def __str__(self) -> str:
        return coverage_sentences(self)

    def _empty_sentence(self, answers: Mapping[str, object] | None) -> str:
        return _empty(len(self.empty), self.judged, answers)

    def _sentences(self, answers: Mapping[str, object] | None, *, of_run: bool) -> str:
        said = query_sentences(self.judged, len(self.missing), answers)
        if self.empty and of_run:
            said.append(self._empty_sentence(answers))
        if self.extra:
            count = len(self.extra)
            said.append(
                f"{counted(count, 'query', 'queries')} in the run {'has' if count == 1 else 'have'} no judgments (ignored)."
            )
        said += unjudged_sentence(self.unjudged_share, _documents(self.seen, self.depth), answers)
        said += tied_sentence(self.tied, answers)
        return " ".join(said)


def coverage_sentences(
    coverage: Coverage, answers: Mapping[str, object] | None = None, *, of_run: bool = True
) -> str:
    """Describe what deviates from a complete evaluation, and how a policy treats it.

    Args:
        coverage: the coverage of a run.
        answers: the policy's answer to each choice; None leaves out how deviations are treated.
        of_run: whether to also describe queries without relevant documents, which are the same for
            every run.
    """
    return coverage._sentences(answers, of_run=of_run)  # noqa: SLF001 - no method of a result


# How the policy treats the deviations that the sentences about coverage mention.
_TREATMENTS: Mapping[str, Mapping[str, str]] = {
    "missing": {"zero": "scored 0", "skip": "skipped"},
    "empty": {
        "zero": "scored 0",
        "skip": "skipped",
        "skip_all": "skipped",
        "one": "scored 1",
        "abstain": "scored 1 if nothing was retrieved, else 0",
        "nan": "scored NaN",
    },
    "unjudged": {"zero": "scored 0", "condense": "removed"},
    "ties": {
        "doc": "ordered by id",
        "doc_ascending": "ordered by id, ascending",
        "average": "averaged over all orders",
        "best": "best grades first",
        "worst": "worst grades first",
        "order": "in input order",
    },
}
_ONE_PERCENT = 0.01


def _treated(choice: str, answers: Mapping[str, object] | None) -> str:
    """Return how the policy treats a deviation, in brackets; nothing without a policy."""
    if answers is None:
        return ""
    answer = str(answers.get(choice))
    named = _TREATMENTS[choice].get(answer)
    if named is None and choice == "unjudged":
        named = f"graded {answer}"
    return f" ({named})" if named else ""


def query_sentences(
    judged: int,
    missing: int,
    answers: Mapping[str, object] | None = None,
    units: tuple[str, str] = ("query", "queries"),
    lacking: str = "returned nothing",
) -> list[str]:
    """Return sentences about the number of queries, and how many of them the run doesn't answer.

    >>> query_sentences(24, 0), query_sentences(24, 1, {"missing": "skip"})
    (['24 queries.'], ['1 of 24 queries returned nothing (skipped).'])
    """
    of_all = counted(judged, *units)
    if not missing:
        return [f"{of_all}."]
    return [f"{missing:,} of {of_all} {lacking}{_treated('missing', answers)}."]


def unjudged_sentence(
    share: float, documents: str, answers: Mapping[str, object] | None = None
) -> list[str]:
    """Return a sentence about the share of documents without a grade; nothing if all have one.

    >>> unjudged_sentence(0.387, "the top 10", {"unjudged": "zero"})
    ['39% of the top 10 have no grade (scored 0).']
    """
    if not share:
        return []
    percent = f"{share:.0%}"
    if share < _ONE_PERCENT:
        percent = "Less than 1%"
    elif share == 1:
        percent = "All"
    elif share > 1 - _ONE_PERCENT:
        percent = "More than 99%"
    return [f"{percent} of {documents} have no grade{_treated('unjudged', answers)}."]


def tied_sentence(tied: int, answers: Mapping[str, object] | None = None) -> list[str]:
    """Return a sentence about the judged documents that share their score with another; nothing without any.

    >>> tied_sentence(2, {"ties": "doc"}), tied_sentence(0)
    (['2 judged documents have tied scores (ordered by id).'], [])
    """
    if not tied:
        return []
    documents = "1 judged document has a tied score"
    if tied > 1:
        documents = f"{tied:,} judged documents have tied scores"
    return [f"{documents}{_treated('ties', answers)}."]


def _empty(count: int, judged: int, answers: Mapping[str, object] | None) -> str:
    have = "has" if count == 1 else "have"
    return (
        f"{count:,} of {counted(judged, 'query', 'queries')} {have} no relevant documents"
        f"{_treated('empty', answers)}."
    )


def _documents(seen: int, depth: int | None) -> str:
    """Describe the documents that were examined.

    >>> _documents(240, 10), _documents(24, 1), _documents(2400, None)
    ('the top 10', 'the first documents', 'the 2,400 documents')
    """
    if depth is None:
        return f"the {counted(seen, 'document')}"
    return f"the top {depth}" if depth > 1 else "the first documents"


def notes_of(policy: Policy, coverage: Coverage) -> list[str]:
    """Return the notes under a table of one run: the coverage and the policy."""
    return [coverage_sentences(coverage, policy.answers()), policy_note(policy)]


def notes_by_run(coverages: Mapping[str, tuple[Coverage, Policy]]) -> list[str]:
    """Return a note on the coverage of each run, and a separate note on what is the same for all runs."""
    same = {
        coverage_sentences(coverage, policy.answers()) for coverage, policy in coverages.values()
    }
    if len(same) == 1:
        return [*same]
    shared = len({tuple(coverage.empty) for coverage, _ in coverages.values()}) == 1
    notes = [
        f"{name}: {coverage_sentences(coverage, policy.answers(), of_run=not shared)}"
        for name, (coverage, policy) in coverages.items()
    ]
    coverage, policy = next(iter(coverages.values()))
    if shared and coverage.empty:
        notes.append(coverage._empty_sentence(policy.answers()))  # noqa: SLF001 - no method of a result
    return notes


def policy_note(policy: Policy | str, before: str = "policy: ", behind: str = "") -> Note:
    """Return the note on a policy: all choices in a file, and only the changed ones on a screen.

    >>> policy_note(Policy(missing="skip").resolved(ids=True)).brief
    'policy: missing=skip, else default'
    """
    return Note(f"{before}{policy}{behind}", f"{before}{brief_policy(str(policy))}{behind}")


@dataclass(frozen=True, slots=True, eq=False)
class QueryCounts:
    """The counts behind an evaluation, query by query.

    Attributes:
        queries: (q,) ids of the judged queries, whether they count or not.
        judged: (q,) how many documents are judged.
        missing: (q,) True if the run lacks the query.
        empty: (q,) True without a positive gain for at least one of the measures.
        retrieved: (q,) how many documents the run contains.
        seen: (q,) how many of them were examined.
        unjudged: (q,) how many of these have no judgment; the expected number if ties are averaged
            over.
        tied: (q,) how many judged documents share their score with another document.
        extra: ids of the run's queries without judgments.
    """

    queries: tuple[str, ...]
    judged: Ints
    missing: Bools
    empty: Bools
    retrieved: Ints
    seen: Ints
    unjudged: Floats
    tied: Ints
    extra: tuple[str, ...]

    def only(self, chosen: Bools) -> "QueryCounts":
        """Return the counts of the chosen ones of the judged queries and, after them, of the others."""
        judged, others = np.split(chosen, [len(self.queries)])
        return QueryCounts(
            queries=_where(self.queries, judged),
            extra=_where(self.extra, others),
            **{name: getattr(self, name)[judged] for name in _PER_QUERY},
        )

    def coverage(self, policy: Policy, depth: int | None) -> Coverage:
        """Return the total of all queries, examined down to a depth."""
        return coverage_of(
            policy,
            judged=len(self.queries),
            evaluated=len(self.queries) - int(np.count_nonzero(self.missing)),
            missing=_where(self.queries, self.missing),
            empty=_where(self.queries, self.empty),
            extra=self.extra,
            retrieved=int(self.retrieved.sum()),
            depth=depth,
            seen=int(self.seen.sum()),
            unjudged=float(self.unjudged.sum()),
            tied=int(self.tied.sum()),
            tied_queries=int(np.count_nonzero(self.tied)),
        )


_PER_QUERY = ("judged", "missing", "empty", "retrieved", "seen", "unjudged", "tied")


def joined_counts(parts: Sequence[QueryCounts]) -> QueryCounts:
    """Return the counts of several batches of queries together."""
    return QueryCounts(
        queries=tuple(chain.from_iterable(part.queries for part in parts)),
        extra=tuple(chain.from_iterable(part.extra for part in parts)),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _PER_QUERY},
    )


def coverage_of(
    policy: Policy, *, retrieved: int, seen: int, unjudged: float, **others: Any
) -> Coverage:
    """Return the coverage of queries; condensed documents were dropped from the lists, but retrieved."""
    unjudged = in_documents(unjudged)
    dropped = int(unjudged) if policy.unjudged == "condense" else 0
    return Coverage(retrieved=retrieved + dropped, seen=seen + dropped, unjudged=unjudged, **others)


def in_documents(count: float) -> float:
    """Return a count of documents: a whole number, unless it is an average.

    >>> in_documents(2.9999999999999996), in_documents(2.5)
    (3, 2.5)
    """
    rounded = round(count, _DIGITS)
    return int(rounded) if rounded.is_integer() else rounded


def _where(queries: tuple[str, ...], chosen: Bools) -> tuple[str, ...]:
    return tuple(compress(queries, chosen.tolist()))


Hashes = tuple[str, str]  # hashes of the judgments and of the run


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evidence:
    """The basis of scores, apart from the values of queries.

    Attributes:
        counting: how many queries count for each measure.
        empty: how many queries have no positive gain for each measure.
        lists: the measured lists; None if only the values are kept.
        by_query: the counts of documents, query by query.
        depth: the last rank that was examined; None for all.
        covered: the coverage, if it doesn't follow from `by_query`.
        reaches: the last ranks that the measures see.
        rematch: matches the whole lists, if they were cut.
        hash_of: returns the hashes down to a reach, if no lists are kept.
    """

    counting: tuple[int, ...]
    empty: tuple[int, ...]
    lists: tuple[Matched, ...] = ()
    by_query: QueryCounts | None = None
    depth: int | None = None
    covered: Coverage | None = None
    reaches: frozenset[int | None] = frozenset()
    rematch: Callable[[], Sequence[Matched]] | None = None
    hash_of: Callable[[int | None], Hashes] | None = None

    @cached_property
    def _hashed(self) -> dict[int | None, Hashes]:
        return {}

    def hashes(self, reach: int | None) -> Hashes:
        """Return the hashes of the judgments and of the run, down to the last rank that a measure sees."""
        if reach not in self._hashed:
            compute = self.hash_of
            self._hashed[reach] = (
                _hashes_of(self.lists, reach) if compute is None else compute(reach)
            )
        return self._hashed[reach]

    def whole(self) -> Sequence[Matched]:
        """Return the lists down to the last rank; cut lists are read again."""
        if self.rematch is None:
            return self.lists
        remedy = "Evaluate again; with tie_warning, the same call also examines ties."
        try:
            batches = self.rematch()
        except InputError as problem:
            expected = (
                "judgments and run that can be read again, for the documents below the cutoff"
            )
            raise InputError("scores", expected, str(problem).rstrip("."), remedy) from None
        for reach in self.reaches:
            if _hashes_of(batches, reach) != self.hashes(reach):
                changed = "others: they have changed since"
                raise InputError("scores", "judgments and run as they were", changed, remedy)
        return batches

    @property
    def counts(self) -> QueryCounts:
        """The numbers of judged, retrieved and unjudged documents, query by query."""
        if self.by_query is None:
            raise InputError("judged", "scores of queries", "those of recommendations")
        return self.by_query

    def grades(self) -> list[float]:
        """Return the grades in the judgments, each once, ascending."""
        pools = [distinct(batch.pool_grades) for batch in self.lists]
        return distinct(np.concatenate(pools)).tolist() if pools else []

    def ends_of_grades(self) -> tuple[float, float]:
        """Return the lowest and the highest grade in the judgments; infinite without judgments."""
        lowest = min((batch.lowest_grade for batch in self.lists), default=math.inf)
        tops = (float(batch.pool_grades.max(initial=-math.inf)) for batch in self.lists)
        return lowest, max(tops, default=-math.inf)


def _hashes_of(batches: Sequence[Matched], reach: int | None) -> Hashes:
    """Return the hashes of the judgments and of the run down to a reach."""
    judgments, run = zip(*(digests(batch, reach) for batch in batches), strict=True)
    return short_hash(total(chain.from_iterable(judgments))), short_hash(
        total(chain.from_iterable(run))
    )


_SHOWN_BYTES = 6
_DIGEST_BYTES = 16
_MODULUS = 1 << 8 * _DIGEST_BYTES


def digests(matched: Matched, reach: int | None) -> tuple[list[int], list[int]]:
    """Return a digest (q,) of each query's judgments, and one of its run down to a reach.

    The first covers all judged grades. The second covers the ranks and grades of the judged
    documents that were retrieved, the number of retrieved documents, and whether the query is
    missing.
    """
    near = cut(matched, reach)
    names = [query.encode(errors="surrogatepass") for query in matched.queries]
    rows = np.stack([near.rank_first, near.rank_last, near.rank, _bits(near.grade)], axis=1)
    counts = np.stack([matched.retrieved, matched.missing.astype(np.int64)], axis=1)
    judgments = _each(names, _parts(_bits(matched.pool_grades)[:, None], matched.pool_offsets))
    listed = _parts(rows, near.offsets)
    counted = _parts(counts, np.arange(len(names) + 1))
    run = _each(names, (many + few for many, few in zip(listed, counted, strict=True)))
    return judgments, run


def total(digests_of_queries: Iterable[int]) -> int:
    """Add digests up, in any order.

    >>> total([1, 2, (1 << 128) - 1])
    2
    """
    return sum(digests_of_queries) % _MODULUS


def short_hash(sum_of_digests: int) -> str:
    """Return the hash that a signature shows, from the sum of the digests of all queries."""
    return digest_of([sum_of_digests.to_bytes(_DIGEST_BYTES, "little")])


def digest_of(parts: Iterable[bytes]) -> str:
    """Return the hash that a signature shows, of some bytes."""
    import hashlib  # imported here because most scores need no signature

    digest = hashlib.blake2b(digest_size=_SHOWN_BYTES)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def digest_of_texts(parts: Iterable[str]) -> str:
    """Return the hash that a signature shows, of some texts."""
    return digest_of(part.encode(errors="surrogatepass") for part in parts)


def _bits(numbers: Floats) -> Ints:
    return (numbers + 0.0).view(np.int64)  # + 0: equal values have equal bits, there is no −0


def _parts(rows: Ints, offsets: Ints) -> Iterable[bytes]:
    """Yield the bytes of the rows of each query, little-endian everywhere."""
    packed = np.ascontiguousarray(rows, "<i8").tobytes()
    ends = (offsets * (8 * rows.shape[1])).tolist()
    return (packed[start:end] for start, end in pairwise(ends))


def _each(names: list[bytes], parts: Iterable[bytes]) -> list[int]:
    import hashlib

    return [
        int.from_bytes(
            hashlib.blake2b(
                b"%d:%b%b" % (len(name), name, part), digest_size=_DIGEST_BYTES
            ).digest(),
            "little",
        )
        for name, part in zip(names, parts, strict=True)
    ]
