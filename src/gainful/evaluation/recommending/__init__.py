"""Measures of recommendations beyond relevance: of the catalogue, the items, and past interactions."""
