"""Several runs as one: methods of fusion, and the choice of their settings by judgments.

`gainful.fuse` is used daily; the public names here are the others.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
