"""What the lead sets up in the browser: settings, words of grades, practice, grades from elsewhere, taking grades back."""

import base64
import gzip
import io
import json
import re
import sqlite3
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from desk_server import desk, study
from gainful.errors import InputError
from gainful.judging import Study
from gainful.judging.desk import lead_requests, web_app
from gainful.judging.desk.offline import write_offline
from gainful.judging.desk.study_settings import TAGS

ROUTES = ("settings", "grades", "practice", "import", "reset")


@pytest.fixture
def own():
    with desk(study(queries=2, docs=4)) as found:
        yield found


@pytest.fixture(scope="module")
def still():
    """A desk where all is refused: one for all such tests."""
    with desk(study(queries=2, docs=4)) as found:
        yield found, found.client("lea", "lead")


@pytest.fixture
def lead(own):
    return own.client("lea", "lead")


def file(name, content):
    data = content if isinstance(content, bytes) else content.encode()
    return {"name": name, "content": base64.b64encode(data).decode()}


def refused(answer, *words):
    """Assert that something is refused in plain words, without what is inside."""
    assert answer.status == 400, answer.text
    told = answer.json["error"]
    for word in words:
        assert word in told, told
    for word in (tempfile.gettempdir(), "Traceback", "sqlite", ".py", "SELECT"):
        assert word not in told, told
    return told


def judge(found, name, grades):
    """Have somebody grade so many documents."""
    found.study.invite(name)
    tasks = found.study.assessor(name).next(len(grades))
    for task, grade in zip(tasks, grades, strict=True):
        found.study.assessor(name).grade(task.item, grade, key=f"{name} {task.item}")
    return tasks


def test_settings_change_the_study(own, lead):
    told = lead.get("/api/lead/settings").json
    assert (told["order"], told["overlap"], told["measure"]) == ("rank", 1, "nDCG@10")
    assert (told["overlap_share"], told["compare"], told["show_ranks"]) == (1, [], False)
    assert (told["tags"], told["runs"]) == ([*TAGS], ["old", "new"])
    given = {
        "title": " Bread <b>", "order": "random", "overlap": 3, "measure": "P@5", "overlap_share": 0.25,
        "compare": ["new", "old"], "show_ranks": True, "tags": ["<i>ads</i>", "vague"],
    }  # fmt: skip
    told = lead.post("/api/lead/settings", given).json
    assert {name: told[name] for name in given} == {**given, "title": "Bread <b>"}
    assert own.study.settings["order"] == "random"
    assert lead.get("/api/lead/progress").json["shared"] == 2
    assert own.client("kim").get("/api/me").json["tags"] == ["<i>ads</i>", "vague"]
    assert lead.post("/api/lead/settings", {"overlap": 2}).json["measure"] == "P@5"
    # What is measured follows at once, though nobody has acted.
    judge(own, "ann", [3, 0, 1])
    version = lead.get("/api/lead/progress").json["version"]
    assert lead.get("/api/lead/standing").json["runs"][0]["measure"] == "P@5"
    lead.post("/api/lead/settings", {"measure": "nDCG@3"})
    assert lead.get("/api/lead/progress").json["version"] != version
    told = lead.get("/api/lead/standing").json
    assert told["runs"][0]["measure"] == "nDCG@3"
    assert [(pair["baseline"], pair["run"]) for pair in told["pairs"]] == [("new", "old")]
    lead.post("/api/lead/settings", {"compare": ["old", "new"]})
    assert [pair["baseline"] for pair in lead.get("/api/lead/standing").json["pairs"]] == ["old"]


def test_every_measure_that_the_page_suggests_can_be_set(still):
    own, _ = still
    before = own.study.settings["measure"]
    for measure in (*lead_requests.MEASURES, before):
        own.study.set(measure=measure)
        assert own.study.settings["measure"] == measure


