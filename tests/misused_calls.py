"""Every public call with a valid form of it, and the values that spoil one parameter at a time."""

import copy
import functools
import inspect
import itertools
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import gainful as gf

JUDGMENTS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "d": 2}, "q3": {"e": 1}}
PEOPLE = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 0, "d": 2}}
RUN = {"q1": {"a": 3.0, "x": 2.0, "c": 1.0}, "q2": {"d": 2.0, "y": 1.0}, "q3": {"z": 2.0, "e": 1.0}}
OTHER = {"q1": {"x": 3.0, "a": 1.0}, "q2": {"a": 2.0, "d": 1.0}, "q3": {"e": 2.0}}
RUNS = {"one": RUN, "two": OTHER}
SUBTOPICS = {"q1": {"t1": {"a": 1}, "t2": {"c": 1}}, "q2": {"t1": {"d": 1}}}
RATINGS = [
    {"user": user, "item": item, "time": time}
    for user, item, time in (("u", "a", 1), ("u", "b", 3), ("v", "a", 2))
]
ITEMS = {"a": ["k1", "k2"], "b": "k1", "c": "k2", "d": "k1", "e": "k2", "x": "k1", "y": "k1"}
VECTORS = {"a": [1.0, 0.0], "c": [0.5, 1.0], "d": [0.0, 2.0], "x": [1.0, 1.0]}
HISTORY = {"q1": {"a": 2, "e": 1}, "q2": {"a": 1, "b": 3}, "q4": {"c": 1}}
SAMPLES = {"q1": {"a": (2, 1.0), "b": (0, 0.5)}, "q2": {"d": (1, 1.0)}}


RETURNED = gf.measures.define("Returned")(lambda lists: lists.retrieved)
LONGEST_MESSAGE = 4000


class Untold:
    """Something that cannot even be written down, compared or asked for its truth."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __str__(self):
        raise RuntimeError("no str")

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __bool__(self):
        raise RuntimeError("no truth")

    __hash__ = object.__hash__


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


def a_function(*_, **__):
    return 1.0


def a_search(query):
    """Find two documents for every query."""
    return ["a", "b"]


# A program that answers conformance cases, each with a skip.
SKIPPING = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "skip": "all"}))
"""


def a_model(prompt):
    return "1"


def a_tensor(values):
    import torch  # here because others take from this file what needs none of it

    return torch.tensor(values)


# Made anew for each call: what is read once must not be empty the second time.
WRONG: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "[]": list,
    "{}": dict,
    "()": tuple,
    "''": str,
    "'x'": lambda: "x",
    "b''": bytes,
    "b'x'": lambda: b"x",
    "0": lambda: 0,
    "1": lambda: 1,
    "-1": lambda: -1,
    "2.5": lambda: 2.5,
    "10**9": lambda: 10**9,
    "10**20": lambda: 10**20,
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "-10**5000": lambda: -(10**5000),
    "1e308": lambda: 1e308,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "complex": lambda: 1j,
    "True": lambda: True,
    "False": lambda: False,
    "object": object,
    "untold": Untold,
    "set": lambda: {1, 2},
    "generator": lambda: (number for number in (1, 2)),
    "nested": lambda: [[1], [2, [3]]],
    "deep": lambda: nested(3000),
    "[None]": lambda: [None],
    "['x']": lambda: ["x"],
    "[10**5000]": lambda: [10**5000],
    "{'x': 1}": lambda: {"x": 1},
    "{'x': {'y': None}}": lambda: {"x": {"y": None}},
    "{1: {2: 3}}": lambda: {1: {2: 3}},
    "frame": lambda: pd.DataFrame({"query": ["q1", "q2"], "doc": ["a", "b"]}),
    "empty frame": pd.DataFrame,
    "polars frame": lambda: pl.DataFrame({"query": ["q1", "q2"], "doc": [1, 2]}),
    "series": lambda: pd.Series([1, 2]),
    "arrow table": lambda: pa.table({"query": ["q1"]}),
    "array": lambda: np.array([1.0, 2.0]),
    "empty array": lambda: np.array([]),
    "array of texts": lambda: np.array(["a", "b"]),
    "array of objects": lambda: np.array([None, {}], object),
    "array of lists": lambda: np.zeros((2, 2, 2)),
    "single array": lambda: np.array(1.0),
    "numpy nan": lambda: np.float64("nan"),
    "numpy text": lambda: np.str_("x"),
    "numpy date": lambda: np.datetime64("2020-01-01"),
    "tensor": lambda: a_tensor([1.0, 2.0]),
    "surrogate": lambda: "\ud800",
    "NUL": lambda: "a\0b",
    "line end": lambda: "a\nb",
    "escape": lambda: "\x1b[31m",
    "long text": lambda: "x" * 100_000,
    "class": lambda: int,
    "function": lambda: a_function,
    "Decimal": lambda: Decimal("0.5"),
    "Decimal NaN": lambda: Decimal("NaN"),
    "Fraction": lambda: Fraction(1, 2),
    "date": lambda: datetime(2020, 1, 1),
    "path": lambda: Path("nowhere"),
    "range": lambda: range(3),
    "Policy": gf.Policy,
    "Ellipsis": lambda: ...,
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A valid call: what is called, and its arguments by name."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]

    def __call__(self, **changed: Any) -> Any:
        given = {**self.arguments, **changed}
        taken = inspect.signature(self.function).parameters.values()
        places = [one.name for one in taken if one.kind is inspect.Parameter.VAR_POSITIONAL]
        by_place = [given.pop(name) for name in places if name in given]
        return self.function(*by_place, **given)


def parameters_of(call: Call) -> list[str]:
    """Return the names of all that a call takes, those of `**options` as the table names them."""
    taken = inspect.signature(call.function).parameters.values()
    named = [one.name for one in taken if one.kind is not inspect.Parameter.VAR_KEYWORD]
    return [*named, *(name for name in call.arguments if name not in named)]


# What `**look` and the like stand for.
LOOK = {"width": 300, "theme": "light"}
SIZED = {**LOOK, "height": 200}
COMMON = {
    "k": 2, "gain": "exp2", "discount": "log", "base": 2, "normalized": True,
    "reduction": "mean", "weight": None, "offsets": None,
}  # fmt: skip
TESTED = {
    "baseline": "one", "pairs": "baseline", "test": "t", "correction": "holm", "interval": "t",
    "level": 0.9, "margin": 0.1, "resamples": 50, "seed": 1, "slices": None, "by": (),
}  # fmt: skip


