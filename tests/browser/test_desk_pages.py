"""The pages of the judging desk: texts that would do harm, accessibility, touch, other directions, no server."""

import json

from reports import HOSTILE

import gainful as gf
from accessibility import findings
from desk_server import desk, study

EVIL = '<img src=x onerror="alert(1)">'


def hostile_study():
    """Ids, texts, words and a guideline that would do harm if any were taken for markup."""
    docs = {
        f"{text} d": (HOSTILE[-1 - place], f"{text} {EVIL}") for place, text in enumerate(HOSTILE)
    }
    runs = {
        name: {query: {doc: way * place for place, doc in enumerate(docs)} for query in HOSTILE[:4]}
        for name, way in ((EVIL, 1), ("</script><script>alert(2)</script>", -1))
    }
    texts = {query: f"{HOSTILE[-1 - place]} {query}" for place, query in enumerate(HOSTILE[:4])}
    return gf.judging.Study.create(
        ":memory:", runs, queries=texts, docs=docs, title=EVIL, guideline=f"{EVIL}\n{HOSTILE[2]}",
        scale={0: EVIL, 1: "</button>"}, overlap=2, order="rank",
    )  # fmt: skip


def test_texts_are_shown_as_text(opened_at, until):
    with desk(hostile_study()) as own:
        page = opened_at(own.link("<b>ann</b>"))
        for _ in range(len(HOSTILE)):
            assert page.locator("main img, main script").count() == 0
            task = page.evaluate("document.querySelector('#text').textContent")
            assert EVIL in task
            page.keyboard.press("n")
            page.keyboard.insert_text(EVIL)
            page.keyboard.press("Enter")
            page.keyboard.press("1")
        page.keyboard.press("h")
        until(page, "document.querySelectorAll('#history li').length", len(HOSTILE))
        assert page.evaluate("window.ran") is None
        assert page.inner_text("#guideline-text").startswith(EVIL)
        assert page.inner_text(".grade >> nth=0").startswith("0")
        assert EVIL in page.inner_text(".grade >> nth=0")
        bob = own.study.invite(f"bob {EVIL}")
        assert bob
        for task in own.study.assessor(f"bob {EVIL}").next(20):
            own.study.assessor(f"bob {EVIL}").grade(task.item, 0, key=str(task.item), note=EVIL)
        lead = opened_at(own.link(f"lead {EVIL}", "lead"))
        assert EVIL in lead.text_content("#assessors")
        lead.click(".tabs a[href='#disagreements']")
        lead.check("#show-names")
        assert lead.locator("main img, main script").count() == 0
        until(
            lead,
            f"document.querySelector('#disputed').innerText.includes({json.dumps(f'bob {EVIL}: 0')})",
        )


def test_axe_finds_no_grave_fault(opened_at, axe):
    def flawless(page):
        """Assert that nothing is at fault, nor sticks out, on a screen in the light and on a phone in the dark."""
        for width, scheme in ((390, "dark"), (1280, "light")):
            page.set_viewport_size({"width": width, "height": 800})
            # What fades has any contrast.
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert findings(page, axe) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width

    with desk(study(overlap=2, guideline="Judge the text.", show_ranks=True)) as own:
        page = opened_at(own.link("ann"), bypass_csp=True)
        assert page.text_content("#ranks").startswith(" · rank 1 in ")
        page.keyboard.press("2")
        for key in ("n", "Escape", "h", "v"):
            page.keyboard.press(key)
        flawless(page)
        page.keyboard.press("c")
        flawless(page)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        flawless(page)
        for name in ("bob", "eve"):
            own.study.invite(name)
            for task in own.study.assessor(name).next(20):
                own.study.assessor(name).grade(
                    task.item, len(name + task.doc) % 4, key=str(task.item)
                )
        lead = opened_at(own.link("lea", "lead"), bypass_csp=True)
        for tab in ("people", "disagreements", "setup", "data"):
            flawless(lead)
            lead.click(f".tabs a[href='#{tab}']")
        flawless(lead)
        lead.select_option("#reset-assessor", "bob")
        lead.click("#reset button")
        lead.wait_for_selector("#confirm[open]")
        flawless(lead)