def test_ranks_reach_an_assessor_only_where_the_lead_shows_them(own, lead, tmp_path):
    ann = own.client("ann")

    def told():
        """All that an assessor is told, on the page and in a file."""
        write_offline(own.study, "bob", tmp_path / "bob.html", 3)
        data = (tmp_path / "bob.html").read_text().partition('id="data">')[2]
        asked = ann.post("/api/next", {"count": 3})
        acted = ann.post("/api/act", {"acts": []}).text
        return asked.json["tasks"], ann.get("/api/me").text + asked.text + acted + data.partition(
            "</script>"
        )[0]

    def hides(text):
        return not any(word in text for word in ("rank", '"old"', '"new"'))

    assert hides(told()[1])
    lead.post("/api/lead/settings", {"show_ranks": True})
    tasks, text = told()
    for task in tasks:
        place = int(task["doc"][-1])  # of four documents; the other run has them in reverse
        assert task["ranks"] == {"old": place + 1, "new": 4 - place}
    assert text.count('"ranks"') == 6
    lead.post("/api/lead/settings", {"show_ranks": False})
    assert hides(told()[1])


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"order": "best"}, "random"),
        ({"overlap": 0}, "1"),
        ({"overlap": "2"}, "whole number"),
        ({"overlap": True}, "whole number"),
        ({"measure": "nDGC@10"}, "nDCG"),
        ({"measure": "exec('1')"}, ""),
        ({"measure": ["nDCG"]}, "string"),
        ({"title": "x" * 300}, "200"),
        ({"title": "a\0b"}, "NUL"),
        ({"overlap_share": 2}, "from 0 to 1"),
        ({"overlap_share": "1"}, "from 0 to 1"),
        ({"overlap_share": True}, "from 0 to 1"),
        ({"compare": ["old"]}, "two runs"),
        ({"compare": ["old", "none"]}, "two runs"),
        ({"compare": "old"}, "a list of texts"),
        ({"show_ranks": 1}, "yes or no"),
        ({"tags": "ads"}, "a list of texts"),
        ({"tags": [3]}, "a list of texts"),
        ({"tags": ["x" * 101]}, "100 characters"),
        ({"tags": ["a\0b"]}, "NUL"),
    ],
)
def test_wrong_settings_change_nothing(still, given, word):
    own, lead = still
    before = own.study.settings
    refused(lead.post("/api/lead/settings", {"title": "other", **given}), word)
    assert own.study.settings == before


def test_a_measure_that_has_no_bounds_is_refused(own, lead):
    judge(own, "ann", [3, 0, 1])
    measure = next(
        name
        for name in ("infAP", "bpref", "Judged@10")
        if lead.post("/api/lead/settings", {"measure": name}).status == 400
    )
    assert own.study.settings["measure"] == "nDCG@10", measure
    assert lead.get("/api/lead/standing").status == 200


def test_words_and_keys_of_grades(own, lead):
    rows = lead.get("/api/lead/settings").json["scale"]
    rows[0]["word"], rows[3]["word"] = "<i>nothing</i>", "لا"
    rows[0]["key"], rows[1]["key"] = rows[1]["key"], rows[0]["key"]  # swapped at once
    told = lead.post("/api/lead/grades", {"grades": rows}).json["scale"]
    assert told == rows
    assert own.client("ann").get("/api/me").json["scale"] == rows
    before = own.study.scale
    for wrong in (
        [{**rows[0], "key": "ab"}],
        [{**rows[0], "key": ""}],
        [{**rows[0], "key": rows[2]["key"]}],
        [{**rows[0], "value": 7}],
        [{**rows[0], "value": "0"}],
        [rows[0], rows[0]],
        [{**rows[0], "word": "x" * 200}],
        [{**rows[0], "word": 3}],
        "0",
        [3],
    ):
        refused(lead.post("/api/lead/grades", {"grades": wrong}))
    assert own.study.scale == before


