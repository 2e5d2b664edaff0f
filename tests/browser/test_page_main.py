"""The page as a whole: its sections, tables, filter, charts, themes, small screens and paper."""

import re
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
    assert (
        " ".join(found)
        == "verdict runs queries heatmap scatter curve scores coverage policy downloads"
    )
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(each => +each.tagName[1])")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def headline(page):
    return page.locator("#verdict .headline").text_content()


def test_the_headline_names_the_winner(opened, reports):
    page = opened("cooking")
    assert headline(page).startswith(
        "No clear winner: hybrid leads keyword by 0.147 (95% 0.028 to 0.288)"
    )
    page.select_option("#measure", label="AP")
    best = next(
        each
        for each in reports("cooking").payload["verdicts"]
        if (each["measure"], each["run"]) == ("AP", "hybrid")
    )
    low, high = best["low"], best["high"]
    assert headline(page) == (
        f"Best: hybrid, {best['difference']:+.3f} over keyword (95% {low:.3f} to {high:.3f})."
    )


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        (
            [("a", 0.2, "better"), ("b", 0.1, "better")],
            "Best: a, +0.200 over base (95% 0.100 to 0.300).",
        ),
        (
            [("a", 0.2, "inconclusive"), ("b", 0.1, "better")],
            "Better: b, +0.100 over base (95% 0.000 to 0.200); a scores higher, but is ●inconclusive.",
        ),
        (
            [("a", -0.1, "worse"), ("b", -0.2, "worse")],
            "Best: base, the baseline; the closest run is a, −0.100 (95% −0.200 to 0.000).",
        ),
        (
            [("a", -0.1, "inconclusive"), ("b", -0.2, "worse")],
            "No clear winner: base leads a by 0.100 (95% 0.000 to 0.200), which is ●inconclusive.",
        ),
        (
            [("a", 0.0, "inconclusive")],
            "No clear winner: a and base have the same score (95% −0.100 to 0.100), which is ●inconclusive.",
        ),
        ([("a", 0.01, "equivalent")], "a and base are ◆equivalent: +0.010 (95% −0.090 to 0.110)."),
    ],
)
def test_every_headline(page_of_verdicts, verdicts, wanted):
    page = page_of_verdicts(verdicts)
    assert headline(page) == wanted
    shown = page.locator("#verdict .comparisons tbody tr")
    assert shown.count() == len(verdicts)
    assert shown.first.locator("th").inner_text() == verdicts[0][0]


def test_few_queries_have_no_interval(page_of_verdicts):
    page = page_of_verdicts([("a", 0.2, "inconclusive")], ends=False)
    assert "leads base by 0.200 (too few queries for an interval)" in headline(page)
    assert "too few queries" in page.locator("#verdict .comparisons").inner_text()


