"""The table of slow tests names tests that exist, so that none is forgotten when a file moves."""

from pathlib import Path

import pytest

from slow_tests import RESOURCES, SLOW, shared_resource

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("start", [*SLOW, *(each for some in RESOURCES.values() for each in some)])
def test_entries_name_what_is_there(start):
    path, _, test = start.partition("::")
    assert (ROOT / path).exists()
    assert start in SLOW
    assert test.partition("[")[0] in (ROOT / path).read_text() if test else True


def test_what_shares_a_resource_runs_in_one_process():
    assert shared_resource("tests/browser/test_page_main.py::test_one") == "browser"
    assert shared_resource("tests/spark/test_stream.py::test_one") == "Spark"
    assert shared_resource("tests/cli/test_cli.py::test_one") is None
