"""Fused scores beside those of ranx, of runs without ties."""

import random

import numba
import pytest

import gainful as gf

numba.config.DISABLE_JIT = True  # ranx would compile itself for a minute
import ranx  # noqa: E402

METHODS = {
    "rrf": "rrf", "sum": "sum", "mnz": "mnz", "anz": "anz", "min": "min", "max": "max", "med": "med",
    "borda": "bordafuse", "isr": "isr", "log_isr": "log_isr", "rbc": "rbc",
}  # fmt: skip
NORMALISATIONS = {"minmax": "min-max", "sum": "sum", "zscore": "zmuv", "rank": "rank"}
PARAMETERS = {"rrf": {"k": 60}, "rbc": {"phi": 0.8}}


def runs_without_ties(seed):
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    return [
        {
            f"q{query}": {
                f"d{doc}": chance.uniform(0.5, 9)
                for doc in chance.sample(range(30), chance.randint(5, 20))
            }
            for query in range(5)
        }
        for _ in range(3)
    ]


def by_ranx(runs, method, norm):
    given = [ranx.Run({query: dict(docs) for query, docs in run.items()}) for run in runs]
    fused = ranx.fuse(given, norm=norm, method=METHODS[method], params=PARAMETERS.get(method))
    return fused.to_dict()


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    for seed in range(2):
        runs = runs_without_ties(seed)
        for name, norm in NORMALISATIONS.items():
            given = {"normalise": name}
            if method not in ("sum", "mnz", "anz", "min", "max", "med"):
                given, norm = {}, None
            found = gf.fuse(runs, method, **given)
            expected = by_ranx(runs, method, norm)
            assert found.keys() == expected.keys()
            for query, scores in expected.items():
                assert found[query] == pytest.approx(scores, rel=1e-9, abs=1e-9), name
