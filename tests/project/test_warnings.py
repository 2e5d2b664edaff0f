"""Where warnings point: at the line of the caller, however deep in gainful they arise."""

import warnings
from concurrent.futures import ThreadPoolExecutor

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


# Each reads judgments of clicks and purchases without grades, or lists in which a document stands again.
CALLS = (
    "gf.evaluate(EVENTS, RUN)",
    "gf.evaluate(EVENTS, FRAME, chunks='#')",
    "gf.evaluate_runs(EVENTS, RUNS)",
    "gf.compare(EVENTS, RUNS)",
    "gf.leaderboard(EVENTS, RUNS)",
    "gf.report(EVENTS, RUNS)",
    "gf.explain(EVENTS, RUN, query='q1')",
    "gf.explanation.attribute(EVENTS, RUN, FRAME, query='q1')",
    "gf.curve(EVENTS, RUN)",
    "gf.explanation.which(EVENTS, RUN, got=0.5)",
    "gf.why(EVENTS, RUN, dialects=['trec_eval', 'scikit-learn'])",
    "gf.bounds(EVENTS, RUN, grades=(0, 1))",
    "gf.judging.bounds_of_runs(EVENTS, RUNS, grades=(0, 1))",
    "gf.pool(RUNS, judgments=EVENTS)",
    "gf.judging.next_to_judge(EVENTS, RUNS, budget=1)",
    "gf.judging.pool_bias(EVENTS, RUNS)",
    "gf.assert_not_worse(EVENTS, RUN, FRAME)",
    "gf.fuse({'a': REPEATED, 'b': RUN})",
    "gf.fusion.tune(EVENTS, RUNS)",
    "gf.write_judgments(EVENTS, FOLDER / 'judgments.tsv')",
    "gf.write_run(REPEATED, FOLDER / 'run.tsv')",
    "gf.judging.sample_queries(EVENTS, 1)",
    "gf.recommending.evaluate_recommendations(RUN, 'Personalisation@1', judgments=EVENTS)",
    "[*map(lambda run: gf.evaluate(EVENTS, run), [RUN])]",
    "functools.reduce(lambda _, run: gf.evaluate(EVENTS, run), [RUN], None)",
)
BEFORE = """
import functools
import pandas as pd
import gainful as gf
EVENTS = pd.DataFrame(
    {"query": ["q1", "q1", "q2"], "doc": ["a", "b", "a"], "event": ["click", "purchase", "click"]}
)
RUN = {"q1": {"a": 0.5, "b": 0.25, "c": 0.125}, "q2": {"a": 1.5, "b": 0.75}}
REPEATED = {"q1": ["a", "b", "a"], "q2": ["a"]}
FRAME = pd.DataFrame(
    {"query": ["q1", "q1", "q2"], "doc": ["a", "b", "a"], "score": [0.5, 0.25, 1.5]}
)
RUNS = {"a": RUN, "b": FRAME}
"""


def warned(call, folder):
    """Run a script that makes a call, and return its path and what it warns of."""
    script = folder / "script.py"
    script.write_text(f"{BEFORE}{call}\n")
    names = {"__name__": "script", "FOLDER": folder}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        exec(compile(script.read_text(), str(script), "exec"), names)  # noqa: S102 - the line above
    return script, [each for each in seen if each.category is gf.errors.GainfulWarning]


@pytest.mark.parametrize("call", CALLS)
def test_they_point_at_the_line_of_a_script(call, tmp_path):
    script, seen = warned(call, tmp_path)
    assert seen
    places = {(each.filename, each.lineno) for each in seen}
    assert places == {(str(script), BEFORE.count("\n") + 1)}


def test_a_warning_of_judgments_is_the_same_of_one_run_and_of_several(tmp_path):
    said = {
        call: [str(each.message) for each in warned(call, tmp_path)[1]]
        for call in (
            "gf.evaluate(EVENTS, RUN)",
            "gf.compare(EVENTS, RUNS)",
            "gf.report(EVENTS, RUNS)",
        )
    }
    assert len({*map(tuple, said.values())}) == 1
    (told,) = said["gf.compare(EVENTS, RUNS)"]
    assert told.startswith("judgments: each row counts as grade 1")


def test_a_thread_has_no_line_of_the_caller():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(gf.evaluate, JUDGMENTS, OTHER).result()
    assert [str(each.message).partition(":")[0] for each in seen] == ["document ids"]
