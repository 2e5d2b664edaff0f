"""A browser for the session, and pages that must stay quiet in it."""

import json
from functools import partial
from urllib.parse import urlsplit

import pytest
from page_watch import Watch
from reports import (
    HOSTILE,
    assessors,
    bare,
    clicks,
    cooking,
    family,
    history,
    hostile,
    left_out,
    long_names,
    many,
    odd_names,
    own_ideals,
    saved,
    shared_ranks,
    single,
    undefined,
)

from accessibility import axe_source
from chromium import launched
from desk_server import Client
from gainful.reporting.page.compose import page as compose

MAKERS = {
    "cooking": cooking,
    "assessors": assessors,
    "clicks": clicks,
    "hostile": hostile,
    "single": single,
    "bare": bare,
    "many": many,
    "left_out": left_out,
    "own_ideals": own_ideals,
    "undefined": undefined,
    "long_names": long_names,
    "odd_names": odd_names,
    "saved": saved,
    "shared_ranks": shared_ranks,
    "history": history,
    "hostile_history": partial(history, HOSTILE[2], HOSTILE[1]),
    "nERR@5": partial(family, "nERR@5"),
    "F@5": partial(family, "F@5"),
    "2*AP": partial(family, "2*AP"),
}


@pytest.fixture(scope="session")
def browser():
    with launched() as chromium:
        yield chromium


