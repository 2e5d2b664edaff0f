"""A query in full: the numbers of `explain` and `attribute`, and every way to get there."""

import itertools
import math
import re

import pytest

import gainful as gf


def printed(explanation):
    """Return the cells of the worked tables as `explain` prints them."""
    tables = re.findall(r"─+\n(.*?)(?:\n\n|$)", str(explanation), re.DOTALL)
    return [[re.split(r" {2,}", line.strip()) for line in table.split("\n")] for table in tables]


def worked(page, place):
    """Return the cells of a worked table as they are read."""
    rows = page.locator("dialog .steps").nth(place).locator("tbody tr")
    return [
        [text.replace("−", "-") for text in row.locator("td").all_inner_texts()]
        for row in rows.all()
    ]


def ranking(path, query):
    """Return the rank of every document of a query, by the file alone."""
    lines = [line.split() for line in path.read_text().splitlines()]
    scored = [(float(score), doc) for found, _, doc, _, score, _ in lines if found == query]
    return {doc: rank for rank, (_, doc) in enumerate(sorted(scored, reverse=True), 1)}


def moves(rank, other, side):
    """Return how a page says that a document has another rank in the other list."""
    if other is None:
        return ("gone", "new")[side]
    if other == rank:
        return "same"
    up = other < rank if side == 0 else rank < other
    return f"{'↑' if up else '↓'} {('now', 'was')[side]} {other}"


def check(page, case, query, base, run):
    """Hold the open detail to what the functions of the package say."""
    assert page.locator("#detail-title bdi").inner_text() == query
    told = [
        gf.explain(case.judgments, case.runs[name], "nDCG@10", query=query) for name in (base, run)
    ]
    for place, each in enumerate(told):
        shown, wanted = worked(page, place), printed(each)[0]
        assert shown[: len(wanted)] == wanted
        # `explain` counts the ranks at the end that add nothing; the page shows them.
        assert {row[5] for row in shown[len(wanted) :]} <= {"0.000"}
        total = page.locator("dialog .steps").nth(place).locator("tfoot td").inner_text()
        assert total == f"{each.parts[0].total:.3f}"
        assert page.locator(".conclusion").nth(place).inner_text() == each.conclusion
    assert worked(page, 2) == printed(told[0])[1]
    parts = gf.explanation.attribute(
        case.judgments, case.runs[base], case.runs[run], "nDCG@10", query=query
    )
    wanted = {moved.doc: moved for moved in parts.documents}
    for side, rank in ((0, "base_rank"), (1, "run_rank")):
        for row in page.locator(".ranked").nth(side).locator("tbody tr").all():
            doc = row.locator(".doc-id").inner_text()
            cells = row.locator("td").all_inner_texts()
            moved = wanted[doc]
            assert int(cells[0]) == getattr(moved, rank)
            grade = "unjudged" if moved.grade is None else f"{moved.grade:g}"
            assert grade in cells[2].replace("−", "-") + row.locator(".chip").text_content()
            part = f"{moved.part:+.4f}" if moved.part else "0"
            assert cells[4].replace("−", "-") == part
            other = ranking(case.runs[(run, base)[side]], query).get(doc)
            assert cells[3] == moves(int(cells[0]), other, side)


def values(page):
    return page.locator(".strips tbody td:nth-child(2)").all_inner_texts()


def test_a_bar_leads_to_its_query(opened, reports, drawn):
    page, case = opened("cooking"), reports("cooking")
    bars = drawn(page, "differences").locator(".mark-rect").last.locator("path")
    for place in (1, 21):
        bars.nth(place).click()
        page.wait_for_selector("dialog[open]")
        query = case.by_difference("keyword", "hybrid")[place][0]
        check(page, case, query, "keyword", "hybrid")
        at = case.queries.index(query)
        assert values(page)[:3] == [f"{case.scores(name)[at]:.4f}" for name in case.names]
        page.get_by_role("button", name="Close").click()
        assert not page.locator("dialog").is_visible()


def test_the_keyboard_leads_there_and_back(opened, reports):
    page, case = opened("cooking"), reports("cooking")
    page.focus("#filter")
    page.keyboard.type("e")  # leaves out udon-soup, which a run lacks
    active = "document.activeElement"
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate(f"{active}.matches('a.query-link')"):
            break
    query = page.evaluate(f"{active}.textContent")
    assert query == next(
        query for query, _ in case.by_difference("keyword", "hybrid") if "e" in query
    )
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open]")
    assert page.evaluate(f"{active}.id") == "detail-title"
    check(page, case, query, "keyword", "hybrid")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="hidden")
    assert page.evaluate(f"{active}.textContent") == query
    assert "query=" not in page.url


