"""Studies in both kinds of database: many people at once, killed processes, full disks, other versions."""

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import gainful as gf
from desk_server import Client, Command, desk
from desk_server import study as database_study
from gainful.judging.desk import acts_from_pages, assessor_acts, store
from gainful.judging.desk import study as study_module
from gainful.judging.desk.study_settings import TAGS
from study_cases import RUNS, create, judge_all, key

InputError = gf.errors.InputError
StudyError = gf.errors.StudyError


def many_documents(queries, docs):
    run = {f"q{q}": {f"d{q}-{d}": float(docs - d) for d in range(docs)} for q in range(queries)}
    texts = {doc: "a text" for docs in run.values() for doc in docs}
    return {
        "runs": {"run": run},
        "queries": dict.fromkeys(run, "a query"),
        "docs": texts,
        "depth": docs,
    }


def test_both_databases_say_the_same(address):
    study = create(address, overlap=2, guideline="1")
    for name in ("ann", "bob"):
        study.invite(name)
    now = iter(range(1000, 10_000))
    study._now = lambda: float(next(now))
    one, two, three = study.assessor("ann").next(3)
    study.assessor("ann").grade(
        one.item, 2, key="1", milliseconds=1500, tags=["x"], note="näher 🙂"
    )
    study.assessor("ann").cannot(two.item, "loading", key="2")
    study.assessor("ann").later(three.item, key="3")
    study.assessor("ann").note(three.item, "what?", key="4")
    study.assessor("ann").undo(key="5")
    study.assessor("bob").grade(study.assessor("bob").next()[0].item, 3, key="1")
    study.import_grades({"q1": {"b": 1, "new": 2}}, assessor="gpt", role="model")
    study.practice({"q1": {"a": 3}}, feedback={"q1": {"a": "so"}})
    assert [(each.doc, each.title, each.answer, each.feedback) for each in study.practice_set] == [
        ("a", "title a", 3, "so")
    ]
    assert study.lead("lea").stale(assessor="ann") == {"cannot": 1, "grade": 1, "later": 1}
    assert study.lead("lea").stale(before_guideline=1, query="q1") == {}
    study.set(words={0: "no"}, keys={0: "1", 1: "0"})
    assert [(each.word, each.key) for each in study.scale[:2]] == [("no", "1"), ("related", "0")]
    assert study.grades() == {
        "q1": {"a": {"ann": 2.0, "bob": 3.0}, "b": {"gpt": 1.0}, "new": {"gpt": 2.0}}
    }
    assert dict(study.judgments()) == {"q1": {"a": 2.5}}
    ann = study.progress().by_assessor["ann"]
    assert (ann.done, ann.cannot, ann.later, ann.left) == (1, 1, 1, 7)
    events = [*study.record()]
    assert [each.kind for each in events] == [
        "grade",
        "cannot",
        "later",
        "note",
        "undo",
        "grade",
        *["import"] * 2,
    ]
    assert events[0].after.note == "näher 🙂"
    assert (events[0].milliseconds, events[0].position, events[0].guideline) == (1500, 1, 1)
    assert study._reorder(least=0)
    study.set(
        order="verdict",
        compare=("two", "one"),
        show_ranks=True,
        tags=["zu kurz 🙂"],
        overlap_share=0.5,
    )
    told = study.settings
    assert (told["compare"], told["tags"]) == (("two", "one"), ("zu kurz 🙂",))
    assert {task.doc: task.ranks for task in study.assessor("bob").next(9) if task.query == "q1"} == {
        "a": None,  # of practice
        "b": {"one": 2, "two": 4}, "c": {"one": 3}, "d": {"one": 4, "two": 1}, "x": {"two": 3},
    }  # fmt: skip
    study.close()
    with gf.judging.Study(address) as again:
        assert [*again.record()] == events


