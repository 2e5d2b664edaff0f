"""Tests that try many cases fail with each case that fails."""

import pytest

from every_case import assert_every_case


def test_every_failure_is_told_and_the_other_cases_are_tried():
    tried = []

    def check(case):
        tried.append(case)
        if case == "unrefused":
            with pytest.raises(KeyError):
                tried.copy()
        if case == "broken":
            raise ValueError("a reason")
        assert case != "wrong", "another reason"

    with pytest.raises(AssertionError) as failed:
        assert_every_case(check, ["good", "wrong", "broken", "unrefused", "fine"])
    assert tried == ["good", "wrong", "broken", "unrefused", "fine"]
    told = str(failed.value)
    for words in ("3 failed", "wrong:", "another reason", "broken:", "ValueError: a reason"):
        assert words in told
    assert "DID NOT RAISE" in told
    assert "good:" not in told


def test_cases_that_are_all_good_pass():
    assert_every_case(lambda case: None, [1, 2])
