"""What the lead's page is told, and what it does."""

import json

import pytest

import gainful as gf
from desk_server import desk, study


@pytest.fixture(scope="module")
def judged():
    """A desk where three people have graded, two of them the same documents."""
    with desk(study(queries=4, docs=8, overlap=2, depth=8)) as found:
        for place, name in enumerate(("ann", "bob", "eve")):
            found.study.invite(name)
            for task in found.study.assessor(name).next(15):
                grade = (task.item * (place + 2)) % 4
                found.study.assessor(name).grade(task.item, grade, key=f"{name} {task.item}")
        yield found


@pytest.fixture(scope="module")
def lead(judged):
    return judged.client("lea", "lead")


def download(lead, tmp_path, **query):
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    answer = lead.get(f"/api/lead/export?{asked}")
    assert answer.status == 200, answer.text
    assert answer.headers["Content-Disposition"].startswith("attachment")
    path = tmp_path / f"export.{query.get('format', 'qrels')}"
    path.write_bytes(answer.body)
    return path


def test_the_standing_is_that_of_the_exported_file(judged, lead, tmp_path):
    told = lead.get("/api/lead/standing").json
    path = download(lead, tmp_path, format="qrels")
    runs = judged.study.runs
    bounds = {
        name: gf.bounds(path, run, "nDCG@10", grades=(0, 3))["nDCG@10"]
        for name, run in runs.items()
    }
    found = {run["run"]: (run["value"], run["low"], run["high"]) for run in told["runs"]}
    assert found == {name: (one.value, one.low, one.high) for name, one in bounds.items()}
    [difference] = gf.compare(path, runs, "nDCG@10").differences
    [pair] = told["pairs"]
    assert (pair["difference"], pair["p"], pair["verdict"], pair["sentence"]) == (
        difference.difference, difference.p, difference.verdict.word, difference.verdict.sentence,
    )  # fmt: skip


def test_what_was_measured_is_kept_until_an_act_comes(judged, lead, monkeypatch):
    calls = []
    real = judged.study.standing
    monkeypatch.setattr(judged.study, "standing", lambda: calls.append(1) or real())
    before = lead.get("/api/lead/standing").json
    assert lead.get("/api/lead/standing").json == before
    assert len(calls) <= 1
    task = judged.study.assessor("ann").next(1)[0]
    judged.study.assessor("ann").grade(task.item, 3, key="one more")
    lead.get("/api/lead/standing")
    assert len(calls) >= 1
    judged.study.assessor("ann").undo(key="one less")


def test_agreement_is_that_of_the_package(judged, lead):
    told = lead.get("/api/lead/agreement").json
    rows = [
        {"query": query, "doc": doc, "assessor": name, "grade": grade}
        for query, docs in judged.study.grades().items()
        for doc, people in docs.items()
        for name, grade in people.items()
    ]
    found = gf.judging.agreement(rows)
    assert {each["name"]: each["value"] for each in told["coefficients"]} == pytest.approx(
        {each.name: each.value for each in found.coefficients}, nan_ok=True
    )
    first = found.sentence.replace("an item", "a document").partition(" Agreement")[0]
    assert told["told"].startswith(first)
    assert told["more"] == "3 assessors, 30 documents, 15 graded by several."


def test_disputes_hide_names_and_are_settled_once(judged, lead):
    told = lead.get("/api/lead/disputed").json
    assert told["count"] > 2
    first = told["shown"][0]
    assert {"title", "text", "query_text"} <= first.keys()
    assert {*first["grades"]} == {"1", "2"}
    shown = lead.get("/api/lead/disputed?names=shown").json["shown"][0]
    assert {*shown["grades"]} <= {"ann", "bob", "eve"}
    body = {"key": "settled", "item": first["item"], "grade": 2}
    answers = [lead.post("/api/lead/adjudicate", body).json for _ in range(2)]
    assert answers[0] == answers[1]
    assert lead.get("/api/lead/disputed").json["count"] == told["count"] - 1
    assert judged.study.judgments()[first["query"]][first["doc"]] == 2
    for wrong in (
        {},
        {**body, "key": 3},
        {**body, "key": "x", "grade": 9},
        {**body, "key": "y", "item": "1"},
    ):
        assert lead.post("/api/lead/adjudicate", wrong).status == 400


def test_the_guideline_is_versioned(judged, lead):
    assert lead.post("/api/lead/guideline", {"text": "First."}).json == {
        "version": 1,
        "text": "First.",
    }
    assert lead.post("/api/lead/guideline", {"text": "Second."}).json["version"] == 2
    assert lead.post("/api/lead/guideline", {"text": 3}).status == 400
    kim = judged.client("kim")
    assert kim.get("/api/me").json["guideline"]["text"] == "Second."
    # An act that was done before the second version came, and is sent after it.
    item = kim.post("/api/next", {"count": 1}).json["tasks"][0]["item"]
    assert kim.act({"key": "k", "item": item, "kind": "later", "guideline": 1})["confirmed"]
    assert kim.act({"key": "l", "kind": "undo", "of": "k"})["confirmed"]  # of a page that says none
    assert [event.guideline for event in judged.study.record()][-2:] == [1, 2]


@pytest.mark.parametrize("ending", ["qrels", "csv", "tsv", "jsonl", "parquet"])
def test_every_format_says_the_same(judged, lead, tmp_path, ending):
    path = download(lead, tmp_path, format=ending)
    run = judged.study.runs["old"]
    assert gf.evaluate(path, run, "nDCG@10") == gf.evaluate(
        judged.study.judgments(), run, "nDCG@10"
    )


def test_json_has_where_grades_come_from(lead, tmp_path):
    told = json.loads(download(lead, tmp_path, format="json").read_text())
    assert told["rule"] == "mean"


def test_grades_by_assessor_and_the_record(judged, lead, tmp_path):
    path = download(lead, tmp_path, format="csv", by="assessor")
    assert {"ann", "bob", "eve"} <= {
        line.split(",")[2] for line in path.read_text().splitlines()[1:]
    }
    lines = lead.get("/api/lead/record").text.splitlines()
    assert len(lines) == judged.study._events()
    assert json.loads(lines[0])["assessor"] == "ann"
    for query in ("format=exe", "by=nobody", "format=../x"):
        assert lead.get(f"/api/lead/export?{query}").status == 400


def test_a_study_without_grades(tmp_path):
    with desk() as empty:
        lead = empty.client("lea", "lead")
        for name in ("progress", "standing", "agreement", "disputed"):
            assert lead.get(f"/api/lead/{name}").status == 200, name
        assert lead.get("/api/lead/export").status == 400
        assert "at least one grade" in lead.get("/api/lead/export").json["error"]


def test_queries_may_share_documents():
    """A dict of such grades could be read in two ways, so that agreement takes rows."""
    runs = {
        "a": {"q": {"x": 2, "y": 1}, "r": {"x": 2, "y": 1}},
        "b": {"q": {"y": 2, "x": 1}, "r": {"y": 2, "x": 1}},
    }
    made = gf.judging.Study.create(
        ":memory:",
        runs,
        queries={"q": "one", "r": "two"},
        docs={"x": "X", "y": "Y"},
        overlap=2,
        order="rank",
    )
    with made:
        for name in ("q", "x"):  # as an id of a query, and one of a document
            made.invite(name)
            for task in made.assessor(name).next(4):
                made.assessor(name).grade(
                    task.item, len(task.doc + name) % 2 + (name == "q"), key=str(task.item)
                )
        assert made.agreement(resamples=1).items == 4
        assert len(made.disputed()) == 4