def test_assessors_hear_of_changes_with_their_next_answer(own, lead):
    ann = own.client("ann")
    mark = ann.get("/api/me").json["mark"]
    assert ann.post("/api/next", {"count": 1}).json["mark"] == mark
    lead.post("/api/lead/guideline", {"text": "Anew."})
    assert ann.post("/api/next", {"count": 1}).json["mark"] != mark
    mark = ann.get("/api/me").json["mark"]
    lead.post("/api/lead/grades", {"grades": [{"value": 0, "word": "no", "key": "0"}]})
    item = ann.post("/api/next", {"count": 1}).json["tasks"][0]["item"]
    told = ann.act({"key": "1", "item": item, "kind": "grade", "grade": 1})
    assert told["mark"] != mark
    assert ann.get("/api/me").json["mark"] == told["mark"]


def test_practice_from_files(own, lead):
    answers = "query,doc,grade,feedback\nq0,q0-d1,3,It says <b>how</b>.\nnew,p,0,\n"
    refused(lead.post("/api/lead/practice", {"answers": file("a.csv", answers)}), "'new'")
    told = lead.post(
        "/api/lead/practice",
        {
            "answers": file("a.csv", answers),
            "queries": file("q.tsv", "query\ttext\nnew\ta new one\n"),
            "docs": file("d.jsonl", '{"doc": "p", "title": "P", "text": "of practice"}\n'),
        },
    ).json
    assert told["count"] == told["practice_count"] == 2
    assert [(one["doc"], one["answer"], one["feedback"]) for one in told["practice"]] == [
        ("q0-d1", 3, "It says <b>how</b>."),
        ("p", 0, ""),
    ]
    ann = own.client("ann")
    one, two, three = ann.post("/api/next", {"count": 3}).json["tasks"]
    assert (one["practice"], two["practice"], three["practice"]) == (True, True, False)
    assert (two["query_text"], two["title"]) == ("a new one", "P")
    act = {"key": "1", "item": one["item"], "kind": "grade", "grade": 2}
    [confirmed] = ann.act(act)["confirmed"]
    assert confirmed["feedback"] == {"answer": 3, "right": False, "text": "It says <b>how</b>."}
    assert own.study.grades() == {}
    # A file of TREC's form has answers alone, and changes the one that is there.
    told = lead.post("/api/lead/practice", {"answers": file("b.qrels", "q0 0 q0-d1 1\n")}).json
    assert [(one["answer"], one["feedback"]) for one in told["practice"]] == [(1, ""), (0, "")]


def test_the_practice_set_of_assessors_stays_with_the_lead(own, lead):
    lead.post("/api/lead/practice", {"answers": file("b.qrels", "q0 0 q0-d1 1\n")})
    ann = own.client("ann")
    told = ann.post("/api/next", {"count": 1}).text
    assert '"answer"' not in told
    assert '"feedback"' not in told


