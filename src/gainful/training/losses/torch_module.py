"""A loss as a PyTorch module."""

import torch

from gainful.measures.notation import GivenMeasure
from gainful.training.losses.measure_loss import loss


class Loss(torch.nn.Module):
    """A loss for a measure as a `torch.nn.Module`, without parameters of its own.

    Args:
        measure: DCG or nDCG with any gain, discount, base and cutoff.
        method: as in `gainful.losses.loss`.
        **options: further options of the method.

    >>> Loss("nDCG@10", method="lambda", scheme="ndcg2")
    Loss(nDCG@10, method=lambda, scheme=ndcg2)
    """

    def __init__(
        self,
        measure: GivenMeasure = "nDCG(gain=exp2)",
        *,
        method: str = "approx",
        **options: object,
    ) -> None:
        super().__init__()
        self.surrogate = loss(measure, method=method, **options)

    def forward(
        self, scores: torch.Tensor, labels: object, mask: object = None, **options: object
    ) -> torch.Tensor:
        """Return the loss of scores [..., list]."""
        loss: torch.Tensor = self.surrogate(scores, labels, mask, **options)
        return loss

    def extra_repr(self) -> str:
        """Return the measure, the method and its options."""
        options = {"method": self.surrogate.method, **self.surrogate.options}
        written = (f"{name}={value}" for name, value in options.items())
        return ", ".join((str(self.surrogate.measure), *written))