def studies() -> dict[str, Call]:
    """Return calls of a study of the desk."""
    made = {
        "runs": RUNS, "queries": {"q1": "x", "q2": "y", "q3": "z"}, "docs": dict.fromkeys("abcdexyz", "a text"),
        "judgments": JUDGMENTS, "scale": "0..3", "depth": 2, "order": "effect", "measure": "nDCG@2", "seed": 1,
        "overlap": 2, "overlap_share": 0.5, "compare": ("one", "two"), "show_ranks": True, "tags": ("t", "u"),
        "title": "a study", "guideline": "how to judge", "lease": 60,
    }  # fmt: skip
    if not Path("study.db").exists():
        gf.judging.Study.create("study.db", **made).close()
    study = gf.judging.Study("study.db")
    study.invite("ann"), study.invite("lea", "lead"), study.invite("zoe")
    ann, lea = study.assessor("ann"), study.lead("lea")
    item = ann.next(2)[1].item
    act = {"item": item, "key": "k"}
    more = {"milliseconds": 3, "position": 1, "note": "a note", "guideline": 1}
    return {
        "Study": Call(gf.judging.Study, {"address": "study.db", "lease": 60}),
        "Study.create": Call(gf.judging.Study.create, {"address": ":memory:", **made}),
        "Assessor.next": Call(ann.next, {"count": 2, "lease": 60}),
        "Study.invite": Call(study.invite, {"name": "bob", "role": "lead"}),
        "Study.assessor": Call(study.assessor, {"name": "ann"}),
        "Study.lead": Call(study.lead, {"name": "lea"}),
        "Assessor.grade": Call(ann.grade, {**act, "grade": 1, "key": "g", "tags": ["t"], **more}),
        "Assessor.cannot": Call(ann.cannot, {**act, "why": "query", "key": "c", "tags": ["t"], **more}),
        "Assessor.later": Call(ann.later, {**act, "key": "l", **more}),
        "Assessor.note": Call(ann.note, {**act, "note": "a note", "key": "n", "guideline": 1}),
        "Assessor.undo": Call(ann.undo, {"key": "u", "event": None, "of": None, "item": None, "guideline": 1}),
        "Study.set": Call(
            study.set,
            {"title": "t", "order": "rank", "measure": "P@2", "overlap": 2, "overlap_share": 0.5, "compare": ("one", "two"), "show_ranks": True, "tags": ("t", "u"), "guideline": "strictly", "words": {1: "w"}, "keys": {1: "w"}},
        ),
        "Lead.stale": Call(lea.stale, {"assessor": "ann", "query": "q1", "before_guideline": 1}),
        "Study.judgments": Call(study.judgments, {"rule": "median"}),
        "Study.export": Call(study.export, {"path": "grades.csv", "format": "csv", "by": "assessor", "rule": "mean"}),
        "Study.import_grades": Call(study.import_grades, {"judgments": JUDGMENTS, "assessor": "m", "role": "model", "replace": True}),
        "Study.standing": Call(study.standing, {"measures": ["P@2"], "baseline": "two", "rule": "max"}),
        "Study.disputed": Call(study.disputed, {"rule": "mean", "names": "hidden"}),
        "Lead.adjudicate": Call(lea.adjudicate, {"item": item, "grade": 2, "key": "a", "note": "n", "guideline": 1}),
        "Lead.unsettle": Call(lea.unsettle, {"item": item, "key": "un", "guideline": 1}),
        "Lead.reset": Call(lea.reset, {"key": "r", "assessor": "ann", "query": "q1", "before_guideline": 1}),
        "Study.practice": Call(
            study.practice,
            {"answers": {"q1": {"a": 1}}, "queries": {"q1": "x"}, "docs": {"a": "t"}, "feedback": {"q1": {"a": "so"}}},
        ),
        "Study.revoke": Call(study.revoke, {"name": "zoe"}),
    }  # fmt: skip


