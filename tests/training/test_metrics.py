"""`gf.metrics` gives the values of `evaluate_arrays`, in every library, and looks at no number."""

import os
import shutil
import sysconfig
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import gainful as gf
from array_libraries import LIBRARIES, quickly_compiled, usually_compiled
from gainful.training.metrics import cumulated_gain, ranks_by_score

FAMILIES = {
    "average_precision": "AP",
    "cg": "CG",
    "dcg": "DCG",
    "err": "ERR",
    "ndcg": "nDCG",
    "precision": "P",
    "recall": "R",
    "reciprocal_rank": "RR",
}
pytestmark = pytest.mark.usefixtures("_double_in_jax")
CUTOFFS = [None, 1, 3, 11, 40]
GAINS = [
    "linear",
    "exp2",
    "binary",
    {-1: -2, 1: 0.1, 2: 3, 3: 3, 4: 7.3},  # 0.1 and 7.3 are others in float32
    lambda g: g * g - 1,
]
DISCOUNTS = [
    {"discount": "log", "base": "e"},
    {"discount": "log", "base": 10},
    {"discount": "jarvelin", "base": 3},
    {"discount": "reciprocal"},
    {"discount": "power(0.3)"},
    {"discount": "none"},
]


@pytest.fixture(params=["numpy", "torch"])
def eager(request):
    """The libraries that compile nothing for every new shape: enough where the formula is tested."""
    return LIBRARIES[request.param]


def batch(seed=0, lists=60, width=12):
    """Return scores with ties that float32 holds, grades from −1 to 4, and a mask; some lists empty."""
    draw = np.random.default_rng(seed)
    scores = np.round(draw.normal(size=(lists, width)) * 2) / 2
    scores[: lists // 3] = draw.normal(size=(lists // 3, width)).astype(np.float32)
    labels = draw.integers(-1, 5, (lists, width))
    labels[5] = 0
    labels[6] = -1
    mask = draw.random((lists, width)) < 0.8
    mask[3:5] = False
    mask[7:9] = True
    return scores, labels, mask


def rules(name):
    return ("order",) if name == "err" else ("average", "order")


def reference(name, scores, labels, mask, ties, k, **settings):
    measure = gf.Measure(FAMILIES[name], cutoff=k, **settings)
    policy = gf.Policy(ties=ties)
    found = gf.evaluate_arrays(
        labels=labels, scores=scores, mask=mask, measures=measure, policy=policy
    )
    return found.values[:, 0]


def agree(put, name, data, ties, k, **settings):
    scores, labels, mask = data
    expected = reference(name, scores, labels, mask, ties, k, **settings)
    blank = np.where(mask, scores, np.nan)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
        arrays = put(blank.astype(dtype)), put(labels), put(mask)
        found = getattr(gf.metrics, name)(*arrays, k=k, ties=ties, **settings)
        assert type(found) is type(arrays[0])
        assert found.dtype == arrays[0].dtype
        np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


def test_the_functions_are_these():
    assert gf.metrics.__all__ == sorted(FAMILIES)


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize("name", FAMILIES)
def test_values_are_those_of_evaluate_arrays(put, name, k):
    for ties in rules(name):
        agree(put, name, batch(), ties, k)


@pytest.mark.parametrize(
    "gain", GAINS, ids=lambda gain: "function" if callable(gain) else str(gain)
)
@pytest.mark.parametrize("name", ["cg", "dcg", "ndcg"])
def test_every_gain(put, name, gain):
    for ties in rules(name):
        for k in (None, 3):
            agree(put, name, batch(1), ties, k, gain=gain)


def test_fractional_grades(put):
    scores, labels, mask = batch(2)
    for gain in ("exp2", {0.5: 1, -0.5: 0, 1: 2, 1.5: 4, 2: 8}):
        agree(put, "ndcg", (scores, labels / 2, mask), "average", 5, gain=gain)


@pytest.mark.parametrize("settings", DISCOUNTS, ids=str)
def test_every_discount(put, settings):
    for name in ("dcg", "ndcg"):
        for ties in rules(name):
            for k in (None, 4):
                agree(put, name, batch(3), ties, k, **settings)


@pytest.mark.parametrize("name", ["average_precision", "precision", "recall", "reciprocal_rank"])
def test_every_level_of_relevance(put, name):
    for rel in (-1, 0, 0.5, 2, 4, 5):
        for ties in rules(name):
            agree(put, name, batch(4), ties, 5, rel=rel)


def test_every_scale_of_err(put):
    for top in (4, 5.5, 10):
        agree(put, "err", batch(5), "order", None, max=top)


def test_single_precision_keeps_its_digits_in_long_lists(put):
    draw = np.random.default_rng(6)
    scores = np.round(draw.normal(size=(4, 3000)), 2)
    labels = (draw.random((4, 3000)) < 0.01) * 1
    data = scores.astype(np.float32).astype(np.float64), labels, np.ones(labels.shape, bool)
    for name in ("dcg", "ndcg", "average_precision", "reciprocal_rank"):
        for k in (None, 1500):
            agree(put, name, data, "average", k)


@pytest.mark.parametrize("name", FAMILIES)
def test_padding_and_leading_dimensions_change_nothing(eager, name):
    scores, labels, mask = batch(7)
    wide = [np.pad(array, ((0, 0), (3, 30))) for array in (scores, labels, mask)]
    deep = [array.reshape(5, 4, 3, -1) for array in (scores, labels, mask)]
    measure = getattr(gf.metrics, name)
    for ties in rules(name):
        for k in (None, 2, 20):
            plain = np.asarray(measure(*map(eager, (scores, labels, mask)), k=k, ties=ties))
            padded = measure(*map(eager, wide), k=k, ties=ties)
            np.testing.assert_allclose(np.asarray(padded), plain, rtol=1e-13, atol=1e-15)
            several = measure(*map(eager, deep), k=k, ties=ties)
            assert several.shape == (5, 4, 3)
            np.testing.assert_allclose(np.asarray(several).ravel(), plain, rtol=1e-13, atol=1e-15)
            one = measure(*(eager(array[10]) for array in (scores, labels, mask)), k=k, ties=ties)
            assert one.shape == ()
            np.testing.assert_allclose(float(one), plain[10], rtol=1e-13)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "err"])
