"""Arrays of labels and scores, checked and flattened to lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, warn
from gainful.inputs.id_types import TEXT, UNTYPED, IdType
from gainful.inputs.identifiers import id_text, in_order
from gainful.message_texts import shown

Numbers = NDArray[Any]  # floats, integers or booleans
AnyArray = NDArray[np.generic]

BATCH_DIMENSIONS = 2
LARGEST_EXACT = 2**53
_MOST_NAMES = 100_000  # that are kept
_EXACT = "integers that a float64 holds exactly, up to 2^53"
_FLAT = "Lists of different lengths go flat, with group= sizes or query= ids."


@dataclass(frozen=True, slots=True)
class Lists:
    """Documents in a row, and where the list of each query stands among them.

    The list of query q is `labels[starts[q] : starts[q] + lengths[q]]`, and so for scores.
    Queries stand by id where the caller gave ids, else in the order of the input; `query_type` is
    what the ids were, before they were text. A document with the score −∞ is judged and not
    returned; `masked` is whether there are such.
    """

    queries: tuple[str, ...]
    starts: Ints
    lengths: Ints
    labels: Numbers
    scores: Numbers
    query_type: IdType = UNTYPED
    masked: bool = False

    def split(self, parts: int) -> list["Lists"]:
        """Split into about so many parts with as many documents each, no list divided."""
        ends = np.cumsum(self.lengths)
        shares = np.arange(1, parts) * int(ends[-1]) // parts
        bounds = np.unique(np.concatenate(([0], np.searchsorted(ends, shares) + 1, [ends.size])))
        return [
            Lists(
                self.queries[start:end],
                self.starts[start:end],
                self.lengths[start:end],
                self.labels,
                self.scores,
                masked=self.masked,
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
    """Check and flatten `[batch, list]`, flat with `group` sizes, or flat with `query` ids.

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
        # A list that is masked whole stays, with no documents: no query is dropped.
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


def _numbered(count: int) -> tuple[str, ...]:
    """Return the names of lists that have none: their places."""
    return _kept_names(count) if count <= _MOST_NAMES else tuple(map(str, range(count)))


@lru_cache(maxsize=1)
def _kept_names(count: int) -> tuple[str, ...]:
    """Return the names, made once while as many are asked for, as for the batches of a model in training."""
    return tuple(map(str, range(count)))


def _warn_of_other_order(**given: Any) -> None:
    """Warn of columns of pandas that have the same rows in another order: place alone counts."""
    # An Index, a Categorical and the arrays behind columns are of pandas, too, and have no index.
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
                f"{first}, {second}: they have the same index in another order, and are paired by "
                f"their places. To pair them by the index: {second}.reindex({first}.index)."
            )


def as_array(value: ArrayLike, name: str) -> AnyArray:
    """Return the argument as a NumPy array, or say why it is none."""
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(
            name,
            "a plain array",
            "a masked array",
            "Give its data, and mask=~array.mask beside it.",
        )
    if getattr(value, "requires_grad", False):  # a tensor in training: a measure needs no gradient
        value = value.detach()  # type: ignore[union-attr]
    try:
        array: AnyArray = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as problem:
        # NumPy and tensor libraries say in their own words what they cannot convert.
        reason = str(problem).splitlines()[0].rstrip(".")
        raise InputError(
            name,
            "an array of numbers",
            f"{type(value).__name__} ({reason})",
            _FLAT if isinstance(value, Sequence) else "",
        ) from None
    return array


def as_numbers(array: AnyArray, name: str) -> Floats:
    """Return finite float64."""
    return checked_numbers(array, name).astype(np.float64, copy=False)


def checked_numbers(array: AnyArray, name: str, valid: Bools | None = None) -> Numbers:
    """Refuse what a float64 cannot hold; NaN is allowed only where there is no document.

    The numbers keep their type: large arrays are converted later, a part at a time.
    """
    if array.dtype.kind not in "fiub":
        raise _no_numbers(array, name)
    if array.dtype.kind == "f":
        _refuse_infinite(array, name, valid)
    elif array.dtype.kind in "iu" and array.size:
        largest = max(-int(array.min()), int(array.max()))
        if largest > LARGEST_EXACT:
            raise InputError(name, _EXACT, str(largest))
    return array


def _no_numbers(array: AnyArray, name: str) -> InputError:
    """Return what is wrong with an array of something else than numbers, with an example."""
    items = array.ravel().tolist()
    odd = [item for item in items if not isinstance(item, Number)]
    # NumPy makes objects of integers that its own types do not hold.
    large = [item for item in items if isinstance(item, int) and abs(item) > LARGEST_EXACT]
    if large and not odd:
        return InputError(name, _EXACT, shown(large[0]))
    example = f", such as {shown((odd or items)[0])}" if items else ""
    remedy = "Make numbers of them first." if odd else "Give the array a type: astype(float)."
    return InputError(name, "numbers", f"an array of {array.dtype}{example}", remedy)