def functions() -> Iterator[tuple[str, Call]]:
    """Yield the public functions and constructors, with a valid call of each."""
    one, two = (RUNS[name] for name in ("one", "two"))
    scores = gf.evaluate(JUDGMENTS, one, ["nDCG@10", "AP"])
    Path("baseline.json").unlink(missing_ok=True)
    gf.comparison.save_baseline(scores, "baseline.json")
    Path("map.tsv").write_text("chunk\tdoc\na1\ta\n")
    yield from {
        "assert_not_worse": Call(
            gf.assert_not_worse,
            {
                "judgments": JUDGMENTS, "base": one, "run": one, "measures": ["P@2"],
                "tolerance": 0.5, **{name: TESTED[name] for name in ("test", "interval", "seed")},
            },
        ),
        "attribute": Call(
            gf.explanation.attribute, {"judgments": JUDGMENTS, "base": one, "run": two, "query": "q1"}
        ),
        "bounds": Call(
            gf.bounds, {"judgments": JUDGMENTS, "run": one, "measures": ["nDCG@2"], "grades": (0, 2)}
        ),
        "bounds_of_runs": Call(
            gf.judging.bounds_of_runs, {"judgments": JUDGMENTS, "runs": RUNS, "grades": [0, 1, 2]}
        ),
        "click_judgments": Call(
            gf.behaviour.click_judgments,
            {
                "log": CLICK_LOG, "model": "pbm", "thresholds": (0.2, 0.5), "level": 0.9, "rounds": 200, **OF_LOGS,
            },
        ),
        "click_models": Call(
            gf.behaviour.click_models,
            {"log": CLICK_LOG, "models": ["ctr"], "rounds": 3, "seed": 1, **OF_LOGS},
        ),
        "interleave": Call(
            gf.behaviour.interleave,
            {"rankings": {"A": ["a", "b"], "B": ["b", "a"]}, "method": "balanced", "depth": 2, "seed": 1, "query": "q"},
        ),
        "interleave_runs": Call(
            gf.behaviour.interleave_runs,
            {"runs": RUNS, "method": "balanced", "depth": 2, "seed": 1},
        ),
        "interleaving_verdict": Call(
            gf.behaviour.interleaving_verdict,
            {"log": CLICK_LOG, "runs": None, "method": "team_draft", "baseline": "A", "level": 0.9, **OF_LOGS},
        ),
        "position_bias": Call(
            gf.behaviour.position_bias,
            {
                "log": CLICK_LOG, "method": "swaps", "depth": 2, "level": 0.9, "resamples": 3, "seed": 1, **OF_LOGS,
            },
        ),
        "read_log": Call(gf.behaviour.read_log, {"log": CLICK_LOG, **OF_LOGS}),
        "would_earn": Call(
            gf.behaviour.would_earn,
            {
                "log": CLICK_LOG, "run": {"q1": ["b", "a"]}, "cutoff": 2, "method": "clipped",
                "propensities": "examination", "examination": [1.0, 0.5], "clip": 0.1, "popularity": 1.0, "level": 0.9,
                **OF_LOGS,
            },
        ),
        "families": Call(gf.measures.families, {}),
        "check_measure": Call(gf.measures.check_measure, {"measure": "AP", "lists": 3, "seed": 1}),
        "define": Call(
            gf.measures.define,
            {"name": "Hit", "cutoff": True, "range": (0, 1), "per_query": True, "ties": False, "needs_run": True, "better": "higher"},
        ),
        "use": Call(lambda definitions: gf.measures.use(definitions), {"definitions": RETURNED}),
        "cg": Call(gf.cg, {"grades": [3, 2, 0]}),
        "check": Call(gf.check, {"judgments": JUDGMENTS, "runs": RUNS, "scale": (0, 3), "chunks": "#"}),
        "agreement": Call(
            gf.judging.agreement,
            {"grades": [JUDGMENTS, JUDGMENTS], "names": ["x", "y"], "resamples": 9, "runs": RUNS, "measures": ["nDCG@2"], "rule": "median", "baseline": "two", "pairs": "all", "correction": "none"},
        ),
        "calibrate": Call(
            gf.judging.calibrate,
            {"human": PEOPLE, "model": JUDGMENTS, "runs": RUNS, "measures": ["nDCG@2"], "drawn": "random", "width": 0.5},
        ),
        "sample_queries": Call(
            gf.judging.sample_queries,
            {"source": [*"abcdefgh"], "size": 4, "strata": {each: each in "abcd" for each in "abcdefgh"}, "seed": 1},
        ),
        "sample_documents": Call(gf.judging.sample_documents, {"runs": RUNS, "size": 6, "depth": 2, "model": JUDGMENTS}),
        "merge_judgments": Call(
            gf.judging.merge_judgments,
            {"grades": [JUDGMENTS, JUDGMENTS], "rule": "median", "names": ["x", "y"], "weights": {"x": 2}, "ties": "first", "first": "y"},
        ),
        "choices": Call(gf.measures.choices, {}),
        "collect_grades": Call(
            gf.judging.collect_grades,
            {
                "pairs": {"q1": ["a"]}, "model": a_model, "queries": {"q1": "a question"},
                "docs": {"a": ("a title", "a text")}, "grades": {0: "off", 1: "on"},
            },
        ),
        "collect_evidence": Call(
            gf.judging.collect_evidence,
            {"pairs": {"q1": ["a"]}, "model": a_model, "queries": {"q1": "a question"}, "docs": {"a": "a text"}},
        ),
        "collect_nuggets": Call(
            gf.judging.collect_nuggets,
            {"pairs": {"q1": ["a"]}, "model": a_model, "queries": {"q1": "a question"}, "docs": {"a": ("a title", "a text")}},
        ),
        "collect_support": Call(
            gf.judging.collect_support,
            {
                "pairs": {"q1": ["a"]}, "model": a_model, "nuggets": {"q1": {"a fact": "vital"}},
                "queries": {"q1": "a question"}, "docs": {"a": ("a title", "a text")},
            },
        ),
        "record": Call(
            gf.record,
            {"queries": {"q1": "a question"}, "search": a_search, "depth": 5, "tag": "mine", "failed": "leave-out", "retries": 0},
        ),
        "compare": Call(
            gf.compare, {"judgments": JUDGMENTS, "runs": RUNS, "measures": ["nDCG@2"], **TESTED}
        ),
        "compare_scores": Call(
            gf.comparison.compare_scores,
            {"tables": {"one": {"q1": 0.5, "q2": 0.25}, "two": {"q1": 1.0, "q2": 0.5}}, **TESTED},
        ),
        "column_names": Call(gf.inputs.column_names, {}),
        "comparison_choices": Call(gf.comparison.comparison_choices, {}),
        "movers": Call(
            gf.comparison.movers,
            {"comparison": gf.compare(JUDGMENTS, RUNS, resamples=50), "judgments": JUDGMENTS, "runs": RUNS},
        ),
        "leaderboard": Call(
            gf.leaderboard,
            {"judgments": JUDGMENTS, "runs": RUNS, "measure": "nDCG@2", "resamples": 50},
        ),
        "leaderboard_of_scores": Call(
            gf.comparison.leaderboard_of_scores,
            {"scores": {"one": {"q1": 0.5, "q2": 0.25}, "two": {"q1": 1.0, "q2": 0.5}}, "resamples": 50},
        ),
        "curve": Call(gf.curve, {"judgments": JUDGMENTS, "run": one, "upto": 3}),
        "dcg": Call(gf.dcg, {"grades": [[3, 2, 0], [1, 0, 0]]}),
        "dialect": Call(gf.measures.dialect, {"name": "trec_eval"}),
        "dialects": Call(gf.measures.dialects, {}),
        "endings": Call(gf.writing.endings, {}),
        "evaluate": Call(
            gf.evaluate, {"judgments": JUDGMENTS, "run": one, "measures": ["nDCG@2", "AP"]}
        ),
        "evaluate_arrays": Call(
            gf.evaluate_arrays,
            {"labels": [1, 0, 2], "scores": [3.0, 2.0, 1.0], "query": ["q", "q", "r"]},
        ),
        "evaluate_runs": Call(gf.evaluate_runs, {"judgments": JUDGMENTS, "runs": RUNS}),
        "evaluate_subtopics": Call(
            gf.subtopics.evaluate_subtopics,
            {
                "judgments": SUBTOPICS, "run": one, "measures": ["alpha_nDCG@5"],
                "weights": {"q1": {"t1": 0.5, "t2": 0.5}, "q2": {"t1": 1.0}},
            },
        ),
        "split": Call(
            gf.recommending.split,
            {"ratings": RATINGS, "method": "time", "at": 2, "core": 1, "columns": {"query": "user"}},
        ),
        "debias": Call(
            gf.recommending.debias,
            {"judgments": JUDGMENTS, "runs": RUNS, "measures": ["R@2"], "history": RUN, "gamma": 1, "clip": 0.1},
        ),
        "estimate_gamma": Call(
            gf.recommending.estimate_gamma, {"history": {**RUN, "q4": {"a": 1}}, "exposures": RUN, "level": 0.9}
        ),
        "correct_sampled": Call(
            gf.recommending.correct_sampled,
            {"ranks": [1, 2, 4], "measure": "R@2", "items": 9, "sampled": 3, "trade": 0.5},
        ),
        "evaluate_recommendations": Call(
            gf.recommending.evaluate_recommendations,
            {
                "run": one, "measures": ["Gini@2", "ILD(by=vectors)@2", "HitRate@2", "Serendipity@2"], "items": ITEMS,
                "vectors": VECTORS, "history": HISTORY, "judgments": JUDGMENTS, "expected": two,
                "separator": "|",
            },
        ),
        "evaluate_recommendation_runs": Call(
            gf.recommending.evaluate_recommendation_runs,
            {
                "runs": RUNS, "items": ITEMS, "vectors": VECTORS, "history": HISTORY,
                "judgments": JUDGMENTS, "separator": "|",
            },
        ),
        "recommendation_catalogue": Call(gf.recommending.recommendation_catalogue, {}),
        "recommendation_family": Call(gf.recommending.recommendation_family, {"name": "ILD"}),
        "explain": Call(gf.explain, {"judgments": JUDGMENTS, "run": one, "query": "q1"}),
        "explain_grades": Call(gf.explanation.explain_grades, {"grades": [3, 2, 0], "judged": [3, 2, 1, 0]}),
        "family": Call(gf.measures.family, {"name": "nDCG"}),
        "find_runs": Call(gf.inputs.find_runs, {"runs": ["one.run", "two.run"], "judgments": JUDGMENTS}),
        "formats": Call(gf.writing.formats, {}),
        "inferred_ap": Call(gf.judging.inferred_ap, {"samples": SAMPLES, "run": one}),
        "inferred_ndcg": Call(gf.judging.inferred_ndcg, {"samples": SAMPLES, "run": one}),
        "combine_e_values": Call(gf.statistics.combine_e_values, {"e_values": [0.5, 3.0], "same_queries": False}),
        "betting_capital": Call(gf.statistics.betting_capital, {"values": [0.1, 0.3], "mean": 0.0}),
        "betting_ends": Call(gf.statistics.betting_ends, {"values": [0.1, 0.3], "level": 0.95}),
        "kendall_tau": Call(gf.statistics.kendall_tau, {"first": ["a", "b", "c"], "second": {"a": 1, "b": 2, "c": 3}}),
        "losses.loss": Call(gf.losses.loss, {"measure": "nDCG@2", "temperature": 0.5, "reduction": "sum"}),
        "measure": Call(gf.measure, {"text": "nDCG@10"}),
        "ndcg": Call(gf.ndcg, {"grades": [3, 2, 0], "judged": [3, 2, 1, 0], "k": 2}),
        "idcg": Call(gf.idcg, {"grades": [3, 2, 0], "judged": [3, 2, 1, 0], "k": 2}),
        "precision": Call(gf.precision, {"grades": [3, 2, 0], "k": 2, "rel": 1}),
        "recall": Call(gf.recall, {"grades": [3, 2, 0], "judged": [3, 2, 1, 0], "k": 2, "rel": 1}),
        "ap": Call(gf.ap, {"grades": [3, 2, 0], "judged": [3, 2, 1, 0], "k": 2, "rel": 1}),
        "rr": Call(gf.rr, {"grades": [3, 2, 0], "k": 2, "rel": 1}),
        "next_to_judge": Call(
            gf.judging.next_to_judge,
            {"judgments": JUDGMENTS, "runs": RUNS, "budget": 3, "compare": ("one", "two")},
        ),
        "fuse": Call(gf.fuse, {"runs": [one, two], "k": 5, "depth": 3}),
        "add": Call(
            gf.history.add,
            {"path": "own.history", "scores": gf.evaluate(JUDGMENTS, one, "AP"), "label": "v1", "time": "2026-05-01"},
        ),
        "page": Call(gf.history.page, {"history": "of-results.history", "title": "t", "level": 0.9}),
        "read": Call(gf.history.read, {"path": "of-results.history"}),
        "Webhook": Call(
            gf.history.Webhook,
            {"variable": "GAINFUL_TESTED_HOOK", "template": {"text": "{paragraph}"}, "timeout": 1.5, "retries": 2},
        ),
        "watch": Call(
            gf.history.watch,
            {
                "path": "watched.history", "judgments": JUDGMENTS, "runs": RUNS, "measures": ["AP"], "label": "v1", "time": "2026-05-01",
                "fail_if": "AP < 0.1", "baseline": "release", "level": 0.9,
            },
        ),
        "methods": Call(gf.fusion.methods, {}),
        "normalisations": Call(gf.fusion.normalisations, {}),
        "tune": Call(
            gf.fusion.tune,
            {"judgments": JUDGMENTS, "runs": RUNS, "k": [5, 60], "folds": 2, "seed": 1, "level": 0.9},
        ),
        "write_fused": Call(
            gf.fusion.write_fused, {"runs": [one, two], "path": "fused.run", "weights": [1, 2]}
        ),
        "pool": Call(gf.pool, {"runs": [one, two], "depth": 3}),
        "pool_bias": Call(gf.judging.pool_bias, {"judgments": JUDGMENTS, "runs": RUNS, "depth": 2}),
        "power": Call(gf.power, {"sd": 0.2, "difference": 0.1, "power": 0.8}),
        "random_order": Call(gf.judging.random_order, {"judgments": JUDGMENTS, "run": one}),
        "rbo": Call(gf.statistics.rbo, {"first": ["a", "b"], "second": {"a": 2.0, "b": 1.0}}),
        "read_baseline": Call(gf.comparison.read_baseline, {"path": "baseline.json"}),
        "locate_evidence": Call(gf.inputs.locate_evidence, {"evidence": {"q": ["one"]}, "documents": {"d": "one two"}}),
        "read_chunk_map": Call(gf.inputs.read_chunk_map, {"path": "map.tsv"}),
        "reference_judgments": Call(gf.inputs.reference_judgments, {"run": one, "k": 2, "within": 0.5}),
        "read_subtopics": Call(gf.subtopics.read_subtopics, {"judgments": SUBTOPICS}),
        "render": Call(gf.writing.render, {"result": scores, "format": "csv", "interval": "t"}),
        "report": Call(
            gf.report,
            {
                "judgments": JUDGMENTS, "runs": RUNS, "measures": ["nDCG@2"],
                "queries": {"q1": "a question"}, "docs": {"a": "a text"}, "agreement": gf.judging.agreement([JUDGMENTS, JUDGMENTS], resamples=9), **TESTED,
            },
        ),
        "save_baseline": Call(gf.comparison.save_baseline, {"scores": scores, "path": "saved.json"}),
        "subtopic_catalogue": Call(gf.subtopics.subtopic_catalogue, {}),
        "subtopic_family": Call(gf.subtopics.subtopic_family, {"name": "alpha_nDCG"}),
        "tau_ap": Call(gf.statistics.tau_ap, {"reference": ["a", "b"], "ranking": {"a": 1, "b": 2}}),
        "similar": Call(
            gf.statistics.similar, {"runs": RUNS, "by": ["rbo", "promoted"], "p": 0.8, "depth": 3}
        ),
        "similar_measures": Call(
            gf.statistics.similar_measures,
            {"judgments": JUDGMENTS, "runs": RUNS, "measures": ["nDCG@2", "RR"], "by": "tau"},
        ),
        "tau_h": Call(gf.statistics.tau_h, {"first": ["a", "b"], "second": {"a": 1, "b": 2}}),
        "least_item_promoted": Call(
            gf.statistics.least_item_promoted,
            {"reference": ["a", "b"], "ranking": {"a": 1, "b": 2}, "depth": 2},
        ),
        "cases": Call(gf.vectors.cases, {"topics": ["ties"], "dialect": None}),
        "conformance": Call(
            gf.vectors.conformance,
            {"implementation": a_function, "topics": "ids", "tolerance": 1e-6},
        ),
        "conformance_of_command": Call(
            gf.vectors.conformance_of_command,
            {
                "command": [sys.executable, "-S", "-c", SKIPPING], "topics": "ids", "tolerance": 1e-6,
                "timeout": 9.0, "one_by_one": False,
            },
        ),
        "which": Call(gf.explanation.which, {"judgments": JUDGMENTS, "run": one, "got": "0.9"}),
        "why": Call(
            gf.why, {"judgments": JUDGMENTS, "run": one, "dialects": ["trec_eval", "sklearn"]}
        ),
        "write_judgments": Call(gf.write_judgments, {"judgments": JUDGMENTS, "path": "out.qrels"}),
        "write_run": Call(gf.write_run, {"run": one, "path": "out.run"}),
        "sql": Call(gf.writing.sql, {"measure": "nDCG@10", "dialect": "sqlite"}),
        "flat_name": Call(gf.writing.flat_name, {"name": "nDCG@10"}),
        "write_result": Call(
            gf.writing.write_result,
            {"result": scores, "path": "out.parquet", "format": "parquet", "interval": "t", "level": 0.9, "per_query": False},
        ),
        "write_text": Call(gf.writing.write_text, {"text": "words", "path": "out.txt"}),
        "Choice": Call(gf.measures.Choice, {"name": "n", "question": "q", "answers": {"yes": "so"}}),
        "Dialect": Call(gf.measures.Dialect, {"name": "own", "tool": "a tool", "settings": {"gain": "exp2"}}),
        "Engine": Call(gf.Engine, {"memory": "1GB", "threads": 1}),
        "Measure": Call(gf.Measure, {"name": "nDCG", "cutoff": 5, "gain": "exp2", "base": 3}),
        "Policy": Call(gf.Policy, {"ties": "average", "unjudged": 1}),
        "Spark": Call(gf.Spark, {"memory": "1GB"}),
        **studies(),
        "RecommendationMeasure": Call(
            gf.recommending.RecommendationMeasure,
            {"name": "Miscalibration", "cutoff": 5, "by": "genre", "alpha": 0.1, "count": "all"},
        ),
        "SubtopicMeasure": Call(
            gf.subtopics.SubtopicMeasure, {"name": "alpha_nDCG", "cutoff": 5, "alpha": 0.5}
        ),
    }.items()  # fmt: skip


