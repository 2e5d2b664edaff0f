# Written by `make docs` from the table in gainful/__init__.py.

from gainful.rendering.table_formats import formats
from gainful.reporting.render_any_result import render
from gainful.writing.atomic_files import write_text
from gainful.writing.experiment_trackers import flat_name
from gainful.writing.file_formats import endings

__all__ = [
    "endings",
    "flat_name",
    "formats",
    "render",
    "write_text",
]