def test_averaged_ties_do_not_see_the_order_of_the_input(eager, name):
    data = batch(8)
    order = np.random.default_rng(9).permuted(np.tile(np.arange(12), (60, 1)), axis=1)
    moved = [np.take_along_axis(array, order, axis=1) for array in data]
    measure = getattr(gf.metrics, name)
    found, again = (np.asarray(measure(*map(eager, each), k=5)) for each in (data, moved))
    np.testing.assert_allclose(again, found, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_selection_gives_what_a_sort_gives(monkeypatch, library, name):
    put = LIBRARIES[library]
    draw = np.random.default_rng(10)
    scores = draw.integers(-2, 3, (50, 64)) * np.where(draw.random((50, 64)) < 0.5, 1.0, -1.0)
    scores[0] = -np.inf  # a document all the same
    scores[1, ::2] = np.inf
    labels, mask = draw.integers(0, 5, (50, 64)), draw.random((50, 64)) < 0.7

    def at_every_cutoff(small_beside, arrays):
        def measured(*given):
            return [getattr(gf.metrics, name)(*given, k=k, ties="order") for k in (1, 5, 16)]

        monkeypatch.setattr(ranks_by_score, "_SMALL_BESIDE", small_beside)
        return (quickly_compiled(measured) if library == "jax" else measured)(*arrays)

    for dtype in (np.float32, np.float64):
        arrays = put(scores.astype(dtype)), put(labels), put(mask)
        selected, sorted_whole = at_every_cutoff(4, arrays), at_every_cutoff(10**9, arrays)
        for one, other in zip(selected, sorted_whole, strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(other))


def test_scores_of_minus_infinity_stand_above_what_is_no_document(put):
    scores, mask = put(np.array([-np.inf, -np.inf])), put(np.array([False, True]))
    for ties in ("average", "order"):
        found = gf.metrics.reciprocal_rank(scores, put(np.array([0, 1])), mask, ties=ties)
        assert float(found) == 1.0


def test_minus_infinity_is_the_lowest_score_and_in_evaluate_arrays_not_returned(put):
    scores, labels = np.array([[0.5, 0.9, -np.inf]]), np.array([[1.0, 0.0, 2.0]])
    low, mask = np.nan_to_num(scores, neginf=-1e30), np.isfinite(scores)
    for name in ("recall", "ndcg"):
        measured = getattr(gf.metrics, name)
        found = measured(put(scores), put(labels))
        assert float(found[0]) == float(measured(put(low), put(labels))[0])
        assert float(measured(put(scores), put(labels), put(mask))[0]) == pytest.approx(
            1 if name == "recall" else 1 / np.log2(3)
        )
    best, gain = 2 + 1 / np.log2(3), 1 / np.log2(3)
    assert float(found[0]) == pytest.approx((gain + 2 / 2) / best)
    means = gf.evaluate_arrays(labels=labels, scores=scores, measures=["R", "nDCG"]).means
    assert [*means.values()] == pytest.approx([1 / 2, gain / best])


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("name", FAMILIES)
def test_half_precision_is_summed_in_single(library, kind, name):
    scores, labels, mask = batch(11)
    half = getattr({"torch": torch, "jax": jnp}[library], kind)
    put = LIBRARIES[library]
    given = put(scores, dtype=half)
    found = getattr(gf.metrics, name)(given, put(labels, dtype=half), put(mask), k=5)
    single = put(given, dtype={"torch": torch, "jax": jnp}[library].float32)
    whole = getattr(gf.metrics, name)(single, put(labels), put(mask), k=5)
    assert found.dtype == half
    assert bool((found == put(whole, dtype=half)).all())


def test_perfect_orders_give_one(put):
    draw = np.random.default_rng(12)
    labels = draw.random((200, 500)).astype(np.float32)
    labels[100:] = labels[100:].round(1)  # equal grades share mean discounts, each rounded
    for dtype in (np.float32, np.float64):
        found = gf.metrics.ndcg(put(labels.astype(dtype)), put(labels), gain="exp2")
        assert (np.asarray(found) == 1).all()


def test_lists_without_documents_or_without_gain_give_zero(eager):
    for shape in ((3, 0), (0, 4), (2, 4)):
        scores, labels = eager(np.ones(shape)), eager(np.zeros(shape))
        for name in FAMILIES:
            found = getattr(gf.metrics, name)(scores, labels, k=2)
            assert found.shape == shape[:1]
            assert not np.asarray(found).any()


def test_what_cannot_be_measured_is_nan_in_its_list_alone(eager):
    scores, labels = np.array([[2.0, 1.0, np.nan], [3.0, 2.0, 1.0]]), np.array([[1.0, 0, 0]] * 2)
    for name in FAMILIES:
        measure = getattr(gf.metrics, name)
        assert np.isnan(np.asarray(measure(eager(scores), eager(labels), k=1))).tolist() == [
            True,
            False,
        ]
        swapped = measure(eager(scores[::-1].copy() * 0 + 1), eager(scores), k=1)
        assert np.isnan(np.asarray(swapped)[0])
    plain, grades = eager(np.array([[2.0, 1.0]] * 2)), eager(np.array([[1, 5], [1, 0]]))
    assert np.isnan(np.asarray(gf.metrics.err(plain, grades, k=1))).tolist() == [True, False]
    for name in ("cg", "dcg", "ndcg"):
        found = getattr(gf.metrics, name)(plain, grades, k=1, gain={1: 1})
        assert np.isnan(np.asarray(found)).tolist() == [True, False]


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_is_copied_to_the_host(name):
    # Tensors of the meta device have no numbers: whoever looks at one raises an error.
    scores = torch.empty((4, 30), device="meta", requires_grad=True)
    labels = torch.empty((4, 30), device="meta", requires_grad=True)
    mask = torch.empty((4, 30), device="meta", dtype=torch.bool)
    for ties in rules(name):
        for k in (None, 3):
            found = getattr(gf.metrics, name)(scores, labels, mask, k=k, ties=ties)
            assert found.device.type == "meta"
            assert found.shape == (4,)
            assert not found.requires_grad


def test_labels_have_no_gradient_in_jax_either():
    slope = jax.grad(lambda y: gf.metrics.dcg(jnp.array([2.0, 1.0]), y))(jnp.array([1.0, 3.0]))
    assert not slope.any()


@pytest.mark.parametrize("name", FAMILIES)
def test_under_the_transformations_of_the_libraries(name):
    data = [array[:6] for array in batch(13)]
    for ties, k in zip(rules(name), (3, None), strict=False):

        def measure(scores, labels, mask, ties=ties, k=k):
            return getattr(gf.metrics, name)(scores, labels, mask, k=k, ties=ties)

        @usually_compiled
        def both(*arrays, measure=measure):  # JAX compiles them in one piece
            return measure(*arrays), jax.vmap(measure)(*arrays)

        plain = measure(*data)
        for found in (
            *both(*map(jnp.asarray, data)),
            torch.func.vmap(measure)(*map(torch.asarray, data)),
        ):
            np.testing.assert_allclose(np.asarray(found), plain, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "fused"),
    # Kernels compute cg, dcg and ndcg alone.
    [*((name, False) for name in FAMILIES), ("cg", True), ("dcg", True), ("ndcg", True)],
)
def test_read_in_one_piece_by_torch_compile(name, fused, monkeypatch):
    """The compiler need leave nothing to Python; what it then runs is not compiled."""
    data = [torch.asarray(array) for array in batch(14)]
    for ties in rules(name):

        def measure(scores, labels, mask, ties=ties):
            return getattr(gf.metrics, name)(scores, labels, mask, k=3, ties=ties)

        with monkeypatch.context() as pretending:
            # Where a kernel could take the tensors, it is the plain code that is compiled.
            pretending.setattr(cumulated_gain, "fusible", lambda *_: fused)
            found = torch.compile(measure, backend="eager", fullgraph=True)(*data)
        torch.compiler.reset()
        np.testing.assert_allclose(found.numpy(), measure(*data).numpy(), rtol=1e-13, atol=1e-15)


