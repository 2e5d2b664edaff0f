"""Collect grades, and evaluate with incomplete ones: desk, assessors, samples, bounds, pools.

`gainful.bounds`, `gainful.curve` and `gainful.pool` are at the top level, for everyday use.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