def test_a_row_is_as_good_as_its_link(opened):
    page = opened("cooking")
    row = page.locator("#queries tbody tr").nth(2)
    query = row.locator("a").inner_text()
    row.locator("td").nth(1).click()
    page.wait_for_selector("dialog[open]")
    assert page.locator("#detail-title bdi").inner_text() == query


def changed(page, **fields):
    """Choose a change of the list, and return the sentence on its effect and the command."""
    for key, option in fields.items():
        page.locator(f"dialog [data-change={key}]").select_option(**option)
    effect = page.inner_text("dialog output.effect").replace("−", "-")
    return effect, page.inner_text("dialog pre.command")


def at(index):
    return {"index": index}


@pytest.mark.parametrize("run", ["hybrid", "keyword"])
def test_a_detail_says_what_a_change_of_a_list_would_do(opened, reports, run):
    page, case = opened("cooking", at="#query=pad-thai"), reports("cooking")

    def effect(change):
        found = gf.explain(
            case.judgments, case.runs[run], "nDCG@10", query="pad-thai", what_if=change
        )
        return found.effect.replace("−", "-")

    start = "gainful explain JUDGMENTS RUN --query pad-thai -m nDCG@10"
    changed(page, run={"label": run})
    assert changed(page) == (effect("swap 1,2"), f"{start} --swap 1,2")
    for first, second in ((3, 4), (1, 10), (6, 2), (5, 5)):
        sentence, command = changed(page, first=at(first - 1), second=at(second - 1))
        assert sentence == effect(f"swap {first},{second}")
        assert command == f"{start} --swap {first},{second}"
    changed(page, kind={"label": "Move a document"})
    for first, second in ((5, 2), (1, 10), (4, 4)):
        sentence, command = changed(page, first=at(first - 1), second=at(second - 1))
        assert sentence == effect(f"move {first},{second}")
        assert command == f"{start} --move {first},{second}"
    changed(page, kind={"label": "Change a grade"})
    for first, grade in ((3, "0"), (1, "3"), (6, "2"), (4, "3"), (7, "−1")):
        sentence, command = changed(page, first=at(first - 1), grade={"label": grade})
        plain = grade.replace("−", "-")
        assert sentence == effect(f"regrade {first}={plain}")
        assert command == f"{start} --regrade {first}={plain}"
    changed(page, kind={"label": "Remove a document"})
    for rank in (1, 7, 10):
        sentence, command = changed(page, first=at(rank - 1))
        assert sentence == effect(f"remove {rank}")
        assert command == f"{start} --remove {rank}"


def test_a_change_of_documents_that_share_ranks(opened, reports):
    page, case = opened("shared_ranks", at="#query=q"), reports("shared_ranks")
    for change, first, second in (("swap 1,2", 0, 1), ("swap 2,4", 1, 3)):
        found = gf.explain(
            case.judgments, case.runs["one"], "nDCG@4", query="q", what_if=change,
            policy=gf.Policy(ties="average"),
        )  # fmt: skip
        assert changed(page, first=at(first), second=at(second))[0] == found.effect.replace(
            "−", "-"
        )
    for kind in ("Move a document", "Remove a document"):
        sentence, _ = changed(page, kind={"label": kind})
        assert "because documents share ranks" in sentence


def test_a_change_of_a_short_list(opened, reports):
    """The list of the first run ends above the cutoff, and its ideal is its own."""
    page, case = opened("own_ideals", at="#query=r"), reports("own_ideals")
    found = gf.explain(
        case.judgments, case.runs["one"], "nDCG(ideal=retrieved)@3", query="r", what_if="swap 1,1"
    )
    assert changed(page, run={"label": "one"}, second=at(0))[0] == found.effect
    sentence, command = changed(page, kind={"label": "Remove a document"})
    assert "because the ideal depends on the list" in sentence
    assert command.endswith("--remove 1")


def test_a_document_is_removed_from_a_list_with_a_cutoff_below_its_end(opened, reports):
    page, case = opened("clicks"), reports("clicks")
    query = case.payload["queries"][0]["id"]
    page.evaluate("hash => { location.hash = hash; }", f"#query={query}")
    page.wait_for_selector("dialog[open]")
    run = page.locator("dialog [data-change=run] option:checked").inner_text()
    changed(page, kind={"label": "Remove a document"})
    for rank in (1, 3):
        found = gf.explain(
            case.judgments, case.runs[run], "nDCG@5", query=query, what_if=f"remove {rank}"
        )
        assert changed(page, first=at(rank - 1))[0] == found.effect.replace("−", "-")


def test_a_change_is_chosen_by_keys_alone(opened):
    page = opened("cooking", at="#query=pad-thai")
    page.get_by_label("Change", exact=True).focus()
    page.keyboard.type("Rem")
    assert page.evaluate("document.activeElement.dataset.change") == "kind"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("dialog pre.command").endswith("--remove 2")
    assert page.evaluate("document.activeElement.dataset.change") == "first"


