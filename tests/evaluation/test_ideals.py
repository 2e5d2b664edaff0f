"""Other ideals than all judged documents cut at the cutoff, as other tools have them."""

import math

import pytest

import gainful as gf

JUDGMENTS = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}
RUN = {"q": {"a": 4, "b": 3, "c": 2, "u": 1}}  # x is not retrieved, u is not judged
SECOND, THIRD, FOURTH = 1 / math.log2(3), 1 / 2, 1 / math.log2(5)


def value(measure, judgments=JUDGMENTS, run=RUN, query="q", **choices):
    scores = gf.evaluate(judgments, run, measure, policy=gf.Policy(**choices))
    return scores.per_query.to_dict()[query][measure]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("nDCG@4", 0.47499501),
        ("nDCG(ideal=retrieved)@4", 0.85971870),
        ("nDCG(gain=exp2, ideal=retrieved)@4", 0.79670758),
        ("nDCG(gain=exp2)@4", 0.30797979),
        ("nDCG(discount=jarvelin)@4", 0.53277170),
        ("nDCG(gain=binary)@4", 0.76536064),
        ("nDCG(discount=jarvelin, ideal=retrieved)@4", 1.0),
        ("nDCG(discount=reciprocal, ideal=retrieved)@4", 0.8),
    ],
)
def test_one_list_as_many_tools_see_it(measure, expected):
    assert value(measure) == pytest.approx(expected, abs=5e-9)


def test_the_ideal_of_the_list_is_of_all_of_it_not_of_the_first_k():
    # Only b (2) and a (1) are in the list; at 1 the ideal has b, which stands second.
    assert value("nDCG(ideal=retrieved)@1") == 1 / 2
    assert value("IDCG(ideal=retrieved)@1") == 2.0
    assert value("IDCG(ideal=retrieved)") == pytest.approx(2 + SECOND)


def test_how_deep_the_ideal_goes():
    whole = 3 + 2 * SECOND + THIRD
    assert value("IDCG(depth=all)@1") == pytest.approx(whole)
    assert value("nDCG(depth=all)@1") == pytest.approx(1 / whole)
    assert value("nDCG(ideal=retrieved, depth=all)@1") == pytest.approx(1 / (2 + SECOND))
    short = {"q": {"a": 2, "u": 1}}
    for measure in ("nDCG(depth=retrieved)@10", "nDCG(depth=retrieved)"):
        assert value(measure, run=short) == pytest.approx(1 / (3 + 2 * SECOND))
    assert value("nDCG(depth=retrieved)@1", run=short) == 1 / 3  # k is less
    assert value("nDCG(depth=retrieved)@4") == value("nDCG@4")  # the list is as long


def test_documents_without_a_judgment():
    # Condensed, the list is a > b > c; with a grade, u (3) counts as judged.
    assert value("nDCG(depth=retrieved)", unjudged="condense") == pytest.approx(
        (1 + 2 * SECOND) / (3 + 2 * SECOND + THIRD)
    )
    graded = value("nDCG(ideal=retrieved)", unjudged=3)
    assert graded == pytest.approx((1 + 2 * SECOND + 3 * FOURTH) / (3 + 2 * SECOND + THIRD))


def test_absent_documents_are_in_no_ideal_but_the_usual():
    short, rest = {"q": {"a": 1}}, SECOND + THIRD
    assert value("nDCG@3", {"q": {"a": 1}}, short, absent=1) == 1.0
    for changed in ("ideal=retrieved", "depth=all", "depth=retrieved"):
        found = value(f"nDCG({changed})@3", {"q": {"a": 1}}, short, absent=1)
        assert found == pytest.approx(1 + rest)


def test_a_list_without_a_good_document_is_empty_where_it_is_all_there_is():
    judgments, run = {"q": {"a": 0, "x": 3}, "r": {"b": 1}}, {"q": {"a": 1}, "r": {"b": 1}}
    measure = "nDCG(ideal=retrieved)@5"
    assert value(measure, judgments, run) == 0.0
    assert value(measure, judgments, run, empty="one") == 1.0
    assert value("nDCG@5", judgments, run, empty="one") == 0.0
    scores = gf.evaluate(judgments, run, measure, policy=gf.Policy(empty="skip"))
    assert (scores[measure], scores.coverage.empty) == (1.0, ("q",))
    with pytest.raises(gf.errors.InputError, match="empty=error"):
        gf.evaluate(judgments, run, measure, policy=gf.Policy(empty="error"))
    # Nothing is left of a list that is condensed to nothing.
    bare = {"q": {"u": 1}, "r": {"b": 1}}
    depth = "nDCG(depth=retrieved)"
    assert value(depth, judgments, bare, unjudged="condense", empty="one") == 1.0


