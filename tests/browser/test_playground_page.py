"""The playground in a browser: keys, pointer, touch, links, dark, a phone, accessibility, and no network."""

import json
import re
import struct

import pytest
from page_watch import Watch

import gainful as gf
from accessibility import findings
from node_program import PLAYGROUND

PAGE = PLAYGROUND / "playground.html"
FIRST = "list=A3,B2,C3,D0,E1,F2&rest=G3,H2&k=6"
ODD = "list=A2,B_~C3~D-1.25,E0.5,F_&rest=G30,H_&k=3&gain=exp2&discount=jarvelin&base=10&ties=average&negative=both"
PICTURED = "story=3"
LONG = "list=A2,B_~C3~D-1.2345,E0.5,F_,G9,H8,I7,J6,K5~L4,M3&rest=N30,O_,P1&gain=exp2&discount=jarvelin&base=10&ideal=retrieved&ties=average&depth=retrieved&negative=both"


@pytest.fixture(scope="module")
def blank_playgrounds():
    """The pages that no test has open, by what their contexts were made with: a new one takes longer."""
    return {}


@pytest.fixture
def playing(browser, blank_playgrounds):
    """Open the playground at a link; afterwards it must have been quiet, and have asked for nothing else."""
    opened = []

    def opening(
        link=FIRST,
        *,
        query="",
        width=1280,
        height=900,
        color_scheme="light",
        motion="reduce",
        **made,
    ):
        blank = blank_playgrounds.setdefault(tuple(made.items()), [])
        page = blank.pop() if blank else browser.new_context(**made).new_page()
        page.set_default_timeout(15_000)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=color_scheme, reduced_motion=motion)
        opened.append((page, Watch(page), blank))
        page.goto(f"file://{PAGE}{query}" + (f"#{link}" if link else ""))
        page.wait_for_selector("#board .row")
        return page

    yield opening
    for page, watch, blank in opened:
        page.mouse.move(0, 0)
        page.goto("about:blank")
        watch.stop()
        blank.append(page)
        assert watch.errors == []
        assert [url for url in watch.beyond(PAGE) if url != "about:blank"] == []


ORDER = (
    "[...document.querySelectorAll('#board > li')].map((item) => item.dataset.id ?? '|').join('')"
)


def order(page):
    """Return the documents of the board, with a line where the list ends."""
    return page.evaluate(ORDER)


def grip(page, doc):
    return page.locator(f"[data-id='{doc}'] .grip")


def middle(page, doc, part=".grip"):
    page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
    box = page.locator(f"[data-id='{doc}'] {part}").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def link_of(page):
    return page.text_content("#link").partition("#")[2]


def test_the_first_list_and_its_figures(playing):
    page = playing()
    figures = [page.inner_text(f"#{name}") for name in ("cg", "dcg", "idcg", "ndcg")]
    assert figures == ["11.000", "6.861", "8.740", "0.785"]
    assert link_of(page) == FIRST
    rows = page.locator("#terms tr")
    assert rows.count() == 6
    assert re.sub(r"\s+", " ", rows.nth(1).inner_text()) == "2 B 2 × 0.631 1.262 C 3 × 0.631 1.893"
    assert page.inner_text("#worked p >> nth=2") == "nDCG@6 = 6.861 / 8.740 = 0.785"
    tools = dict(page.locator("#tools tr").evaluate_all(
        "rows => rows.map((row) => [row.cells[0].firstChild.textContent, row.cells[1].textContent])"
    ))  # fmt: skip
    assert len(tools) >= 10
    judgments = {"q": dict(zip("ABCDEFGH", (3, 2, 3, 0, 1, 2, 3, 2), strict=True))}
    run = {"q": {doc: -place for place, doc in enumerate("ABCDEF")}}
    for name, shown in tools.items():
        dialect = {"Spark MLlib": "spark-mllib"}.get(name, name)
        (value,) = gf.evaluate(judgments, run, "nDCG@6", dialect=dialect).means.values()
        assert shown == f"{value:.3f}", name


