"""The page as a whole: its sections, tables, filter, charts, themes, small screens and paper."""

from itertools import pairwise

import pytest

PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 31)"}


def paper(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def column(page, section, place):
    cells = page.locator(f"#{section} tbody tr > :nth-child({place})")
    return cells.all_inner_texts()


def ids(page):
    return page.locator("#queries a.query-link").all_inner_texts()


def test_sections_stand_in_their_order(opened):
    page = opened("cooking")
    found = page.eval_on_selector_all("main > section", "all => all.map(each => each.id)")
    assert " ".join(found) == "verdict runs queries scatter curve scores coverage policy downloads"
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(each => +each.tagName[1])")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_verdict_is_said_in_words(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    text = page.locator("#verdict").inner_text()
    told = [each for each in case.payload["verdicts"] if each["measure"] == "nDCG@10"]
    assert len(told) == 2
    for verdict in told:
        assert verdict["sentence"].replace("inconclusive", "○ inconclusive", 1) in text
    assert page.locator("#verdict .badge .icon").count() >= 2
    page.select_option("#measure", label="AP")
    text = page.locator("#verdict").inner_text()
    assert "hybrid is ▲ better than keyword" in text
    assert "nDCG@10" not in text


@pytest.mark.parametrize("by", ["pointer", "keyboard"])
def test_runs_are_sorted_by_a_measure(opened, reports, by):
    page, case = opened("cooking"), reports("cooking")
    header = page.locator("#runs th").nth(2)
    for way in ("descending", "ascending"):
        if by == "pointer":
            header.locator("button").click()
        else:
            header.locator("button").press("Enter")
        assert header.get_attribute("aria-sort") == way
        means = {run["name"]: run["means"][1] for run in case.payload["runs"]}
        wanted = sorted(means, key=means.get, reverse=way == "descending")
        assert page.locator("#runs tbody th bdi.name").all_inner_texts() == wanted
    assert page.locator("#runs th[aria-sort]").count() == 1


def test_means_and_marks_are_those_of_the_comparison(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    for place, run in enumerate(case.payload["runs"]):
        cells = page.locator("#runs tbody tr").nth(place).locator("td")
        for measure, mean in enumerate(run["means"]):
            cell = cells.nth(measure)
            assert cell.inner_text().startswith(f"{mean:.4f}")
            assert cell.get_attribute("title") == run["signatures"][measure]
            assert (cell.locator("strong").count() == 1) == run["best"][measure]
            mark = run["marks"][measure].replace("undecided", "inconclusive")
            assert mark in cell.text_content()


def test_signatures_open_by_keyboard(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    page.locator("#runs button.info").first.press("Enter")
    card = page.locator("#signature-0")
    assert card.is_visible()
    assert case.payload["runs"][0]["signatures"][0] in card.inner_text()
    page.keyboard.press("Escape")
    assert not card.is_visible()


def test_queries_stand_by_their_difference(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    wanted = case.by_difference("keyword", "hybrid")
    assert ids(page) == [query for query, _ in wanted]
    shown = column(page, "queries", 4)
    assert [text.replace("−", "-") for text in shown] == [f"{d:+.4f}" for _, d in wanted]


def test_another_run_and_measure(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    page.get_by_label("Run", exact=True).select_option(label="semantic")
    page.select_option("#measure", label="AP")
    assert ids(page) == [query for query, _ in case.by_difference("keyword", "semantic", 1)]


def test_the_filter_takes_ids_and_texts(opened, drawn, until):
    page = opened("cooking")
    bars = drawn(page, "differences").locator(".mark-rect").last.locator("path")
    assert bars.count() == 24
    page.fill("#filter", "SOUP")
    assert sorted(ids(page)) == ["onion-soup", "udon-soup"]
    assert page.locator(".count").inner_text() == "2 of 24 queries"
    last = "[...document.querySelectorAll('.differences .mark-rect')].at(-1)"
    until(page, f"{last}.querySelectorAll('path').length", 2)
    page.fill("#filter", "with soup ud")
    assert ids(page) == ["udon-soup"]
    page.fill("#filter", "nothing of that kind")
    assert ids(page) == []
    assert page.locator(".count").inner_text() == "0 of 24 queries"
    page.fill("#filter", "")
    assert len(ids(page)) == 24


def test_long_tables_come_in_portions(opened):
    page = opened("many")
    assert len(ids(page)) == 100
    page.get_by_role("button", name="Show 100 more of 150").click()
    assert len(ids(page)) == 200
    page.get_by_role("button", name="Show 50 more of 50").click()
    assert len(set(ids(page))) == 250
    assert page.locator("#queries .more").is_hidden()


def test_charts_have_words_and_tables(opened, drawn):
    page = opened("cooking")
    for name in ("intervals", "differences", "scatter", "curve", "distribution"):
        chart = drawn(page, name)
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 30
    for section, rows in (("verdict", 2), ("scatter", 24), ("curve", 60), ("scores", 72)):
        page.locator(f"#{section} summary").click()
        page.wait_for_selector(f"#{section} details tbody tr")
        assert page.locator(f"#{section} details tbody tr").count() == rows


def test_charts_follow_the_width_of_the_window(opened, drawn, until):
    page = opened("cooking")
    drawn(page, "curve")
    wide = "document.querySelector('.curve svg').clientWidth"
    assert page.evaluate(wide) > 900
    page.set_viewport_size({"width": 700, "height": 900})
    until(page, f"{wide} <= 700 && {wide} > 560")


def test_the_scatter_counts_its_sides(opened, reports, drawn, until):
    page, case = opened("cooking"), reports("cooking")
    drawn(page, "scatter")
    page.get_by_label("Across", exact=True).select_option(label="hybrid")
    page.get_by_label("Upwards", exact=True).select_option(label="semantic")
    differences = [d for _, d in case.by_difference("hybrid", "semantic")]
    counts = [int(text) for text in page.locator(".amount").all_inner_texts()]
    assert counts == [
        sum(d > 0 for d in differences),
        sum(d == 0 for d in differences),
        sum(d < 0 for d in differences),
    ]
    until(page, "document.querySelector('.scatter').textContent.includes('nDCG@10 of semantic')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_switch(opened, drawn, scheme, until):
    other = "light" if scheme == "dark" else "dark"
    page = opened("cooking", color_scheme=scheme)
    assert paper(page) == PAPER[scheme]
    label = "document.querySelector('.intervals .role-axis-title text')?.getAttribute('fill')"
    drawn(page, "intervals")
    before = page.evaluate(label)
    page.emulate_media(color_scheme=other)
    until(page, f"{label} !== '{before}'")
    assert paper(page) == PAPER[other]
    page.click("#theme")
    assert paper(page) == PAPER[scheme]
    until(page, f"{label} === '{before}'")
    page.emulate_media(color_scheme=scheme)
    page.emulate_media(color_scheme=other)
    assert paper(page) == PAPER[scheme], "what was chosen stays"


def test_paper_is_light_and_whole(opened, until):
    page = opened("cooking", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert paper(page) == PAPER["light"]
    until(page, "document.querySelectorAll('.chart .drawing:not(.waiting) svg').length === 5")
    until(
        page,
        "[...document.querySelectorAll('.role-axis-title text')].every(each => each.getAttribute('fill') === '#1b1f24')",
    )
    for control in ("#bar", "#filter", "#downloads", "#scatter select"):
        assert not page.locator(control).first.is_visible()
    assert page.pdf()[:5] == b"%PDF-"


@pytest.mark.parametrize("name", ["cooking", "hostile", "single", "many"])
def test_a_small_screen_does_not_scroll_sideways(opened, reports, name):
    page = opened(name, width=390, height=844)
    page.evaluate("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 390
    page.locator("#queries a.query-link").first.click()
    page.wait_for_selector("dialog[open]")
    assert page.evaluate(width) <= 390
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= 390


def test_one_run_has_no_comparison(opened, drawn):
    page = opened("single")
    found = page.eval_on_selector_all("main > section", "all => all.map(each => each.id)")
    assert " ".join(found) == "runs queries curve scores coverage policy downloads"
    drawn(page, "distribution")
    page.locator("#queries a.query-link").first.click()
    page.wait_for_selector("dialog[open]")
    assert page.locator(".ranked").count() == 1
    assert page.locator(".steps").count() == 2


def test_bare_scores_say_what_they_lack(opened, drawn):
    page = opened("bare", at="#query=q2")
    assert "the scores come without documents" in page.locator("dialog").inner_text()
    page.keyboard.press("Escape")
    drawn(page, "differences")
    assert page.locator("#curve").count() == 0
    assert page.locator("#runs button.info").count() == 0


def test_the_policy_is_there_in_full(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    text = page.locator("#policy").inner_text()
    for choice in case.payload["policy"]:
        assert choice["name"] in text
        assert choice["meaning"] in text
    for run in case.payload["runs"]:
        assert all(signature in text for signature in run["signatures"])
    assert case.payload["settings"] in text
    assert column(page, "coverage", 1) == case.names