# These gainful makes, and hands out: nobody builds one. What they offer is in `methods`.
RESULTS = {
    "Agreement", "Attribution", "Baseline", "Bound", "Bounds", "Calibration", "Chance", "Change", "Changes", "Case", "CollectedEvidence", "CollectedGrades", "CollectedNuggets", "CollectedSupport", "Comparison", "Conformance", "Coverage", "Curve",
    "Difference", "Explanation", "Family", "Finding", "Findings", "Fused", "Gate", "History", "HistoryEntry", "Inferred", "InferredAP", "Leaderboard", "LearningCurve", "LocatedEvidence",
    "MeasureCheck", "MergedJudgments", "Movers", "Pool", "PoolBias", "Power", "RecommendationScores", "RecordedRun", "Report", "RunBounds", "RunScores", "SampleDesign", "Scores", "Similarity",
    "ClickJudgments", "ClickLog", "ClickModels", "Earnings", "Interleaved", "InterleavingVerdict", "PositionBias",
    "Debiased", "PopularityExponent", "SampledCorrection", "Slice", "Split", "TieRange",
    "Tuned", "UnjudgedEstimate", "Verdict", "Watched", "WatchedRun", "Which", "Why",
}  # fmt: skip

# Types and records for type checkers, and the table of codes: nothing to call.
RECORDS = {
    "CODES", "CollectingOptions", "ComparisonOptions", "Judgments", "LogOptions", "MeasuringOptions", "ReadingOptions",
    "RecordingOptions", "Run", "SamplingOptions", "TableLike", "UnjudgedOptions", "WatchingOptions",
}  # fmt: skip

