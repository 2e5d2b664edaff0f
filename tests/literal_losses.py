"""The losses, literally: one list, loops over items, float64; gradients by central differences."""

import itertools
import math

import numpy as np


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def discount(rank):
    return 1 / math.log2(1 + rank)


def gains(y):
    return [2**grade - 1 for grade in y]


def ideal(y, k=None):
    best = sorted(gains(y), reverse=True)[:k]
    return sum(gain * discount(rank) for rank, gain in enumerate(best, 1))


def hard_ranks(s):
    order = sorted(range(len(s)), key=lambda i: -s[i])
    return [order.index(i) + 1 for i in range(len(s))]


def ndcg(s, y, k=None):
    found = zip(gains(y), hard_ranks(s), strict=True)
    return sum(g * discount(r) for g, r in found if k is None or r <= k) / ideal(y, k)


def approx(s, y, k=None, temperature=1.0):
    n, total = len(s), 0.0
    for i, gain in enumerate(gains(y)):
        rank = 1 + sum(sigmoid((s[j] - s[i]) / temperature) for j in range(n) if j != i)
        part = 1.0 if k is None else 1 / (1 + (rank / (k + 0.5)) ** (1 / temperature))
        total += gain * discount(rank) * part
    return 1 - total / ideal(y, k)


def gumbel(s, y, k=None, noise=None, beta=1.0, temperature=1.0):
    shifted = [[a + beta * b for a, b in zip(s, e, strict=True)] for e in noise]
    return np.mean([approx(one, y, k, temperature) for one in shifted])


def pl_rank(s, y, k=None, noise=None):
    drawn = [[a + b for a, b in zip(s, e, strict=True)] for e in noise]
    return np.mean([1 - ndcg(one, y, k) for one in drawn])


def pl_rank_slope(s, y, k=None, noise=None):
    """Return the estimate of the gradient of pl_rank's expectation, choice by choice."""
    n, g = len(s), gains(y)
    total = np.zeros(n)
    for e in noise:
        order = sorted(range(n), key=lambda i, e=e: -(s[i] + e[i]))
        for place, chosen in enumerate(order[:k]):
            worth = [discount(rank + 1) for rank in range(n)]
            later = sum(g[order[m]] * worth[m] for m in range(place + 1, len(order[:k])))
            total[chosen] += later  # what follows the choice that was made
            left = order[place:]
            for i in left:
                chance = math.exp(s[i]) / sum(math.exp(s[j]) for j in left)
                now = g[i] * worth[place]  # what the choice of i would bring, made or not
                total[i] += chance * (now - (g[chosen] * worth[place] + later))
    return -total / len(noise) / ideal(y, k)


def soft(s, y, k=None, sigma=1.0):
    n, total = len(s), 0.0
    for j, gain in enumerate(gains(y)):
        others = [v for v in range(n) if v != j]
        for above in itertools.product([0, 1], repeat=n - 1):  # all ways to stand above j
            chance = 1.0
            for v, wins in zip(others, above, strict=True):
                p = 0.5 * (1 + math.erf((s[v] - s[j]) / (math.sqrt(2) * math.sqrt(2) * sigma)))
                chance *= p if wins else 1 - p
            rank = 1 + sum(above)
            if k is None or rank <= k:
                total += gain * chance * discount(rank)
    return 1 - total / ideal(y, k)


def relaxed(s, tau):
    n = len(s)
    spread = [sum(abs(a - b) for b in s) for a in s]
    rows = []
    for i in range(1, n + 1):
        logits = [((n + 1 - 2 * i) * s[j] - spread[j]) / tau for j in range(n)]
        powers = [math.exp(x - max(logits)) for x in logits]
        rows.append([x / sum(powers) for x in powers])
    return np.array(rows)


def pirank(s, y, k=None, tau=1.0, iterations=0):
    matrix = relaxed(s, tau)
    for _ in range(iterations):
        matrix = matrix / matrix.sum(0, keepdims=True)
        matrix = matrix / matrix.sum(1, keepdims=True)
    sorted_gains = matrix @ np.array(gains(y))
    return 1 - sum(g * discount(r) for r, g in enumerate(sorted_gains[:k], 1)) / ideal(y, k)


def neural(s, y, k=None, tau=1.0):
    return pirank(s, y, k, tau, iterations=4)


def unnormalised(loss):
    """Return −DCG in the place of 1 − nDCG."""
    return lambda s, y, k, **own: (loss(s, y, k, **own) - 1) * ideal(y, k)


def pair_loss(s, y, k=None, scheme="lambdarank", sigma=1.0, mu=10.0, truncation="either", at=None):
    """`at` are the scores that ranks come from: a gradient does not go through them."""
    n, r = len(s), hard_ranks(s if at is None else at)
    share = [gain / ideal(y, k) for gain in gains(y)]
    total = 0.0
    for i in range(n):
        for j in range(n):
            if i == j or (scheme != "ndcg1" and y[i] <= y[j]):
                continue
            inside = (r[i] <= k, r[j] <= k) if k else (True, True)
            if not {"either": any, "both": all, "none": lambda _: True}[truncation](inside):
                continue
            swap = abs(discount(r[i]) - discount(r[j]))
            m = abs(r[i] - r[j])
            step = abs(discount(m) - discount(m + 1))
            weight = {
                "ranknet": 1,
                "ndcg1": share[i] * discount(r[i]),
                "lambdarank": abs(share[i] - share[j]) * swap,
                "ndcg2": abs(share[i] - share[j]) * step,
                "ndcg2pp": abs(share[i] - share[j]) * (swap + mu * step),
            }[scheme]
            cost = math.log1p(math.exp(-sigma * (s[i] - s[j])))
            total += weight * (cost if scheme == "ranknet" else cost / math.log(2))
    return total


def log_softmax(s):
    total = math.log(sum(math.exp(x) for x in s))
    return [x - total for x in s]


def xe(s, y, k=None, gamma=None):
    mass = [2**grade - c for grade, c in zip(y, gamma, strict=True)]
    return -sum(m / sum(mass) * x for m, x in zip(mass, log_softmax(s), strict=True))


def softmax(s, y, k=None):
    return -sum(g * x for g, x in zip(gains(y), log_softmax(s), strict=True))


def listnet(s, y, k=None):
    return -sum(math.exp(p) * x for p, x in zip(log_softmax(y), log_softmax(s), strict=True))


def list_mle(s, y, k=None, weights=None):
    order = sorted(range(len(s)), key=lambda i: (-y[i], -s[i]))
    total = 0.0
    for place, i in enumerate(order[:k]):
        step = math.log(sum(math.exp(s[j]) for j in order[place:])) - s[i]
        total += step * (1 if weights is None else weights[place])
    return total


def p_list_mle(s, y, k=None):
    n = len(s)
    weights = [2 ** (n - i) - 1 for i in range(1, n + 1)]
    return list_mle(s, y, k, [w / sum(weights) for w in weights])


def gradient(function, s, step=1e-4):
    """Return ∂f/∂s by differences of the fourth order."""
    found = []
    for i in range(len(s)):
        at = [list(s) for _ in range(4)]
        for moved, by in zip(at, (-2, -1, 1, 2), strict=True):
            moved[i] += by * step
        low2, low, high, high2 = (function(moved) for moved in at)
        found.append((low2 - 8 * low + 8 * high - high2) / (12 * step))
    return np.array(found)
