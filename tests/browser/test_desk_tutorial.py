"""The tutorial of the judging desk, done in a browser; its pictures are taken on the way.

`make pictures` writes the pictures anew. Otherwise they are taken and thrown away: what a picture shows, as text, must be
what it showed when it was written, whatever fonts and browsers make of it.
"""

import doctest
import hashlib
import itertools
import json
import re
import struct
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

import gainful as gf
from desk_server import desk

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "judging_desk_tutorial.md"
PICTURES = ROOT / "docs" / "pictures"
TEXTS = PICTURES / "desk.json"
SIZES = {
    "desk_setup": (1100, 960),
    "desk_assessors": (1100, 560),
    "desk_assessor": (1100, 720),
    "desk_phone": (390, 780),
    "desk_results": (1100, 560),
    "desk_settle": (1100, 640),
}
DARK_ALONE = {"desk_phone"}
FILES = {*SIZES, *(f"{name}_dark" for name in {*SIZES} - DARK_ALONE)}
LARGEST = 150_000  # bytes
COOKING = ROOT / "examples" / "cooking"


@pytest.fixture(scope="module")
def story():
    """What the page has made in the end when its Python is run: its names, and its exported grades."""
    test = doctest.DocTestParser().get_doctest(PAGE.read_text(), {}, PAGE.name, str(PAGE), 0)
    code = [each.source for each in test.examples]
    names = {}
    for source in code[: next(place for place, each in enumerate(code) if "study.export" in each)]:
        exec(source, names)  # noqa: S102 - the documentation runs it, too
    found = dict(names["study"].judgments())
    names["study"].close()
    return names, found


class Clock:
    """The time of a study, which goes on when somebody judges."""

    def __init__(self, study):
        self.now = 1_800_000_000.0
        study._now = lambda: self.now


class Pictures:
    """Pictures of pages, and what they show."""

    def __init__(self, folder):
        self.folder, self.texts = folder, {}

    def take(self, page, name):
        page.set_viewport_size(dict(zip(("width", "height"), SIZES[name], strict=True)))
        page.evaluate("document.fonts.ready")
        page.screenshot(path=self.folder / f"{name}.png", animations="disabled")
        if name not in DARK_ALONE:
            page.emulate_media(color_scheme="dark")
            page.screenshot(path=self.folder / f"{name}_dark.png", animations="disabled")
            page.emulate_media(color_scheme="light")
        self.texts[name] = re.sub(r"\s+", " ", page.inner_text("body")).strip()


def judge(study, clock, people, least):
    """Have people judge in turn until they have given so many grades."""
    given = 0
    while given < least:
        for name, grade_of in people.items():
            for task in study.assessor(name).next(1):
                clock.now += 5 + (task.item * 7) % 9
                grade = (
                    next(each.answer for each in study.practice_set if each.item == task.item)
                    if task.practice
                    else grade_of(task)
                )
                study.assessor(name).grade(task.item, grade, key=f"{name} {clock.now} {task.item}")
                given += not task.practice
        if given % 100 == 0:
            study._reorder(least=0)
    study._reorder(least=0)


