"""The literal formulas of graded measures and of models of users."""

from builtins import max as builtins_max
from fractions import Fraction

from scipy.special import zeta

from literal import discount_of
from literal_query import formula, worths


def cascade(grades, depth, highest):
    total, goes_on = 0.0, 1.0
    for rank, grade in enumerate(grades[:depth], 1):
        satisfied = (2.0 ** max(0.0, grade or 0.0) - 1) / 2**highest
        total += goes_on * satisfied / rank
        goes_on *= 1 - satisfied
    return total


@formula("ERR")
def expected_reciprocal_rank(q, max):  # noqa: A002
    return cascade(q.listed, q.k, max)


@formula("nERR")
def normalised_err(q, max):  # noqa: A002
    best = cascade(sorted(q.judged, reverse=True), q.k, max)
    return cascade(q.listed, q.k, max) / best if best else None


@formula("RBP")
def rank_biased(q, p, rel, max):  # noqa: A002
    gains = worths(q, rel, max)[: q.k]
    return (1 - p) * sum(float(worth) * p**index for index, worth in enumerate(gains))


@formula("RBPres")
def residual(q, p):
    unknown = sum(p**index for index, grade in enumerate(q.top) if grade is None)
    return (1 - p) * unknown + p ** len(q.top)


@formula("Q")
def q_measure(q, gain, beta, denominator):
    gains, ideal = q.gains(gain), q.ideal(gain)
    if not ideal:
        return None
    total = 0.0
    for rank, worth in enumerate(gains[: q.k], 1):
        if worth > 0:
            count = sum(other > 0 for other in gains[:rank])
            reached, could = sum(gains[:rank]), sum(ideal[:rank])
            total += (count + beta * reached) / (rank + beta * could)
    size = len(ideal) if denominator == "R" or q.k is None else min(q.k, len(ideal))
    return total / size


@formula("GAP")
def graded_average_precision(q, gain):
    gains, ideal = q.gains(gain), q.ideal(gain)
    if not ideal:
        return None
    total = 0.0
    for n, worth in enumerate(gains, 1):
        if worth > 0:
            total += sum(min(other, worth) for other in gains[:n] if other > 0) / n
    return total / sum(ideal)


@formula("INST")
def adaptive_user(q, T, rel, max):  # noqa: A002, N803
    """The tail of the endless list, where nothing more is gained, is Σ 1/i² from its first rank."""
    gains = worths(q, rel, max)
    views, view, lacking = [], 1.0, Fraction(T)
    for rank, worth in enumerate(gains, 1):
        views.append(view)
        lacking -= worth
        view *= float((rank + T + lacking - 1) / (rank + T + lacking)) ** 2
    beyond = float(len(gains) + T + lacking)
    total = sum(views) + view * beyond**2 * zeta(2, beyond)
    return sum(view * float(worth) for view, worth in zip(views, gains, strict=True)) / total


@formula("INSQ")
def user_with_a_goal(q, T, rel, max):  # noqa: A002, N803
    gains = worths(q, rel, max)
    found = sum(float(worth) / (rank + 2 * T - 1) ** 2 for rank, worth in enumerate(gains, 1))
    return found / zeta(2, 2 * T)


@formula("BPM")
def bejeweled(q, T, K, rel, max):  # noqa: A002, N803
    gains, total = worths(q, rel, max), Fraction(0)
    for rank in range(1, int(K) + 1):
        total += gains[rank - 1] if rank <= len(gains) else 0
        if total >= T:
            break
    return float(total / rank)


def continuation(user, rank, gains, p, T, K, by_rank):  # noqa: N803
    """The probability C(i) that the user goes on from a rank, from what was gained down to it."""
    if user == "RBP":
        return p
    if user == "INSQ":
        return ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2
    if user == "INST":
        lacking = T - float(sum(gains[:rank]))
        return ((rank + T + lacking - 1) / (rank + T + lacking)) ** 2
    if user == "BPM":
        return float(rank < K and sum(gains[:rank]) < T)
    if user == "SDCG":
        return by_rank(rank + 1) / by_rank(rank) if rank < K else 0.0
    return float(rank < K)


def views_of(user, gains, depth, p, T, K, discount, base):  # noqa: N803
    def by_rank(rank):
        return discount_of(discount, base, rank)

    view, views = 1.0, []
    for rank in range(1, depth + 1):
        views.append(view)
        view *= continuation(user, rank, gains, p, Fraction(T), K, by_rank)
    return views, view


@formula("ETG")
def expected_total_gain(q, user, p, T, K, rel, max, discount="log", base=2):  # noqa: A002, N803
    gains = worths(q, rel, max)
    views, _ = views_of(user, gains, len(gains), p, T, K, discount, base)
    return sum(view * float(worth) for view, worth in zip(views, gains, strict=True))


@formula("ED")
def expected_depth(q, user, p, T, K, rel, max, discount="log", base=2):  # noqa: A002, N803
    """Behind the list, the views of a user who never surely stops fall by p, or as 1/(i + a)²."""
    gains = worths(q, rel, max)
    depth = builtins_max(len(gains), int(K))
    views, beyond = views_of(user, gains, depth, p, T, K, discount, base)
    total = sum(views)
    if user == "RBP":
        return total + beyond / (1 - p)
    if user in ("INSQ", "INST"):
        lacking = T if user == "INSQ" else T - float(sum(gains))
        first = depth + T + lacking  # the shifted rank that follows
        return total + beyond * first**2 * zeta(2, first)
    return total


@formula("Compat")
def compatibility(q, p):
    documents = [*enumerate(q.listed), *enumerate(q.unseen, len(q.listed))]
    good = [(doc, grade) for doc, grade in documents if grade is not None and grade > 0]
    ideal = [doc for doc, _ in sorted(good, key=lambda pair: -pair[1])]
    if not ideal:
        return None
    found, best, seen, wanted = 0.0, 0.0, set(), set()
    for depth in range(1, 1001):
        seen |= {depth - 1} if depth <= len(q.listed) else set()
        wanted |= {ideal[depth - 1]} if depth <= len(ideal) else set()
        found += p ** (depth - 1) * len(seen & wanted) / depth
        best += p ** (depth - 1) * len(wanted) / depth
    return found / best
