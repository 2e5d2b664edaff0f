# Written by `make docs` from the table in gainful/__init__.py.

from gainful.compat.vectors.case_files import Case
from gainful.compat.vectors.case_files import cases
from gainful.compat.vectors.conformance_check import conformance
from gainful.compat.vectors.conformance_check import conformance_of_command

__all__ = [
    "Case",
    "cases",
    "conformance",
    "conformance_of_command",
]
