"""Numbers read many at a time are those that Python reads one by one, to the last bit."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gainful.rows.decimal_parsing import read_decimals

FILLER = "1.5"


def read(texts):
    joined = b"x" * 16 + b" ".join(text.encode() for text in texts) + b" " * 16
    content = np.frombuffer(joined, np.uint8)
    words = np.ndarray((content.size - 7,), np.uint64, joined, strides=(1,))
    lengths = np.array([len(text.encode()) for text in texts])
    starts = 16 + np.cumsum(lengths + 1) - lengths - 1
    return read_decimals(content, words, starts, starts + lengths)


decimals = st.one_of(
    st.from_regex(r"[-+]?[0-9]{1,17}", fullmatch=True),
    st.from_regex(r"[-+]?[0-9]{0,9}\.[0-9]{1,9}", fullmatch=True),
    st.from_regex(r"[-+]?[0-9]{1,4}\.", fullmatch=True),
    st.floats(-1e6, 1e6).map(lambda number: f"{number:.6f}"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)


@given(st.lists(decimals, min_size=1, max_size=60))
def test_every_number_is_the_nearest(texts):
    found = read(texts)
    assert found is not None
    assert found.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    "texts", [["-0", "1", "-0.0"], ["1", "-0", "+0.5"], ["2", "-0e3", "-1e-2"]]
)
def test_signs_that_come_late_are_seen_and_zero_has_none(texts):
    found = read(texts)
    assert found.tolist() == [float(text) for text in texts]
    assert np.signbit(found).tolist() == [float(text) < 0 for text in texts]


@pytest.mark.parametrize("count", [8, 16])
def test_lengths_around_the_words(count):
    digits = "9" * count
    texts = [digits[:place] + "." + digits[place:] for place in range(count)] + [digits[:-1]]
    texts += [text[1:] for text in texts] + [FILLER]
    assert read(texts).tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    ["-", "+", ".", "-.", "1.2.3", "1..2", "--1", "1-2", "+-1", "abc", "1,5", "1:2", "/", "0x1F",
     "nan", "inf", "-inf", "1e999", "é", "1.5e", "12345678901234567890x"],
)  # fmt: skip
def test_what_is_no_finite_number_is_not_read(text):
    assert read([FILLER] * 20 + [text]) is None
    assert read([text]) is None


def in_the_middle(rng):
    """Write a number between two float64, or one near it, with at most 19 digits."""
    if rng.random() < 0.95:  # those are read one by one, of which there may be few
        return as_python_writes(rng)
    power = rng.randrange(1, 4)  # 2^53 / 2^power has so many binary places, and the middle one more
    middle = (2 * rng.randrange(2**52, 2**53) + 1) * 5 ** (power + 1)
    text = str(middle + rng.choice((-1, 0, 0, 1)))
    return f"{text[: -power - 1]}.{text[-power - 1 :]}"


def of_digits(rng):
    digits = "".join(rng.choices("0123456789", k=rng.randrange(16, 20)))
    place = rng.randrange(len(digits) + 1)
    return rng.choice(("", "-", "+", "0", "-00")) + f"{digits[:place]}.{digits[place:]}"


def beside_a_power_of_two(rng):
    power = 2.0 ** rng.randrange(-12, 30)
    return repr(float(np.nextafter(power, rng.choice((0.0, power, np.inf)))))


def as_python_writes(rng):
    return repr(rng.choice((rng.random(), rng.uniform(-50, 50), rng.gauss(0, 1e-3))))


@pytest.mark.parametrize(
    "made", [in_the_middle, of_digits, beside_a_power_of_two, as_python_writes]
)
def test_long_numbers_are_the_nearest(made):
    rng = random.Random(made.__name__)  # noqa: S311
    texts = [made(rng) for _ in range(4_000)]
    assert read(texts).tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("text", ["1.5e-05", "12345678901234567", "0." + "123456789" * 3])
def test_many_that_are_long_are_left_to_another_reader(text):
    assert read([text] * 2000) is None
    assert read([text] * 20 + [FILLER] * 2000).tolist() == [float(text)] * 20 + [1.5] * 2000
