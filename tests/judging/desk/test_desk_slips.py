"""Slips at the desk: undoing what was refused, names that are taken, passwords, and settings that cannot work."""

import csv
import traceback

import pytest

import gainful as gf
from desk_server import contents, desk
from gainful.judging.desk import acts_from_pages, assessor_acts
from gainful.judging.desk.offline import write_offline
from study_cases import create

InputError = gf.errors.InputError


def sent(study, who, *given):
    """Send acts in one request, and return the keys of those taken and of those refused."""
    told = acts_from_pages.take(study, who, given)
    return tuple([each["key"] for each in told[kind]] for kind in ("confirmed", "refused"))


def test_an_undo_is_of_the_act_that_it_names_and_of_no_other(address):
    with create(address) as study:
        study.invite("ann"), study.invite("bob")
        one, two, three, four = (task.item for task in study.assessor("ann").next(4))

        def grade(key, item, value=1):
            return {"key": key, "kind": "grade", "item": item, "grade": value}

        def undo(key, of, item):
            return {"key": key, "kind": "undo", "of": of, "item": item, "event": None}

        # A page that does not know the events yet undoes the first of three, in another request.
        sent(study, "ann", grade("1", one), grade("2", two), grade("3", three))
        assert sent(study, "ann", undo("4", "1", one)) == (["4"], [])
        assert [*study.record()][-1].undoes == 1
        # What was refused cannot be undone, be it of the same request or of an earlier one.
        refused = ["5", "6"]
        assert sent(study, "ann", grade("5", four, 99), undo("6", "5", four)) == ([], refused)
        assert sent(study, "ann", undo("7", "5", four), grade("8", four)) == (["8"], ["7"])
        # Nor what is unknown, of somebody else, about another document, or undone already.
        assert sent(study, "bob", undo("9", "8", four)) == ([], ["9"])
        wrong = [
            undo("10", "8", three),
            undo("11", "1", one),
            undo("12", 3, one),
            undo("13", "\ud800", one),
        ]
        assert sent(study, "ann", *wrong) == ([], ["10", "11", "12", "13"])
        before = [*study.record()]
        assert sent(study, "ann", undo("4", "1", one)) == (["4"], [])  # sent twice
        assert [*study.record()] == before
        assert [event.undoes for event in before] == [None, None, None, 1, None]
        assert sum(map(len, study.grades().values())) == 3
        with pytest.raises(InputError, match="an event or the key of an action"):
            study.assessor("ann").undo(key="14", event=1, of="1")


