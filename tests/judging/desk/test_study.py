"""A study: what is pooled, given on lease, graded, undone, counted and exported."""

import itertools
import json

import pytest

import gainful as gf
from gainful.judging.desk import assessor_acts
from gainful.judging.desk.study_settings import TAGS
from study_cases import DOCS, ONE, QUERIES, RUNS, TWO, create, judge_all, key

InputError = gf.errors.InputError


def state_in(study):
    with study._store.reading() as transaction:
        rows = transaction.all("SELECT item, owner, kind, grade, event, data FROM state")
    return {(row[0], row[1]): assessor_acts.from_text(row[5]) for row in rows}


def pairs(tasks):
    return [(task.query, task.doc) for task in tasks]


def test_the_pool_is_judged_by_rank_and_query():
    study = create()
    study.invite("ann")
    seen = judge_all(study, "ann", lambda task: 1)
    # The best rank in either run, then the id: worked out by hand.
    assert pairs(seen) == [
        ("q1", "a"), ("q1", "d"), ("q1", "b"), ("q1", "c"), ("q1", "x"),
        ("q2", "e"), ("q2", "g"), ("q2", "f"), ("q2", "y"),
    ]  # fmt: skip
    assert {*pairs(seen)} == {(row.query, row.doc) for row in gf.pool(RUNS, depth=3)}
    assert [task.position for task in seen] == [*range(1, 10)]
    assert (seen[0].query_text, seen[0].description) == ("bread", "how to bake it")
    assert (seen[0].title, seen[0].text) == ("title a", "text of a")
    progress = study.progress()
    assert (progress.items, progress.done, progress.grades) == (9, 9, 9)


def test_a_task_says_nothing_of_runs_and_ranks():
    study = create()
    study.invite("ann")
    assert not {"run", "runs", "rank", "score"} & {
        *study.assessor("ann").next()[0].__dataclass_fields__
    }
    assert study.assessor("ann").next()[0].ranks is None
    study.set(show_ranks=True)
    assert study.assessor("ann").next()[0].ranks == {"one": 1, "two": 2}  # of the same lease
    study.set(show_ranks=False)
    assert study.assessor("ann").next()[0].ranks is None


def test_ranks_that_are_shown_are_those_of_the_pool():
    tied = {"q1": {"a": 2, "b": 2, "c": 2, "d": 1}, "q2": {"e": 1, "f": 3}}
    study = create(runs={"tied": tied, "two": TWO}, show_ranks=True, depth=4)
    study.practice({"q1": {"a": 1}})
    study.invite("ann")
    practice, *tasks = study.assessor("ann").next(20)
    assert practice.ranks is None
    found = {task.doc: task.ranks for task in tasks if task.query == "q1"}
    assert found == {  # equal scores by id, descending
        "a": {"tied": 3, "two": 2}, "b": {"tied": 2, "two": 4}, "c": {"tied": 1}, "d": {"tied": 4, "two": 1}, "x": {"two": 3},
    }  # fmt: skip
    with study._store.reading() as transaction:
        best = dict(transaction.all("SELECT id, best_rank FROM item WHERE practice = 0"))
    assert {task.item: min(task.ranks.values()) for task in tasks} == best


def test_a_lease_is_for_one_and_comes_again_on_reload():
    study = create()
    study.invite("ann"), study.invite("bob")
    first, second = study.assessor("ann").next(3), study.assessor("bob").next(3)
    assert not {*pairs(first)} & {*pairs(second)}
    assert pairs(study.assessor("ann").next(3)) == pairs(first)
    assert pairs(study.assessor("ann").next(4))[:3] == pairs(first)
    with pytest.raises(
        gf.errors.LeaseLostError, match="was given to others after its reservation expired"
    ):
        study.assessor("ann").grade(second[0].item, 1, key=key())