def test_keys_alone(playing, until):
    page = playing()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the list
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "Move A, Asparagus omelette, rank 1 of 6"
    page.keyboard.press("ArrowDown")
    assert order(page) == "BACDEF|GH"
    assert page.evaluate(focused) == "Move A, Asparagus omelette, rank 2 of 6"
    sentence = "Swapping A and B changes DCG@6 from 6.861 to 6.492 and nDCG@6 from 0.785 to 0.743. CG@6 stays the same."
    assert page.inner_text("#effect") == sentence
    until(page, "document.querySelector('#live').textContent", sentence)
    page.keyboard.press("End")
    assert order(page) == "BCDEFA|GH"
    page.keyboard.press("ArrowDown")
    assert order(page) == "BCDEF|AGH"
    assert page.evaluate(focused) == "Move A, Asparagus omelette, not returned"
    page.keyboard.press("End")  # of one that was not returned
    assert order(page) == "BCDEFA|GH"
    assert page.evaluate(focused) == "Move A, Asparagus omelette, rank 6 of 6"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    assert order(page) == "ABCDEF|GH"
    for key in ("1", "ArrowDown", "=", "ArrowDown"):
        page.keyboard.press(key)
    assert link_of(page) == "list=B2,C3,A1,D0,E1,F2&rest=G3,H2&k=6"
    for key in ("=", "?"):
        page.keyboard.press(key)
    assert link_of(page) == "list=B2,C3~A_,D0,E1,F2&rest=G3,H2&k=6"
    page.keyboard.press("Delete")
    assert link_of(page) == "list=B2,C3,D0,E1,F2&rest=G3,H2&k=6"
    assert page.evaluate(focused) == "Move D, Duck confit, rank 3 of 5"
    # Four stops in a row: the handle, the grade, unjudged, tied.
    labels = []
    for _ in range(4):
        labels.append(page.evaluate(focused))
        page.keyboard.press("Tab")
    assert labels == [
        "Move D, Duck confit, rank 3 of 5",
        "Grade of D",
        "D is unjudged",
        "D has the same score as C",
    ]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    assert link_of(page).startswith("list=B2,C3~D0,")


def test_grades_are_typed_and_stepped(playing):
    page = playing()
    field = page.locator("[data-id='B'] input")
    field.fill("-1.5")
    assert link_of(page).startswith("list=A3,B-1.5,")
    field.fill("")
    assert link_of(page).startswith("list=A3,B_,")
    field.fill("99")
    assert link_of(page).startswith("list=A3,B30,")
    field.fill("2")
    page.click("[data-id='B'] .more")
    page.click("[data-id='C'] .less")
    page.click("[data-id='D'] .ask")
    assert link_of(page).startswith("list=A3,B3,C2,D_,E1")
    assert page.get_attribute("[data-id='D'] .ask", "aria-pressed") == "true"
    page.click("[data-id='H'] .up")
    assert page.inner_text("#effect") == "Moving H changes none of DCG@6, nDCG@6 and CG@6."
    page.click("[data-id='A'] .gone")
    assert order(page) == "BCDEF|HG"
    page.click("#add")
    assert order(page) == "BCDEFA|HG"
    for _ in range(8):
        page.click("#add")
    assert page.is_disabled("#add")
    assert len(order(page)) == 17


def test_the_last_document_stays(playing):
    page = playing("list=A1&rest=B2")
    for key in ("ArrowDown", "Delete"):
        grip(page, "A").press(key)
    assert order(page) == "A|B"
    assert page.is_disabled("[data-id='A'] .gone")
    assert page.is_disabled("[data-id='A'] .down")


def test_dragging_with_a_mouse(playing):
    page = playing(motion="no-preference")
    before = page.inner_text("#ndcg")
    page.mouse.move(*middle(page, "A"))
    page.mouse.down()
    x, y = middle(page, "D")
    page.mouse.move(x, y + 10, steps=6)
    assert order(page) == "BCDAEF|GH"
    assert page.inner_text("#ndcg") != before  # while it is dragged
    assert "dragged" in page.get_attribute("[data-id='A']", "class")
    x, y = middle(page, "H")
    page.mouse.move(x, y + 12, steps=6)
    page.mouse.up()
    assert order(page) == "BCDEF|GHA"
    assert page.locator(".dragged").count() == 0
    page.mouse.move(*middle(page, "B"))
    assert order(page) == "BCDEF|GHA"  # it was let go
    # A document dropped between equal scores has that score, too.
    grip(page, "C").press("=")
    page.mouse.move(*middle(page, "E"))
    page.mouse.down()
    x, y = middle(page, "C")
    page.mouse.move(x, y - 6, steps=6)
    page.mouse.up()
    assert link_of(page).startswith("list=B2~E1~C3,D0,F2&")


