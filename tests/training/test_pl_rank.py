"""PL-Rank's gradient is that of the expectation over all rankings, and its draws are fair."""

import itertools
import math

import numpy as np
import pytest

from array_libraries import quickly_compiled
from literal_losses import discount, gradient

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy

import gainful as gf  # noqa: E402
from gainful.training.losses import listwise_with_gradient  # noqa: E402

LISTS = {
    "three": ([0.4, -1.1, 0.9], [1.0, 0.0, 2.0]),
    "four": ([0.3, -1.2, 2.1, 0.9], [2.0, 0.0, 1.0, 3.0]),
    "negative grades": ([1.3, 0.2, -0.5, 0.8], [-2.0, 1.0, 0.0, -1.0]),
    "far apart": ([9.0, -9.0, 0.0], [0.0, 2.0, 1.0]),
}
lists = pytest.mark.parametrize(("scores", "grades"), LISTS.values(), ids=LISTS)
cutoffs = pytest.mark.parametrize("k", [None, 1, 2])


def chance(order, s):
    """Return the probability of a ranking: each choice among the items that are left."""
    left = [sum(math.exp(s[j]) for j in order[place:]) for place in range(len(order))]
    return math.prod(math.exp(s[i]) / total for i, total in zip(order, left, strict=True))


def dcg(order, grades, k):
    return sum(grades[i] * discount(rank) for rank, i in enumerate(order[:k], 1))


def expected(s, grades, k):
    """Return the DCG that is expected, over all rankings."""
    orders = itertools.permutations(range(len(s)))
    return sum(chance(order, s) * dcg(order, grades, k) for order in orders)


def forcing(orders):
    """Return noise that brings about each of the rankings."""
    return np.array([[-1e3 * order.index(i) for i in range(len(order))] for order in orders])


@lists
@cutoffs
def test_the_estimates_of_all_rankings_weighted_by_their_chances_are_the_gradient(
    scores, grades, k
):
    orders = list(itertools.permutations(range(len(scores))))
    chances = [chance(order, scores) for order in orders]
    s = torch.tensor([scores] * len(orders), dtype=torch.float64, requires_grad=True)
    each = gf.losses.pl_rank(
        s,
        torch.tensor([grades] * len(orders), dtype=torch.float64),
        noise=torch.tensor(forcing(orders))[None],
        k=k,
        gain="linear",
        normalized=False,
        reduction="none",
    )
    assert each.tolist() == pytest.approx([-dcg(order, grades, k) for order in orders], abs=1e-12)
    total = (each * torch.tensor(chances, dtype=torch.float64)).sum()
    total.backward()
    exact = gradient(lambda x: -expected(x, grades, k), scores)
    assert total.item() == pytest.approx(-expected(scores, grades, k), abs=1e-12)
    assert s.grad.sum(0).numpy() == pytest.approx(exact, abs=1e-10)
    assert s.grad.sum().item() == pytest.approx(0, abs=1e-12)


@lists
@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_draws_agree_with_the_expectation(scores, grades, framework):
    draws, many = 50, 400  # estimates from 50 rankings each, 400 times
    best = sum(g * discount(r) for r, g in enumerate(sorted(grades)[::-1][:2], 1))
    options = {"samples": draws, "k": 2, "gain": "linear", "reduction": "none"}
    values = np.array([scores] * many)
    if framework == "torch":
        s = torch.tensor(values, requires_grad=True)
        found = gf.losses.pl_rank(
            s, torch.tensor([grades] * many), generator=torch.Generator().manual_seed(3), **options
        )
        found.sum().backward()
        found, slopes = found.detach().numpy(), s.grad.numpy()
    else:

        def loss(s):
            key = jax.random.key(3)
            each = gf.losses.pl_rank(s, jnp.array([grades] * many), generator=key, **options)
            return each.sum(), each

        slope = quickly_compiled(jax.grad(loss, has_aux=True))
        slopes, found = map(np.asarray, slope(jnp.asarray(values)))
    error = slopes.std(0) / math.sqrt(many)
    exact = gradient(lambda x: 1 - expected(x, grades, 2) / best, scores)
    assert (abs(slopes.mean(0) - exact) <= 5 * error + 1e-9).all()
    assert (error < 0.02).all()
    aim = 1 - expected(scores, grades, 2) / best
    assert abs(found.mean() - aim) <= 5 * found.std() / math.sqrt(many) + 1e-6


def test_a_fair_draw_needs_the_scores_alone():
    """Scores so high that noise would vanish in their digits are drawn from fairly all the same."""
    s = torch.tensor([1e30, 1e30, -1e30])
    value = gf.losses.pl_rank(
        s, torch.tensor([1, 0, 0]), samples=2000, generator=torch.Generator().manual_seed(1)
    )
    assert value.item() == pytest.approx((1 - discount(2)) / 2, abs=0.02)


@pytest.mark.parametrize("spread", [1.0, 30.0, 1e30, 1e38])
def test_single_precision_keeps_the_gradient_of_long_lists(spread):
    random = np.random.default_rng(5)
    scores = (spread * random.uniform(-1, 1, 1000)).astype(np.float32)
    labels, noise = random.integers(0, 5, 1000), random.gumbel(size=(4, 1000))
    slopes = []
    for dtype in (torch.float64, torch.float32):
        s = torch.tensor(scores, dtype=dtype, requires_grad=True)
        value = gf.losses.pl_rank(s, torch.tensor(labels), noise=torch.tensor(noise))
        value.backward()
        slopes.append(s.grad.double().numpy())
    assert np.isfinite(slopes[1]).all()
    assert slopes[1] == pytest.approx(slopes[0], abs=5e-6)
    assert (abs(slopes[0]).max() > 0.1) == (spread < 1e30)  # with no doubt, nothing to learn


def test_no_second_derivative_is_made_up():
    labels, noise = np.array([1, 0, 2]), np.zeros((1, 3))

    def loss(s):
        return gf.losses.pl_rank(s, labels, noise=noise)

    s = torch.zeros(3, requires_grad=True)
    (slope,) = torch.autograd.grad(loss(s), s, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivative"):
        slope.sum().backward()
    with pytest.raises(NotImplementedError, match="second derivative"):
        # It is refused when it is traced: nothing need be compiled.
        jax.eval_shape(jax.grad(lambda s: jax.grad(loss)(s).sum()), jnp.zeros(3))


def test_what_is_refused():
    s = torch.zeros(3)
    with pytest.raises(gf.errors.InputError, match="from 1 to 100,000"):
        gf.losses.pl_rank(s, s, samples=0)
    with pytest.raises(gf.errors.InputError, match="shape of the scores"):
        gf.losses.pl_rank(s, s, noise=torch.zeros(3))
    with pytest.raises(gf.errors.InputError, match=r"jax\.random\.key"):
        gf.losses.pl_rank(jnp.zeros(3), jnp.zeros(3))


def test_equal_keys_are_ranked_as_they_come():
    torch.manual_seed(0)
    keys = torch.randn(4, 6, 50)
    keys[1] = keys[1].round(decimals=1)  # most rows of it have ties, none of the others
    keys[2, 3, 10:20] = math.nan
    order = listwise_with_gradient._from_high_to_low(keys)
    expected = keys.argsort(dim=-1, descending=True, stable=True)
    assert order.tolist() == expected.tolist()
