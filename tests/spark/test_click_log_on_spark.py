"""Logs of clicks in Spark data frames are counted by Spark."""

import numpy as np
import pandas as pd
import pytest

import gainful as gf


def table(lists=200):
    rng = np.random.default_rng(0)
    docs = rng.random((lists, 6)).argsort(axis=1)[:, :4]
    return pd.DataFrame({
        "session": np.repeat(np.arange(lists), 4), "query": np.repeat([f"q{place % 3}" for place in range(lists)], 4),
        "sku": [f"d{doc}" for doc in docs.ravel()], "position": np.tile(np.arange(4), lists),
        "clicked": rng.random(lists * 4) < 0.3,
    })  # fmt: skip


@pytest.mark.parametrize("model", ["ctr", "coec", "pbm"])
def test_the_grades_are_those_of_the_same_rows(spark, model):
    rows = table()
    columns = {"doc": "sku"}
    log = gf.behaviour.read_log(spark.createDataFrame(rows), columns=columns)
    assert (log.impressions, log.clicks) == (len(rows), int(rows["clicked"].sum()))
    assert (log.has_lists, log.first_position) == (False, 0)
    same = gf.behaviour.read_log(rows, columns=columns)
    grades = [gf.behaviour.click_judgments(each, model, rounds=500) for each in (log, same)]
    assert grades[0].docs.tolist() == grades[1].docs.tolist()
    assert grades[0].grades == pytest.approx(grades[1].grades)


def test_other_frames_are_explained(spark):
    frame = spark.createDataFrame(table().drop(columns="clicked"))
    with pytest.raises(
        gf.errors.InputError, match="a Spark data frame with a row per shown document"
    ):
        gf.behaviour.read_log(frame, columns={"doc": "sku"})
