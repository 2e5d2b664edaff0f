"""Arrays of labels and scores, checked and flattened to lists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from gainful.arithmetic.number_arrays import LARGEST_EXACT, Numbers, as_array, checked_numbers
from gainful.array_types import AnyArray, Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.message_texts import shown
from gainful.rows.identifiers import TEXT, UNTYPED, IdType, id_text, in_order

BATCH_DIMENSIONS = 2
_MOST_NAMES = 100_000  # cached


@dataclass(frozen=True, slots=True)
class Lists:
    """The documents of all queries, concatenated.

    The list of query q is `labels[starts[q] : starts[q] + lengths[q]]`, and likewise for scores.
    A document with the score −∞ is judged but not returned.

    Attributes:
        queries: ids, sorted if the caller gave them; otherwise numbers in input order.
        starts: (q,) the position of each query's first document.
        lengths: (q,) the number of documents of each query.
        labels: (n,) the grades.
        scores: (n,) the scores.
        query_type: the original type of the query ids.
        masked: whether any score is −∞.
        returned: (q,) the number of documents that were returned, if only those at the top are listed; then
            a document with the label 0 is not judged. None if all documents are listed and judged.
    """

    queries: tuple[str, ...]
    starts: Ints
    lengths: Ints
    labels: Numbers
    scores: Numbers
    query_type: IdType = UNTYPED
    masked: bool = False
    returned: Ints | None = None

    def split(self, parts: int) -> list["Lists"]:
        """Split into about `parts` parts of equal size, without dividing any list."""
        ends = np.cumsum(self.lengths)
        shares = np.arange(1, parts) * int(ends[-1]) // parts
        bounds = np.unique(np.concatenate(([0], np.searchsorted(ends, shares) + 1, [ends.size])))
        return [
            replace(
                self,
                queries=self.queries[start:end],
                starts=self.starts[start:end],
                lengths=self.lengths[start:end],
                returned=None if self.returned is None else self.returned[start:end],
            )
            for start, end in pairwise(bounds.tolist())
        ]


def read_lists(
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    group: ArrayLike | None = None,
    query: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> Lists:
    """Check and flatten arrays: `[batch, list]`, or flat with `group` sizes or `query` ids.

    >>> read_lists([1, 0, 2], [0.3, 0.2, 0.1], query=["b", "a", "b"]).lengths.tolist()
    [1, 2]
    """
    _warn_of_other_order(labels=labels, scores=scores, query=query)
    given = as_array(labels, "labels")
    if given.ndim not in (1, BATCH_DIMENSIONS):
        raise InputError("labels", "[batch, list] or a flat array", f"{given.ndim} dimensions")
    valid = _mask(mask, given.shape)
    grades = checked_numbers(given, "labels", valid).ravel()
    numbers = as_array(scores, "scores")
    if numbers.shape != given.shape:
        raise InputError("scores", f"the shape of labels, {given.shape}", f"{numbers.shape}")
    there, masked = _without_mask(numbers, valid)
    numbers = checked_numbers(numbers, "scores", there).ravel()

    names, lengths, order, query_type = _segments(given.shape, group, query)
    if order is not None:
        grades, numbers = grades[order], numbers[order]
    if valid is not None:
        kept = valid.ravel() if order is None else valid[order]
        # A fully masked list stays, without documents: no query is dropped.
        inside = np.concatenate(([0], np.cumsum(kept)))
        ends = np.cumsum(lengths)
        lengths = inside[ends] - inside[ends - lengths]
        grades, numbers = grades[kept], numbers[kept]
    if not grades.size:
        raise InputError("labels", "at least one document", "none")

    starts = np.cumsum(lengths) - lengths
    if names is None:
        queries = _numbered(lengths.size)
        return Lists(queries, starts, lengths, grades, numbers, masked=masked)
    by_name = in_order(names)
    if by_name != names:
        places = dict(zip(names, range(len(names)), strict=True))
        by_id = np.array([places[name] for name in by_name], np.int64)
        starts, lengths = starts[by_id], lengths[by_id]
    return Lists(tuple(by_name), starts, lengths, grades, numbers, query_type, masked)


def named_lists(
    shape: tuple[int, ...], group: ArrayLike | None, query: ArrayLike | None
) -> tuple[Sequence[str], Ints | None]:
    """Return the names of lists, in the order of the input, and the list of each document of a flat array.

    >>> names, owners = named_lists((3,), None, ["b", "a", "b"])
    >>> names, owners.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    names, lengths, order, _ = _segments(shape, group, query)
    owners = np.repeat(np.arange(lengths.size), lengths)
    if order is not None:
        owners[order] = owners.copy()
    batch = len(shape) == BATCH_DIMENSIONS
    return _numbered(lengths.size) if names is None else names, None if batch else owners


def _numbered(count: int) -> tuple[str, ...]:
    """Return names for lists without ids: their positions."""
    return _kept_names(count) if count <= _MOST_NAMES else tuple(map(str, range(count)))


@lru_cache(maxsize=1)
def _kept_names(count: int) -> tuple[str, ...]:
    """Return the names; cached, since training evaluates many batches of the same size."""
    return tuple(map(str, range(count)))


