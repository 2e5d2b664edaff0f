# Written by `make docs` from the table in gainful/__init__.py.

from gainful.subtopics.evaluate import evaluate_subtopics
from gainful.subtopics.measure_catalogue import subtopic_catalogue
from gainful.subtopics.measure_catalogue import subtopic_family
from gainful.subtopics.notation import SubtopicMeasure
from gainful.subtopics.subtopic_judgments import read_subtopics

__all__ = [
    "SubtopicMeasure",
    "evaluate_subtopics",
    "read_subtopics",
    "subtopic_catalogue",
    "subtopic_family",
]
