"""The picture of a report on the first page of the documentation and in the README.

`make pictures` takes it anew. Otherwise it is taken and thrown away: what it shows, as text, must be what it showed
when it was written, whatever fonts and browsers make of it.
"""

import json
import re
import struct
from pathlib import Path

import gainful as gf

ROOT = Path(__file__).parents[2]
COOKING = ROOT / "examples" / "cooking"
PICTURE = ROOT / "docs" / "pictures" / "report.png"
TEXT = PICTURE.with_suffix(".json")
SIZE = (1100, 880)
LARGEST = 150_000  # bytes
PAGES = {"README.md": "docs/pictures/report.png", "docs/index.md": "pictures/report.png"}


# White pages on white paper need an edge.
FRAME = """() => {
    const frame = document.createElement("div");
    Object.assign(frame.style, {position: "fixed", inset: 0, border: "1px solid #c4c9d0", zIndex: 99});
    document.body.append(frame);
}"""


def report_of_the_start(folder):
    """Write the report that docs/start.md makes, and return its file."""
    runs = {name: COOKING / f"{name}.run" for name in ("keyword", "hybrid", "semantic")}
    made = gf.report(
        COOKING / "judgments.qrels",
        runs,
        "nDCG@10",
        queries=COOKING / "queries.tsv",
        docs=COOKING / "docs.tsv",
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


def test_the_picture_of_the_report(browser, tmp_path, pytestconfig):
    page = browser.new_page(viewport=dict(zip(("width", "height"), SIZE, strict=True)))
    page.goto(f"file://{report_of_the_start(tmp_path)}")
    page.wait_for_selector("#verdict .drawing:not(.waiting) svg")
    page.evaluate("document.fonts.ready")
    page.evaluate(FRAME)
    anew = pytestconfig.option.pictures
    file = PICTURE if anew else tmp_path / PICTURE.name
    page.screenshot(path=file, animations="disabled")
    text = shown(page)
    page.close()
    if anew:
        TEXT.write_text(json.dumps({"report": text}, indent=1, ensure_ascii=False) + "\n")
    assert text == json.loads(TEXT.read_text())["report"], "run `make pictures`"
    assert size_of(file) == size_of(PICTURE) == SIZE


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
