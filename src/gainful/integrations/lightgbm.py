"""LightGBM: measures for `feval` and `eval_metric`, objectives from the losses, learning curves."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.integrations.ranking_measures import RankingMeasures, metric_names
from gainful.integrations.ranking_objectives import RankingObjective
from gainful.integrations.required_hosts import requiring
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect

with requiring("lightgbm"):
    from lightgbm import Booster, Dataset

__all__ = ["Metric", "Objective", "learning_curve", "metric", "objective"]

_GROUPS = "data with the sizes of its queries"
_REMEDY = "Pass them: Dataset(…, group=sizes), or fit(…, group=sizes, eval_group=[sizes])."


class Metric:
    """Measures that LightGBM can call, natively or through `LGBMRanker`. Build one with `metric`."""

    def __init__(self, measures: RankingMeasures, *, name: object = None, better: str) -> None:
        self._measures = measures
        self._names = metric_names(name, measures.names)
        self._higher = arguments.choice(better, "better", ("higher", "lower")) == "higher"

    def __call__(
        self, first: object, second: object, weight: object = None, group: object = None
    ) -> list[tuple[str, float, bool]]:
        """Return (name, value, whether higher is better) of every measure.

        LightGBM calls `feval(preds, data)`, and `eval_metric(labels, preds, weight, group)`.
        """
        if isinstance(second, Dataset):
            labels, preds = second.get_label(), first
            weight, group = second.get_weight(), second.get_group()
        else:
            labels, preds = first, second
        if group is None:
            raise InputError("group", _GROUPS, "none", _REMEDY)
        weights = None if weight is None else _of_queries(weight, group)
        scores = self._measures.scores(labels, preds, group=group, weights=weights)
        values = self._measures.values(scores).values()
        return [(name, v, self._higher) for name, v in zip(self._names, values, strict=True)]

    def __repr__(self) -> str:
        return f"metric({self._measures.written()})"


def metric(
    *measures: Measures,
    name: object = None,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
    better: str = "higher",
) -> Metric:
    """Return measures for `lightgbm.train(feval=…)` and for `LGBMRanker.fit(eval_metric=…)`.

    The values are the same as with `gainful.evaluate_arrays`, and early stopping uses them. With weights, a
    query counts with the mean of its documents' weights, as in LightGBM's own ndcg. To ignore
    LightGBM's own metrics, turn them off with `metric: "None"` in the parameters.

    Args:
        *measures: measures as text or as `Measure`; nDCG@10 by default.
        name: the name in LightGBM's log, or a list with a name for each measure; the names of the measures
            if None. LightGBM mixes the values of two metrics with the same name.
        policy: the policy, as in `evaluate`; ties are averaged by default.
        dialect: the name of a tool whose numbers to reproduce; `lightgbm` reproduces LightGBM's own ndcg.
        better: higher or lower: the direction that early stopping treats as an improvement.

    >>> own = metric("nDCG@2", "RR")
    >>> [(name, round(value, 4)) for name, value, _ in own([1, 0, 1], [0.1, 0.2, 0.3], None, [2, 1])]
    [('nDCG@2', 0.8155), ('RR', 0.75)]
    """
    ranking = RankingMeasures(measures, policy=policy, dialect=dialect)
    return Metric(ranking, name=name, better=better)


class Objective:
    """A loss that LightGBM can call, natively or through `LGBMRanker`. Build one with `objective`."""

    def __init__(self, loss: RankingObjective) -> None:
        self._loss = loss

    def __call__(
        self, first: object, second: object, weight: object = None, group: object = None
    ) -> tuple[Floats, Floats]:
        """Return the gradient and the diagonal of the Hessian (n,) with respect to raw predictions.

        LightGBM passes (preds, data), and `LGBMRanker` passes (labels, preds, weight, group).
        """
        if isinstance(second, Dataset):
            labels, preds = second.get_label(), first
            weight, group = second.get_weight(), second.get_group()
        else:
            labels, preds = first, second
        if group is None:
            raise InputError("group", _GROUPS, "none", _REMEDY)
        return self._loss.derivatives(labels, preds, group=group, weight=weight)

    def __repr__(self) -> str:
        return f"objective({self._loss.written()})"


def objective(
    measure: GivenMeasure, *, method: str = "lambda", seed: int = 0, **options: object
) -> Objective:
    """Return a loss for `params["objective"]`, and for `LGBMRanker(objective=…)`.

    Args:
        measure: the measure to train for: nDCG or DCG, such as "nDCG(gain=exp2)@10".
        method: lambda (LambdaLoss), xe (XE-NDCG), softmax or listnet, see `gainful.losses`.
        seed: the seed of XE-NDCG's random draws.
        **options: `scheme`, `sigma`, `mu` and `truncation` for lambda; `gamma` for xe.

    >>> own = objective("nDCG(gain=exp2)", method="xe", gamma=1.0)
    >>> [column.tolist() for column in own([1, 0], [0.0, 0.0], None, [2])]
    [[-1.0, 1.0], [0.5, 0.5]]
    """
    return Objective(RankingObjective(measure, method=method, seed=seed, **options))


def learning_curve(
    model: object,
    data: object,
    labels: object,
    measures: Measures = "nDCG@10",
    *,
    group: object = None,
    query: object = None,
    weight: object = None,
    every: int = 1,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
) -> "gf.results.LearningCurve":
    """Measure a model after each iteration of its training, with intervals over the queries.

    Args:
        model: a `Booster`, or a fitted estimator.
        data: features of the documents, as for `predict`.
        labels: (n,) grades.
        measures: one measure or several, as text or as Measures.
        group: the size of each list, in order.
        query: the query id of each document, instead of group.
        weight: (n,) the weight of each document; a query counts with the mean of its documents' weights.
        every: the number of iterations between measurements; the last one is always measured.
        policy: as in `evaluate`.
        dialect: as in `evaluate`.
    """
    booster = getattr(model, "booster_", model)
    if not isinstance(booster, Booster):
        raise InputError("model", "a Booster or a fitted estimator", type(model).__name__)
    arguments.whole(every, "every", least=1)
    if group is None and query is None:
        raise InputError("group", "the sizes of the lists, or query= ids", "neither")
    ranking = RankingMeasures((measures,), policy=policy, dialect=dialect)
    weights = weight if group is None or weight is None else _of_queries(weight, group)
    return gf.results.LearningCurve.of(
        (at, ranking.scores(labels, preds, group=group, query=query, weights=weights))
        for at, preds in _staged(booster, data)
        if at % every == 0 or at == booster.current_iteration()
    )


def _of_queries(weight: Any, group: object) -> Floats:
    """Return the weight of each query: the mean of its documents' weights, in LightGBM's single precision."""
    sizes = np.asarray(group, np.int64)
    weights = as_numbers(as_array(weight, "weight"), "weight").astype(np.float32)
    if weights.shape != (sizes.sum(),):
        expected = f"one for each of {sizes.sum()} documents"
        raise InputError("weight", expected, f"the shape {weights.shape}")
    sums = np.zeros(sizes.size, np.float32)
    np.add.at(sums, np.repeat(np.arange(sizes.size), sizes), weights)  # one by one
    return (sums / np.maximum(sizes, 1).astype(np.float32)).astype(np.float64)


def _staged(booster: Any, data: Any) -> Iterator[tuple[int, Floats]]:
    """Yield the raw predictions after each iteration, the same as from `predict`."""
    averaged = booster.dump_model(num_iteration=1)["average_output"]  # of a random forest
    so_far: Any = 0.0
    for at in range(booster.current_iteration()):
        if averaged:
            so_far = booster.predict(data, num_iteration=at + 1, raw_score=True)
        else:  # in the same order as LightGBM adds them up
            tree = booster.predict(data, start_iteration=at, num_iteration=1, raw_score=True)
            so_far = so_far + np.asarray(tree, np.float64)
        yield at + 1, so_far
