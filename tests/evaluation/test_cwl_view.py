"""Users who go on with probability C(i): the measures of the catalogue as members, and cwl_eval as oracle."""

import math
import random

import numpy as np
import pytest
from cwl.ruler.measures.cwl_bpm import BPMCWLMetric
from cwl.ruler.measures.cwl_dcg import NDCGCWLMetric
from cwl.ruler.measures.cwl_insq import INSQCWLMetric
from cwl.ruler.measures.cwl_inst import INSTCWLMetric
from cwl.ruler.measures.cwl_precision import PrecisionCWLMetric
from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
from cwl.ruler.measures.cwl_rr import RRCWLMetric
from cwl.ruler.ranking import Ranking
from scipy.special import zeta

import gainful as gf

DEEP = 1000  # ranks, which stand for an endless list


def missing(gains, rank, target):
    return target - gains[:rank].sum()


# The C(i) of each measure, as the page of user models states them: of the gains, and the rank from 1.
MEMBERS = {
    "P@10": ("P", PrecisionCWLMetric(10), lambda gains, i: float(i < 10)),
    "RBP": ("RBP", RBPCWLMetric(0.8), lambda gains, i: 0.8),
    "SDCG@10": (
        "SDCG",
        NDCGCWLMetric(10),
        lambda gains, i: math.log2(i + 1) / math.log2(i + 2) if i < 10 else 0.0,
    ),
    "INSQ(T=2)": ("INSQ, T=2", INSQCWLMetric(2), lambda gains, i: ((i + 3) / (i + 4)) ** 2),
    "INST(T=2)": (
        "INST, T=2",
        INSTCWLMetric(2),
        lambda gains, i: ((i + 1 + missing(gains, i, 2)) / (i + 2 + missing(gains, i, 2))) ** 2,
    ),
    "BPM(T=2)": (
        "BPM, T=2",
        BPMCWLMetric(2, 10),
        lambda gains, i: float(i < 10 and missing(gains, i, 2) > 0),
    ),
    "RR": (None, RRCWLMetric(), lambda gains, i: float(gains[:i].sum() == 0)),
}
ENDLESS = ("INSQ(T=2)", "INST(T=2)")  # cut at 1,000 ranks by cwl_eval


def lists():
    rng = random.Random("cwl")  # noqa: S311
    for _ in range(25):
        grades = [rng.choice((0, 0, 1)) for _ in range(rng.randint(1, 30))]
        yield [*grades, 1] if not any(grades) else grades


def value_of(measure, grades):
    run = {"q": {f"d{rank}": -rank for rank in range(len(grades))}}
    judgments = {"q": {f"d{rank}": grade for rank, grade in enumerate(grades)}}
    return gf.evaluate(judgments, run, measure)[measure]


def weights(goes_on):
    """W(i) and L(i) from C(i), and the expected depth, over the ranks that are looked at."""
    views = np.concatenate(([1.0], np.cumprod(goes_on)[:-1]))
    return views / views.sum(), views * (1 - goes_on), views.sum()


@pytest.mark.parametrize("measure", MEMBERS)
def test_a_member_is_the_rate_of_gain_of_its_user(measure):
    user, theirs, c = MEMBERS[measure]
    tolerance = 5e-3 if measure in ENDLESS else 1e-9
    for grades in lists():
        gains = np.zeros(DEEP)
        gains[: len(grades)] = grades
        goes_on = np.array([c(gains, rank) for rank in range(1, DEEP + 1)])
        w, last, depth = weights(goes_on)
        rate = value_of(measure, grades)
        assert rate == pytest.approx(w @ gains, rel=tolerance)
        ranking = Ranking("q", np.array(grades, float), np.ones(len(grades)), max_n=DEEP)
        assert rate == pytest.approx(theirs.measure(ranking), rel=tolerance)
        assert theirs.c_vector(ranking)[:-1] == pytest.approx(goes_on[:-1])
        assert theirs.w_vector(ranking) == pytest.approx(w)
        assert theirs.l_vector(ranking)[:-1] == pytest.approx(last[:-1])
        if user is None:
            continue
        total, deep = (value_of(f"{name}(user={user})", grades) for name in ("ETG", "ED"))
        assert total == pytest.approx(rate * deep)
        assert total == pytest.approx(last @ np.cumsum(gains), rel=tolerance)
        assert total == pytest.approx(theirs.expected_total_utility, rel=tolerance)
        assert deep == pytest.approx(theirs.expected_items, rel=tolerance)
        assert deep == pytest.approx(depth, rel=tolerance)


def test_closed_forms():
    assert value_of("ED(p=0.9)", [0]) == pytest.approx(10)
    assert value_of("ED(user=INSQ, T=3)", [0]) == pytest.approx(36 * zeta(2, 6))
    assert value_of("ED(user=SDCG, K=2)", [1]) == pytest.approx(1 + 1 / math.log2(3))
    # A first document that is all that the user wants: the rest is looked at less.
    assert value_of("ED(user=INST)", [1]) < value_of("ED(user=INST)", [0])
    assert value_of("ETG(user=BPM, T=2, K=5)", [1, 0, 1, 1]) == 2


def test_ndcg_is_no_member():
    """The same list of other judgments: the weight of rank 1 would have to depend on documents not returned."""
    run = {"q": ["a"]}
    one, several = ({"q": {"a": 1}}, {"q": {"a": 1, "b": 1, "c": 1}})
    values = [gf.evaluate(judgments, run, "nDCG@10")["nDCG@10"] for judgments in (one, several)]
    assert values[0] != values[1]
    for measure in ("SDCG@10", "RBP", "INST", "ETG"):
        values = [gf.evaluate(judgments, run, measure)[measure] for judgments in (one, several)]
        assert values[0] == values[1]


def test_attention_from_a_log_plugs_in():
    """The shares of users who look at each rank, as gf.behaviour.position_bias estimates them."""
    seen = np.array([1.0, 0.6, 0.45, 0.4])
    grades = [0, 1, 0, 1, 1]
    found = 0.6 + 0.4
    expected = {
        gf.Measure("DCG", cutoff=4, discount=seen): found,
        gf.Measure("nDCG", cutoff=4, discount=seen): found / (1 + 0.6 + 0.45),
        gf.Measure("SDCG", cutoff=4, discount=seen): found / seen.sum(),
        gf.Measure("grid_DCG", cutoff=4, columns=4, column=seen): found,
        gf.Measure("grid_DCG", cutoff=4, columns=1, row=seen): found,
        gf.Measure("UnjudgedMass", cutoff=4, discount=seen): 0.0,
    }
    for measure, value in expected.items():
        assert value_of(measure, grades) == pytest.approx(value)
        assert gf.measure(str(measure)) == measure


@pytest.mark.parametrize("chances", [[0.9, 0.5, 0.8, 0.2], [1.0, 1.0, 0.3, 0.0], [0.5] * 4])
def test_any_probabilities_of_going_on(chances):
    """C(i) of the caller's own, as running products, against the definition."""
    views = [1.0, *np.cumprod(chances).tolist()]
    given = f"discount={views}"
    for grades in lists():
        gains = np.zeros(5)
        gains[: len(grades)] = grades[:5]
        total, depth = float(gains @ views), sum(views)
        assert value_of(f"ETG(user=SDCG, K=5, {given})", grades) == pytest.approx(total)
        assert value_of(f"ED(user=SDCG, K=5, {given})", grades) == pytest.approx(depth)
        assert value_of(f"SDCG({given})@5", grades) == pytest.approx(total / depth)
