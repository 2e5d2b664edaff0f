"""`cases`: the conformance vectors, as they are in their files."""

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
"""The files, in the order in which an implementer would take them."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case: what is measured, how, of which data, and what must come out.

    Attributes:
        id: its name.
        topic: the file that it is in.
        why: the reason why it exists.
        measure: name, cutoff `k`, gain, discount and base, as `vectors/README.md` defines them.
        choices: those on which the value depends; another has no effect on it.
        queries: each with its `query`, the `judged` documents and the `run`.
        expect: the `value`, its `decimal` and its `expression`; or the `error`, where the case must
            be refused.
        dialect: the tool whose way it is, if it is one's.
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
        """Return what an implementation is given: all but the answer and the reason.

        >>> case = next(each for each in cases() if each.id == "golden")
        >>> case.asked()["choices"]
        {'ideal': 'judged', 'unjudged': 'zero'}
        """
        told = {"id": self.id}
        if self.dialect is not None:
            told["dialect"] = self.dialect
        given = {"measure": self.measure, "choices": self.choices, "queries": list(self.queries)}
        copied: dict[str, Any] = json.loads(json.dumps(told | given))
        return copied


def cases(
    *, topics: str | Iterable[str] | None = None, dialect: str | None = None
) -> tuple[Case, ...]:
    """Return the conformance vectors.

    Args:
        topics: those of these files, such as `ties`; all if None.
        dialect: those of this tool alone.

    >>> len(cases()), len(cases(topics="definition")), len(cases(dialect="scikit-learn"))
    (427, 36, 9)
    >>> case = cases(topics="ties")[0]
    >>> case.id, case.choices, case.expect["expression"]
    ('ties-doc', {'ties': 'doc'}, '(1 + 3/log2(3) + 2/log2(5)) / (3 + 2/log2(3) + 1/2)')
    """
    wanted = _read_topics(topics)
    tool = None if dialect is None else read_dialect(dialect).name
    found = [case for name in wanted for case in _read_file(name)]
    return tuple(case for case in found if tool is None or case.dialect == tool)


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
            id=each["id"],
            topic=topic,
            why=each["why"],
            measure=each["measure"],
            choices=each["choices"],
            queries=tuple(each["queries"]),
            expect=each["expect"],
            dialect=each.get("dialect"),
        )
        for each in document["cases"]
    )


def _folder() -> Path:
    """Return where the files are: in a wheel beside this one, in a working copy at its root."""
    installed = Path(__file__).parent / "files"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "vectors"
