# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.history.entries import add
from gainful.analysis.history.history import read

__all__ = [
    "add",
    "read",
]
