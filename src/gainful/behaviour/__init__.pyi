# Written by `make docs` from the table in gainful/__init__.py.

from gainful.behaviour.click_log import read_log
from gainful.behaviour.counterfactual import would_earn
from gainful.behaviour.examination import position_bias
from gainful.behaviour.interleaving import interleave
from gainful.behaviour.interleaving import interleave_runs
from gainful.behaviour.interleaving import interleaving_verdict
from gainful.behaviour.judgments_from_clicks import click_judgments
from gainful.behaviour.judgments_from_clicks import click_models
from gainful.behaviour.log_tables import LogOptions

__all__ = [
    "LogOptions",
    "click_judgments",
    "click_models",
    "interleave",
    "interleave_runs",
    "interleaving_verdict",
    "position_bias",
    "read_log",
    "would_earn",
]
