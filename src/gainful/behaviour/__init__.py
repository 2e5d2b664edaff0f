"""From logs to verdicts: judgments from clicks, position bias, what another ranking would earn, interleaving.

The functions accept a log as a file, a data frame, a DuckDB relation or a list of dicts, in any common
shape: a row per shown document, per list or per event, or counts.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
