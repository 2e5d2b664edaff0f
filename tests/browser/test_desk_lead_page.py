"""The lead's page of the judging desk in a browser: what is set up there, and the list of the assessor's page."""

from accessibility import findings
from desk_server import desk, study

EVIL = '<img src=x onerror="alert(1)">'


def upload(name, content):
    return {"name": name, "mimeType": "text/plain", "buffer": content.encode()}


def look(page):
    """Have the lead's page look at once."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def open_tab(page, name):
    page.click(f".tabs a[href='#{name}']")
    page.wait_for_selector(f"#{name}:not([hidden])")


def said(page, until, line, text):
    until(page, f"document.querySelector('#{line}').textContent.startsWith({text!r})")


def test_a_lead_sets_a_study_up(opened_at, until):
    with desk(study(queries=2, docs=4)) as own:
        ann = opened_at(own.link("ann"))
        lead = opened_at(own.link("lea", "lead"), refusals=True)
        # Settings.
        open_tab(lead, "setup")
        lead.fill("#set-title", f"Bread {EVIL}")
        lead.select_option("#set-order", "random")
        lead.fill("#set-overlap", "2")
        lead.fill("#set-share", "25")
        lead.fill("#set-measure", "P@3")
        assert [lead.input_value(f"#set-{name}") for name in ("base", "run")] == ["old", "new"]
        lead.select_option("#set-base", "new")
        lead.select_option("#set-run", "old")
        assert lead.input_value("#set-tags").startswith("off topic\ntoo general\n")
        lead.fill("#set-tags", f"vague\n\n {EVIL}\n")
        lead.check("#set-ranks")
        lead.click("#settings button")
        said(lead, until, "settings-said", "Saved.")
        told = own.study.settings
        assert (told["order"], told["overlap"], told["measure"]) == ("random", 2, "P@3")
        assert (told["overlap_share"], told["compare"]) == (0.25, ("new", "old"))
        assert (told["show_ranks"], told["tags"]) == (True, ("vague", EVIL))
        until(lead, "document.querySelector('#title').textContent", f"Bread {EVIL}")
        lead.fill("#set-measure", "nDGC@3")
        lead.click("#settings button")
        until(lead, "document.querySelector('#settings-said').className", "wrong")
        assert "nDCG" in lead.inner_text("#settings-said")
        # Words and keys, which an open page of an assessor has with the next answer.
        lead.fill("[data-grade='3'] .word", f"exactly {EVIL}")
        lead.fill("[data-grade='3'] .key", "x")
        lead.click("#grades-form button")
        said(lead, until, "grades-said", "Saved.")
        lead.fill("#guideline", "Judge strictly.")
        lead.click("#guideline-form button")
        said(lead, until, "guideline-version", "Version 1")
        assert ann.inner_text("#ranks") == ""
        ann.keyboard.press("0")
        until(
            ann,
            "document.querySelector('.grade[data-grade=\"3\"] .word').textContent",
            f"exactly {EVIL}",
        )
        until(ann, "document.querySelector('#guideline-text').textContent", "Judge strictly.")
        assert "changed" in ann.inner_text("#feedback")
        tags = ann.locator("#tags button")
        assert tags.all_text_contents() == ["vague", EVIL]
        # Ranks come with the documents that are asked for next: this page has all of the first query.
        ann.reload()
        ann.wait_for_selector("body[data-ready]")
        place = int(ann.inner_text("#doc-id")[-1])
        ranks = sorted([(place + 1, "old"), (4 - place, "new")])
        assert ann.text_content("#ranks") == " · rank {} in {}, {} in {}".format(
            *ranks[0], *ranks[1]
        )
        assert ann.locator("main img").count() == lead.locator("main img").count() == 0
        before = ann.inner_text("#doc-id")
        ann.keyboard.press("x")
        until(ann, f"document.querySelector('#doc-id').textContent !== {before!r}")
        until(ann, "document.querySelector('#saved').dataset.state", "saved")
        assert sorted(
            each["ann"] for docs in own.study.grades().values() for each in docs.values()
        ) == [0, 3]


def test_a_second_lead_overwrites_nothing(opened_at, until):
    with desk(study(queries=1, docs=2, title="Bread", guideline="First.")) as own:
        lead = opened_at(own.link("lea", "lead"), refusals=True)
        own.study.set(title="Of another lead", overlap=2)
        own.study.set(words={0: "off"}, keys={0: "z"})
        own.study.set(guideline="Of another lead.")
        open_tab(lead, "setup")
        lead.fill("#set-tags", "vague")
        lead.fill("[data-grade='1'] .word", "a little")
        lead.click("#settings button")
        said(lead, until, "settings-said", "Saved.")
        assert own.study.settings["tags"] == ("vague",)
        assert (own.study.settings["title"], own.study.settings["overlap"]) == (
            "Of another lead",
            2,
        )
        assert lead.input_value("#set-title") == "Of another lead"
        lead.click("#grades-form button")
        said(lead, until, "grades-said", "Saved.")
        first, second, *_ = own.study.scale
        assert (first.word, first.key, second.word) == ("off", "z", "a little")
        # Of the same text, both are shown before one follows the other.
        lead.fill("#guideline", "Mine.")
        lead.click("#guideline-form button")
        said(lead, until, "guideline-version", "Not saved.")
        assert "Of another lead." in lead.inner_text("#guideline-newer")
        assert "version 2 now" in lead.inner_text("#alert")
        assert own.study.guideline.version == 2
        lead.click("#guideline-form button")
        said(lead, until, "guideline-version", "Version 3")
        assert (own.study.guideline.text, lead.is_hidden("#guideline-newer")) == ("Mine.", True)


def test_files_come_in_and_grades_are_taken_back(opened_at, until, tmp_path):
    with desk(study(queries=2, docs=4)) as own:
        own.study.invite("bob")
        for task in own.study.assessor("bob").next(3):
            own.study.assessor("bob").grade(task.item, 2, key=str(task.item))
        lead = opened_at(own.link("lea", "lead"), refusals=True)
        # Grades of a model.
        open_tab(lead, "data")
        lead.set_input_files(
            "#import-grades", upload("model.qrels", "q0 0 q0-d0 2\nq0 0 q0-d1 x\n")
        )
        lead.fill("#import-name", "a model")
        lead.select_option("#import-role", "model")
        lead.click("#import button")
        until(lead, "document.querySelector('#import-said').className", "wrong")
        assert "model.qrels:2" in lead.inner_text("#import-said")
        lead.set_input_files("#import-grades", upload("model.qrels", "q0 0 q0-d0 1\n"))
        lead.click("#import button")
        said(lead, until, "import-said", "1 new or changed grade by a model.")
        until(lead, "document.querySelector('#assessors').textContent.includes('a model')")
        # A practice set.
        open_tab(lead, "setup")
        lead.set_input_files(
            "#practice-answers",
            upload("right.csv", f"query,doc,grade,feedback\nq1,q1-d2,3,{EVIL}\n".replace('"', "'")),
        )
        lead.click("#practice button")
        said(lead, until, "practice-said", "The practice set now has 1 document")
        lead.click("#practice-set summary")
        assert "onerror" in lead.inner_text("#practice-set")
        assert own.study.practice_set[0].answer == 3
        open_tab(lead, "data")
        # Taking back: nothing is chosen, then somebody says no, then yes.
        lead.click("#reset button")
        until(lead, "document.querySelector('#reset-said').className", "wrong")
        lead.select_option("#reset-assessor", "bob")
        for answer, after in (("Escape", 3), ("Enter", 3), ("yes", 0)):
            lead.click("#reset button")
            lead.wait_for_selector("#confirm[open]")
            assert "3 grades of bob for every query" in lead.inner_text("#confirm-text")
            if answer == "yes":
                lead.click("#confirm-yes")
                said(lead, until, "reset-said", "Revoked: 3 grades")
            else:  # the safe answer has the focus
                lead.keyboard.press(answer)
                said(lead, until, "reset-said", "Nothing was revoked")
            given = own.study.grades().get("q0", {})
            assert sum("bob" in people for people in given.values()) == after
        until(lead, "document.querySelector('#count').textContent.startsWith('0 of 8 documents')")
        kinds = [event.kind for event in own.study.record()]
        assert kinds == ["grade"] * 3 + ["import"] + ["reset"] * 3
        # The sampling design of a study in another order says why there is none.
        assert "Only a study in random order" in lead.inner_text("#design-told")
        lead.click("#design")
        until(lead, "document.querySelector('#alert').textContent.includes('random order')")
        open_tab(lead, "setup")
        lead.select_option("#set-order", "random")
        lead.click("#settings button")
        said(lead, until, "settings-said", "Saved.")
        open_tab(lead, "data")
        task = next(each for each in own.study.assessor("bob").next(5) if not each.practice)
        own.study.assessor("bob").grade(task.item, 1, key="again")
        with lead.expect_download() as download:
            lead.click("#design")
        download.value.save_as(tmp_path / "design.json")
        assert task.doc in (tmp_path / "design.json").read_text()
        until(lead, "document.querySelector('#design-told').textContent", "")
        later = next(each for each in own.study.assessor("bob").next(5) if not each.practice)
        own.study.assessor("bob").later(later.item, key="later")
        look(lead)
        said(lead, until, "design-told", "1 document of the sample without a grade")


def test_reasons_pace_and_a_lost_connection(opened_at, until):
    with desk(study(queries=1, docs=6)) as own:
        page = opened_at(own.link("ann"), refusals=True, apart=True)
        page.clock.install()
        page.reload()
        page.wait_for_selector("body[data-ready]")
        page.keyboard.press("n")
        for tag in ("too general", "outdated", "outdated"):  # one is taken away again
            page.get_by_role("button", name=tag).click()
        page.keyboard.press("1")
        assert page.inner_text("#pace") == ""
        page.clock.fast_forward(30_000)
        page.keyboard.press("2")
        assert page.inner_text("#pace") == "2.0 per minute, about 2 min left"
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        page.context.set_offline(True)
        lead = own.client("lea", "lead")
        lead.post("/api/lead/guideline", {"text": "Judge strictly."})  # which the page cannot know
        for key in "301":
            page.keyboard.press(key)
            page.clock.run_for(1000)
        until(page, "document.querySelector('#saved').dataset.state", "waiting")
        assert page.inner_text("#saved") == "No connection: 3 saved in this browser"
        assert own.study.progress().grades == 2
        page.keyboard.press("0")  # the last one that the page has
        until(page, "document.querySelector('#end-title').textContent", "No connection")
        page.context.set_offline(False)
        page.clock.run_for(5000)
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        assert own.study.progress().grades == 6
        page.clock.run_for(5000)
        until(
            page,
            "document.querySelector('#end-title').textContent",
            "Nothing to judge right now",
        )
        # Nor is all judged where the desk refuses to say what comes next.
        page.route(
            "**/api/next", lambda route: route.fulfill(status=400, json={"error": "Not now."})
        )
        page.click("#end [data-action=more]")
        until(page, "document.querySelector('#end-text').textContent", "Not now.")
        page.unroute("**/api/next")
        page.click("#end [data-action=more]")
        until(
            page,
            "document.querySelector('#end-title').textContent",
            "Nothing to judge right now",
        )
        first, *others = own.study.record()
        assert first.after.tags == ("too general",)
        assert [event.after.grade for event in others] == [2, 3, 0, 1, 0]
        assert 29_000 < others[0].milliseconds < 60_000
        until(page, "document.querySelector('#guideline-text').textContent", "Judge strictly.")
        page.keyboard.press("u")
        page.keyboard.press("2")
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        assert [event.guideline for event in own.study.record()] == [0] * 6 + [1, 1]
        # A desk that answers no is not out of reach.
        page.route(
            "**/api/act", lambda route: route.fulfill(status=400, json={"error": "Ask the lead."})
        )
        page.keyboard.press("u")
        until(page, "document.querySelector('#alert').textContent", "Ask the lead.")
        assert page.inner_text("#saved") == "Not saved: 1 saved in this browser"
        page.keyboard.press("1")
        assert page.inner_text("#saved") == "Not saved: 2 saved in this browser"


def test_what_was_settled_is_undone(opened_at, until):
    with desk(study(queries=1, docs=2, overlap=2)) as own:
        for name, grade in (("ann", 0), ("bob", 3)):
            own.study.invite(name)
            for task in own.study.assessor(name).next(2):
                own.study.assessor(name).grade(task.item, grade, key=str(task.item))
        lead = opened_at(own.link("lea", "lead"))
        open_tab(lead, "disagreements")
        assert lead.is_hidden("#settled-list")
        lead.click("#disputed li:first-child .others button >> nth=2")
        until(lead, "document.querySelector('#settled-list summary').textContent", "Settled: 1")
        until(lead, "document.querySelector('#disputed-title').textContent", "To settle: 1")
        assert sorted(own.study.judgments()["q0"].values()) == [1.5, 2]
        lead.click("#settled-list summary")
        assert lead.inner_text("#settled li").endswith("Title of q0-d0 for how to make bread")
        lead.click("#settled button")
        until(lead, "document.querySelector('#disputed-title').textContent", "To settle: 2")
        until(lead, "document.querySelector('#settled-list').hidden")
        assert sorted(own.study.judgments()["q0"].values()) == [1.5, 1.5]


def test_what_cannot_be_exported_says_why(opened_at, until, tmp_path):
    with desk(study(queries=1, docs=2)) as own:
        lead = opened_at(own.link("lea", "lead"), refusals=True)
        # The address names a tab, or a part inside one; the Back button returns to the tab before.
        here = "document.querySelector('.tabs [aria-current]').firstChild.textContent.trim()"
        for name in ("People", "Disagreements", "Setup", "Overview", "Data"):
            lead.click(f".tabs a:has-text('{name}')")
            until(lead, here, name)
            assert lead.locator(".tab:visible").count() == 1
        lead.go_back()
        until(lead, here, "Overview")
        lead.click("#steps a:has-text('guideline')")
        until(lead, here, "Setup")
        until(lead, "document.activeElement.id", "guideline-part")
        lead.goto(f"{own.address}/lead#export-part")
        lead.wait_for_selector("body[data-ready]")
        until(lead, here, "Data")
        lead.click("#export button")
        until(lead, "document.querySelector('#alert').textContent.includes('at least one grade')")
        # The message is visible wherever the page is scrolled to, until it is closed.
        lead.evaluate("scrollTo(0, document.body.scrollHeight)")
        top, bottom = lead.evaluate(
            "(({top, bottom}) => [top, bottom])(document.querySelector('#alert').getBoundingClientRect())"
        )
        assert 0 < top < bottom < 720
        lead.click("#alert-close")
        assert lead.is_hidden("#alert")
        assert lead.is_visible("#export")
        own.study.invite("ann")
        own.study.assessor("ann").grade(own.study.assessor("ann").next()[0].item, 2, key="1")
        for name, select in (
            ("merged-judgments.qrels", "merged"),
            ("assessor-judgments.csv", "assessor"),
        ):
            lead.select_option("#export [name=format]", name.rpartition(".")[2])
            lead.select_option("#export [name=by]", select)
            with lead.expect_download() as download:
                lead.click("#export button")
            assert download.value.suggested_filename == name
        # There are no qrels with names: the page offers what there is.
        lead.select_option("#export [name=by]", "merged")
        lead.select_option("#export [name=format]", "qrels")
        for by, disabled in (("assessor", True), ("merged", False)):
            lead.select_option("#export [name=by]", by)
            assert lead.input_value("#export [name=format]") == "csv"
            assert lead.is_disabled("#export [name=rule]") == disabled
            assert lead.is_disabled("#export option >> nth=0") == disabled
            assert lead.inner_text("#export-told").startswith("Grades by assessor") == disabled
        with lead.expect_download() as download:
            lead.get_by_role("button", name="Full record").click()
        download.value.save_as(tmp_path / "record.jsonl")
        assert '"kind": "grade"' in (tmp_path / "record.jsonl").read_text()


def test_a_list_besides_one_document_at_a_time(opened_at, until, axe):
    with desk(study(queries=2, docs=5)) as own:
        page = opened_at(own.link("ann"), bypass_csp=True, reduced_motion="reduce")
        here = "document.querySelector('#list [aria-current] .eyebrow bdi').textContent"
        page.keyboard.press("v")
        until(page, "document.querySelectorAll('#list li').length", 5)
        assert page.is_hidden("#document")
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert findings(page, axe) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        docs = page.locator("#list .eyebrow bdi").all_inner_texts()
        until(page, here, docs[0])
        for key in ("ArrowDown", "j", "ArrowUp"):
            page.keyboard.press(key)
        until(page, here, docs[1])
        # A note that is not sent yet stays with its document.
        page.keyboard.press("n")
        page.keyboard.type("a note")
        page.keyboard.press("Escape")
        page.locator("#list li").nth(3).get_by_role("button").click()
        until(page, here, docs[3])
        page.keyboard.press("3")
        until(page, here, docs[4])
        page.keyboard.press("k")
        page.keyboard.press("k")
        until(page, here, docs[1])
        page.keyboard.press("1")
        until(page, "document.querySelectorAll('#list li').length", 3)
        page.keyboard.press("u")
        until(page, here, docs[1])
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        page.reload()  # the list is as one likes it, also next time
        page.wait_for_selector("body[data-ready]")
        until(page, "document.querySelectorAll('#list li').length", 4)
        page.keyboard.press("v")
        assert page.is_visible("#document")
        until(page, "document.querySelector('#saved').dataset.state", "saved")
        assert own.study.grades() == {"q0": {docs[3]: {"ann": 3.0}}}
        notes = [event.after.note for event in own.study.record() if event.kind == "grade"]
        assert notes == ["", "a note"]
