"""Numbers read many at a time are those that Python reads one by one, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gainful.inputs.decimal_parsing import read_decimals

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


def test_many_that_are_long_are_left_to_another_reader():
    assert read(["0.12345678901234567"] * 2000) is None
    assert read(["0.12345678901234567"] * 20 + [FILLER] * 2000).size == 2020