# Errors and warnings carry whatever they are given.
RAISED = {
    "DisjointError", "GainfulError", "GainfulWarning", "InputError", "LeaseLostError", "MeasureError",
    "MissingDependencyError", "PolicyError", "StudyError",
}  # fmt: skip


def arrays() -> Iterator[tuple[str, Call]]:
    """Yield the losses, the measures of arrays, and the other tools' interfaces."""
    tensors = {
        "scores": a_tensor([[3.0, 2.0, 1.0]]),
        "labels": a_tensor([[2.0, 0.0, 1.0]]),
        "mask": a_tensor([[True, True, True]]),
    }
    own = {
        "approx_ndcg": {"temperature": 1.0},
        "gumbel_approx_ndcg": {"samples": 2, "beta": 1.0},
        "lambda_loss": {"scheme": "ndcg1", "sigma": 1.0, "mu": 1.0, "truncation": "both"},
        "neural_ndcg": {"tau": 1.0, "iterations": 2},
        "pirank_ndcg": {"tau": 1.0},
        "pl_rank": {"samples": 2},
        "soft_ndcg": {"sigma": 1.0},
        "gap": {"temperature": 1.0, "method": "approx"},
    }
    for name in gf.losses.__all__:
        function = getattr(gf.losses, name)
        if inspect.isfunction(function) and name != "loss":
            yield f"losses.{name}", Call(function, {**tensors, **own.get(name, {}), **COMMON})
    yield "losses.Loss", Call(gf.losses.Loss, {"measure": "nDCG@2", "reduction": "sum"})
    module = gf.losses.Loss("nDCG@2")
    yield "losses.Loss()", Call(module.forward, {**tensors, "reduction": "mean"})
    yield "losses.Surrogate()", Call(gf.losses.loss("nDCG@2").__call__, {**tensors, "weight": None})
    numbers = {name: array.numpy() for name, array in tensors.items()}
    for name in gf.metrics.__all__:
        yield f"metrics.{name}", Call(getattr(gf.metrics, name), numbers)
        yield f"metrics.{name} of tensors", Call(getattr(gf.metrics, name), tensors)
    yield from of_hosts()
    compat = gf.compat
    evaluator = compat.RelevanceEvaluator(JUDGMENTS, {"map"})
    Path("j.qrels").write_text("q1 0 a 1\n")
    Path("r.run").write_text("q1 Q0 a 1 1.0 t\n")
    yield from {
        "compat.RelevanceEvaluator": Call(
            compat.RelevanceEvaluator, {"query_relevance": JUDGMENTS, "measures": ["map", "P.5"]}
        ),
        "compat.RelevanceEvaluator.evaluate": Call(evaluator.evaluate, {"run": RUN}),
        "compat.compute_aggregated_measure": Call(
            compat.compute_aggregated_measure, {"measure": "map", "values": [0.5, 1.0]}
        ),
        "compat.parse_qrel": Call(compat.parse_qrel, {"lines": ["q1 0 d1 2"]}),
        "compat.parse_run": Call(compat.parse_run, {"lines": ["q1 Q0 d1 1 0.5 tag"]}),
        "compat.trec_eval": Call(
            compat.trec_eval, {"arguments": ["-m", "map", "j.qrels", "r.run"]}
        ),
    }.items()


def of_retrieval_hosts() -> Iterator[tuple[str, Call]]:
    """Yield the calls of the adapters for retrieval that need no heavy host."""
    hosts = gf.integrations
    given = {"qrels": {"q": {"a": 1}}, "results": {"q": {"a": 0.5, "q": 0.7}}, "k_values": [1, 5]}
    beir = hosts.beir.EvaluateRetrieval
    yield from {
        "integrations.beir.EvaluateRetrieval": Call(beir, {"k_values": [1, 5]}),
        "integrations.beir.EvaluateRetrieval.evaluate": Call(beir.evaluate, given),
        "integrations.beir.EvaluateRetrieval.scores": Call(beir.scores, given),
        "integrations.beir.EvaluateRetrieval.evaluate_custom": Call(
            beir.evaluate_custom, {**given, "metric": "mrr"}
        ),
        "integrations.mteb.retrieval_scores": Call(hosts.mteb.retrieval_scores, given),
        "integrations.mteb.judgments": Call(
            lambda subset, split: hosts.mteb.judgments(
                SimpleNamespace(dataset={"en": {"test": {"relevant_docs": {}}}}),
                subset=subset,
                split=split,
            ),
            {"subset": "en", "split": "test"},
        ),
        "integrations.pyterrier.measures": Call(
            lambda measures, policy, dialect, prefix: hosts.pyterrier.measures(
                measures, policy=policy, dialect=dialect, prefix=prefix
            ),
            {"measures": "AP", "policy": None, "dialect": None, "prefix": ""},
        ),
    }.items()