def test_dragging_with_a_finger(playing, until):
    page = playing(width=390, height=844, has_touch=True, is_mobile=True)
    finger = page.context.new_cdp_session(page)

    def touch(kind, *points):
        finger.send("Input.dispatchTouchEvent", {
            "type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]
        })  # fmt: skip

    page.evaluate(
        "scrollTo(0, document.querySelector('#list-title').getBoundingClientRect().top - 150)"
    )
    scrolled = page.evaluate("scrollY")
    (x, y), (_, end) = middle(page, "A"), middle(page, "C")
    touch("touchStart", (x, y))
    for step in range(1, 9):
        touch("touchMove", (x, y + (end + 25 - y) * step / 8))
    until(page, ORDER, "BCADEF|GH")  # a browser gathers moves
    touch("touchEnd")
    assert order(page) == "BCADEF|GH"
    assert page.evaluate("scrollY") == scrolled  # the page stood still
    assert page.is_hidden("[data-id='A'] .down")
    page.tap("[data-id='A'] .title")
    page.tap("[data-id='A'] .down")
    page.tap("[data-id='A'] .tie")
    assert link_of(page).startswith("list=B2,C3,D0~A3,")
    # A row that is held for a moment is dragged as well; without that, the finger scrolls.
    scrolled = page.evaluate("scrollY")
    (x, y), (_, end) = middle(page, "C", ".title"), middle(page, "B", ".title")
    touch("touchStart", (x, y))
    until(page, "document.querySelector('.dragged')?.dataset.id", "C")
    for step in range(1, 9):
        touch("touchMove", (x, y + (end - 25 - y) * step / 8))
    until(page, ORDER, "CBDAEF|GH")
    touch("touchEnd")
    assert page.locator(".dragged").count() == 0
    assert page.evaluate("scrollY") == scrolled
    x, y = middle(page, "D", ".title")
    touch("touchStart", (x, y))
    for step in range(1, 9):
        touch("touchMove", (x, y - 30 * step))
    touch("touchEnd")
    until(page, f"scrollY > {scrolled}")
    assert order(page) == "CBDAEF|GH"


def test_a_row_is_dragged_anywhere_and_follows_the_pointer(playing):
    page = playing()
    x, y = middle(page, "A", ".value")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 20, steps=3)
    assert order(page) == "ABCDEF|GH"
    assert page.locator("[data-id='A']").bounding_box()["y"] > y - 20
    end = middle(page, "C")[1] + 5
    page.mouse.move(x, end, steps=5)
    # What the whole drag does, not its last step.
    sentence = "Moving A from rank 1 to rank 3 changes DCG@6 from 6.861 to 6.492 and nDCG@6 from 0.785 to 0.743. CG@6 stays the same."
    assert page.inner_text("#effect") == sentence
    page.mouse.up()
    assert order(page) == "BCADEF|GH"
    assert page.evaluate("document.querySelector('[data-id=A]').style.transform") == ""
    # Buttons and fields are not handles.
    for part in ("input", ".more"):
        page.mouse.move(*middle(page, "B", part))
        page.mouse.down()
        page.mouse.move(*middle(page, "F"), steps=3)
        page.mouse.up()
    assert order(page) == "BCADEF|GH"


def test_undo_by_keys_by_the_button_and_by_back(playing, until):
    page = playing()
    assert page.is_disabled("#undo")
    grip(page, "A").press("ArrowDown")
    page.wait_for_timeout(350)
    grip(page, "B").press("5")  # it is undone before the browser knows of it
    page.keyboard.press("Control+z")
    until(page, ORDER, "BACDEF|GH")
    assert link_of(page).startswith("list=B2,A3,")
    page.click("#undo")
    until(page, ORDER, "ABCDEF|GH")
    until(page, "document.querySelector('#undo').disabled")
    page.keyboard.press("Control+z")  # there is nothing more to undo
    assert order(page) == "ABCDEF|GH"
    page.keyboard.press("Control+Shift+z")
    until(page, ORDER, "BACDEF|GH")
    page.keyboard.press("Control+y")
    until(page, "document.querySelector('[data-id=B] input').value", "5")
    page.evaluate("history.back()")
    until(page, "document.querySelector('[data-id=B] input').value", "2")
    page.reload()
    until(page, ORDER, "BACDEF|GH")
    page.click("#undo")
    until(page, ORDER, "ABCDEF|GH")
    # A drag is one change, whatever lies on its way.
    page.mouse.move(*middle(page, "A"))
    page.mouse.down()
    x, y = middle(page, "F")
    page.mouse.move(x, y + 5, steps=8)
    page.mouse.up()
    assert order(page) == "BCDEFA|GH"
    page.keyboard.press("Control+z")
    until(page, ORDER, "ABCDEF|GH")


