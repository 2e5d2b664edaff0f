# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.fusion.fuse import write_fused
from gainful.analysis.fusion.method_table import methods
from gainful.analysis.fusion.method_table import normalisations
from gainful.analysis.fusion.tuning import tune

__all__ = [
    "methods",
    "normalisations",
    "tune",
    "write_fused",
]
