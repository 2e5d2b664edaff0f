"""The results of a study so far, disagreement and its settlement, practice, and the design."""

import itertools
import random

import pytest

import gainful as gf
from gainful.judging.desk.study_database_rows import DrawnDocument, design_of
from study_cases import ONE, RUNS, create, judge_all, key

InputError, GainfulWarning = gf.errors.InputError, gf.errors.GainfulWarning


def random_study(address=":memory:", queries=12, docs=12, **options):
    rng = random.Random(7)  # noqa: S311
    names = [f"d{number}" for number in range(docs)]
    runs = {
        run: {f"q{q}": {doc: rng.random() for doc in names} for q in range(queries)}
        for run in ("base", "other", "third")
    }
    texts = {
        "queries": {f"q{q}": "a query" for q in range(queries)},
        "docs": dict.fromkeys(names, "a text"),
    }
    return create(address, runs=runs, **{**texts, "depth": 6, "measure": "nDCG@5", **options})


def some_grades(study, name="ann", count=200, seed=1):
    rng = random.Random(seed)  # noqa: S311
    study.invite(name)
    for task in study.assessor(name).next(count):
        study.assessor(name).grade(task.item, rng.choice([0, 0, 1, 2, 3]), key=key())


@pytest.mark.parametrize("count", [3, 60, 200])
def test_bounds_and_verdict_are_those_of_the_exported_file(tmp_path, count):
    study = random_study(order="random")
    some_grades(study, count=count)
    path = tmp_path / "now.qrels"
    study.export(path)
    standing = study.standing(["nDCG@5", "P@3"], baseline="other")
    runs = study.runs
    for one in standing.runs:
        bound = gf.bounds(path, runs[one.run], one.measure, grades=(0, 3))
        assert (one.value, one.low, one.high) == (
            bound[one.measure].value, bound[one.measure].low, bound[one.measure].high,
        )  # fmt: skip
        coverage = gf.evaluate(path, runs[one.run], one.measure).coverage
        assert (one.seen, one.judged) == (coverage.seen, coverage.seen - coverage.unjudged)
    compared = gf.compare(path, runs, ["nDCG@5", "P@3"], baseline="other")
    assert len(standing.pairs) == 4
    for pair, one in zip(standing.pairs, compared.differences, strict=True):
        assert (pair.measure, pair.baseline, pair.run) == (one.measure, one.baseline, one.run)
        assert (pair.difference, pair.p) == (one.difference, one.p)
        assert (pair.verdict, pair.sentence) == (one.verdict.word, one.verdict.sentence)
        bound = gf.bounds(
            path, runs[one.run], one.measure, grades=(0, 3), against=runs[one.baseline]
        )
        assert (pair.low, pair.high) == (bound[one.measure].low, bound[one.measure].high)
        assert pair.certain == bound[one.measure].sign
    judged = gf.evaluate(path, runs["base"]).coverage.judged
    assert (standing.queries, standing.of_queries) == (judged, 12)


def test_before_the_first_grade_nothing_is_known():
    standing = create().standing()
    assert (standing.queries, standing.of_queries, standing.runs, standing.pairs) == (0, 2, (), ())


