# Written by `make docs` from the table in gainful/__init__.py.

from gainful.analysis.explanation.attribution import attribute
from gainful.analysis.explanation.explain import explain_grades
from gainful.analysis.explanation.why_tools_differ import which

__all__ = [
    "attribute",
    "explain_grades",
    "which",
]
