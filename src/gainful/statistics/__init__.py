"""How far rankings and scores agree or differ.

Its public names are measures of agreement.

>>> import gainful as gf
>>> gf.statistics.kendall_tau(["a", "b", "c"], ["a", "b", "c"])
1.0
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