def test_moves_are_animated_unless_people_prefer_less_motion(playing):
    running = "document.getAnimations().filter((each) => each.effect.target.matches('.row') && each.playState === 'running').length"
    for motion, animated in (("no-preference", True), ("reduce", False)):
        page = playing(motion=motion)
        moved = f"document.querySelector('[data-id=A] .down').click(), {running}"
        assert bool(page.evaluate(moved)) == animated
        assert order(page) == "BACDEF|GH"


def test_the_ideal_and_the_cost_of_each_rank(playing):
    page = playing()
    assert page.locator(".row .cost").all_inner_texts() == ["0", "−0.072", "0", "−0.099", "−0.044", "0", "", ""]  # fmt: skip
    assert page.inner_text("#sum") == "nDCG@6 = 1 − 0.215 = 0.785"
    width = "(kind) => document.querySelector(`[data-id=B] .${kind}`).getBoundingClientRect().width"
    assert page.evaluate(width, "ghost") == pytest.approx(1.5 * page.evaluate(width, "fill"), abs=1)
    short = playing("list=A1&rest=B1,C1,D1,E1&k=5")
    assert (
        short.inner_text("#sum") == "Ranks 2 to 5 are unfilled: −0.661. nDCG@5 = 1 − 0.661 = 0.339"
    )


def test_the_story_from_its_first_step_to_the_challenges(playing, until):
    page = playing("")
    until(page, "location.hash", "#story=1")
    titles = []
    for step, changes in enumerate((
        ["[data-id='D'] .grip:End"],
        ["[data-id='D'] .grip:ArrowUp"],
        ["[data-id='G'] .grip:Home", "[data-id='G'] .grip:ArrowDown"],
        ["[data-id='B'] .grip:0", "[data-id='D'] .grip:0"],
        ["gain=exp2", "ideal=retrieved"],
    ), 1):  # fmt: skip
        titles.append(page.inner_text("#lesson h3"))
        assert page.inner_text("#state") == "Try it."
        assert page.get_attribute("#steps [aria-current]", "aria-label").startswith(f"Step {step}:")
        for change in changes:
            if "=" in change and "data" not in change:
                if page.is_hidden("#choices"):
                    page.click("#options")
                page.select_option(*("#" + change).split("="))
            else:
                page.press(*change.split(":"))
        assert page.inner_text("#state") == "✓ Done."
        until(page, "document.querySelector('#live').textContent.endsWith(' Task done.')")
        page.click("#lesson .primary")
    assert titles == ["1. Order", "2. Discount", "3. Ideal", "4. Unjudged", "5. Tools disagree"]
    assert page.locator("#steps .solved").count() == 5
    until(page, "location.hash", "#challenge=1")
    # A challenge counts moves, and nothing else is allowed.
    grip(page, "G").press("Home")
    assert page.inner_text("#state") == "1 of 2 moves used."
    grip(page, "A").press("2")
    assert page.inner_text("#state") == "Only moves count. Undo the other change."
    grip(page, "A").press("3")
    grip(page, "D").press("End")
    grip(page, "D").press("ArrowDown")
    assert page.inner_text("#state") == "✓ Done."
    grip(page, "H").press("End")
    assert page.inner_text("#state") == "3 moves are 1 too many."
    page.click("text=Start over")
    assert order(page) == "ABCDEF|GH"
    page.evaluate("history.back()")
    until(page, ORDER, "GABCEFH|D")
    assert page.inner_text("#lesson h3") == "Reach 0.9 in two moves"
    other = playing("challenge=2")
    assert other.inner_text("#lesson h3") == "Reach 1 in three moves"
    other.select_option("#examples", index=1)
    assert "New to nDCG?" in other.inner_text("#lesson")
    other.click("text=Start the story")
    assert other.inner_text("#lesson h3") == "1. Order"