def test_a_lease_that_ends_is_free_for_others():
    study = create(lease=60)
    study.invite("ann"), study.invite("bob")
    now = [1000.0]
    study._now = lambda: now[0]
    task, *_ = study.assessor("ann").next()
    assert task.lease_until == 1060.0
    now[0] = 1061.0
    # Nobody has taken it over: the grade still counts.
    assert study.assessor("ann").grade(task.item, 2, key="late").grade == 2.0
    other, *_ = study.assessor("ann").next()
    now[0] = 1200.0
    assert study.assessor("bob").next()[0].item == other.item
    with pytest.raises(gf.errors.LeaseLostError):
        study.assessor("ann").grade(other.item, 2, key="too late")
    study.assessor("bob").grade(other.item, 0, key="b")
    with pytest.raises(gf.errors.LeaseLostError):
        study.assessor("ann").grade(other.item, 2, key="too late")
    assert study.grades()["q1"] == {"a": {"ann": 2.0}, "d": {"bob": 0.0}}


@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_as_many_assessors_as_asked_and_no_more(overlap):
    study = create(overlap=overlap)
    names = ["ann", "bob", "eve", "zoe"]
    for name in names:
        study.invite(name)
    held = [pairs(study.assessor(name).next(9)) for name in names]
    for pair in {*itertools.chain(*held)}:
        assert sum(pair in each for each in held) == overlap
    assert sum(map(len, held)) == 9 * overlap
    for name in names:
        judge_all(study, name, lambda task: 1)
    given = [people for docs in study.grades().values() for people in docs.values()]
    assert [len(people) for people in given] == [overlap] * 9


def test_an_act_that_is_sent_twice_is_recorded_once():
    study = create()
    study.invite("ann"), study.invite("bob")
    task, *_ = study.assessor("ann").next()
    first = study.assessor("ann").grade(task.item, 2, key="k")
    assert study.assessor("ann").grade(task.item, 2, key="k") == first
    assert len([*study.record()]) == 1
    with pytest.raises(InputError, match="key"):
        study.assessor("ann").later(task.item, key="k")
    other, *_ = study.assessor("bob").next()
    assert study.assessor("bob").grade(other.item, 1, key="k").event != first.event
    undone = study.assessor("ann").undo(key="u")
    assert study.assessor("ann").undo(key="u") == undone
    assert len([*study.record()]) == 3


def test_every_step_can_be_undone_and_the_record_keeps_all():
    study = create()
    study.invite("ann")
    one, two, three = study.assessor("ann").next(3)
    study.assessor("ann").grade(one.item, 1, key="1")
    study.assessor("ann").grade(one.item, 3, key="2", tags=["exact"], note="why")
    study.assessor("ann").cannot(two.item, "query", key="3")
    study.assessor("ann").later(three.item, key="4")
    assert pairs(study.assessor("ann").next(9))[-1] == (three.query, three.doc)
    with pytest.raises(InputError, match="a later action replaced"):
        study.assessor("ann").undo(key="x", event=1)
    assert study.assessor("ann").undo(key="5").item == three.item
    assert study.assessor("ann").undo(key="6").item == two.item
    assert study.assessor("ann").undo(key="7").grade == 1.0
    assert study.assessor("ann").undo(key="8").grade is None
    with pytest.raises(InputError, match="an action to undo"):
        study.assessor("ann").undo(key="9")
    assert study.grades() == {}
    # They are all on lease again, in the order in which they were shown.
    assert pairs(study.assessor("ann").next(3)) == pairs([one, two, three])
    record = [*study.record()]
    assert [event.kind for event in record] == ["grade", "grade", "cannot", "later", *["undo"] * 4]
    assert [event.undoes for event in record[4:]] == [4, 3, 2, 1]
    assert record[1].before.grade == 1.0
    assert (record[1].after.tags, record[1].after.note) == (("exact",), "why")
    assert [event.position for event in record[:4]] == [
        1,
        None,
        2,
        3,
    ]  # the second time it was not shown anew


