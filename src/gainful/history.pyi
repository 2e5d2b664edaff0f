# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.history.entries import add
from gainful.analysis.history.history import read
from gainful.reporting.history_page import page

__all__ = [
    "add",
    "page",
    "read",
]
