"""The warning about means of CG and DCG over queries with very different ideals."""

import warnings

import numpy as np
import pytest

import gainful as gf


def _judgments(narrow, broad):
    wide = {f"d{at}": 3 for at in range(10)}
    few = {f"narrow{at}": {"d0": 1} for at in range(narrow)}
    return {**few, **{f"broad{at}": wide for at in range(broad)}}


def _warnings(judgments, measures, **options):
    run = {query: [*docs] for query, docs in judgments.items()}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gf.compare(judgments, {"one": run, "other": run}, measures, **options)
    return [str(each.message) for each in seen if each.message.code == "measure.uneven-ideals"]


@pytest.mark.parametrize(
    ("measure", "largest"), [("DCG@10", 13.63), ("CG@10", 30), ("DCG(gain=exp2)@1", 7)]
)
def test_a_few_queries_with_large_ideals_are_warned_of_once(measure, largest):
    narrow, broad = 40, 5
    (said,) = _warnings(_judgments(narrow, broad), measure)
    ideals = np.array([1.0] * narrow + [largest] * broad)
    effective = ideals.sum() ** 2 / (ideals**2).sum()
    assert said.startswith(
        f"{measure} counts each query by the size of its ideal, from 1 to {largest:g},"
    )
    assert f"over 45 queries depends on only about {effective:.0f} of them. nDCG" in said


def test_several_measures_are_named_once():
    (said,) = _warnings(_judgments(40, 5), "nDCG@10 DCG@10 CG@10")
    assert said.startswith("DCG@10 (and 1 other measure) counts")


@pytest.mark.parametrize(
    ("judgments", "measures", "options"),
    [
        (_judgments(40, 5), "nDCG@10 AP IDCG@10", {}),
        (_judgments(0, 40), "DCG@10", {}),
        (_judgments(8, 1), "DCG@10", {}),
        (_judgments(40, 5), "DCG@10", {"dialect": "trec_eval-9"}),
    ],
)  # fmt: skip
def test_no_warning_where_queries_count_alike(judgments, measures, options):
    assert not _warnings(judgments, measures, **options)
