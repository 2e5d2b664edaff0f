"""Measures for queries with subtopics: several intents, or several results that are equally good."""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