@pytest.mark.parametrize(("name", "measure"), [("nERR@5", "nERR@5"), ("2*AP", "2*AP")])
def test_a_measure_that_the_page_cannot_recompute_says_so(opened, reports, name, measure):
    page, case = opened(name), reports(name)
    query = case.payload["queries"][0]["id"]
    page.evaluate("hash => { location.hash = hash; }", f"#query={query}")
    page.wait_for_selector("dialog[open]")
    assert f"because {measure} isn't a sum of gains with discounts" in page.inner_text("dialog")
    assert page.inner_text("dialog pre.command").endswith("--swap 1,2")
    assert page.locator("dialog [data-change]").count() == 0


def test_a_detail_has_an_address(opened, reports, until):
    case = reports("cooking")
    page = opened("cooking", at="#query=pad-thai")
    page.wait_for_selector("dialog[open]")
    check(page, case, "pad-thai", "keyword", "hybrid")
    assert page.locator("dialog .query-text").inner_text() == "pad with thai"
    page.evaluate("location.hash = '#query=udon-soup'")
    until(page, "document.querySelector('#detail-title bdi').textContent === 'udon-soup'")
    page.evaluate("location.hash = ''")
    page.wait_for_selector("dialog", state="hidden")


def test_a_query_that_is_not_there(opened):
    page = opened("cooking", at="#query=%zz")
    assert "no query with this id" in page.locator("dialog").inner_text()


def test_other_lists_may_be_chosen(opened, reports):
    page, case = opened("cooking", at="#query=pad-thai"), reports("cooking")
    page.get_by_label("Second list").select_option(label="semantic")
    check(page, case, "pad-thai", "keyword", "semantic")
    assert page.evaluate("document.activeElement.dataset.side") == "right"
    page.get_by_label("First list").select_option(label="hybrid")
    assert page.locator(".ranked").first.locator("thead th").all_inner_texts()[-1] == "moves to"
    assert "choose it as one of the lists" in page.locator("dialog").inner_text()


def test_neighbours_follow_the_table(opened, reports, until):
    page, case = opened("cooking"), reports("cooking")
    order = [query for query, _ in case.by_difference("keyword", "hybrid")]
    page.locator("#queries a.query-link").nth(1).click()
    page.wait_for_selector("dialog[open]")
    title = page.locator("#detail-title bdi")
    assert title.inner_text() == order[1]
    page.get_by_role("button", name="Next query").click()
    until(page, f"document.querySelector('#detail-title bdi').textContent === '{order[2]}'")
    for place in (1, 0):
        page.get_by_role("button", name="Previous query").click()
        until(page, f"document.querySelector('#detail-title bdi').textContent === '{order[place]}'")
    assert page.get_by_role("button", name="Previous query").is_disabled()


def test_a_missing_list_is_said(opened, reports):
    page, case = opened("cooking", at="#query=udon-soup"), reports("cooking")
    said = page.locator("dialog").inner_text()
    assert "This run has no list for this query." in said
    assert "policy missing=zero" in said
    assert values(page)[0] == f"{case.scores('keyword')[case.queries.index('udon-soup')]:.4f}"


@pytest.mark.parametrize(
    ("place", "command"),
    [
        (1, r"gainful explain JUDGMENTS RUN --query 'it'\''s -a query' -m nDCG@10"),
        (2, "gainful explain JUDGMENTS RUN --query {} -m nDCG@10"),
    ],
)
def test_what_is_left_out_is_told_and_how_to_see_it(opened, reports, place, command):
    page, case = opened("left_out"), reports("left_out")
    page.locator("#queries a.query-link", has_text=case.queries[place]).first.click()
    page.wait_for_selector("dialog[open]")
    said = page.locator("dialog").inner_text()
    assert "the ranked lists of 1 of 24 queries: the rest is left out" in said
    assert page.locator("dialog pre").inner_text() == command.format(case.queries[place])


def test_documents_have_titles_and_texts(opened):
    page = opened("cooking", at="#query=pad-thai")
    cell = page.locator(".ranked .doc", has_text="recipe-0044").first
    assert cell.locator(".doc-title").inner_text() == "Pad thai"
    assert cell.locator(".snippet").inner_text() == "Soak the noodles; fry the rest."


def test_what_is_asked_for_last_is_shown(opened, reports, until):
    """Details are unpacked in groups: a query of another group may come before one asked for first."""
    page, queries = opened("many"), reports("many").queries
    for order in (queries[::20], queries[::-30]):
        page.evaluate("ids => ids.forEach((id) => (location.hash = `#query=${id}`))", order)
        until(page, f"document.querySelector('#detail-title bdi')?.textContent === '{order[-1]}'")
        page.wait_for_timeout(300)
        assert page.locator("#detail-title bdi").inner_text() == order[-1]
        assert page.locator("dialog .ranked").count() == 2


