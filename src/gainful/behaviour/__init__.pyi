# Written by `make docs` from the table in gainful/__init__.py.

from gainful.behaviour.click_log import read_log
from gainful.behaviour.judgments_from_clicks import click_judgments
from gainful.behaviour.judgments_from_clicks import click_models
from gainful.behaviour.log_tables import LogOptions

__all__ = [
    "LogOptions",
    "click_judgments",
    "click_models",
    "read_log",
]
