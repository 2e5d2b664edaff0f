"""Numbers that texts about DCG print, one test for each."""

import itertools
import math
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf

LIST = [3, 2, 3, 0, 1, 2]
JUDGED = [*LIST, 3, 2]


def test_the_misprint_log2_i_plus_1_read_literally() -> None:
    values = [value(LIST, discount="misprint") for value in (gf.dcg, gf.idcg, gf.ndcg)]
    assert [round(value, 3) for value in values] == [6.019, 6.241, 0.964]
    assert str(gf.measure("nDCG(discount=misprint)@6")) == "nDCG(discount=misprint)@6"


def test_ndcg_without_a_cutoff_means_the_same_everywhere() -> None:
    """The ideal has all judged documents, also below the end of the list: 0.756; cut at 6, it is 0.785."""
    assert round(gf.ndcg(LIST, judged=JUDGED), 3) == 0.756
    assert round(gf.ndcg(LIST, k=6, judged=JUDGED), 3) == 0.785
    explained = gf.explanation.explain_grades(LIST, judged=JUDGED)
    assert explained.conclusion.endswith("= 0.756")
    words = ["explain", "3,2,3,0,1,2", "--judged", "3,2,3,0,1,2,3,2"]
    printed = subprocess.run(
        [sys.executable, "-m", "gainful", *words], capture_output=True, text=True, check=True
    ).stdout
    assert "nDCG = DCG / IDCG = 6.861 / 9.074 = 0.756" in printed


@pytest.mark.parametrize(
    ("grades", "k", "dcg"), [([1, 0, 1, 1, 0], 3, 1.5), ([1, 1, 0, 1, 0], 3, 1.631)]
)
def test_moving_a_relevant_document_up_raises_dcg(grades: list[int], k: int, dcg: float) -> None:
    assert round(gf.dcg(grades, k=k), 3) == dcg


@pytest.mark.parametrize(
    ("grades", "measure", "judged", "change", "before", "after"),
    [
        (LIST, "DCG@6", None, "swap 3,4", 6.861, 6.653),
        (LIST, "nDCG@6", None, "swap 3,4", 0.961, 0.932),
        (LIST, "nDCG@6", JUDGED, "swap 3,4", 0.785, 0.761),
        (LIST, "CG@6", None, "swap 3,4", 11.0, 11.0),
        (LIST, "CG@3", None, "swap 3,4", 8.0, 5.0),
        ([1, 0, 1, 1, 0], "DCG@3", None, "move 3,2", 1.5, 1.631),
        ([3, 1, 0, 0, 2], "DCG", None, "swap 5,2", 4.405, 4.649),
    ],
)
def test_what_if_two_documents_changed_places(
    grades: list[int],
    measure: str,
    judged: list[int] | None,
    change: str,
    before: float,
    after: float,
) -> None:
    explained = gf.explanation.explain_grades(grades, measure, judged=judged, what_if=change)
    assert (round(explained.before or 0, 3), round(explained.value, 3)) == (before, after)
    assert f"{before:.3f}" in explained.effect
    assert f"{after:.3f}" in explained.effect
    assert (" leaves " in explained.effect) == (before == after)


def test_what_if_two_documents_changed_places_and_one_shares_its_ranks() -> None:
    """The terms of documents that share ranks 2 and 3 change together."""
    judgments, run = {"q": {"a": 3, "b": 1, "c": 2}}, {"q": {"a": 2, "b": 1, "c": 1, "d": 0.5}}
    how = {"query": "q", "what_if": "swap 1,2", "policy": gf.Policy(ties="average")}
    effect = gf.explain(judgments, run, "DCG@4", **how).effect
    shared = (1 / math.log2(3) + 1 / math.log2(4)) / 2
    first = gf.explain(judgments, run, "DCG@4", query="q", policy=how["policy"])
    swapped_in = first.parts[0].steps[1].grade  # b or c, by the order of the table
    assert f"−{3 - swapped_in:.3f} at rank 1" in effect
    assert f"+{(3 - swapped_in) * shared:.3f} at ranks 2–3" in effect


def test_rank_2_has_no_discount_in_the_older_formula() -> None:
    assert gf.dcg([0, 3], discount="jarvelin") == 3.0


def test_cg_is_unchanged_only_while_both_ranks_are_within_the_cutoff() -> None:
    swapped = [3, 2, 0, 3, 1, 2]
    assert gf.cg(swapped, k=4) == gf.cg(LIST, k=4)
    assert gf.cg(swapped, k=3) != gf.cg(LIST, k=3)
    assert round(gf.dcg(swapped), 3) == 6.653
    assert round(gf.ndcg(swapped), 3) == 0.932
    assert round(gf.ndcg(swapped, k=6, judged=JUDGED), 3) == 0.761


def test_cumulated_gain_is_sometimes_called_graded_precision() -> None:
    with pytest.raises(gf.errors.MeasureError, match="Did you mean 'CG'"):
        gf.measure("graded precision")
    assert "graded precision" in gf.measures.family("CG").definition


def test_the_natural_logarithm_scales_dcg_and_cancels_in_ndcg() -> None:
    for gain, dcg, ndcg in (("linear", 6.8611 / math.log(2), 0.961), ("exp2", 19.979, 0.949)):
        assert gf.dcg(LIST, gain=gain, discount="ln") == pytest.approx(dcg, abs=5e-4)
        same = gf.dcg(LIST, gain=gain, base="e")
        assert gf.dcg(LIST, gain=gain, discount="ln") == pytest.approx(same)
        assert round(gf.ndcg(LIST, gain=gain, discount="ln"), 3) == ndcg
        assert round(gf.ndcg(LIST, gain=gain), 3) == ndcg
    with pytest.raises(gf.errors.MeasureError, match="Only the discounts log, jarvelin and"):
        gf.measure("nDCG(discount=ln, base=3)")


