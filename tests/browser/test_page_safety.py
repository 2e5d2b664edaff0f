"""Nothing in the data runs, and nothing but the page's own scripts may."""

import re

from reports import HOSTILE

INJECT = """() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = 1';
    document.body.append(script);
    const image = document.createElement('div');
    image.innerHTML = '<img src=x onerror="window.ran = 2"><b style="color: red">b</b>';
    document.body.append(image);
    const link = document.createElement('a');
    link.href = 'javascript:window.ran=3';
    document.body.append(link);
    link.click();
    setTimeout('window.ran = 4');
}"""


def quiet(page):
    assert page.evaluate("window.ran") is None
    tags = (
        "main script, main img, main iframe, main b, dialog script, dialog img, dialog b, header b"
    )
    assert page.locator(tags).count() == 0


def test_hostile_texts_are_shown_as_text(opened, reports, drawn):
    page, case = opened("hostile"), reports("hostile")
    assert page.title() == re.sub(r"\s+", " ", HOSTILE[2])
    assert page.locator("h1").text_content() == HOSTILE[2]
    found = page.locator("#queries a.query-link").evaluate_all("all => all.map(e => e.textContent)")
    assert sorted(found) == sorted(HOSTILE)
    for name in ("intervals", "differences", "scatter", "curve", "distribution"):
        drawn(page, name)
    bar = page.locator(".chart.differences .mark-rect").last.locator("path")
    for place in range(len(HOSTILE)):
        bar.nth(place).hover()
    page.wait_for_selector("#vg-tooltip-element.visible")
    quiet(page)
    for run in range(1, len(case.names)):
        page.get_by_label("Run", exact=True).select_option(str(run))
        quiet(page)


def test_hostile_details_are_shown_as_text(opened, reports):
    page, texts = opened("hostile"), {}
    for query in reports("hostile").payload["queries"]:
        texts[query["id"]] = query["text"]
    assert texts.keys() == set(HOSTILE)
    links = page.locator("#queries a.query-link")
    for place, query in enumerate(links.evaluate_all("all => all.map(each => each.textContent)")):
        links.nth(place).press("Enter")
        page.wait_for_selector("dialog[open]")
        assert page.locator("#detail-title bdi").text_content() == query
        assert page.locator("dialog .query-text").text_content() == texts[query]
        docs = page.locator(".ranked").first.locator(".doc-id bdi")
        shown = set(docs.evaluate_all("all => all.map(each => each.textContent)"))
        assert shown <= {f"{text} d" for text in HOSTILE}
        assert len(shown) == 10
        quiet(page)
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="hidden")


def test_text_stands_in_its_own_direction(opened):
    page = opened("hostile")
    arabic = page.locator("#queries a.query-link bdi", has_text="مرحبا")
    assert arabic.evaluate("each => getComputedStyle(each).direction") == "rtl"


def test_the_policy_of_the_page_stops_what_is_put_in(opened, reports):
    html = reports("cooking").html
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy
    page = opened("cooking", quiet=False)
    page.evaluate(INJECT)
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None
    asked = "fetch('https://example.org/').then(() => 'fetched', () => 'refused')"
    assert page.evaluate(asked) == "refused"
    assert len([text for text in page.watch.errors if "Content Security Policy" in text]) >= 4


def test_the_page_could_run_what_it_forbids(opened, until):
    """The test above would see it: without the policy, the same insertion runs."""
    page = opened("cooking", quiet=False, bypass_csp=True)
    page.evaluate(INJECT)
    until(page, "window.ran !== undefined")
