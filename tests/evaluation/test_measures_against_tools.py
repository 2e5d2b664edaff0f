"""Every measure of pytrec_eval, at two levels of relevance, query by query and over all queries.

Where it is known to differ, no case is made of it: it never returns from a query whose grades
are all negative, and its Rprec_mult rounds m·R + 0.9 down where the catalogue rounds m·R up, so
the multiples here are those whose product is never less than a tenth above a whole number.
"""

import functools
import math
import random

import pytest
import pytrec_eval

import gainful as gf
from oracles import ORACLES, PYTREC, vouched

CUTOFFS = (1, 2, 3, 5, 10, 30, 1000)
LEVELS = (1, 2)
FLOOR = 1e-5

# trec_eval's name of a measure, and the measure of the catalogue.
MEASURES = {
    "map": "AP",
    "gm_map": "GMAP",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "gm_bpref": "GMbpref",
    "recip_rank": "RR",
    "infAP": "infAP",
    "11pt_avg": "11pt",
    "binG": "binG",
    "G": "G",
    "ndcg": "nDCG",
    "ndcg_rel": "nDCGrel",
    "Rndcg": "RnDCG",
    "set_P": "P",
    "set_recall": "R",
    "set_relative_P": "RelP",
    "set_map": "SetAP",
    "set_F": "F",
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonrelRet",
    "utility": "Utility",
    **{
        f"{theirs}_{k}": f"{ours}@{k}"
        for theirs, ours in {
            "P": "P",
            "recall": "R",
            "relative_P": "RelP",
            "ndcg_cut": "nDCG",
            "map_cut": "AP",
            "success": "Success",
        }.items()
        for k in CUTOFFS
    },
    **{f"iprec_at_recall_{r / 20:.2f}": f"iprec(recall={r / 20})" for r in range(21)},
    **{f"Rprec_mult_{r / 5:.2f}": f"Rprec(mult={r / 5})" for r in range(1, 16)},
}
WITH_NUMBERS = {
    **dict.fromkeys(
        ("P", "recall", "relative_P", "ndcg_cut", "map_cut", "success"),
        ",".join(map(str, CUTOFFS)),
    ),
    "iprec_at_recall": ",".join(f"{r / 20:.2f}" for r in range(21)),
    "Rprec_mult": ",".join(f"{r / 5:.2f}" for r in range(1, 16)),
}
NO_NUMBER = {"runid", "relstring"}  # texts

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


def request():
    """What pytrec_eval is asked for: all that it supports, with the numbers above."""
    return {
        f"{name}.{WITH_NUMBERS[name]}" if name in WITH_NUMBERS else name
        for name in pytrec_eval.supported_measures - NO_NUMBER
    }


def at_level(text, level):
    measure = gf.measure(text)
    if "rel" not in measure.parameters:
        return measure
    return gf.Measure(
        measure.name, cutoff=measure.cutoff, **{**measure.parameters, "rel": float(level)}
    )


@functools.cache
def compared(level):
    """Judge random cases with both: a list of (ours, theirs), by query and trec_eval's name.

    There are 20 cases of 6 queries, which show the sums and means, and 8 of 60.
    """
    rng = random.Random(level)  # noqa: S311
    measures = {name: at_level(text, level) for name, text in MEASURES.items()}
    cases = []
    for queries in [6] * 20 + [60] * 8:
        judgments, run = {}, {}
        for number in range(queries):
            docs = [f"d{place}" for place in range(rng.choice((2, 3, 8, 30)))]
            judged = {doc: rng.choice((-1, 0, 0, 1, 1, 2, 3)) for doc in docs if rng.random() < 0.8}
            judgments[f"q{number}"] = judged | {docs[0]: rng.choice((0, 1, 2))}
            pool = docs + [f"u{place}" for place in range(6)]
            returned = rng.sample(pool, rng.randint(1, len(docs)))
            run[f"q{number}"] = {doc: float(rng.randrange(12)) for doc in returned}
        evaluator = pytrec_eval.RelevanceEvaluator(judgments, request(), relevance_level=level)
        policy = gf.Policy(negative="zero", ties="doc")
        scores = gf.evaluate(judgments, run, list(measures.values()), policy=policy)
        values = scores.per_query.to_dict()
        ours = {
            query: {name: values[query][str(measure)] for name, measure in measures.items()}
            for query in run
        }
        totals = {name: scores[measure] for name, measure in measures.items()}
        cases.append((ours, totals, evaluator.evaluate(run)))
    return cases


@functools.cache
def names_of(family):
    return [name for name, text in MEASURES.items() if gf.measure(text).name == family]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", vouched(PYTREC))
def test_every_query(family, level):
    seen = set()
    for number, (ours, _, theirs) in enumerate(compared(level)):
        for query, values in ours.items():
            for name in names_of(family):
                expected = theirs[query][name]
                if name.startswith("gm_"):  # it keeps the logarithm of each query
                    expected = math.exp(expected)
                    values = {**values, name: max(values[name], FLOOR)}
                near = math.isclose(values[name], expected, rel_tol=1e-9, abs_tol=1e-10)
                assert near, (name, number, query, values[name], expected)
                seen.add(round(expected, 9))
    assert len(seen) > 5 or family in ("NumQ", "Success")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", vouched(PYTREC))
def test_over_all_queries(family, level):
    """Means; the geometric mean of gm_map and gm_bpref; the sums of counts."""
    for _, totals, theirs in compared(level):
        for name in names_of(family):
            values = [row[name] for row in theirs.values()]
            expected = pytrec_eval.compute_aggregated_measure(name, values)
            assert totals[name] == pytest.approx(expected, rel=1e-9, abs=1e-10), name


def test_every_measure_of_pytrec_eval_is_compared():
    (ours, _, theirs), *_ = compared(1)
    for query, row in theirs.items():
        assert row.keys() == ours[query].keys()
    assert {gf.measure(text).name for text in MEASURES.values()} == set(vouched(PYTREC))
    assert set(vouched(PYTREC)) <= ORACLES.keys()


@pytest.mark.parametrize("name", MEASURES)
def test_the_name_of_trec_eval_is_read_as_the_measure_compared(name):
    assert gf.measure(name) == gf.measure(MEASURES[name])


@pytest.mark.parametrize("name", ["set_F", "set_F.2", "set_F.0.5", "set_F_3"])
def test_the_number_of_set_f_is_the_weight_that_trec_eval_takes_it_for(name):
    """It computes (x+1)·P·R / (R + x·P): its x is β²."""
    judgments = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    run = {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "z": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(judgments, {name}).evaluate(run)["q"]["set_F"]
    assert gf.evaluate(judgments, run, name)[name] == pytest.approx(theirs, abs=1e-12)