def test_an_embedded_page_is_the_list_alone_and_leaves_the_history_alone(playing, until):
    page = playing(query="?embed=1", width=640)
    for part in (".top", ".story", ".tries", ".terms", ".tools", ".words", "footer"):
        assert page.is_hidden(part), part
    entries = page.evaluate("history.length")
    grip(page, "A").press("ArrowDown")
    page.wait_for_timeout(350)
    grip(page, "A").press("ArrowDown")
    assert order(page) == "BCADEF|GH"
    assert page.get_attribute("#out", "href") == f"file://{PAGE}#{link_of(page)}"
    page.keyboard.press("Control+z")
    assert order(page) == "BACDEF|GH"
    page.click("#undo")
    assert order(page) == "ABCDEF|GH"
    page.keyboard.press("Control+y")
    assert order(page) == "BACDEF|GH"
    assert page.evaluate("history.length") == entries
    assert page.evaluate("location.hash") == f"#{FIRST}"
    told = playing("story=2", query="?embed=1", width=640)
    assert told.inner_text("#lesson h3") == "2. Discount"
    # The snippet embeds the same list, as high as it is.
    frame = playing().inner_text("#iframe")
    (high,) = re.findall(r'height="(\d+)"', frame)
    fresh = playing(query="?embed=1", width=700, height=int(high))
    assert (
        0.85 * int(high)
        < fresh.evaluate("document.querySelector('.out').getBoundingClientRect().bottom")
        <= int(high)
    )
    assert fresh.evaluate("document.documentElement.scrollHeight") <= int(high)
    assert f'src="file://{PAGE}?embed=1#{FIRST.replace("&", "&amp;")}"' in frame


def test_a_link_holds_all_that_is_seen(playing, until):
    page = playing()
    page.click("#options")
    chosen = {
        "k": "5", "gain": "exp2", "discount": "jarvelin", "base": "10", "ideal": "retrieved", "ties": "worst",
        "depth": "all", "unjudged": "condense", "negative": "both", "scale": "5",
    }  # fmt: skip
    for name, word in chosen.items():
        page.select_option(f"#{name}", word)
    grip(page, "B").press("?")
    grip(page, "D").press("=")
    grip(page, "F").press("-")
    link = link_of(page)
    until(page, "decodeURIComponent(location.hash)", f"#{link}")
    other = playing(link)
    assert {name: other.input_value(f"#{name}") for name in chosen} == chosen
    assert link_of(other) == link
    for part in ("#ndcg", "#terms", "#tools", "#worked", "#command"):
        assert other.inner_text(part) == page.inner_text(part)
    assert other.is_hidden("#broken")
    # The same page, given another link.
    other.evaluate(f"location.hash = '{FIRST}'")
    until(other, "document.querySelector('#ndcg').textContent", "0.785")
    other.click("#options")
    other.select_option("#discount", "none")
    assert other.is_disabled("#base")
    assert other.inner_text("#dcg") == other.inner_text("#cg")


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("list=A1,B", "“,B” is not a document"),
        ("%E0%A4%A", "it is damaged"),
        ("<img src=x onerror=alert(1)>", "“<img src=x onerror=alert(1)>” is not a choice"),
    ],
)
def test_a_broken_link_is_told(playing, link, reason):
    page = playing(link)
    assert (
        page.inner_text("#broken")
        == f"This link cannot be read: {reason}. The list below is a different one."
    )
    assert page.get_attribute("#broken", "role") == "alert"
    assert page.inner_text("#ndcg") == "0.961"
    grip(page, "A").press("ArrowDown")
    assert page.is_hidden("#broken")
    assert order(page) == "BACDEF|"


def test_unjudged_documents_and_their_bounds(playing):
    page = playing("list=A1,B2,C0,U_&rest=X3&k=4")
    assert page.inner_text("#ndcg") == "0.475"
    ends = gf.bounds(
        {"q": {"A": 1, "B": 2, "C": 0, "X": 3}}, {"q": {"A": 4, "B": 3, "C": 2, "U": 1}}, "nDCG@4", grades={0, 1, 2, 3}
    )["nDCG@4"]  # fmt: skip
    assert page.inner_text("#range") == f"{ends.low:.3f} to {ends.high:.3f} once all are judged"
    assert f"lies between {ends.low:.3f} and {ends.high:.3f}." in page.inner_text("#notes")
    page.click("#options")
    page.select_option("#ties", "best")
    assert page.inner_text("#range") == ""
    assert "There are no bounds here" in page.inner_text("#notes")


