# Written by `make docs` from the table in gainful/__init__.py.

from gainful.output.rendering.table_formats import formats
from gainful.output.writing.experiment_trackers import flat_name
from gainful.output.writing.measure_as_sql import sql
from gainful.output.writing.output_files import endings
from gainful.output.writing.output_files import write_text
from gainful.reporting.render_any_result import render
from gainful.reporting.render_any_result import write_result

__all__ = [
    "endings",
    "flat_name",
    "formats",
    "render",
    "sql",
    "write_result",
    "write_text",
]
