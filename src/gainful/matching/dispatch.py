"""Which matcher takes which kind of input."""

import os
from collections.abc import Mapping
from typing import Any

from gainful.errors import InputError
from gainful.inputs import trec
from gainful.matching import mappings
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy


def match(judgments: object, run: object, policy: Policy, depth: int | None = None) -> Matched:
    """Match a run with its judgments, each a dict of dicts or the path of a TREC file."""
    return mappings.match(
        read_judgments(judgments, policy), read_run(run, policy), policy.resolved(ids=True), depth
    )


def read_judgments(source: object, policy: Policy) -> Mapping[Any, Any]:
    """Return judgments as a dict of dicts, from whatever kind of input."""
    if isinstance(source, str | os.PathLike):
        return trec.read_judgments(source, duplicates=policy.duplicates)
    return _mapping(source, "judgments", "grade")


def read_run(source: object, policy: Policy) -> Mapping[Any, Any]:
    """Return a run as a dict of dicts, from whatever kind of input."""
    if isinstance(source, str | os.PathLike):
        return trec.read_run(source, duplicates=policy.duplicates)
    return _mapping(source, "run", "score")


def _mapping(source: object, what: str, number: str) -> Mapping[Any, Any]:
    if isinstance(source, Mapping):
        return source
    raise InputError(
        what,
        f"a dict {{query: {{doc: {number}}}}} or the path of a TREC file",
        f"{type(source).__name__}",
    )
