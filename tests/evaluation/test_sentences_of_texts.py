"""Numbers that texts about DCG print, one test for each."""

import subprocess
import sys

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
