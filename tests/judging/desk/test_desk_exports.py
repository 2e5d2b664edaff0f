"""Exports of a study, read back by the rest of gainful: merging them gives what the study has merged."""

import csv
import io
import json

import pytest

import gainful as gf
from desk_server import desk, study

FORMATS = ["csv", "tsv", "json", "jsonl", "parquet"]
RULES = ["mean", "majority", "dawid-skene", "ann", "gpt"]


def several(made):
    """Two people, a model and earlier judgments; some documents are settled, one without any other grade."""
    made.set(overlap=2)
    for name, shift in (("ann", 0), ("bob", 1)):
        made.invite(name)
        for task in made.assessor(name).next(12):
            made.assessor(name).grade(
                task.item, (task.item + shift * (task.item % 3)) % 4, key=str(task.item)
            )
    made.import_grades(
        {"q0": {"q0-d0": 3, "q0-d1": 0}, "q2": {"q2-d0": 1}}, assessor="earlier", role="judgments"
    )
    made.import_grades(
        {"q0": {"q0-d0": 0, "q0-d2": 3}, "q1": {"q1-d5": 2}}, assessor="gpt", role="model"
    )
    settle(made, [made.disputed()[0].item, made.disputed()[1].item, 20])


def settle(made, items):
    made.invite("lea", "lead")
    for item in items:
        made.lead("lea").adjudicate(item, 2, key=f"settled {item}")


def one_assessor(made):
    made.invite("ann")
    for task in made.assessor("ann").next(4):
        made.assessor("ann").grade(task.item, 1, key=str(task.item))
    settle(made, [1, 3])


def settled_alone(made):
    settle(made, [1, 2])
    made.import_grades({"q1": {"q1-d5": 2}}, assessor="gpt", role="model")


def nothing_settled(made):
    several(made)
    for each in made._settled():
        made.lead("lea").unsettle(each["item"], key=f"not {each['item']}")


def table_of(text, delimiter):
    return [*csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)]


@pytest.fixture(scope="module", params=[several, one_assessor, settled_alone, nothing_settled])
def judged(request):
    with desk(study(queries=3, docs=8)) as running:
        request.param(running.study)
        yield running


