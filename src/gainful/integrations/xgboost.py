"""XGBoost: measures for `custom_metric`, objectives for `obj`, and a callback for `XGBRanker`."""

import copy
from typing import Any, Self

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.integrations.ranking_measures import RankingMeasures
from gainful.integrations.ranking_objectives import RankingObjective
from gainful.integrations.required_hosts import requiring
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect

with requiring("xgboost"):
    from xgboost import Booster, DMatrix
    from xgboost.callback import TrainingCallback

__all__ = ["Metric", "Objective", "RankingMonitor", "metric", "objective"]


def _sizes(data: DMatrix) -> object:
    """Return the sizes of the queries of a matrix."""
    bounds = data.get_uint_info("group_ptr")
    if bounds.size < 2:
        raise InputError(
            "group",
            "data with its queries",
            "none",
            "Pass them: DMatrix(…, qid=ids), or data.set_group(sizes).",
        )
    return np.diff(bounds.astype(np.int64))


def _weights(data: DMatrix) -> object:
    """Return the weight of each query of a matrix; None without weights."""
    weights = data.get_weight()
    return weights.astype(np.float64) if weights.size else None


def _log_name(name: str) -> str:
    """Return a name without spaces and colons, because XGBoost splits its log at them."""
    return "".join(name.split()).replace(":", "=")


class Metric:
    """Measures that `xgboost.train` can call. Build one with `metric`."""

    def __init__(self, measures: RankingMeasures) -> None:
        self._measures = measures
        self.__name__ = "metric"  # estimators read it before the first call

    def __call__(self, preds: object, data: object) -> list[tuple[str, float]]:
        """Return (name, value) of every measure."""
        if not isinstance(data, DMatrix):
            raise InputError(
                "data",
                "the DMatrix of native training",
                type(data).__name__,
                "XGBRanker(eval_metric=…) weights queries by their size: pass "
                "callbacks=[RankingMonitor(…)] instead.",
            )
        lists = {"group": _sizes(data), "weights": _weights(data)}
        scores = self._measures.scores(data.get_label(), preds, **lists)
        return [(_log_name(name), value) for name, value in self._measures.values(scores).items()]

    def __repr__(self) -> str:
        return f"metric({self._measures.written()})"


def metric(
    *measures: Measures, policy: GivenPolicy | None = None, dialect: GivenDialect | None = None
) -> Metric:
    """Return measures for `xgboost.train(custom_metric=…, maximize=True)`.

    The values are the same as with `gainful.evaluate_arrays`; XGBoost's log shows six digits. Queries count
    with the weights of the data, as in XGBoost's own ndcg. Do not use
    it as `XGBRanker(eval_metric=…)`, which calls it for each query, weights queries by their size and
    counts queries with a single document as 1. Use `RankingMonitor` instead.

    Args:
        *measures: measures as text or as `Measure`; nDCG@10 by default.
        policy: the policy, as in `evaluate`; ties are averaged by default.
        dialect: the name of a tool whose numbers to reproduce; `xgboost` reproduces XGBoost's own ndcg.

    >>> data = DMatrix([[0.0], [0.0], [0.0]], label=[1, 0, 1], qid=[1, 1, 2])
    >>> metric("RR")(np.array([0.1, 0.2, 0.3]), data)
    [('RR', 0.75)]
    """
    return Metric(RankingMeasures(measures, policy=policy, dialect=dialect))


class Objective:
    """A loss that `xgboost.train` can call. Build one with `objective`."""

    def __init__(self, loss: RankingObjective) -> None:
        self._loss = loss

    def __call__(self, preds: object, data: object) -> tuple[Floats, Floats]:
        """Return the gradient and the diagonal of the Hessian (n,) with respect to raw predictions."""
        if not isinstance(data, DMatrix):
            raise InputError(
                "data",
                "predictions, then the DMatrix of native training",
                type(data).__name__,
                "Estimators call objectives without the queries: train with xgboost.train(obj=…).",
            )
        weight = data.get_weight()
        return self._loss.derivatives(data.get_label(), preds, group=_sizes(data), weight=weight)

    def __repr__(self) -> str:
        return f"objective({self._loss.written()})"


def objective(
    measure: GivenMeasure, *, method: str = "lambda", seed: int = 0, **options: object
) -> Objective:
    """Return a loss for `xgboost.train(obj=…)`; `XGBRanker` only supports its own losses.

    Args:
        measure: the measure to train for: nDCG or DCG, such as "nDCG(gain=exp2)@10".
        method: lambda (LambdaLoss), xe (XE-NDCG), softmax or listnet, see `gainful.losses`.
        seed: the seed of XE-NDCG's random draws.
        **options: `scheme`, `sigma`, `mu` and `truncation` for lambda; `gamma` for xe.

    >>> data = DMatrix([[0.0], [0.0]], label=[1, 0], qid=[1, 1])
    >>> [column.tolist() for column in objective("nDCG", method="xe", gamma=1)(np.zeros(2), data)]
    [[-1.0, 1.0], [0.5, 0.5]]
    """
    return Objective(RankingObjective(measure, method=method, seed=seed, **options))


