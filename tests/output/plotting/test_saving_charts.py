"""Charts as files: every ending, without a network."""

import io
import json
import pathlib
import re
import sys

import pytest
from chart_rows import CURVE, EVERY

import gainful as gf
from every_case import assert_every_case
from gainful.output.plotting import charts

MAGIC = {"png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-", "svg": b"<svg", "html": b"<!DOCTYPE html>"}


@pytest.mark.parametrize("name", EVERY)
def test_every_chart_as_every_kind_of_file(name, tmp_path):
    chart = getattr(charts, name)(EVERY[name])

    def check(ending):
        path = tmp_path / f"chart.{ending}"
        chart.save(path)
        assert path.read_bytes().lstrip().startswith(MAGIC[ending])

    assert_every_case(check, MAGIC)


@pytest.fixture(scope="module")
def chart():
    return charts.curve(CURVE)


def test_a_page_needs_no_network(chart, tmp_path):
    path = tmp_path / "chart.html"
    chart.save(path)
    text = path.read_text()
    assert not re.search(r"<(script|link)[^>]*(src|href)=", text)
    assert "vegaEmbed" in text
    assert '"zeta"' in text


def test_the_path_may_be_text_and_the_ending_in_capitals(chart, tmp_path):
    chart.save(str(tmp_path / "CHART.SVG"))
    assert "<svg" in (tmp_path / "CHART.SVG").read_text()
    chart.save(tmp_path / "chart.json")
    assert json.loads((tmp_path / "chart.json").read_text())["data"]["values"] == CURVE


def test_an_open_file_with_a_format(chart):
    file = io.BytesIO()
    chart.save(file, format="png")
    assert file.getvalue().startswith(MAGIC["png"])


def test_a_picture_is_twice_as_fine_unless_told(chart, tmp_path):
    chart.save(tmp_path / "two.png")
    chart.save(tmp_path / "one.png", scale_factor=1)
    two, one = (
        int.from_bytes((tmp_path / f"{name}.png").read_bytes()[16:20]) for name in ("two", "one")
    )
    assert two == 2 * one


@pytest.mark.parametrize(("name", "found"), [("chart.gif", "'.gif'"), ("chart", "no ending")])
def test_another_ending_is_refused_with_those_there_are(chart, tmp_path, name, found):
    with pytest.raises(gf.errors.InputError) as caught:
        chart.save(tmp_path / name)
    assert f"found {found}" in str(caught.value)
    assert "Choices: .png, .svg, .pdf, .html, .json." in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_open_file_without_a_format_is_refused(chart):
    with pytest.raises(gf.errors.InputError, match=r"Choices: \.png"):
        chart.save(io.BytesIO())


def test_without_the_converter_the_error_names_what_to_install(chart, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(gf.errors.MissingDependencyError, match=r"pip install '\.\[report\]'"):
        chart.save(tmp_path / "chart.png")


def test_a_changed_chart_saves_the_same_way(chart, tmp_path):
    chart.properties(title="Another title").save(tmp_path / "chart.html")
    text = (tmp_path / "chart.html").read_text()
    assert "Another title" in text
    assert not re.search(r"<script[^>]*src=", text)


@pytest.mark.parametrize("ending", ["png", "svg", "html", "json"])
def test_a_path_that_cannot_be_written(chart, tmp_path, ending):
    path = tmp_path / "nodir" / f"chart.{ending}"
    with pytest.raises(gf.errors.InputError) as caught:
        chart.save(path)
    told = f"{path}: expected a file that can be written, found No such file or directory."
    assert str(caught.value) == told
    (tmp_path / f"folder.{ending}").mkdir()
    with pytest.raises(
        gf.errors.InputError, match="a file that can be written, found Is a directory"
    ):
        chart.save(str(tmp_path / f"folder.{ending}"))
    with pytest.raises(
        gf.errors.InputError, match="a file that can be written, found embedded null"
    ):
        chart.save(f"a\0b.{ending}")


def test_an_old_file_stays_where_a_chart_cannot_be_drawn(chart, tmp_path):
    path = tmp_path / "chart.svg"
    path.write_text("old")
    with pytest.raises(ValueError, match="Unexpected end of input"):
        chart.transform_filter("(").save(path)
    assert path.read_text() == "old"


@pytest.mark.parametrize("ending", ["png", "svg", "html", "json"])
def test_an_old_file_stays_where_a_chart_cannot_be_written(chart, tmp_path, ending, monkeypatch):
    path = tmp_path / f"chart.{ending}"
    path.write_text("old")

    def fill_the_disk(self, content):
        with self.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_bytes", fill_the_disk)
    with pytest.raises(
        gf.errors.InputError, match="a file that can be written, found No space left"
    ):
        chart.save(path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(path.name, "old")]


HOSTILE = "</script><script>alert(1)</script><!-- & -->"


def test_no_text_of_the_rows_ends_the_script_of_a_page(tmp_path):
    chart = charts.curve([{"run": HOSTILE, "k": 1, "value": 0.5}], measure=HOSTILE)
    chart.save(tmp_path / "chart.html")
    shown = chart._repr_mimebundle_()["text/html"]
    for page in ((tmp_path / "chart.html").read_text(), chart.to_html(), shown):
        assert "alert(1)" in page
        assert "<script>alert(1)" not in page
        assert r"\u003c/script\u003e\u003cscript\u003ealert(1)" in page
