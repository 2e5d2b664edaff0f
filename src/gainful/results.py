"""The classes of all results: what `evaluate`, `compare` and the others return.

They are public for annotations, `isinstance` and their class methods. Each class is defined next to the
function that returns it, such as `Scores` in `evaluation/scores.py`.

>>> import gainful as gf
>>> scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 0.5}})
>>> isinstance(scores, gf.results.Scores)
True
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
