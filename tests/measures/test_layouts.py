"""Pages with rows and columns: their notation, their weights, what explain shows, and what is refused."""

import itertools
import math

import pytest

import gainful as gf
from gainful.measures.layout import layout

JUDGMENTS = {"q": {"a": 1, "b": 3, "c": 2}}
LOG = [1 / math.log2(n + 1) for n in range(1, 9)]


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("grid_nDCG(columns=4)@12", "grid_nDCG@12"),
        ("grid_ndcg(columns=[5,5,10])@20", "grid_nDCG(columns=[5, 5, 10])@20"),
        ("grid_DCG(columns=[3, 3, ...])@6", "grid_DCG(columns=3)@6"),
        ("grid_DCG(columns=[5, 10, 10, ...])@6", "grid_DCG(columns=[5, 10, ...])@6"),
        (
            "grid_DCG(row=power(0.5), column=[1, 0.5, ...])@6",
            "grid_DCG(row=power(0.5), column=[1, 0.5, ...])@6",
        ),
    ],
)
def test_notation(written, printed):
    assert str(gf.measure(written)) == printed
    assert gf.measure(printed) == gf.measure(written)


@pytest.mark.parametrize("columns", [0, 2.5, -1, [], [5, 0], "many", ["..."], None, 10**9])
def test_no_layout(columns):
    with pytest.raises(gf.errors.MeasureError, match="columns: expected a whole number of columns"):
        gf.Measure("grid_DCG", k=4, columns=columns)
    with pytest.raises(gf.errors.MeasureError, match="expected a cutoff"):
        gf.Measure("grid_nDCG")


def test_a_layout_is_a_value():
    assert layout([5, 5, 10]) == layout("[5, 5, 10]") != layout([5, 5, 10, ...])
    assert hash(layout(4)) == hash(layout("[4, ...]"))


def test_a_grid_by_hand():
    """b is in row 1, column 2, and c in row 2, column 1."""
    run = {"q": ["x", "b", "c"]}
    found = gf.evaluate(JUDGMENTS, run, ["grid_DCG(columns=2)@4", "grid_nDCG(columns=2)@4"])
    gain = 3 * LOG[1] + 2 * LOG[1]
    ideal = 3 + 2 * LOG[1] + 1 * LOG[1]  # of the four positions, the last is worth LOG[1] squared
    assert [*found.means.values()] == pytest.approx([gain, gain / ideal])


def test_carousels_by_hand():
    """Rows of one, three and two results; the page ends after six."""
    run = {"q": ["x", "y", "b", "z", "c", "w", "a"]}
    measure = "grid_DCG(columns=[1, 3, 2], row=reciprocal, column=none)@9"
    found = gf.evaluate(JUDGMENTS, run, measure)
    assert found[measure] == pytest.approx(3 * 1 / 2 + 2 * 1 / 3)  # a is below the page
    goes_on = measure.replace("2]", "2, ...]")
    assert gf.evaluate(JUDGMENTS, run, goes_on)[goes_on] == pytest.approx(3 / 2 + 2 / 3 + 1 / 4)


def test_one_column_is_a_list_and_one_row_too():
    run = {"q": ["x", "b", "c", "a"]}
    measures = ["nDCG@4", "grid_nDCG(columns=1)@4", "grid_nDCG(columns=4)@4"]
    expected, *same = gf.evaluate(JUDGMENTS, run, measures).means.values()
    assert same == pytest.approx([expected, expected])


def test_no_page_is_better_than_the_ideal():
    docs = ["a", "b", "c", "x", "y"]
    measure = "grid_nDCG(columns=2, row=power(0.3), column=reciprocal)@5"
    values = [
        gf.evaluate(JUDGMENTS, {"q": list(order)}, measure)[measure]
        for order in itertools.permutations(docs)
    ]
    assert max(values) == 1.0
    assert min(values) > 0
    # The best page isn't in reading order: the second row begins before the first one ends.
    assert gf.evaluate(JUDGMENTS, {"q": ["b", "c", "a", "x", "y"]}, measure)[measure] < 1


def test_explanations_show_rows_and_columns():
    run = {"q": ["x", "b", "c"]}
    worked = gf.explain(JUDGMENTS, run, "grid_nDCG(columns=2)@4", query="q")
    listed, ideal = worked.parts
    assert listed.labels["row, column"] == ("1, 1", "1, 2", "2, 1")
    assert ideal.labels["row, column"] == ("1, 1", "1, 2", "2, 1")
    assert listed.total / ideal.total == pytest.approx(worked.value)
    lines = str(worked).splitlines()
    (heading,) = [line for line in lines if "row, column" in line and "i  " in line][:1]
    assert heading.split("   ")[:3] == ["i", "row, column", "doc"]
    tied = {"q": {"x": 3.0, "b": 2.0, "c": 2.0}}
    worked = gf.explain(
        JUDGMENTS, tied, "grid_DCG(columns=2)@4", query="q", policy={"ties": "average"}
    )
    assert worked.parts[0].labels["row, column"][1:] == ("1, 2 – 2, 1",) * 2


def test_a_table_from_clicks_is_a_discount_of_rows_or_columns():
    found = gf.evaluate(JUDGMENTS, {"q": ["x", "b"]}, "grid_DCG(columns=2, column=[1, 0.25])@2")
    assert found["grid_DCG(columns=2, column=[1, 0.25])@2"] == 3 * 0.25


def test_deep_pages_of_long_rows_take_little_memory():
    measure = "grid_nDCG(columns=[1000000, 1000000, 2, ...])@2000"
    assert gf.evaluate(JUDGMENTS, {"q": ["b", "c", "a"]}, measure)[measure] == pytest.approx(1.0)
