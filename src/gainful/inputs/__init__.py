"""What people bring: files, ids, and the checks at the boundary. Only this package reads files.

Its public names find runs, read maps of chunks, and list the options of everything that reads,
and the names of columns that are known.
"""

from gainful import _offer

__all__, __getattr__, __dir__ = _offer(__name__)
