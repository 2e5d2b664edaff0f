"""Values from the literature, bounds, limits, and what a loss refuses."""

import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from array_libraries import flags_for_haste
from example_programs import EXAMPLES, run_here
from literal_losses import ndcg

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy

import gainful as gf  # noqa: E402

L = gf.losses


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


HALF = tensor(0.5, 0.3, 0.5)


def test_published_values():
    def pairs(scheme):
        return L.lambda_loss(HALF, HALF, scheme=scheme).item()

    assert 1 - L.approx_ndcg(HALF, HALF).item() == pytest.approx(0.8499219, abs=1e-7)
    # The published sum has the pair of each item with itself, log2(2)·G/D: nDCG in all, here 1.
    assert pairs("ndcg1") + 1 == pytest.approx(2.9272111, abs=2e-7)
    assert pairs("ndcg2pp") == pytest.approx(1.1244147, abs=1e-7)
    assert pairs("ranknet") == pytest.approx(1.1962779, abs=3e-7)
    assert L.softmax(tensor(2, 1, 3), tensor(1, 0, 0)).item() == pytest.approx(1.40761, abs=1e-5)
    first = L.list_mle(tensor(0.5, 0.3, 9), tensor(1, 0, 9), torch.tensor([True, True, False]))
    assert first.item() == pytest.approx(0.5981389, abs=1e-7)
    second = L.lambda_loss(
        tensor(0.5, 2, 1, 0.9, -1.2),
        tensor(2, 0, 1, 0, 1),
        scheme="ndcg2",
        offsets=[0, 3, 5],
        reduction="none",
    )
    assert second.tolist() == pytest.approx([0.743806, 1.179666], abs=1e-6)


def test_published_relaxed_order():
    from gainful.training.losses.relaxed_sorting import sorted_gains
    from gainful.training.losses.training_lists import read_lists

    s, y = tensor(0.5, 0.2, 0.1, 0.01, 0.65, 0.3), tensor(4, 2, 1, 0, 4, 3)
    lists, _ = read_lists(s, y, None, {"gain": "linear"})
    expected = [3.3893, 2.9820, 2.4965, 2.0191, 1.6097, 1.2815]
    assert sorted_gains(lists, 1.0, 0, 6)[0].tolist() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("seed", range(40))
