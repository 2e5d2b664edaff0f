"""An accessibility scan: axe-core finds nothing serious in any state of the page."""

import pytest

from accessibility import findings

EVERY_CHART = (
    "intervals", "differences", "scatter", "curve", "distribution", "heat", "hard", "bounds", "unjudged", "confusion", "query_agreement", "assessor_means",
)  # fmt: skip


def draw_all(page, drawn):
    for name in EVERY_CHART:
        if page.locator(f".chart.{name}").count():
            drawn(page, name)
    for summary in page.locator("summary").all():
        summary.click()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("cooking", "light"), ("assessors", "dark"), ("hostile", "light"), ("single", "dark")],
)
def test_the_page_has_no_grave_fault(opened, axe, drawn, name, scheme):
    page = opened(name, color_scheme=scheme, bypass_csp=True)
    draw_all(page, drawn)
    assert findings(page, axe) == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_detail_has_no_grave_fault(opened, axe, scheme, width):
    page = opened(
        "cooking", at="#query=pad-thai", color_scheme=scheme, width=width, bypass_csp=True
    )
    page.wait_for_selector("dialog[open]")
    assert findings(page, axe) == []


def test_the_scan_sees_faults(opened, axe):
    page = opened("cooking", bypass_csp=True)
    page.evaluate("document.querySelector('#measure').labels[0].remove()")
    assert [rule for rule, _, _ in findings(page, axe)] == ["select-name"]
