"""PyTerrier: any measures inside `pt.Experiment`, as objects of ir_measures, which it measures with."""

from collections.abc import Iterator
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.required_hosts import requiring

with requiring("pyterrier"):
    import ir_measures as _host
    import pandas as pd

__all__ = ["measures"]

_RUN = ["query_id", "doc_id", "score"]


def measures(
    *asked: Any, policy: Any = None, dialect: Any = None, prefix: str = "gainful "
) -> list[Any]:
    """Return measures for `pt.Experiment(…, eval_metrics=…)`, and for all else that takes those of ir_measures.

    Their values, of each query and over all, are those of `evaluate`. PyTerrier takes the mean over all judged
    queries, so that a policy that leaves one of them out is refused when that happens.

    Args:
        *asked: in the notation or as values; nDCG@10 if there are none.
        policy: the choices that are not the measure's, as in `evaluate`.
        dialect: measure as another tool does, as in `evaluate`.
        prefix: of the names of the columns. ir_measures takes measures of one name for one measure, so that
            those without a prefix must not stand beside its own.

    >>> measures("nDCG(gain=exp2)@10", "RBP")
    [gainful nDCG(gain=exp2)@10, gainful RBP]
    """
    arguments.text(prefix, "prefix")
    alone = len(asked) == 1 and isinstance(asked[0], list | tuple)
    listed = list(asked[0] if alone else asked) or ["nDCG@10"]
    together = _Together(listed, policy, dialect)
    return [together.defined(column, prefix) for column in range(len(together.measures))]


class _Together:
    """Measures that are asked for one by one, and measured at once."""

    def __init__(self, measures: list[Any], policy: Any, dialect: Any) -> None:
        self._given = measures
        self._options = {"policy": policy, "dialect": dialect}
        # A list of one document shows at once what is wrong with what is asked for.
        trial = self._evaluated({"q": {"d": 1}}, {"q": {"d": 0.5}})
        self.measures, self._policy = trial.measures, trial.policy
        self._last: tuple[Any, Any, Any] | None = None

    def _evaluated(self, qrels: Any, run: Any) -> "gf.results.Scores":
        return gf.evaluate(qrels, run, self._given, **self._options)

    def defined(self, column: int, prefix: str) -> Any:
        """Return one of the measures as ir_measures has it."""
        measure = self.measures[column]
        if measure.family.aggregate != "mean":
            expected = "measures with a mean over the queries, which is all that PyTerrier has"
            raise InputError("measures", expected, f"{measure}, a {measure.family.aggregate}")

        def values(qrels: Any, run: Any) -> Iterator[tuple[Any, float]]:
            return self._values(qrels, run, column)

        return _host.define(values, name=f"{prefix}{measure}", support_cutoff=False)

    def _values(self, qrels: Any, run: Any, column: int) -> Iterator[tuple[Any, float]]:
        """Yield every judged query with its value."""
        ids = {str(original): original for original in qrels["query_id"].unique()}
        if not ids:
            return
        if self._last is None or self._last[0] is not qrels or self._last[1] is not run:
            met = not ids.keys().isdisjoint(map(str, run["query_id"].unique()))
            inputs = (qrels, run) if met else _beside_another(qrels, max(ids, key=len) + "+")
            self._last = qrels, run, self._evaluated(*inputs)
        scores = self._last[2]
        rows = zip(scores.queries, scores.values[:, column], scores.counted[:, column], strict=True)
        values = {query: float(value) for query, value, counted in rows if counted}
        _refuse_left_out([original for original in ids if original not in values], self._policy)
        yield from ((original, values[query]) for query, original in ids.items())


def _beside_another(qrels: Any, query: str) -> tuple[Any, Any]:
    """Return judgments, and a run of one more query alone, beside which all others are missing.

    A batch may find nothing, and a run that shares no query with the judgments is an error. The other query
    has a document of the highest grade, so that it is empty only where all are.
    """
    row = qrels.sort_values("relevance").tail(1).assign(query_id=query)
    return pd.concat([qrels, row], ignore_index=True), row.assign(score=1.0)[_RUN]


def _refuse_left_out(queries: list[str], policy: Any) -> None:
    """Refuse a mean that PyTerrier would not take as the policy does: it counts every judged query."""
    if queries:
        raise InputError(
            "policy",
            "one under which every judged query counts, as PyTerrier's means are over all of them",
            f"missing={policy.missing}, empty={policy.empty}: {len(queries)} left out, such as {queries[0]!r}",
            "Take these out of the qrels, or measure with gf.evaluate.",
        )
