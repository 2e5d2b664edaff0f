"""The section about the click log: its words, table and chart are those of the log."""


def test_the_section_describes_the_log(opened, reports, drawn):
    page, case = opened("clicks"), reports("clicks")
    log, section = case.judgments.log, case.payload["log"]
    assert f"{log.summary}." in page.locator("#log .lead").first.inner_text()
    assert section["examination"] in page.locator("#log").inner_text()
    svg = drawn(page, "examination").locator("svg").first.text_content()
    assert "examination" in svg
    assert "mean" not in svg
    rows = page.locator("#log table").last.locator("tbody tr").all_inner_texts()
    assert [line.split("\t")[:3] for line in rows] == [
        [str(row.rank), f"{row.shown:,}", f"{row.clicks:,}"] for row in log.ranks
    ]
    assert log.oddities
    for oddity in log.oddities:
        assert str(oddity) in page.locator("#log").inner_text()


def test_without_a_log_there_is_no_section(opened):
    assert opened("cooking").locator("#log").count() == 0