@pytest.mark.parametrize("changed", ["ideal=retrieved", "depth=retrieved"])
def test_a_missing_query_is_missing_before_it_is_empty(changed):
    judgments, run = {"q": {"a": 1}, "r": {"b": 0}, "s": {"c": 2}}, {"q": {"a": 1}}
    measure = f"nDCG({changed})@5"
    scores = gf.evaluate(judgments, run, measure, policy=gf.Policy(empty="one"))
    assert scores.per_query[measure] == [1.0, 0.0, 0.0]
    assert scores.coverage.empty == ()
    assert value(f"IDCG({changed})@5", judgments, run, "s") == 0.0
    assert value("IDCG(depth=all)@5", judgments, run, "s") == 2.0
    skipped = gf.evaluate(judgments, run, measure, policy=gf.Policy(missing="skip"))
    assert skipped.queries == ("q",)


def test_negative_gains_in_the_ideal_too():
    labels, scores = [[-1, 1, 0]], [[3, 2, 1]]

    def found(negative, **options):
        policy = gf.Policy(negative=negative, **options)
        arrays = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG", policy=policy)
        return arrays["nDCG"]

    assert found("both") == pytest.approx((-1 + SECOND) / (1 - 1 / 2))
    assert found("both") == pytest.approx(-0.738, abs=5e-4)
    assert found("keep") == pytest.approx(-1 + SECOND)
    assert found("zero") == pytest.approx(SECOND)
    assert value("IDCG@2", {"q": {"a": 1, "b": 0, "c": -5}}, negative="both") == 1.0


def test_an_ideal_that_is_not_above_0_is_empty():
    judgments, run = {"q": {"a": 1, "b": -2}}, {"q": {"a": 2, "b": 1}}
    ideal = 1 - 2 * SECOND
    assert value("IDCG@2", judgments, run, negative="both") == pytest.approx(ideal)
    assert value("nDCG@2", judgments, run, negative="both") == 0.0
    assert value("nDCG@2", judgments, run, negative="both", empty="one") == 1.0
    assert value("nDCG@1", judgments, run, negative="both", empty="nan") == 1.0
    # 0.1 + 0.2 − 0.3 is 0, whatever a float makes of it.
    tenths = {"q": {"a": 0.1, "b": 0.2, "c": -0.3}}
    measure = "nDCG(discount=none)"
    assert value(measure, tenths, {"q": {"a": 1}}, negative="both", empty="one") == 1.0
    assert value("IDCG(discount=none)", tenths, negative="both") == 0.0


def test_other_measures_keep_negative_gains_out_of_their_ideal():
    judgments, run = {"q": {"a": 1, "b": -2, "c": 2}}, {"q": {"a": 3, "b": 2, "c": 1}}
    for measure in ("nDCGrel", "RnDCG", "G", "DCG", "GAP", "AP"):
        both, keep = (value(measure, judgments, run, negative=each) for each in ("both", "keep"))
        assert both == keep


def test_minmax_leaves_negative_gains_out_of_its_best_list():
    with pytest.raises(gf.errors.PolicyError, match=r"norm=minmax.*negative=keep"):
        value("nDCG(norm=minmax)", negative="both")


def test_the_whole_list_is_matched_and_hashed():
    """What stands below the cutoff is in the ideal, so the number is pinned down by all of it."""
    measure = "nDCG(ideal=retrieved)@1"
    deeper = {"q": {**RUN["q"], "x": -1}}
    near, far = (gf.evaluate(JUDGMENTS, run, [measure, "nDCG@1"]) for run in (RUN, deeper))
    assert near[measure] == 1 / 2
    assert far[measure] == 1 / 3
    alone = gf.evaluate(JUDGMENTS, deeper, measure)
    assert alone.coverage.depth is None
    assert alone.signature(measure) == far.signature(measure)
    assert alone.signature(measure).startswith(f"{measure} | ties=doc | queries=1")
    moved = {"q": {"a": 9, "c": 3, "b": 2, "u": 1}}  # the same at rank 1, others below
    for asked, same in (("nDCG@1", True), (measure, False)):
        one, other = (gf.evaluate(JUDGMENTS, run, asked).hashes(asked) for run in (RUN, moved))
        assert (one == other) is same


def test_ties_by_id_ascending():
    judgments = {"q": {"a": 2, "b": 1, "ä": 1}}
    run = {"q": {"b": 1, "ä": 1, "a": 1, "Z": 1}}
    # As bytes: Z, a, b, ä.
    found = value("DCG", judgments, run, ties="doc_ascending")
    assert found == pytest.approx(2 * SECOND + THIRD + FOURTH)
    policy = gf.Policy(ties="doc_ascending")
    steps = gf.explain(judgments, run, "DCG", query="q", policy=policy).parts[0].steps
    assert [step.doc for step in steps] == ["Z", "a", "b", "ä"]


