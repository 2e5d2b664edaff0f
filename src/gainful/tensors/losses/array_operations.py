"""The few operations that the losses are written in, and who provides them for which tensors."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from gainful.errors import InputError
from gainful.tensors.imported_frameworks import imported

Array = Any
"""A tensor of PyTorch or an array of JAX."""


class Operations(Protocol):
    """What a framework does for the losses; last axes unless said otherwise.

    `kept_pairs` says up to how many pairs are kept for a gradient, all at once, rather than computed a second
    time.
    """

    kept_pairs: int

    @property
    def kept_ranks(self) -> int:
        """How many numbers of distributions of ranks are kept for a gradient; more are made anew."""

    @property
    def block(self) -> int:
        """How many pairs are held at a time, where they are not kept."""

    def computes_at_once(self, scores: Array) -> bool:
        """Return whether operations are carried out as they are called, on plain tensors."""

    def exactly(self, like: Array) -> AbstractContextManager[Any]:
        """Switch automatic lower precision off."""

    def floats(self, values: Any, like: Array) -> Array:
        """Convert to the device and the floating type of `like`."""

    def booleans(self, values: Any, like: Array) -> Array:
        """Convert to booleans on the device of `like`."""

    def everywhere(self, like: Array) -> Array:
        """Return True in the shape and on the device of `like`."""

    def integers(self, values: Any, like: Array) -> Array:
        """Convert to indices on the device of `like`."""

    def accumulating(self, values: Array) -> Array:
        """Convert half precision to float32; leave float32 and float64."""

    def lowest(self, like: Array) -> float:
        """Return the lowest finite number of the type of `like`."""

    def counting(self, stop: int, like: Array) -> Array:
        """Return 1, 2, …, stop in the type and on the device of `like`."""

    def constant(self, values: Array) -> Array:
        """Return the same values without their history."""

    def where(self, condition: Array, yes: Any, no: Any) -> Array:
        """Choose elementwise; what is not chosen has no gradient."""

    def exp(self, values: Array) -> Array:
        """e^x."""

    def exp2m1(self, values: Array) -> Array:
        """2^x − 1, exact for whole numbers, and to all digits near 0; without gradient in JAX."""

    def log(self, values: Array) -> Array:
        """Return the natural logarithm."""

    def erf(self, values: Array) -> Array:
        """Return the error function."""

    def sigmoid(self, values: Array) -> Array:
        """1/(1 + e^−x)."""

    def softplus(self, values: Array) -> Array:
        """ln(1 + e^x), exact at both ends."""

    def at_least(self, values: Array, least: float) -> Array:
        """Put a number in the place of lower ones; a NaN stays."""

    def highest(self, values: Array, axis: int) -> Array:
        """Return the maximum, with its axis kept, without gradient."""

    def median(self, values: Array) -> Array:
        """Return a middle value of those that are no NaN, with its axis kept, without gradient."""

    def flip(self, values: Array) -> Array:
        """Turn the last axis round."""

    def descending(self, values: Array, then: Array | None = None) -> Array:
        """Return the indices from high to low; equal values by `then`, or in the order given."""

    def from_high_to_low(self, values: Array) -> Array:
        """Sort; a NaN stands anywhere."""

    def take(self, values: Array, indices: Array) -> Array:
        """Take along the last axis, one row of indices for each row."""

    def put(self, values: Array, indices: Array) -> Array:
        """Put values where `take` has them from; each row of indices has every place once."""

    def join(self, values: Sequence[Array]) -> Array:
        """Put arrays after one another along the first axis."""

    def widen(self, values: Array) -> Array:
        """Add one 0 at the end of the last axis."""

    def scan(self, combine: Callable[..., tuple[Array, ...]], *arrays: Array) -> tuple[Array, ...]:
        """Combine all places of the last axis up to each; `combine(before, here)` is associative."""

    def shifted(self, values: Array) -> Array:
        """Move all values one place on along the last axis, after a 0; the last drops out."""

    def room(self, like: Array) -> int:
        """Return how many numbers may be held at a time where more of them are faster."""

    def uniform(self, shape: tuple[int, ...], like: Array, generator: Any) -> Array:
        """Draw from (0, 1)."""

    def gumbel(self, drawn: Array) -> Array:
        """Return −ln(−ln x), Gumbel noise of uniform draws, which may be written over."""

    def another(self, generator: Any, number: int) -> Any:
        """Return a generator for the draws of this number, independent of those before."""

    def by_rows(self, rows: Callable[..., Array], size: int, *columns: Array) -> Array:
        """Apply `rows` to blocks of `size` columns of [list, n] arrays and join what they give."""

    def by_lists(
        self, some: Callable[..., tuple[Array, ...]], size: int, *arrays: Array
    ) -> tuple[Array, ...]:
        """Apply `some` to `size` lists at a time, the first axis of all, and join what it gives."""

    def in_blocks(self, values: Array, size: int) -> Array:
        """Cut the last axis into blocks, [block, ..., size], with zeros after the last item."""

    def stacked(self, values: Sequence[Array]) -> Array:
        """Put arrays beside one another along a new first axis."""

    def product(self, matrix: Array, vector: Array) -> Array:
        """Return Σ_j A_ij·x_j of matrices [list, i, j] and vectors [list, j], in full precision."""

    def products(self, matrix: Array, vectors: Array) -> Array:
        """Return the same of several vectors for each matrix, [vector, list, j], as [vector, list, i]."""

    def fold(self, step: Callable[[Array, Array], Array], start: Array, over: Array) -> Array:
        """Apply `step(state, item)` to the items along the first axis of `over`."""

    def walk(
        self, step: Callable[..., tuple[Any, tuple[Array, ...]]], start: Any, *over: Array
    ) -> tuple[Any, tuple[Array, ...]]:
        """Apply `step(state, *items)`, which returns the next state and what to keep.

        Items go along the first axes. Returns the last state, and all that was kept likewise.
        """

    def mixed(self, start: Array, shares: Array) -> Array:
        """Return x_n, x_0 = start and x_(t+1) = (1 − p_t)·x_t + p_t·x_t moved one place on.

        Values move along the last axis, after a 0; the shares p are [t, ..., 1].
        """

    def mixtures(self, start: Array, shares: Array, *, back: bool = False) -> tuple[Array, Array]:
        """Return the same, and all before it, [t, ..., place], with a place more that is 0.

        That is the first place; backwards it is the last: then x_n = start, values move one place
        back, and x_0 and all after it are returned.
        """

    def fused_ranks(self, scores: Array, mask: Array, temperature: float) -> Array | None:
        """Return approximate ranks by a fused kernel; None where there is none for these."""

    def fused_pairs(
        self, arrays: Sequence[Array], discounts: Array, **options: Any
    ) -> Array | None:
        """Return weighted sums over pairs by a fused kernel; None where there is none for these."""

    def fused_sorting(
        self, scores: Array, gains: Array, counts: Array, **options: Any
    ) -> Array | None:
        """Return relaxed sorted gains by fused kernels; None where there are none for these."""

    def falls_by_rank(self, s: Array, tau: float, deep: int) -> Array | None:
        """Return how far items j are from the first ranks i, in units of τ, [list, rank, item].

        That is Σ |s_t − s_j| + |s_u − s_j| over neighbours t and u from i to j, of scores [list, item]
        from high to low. Where e to minus it is 0, it may be less, but not so much less that this
        changes. None where sums over the items of a row take less time.
        """

    def with_gradient(
        self, value: Callable[..., Array], pullback: Callable[..., Array], *arrays: Array
    ) -> Array:
        """Return `value(*arrays)`, whose gradient by the first is `pullback(slope, *arrays)`."""

    def with_traceable_gradient(
        self, value: Callable[..., Array], pullback: Callable[..., Array], *arrays: Array
    ) -> Array:
        """Do the same for a value [list] of [list, item] arrays that has no blocks."""

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
        from gainful.tensors.losses.torch_operations import TORCH

        return TORCH
    jax = imported("jax")
    if jax is not None and isinstance(scores, jax.Array):
        from gainful.tensors.losses.jax_operations import JAX

        return JAX
    raise InputError(
        "scores",
        "a tensor of PyTorch or JAX",
        type(scores).__name__,
        "Use torch.as_tensor(scores) or jax.numpy.asarray(scores); pip install 'gainful[torch]' or "
        "'gainful[jax]' installs either.",
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