def test_touch_keys_and_undo_of_any_step(opened_at, until):
    with desk() as own:
        page = opened_at(own.link("ann"), has_touch=True, viewport={"width": 390, "height": 800})
        seen = []
        for grade in (3, 0, 1):
            seen.append(page.inner_text("#doc-id"))
            page.tap(f".grade[data-grade='{grade}']")
        # Undo the first of three, and grade it anew with a key of one's own.
        page.tap("#history-list summary")
        page.locator("#history button").last.tap()
        assert page.inner_text("#doc-id") == seen[0]
        page.tap("#open-keys")
        page.locator("#key-fields input").nth(2).press("x")
        page.keyboard.press("Escape")
        page.keyboard.press("2")  # no longer a key
        assert page.inner_text("#doc-id") == seen[0]
        page.keyboard.press("x")
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        found = {
            doc: each["ann"] for docs in own.study.grades().values() for doc, each in docs.items()
        }
        assert found == {seen[0]: 2, seen[1]: 0, seen[2]: 1}
        # A key of one's own stays what it is where the lead gives it to another grade.
        own.study.set(keys={0: "x"})
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert page.locator(".grade kbd").all_text_contents() == ["0", "1", "x", "3"]
        seen.append(page.inner_text("#doc-id"))
        page.keyboard.press("x")
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        assert own.study.grades()["q0"][seen[-1]] == {"ann": 2}
        # What is said to a screen reader, and where the focus is.
        assert page.inner_text("#said").startswith("2, relevant")
        assert page.evaluate("document.activeElement.id") == "document"
        # Nor does a field without a key hide one that still judges.
        page.tap("#open-keys")
        page.locator("#key-fields input").nth(3).press("Backspace")
        assert page.locator("#key-fields input").nth(3).input_value() == ""
        page.keyboard.press("Escape")
        before = page.inner_text("#doc-id")
        page.keyboard.press("3")
        assert page.inner_text("#doc-id") == before


def test_a_long_scale_leaves_room_for_the_text_on_a_phone(opened_at):
    for scale in ((0, 10), {value: f"as good as {value}" for value in range(11)}):
        with desk(study(queries=1, docs=2, scale=scale)) as own:
            page = opened_at(
                own.link("ann"), has_touch=True, viewport={"width": 375, "height": 667}
            )
            places = "['#text', '.hand'].map((each) => document.querySelector(each).getBoundingClientRect())"
            text, hand = page.evaluate(f"{places}.map((each) => [each.top, each.bottom])")
            assert text[1] < hand[0]
            assert hand[1] <= 667
            assert page.locator(".grade").count() == 11
            assert page.evaluate("document.documentElement.scrollWidth") <= 375
            page.tap(".grade >> nth=10")


def test_practice_gives_feedback(opened_at, until):
    made = study(queries=1, docs=2)
    made.practice(
        {"q0": {"q0-d1": 3, "q0-d0": 1}}, feedback={"q0": {"q0-d1": "It says <b>how</b>."}}
    )
    with desk(made) as own:
        page = opened_at(own.link("ann"))
        told = {}
        for _ in range(2):
            assert page.is_visible("#practice")
            doc = page.inner_text("#doc-id")
            page.keyboard.press("1")
            until(page, f"document.querySelector('#feedback').innerText.includes('Title of {doc}')")
            told[doc] = page.inner_text("#feedback")
        assert told["q0-d0"].startswith(
            "Practice: you graded Title of q0-d0 1, related, the same as the lead."
        )
        assert told["q0-d1"].endswith("the lead’s grade is 3, perfect. It says <b>how</b>.")
        assert page.is_hidden("#practice")
        assert page.inner_text("#count") == "0 of 2"
        assert own.study.grades() == {}
        page.keyboard.press("u")  # of the last one, whose answer it would tell
        assert page.inner_text("#feedback") == ""
        page.keyboard.press("1")
        until(page, "document.querySelector('#feedback').innerText.startsWith('Practice')")
        page.keyboard.press("1")
        assert page.inner_text("#feedback") == ""  # it was about another document


def test_other_directions_scales_and_the_end(opened_at, until):
    docs = {"a": ("خبز بالخميرة", "يُخبز الخبز في الفرن."), "b": ("Bread", "It is baked.")}
    made = gf.judging.Study.create(
        ":memory:",
        {"r": {"q": {"a": 2, "b": 1}}},
        queries={"q": "خبز"},
        docs=docs,
        scale=(-1, 1),
        order="rank",
    )
    with desk(made) as own:
        page = opened_at(own.link("ann"))
        direction = "getComputedStyle(document.querySelector('{}')).direction"
        assert page.evaluate(direction.format("#text")) == "rtl"
        assert page.evaluate(direction.format("#query")) == "rtl"
        assert page.locator("#doc-title mark").all_inner_texts() == ["خبز"]
        page.keyboard.press("q")  # the lowest
        assert page.evaluate(direction.format("#text")) == "ltr"
        page.keyboard.press("l")
        until(page, "document.querySelector('#doc-id').textContent", "b")  # it comes again
        until(page, "document.querySelector('#work').hidden", False)
        page.keyboard.press("1")
        until(page, "document.querySelector('#end').hidden", False)
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        assert own.study.grades() == {"q": {"a": {"ann": -1.0}, "b": {"ann": 1.0}}}
        until(page, "document.querySelector('#end-title').innerText", "Nothing to judge right now")
        assert page.inner_text("#end-text").startswith("You have judged all your documents.")
        page.keyboard.press("u")
        assert page.inner_text("#doc-id") == "b"


