"""scikit-learn: scorers that know the query of each document, and `ndcg_score` with all choices."""

from typing import Any

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.errors import InputError
from gainful.integrations.ranking_measures import RankingMeasures, renamed
from gainful.integrations.required_hosts import requiring
from gainful.measures.discount import GivenDiscount
from gainful.measures.gain import GivenGain
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect
from gainful.message_texts import shown

with requiring("sklearn"):
    from sklearn import config_context
    from sklearn.metrics import make_scorer

__all__ = ["dcg_score", "ndcg_score", "scorer"]

_LARGEST = 1e100  # of a weight
_ROUTING = (
    "Route it: sklearn.set_config(enable_metadata_routing=True), then cross_validate(…, "
    'params={"qid": ids, "groups": ids}), or GridSearchCV(…).fit(X, y, qid=ids, groups=ids).'
)


class _Score:
    """A measure of labels and predictions, for `make_scorer`."""

    def __init__(self, measures: RankingMeasures) -> None:
        self._measures = measures
        (self.__name__,) = measures.names

    def __call__(
        self, labels: object, preds: object, *, qid: object = None, sample_weight: object = None
    ) -> float:
        if qid is None:
            raise InputError("qid", "the query id of each document", "none", _ROUTING)
        scores = self._measures.scores(labels, preds, query=qid, weights=sample_weight)
        (value,) = scores.means.values()
        return value


def scorer(
    measure: GivenMeasure = "nDCG@10",
    *,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
    better: str = "higher",
    response_method: object = "predict",
) -> Any:
    """Return a scorer for `cross_validate` and `GridSearchCV`, which needs the query of each document.

    It requests the metadata `qid`, (n,) query ids. To keep queries whole, use a splitter for groups, such
    as `GroupKFold`, and pass `groups` as well as `qid`. After `.set_score_request(qid=True,
    sample_weight=True)`, a query counts with the mean of its documents' weights.

    Args:
        measure: a measure as text or as a `Measure`.
        policy: the policy, as in `evaluate`; ties are averaged by default.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.
        better: higher or lower; if lower is better, the scorer returns the negative, as is usual.
        response_method: the estimator's method, such as predict, predict_proba or decision_function.
    """
    arguments.choice(better, "better", ("higher", "lower"))
    called = {"labels": "y_true", "scores": "y_pred", "query": "qid", "weights": "sample_weight"}
    ranking = RankingMeasures((measure,), policy=policy, dialect=dialect, called=called)
    if len(ranking.names) != 1:
        expected = "one measure; for several, use a dict of scorers"
        raise InputError("measure", expected, ", ".join(ranking.names))
    made = make_scorer(
        _Score(ranking), response_method=response_method, greater_is_better=better == "higher"
    )
    with config_context(enable_metadata_routing=True):  # metadata can be requested at any time
        return made.set_score_request(qid=True)


def ndcg_score(
    y_true: object,
    y_score: object,
    *,
    k: int | None = None,
    sample_weight: object = None,
    ignore_ties: bool = False,
    gain: GivenGain = "linear",
    discount: GivenDiscount = "log",
    base: object = None,
    ties: str | None = None,
) -> float:
    """Return the mean nDCG, with the signature of `sklearn.metrics.ndcg_score`; lists of one document are allowed.

    Args:
        y_true: [list, document] grades.
        y_score: scores of the same shape; higher is better.
        k: the cutoff.
        sample_weight: (lists,), the weight of each list.
        ignore_ties: whether to order equal scores from the last document to the first. For tied scores,
            scikit-learn's own value depends on the sort of your CPU and can differ.
        gain: linear, exp2, binary, a table or a function.
        discount: log, jarvelin, reciprocal, power(p), none, a table or a function.
        base: the base of the logarithm in the discount; 2 if None.
        ties: average (the default), best, worst or order, the first document first.

    >>> round(ndcg_score([[3, 2, 0]], [[0.1, 0.5, 0.2]], gain="exp2", k=2), 4)
    0.3374
    """
    measure = _measure("nDCG", k, gain, discount, base, ideal="retrieved")
    return _mean(measure, y_true, y_score, sample_weight, ties=ties, ignore_ties=ignore_ties)


def dcg_score(
    y_true: object,
    y_score: object,
    *,
    k: int | None = None,
    log_base: object = None,
    sample_weight: object = None,
    ignore_ties: bool = False,
    gain: GivenGain = "linear",
    discount: GivenDiscount = "log",
    ties: str | None = None,
) -> float:
    """Return the mean DCG, with the signature of `sklearn.metrics.dcg_score`.

    Args:
        y_true: [list, document] grades.
        y_score: scores of the same shape; higher is better.
        k: the cutoff.
        log_base: the base of the logarithm in the discount; 2 if None.
        sample_weight: (lists,), the weight of each list.
        ignore_ties: whether to order equal scores from the last document to the first. For tied scores,
            scikit-learn's own value depends on the sort of your CPU and can differ.
        gain: linear, exp2, binary, a table or a function.
        discount: log, jarvelin, reciprocal, power(p), none, a table or a function.
        ties: average (the default), best, worst or order, the first document first.

    >>> round(dcg_score([[3, 2, 0]], [[0.1, 0.5, 0.2]]), 4)
    3.5
    """
    measure = _measure("DCG", k, gain, discount, log_base)
    return _mean(measure, y_true, y_score, sample_weight, ties=ties, ignore_ties=ignore_ties)


def _measure(
    name: str, k: int | None, gain: GivenGain, discount: GivenDiscount, base: Any, **own: Any
) -> "gf.Measure":
    settings = {} if base is None else {"base": base}
    return gf.Measure(name, cutoff=k, gain=gain, discount=discount, **settings, **own)


def _mean(
    measure: "gf.Measure",
    labels: Any,
    scores: Any,
    weight: Any,
    *,
    ties: str | None,
    ignore_ties: bool,
) -> float:
    arguments.truth(ignore_ties, "ignore_ties")
    grades, preds = as_array(labels, "y_true"), as_array(scores, "y_score")
    if ties is not None:
        arguments.choice(ties, "ties", ("average", "best", "worst", "order"))
    if ignore_ties and ties is not None:
        raise InputError("ties", "no rule together with ignore_ties", repr(ties))
    if grades.ndim != 2:
        raise InputError("y_true", "[list, document]", f"{grades.ndim} dimensions")
    if ignore_ties:
        grades, preds, ties = grades[:, ::-1], preds[..., ::-1], "order"
    policy = gf.Policy(ties=ties or "average")
    try:
        result = gf.evaluate_arrays(labels=grades, scores=preds, measures=measure, policy=policy)
    except InputError as problem:
        raise renamed(problem, {"labels": "y_true", "scores": "y_score"}) from None
    if weight is None:
        return result[measure]
    counts = as_numbers(as_array(weight, "sample_weight"), "sample_weight")
    expected = f"{len(result.queries)} non-negative numbers, not all 0, one for each list"
    if counts.shape != (len(result.queries),):
        raise InputError("sample_weight", expected, f"the shape {counts.shape}")
    if (counts < 0).any() or not counts.any() or counts.max() > _LARGEST:
        raise InputError("sample_weight", expected, shown(counts.tolist()))
    return float(np.average(result.values[:, 0], weights=counts))
