"""Measures, their notation and the policy, as frozen values.

The public names list the families, the dialects and the choices of a policy, and define custom
measures.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
