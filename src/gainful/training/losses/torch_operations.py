"""The operations of the losses in PyTorch."""

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from gainful.array_types import Array
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.training.gpu_support import fusible
from gainful.training.no_second_derivative import FirstDerivativeOnly


class _WithGradient(torch.autograd.Function):
    """A value with its own gradient with respect to the first array, instead of a traced one."""

    generate_vmap_rule = True

    @staticmethod
    def forward(value: Callable[..., Tensor], _: Callable[..., Tensor], *arrays: Tensor) -> Tensor:
        return value(*arrays)

    @staticmethod
    def setup_context(ctx: Array, inputs: tuple[object, ...], output: Tensor) -> None:  # noqa: ARG004
        ctx.pullback = inputs[1]
        ctx.save_for_backward(*inputs[2:])

    @staticmethod
    def backward(ctx: Array, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        arrays = ctx.saved_tensors  # torch.utils.checkpoint allows one access only
        gradient = FirstDerivativeOnly.apply(ctx.pullback, slopes[0], *arrays)  # type: ignore[no-untyped-call]
        return (None, None, gradient, *[None] * (len(arrays) - 1))


class _WithKeptGradient(torch.autograd.Function):
    """A value with its own gradient, returned together with the arrays that the gradient needs."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        value: Callable[..., tuple[Tensor, ...]], _: Callable[..., Tensor], *arrays: Tensor
    ) -> tuple[Tensor, ...]:
        return value(*arrays)

    @staticmethod
    def setup_context(ctx: Array, inputs: tuple[object, ...], output: tuple[Tensor, ...]) -> None:
        ctx.pullback = inputs[1]
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*output[1:], *inputs[2:])
        ctx.input_count = len(inputs) - 2

    @staticmethod
    def backward(ctx: Array, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        gradient = FirstDerivativeOnly.apply(ctx.pullback, slopes[0], *ctx.saved_tensors)  # type: ignore[no-untyped-call]
        return (None, None, gradient, *[None] * (ctx.input_count - 1))


BLOCK = 2**20
"""The pairs held at a time: 4 MiB of float32 per temporary, which fit in a cache."""


class TorchOperations:
    """Operations on PyTorch tensors, on the device of the scores."""

    kept_pairs = BLOCK
    kept_ranks = 2**22  # 16 MiB of float32
    block = BLOCK

    def computes_at_once(self, scores: Tensor) -> bool:
        """Return whether operations are carried out as they are called, on plain tensors."""
        return (
            type(scores) in (Tensor, torch.nn.Parameter)
            and scores.layout is torch.strided
            and not torch.compiler.is_compiling()
            and not torch._C._get_tracing_state()  # noqa: SLF001
            and not torch._C._are_functorch_transforms_active()  # noqa: SLF001
            and torch.autograd.forward_ad._current_level < 0  # noqa: SLF001
        )

    def exactly(self, like: Tensor) -> AbstractContextManager[Any]:
        """Switch autocast off if it is on."""
        kind = like.device.type
        supported = kind in ("cpu", "cuda") or torch.amp.is_autocast_available(kind)
        active = supported and torch.is_autocast_enabled(kind)
        return torch.autocast(kind, enabled=False) if active else nullcontext()

    def floats(self, values: object, like: Tensor) -> Tensor:
        """Convert to the device and the floating type of `like`."""
        return torch.as_tensor(values, dtype=like.dtype, device=like.device)

    def booleans(self, values: object, like: Tensor) -> Tensor:
        """Convert to booleans on the device of `like`."""
        return torch.as_tensor(values, dtype=torch.bool, device=like.device)

    def everywhere(self, like: Tensor) -> Tensor:
        """Return True in the shape of `like`."""
        return torch.ones_like(like, dtype=torch.bool)

    def integers(self, values: object, like: Tensor) -> Tensor:
        """Convert to indices on the device of `like`."""
        return torch.as_tensor(values, dtype=torch.int64, device=like.device)

    def accumulating(self, values: Tensor) -> Tensor:
        """Convert half precision to float32."""
        return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values

    def lowest(self, like: Tensor) -> float:
        """Return the lowest finite number of the type."""
        return torch.finfo(like.dtype).min

    def counting(self, stop: int, like: Tensor) -> Tensor:
        """Return 1, 2, …, stop."""
        return torch.arange(1, stop + 1, dtype=like.dtype, device=like.device)

    def constant(self, values: Tensor) -> Tensor:
        """Return the same values without their history."""
        return values.detach()

    def where(self, condition: Tensor, yes: Array, no: Array) -> Tensor:
        """Choose elementwise."""
        return torch.where(condition, yes, no)

    def exp(self, values: Tensor) -> Tensor:
        """e^x."""
        return torch.exp(values)

    def exp2m1(self, values: Tensor) -> Tensor:
        """2^x − 1; a power is exact for whole numbers but loses digits near 0."""
        return torch.where(values % 1 == 0, 2.0**values - 1, torch.expm1(values * math.log(2)))

    def log(self, values: Tensor) -> Tensor:
        """Return the natural logarithm."""
        return torch.log(values)

    def erf(self, values: Tensor) -> Tensor:
        """Return the error function."""
        return torch.erf(values)

    def sigmoid(self, values: Tensor) -> Tensor:
        """1/(1 + e^−x)."""
        return torch.sigmoid(values)

    def softplus(self, values: Tensor) -> Tensor:
        """ln(1 + e^x); PyTorch's own softplus is linear above 20."""
        return -torch.nn.functional.logsigmoid(-values)

    def at_least(self, values: Tensor, least: float) -> Tensor:
        """Replace lower values by a number."""
        return values.clamp_min(least)

    def highest(self, values: Tensor, axis: int) -> Tensor:
        """Return the maximum, with its axis kept, without gradient."""
        return values.detach().amax(axis, keepdim=True)

    def median(self, values: Tensor) -> Tensor:
        """Return the median of values other than NaN, with its axis kept, without gradient."""
        return values.detach().nanmedian(-1, keepdim=True).values

    def flip(self, values: Tensor) -> Tensor:
        """Reverse the last axis."""
        return torch.flip(values, (-1,))

    def descending(self, values: Tensor, then: Tensor | None = None) -> Tensor:
        """Return the indices from high to low."""
        if then is not None:
            order = self.descending(then)
            return self.take(order, self.descending(self.take(values, order)))
        return torch.argsort(values.detach(), dim=-1, descending=True, stable=True)

    def from_high_to_low(self, values: Tensor) -> Tensor:
        """Sort; if a gradient is needed, through the sorting order, which routes it back."""
        if not (values.requires_grad and torch.is_grad_enabled()):
            return values.sort(dim=-1, descending=True).values
        return self.take(values, self.descending(values))

    def take(self, values: Tensor, indices: Tensor) -> Tensor:
        """Take along the last axis."""
        return torch.gather(values, -1, indices)

    def put(self, values: Tensor, indices: Tensor) -> Tensor:
        """Undo `take`."""
        return torch.zeros_like(values).scatter(-1, indices, values)

    def join(self, values: Sequence[Tensor]) -> Tensor:
        """Concatenate tensors."""
        return torch.cat(list(values))

    def widen(self, values: Tensor) -> Tensor:
        """Append one 0 to the last axis."""
        return torch.nn.functional.pad(values, (0, 1))

    def scan(
        self, combine: Callable[..., tuple[Tensor, ...]], *arrays: Tensor
    ) -> tuple[Tensor, ...]:
        """Combine all places up to each, doubling the number of combined places in each step."""
        width = int(arrays[0].shape[-1])
        places = torch.arange(width, device=arrays[0].device)
        for step in (2**power for power in range((width - 1).bit_length())):
            before = tuple(
                torch.cat((one[..., :1].expand(*one.shape[:-1], step), one[..., :-step]), -1)
                for one in arrays
            )
            joined = combine(before, arrays)
            there = places >= step
            arrays = tuple(
                torch.where(there, new, old) for new, old in zip(joined, arrays, strict=True)
            )
        return arrays

    def shifted(self, values: Tensor) -> Tensor:
        """Shift all values by one place."""
        return torch.nn.functional.pad(values, (1, -1))

    def room(self, like: Tensor) -> int:
        """Return 1 GiB of float32 on a GPU, where each launch costs time; otherwise 64 MiB."""
        return 2**28 if like.is_cuda else 2**24

    def uniform(
        self, shape: tuple[int, ...], like: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        """Draw from (0, 1)."""
        if generator is not None and not isinstance(generator, torch.Generator):
            raise InputError("generator", "a torch.Generator or None", shown(generator))
        drawn = torch.rand(shape, dtype=like.dtype, device=like.device, generator=generator)
        return drawn.clamp_min_(torch.finfo(like.dtype).tiny)

    def gumbel(self, drawn: Tensor) -> Tensor:
        """Return −ln(−ln x), overwriting the draws."""
        return drawn.log_().neg_().log_().neg_()

    def another(self, generator: Array, number: int) -> Array:  # noqa: ARG002
        """Return the generator, which advances by itself."""
        return generator

    def by_rows(self, rows: Callable[..., Tensor], size: int, *columns: Tensor) -> Tensor:
        """Apply `rows` to blocks of columns."""
        result: Tensor | None = None
        for at in range(0, columns[0].shape[1], size):
            block = rows(*(column[:, at : at + size] for column in columns))
            # Written to one tensor: small results kept between large temporaries would prevent the
            # allocator from reusing the same memory.
            result = block if result is None else torch.cat((result, block), 1)
        assert result is not None  # noqa: S101  # lists have at least one column
        return result

    def by_lists(
        self, some: Callable[..., tuple[Tensor, ...]], size: int, *arrays: Tensor
    ) -> tuple[Tensor, ...]:
        """Apply `some` to `size` lists at a time."""
        lists = arrays[0].shape[0]
        if lists <= size:
            return some(*arrays)
        pieces = [
            some(*(array[at : at + size] for array in arrays)) for at in range(0, lists, size)
        ]
        return tuple(torch.cat(parts) for parts in zip(*pieces, strict=True))

    def in_blocks(self, values: Tensor, size: int) -> Tensor:
        """Cut the last axis into blocks."""
        width = values.shape[-1]
        padded = torch.nn.functional.pad(values, (0, -width % size))
        return padded.reshape(*values.shape[:-1], -(-width // size), size).movedim(-2, 0)

    def stacked(self, values: Sequence[Tensor]) -> Tensor:
        """Stack tensors along a new first axis."""
        return torch.stack(list(values))

    def product(self, matrix: Tensor, vector: Tensor) -> Tensor:
        """Return the products of matrices and vectors."""
        if torch.get_float32_matmul_precision() != "highest":
            return (matrix * vector[:, None, :]).sum(-1)
        with self.exactly(matrix):
            return torch.matmul(matrix, vector[:, :, None])[:, :, 0]

    def products(self, matrix: Tensor, vectors: Tensor) -> Tensor:
        """Return the products of matrices and several vectors each."""
        if torch.get_float32_matmul_precision() != "highest":
            return torch.stack([self.product(matrix, vector) for vector in vectors])
        with self.exactly(matrix):
            return torch.matmul(matrix, vectors.permute(1, 2, 0)).permute(2, 0, 1)

    def fold(self, step: Callable[[Any, Any], Any], start: Tensor, over: Tensor) -> Tensor:
        """Apply `step` to the items along the first axis."""
        for item in over:
            start = step(start, item)
        return start

    def walk(
        self, step: Callable[..., tuple[object, tuple[Tensor, ...]]], start: object, *over: Tensor
    ) -> tuple[Array, tuple[Tensor, ...]]:
        """Apply `step` to the items along the first axes, and keep its results."""
        kept = []
        for items in zip(*over, strict=True):
            start, some = step(start, *items)
            kept.append(some)
        return start, tuple(torch.stack(parts) for parts in zip(*kept, strict=True))

    def mixed(self, start: Tensor, shares: Tensor) -> Tensor:
        """Return the value after all steps."""
        if torch._C._are_functorch_transforms_active():  # noqa: SLF001
            return self.mixtures(start, shares)[0]
        here, there = torch.nn.functional.pad(start[None].expand(2, *start.shape), (1, 0)).unbind()
        for share in shares:
            torch.lerp(here[..., 1:], here[..., :-1], share, out=there[..., 1:])
            here, there = there, here
        return here[..., 1:]

    def mixtures(
        self, start: Tensor, shares: Tensor, *, back: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Return the value after all steps, and before each of them."""
        own, moved = slice(1, None), slice(None, -1)
        order = range(len(shares))
        if back:
            own, moved, order = moved, own, order[::-1]
        room = (0, 1) if back else (1, 0)
        if torch._C._are_functorch_transforms_active():  # noqa: SLF001
            kept = []  # under vmap, tensors have no memory of their own to write to
            for at in order:
                kept.append(torch.nn.functional.pad(start, room))
                start = torch.lerp(start, kept[-1][..., moved], shares[at])
            return start, torch.stack(kept[::-1] if back else kept)
        states = start.new_zeros(len(shares) + 1, *start.shape[:-1], start.shape[-1] + 1)
        states[-1 if back else 0][..., own] = start
        for at in order:
            here, there = (at + 1, at) if back else (at, at + 1)
            one = states[here]
            torch.lerp(one[..., own], one[..., moved], shares[at], out=states[there][..., own])
        last, kept_states = (states[0], states[1:]) if back else (states[-1], states[:-1])
        return last[..., own], kept_states

    def fused_ranks(self, scores: Tensor, mask: Tensor, temperature: float) -> Tensor | None:
        """Return approximate ranks by a fused kernel; None if no kernel supports them."""
        if not fusible(scores):
            return None
        from gainful.training.fused.approx_ndcg import approx_ranks

        ranks: Tensor = approx_ranks(scores, mask, temperature)
        return ranks

    def fused_pairs(
        self, arrays: Sequence[Tensor], discounts: Tensor, **options: Any
    ) -> Tensor | None:
        """Return weighted sums over pairs by a fused kernel; None if no kernel supports them."""
        if not fusible(arrays[0]):
            return None
        from gainful.training.fused.lambda_loss import LambdaOptions, lambda_sums

        scores, labels, gains, mask = arrays
        chosen = LambdaOptions(**options)
        sums: Tensor = lambda_sums(scores, labels, gains, mask, discounts, chosen)
        return sums

    def fused_sorting(
        self, scores: Tensor, gains: Tensor, counts: Tensor, **options: object
    ) -> Tensor | None:
        """Return relaxed sorted gains by fused kernels; None if no kernel supports them."""
        if not fusible(scores) or not len(scores):
            return None
        from gainful.training.fused.relaxed_sorting import sorted_gains

        ordered: Tensor = sorted_gains(scores, gains, counts, **options)
        return ordered

    def falls_by_rank(self, *_: object) -> None:
        """Return None: sums over a row are one operation."""

    # Compiled, every block would be unrolled, hundreds of them for a long list.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def with_gradient(
        self, value: Callable[..., Tensor], pullback: Callable[..., Tensor], *arrays: Tensor
    ) -> Tensor:
        """Return a value with its own gradient with respect to the first array."""
        result: Tensor = _WithGradient.apply(value, pullback, *arrays)  # type: ignore[no-untyped-call]
        return result

    def with_traceable_gradient(
        self, value: Callable[..., Tensor], pullback: Callable[..., Tensor], *arrays: Tensor
    ) -> Tensor:
        """Do the same for a function without blocks, which a compiler can trace."""
        if not torch.compiler.is_compiling():
            result: Tensor = self.with_gradient(value, pullback, *arrays)
            return result
        # A term of 0 carries the gradient: the compiler cannot trace autograd functions.
        detached = [one.detach() for one in arrays]
        worth = value(*detached)
        carrier = (arrays[0] * pullback(torch.ones_like(worth), *detached)).sum(-1)
        return worth + (carrier - carrier.detach())

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def with_kept_gradient(
        self,
        value: Callable[..., tuple[Tensor, ...]],
        pullback: Callable[..., Tensor],
        *arrays: Tensor,
    ) -> Tensor:
        """Return the first of several values, with its own gradient with respect to the first array."""
        result: Tensor = _WithKeptGradient.apply(value, pullback, *arrays)[0]  # type: ignore[no-untyped-call]
        return result


TORCH = TorchOperations()