def test_a_long_text_full_of_the_words_of_its_query(opened_at, until):
    """It has more pieces than one call of a function takes."""
    docs = {"d0": ("First", "bread"), "d1": ("Long", "bread x " * 70_000 + "end")}
    runs = {"r": {"q": {"d0": 2, "d1": 1}}}
    made = gf.judging.Study.create(
        ":memory:", runs, queries={"q": "bread"}, docs=docs, order="rank"
    )
    with desk(made) as own:
        page = opened_at(own.link("ann"))
        page.keyboard.press("n")
        page.keyboard.type("of d0")
        page.keyboard.press("Enter")
        page.keyboard.press("1")
        until(page, "document.querySelector('#text').textContent.length", 560_003)
        assert (page.inner_text("#doc-id"), page.inner_text("#doc-title")) == ("d1", "Long")
        assert page.input_value("#note") == ""
        assert page.locator("#text mark").count() == 5000
        page.keyboard.press("2")
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        assert [each.after.note for each in made.record()] == ["of d0", ""]


def test_names_of_other_directions_stay_in_their_places(opened_at, until):
    runs = {"قديم": {"س1": {"a": 2, "b": 1}}, "جديد": {"س1": {"b": 2, "a": 1}}}
    made = gf.judging.Study.create(
        ":memory:",
        runs,
        queries={"س1": "خبز"},
        docs={"a": "خبز", "b": "خبز"},
        title="دراسة",
        overlap=2,
    )
    with desk(made) as own:
        for name, grades in (("ليلى", (3, 0)), ("بدر", (2, 2))):
            made.invite(name)
            for task, grade in zip(made.assessor(name).next(2), grades, strict=True):
                made.assessor(name).grade(task.item, grade, key=str(task.item))
        lead = opened_at(own.link("lea", "lead"))
        # Beside numbers, a name that is not isolated would turn them round.
        assert lead.locator("#standing li p bdi").all_inner_texts()[:2] == ["جديد", "قديم"]
        lead.click(".tabs a[href='#people']")
        left = "[...document.querySelectorAll('#assessors th')].map((cell) => {0})"
        start = "Math.round(cell.firstChild.getBoundingClientRect?.().left ?? cell.getBoundingClientRect().left)"
        heads = lead.evaluate(left.replace("{0}", f"[cell.scope, {start}]"))
        columns = [place for scope, place in heads if scope == "row"]
        assert len(columns) == 3
        assert len({*columns}) == 1
        lead.click(".tabs a[href='#disagreements']")
        lead.check("#show-names")
        until(lead, "document.querySelector('#disputed').innerText.includes('ليلى: 3')")


def test_one_file_without_a_server(opened_at, until, tmp_path, cli):
    path = tmp_path / "study.db"
    with study(path, queries=1, docs=5, guideline="First.") as made:
        before = made.progress().items
        made.practice({"practice": {"p": 2}}, queries={"practice": "soup"}, docs={"p": "Soup."})
    done = cli(
        "judge",
        "--db",
        str(path),
        "--offline",
        "--invite",
        "ann",
        "-o",
        str(tmp_path / "desk.html"),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"{tmp_path / 'desk.html'}: 6 documents for ann\n"
    page = opened_at(f"file://{tmp_path / 'desk.html'}")
    page.keyboard.press("2")  # for practice, which is not counted
    for key in ("3", "0", "u", "1", "l", "c", "1", "2"):
        page.keyboard.press(key)
    assert page.inner_text("#count") == f"4 of {before}"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    until(page, "document.querySelector('#count').textContent", f"4 of {before}")
    with page.expect_download() as saved:
        page.click("#download")
    saved.value.save_as(tmp_path / "grades.json")
    with gf.judging.Study(path) as made:
        made.set(guideline="Second.")
    for _ in range(2):  # twice is once
        done = cli("judge", "--db", str(path), "--merge", str(tmp_path / "grades.json"))
        assert done.returncode == 0, done.stderr
    with gf.judging.Study(path) as made:
        grades = [each["ann"] for each in made.grades()["q0"].values()]
        assert sorted(grades) == [1, 2, 3]
        assert [event.kind for event in made.record()] == [
            "grade",
            "grade",
            "grade",
            "undo",
            "grade",
            "later",
            "cannot",
            "grade",
        ]
        assert {event.guideline for event in made.record()} == {1}  # what the page showed
    told = json.loads((tmp_path / "grades.json").read_text())
    (tmp_path / "other.json").write_text(json.dumps({**told, "study": "another"}))
    done = cli("judge", "--db", str(path), "--merge", str(tmp_path / "other.json"))
    assert done.returncode == 2
    assert "grades of another study" in done.stderr
