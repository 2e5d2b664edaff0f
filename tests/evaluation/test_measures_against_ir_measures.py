"""What the providers of ir_measures compute by themselves: C/W/L, gdeval, MS MARCO, compatibility.

Left out, because the definitions differ: AP of cwl_eval divides by the relevant documents that
were retrieved, not by all; its NERR has no counterpart here.
"""

import functools
import logging
import math
import random

import ir_measures
import pytest
from ir_measures import BPM, ERR, INSQ, INST, RBP, RR, SDCG, Compat, Judged, P, nDCG

import gainful as gf
from oracles import COMPAT, CWL, GDEVAL, JUDGED, MSMARCO, vouched

KS, TS = (1, 3, 10, 25), (1, 2, 3)
RANKS_OF_CWL = 1000
EXACT, FIVE_DIGITS = 1e-12, 0.5000001e-5  # gdeval prints five digits

# Of each provider: our measure, theirs, and how much they may differ.
PAIRS = {
    CWL: [
        *((f"P(rel={r})@{k}", P(rel=r) @ k, EXACT) for r in (1, 2) for k in KS),
        *((f"RR(rel={r})", RR(rel=r), EXACT) for r in (1, 2, 3)),
        *((f"RBP(p={p}, rel={r})", RBP(p=p, rel=r), EXACT) for p in (0.5, 0.8, 0.95) for r in (1, 2)),
        *((f"SDCG(max=4)@{k}", SDCG(max_rel=4) @ k, EXACT) for k in KS),
        *((f"BPM(T={t}, K={k}, max=4)", BPM(T=t, max_rel=4) @ k, EXACT) for t in TS for k in KS),
        # It looks at 1,000 ranks of an endless list, and so at all but a share of 2T/1000.
        *((f"INST(T={t}, max=4)", INST(T=t, max_rel=4), 2 * t / RANKS_OF_CWL) for t in TS),
        *((f"INSQ(T={t}, max=4)", INSQ(T=t, max_rel=4), 2 * t / RANKS_OF_CWL) for t in TS),
    ],
    GDEVAL: [
        *((f"ERR@{k}", ERR @ k, FIVE_DIGITS) for k in KS),
        *((f"nDCG(gain=exp2)@{k}", nDCG(dcg="exp-log2") @ k, FIVE_DIGITS) for k in KS),
    ],
    JUDGED: [("Judged", Judged, EXACT), *((f"Judged@{k}", Judged @ k, EXACT) for k in KS)],
    MSMARCO: [(f"RR(rel={r})@{k}", RR(rel=r) @ k, EXACT) for r in (1, 2) for k in KS],
    COMPAT: [(f"Compat(p={p})", Compat(p=p), 1e-9) for p in (0.5, 0.8, 0.95, 0.99)],
}  # fmt: skip
PROVIDERS = {
    CWL: "cwl_eval",
    GDEVAL: "gdeval",
    JUDGED: "judged",
    MSMARCO: "msmarco",
    COMPAT: "compat",
}
VOUCHED = [(oracle, family) for oracle in PROVIDERS for family in vouched(oracle)]


@functools.cache
def data(oracle):
    """Judgments and a run without ties; the ids of queries are numbers, as gdeval wants them."""
    rng = random.Random(oracle)  # noqa: S311
    # compat goes as deep as the longer list, and 1,000 ranks in the paper: here it is both.
    lengths = (1000,) * 12 if oracle == COMPAT else (1, 2, 5, 12, 30) * 8
    judgments, run = {}, {}
    for number, length in enumerate(lengths):
        ids = [f"d{place}" for place in range(length + 8)]
        judged = {doc: rng.choice((0, 0, 1, 1, 2, 3, 4)) for doc in ids if rng.random() < 0.7}
        judgments[str(number)] = judged | {"d0": 0 if number % 9 == 4 else rng.randint(1, 4)}
        returned = rng.sample(ids, length)
        run[str(number)] = {doc: float(2000 - rank) for rank, doc in enumerate(returned)}
    return judgments, run


@functools.cache
def theirs(oracle):
    """{measure: {query: value}} of a provider, all of its measures in one call."""
    logging.getLogger("ir_measures").setLevel(logging.ERROR)  # it says which grades it clips
    judgments, run = data(oracle)
    provider = ir_measures.providers.registry[PROVIDERS[oracle]]
    asked = [measure for _, measure, _ in PAIRS[oracle]]
    found = {}
    for metric in provider.iter_calc(asked, judgments, run):
        found.setdefault(metric.measure, {})[metric.query_id] = float(metric.value)
    return found


@pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")
@pytest.mark.parametrize(("oracle", "family"), VOUCHED)
def test_every_query(oracle, family):
    judgments, run = data(oracle)
    seen = set()
    for text, measure, tolerance in PAIRS[oracle]:
        if gf.measure(text).name != family:
            continue
        ours = gf.evaluate(judgments, run, text).per_query.to_dict()
        expected = theirs(oracle)[measure]
        assert expected.keys() <= ours.keys()
        for query, value in expected.items():
            found = ours[query][str(gf.measure(text))]
            if family in ("INST", "INSQ"):
                assert found - EXACT <= value <= found * (1 + tolerance) + EXACT, (text, query)
            else:
                assert found == pytest.approx(value, abs=tolerance), (text, query)
            seen.add(round(value, 6))
    assert len(seen) > 3


def test_every_pair_belongs_to_a_family_that_the_table_names():
    for oracle, pairs in PAIRS.items():
        assert {gf.measure(text).name for text, *_ in pairs} == set(vouched(oracle))


def test_the_tolerances_are_small():
    assert all(tolerance <= 0.006 for pairs in PAIRS.values() for *_, tolerance in pairs)
    assert math.isclose(FIVE_DIGITS, 5e-6, rel_tol=1e-6)
