# Written by `make docs` from the table in gainful/__init__.py.

from gainful.inputs.run_and_judgment_columns import column_names
from gainful.inputs.runs_by_name import find_runs
from gainful.inputs.side_table_reader import read_chunk_map
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.keyword_options import ReadingOptions

__all__ = [
    "MeasuringOptions",
    "ReadingOptions",
    "column_names",
    "find_runs",
    "read_chunk_map",
]