@pytest.mark.parametrize("ending", FORMATS)
def test_merging_an_export_by_assessor_gives_what_the_study_has_merged(
    judged, ending, tmp_path, cli
):
    lead = judged.client("lea", "lead")
    sent = lead.get(f"/api/lead/export?by=assessor&format={ending}")
    assert sent.status == 200, sent.text
    path = tmp_path / f"sent.{ending}"
    path.write_bytes(sent.body)
    judged.study.export(tmp_path / f"own.{ending}", by="assessor")
    for rule in RULES:
        try:
            expected = {query: dict(docs) for query, docs in judged.study.judgments(rule).items()}
        except gf.errors.InputError:
            with pytest.raises(gf.errors.InputError):
                gf.judging.merge_judgments(path, rule)
            continue
        for each in (path, tmp_path / f"own.{ending}"):
            found = gf.judging.merge_judgments(each, rule)
            assert {query: dict(docs) for query, docs in found.items()} == expected
            assert found.notes == judged.study.judgments(rule).notes
        done = cli("merge", str(path), "--rule", rule, "-f", "json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["documents"] == expected
        if rule in ("ann", "gpt"):  # queries without a grade of theirs count as empty ones
            continue
        # What is evaluated with the export is what is evaluated with the merged file, over HTTP and from the study.
        run = {
            query: {doc: -place for place, doc in enumerate(docs)}
            for query, docs in expected.items()
        }
        value = gf.evaluate(expected, run, "nDCG")["nDCG"]
        assert gf.evaluate(path, run, "nDCG", assessors=rule)["nDCG"] == value
        whole = lead.get(f"/api/lead/export?by=merged&format={ending}&rule={rule}")
        if whole.status == 200:
            (tmp_path / f"merged.{ending}").write_bytes(whole.body)
            if ending != "json":  # which has more than judgments
                assert gf.evaluate(tmp_path / f"merged.{ending}", run, "nDCG")["nDCG"] == value


def test_an_export_has_a_row_for_each_settled_document(judged, tmp_path):
    judged.study.export(tmp_path / "all.csv", by="assessor")
    rows = table_of((tmp_path / "all.csv").read_text(), ",")
    settled = {
        (row["query"], row["doc"]): float(row["grade"])
        for row in rows
        if row["role"] == "adjudicated"
    }
    assert settled == {
        (each["query"], each["doc"]): each["grade"] for each in judged.study._settled()
    }
    given = [row for row in rows if row["role"] != "adjudicated"]
    assert len(given) == sum(
        len(people) for docs in judged.study.grades().values() for people in docs.values()
    )
    assert {row["assessor"] for row in rows if row["role"] == "adjudicated"} <= {"adjudicated"}


def test_agreement_of_an_export_is_that_of_the_study(tmp_path):
    with study(queries=3, docs=8) as made:
        several(made)
        made.export(tmp_path / "all.csv", by="assessor")
        found, expected = (
            gf.judging.agreement(tmp_path / "all.csv", resamples=20),
            gf.judging.agreement(
                [
                    {"query": q, "doc": d, "assessor": name, "grade": grade}
                    for q, docs in made.grades().items()
                    for d, people in docs.items()
                    for name, grade in people.items()
                ],
                resamples=20,
            ),
        )
    assert found.assessors == expected.assessors
    assert [each.value for each in found.coefficients] == [
        each.value for each in expected.coefficients
    ]


def test_a_column_of_other_roles_is_none_of_the_desk():
    rows = [
        {"query": "q", "doc": "a", "assessor": "ann", "grade": 2, "role": "model"},
        {"query": "q", "doc": "a", "assessor": "bob", "grade": 0, "role": "expert"},
    ]
    assert dict(gf.judging.merge_judgments(rows)) == {"q": {"a": 1.0}}
    rows[1]["role"] = "assessor"
    found = gf.judging.merge_judgments(rows)
    assert dict(found) == {"q": {"a": 0.0}}
    assert "model grades do not count: 'ann'" in found.notes
    assert dict(gf.judging.merge_judgments(rows, "ann")) == {"q": {"a": 2.0}}
    assert dict(gf.judging.merge_judgments(rows, first="ann")) == {"q": {"a": 2.0}}
    rows.append({"query": "q", "doc": "b", "assessor": "ann", "grade": 0, "role": "lead"})
    with pytest.raises(gf.errors.InputError, match="one role for each assessor, model for 'ann'"):
        gf.judging.merge_judgments(rows)
    with pytest.raises(gf.errors.InputError, match="grades that count"):
        gf.judging.merge_judgments(rows[:1])


STARTS = [*"=+-@\t\r\n＝＋－＠"]


@pytest.mark.parametrize("by", ["assessor", "record", "merged"])
def test_spreadsheets_take_no_text_of_people_for_a_formula(by, tmp_path):
    docs = {f"{sign}1+doc": 1.0 for sign in "=+-@"}
    with study(":memory:", queries=1, docs=1) as made:
        made.import_grades({"=q": docs}, assessor="earlier")
        made.set(overlap=20)
        names = {}
        for number, start in enumerate(STARTS):
            name = f"{start.strip() or 'plain'}cmd{number}"
            names[start] = name
            made.invite(name)
            item = 2 + number % len(docs)  # the first is of the study's own
            made.assessor(name).grade(
                item,
                number % 4,
                key="1",
                tags=[f"{start}HYPERLINK(1)", "b"],
                note=f"{start}1+1",
            )
        for ending, delimiter in (("csv", ","), ("tsv", "\t")):
            made.export(tmp_path / f"all.{ending}", by=by)
            rows = table_of((tmp_path / f"all.{ending}").read_bytes().decode(), delimiter)
            assert {row["query"] for row in rows} == {
                "=q"
            }  # ids and grades are read back as they are
            assert {row["doc"] for row in rows} == {*docs}
            if by == "merged":
                assert not [row["from"] for row in rows if row["from"].startswith(tuple(STARTS))]
                continue
            for row in rows:
                for column in ("assessor", "tags", "note"):
                    assert not row[column].startswith(tuple(STARTS)), row
                assert "'" in row["note"] or row["assessor"] == "earlier"
        made.export(tmp_path / "all.json", by=by)
        if by != "merged":  # what programs read is as it was written
            found = json.loads((tmp_path / "all.json").read_text())
            assert {f"{start}1+1" for start in STARTS} == {
                row["note"] for row in found if row["note"]
            }
            assert {*names.values(), "earlier"} == {row["assessor"] for row in found}
