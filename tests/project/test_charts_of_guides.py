"""The charts of the guides are there in both colour schemes, and say today's numbers in words."""

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def charts():
    spec = importlib.util.spec_from_file_location("guide_charts", DOCS / "guide_charts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_say_in_words_what_a_chart_shows(charts):
    expected = charts.texts()
    shown = {}
    for page in (DOCS / "guides").glob("*.md"):
        for words, name in re.findall(r"!\[([^]]*)\]\(charts/(\w+)\.svg\)", page.read_text()):
            assert words == expected[name], page.name
            shown[name] = page
    assert {*shown} == {*expected}


def test_each_chart_is_there_in_both_schemes(charts):
    files = {f"{name}{suffix}.svg" for name in charts.texts() for suffix in charts.THEMES.values()}
    assert {path.name for path in charts.FOLDER.iterdir()} == files
