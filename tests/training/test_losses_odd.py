"""What is not known stays in view, shifts cost no digits, and what is wrong is refused in words."""

import functools
import math
import pickle

import numpy as np
import pytest

import literal_losses as literal
from array_libraries import quickly_compiled
from loss_rows import ROWS

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy

import gainful as gf  # noqa: E402

L = gf.losses
rows = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)

SCORES = [[0.3, -1.2, 2.1, 0.9], [1.5, 0.1, -0.7, 0.4], [0.2, 0.1, 0.4, 0.8]]
LABELS = [[2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 2.0, 0.0], [0.0, 2.0, 1.0, 1.0]]


def values(row, scores, labels, mask=None, make=torch.tensor, **options):
    items = {name: make(value) for name, value in row.draw(np.shape(scores)).items()}
    given = row.options | items | options

    def loss(own):
        return row.function(own, make(labels), mask, reduction="none", **given)

    return (quickly_compiled(loss) if make is jnp.asarray else loss)(make(scores))


@rows
@pytest.mark.parametrize("make", [torch.tensor, jnp.asarray], ids=["torch", "jax"])
def test_what_is_not_known_makes_its_list_nan(row, make):
    scores, labels = np.array(SCORES[:1] * 7, np.float32), np.array(LABELS[:1] * 7)
    mask = np.ones(scores.shape, bool)
    for at, place in enumerate((0, 2)):
        scores[1 + at, place] = math.nan
        labels[3 + at, place] = math.nan
        labels[5 + at, place] = 9  # which the table of gains lacks
        mask[1 + at :: 2, place] = False
    table = {1: 1, 2: 3, 3: 7}
    found = np.asarray(values(row, scores, labels, make=make, gain=table))
    assert np.isnan(found).tolist() == [False] + [True] * 6
    masked = np.asarray(values(row, scores, labels, mask, make, gain=table))
    assert np.isfinite(masked).all()


@rows
@pytest.mark.parametrize("make", [torch.tensor, jnp.asarray], ids=["torch", "jax"])
def test_an_infinite_score_makes_its_list_nan(row, make):
    scores, labels = np.array([*SCORES, SCORES[1]], np.float32), np.array([*LABELS, LABELS[1]])
    scores[1, 2], scores[3, 2] = math.inf, -math.inf
    found = np.asarray(values(row, scores, labels, make=make))
    assert np.isnan(found).tolist() == [False, True, False, True]
    mask = np.isfinite(scores)
    assert np.isfinite(np.asarray(values(row, scores, labels, mask, make))).all()


def test_the_weight_of_a_list_without_items_does_not_matter():
    mask = torch.tensor([[True] * 4, [False] * 4, [True] * 4])
    scores, labels = torch.tensor(SCORES), torch.tensor(LABELS)
    found, expected = (
        L.approx_ndcg(scores, labels, mask, weight=torch.tensor([1.0, weight, 3.0]))
        for weight in (math.nan, 0.0)
    )
    assert found == expected
    each = L.approx_ndcg(scores, labels, reduction="none")
    weighed = L.approx_ndcg(scores, labels, weight=[1.0, 0.0, 3.0], reduction="none")
    assert weighed.tolist() == [each[0].item(), 0, 3 * each[2].item()]


@pytest.mark.parametrize("k", [None, 10])
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_long_lists_have_a_gradient(k, spread):
    generator = torch.Generator().manual_seed(3)
    labels = torch.randint(0, 5, (2, 1000), generator=generator)
    noise = spread * torch.randn(2, 1000, generator=generator)
    scores = noise.requires_grad_()
    loss = gf.losses.loss("nDCG(gain=exp2)" if k is None else f"nDCG(gain=exp2)@{k}")
    loss(scores, labels).backward()
    # Along the labels, as a model that learns them would move: by how much the loss falls.
    fall = -(scores.grad * (labels - 2)).sum().item()
    assert fall > 0.01


def test_weights_of_long_lists_do_not_overflow():
    rng = np.random.default_rng(4)
    scores = torch.tensor(rng.normal(size=300))
    labels = torch.tensor(rng.permutation(300))
    exact = L.p_list_mle(scores, labels)
    assert exact.isfinite()
    assert L.p_list_mle(scores.float(), labels).item() == pytest.approx(exact.item(), rel=1e-6)


