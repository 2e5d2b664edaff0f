"""Systems compared query by query: differences, verdicts, slices and gates.

Its public names are for scores that are there already, and for the choices of a comparison;
`gainful.compare` compares runs.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
