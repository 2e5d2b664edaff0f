"""Hashes of what was measured: the same whatever kind of input, engine or order it came through.

Every query has a digest of its own, and the hash is of their sum. So machines that each see
a part of the queries can add up what they have.
"""

import hashlib
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.matching.matched import Matched, cut

_SHOWN_BYTES = 6
_DIGEST_BYTES = 16
_MODULUS = 1 << 8 * _DIGEST_BYTES


def digests(matched: Matched, reach: int | None) -> tuple[list[int], list[int]]:
    """Return a digest (q,) of the judgments of each query, and one of its run down to a reach.

    The first is of all judged grades, the second of the ranks and grades of the judged documents
    that were retrieved, how many documents were, and whether the query is missing.
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
    packed = sum_of_digests.to_bytes(_DIGEST_BYTES, "little")
    return hashlib.blake2b(packed, digest_size=_SHOWN_BYTES).hexdigest()


def _bits(numbers: Floats) -> Ints:
    return (numbers + 0.0).view(np.int64)  # + 0: equal values have equal bits, there is no −0


def _parts(rows: Ints, offsets: Ints) -> Iterable[bytes]:
    """Yield the bytes of the rows of each query, little-endian everywhere."""
    packed = np.ascontiguousarray(rows, "<i8").tobytes()
    ends = (offsets * (8 * rows.shape[1])).tolist()
    return (packed[start:end] for start, end in pairwise(ends))


def _each(names: list[bytes], parts: Iterable[bytes]) -> list[int]:
    return [
        int.from_bytes(
            hashlib.blake2b(
                b"%d:%b%b" % (len(name), name, part), digest_size=_DIGEST_BYTES
            ).digest(),
            "little",
        )
        for name, part in zip(names, parts, strict=True)
    ]