def of_hosts() -> Iterator[tuple[str, Call]]:
    """Yield the calls of the adapters for trainers; what models and features are, the hosts say."""
    hosts = gf.integrations
    features, labels, queries = (
        np.arange(12.0).reshape(6, 2),
        [2, 0, 1, 0, 1, 0],
        [1, 1, 1, 2, 2, 2],
    )
    asked = {"policy": None, "dialect": None}
    pairs = {"scheme": "ndcg2", "sigma": 1.0, "mu": 1.0, "truncation": "both"}
    booster = hosts.lightgbm.Booster(
        {"verbose": -1, "num_threads": 1},
        hosts.lightgbm.Dataset(features, labels, params={"verbose": -1}),
    )
    booster.update()
    forest = hosts.catboost.CatBoost({"iterations": 2, "verbose": 0, "allow_writing_files": False})
    forest.fit(features, labels)

    def lightgbm_curve(labels, measures, group, query, every, policy, dialect):
        chosen = {"group": group, "query": query, "every": every, "policy": policy}
        given = booster, features, labels, measures
        return hosts.lightgbm.learning_curve(*given, **chosen, dialect=dialect)

    def catboost_curve(labels, measures, group_id, every, policy, dialect):
        chosen = {"group_id": group_id, "every": every, "policy": policy, "dialect": dialect}
        return hosts.catboost.learning_curve(forest, features, labels, measures, **chosen)

    def monitored(measures, label, qid, policy, dialect):
        chosen = {"label": label, "qid": qid, "policy": policy, "dialect": dialect}
        found = hosts.xgboost.RankingMonitor(measures, data=features, **chosen)
        found.after_iteration(tree, 0, {})
        return found.curve

    matrix = hosts.xgboost.DMatrix(features, label=labels)
    tree = hosts.xgboost.Booster({"nthread": 1}, [matrix])
    tree.update(matrix, 0)
    curve = {"labels": labels, "measures": "AP", **asked, "every": 1}
    called = {"first": [1, 0], "second": [0.2, 0.1], "weight": None, "group": [2]}
    lists = {
        "y_true": [[2, 0, 1]], "y_score": [[0.3, 0.2, 0.1]], "k": 2, "sample_weight": [1.0],
        "gain": "exp2", "discount": "log",
    }  # fmt: skip
    for name, host in {"lightgbm": hosts.lightgbm, "xgboost": hosts.xgboost}.items():
        loss = {"measure": "nDCG@2", "seed": 1}
        yield f"integrations.{name}.metric", Call(host.metric, {"measures": "AP", **asked})
        yield (
            f"integrations.{name}.objective",
            Call(host.objective, {**loss, "method": "lambda", **pairs}),
        )
        of_xe = {**loss, "method": "xe", "gamma": 0.5}
        yield f"integrations.{name}.objective of xe", Call(host.objective, of_xe)
    yield from of_retrieval_hosts()
    yield from {
        "integrations.lightgbm.metric with a name": Call(
            lambda name: hosts.lightgbm.metric("AP", name=name), {"name": ["mine"]}
        ),
        "integrations.lightgbm.Metric()": Call(hosts.lightgbm.metric("AP").__call__, called),
        "integrations.lightgbm.Objective()": Call(
            hosts.lightgbm.objective("nDCG").__call__, called
        ),
        "integrations.lightgbm.learning_curve": Call(
            lightgbm_curve, {**curve, "group": [3, 3], "query": None}
        ),
        "integrations.xgboost.RankingMonitor": Call(
            monitored, {"measures": "AP", "label": labels, "qid": queries, **asked}
        ),
        "integrations.catboost.learning_curve": Call(
            catboost_curve, {**curve, "group_id": queries}
        ),
        "integrations.sklearn.scorer": Call(
            lambda measure, policy, dialect, better: hosts.sklearn.scorer(
                measure, policy=policy, dialect=dialect, better=better
            ),
            {"measure": "AP", **asked, "better": "higher"},
        ),
        "integrations.sklearn.ndcg_score": Call(
            hosts.sklearn.ndcg_score, {**lists, "base": 2, "ties": "best"}
        ),
        "integrations.sklearn.dcg_score": Call(hosts.sklearn.dcg_score, {**lists, "log_base": 2}),
        "integrations.torchmetrics.Ranking": Call(
            lambda measures, batches, policy, dialect: hosts.torchmetrics.Ranking(
                measures, batches=batches, policy=policy, dialect=dialect
            ),
            {"measures": "AP", "batches": "parts", **asked},
        ),
        "integrations.torchmetrics.Ranking.update": Call(
            hosts.torchmetrics.Ranking("AP").update,
            {
                "preds": a_tensor([0.2, 0.1]),
                "target": a_tensor([1, 0]),
                "indexes": a_tensor([0, 0]),
            },
        ),
    }.items()


OF_LOGS = {
    "columns": {"doc": "doc"}, "actions": {"click": 1.0}, "lists": None, "first_position": 1, "session_gap": 30.0, "most_clicks": 1000, "engine": None,
}  # fmt: skip
# Two documents in both orders, of which b is clicked more.
CLICK_LOG = [
    {
        "session": str(number), "query": "q1", "doc": doc, "position": rank, "team": "AB"[rank - 1],
        "clicked": (number + rank) % (2 if doc == "b" else 3) == 0,
    }
    for number in range(120) for rank, doc in enumerate("ab" if number % 2 else "ba", 1)
]  # fmt: skip


os.environ["GAINFUL_TESTED_HOOK"] = "http://127.0.0.1:9/hook"


def history_with_a_change() -> "gf.results.History":
    """Write and return a history in which every one of 20 queries became better."""
    path = Path("of-results.history")
    path.unlink(missing_ok=True)
    judgments = {f"q{at}": {"a": 1} for at in range(20)}
    for order in ("ba", "ab"):
        run = {query: dict(zip(order, (2, 1), strict=True)) for query in judgments}
        gf.history.add(path, gf.evaluate(judgments, run, "AP"))
    return gf.history.read(path)