def test_the_form_used_by_kaggle() -> None:
    """Gain 2^g − 1, discount 1/log2(i+1), the ideal of all labels cut at k, and 1 without any gain."""
    judgments = {"q": {"a": 1, "b": 2, "x": 3}, "none": {"a": 0}}
    run = {"q": ["a", "b", "u"], "none": ["u", "a"]}
    scores = gf.evaluate(judgments, run, "nDCG@2", dialect="kaggle")
    by_hand = (1 + 3 / math.log2(3)) / (7 + 3 / math.log2(3))
    values = dict(zip(scores.queries, scores.values[:, 0].tolist(), strict=True))
    assert values == {"q": pytest.approx(by_hand), "none": 1.0}


@pytest.mark.parametrize(
    ("word", "form", "page"),
    [
        ("Kaggle", "dialect='kaggle'", "docs/reference/dialects.md"),
        ("Wikipedia", r"DCG\(gain=exp2\)", "docs/understand/ndcg.md"),
    ],
)
def test_searching_for_kaggle_or_wikipedia_leads_to_their_forms(
    word: str, form: str, page: str
) -> None:
    with pytest.raises(gf.errors.MeasureError, match=form):
        gf.measure(word)
    assert word in (Path(__file__).parents[2] / page).read_text(encoding="utf-8")


def test_grades_as_words_excellent_fair_bad_as_1_0_and_minus_1() -> None:
    """Three excellent documents are as good as the same ones and a bad one only if bad is worth 0."""
    judgments = {"q": {"a": "Excellent", "b": "Excellent", "c": "Fair", "d": "Bad"}}
    short, long = ({"q": list(docs)} for docs in ("ab", "abd"))
    values = {}
    for words in ("excellent-fair-bad", "Excellent=2,Fair=1,Bad=0"):
        how = {"measures": "DCG", "grade_words": words}
        values[words] = [gf.evaluate(judgments, run, **how)["DCG"] for run in (short, long)]
    assert values["excellent-fair-bad"][0] - values["excellent-fair-bad"][1] == pytest.approx(0.5)
    assert values["Excellent=2,Fair=1,Bad=0"][0] == values["Excellent=2,Fair=1,Bad=0"][1]
    esci = {"q": {"a": "E", "b": "Substitute", "c": "I"}}
    expected = 3 + 2 / math.log2(3)
    assert gf.evaluate(esci, {"q": ["a", "b", "c"]}, "DCG", grade_words="esci")["DCG"] == expected
    with pytest.raises(gf.errors.InputError, match="--grade-words excellent-fair-bad"):
        gf.evaluate(judgments, short)


def test_a_term_printed_as_3_over_2_is_3() -> None:
    """3/log2(2) is 3; the sum r1 + Σ r_i/log2 i doesn't discount rank 2."""
    assert gf.dcg([0, 3], discount="jarvelin") == 3 / math.log2(2) == 3.0
    assert gf.dcg([3, 3], discount="jarvelin") == gf.cg([3, 3])


def test_nine_threes_followed_by_a_two_are_an_ideal_only_of_nine_threes() -> None:
    nine = [*[3] * 9, 2]
    assert gf.idcg(nine) == pytest.approx(gf.dcg(nine))
    assert gf.idcg(LIST) == pytest.approx(gf.dcg([3, 3, 2, 2, 1, 0]))
    assert gf.dcg(LIST, k=6) / gf.idcg(nine, k=6) < gf.ndcg(LIST, k=6)


def test_25_is_the_cumulated_gain_of_five_5_star_items_not_their_dcg() -> None:
    assert gf.cg([5] * 5) == 25
    assert round(gf.dcg([5] * 5), 3) == 14.742


def test_dcg_of_one_query_says_nothing_about_another() -> None:
    """A perfect list for one relevant document has less than a mediocre list for ten."""
    assert gf.dcg([1, 0, 0, 0]) < gf.dcg([0, 3, 0, 3, 0, 3])
    assert gf.ndcg([1, 0, 0, 0]) > gf.ndcg([0, 3, 0, 3, 0, 3], judged=[3] * 10)


def test_longer_lists_have_higher_potential_dcg() -> None:
    ideals = [gf.idcg([1] * length) for length in range(1, 30)]
    assert ideals == sorted(ideals)
    assert len({*ideals}) == len(ideals)


def test_ndcg_is_comparable_across_queries_only_at_the_top() -> None:
    """By chance, a query with 9 of 10 relevant documents scores 0.96, and one with 1 of 10 scores 0.45."""
    chances = []
    for relevant in (1, 9):
        placements = list(itertools.combinations(range(10), relevant))
        values = [gf.ndcg([int(at in ranks) for at in range(10)]) for ranks in placements]
        chances.append(round(sum(values) / len(values), 2))
    assert chances == [0.45, 0.96]


def test_more_gain_costs_more_time() -> None:
    """A has more gain at every k; B, whose documents take a quarter of the time, has more for eight minutes."""
    articles, answers = [3, 3, 2, 3, 2, 2, 1, 2, 1, 1], [2, 2, 1, 2, 1, 1, 1, 0, 1, 0]
    assert all(gf.cg(articles, k=k) > gf.cg(answers, k=k) for k in range(1, 11))
    ahead = {
        minutes: gf.cg(answers, k=min(10, 2 * minutes)) - gf.cg(articles, k=minutes // 2)
        for minutes in (2, 4, 6, 8, 10)
    }
    assert {minutes: gap > 0 for minutes, gap in ahead.items()} == {
        2: True, 4: True, 6: True, 8: False, 10: False,
    }  # fmt: skip
    assert ahead[8] == 0