def test_bounds_close_in_and_the_grades_that_are_needed_fall_to_none():
    study = random_study(queries=4, judgments={f"q{q}": {"d0": 3, "d1": 0} for q in range(4)})
    study.invite("ann")
    widths, needed = [], []
    while True:
        standing = study.standing()
        widths.append(sum(one.high - one.low for one in standing.runs))
        pair = standing.pairs[0]
        needed.append(pair.grades_needed)
        left = gf.judging.next_to_judge(
            {q: dict(docs) for q, docs in study.judgments().items()},
            study.runs, "nDCG@5", budget=None, grades=(0, 3), compare=("base", "other"), depth=6,
        )  # fmt: skip
        assert (pair.grades_needed == 0) == (pair.certain in ("above", "below", "equal"))
        if pair.grades_needed:
            assert 1 <= pair.grades_needed <= len(left)
        if not (tasks := study.assessor("ann").next(6)):
            break
        for task in tasks:
            study.assessor("ann").grade(task.item, task.item % 3, key=key())
    assert widths[0] > widths[len(widths) // 2] > widths[-1]
    assert needed[0] > 1
    assert needed[-1] == 0


def test_the_estimate_of_grades_by_hand():
    runs = {"one": {"q": {"a": 2, "b": 1}}, "two": {"q": {"c": 2, "d": 1}}}
    study = create(
        runs=runs, queries={"q": "x"}, docs=dict.fromkeys("abcd", "t"), depth=2, measure="CG@2"
    )
    study.invite("ann")
    items = {task.doc: task.item for task in study.assessor("ann").next(4)}
    study.assessor("ann").grade(items["c"], 2, key="1")
    (pair,) = study.standing().pairs
    # two − one = 2 + d − a − b, each of the others from 0 to 3: from −4 to 5.
    assert (pair.difference, pair.low, pair.high) == (2.0, -4.0, 5.0)
    # On that side the width is 6, of which 4 have to go: 2/3 of the three widths, which are equal.
    assert pair.grades_needed == 2
    study.assessor("ann").grade(items["a"], 0, key="2")
    study.assessor("ann").grade(items["b"], 0, key="3")
    (pair,) = study.standing().pairs
    assert (pair.low, pair.high, pair.certain, pair.grades_needed) == (2.0, 5.0, "above", 0)


def test_why_a_sign_stays_open_is_told():
    """Where nothing that is left to judge moves a difference, the number is none, and the words say what would."""
    runs = {"one": {"q": {"a": 3, "b": 2, "c": 1}}, "two": {"q": {"b": 3, "a": 2, "d": 1}}}
    given = {"runs": runs, "queries": {"q": "x"}, "docs": dict.fromkeys("abcd", "t"), "depth": 2}
    study = create(**given, measure="CG@3")
    study.invite("ann")
    for task in study.assessor("ann").next(4):
        study.assessor("ann").grade(task.item, 2, key=key())
    (pair,) = study.standing().pairs
    # c and d stand at rank 3, and nobody is given them: d − c lies between −3 and 3.
    assert (pair.low, pair.high, pair.certain, pair.grades_needed) == (-3.0, 3.0, "open", None)
    assert pair.why == (
        "Every document down to rank 2 that could move the difference is judged; its sign depends on"
        " documents further down, about 2 grades. Increase the depth to have them judged."
    )
    (pair,) = study.standing("AP@3").pairs
    assert (pair.certain, pair.grades_needed) == ("open", None)
    assert pair.why.startswith("There are no bounds for a difference in AP@3")
    (pair,) = study.standing("CG@2").pairs
    assert (pair.certain, pair.grades_needed, pair.why) == ("equal", 0, "")


def test_whenever_no_number_is_known_words_say_why():
    for measure in ("nDCG@3", "P@5"):
        study = random_study(queries=2, docs=8, depth=4, order="random", measure=measure)
        study.invite("ann")
        while tasks := study.assessor("ann").next(3):
            for task in tasks:
                study.assessor("ann").grade(task.item, (task.item * 7) % 4, key=key())
            for pair in study.standing().pairs:
                assert (pair.grades_needed is None) == bool(pair.why), (measure, pair)


def test_a_measure_that_looks_deeper_than_what_is_kept_is_refused():
    long = {"q1": {f"d{number}": -float(number) for number in range(120)}}
    texts = {"queries": {"q1": "x"}, "docs": dict.fromkeys(long["q1"], "t")}
    study = create(runs={"long": long}, **texts)
    some_grades(study)
    assert len(study.runs["long"]["q1"]) == 100
    assert study.standing("nDCG@100").runs[0].value > 0
    for measure in ("nDCG@101", "AP"):
        with pytest.raises(InputError, match="a cutoff of at most 100"):
            study.standing(measure)
    short = create()
    some_grades(short)
    assert short.standing("AP").runs[0].run == "one"  # nothing was cut


def test_agreement_is_that_of_the_grades():
    study = random_study(overlap=2)
    some_grades(study, "ann", seed=1)
    some_grades(study, "bob", seed=2)
    found = study.agreement(resamples=20)
    expected = gf.judging.agreement(
        study.grades(), runs=study.runs, measures="nDCG@5", resamples=20
    )
    assert found.to_dict() == expected.to_dict()


def test_disputes_come_with_those_first_on_which_verdicts_hang():
    study = random_study(overlap=2)
    some_grades(study, "ann", seed=1)
    some_grades(study, "bob", seed=2)
    disputed = study.disputed()
    given = study.grades()
    expected = {
        (query, doc)
        for query, docs in given.items()
        for doc, people in docs.items()
        if len({*people.values()}) > 1
    }
    assert {(each.query, each.doc) for each in disputed} == expected
    settle = study.agreement(resamples=20).conclusions.settle
    assert len(settle) > 5
    flips = {(each.query, each.doc): len(each.flips) for each in settle}
    assert [each.flips for each in disputed] == sorted(
        (each.flips for each in disputed), reverse=True
    )
    assert all(each.flips == flips.get((each.query, each.doc), 0) for each in disputed)
    first = disputed[0]
    assert first.grades == given[first.query][first.doc]
    hidden = study.disputed(names="hidden")[0]
    assert [*hidden.grades.values()] == sorted(first.grades.values())
    assert not {"ann", "bob"} & {*hidden.grades}


def test_what_is_adjudicated_counts_alone(tmp_path):
    study = create(overlap=2)
    study.invite("lea", "lead")
    for name, grade in (("ann", 0), ("bob", 3)):
        study.invite(name)
        judge_all(study, name, lambda task, grade=grade: grade)
    first = study.disputed()[0]
    assert len(study.disputed()) == 9
    with pytest.raises(InputError, match="a lead of the study"):
        study.lead("ann").adjudicate(first.item, 2, key="1")
    done = study.lead("lea").adjudicate(first.item, 2, key="1", note="as agreed")
    assert study.lead("lea").adjudicate(first.item, 2, key="1") == done
    assert len(study.disputed()) == 8
    for rule in ("mean", "median", "majority", "max", "min", "dawid-skene"):
        assert study.judgments(rule)[first.query][first.doc] == 2.0
    assert study.judgments("bob")[first.query][first.doc] == 3.0
    assert study.judgments()["q2"]["y"] == 1.5
    assert study.grades()[first.query][first.doc] == {"ann": 0.0, "bob": 3.0}
    study.export(tmp_path / "merged.csv")
    assert f"{first.query},{first.doc},2.0,1,adjudicated" in (tmp_path / "merged.csv").read_text()
    study.assessor("lea").undo(key="2")
    assert len(study.disputed()) == 9


def test_an_adjudicated_document_is_closed():
    study = create(overlap=3)
    study.invite("lea", "lead"), study.invite("ann")
    task, *_ = study.assessor("ann").next()
    study.lead("lea").adjudicate(task.item, 1, key="1")
    assert task.item not in {each.item for each in study.assessor("lea").next(20)}
    study.assessor("lea").undo(key="2")
    study.assessor("lea").next(20)
    assert study.progress().by_assessor["lea"].left == 9


def test_stale_grades_are_taken_back_by_a_lead_and_stay_in_the_record():
    study = create(guideline="first")
    study.invite("lea", "lead")
    some_grades(study, count=4)
    study.set(guideline="second")
    item = study.assessor("ann").next()[0].item
    study.assessor("ann").grade(item, 1, key=key())
    with pytest.raises(InputError, match="a lead of the study"):
        study.lead("ann").reset(key="1", before_guideline=2)
    assert study.lead("lea").reset(key="1", before_guideline=2) == 4
    assert study.lead("lea").reset(key="1", before_guideline=2) == 0
    assert len([*study.record()]) == 9
    assert sum(len(docs) for docs in study.grades().values()) == 1
    assert len(study.assessor("ann").next(20)) == 8
    with pytest.raises(InputError, match="an assessor, a query or a version"):
        study.lead("lea").reset(key="2")


def test_practice_comes_first_tells_and_counts_nowhere():
    study = create()
    answers = {"q1": {"a": 3, "p": 0}}
    with pytest.raises(InputError, match="texts of everything that isn't in the study"):
        study.practice(answers)
    told = {"q1": {"p": "It is about tyres."}}
    assert study.practice(answers, docs={"p": "of practice"}, feedback=told) == 2
    assert study.practice({"q1": {"a": 2}}) == 2  # another answer
    for name in ("ann", "bob"):
        study.invite(name)
        one, two, three = study.assessor(name).next(3)
        assert (one.doc, two.doc, three.practice) == ("a", "p", False)
        right = study.assessor(name).grade(one.item, 2, key="1")
        assert (right.feedback.right, right.feedback.answer) == (True, 2.0)
        wrong = study.assessor(name).grade(two.item, 3, key="2")
        assert (wrong.feedback.right, wrong.feedback.text) == (False, "It is about tyres.")
        assert study.assessor(name).grade(two.item, 3, key="2") == wrong
        assert study.assessor(name).grade(three.item, 1, key="3").feedback is None
    ann = study.progress().by_assessor["ann"]
    assert (ann.done, ann.practised, ann.right) == (1, 2, 1)
    assert study.progress().items == 9
    assert study.grades() == {"q1": {"a": {"ann": 1.0}, "d": {"bob": 1.0}}}


def test_a_random_order_has_a_design_and_others_have_none():
    study = create(order="random", seed=3)
    with pytest.raises(InputError, match="at least one grade"):
        study.design()
    study.invite("ann")
    tasks = study.assessor("ann").next(3)
    for task in tasks[:2]:
        study.assessor("ann").grade(task.item, 1, key=key())
    design = study.design()
    query = tasks[0].query
    assert {*design.drawn} == {(task.query, task.doc) for task in tasks[:2]}
    assert {*design.population} == {
        (row.query, row.doc) for row in gf.pool(RUNS, depth=3) if row.query == query
    }
    assert (design.seed, design.kind, design.depth) == (3, "documents", 3)
    _, fourth = study.assessor("ann").next(2)
    study.assessor("ann").grade(fourth.item, 1, key=key())  # past the third one
    with pytest.raises(InputError, match="but none for"):
        study.design()
    with pytest.raises(InputError, match="a study in random order"):
        create().design()


def test_documents_that_were_passed_over_are_missing_from_the_design():
    study = create(order="random", seed=3)
    study.invite("ann"), study.invite("bob"), study.invite("lea", "lead")
    one, two, three, four = study.assessor("ann").next(4)
    assert len({task.query for task in (one, two, three, four)}) == 1
    study.assessor("ann").grade(one.item, 1, key=key())
    study.assessor("ann").cannot(two.item, "document", key=key())
    study.assessor("ann").grade(four.item, 2, key=key())
    with pytest.raises(InputError, match=f"2 grades, but none for '{three.doc}'"):
        study.design()  # nobody has acted on it
    study.assessor("ann").later(three.item, key=key())
    told = f"2 documents of the sample without a grade, because somebody skipped them: '{two.doc} of {two.query}'"
    with pytest.warns(GainfulWarning, match=told):
        design = study.design()
    [stratum] = design.strata
    assert {*stratum.drawn} == {(one.query, one.doc), (four.query, four.doc)}
    assert len(stratum.population) == 5
    assert (
        stratum.probability == 2 / 5
    )  # and not 4/5, with which a sum over the graded would come out too small
    # By hand: 5 documents stand for themselves, so the two weigh 5/2 each, and their grades sum to 7.5.
    assert sum(grade / stratum.probability for grade in (1, 2)) == 7.5
    study.lead("lea").adjudicate(three.item, 1, key=key())
    study.assessor("bob").grade(two.item, 0, key=key())
    design = study.design()  # without a warning
    assert len(design.drawn) == 4


def test_the_design_of_what_was_passed_over_is_right_on_average():
    """Over all orders, the weighted sum of grades is that of all documents, where which are missing is left to chance."""
    grades = {"a": 3, "b": 1, "c": 0, "d": 2, "x": 1}
    sums = []
    for order in itertools.permutations(grades):
        for missing in range(4):  # of the first four, whichever it is
            docs = [
                DrawnDocument(doc, place < 4 and place != missing, place == missing)
                for place, doc in enumerate(order)
            ]
            design, told = design_of({"q": docs}, seed=0, depth=5)
            assert told.startswith("1 document of the sample without a grade")
            assert len(design.drawn) == 3
            sums.append(
                sum(grades[doc] / design.probability_of["q", doc] for _, doc in design.drawn)
            )
    assert sum(sums) / len(sums) == pytest.approx(sum(grades.values()), abs=1e-9)


def test_order_by_effect_changes_with_grades():
    study = create(order="effect", measure="nDCG@3")
    study.invite("ann")
    first, *_ = study.assessor("ann").next()
    study.assessor("ann").grade(first.item, 3, key="1")
    assert study._reorder(least=1)
    expected = gf.judging.next_to_judge(
        {"q1": {first.doc: 3}}, RUNS, "nDCG@3", grades=(0, 1, 2, 3), depth=3, budget=None
    )
    assert study.assessor("ann").next(2)[0].doc == expected[0].doc
    assert ONE["q1"]["a"] == 9
