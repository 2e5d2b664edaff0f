# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.history.entries import add
from gainful.analysis.history.history import read
from gainful.analysis.history.watching import WatchingOptions
from gainful.analysis.history.watching import watch
from gainful.integrations.calling.webhook import Webhook
from gainful.reporting.history_page import page

__all__ = [
    "WatchingOptions",
    "Webhook",
    "add",
    "page",
    "read",
    "watch",
]
