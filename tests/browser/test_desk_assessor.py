"""The assessor's page of the judging desk, by keyboard alone, while its server is killed."""

import json
import random
import signal
from collections import Counter

import pytest

import gainful as gf
from desk_server import Command, contents

JUDGED = 50
WAITING = "Object.keys(localStorage).filter(name => name.includes(':act:')).length"


@pytest.fixture
def folder(tmp_path):
    """A folder with runs, queries and documents."""
    runs, queries, docs = contents(queries=6, docs=10)
    for name, run in runs.items():
        gf.write_run(run, tmp_path / f"{name}.run")
    (tmp_path / "queries.tsv").write_text(
        "query\ttext\n" + "".join(f"{query}\t{text}\n" for query, text in queries.items())
    )
    (tmp_path / "docs.jsonl").write_text(
        "".join(
            json.dumps({"doc": doc, "title": title, "text": text}) + "\n"
            for doc, (title, text) in docs.items()
        )
    )
    return tmp_path


@pytest.fixture
def page(browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(15_000)
    yield page
    context.close()


def shown(page, until=None):
    """Return the document on the page. With a server, wait for it: keys are pressed here as fast as a machine can."""
    if until is not None:
        until(page, "document.querySelector('#work').hidden", False)
    assert page.is_visible("#work")
    return page.inner_text("#doc-id")


def kill(running, page, until):
    """Kill a server in the middle, without a word, when the page has had the time to fetch what comes next."""
    until(page, "Number(document.body.dataset.ahead) >= 12")
    running.end(signal.SIGKILL)


def tab_to(page, label):
    """Press Tab until a control of this label has the focus."""
    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == label:
            return
    pytest.fail(f"Tab does not lead to {label}")


def saved(page, until):
    until(page, WAITING, 0)
    until(page, "document.querySelector('#saved').dataset.state", "saved")


def test_fifty_documents_by_keyboard_while_the_server_is_killed(folder, page, until):
    """What the assessor saw and did is kept here, and compared with what the study has in the end."""
    call = (
        "old.run",
        "new.run",
        "--queries",
        "queries.tsv",
        "--docs",
        "docs.jsonl",
        "--order",
        "rank",
    )
    command = Command(folder)  # goes on with what is there
    first = Command(folder, *call, "--invite", "ann")
    link = first.start(2)["ann"]
    command.port = first.port
    running = first
    rng = random.Random(11)  # noqa: S311
    expected, later, cannot, undone = {}, set(), {}, 0
    page.goto(link)
    page.wait_for_selector("body[data-ready]")
    assert page.inner_text("#query") == "how to make bread"
    assert page.locator("mark").all_inner_texts()[:1] != []
    step = 0
    while len(expected) + len(cannot) < JUDGED:
        step += 1
        killed = 20 < step <= 27 or 36 < step <= 38
        doc = shown(page, None if killed else until)
        assert doc not in expected or doc in later
        if step == 20:
            kill(running, page, until)
        if step == 26:
            until(page, "document.querySelector('#saved').dataset.state", "waiting")
            assert "saved in this browser" in page.inner_text("#saved")
            assert page.evaluate(WAITING) >= 4
        if step == 27:
            command.start(1)
            running = command
            saved(page, until)
        if step == 33:
            page.reload()
            page.wait_for_selector("body[data-ready]")
            assert shown(page) == doc
        if step == 36:  # killed and reloaded: what waits is sent by the next page
            saved(page, until)
            kill(running, page, until)
        if step == 38:
            lead = command.start(1)["lead"]
            page.reload()
            page.wait_for_selector("body[data-ready]")
            saved(page, until)
            doc = shown(page)
        choice = rng.random()
        if choice < 0.1:
            page.keyboard.press("l")
            later.add(doc)
        elif choice < 0.2:
            page.keyboard.press("c")
            page.keyboard.press("2")
            cannot[doc] = "document"
        else:
            grade = rng.randrange(4)
            if choice > 0.9:
                page.keyboard.press("n")
                page.keyboard.type(f"About {doc} 3")
                page.keyboard.press("Enter")
            page.keyboard.press(str(grade))
            expected[doc] = grade
            if choice < 0.3:
                page.keyboard.press("u")
                undone += 1
                del expected[doc]
                assert shown(page) == doc
                page.keyboard.press(str(3 - grade))
                expected[doc] = 3 - grade
    saved(page, until)
    until(page, "document.querySelector('#count').textContent", f"{JUDGED} of 60")
    # The lead's page, and its export, by keyboard as well.
    page.goto(lead)
    page.wait_for_selector("body[data-ready]")
    assert page.inner_text("#count") == f"{len(expected)} of 60 documents, {len(expected)} grades"
    tab_to(page, "Data")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#data').hidden", False)
    with page.expect_download() as download:
        tab_to(page, "Download")
        page.keyboard.press("Enter")
    download.value.save_as(folder / "export.qrels")
    exported = dict(line.split()[2:] for line in (folder / "export.qrels").read_text().splitlines())
    assert {doc: int(grade) for doc, grade in exported.items()} == expected
    code, said = running.end(signal.SIGINT)
    assert code == 0, said
    with gf.judging.Study(folder / "study.db") as study:
        found = {doc: each["ann"] for docs in study.grades().values() for doc, each in docs.items()}
        assert found == expected
        kinds = Counter(event.kind for event in study.record())
        assert kinds["undo"] == undone > 2
        assert kinds["grade"] == len(expected) + undone
        assert kinds["cannot"] == len(cannot) > 1
        assert kinds["later"] == len(later) > 1
        notes = [event.after.note for event in study.record() if event.kind == "grade"]
        assert sum(note.startswith("About q") for note in notes) > 1
        assert all(
            event.milliseconds is not None for event in study.record() if event.kind == "grade"
        )
