"""Listwise losses the way one writes them by hand, in a few lines of PyTorch each."""

import torch


def gains_of(labels):
    return 2.0**labels - 1


def softmax(scores, labels):
    return -(gains_of(labels) * torch.log_softmax(scores, -1)).sum(-1).mean()


def listnet(scores, labels):
    return -(torch.softmax(labels, -1) * torch.log_softmax(scores, -1)).sum(-1).mean()


def xe_ndcg(scores, labels):
    mass = 2.0**labels - torch.rand_like(labels)
    shares = mass / mass.sum(-1, keepdim=True)
    return -(shares * torch.log_softmax(scores, -1)).sum(-1).mean()


def _surprise(scores, labels):
    """ln Σ_{j≥i} e^(s_j) − s_i for the items from high to low labels."""
    ordered = scores.gather(-1, labels.argsort(dim=-1, descending=True))
    left = ordered.flip(-1).logcumsumexp(-1).flip(-1)
    return left - ordered


def list_mle(scores, labels):
    return _surprise(scores, labels).sum(-1).mean()


def p_list_mle(scores, labels):
    width = scores.shape[-1]
    weights = 2.0 ** -torch.arange(1.0, width + 1, device=scores.device) - 2.0**-width
    return (_surprise(scores, labels) * (weights / weights.sum())).sum(-1).mean()


def pl_rank(scores, labels, samples=8):
    """1 − the mean nDCG of sampled rankings, with the gradient of PL-Rank-3."""
    gains = gains_of(labels)
    places = torch.arange(2, scores.shape[-1] + 2, device=scores.device)
    worth = 1 / torch.log2(places)
    ideal = (gains.sort(dim=-1, descending=True).values * worth).sum(-1, keepdim=True)
    with torch.no_grad():
        noise = -torch.log(-torch.log(torch.rand(samples, *scores.shape, device=scores.device)))
        order = (scores + noise).argsort(dim=-1, descending=True)
        gained = (gains / ideal).expand_as(noise).gather(-1, order)
        terms = gained * worth
        ahead = terms.flip(-1).cumsum(-1).flip(-1)
        powers = (scores - scores.amax(-1, keepdim=True)).exp().expand_as(noise).gather(-1, order)
        left = powers.flip(-1).cumsum(-1).flip(-1)
        direct, risk = (worth / left).cumsum(-1), (ahead / left).cumsum(-1)
        found = ahead - terms + powers * (gained * direct - risk)
        slope = torch.empty_like(found).scatter_(-1, order, found).mean(0)
        value = 1 - terms.sum(-1).mean(0)
    surrogate = (scores * slope).sum(-1)
    return (value + surrogate.detach() - surrogate).mean()
