"""torchmetrics, and with it PyTorch Lightning: `Ranking`, any measures as a `torchmetrics.Metric`."""

from typing import Any

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.arithmetic.number_arrays import checked_numbers
from gainful.errors import InputError, warn
from gainful.integrations.ranking_measures import RankingMeasures
from gainful.integrations.required_hosts import requiring
from gainful.measures.notation import Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect

with requiring("torchmetrics"):
    import torch
    from torchmetrics import Metric

__all__ = ["Ranking"]

_ADDED_UP = ("mean", "sum")  # aggregates that need only sums
_CALLED = {"labels": "target", "scores": "preds", "query": "indexes"}
_KEPT = ("preds", "target", "indexes", "weights")  # states with the documents of flat batches
_LISTS = 2  # dimensions
_LARGEST = 2**53  # up to here, a float can represent every whole number


class Ranking(Metric):  # type: ignore[misc, unused-ignore]
    """Measures of rankings over all batches and processes, equal to `evaluate_arrays` of all data.

    A batch [batch, list] without indexes contains whole queries: it is measured immediately, and only sums
    are kept. In flat batches, `indexes` has the query of each document. The documents of a query may then
    be in several batches and processes, so all are kept until the end. `batches="whole"` promises that
    each query is in a single batch, so only sums are kept.

    Args:
        *measures: measures as text or as `Measure`; nDCG@10 by default.
        batches: parts; or whole, if no query is in two flat batches.
        policy: the policy, as in `evaluate`. Ties are averaged by default; ties=order keeps the order of
            the documents in the batches.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.
        **options: options of `torchmetrics.Metric`, such as sync_on_compute.

    >>> metric = Ranking("nDCG@10", "RR")
    >>> metric.update(torch.tensor([[0.2, 0.9]]), torch.tensor([[1, 0]]))
    >>> metric.update(torch.tensor([[0.9, 0.2]]), torch.tensor([[1, 0]]))
    >>> {name: round(value.item(), 4) for name, value in metric.compute().items()}
    {'nDCG@10': 0.8155, 'RR': 0.75}
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0

    total: torch.Tensor
    count: torch.Tensor
    preds: list[torch.Tensor]
    target: list[torch.Tensor]
    indexes: list[torch.Tensor]
    weights: list[torch.Tensor]

    def __init__(
        self,
        *measures: Measures,
        batches: str = "parts",
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
        **options: object,
    ) -> None:
        super().__init__(**options)
        self._measures = RankingMeasures(measures, policy=policy, dialect=dialect, called=_CALLED)
        self.batches = arguments.choice(batches, "batches", ("parts", "whole"))
        self._aggregates = self._measures.aggregates
        zeros = torch.zeros(len(self._aggregates), dtype=torch.float64)
        self.add_state("total", default=zeros, dist_reduce_fx="sum")
        self.add_state("count", default=zeros.clone(), dist_reduce_fx="sum")
        for name in _KEPT:
            self.add_state(name, default=[], dist_reduce_fx="cat")
        # A MetricCollection shares states that have the same names and, after the first batch, the same
        # values. An empty state with a unique name keeps different measures separate.
        own = f"{self._measures.fingerprint}_{self.batches}"
        self.add_state(f"of_{own}", default=[], dist_reduce_fx=None)

    @property
    def _sums_of_values(self) -> torch.Tensor:
        """(measure,), whether a measure is a sum, which doesn't depend on weights."""
        return torch.tensor([aggregate == "sum" for aggregate in self._aggregates])

    def update(
        self,
        preds: torch.Tensor,
        target: torch.Tensor,
        indexes: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        weights: torch.Tensor | None = None,
    ) -> None:
        """Add a batch.

        Args:
            preds: [batch, list], or flat (n,); higher is better.
            target: grades, of the same shape.
            indexes: (n,) for flat batches, the number of each document's query.
            mask: [batch, list], True where there is a document.
            weights: (batch,), the weight of each list in the mean; (n,) for flat batches, where a query counts
                with the mean of its documents' weights. 1 without it.
        """
        tensors = {
            "preds": preds,
            "target": target,
            "indexes": indexes,
            "mask": mask,
            "weights": weights,
        }
        for name, tensor in tensors.items():
            if tensor is not None or name in ("preds", "target"):
                arguments.one_of_type(tensor, name, torch.Tensor, "a tensor")
        numbers = _checked(preds, target, mask)
        _check_weights(weights, len(preds))
        if indexes is None and preds.ndim == 1:
            raise InputError("indexes", "the query of each document of a flat batch", "none")
        ids = None if indexes is None else _whole(indexes)
        if ids is not None and preds.ndim == 1 and self.batches == "parts":
            self._keep(preds, target, ids, mask, weights)
            return
        odd = [aggregate for aggregate in self._aggregates if aggregate not in _ADDED_UP]
        if odd:
            remedy = 'Pass flat batches, with indexes=, and batches="parts".'
            raise InputError("measures", "means or sums, which add up", f"a {odd[0]}", remedy)
        if not len(preds):
            return
        shares = None if weights is None else _numbers(weights)
        query = None if ids is None else _numbers(ids)
        scale = 1.0
        if shares is not None and not shares.any():  # `evaluate_arrays` needs some weight
            shares, scale = shares + 1.0, 0.0
        added = self._scores(*numbers, query=query, weights=shares, scale=scale)
        if added is None:  # the policy leaves out every query of the batch
            return
        self.total += added[0].to(self.total.device)
        self.count += added[1].to(self.count.device)

    def _scores(
        self, preds: Any, target: object, mask: Any, *, query: Any, weights: Any, scale: float
    ) -> Any:
        """Return what `_sums` does for a batch; None if no query is left."""
        alone = not preds.size or (mask is not None and not mask.any())
        lists = len(preds) if query is None else len(np.unique(query))
        if alone:
            # Lists without a document count in the same way as next to others: another list is
            # added, and left out.
            shape = lists + 1, 1
            preds, target = np.full(shape, 0.5), np.ones(shape)
            query, mask = None, np.arange(lists + 1)[:, None] == lists
            weights = None if weights is None else np.append(weights, 1.0)
        scores = self._measures.scores_if_any(
            target, preds, query=query, mask=mask, weights=weights
        )
        if scores is None:
            return None
        added = str(lists) if alone else None  # queries that don't count may be missing
        return self._sums(scores, [name != added for name in scores.queries], scale)

    def _sums(
        self, scores: "gf.results.Scores", kept: Any, scale: float = 1.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sum of the values of some queries, and the sum of their weights, for each measure."""
        counted = torch.tensor(scores.counted)[kept]
        values = torch.tensor(scores.values)[kept].masked_fill(~counted, 0.0)
        columns = [_shares(scores, measure, kept, scale) for measure in scores.measures]
        shares, weights = (torch.stack(each, dim=1) for each in zip(*columns, strict=True))
        return (values * torch.where(self._sums_of_values, 1.0, shares)).sum(0), (
            counted * weights
        ).sum(0)

    def _keep(self, preds: Any, target: Any, indexes: Any, mask: object, weights: Any) -> None:
        if mask is not None:
            raise InputError("mask", "no mask of a flat batch", "one", "Leave the documents out.")
        if indexes.shape != preds.shape:
            expected = f"the shape of preds, {tuple(preds.shape)}"
            raise InputError("indexes", expected, f"{tuple(indexes.shape)}")
        self.preds.append(preds.detach().double())
        self.target.append(target.detach().double())
        self.indexes.append(indexes)
        ones = torch.ones(1, dtype=torch.float64, device=preds.device).expand(preds.shape)
        self.weights.append(ones if weights is None else weights.detach().double())

    def set_dtype(self, *_: object, **__: object) -> "Ranking":
        """Change nothing, because sums of many queries need float64."""
        return self

    def plot(self, *_: object, **__: object) -> Any:
        """Raise an error that explains what to plot instead."""
        remedy = "Plot the values of compute(), which are numbers by the names of measures."
        raise InputError("Ranking.plot", "a metric that can be plotted", "none", remedy)

    def sync(self, *arguments: Any, **options: Any) -> None:
        """Gather the state of all processes, as torchmetrics does."""
        # A process without documents gets empty tensors of the same types, because other types
        # cannot be gathered.
        for name in _KEPT:
            kept, kind = getattr(self, name), torch.int64 if name == "indexes" else torch.float64
            if isinstance(kept, list) and not kept:
                kept.append(torch.zeros(0, dtype=kind, device=self.total.device))
        super().sync(*arguments, **options)

    def compute(self) -> Any:
        """Return the value of the measure over all queries; for several measures, a dict by name."""
        preds, target, indexes, weights = (_joined(getattr(self, name)) for name in _KEPT)
        scores = None
        if preds.numel() > 0:
            scores = self._measures.scores_if_any(
                _numbers(target),
                _numbers(preds),
                query=_numbers(indexes),
                weights=None if bool((weights == 1).all()) else _numbers(weights),
            )
        if scores is not None and not bool(self.count.any()):
            values = torch.tensor([*scores.means.values()], dtype=torch.float64)
        else:
            values = self._added_up(scores)
        values = values.to(self.total.device)
        if len(self._measures.names) == 1:
            return values[0]
        return self._measures.named(list(values))

    def _added_up(self, scores: "gf.results.Scores | None") -> torch.Tensor:
        total, count = self.total.cpu(), self.count.cpu()
        if scores is not None:
            added = self._sums(scores, slice(None))
            total, count = total + added[0], count + added[1]
        if not bool(count.any()):
            warn("Ranking: no query counts so far, so the value is NaN.")
        return torch.where(self._sums_of_values, total, total / count)


def _checked(preds: torch.Tensor, target: torch.Tensor, mask: torch.Tensor | None) -> Any:
    """Return preds, target and mask as arrays; reject invalid ones."""
    if preds.ndim not in (1, _LISTS):
        raise InputError("preds", "[batch, list] or a flat batch", f"{preds.ndim} dimensions")
    shape = tuple(preds.shape)
    for name, tensor in (("target", target), ("mask", mask)):
        if tensor is not None and tuple(tensor.shape) != shape:
            raise InputError(name, f"the shape of preds, {shape}", f"{tuple(tensor.shape)}")
    if mask is not None and mask.dtype != torch.bool:
        raise InputError("mask", "booleans", str(mask.dtype))
    marks = None if mask is None else _numbers(mask)
    arrays = [_numbers(tensor) for tensor in (preds, target)]
    for name, array in zip(("preds", "target"), arrays, strict=True):
        checked_numbers(array, name, marks)
    return *arrays, marks


def _check_weights(weights: torch.Tensor | None, size: int) -> None:
    """Reject weights that aren't one number from 0 for each list, or each document of a flat batch."""
    if weights is None:
        return
    if tuple(weights.shape) != (size,):
        raise InputError("weights", f"the shape ({size},)", f"{tuple(weights.shape)}")
    numbers = _numbers(weights)
    checked_numbers(numbers, "weights", None)
    if (numbers < 0).any():
        raise InputError("weights", "non-negative numbers", f"{numbers.min():g}")


def _shares(
    scores: "gf.results.Scores", measure: "gf.Measure", kept: Any, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what some queries' values of a measure are multiplied by in its sum, and their weights."""
    if scores.sample is None or scores.sample.weights is None:
        ones = torch.ones(len(scores.queries), dtype=torch.float64)[kept]
        return ones, ones
    own = [scale * scores.sample.weights[query] for query in scores.queries]
    weights = torch.tensor(own, dtype=torch.float64)[kept]
    once = scores.once.get(measure)
    return weights if once is None else weights.masked_fill(torch.tensor(once)[kept], 1.0), weights


def _whole(indexes: torch.Tensor) -> torch.Tensor:
    """Return the numbers of queries as integers."""
    kept = indexes.detach()
    if kept.is_complex():
        raise InputError("indexes", "whole numbers", str(kept.dtype))
    if kept.is_floating_point():
        odd = (kept != kept.floor()) | (kept.abs() > _LARGEST)
        if odd.any():
            place = tuple(int(at) for at in odd.nonzero()[0])
            where = f"indexes[{', '.join(map(str, place))}]"
            raise InputError(where, "a whole number", f"{kept[place].item():g}")
    return kept.long()


def _joined(parts: Any) -> torch.Tensor:
    """Return the batches as one tensor; after a sync between processes they already are one."""
    if isinstance(parts, torch.Tensor):
        return parts
    return torch.cat(parts) if parts else torch.zeros(0)


def _numbers(tensor: torch.Tensor) -> Any:
    """Return a tensor as an array of float64, because NumPy lacks some types, such as bfloat16."""
    kept = tensor.detach().cpu()
    return (kept.double() if kept.is_floating_point() else kept).numpy()