def results() -> dict[str, Any]:
    """Return one of every kind of result, by the name of its class."""
    scores = gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "AP"])
    compared = gf.compare(
        JUDGMENTS, RUNS, ["nDCG@2"], resamples=50, slices={"q1": {"kind": "a"}, "q2": {"kind": "b"}},
        by="kind",
    )  # fmt: skip
    bounds = gf.bounds(JUDGMENTS, RUN, ["nDCG@2"], grades=(0, 2))
    gf.comparison.save_baseline(scores, "baseline-of-results.json")
    difference = compared["two", "nDCG@2"]
    history = history_with_a_change()
    watched = gf.history.watch("watched.history", JUDGMENTS, RUNS, "AP", fail_if="AP < 0.1")
    found = gf.check(JUDGMENTS, RUNS)
    return {
        "Agreement": gf.judging.agreement([JUDGMENTS, JUDGMENTS], resamples=9, runs=RUNS),
        "Attribution": gf.explanation.attribute(JUDGMENTS, RUN, OTHER, query="q1"),
        "Baseline": gf.comparison.read_baseline("baseline-of-results.json"),
        "ClickJudgments": gf.behaviour.click_judgments(CLICK_LOG, "ctr"),
        "ClickLog": gf.behaviour.read_log(CLICK_LOG),
        "ClickModels": gf.behaviour.click_models(CLICK_LOG, ["ctr", "pbm"]),
        "Earnings": gf.behaviour.would_earn(CLICK_LOG, {"q1": ["b", "a"]}, examination=[1, 0.5]),
        "Interleaved": gf.behaviour.interleave_runs(RUNS),
        "InterleavingVerdict": gf.behaviour.interleaving_verdict(CLICK_LOG),
        "PositionBias": gf.behaviour.position_bias(CLICK_LOG, "swaps", resamples=5),
        "Bound": bounds["nDCG@2"],
        "Bounds": bounds,
        "Calibration": gf.judging.calibrate(PEOPLE, JUDGMENTS, RUNS, drawn="random"),
        "Change": history.changes()[0],
        "Changes": history.changes(),
        "LocatedEvidence": gf.inputs.locate_evidence({"q": ["one", "three"]}, {"d": "one two"}),
        "History": history,
        "HistoryEntry": history[0],
        "Watched": watched,
        "WatchedRun": watched[0],
        "Chance": gf.judging.random_order(JUDGMENTS, RUN),
        "Choice": gf.measures.choices()[0],
        "CollectedGrades": gf.judging.collect_grades(
            {"q1": ["a", "b"]},
            lambda prompt: "1" if "apple" in prompt else "hm",
            queries={"q1": "fruit"},
            docs={"a": "apple", "b": "brick"},
        ),
        "CollectedEvidence": gf.judging.collect_evidence(
            {"q1": ["a", "b"]},
            lambda prompt: "passage: ripe" if "ripe" in prompt.split("The text:")[1] else "hm",
            queries={"q1": "fruit"},
            docs={"a": "a ripe apple", "b": "brick"},
        ),
        "CollectedNuggets": gf.judging.collect_nuggets(
            {"q1": ["a"]},
            lambda _: "vital: an apple",
            queries={"q1": "fruit"},
            docs={"a": "apple"},
        ),
        "CollectedSupport": gf.judging.collect_support(
            {"q1": ["a", "b"]},
            lambda prompt: "support" if "apple" in prompt else "hm",
            nuggets={"q1": ["a fruit"]},
            queries={"q1": "fruit"},
            docs={"a": "apple", "b": "brick"},
        ),
        "Case": gf.vectors.cases(topics="ties")[0],
        "Comparison": compared,
        "Conformance": gf.vectors.conformance(a_function, topics="ids"),
        "Coverage": scores.coverage,
        "Curve": gf.curve(JUDGMENTS, RUN, upto=3),
        "Dialect": gf.measures.dialect("trec_eval"),
        "Difference": difference,
        "Engine": gf.Engine(threads=1),
        "Explanation": gf.explain(JUDGMENTS, RUN, query="q1"),
        "Family": gf.measures.family("nDCG"),
        "Finding": found[0],
        "Findings": found,
        "Fused": gf.fuse(RUNS),
        "Gate": compared.gate("Δ nDCG@2 < -0.5"),
        "Leaderboard": gf.leaderboard(JUDGMENTS, RUNS, "nDCG@2", resamples=50),
        "Inferred": gf.judging.inferred_ndcg(SAMPLES, RUN),
        "InferredAP": gf.judging.inferred_ap(SAMPLES, RUN),
        "LearningCurve": gf.results.LearningCurve.of([(1, scores), (2, scores)]),
        "Measure": gf.measure("nDCG@10"),
        "MeasureCheck": gf.measures.check_measure("AP", lists=5),
        "MergedJudgments": gf.judging.merge_judgments([JUDGMENTS, JUDGMENTS], "dawid-skene"),
        "Movers": gf.comparison.movers(compared, JUDGMENTS, RUNS),
        "Policy": gf.Policy(ties="average"),
        "Pool": gf.pool(RUNS, depth=2),
        "PoolBias": gf.judging.pool_bias(JUDGMENTS, RUNS, depth=2),
        "Similarity": gf.statistics.similar(RUNS),
        "Power": gf.power(sd=0.2, difference=0.1, power=0.8),
        "RecommendationMeasure": gf.recommending.RecommendationMeasure("ILD", cutoff=5),
        "Split": gf.recommending.split(RATINGS),
        "Debiased": gf.recommending.debias(JUDGMENTS, RUNS, "R@2", history=RUN),
        "PopularityExponent": gf.recommending.estimate_gamma(
            {**RUN, "q4": {"a": 1}}, exposures=RUN
        ),
        "SampledCorrection": gf.recommending.correct_sampled([1, 2], items=9, sampled=3),
        "RecommendationScores": gf.recommending.evaluate_recommendations(
            RUN, ["ILD@2", "Gini@2"], items=ITEMS
        ),
        "RecordedRun": gf.record(
            {"q1": "fruit", "q2": "salad"},
            {"fruit": ["a", "b"]}.__getitem__,
            depth=5,
            failed="leave-out",
        ),
        "Report": gf.report(JUDGMENTS, RUNS, "nDCG@2", resamples=50),
        "RunBounds": gf.judging.bounds_of_runs(JUDGMENTS, RUNS, grades=(0, 2)),
        "UnjudgedEstimate": gf.bounds(JUDGMENTS, RUN, estimate="bootstrap")["nDCG@10"].estimate,
        "RunScores": gf.evaluate_runs(JUDGMENTS, RUNS, ["nDCG@10", "AP"]),
        "SampleDesign": gf.judging.sample_queries(JUDGMENTS, 2),
        "Scores": scores,
        "Slice": compared.slices[0],
        "Spark": gf.Spark(memory="1GB"),
        "SubtopicMeasure": gf.subtopics.SubtopicMeasure("alpha_nDCG", cutoff=5),
        "TieRange": scores.ties["nDCG@10"],
        "Tuned": gf.fusion.tune(JUDGMENTS, RUNS),
        "Verdict": difference.verdict,
        "Which": gf.explanation.which(JUDGMENTS, RUN, got="0.9"),
        "Why": gf.why(JUDGMENTS, RUN, dialects=["trec_eval", "sklearn"]),
    }


# Valid arguments of the methods of results, by the names of their parameters.
OF_METHODS: dict[str, Any] = {
    "conditions": ["nDCG@10 < 0.6", "Δ nDCG@10 < 0"],
    "measure": "nDCG@2", "measures": (gf.measure("P@2"),), "query": "q1", "per_query": True,
    "value": "doc", "key": ("two", "nDCG@2"), "fail_if": "Δ nDCG@2 < -0.9",
    "fail_unless": "Δ nDCG@2 > -0.9", "most": 1, "asked": "nDCG", "written": "nDCG@5",
    "grades": [0.0, 1.0], "name": "gain", "cutoff": 2, "names": "gain", "ids": True,
    "path": "out.json", "format": "json", "notes": "a note", "comparison": None, "title": "t",
    "created": "c", "rank": 2, "amount": 0.5, "scores": None, "upto": 3, "run": "two",
    "base": "one", "column": "nDCG@10", "lowest": -1.0, "chunks": True,
    "tracker": a_function, "resamples": 9, "seed": 1, "count": 2, "level": 0.9,
    "by": "rbo", "first": "one", "second": "two",
}  # fmt: skip

# Sequences, whose items raise what Python's lists do.
OF_PLACES = (
    "Changes", "ClickModels", "Findings", "Interleaved", "InterleavingVerdict", "Pool", "PoolBias", "PositionBias", "Watched",
)  # fmt: skip
# What must raise what Python's protocols say: IndexError, TypeError, ValueError. Spark starts Java.
PROTOCOL = {"index", "count", "__contains__", "__iter__"}
OF_DICTS = {*dir(dict)}
# Of subtopics and recommendations, some things are refused whatever is given.
ELSEWHERE = {
    "ClickJudgments.get", "CollectedEvidence.get", "CollectedGrades.get", "CollectedSupport.get", "Fused.get", "Measure.having", "MergedJudgments.get", "RecordedRun.get", "Spark.read", "Spark.session", "SubtopicMeasure.having",
    "RecommendationMeasure.having",
    "Scores.per_query_intervals", "RecommendationScores.per_query_intervals",  # judgments from clicks
}  # fmt: skip


