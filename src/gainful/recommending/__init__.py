"""Measures of recommendations beyond relevance: of the catalogue, the items, and past interactions."""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