def test_grades_from_elsewhere_are_one_more_assessor(own, lead):
    qrels = "q0 0 q0-d0 2\nq0 0 q0-d1 0\n"
    body = {"name": "a model", "role": "model", "grades": file("m.qrels", qrels)}
    assert lead.post("/api/lead/import", body).json == {
        "name": "a model",
        "role": "model",
        "count": 2,
    }
    assert lead.post("/api/lead/import", body).json["count"] == 0  # nothing is new
    assert own.study.progress().done == 0  # people still judge them
    people = {**body, "name": "last year", "role": "judgments"}
    assert lead.post("/api/lead/import", people).json["count"] == 2
    assert own.study.progress().done == 2
    assert own.study.grades()["q0"]["q0-d0"] == {"a model": 2, "last year": 2}
    events = [(each.assessor, each.kind) for each in own.study.record()]
    assert events == [("a model", "import")] * 2 + [("last year", "import")] * 2
    # Every format that is read at all.
    table = pa.table({"query": ["q0"], "doc": ["q0-d2"], "grade": [3]})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    for name, content in (
        ("x.csv", "query,doc,grade\nq0,q0-d2,0\n"),
        ("x.jsonl", '{"query": "q0", "doc": "q0-d2", "grade": 1}\n'),
        ("x.json", '{"q0": {"q0-d2": 2}}'),
        ("C:\\fakepath\\x.parquet", buffer.getvalue()),
    ):
        body = {"name": "formats", "role": "model", "grades": file(name, content)}
        assert lead.post("/api/lead/import", body).json["count"] == 1, name
    assert own.study.grades()["q0"]["q0-d2"] == {"formats": 3}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("grades.qrels", "q0 0 q0-d0 1\nq0 0 q0-d1 x\n", ("a finite number", "grades.qrels:2")),
        ("grades.qrels", "q0 0 q0-d0 9\n", ("from 0 to 3", "q0-d0")),
        ("grades.qrels", "", ("grades.qrels", "an empty file")),
        ("../../grades.csv", "a,b\n1,2\n", ("grades.csv:1",)),
        ("x" * 40, b"\x00\xff\x00", ("a binary file",)),
        ("g.qrels.gz", gzip.compress(b"q0 0 q0-d0 1\n", mtime=0), ("Decompress it first",)),
        ("g.qrels", gzip.compress(b"0" * 10**6, mtime=0), ("Decompress it first",)),
        ("g.json", "[" * 100_000, ()),
        ("g.parquet", b"PAR1" + b"\x00" * 50 + b"PAR1", ()),
    ],
    ids=[
        "no number",
        "off the scale",
        "empty",
        "other columns",
        "binary",
        "packed",
        "packed, by its content",
        "too deep",
        "broken",
    ],
)
def test_files_that_cannot_be_read_are_told_in_plain_words(still, name, content, words):
    own, lead = still
    body = {"name": "m", "role": "model", "grades": file(name, content)}
    refused(lead.post("/api/lead/import", body), *words)
    refused(lead.post("/api/lead/practice", {"answers": file(name, content)}))
    assert own.study.grades() == {}
    assert own.study._events() == 0
    assert all(each.name != "m" for each in own.study.people)


def test_what_is_no_file_is_refused(still):
    own, lead = still
    good = file("a.qrels", "q0 0 q0-d0 1\n")
    body = {"name": "m", "role": "model", "grades": good}
    for wrong in (
        {"grades": None},
        {"grades": "q0 0 q0-d0 1"},
        {"grades": {**good, "content": "%%%"}},
        {"grades": {**good, "name": 3}},
        {"grades": {**good, "name": "x" * 1000}},
        {"role": "lead"},
        {"role": None},
        {"name": ""},
        {"name": "adjudicated"},
        {"name": "lea"},  # somebody else already
    ):
        refused(lead.post("/api/lead/import", {**body, **wrong}))
    assert own.study._events() == 0


def test_files_are_limited_in_size(still, monkeypatch):
    _, lead = still
    monkeypatch.setattr(lead_requests, "LARGEST_FILE", 1000)
    body = {"name": "m", "role": "model", "grades": file("a.qrels", "q0 0 q0-d0 1\n" * 100)}
    refused(lead.post("/api/lead/import", body), "at most 1,000 bytes")
    monkeypatch.setattr(web_app, "_LARGEST_UPLOAD", 1500)
    assert lead.post("/api/lead/import", body).status == 413
    # Nothing but a file may be large.
    assert lead.post("/api/lead/settings", b"{" + b" " * 1_100_000 + b"}").status == 413


