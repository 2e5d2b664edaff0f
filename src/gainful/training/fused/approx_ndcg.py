"""ApproxNDCG in blocks: the value of each document at its approximate rank, and the gradient.

Each program handles a block of one list's documents and loops over all others in blocks; no pair is
ever stored. With E_i = e^(s_i/T), σ((s_j − s_i)/T) = E_j/(E_i + E_j): a pair needs no exponential,
and two or four pairs share one reciprocal, 1/a = b·(1/ab). If the scores of a list are too far
apart for that, each pair computes the exponential of its difference.

With c_i the derivative of the sum with respect to the approximate rank of document i, the gradient
is (1/T) Σ_j σ'((s_j − s_i)/T)·(c_j − c_i), which needs no atomics either.
"""

from typing import Any

import torch
import triton
import triton.language as tl

from gainful.training.fused.arithmetic import SPAN, ends, inverse
from gainful.training.no_second_derivative import without_second_derivative

LOG2_E = 1.4426950408889634
_ROWS, _COLUMNS, _WARPS = 32, 64, 1  # slightly the fastest of those tried on an H200


@triton.jit
def _power(scores, here, width, centre, scale):
    """Return E [1, document]; 0 for padding."""
    score = tl.load(scores + here, mask=here < width, other=-float("inf"))
    return tl.exp2((score - centre) * scale)[None, :]


@triton.jit
def ranks_of(scores, own, high, low, width, scale, rows: tl.constexpr, columns: tl.constexpr):
    """Return ½ + Σ_j σ((s_j − s_i)/T) for a block's documents, each counting itself as ½."""
    total = tl.zeros((rows, columns), tl.float32)
    if (high - low) * scale < SPAN:
        centre = 0.5 * (high + low)
        # Padding has E = 0, so it never ranks above a document.
        e = tl.where(own == -float("inf"), 1.0, tl.exp2((own - centre) * scale))[:, None]
        for start in range(0, width, 4 * columns):
            here = start + tl.arange(0, columns)
            f = _power(scores, here, width, centre, scale)
            g = _power(scores, here + columns, width, centre, scale)
            h = _power(scores, here + 2 * columns, width, centre, scale)
            k = _power(scores, here + 3 * columns, width, centre, scale)
            a, b, c, d = e + f, e + g, e + h, e + k
            ab, cd = a * b, c * d
            total += ((f * b + g * a) * cd + (h * d + k * c) * ab) * inverse(ab * cd)
    else:
        for start in range(0, width, columns):
            there = start + tl.arange(0, columns)
            other = tl.load(scores + there, mask=there < width, other=-float("inf"))
            total += 1.0 / (1.0 + tl.exp2((own[:, None] - other[None, :]) * scale))
    return 0.5 + tl.sum(total, axis=1)


@triton.jit
def terms_of(gain, rank, per, log2_base, edge):
    """Return gains times the discount 1/log_b(1 + rank), and their derivatives by rank.

    With a cutoff, they are weighted by 1/(1 + (rank/(k + ½))^per); the edge is log2(k + ½).
    """
    logarithm = tl.log2(1.0 + rank)
    term = gain * log2_base / logarithm
    slope = -term / ((1.0 + rank) * logarithm * 0.6931471805599453)
    if edge is not None:
        share = 1.0 / (1.0 + tl.exp2((tl.log2(rank) - edge) * per))
        slope = slope * share - term * share * (1.0 - share) * per / rank
        term = term * share
    return term, slope