def test_an_act_in_the_middle_can_be_undone():
    study = create()
    study.invite("ann")
    one, two = study.assessor("ann").next(2)
    first = study.assessor("ann").grade(one.item, 1, key="1")
    study.assessor("ann").grade(two.item, 2, key="2")
    assert study.assessor("ann").undo(key="3", event=first.event).item == one.item
    assert study.grades() == {"q1": {"d": {"ann": 2.0}}}
    with pytest.raises(InputError, match="isn't undone yet"):
        study.assessor("ann").undo(key="4", event=first.event)
    study.invite("bob")
    with pytest.raises(InputError, match="isn't undone yet"):
        study.assessor("bob").undo(key="5", event=2)


def test_what_cannot_be_judged_goes_to_others():
    study = create()
    study.invite("ann"), study.invite("bob")
    task, *_ = study.assessor("ann").next()
    study.assessor("ann").cannot(task.item, "document", key=key())
    assert task.item not in {each.item for each in study.assessor("ann").next(9)}
    study.revoke("ann")
    assert task.item == study.assessor("bob").next(9)[0].item
    assert study.progress().by_assessor["ann"].cannot == 1
    assert study.progress().by_query["q1"].cannot == 1


def test_a_note_changes_nothing_else():
    study = create()
    study.invite("ann")
    task, *_ = study.assessor("ann").next()
    study.assessor("ann").note(task.item, "first thoughts", key="1")
    assert study.assessor("ann").next()[0].note == "first thoughts"
    study.assessor("ann").grade(task.item, 2, key="2")
    assert study.assessor("ann").note(task.item, "second", key="3").grade == 2.0
    state = state_in(study)[task.item, "ann"]
    assert (state.grade, state.note) == (2.0, "second")
    study.assessor("ann").undo(key="4")
    assert state_in(study)[task.item, "ann"].note == "first thoughts"


def test_the_states_are_what_the_record_comes_to():
    study = create(overlap=2)
    for name in ("ann", "bob"):
        study.invite(name)
        for place, task in enumerate(study.assessor(name).next(9)):
            if place % 3 == 0:
                study.assessor(name).grade(task.item, place % 4, key=key())
            elif place % 3 == 1:
                study.assessor(name).cannot(task.item, "loading", key=key())
            else:
                study.assessor(name).later(task.item, key=key())
        study.assessor(name).undo(key=key())
    study.import_grades({"q1": {"a": 3, "new": 1}}, assessor="gpt", role="model")
    assert assessor_acts.derive(study.record()) == state_in(study)
    assert len(state_in(study)) > 10


def test_invitations_are_secrets_that_can_be_taken_back():
    study = create()
    token = study.invite("ann", "lead")
    assert len(token) >= 43
    assert study._who(token) == study.people[0]
    assert (study._who(token).name, study._who(token).role) == ("ann", "lead")
    for forged in ("", "x" * 43, token[:-1], token + "a", "\ud800" * 43, None, 3):
        assert study._who(forged) is None
    with study._store.reading() as transaction:
        assert token not in json.dumps(
            [list(row) for row in transaction.all("SELECT * FROM assessor")]
        )
    again = study.invite("ann")
    assert study._who(token) is None
    assert study._who(again).role == "assessor"
    study.revoke("ann")
    assert study._who(again) is None
    for call in (lambda: study.assessor("ann").next(), lambda: study.assessor("ann").undo(key="k")):
        with pytest.raises(InputError, match="was revoked"):
            call()


