# Written by `make docs` from the table in gainful/__init__.py.

from gainful.inputs.column_finding import column_names
from gainful.inputs.read_table import read_chunk_map
from gainful.inputs.several_runs import find_runs
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.keyword_options import ReadingOptions

__all__ = [
    "MeasuringOptions",
    "ReadingOptions",
    "column_names",
    "find_runs",
    "read_chunk_map",
]
