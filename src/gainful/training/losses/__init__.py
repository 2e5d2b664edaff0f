"""Losses to train rankers with: surrogates of DCG and nDCG for PyTorch and JAX.

Every loss has the same signature, `(scores, labels, mask=None, *, k=None, gain="exp2",
discount="log",
base=2, normalized=True, reduction="mean", weight=None, offsets=None, …)`, on [..., list] tensors
of the framework that the scores belong to.

>>> import torch
>>> import gainful as gf
>>> scores = torch.tensor([0.2, 1.5, 0.3], requires_grad=True)
>>> gf.losses.approx_ndcg(scores, torch.tensor([2, 0, 0])).backward()
>>> (scores.grad < 0).tolist()  # a step against the gradient raises the relevant one
[True, False, False]
"""

from typing import TYPE_CHECKING, Any

from gainful.errors import MissingDependencyError
from gainful.training.losses.listwise import list_mle, listnet, p_list_mle, softmax, xe_ndcg
from gainful.training.losses.measure_loss import METHODS, Surrogate, gap, loss
from gainful.training.losses.options import Common
from gainful.training.losses.pairwise import lambda_loss
from gainful.training.losses.relaxed_sorting import neural_ndcg, pirank_ndcg
from gainful.training.losses.sampled_rankings import pl_rank
from gainful.training.losses.smooth_rank_losses import approx_ndcg, gumbel_approx_ndcg, soft_ndcg

if TYPE_CHECKING:
    from gainful.training.losses.torch_module import Loss

__all__ = [
    "METHODS",
    "Common",
    "Loss",
    "Surrogate",
    "approx_ndcg",
    "gap",
    "gumbel_approx_ndcg",
    "lambda_loss",
    "list_mle",
    "listnet",
    "loss",
    "neural_ndcg",
    "p_list_mle",
    "pirank_ndcg",
    "pl_rank",
    "soft_ndcg",
    "softmax",
    "xe_ndcg",
]


def __getattr__(name: str) -> Any:
    if name != "Loss":
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingDependencyError.of_extra("Loss", "torch", "torch") from None
    from gainful.training.losses.torch_module import Loss

    return Loss


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
