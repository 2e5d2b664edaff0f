# Written by `make docs` from the table in gainful/__init__.py.

from gainful.explanation.attribution import attribute
from gainful.explanation.explain import explain_grades

__all__ = [
    "attribute",
    "explain_grades",
]