def methods() -> Iterator[tuple[str, Call]]:
    """Yield the public methods of results that take anything."""
    found = results()
    scores, compared = found["Scores"], found["Comparison"]
    known: dict[str, dict[str, Any]] = {
        "Agreement": {"name": "raw"},
        "MergedJudgments": {"query": "q1", "doc": "a"},
        "Scores": {"measure": "AP", "runs": {"one": scores}},
        "Bounds": {"measure": "nDCG@2"},
        "History": {"run": "run", "place": 0},
        "Watched": {"place": 0},
        "WatchedRun": {"measure": "AP"},
        "Calibration": {
            "fail_if": ["Δ nDCG@10 < -0.9"],
            "measures": ["nDCG@10"],
            "run": "two",
            "key": ("two", "nDCG@10"),
        },
        "Comparison": {"fail_if": ["Δ nDCG@2 < -0.9"]},
        "Leaderboard": {"one": "one", "other": "two", "run": "two"},
        "Dialect": {"measures": [gf.measure("nDCG")]},
        "LearningCurve": {
            "measure": "AP",
            "iteration": 2,
            "steps": [(1, scores), (3, scores)],
            "curves": [found["LearningCurve"]],
        },
        "CollectedGrades": {"path": "grades.qrels", "format": None},
        "CollectedSupport": {"path": "support.csv", "format": None},
        "RecordedRun": {"path": "recorded.run", "format": None},
        "Pool": {"path": "pool.qrels", "format": None},
        "RecommendationScores": {"measure": "ILD@2", "runs": {"one": scores}},
        "RecommendationMeasure": {"names": "by"},
        "Report": {"path": "report.html", "comparison": compared},
        "Baseline": {"scores": scores, "path": "own.json"},
        "Gate": {"measures": ["nDCG@2"], "scores": scores, "fail_if": ["missing > 3"]},
        "SubtopicMeasure": {"names": "alpha"},
        "ScoresPlot": {"measure": "AP", **SIZED},
        "QueryDifferences": {"column": "difference", "worst": 2, "best": 1, "count": 3},
    }
    others = {
        "PerQuery": scores.per_query,
        "RunPerQuery": found["RunScores"].per_query,
        "QueryDifferences": compared.per_query,
        "ScoreSlice": gf.evaluate(JUDGMENTS, RUN, "AP", by="judged").slices[0],
        "ScoresPlot": scores.plot,
        "ComparisonPlot": compared.plot,
    }
    for name, result in {**found, **others}.items():
        for method, _ in inspect.getmembers(type(result), callable):
            if method in PROTOCOL or f"{name}.{method}" in ELSEWHERE:
                continue
            if (
                isinstance(
                    result,
                    dict
                    | gf.results.Fused
                    | gf.results.CollectedGrades
                    | gf.results.CollectedSupport
                    | gf.results.RecordedRun,
                )
                and method in OF_DICTS
            ):
                continue
            if isinstance(getattr(type(result), method), type) or (
                method.startswith("_") and (method != "__getitem__" or name in OF_PLACES)
            ):
                continue
            yield f"{name}.{method}", _of_method(getattr(result, method), known.get(name, {}))


def _of_method(function: Callable[..., Any], known: Mapping[str, Any]) -> Call:
    arguments = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            arguments |= {name: known.get(name, value) for name, value in SIZED.items()}
            if function.__name__ not in ("curve", "plot", "scatter"):
                arguments.pop("height", None)
        elif parameter.name in known:
            arguments[parameter.name] = known[parameter.name]
        elif parameter.default is inspect.Parameter.empty:
            arguments[parameter.name] = OF_METHODS[parameter.name]
    return Call(function, arguments)


def calls() -> dict[str, Call]:
    """Return every public call in a valid form; files are written to the working directory."""
    return dict(itertools.chain(functions(), arrays(), methods()))


@functools.cache
def _may_be_key(wrong: Callable[[], Any]) -> bool:
    try:
        hash(wrong())
    except TypeError:
        return False
    return True


def spoiled(valid: Any, wrong: Callable[[], Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what makes a wrong value in place of a valid one, and in place of each kind of part of it."""
    yield "", wrong
    if isinstance(valid, dict) and valid:
        key = next(iter(valid))
        for where, inner in spoiled(valid[key], wrong):
            yield f"[{key!r}]{where}", lambda inner=inner: {**valid, key: inner()}
        if _may_be_key(wrong):
            rest = {name: value for name, value in valid.items() if name != key}
            yield " as key", lambda: {**rest, wrong(): valid[key]}
    elif isinstance(valid, list | tuple) and valid:
        for where, inner in spoiled(valid[0], wrong):
            yield (
                f"[0]{where}",
                lambda inner=inner: type(valid)([inner(), *copy.copy(valid[1:])]),
            )


def misuses(name: str, call: Call, parameter: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every misuse of a parameter of a call: what it is, and what does it."""
    default = inspect.signature(call.function).parameters.get(parameter)
    valid = call.arguments.get(parameter, None if default is None else default.default)
    for value, wrong in WRONG.items():
        for where, spoilt in spoiled(valid, wrong):
            yield (
                f"{name}({parameter}{where}={value})",
                lambda made=spoilt: call(**{parameter: made()}),
            )


# What led to a fault once, as `misuses` names it.
FAULTS_OF_BEFORE = (
    "why(dialects[0]=frame)",
    "Engine(folder=long text)",
    "Spark(folder=long text)",
    "write_run(tag=surrogate)",
    "pool(depth=10**5000)",
    "next_to_judge(depth=10**5000)",
    "pool_bias(depth=10**5000)",
    "Comparison.cautions(base=array)",
    "Policy.resolved(ids=array)",
    "Comparison.gate(fail_if=single array)",
    "Comparison.gate(fail_unless=single array)",
    "random_order(judgments['q1']['a']=1e308)",
    "explain(judgments as key=long text)",
    "attribute(judgments as key=long text)",
    "next_to_judge(runs as key=long text)",
    "compare(tie=1e308)",
    "compare_scores(tie=1e308)",
    "check(scale[0]=10**400)",
    "check(scale[0]=-10**5000)",
    "compare(level=Fraction)",
    "compare(margin=Fraction)",
    "compare(tie=Fraction)",
    "compare_scores(level=Fraction)",
    "compare_scores(margin=Fraction)",
    "compare_scores(tie=Fraction)",
    "compare_scores(measures=long text)",
    "evaluate_subtopics(judgments['q1']['t1']['a']=frame)",
    "evaluate_subtopics(judgments['q1']['t1']['a']=untold)",
    "read_subtopics(judgments['q1']['t1']['a']=array)",
    "evaluate_recommendations(items['a']=10**5000)",
)


def fault_of(misuse: Callable[[], Any]) -> str | None:
    """Return what is wrong with the end of a misuse; None for a result or an error of gainful's.

    A result has to print, and an error to have a message, both of which can be written.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", gf.errors.GainfulWarning)
            found = misuse()
            page = getattr(found, "_repr_html_", str)
            text = f"{found!s}{found!r}{page()}"
    except gf.errors.GainfulError as problem:
        text = str(problem)
        if len(text) > LONGEST_MESSAGE:
            return f"a message of {len(text)} characters"
    except BaseException as problem:  # noqa: BLE001 - that is what is looked for
        return f"{type(problem).__name__} at {_place(problem)}"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "text that cannot be written"
    return None


def _place(problem: BaseException) -> str:
    within = [
        f"{frame.filename.rpartition('gainful/')[2]}:{frame.lineno}"
        for frame in traceback.extract_tb(problem.__traceback__)
        if "/gainful/" in frame.filename
    ]
    return within[-1] if within else "the call"
