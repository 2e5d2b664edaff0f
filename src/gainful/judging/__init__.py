"""What incomplete judgments allow: bounds, pools, what to judge next.

`gainful.bounds`, `gainful.curve` and `gainful.pool` are used daily; the public names here are the
others.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
