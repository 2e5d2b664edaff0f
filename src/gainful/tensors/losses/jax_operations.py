"""The operations of the losses in JAX."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gainful.errors import InputError
from gainful.message_texts import shown

_BLOCK = 2**20  # pairs: 4 MiB of float32, which caches hold
_STEPS = 5  # of a loop that are compiled as one on a GPU, where each turn starts kernels
_INTEGERS: dict[int, Any] = {4: np.int32, 8: np.int64}
"""Integers of as many bytes as a floating number."""
_WIDEST = 2**11  # items of a list: the more there are, the more parts has a step between two


class JaxOperations:
    """JAX, wherever its arrays are, traced or not."""

    kept_pairs = 2**24  # 64 MiB of float32

    @property
    def kept_ranks(self) -> int:
        """16 MiB of float32 on a GPU, where each step starts kernels; a CPU has them sooner anew than from memory."""
        return 0 if jax.default_backend() == "cpu" else 2**22

    @property
    def block(self) -> int:
        """How many pairs are held at a time: on a GPU, a loop over blocks takes longer than all at once."""
        return _BLOCK if jax.default_backend() == "cpu" else self.kept_pairs

    def computes_at_once(self, scores: Any) -> bool:  # noqa: ARG002
        """Return False: what is not compiled is slow in JAX, and what is compiled is traced."""
        return False

    def exactly(self, like: Any) -> AbstractContextManager[Any]:  # noqa: ARG002
        """Do nothing: JAX lowers no precision of what the losses use."""
        return nullcontext()

    def floats(self, values: Any, like: Any) -> Any:
        """Convert to the floating type of `like`."""
        return jnp.asarray(_for_jax(values), dtype=like.dtype)

    def booleans(self, values: Any, like: Any) -> Any:  # noqa: ARG002
        """Convert to booleans."""
        return jnp.asarray(_for_jax(values), dtype=bool)

    def everywhere(self, like: Any) -> Any:
        """Return True in the shape of `like`."""
        return jnp.ones(like.shape, bool)

    def integers(self, values: Any, like: Any) -> Any:  # noqa: ARG002
        """Convert to indices."""
        return jnp.asarray(values, dtype=jnp.int32)

    def accumulating(self, values: Any) -> Any:
        """Convert half precision to float32."""
        half = values.dtype in (jnp.float16, jnp.bfloat16)
        return values.astype(jnp.float32) if half else values

    def lowest(self, like: Any) -> float:
        """Return the lowest finite number of the type."""
        return float(np.finfo(like.dtype).min)

    def counting(self, stop: int, like: Any) -> Any:
        """Return 1, 2, …, stop."""
        return jnp.arange(1, stop + 1, dtype=like.dtype)

    def constant(self, values: Any) -> Any:
        """Return the same values without their history."""
        return jax.lax.stop_gradient(values)

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """Choose elementwise."""
        return jnp.where(condition, yes, no)

    def exp(self, values: Any) -> Any:
        """e^x."""
        return jnp.exp(values)

    def exp2m1(self, values: Any) -> Any:
        """2^x − 1: by the bits of a power for whole numbers, by e^x − 1 for others."""
        whole = values == jnp.floor(values)
        return jnp.where(whole, _power_of_two(values) - 1, jnp.expm1(values * math.log(2)))

    def log(self, values: Any) -> Any:
        """Return the natural logarithm."""
        return jnp.log(values)

    def erf(self, values: Any) -> Any:
        """Return the error function."""
        return jax.scipy.special.erf(values)

    def sigmoid(self, values: Any) -> Any:
        """1/(1 + e^−x)."""
        return jax.nn.sigmoid(values)

    def softplus(self, values: Any) -> Any:
        """ln(1 + e^x)."""
        return jax.nn.softplus(values)

    def at_least(self, values: Any, least: float) -> Any:
        """Put a number in the place of lower ones."""
        return jnp.maximum(values, least)

    def highest(self, values: Any, axis: int) -> Any:
        """Return the maximum, with its axis kept, without gradient."""
        return jax.lax.stop_gradient(values).max(axis, keepdims=True)

    def median(self, values: Any) -> Any:
        """Return a middle value of those that are no NaN, with its axis kept, without gradient."""
        values = jax.lax.stop_gradient(values)
        last = (values == values).sum(-1, keepdims=True) - 1
        # From high to low, so that NaN stands at the end as the lowest.
        found = _from_high_to_low(jnp.where(values == values, values, -math.inf))
        middle = jnp.take_along_axis(found, jnp.maximum(last - last // 2, 0), -1)
        return jnp.where(last < 0, math.nan, middle)

    def flip(self, values: Any) -> Any:
        """Turn the last axis round."""
        return jnp.flip(values, -1)

    def descending(self, values: Any, then: Any = None) -> Any:
        """Return the indices from high to low."""
        if then is not None:
            places = jnp.broadcast_to(jnp.arange(values.shape[-1]), values.shape)
            keys = (-jax.lax.stop_gradient(one) for one in (values, then))
            return jax.lax.sort((*keys, places), dimension=-1, num_keys=2)[-1]
        return jnp.argsort(-jax.lax.stop_gradient(values), axis=-1, stable=True)

    def from_high_to_low(self, values: Any) -> Any:
        """Sort."""
        return _from_high_to_low(values)

    def take(self, values: Any, indices: Any) -> Any:
        """Take along the last axis; indices come from sorting, so that none needs a check."""
        return jnp.take_along_axis(values, indices, axis=-1, mode="promise_in_bounds")

    def put(self, values: Any, indices: Any) -> Any:
        """Put values where `take` has them from; to sort the indices would take far longer."""
        given = values.reshape(-1, values.shape[-1])
        rows = jnp.arange(given.shape[0])[:, None]
        spots = jnp.zeros_like(given).at[rows, indices.reshape(given.shape)]
        return spots.set(given, unique_indices=True, mode="promise_in_bounds").reshape(values.shape)

    def join(self, values: Sequence[Any]) -> Any:
        """Put arrays after one another."""
        return jnp.concatenate(list(values))

    def widen(self, values: Any) -> Any:
        """Add one 0 at the end of the last axis."""
        return jnp.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, 1)])

    def scan(self, combine: Callable[..., tuple[Any, ...]], *arrays: Any) -> tuple[Any, ...]:
        """Combine all places up to each."""
        shape = jnp.broadcast_shapes(*(one.shape for one in arrays))
        given = tuple(jnp.broadcast_to(one, shape) for one in arrays)
        return tuple(jax.lax.associative_scan(combine, given, axis=len(shape) - 1))

    def shifted(self, values: Any) -> Any:
        """Move all values one place on."""
        return jnp.pad(values[..., :-1], [(0, 0)] * (values.ndim - 1) + [(1, 0)])

    def room(self, like: Any) -> int:  # noqa: ARG002
        """Return 64 MiB of float32."""
        return 2**24

    def uniform(self, shape: tuple[int, ...], like: Any, generator: Any) -> Any:
        """Draw from (0, 1)."""
        if generator is None:
            raise InputError(
                "generator",
                "a key, because JAX has no randomness of its own",
                "none",
                "Give generator=jax.random.key(seed), and a new key at each step.",
            )
        tiny = float(np.finfo(like.dtype).tiny)
        if not isinstance(generator, jax.Array):
            raise InputError("generator", "a key of JAX", shown(generator), "jax.random.key(seed).")
        keys = generator.ndim - (not jnp.issubdtype(generator.dtype, jax.dtypes.prng_key))
        if keys:
            raise InputError("generator", "one key of JAX", f"an array of shape {generator.shape}")
        return jax.random.uniform(generator, shape, dtype=like.dtype, minval=tiny)

    def gumbel(self, drawn: Any) -> Any:
        """Return −ln(−ln x)."""
        return -jnp.log(-jnp.log(drawn))

    def another(self, generator: Any, number: int) -> Any:
        """Return a key of its own; the first is the one that is given."""
        own = number and isinstance(generator, jax.Array)
        return jax.random.fold_in(generator, number) if own else generator

    def by_rows(self, rows: Callable[..., Any], size: int, *columns: Any) -> Any:
        """Apply `rows` to blocks of columns, one after the other."""
        lists, width = columns[0].shape
        if width <= size:
            return rows(*columns)  # a loop would be compiled anew in every call that is not
        blocks = tuple(self.in_blocks(column, size) for column in columns)
        found = jax.lax.map(lambda block: rows(*block), blocks)
        count, rest = len(found), found.shape[3:]
        return jnp.moveaxis(found, 0, 1).reshape(lists, count * size, *rest)[:, :width]

    def by_lists(
        self, some: Callable[..., tuple[Any, ...]], size: int, *arrays: Any
    ) -> tuple[Any, ...]:
        """Apply `some` to `size` lists at a time, one after the other."""
        lists = arrays[0].shape[0]
        if lists <= size:
            return some(*arrays)
        blocks = tuple(
            jnp.pad(array, [(0, -lists % size)] + [(0, 0)] * (array.ndim - 1)).reshape(
                -1, size, *array.shape[1:]
            )
            for array in arrays
        )
        found = jax.lax.map(lambda block: some(*block), blocks)
        return tuple(part.reshape(-1, *part.shape[2:])[:lists] for part in found)

    def in_blocks(self, values: Any, size: int) -> Any:
        """Cut the last axis into blocks."""
        *before, width = values.shape
        padded = jnp.pad(values, [(0, 0)] * len(before) + [(0, -width % size)])
        return jnp.moveaxis(padded.reshape(*before, -(-width // size), size), -2, 0)

    def stacked(self, values: Sequence[Any]) -> Any:
        """Put arrays beside one another along a new first axis."""
        return jnp.stack(list(values))

    def product(self, matrix: Any, vector: Any) -> Any:
        """Return the products of matrices and vectors."""
        return jnp.einsum("lij,lj->li", matrix, vector, precision="highest")

    def products(self, matrix: Any, vectors: Any) -> Any:
        """Return the products of matrices and several vectors each."""
        return jnp.einsum("lij,klj->kli", matrix, vectors, precision="highest")

    def fold(self, step: Callable[[Any, Any], Any], start: Any, over: Any) -> Any:
        """Apply `step` to the items along the first axis."""
        return jax.lax.scan(lambda state, item: (step(state, item), None), start, over)[0]

    def walk(
        self, step: Callable[..., tuple[Any, tuple[Any, ...]]], start: Any, *over: Any
    ) -> tuple[Any, tuple[Any, ...]]:
        """Apply `step` to the items along the first axes, and keep what it says."""
        found: tuple[Any, tuple[Any, ...]] = jax.lax.scan(
            lambda state, items: step(state, *items), start, over, unroll=_unrolled()
        )
        return found

    def mixed(self, start: Any, shares: Any) -> Any:
        """Return what a start becomes after all steps."""
        return self.fold(lambda x, share: x + share * (self.shifted(x) - x), start, shares)

    def mixtures(self, start: Any, shares: Any, *, back: bool = False) -> tuple[Any, Any]:
        """Return what a start becomes after all steps, and what it was before each of them."""
        ends = [(0, 0)] * (start.ndim - 1)

        def step(one: Any, share: Any) -> tuple[Any, Any]:
            padded = jnp.pad(one, [*ends, (0, 1) if back else (1, 0)])
            moved = padded[..., 1:] if back else padded[..., :-1]
            return one + share * (moved - one), padded

        found: tuple[Any, Any] = jax.lax.scan(step, start, shares, reverse=back, unroll=_unrolled())
        return found

    def fused_ranks(self, *_: Any) -> None:
        """Return None: XLA fuses the blocks."""

    def fused_pairs(self, *_: Any, **__: Any) -> None:
        """Return None: XLA fuses the blocks."""

    def fused_sorting(self, *_: Any, **__: Any) -> None:
        """Return None: XLA fuses the blocks."""

    def falls_by_rank(self, s: Any, tau: float, deep: int) -> Any | None:
        """Add them up from rank to rank, if compiled: XLA takes long for sums over a row."""
        # A loop would be compiled anew in every call; on a GPU each of its turns starts kernels.
        if not isinstance(s, jax.core.Tracer):
            return None
        if jax.default_backend() != "cpu":
            return falls_in_whole_numbers(s, tau, deep) if s.shape[-1] <= _WIDEST else None
        items = self.counting(s.shape[-1], s)
        steps = (2 * (items - deep) + 1)[:-1] * (s[:, :-1] - s[:, 1:])
        last = jnp.where(items[:-1] >= deep, steps, 0.0).cumsum(-1)
        last = jnp.pad(last, [(0, 0), (1, 0)])  # from the last of the ranks

        def next_below(fall: Any, at: tuple[Any, Any, Any]) -> tuple[Any, Any]:
            own, after, rank = at
            return jnp.where(items <= rank, fall + (s - own) + (s - after), 0.0), fall

        def next_above(fall: Any, at: tuple[Any, Any, Any]) -> tuple[Any, Any]:
            own, before, rank = at
            return jnp.where(items >= rank, fall + (before - s) + (own - s), 0.0), fall

        columns = s.swapaxes(0, 1)[:, :, None]
        after = jnp.concatenate([columns[1:], columns[-1:]])[:deep]
        before = jnp.concatenate([columns[:1], columns[:-1]])[:deep]
        ranks = items[:deep]
        _, above = jax.lax.scan(next_below, jnp.zeros_like(s), (columns[:deep], after, ranks))
        _, below = jax.lax.scan(next_above, last, (columns[:deep], before, ranks), reverse=True)
        return (above + below).swapaxes(0, 1) / tau

    def with_gradient(
        self, value: Callable[..., Any], pullback: Callable[..., Any], *arrays: Any
    ) -> Any:
        """Return a value with a given gradient by the first array."""
        return self.with_kept_gradient(lambda *given: (value(*given),), pullback, *arrays)

    def with_kept_gradient(
        self,
        value: Callable[..., tuple[Any, ...]],
        pullback: Callable[..., Any],
        *arrays: Any,
    ) -> Any:
        """Return the first of several values, with a given gradient by the first array."""

        def refuse(*_: Any) -> Any:
            message = "this loss has no second derivative"
            raise NotImplementedError(message)

        # A derivative of the gradient would hold all pairs, and of an estimate it would be wrong.
        undifferentiable = jax.custom_vjp(pullback)
        undifferentiable.defvjp(lambda *given: (pullback(*given), None), refuse)

        def forward(*given: Any) -> tuple[Any, tuple[Any, ...]]:
            first, *others = value(*given)
            return first, (*others, *given)

        def backward(kept: tuple[Any, ...], slope: Any) -> tuple[Any, ...]:
            return undifferentiable(slope, *kept), *[None] * (len(arrays) - 1)

        found = jax.custom_vjp(lambda *given: value(*given)[0])
        found.defvjp(forward, backward)
        return found(*arrays)

    with_traceable_gradient = with_gradient


def falls_in_whole_numbers(s: Any, tau: float, deep: int) -> Any:
    """Return what `falls_by_rank` does, without a sum over each row.

    Of items 0, 1, … with steps d_k to the next, S_j = Σ_{k<j} d_k and T_j = Σ_{k<j} k·d_k, item j
    falls by 2T_j + S_j + (2i − 1)·S_i − 2T_i − 2i·S_j from rank i. These terms are far larger than
    their sum. So each step is cut into whole numbers, for which the formula is exact.

    A step after which powers are 0 is not counted in full: no digits are lost to an item far away.
    """
    kind, bits = _INTEGERS[s.dtype.itemsize], np.finfo(s.dtype)
    width = s.shape[-1]
    top = int(math.log2(-2 * bits.minexp))  # e to minus 2^top − 1 is 0
    # A fall is of up to n² steps, which their integers hold. Their errors add up to about n^1.5.
    size = np.iinfo(kind).bits - 1 - math.ceil(2 * math.log2(width))
    wanted = top + bits.nmant + 1 + 1.5 * math.log2(width)
    left, unit = jnp.clip((s[:, :-1] - s[:, 1:]) / tau, 0.0, 2.0**top - 1), 2.0**top
    parts = []
    for rounded in [jnp.floor] * (math.ceil(wanted / size) - 1) + [jnp.round]:
        unit /= 2**size
        whole = rounded(left / unit)
        left = left - whole * unit
        parts.append(whole.astype(kind))
    items = jnp.arange(width, dtype=kind)
    # Sums of what stands above each item, since XLA makes several kernels of a running sum.
    above = jnp.where(items[:-1] < items[:, None], jnp.stack(parts)[:, :, None, :], 0)
    run, moment = above.sum(-1, dtype=kind), (above * items[:-1]).sum(-1, dtype=kind)
    by_rank = ((2 * items - 1) * run - 2 * moment)[:, :, :deep, None]
    by_item = (2 * moment + run)[:, :, None, :]
    falls = by_rank + by_item - 2 * items[:deep, None] * run[:, :, None, :]
    found = falls[-1].astype(s.dtype) * unit
    for fall in falls[-2::-1]:
        unit *= 2**size
        found = found + fall.astype(s.dtype) * unit
    return found


def _unrolled() -> int:
    return 1 if jax.default_backend() == "cpu" else _STEPS


def _power_of_two(exponents: Any) -> Any:
    """Return 2^n of whole numbers, exactly and without a function: XLA calls one for each number.

    Below the normal numbers it is 0.
    """
    bits, kind = np.finfo(exponents.dtype), _INTEGERS[exponents.dtype.itemsize]
    held = jnp.clip(exponents, bits.minexp - 1, bits.maxexp).astype(kind)
    return jax.lax.bitcast_convert_type((held - (bits.minexp - 1)) << bits.nmant, exponents.dtype)


@jax.custom_jvp
def _from_high_to_low(values: Any) -> Any:
    """Sort by the bits, turned so that they order as numbers do.

    On a CPU, XLA sorts one array of integers five times as fast as floating numbers.
    """
    kind = _INTEGERS[values.dtype.itemsize]

    def turned(bits: Any) -> Any:
        return jnp.where(bits < 0, bits ^ np.iinfo(kind).max, bits)

    keys = turned(jax.lax.bitcast_convert_type(values, kind))
    found = jnp.flip(turned(jax.lax.sort(keys, is_stable=False)), -1)
    return jax.lax.bitcast_convert_type(found, values.dtype)


@_from_high_to_low.defjvp
def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    """Differentiate by way of the order."""
    order = JAX.descending(*primals)
    return JAX.take(*primals, order), JAX.take(*tangents, order)


def _for_jax(values: Any) -> Any:
    """Return tensors of PyTorch, which may have a history or a type that NumPy lacks, as arrays."""
    if not hasattr(values, "detach"):
        return values
    plain = values.detach().cpu()
    return (plain.double() if plain.is_floating_point() else plain).numpy()


JAX = JaxOperations()
