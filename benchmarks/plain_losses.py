"""Losses from their formulas, the way libraries write them: all pairs at once, padding masked."""

import functools

import torch

LOG2_E = 1.4426950408889634


def shares_of(labels, mask):
    """Return 2^y − 1 over the ideal DCG."""
    gains = torch.where(mask, torch.exp2(labels) - 1, 0.0)
    best = gains.sort(dim=-1, descending=True).values
    places = torch.arange(2, labels.shape[-1] + 2, device=labels.device)
    return gains / (best / torch.log2(places)).sum(-1, keepdim=True)


def plain_approx(scores, labels, mask):
    """1 − ApproxNDCG with all pairs at once."""
    both = mask[:, None, :] & mask[:, :, None]
    pairs = torch.sigmoid(scores[:, None, :] - scores[:, :, None])
    ranks = torch.where(both, pairs, 0.0).sum(-1) + 0.5
    return (1 - (shares_of(labels, mask) / torch.log2(1 + ranks)).sum(-1)).mean()


def lean_approx(scores, shares):
    """1 − ApproxNDCG with all pairs at once, no mask, the ideal known."""
    ranks = torch.sigmoid(scores[:, None, :] - scores[:, :, None]).sum(-1) + 0.5
    return (1 - (shares / torch.log2(1 + ranks)).sum(-1)).mean()


def ranks_of(scores):
    order = scores.argsort(dim=-1, descending=True)
    places = torch.arange(1, scores.shape[-1] + 1, device=scores.device)
    return torch.zeros_like(order).scatter_(-1, order, places.expand_as(order))


def plain_lambda(scores, labels, mask, shares=None, steps=10):
    """LambdaLoss with all pairs at once: NDCG-Loss2++, or LambdaRank where steps count 0."""
    discounts = torch.zeros(scores.shape[-1] + 2, device=scores.device)
    places = torch.arange(2, scores.shape[-1] + 3, device=scores.device)
    discounts[1:] = 1 / torch.log2(places.float())
    ranks = ranks_of(scores.detach())
    gains = shares_of(labels, mask) if shares is None else shares
    above = labels[:, :, None] > labels[:, None, :]
    if shares is None:
        above = above & mask[:, :, None] & mask[:, None, :]
    spread = (gains[:, :, None] - gains[:, None, :]).abs()
    weight = discounts[ranks]
    first = (weight[:, :, None] - weight[:, None, :]).abs()
    weights = first
    if steps:
        apart = (ranks[:, :, None] - ranks[:, None, :]).abs()
        weights = first + steps * (discounts[apart] - discounts[apart + 1]).abs()
    losses = torch.nn.functional.softplus(-(scores[:, :, None] - scores[:, None, :])) * LOG2_E
    return torch.where(above, spread * weights * losses, 0.0).sum((1, 2)).mean()


def plain_sorted(scores, labels, mask, steps, tau=1.0):
    """1 − nDCG by the relaxed order of the scores, all ranks and items at once; no padding."""
    n = scores.shape[-1]
    spread = (scores[:, :, None] - scores[:, None, :]).abs().sum(-1)
    ranks = torch.arange(1, n + 1, device=scores.device)
    logs = ((n + 1 - 2 * ranks)[:, None] * scores[:, None, :] - spread[:, None, :]) / tau
    logs = logs.log_softmax(-1)
    for _ in range(steps):
        logs = logs.log_softmax(-2).log_softmax(-1)
    gains = (logs.exp() * shares_of(labels, mask)[:, None, :]).sum(-1)
    return (1 - (gains / torch.log2(1 + ranks)).sum(-1)).mean()


plain_neural = functools.partial(plain_sorted, steps=30)
plain_pirank = functools.partial(plain_sorted, steps=0)
