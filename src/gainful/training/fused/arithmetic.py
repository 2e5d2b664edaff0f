"""Arithmetic shared by the kernels: fast reciprocals, logarithms, and the range of scores."""

import triton
import triton.language as tl

SPAN = tl.constexpr(56.0)
"""The most powers of two that a list may span if products of four of its sums are to stay
finite."""


@triton.jit
def inverse(x):
    """Return 1/x, accurate to about the last bit."""
    return tl.inline_asm_elementwise(
        "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def logarithm(x):
    """Return log2 x within 2^−22; tl.log2 is more accurate but takes many more instructions."""
    return tl.inline_asm_elementwise(
        "lg2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def ends(scores, width, columns: tl.constexpr):
    """Return the highest score of a list and its lowest finite score."""
    high = tl.full((columns,), -float("inf"), tl.float32)
    low = tl.full((columns,), float("inf"), tl.float32)
    for start in range(0, width, columns):
        there = start + tl.arange(0, columns)
        score = tl.load(scores + there, mask=there < width, other=-float("inf"))
        high = tl.maximum(high, score)
        low = tl.minimum(low, tl.where(score == -float("inf"), float("inf"), score))
    return tl.max(high, axis=0), tl.min(low, axis=0)