def _warn_of_other_order(**given: object) -> None:
    """Warn if pandas columns have the same index in another order, since rows are matched by position."""
    # Other pandas types, such as Index and Categorical, have no index.
    columns = {
        name: each
        for name, each in given.items()
        if type(each).__module__.partition(".")[0] == "pandas" and hasattr(each, "index")
    }
    for first, second in pairwise(columns):
        mine, other = columns[first].index, columns[second].index
        same = len(mine) == len(other) and not len(mine.difference(other, sort=False))
        if same and not mine.equals(other):
            warn(
                f"{first}, {second}: they have the same index in another order, but are matched by "
                f"position. To match them by index: {second}.reindex({first}.index)."
            )


def _without_mask(scores: AnyArray, valid: Bools | None) -> tuple[Bools | None, bool]:
    """Return a mask of the scores that must be finite, and whether any score is −∞, as masked scores are."""
    if scores.dtype.kind != "f" or not scores.size:
        return valid, False
    numbers: Floats = scores  # of any precision
    with np.errstate(invalid="ignore"):
        lowest = numbers.min()
    if np.isfinite(lowest):  # not NaN, which would hide −∞
        return valid, False
    masked = np.isneginf(numbers)
    if not masked.any():
        return valid, False
    return ~masked if valid is None else valid & ~masked, True


def _mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> Bools | None:
    if mask is None:
        return None
    valid = as_array(mask, "mask")
    if valid.dtype != np.bool_ or valid.shape != shape:
        raise InputError(
            "mask", f"booleans of the shape of labels, {shape}", f"{valid.dtype} of {valid.shape}"
        )
    return valid.astype(np.bool_, copy=False)


def _segments(
    shape: tuple[int, ...], group: ArrayLike | None, query: ArrayLike | None
) -> tuple[list[str] | None, Ints, Ints | None, IdType]:
    """Return the names and lengths of the lists, the order of the documents, and the type of the ids."""
    batch = len(shape) == BATCH_DIMENSIONS
    if group is not None and (query is not None or batch):
        beside = "a batch of lists" if batch else "query="
        raise InputError("group", "sizes of the lists in flat arrays", f"group= and {beside}")
    if query is None:
        if batch:
            return None, np.full(shape[0], shape[1], np.int64), None, UNTYPED
        lengths = np.array(shape, np.int64) if group is None else _sizes(group, shape[0])
        return None, lengths, None, UNTYPED
    ids = _ids(query, shape[0], "the lists of the batch" if batch else "the documents")
    id_type = IdType(ids.dtype.name) if ids.dtype.kind in "iu" else TEXT
    if not batch:
        return *_by_query(ids), id_type
    names = _names(ids)
    if len(set(names)) < len(names):
        raise InputError("query", "a different id for each list of the batch", "one id twice")
    return names, np.full(shape[0], shape[1], np.int64), None, id_type


def _by_query(ids: AnyArray) -> tuple[list[str], Ints, Ints | None]:
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))) if ids.size else ids
    lengths = np.diff(np.append(starts, ids.size)).astype(np.int64)
    names = _names(ids[starts])
    rising = ids.dtype.kind in "iu" and bool((np.diff(ids[starts].astype(np.int64)) > 0).all())
    if rising or len(set(names)) == len(names):  # the documents of each query are contiguous
        return names, lengths, None
    numbers: dict[str, int] = {}
    owner = [numbers.setdefault(name, len(numbers)) for name in names]
    owners = np.repeat(np.array(owner, np.int64), lengths)
    return list(numbers), np.bincount(owners), np.argsort(owners, kind="stable")


def _ids(query: ArrayLike, count: int, what: str) -> AnyArray:
    """Read ids, lists one by one: NumPy would turn mixed types into strings and strip NUL characters."""
    ids = query if isinstance(query, list | tuple) else as_array(query, "query")
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "O" and ids.ndim:
        ids = ids.tolist()
    if isinstance(ids, list | tuple):
        values: Sequence[object] = ids
        ids = np.array(values) if set(map(type, values)) == {int} else np.empty(len(values), object)
        if ids.dtype.kind not in "iu":  # also for integers that are too large
            ids = np.empty(len(values), object)
            ids[:] = [id_text(value, where="query") for value in values]
    if ids.shape != (count,):
        raise InputError("query", f"{count} ids, one for each of {what}", f"shape {ids.shape}")
    if ids.dtype.kind not in "iuUOT":
        raise InputError("query", "strings (or integers) as ids", f"an array of {ids.dtype}")
    return ids


def _names(ids: AnyArray) -> list[str]:
    if ids.dtype.kind in "iu":
        return list(map(str, ids.tolist()))
    return [id_text(value, where="query") for value in ids.tolist()]


def _sizes(group: ArrayLike, count: int) -> Ints:
    sizes = as_array(group, "group")
    if not sizes.size:
        sizes = sizes.astype(np.int64)
    if sizes.dtype.kind == "f" and bool((np.abs(sizes) <= LARGEST_EXACT).all()):
        whole = sizes.astype(np.int64)  # numpy.loadtxt returns floats
        sizes = whole if bool((whole == sizes).all()) else sizes
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes.size and int(sizes.min()) < 0):
        found = shown(group)
        if isinstance(group, np.ndarray):
            found += f" and dtype {group.dtype}"
        raise InputError("group", "a flat array of sizes, which are non-negative integers", found)
    total = sum(sizes.tolist())  # Python integers do not overflow
    if total != count:
        raise InputError(
            "group", f"sizes that add up to the {count} documents", f"a sum of {total}"
        )
    return sizes.astype(np.int64)