def test_an_act_keeps_the_guideline_that_was_seen(address):
    with create(address) as study:
        study.invite("ann"), study.invite("lea", "lead")
        one, two, three, four = (task.item for task in study.assessor("ann").next(4))
        study.assessor("ann").grade(one, 1, key="0")  # there is none yet
        study.set(guideline="first")
        study.set(guideline="second")
        study.assessor("ann").grade(two, 1, key="1", guideline=1)
        study.assessor("ann").grade(
            two, 1, key="1", guideline=2
        )  # sent twice is recorded once, as it was
        study.assessor("ann").cannot(three, "query", key="2", guideline=0)
        study.assessor("ann").later(four, key="3", guideline=1)
        study.assessor("ann").note(four, "why?", key="4", guideline=2)
        study.assessor("ann").undo(key="5", guideline=1)
        study.assessor("ann").undo(key="6")
        study.lead("lea").adjudicate(one, 2, key="7", guideline=1)
        for wrong in (3, -1, 1.5, "1", True):
            with pytest.raises(InputError, match="guideline: expected"):
                study.assessor("ann").grade(four, 1, key="8", guideline=wrong)
        assert [event.guideline for event in study.record()] == [0, 1, 0, 1, 2, 1, 2, 1]
        # What is stale goes by what was seen, though all came after the second version.
        assert study.lead("lea").stale(before_guideline=2) == {
            "cannot": 1,
            "grade": 2,
            "settled": 1,
        }
        assert study.lead("lea").stale(before_guideline=1) == {"cannot": 1, "grade": 1}


def test_several_assessors_for_a_share_of_the_documents(address):
    with create(address, overlap=2, overlap_share=0.3, seed=3) as study:
        for name in ("ann", "bob", "eve"):
            study.invite(name)
        progress = study.progress()
        assert (progress.items, progress.shared) == (9, 3)  # 2.7 of 9
        assert sum(each.shared for each in progress.queries) == 3
        # Ann and bob hold all places on lease, so that there is none for eve.
        ann = study.assessor("ann").next(20)
        assert len(ann) == 9
        bob = study.assessor("bob").next(20)
        assert len(bob) == 3
        assert study.assessor("eve").next(20) == []
        for task in ann:
            study.assessor("ann").grade(task.item, 1, key=key())
        progress = study.progress()
        assert (progress.done, progress.by_assessor["bob"].left) == (6, 3)
        assert study.assessor("eve").next(20) == []
        study.assessor("bob").grade(bob[0].item, 2, key=key())
        progress = study.progress()
        assert (progress.done, progress.several, progress.by_assessor["eve"].left) == (7, 1, 2)
        study.revoke("bob")
        assert len(study.assessor("eve").next(20)) == 2
        with pytest.raises(gf.errors.LeaseLostError):  # of a document that one is enough for
            study.assessor("eve").grade(
                next(each.item for each in ann if each.item not in {task.item for task in bob}),
                1,
                key=key(),
            )
        counts = [len(people) for docs in study.grades().values() for people in docs.values()]
        assert sorted(counts) == [1] * 8 + [2]
        # A larger share has all of a smaller one.
        study.set(overlap_share=0.5)
        assert study.progress().shared == 5
        assert {task.item for task in study.assessor("eve").next(20)} > {
            task.item for task in bob[1:]
        }
        study.set(overlap_share=0)
        assert (study.progress().shared, study.progress().done) == (0, 9)
        study.set(overlap_share=1, overlap=3)
        assert (study.progress().shared, study.progress().done) == (9, 0)


def test_the_share_is_drawn_by_the_seed():
    def chosen(study):
        with study._store.reading() as transaction:
            return {*transaction.all("SELECT query, doc FROM item WHERE wanted = 2")}

    def drawn(seed):
        with study._store.writing() as transaction:
            assessor_acts.spread_overlap(transaction, 2, 0.4, seed)
        return chosen(study)

    study = create(overlap=2, overlap_share=0.4, seed=1)
    first = chosen(study)
    assert first == drawn(1) == chosen(create(overlap=2, overlap_share=0.4, seed=1, order="random"))
    found = [drawn(seed) for seed in range(60)]
    assert {len(each) for each in found} == {4}
    # Each of the 9 has 4 chances of 9: of 60 draws, 26.7 ± 3.8.
    times = Counter(pair for each in found for pair in each)
    assert len(times) == 9
    assert all(13 < each < 41 for each in times.values())


