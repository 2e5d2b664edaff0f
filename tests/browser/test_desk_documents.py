"""Documents on the pages of the desk: HTML, Markdown, links, images and fields; and nothing of a hostile one runs."""

import pytest

import gainful as gf
from accessibility import findings
from desk_server import desk

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
RUN = "window.ran=1"
HOSTILE_HTML = [
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<svg onload={RUN}><script>{RUN}</script></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}></style></mglyph></table></mtext></math>",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    f'<a href="javascript:{RUN}">a</a><a href=" java&#10;script:{RUN}">b</a><a href="data:text/html,<script>{RUN}</script>">c</a>',
    f'<form action="javascript:{RUN}"><input name="childNodes" autofocus onfocus={RUN}><button>go</button></form>',
    f'<object data="javascript:{RUN}"></object><embed src="javascript:{RUN}">',
    f"<details open ontoggle={RUN}><summary onclick={RUN}>s</summary>d</details>",
    "<style>body{display:none}</style><link rel=stylesheet href=//evil.example/a.css><base href=//evil.example>",
    '<meta http-equiv=refresh content="0;url=//evil.example">',
    f'<p style="position:fixed;inset:0" id=title class=alert onmouseover={RUN}>covers the page</p>',
    f'<img src="https://evil.example/pixel.png" onload={RUN}><video src=x onerror={RUN}></video>',
    f"<template><script>{RUN}</script></template><noscript><p title='</noscript><img src=x onerror={RUN}>'></noscript>",
    "<div>" * 3000 + "deep",
    f"<constructor>c</constructor><__proto__>p</__proto__><x-y onclick={RUN}>x</x-y>",
]
HOSTILE_MARKDOWN = [
    f"**a** [x](javascript:{RUN}) ![y](javascript:{RUN}) <img src=x onerror={RUN}>",
    f'**a** [x](https://a.example/"onmouseover="{RUN}) [y](data:text/html,<script>{RUN}</script>)',
    "**a** " + "[" * 20_000,
    "**a** " + "*a _b ~~c " * 3_000,
    "# a\n" + "> " * 3_000 + "deep",
    "# a\n" + "`" * 5_000 + " ``a` " * 2_000,
    "# a\n" + "- a\n" * 2_000 + "    " * 500 + "- b",
]
ALLOWED = {"class", "href", "target", "rel", "title", "tabindex", "role", "aria-label", "open", "dir", "start", "colspan", "rowspan", "type", "aria-pressed", "scope", "src", "alt", "loading", "referrerpolicy"}  # fmt: skip


def made(docs, **settings):
    run = {"q": {doc["doc"]: -place for place, doc in enumerate(docs)}}
    return gf.judging.Study.create(
        ":memory:", {"r": run}, queries={"q": "bake bread"}, docs=docs, order="rank", depth=100, **settings
    )  # fmt: skip


@pytest.mark.parametrize("doc_format", ["auto", "html", "markdown"])
def test_nothing_of_a_hostile_document_runs(opened_at, doc_format):
    texts = HOSTILE_MARKDOWN if doc_format == "markdown" else HOSTILE_HTML
    docs = [
        {"doc": f"d{place}", "text": f"<p>Bread</p>{text}" if doc_format == "auto" else text, "site": f"javascript:{RUN}"}
        for place, text in enumerate(texts)
    ]  # fmt: skip
    guideline = f"Judge **well**. {HOSTILE_MARKDOWN[0]} {HOSTILE_HTML[0]}"
    with desk(made(docs, doc_format=doc_format, guideline=guideline)) as own:
        page = opened_at(own.link("ann"))
        page.keyboard.press("v")
        page.keyboard.press("v")
        for place in range(len(docs)):
            assert page.inner_text("#doc-id") == f"d{place}"
            shown = page.evaluate(
                "[...document.querySelectorAll('#text *, #fields *, #guideline-text *')].map((e) => [e.localName, e.getAttributeNames(), e.getAttribute('href')])"
            )
            names = {name for name, _, _ in shown}
            assert not names & {"script", "style", "iframe", "svg", "math", "form", "input", "object", "embed", "base", "meta", "link", "template", "video", "img"}  # fmt: skip
            assert {each for _, own_names, _ in shown for each in own_names} <= ALLOWED
            assert all(href is None or href.startswith(("https:", "http:", "mailto:")) for _, _, href in shown)  # fmt: skip
            for source in page.locator("#text .text-button").all():
                source.click()  # as it was written: text alone
            page.mouse.move(600, 300)
            page.keyboard.press("1")
        assert page.evaluate("window.ran") is None
        assert page.is_visible("#end-title")


