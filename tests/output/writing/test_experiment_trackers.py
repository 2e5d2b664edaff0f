"""Results that are logged: what every tracker gets; `tests/hosts/` has the trackers themselves."""

import sys
import types

import pytest

import gainful as gf
from gainful.output.writing.experiment_trackers import flat_names

JUDGMENTS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2, "b": 1}, "q2": {"d": 1}}
SCORES = gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "P@5"])
COVERED = {
    "coverage/judged": 2.0, "coverage/evaluated": 2.0, "coverage/missing": 0.0,
    "coverage/empty": 0.0, "coverage/extra": 0.0, "coverage/retrieved": 3.0, "coverage/depth": 10.0,
    "coverage/seen": 3.0, "coverage/unjudged": 1.0, "coverage/unjudged_share": 1 / 3,
    "coverage/tied": 0.0, "coverage/tied_queries": 0.0,
}  # fmt: skip


def numbers_of(result, **options):
    seen = []
    assert result.log(seen.append, **options) is None
    (numbers,) = seen
    return numbers


def test_a_function_gets_flat_names():
    means = {"nDCG_at_10": SCORES["nDCG@10"], "P_at_5": SCORES["P@5"]}
    assert numbers_of(SCORES) == {**means, **COVERED}


def test_runs_and_comparisons_have_their_names():
    runs = {"a b": RUN, "a_b": RUN}
    found = numbers_of(gf.evaluate_runs(JUDGMENTS, runs))
    assert found["a_b/nDCG_at_10"] == found["a_b_2/nDCG_at_10"] == SCORES["nDCG@10"]
    compared = numbers_of(gf.compare(JUDGMENTS, runs, baseline="a b"))
    assert compared["a_b_2_vs_a_b/nDCG_at_10/difference"] == 0
    assert all(isinstance(each, float) for each in compared.values())


@pytest.mark.parametrize(
    ("name", "flat"),
    [
        ("nDCG(gain=exp2,discount=zipf)@10", "nDCG_gain_exp2_discount_zipf_at_10"),
        ("RBP(p=0.8)", "RBP_p_0.8"),
        ("../runs/x.run", "runs_x.run"),
        ("", "unnamed"),
        ("größe", "größe"),
    ],
)
def test_flat_names(name, flat):
    assert gf.writing.flat_name(name) == flat


def test_long_names_stay_apart():
    one, other = flat_names(["x" * 100 + "a", "x" * 100 + "b"])
    assert one != other
    assert len(one) == len(other) == 80


class Kept:
    """A table or a page, as W&B makes them."""

    def __init__(self, *given, **named):
        self.given, self.named = given, named


def wandb_like():
    """A module with W&B's functions, and a run of a class of it."""
    package = types.ModuleType("wandb_like")
    package.seen = []
    package.Table = package.Html = Kept
    package.log = lambda held, step=None: package.seen.append((held, step))
    kind = type("Run", (), {"log": lambda self, held, step=None: package.log(held, step=step)})
    kind.__module__ = "wandb_like.sdk"
    return package, kind()


@pytest.mark.parametrize("which", [0, 1])
def test_wandb_gets_all_in_one_step(which, monkeypatch):
    package, run = wandb_like()
    monkeypatch.setitem(sys.modules, "wandb_like", package)
    SCORES.log((package, run)[which], step=7)
    ((held, step),) = package.seen
    assert step == 7
    assert held["nDCG_at_10"] == SCORES["nDCG@10"]
    table = held["gainful/per_query"].named
    assert table["columns"] == ["query", "nDCG@10", "P@5"]
    assert table["data"] == [[*row.values()] for row in SCORES.per_query]
    assert held["gainful/table"].given[0] == SCORES.rendered("html")
    SCORES.log(package, per_query=False)
    assert "gainful/per_query" not in package.seen[-1][0]


def test_tables_of_mlflow_have_the_step_that_they_are_of():
    seen = {}
    mlflow = types.SimpleNamespace(
        log_metrics=lambda numbers, step: None,
        log_text=lambda text, file: None,
        log_table=lambda data, artifact_file: seen.update({artifact_file: data}),
    )
    SCORES.log(mlflow)
    assert [*seen["gainful/per_query.json"]] == ["query", "nDCG@10", "P@5"]
    SCORES.log(mlflow, step=7)
    assert seen["gainful/per_query.json"]["step"] == [7, 7]
    assert next(iter(seen["gainful/per_query.json"])) == "step"
    assert {*seen["gainful/scores.json"]["step"]} == {7}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tracker": None}, "tracker: expected mlflow, wandb, or a function of a dict, found None"),
        ({"tracker": dict}, "tracker: expected"),
        ({"step": -1}, "step: expected a whole number from 0"),
        ({"step": 1}, "step: expected None if the tracker is a function"),
        ({"folder": "a/b"}, "folder: expected letters"),
        ({"per_query": 1}, "per_query"),
        ({"report": SCORES}, "report: expected what report returns"),
    ],
)
def test_what_cannot_be_logged_is_said(options, message):
    with pytest.raises(gf.errors.InputError, match=message):
        SCORES.log(options.pop("tracker", lambda numbers: None), **options)