class RankingMonitor(TrainingCallback):  # type: ignore[misc, unused-ignore]
    """A callback that measures a set of queries after each iteration, for `XGBRanker` and `train`.

    Every query counts once, or with the weights of a DMatrix. XGBoost's log contains the values with all digits, and `evals_result()`
    returns them. Each iteration predicts the whole set.

    Args:
        *measures: measures as text or as `Measure`; nDCG@10 by default.
        data: features of the documents; or a DMatrix with labels and queries.
        label: (n,) grades.
        qid: (n,) the query id of each document, in any order.
        name: the name of the set in the log.
        early_stopping_rounds: stop if the first measure hasn't improved for this number of iterations.
            The model then has a `best_iteration`, which `XGBRanker` uses for predictions.
        better: higher or lower: the direction that counts as an improvement.
        policy: the policy, as in `evaluate`.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.
    """

    def __init__(
        self,
        *measures: Measures,
        data: object,
        label: object = None,
        qid: object = None,
        name: str = "validation",
        early_stopping_rounds: int | None = None,
        better: str = "higher",
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
    ) -> None:
        super().__init__()
        arguments.choice(better, "better", ("higher", "lower"))
        if early_stopping_rounds is not None:
            arguments.whole(early_stopping_rounds, "early_stopping_rounds", least=1)
        self._rounds, self._sign = early_stopping_rounds, 1.0 if better == "higher" else -1.0
        self._best: tuple[float, int] | None = None
        self._before = 0  # iterations of the model that training continues from
        self._measures = RankingMeasures(measures, policy=policy, dialect=dialect)
        self.name = name
        self._steps: list[gf.results.LearningCurve] = []
        self._given = data
        self._matrix: object = None
        self._lists: dict[str, object]
        if isinstance(data, DMatrix):
            for own, value in (("label", label), ("qid", qid)):
                if value is not None:
                    raise InputError(own, "none with a DMatrix, which has its own", "one")
            self._label = data.get_label()
            self._lists = {"group": _sizes(data), "weights": _weights(data)}
        else:
            if label is None or qid is None:
                missing = "label" if label is None else "qid"
                raise InputError(missing, "one for each document", "none")
            self._label, self._lists = label, {"query": qid}

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        # A matrix can't be copied and isn't modified, so copies of an estimator share it.
        for matrix in (self._given, self._matrix):
            if isinstance(matrix, DMatrix):
                memo[id(matrix)] = matrix
        made = type(self).__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made

    def before_training(self, model: object) -> Any:
        """Reset the results of an earlier training."""
        self._steps, self._best = [], None
        self._before = model.num_boosted_rounds() if isinstance(model, Booster) else 0
        return model

    def after_training(self, model: object) -> Any:
        """Drop the matrix, because estimators are copied with their callbacks and it can't be copied."""
        self._matrix = None
        return model

    def after_iteration(self, model: object, epoch: int, evals_log: Any) -> bool:
        """Measure, write to the log, and return whether to stop the training."""
        if not isinstance(model, Booster):
            expected = "the training of one model"
            raise InputError("RankingMonitor", expected, "xgboost.cv, which has a custom_metric")
        if self._matrix is None:
            data = self._given
            matrix = isinstance(data, DMatrix)
            self._matrix = data if matrix else DMatrix(data, enable_categorical=True)
        epoch += self._before
        preds = model.predict(self._matrix, output_margin=True)
        scores = self._measures.scores(self._label, preds, **self._lists)
        log = evals_log.setdefault(self.name, {})
        values = self._measures.values(scores)
        if not self._steps and any(_log_name(name) in log for name in values):
            expected = "a set whose measures aren't in the log yet"
            raise InputError(
                "name", expected, repr(self.name), "Choose another name= for the monitor."
            )
        self._steps.append(gf.results.LearningCurve.of([(epoch + 1, scores)]))
        for name, value in values.items():
            log.setdefault(_log_name(name), []).append(value)
        return self._rounds is not None and self._is_over(model, epoch, next(iter(values.values())))

    def _is_over(self, model: Any, epoch: int, value: float) -> bool:
        """Store the best iteration in XGBoost's attribute; return whether to stop."""
        if self._best is None or self._sign * value > self._best[0]:
            self._best = self._sign * value, epoch
            # In the model, like XGBoost's own early stopping.
            model.set_attr(best_score=repr(value), best_iteration=str(epoch))
        return self._rounds is not None and epoch - self._best[1] >= self._rounds

    @property
    def curve(self) -> "gf.results.LearningCurve":
        """The measures after every iteration of the last training, with intervals over queries."""
        return gf.results.LearningCurve.joined(self._steps)
