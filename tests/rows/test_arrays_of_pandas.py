"""`evaluate_arrays` of columns of pandas beside an index, a categorical or another array of pandas."""

import pandas as pd
import pytest

import gainful as gf

QUERIES = [*"aabb"]
FRAME = pd.DataFrame({"y": [1, 0, 2, 0], "p": [0.5, 0.6, 3, 2.0]}, index=QUERIES)
EXPECTED = gf.evaluate_arrays(labels=[1, 0, 2, 0], scores=[0.5, 0.6, 3, 2.0], query=QUERIES)


@pytest.mark.parametrize(
    "changed",
    [
        {"query": FRAME.index},
        {"query": pd.Categorical(QUERIES)},
        {"query": pd.array([1, 1, 2, 2], dtype="Int64")},
        {"query": pd.array(QUERIES, dtype="string")},
        {"query": FRAME.index, "scores": FRAME.p.array},
        {"query": FRAME.index, "labels": pd.Categorical([1, 0, 2, 0])},
        {"query": FRAME.index, "labels": pd.array([1, 0, 2, 0], dtype="Int64")},
    ],
)
def test_what_has_no_index_of_its_own_stands_beside_columns(changed):
    given = {"labels": FRAME.y, "scores": FRAME.p} | changed
    assert gf.evaluate_arrays(**given)["nDCG@10"] == EXPECTED["nDCG@10"]


def test_another_order_is_told_where_one_without_an_index_stands_between():
    query = pd.Series(QUERIES, index=[3, 2, 1, 0])
    labels = FRAME.y.reset_index(drop=True)
    with pytest.warns(gf.errors.GainfulWarning, match="labels, query: they have the same index"):
        gf.evaluate_arrays(labels=labels, scores=FRAME.p.array, query=query)