def test_the_tutorial_in_a_browser(opened_at, until, story, tmp_path, pytestconfig, monkeypatch):
    names, expected = story
    anew = pytestconfig.option.pictures
    pictures = Pictures(PICTURES if anew else tmp_path)
    numbers = itertools.count(1)
    monkeypatch.setattr(
        "gainful.judging.desk.study.secrets.token_urlsafe",
        lambda size: urlsafe_b64encode(
            hashlib.sha256(str(next(numbers)).encode()).digest()[:size]
        ).decode()[:43],
    )
    runs = {name: COOKING / f"{name}.run" for name in ("keyword", "hybrid")}
    made = gf.judging.Study.create(
        ":memory:",
        runs,
        queries=COOKING / "queries.tsv",
        docs=COOKING / "docs.tsv",
        depth=10,
        overlap=2,
        title="Cooking",
        guideline=(COOKING / "guideline.txt").read_text().strip(),
    )
    clock = Clock(made)
    with desk(made) as own:
        lead = opened_at(own.link("lea", "lead"), viewport={"width": 1100, "height": 720})
        show(lead, "#grades-part")
        lead.fill("[data-grade='3'] .word", "the dish itself")
        lead.click("#grades-form button")
        until(lead, "document.querySelector('#grades-said').textContent", "Saved.")
        lead.set_input_files("#practice-answers", COOKING / "practice.csv")
        lead.click("#practice button")
        until(lead, "document.querySelector('#practice-said').textContent.includes('3 documents')")
        show(lead, "#settings-part")
        pictures.take(lead, "desk_setup")

        ann = opened_at(own.link("ann"), viewport={"width": 1100, "height": 720})
        for key in "310":  # those of practice, the second wrong
            ann.keyboard.press(key)
        until(ann, "document.querySelector('#feedback').textContent.includes('2, relevant')")
        until(ann, "document.querySelector('#saved').dataset.state", "saved")
        until(ann, "document.querySelector('#practice').hidden")
        pictures.take(ann, "desk_assessor")

        people = {"ann": names["ann"], "bob": names["bob"]}
        own.study.invite("bob")
        judge(made, clock, people, 160)
        show(lead, "#invite-part")
        lead.fill("#invite-name", "cem")
        lead.click("#invite button")
        until(lead, "document.querySelector('#invited').hidden", False)
        lead.evaluate(
            "() => { const link = document.querySelector('#invited code');"
            " link.textContent = link.textContent.replace(/:\\d+/, ':8765'); }"
        )
        until(lead, "document.querySelector('#assessors').textContent.includes('cem')")
        settled(lead, until, made)
        show(lead, "#invite-part")
        pictures.take(lead, "desk_assessors")
        show(lead, "#overview")
        pictures.take(lead, "desk_results")

        phone = opened_at(
            own.link("bob"),
            viewport={"width": 390, "height": 780},
            color_scheme="dark",
            has_touch=True,
        )
        phone.tap("#open-view")
        until(phone, "document.querySelectorAll('#list li').length > 3")
        pictures.take(phone, "desk_phone")

        judge(made, clock, people, 720 - made.progress().grades)
        assert made.progress().done == 360
        settled(lead, until, made)
        show(lead, "#disputed-part")
        pictures.take(lead, "desk_settle")
        # The lead settles the first on the page, and the others in the same way.
        before = made.disputed()
        grade = before[0].grades["ann"]
        lead.locator("#disputed li").first.get_by_role("button").nth(int(grade)).click()
        until(
            lead, f"document.querySelector('#disputed-count').textContent === '{len(before) - 1}'"
        )
        for dispute in made.disputed():
            made.lead("lea").adjudicate(dispute.item, dispute.grades["ann"], key=str(dispute.item))
        show(lead, "#data")
        with lead.expect_download() as download:
            lead.click("#export button")
        download.value.save_as(tmp_path / "merged-judgments.qrels")
    # The page says of its own study what is true of this one.
    assert dict(made_of(tmp_path / "merged-judgments.qrels")) == expected
    if anew:
        TEXTS.write_text(json.dumps(pictures.texts, indent=1, ensure_ascii=False) + "\n")
    written = json.loads(TEXTS.read_text())
    for name in SIZES:
        assert pictures.texts[name] == written[name], f"{name}: run `make pictures`"
    for name in FILES:
        assert size_of(pictures.folder / f"{name}.png") == SIZES[name.removesuffix("_dark")]
    assert [*written] == [*pictures.texts]


def show(page, part):
    page.evaluate(f"document.activeElement.blur(); location.hash = '{part}'")
    page.wait_for_selector(part)
    page.evaluate("document.activeElement.blur()")


def settled(page, until, study):
    """Wait until the page shows what was measured last."""
    page.evaluate("document.activeElement.blur()")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # which looks at once
    grades = study.progress().grades
    until(page, f"document.querySelector('#count').textContent.endsWith(' {grades} grades')")
    until(page, "document.body.dataset.measured", str(grades))
    disputed = len(study.disputed())
    until(page, "Number(document.querySelector('#disputed-count').textContent)", disputed)


def made_of(path):
    found = {}
    for line in path.read_text().splitlines():
        query, _, doc, grade = line.split()
        found.setdefault(query, {})[doc] = float(grade)
    return found


def size_of(path):
    """Return the width and height of a PNG."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    assert len(data) < LARGEST, f"{path.name} has {len(data):,} bytes"
    return struct.unpack(">II", data[16:24])


def test_the_pictures_are_those_of_the_page():
    named = re.findall(r"!\[[^]]+\]\(../pictures/(\w+)\.png\)", PAGE.read_text())
    assert sorted(named) == sorted(SIZES)
    assert {each.stem for each in PICTURES.glob("desk_*.png")} == FILES
    for name in FILES:
        assert size_of(PICTURES / f"{name}.png") == SIZES[name.removesuffix("_dark")]
