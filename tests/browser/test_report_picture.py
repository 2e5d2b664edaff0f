"""The picture of a report on the first page of the documentation and in the README.

`make pictures` takes it anew. Otherwise it is taken and thrown away: what it shows, as text, must be what it showed
when it was written, whatever fonts and browsers make of it.
"""

import json
import re
import struct
from pathlib import Path

import pytest

import gainful as gf

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "src" / "gainful" / "cli" / "demo_files"
FOLDER = ROOT / "docs" / "pictures"
PICTURES = {"light": FOLDER / "report.png", "dark": FOLDER / "report_dark.png"}
TEXT = FOLDER / "report.json"
SIZE = (1100, 880)
LARGEST = 150_000  # bytes
PAGES = {"README.md": "docs/pictures/report.png", "docs/index.md": "pictures/report.png"}


# A page on a page of the same colour needs an edge.
FRAME = """() => {
    const frame = document.createElement("div");
    Object.assign(frame.style, {position: "fixed", inset: 0, border: "1px solid #8a919c", zIndex: 99});
    document.body.append(frame);
}"""


def report_of_the_start(folder):
    """Write the report that docs/start.md makes, and return its file."""
    runs = {name: DEMO / f"{name}.csv" for name in ("keyword", "semantic", "hybrid")}
    made = gf.report(
        DEMO / "judgments.csv",
        runs,
        "nDCG@10",
        queries=DEMO / "queries.csv",
        docs=DEMO / "docs.csv",
        title="Which recipe search is best?",
        created="2026-11-17",
    )
    path = folder / "report.html"
    made.write(path)
    return path


def shown(page):
    """Return the text on the picture: the heading, and the verdict."""
    texts = [page.inner_text(part) for part in ("header", "nav", "#verdict")]
    return re.sub(r"\s+", " ", " ".join(texts)).strip()


@pytest.mark.parametrize("scheme", PICTURES)
def test_the_picture_of_the_report(browser, tmp_path, pytestconfig, scheme):
    viewport = dict(zip(("width", "height"), SIZE, strict=True))
    page = browser.new_page(viewport=viewport, color_scheme=scheme)
    page.goto(f"file://{report_of_the_start(tmp_path)}")
    page.wait_for_selector("#verdict .drawing:not(.waiting) svg")
    page.evaluate("document.fonts.ready")
    page.evaluate(FRAME)
    anew = pytestconfig.option.pictures
    file = PICTURES[scheme] if anew else tmp_path / PICTURES[scheme].name
    page.screenshot(path=file, animations="disabled")
    text = shown(page)
    page.close()
    if anew:
        TEXT.write_text(json.dumps({"report": text}, indent=1, ensure_ascii=False) + "\n")
    # The button of the header shows the sun in the dark, and the moon in the light.
    written = json.loads(TEXT.read_text())["report"]
    assert text.replace("☀", "☾") == written.replace("☀", "☾"), "run `make pictures`"
    assert size_of(file) == size_of(PICTURES[scheme]) == SIZE


def size_of(path):
    """Return the width and height of a PNG."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    assert len(data) < LARGEST, f"{path.name} has {len(data):,} bytes"
    return struct.unpack(">II", data[16:24])


def test_pages_show_the_picture_and_say_what_is_on_it():
    for name, target in PAGES.items():
        (words,) = re.findall(rf"!\[([^]]+)\]\({target}\)", (ROOT / name).read_text())
        assert "hybrid" in words
        assert len(words) > 80
