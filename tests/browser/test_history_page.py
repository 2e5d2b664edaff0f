"""The page of a history in a browser: its numbers, a phone, dark mode, accessibility, and hostile names."""

import pytest

from accessibility import findings


def test_the_page_shows_the_latest_numbers_and_the_real_changes(opened):
    page = opened("history")
    rows = page.locator("#latest tbody tr").all_inner_texts()
    assert [row.split()[:1] for row in rows] == [["bm25"], ["dense"]]
    # AP of one relevant document at rank 2 is 1/2; with another that is never returned, 1/4.
    assert all("2026-05-05" in row and "0.2500" in row for row in rows)
    assert page.locator("section h2").all_inner_texts() == ["Latest", "AP", "P@1", "Entries"]
    found = page.locator("#measure-0 .found > li").all_inner_texts()
    assert len(found) == 6  # per run: the rise, the fall of the run, and the new judgments
    assert "from new judgments" in found[0] + found[1] + found[2] + found[3]
    assert "rose by 0.5000" in found[-1]
    assert "2.0" in found[-1]


def test_a_point_tells_its_numbers(opened):
    page = opened("history")
    chart = page.locator("#measure-0 .chart svg")
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = page.locator("#measure-0 .tip")
    tip.wait_for(state="visible")
    assert "AP 1.0000" in tip.inner_text()
    assert "2026-05-03 00:00 UTC" in tip.inner_text()


def test_the_queries_behind_a_change_open(opened):
    page = opened("history")
    details = page.locator("#measure-0 details").first
    assert details.locator("table").is_hidden()
    details.locator("summary").click()
    assert details.locator("tbody tr").count() == 5


def test_on_a_phone_nothing_but_tables_scrolls_sideways(opened):
    page = opened("history", width=390)
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelector('.chart svg').clientWidth <= 390")


def test_the_chart_follows_the_window_and_the_scheme(opened, until):
    page = opened("history")
    dot = "getComputedStyle(document.querySelector('.chart .dot')).fill"
    light = page.evaluate(dot)
    page.emulate_media(color_scheme="dark")
    until(page, f"{dot} !== '{light}'")
    wide = page.evaluate("document.querySelector('.chart svg').clientWidth")
    page.set_viewport_size({"width": 600, "height": 900})
    until(page, f"document.querySelector('.chart svg').clientWidth < {wide}")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_has_no_grave_fault(opened, axe, scheme, width):
    page = opened("history", color_scheme=scheme, width=width, bypass_csp=True)
    for summary in page.locator("summary").all():
        summary.click()
    assert findings(page, axe) == []


def test_names_are_texts(opened):
    page = opened("hostile_history")
    assert page.evaluate("window.ran") is None
    assert page.locator("main img, main script").count() == 0
    assert "</script><script>alert(1);window.ran=1</script>" in page.locator("#latest").inner_text()
