"""The charts of the documentation show today's numbers, to everybody."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


sys.path.insert(0, str(DOCS))
import charts  # noqa: E402
import drawing  # noqa: E402
import guide_pictures  # noqa: E402

sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def drawn():
    return {**charts.drawn(), **guide_pictures.drawn()}


def test_charts_are_up_to_date(drawn):
    files = [path for folder in (charts.FOLDER, guide_pictures.FOLDER) for path in folder.glob("*")]
    assert sorted(files) == sorted(drawn)
    for path, svg in drawn.items():
        assert path.read_text() == svg, "run `make docs`"


def test_pages_say_in_words_what_a_chart_shows(drawn):
    shown = set()
    for page in DOCS.rglob("*.md"):
        text = page.read_text()
        assert drawing.described(text, page.parent, drawn) == text, "run `make docs`"
        links = re.findall(r"!\[[^]]{40,}\]\(([\w/.]+\.svg)\)", text)
        shown |= {(page.parent / link).resolve() for link in links}
    assert shown >= {*drawn}


def test_every_guide_has_a_picture():
    for page in (DOCS / "guides").glob("*.md"):
        assert re.search(r"!\[[^]]{20,}\]\([\w/.]+\.(svg|png)\)", page.read_text()), page.name


def test_an_old_text_is_noticed(drawn):
    old = "![an old text](charts/cumulated.svg)"
    described = drawing.described(old, charts.FOLDER.parent, drawn)
    assert "0.785" in described
    assert described != old


def test_a_chart_stays_in_its_frame(drawn):
    for path, svg in drawn.items():
        root = ET.fromstring(svg)  # noqa: S314 - drawn here
        assert root.find(f"{SVG}title").text
        assert len(root.find(f"{SVG}desc").text) > 40
        for each in root.iter(f"{SVG}text"):
            # Letters are at most 9 px wide on average, in the fonts that browsers take for system-ui.
            room = 9 * len(each.text)
            anchor = each.get("class", "").partition(" ")[0]
            middle = {"middle": room / 2, "end": room}.get(anchor, 0)
            assert float(each.get("x")) - middle > 0, path.name
            assert float(each.get("x")) - middle + room < drawing.WIDTH + room / 4, path.name
            assert 0 < float(each.get("y")) < float(root.get("height")), path.name


def test_values_worked_by_hand_are_in_the_charts(drawn):
    svg = drawn[charts.FOLDER / "contributions.svg"]
    assert (
        "3.000, 1.262, 1.500, 0.000, 0.387, 0.712" in svg
    )  # 3, 2/log2 3, 3/2, 0, 1/log2 6, 2/log2 7
    assert "3.000, 1.893, 1.500, 0.861, 0.774, 0.712" in svg
    assert "6: 0.785" in drawn[charts.FOLDER / "cumulated.svg"]  # 6.861/8.740
    assert "mean is 0.810" in drawn[charts.FOLDER / "orders.svg"]
    assert "1.000, 0.613, 0.469, 0.390, 0.339" in drawn[charts.FOLDER / "one_and_five.svg"]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_charts_can_be_read_by_day_and_by_night(dark):
    day, night = drawing.STYLE.split("@media")
    style = night if dark else day
    found = dict(re.findall(r"(\S+) \{ (?:fill|stroke): (#\w{6})", style))
    assert contrast(found["text"], found[".card"]) > 7
    for line in (".axis", ".c0", ".c1", ".c2", ".c3"):
        assert contrast(found[line], found[".card"]) > 4.5
    assert round(contrast("#000000", "#ffffff")) == 21