def _refuse_infinite(array: AnyArray, name: str, valid: Bools | None) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):  # as one that is not makes the sum
            return
    finite = np.isfinite(array)
    if valid is not None:
        finite |= ~valid
    if not finite.all():
        place = tuple(int(index) for index in np.argwhere(~finite)[0])
        where = ", ".join(map(str, place))
        raise InputError(f"{name}[{where}]", "a finite number", str(array[place]))


def _without_mask(scores: AnyArray, valid: Bools | None) -> tuple[Bools | None, bool]:
    """Return where scores must be finite, and whether any is −∞, the usual mask of scores."""
    if scores.dtype.kind != "f" or not scores.size:
        return valid, False
    numbers: Floats = scores  # type: ignore[assignment]  # of any precision
    with np.errstate(invalid="ignore"):
        lowest = numbers.min()
    if np.isfinite(lowest):  # NaN would hide what is below it
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
    """Return the names and lengths of the lists, how to reorder the documents, and the type of ids."""
    batch = len(shape) == BATCH_DIMENSIONS
    if group is not None and (query is not None or batch):
        beside = "a batch of lists" if batch else "query="
        raise InputError("group", "sizes of the lists in flat arrays", f"group= beside {beside}")
    if batch:
        lengths = np.full(shape[0], shape[1], np.int64)
        if query is None:
            return None, lengths, None, UNTYPED
        ids = _ids(query, shape[0], "the lists of the batch")
        names = _names(ids)
        if len(set(names)) < len(names):
            raise InputError("query", "a different id for each list of the batch", "one id twice")
        return names, lengths, None, _type_of(ids)
    if query is not None:
        ids = _ids(query, shape[0], "the documents")
        return *_by_query(ids), _type_of(ids)
    if group is None:
        return None, np.array(shape, np.int64), None, UNTYPED
    return None, _sizes(group, shape[0]), None, UNTYPED


def _by_query(ids: AnyArray) -> tuple[list[str], Ints, Ints | None]:
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))) if ids.size else ids
    lengths = np.diff(np.append(starts, ids.size)).astype(np.int64)
    names = _names(ids[starts])
    rising = ids.dtype.kind in "iu" and bool((np.diff(ids[starts].astype(np.int64)) > 0).all())
    if rising or len(set(names)) == len(names):  # the documents of each query stand together
        return names, lengths, None
    numbers: dict[str, int] = {}
    owner = [numbers.setdefault(name, len(numbers)) for name in names]
    owners = np.repeat(np.array(owner, np.int64), lengths)
    return list(numbers), np.bincount(owners), np.argsort(owners, kind="stable")


def _ids(query: ArrayLike, count: int, what: str) -> AnyArray:
    ids: AnyArray
    if isinstance(query, list | tuple):
        ids = _listed_ids(query)
    else:
        ids = as_array(query, "query")
        if ids.dtype.kind == "O" and ids.ndim:
            ids = _listed_ids(ids.tolist())
    if ids.shape != (count,):
        raise InputError("query", f"{count} ids, one for each of {what}", f"shape {ids.shape}")
    if ids.dtype.kind not in "iuUOT":
        raise InputError("query", "strings (or integers) as ids", f"an array of {ids.dtype}")
    return ids


def _type_of(ids: AnyArray) -> IdType:
    return IdType(ids.dtype.name) if ids.dtype.kind in "iu" else TEXT


def _listed_ids(values: Sequence[object]) -> AnyArray:
    """Read ids one by one: NumPy would make strings of a mixture, and cut NUL characters off."""
    if set(map(type, values)) == {int}:
        numbers = np.array(values)
        if numbers.dtype.kind in "iu":  # not where they are too large for it
            return numbers
    ids = np.empty(len(values), object)
    ids[:] = [id_text(value, where="query") for value in values]
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
        whole = sizes.astype(np.int64)  # numpy.loadtxt reads them as floats
        sizes = whole if bool((whole == sizes).all()) else sizes
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes.size and int(sizes.min()) < 0):
        found = shown(group)
        if isinstance(group, np.ndarray):
            found += f" and dtype {group.dtype}"
        raise InputError("group", "a flat array of sizes, whole numbers from 0", found)
    total = sum(sizes.tolist())  # of Python's integers, which do not wrap around
    if total != count:
        raise InputError(
            "group", f"sizes that add up to the {count} documents", f"a sum of {total}"
        )
    return sizes.astype(np.int64)
