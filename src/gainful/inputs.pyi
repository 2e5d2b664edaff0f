# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.linting.located_evidence import locate_evidence
from gainful.integrations.recording.record import RecordingOptions
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.keyword_options import ReadingOptions
from gainful.matching.reference_runs import reference_judgments
from gainful.rows.input_types import Judgments
from gainful.rows.input_types import Run
from gainful.rows.input_types import SamplingOptions
from gainful.rows.input_types import TableLike
from gainful.rows.input_types import UnjudgedOptions
from gainful.rows.run_and_judgment_columns import column_names
from gainful.rows.runs_by_name import find_runs
from gainful.rows.side_table_reader import read_chunk_map

__all__ = [
    "Judgments",
    "MeasuringOptions",
    "ReadingOptions",
    "RecordingOptions",
    "Run",
    "SamplingOptions",
    "TableLike",
    "UnjudgedOptions",
    "column_names",
    "find_runs",
    "locate_evidence",
    "read_chunk_map",
    "reference_judgments",
]
