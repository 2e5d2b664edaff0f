"""WHAT is measured: measures, their notation and the policy, as frozen values.

Its public names are what the catalogue, the dialects and the policy consist of.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
