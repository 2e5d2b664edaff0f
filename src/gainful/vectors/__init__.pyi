# Written by `make docs` from the table in gainful/__init__.py.

from gainful.vectors.case_files import Case
from gainful.vectors.case_files import cases
from gainful.vectors.conformance_check import conformance
from gainful.vectors.conformance_check import conformance_of_command

__all__ = [
    "Case",
    "cases",
    "conformance",
    "conformance_of_command",
]