def test_it_goes_on_where_it_was_left(tmp_path):
    path = tmp_path / "study.db"
    with create(path, guideline="Be kind.", title="Bread") as study:
        study.invite("ann")
        task, *_ = study.assessor("ann").next()
        study.assessor("ann").grade(task.item, 2, key="1")
    with gf.judging.Study(path) as study:
        assert study.grades() == {"q1": {"a": {"ann": 2.0}}}
        assert (study.settings["title"], study.guideline.version) == ("Bread", 1)
    third = {"q1": {"k": 1.0}}
    with create(
        path, runs={**RUNS, "three": third}, docs={**DOCS, "k": "new"}, depth=None
    ) as study:
        assert study.progress().items == 10
        assert study.settings["depth"] == 3
        assert study.grades() == {"q1": {"a": {"ann": 2.0}}}
        assert study.runs == {**RUNS, "three": third}
        for version, text in ((1, "Be kind."), (2, "Be strict.")):
            study.set(guideline=text)
            assert study.guideline.version == version
        study.assessor("ann").grade(study.assessor("ann").next()[0].item, 1, key="2")
        assert [event.guideline for event in study.record()] == [1, 2]
    with pytest.raises(gf.errors.StudyError, match="the scale of this study, 0, 1, 2, 3"):
        create(path, scale="0..1")
    with pytest.raises(gf.errors.StudyError, match="the run 'one' as it was"):
        create(path, runs={"one": TWO})
    assert gf.judging.Study(path).runs["one"] == ONE


def test_earlier_judgments_count(tmp_path):
    study = create(judgments={"q1": {"a": 3, "z": 1}, "q9": {"a": 0}})
    study.invite("ann")
    assert ("q1", "a") not in pairs(study.assessor("ann").next(9))
    assert study.grades()["q1"]["a"] == {"earlier judgments": 3.0}
    study.export(tmp_path / "all.qrels")
    assert (tmp_path / "all.qrels").read_text() == "q1 0 a 3\nq1 0 z 1\nq9 0 a 0\n"


def test_grades_of_a_model_are_one_more_assessor_and_fill_nothing():
    study = create()
    study.invite("ann")
    assert study.import_grades({"q1": {"a": 3, "b": 0}}, assessor="gpt", role="model") == 2
    assert study.import_grades({"q1": {"a": 3, "b": 1}}, assessor="gpt", role="model") == 1
    assert len(study.assessor("ann").next(20)) == 9
    study.assessor("ann").grade(study.assessor("ann").next()[0].item, 1, key="1")
    assert study.grades()["q1"] == {"a": {"ann": 1.0, "gpt": 3.0}, "b": {"gpt": 1.0}}
    assert dict(study.judgments()) == {"q1": {"a": 1.0}}
    assert dict(study.judgments("gpt")) == {"q1": {"a": 3.0, "b": 1.0}}
    with pytest.raises(InputError, match="which has the role assessor"):
        study.import_grades({"q1": {"a": 3}}, assessor="ann", role="model")
    with pytest.raises(InputError, match="without imported grades"):
        study.invite("gpt")


def test_exports_are_read_back(tmp_path):
    study = create(overlap=2)
    for name, grade in (("ann", 2), ("bob", 3)):
        study.invite(name)
        judge_all(study, name, lambda task, grade=grade: grade if task.doc < "f" else 0)
    for ending in ("qrels", "csv", "tsv", "jsonl", "parquet", "json"):
        study.export(tmp_path / f"merged.{ending}", rule="max")
    whole = {query: dict(docs) for query, docs in study.judgments("max").items()}
    assert whole["q2"] == {"e": 3.0, "f": 0.0, "g": 0.0, "y": 0.0}
    expected = gf.evaluate(whole, ONE)["nDCG@10"]
    for ending in ("qrels", "csv", "tsv", "jsonl", "parquet"):
        assert gf.evaluate(tmp_path / f"merged.{ending}", ONE)["nDCG@10"] == expected
    for ending in ("csv", "parquet", "jsonl"):
        study.export(tmp_path / f"each.{ending}", by="assessor")
        merged = gf.judging.merge_judgments(tmp_path / f"each.{ending}", "max")
        assert {query: dict(docs) for query, docs in merged.items()} == whole
    study.export(tmp_path / "record.csv", by="record")
    assert len((tmp_path / "record.csv").read_text().splitlines()) == 19


