"""The experiment on the page "Why the logarithm": its values, its tables, and what the page says of them."""

import doctest
import importlib.util
import sys

import numpy as np
import pytest

import gainful as gf
from example_programs import EXAMPLES, run_here


@pytest.fixture(scope="module")
def script():
    path = EXAMPLES / "distinguishability.py"
    spec = importlib.util.spec_from_file_location("distinguishability", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def stored(script):
    return script.stored()


DISCOUNTS = {
    "1/log(i+1)": "log",
    "1/√i": "power(0.5)",
    "1/i": "reciprocal",
    "1/i²": "power(2)",
    "2^-i": lambda rank: 2.0**-rank,
}


@pytest.mark.parametrize("n", [1, 7, 40])
def test_the_values_are_those_of_gainful(script, n):
    rng = np.random.default_rng(n)
    lists = (rng.random((6, n)) < rng.random((6, 1))).astype(float)
    lists[0] = 0  # nothing relevant: 0 in both
    found = script.ndcg(lists)
    for place, name in enumerate(script.MEASURES):
        options = {"discount": DISCOUNTS.get(name, "log"), "k": script.depths(n).get(name, n)}
        if options["k"] == 0:  # ln 1
            continue
        expected = [gf.ndcg(row, **options) for row in lists]
        assert found[:, place] == pytest.approx(expected, abs=1e-12), name


def test_the_rankings_are_those_of_gainful(script):
    """One data set, from its features to who wins, by `evaluate_arrays`."""
    (pair, *_) = script.PAIRS
    u, v, relevant = script.data_sets(pair, 50, range(3), 1)
    wins, means = script.outcomes(pair, (20, 50), 3, 1)
    for at, n in enumerate((20, 50)):
        values = [
            gf.evaluate_arrays(
                labels=relevant[:, :n].astype(int),
                scores=feature[:, :n],
                measures=["nDCG", "nDCG@10"],
            ).values
            for feature in (u, v)
        ]
        for place, column in ((0, 0), (script.MEASURES.index("k = 10"), 1)):
            a, b = values[0][:, column], values[1][:, column]
            assert wins[:, at, place].tolist() == np.sign(a - b).tolist()
            assert means[at, place] == pytest.approx([a.mean(), b.mean()], abs=1e-12)


def test_a_shorter_data_set_is_the_beginning_of_a_longer_one(script):
    pair = script.PAIRS[2]
    short, long = (script.data_sets(pair, n, range(4, 6), 9) for n in (10, 30))
    for one, other in zip(short, long, strict=True):
        assert np.array_equal(one, other[:, :10])
    assert not np.array_equal(short[0][0], short[0][1])


def test_the_rows_of_the_page_are_found_again(script, stored):
    """All data sets, up to n = 300: what the page shows is what comes out, to the digit."""
    sizes = tuple(n for n in script.SIZES if n <= 300)
    assert (stored.seed, stored.data_sets, stored.sizes) == (
        script.SEED,
        script.DATA_SETS,
        script.SIZES,
    )
    again = script.experiment(sizes, script.DATA_SETS, script.SEED)
    for pair in script.PAIRS:
        assert again.won[pair.name] == stored.won[pair.name][: len(sizes)]
        assert (
            np.abs(np.subtract(again.mean[pair.name], stored.mean[pair.name][: len(sizes)])).max()
            < 2e-4
        )


def test_the_page_and_its_pictures_are_up_to_date(script, stored):
    page = script.PAGE.read_text(encoding="utf-8")
    assert script.renewed(page, stored) == page, "run examples/distinguishability.py --write"
    for name, text in script.pictures(stored).items():
        assert (script.UNDERSTAND / "pictures" / name).read_text(encoding="utf-8") == text
        assert f"](pictures/{name})" in page


def test_shares_by_hand(script):
    wins = np.array([[[1], [1]], [[-1], [1]], [[0], [-1]], [[1], [0]]], dtype=np.int8)
    assert script.share_won(wins).tolist() == [[0.625], [0.625]]
    # A wins both in the first alone, and the last one in two; B the last one in one.
    assert script.share_settled(wins).tolist() == [[0.25], [0.5]]


def test_curves_are_the_means_of_the_relevance(script):
    grid = (np.arange(400) + 0.5) / 400
    u, v = np.meshgrid(grid, grid, indexing="ij")
    for pair in script.PAIRS:
        chance = pair.relevance(u, v)
        assert chance.min() >= 0
        assert chance.max() <= 1
        assert pair.by_a(1 - grid) == pytest.approx(chance.mean(axis=1), abs=1e-3)
        assert pair.by_b(1 - grid) == pytest.approx(chance.mean(axis=0), abs=1e-3)


def test_limits_by_hand(script):
    found = script.limits(script.PAIRS[0])
    assert found["1/√i"] == pytest.approx((0.6 / 0.5**0.5, 0.55 / 0.5**0.5), abs=1e-6)
    assert found["1/i"] == pytest.approx((0.8, 0.65))
    assert found["k = n/5"] == pytest.approx((0.74, 0.62), abs=1e-6)
    assert found["k = 10"] is None


def test_values_come_near_their_limits(script, stored):
    for pair in script.PAIRS:
        last = dict(zip(script.MEASURES, stored.mean[pair.name][-1], strict=True))
        ends = script.limits(pair)
        assert last["1/√i"] == pytest.approx(ends["1/√i"], abs=0.01)
        # Here the logarithm is slow: the distance shrinks like 1/log n.
        deep = np.array(stored.mean[pair.name])[:, script.MEASURES.index("k = n/5")]
        off = np.abs(deep - ends["k = n/5"])
        assert (off[-1] < 0.025).all()
        assert (off[-1] < off[4]).all()
        a, b = np.array(stored.mean[pair.name])[:, 0].T  # the logarithm: up to 1, ever more slowly
        assert (np.diff(a[2:]) > 0).all()
        assert (np.diff(b[2:]) > 0).all()


def test_what_the_page_says_of_the_shares(script, stored):
    won = {
        pair.name: dict(zip(script.MEASURES, np.array(stored.won[pair.name])[-1], strict=True))
        for pair in script.PAIRS
    }
    top, alike, crossing = (won[pair.name] for pair in script.PAIRS)
    for name in ("1/log(i+1)", "1/√i", "k = n/5"):
        assert top[name] > 0.99, name
        assert alike[name] > 0.99, name
    assert 0.9 < top["1/i"] < 0.99
    assert alike["1/i"] < 0.65
    for name in ("1/i²", "2^-i", "k = 10", "k = ln n"):
        assert top[name] < 0.8, name
        assert alike[name] < 0.6, name
    assert top["k = √n"] > 0.99
    assert alike["k = √n"] < 0.6
    # Consistent, and of two minds.
    assert (crossing["1/log(i+1)"], crossing["1/√i"]) == (0, 1)


def test_the_program():
    code, printed = run_here("distinguishability.py", "--quick")
    assert code == 0
    assert printed.count("| better at the top, 1,000 |") == 3
    assert "| limit | 1.000 and 1.000 |" in printed


@pytest.mark.parametrize(
    "arguments", [["--data-sets", "0"], ["--largest", "3"], ["--quick", "--write"]]
)
def test_calls_that_cannot_be(arguments, capsys):
    code, _ = run_here("distinguishability.py", *arguments)
    assert code == 2
    assert "error: " in capsys.readouterr().err


def test_examples_in_the_program(script):
    failed, tried = doctest.testmod(script)
    assert (failed, bool(tried)) == (0, True)
