"""Measuring as another tool does: its measures, its policy, and the grades that it refuses."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, MeasureError
from gainful.measures.dialect import Dialect
from gainful.measures.dialects import dialect as find_dialect
from gainful.measures.notation import Measures, read_measures
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure


def read_tool(dialect: str | Dialect | None, policy: Policy | None) -> Dialect | None:
    """Return the dialect that is asked for, which has its own policy."""
    if dialect is None:
        return None
    found = find_dialect(dialect)
    if policy is not None:
        raise InputError(
            "policy",
            f"none beside the dialect {found.name}, which has its own",
            repr(policy),
            "To change a choice of it: dataclasses.replace(gainful.dialect(...).policy, ...), with "
            "the measure that gainful.dialect(...).measure(...) returns.",
        )
    return found


def asked_of(measures: Measures, tool: Dialect | None) -> tuple[Measure, ...]:
    """Return the measures that are asked for, as a tool has them."""
    if tool is None:
        return read_measures(measures)
    if isinstance(measures, str | Measure):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise MeasureError("measures", "a measure or a list of measures", repr(measures))
    translated: list[Measure] = []
    for one in measures:
        if isinstance(one, str):
            translated += tool.read(one)
        else:
            translated += [tool.measure(each) for each in read_measures([one])]
    return read_measures(translated)


def refuse_grades(
    tool: Dialect | None, listed: NDArray[Any], judged: NDArray[Any], measures: Iterable[Measure]
) -> None:
    """Refuse grades that a tool does not take, before anything is computed from them.

    Args:
        tool: None where no dialect is asked for.
        listed: (n,) grades of the documents in the lists, all that a tool of lists sees.
        judged: (m,) grades of all judged documents, which other tools are given.
        measures: that are asked for.
    """
    if tool is not None and tool.grades is not None:
        seen = listed if tool.lists else judged
        tool.refuse(np.unique(seen).astype(np.float64).tolist(), measures)
