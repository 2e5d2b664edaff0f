"""Numbers written many at a time are those that `repr` writes one at a time."""

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gainful.output.writing.shortest_decimals import WIDTH, shortest_decimals


def texts(values):
    cells = shortest_decimals(np.asarray(values, np.float64))
    return [row.tobytes().replace(b"\0", b"").decode() for row in cells]


def assert_as_repr(values):
    values = np.asarray(values, np.float64)
    assert texts(values) == [repr(value) for value in values.tolist()]


def assert_as_the_engine(values):
    """The same as in the other formats, which the engine writes."""
    values = np.asarray(values, np.float64)
    with duckdb.connect() as connection:
        connection.register("numbers", {"value": values})
        rows = connection.execute("SELECT value::VARCHAR FROM numbers").fetchall()
    assert texts(values) == [text for (text,) in rows]


def drawn(size):
    """Numbers of every kind: sums, decimals, whole numbers, any bits."""
    rng = np.random.default_rng(size)
    ranks = rng.integers(1, 1000, (3, size))
    bits = rng.integers(0, 2**63, size, dtype=np.uint64).view(np.float64)
    return {
        "below 1": rng.random(size),
        "fused": (1 / (60 + ranks)).sum(axis=0),
        "squares": (1 / ranks**2.0).sum(axis=0),
        "any size": 10 ** rng.uniform(-6, 17, size) * rng.choice([-1, 1], size),
        "small": 10 ** rng.uniform(-300, -3, size) * rng.choice([-1, 1], size),
        "small decimals": [
            float(f"{digits}e-{power}")
            for digits, power in zip(
                rng.integers(1, 10 ** rng.integers(1, 17, size)).tolist(),
                rng.integers(5, 290, size).tolist(),
                strict=True,
            )
        ],
        "powers": 0.2 * (0.8 ** (ranks - 1.0)).sum(axis=0),
        "whole": rng.integers(-(10**6), 10**6, size),
        "halves": rng.integers(-(10**6), 10**6, size) / 2,
        "decimals": np.round(rng.random(size) * 100, 6),
        "16 digits": rng.integers(10**15, 10**16, size) / 10.0 ** rng.integers(1, 19, size),
        "17 digits": rng.integers(10**16, 10**17, size) / 10.0 ** rng.integers(2, 20, size),
        "any bits": bits[np.isfinite(bits)],
    }


@pytest.mark.parametrize("kind", drawn(1))
def test_numbers_are_written_as_repr_writes_them(kind):
    values = drawn(20_000)[kind]
    assert_as_repr(values)
    assert_as_the_engine(values)


def test_edges():
    steps = np.array(
        [float(f"{digit}e{power}") for power in range(-320, 20) for digit in (1, 2, 5)]
    )
    assert_as_repr(np.concatenate([steps, np.nextafter(steps, 0), np.nextafter(steps, np.inf)]))
    assert_as_repr(-steps)
    twos = 2.0 ** np.arange(-1074, 1024)
    assert_as_repr(np.concatenate([twos, np.nextafter(twos, 0), np.nextafter(twos, np.inf), -twos]))
    assert_as_repr([0.0, 0.5, 1.0, 9.0, 10.0, 0.0001, 0.00011, 999999999999999.9, 1e15, 1e16])
    assert_as_repr([5e-324, -2.2250738585072014e-308, 1.7976931348623157e308])
    assert max(map(len, texts([-2.2250738585072014e-308]))) == WIDTH


def test_none():
    assert shortest_decimals(np.empty(0)).shape == (0, 3)


@settings(max_examples=300)
@given(
    arrays(np.float64, st.integers(1, 5), elements=st.floats(allow_nan=False, allow_infinity=False))
)
def test_any_number_reads_back(values):
    found = texts(values + 0.0)
    assert [float(text) for text in found] == values.tolist()
    assert found == [repr(value) for value in (values + 0.0).tolist()]