def test_taking_back_says_how_many_first(own, lead):
    own.study.set(guideline="One.")
    tasks = judge(own, "ann", [0, 1, 2])
    own.study.set(guideline="Two.")
    judge(own, "bob", [3, 3])
    asked = {"before_guideline": 2}
    told = lead.post("/api/lead/reset", asked).json
    assert told == {"count": 3, "kinds": {"grade": 3}, "done": False}
    before = own.study._events()
    assert len(own.study.grades()["q0"]) == 4
    # Another number than was confirmed takes nothing back.
    told = refused(lead.post("/api/lead/reset", {**asked, "count": 2, "key": "k"}), "3 answers")
    assert own.study._events() == before
    told = lead.post("/api/lead/reset", {**asked, "count": 3, "key": "k"}).json
    assert (told["count"], told["done"]) == (3, True)
    assert {name for docs in own.study.grades().values() for d in docs.values() for name in d} == {
        "bob"
    }
    # The record has what was there, and who took it back.
    last = [*own.study.record()][-3:]
    assert [(each.kind, each.assessor, each.before.grade) for each in last] == [
        ("reset", "lea", grade) for grade in (0, 1, 2)
    ]
    assert next(iter(own.study.record())).after.grade == 0
    # They are judged again.
    assert {task.item for task in own.study.assessor("ann").next(8)} >= {
        task.item for task in tasks
    }


def test_what_is_taken_back_can_be_of_one_assessor_or_query(own, lead):
    judge(own, "ann", [0, 1, 2, 3, 0])
    judge(own, "bob", [3, 3])
    own.study.assessor("bob").cannot(own.study.assessor("bob").next()[0].item, "query", key="c")
    assert lead.post("/api/lead/reset", {"assessor": "bob"}).json["kinds"] == {
        "cannot": 1,
        "grade": 2,
    }
    assert lead.post("/api/lead/reset", {"query": "q0"}).json["count"] == 4
    both = {"query": "q1", "assessor": "ann"}
    assert lead.post("/api/lead/reset", both).json["count"] == 1
    assert lead.post("/api/lead/reset", {"assessor": "' OR 1=1 --"}).status == 400
    for wrong in ({}, {"before_guideline": "2"}, {"before_guideline": 0}, {"assessor": ["ann"]}):
        refused(lead.post("/api/lead/reset", wrong))
    refused(lead.post("/api/lead/reset", {"assessor": "bob", "count": 3}))  # no key
    done = lead.post("/api/lead/reset", {**both, "count": 1, "key": "one"}).json
    assert done["count"] == 1
    assert "q1-d0" not in own.study.grades().get("q1", {}) or len(own.study.grades()["q1"]) == 2


def test_nobody_else_sets_anything_up(own, lead):
    ann = own.client("ann")
    before = (own.study.settings, own.study.scale, own.study._events())
    body = {
        "title": "mine",
        "name": "m",
        "role": "model",
        "grades": file("a.qrels", "q0 0 q0-d0 1\n"),
        "answers": file("a.qrels", "q0 0 q0-d0 1\n"),
    }
    for name in ROUTES:
        assert ann.post(f"/api/lead/{name}", body).status == 403
        for headers in (
            {"Origin": "http://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Content-Type": "text/plain"},
            {"Content-Type": "multipart/form-data; boundary=x"},
        ):
            assert lead.post(f"/api/lead/{name}", body, **headers).status in (403, 415)
        without = {"Content-Type": "application/json"}
        data = json.dumps(body).encode()
        assert lead.ask("POST", f"/api/lead/{name}", data, without).status == 403
    for name in ("settings", "design"):
        assert ann.get(f"/api/lead/{name}").status == 403
    assert (own.study.settings, own.study.scale, own.study._events()) == before
    assert own.study.practice_set == []


def test_what_is_to_be_said_of_the_design(own, lead):
    def told():
        return lead.get("/api/lead/sampling").json["told"]

    assert told() == "Only a study in random order has a sampling design."
    lead.post("/api/lead/settings", {"order": "random"})
    assert told().startswith("Not available yet.")
    tasks = judge(own, "ann", [3, 0])
    assert told() == ""
    passed, after = own.study.assessor("ann").next(2)
    own.study.assessor("ann").later(passed.item, key="later")
    with pytest.warns(gf.errors.GainfulWarning) as warned:
        own.study.design()
    assert told() == str(warned[0].message)
    assert passed.doc in told()
    assert passed.item not in {task.item for task in tasks} | {after.item}