HTML = f"""<h1>Sourdough</h1><p>Bake <b>bread</b> with <a href="https://example.com/a">flour</a>.</p>
<ul><li>flour</li><li>water</li></ul><table><tr><th>Step</th></tr><tr><td colspan="2">Bake</td></tr></table>
<img src="{PIXEL}" alt="A loaf"><img src="https://images.example.com/b.png" alt="A slice"><img src="https://other.example/c.png" alt="Crumbs">"""
MARKDOWN = """# Ingredients

Take **strong** flour, `salt` and [water](https://example.com/w).
A second line with *baked* bread, snake_case_name and 2 * 3 * 4.

1. Mix
2. Wait
   - four hours
   - or more

> Never hurry.

| step | minutes |
|------|--------:|
| mix  | 10      |

```
oven <240>
```
"""


@pytest.fixture
def page(browser):
    """A page of its own: it asks the hosts of images, unlike those of `opened_at`."""
    context = browser.new_context(bypass_csp=True)
    yield context.new_page()
    context.close()


def test_html_markdown_links_images_and_fields(page, until, axe):
    docs = [
        {"doc": "html", "title": "A", "text": HTML, "price": 4.5, "photo": "https://images.example.com/p.jpg"},
        {"doc": "markdown", "title": "B", "text": MARKDOWN, "price": None, "photo": None},
        {"doc": "plain", "title": "C", "text": "Bread <b>is</b> a < b.\nSee https://example.com/x.", "price": 3, "photo": None},
        {"doc": "fields", "title": "", "text": "", "price": 7, "photo": "https://other.example/p.jpg"},
    ]  # fmt: skip
    with desk(made(docs)) as own:
        page.goto(own.link("ann"))
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#text img").count() == 1  # the one inside the text
        own.study.set(image_hosts=["https://Images.example.com/"])
        answer = own.client("eve").get("/")
        policies = answer.headers.get_all("Content-Security-Policy")
        assert len(policies) == 1
        assert "img-src 'self' data: https://images.example.com;" in policies[0]
        page.route(
            "https://images.example.com/*",
            lambda route: route.fulfill(status=200, body=b"", content_type="image/png"),
        )
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#text h3").inner_text() == "Sourdough"
        assert page.locator("#text mark").all_inner_texts() == ["Bake", "bread", "Bake"]
        assert page.locator("#text a").first.get_attribute("href") == "https://example.com/a"
        assert page.locator("#text a").first.get_attribute("rel") == "noopener noreferrer nofollow"
        assert page.locator("#text td").get_attribute("colspan") == "2"
        assert [each.get_attribute("alt") for each in page.locator("#text img").all()] == [
            "A loaf",
            "A slice",
        ]
        assert (
            page.locator("#text .image-link a").get_attribute("href")
            == "https://other.example/c.png"
        )
        assert page.locator("#fields dt").all_inner_texts() == ["price", "photo"]
        assert (
            page.locator("#fields img").get_attribute("src") == "https://images.example.com/p.jpg"
        )
        assert findings(page, axe) == []
        page.click("#text .text-button")
        assert page.inner_text("#text").startswith("<h1>Sourdough</h1>")
        page.click("#text .text-button")
        assert page.locator("#text h3").count() == 1
        page.keyboard.press("1")
        until(page, "document.querySelector('#doc-id').textContent", "markdown")
        text = page.locator("#text")
        assert text.locator("h3").inner_text() == "Ingredients"
        assert text.locator("strong").inner_text() == "strong"
        assert text.locator("em").all_inner_texts() == ["baked"]
        assert text.locator("p").first.inner_text().endswith("snake_case_name and 2 * 3 * 4.")
        assert text.locator("ol > li").count() == 2
        assert text.locator("ol ul > li").all_inner_texts() == ["four hours", "or more"]
        assert text.locator("blockquote").inner_text() == "Never hurry."
        assert text.locator("td").all_inner_texts() == ["mix", "10"]
        assert text.locator("pre").inner_text() == "oven <240>"
        assert findings(page, axe) == []
        page.keyboard.press("1")
        until(page, "document.querySelector('#doc-id').textContent", "plain")
        assert page.inner_text("#text") == "Bread <b>is</b> a < b.\nSee https://example.com/x."
        assert page.locator("#text a").get_attribute("href") == "https://example.com/x"
        page.keyboard.press("1")
        until(page, "document.querySelector('#doc-id').textContent", "fields")
        assert page.inner_text("#text") == ""
        assert page.locator("#fields img").count() == 0
        assert page.inner_text("#query-place") == " · 4 of 4 for this query"


def test_a_plain_study_shows_markup_as_text(opened_at):
    with desk(made([{"doc": "a", "text": HTML}], doc_format="text")) as own:
        page = opened_at(own.link("ann"))
        assert page.inner_text("#text").startswith("<h1>Sourdough</h1>")
        assert page.locator("#text .text-button").count() == 0
