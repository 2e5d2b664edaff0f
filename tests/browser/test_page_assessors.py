"""The section about assessors: its words, tables and charts are those of the agreement."""


def headings(page):
    return page.locator("#assessors h3").all_inner_texts()


def test_the_section_has_what_the_agreement_says(opened, reports):
    page, found = opened("assessors"), reports("assessors").judgments
    sections = page.eval_on_selector_all("main > section", "all => all.map(each => each.id)")
    assert sections[-4:] == ["assessors", "coverage", "policy", "downloads"]
    assert headings(page) == [
        "Pairs of grades", "Agreement by query", "Runs by assessor", "Pairs of assessors, Cohen's κ",
        "Who grades high or low, compared with the others on the same items", "How often two grades occur on one item, as the mean share of its pairs",
        "Widest disagreement", "Runs by assessor", "Agreement of the orders of runs", "Verdicts by assessor",
        "Items to settle first",
    ]  # fmt: skip
    assert found.summary in page.locator("#assessors .lead").first.inner_text()
    first = page.locator("#assessors table").first.locator("tbody tr").all_inner_texts()
    assert [line.split("\t")[:2] for line in first] == [
        [each.title, f"{each.value:.3f}".replace("-", "−")] for each in found.coefficients
    ]
    changed = len(found.conclusions.changed)
    assert changed
    assert f"{changed} of the " in page.locator("#assessors > p").nth(1).inner_text()


def test_the_charts_are_drawn_and_follow_the_measure(opened, reports, drawn):
    page, case = opened("assessors"), reports("assessors")
    for name in ("confusion", "query_agreement"):
        drawn(page, name)
    means = drawn(page, "assessor_means")
    assert "mean nDCG@10" in means.locator("svg").text_content()
    page.select_option("#measure", label="AP")
    means.scroll_into_view_if_needed()
    means.locator("svg", has_text="mean AP").wait_for()
    page.select_option("#measure", label="P@5")  # which was not computed by assessor
    instead = page.locator("#assessors figure", has=means).locator("p.quiet")
    assert instead.is_visible()
    assert "not computed by assessor" in instead.inner_text()
    assert {row["measure"] for row in case.payload["assessors"]["means"]} == {"nDCG@10", "AP"}


def test_a_query_that_is_disagreed_on_leads_to_its_detail(opened, reports):
    page, case = opened("assessors"), reports("assessors")
    least = case.payload["assessors"]["queries"][0]
    link = page.locator("#assessors a.query-link").first
    assert link.inner_text() == least["query"]
    link.press("Enter")  # charts above it may still be drawn, and move it away from a mouse
    page.locator("dialog#detail[open]").wait_for()
    assert least["query"] in page.locator("#detail-title").inner_text()


def test_without_assessors_there_is_no_section(opened):
    assert opened("cooking").locator("#assessors").count() == 0
