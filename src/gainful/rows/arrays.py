"""Arrays of labels and scores, and matrices of users × items, checked and flattened to lists."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gainful.arithmetic.kernels.numbered_keys import is_among
from gainful.arithmetic.number_arrays import LARGEST_EXACT, Numbers, as_array, checked_numbers
from gainful.array_types import AnyArray, Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.message_texts import counted, shown
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


_PADDING = -1
_CELLS = 1 << 22  # scores that are partitioned at once
_DIMENSIONS = 2


class Cells(NamedTuple):
    """Some cells of a matrix: their keys, user · items + item, ascending, and their numbers."""

    keys: Ints
    numbers: Numbers

    def split(self, keys: Ints, *, ascending: bool) -> tuple[Numbers, "Cells"]:
        """Return the numbers (n,) of cells, 0 for other cells, and the cells that aren't among these keys.

        >>> Cells(np.array([1, 4]), np.array([2.0, 3.0])).split(np.array([4, 0]), ascending=False)
        (array([3., 0.]), Cells(keys=array([1]), numbers=array([2.])))
        """
        numbers = np.zeros(keys.size, self.numbers.dtype)
        if not keys.size:
            return numbers, self
        order = None if ascending else np.argsort(keys)
        places = np.minimum(np.searchsorted(keys, self.keys, sorter=order), keys.size - 1)
        if order is not None:
            places = order[places]
        hits = keys[places] == self.keys
        numbers[places[hits]] = self.numbers[hits]
        return numbers, Cells(self.keys[~hits], self.numbers[~hits])

    def has(self, keys: Ints) -> Bools:
        """Return whether each key (n,) is one of the cells."""
        return is_among(self.keys, keys)


def read_lists_of_items(
    relevant: Any,
    *,
    scores: Any = None,
    items: ArrayLike | None = None,
    seen: Any = None,
    query: ArrayLike | None = None,
    depth: int | None = None,
) -> Lists:
    """Return the items at the top of each user's list, and the other relevant items with the score −∞.

    Args:
        relevant: [user, item], grades or booleans, dense or sparse.
        scores: [user, item], dense or sparse; or, next to `items`, of their shape.
        items: [user, rank], columns of `relevant`; −1 is padding.
        seen: [user, item], booleans: items that count neither as returned nor as relevant.
        query: the ids of users.
        depth: the deepest rank that matters; items with the same score as the item there are kept.

    >>> lists = read_lists_of_items([[1, 0, 0, 2]], scores=[[0.1, 0.5, 0.7, 0.2]], seen=[[0, 0, 1, 0]], depth=2)
    >>> lists.labels.tolist(), lists.scores.tolist(), lists.returned.tolist()
    ([0.0, 2.0, 1.0], [0.5, 0.2, -inf], [3])
    """
    graded, shape = _cells(relevant, "relevant")
    users, width = shape
    hidden = Cells(graded.keys[:0], graded.numbers[:0])
    if seen is not None:
        hidden, _ = _cells(seen, "seen", shape)
    if np.count_nonzero(both := hidden.has(graded.keys)):
        warn(
            f"seen: {counted(int(both.sum()), 'relevant item')} of {graded.keys.size:,} "
            f"{'was' if both.sum() == 1 else 'were'} already seen by the same user, and left out. If training "
            "and test data should not overlap, check how they were split."
        )
        graded = Cells(graded.keys[~both], graded.numbers[~both])
    if hasattr(scores, "tocoo"):
        listed, _ = _cells(scores, "scores", shape, zeros=True)
        unseen = ~hidden.has(listed.keys) & ~np.isneginf(listed.numbers)
        keys, numbers = listed.keys[unseen], listed.numbers[unseen]
        returned = lengths = np.bincount(keys // width, minlength=users)
    else:
        if items is None:
            matrix, covered = _matrix(scores, "scores", shape), hidden.keys
        else:
            shown_keys, matrix = _shown(items, scores, shape)
            if hidden.keys.size:
                matrix[hidden.has(shown_keys)] = -np.inf
            covered = hidden.keys[:0]
        parts = [*_tops(matrix, covered, depth)]
        keys, numbers, lengths, returned = (np.concatenate(part) for part in zip(*parts, strict=True))  # fmt: skip
        keys = keys if items is None else shown_keys.ravel()[keys]
    labels, others = graded.split(keys, ascending=items is None)
    labels = labels.astype(np.float64)
    ranked = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float64)
    if others.keys.size:
        owner = np.concatenate((np.repeat(np.arange(users), lengths), others.keys // width))
        order = np.argsort(owner, kind="stable")
        labels = np.concatenate((labels, others.numbers))[order]
        ranked = np.concatenate((ranked, np.full(others.keys.size, -np.inf, ranked.dtype)))[order]
        lengths = np.bincount(owner, minlength=users)
    if not labels.size:
        raise InputError("seen" if hidden.keys.size else "scores", "items to rank", "none")
    if query is None:
        return replace(read_lists(labels, ranked, group=lengths), returned=returned)
    names = read_lists(np.zeros((users, 1)), np.zeros((users, 1)), query=query)
    place = names.starts  # of each user, in the order of their ids
    starts = np.cumsum(lengths) - lengths
    return replace(
        names, starts=starts[place], lengths=lengths[place], labels=labels, scores=ranked,
        returned=returned[place], masked=bool(others.keys.size),
    )  # fmt: skip


def _cells(
    value: Any, name: str, shape: tuple[int, ...] | None = None, *, zeros: bool = False
) -> tuple[Cells, tuple[int, int]]:
    """Return the cells of a matrix that are not 0, or of a sparse one all that are stored, and its shape."""
    if not hasattr(value, "tocoo"):
        matrix = _matrix(value, name, shape)
        keys = np.flatnonzero(matrix)
        return Cells(keys, matrix.ravel()[keys]), matrix.shape
    sparse = value.tocoo()  # of SciPy, which is not imported here
    _refuse_other_shape(sparse.shape, name, shape)
    numbers = checked_numbers(sparse.data, name, ~np.isneginf(sparse.data) if zeros else None)
    keys = sparse.row.astype(np.int64) * sparse.shape[1] + sparse.col
    kept = np.ones(keys.size, np.bool_) if zeros else numbers != 0
    keys, numbers = keys[kept], numbers[kept]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    if (keys[1:] == keys[:-1]).any():
        raise InputError(name, "each cell once", "a cell again", "Call sum_duplicates() first.")
    return Cells(keys, numbers[order]), sparse.shape


def _matrix(value: Any, name: str, shape: tuple[int, ...] | None) -> AnyArray:
    matrix = as_array(value, name)
    _refuse_other_shape(matrix.shape, name, shape)
    finite = ~np.isneginf(matrix) if name == "scores" and matrix.dtype.kind == "f" else None
    return checked_numbers(matrix, name, finite)


def _refuse_other_shape(found: tuple[int, ...], name: str, shape: tuple[int, ...] | None) -> None:
    if shape is not None and found != shape:
        raise InputError(name, f"the shape of relevant, {shape}", f"{found}")
    if len(found) != _DIMENSIONS or not all(found):
        raise InputError(name, "a matrix of users × items", f"shape {found}")


def _shown(items: ArrayLike, scores: Any, shape: tuple[int, int]) -> tuple[Ints, Numbers]:
    """Return the keys [user, rank] of items that were shown, and their scores, or falling numbers; −∞ for padding."""
    columns = as_array(items, "items")
    users, width = shape
    if columns.ndim != _DIMENSIONS or columns.dtype.kind not in "iu" or len(columns) != users:
        found = f"{columns.dtype} of shape {columns.shape}"
        raise InputError("items", f"columns of relevant, as integers [{users} users, rank]", found)
    if columns.min(initial=0) < _PADDING or columns.max(initial=0) >= width:
        found = f"{columns.min()} to {columns.max()}"
        raise InputError(
            "items", f"columns of relevant from 0 to {width - 1}, or −1 for padding", found
        )
    ordered = np.sort(columns, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != _PADDING)).any():
        raise InputError("items", "each item once per user", "an item again")
    numbers: AnyArray
    if scores is None:
        numbers = np.tile(-np.arange(columns.shape[1], dtype=np.float32), (users, 1))
    else:
        numbers = as_array(scores, "scores")
        if numbers.shape != columns.shape:
            raise InputError("scores", f"the shape of items, {columns.shape}", f"{numbers.shape}")
        numbers = numbers.astype(numbers.dtype if numbers.dtype.kind == "f" else np.float64)
    numbers[columns == _PADDING] = -np.inf
    checked_numbers(numbers, "scores", ~np.isneginf(numbers))
    return np.arange(users)[:, None] * width + columns, numbers


def _tops(
    scores: AnyArray, hidden: Ints, depth: int | None
) -> Iterator[tuple[Ints, Numbers, Ints, Ints]]:
    """Yield the places of the highest scores of some rows, these scores, and for each row how many, and of how many items.

    A row is only partitioned, not sorted. `hidden` are the places of items that count as not returned.
    """
    users, width = scores.shape
    step = max(1, _CELLS // width)
    for start in range(0, users, step):
        part = scores[start : start + step]
        part = part.astype(part.dtype if part.dtype.kind == "f" else np.float64)  # a copy
        first = start * width
        low, high = np.searchsorted(hidden, (first, first + part.size))
        part.ravel()[hidden[low:high] - first] = -np.inf
        kept = part != -np.inf
        returned = kept.sum(axis=1)
        if depth is not None and depth < width:
            last = np.partition(part, width - depth, axis=1)[:, width - depth, None]
            kept &= part >= last
        places = np.flatnonzero(kept)
        yield places + first, part.ravel()[places], kept.sum(axis=1), returned
