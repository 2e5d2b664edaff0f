"""PyTerrier: any measures inside `pt.Experiment`, as objects of ir_measures, which it measures with."""

from collections.abc import Iterator
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.ranking_measures import flat
from gainful.integrations.required_hosts import requiring
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect
from gainful.rows.input_types import Judgments, Run

with requiring("pyterrier"):
    import ir_measures as _host
    import pandas as pd

__all__ = ["measures"]

_RUN = ["query_id", "doc_id", "score"]


def measures(
    *asked: Measures,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
    prefix: str = "gainful ",
) -> list[Any]:
    """Return measures for `pt.Experiment(…, eval_metrics=…)`, and for other functions with ir_measures' measures.

    Their values, per query and over all queries, are the same as with `evaluate`. PyTerrier takes the mean
    over all judged queries, so it is an error if the policy leaves one of them out.

    Args:
        *asked: measures as text or as `Measure`; nDCG@10 by default.
        policy: the policy, as in `evaluate`.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.
        prefix: the prefix of the column names. It separates the measures from ir_measures' own, because
            ir_measures treats two measures with the same name as one.

    >>> measures("nDCG(gain=exp2)@10", "RBP")
    [gainful nDCG(gain=exp2)@10, gainful RBP]
    """
    arguments.text(prefix, "prefix")
    together = _Together([*flat(asked)] or ["nDCG@10"], policy, dialect)
    return [together.defined(column, prefix) for column in range(len(together.measures))]


class _Together:
    """Measures that ir_measures requests one by one, and that are computed together."""

    def __init__(
        self, measures: list[GivenMeasure], policy: GivenPolicy | None, dialect: GivenDialect | None
    ) -> None:
        self._given = measures
        self._options: gf.inputs.MeasuringOptions = {"policy": policy, "dialect": dialect}
        # Measuring one document reveals invalid arguments early.
        trial = self._evaluated({"q": {"d": 1}}, {"q": {"d": 0.5}})
        self.measures, self._policy = trial.measures, trial.policy
        self._last: tuple[pd.DataFrame, pd.DataFrame, gf.results.Scores] | None = None

    def _evaluated(self, qrels: Judgments, run: Run) -> "gf.results.Scores":
        return gf.evaluate(qrels, run, self._given, **self._options)

    def defined(self, column: int, prefix: str) -> Any:
        """Return one of the measures as a measure of ir_measures."""
        measure = self.measures[column]
        if measure.family.aggregate != "mean":
            expected = "measures with a mean over the queries, as PyTerrier requires"
            raise InputError("measures", expected, f"{measure}, a {measure.family.aggregate}")

        def values(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
            return self._values(qrels, run, column)

        return _host.define(values, name=f"{prefix}{measure}", support_cutoff=False)

    def _values(
        self, qrels: pd.DataFrame, run: pd.DataFrame, column: int
    ) -> Iterator[tuple[str, float]]:
        """Yield every judged query with its value."""
        ids = {str(original): original for original in qrels["query_id"].unique()}
        if not ids:
            return
        if self._last is None or self._last[0] is not qrels or self._last[1] is not run:
            shared = not ids.keys().isdisjoint(map(str, run["query_id"].unique()))
            inputs = (qrels, run) if shared else _with_added_query(qrels, max(ids, key=len) + "+")
            self._last = qrels, run, self._evaluated(*inputs)
        scores = self._last[2]
        rows = zip(scores.queries, scores.values[:, column], scores.counted[:, column], strict=True)
        values = {query: float(value) for query, value, counted in rows if counted}
        _refuse_left_out([original for original in ids if original not in values], self._policy)
        yield from ((original, values[query]) for query, original in ids.items())


def _with_added_query(qrels: pd.DataFrame, query: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return judgments with an added query, and a run that contains only this query.

    A batch may return nothing, but a run that shares no query with the judgments is an error. The added
    query has a document with the highest grade, so it lacks relevant documents only if all queries do.
    """
    row = qrels.sort_values("relevance").tail(1).assign(query_id=query)
    return pd.concat([qrels, row], ignore_index=True), row.assign(score=1.0)[_RUN]


def _refuse_left_out(queries: list[str], policy: gf.Policy) -> None:
    """Reject policies that leave queries out, because PyTerrier's means count every judged query."""
    if queries:
        raise InputError(
            "policy",
            "a policy that counts every judged query, because PyTerrier's means do",
            f"missing={policy.missing}, empty={policy.empty}: {len(queries)} left out, such as {queries[0]!r}",
            "Remove these queries from the qrels, or measure with gf.evaluate.",
        )
