"""Check on a GPU that the fused losses are the plain ones: values and gradients."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from gainful import losses

TOLERANCE = 2e-5


def value_and_gradient(function, scores, *rest, **options):
    listed = scores.detach().clone().requires_grad_()
    value = function(listed, *rest, reduction="none", **options)
    (gradient,) = torch.autograd.grad(value.sum(), listed)
    return value.detach().double().cpu(), gradient.double().cpu()


def compare(function, **options):
    """Compare float32 on the GPU with float64 on the CPU, which has no fused kernel."""
    torch.manual_seed(1)
    for lists, width in ((3, 1), (5, 7), (4, 130), (2, 1000)):
        scores = torch.randn(lists, width) * 3
        labels = torch.randint(0, 5, (lists, width)).float()
        mask = torch.rand(lists, width) < 0.8
        scores[~mask] = torch.nan
        given = scores.cuda(), labels.cuda(), mask.cuda()
        found = value_and_gradient(function, *given, **options)
        expected = value_and_gradient(function, scores.double(), labels.double(), mask, **options)
        for ours, plain in zip(found, expected, strict=True):
            error = (ours - plain).abs().max() / plain.abs().max().clamp_min(1)
            assert error < TOLERANCE, (function.__name__, options, lists, width, float(error))
    print("same", function.__name__, options, flush=True)


if __name__ == "__main__":
    for options in ({}, {"temperature": 0.1}, {"k": 10}):
        compare(losses.approx_ndcg, **options)
    for scheme in ("lambdarank", "ndcg2", "ndcg2pp"):
        for options in (
            {},
            {"k": 5},
            {"k": 5, "truncation": "both"},
            {"k": 5, "truncation": "none"},
        ):
            compare(losses.lambda_loss, scheme=scheme, **options)