def test_the_design_and_the_rule_of_an_export(own, lead, tmp_path):
    refused(lead.get("/api/lead/design"), "random order")
    lead.post("/api/lead/settings", {"order": "random", "overlap": 2})
    judge(own, "ann", [0, 1])
    judge(own, "bob", [3, 3])
    answer = lead.get("/api/lead/design")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="design.json"'
    assert answer.json["strata"][0]["drawn"]
    grades = {}
    for rule in ("mean", "max", "min"):
        path = tmp_path / f"{rule}.qrels"
        path.write_bytes(lead.get(f"/api/lead/export?format=qrels&rule={rule}").body)
        grades[rule] = [float(line.split()[3]) for line in path.read_text().splitlines()]
    assert sorted(grades["max"]) == [3, 3]
    assert sorted(grades["min"]) == [0, 1]
    assert sorted(grades["mean"]) == [1.5, 2]
    assert lead.get("/api/lead/export?rule=nobody").status == 400


def test_an_offline_page_without_documents_says_why(tmp_path):
    with study(queries=1, docs=2) as made:
        made.invite("ann")
        path = tmp_path / "page.html"
        assert write_offline(made, "bob", path).documents == 2
        path.unlink()
        for act, why in (
            (lambda: None, "are reserved: 2 for bob until 20"),
            (lambda: judge_all(made, "bob"), "All documents of the study (2) already have"),
            (lambda: (made.set(overlap=2), judge_all(made, "ann"), made.set(overlap=3)), "ann has already judged every document that still needs a grade (2)"),
        ):  # fmt: skip
            act()
            with pytest.raises(InputError, match=re.escape(why)):
                write_offline(made, "ann", path)
            assert not path.exists()


def judge_all(made, name):
    for task in made.assessor(name).next(50):
        made.assessor(name).grade(task.item, 1, key=str(task.item))


def test_image_hosts_are_plain_addresses():
    with study(queries=1, docs=1) as made:
        made.set(image_hosts=["https://Images.example.com/", "http://localhost:8000"])
        hosts = ("https://images.example.com", "http://localhost:8000")
        assert made.settings["image_hosts"] == hosts
        for hostile in ("*", "https:", "https://a.example; script-src *", "https://a.example/x", "data:", "'unsafe-inline'", "https://a\nb", "https://*.a.example"):  # fmt: skip
            with pytest.raises(InputError, match="addresses of servers"):
                made.set(image_hosts=[hostile])
        assert made.settings["image_hosts"] == hosts


def test_other_columns_of_documents_are_their_fields(tmp_path):
    docs = [
        {"doc": "a", "title": "A", "text": "Bread", "price": 4.5, "brand": None},
        {"doc": "b", "title": "B", "text": "", "price": 2, "brand": "Mill"},
    ]
    runs = {"r": {"q": {"a": 2, "b": 1}}}
    path = tmp_path / "study.db"
    for given in (docs, [{**doc, "vector": [1.0, 2.0]} for doc in docs]):
        with Study.create(path, runs, queries={"q": "bread"}, docs=given, order="rank") as made:
            made.invite("ann")
            first, second = made.assessor("ann").next(2)
            # A column that no page can show leaves the others as they were.
            assert first.fields == {"price": "4.5"}
            assert second.fields == {"price": "2", "brand": "Mill"}
    with Study.create(":memory:", runs, queries={"q": "bread"}, docs={"a": ("A", "x"), "b": ("B", "y")}) as made:  # fmt: skip
        made.invite("ann")
        assert made.assessor("ann").next(1)[0].fields == {}


def test_a_study_without_fields_is_upgraded(tmp_path):
    path = tmp_path / "study.db"
    study(path, queries=1, docs=1).close()
    database = sqlite3.connect(path)
    database.execute("ALTER TABLE doc DROP COLUMN fields")
    database.execute("UPDATE study SET value = '2' WHERE name = 'version'")
    database.commit()
    database.close()
    with Study(path) as made:
        made.invite("ann")
        assert made.assessor("ann").next(1)[0].fields == {}
