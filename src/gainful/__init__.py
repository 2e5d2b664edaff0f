"""Measure how good rankings are: CG, DCG, nDCG, exactly and fast, with the arithmetic shown.

>>> import gainful as gf
>>> round(gf.ndcg([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2], k=6), 3)
0.785
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gainful.errors import (
    GainfulError,
    GainfulWarning,
    InputError,
    MeasureError,
    MissingDependencyError,
    PolicyError,
)
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.evaluate import evaluate, evaluate_arrays, evaluate_runs
from gainful.evaluation.grades import cg, dcg, ndcg
from gainful.evaluation.scores import Scores
from gainful.inputs.engine import Engine
from gainful.measures.families import Family, catalogue
from gainful.measures.notation import parse as measure
from gainful.measures.policy import Choice, Policy, choices
from gainful.measures.spec import Measure
from gainful.version import VERSION

if TYPE_CHECKING:
    from gainful.explanation.explain import explain, explain_grades
    from gainful.explanation.worked import Explanation
    from gainful.linting.check import check
    from gainful.linting.findings import Finding, Findings
    from gainful.report.render import formats, render
    from gainful.writing.documents import write_judgments, write_run
    from gainful.writing.replacing import write_text

# What most programs do not use is imported when it is first asked for.
_LATE = {
    "Explanation": "explanation.worked",
    "Finding": "linting.findings",
    "Findings": "linting.findings",
    "check": "linting.check",
    "explain": "explanation.explain",
    "explain_grades": "explanation.explain",
    "formats": "report.render",
    "render": "report.render",
    "write_judgments": "writing.documents",
    "write_run": "writing.documents",
    "write_text": "writing.replacing",
}

__version__ = VERSION

__all__ = [
    "Choice",
    "Coverage",
    "Engine",
    "Explanation",
    "Family",
    "Finding",
    "Findings",
    "GainfulError",
    "GainfulWarning",
    "InputError",
    "Measure",
    "MeasureError",
    "MissingDependencyError",
    "Policy",
    "PolicyError",
    "Scores",
    "catalogue",
    "cg",
    "check",
    "choices",
    "dcg",
    "evaluate",
    "evaluate_arrays",
    "evaluate_runs",
    "explain",
    "explain_grades",
    "formats",
    "measure",
    "ndcg",
    "render",
    "write_judgments",
    "write_run",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
