"""CatBoost: learning curves, and the best iteration by any measure.

CatBoost does not pass queries to custom metrics, so rankings cannot be measured during training.
Afterwards, its models return the predictions after each iteration.
"""

from typing import Any

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.ranking_measures import RankingMeasures
from gainful.integrations.required_hosts import requiring
from gainful.measures.notation import Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect

with requiring("catboost"):
    from catboost import CatBoost, Pool

__all__ = ["learning_curve"]

_MOST = 1_000_000  # iterations: more than any model has


def learning_curve(
    model: object,
    data: object,
    labels: object = None,
    measures: Measures = "nDCG@10",
    *,
    group_id: object = None,
    group_weight: object = None,
    every: int = 1,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
) -> "gf.results.LearningCurve":
    """Measure a model after each iteration of its training, with intervals over the queries.

    `model.shrink(learning_curve(…).best("nDCG@10"))` keeps the trees up to the best iteration.

    Args:
        model: a fitted CatBoost model.
        data: a `Pool` with labels and group ids; or features of the documents, with labels and group ids
            passed separately.
        labels: (n,) grades; the pool's labels if None.
        measures: one measure or several, as text or as Measures.
        group_id: (n,) the query id of each document, in any order; the groups of the pool if None.
        group_weight: (n,) the weight of each document's group, as for a `Pool`, which does not reveal it; CatBoost's
            own NDCG uses it, and ignores `weight`.
        every: the number of iterations between measurements; the last one is always measured.
        policy: the policy, as in `evaluate`; ties are averaged by default.
        dialect: the dialect of another tool; `catboost` reproduces CatBoost's own NDCG.
    """
    if not isinstance(model, CatBoost):
        raise InputError("model", "a model of CatBoost", type(model).__name__)
    arguments.whole(every, "every", least=1, most=_MOST)
    lists: dict[str, object] = {"query": group_id}
    if isinstance(data, Pool):
        labels = data.get_label() if labels is None else labels
        if group_id is None:
            lists = {"group": _sizes(data)}
    elif labels is None or group_id is None:
        missing = "labels" if labels is None else "group_id"
        raise InputError(missing, "one for each document, because data isn't a Pool", "none")
    if group_weight is not None:
        lists["weights"] = np.asarray(group_weight, np.float32).astype(np.float64)  # as CatBoost's
    called = {"query": "group_id", "weights": "group_weight"}
    ranking = RankingMeasures((measures,), policy=policy, dialect=dialect, called=called)
    # The same for all models: rankers and classifiers have different arguments.
    stages = CatBoost.staged_predict(
        model, data, prediction_type="RawFormulaVal", eval_period=every, thread_count=-1
    )
    last = model.tree_count_
    return gf.results.LearningCurve.of(
        (min(number * every, last), ranking.scores(labels, preds, **lists))
        for number, preds in enumerate(stages, 1)
    )


def _sizes(data: Any) -> object:
    """Return the sizes of the queries of a pool, whose documents are adjacent."""
    ids = np.asarray(data.get_group_id_hash())  # an array of None without group ids
    if not ids.ndim:
        raise InputError(
            "data", "a Pool with group ids", "none", "Pass them: Pool(…, group_id=ids)."
        )
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    return np.diff(np.append(starts, ids.size))
