"""Tables of gains: those that list every grade, and those with an else for grades that they lack."""

import math

import numpy as np
import pytest

import gainful as gf
from gainful import losses, metrics

JUDGMENTS = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}}
RUN = {"q1": {"d": 9, "b": 8, "x": 7, "a": 6, "c": 5}}
GAIN = {2: 5, "else": "linear"}
DCG = 5 / math.log2(3) + 3 / math.log2(5)  # grades 0, 2, 0, 3 have gains 0, 5, 0, 3


def test_a_grade_that_the_table_lacks_is_its_own_gain():
    ideal = 5 + 3 / math.log2(3) + 1 / 2
    for text in ("nDCG(gain={2: 5, else: linear})@4", "nDCG(gains={2:5})@4"):
        assert gf.evaluate(JUDGMENTS, RUN, text)[text] == pytest.approx(DCG / ideal)
    measure = gf.Measure("nDCG", k=4, gain=GAIN)
    assert gf.evaluate(JUDGMENTS, RUN, measure)[measure] == pytest.approx(DCG / ideal)
    assert gf.dcg([0, 2, 0, 3], gain=GAIN) == pytest.approx(DCG)
    assert gf.dcg([-1.5, 2], gain=GAIN) == pytest.approx(-1.5 + 5 / math.log2(3))


def test_tensors_have_the_same_gains():
    import torch

    labels, scores = np.array([[0.0, 2, 0, 3]]), np.array([[4.0, 3, 2, 1]])
    assert float(metrics.dcg(scores, labels, gain=GAIN)[0]) == pytest.approx(DCG)
    given = torch.tensor(scores), torch.tensor(labels)
    assert float(metrics.dcg(*given, gain=GAIN)[0]) == pytest.approx(DCG)
    worth = torch.tensor([[0.0, 5, 0, 3]], dtype=torch.float64)
    expected = losses.approx_ndcg(given[0], worth, gain="linear")
    assert float(losses.approx_ndcg(*given, gain=GAIN)) == pytest.approx(float(expected))


@pytest.mark.parametrize(
    ("table", "written"),
    [
        ({2: 3, 1: 1, "else": "linear"}, "{2: 3, else: linear}"),
        ("{else: linear, 2: 3}", "{2: 3, else: linear}"),
        ({0: 1, "else": "linear"}, "{0: 1, else: linear}"),
        ({1: 1, "else": "linear"}, "linear"),
        ({"else": "linear"}, "linear"),
        ({1: 1, 2: 3}, "{1: 1, 2: 3}"),
    ],
)
def test_grades_that_are_their_own_gain_are_not_written(table, written):
    measure = gf.Measure("DCG", gain=table)
    assert str(measure.parameters["gain"]) == written
    assert gf.measure(str(measure)) == measure


def test_tables_without_an_else_still_refuse_other_grades():
    with pytest.raises(gf.errors.InputError, match="Add it to the table, or 'else: linear'"):
        gf.evaluate(JUDGMENTS, RUN, "nDCG(gain={2: 5})")
    for wrong in ("{2: 5, else: exp2}", "{2: 5, else: linear, else: linear}", "{else: 3}"):
        with pytest.raises(gf.errors.MeasureError, match="else: linear, once"):
            gf.measure(f"nDCG(gain={wrong})")
    with pytest.raises(gf.errors.MeasureError, match="grade 2 twice"):
        gf.measure("nDCG(gain={2: 5, 2.0: 5, else: linear})")


def test_a_worked_table_names_the_gains():
    told = str(gf.explain(JUDGMENTS, RUN, "nDCG(gain={2: 5, else: linear})@4", query="q1"))
    assert "gain {2: 5, else: linear}" in told


def test_the_command_line_takes_such_a_table(cli, files):
    judgments = files("j.qrels", "q1 0 a 3\nq1 0 b 2\n")
    run = files("one.run", "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    found = cli(
        "evaluate", judgments, run, "-m", "DCG(gain={2: 5, else: linear})", "--format", "csv"
    )
    assert f"one,{5 + 3 / math.log2(3)!r}" in found.stdout
