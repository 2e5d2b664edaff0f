"""Read learning-to-rank data: labels with `qid:` (SVMlight, LETOR), and a file of predictions.

Line n of the predictions is the score of the document on line n of the labels. A line of labels is
`label qid:ID feature:value …`, optionally followed by `#` and a comment.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.files import LocalFile
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.text_formats import numbered_lines

_FIELDS = 3  # the label, the query, and the rest of the line


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels (n,) and query ids (n,) of documents without ids."""

    name: str
    labels: Floats
    queries: list[str]


@dataclass(frozen=True, slots=True)
class Predictions:
    """The scores (n,) of documents without ids."""

    name: str
    scores: Floats


def read_labels(file: LocalFile) -> Labels:
    """Read a file of labels."""
    labels: list[float] = []
    queries: list[str] = []
    for number, line in _lines(file):
        fields = line.split(maxsplit=_FIELDS - 1)
        if len(fields) < _FIELDS - 1 or not fields[1].startswith(b"qid:"):
            where = f"{file.name}:{number}"
            raise InputError(where, "label qid:ID feature:value …", _shown(line))
        labels.append(_number(fields[0], "label", file, number))
        try:
            queries.append(fields[1].removeprefix(b"qid:").decode())
        except UnicodeDecodeError:
            raise InputError(f"{file.name}:{number}", "UTF-8 text", _shown(line)) from None
    return Labels(file.name, np.array(labels), queries)


def read_predictions(file: LocalFile) -> Predictions:
    """Read a file of predictions."""
    scores = [_number(line.strip(), "score", file, number) for number, line in _lines(file)]
    return Predictions(file.name, np.array(scores))


def refuse_first_line(file: LocalFile) -> None:
    """Reject a header or NaN on the first line, which kept the file from being recognised as predictions."""
    number, line = next(_lines(file), (0, b""))
    if len(line.split()) == 1:
        remedy = "Predictions are one number on each line, and no header."
        _number(line.strip(), "score", file, number, remedy)


def refuse_other_length(labels: Labels, predictions: Predictions) -> None:
    """Reject predictions that are more or fewer than the labels."""
    if labels.labels.size != predictions.scores.size:
        raise InputError(
            predictions.name,
            f"a prediction for each of the {labels.labels.size} labels of {labels.name}",
            str(predictions.scores.size),
        )


def _lines(file: LocalFile) -> Iterator[tuple[int, bytes]]:
    for number, line in numbered_lines(file):
        text = line.split(b"#", 1)[0]
        if text.strip():
            yield number, text


def _number(text: bytes, kind: str, file: LocalFile, line: int, remedy: str = "") -> float:
    written = text.decode(errors="replace")
    value = number_in_text(written)
    if value is None or not math.isfinite(value):
        problem = replace(RUN, number=kind).no_number(f"{file.name}:{line}", written, _shown(text))
        raise problem.with_remedy(problem.remedy or remedy)  # the first, for example, about a comma
    return value


def _shown(text: bytes) -> str:
    return shown(text.decode(errors="replace").strip())