def test_the_same_seed_gives_the_same_random_order():
    orders = []
    for seed in (1, 1, 2):
        study = create(order="random", seed=seed)
        study.invite("ann")
        orders.append(pairs(study.assessor("ann").next(9)))
    assert orders[0] == orders[1] != orders[2]
    queries = [query for query, _ in orders[2]]
    assert queries in (sorted(queries), sorted(queries, reverse=True))  # they stay together


def test_by_effect_the_order_is_that_of_next_to_judge():
    judgments = {"q1": {"a": 1, "c": 0}, "q2": {"f": 2}}
    study = create(order="effect", judgments=judgments, measure="nDCG@3")
    study.invite("ann")
    expected = gf.judging.next_to_judge(
        judgments, RUNS, "nDCG@3", grades=(0, 1, 2, 3), depth=3, budget=None
    )
    most = {row.query: row.priority for row in reversed([*expected])}
    expected = sorted(expected, key=lambda row: (-most[row.query], -row.priority))
    assert pairs(study.assessor("ann").next(9))[: len(expected)] == [
        (row.query, row.doc) for row in expected
    ]
    assert not study._reorder()  # nothing new
    assert study._reorder(least=0)


@pytest.mark.parametrize("compare", [None, ("two", "one"), ("three", "one")])
def test_by_verdict_the_order_is_that_of_what_turns_a_difference(compare):
    runs = {**RUNS, "three": {"q1": {"x": 3, "c": 2, "a": 1}, "q2": {"y": 3, "f": 2, "g": 1}}}
    judgments = {"q1": {"a": 2, "c": 1}, "q2": {"f": 2}}
    study = create(
        runs=runs, order="verdict", judgments=judgments, measure="DCG@3", compare=compare
    )
    study.invite("ann")
    rows = gf.judging.next_to_judge(
        judgments, runs, "DCG@3", grades=(0, 1, 2, 3), depth=3, budget=None, compare=compare or ("one", "two"),
    )  # fmt: skip
    assert {row.flips for row in rows} == {True, False}
    much = {(row.query, row.doc): (row.flips, row.priority) for row in rows}
    most = {query: max(much[pair] for pair in much if pair[0] == query) for query, _ in much}
    expected = sorted(most, key=lambda query: most[query], reverse=True)
    tasks = pairs(study.assessor("ann").next(9))
    assert [*dict.fromkeys(query for query, _ in tasks)] == expected
    for query in expected:
        found = [much.get(pair, (False, 0.0)) for pair in tasks if pair[0] == query]
        assert found == sorted(found, reverse=True)
    # The baseline of what is shown is the first of the two.
    assert {pair.baseline for pair in study.standing().pairs} == {(compare or ("one",))[0]}
    study.set(compare=("two", "three"))
    assert study.settings["compare"] == ("two", "three")
    assert [pair.baseline for pair in study.standing().pairs] == ["two", "two"]


def test_the_lead_has_words_for_reasons(tmp_path):
    study = create(tags=[" too vague", "ads", "ads"])
    assert study.settings["tags"] == ("too vague", "ads")
    study.invite("ann")
    item = study.assessor("ann").next()[0].item
    study.assessor("ann").grade(
        item, 1, key="1", tags=["ads", "another"]
    )  # those of an older page hold
    study.set(tags=())
    assert study.settings["tags"] == ()
    with pytest.raises(gf.errors.InputError, match="title: expected one line of text"):
        study.set(title="Bread\nand butter")
    assert create().settings["tags"] == (*TAGS,)
    assert next(study.record()).after.tags == ("ads", "another")
    for by in ("assessor", "record"):
        study.export(tmp_path / "all.csv", by=by)
        assert "ads; another" in (tmp_path / "all.csv").read_text()


