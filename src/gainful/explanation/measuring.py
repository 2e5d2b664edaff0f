"""`Measuring`: a run measured in many ways, matched anew only where a way needs it."""

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from gainful.errors import GainfulError
from gainful.evaluation.dialect import refuse_grades
from gainful.evaluation.evaluate import measure_matched
from gainful.evaluation.scores import Scores
from gainful.inputs.engine import Engine
from gainful.matching.dispatch import reading
from gainful.matching.matched import Matched
from gainful.measures.dialect import Dialect
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

_AFTER = ("absent", "negative", "missing", "empty", "extra")
"""The choices that take effect when the run has been matched."""
_KEPT = 4  # what has been matched, the latest first


class Measuring:
    """Judgments and a run, to be measured under one policy after another."""

    def __init__(
        self,
        judgments: object,
        run: object,
        *,
        columns: Mapping[str, str] | None,
        chunks: str | Mapping[str, str] | None,
        engine: Engine | None,
        policy: Policy,
    ) -> None:
        self._given = judgments, run
        self._reading: dict[str, Any] = {"columns": columns, "chunks": chunks, "engine": engine}
        self._policy = policy
        self._kept: dict[Policy, tuple[Matched, Policy] | GainfulError] = {}

    @cached_property
    def ids(self) -> bool:
        """Whether documents have ids to order ties by."""
        _, decided = self._match(dataclasses.replace(self._policy, ties="auto"))
        return decided.ties == "doc"

    def scores(self, measures: Iterable[Measure], policy: Policy) -> Scores:
        """Measure under a policy."""
        matched, decided = self._match(policy)
        return measure_matched(
            matched, tuple(measures), dataclasses.replace(policy, ties=decided.ties)
        )

    def refuse(self, tool: Dialect, measures: Iterable[Measure], policy: Policy) -> None:
        """Refuse grades that a tool does not take, before anything is computed from them."""
        matched, _ = self._match(policy)
        refuse_grades(tool, matched.grade, matched.pool_grades, measures)

    def _match(self, policy: Policy) -> tuple[Matched, Policy]:
        key = before(policy)
        found = self._kept.pop(key, None)
        if found is None:
            judgments, run = self._given
            try:
                with reading(judgments, key, **self._reading) as reader:
                    found = reader.match(run)
            except GainfulError as problem:
                found = problem
        self._kept[key] = found
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        if isinstance(found, GainfulError):
            raise found
        return found


def before(policy: Policy) -> Policy:
    """Return the part of a policy that decides how a run is matched."""
    defaults = Policy()
    return dataclasses.replace(policy, **{name: getattr(defaults, name) for name in _AFTER})