def test_copying(playing):
    page = playing()
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.kept = text; }}})"
    )
    page.click("[data-copy='command']")
    page.wait_for_selector("text=Copied.")
    assert (
        page.evaluate("kept") == 'gainful explain 3,2,3,0,1,2 --judged 3,2,3,0,1,2,3,2 -m "nDCG@6"'
    )
    page.click(".acts [data-copy='link']")
    assert page.evaluate("kept") == f"file://{PAGE}#{FIRST}"
    # Where that is refused, the text is selected.
    page.evaluate("() => { navigator.clipboard.writeText = async () => { throw Error('no'); }; }")
    page.click("[data-copy='python']")
    page.wait_for_selector("text=Selected: copy it.")
    assert page.evaluate("getSelection().toString()").startswith("import gainful as gf")


def test_dark_and_light(playing):
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = playing(), playing(color_scheme="dark")
    seen = [light.evaluate(ground), dark.evaluate(ground)]
    assert seen == ["rgb(243, 245, 248)", "rgb(15, 18, 22)"]
    for page in (light, dark):
        page.click("#theme")
    assert [light.evaluate(ground), dark.evaluate(ground)] == seen[::-1]
    light.click("#theme")
    assert light.evaluate(ground) == seen[0]


def test_nothing_sticks_out_of_a_phone(playing):
    page = playing(LONG, width=390)
    page.click("#options")
    examples = page.eval_on_selector_all(
        "#examples option", "all => all.map((each) => each.value).filter(Boolean)"
    )
    assert len(examples) >= 5
    outside = """() => [...document.querySelectorAll('body *')].filter((each) => {
        const box = each.getBoundingClientRect();
        const inside = (each.parentElement.closest('.row, .card') ?? document.body).getBoundingClientRect();
        return box.width && !each.closest('.unseen, .skip') && (box.right > inside.right + 1 || box.left < inside.left - 1);
    }).map((each) => each.className || each.tagName)"""
    embedded = playing(LONG, query="?embed=1", width=320)
    assert embedded.evaluate("document.documentElement.scrollWidth") <= 320
    assert embedded.evaluate(outside) == []
    for name in (None, *examples):
        if name:
            page.select_option("#examples", name)
        for width in (320,) if name else (1280, 1120, 1000, 700, 390, 320):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            assert page.evaluate(outside) == [], (name, width)


def test_axe_finds_no_grave_fault(playing, axe):
    page = playing(ODD, bypass_csp=True, width=390, color_scheme="dark")
    page.click("#options")
    assert findings(page, axe) == []
    page.evaluate("location.hash = 'nothing'")  # it is told, above the same list
    page.wait_for_selector("#broken:not([hidden])")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    assert findings(page, axe) == []


def test_axe_finds_no_grave_fault_in_the_story_or_an_embedded_page(playing, axe):
    for link, query, scheme in (("story=2", "", "light"), ("challenge=1", "", "dark"), (FIRST, "?embed=1", "light")):  # fmt: skip
        page = playing(link, query=query, bypass_csp=True, color_scheme=scheme)
        assert findings(page, axe) == []
        grip(page, "D").press("ArrowUp")  # the task of step 2
        assert findings(page, axe) == []


def test_the_pictures_of_the_documentation_and_of_link_previews(playing, pytestconfig):
    """`make pictures` takes them; otherwise what they show, as text, must be what the page shows."""
    words = PLAYGROUND / "picture.json"
    page = playing(PICTURED, width=1280, height=860)
    preview = playing(PICTURED, width=1200, height=630)
    seen = {"link": PICTURED, "words": [page.inner_text(part) for part in (".top", ".bar-top", ".story", ".list")]}  # fmt: skip
    dark = playing(PICTURED, width=1280, height=860, color_scheme="dark")
    pictures = {"picture.png": page, "picture_dark.png": dark, "preview.png": preview}
    if pytestconfig.option.pictures:
        for name, each in pictures.items():
            each.screenshot(path=PLAYGROUND / name)
        words.write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert json.loads(words.read_text("utf-8")) == seen, "run `make pictures`"
    assert f"](picture.png)](playground.html#{PICTURED})" in (PLAYGROUND / "index.md").read_text(
        "utf-8"
    )
    header = (PLAYGROUND / "preview.png").read_bytes()[:24]
    assert struct.unpack(">II", header[16:]) == (1200, 630)  # as the page's own head says
    for name in pictures:
        assert 20_000 < (PLAYGROUND / name).stat().st_size < 250_000
