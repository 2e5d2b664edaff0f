"""Why is it that number: the arithmetic of a measure, worked out line by line.

Its public names work out grades alone, and say which documents made the difference of two runs;
`gainful.explain` works out a query of a run.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