@pytest.mark.parametrize("scale", ["0..1", (-1, 2), {0: "no", 5: "yes"}, [0, 0.5, 1], "−2..2"])
def test_scales_of_any_kind(scale):
    study = create(scale=scale)
    study.invite("ann")
    task, *_ = study.assessor("ann").next()
    grades = [each.value for each in study.scale]
    assert grades == sorted(grades)
    assert len({each.key for each in study.scale}) == len(grades)
    assert study.assessor("ann").grade(task.item, grades[0], key="1").grade == grades[0]
    with pytest.raises(InputError, match="grade: expected one of"):
        study.assessor("ann").grade(task.item, grades[-1] + 1, key="2")
    study.set(words={grades[0]: "bad"}, keys={grades[0]: "x"})
    assert (study.scale[0].word, study.scale[0].key) == ("bad", "x")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s, i: s.assessor("nobody").grade(i, 1, key="k"), "somebody who was invited"),
        (lambda s, i: s.assessor("ann").grade(999, 1, key="k"), "number of a document"),
        (lambda s, i: s.assessor("ann").grade(True, 1, key="k"), "number of a document"),
        (lambda s, i: s.assessor("ann").grade(i, float("nan"), key="k"), "one of 0, 1, 2, 3"),
        (lambda s, i: s.assessor("ann").grade(i, 1, key=""), "key: expected"),
        (
            lambda s, i: s.assessor("ann").grade(i, 1, key="k", note="x" * 20_000),
            "10,000 characters",
        ),
        (lambda s, i: s.assessor("ann").grade(i, 1, key="k", note="a\0b"), "NUL"),
        (lambda s, i: s.assessor("ann").grade(i, 1, key="k", tags=[3]), "tags"),
        (lambda s, i: s.assessor("ann").grade(i, 1, key="k", milliseconds=-1), "milliseconds"),
        (
            lambda s, i: s.assessor("ann").cannot(i, "tired", key="k"),
            "query or document or loading",
        ),
        (lambda s, i: s.assessor("ann").next(0), "count"),
        (lambda s, i: s.invite("adjudicated"), "name"),
        (lambda s, i: s.invite(" "), "name"),
        (lambda s, i: s.invite("x", role="king"), "role"),
        (lambda s, i: s.import_grades({"q1": {"a": 9}}, assessor="gpt"), "from 0 to 3"),
        (lambda s, i: s.set(keys={1: "2"}), "no other grade"),
        (lambda s, i: s.judgments(), "at least one grade"),
        (lambda s, i: s.export("x.qrels", by="query"), "by"),
        (lambda s, i: s.set(overlap_share=1.1), "a share from 0 to 1"),
        (lambda s, i: s.set(overlap_share=float("nan")), "a share from 0 to 1"),
        (lambda s, i: s.set(compare=("one", "none")), "two runs of the study"),
        (lambda s, i: s.set(compare=("one", "one")), "the names of two runs"),
        (lambda s, i: s.set(compare="one"), "the names of two runs"),
        (lambda s, i: s.set(show_ranks="no"), "True or False"),
        (lambda s, i: s.set(tags=["a", " "]), "an empty one"),
        (lambda s, i: s.set(tags=["x"] * 21), "at most 20"),
        (lambda s, i: create(runs={"one": ONE}, order="verdict"), "two runs"),
    ],
)
def test_wrong_input_is_one_short_error_and_records_nothing(call, said):
    study = create()
    study.invite("ann")
    item = study.assessor("ann").next()[0].item
    with pytest.raises(InputError, match=said):
        call(study, item)
    assert [*study.record()] == []


def test_texts_that_are_missing_are_told():
    with pytest.warns(gf.errors.GainfulWarning, match="docs: 2 texts of 9 missing"):
        study = create(docs={doc: text for doc, text in DOCS.items() if doc not in "xy"})
    assert study.progress().items == 9
    with pytest.raises(InputError, match="Check the ids"):
        create(docs={"none": "of these"})
    assert QUERIES["q1"] == ("bread", "how to bake it")