def test_the_ideal_is_shown():
    found = gf.explain(JUDGMENTS, RUN, "nDCG(ideal=retrieved)@4", query="q")
    listed, ideal = found.parts
    assert (listed.name, ideal.name) == ("DCG@4", "IDCG(ideal=retrieved)@4")
    assert ideal.title == "the ideal: the documents of the list, best first"
    assert [step.doc for step in ideal.steps] == ["b", "a"]
    assert "ideal retrieved: of the documents of the list" in " ".join(str(found).split())
    assert found.conclusion.endswith("= 2.262 / 2.631 = 0.860")
    uncut = gf.explain(JUDGMENTS, RUN, "nDCG(depth=all)@1", query="q")
    assert [len(part.steps) for part in uncut.parts] == [1, 3]
    grades = gf.explanation.explain_grades(
        [1, -1, 0], "nDCG(ideal=retrieved)@3", judged=[1, -1, 0, 3]
    )
    assert [step.grade for step in grades.parts[1].steps] == [1.0]
    both = gf.explanation.explain_grades([-1, 1, 0], policy=gf.Policy(negative="both"))
    assert [step.grade for step in both.parts[1].steps] == [1.0, 0.0, -1.0]
    assert both.value == pytest.approx((-1 + SECOND) / (1 - THIRD))


def test_why_there_is_nothing_to_divide_by():
    judgments, run = {"q": {"a": 0, "x": 3}}, {"q": {"a": 1}}
    measure, skip = "nDCG(ideal=retrieved)", gf.Policy(empty="skip")
    shown = gf.explain(judgments, run, measure, query="q").conclusion
    assert shown.endswith("(no document of the ideal has a positive gain: policy empty=zero)")
    with pytest.raises(gf.errors.InputError, match="no document of the ideal has a positive gain"):
        gf.explain(judgments, run, measure, query="q", policy=skip)
    with pytest.raises(gf.errors.InputError, match="the ideal is not above 0"):
        gf.explanation.explain_grades([-1], policy=gf.Policy(negative="both", empty="skip"))


def test_a_run_that_lacks_the_query_is_0_over_the_ideal_of_the_other():
    judgments = {"q": {"a": 1, "b": 2}, "r": {"c": 1}}
    base, run = {"r": {"c": 1}}, {"q": {"a": 2, "b": 1}}
    found = gf.explanation.attribute(judgments, base, run, "nDCG(ideal=retrieved)", query="q")
    ideal = 2 + SECOND
    assert {each.doc: each.part for each in found.documents} == pytest.approx(
        {"a": 1 / ideal, "b": 2 * SECOND / ideal}
    )
    assert found.others == ()
    assert "IDCG(ideal=retrieved) = 2.6309" in str(found)


def test_where_other_ideals_have_no_meaning():
    samples = {"q": {"a": (1, 1)}}
    for changed in ("ideal=retrieved", "depth=all"):
        with pytest.raises(gf.errors.InputError, match="ideal=judged and depth=cutoff"):
            gf.judging.inferred_ndcg(samples, {"q": {"a": 1}}, f"nDCG({changed})")
    with pytest.raises(gf.errors.PolicyError, match="negative"):
        gf.judging.inferred_ndcg(samples, {"q": {"a": 1}}, policy=gf.Policy(negative="both"))
    with pytest.raises(gf.errors.MeasureError, match="depth=cutoff"):
        gf.losses.loss("nDCG(depth=all)@5")


def test_losses_know_the_list_alone():
    torch = pytest.importorskip("torch")
    scores, labels = torch.tensor([0.5, 2.0, 1.0]), torch.tensor([2, 0, 1])
    one, other = (
        gf.losses.loss(measure)(scores, labels).item()
        for measure in ("nDCG@2", "nDCG(ideal=retrieved)@2")
    )
    assert one == other


def test_a_curve_with_another_ideal():
    found = gf.curve(JUDGMENTS, RUN, "nDCG(ideal=retrieved)", upto=2)
    assert found.means == pytest.approx([1 / 2, (1 + 2 * SECOND) / (2 + SECOND)])


def test_subtopics_take_them_too():
    judgments = {"q": {"1": {"a": 1, "x": 2}, "2": {"b": 1}}}
    run = {"q": {"a": 3, "u": 2, "b": 1}}
    measure = "IA(nDCG(ideal=retrieved)@2)"
    scores = gf.subtopics.evaluate_subtopics(judgments, run, measure)
    assert scores[measure] == pytest.approx((1 + 0) / 2)
    deeper = {"q": {"a": 3, "u": 2, "c": 1}}
    other = gf.subtopics.evaluate_subtopics(judgments, deeper, measure)
    assert scores.hashes(measure) != other.hashes(measure)