def test_the_verdict_has_a_row_for_each_comparison(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    verdicts = [each for each in case.payload["verdicts"] if each["measure"] == "nDCG@10"]
    verdicts.sort(key=lambda each: -each["difference"])
    rows = page.locator("#verdict .comparisons tbody tr")
    assert rows.count() == len(verdicts) == 2
    for place, verdict in enumerate(verdicts):
        cells = [
            text.replace("−", "-") for text in rows.nth(place).locator("th, td").all_inner_texts()
        ]
        assert cells[0] == verdict["run"]
        assert cells[1].endswith(verdict["word"])
        assert cells[2] == f"{verdict['difference']:+.4f}"
        assert cells[3] == f"{verdict['low']:+.4f} to {verdict['high']:+.4f}"
        assert cells[4] == f"{verdict['p']:.4f}"
        assert cells[5] == f"{verdict['run_mean']:.4f}"
        assert cells[6].strip() == f"{verdict['wins']}, {verdict['ties']}, {verdict['losses']}"
        assert str(verdict["queries_needed"]) in cells[7]
    assert case.payload["method"] in page.locator("#verdict").inner_text()


def test_legends_list_what_occurs(opened, drawn):
    page = opened("cooking")
    words = page.locator("#runs .legend li").all_inner_texts()
    marks = {
        mark
        for run in page.locator("#runs tbody .mark").all_text_contents()
        for mark in run.split()[1:]
    }
    assert {word.split()[1] for word in words} == marks
    shown = drawn(page, "intervals").locator(".role-legend-label text").all_text_contents()
    assert shown == ["inconclusive"]


@pytest.mark.parametrize("name", ["cooking", "single", "undefined", "saved"])
def test_minus_signs_are_minus_signs(opened, name):
    page = opened(name)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    text = page.evaluate(
        "[...document.querySelectorAll('main')].map(e => { const c = e.cloneNode(true); "
        "c.querySelectorAll('code').forEach(n => n.remove()); return c.textContent; }).join()"
    )
    assert re.findall(r"(?<![\w/-])-\d[\d.]*", text) == []


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
    for run in case.payload["runs"]:
        row = page.locator("#runs tbody tr").filter(has=page.get_by_text(run["name"], exact=True))
        cells = row.locator("td")
        for measure, mean in enumerate(run["means"]):
            cell = cells.nth(measure)
            assert cell.inner_text().startswith(f"{mean:.4f}")
            assert cell.get_attribute("title") == run["signatures"][measure]
            assert (cell.locator("strong").count() == 1) == run["best"][measure]
            assert run["marks"][measure] in cell.text_content()


def test_signatures_open_by_keyboard(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    page.locator("#runs button.info").last.press("Enter")
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


def test_only_losses_are_shown(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    page.get_by_label("Losses only").check()
    for run in ("hybrid", "semantic"):
        page.get_by_label("Run", exact=True).select_option(label=run)
        lost = [query for query, change in case.by_difference("keyword", run) if change < 0]
        assert ids(page) == lost
        assert page.locator(".count").inner_text() == f"{len(lost)} of 24 queries"
    page.get_by_label("Losses only").uncheck()
    assert len(ids(page)) == 24
    assert opened("single").get_by_label("Losses only").count() == 0


def test_queries_of_one_run_start_with_the_lowest_score(opened, reports):
    page, case = opened("single"), reports("single")
    scores = dict(zip(case.queries, case.scores("hybrid"), strict=True))
    assert [scores[query] for query in ids(page)] == sorted(scores.values())


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
    for name in (
        "intervals",
        "differences",
        "heat",
        "hard",
        "scatter",
        "curve",
        "distribution",
        "bounds",
        "unjudged",
    ):
        chart = drawn(page, name)
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 30
    for section, rows in (("scatter", 24), ("curve", 60), ("scores", 72)):
        page.locator(f"#{section} summary").click()
        page.wait_for_selector(f"#{section} details tbody tr")
        assert page.locator(f"#{section} details tbody tr").count() == rows


def test_the_heat_map_has_every_query_and_run(opened, reports, drawn):
    page, case = opened("cooking"), reports("cooking")
    fields = drawn(page, "heat").locator(".mark-rect.role-mark path")
    assert fields.count() == 24 * 3
    page.locator("#heatmap summary").first.click()
    page.wait_for_selector("#heatmap details tbody tr")
    shown = page.locator("#heatmap details tbody tr").all_inner_texts()
    scores = {run: dict(zip(case.queries, case.scores(run), strict=True)) for run in case.names}
    mean = {query: sum(scores[run][query] for run in case.names) / 3 for query in case.queries}
    first = shown[0].split()
    assert first[:2] == [min(mean, key=mean.get), "hybrid"]
    assert len(shown) == 72


def test_hard_queries_are_hard_for_every_run(opened, reports, drawn):
    page, case = opened("cooking"), reports("cooking")
    labels = drawn(page, "hard").locator(".role-axis-label text").all_text_contents()
    best = dict(
        zip(case.queries, map(max, zip(*map(case.scores, case.names), strict=True)), strict=True)
    )
    wanted = sorted(best, key=best.get)[:10]
    assert {label for label in labels if label in best} == set(wanted)


def test_runs_have_names_and_bands_on_the_curve(opened, drawn):
    page = opened("cooking")
    curve = drawn(page, "curve")
    names = [
        text for text in curve.locator(".mark-text.role-mark text").all_text_contents() if text
    ]
    assert sorted(names) == ["hybrid", "keyword", "semantic"]
    assert curve.locator(".mark-area path").count() == 3


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
    until(page, "document.querySelectorAll('.chart .drawing:not(.waiting) svg').length === 8")
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
    tables = page.locator("#verdict .scroll, #coverage .scroll")
    wider = "all => all.filter((each) => each.scrollWidth > each.clientWidth).length"
    assert tables.evaluate_all(wider) == 0
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
    assert not page.locator("#policy .signatures").is_visible()
    page.locator("#policy summary").click()
    text = page.locator("#policy").inner_text()
    for choice in case.payload["policy"]:
        assert choice["name"] in text
        assert choice["meaning"] in text
    for run in case.payload["runs"]:
        assert all(signature in text for signature in run["signatures"])
    assert case.payload["settings"] in text
    assert column(page, "coverage", 1) == case.names
