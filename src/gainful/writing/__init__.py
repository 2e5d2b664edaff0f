"""Runs, judgments and tables of scores → files, each replaced only when the new one is complete.

Its public names write results as text; `gainful.write_run` and `gainful.write_judgments` write
what was read.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