def test_former_names_work_and_say_what_to_write_now(tmp_path):
    with create(tmp_path / "study.db") as study:
        study.invite("ann")
        with pytest.warns(gf.errors.GainfulWarning, match=r"Study\.assessor\(name\)\.next"):
            task, *_ = study.next("ann", 1)
        with pytest.warns(gf.errors.GainfulWarning, match=r"Study\.assessor\(name\)\.grade"):
            assert study.grade("ann", task.item, 2, key="1").grade == 2
        with pytest.warns(gf.errors.GainfulWarning, match=r"Study\.set\(guideline"):
            study.set_guideline("Be kind.")
        with pytest.warns(gf.errors.GainfulWarning, match="settings"):
            assert study.tags == study.settings["tags"]
        with pytest.warns(gf.errors.GainfulWarning, match="internal"):
            assert study.events > 0
        with pytest.warns(gf.errors.GainfulWarning, match="internal"):
            assert study.document(task.item).doc == task.doc
        with pytest.warns(gf.errors.GainfulWarning, match="internal"):
            assert task.query in study.queries
        with pytest.warns(gf.errors.GainfulWarning, match=r"Study\.set\(words"):
            study.set_grade(2, word="good")
        assert study.scale[2].word == "good"
        with pytest.raises(AttributeError, match="judge_all"):
            study.judge_all  # noqa: B018


def test_a_study_has_few_members():
    assert len([name for name in dir(gf.judging.Study) if not name.startswith("_")]) <= 25


def _clicks(shows):
    """Return judgments from clicks of a quarter of the times that documents were shown."""
    rows = [
        {"query": query, "doc": doc, "impressions": count, "clicks": count // 4}
        for (query, doc), count in shows.items()
    ]
    return gf.behaviour.click_judgments(rows, "ctr")


def _order(study):
    with study._store.reading() as transaction:
        return [
            doc
            for (doc,) in transaction.all("SELECT doc FROM item WHERE practice = 0 ORDER BY place")
        ]


@pytest.mark.parametrize("order", ["effect", "verdict"])
def test_documents_come_first_that_clicks_say_little_about(tmp_path, order):
    address, run = tmp_path / "study.db", {"q": {"seen": 4, "rare": 3, "new": 2, "a": 1}}
    runs = {"one": run, "two": {"q": {"a": 2, "b": 1}}}
    clicks = _clicks({("q", "seen"): 400, ("q", "rare"): 8, ("q", "not in the study"): 9})
    options = {
        "runs": runs, "queries": {"q": "bread"}, "docs": {doc: doc for doc in (*run["q"], "b")},
        "measure": "P@3", "order": order, "judgments": {"q": {"a": 1, "b": 1}},
    }  # fmt: skip
    with create(address, **options) as study:
        assert _order(study)[:3] == ["seen", "rare", "new"]  # equal effects: by rank
    with create(address, clicks=clicks, **options) as study:  # an existing study gets them
        assert _order(study)[:3] == ["new", "rare", "seen"]
        assert "clicks" not in study.settings
    with gf.judging.Study(address) as study:
        study.invite("ann")
        assert [task.doc for task in study.assessor("ann").next(1)] == ["new"]
        study.assessor("ann").grade(study.assessor("ann").next(1)[0].item, 1, key=key())
        assert study._reorder(least=1)
        left = [doc for doc in _order(study) if doc in ("rare", "seen")]
        pool = gf.judging.next_to_judge(
            study.judgments("mean"), runs, "P@3", grades=[0, 1, 2, 3], clicks=clicks,
            compare=("one", "two") if order == "verdict" else None,
        )  # fmt: skip
        assert left == [row.doc for row in pool] == ["rare", "seen"]


def test_clicks_are_judgments_from_clicks():
    with pytest.raises(InputError, match="clicks: expected what click_judgments returns"):
        create(clicks={"q1": {"a": 1.0}})