# PyTorch's own compiler needs that of the system, which a user of the package need not have.
BUILDS = shutil.which(os.environ.get("CXX", "c++")) and Path(
    sysconfig.get_path("include"), "Python.h"
)
NATIVE = "inductor" if BUILDS and BUILDS.exists() else "aot_eager"


def test_compiled_to_machine_code():
    data = [torch.asarray(array) for array in batch(16)]

    def measure(scores, labels, mask):
        return gf.metrics.ndcg(scores, labels, mask, k=3)

    with warnings.catch_warnings():
        # What the compiler itself uses may be out of date.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        found = torch.compile(measure, backend=NATIVE, fullgraph=True)(*data)
    torch.compiler.reset()
    np.testing.assert_allclose(found.numpy(), measure(*data).numpy(), rtol=1e-13, atol=1e-15)


def test_masks_of_arrays_are_refused_and_cutoffs_in_arrays_are_read():
    scores, labels = np.array([[1.0, 2.0, 3.0]]), np.array([[1, 0, 2]])
    hidden = np.ma.array(scores, mask=[[0, 0, 1]])
    with pytest.raises(gf.errors.InputError, match="without a mask of its own"):
        gf.metrics.ndcg(hidden, labels)
    found = gf.metrics.ndcg(scores, labels, k=np.array(2))
    assert found == gf.metrics.ndcg(scores, labels, k=2)
    with pytest.raises(gf.errors.MeasureError, match="cutoff: expected a whole number"):
        gf.metrics.ndcg(scores, labels, k=np.array([2]))


