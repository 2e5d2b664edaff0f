"""Judgments, runs and scores for tests of comparisons, and what no output may have."""

import json
import math

import numpy as np

import gainful as gf


def quick(tables, measures=None, **options):
    """`compare_scores` with few resamples, for what does not depend on them."""
    return gf.comparison.compare_scores(tables, measures, **{"resamples": 100} | options)


def collection(queries=40, seed=1, runs=("old", "new", "other")):
    """Graded judgments, and runs whose scores are the grades with more and more noise."""
    rng = np.random.default_rng(seed)
    judgments = {
        f"q{at}": {f"d{doc}": int(grade) for doc, grade in enumerate(rng.integers(0, 4, 12))}
        for at in range(queries)
    }
    made = {
        name: {
            query: {
                doc: float(grade + rng.normal(0, 2 + place)) for doc, grade in documents.items()
            }
            for query, documents in judgments.items()
        }
        for place, name in enumerate(runs)
    }
    return judgments, made


def scores(*columns):
    """{query: value} for each of several columns of numbers."""
    return [{f"q{at}": float(value) for at, value in enumerate(column)} for column in columns]


def moved(differences, base=0.5):
    """Two systems by name, apart by these differences."""
    old, new = scores([base] * len(differences), [base + one for one in differences])
    return {"old": old, "new": new}


def normal(mean, sd=1.0, count=30, seed=3):
    """Numbers that have just this mean and this standard deviation, both sides of it alike."""
    half = np.random.default_rng(seed).normal(size=count // 2)
    values = np.concatenate((half, -half, [0.0] * (count % 2)))
    return (values - values.mean()) / values.std(ddof=1) * sd + mean


def without_nan(comparison):
    """Check that nothing in a comparison is NaN or infinite, and that its JSON is JSON."""

    def walk(value, where):
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, f"{where}.{key}")
        elif isinstance(value, list):
            for at, inner in enumerate(value):
                walk(inner, f"{where}[{at}]")
        elif isinstance(value, float):
            assert math.isfinite(value), where
        else:
            assert value is None or isinstance(value, str | int | bool), where

    def refuse(word):
        raise AssertionError(word)

    walk(comparison.to_dict(), "")
    assert json.loads(comparison.to_json(), parse_constant=refuse) == comparison.to_dict()
    for text in (str(comparison), comparison.to_markdown(), comparison.to_html()):
        words = text.replace("<", " ").replace(">", " ").replace("|", " ").split()
        assert not {"nan", "inf", "-inf", "+inf"} & {word.strip(",;()") for word in words}
    return comparison