def test_bounds_and_limits(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    s, y = random.normal(size=n), random.integers(0, 4, n).astype(float)
    y[0] = 2
    lost = 1 - ndcg(s.tolist(), y.tolist())
    scores, labels = torch.tensor(s), torch.tensor(y)
    bound = L.xe_ndcg(scores, labels, gamma=1.0).item()
    assert lost <= -math.log(1 - lost) + 1e-12 <= bound + 2e-12
    for scheme in ("lambdarank", "ndcg1", "ndcg2", "ndcg2pp"):
        assert L.lambda_loss(scores, labels, scheme=scheme).item() >= lost - 1e-12
    found = L.gap(scores, labels, temperature=1e-6)
    assert found["gap"] == pytest.approx(0, abs=1e-9)
    assert found["ndcg"] == pytest.approx(1 - lost, abs=1e-12)
    sharp = L.gap(scores, labels, k=2, temperature=1e-6)
    assert sharp["loss"] == pytest.approx(1 - ndcg(s.tolist(), y.tolist(), 2), abs=1e-9)
    for method in ("neural", "pirank", "soft"):
        own = {"sigma": 1e-6} if method == "soft" else {"tau": 1e-6}
        assert L.gap(scores, labels, method=method, **own)["gap"] == pytest.approx(0, abs=1e-6)
    assert L.gap(1e9 * scores, labels, method="pl_rank")["gap"] == pytest.approx(0, abs=1e-12)


def test_reductions_and_weights():
    s, y = torch.randn(3, 4, dtype=torch.float64), torch.tensor([[1, 0, 2, 0]] * 3)
    mask = torch.tensor([[True] * 4, [True] * 4, [False] * 4])
    each = L.approx_ndcg(s, y, mask, reduction="none")
    assert each[2] == 0
    assert L.approx_ndcg(s, y, mask).item() == pytest.approx(each[:2].mean().item())
    assert L.approx_ndcg(s, y, mask, reduction="sum").item() == pytest.approx(each.sum().item())
    weighted = L.approx_ndcg(s, y, mask, weight=torch.tensor([1.0, 3.0, 5.0])).item()
    assert weighted == pytest.approx((each[0] + 3 * each[1]).item() / 4)
    deep = L.approx_ndcg(s.reshape(3, 1, 4), y.reshape(3, 1, 4), reduction="none")
    assert deep.shape == (3, 1)


@pytest.mark.parametrize("discount", ["log", "jarvelin", "reciprocal", "power(0.5)", "none"])
@pytest.mark.parametrize("gain", ["linear", "exp2", "binary", {1: 1, 2: 5}, lambda y: y * y])
def test_a_measure_gives_its_gain_and_discount(discount, gain):
    s, y = [3.0, 2.0, 1.0, 0.5], [0.0, 2.0, 1.0, 0.0]
    for name in ("nDCG", "DCG"):
        measure = gf.Measure(name, cutoff=3, gain=gain, discount=discount)
        train = gf.losses.loss(measure, temperature=1e-6)
        value = train(tensor(*s), tensor(*y)).item()
        measured = gf.evaluate({"q": dict(zip("abcd", map(int, y), strict=True))},
                               {"q": dict(zip("abcd", s, strict=True))}, [measure])  # fmt: skip
        expected = measured[measure]
        assert value == pytest.approx(1 - expected if name == "nDCG" else -expected, abs=1e-9)


def test_random_losses_repeat_with_their_generator():
    s, y = tensor(1, 0, 2), tensor(1, 0, 2)
    for loss in (L.gumbel_approx_ndcg, L.pl_rank, L.xe_ndcg):
        one, two, three = (
            loss(s, y, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
        )
        assert one == two != three
    assert L.gumbel_approx_ndcg(s, y, beta=0) == L.approx_ndcg(s, y)
    jax = pytest.importorskip("jax")
    with pytest.raises(gf.errors.InputError, match=r"jax\.random\.key"):
        L.xe_ndcg(jax.numpy.zeros(3), jax.numpy.zeros(3))


LONG = {
    "torch": """
import torch
def take(loss, n):
    s = torch.tensor(scores[:n], requires_grad=True)
    loss(s, torch.tensor(labels[:n])).backward()
""",
    "jax": """
import jax
def take(loss, n):
    jax.block_until_ready(jax.jit(jax.grad(loss))(scores[:n], labels[:n]))
""",
}


@pytest.mark.parametrize("framework", LONG)
def test_a_long_list_fits_in_little_memory(framework):
    code = f"""
import resource, numpy as np, gainful as gf
random = np.random.default_rng(1)
scores = random.normal(size=7_000).astype(np.float32)
labels = random.integers(0, 5, 7_000)
{LONG[framework]}
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
take(gf.losses.approx_ndcg, 300)
before = peak()
take(gf.losses.approx_ndcg, 7_000)
take(gf.losses.lambda_loss, 7_000)
print(peak() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=400
    )
    assert float(done.stdout) < 120  # MiB; one number for each pair would take 187


def test_what_is_refused():
    s = torch.zeros(3)
    message = r"PyTorch or JAX, found ndarray.*pip install '\.\[torch\]'"
    with pytest.raises(gf.errors.InputError, match=message):
        L.approx_ndcg(np.zeros(3), np.zeros(3))
    for arguments, message in [
        ({"labels": torch.zeros(2)}, "shape of the scores"),
        ({"mask": torch.ones(2)}, "shape of the scores"),
        ({"weight": torch.ones(2)}, "one number for each list"),
        ({"offsets": [0, 2]}, "rise from 0 to 3"),
        ({"reduction": "average"}, "mean, sum or none"),
        ({"temperature": 0.0}, "above 0"),
    ]:
        with pytest.raises(gf.errors.InputError, match=message):
            L.approx_ndcg(s, **{"labels": s, **arguments})
    with pytest.raises(TypeError, match="temprature"):
        L.approx_ndcg(s, s, temprature=1)
    with pytest.raises(gf.errors.InputError, match="float32 or float64, found"):
        L.approx_ndcg(torch.zeros(3, dtype=torch.int64), s)
    for call in (
        lambda: gf.losses.loss("P@5"),
        lambda: gf.losses.loss("nDCG(norm=minmax)"),
        lambda: gf.losses.loss("nDCG", method="aprox"),
        lambda: gf.losses.loss("nDCG", k=3),
    ):
        with pytest.raises(gf.errors.MeasureError):
            call()
    with pytest.raises(gf.errors.InputError, match="lambdarank"):
        L.lambda_loss(s, s, scheme="lambda")


@pytest.mark.parametrize("name", ["approx_ndcg", "neural_ndcg", "pirank_ndcg", "soft_ndcg"])
def test_no_second_derivative_is_made_up(name):
    s = torch.randn(4, requires_grad=True)
    loss, labels = getattr(L, name), [1, 0, 2, 0]
    (slope,) = torch.autograd.grad(loss(s, torch.tensor(labels)), s, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivative"):
        slope.sum().backward()
    in_jax = jax.grad(lambda s: loss(s, jnp.asarray(labels)))
    with pytest.raises(NotImplementedError, match="second derivative"):
        # It is refused when it is traced: nothing need be compiled.
        jax.eval_shape(jax.grad(lambda s: in_jax(s).sum()), jnp.arange(4.0))


def test_the_module():
    module = L.Loss("nDCG@10", method="lambda", scheme="ndcg2")
    s, y = tensor(1, 0, 2), tensor(1, 0, 2)
    expected = L.lambda_loss(s, y, scheme="ndcg2", gain="linear", k=10)
    assert module(s, y) == expected
    assert module(s, y, reduction="none", weight=2.0 * torch.ones(())) == 2 * expected
    assert pickle.loads(pickle.dumps(module))(s, y) == expected  # noqa: S301
    assert not list(module.parameters())


def test_a_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(gf.errors.MissingDependencyError, match=r"'\.\[torch\]'"):
        _ = L.Loss
    assert isinstance(gf.losses.loss("nDCG@5"), L.Surrogate)


def test_losses_train_in_pytorch():
    code, out = run_here("train_torch.py", "--steps", "40")
    assert code == 0, out
    assert out.count("nDCG") == len(L.METHODS)


def test_losses_train_in_jax():
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "train_jax.py"), "--steps", "40"],
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
        env=os.environ | {"XLA_FLAGS": flags_for_haste()},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("nDCG") == len(L.METHODS)
