# Written by `make docs` from the table in gainful/__init__.py.

from gainful.evaluation.evaluate import evaluate_subtopics
from gainful.evaluation.subtopics import read_subtopics
from gainful.measures.measures_by_need import SubtopicMeasure
from gainful.measures.measures_by_need import subtopic_catalogue
from gainful.measures.measures_by_need import subtopic_family

__all__ = [
    "SubtopicMeasure",
    "evaluate_subtopics",
    "read_subtopics",
    "subtopic_catalogue",
    "subtopic_family",
]
