"""What-if: changed lists against lists changed by hand, for grades, for runs and on the command line."""

import json
import math
import random

import pytest

import gainful as gf

LIST = [3, 2, 3, 0, 1, 2]
CHANGES = [
    ("swap 3,4", [3, 2, 0, 3, 1, 2]),
    ("move 5,2", [3, 1, 2, 3, 0, 2]),
    ("move 1,6", [2, 3, 0, 1, 2, 3]),
    ("remove 4", [3, 2, 3, 1, 2]),
    ("regrade 4=3", [3, 2, 3, 3, 1, 2]),
    ("regrade 1=-1", [-1, 2, 3, 0, 1, 2]),
    ("swap 1,2; swap 1,3", [3, 3, 2, 0, 1, 2]),
    (["remove 1", "swap 1,2", "regrade 5=0"], [3, 2, 0, 1, 0]),
]
JUDGMENTS = {"q": dict(zip("abcdef", LIST, strict=True)) | {"x": 3}}
RUN = {"q": {doc: 1 / rank for rank, doc in enumerate("abcdef", 1)}}


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_lists_of_grades(change, expected):
    explained = gf.explanation.explain_grades(LIST, "DCG", what_if=change)
    assert [step.grade for step in explained.parts[0].steps] == expected
    assert explained.value == gf.dcg(expected)
    assert explained.before == gf.dcg(LIST)


@pytest.mark.parametrize(("change", "expected"), CHANGES)
@pytest.mark.parametrize("ties", ["doc", "average", "order"])
def test_runs(change, expected, ties):
    """The document that was graded differently also has its new grade in the ideal; a removed one stays there."""
    explained = gf.explain(
        JUDGMENTS, RUN, "nDCG@5", query="q", what_if=change, policy={"ties": ties}
    )
    grades = [3, *LIST]
    for text in change if isinstance(change, list) else change.split(";"):
        if "regrade" in text:
            grade = float(text.partition("=")[2])
            place = {"4=3": 0, "1=-1": 3, "5=0": 2}[text.split()[1]]  # the grade before
            grades.remove(place)
            grades.append(grade)
    kept = [grade for grade in grades if grade > 0]
    assert explained.value == pytest.approx(gf.dcg(expected, k=5) / gf.idcg(kept, k=5))
    assert explained.before == gf.evaluate(JUDGMENTS, RUN, "nDCG@5")["nDCG@5"]


def test_random_changes_against_the_measures():
    draw = random.Random(7)  # noqa: S311
    for _ in range(60):
        grades = [draw.choice([0, 0, 1, 2, 3]) for _ in range(draw.randint(3, 9))]
        docs, changes = list(range(len(grades))), []
        for _ in range(draw.randint(1, 4)):
            one, other = draw.randint(1, len(docs)), draw.randint(1, len(docs))
            if draw.random() < 0.5:
                changes.append(f"swap {one},{other}")
                docs[one - 1], docs[other - 1] = docs[other - 1], docs[one - 1]
            else:
                changes.append(f"move {one},{other}")
                docs.insert(other - 1, docs.pop(one - 1))
        changed = [grades[doc] for doc in docs]
        explained = gf.explanation.explain_grades(grades, "nDCG@4", what_if=changes)
        assert explained.value == pytest.approx(gf.ndcg(changed, k=4, judged=grades), nan_ok=True)
        terms = [
            (new - old) / math.log2(rank + 1)
            for rank, (old, new) in enumerate(zip(grades, changed, strict=True), 1)
            if rank <= 4 and new != old
        ]
        if any(grades):
            assert explained.effect.count(" at rank ") == len(terms)
            assert ("no term changes" in explained.effect) == (not terms)


def test_cg_is_unchanged_only_while_both_ranks_are_within_the_cutoff():
    for one in range(1, 7):
        for other in range(1, 7):
            explained = gf.explanation.explain_grades(LIST, "CG@4", what_if=f"swap {one},{other}")
            within = (one <= 4) == (other <= 4)
            same = LIST[one - 1] == LIST[other - 1]
            assert (explained.value == explained.before) == (within or same)


def test_documents_with_equal_scores_change_places():
    """Ties ordered by id would put them back; averaged, their order stays open."""
    judgments, run = {"q": {"a": 3, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    for ties, before, after in (("doc", 3 / math.log2(3), 3.0), ("average", 2.446, 2.446)):
        explained = gf.explain(
            judgments, run, "DCG", query="q", what_if="swap 1,2", policy={"ties": ties}
        )
        assert explained.before == pytest.approx(before, abs=5e-4)
        assert explained.value == pytest.approx(after, abs=5e-4)
        assert explained.policy.ties == ties


def test_an_unjudged_document_can_be_graded_and_the_inputs_stay():
    judgments, run = {"q": {"a": 1}}, {"q": {"u": 2.0, "a": 1.0}}
    explained = gf.explain(judgments, run, "nDCG", query="q", what_if="regrade 1=2")
    assert explained.value == 1.0
    assert (judgments, run) == ({"q": {"a": 1}}, {"q": {"u": 2.0, "a": 1.0}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("swap 3", "expected swap 3,4"),
        ("swop 3,4", "Did you mean 'swap'"),
        ("swap 1,7", "ranks from 1 to 6"),
        ("remove 0", "ranks from 1 to 6"),
        ("regrade 1=high", "expected regrade 3=2"),
        ([], "expected changes such as"),
        (3, "expected changes such as"),
        ([3], "expected a change such as"),
        (["remove 6", "swap 5,6"], "ranks from 1 to 5"),
    ],
)
def test_changes_that_are_rejected(change, message):
    with pytest.raises(gf.errors.InputError, match=message):
        gf.explanation.explain_grades(LIST, what_if=change)


def test_without_changes_nothing_is_said():
    explained = gf.explanation.explain_grades(LIST)
    assert (explained.effect, explained.changes, explained.before) == ("", (), None)
    assert "changes" not in explained.to_dict()


def test_the_command_applies_changes_in_the_order_in_which_they_are_typed(cli, tmp_path):
    typed = ("--move", "5,2", "--swap=1,2", "--regrade", "3=0", "--swap", "1,6", "--remove", "2")
    done = cli("explain", "3,2,3,0,1,2", "-m", "DCG", "-f", "json", *typed)
    told = json.loads(done.stdout)
    order = ["move 5,2", "swap 1,2", "regrade 3=0", "swap 1,6", "remove 2"]
    same = gf.explanation.explain_grades(LIST, "DCG", what_if=order)
    assert (told["value"], told["before"]) == (same.value, same.before)
    assert told["effect"] == same.effect
    assert told["changes"][-1] == "removing rank 2"
    for form in ("table", "markdown", "html"):
        assert (
            "Swapping ranks 3 and 4"
            in cli("explain", "3,2,3,0", "--swap", "3,4", "-f", form).stdout
        )
    judgments, run = tmp_path / "j.json", tmp_path / "r.json"
    judgments.write_text(json.dumps(JUDGMENTS))
    run.write_text(json.dumps(RUN))
    done = cli("explain", judgments, run, "--query", "q", "--swap", "3,4")
    assert "Swapping ranks 3 and 4 lowers nDCG@10" in done.stdout
    done = cli("explain", judgments, run, "--query", "q", "--against", run, "--swap", "3,4")
    assert "--against cannot be combined with --swap" in done.stderr
