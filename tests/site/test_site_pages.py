"""Everybody can read every page of the built site: `make site-check`.

axe-core scans each in the light and in the dark, and some at the width of a phone. No page scrolls sideways, is longer
than twelve screens, has an error, or asks for anything that is not of the site.
"""

from pathlib import Path

import pytest

from accessibility import axe_source, findings
from chromium import launched

SITE = Path(__file__).parents[2] / "site"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
SERVED = "http://gainful.invalid/"  # the site as a server has it
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
EACH = 6  # one page in so many is scanned at the width of a phone
# The rules that colours can break; the others hold in the dark where they hold in the light.
COLOURS = ["color-contrast", "link-in-text-block"]
SCREENS = "document.documentElement.scrollHeight / innerHeight"
LONGEST = 12  # screens of a page; copies of files may be longer
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
# The theme puts tables into frames that scroll, after the page is loaded.
FRAMED = "!document.querySelector('.md-typeset table:not([class], .md-typeset__table > *)')"


@pytest.fixture(scope="module")
def tabs():
    """Return a tab for the light and one for the dark: the theme remembers which it was."""

    def answer(route):
        route.fulfill(path=SITE / route.request.url.removeprefix(SERVED).partition("?")[0])

    with launched() as chromium:
        found = {
            scheme: chromium.new_context(color_scheme=scheme).new_page()
            for scheme in ("light", "dark")
        }
        for tab in found.values():
            tab.route(f"{SERVED}**", answer)
        yield found


@pytest.fixture
def opened(tabs):
    said, asked = [], []

    def say(message):
        if message.type in ("error", "warning"):
            said.append(message.text)

    watched = {
        "console": say,
        "pageerror": lambda error: said.append(str(error)),
        "request": lambda request: asked.append(request.url),
    }

    def opening(page, *, viewport=WIDE, scheme="light"):
        tab = tabs[scheme]
        tab.set_viewport_size(viewport)
        # The page for addresses that do not exist has links from the root of a server.
        tab.goto(f"{SERVED}{page}" if page == "404.html" else f"file://{SITE / page}")
        tab.wait_for_function(FRAMED)
        return tab

    for tab in tabs.values():
        for event, watch in watched.items():
            tab.on(event, watch)
    yield opening
    for tab in tabs.values():
        for event, watch in watched.items():
            tab.remove_listener(event, watch)
    assert said == []
    own = (f"file://{SITE}/", SERVED, "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []


def faults(page, **options):
    # Style sheets are not read once more: a page that is a file may read no other.
    return findings(page, axe_source(), preload=False, **options)


@pytest.mark.parametrize("page", PAGES)
def test_in_the_light(opened, page):
    shown = opened(page)
    assert not shown.evaluate(SIDEWAYS)
    assert page.startswith("source/") or shown.evaluate(SCREENS) <= LONGEST
    assert faults(shown) == []
    shown.set_viewport_size(PHONE)
    assert not shown.evaluate(SIDEWAYS)


@pytest.mark.parametrize("page", PAGES)
def test_in_the_dark(opened, page):
    assert faults(opened(page, scheme="dark"), runOnly=COLOURS) == []


@pytest.mark.parametrize("page", PAGES[EACH // 2 :: EACH])
def test_on_a_phone(opened, page):
    assert faults(opened(page, viewport=PHONE)) == []


@pytest.mark.parametrize("page", ["reference/measures/user_models.html", "guides/losses.html"])
def test_formulas_are_typeset(opened, page):
    shown = opened(page)
    shown.wait_for_selector(".arithmatex .katex")
    written = shown.locator(".arithmatex").count()
    assert written > 5
    assert shown.locator(".arithmatex:has(.katex)").count() == written


COPIED = """() => [...document.querySelectorAll('.md-code__button[data-clipboard-target]')].map((button) =>
    [document.querySelector(button.dataset.clipboardTarget).textContent, button.dataset.clipboardText ?? null])"""


@pytest.mark.parametrize("page", ["start.html", "guides/search.html", "guides/python.html"])
def test_buttons_copy_what_a_reader_types(opened, page):
    shown = opened(page)
    shown.wait_for_selector(".md-code__button")
    copies = shown.evaluate(COPIED)
    typed = [
        (text, copy) for text, copy in copies if text.startswith((">>> ", "$ ")) and copy != text
    ]
    assert typed
    for text, copy in typed:
        prompts = (">>> ", "... ", "$ ", "> ")
        lines = [line for line in text.splitlines() if line.startswith(prompts)]
        assert copy.splitlines() == [line.split(" ", 1)[1] for line in lines]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_have_the_colours_of_the_page(opened, scheme):
    shown = opened("understand/ndcg.html", scheme=scheme)
    pictures = shown.locator("article img:visible")
    sources = pictures.evaluate_all("images => images.map(image => image.src)")
    assert len(sources) > 3
    assert all(source.endswith(f".{scheme}.svg#only-{scheme}") for source in sources)


def test_there_are_pages():
    assert len(PAGES) > 100, "Build the site first: make site"


def test_faults_are_seen(opened):
    shown = opened("index.html", scheme="dark")
    assert shown.evaluate("document.body.dataset.mdColorScheme") == "slate"
    shown.evaluate("document.querySelector('article p').style.color = 'rgb(60, 60, 60)'")
    assert [rule for rule, _, _ in faults(shown, runOnly=COLOURS)] == ["color-contrast"]
    shown.evaluate("document.querySelector('article p').style.minWidth = '3000px'")
    assert shown.evaluate(SIDEWAYS)
