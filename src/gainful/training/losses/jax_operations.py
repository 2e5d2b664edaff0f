"""The operations of the losses in JAX."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gainful.array_types import Array
from gainful.errors import InputError
from gainful.message_texts import shown

_BLOCK = 2**20  # pairs: 4 MiB of float32, which fit in a cache
_STEPS = 5  # loop steps unrolled into one on a GPU, where each iteration launches kernels
_INTEGERS: dict[int, Any] = {4: np.int32, 8: np.int64}
"""The integer type with as many bytes as each floating type."""
_WIDEST = 2**11  # items of a list: the more there are, the more parts a step between two needs


class JaxOperations:
    """Operations on JAX arrays, on any device, traced or not."""

    kept_pairs = 2**24  # 64 MiB of float32

    @property
    def kept_ranks(self) -> int:
        """16 MiB of float32 on a GPU, where each step launches kernels; a CPU recomputes faster."""
        return 0 if jax.default_backend() == "cpu" else 2**22

    @property
    def block(self) -> int:
        """The pairs held at a time; on a GPU all, since a loop over blocks is slower."""
        return _BLOCK if jax.default_backend() == "cpu" else self.kept_pairs

    def computes_at_once(self, scores: Array) -> bool:  # noqa: ARG002
        """Return False: JAX is slow unless compiled, and compiled code is traced."""
        return False

    def exactly(self, like: Array) -> AbstractContextManager[Any]:  # noqa: ARG002
        """Do nothing: JAX lowers no precision in the operations that the losses use."""
        return nullcontext()

    def floats(self, values: Array, like: Array) -> Array:
        """Convert to the floating type of `like`."""
        return jnp.asarray(_for_jax(values), dtype=like.dtype)

    def booleans(self, values: Array, like: Array) -> Array:  # noqa: ARG002
        """Convert to booleans."""
        return jnp.asarray(_for_jax(values), dtype=bool)

    def everywhere(self, like: Array) -> Array:
        """Return True in the shape of `like`."""
        return jnp.ones(like.shape, bool)

    def integers(self, values: Array, like: Array) -> Array:  # noqa: ARG002
        """Convert to indices."""
        return jnp.asarray(values, dtype=jnp.int32)

    def accumulating(self, values: Array) -> Array:
        """Convert half precision to float32."""
        half = values.dtype in (jnp.float16, jnp.bfloat16)
        return values.astype(jnp.float32) if half else values

    def lowest(self, like: Array) -> float:
        """Return the lowest finite number of the type."""
        return float(np.finfo(like.dtype).min)

    def counting(self, stop: int, like: Array) -> Array:
        """Return 1, 2, …, stop."""
        return jnp.arange(1, stop + 1, dtype=like.dtype)

    def constant(self, values: Array) -> Array:
        """Return the same values without their history."""
        return jax.lax.stop_gradient(values)

    def where(self, condition: Array, yes: Array, no: Array) -> Array:
        """Choose elementwise."""
        return jnp.where(condition, yes, no)

    def exp(self, values: Array) -> Array:
        """e^x."""
        return jnp.exp(values)

    def exp2m1(self, values: Array) -> Array:
        """2^x − 1: from the bits of a power for whole numbers, otherwise by e^x − 1."""
        whole = values == jnp.floor(values)
        return jnp.where(whole, _power_of_two(values) - 1, jnp.expm1(values * math.log(2)))

    def log(self, values: Array) -> Array:
        """Return the natural logarithm."""
        return jnp.log(values)

    def erf(self, values: Array) -> Array:
        """Return the error function."""
        return jax.scipy.special.erf(values)

    def sigmoid(self, values: Array) -> Array:
        """1/(1 + e^−x)."""
        return jax.nn.sigmoid(values)

    def softplus(self, values: Array) -> Array:
        """ln(1 + e^x)."""
        return jax.nn.softplus(values)

    def at_least(self, values: Array, least: float) -> Array:
        """Replace lower values by a number."""
        return jnp.maximum(values, least)

    def highest(self, values: Array, axis: int) -> Array:
        """Return the maximum, with its axis kept, without gradient."""
        return jax.lax.stop_gradient(values).max(axis, keepdims=True)

    def median(self, values: Array) -> Array:
        """Return the median of values other than NaN, with its axis kept, without gradient."""
        values = jax.lax.stop_gradient(values)
        last = (values == values).sum(-1, keepdims=True) - 1
        # In descending order, so that NaN comes last, as the lowest.
        ordered = _from_high_to_low(jnp.where(values == values, values, -math.inf))
        middle = jnp.take_along_axis(ordered, jnp.maximum(last - last // 2, 0), -1)
        return jnp.where(last < 0, math.nan, middle)

    def flip(self, values: Array) -> Array:
        """Reverse the last axis."""
        return jnp.flip(values, -1)

    def descending(self, values: Array, then: Array = None) -> Array:
        """Return the indices from high to low."""
        if then is not None:
            places = jnp.broadcast_to(jnp.arange(values.shape[-1]), values.shape)
            keys = (-jax.lax.stop_gradient(one) for one in (values, then))
            return jax.lax.sort((*keys, places), dimension=-1, num_keys=2)[-1]
        return jnp.argsort(-jax.lax.stop_gradient(values), axis=-1, stable=True)

    def from_high_to_low(self, values: Array) -> Array:
        """Sort."""
        return _from_high_to_low(values)

    def take(self, values: Array, indices: Array) -> Array:
        """Take along the last axis; indices come from sorting and need no check."""
        return jnp.take_along_axis(values, indices, axis=-1, mode="promise_in_bounds")

    def put(self, values: Array, indices: Array) -> Array:
        """Undo `take`; sorting the indices would take far longer."""
        lists = values.reshape(-1, values.shape[-1])
        rows = jnp.arange(lists.shape[0])[:, None]
        spots = jnp.zeros_like(lists).at[rows, indices.reshape(lists.shape)]
        return spots.set(lists, unique_indices=True, mode="promise_in_bounds").reshape(values.shape)

    def join(self, values: Sequence[Array]) -> Array:
        """Concatenate arrays."""
        return jnp.concatenate(list(values))

    def widen(self, values: Array) -> Array:
        """Append one 0 to the last axis."""
        return jnp.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, 1)])

    def scan(self, combine: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
        """Combine all places up to each."""
        shape = jnp.broadcast_shapes(*(one.shape for one in arrays))
        broadcast = tuple(jnp.broadcast_to(one, shape) for one in arrays)
        return tuple(jax.lax.associative_scan(combine, broadcast, axis=len(shape) - 1))

    def shifted(self, values: Array) -> Array:
        """Shift all values by one place."""
        return jnp.pad(values[..., :-1], [(0, 0)] * (values.ndim - 1) + [(1, 0)])

    def room(self, like: Array) -> int:  # noqa: ARG002
        """Return 64 MiB of float32."""
        return 2**24

    def uniform(self, shape: tuple[int, ...], like: Array, generator: Array) -> Array:
        """Draw from (0, 1)."""
        if generator is None:
            raise InputError(
                "generator",
                "a key, because JAX has no randomness of its own",
                "none",
                "Pass generator=jax.random.key(seed), with a new key at each step.",
            )
        tiny = float(np.finfo(like.dtype).tiny)
        if not isinstance(generator, jax.Array):
            raise InputError(
                "generator", "a key of JAX", shown(generator), "Use jax.random.key(seed)."
            )
        keys = generator.ndim - (not jnp.issubdtype(generator.dtype, jax.dtypes.prng_key))
        if keys:
            raise InputError("generator", "one key of JAX", f"an array of shape {generator.shape}")
        return jax.random.uniform(generator, shape, dtype=like.dtype, minval=tiny)

    def gumbel(self, drawn: Array) -> Array:
        """Return −ln(−ln x)."""
        return -jnp.log(-jnp.log(drawn))

    def another(self, generator: Array, number: int) -> Array:
        """Return a separate key; the first is the caller's."""
        own = number and isinstance(generator, jax.Array)
        return jax.random.fold_in(generator, number) if own else generator

    def by_rows(self, rows: Callable[..., Any], size: int, *columns: Array) -> Array:
        """Apply `rows` to blocks of columns, one after the other."""
        lists, width = columns[0].shape
        if width <= size:
            return rows(*columns)  # without jit, a loop would be recompiled on every call
        blocks = tuple(self.in_blocks(column, size) for column in columns)
        results = jax.lax.map(lambda block: rows(*block), blocks)
        count, rest = len(results), results.shape[3:]
        return jnp.moveaxis(results, 0, 1).reshape(lists, count * size, *rest)[:, :width]

    def by_lists(
        self, some: Callable[..., tuple[Array, ...]], size: int, *arrays: Array
    ) -> tuple[Array, ...]:
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
        results = jax.lax.map(lambda block: some(*block), blocks)
        return tuple(part.reshape(-1, *part.shape[2:])[:lists] for part in results)

    def in_blocks(self, values: Array, size: int) -> Array:
        """Cut the last axis into blocks."""
        *before, width = values.shape
        padded = jnp.pad(values, [(0, 0)] * len(before) + [(0, -width % size)])
        return jnp.moveaxis(padded.reshape(*before, -(-width // size), size), -2, 0)

    def stacked(self, values: Sequence[Array]) -> Array:
        """Stack arrays along a new first axis."""
        return jnp.stack(list(values))

    def product(self, matrix: Array, vector: Array) -> Array:
        """Return the products of matrices and vectors."""
        return jnp.einsum("lij,lj->li", matrix, vector, precision="highest")

    def products(self, matrix: Array, vectors: Array) -> Array:
        """Return the products of matrices and several vectors each."""
        return jnp.einsum("lij,klj->kli", matrix, vectors, precision="highest")

    def fold(self, step: Callable[[Array, Array], Array], start: Array, over: Array) -> Array:
        """Apply `step` to the items along the first axis."""
        return jax.lax.scan(lambda state, item: (step(state, item), None), start, over)[0]

    def walk(
        self, step: Callable[..., tuple[Array, tuple[Array, ...]]], start: Array, *over: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        """Apply `step` to the items along the first axes, and keep its results."""
        walked: tuple[Array, tuple[Array, ...]] = jax.lax.scan(
            lambda state, items: step(state, *items), start, over, unroll=_unrolled()
        )
        return walked

    def mixed(self, start: Array, shares: Array) -> Array:
        """Return the value after all steps."""
        return self.fold(lambda x, share: x + share * (self.shifted(x) - x), start, shares)

    def mixtures(self, start: Array, shares: Array, *, back: bool = False) -> tuple[Array, Array]:
        """Return the value after all steps, and before each of them."""
        ends = [(0, 0)] * (start.ndim - 1)

        def step(one: Array, share: Array) -> tuple[Array, Array]:
            padded = jnp.pad(one, [*ends, (0, 1) if back else (1, 0)])
            moved = padded[..., 1:] if back else padded[..., :-1]
            return one + share * (moved - one), padded

        pair: tuple[Array, Array] = jax.lax.scan(
            step, start, shares, reverse=back, unroll=_unrolled()
        )
        return pair

    def fused_ranks(self, *_: object) -> None:
        """Return None: XLA fuses the blocks."""

    def fused_pairs(self, *_: object, **__: object) -> None:
        """Return None: XLA fuses the blocks."""

    def fused_sorting(self, *_: object, **__: object) -> None:
        """Return None: XLA fuses the blocks."""

    def falls_by_rank(self, s: Array, tau: float, deep: int) -> Any | None:
        """If compiled, accumulate distances from rank to rank: XLA is slow at sums over a row."""
        # A loop would be recompiled on every call; on a GPU each iteration launches kernels.
        if not isinstance(s, jax.core.Tracer):
            return None
        if jax.default_backend() != "cpu":
            return falls_in_whole_numbers(s, tau, deep) if s.shape[-1] <= _WIDEST else None
        items = self.counting(s.shape[-1], s)
        steps = (2 * (items - deep) + 1)[:-1] * (s[:, :-1] - s[:, 1:])
        last = jnp.where(items[:-1] >= deep, steps, 0.0).cumsum(-1)
        last = jnp.pad(last, [(0, 0), (1, 0)])  # from the last rank

        def next_below(fall: Array, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
            own, after, rank = at
            return jnp.where(items <= rank, fall + (s - own) + (s - after), 0.0), fall

        def next_above(fall: Array, at: tuple[Array, Array, Array]) -> tuple[Array, Array]:
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
        self, value: Callable[..., Any], pullback: Callable[..., Any], *arrays: Array
    ) -> Array:
        """Return a value with its own gradient with respect to the first array."""
        return self.with_kept_gradient(lambda *inputs: (value(*inputs),), pullback, *arrays)

    def with_kept_gradient(
        self,
        value: Callable[..., tuple[Array, ...]],
        pullback: Callable[..., Any],
        *arrays: Array,
    ) -> Array:
        """Return the first of several values, with its own gradient with respect to the first array."""

        def refuse(*_: object) -> Array:
            message = "this loss has no second derivative"
            raise NotImplementedError(message)

        # Differentiating the gradient would hold all pairs, and for an estimate it would be wrong.
        undifferentiable = jax.custom_vjp(pullback)
        undifferentiable.defvjp(lambda *inputs: (pullback(*inputs), None), refuse)

        def forward(*inputs: Array) -> tuple[Array, tuple[Array, ...]]:
            first, *others = value(*inputs)
            return first, (*others, *inputs)

        def backward(kept: tuple[Array, ...], slope: Array) -> tuple[Array, ...]:
            return undifferentiable(slope, *kept), *[None] * (len(arrays) - 1)

        function = jax.custom_vjp(lambda *inputs: value(*inputs)[0])
        function.defvjp(forward, backward)
        return function(*arrays)

    with_traceable_gradient = with_gradient


def falls_in_whole_numbers(s: Array, tau: float, deep: int) -> Array:
    """Return the same as `falls_by_rank`, without a sum over each row.

    For items 0, 1, … with steps d_k to the next, S_j = Σ_{k<j} d_k and T_j = Σ_{k<j} k·d_k, item j
    falls by 2T_j + S_j + (2i − 1)·S_i − 2T_i − 2i·S_j from rank i. These terms are far larger than
    their sum, so each step is split into whole numbers, for which the formula is exact.

    A step beyond which powers are 0 is shortened, so that a distant item costs no digits.
    """
    kind, bits = _INTEGERS[s.dtype.itemsize], np.finfo(s.dtype)
    width = s.shape[-1]
    top = int(math.log2(-2 * bits.minexp))  # e to minus 2^top − 1 is 0
    # A distance has up to n² steps, which the integers can hold. Their errors add up to about
    # n^1.5.
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
    # Sums over the items above each one, since XLA turns a running sum into several kernels.
    above = jnp.where(items[:-1] < items[:, None], jnp.stack(parts)[:, :, None, :], 0)
    run, moment = above.sum(-1, dtype=kind), (above * items[:-1]).sum(-1, dtype=kind)
    by_rank = ((2 * items - 1) * run - 2 * moment)[:, :, :deep, None]
    by_item = (2 * moment + run)[:, :, None, :]
    falls = by_rank + by_item - 2 * items[:deep, None] * run[:, :, None, :]
    total = falls[-1].astype(s.dtype) * unit
    for fall in falls[-2::-1]:
        unit *= 2**size
        total = total + fall.astype(s.dtype) * unit
    return total


def _unrolled() -> int:
    return 1 if jax.default_backend() == "cpu" else _STEPS


def _power_of_two(exponents: Array) -> Array:
    """Return 2^n of whole numbers, exactly and without the function that XLA would call per number.

    Below the normal numbers the result is 0.
    """
    bits, kind = np.finfo(exponents.dtype), _INTEGERS[exponents.dtype.itemsize]
    clipped = jnp.clip(exponents, bits.minexp - 1, bits.maxexp).astype(kind)
    return jax.lax.bitcast_convert_type(
        (clipped - (bits.minexp - 1)) << bits.nmant, exponents.dtype
    )


@jax.custom_jvp
def _from_high_to_low(values: Array) -> Array:
    """Sort by the bits, transformed to have the order of the numbers.

    On a CPU, XLA sorts integers five times as fast as floating numbers.
    """
    kind = _INTEGERS[values.dtype.itemsize]

    def turned(bits: Array) -> Array:
        return jnp.where(bits < 0, bits ^ np.iinfo(kind).max, bits)

    keys = turned(jax.lax.bitcast_convert_type(values, kind))
    falling = jnp.flip(turned(jax.lax.sort(keys, is_stable=False)), -1)
    return jax.lax.bitcast_convert_type(falling, values.dtype)


@_from_high_to_low.defjvp
def _(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """Differentiate through the sorting order."""
    order = JAX.descending(*primals)
    return JAX.take(*primals, order), JAX.take(*tangents, order)


def _for_jax(values: Array) -> Array:
    """Convert PyTorch tensors, which may have a history or a dtype that NumPy lacks, to arrays."""
    if not hasattr(values, "detach"):
        return values
    plain = values.detach().cpu()
    return (plain.double() if plain.is_floating_point() else plain).numpy()


JAX = JaxOperations()
