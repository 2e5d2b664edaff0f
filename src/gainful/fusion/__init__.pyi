# Written by `make docs` from the table in gainful/__init__.py.

from gainful.fusion.fuse import write_fused
from gainful.fusion.method_table import methods
from gainful.fusion.method_table import normalisations
from gainful.fusion.tuning import tune

__all__ = [
    "methods",
    "normalisations",
    "tune",
    "write_fused",
]