def test_every_group_has_its_details(opened, reports, until):
    page, case = opened("many"), reports("many")
    for place in (0, 15, 16, 130, 249):
        page.evaluate(f"location.hash = '#query={case.queries[place]}'")
        until(
            page,
            f"document.querySelector('#detail-title bdi')?.textContent === '{case.queries[place]}'",
        )
        detail = case.payload["details"][str(place)]
        docs = [detail["docs"][row[0]][0] for row in detail["lists"][0]["rows"]]
        assert page.locator(".ranked").first.locator(".doc-id").all_inner_texts() == docs


def test_a_detail_that_is_closed_before_it_is_there_stays_closed(opened, reports):
    page, queries = opened("many"), reports("many").queries
    page.evaluate(f"location.hash = '#query={queries[0]}'; location.hash = ''")
    page.wait_for_timeout(500)
    assert not page.locator("dialog").is_visible()


def test_a_browser_that_cannot_unpack_says_so(browser, reports):
    case = reports("cooking")
    page = browser.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    page.goto(f"file://{case.path}#query=pad-thai")
    page.wait_for_selector("dialog[open]")
    said = page.locator("dialog").inner_text()
    assert "This browser is too old to decompress" in said
    assert "gainful explain JUDGMENTS RUN --query pad-thai -m nDCG@10" in said
    page.close()


def test_an_ideal_of_a_run_has_its_name(opened):
    page = opened("own_ideals", at="#query=q")
    assert page.locator(".strips .ideal th").inner_text() == "ideal of <b>two</b>"
    title = page.locator(".steps caption").last.inner_text()
    assert title == "ideal of <b>two</b>: the documents of the list, best first"


def test_the_ideal_of_all_has_no_name(opened):
    page = opened("cooking", at="#query=pad-thai")
    assert page.locator(".strips .ideal th").inner_text() == "ideal"
    title = page.locator(".steps caption").last.inner_text()
    assert title == "ideal: all judged documents, best first"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_grades_are_told_apart_by_their_colours(opened, scheme):
    page = opened("hostile", color_scheme=scheme)
    page.locator("#queries a.query-link").first.click()
    page.wait_for_selector("dialog[open]")
    chips = page.locator(".strip .chip").evaluate_all(
        "all => all.map(each => [each.textContent, getComputedStyle(each).backgroundColor])"
    )
    colours = {text: [int(part) for part in re.findall(r"\d+", colour)] for text, colour in chips}
    assert sorted(colours) == ["grade 0", "grade 1", "grade 2", "grade 3"]
    for one, other in itertools.combinations(colours.values(), 2):
        assert math.dist(one, other) > 30, colours


def test_a_query_asked_for_while_another_closes_is_shown(opened):
    """The event of closing comes later than the closing."""
    page = opened("cooking")
    links = page.locator("#queries a.query-link")
    links.nth(0).press("Enter")
    page.wait_for_selector("dialog[open]")
    other = links.nth(1).get_attribute("href")
    page.evaluate(
        "hash => { document.querySelector('dialog').close(); location.hash = hash; }", other
    )
    page.wait_for_selector("dialog[open]")
    assert page.locator("#detail-title bdi").text_content() == links.nth(1).text_content()


@pytest.mark.parametrize("measure", ["nERR@5", "F@5"])
def test_every_family_has_its_table(opened, reports, measure):
    case, query = reports(measure), "beef-stew"
    page = opened(measure, at=f"#query={query}")
    for place, name in enumerate(case.names):
        told = gf.explain(case.judgments, case.runs[name], measure, query=query)
        head = page.locator("dialog .steps").nth(place).locator("thead th").all_inner_texts()
        assert head == [name for name in told.parts[0].columns if name]
        shown, wanted = worked(page, place), printed(told)[0]
        assert shown[: len(wanted)] == wanted
        assert page.locator(".conclusion").nth(place).inner_text() == re.sub(
            " +", " ", told.conclusion
        )
    ideal = page.locator("dialog .steps caption").all_inner_texts()[len(case.names) :]
    assert ideal == (["ideal: all judged documents, best first"] if measure == "nERR@5" else [])
    note = page.locator("dialog p.quiet").all_inner_texts()
    assert any("isn't a sum over documents" in each for each in note) == (measure == "F@5")


def test_a_formula_has_no_table_of_steps(opened):
    page = opened("2*AP", at="#query=beef-stew")
    assert page.locator("dialog .steps").count() == 0
    assert "2*AP has no step-by-step table." in page.locator("dialog").inner_text()
    assert page.locator("dialog .conclusions li").count() == 2