@pytest.fixture(scope="session")
def axe():
    return axe_source()


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Return a function from the name of a report to what it was made from and its file."""
    folder, made = tmp_path_factory.mktemp("reports"), {}

    def get(name):
        if name not in made:
            case = MAKERS[name]()
            case.path = folder / f"{name}.html"
            case.path.write_text(case.html, encoding="utf-8")
            made[name] = case
        return made[name]

    return get


@pytest.fixture(scope="session")
def blank_pages(browser):
    """The pages that no test has open, by whether they are free of the page's own policy.

    To open a report in one of them takes half the time that a page of its own takes.
    """
    return {True: [], False: []}


@pytest.fixture
def opened(browser, reports, blank_pages):
    """Open a report; afterwards it must have been quiet, and have asked for nothing else."""
    pages, watched = [], []

    def opening(
        name, *, at="", width=1280, height=900, quiet=True, color_scheme="light", bypass_csp=False
    ):
        case = reports(name)
        blank = blank_pages[bypass_csp]
        page = blank.pop() if blank else browser.new_context(bypass_csp=bypass_csp).new_page()
        pages.append((page, blank))
        page.set_default_timeout(15_000)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="null", color_scheme=color_scheme)
        page.watch = Watch(page)
        if quiet:
            watched.append((page.watch, case.path))
        page.goto(f"file://{case.path}{at}")
        page.wait_for_selector("main section")
        if at.startswith("#query="):
            page.wait_for_selector("dialog[open]")
        return page

    yield opening
    for page, blank in pages:
        page.mouse.move(0, 0)
        page.goto("about:blank")
        page.watch.stop()
        blank.append(page)
    for watch, path in watched:
        assert watch.errors == []
        assert watch.beyond(path) == []


@pytest.fixture
def page_of_verdicts(opened, reports, tmp_path):
    """Open a page whose verdicts are given, each as (run, difference, word)."""

    def opening(verdicts, *, ends=True):
        payload = json.loads(json.dumps(reports("bare").payload))
        like = payload["verdicts"][0]
        measure = payload["measures"][0]
        payload["runs"] = [
            {**payload["runs"][0], "name": name, "means": [0.5 + difference], "marks": [word]}
            for name, difference, word in [("base", 0.0, ""), *verdicts]
        ]
        payload["baseline"] = "base"
        payload["scores"] = [[payload["scores"][0][0]] * len(payload["runs"])]
        payload["verdicts"] = [
            {
                **like, "measure": measure, "baseline": "base", "run": run, "word": word, "difference": difference,
                "low": difference - 0.1 if ends else None, "high": difference + 0.1 if ends else None,
            }
            for run, difference, word in verdicts
        ]  # fmt: skip
        path = tmp_path / "page.html"
        path.write_text(compose(payload), encoding="utf-8")
        page = opened("bare")
        page.watch.stop()
        page.goto(f"file://{path}")
        page.wait_for_selector("main section")
        return page

    return opening


@pytest.fixture
def until():
    """Wait until an expression has a value.

    Playwright's own way to wait evaluates text inside the page, which the page forbids.
    """

    def waiting(page, expression, wanted=True):
        for _ in range(500):
            found = page.evaluate(expression)
            if found == wanted:
                return
            page.wait_for_timeout(30)
        assert found == wanted, expression

    return waiting


@pytest.fixture
def drawn():
    """Scroll to a chart and wait until it is drawn."""

    def drawing(page, name):
        page.locator(f".chart.{name}").scroll_into_view_if_needed()
        page.wait_for_selector(f".chart.{name} .drawing:not(.waiting) svg")
        return page.locator(f".chart.{name}")

    return drawing


@pytest.fixture(scope="session")
def blank_desk_pages(browser):
    """The pages of desks that no test has open, each in a context of its own, by what a context is made with."""
    return {}


def entered(context, link):
    """Leave the cookie of an invitation in a context, and return the page that the link leads to.

    It takes a third of the time of the link itself, which the tests of the whole way open.
    """
    place = urlsplit(link)
    if place.scheme == "file":
        return link
    client = Client(link)
    answer = client.get(place.path)
    assert answer.status == 200, answer.text
    name, _, value = client.cookie.partition("=")
    base = f"{place.scheme}://{place.netloc}"
    context.add_cookies(
        [{"name": name, "value": value, "url": base, "httpOnly": True, "sameSite": "Strict"}]
    )
    return f"{base}/lead" if "url=/lead" in answer.text else f"{base}/"


@pytest.fixture
def opened_at(browser, blank_desk_pages):
    """Open a page of a desk in a context of its own; it must stay quiet, and ask nobody else.

    The browser itself says it where the desk refuses something, or is out of reach; `refusals` tells that this is meant.
    `apart` tells that no other test can use the page afterwards, as one whose clock was set.
    """
    pages, watched = [], []

    def opening(
        link,
        *,
        bypass_csp=False,
        has_touch=False,
        refusals=False,
        apart=False,
        viewport=None,
        color_scheme="light",
        reduced_motion="no-preference",
    ):
        blank = blank_desk_pages.setdefault((bypass_csp, has_touch), [])
        if blank and not apart:
            page = blank.pop()
        else:
            page = browser.new_context(bypass_csp=bypass_csp, has_touch=has_touch).new_page()
        page.set_default_timeout(15_000)
        page.set_viewport_size(viewport or {"width": 1280, "height": 720})
        page.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
        watch = Watch(page)
        pages.append((page, watch, None if apart else blank))
        watched.append((watch, urlsplit(link).netloc, refusals))
        page.goto(entered(page.context, link))
        page.wait_for_selector("body[data-ready]")
        return page

    yield opening
    for page, watch, blank in pages:
        if blank is None:
            page.context.close()
            continue
        page.evaluate("localStorage.clear()")
        page.mouse.move(0, 0)
        page.goto("about:blank")
        page.context.clear_cookies()
        watch.stop()
        blank.append(page)
    for watch, place, refusals in watched:
        # A page asks on, while the desk is closed before the page is.
        meant = ["net::ERR_CONNECTION", "net::ERR_EMPTY_RESPONSE"]
        if refusals:
            meant += ["status of 400", "status of 409", "net::ERR_INTERNET_DISCONNECTED"]
        errors = [each for each in watch.errors if not any(word in each for word in meant)]
        assert errors == []
        others = [url for url in watch.requests if urlsplit(url).netloc not in (place, "")]
        assert others == []