def test_a_gain_is_not_lowered_by_autocast():
    scores, labels = torch.tensor(SCORES), torch.tensor(LABELS) * 1.001

    def gain(grades):  # a product of matrices, which autocast computes in half precision
        return (grades[..., None] @ torch.ones(1, 1))[..., 0]

    expected = L.approx_ndcg(scores, labels, gain=gain, normalized=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert gain(labels).dtype == torch.bfloat16
        assert L.approx_ndcg(scores, labels, gain=gain, normalized=False) == expected


@pytest.mark.parametrize(
    ("name", "base", "discount"),
    [
        ("reciprocal", 2, lambda rank: 1 / rank),
        ("jarvelin", 3, lambda rank: 1 / max(1, math.log(rank, 3))),
        ("log", 10, lambda rank: 1 / math.log10(1 + rank)),
        ("power(0.7)", 2, lambda rank: rank**-0.7),
    ],
)
@pytest.mark.parametrize("loss", ["approx_ndcg", "pirank_ndcg", "soft_ndcg", "pl_rank"])
def test_other_discounts_are_in_the_formula(loss, name, base, discount, monkeypatch):
    monkeypatch.setattr(literal, "discount", discount)
    row, scores, labels = ROWS[loss], SCORES[0], LABELS[0]
    own = row.draw((4,))
    items = {name: torch.tensor(value) for name, value in own.items()}
    for k in (None, 2):
        found = row.function(
            torch.tensor(scores, dtype=torch.float64),
            torch.tensor(labels),
            k=k,
            discount=name,
            base=base,
            normalized=False,
            **row.options,
            **items,
        )
        expected = literal.unnormalised(row.literal)(scores, labels, k, **own)
        assert found.item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scheme", ["ranknet", "lambdarank", "ndcg1", "ndcg2", "ndcg2pp"])
def test_pairs_are_not_weighed_by_differences_that_are_none(scheme):
    given = torch.tensor(SCORES), torch.tensor(LABELS)
    if scheme in ("ranknet", "ndcg1"):
        assert L.lambda_loss(*given, scheme=scheme, discount="none", k=1) > 0.1
        return
    with pytest.raises(
        gf.errors.InputError, match="discount: expected one that falls with the rank"
    ):
        L.lambda_loss(*given, scheme=scheme, discount="none", k=1)


def test_large_labels_are_an_order_where_gains_have_no_part():
    scores, labels = torch.zeros(200), torch.arange(200.0)
    for train in (L.listnet, L.list_mle, L.p_list_mle):
        assert train(scores, labels).isfinite()
    assert L.lambda_loss(scores, labels, scheme="ranknet").isfinite()
    assert L.lambda_loss(scores, labels).isnan()


@rows
def test_a_gradient_does_not_hide_it_either(row):
    scores = torch.tensor(SCORES, requires_grad=True)
    labels = torch.tensor(LABELS)
    labels[1, 2] = math.nan
    items = {name: torch.tensor(value) for name, value in row.draw(scores.shape).items()}
    value = row.function(scores, labels, **row.options, **items)
    value.backward()
    assert value.isnan()
    assert scores.grad[1].isnan().all()
    assert scores.grad[[0, 2]].isfinite().all()


@rows
def test_a_large_shift_costs_no_digits(row):
    scores = np.array([[0, 8, 24, 16], [16, 8, 0, 40]], np.float32)  # exact also at 1e8
    near, far = (values(row, scores + shift, LABELS[:2]) for shift in (0, np.float32(1e8)))
    assert far.numpy() == pytest.approx(near.numpy(), rel=1e-5, abs=1e-6)


def test_equal_scores_are_averaged_over_in_a_gap():
    scores = torch.zeros(2, 4)
    labels = torch.tensor([[0, 0, 0, 1], [1, 0, 0, 0]])
    found = L.gap(scores, labels, k=2)
    expected = gf.metrics.ndcg(scores, labels, k=2, gain="exp2")
    assert found["ndcg"] == pytest.approx(expected.mean().item())
    assert expected[0] == expected[1]
    plain = L.gap(scores, labels, normalized=False, discount="reciprocal")
    assert plain.keys() == {"loss", "dcg", "gap"}
    assert plain["dcg"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert plain["gap"] == pytest.approx(plain["loss"] + plain["dcg"])


@pytest.mark.parametrize("make", [torch.tensor, jnp.asarray], ids=["torch", "jax"])
def test_a_gap_is_weighted(make):
    scores, labels = make(SCORES), make([*LABELS[:2], [0.0] * 4])
    weight = np.array([0.25, 0.5, 9.0])
    each = np.asarray(L.approx_ndcg(scores, labels, reduction="none"))
    measured = np.asarray(gf.metrics.ndcg(scores, labels, gain="exp2"))
    found = L.gap(scores, labels, weight=make(weight), reduction="sum")
    for name, parts in (("loss", each), ("ndcg", measured)):
        assert found[name] == pytest.approx((weight * parts)[:2].sum() / 0.75, rel=1e-5)
    assert found["gap"] == pytest.approx(found["loss"] - 1 + found["ndcg"], abs=1e-6)
    empty = L.gap(scores, 0 * labels, weight=make(weight))
    assert set(empty.values()) == {0}
    unknown = L.gap(scores, make([*LABELS[:2], [math.nan] * 4]))
    assert all(math.isnan(value) for value in unknown.values())


S, Y = torch.tensor([0.3, 0.1, 0.2]), torch.tensor([1.0, 0.0, 2.0])
REFUSED = [
    (L.approx_ndcg, {"reduction": None}, "mean, sum or none"),
    (L.approx_ndcg, {"reduction": ["mean"]}, "mean, sum or none"),
    (L.gap, {"reduction": "average"}, "mean, sum or none"),
    (L.approx_ndcg, {"temperature": "1"}, "a finite number above 0"),
    (L.approx_ndcg, {"temperature": None}, "a finite number above 0"),
    (L.approx_ndcg, {"temperature": torch.tensor(1.0)}, "not a tensor"),
    (L.pirank_ndcg, {"tau": [1.0]}, "a finite number above 0"),
    (L.lambda_loss, {"sigma": True}, "a finite number above 0"),
    (L.lambda_loss, {"mu": "ten"}, "a finite, non-negative number"),
    (L.lambda_loss, {"scheme": ["ndcg1"]}, "lambdarank"),
    (L.gumbel_approx_ndcg, {"beta": math.nan}, "a finite, non-negative number"),
    (L.gumbel_approx_ndcg, {"samples": 2.0}, "from 1 to 100,000"),
    (L.gumbel_approx_ndcg, {"samples": 0}, "from 1 to 100,000"),
    (L.gumbel_approx_ndcg, {"noise": torch.zeros(3)}, "shape of the scores"),
    (L.gumbel_approx_ndcg, {"noise": torch.zeros(0, 3)}, "at least 1 sample"),
    (L.pl_rank, {"noise": torch.zeros(0, 3)}, "at least 1 sample"),
    (L.pl_rank, {"samples": True}, "from 1 to 100,000"),
    (L.neural_ndcg, {"iterations": -1}, "from 0 to 100,000"),
    (L.neural_ndcg, {"iterations": 1.5}, "from 0 to 100,000"),
    (L.xe_ndcg, {"gamma": 1.5}, "0 to 1"),
    (L.xe_ndcg, {"gamma": math.nan}, "0 to 1"),
    (L.xe_ndcg, {"gamma": "half"}, "0 to 1"),
    (L.xe_ndcg, {"gamma": torch.zeros(1, 3)}, "shape of the scores"),
    (L.xe_ndcg, {"gamma": [0.5]}, "shape of the scores"),
    (L.softmax, {"gain": lambda y: y.sum()}, "shape of the grades"),
    (L.softmax, {"gain": lambda y: None}, "NoneType"),
    (L.softmax, {"offsets": 3}, "a sequence of whole numbers"),
    (L.softmax, {"offsets": [[0], [1, 2]]}, "a sequence of whole numbers"),
    (L.softmax, {"labels": None}, "labels: expected numbers"),
    (L.softmax, {"labels": [[1], [1, 0]]}, "labels: expected numbers"),
    (L.softmax, {"labels": ["1", "0", "2"]}, "labels: expected numbers"),
    (L.softmax, {"labels": np.array([1, 0, 2], object)}, "labels: expected numbers"),
    (L.softmax, {"mask": torch.tensor([1, 1, 0])}, "booleans of the shape"),
    (L.softmax, {"mask": [1.0, 1.0, 0.0]}, "booleans of the shape"),
    (L.softmax, {"normalized": "yes"}, "True or False"),
    (L.softmax, {"normalized": 1}, "True or False"),
    (L.softmax, {"weight": "heavy"}, "weight: expected numbers"),
]


@pytest.mark.parametrize(("function", "options", "message"), REFUSED)
def test_what_is_refused(function, options, message):
    for scores, labels in ((S, Y), (jnp.asarray(S.numpy()), jnp.asarray(Y.numpy()))):
        with pytest.raises(gf.errors.InputError, match=message):
            function(scores, **{"labels": labels, **options})


def test_what_is_taken():
    mask = [True, True, False]
    assert L.softmax(S, Y, mask) == L.softmax(S, Y, torch.tensor(mask))
    assert L.softmax(S, Y.tolist(), mask, normalized=np.bool_(True)) == L.softmax(S, Y, mask)
    number = L.xe_ndcg(S, Y, gamma=np.float32(0.5))
    assert number == L.xe_ndcg(S, Y, gamma=[0.5] * 3) == L.xe_ndcg(S, Y, gamma=torch.tensor(0.5))
    assert L.xe_ndcg(S, Y, gamma=torch.tensor([0.5, math.nan, 0.5])).isnan()
    assert L.approx_ndcg(scores=S, labels=Y, mask=None) == L.approx_ndcg(S, Y)


def test_an_unknown_option_is_named_with_its_loss():
    for call in (
        lambda: L.approx_ndcg(S, Y, temprature=1),
        lambda: L.gap(S, Y, temprature=1),
        lambda: gf.losses.loss("nDCG@5", temprature=1),
        lambda: gf.losses.loss("nDCG@5")(S, Y, temprature=1),
    ):
        with pytest.raises(TypeError, match=r"approx_ndcg\(\).*Did you mean 'temperature'"):
            call()
    with pytest.raises(TypeError, match=r"softmax\(\).*'temperature'"):
        gf.losses.loss("nDCG@5", method="softmax", temperature=1)
    with pytest.raises(gf.errors.InputError, match="above 0"):
        gf.losses.loss("nDCG@5", temperature=0)


@pytest.mark.parametrize(
    "options", [{"k": 3}, {"gain": "exp2"}, {"discount": "log"}, {"base": 2}, {"normalized": True}]
)
def test_a_measure_is_not_said_twice(options):
    with pytest.raises(gf.errors.MeasureError, match="part of the measure"):
        gf.losses.loss("nDCG@5", **options)
    with pytest.raises(gf.errors.MeasureError, match="part of the measure"):
        gf.losses.loss("nDCG@5")(S, Y, **options)


def test_a_method_is_a_name():
    for method in (["approx"], None, "aprox"):
        with pytest.raises(
            gf.errors.MeasureError, match=r"method: expected approx, gumbel, .*list_mle"
        ):
            gf.losses.loss("nDCG@5", method=method)


def test_a_loss_says_what_it_is():
    train = gf.losses.loss("nDCG(gain=exp2)@10", method="lambda", scheme="ndcg2")
    assert repr(train) == "loss('nDCG(gain=exp2)@10', method='lambda', scheme='ndcg2')"
    same = pickle.loads(pickle.dumps(train))  # noqa: S301
    assert {train: 1}[same] == 1
    assert train != gf.losses.loss("nDCG(gain=exp2)@10", method="lambda")
    noisy = gf.losses.loss("nDCG", method="pl_rank", noise=torch.zeros(1, 3))
    assert noisy in {noisy}
    assert repr(L.Loss("DCG@3", temperature=0.1)) == "Loss(DCG@3, method=approx, temperature=0.1)"
    assert "Loss" in dir(L)


def test_the_default_type_of_pytorch_changes_no_type():
    torch.set_default_dtype(torch.float64)
    try:
        assert L.softmax(S, Y).dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


@rows
@pytest.mark.parametrize("make", [torch.tensor, jnp.asarray], ids=["torch", "jax"])
def test_small_labels_keep_their_digits(row, make):
    scores, labels = np.float32([[1.0, 0.0, 0.5]]), np.float32([[1e-7, 2e-7, 3e-7]])
    found = values(row, scores, labels, make=make)
    expected = values(row, np.float64(scores), np.float64(labels))
    assert np.asarray(found) == pytest.approx(expected.numpy(), rel=1e-4)


@pytest.mark.parametrize("make", [torch.tensor, jnp.asarray], ids=["torch", "jax"])
@pytest.mark.parametrize("name", ["approx_ndcg", "soft_ndcg", "lambda_loss", "softmax"])
def test_gains_beyond_the_type_are_not_known(name, make):
    labels = make(np.float32([[127, 127, 127], [3, 2, 1]]))
    scores = make(np.float32([[1, 2, 3], [1, 2, 3]]))
    loss = functools.partial(getattr(L, name), reduction="none")
    found = (quickly_compiled(loss) if make is jnp.asarray else loss)(scores, labels)
    assert np.isnan(np.asarray(found)).tolist() == [True, False]
    found = gf.metrics.ndcg(scores, labels * 1.6e36)
    assert np.isnan(np.asarray(found)).tolist() == [True, False]


@pytest.mark.parametrize("given", [3, "seed"])
def test_what_is_no_generator_is_refused(given):
    for make in (torch.tensor, jnp.asarray):
        scores = make(np.float32([[1, 2]]))
        with pytest.raises(gf.errors.InputError, match="generator: expected a"):
            L.pl_rank(scores, scores, generator=given)