def test_running_highest_without_one_in_the_library():
    values = np.random.default_rng(15).integers(0, 99, (20, 37))
    expected = np.maximum.accumulate(values, axis=-1)
    assert np.array_equal(ranks_by_score._highest_by_doubling(np, values), expected)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"scores": np.ones((2, 3), int)}, gf.errors.InputError, "scores: expected bfloat16"),
        ({"scores": np.float64(1)}, gf.errors.InputError, "scores: expected"),
        ({"scores": [[1.0, 2.0, 3.0]]}, gf.errors.InputError, "scores: expected an array of NumPy"),
        ({"scores": torch.ones(2, 3)}, gf.errors.InputError, "arrays of one library"),
        ({"labels": np.ones((2, 4))}, gf.errors.InputError, r"the shape of scores, \(2, 3\)"),
        ({"labels": np.ones((2, 3), complex)}, gf.errors.InputError, "labels: expected numbers"),
        ({"mask": np.ones((2, 3))}, gf.errors.InputError, "mask: expected booleans"),
        ({"mask": np.ones(3, bool)}, gf.errors.InputError, "mask: expected booleans"),
        ({"k": 0}, gf.errors.MeasureError, "cutoff"),
        ({"k": 2.5}, gf.errors.MeasureError, "cutoff"),
        ({"ties": "best"}, gf.errors.MeasureError, "ties: expected average or order"),
        ({"ties": "averge"}, gf.errors.MeasureError, "Did you mean 'average'"),
        ({"gain": "exp"}, gf.errors.MeasureError, "Did you mean 'exp2'"),
        ({"gain": lambda g: 1.0}, gf.errors.InputError, "an array of gains"),
        ({"discount": "logg"}, gf.errors.MeasureError, "Did you mean 'log'"),
        ({"base": 1}, gf.errors.MeasureError, "base"),
        ({"discount": "none", "base": 3}, gf.errors.MeasureError, "no base beside"),
    ],
)
def test_what_is_refused(change, error, message):
    given = {"scores": np.ones((2, 3)), "labels": np.ones((2, 3)), "mask": None} | change
    with pytest.raises(error, match=message):
        gf.metrics.ndcg(**given)


def test_err_says_that_it_cannot_average():
    with pytest.raises(gf.errors.InputError, match="Choose ties='order'"):
        gf.metrics.err(np.ones(3), np.ones(3), ties="average")


@pytest.mark.parametrize("missing", ["scores", "labels"])
def test_only_a_mask_may_be_none(missing):
    given = {"scores": np.zeros(3), "labels": np.zeros(3)} | {missing: None}
    with pytest.raises(gf.errors.InputError, match=f"{missing}: expected an array of NumPy"):
        gf.metrics.ndcg(**given)
    with pytest.raises(gf.errors.InputError, match=f"{missing}: expected an array of NumPy"):
        gf.metrics.precision(**given, k=2)