ADDRESSES = [
    "postgresql://u:SECRET@127.0.0.1:1/db",
    "postgresql://127.0.0.1:1/db?user=u&password=SECRET",
    "postgresql://127.0.0.1:1/db?sslpassword=SECRET&p%61ssword=SECRET",
    "postgresql://u:x@SECRET@127.0.0.1:1/db",
    "postgresql://u:SECRET/SECRET@127.0.0.1:1/db",
    "postgresql://u:SECRET:SECRET@127.0.0.1:1/db",
    "postgresql://u:SECRET%zz@127.0.0.1:1/db",
    "postgresql://u:[SECRET@127.0.0.1:1/db",
    "postgresql://u:x?SECRET@127.0.0.1:1/db",
    "postgresql://u@127.0.0.1:1/db?password=x&SECRET",
    "postgresql://u@127.0.0.1:1/db?password=SECRET%zz",
    "PostgreSQL://u:SECRET@127.0.0.1:1/db",
    "postgresql://u:SECRET\0@127.0.0.1:1/db",
    "postgresql://u:SECRET\ud800@127.0.0.1:1/db",
    *(
        f"{scheme}://{rest}"
        for scheme in (
            "postgresql+psycopg", "postgresql+asyncpg", "mysql", "mysql+pymysql", "mariadb", "mssql+pyodbc", "oracle",
            "mongodb+srv", "redis", "https", "s3", "MySQL", "jdbc:postgresql",
        )
        for rest in (
            "u:SECRET@127.0.0.1:1/db", "u:SEC/SECRET@x@127.0.0.1:1/db", ":SECRET@127.0.0.1:1/0", "u:SECRET SECRET@h/db",
            "127.0.0.1:1/db?user=u&password=SECRET", "127.0.0.1:1/db;pwd=SECRET", f"u:{'x' * 40}SECRET@{'h' * 70}/db",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_message_tells_a_password(address):
    with pytest.raises(gf.errors.StudyError) as caught:
        gf.judging.Study(address)
    told = "".join(traceback.format_exception(caught.value))
    assert "SECRET" not in told.partition("gainful.errors.StudyError")[2]
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("address", [each for each in ADDRESSES if "\0" not in each])
def test_no_message_about_other_data_tells_a_password(address):
    """An address in the place of a file, in every part of a message, and as a value in one that is shown."""
    for call in (
        lambda: gf.evaluate(address, {"q": {"a": 1}}, "nDCG"),
        lambda: gf.evaluate({"q": {"a": 1}}, address, "nDCG"),
        lambda: gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, address),
        lambda: gf.judging.merge_judgments(address),
    ):
        with pytest.raises(gf.errors.GainfulError) as caught:
            call()
        plain = address.replace(" SECRET", "")  # a file may have blanks in its name
        if plain == address:
            assert "SECRET" not in f"{caught.value} {caught.value.args}"


def test_errors_and_warnings_tell_no_password_in_any_of_their_parts():
    address = "mysql+pymysql://u:SECRET@h/db"
    for place in range(4):
        parts = ["here", "one", "another", "Take it."]
        parts[place] = f"at {address}, and '{address}'"
        problem = gf.errors.StudyError(*parts)
        for told in (str(problem), repr(problem), str(problem.at("there"))):
            assert "SECRET" not in told
        assert "mysql+pymysql://u:…@h/db" in str(problem)
    with pytest.warns(gf.errors.GainfulWarning, match="u:…@h/db: ties"):
        gf.errors.warn(f"{address}: ties.")


def test_the_address_of_a_study_has_no_password(postgres_address):
    with create(f"{postgres_address}&password=SECRET") as study:
        assert study.address.endswith("&password=…")
        assert study.address.startswith(postgres_address)


def test_nobody_is_called_like_a_rule():
    with create() as study:
        for name in ("mean", "max", " Median ", "dawid-skene", "Adjudicated"):
            with pytest.raises(InputError, match="name: expected"):
                study.invite(name)
            with pytest.raises(InputError, match="name: expected"):
                study.import_grades({"q1": {"a": 1}}, assessor=name)
        assert study.people == []


def test_names_that_others_need_are_kept_for_them(address):
    with create(address) as study:
        with pytest.raises(InputError, match="reserved for the lead"):
            study.import_grades({"q1": {"a": 1}}, assessor="lead")
        with pytest.raises(InputError, match="reserved for existing judgments"):
            study.import_grades({"q1": {"a": 1}}, assessor="earlier judgments", role="model")
        with pytest.raises(InputError, match="reserved for existing judgments"):
            study.invite("earlier judgments")
        assert study.invite("lead", "lead")
    with create(address, judgments={"q1": {"a": 1}}) as study:
        assert [person.name for person in study.people] == ["earlier judgments", "lead"]


def test_what_is_taken_back_is_judged_again_though_it_was_settled(address):
    with create(address, overlap=2) as study:
        for name, role in (("ann", "assessor"), ("bob", "assessor"), ("lea", "lead")):
            study.invite(name, role)
        study.set(guideline="first")
        one, two, other = (task.item for task in study.assessor("ann").next(3))
        for name in ("ann", "bob"):
            study.assessor(name).next(3)
            for item in (one, two):
                study.assessor(name).grade(item, len(name) + item % 2 - 2, key=f"{name} {item}")
        study.lead("lea").adjudicate(one, 3, key="settle")
        study.set(guideline="second")
        study.lead("lea").adjudicate(two, 2, key="settle too")
        study.lead("lea").adjudicate(other, 1, key="none of theirs")
        # What was settled under the second version is not stale by it.
        assert study.lead("lea").stale(before_guideline=2) == {"grade": 4, "settled": 1}
        assert study.lead("lea").stale(query="q1") == {"grade": 4, "settled": 3}
        assert study.lead("lea").stale(assessor="ann") == {"grade": 2, "settled": 2}
        assert study.lead("lea").stale(assessor="ann", before_guideline=2) == {
            "grade": 2,
            "settled": 1,
        }
        assert study.lead("lea").reset(key="back", assessor="ann") == 4
        assert study.lead("lea").reset(key="back", assessor="ann") == 0  # sent twice
        assert {task.item for task in study.assessor("ann").next(3)} >= {one, two}
        assert study.lead("lea").stale(assessor="ann") == {}
        for wrong in ({"assessor": "an"}, {"query": "q"}, {"assessor": "adjudicated"}):
            with pytest.raises(InputError, match="of this study"):
                study.lead("lea").stale(**wrong)
            with pytest.raises(InputError, match="of this study"):
                study.lead("lea").reset(key="wrong", **wrong)


def test_a_settlement_is_undone(address):
    with create(address) as study:
        study.invite("ann"), study.invite("lea", "lead"), study.invite("kim", "lead")
        item = study.assessor("ann").next()[0].item
        study.assessor("ann").grade(item, 1, key="g")
        for lead, grade in (("lea", 3), ("kim", 2)):
            study.lead(lead).adjudicate(item, grade, key=f"settle {lead}")
        doc = study._document(item)
        assert study.judgments()[doc.query][doc.doc] == 2
        act = {"item": item, "key": "un"}
        for _ in range(2):  # sent twice, it counts once
            assert acts_from_pages.unsettle(study, "lea", act).grade == 3
        assert study.judgments()[doc.query][doc.doc] == 3
        assert study.lead("lea").unsettle(item, key="un 2").grade is None
        assert study.judgments()[doc.query][doc.doc] == 1
        with pytest.raises(InputError, match="a settled document"):
            study.lead("lea").unsettle(item, key="un 3")
        with pytest.raises(InputError, match="a lead of the study"):
            study.lead("ann").unsettle(item, key="un 4")
        assert [event.undoes for event in study.record()][-2:] == [3, 2]
        for wrong in ({}, {"item": item}, {"item": "1", "key": "k"}, {"item": 10**6, "key": "k"}):
            with pytest.raises(InputError):
                acts_from_pages.unsettle(study, "lea", wrong)


def test_imported_grades_are_replaced_and_taken_back_and_nobody_acts_for_them(address, tmp_path):
    with create(address) as study:
        study.invite("lea", "lead")
        old = {"q1": {"a": 1, "b": 2, "c": 3}}
        assert study.import_grades(old, assessor="old") == 3
        assert study.import_grades({"q1": {"a": 2}}, assessor="old") == 1  # the others stay
        assert study.import_grades({"q1": {"a": 2, "b": 3}}, assessor="old", replace=True) == 2
        assert study.import_grades({"q1": {"a": 2, "b": 3}}, assessor="old", replace=True) == 0
        assert study.grades() == {"q1": {"a": {"old": 2}, "b": {"old": 3}}}
        item = next(event.item for event in study.record() if event.doc == "c")
        assert item in {
            task.item for task in study.assessor("lea").next(9)
        }  # it needs a grade again
        for call in (
            lambda: study.assessor("old").next(),
            lambda: study.assessor("old").grade(item, 1, key="k"),
            lambda: study.assessor("old").later(item, key="k"),
            lambda: study.assessor("old").undo(key="k"),
            lambda: study.revoke("old"),
            lambda: write_offline(study, "old", tmp_path / "x.html"),
        ):
            with pytest.raises(InputError, match="whose grades were imported"):
                call()
        assert study.lead("lea").stale(query="q1") == {}  # imported ones are named, or left alone
        assert study.lead("lea").stale(assessor="old") == {"grade": 2}
        assert study.lead("lea").reset(key="r", assessor="old") == 2
        assert study.grades() == {}
        assert assessor_acts.derive(study.record()) == {}
        assert study.import_grades(old, assessor="old") == 3


def test_slips_on_the_pages_are_told_in_words():
    with desk() as running:
        lead, ann = running.client("lea", "lead"), running.client("ann")
        for role in ("assessor", "lead"):
            told = lead.post("/api/lead/invite", {"name": " lea ", "role": role})
            assert (told.status, "lock you out" in told.text) == (400, True)
        assert lead.get("/api/lead/progress").status == 200
        item = ann.post("/api/next", {"count": 1}).json["tasks"][0]["item"]
        bad = "\ud800"
        act = {"item": item, "kind": "grade", "grade": 1}
        sent = [
            {**act, "key": bad},
            {**act, "key": "1", "note": bad},
            {**act, "key": "2", "tags": [bad]},
            {"key": "3", "kind": bad},
            {"key": "4", "kind": "undo", "of": bad},
            {**act, "key": "5"},
        ]
        told = ann.post("/api/act", {"acts": sent})
        assert told.status == 200, told.text
        assert [each["key"] for each in told.json["refused"]] == [None, "1", "2", "3", "4"]
        assert [each["key"] for each in told.json["confirmed"]] == ["5"]
        for what, body in (
            ("invite", {"name": bad}),
            ("revoke", {"name": bad}),
            ("guideline", {"text": bad}),
            ("settings", {"title": bad}),
            ("settings", {"tags": [bad]}),
            ("settings", {"measure": bad}),
            ("grades", {"grades": [{"value": 0, "word": bad, "key": "0"}]}),
            ("reset", {"assessor": bad}),
            ("adjudicate", {"item": item, "grade": 1, "key": bad}),
            ("unsettle", {"item": item, "key": bad}),
        ):
            assert lead.post(f"/api/lead/{what}", body).status == 400, what
        settled = {"item": item, "grade": 2, "key": "s"}
        assert lead.post("/api/lead/adjudicate", settled).json["grade"] == 2
        told = lead.post("/api/lead/unsettle", {"item": item, "key": "u"}).json
        assert (told["kind"], told["grade"]) == ("undo", None)


@pytest.mark.parametrize(("measure", "scale"), [("RR@10", "0..3"), ("ERR@10", "1..5")])
def test_a_measure_that_cannot_work_is_refused_and_nothing_is_set(measure, scale):
    with pytest.raises(gf.errors.GainfulError):
        create(measure=measure, scale=scale)
    with create(scale=scale) as study:
        before = study.settings
        with pytest.raises(gf.errors.GainfulError):
            study.set(measure=measure, title="another", overlap=3)
        assert study.settings == before


def test_settings_are_as_before_where_no_order_comes_of_them(address, monkeypatch):
    with create(address) as study:
        before = study.settings

        def fail(**_):
            raise InputError("order", "one that can be", "none")

        monkeypatch.setattr(study, "_reorder", fail)
        with pytest.raises(InputError, match="one that can be"):
            study.set(order="random", title="another", overlap=3)
        assert study.settings == before


def test_what_cannot_be_read_leaves_no_database(address, tmp_path):
    for wrong in (
        {"measure": "RR@10"},
        {"compare": ("one", "three")},
        {"queries": tmp_path / "none.tsv"},
        {"judgments": {"q1": {"a": 9}}},
    ):
        with pytest.raises(gf.errors.GainfulError):
            create(address, **wrong)
        with pytest.raises(gf.errors.StudyError, match=r"none|no such file"):
            gf.judging.Study(address)
    assert not [*tmp_path.iterdir()]
    create(address).close()


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("doc", ["x\ry", "\r"])
def test_ids_with_ends_of_lines_are_quoted_in_exports(tmp_path, ending, doc):
    run = {"q": {doc: 1}}
    with gf.judging.Study.create(
        ":memory:", {"r": run}, queries={"q": "t"}, docs={doc: "T"}
    ) as study:
        study.import_grades({"q": {doc: 1}}, assessor="old")
        for by in ("merged", "assessor"):
            path = tmp_path / f"{by}.{ending}"
            study.export(path, by=by)
            with path.open(newline="") as lines:
                rows = [*csv.DictReader(lines, delimiter="," if ending == "csv" else "\t")]
            assert [(row["doc"], float(row["grade"])) for row in rows] == [(doc, 1.0)]
        assert gf.evaluate(tmp_path / f"merged.{ending}", run, "P@1")["P@1"] == 1


def test_runs_that_another_program_brings_are_measured(tmp_path):
    runs, queries, docs = contents(2, 3)
    path = tmp_path / "study.db"
    first = {"old": runs["old"]}
    with desk(gf.judging.Study.create(path, first, queries=queries, docs=docs)) as running:
        lead = running.client("lea", "lead")
        running.study.import_grades({"q0": {"q0-d0": 1}}, assessor="before")
        before = lead.get("/api/lead/progress").json["version"]
        assert [run["run"] for run in lead.get("/api/lead/standing").json["runs"]] == ["old"]
        gf.judging.Study.create(path, runs, queries=queries, docs=docs).close()
        told = lead.get("/api/lead/standing").json
        assert [run["run"] for run in told["runs"]] == ["old", "new"]
        assert lead.get("/api/lead/progress").json["version"] != before


def test_an_offline_page_knows_a_name_without_its_blanks(tmp_path):
    with create() as study:
        study.invite("bob")
        assert write_offline(study, " bob ", tmp_path / "bob.html", 2).documents == 2
        assert [person.name for person in study.people] == ["bob"]
        assert '"name": "bob"' in (tmp_path / "bob.html").read_text()


def test_the_pace_is_that_of_judging_though_the_acts_came_at_once(address):
    with create(address) as study:
        study.invite("ann")
        study._now = lambda: 1000.0
        for task in study.assessor("ann").next(5):
            act = {"kind": "grade", "item": task.item, "grade": 1, "ms": 15_000}
            sent(study, "ann", {"key": str(task.item), **act})
        assert study.progress().by_assessor["ann"].pace == 4.0


def test_an_offline_page_has_its_documents_for_thirty_days(address, tmp_path):
    with create(address) as study:
        study.invite("bob")
        study._now = lambda: 1000.0
        assert write_offline(study, "bob", tmp_path / "bob.html", 2).documents == 2
        ends = [
            task.lease_until - 1000 for task in study.assessor("bob").next(3)
        ]  # asked on the page, too
        assert ends == [30 * 24 * 3600, 30 * 24 * 3600, 1800]
