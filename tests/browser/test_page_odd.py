"""Pages of what is undefined, long, or named as no one would name it."""

import pytest
from reports import ODD

CHARTS = ("intervals", "differences", "heat", "hard", "scatter", "curve", "distribution")


def fits(page, selector):
    """Return how much of each element is hidden: beyond its sides, and below its end."""
    return page.eval_on_selector_all(
        selector,
        "all => all.map(e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])",
    )


def test_what_is_undefined_is_said_and_not_drawn(opened, drawn):
    page = opened("undefined")
    for name in ("intervals", "differences", "scatter", "distribution"):
        drawn(page, name)
    assert page.locator(".chart.curve").is_hidden()
    assert "no run has a mean" in page.locator("#curve").inner_text()
    assert (
        "Left out, as the mean is undefined (policy empty=nan)"
        in page.locator("#curve").inner_text()
    )
    assert page.locator("#curve summary").is_hidden()
    runs = page.locator("#runs").inner_text()
    assert "Means over 24 queries" in runs
    assert (
        "1 of 24 queries has no value, and policy empty=nan leaves the mean undefined (–)" in runs
    )
    assert page.evaluate("document.body.scrollHeight") < 10_000


def test_nothing_that_the_filter_leaves_is_said(opened, drawn):
    page = opened("undefined")
    drawn(page, "differences")
    page.fill("#filter", "tiramisu")  # the query without a value
    assert page.locator(".chart.differences").is_hidden()
    assert page.get_by_text("none of these queries has a score for both runs").is_visible()
    page.fill("#filter", "")
    assert page.locator(".chart.differences").is_visible()


def test_names_are_no_code(opened, drawn, until):
    page = opened("odd_names")
    for name in CHARTS:
        drawn(page, name)
    for at in (1, 2, 3, 6):
        page.get_by_label("Run", exact=True).select_option(index=at - 1)
        page.locator(".chart.differences").scroll_into_view_if_needed()
        shown = " ".join(ODD[at].split())
        title = f"nDCG@10: {shown} − {ODD[0]} (better ↑)"
        until(
            page,
            "[...document.querySelectorAll('.differences .role-axis-title text')].at(-1).textContent",
            title,
        )
    for chart, what in (("scatter", "path"), ("differences", "path"), ("curve", "path")):
        page.locator(f".chart.{chart}").scroll_into_view_if_needed()
        marks = page.locator(
            f".chart.{chart} :is(.mark-symbol, .mark-rect).role-mark"
        ).last.locator(what)
        marks.first.hover(force=True)
        until(page, "!!document.querySelector('#vg-tooltip-element.visible td')")
        page.mouse.move(0, 0)


def test_a_pair_of_runs_has_a_line_for_each(opened, drawn):
    page = opened("odd_names")
    labels = drawn(page, "intervals").locator(".role-axis-label tspan").all_text_contents()
    assert "− base" in labels
    assert "part\ufffded" in labels
    titles = page.locator(".intervals .role-axis-title text").all_text_contents()
    assert "run − baseline (run better →)" in titles


def test_long_names_can_be_told_apart(opened, drawn, reports):
    page, names = opened("long_names"), reports("long_names").names
    assert page.locator("h1").inner_text() == f"11 runs against {names[0]}"
    assert page.locator("h1").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") < 28
    labels = drawn(page, "intervals").locator(".role-axis-label text").all_text_contents()
    shown = [label for label in labels if "epoch" in label]
    assert len(set(shown)) == 11
    labels = drawn(page, "curve").locator(".mark-text text").all_text_contents()
    assert len({label for label in labels if "epoch" in label}) == 12
    drawn(page, "scatter")
    titles = page.locator(".scatter .role-axis-title text").all_text_contents()
    assert all(len(title) < 70 for title in titles)
    assert any("epoch-00" in title for title in titles)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_tally_stands_in_columns(opened, width):
    page = opened("long_names", width=width)
    for item in page.locator(".tally li").all():
        amount, name = (item.locator(part).bounding_box() for part in (".amount", ".wrap"))
        beside = name["x"] >= amount["x"] + amount["width"]
        assert beside == (width > 800)
        assert name["x"] + name["width"] <= width


def test_slices_say_how_p_is_corrected(opened):
    page = opened("long_names")
    text = page.locator("#slices").inner_text()
    assert "p corrected over 22 comparisons of slices (holm)" in text
    assert "of each slice alone" not in text


@pytest.mark.parametrize("name", ["cooking", "long_names"])
def test_the_table_of_coverage_fits(opened, name):
    page = opened(name)
    assert fits(page, "#coverage .scroll")[0][0] == 0


def test_an_edge_that_hides_more_is_shaded(opened):
    page = opened("cooking", width=660)
    page.locator("#coverage .scroll").scroll_into_view_if_needed()
    assert fits(page, "#coverage .scroll")[0][0] > 0
    region = page.locator("#coverage .scroll")
    before = region.screenshot()
    region.evaluate("e => { e.style.background = 'none'; }")
    assert region.screenshot() != before


def test_scores_of_a_query_have_the_same_decimals(opened, reports):
    page, case = opened("saved", at="#query=r"), reports("saved")
    assert [case.scores(name)[1] for name in case.names] == [1, 1]
    cells = page.locator("dialog .table tbody td").all_inner_texts()
    assert cells == ["1.0000", "1.0000"]


def test_saved_scores_have_no_list(opened):
    page = opened("saved", at="#query=q")
    assert page.locator(".side").first.inner_text().endswith("Saved scores, without documents.")
    assert page.locator(".moved").all_inner_texts() == ["not known"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_id_is_read_in_full(opened, width):
    page = opened("odd_names", at=f"#query={'q' * 500}", width=width)
    assert page.locator("#detail-title bdi").inner_text() == "q" * 500
    assert fits(page, "#detail-title") == [[0, 0]]
    title, table = (page.locator(part).bounding_box() for part in ("#detail-title", ".strips"))
    assert title["y"] + title["height"] <= table["y"]


def test_facts_of_a_run_have_their_names(opened):
    page = opened("cooking")
    page.locator("#runs button.info").first.press("Enter")
    assert "unjudged: " in page.locator("#signature-0").inner_text()
