"""`cases`: the conformance vectors from their files."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gainful import arguments
from gainful.errors import InputError
from gainful.measures.dialect_catalogue import dialect as read_dialect
from gainful.message_texts import did_you_mean, shown

TOPICS = (
    "definition",
    "gains",
    "discounts",
    "ideal",
    "ties",
    "incomplete",
    "grades",
    "ids",
    "dialects",
)
"""The files, in the recommended order for an implementer."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case: the measure, the choices, the data and the expected result.

    Attributes:
        id: its name.
        topic: the file that contains it.
        why: the purpose of the case.
        measure: name, cutoff `k`, gain, discount and base, as defined in `vectors/README.md`.
        choices: the choices that affect the value.
        queries: each with its `query`, the `judged` documents and the `run`.
        expect: the `value`, its `decimal` and its `expression`; or the `error` if the case must be
            rejected.
        dialect: the tool whose behaviour it describes, if any.
    """

    id: str
    topic: str
    why: str
    measure: Mapping[str, Any]
    choices: Mapping[str, Any]
    queries: tuple[Mapping[str, Any], ...]
    expect: Mapping[str, Any]
    dialect: str | None = None

    def asked(self) -> dict[str, Any]:
        """Return the input for an implementation: everything except the answer and the purpose.

        >>> case = next(case for case in cases() if case.id == "golden")
        >>> case.asked()["choices"]
        {'ideal': 'judged', 'unjudged': 'zero'}
        """
        question = {"id": self.id}
        if self.dialect is not None:
            question["dialect"] = self.dialect
        rest = {"measure": self.measure, "choices": self.choices, "queries": list(self.queries)}
        copied: dict[str, Any] = json.loads(json.dumps(question | rest))
        return copied


def cases(
    *, topics: str | Iterable[str] | None = None, dialect: str | None = None
) -> tuple[Case, ...]:
    """Return the conformance vectors.

    Args:
        topics: the files to include, such as `ties`; all if None.
        dialect: only the cases of this tool.

    >>> len(cases()), len(cases(topics="definition")), len(cases(dialect="scikit-learn"))
    (433, 36, 9)
    >>> case = cases(topics="ties")[0]
    >>> case.id, case.choices, case.expect["expression"]
    ('ties-doc', {'ties': 'doc'}, '(1 + 3/log2(3) + 2/log2(5)) / (3 + 2/log2(3) + 1/2)')
    """
    chosen_topics = _read_topics(topics)
    tool = None if dialect is None else read_dialect(dialect).name
    chosen = [case for name in chosen_topics for case in _read_file(name)]
    return tuple(case for case in chosen if tool is None or case.dialect == tool)


def _read_topics(topics: str | Iterable[str] | None) -> list[str]:
    if topics is None:
        return list(TOPICS)
    expected = "names of topics"
    named = [topics] if isinstance(topics, str) else arguments.listed(topics, "topics", expected)
    for name in named:
        if not isinstance(name, str) or name not in TOPICS:
            hint = did_you_mean(name, TOPICS) if isinstance(name, str) else ""
            raise InputError("topics", f"one of {', '.join(TOPICS)}", shown(name), hint)
    return [name for name in TOPICS if name in named]


def _read_file(topic: str) -> tuple[Case, ...]:
    file = _folder() / f"{topic}.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    return tuple(
        Case(
            id=entry["id"],
            topic=topic,
            why=entry["why"],
            measure=entry["measure"],
            choices=entry["choices"],
            queries=tuple(entry["queries"]),
            expect=entry["expect"],
            dialect=entry.get("dialect"),
        )
        for entry in document["cases"]
    )


def _folder() -> Path:
    """Return the folder of the files: next to this module in a wheel, at the root of a checkout."""
    installed = Path(__file__).parent / "files"
    return installed if installed.is_dir() else Path(__file__).parents[4] / "vectors"
