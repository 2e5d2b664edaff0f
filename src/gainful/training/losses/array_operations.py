"""The few array operations that the losses are built from, and their provider for each tensor."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from gainful.array_types import Array
from gainful.errors import InputError, how_to_install
from gainful.training.imported_frameworks import imported


class Operations(Protocol):
    """The operations that a framework provides for the losses, along the last axis by default.

    `kept_pairs` is the most pairs that are kept for the gradient instead of being computed again.
    """

    kept_pairs: int

    @property
    def kept_ranks(self) -> int:
        """The most numbers of rank distributions kept for a gradient; more are recomputed."""

    @property
    def block(self) -> int:
        """The number of pairs held at a time if they are not kept."""

    def computes_at_once(self, scores: Array) -> bool:
        """Return whether operations are carried out as they are called, on plain tensors."""

    def exactly(self, like: Array) -> AbstractContextManager[Any]:
        """Switch automatic lower precision off."""

    def floats(self, values: Array, like: Array) -> Array:
        """Convert to the device and the floating type of `like`."""

    def booleans(self, values: Array, like: Array) -> Array:
        """Convert to booleans on the device of `like`."""

    def everywhere(self, like: Array) -> Array:
        """Return True in the shape and on the device of `like`."""

    def integers(self, values: Array, like: Array) -> Array:
        """Convert to indices on the device of `like`."""

    def accumulating(self, values: Array) -> Array:
        """Convert half precision to float32; leave float32 and float64."""

    def lowest(self, like: Array) -> float:
        """Return the lowest finite number of the type of `like`."""

    def counting(self, stop: int, like: Array) -> Array:
        """Return 1, 2, …, stop in the type and on the device of `like`."""

    def constant(self, values: Array) -> Array:
        """Return the same values without their history."""

    def where(self, condition: Array, yes: Array, no: Array) -> Array:
        """Choose elementwise; values that are not chosen get no gradient."""

    def exp(self, values: Array) -> Array:
        """e^x."""

    def exp2m1(self, values: Array) -> Array:
        """2^x − 1, exact for whole numbers and accurate near 0; without gradient in JAX."""

    def log(self, values: Array) -> Array:
        """Return the natural logarithm."""

    def erf(self, values: Array) -> Array:
        """Return the error function."""

    def sigmoid(self, values: Array) -> Array:
        """1/(1 + e^−x)."""

    def softplus(self, values: Array) -> Array:
        """ln(1 + e^x), exact at both ends."""

    def at_least(self, values: Array, least: float) -> Array:
        """Replace lower values by a number; keep NaN."""

    def highest(self, values: Array, axis: int) -> Array:
        """Return the maximum, with its axis kept, without gradient."""

    def median(self, values: Array) -> Array:
        """Return the median of values other than NaN, with its axis kept, without gradient."""

    def flip(self, values: Array) -> Array:
        """Reverse the last axis."""

    def descending(self, values: Array, then: Array | None = None) -> Array:
        """Return the indices from high to low; equal values by `then`, or in their present order."""

    def from_high_to_low(self, values: Array) -> Array:
        """Sort in descending order; NaN may be anywhere."""

    def take(self, values: Array, indices: Array) -> Array:
        """Take along the last axis, one row of indices for each row."""

    def put(self, values: Array, indices: Array) -> Array:
        """Undo `take`: put values at the indices, each of which occurs once per row."""

    def join(self, values: Sequence[Array]) -> Array:
        """Concatenate arrays along the first axis."""

    def widen(self, values: Array) -> Array:
        """Append one 0 to the last axis."""

    def scan(self, combine: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
        """Combine all places of the last axis up to each; `combine(before, here)` is associative."""

    def shifted(self, values: Array) -> Array:
        """Shift all values by one along the last axis, putting 0 first and dropping the last."""

    def room(self, like: Array) -> int:
        """Return how many numbers may be held at once in computations that gain from more."""

    def uniform(self, shape: tuple[int, ...], like: Array, generator: Any) -> Array:
        """Draw from (0, 1)."""

    def gumbel(self, drawn: Array) -> Array:
        """Return −ln(−ln x), Gumbel noise from uniform draws, which may be overwritten."""

    def another(self, generator: Any, number: int) -> Array:
        """Return a generator for the draws with this number, independent of earlier ones."""

    def by_rows(self, rows: Callable[..., Array], size: int, *columns: Array) -> Array:
        """Apply `rows` to blocks of `size` columns of [list, n] arrays and join the results."""

    def by_lists(
        self, some: Callable[..., tuple[Array, ...]], size: int, *arrays: Array
    ) -> tuple[Array, ...]:
        """Apply `some` to `size` lists at a time, the first axis of all, and join the results."""

    def in_blocks(self, values: Array, size: int) -> Array:
        """Cut the last axis into blocks, [block, ..., size], with zeros after the last item."""

    def stacked(self, values: Sequence[Array]) -> Array:
        """Stack arrays along a new first axis."""

    def product(self, matrix: Array, vector: Array) -> Array:
        """Return Σ_j A_ij·x_j of matrices [list, i, j] and vectors [list, j], in full precision."""

    def products(self, matrix: Array, vectors: Array) -> Array:
        """Do the same for several vectors per matrix, [vector, list, j] → [vector, list, i]."""

    def fold(self, step: Callable[[Array, Array], Array], start: Array, over: Array) -> Array:
        """Apply `step(state, item)` to the items along the first axis of `over`."""

    def walk(
        self, step: Callable[..., tuple[Any, tuple[Array, ...]]], start: Array, *over: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        """Apply `step(state, *items)`, which returns the next state and a result to keep.

        Items run along the first axes. Returns the last state and the stacked results.
        """

    def mixed(self, start: Array, shares: Array) -> Array:
        """Return x_n with x_0 = start and x_(t+1) = (1 − p_t)·x_t + p_t·x_t shifted by one place.

        Values shift along the last axis, with 0 put first; the shares p are [t, ..., 1].
        """

    def mixtures(self, start: Array, shares: Array, *, back: bool = False) -> tuple[Array, Array]:
        """Return x_n and all earlier ones, [t, ..., place], with an extra place of 0.

        The extra place is the first. Backwards it is the last, x_n = start, values shift back by
        one place, and x_0 and all later ones are returned.
        """

    def fused_ranks(self, scores: Array, mask: Array, temperature: float) -> Array | None:
        """Return approximate ranks by a fused kernel; None if no kernel supports them."""

    def fused_pairs(
        self, arrays: Sequence[Array], discounts: Array, **options: object
    ) -> Array | None:
        """Return weighted sums over pairs by a fused kernel; None if no kernel supports them."""

    def fused_sorting(
        self, scores: Array, gains: Array, counts: Array, **options: object
    ) -> Array | None:
        """Return relaxed sorted gains by fused kernels; None if no kernel supports them."""

    def falls_by_rank(self, s: Array, tau: float, deep: int) -> Array | None:
        """Return distances of items j from the first ranks i in units of τ, [list, rank, item].

        That is Σ |s_t − s_j| + |s_u − s_j| over neighbours t and u from i to j, of scores [list, item]
        from high to low. Where e to minus the distance is 0, it may be too small, but e to minus it
        is still 0. None if sums over the items of a row take less time.
        """

    def with_gradient(
        self, value: Callable[..., Array], pullback: Callable[..., Array], *arrays: Array
    ) -> Array:
        """Return `value(*arrays)`, whose gradient by the first is `pullback(slope, *arrays)`."""

    def with_traceable_gradient(
        self, value: Callable[..., Array], pullback: Callable[..., Array], *arrays: Array
    ) -> Array:
        """Do the same for a value [list] of [list, item] arrays computed without blocks."""

    def with_kept_gradient(
        self,
        value: Callable[..., tuple[Array, ...]],
        pullback: Callable[..., Array],
        *arrays: Array,
    ) -> Array:
        """Return the first of `value(*arrays)`; the others are kept for its gradient.

        The gradient by the first array is `pullback(slope, *others, *arrays)`.
        """


def operations_for(scores: object) -> Operations:
    """Return the operations of the framework that a tensor belongs to.

    >>> import numpy as np
    >>> operations_for(np.zeros(3))
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: scores: expected a tensor of PyTorch or JAX, found ndarray. ...
    """
    torch = imported("torch")
    if torch is not None and isinstance(scores, torch.Tensor):
        from gainful.training.losses.torch_operations import TORCH

        return TORCH
    jax = imported("jax")
    if jax is not None and isinstance(scores, jax.Array):
        from gainful.training.losses.jax_operations import JAX

        return JAX
    raise InputError(
        "scores",
        "a tensor of PyTorch or JAX",
        type(scores).__name__,
        "Use torch.as_tensor(scores) or jax.numpy.asarray(scores). The extras torch and jax install them. "
        f"{how_to_install('torch')}",
    )


def running_highest(ops: Operations, values: Array) -> Array:
    """Return max_{k ≤ r} x_k at each place r."""

    def higher(before: tuple[Array, ...], here: tuple[Array, ...]) -> tuple[Array, ...]:
        return (ops.where(before[0] > here[0], before[0], here[0]),)

    return ops.scan(higher, values)[0]


def running_sums(ops: Operations, levels: Array, *terms: Array) -> list[Array]:
    """Return Σ_{k ≤ r} x_k·e^(levels_r − levels_k) at each place r; levels never rise."""

    def added(before: tuple[Array, ...], here: tuple[Array, ...]) -> tuple[Array, ...]:
        scale = ops.exp(here[0] - before[0])
        sums = (one + scale * other for one, other in zip(here[1:], before[1:], strict=True))
        return here[0], *sums

    return list(ops.scan(added, levels, *terms)[1:])
