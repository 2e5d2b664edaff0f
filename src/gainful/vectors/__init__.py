"""Conformance vectors: small cases with exact values, and whether an implementation of nDCG gives them.

The files are those of the folder `vectors` of the repository, which says what they mean.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