@pytest.mark.parametrize("overlap", [1, 3])
def test_twenty_assessors_at_once(address, overlap, deep):
    """Several thousand grades with --deep; the threads share a study, and a second one stands for another server."""
    documents = 1000 if deep else 120
    first = create(address, **many_documents(10, documents // 10), overlap=overlap, order="random")
    second = gf.judging.Study(address)
    names = [f"assessor {number:02}" for number in range(20)]
    for name in names:
        first.invite(name)
    together = threading.Barrier(20)
    confirmed, held, problems = [], {}, []
    watching = threading.Lock()

    def work(place):
        study = (first, second)[place % 2]
        name, count = names[place], 0
        together.wait()
        while tasks := study.assessor(name).next(3):
            with watching:
                for task in tasks:
                    holders = held.setdefault(task.item, set())
                    holders.add(name)
                    if len(holders) > overlap:
                        problems.append((task.item, holders))
            for task in tasks:
                sent = f"{count}"
                count += 1
                done = study.assessor(name).grade(task.item, place % 4, key=sent)
                assert study.assessor(name).grade(task.item, place % 4, key=sent) == done
                confirmed.append((name, done.item, done.grade))

    with ThreadPoolExecutor(20) as pool:
        for future in [pool.submit(work, place) for place in range(20)]:
            future.result()
    assert problems == []
    assert len(confirmed) == len({*confirmed}) == documents * overlap
    assert len([*first.record()]) == documents * overlap
    given = [people for docs in second.grades().values() for people in docs.values()]
    assert [len(people) for people in given] == [overlap] * documents
    assert first.progress().done == documents
    first.close(), second.close()


JUDGING = """
import sys
import gainful as gf
study = gf.judging.Study(sys.argv[1])
count = 0
while tasks := study.next("ann", 5):
    for task in tasks:
        for _ in range(2):  # each is sent twice
            done = study.grade("ann", task.item, task.item % 4, key=f"{task.item}")
        print(done.item, int(done.grade), flush=True)
"""


def test_no_confirmed_grade_is_lost_when_the_process_is_killed(address):
    study = create(address, **many_documents(4, 50))
    study.invite("ann")
    confirmed = {}
    for lines in (7, 31):
        process = subprocess.Popen(
            [sys.executable, "-c", JUDGING, address], stdout=subprocess.PIPE, text=True
        )
        for _ in range(lines):
            item, grade = map(int, process.stdout.readline().split())
            confirmed[item] = grade
        process.send_signal(signal.SIGKILL)
        for line in process.stdout.read().splitlines():
            item, grade = map(int, line.split())
            confirmed[item] = grade
        process.stdout.close()
        assert process.wait(30) == -signal.SIGKILL
    grades = [event.item for event in study.record()]
    assert len(grades) == len({*grades})
    assert {*confirmed} <= {*grades}
    assert (
        len(grades) - len(confirmed) <= 2
    )  # one more of each process may be recorded and not told
    known = assessor_acts.derive(study.record())
    assert all(known[item, "ann"].grade == grade for item, grade in confirmed.items())
    study.close()
    with gf.judging.Study(address) as again:
        judge_all(again, "ann", lambda task: task.item % 4, count=20)
        assert again.progress().done == 200


def test_a_full_disk_damages_nothing(tmp_path):
    path = tmp_path / "study.db"
    study = create(path, **many_documents(2, 200), order="rank")
    study.invite("ann")
    connection = study._store._connection
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    [[pages]] = connection.execute("PRAGMA page_count").fetchall()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    confirmed = []

    def fill():
        for task in study.assessor("ann").next(200):
            study.assessor("ann").grade(task.item, 1, key=key(), note="x" * 500)
            confirmed.append(task.item)

    with pytest.raises(StudyError, match="free disk space, found none"):
        fill()
    assert [event.item for event in study.record()] == confirmed
    connection.execute("PRAGMA max_page_count = 1000000")  # somebody has made room
    task, *_ = study.assessor("ann").next()
    assert study.assessor("ann").grade(task.item, 2, key=key()).grade == 2.0
    study.close()
    with sqlite3.connect(path) as found:
        assert found.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    found.close()
    with gf.judging.Study(path) as again:
        assert len([*again.record()]) == len(confirmed) + 1


@pytest.fixture
def as_nobody():
    """Return a folder that others may look into, and a way to be one of them where this is root."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)

    def become():
        if os.geteuid() == 0:
            os.seteuid(65534)

    user = os.geteuid()
    yield folder, become
    if os.geteuid() != user:
        os.seteuid(user)
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("folder_too", [False, True])
def test_a_read_only_database_is_read_and_not_written(as_nobody, folder_too):
    folder, become = as_nobody
    path = folder / "study.db"
    with create(path) as study:
        study.invite("ann")
        study.assessor("ann").grade(study.assessor("ann").next()[0].item, 2, key="1")
    before = path.read_bytes()
    path.chmod(0o444)
    folder.chmod(0o555 if folder_too else 0o777)
    become()
    with gf.judging.Study(path) as study:
        assert study.grades() == {"q1": {"a": {"ann": 2.0}}}
        assert study.progress().done == 1
        for act in (
            lambda: study.assessor("ann").next(),
            lambda: study.assessor("ann").undo(key="2"),
            lambda: study.invite("bob"),
        ):
            with pytest.raises(StudyError, match="a writable database, found a read-only one"):
                act()
        study.export("-", format="trec")
    assert path.read_bytes() == before


def test_a_read_only_server_is_told(postgres_address):
    create(postgres_address).close()
    closed = postgres_address.replace("options=", "options=-cdefault_transaction_read_only%3Don%20")
    with gf.judging.Study(closed) as study:
        assert study.progress().items == 9
        with pytest.raises(StudyError, match="a writable database, found a read-only one"):
            study.invite("ann")


def end_connection(study, address):
    """End the connections of a study, as a server does that is started again."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as other:
        for connection in (study._store._connection, study._store._reader._connection):
            if not connection.closed:
                own = connection.info.backend_pid
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [own])


def test_a_connection_that_breaks_is_made_again(postgres_address):
    study = create(postgres_address)
    token = study.invite("ann")
    end_connection(study, postgres_address)
    assert study._who(token).name == "ann"
    task, *_ = study.assessor("ann").next()
    end_connection(study, postgres_address)
    assert study.assessor("ann").grade(task.item, 1, key="1").grade == 1.0
    end_connection(study, postgres_address)
    assert study.grades() == {"q1": {"a": {"ann": 1.0}}}
    study.close()


def fail_at(address, code, when="BEFORE INSERT ON event", deferred=""):
    """Have the server fail with an error as it would have of itself."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as other:
        other.execute(
            "CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '{code}'; END$$"
        )
        kind = "CONSTRAINT TRIGGER" if deferred else "TRIGGER"
        other.execute(
            f"CREATE {kind} fails {when} {deferred} FOR EACH ROW EXECUTE FUNCTION fails()"
        )


def mend(address):
    import psycopg

    with psycopg.connect(address, autocommit=True) as other:
        other.execute("DROP TRIGGER fails ON event")


@pytest.mark.parametrize("deferred", ["", "DEFERRABLE INITIALLY DEFERRED"])
def test_a_full_disk_of_a_server_damages_nothing(postgres_address, deferred):
    """While the act is written, and at its very end."""
    study = create(postgres_address)
    study.invite("ann")
    one, two, three = study.assessor("ann").next(3)
    study.assessor("ann").grade(one.item, 1, key="1")
    when = "AFTER INSERT ON event" if deferred else "BEFORE INSERT ON event"
    fail_at(postgres_address, "53100", when, deferred)
    for _ in range(2):
        with pytest.raises(StudyError) as problem:
            study.assessor("ann").grade(two.item, 2, key="2", note="lost")
        assert problem.value.expected == "free disk space on the server"
        assert problem.value.found == "none"
        assert "This action was not recorded; everything before it is saved." in str(problem.value)
        with pytest.raises(StudyError, match="free disk space"):
            study.import_grades({"q1": {"new": 1}}, assessor="old")
        assert study.grades() == {"q1": {"a": {"ann": 1.0}}}
        assert study.assessor("ann").next(2)[0].item == two.item  # its lease holds
    mend(postgres_address)
    assert study.assessor("ann").grade(two.item, 2, key="2").event == 2
    assert study.assessor("ann").grade(three.item, 3, key="3").event == 3
    assert len([*study.record()]) == 3
    assert [person.name for person in study.people] == ["ann"]
    study.close()


def test_a_desk_whose_disk_is_full_says_so_and_goes_on(postgres_address):
    """The page keeps an act that is answered so, and sends it again."""
    with desk(create(postgres_address)) as running:
        ann = running.client("ann")
        [task] = ann.post("/api/next", {"count": 1}).json["tasks"]
        act = {"key": "1", "item": task["item"], "kind": "grade", "grade": 2}
        fail_at(postgres_address, "53100")
        answer = ann.post("/api/act", {"acts": [act]})
        assert answer.status == 503
        assert answer.json["error"].startswith("The desk cannot save or read right now.")
        mend(postgres_address)
        assert ann.act(act)["confirmed"][0]["grade"] == 2.0
        assert len([*running.study.record()]) == 1


def test_a_server_that_breaks_off_is_told(postgres_address, monkeypatch):
    """At the end of an act nobody knows whether it is recorded; with the same key it counts once."""
    study = create(postgres_address)
    study.invite("ann")
    [task] = study.assessor("ann").next()
    store_of = study._store
    send = store_of._send

    def break_off(before):
        def sent(*more):
            if more and more[0][0] == "COMMIT":
                if not before:
                    send(*more)
                monkeypatch.setattr(store_of, "_send", send)
                end_connection(study, postgres_address)
                return send(("SELECT 1", ())) if not before else send(*more)
            return send(*more)

        return sent

    for before in (True, False):
        monkeypatch.setattr(store_of, "_send", break_off(before))
        with pytest.raises(StudyError, match="It may have been recorded: if sent again"):
            study.assessor("ann").grade(task.item, 2, key="1")
        assert len([*study.record()]) == (0 if before else 1)
    assert study.assessor("ann").grade(task.item, 2, key="1").event == 1
    assert len([*study.record()]) == 1
    study.close()


def test_another_program_that_holds_the_database_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_WAIT", 0.05)
    path = tmp_path / "study.db"
    study = create(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StudyError, match=r"within 0\.05 seconds, found another program"):
        study.invite("ann")
    assert study.people == []  # it can be read meanwhile
    other.execute("ROLLBACK")
    other.close()
    assert study.invite("ann")
    study.close()


def set_version(address, version):
    with store.open_store(address) as opened, opened.writing() as transaction:
        transaction.run("UPDATE study SET value = ? WHERE name = 'version'", str(version))


def test_an_older_version_is_brought_up_to_date(address, monkeypatch):
    with create(address) as study:
        study.invite("ann")
        study.assessor("ann").grade(study.assessor("ann").next()[0].item, 2, key="1")

    def add_column(transaction):
        transaction.run("ALTER TABLE query ADD COLUMN language TEXT")
        transaction.run("UPDATE query SET language = ?", "en")

    def fail(transaction):
        transaction.run("ALTER TABLE query ADD COLUMN second TEXT")
        raise RuntimeError("in the middle")

    known = store.MIGRATIONS
    monkeypatch.setattr(store, "MIGRATIONS", (*known, add_column, fail))
    with pytest.raises(RuntimeError, match="in the middle"):
        gf.judging.Study(address)
    monkeypatch.setattr(store, "MIGRATIONS", known)
    with gf.judging.Study(address) as study:  # as if nothing had happened
        assert study.grades() == {"q1": {"a": {"ann": 2.0}}}
    monkeypatch.setattr(store, "MIGRATIONS", (*known, add_column))
    with gf.judging.Study(address) as study:
        assert study.grades() == {"q1": {"a": {"ann": 2.0}}}
        with study._store.reading() as transaction:
            assert transaction.all("SELECT DISTINCT language FROM query") == [("en",)]
            newer = transaction.one("SELECT value FROM study WHERE name = 'version'")
            assert newer == (str(len(known) + 2),)
    monkeypatch.setattr(store, "MIGRATIONS", known)
    with pytest.raises(StudyError, match="of a newer gainful"):
        gf.judging.Study(address)


def test_a_study_of_version_1_goes_on(address):
    """It had no share of documents for several, nor the settings that came with it."""
    with create(address, overlap=2) as study:
        study.invite("ann"), study.invite("bob")
        study.practice({"q1": {"a": 1}})
        for task in study.assessor("ann").next(3):
            study.assessor("ann").grade(task.item, 1, key=key())
        before, events = study.progress(), [*study.record()]
        with study._store.writing() as transaction:
            transaction.run("ALTER TABLE item DROP COLUMN wanted")
            transaction.run("ALTER TABLE doc DROP COLUMN fields")
            transaction.run(
                "DELETE FROM study WHERE name IN ('overlap_share', 'compare', 'show_ranks', 'tags')"
            )
            transaction.run("UPDATE study SET value = '1' WHERE name = 'version'")
    with gf.judging.Study(address) as study:
        assert study.progress() == before
        assert [*study.record()] == events
        settings = study.settings
        assert (settings["overlap_share"], settings["show_ranks"]) == (1.0, False)
        assert (settings["compare"], settings["tags"]) == ((), TAGS)
        assert len(study.assessor("ann").next(20)) == 7
        assert len(study.assessor("bob").next(20)) == 10  # and one of practice
        study.set(overlap_share=0.2)
    with create(address) as study:
        assert study.progress().shared == 2


@pytest.mark.parametrize("version", [99, 0, "new", "²"])
def test_other_versions_are_refused_and_left_as_they_are(tmp_path, version):
    path = tmp_path / "study.db"
    create(path).close()
    set_version(path, version)
    before = path.read_bytes()
    for opened in (gf.judging.Study, create):
        with pytest.raises(StudyError, match="version"):
            opened(path)
    assert path.read_bytes() == before


def test_what_is_no_study_is_refused_and_left_as_it_is(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("these are notes, and not a database at all " * 100)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE cakes (name TEXT)")
    connection.close()
    for path, said in ((text, "isn't a database"), (other, "something else: cakes")):
        before = path.read_bytes()
        for opened in (gf.judging.Study, create):
            with pytest.raises(StudyError, match=said):
                opened(path)
        assert path.read_bytes() == before
    with pytest.raises(StudyError, match="no such file"):
        gf.judging.Study(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(StudyError, match="can be opened"):
        create(tmp_path / "no folder" / "study.db")
    with pytest.raises(gf.errors.InputError, match="address"):
        gf.judging.Study(3)


def test_two_programs_that_make_a_study_at_once_make_one(address, monkeypatch):
    together = threading.Barrier(2)

    def read_together(*given):
        together.wait(20)  # both have seen that there is none
        return read_run(*given)

    read_run = study_module.read_run
    monkeypatch.setattr(study_module, "read_run", read_together)
    one_run = {"one": RUNS["one"]}
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(create, address, runs=one_run, title="both") for _ in range(2)]
        first, second = [each.result() for each in made]
    assert first._id() == second._id()
    assert first.runs == second.runs == one_run
    assert first.progress().items == 6
    first.close(), second.close()
    together.reset()
    with gf.judging.Study(address) as study:
        assert study.settings["title"] == "both"


def test_two_programs_that_make_other_studies_at_once_are_told(tmp_path, monkeypatch):
    path = tmp_path / "study.db"
    read_run = study_module.read_run
    made = []

    def read_late(*given):
        monkeypatch.setattr(study_module, "read_run", read_run)
        made.append(create(path, scale="0..1"))
        return read_run(*given)

    monkeypatch.setattr(study_module, "read_run", read_late)
    with pytest.raises(StudyError, match=r"the scale of this study, 0, 1, found 0, 1, 2, 3"):
        create(path, scale="0..3")
    assert [grade.value for grade in made[0].scale] == [0.0, 1.0]
    made[0].close()


def test_what_a_server_cannot_hold_is_told(postgres_address):
    """SQLite holds ids of any length, and the character NUL."""
    long = "".join(map(str, range(5000)))
    for doc, told in ((long, "longer ones"), ("a\0b", "the character NUL")):
        given = {
            "runs": {"run": {"q": {doc: 1.0}}},
            "queries": {"q": "text"},
            "docs": {doc: "text"},
        }
        with create(**given) as study:
            assert list(study.runs["run"]["q"]) == [doc]
        with pytest.raises(StudyError, match=told) as problem:
            create(postgres_address, **given)
        assert len(str(problem.value)) < 400
    with create(postgres_address) as study:
        assert study.progress().items == 9


def test_long_texts_go_to_a_server_in_parts(postgres_address):
    texts = {f"d{place}": f"{place} " + "long text" * 100_000 for place in range(4)}
    run = {"q": dict.fromkeys(texts, 1.0)}
    with create(
        postgres_address, runs={"run": run}, queries={"q": "text"}, docs=texts, depth=9
    ) as study:
        study.invite("ann")
        assert {task.doc: task.text for task in study.assessor("ann").next(4)} == texts


def test_acts_are_recorded_together_or_each_by_itself(address):
    study = create(address)
    study.invite("ann"), study.invite("bob")
    one, two, three = study.assessor("ann").next(3)

    def grade(name, task, grade, said):
        return lambda: study.assessor(name).grade(task.item, grade, key=said)

    first, second = study._together([grade("ann", one, 1, "1"), grade("ann", two, 2, "2")])
    assert (first.event, second.event) == (1, 2)
    # One that is refused leaves the others alone, whether it raises or swallows it.
    told = study._together(
        [
            grade("ann", three, 3, "3"),
            grade("bob", one, 1, "1"),
            grade("ann", two, 7, "4"),
            lambda: acts_from_pages.take(
                study, "bob", [{"key": "2", "item": two.item, "kind": "grade", "grade": 0}]
            ),
            grade("ann", one, 0, "5"),
        ]
    )
    assert told[0].event == 3
    assert isinstance(told[1], gf.errors.LeaseLostError)
    assert isinstance(told[2], gf.errors.InputError)
    assert told[3]["confirmed"] == []
    assert told[4].event == 4
    assert [(event.assessor, event.after.grade) for event in study.record()] == [
        ("ann", 1.0),
        ("ann", 2.0),
        ("ann", 3.0),
        ("ann", 0.0),
    ]
    assert study.grades()[one.query][one.doc] == {"ann": 0.0}
    assert study._together([]) == []
    study.close()


def test_a_study_whose_making_failed_can_be_made_again(tmp_path):
    path = tmp_path / "study.db"
    with pytest.raises(gf.errors.InputError, match="from 0 to 3"):
        create(path, judgments={"q1": {"a": 7}})
    assert not path.exists()
    store.open_store(path, new=True).close()  # as of a program that was killed
    with pytest.raises(gf.errors.InputError, match="from 0 to 3"):
        create(path, judgments={"q1": {"a": 7}})
    with pytest.raises(StudyError, match="only partly created"):
        gf.judging.Study(path)
    with create(path) as study:
        assert study.runs == RUNS


def test_a_closed_study_says_so():
    study = create()
    study.close()
    study.close()
    with pytest.raises(StudyError, match="an open study, found a closed one"):
        study.grades()


def test_no_server_and_no_driver_are_told(monkeypatch):
    with pytest.raises(StudyError, match="a server that responds") as problem:
        gf.judging.Study("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in str(problem.value)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(gf.errors.MissingDependencyError, match=r"pip install '\.\[postgres\]'"):
        gf.judging.Study("postgresql://me:secret@127.0.0.1:1/none")


def test_a_backup_has_all_that_was_confirmed_before_it_while_others_write(tmp_path, cli):
    database_study(tmp_path / "study.db", queries=4, docs=60, depth=60).close()
    running = Command(tmp_path, "--db", "study.db", "--invite", "ann", "--invite", "bob")
    links = running.start(3)
    confirmed, stopped = [], threading.Event()

    def judge(name):
        client = Client(links[name])
        client.get(urlsplit(links[name]).path)
        while not stopped.is_set() and (
            tasks := client.post("/api/next", {"count": 5}).json["tasks"]
        ):
            for task in tasks:
                act = {
                    "key": f"{name} {task['item']}",
                    "item": task["item"],
                    "kind": "grade",
                    "grade": 1,
                }
                confirmed.extend((name, each["key"]) for each in client.act(act)["confirmed"])

    people = [threading.Thread(target=judge, args=[name]) for name in ("ann", "bob")]
    for each in people:
        each.start()
    copies, seen = [tmp_path / "copy.db", tmp_path / "folder" / "copy.db"], []
    copies[1].parent.mkdir()
    try:
        while len(confirmed) < 20:
            time.sleep(0.01)
        for turn in range(6):
            before, copy = [*confirmed], copies[turn % 2]
            done = cli("judge", "--db", str(tmp_path / "study.db"), "--backup", str(copy))
            assert done.returncode == 0, done.stderr
            assert not [*tmp_path.glob("**/copy.db-*")]
            with gf.judging.Study(copy) as made:
                record = [
                    (event.assessor, f"{event.assessor} {event.item}") for event in made.record()
                ]
                assert made.progress().done == len(record)
            assert {*before} <= {*record}
            assert f"with {len(record):,} actions\n" in done.stderr
            seen.append(len(record))
            copy.unlink() if turn < 2 else None
    finally:
        stopped.set()
        for each in people:
            each.join()
        running.end()
    assert seen == sorted(seen)
    assert not [*tmp_path.glob("**/.gainful*")]
    with gf.judging.Study(copies[0]) as copied:  # it goes on as a study of its own
        copied.assessor("ann").grade(copied.assessor("ann").next()[0].item, 2, key="in the copy")


def test_a_backup_changes_nothing_and_harms_no_file(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with database_study("study.db", queries=1, docs=3) as made:
        made.invite("ann")
        made.assessor("ann").grade(1, 2, key="1")
    Path("study.db").chmod(0o600)
    Path("no.db").write_text("x" * 100)
    sqlite3.connect("other.db").execute("CREATE TABLE a (b)")
    set_version("study.db", 1)  # of an older gainful, which is copied as it is
    before = Path("study.db").read_bytes()
    assert (
        cli("judge", "--backup", "copy.db").stderr == "copy.db: a copy of study.db with 1 action\n"
    )
    assert Path("study.db").read_bytes() == before
    assert stat.S_IMODE(Path("copy.db").stat().st_mode) == 0o600
    kept = Path("copy.db").read_bytes()
    os.link("study.db", "hard.db")
    Path("open.db").write_text("in use")
    Path("open.db-wal").write_text("a journal")
    for call, told in (
        (["--backup", "study.db"], "a file other than the study itself"),
        (["--backup", "hard.db"], "a file other than the study itself"),
        (["--backup", "open.db"], "a file that nobody has open"),
        (["--backup", "none/copy.db"], "a file that can be written"),
        (["--db", "none.db", "--backup", "copy.db"], "on the command line gainful judge RUN"),
        (["--db", "no.db", "--backup", "copy.db"], "a file that isn't a database"),
        (["--db", "other.db", "--backup", "copy.db"], "expected a study"),
        (["--db", "postgresql://u:SECRET@h/db", "--backup", "copy.db"], "pg_dump"),
        (["--db", "mysql://u:SECRET@h/db", "--backup", "copy.db"], "the path of a file"),
        (["--backup", "copy.db", "--invite", "ann"], "--backup cannot be combined with --invite"),
        (["--backup", "copy.db", "--merge", "no.db"], "--backup cannot be combined with --merge"),
        (["a.run", "--backup", "copy.db"], "--backup cannot be combined with RUNs: it only copies"),
    ):
        done = cli("judge", *call)
        assert done.returncode == 2
        assert told in done.stderr
        assert "SECRET" not in done.stderr
    assert Path("copy.db").read_bytes() == kept
    assert Path("open.db").read_text() == "in use"
    assert not Path("none.db").exists()