@triton.jit
def gradient_of(
    scores, slopes, own, slope, high, low, width, scale, rows: tl.constexpr, columns: tl.constexpr
):
    """Return Σ_j σ'·(c_j − c_i) for the documents of a block."""
    total = tl.zeros((rows, columns), tl.float32)
    slope = slope[:, None]
    factor = tl.full((rows,), 1.0, tl.float32)
    if (high - low) * scale < SPAN:
        centre = 0.5 * (high + low)
        e = tl.where(own == -float("inf"), 1.0, tl.exp2((own - centre) * scale))
        factor = e
        for start in range(0, width, 2 * columns):
            here = start + tl.arange(0, columns)
            there = here + columns
            c = tl.load(slopes + here, mask=here < width, other=0.0)[None, :]
            d = tl.load(slopes + there, mask=there < width, other=0.0)[None, :]
            f = _power(scores, here, width, centre, scale)
            g = _power(scores, there, width, centre, scale)
            a, b = e[:, None] + f, e[:, None] + g
            shared = inverse(a * b)
            x, y = shared * b, shared * a
            total += (x * x) * (f * (c - slope)) + (y * y) * (g * (d - slope))
    else:
        for start in range(0, width, columns):
            there = start + tl.arange(0, columns)
            other = tl.load(scores + there, mask=there < width, other=-float("inf"))
            beside = tl.load(slopes + there, mask=there < width, other=0.0)
            share = 1.0 / (1.0 + tl.exp2((own[:, None] - other[None, :]) * scale))
            total += (share - share * share) * (beside[None, :] - slope)
    return factor * tl.sum(total, axis=1)


@triton.jit
def _ranks_kernel(scores, ranks, width, scale, rows: tl.constexpr, columns: tl.constexpr):
    """Write the approximate ranks of a block."""
    batch, block = tl.program_id(1), tl.program_id(0)
    here = block * rows + tl.arange(0, rows)
    base = batch.to(tl.int64) * width
    own = tl.load(scores + base + here, mask=here < width, other=-float("inf"))
    high, low = ends(scores + base, width, columns)
    rank = ranks_of(scores + base, own, high, low, width, scale, rows, columns)
    tl.store(ranks + base + here, rank, mask=here < width)


@triton.jit
def _gradient_kernel(
    scores, slopes, gradient, width, scale, per, rows: tl.constexpr, columns: tl.constexpr
):
    """Write (1/T) Σ_j σ'·(c_j − c_i) for the documents of a block."""
    batch, block = tl.program_id(1), tl.program_id(0)
    here = block * rows + tl.arange(0, rows)
    base = batch.to(tl.int64) * width
    own = tl.load(scores + base + here, mask=here < width, other=-float("inf"))
    slope = tl.load(slopes + base + here, mask=here < width, other=0.0)
    high, low = ends(scores + base, width, columns)
    steep = gradient_of(
        scores + base, slopes + base, own, slope, high, low, width, scale, rows, columns
    )
    steep = tl.where(own > -float("inf"), per * steep, 0.0)
    tl.store(gradient + base + here, steep, mask=here < width)


def _grid(scores: torch.Tensor) -> tuple[int, int]:
    lists, width = scores.shape
    return triton.cdiv(width, _ROWS), lists


_SHAPE = {"rows": _ROWS, "columns": _COLUMNS, "num_warps": _WARPS}


class _ApproxRanks(torch.autograd.Function):
    """The approximate ranks [list, document] of scores, differentiable."""

    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, temperature: float) -> Any:
        ranks = torch.empty_like(scores)
        width = scores.shape[1]
        _ranks_kernel[_grid(scores)](scores, ranks, width, LOG2_E / temperature, **_SHAPE)
        ctx.save_for_backward(scores)
        ctx.temperature = temperature
        return ranks

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        (saved,) = ctx.saved_tensors
        scale, per = LOG2_E / ctx.temperature, 1.0 / ctx.temperature

        def gradient(upstream: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            steep, slope, width = torch.empty_like(scores), upstream.contiguous(), scores.shape[1]
            _gradient_kernel[_grid(scores)](scores, slope, steep, width, scale, per, **_SHAPE)
            return steep

        return without_second_derivative(gradient, slopes[0], saved), None


def _listed(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    # Padding scores so low that it never ranks above a document.
    return torch.where(mask, scores, -torch.inf).contiguous()


@torch.compiler.disable  # its kernels are already compiled
def approx_ranks(scores: torch.Tensor, mask: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return 1 + Σ_{j≠i} σ((s_j − s_i)/T), [list, document]; 1 for padding.

    Args:
        scores: [list, document] float32 on a GPU.
        mask: [list, document], True where there is a document.
        temperature: T.
    """
    ranks: torch.Tensor = _ApproxRanks.apply(_listed(scores, mask), temperature)
    return torch.where(mask, ranks, 1.0)
