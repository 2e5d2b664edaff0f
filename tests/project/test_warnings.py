"""Where warnings point: at the line of the caller, however deep in gainful they arise."""

import warnings

import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
RUN = {"q1": {"a": 2.0, "b": 2.0}, "q2": {"a": 1.0}}
OTHER = {"q1": {"x": 1.0}, "q2": {"y": 1.0}}


@pytest.mark.parametrize(
    "call",
    [
        lambda _: gf.evaluate(JUDGMENTS, OTHER),
        lambda _: gf.compare(JUDGMENTS, {"run": RUN, "other": OTHER}),
        lambda _: gf.evaluate(JUDGMENTS, RUN, "nDCG@1", tie_warning=0.01),
        lambda folder: gf.write_run({**RUN, "q3": {}}, folder / "run.tsv"),
        lambda _: gf.assert_not_worse(
            JUDGMENTS, RUN, {"q1": RUN["q1"]}, policy=gf.Policy(missing="skip")
        ),
    ],
    ids=["evaluate", "compare", "ties", "write", "assert"],
)
def test_they_point_at_the_caller(call, tmp_path):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call(tmp_path)
    assert {each.category for each in seen} == {gf.errors.GainfulWarning}
    assert {each.filename for each in seen} == {__file__}
