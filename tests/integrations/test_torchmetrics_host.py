"""`Ranking` as torchmetrics uses it: over batches, in collections, and over two processes."""

import copy
import json
import os
import pickle
import socket
import subprocess
import sys

import numpy as np
import pytest
import torch
from torchmetrics import MetricCollection
from torchmetrics.retrieval import RetrievalNormalizedDCG

import gainful as gf
from trained_rankings import exported, query_ids, rankings, value_of

_, LABELS, SIZES = rankings(1, queries=12)
IDS = query_ids(SIZES)
PREDS = np.random.default_rng(3).integers(0, 8, len(LABELS)) / 4  # with ties
Ranking = gf.integrations.torchmetrics.Ranking
MEASURES = ("nDCG@5", "AP")


def evaluated(measures=MEASURES, **asked):
    return gf.evaluate_arrays(
        labels=LABELS, scores=PREDS, query=IDS, measures=list(measures), **asked
    )


def batches(order, size=17):
    """Yield flat batches in some order of the documents: queries are in several."""
    given = [torch.tensor(each)[torch.tensor(order)] for each in (PREDS, LABELS, IDS)]
    yield from zip(*(torch.split(each, size) for each in given), strict=True)


def whole_batches(queries=3):
    """Yield flat batches of whole queries."""
    for first in range(0, len(SIZES), queries):
        inside = (first <= IDS) & (first + queries > IDS)
        yield tuple(torch.tensor(each[inside]) for each in (PREDS, LABELS, IDS))


def padded(first, last):
    """Return the lists of some queries as [batch, list], with NaN for padding, and a mask."""
    rows = [np.flatnonzero(query == IDS) for query in range(first, last)]
    width = max(map(len, rows))
    preds, target = torch.full((len(rows), width), torch.nan), torch.zeros(len(rows), width)
    mask = torch.zeros(len(rows), width, dtype=torch.bool)
    for at, row in enumerate(rows):
        preds[at, : len(row)] = torch.tensor(PREDS[row])
        target[at, : len(row)] = torch.tensor(LABELS[row])
        mask[at, : len(row)] = True
    return preds, target, mask


def plain(found):
    return {name: value.item() for name, value in found.items()}


@pytest.mark.parametrize(
    "asked", [{}, {"policy": {"empty": "skip", "ties": "worst"}}, {"dialect": "torchmetrics"}]
)
def test_queries_in_several_batches_are_measured_as_one(asked):
    metric = Ranking(*MEASURES, **asked)
    for batch in batches(np.random.default_rng(1).permutation(len(IDS))):
        metric.update(*batch)
    # The order of documents counts for no rule on ties but `order`.
    assert [*plain(metric.compute()).values()] == [*evaluated(**asked).means.values()]
    assert list(metric.compute()) == [*MEASURES]


@pytest.mark.parametrize("asked", [{}, {"policy": {"empty": "skip"}}])
def test_whole_queries_need_two_numbers_for_each_measure(asked):
    metric, expected = Ranking(*MEASURES, batches="whole", **asked), evaluated(**asked)
    for preds, target, indexes in whole_batches():
        metric.update(preds, target, indexes=indexes)
    assert plain(metric.compute()) == pytest.approx(expected.means, rel=1e-15)
    lists = Ranking(*MEASURES, **asked)
    for first in range(0, len(SIZES), 4):
        preds, target, mask = padded(first, first + 4)
        lists.update(preds, target, mask=mask)
    assert plain(lists.compute()) == pytest.approx(expected.means, rel=1e-15)
    for one in (metric, lists):
        assert one.total.shape == one.count.shape == (2,)
        assert not sum(map(len, (*one.preds, *one.target, *one.indexes)))


def test_sums_stay_sums_and_both_kinds_of_batches_add_up():
    measures = ("NumRel", "nDCG@5")
    metric = Ranking(*measures)
    preds, target, mask = padded(0, 5)
    metric.update(preds, target, mask=mask)
    rest = IDS >= 5
    metric.update(*(torch.tensor(each[rest]) for each in (PREDS, LABELS, IDS)))
    assert plain(metric.compute()) == pytest.approx(evaluated(measures).means, rel=1e-15)


def test_forward_gives_the_value_of_the_batch_and_adds_it():
    metric = Ranking("AP")
    for preds, target, indexes in whole_batches():
        found = metric(preds, target, indexes=indexes)
        expected = gf.evaluate_arrays(labels=target, scores=preds, query=indexes, measures="AP")
        assert found.item() == expected["AP"]
    assert metric.compute().item() == evaluated(["AP"])["AP"]
    assert metric.compute().shape == ()
    metric.reset()
    assert not metric.preds


@pytest.mark.parametrize("flat", [False, True])
def test_batches_whose_queries_are_all_left_out(flat):
    metric = Ranking("AP(rel=2)", policy={"empty": "skip"})

    def update(target, query):
        preds = [0.9, 0.2]
        if flat:
            indexes = torch.tensor([query, query])
            metric.update(torch.tensor(preds), torch.tensor(target), indexes=indexes)
        else:
            metric.update(torch.tensor([preds]), torch.tensor([target]))

    update([1, 0], 1)
    with pytest.warns(gf.errors.GainfulWarning, match="no query counts so far"):
        assert metric.compute().isnan()
    metric.reset()
    update([1, 0], 1)
    update([0, 2], 2)
    assert metric.compute().item() == 0.5


def test_it_is_one_of_a_collection():
    ours = {"ours": Ranking(*MEASURES), "own": Ranking("nDCG", dialect="torchmetrics")}
    collection = MetricCollection({**ours, "theirs": RetrievalNormalizedDCG()}, prefix="val_")
    for preds, target, indexes in whole_batches():
        collection.update(preds, target.long(), indexes=indexes)
    found = plain(collection.compute())
    assert found["val_own"] == pytest.approx(found["val_theirs"], abs=1e-6)
    assert {name: found[f"val_{name}"] for name in MEASURES} == evaluated().means
    assert plain(collection.clone(prefix="test_").compute()).keys() == {
        name.replace("val_", "test_") for name in found
    }


@pytest.mark.parametrize(
    "others",
    [
        {"other": ("AP", {}), "same": ("nDCG@10", {})},
        {"other": ("nDCG@10", {"dialect": "lightgbm"})},
        {"other": (gf.Measure("nDCG", cutoff=10, gain=lambda grade: grade**3), {})},
        {"other": ("nDCG@10", {"policy": {"ties": "worst"}})},
        {"other": ("nDCG@10", {"policy": {"empty": "skip"}})},
    ],
)
def test_metrics_of_a_collection_that_begin_alike_stay_apart(others):
    """torchmetrics lets metrics share their states where they are equal after the first batch."""
    built = {name: Ranking(measure, **asked) for name, (measure, asked) in others.items()}
    collection = MetricCollection({"ndcg": Ranking("nDCG@10"), **built})
    alone = {"ndcg": Ranking("nDCG@10")}
    alone |= {name: Ranking(measure, **asked) for name, (measure, asked) in others.items()}
    first = torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[1, 0, 0]])
    later = torch.tensor([[0.3, 0.2, 0.2], [0.3, 0.2, 0.1]]), torch.tensor([[0, 1, 2], [0, 0, 0]])
    for batch in (first, later, first):
        collection.update(*batch)
        for metric in alone.values():
            metric.update(*batch)
    found = plain(collection.compute())
    assert found == {name: metric.compute().item() for name, metric in alone.items()}
    assert found["ndcg"] != found["other"]
    assert len(collection.compute_groups) == 2  # what is the same is kept once


def test_sums_keep_their_type():
    metric = Ranking("NumRel").set_dtype(torch.half)
    for _ in range(3):
        metric.update(torch.zeros(1, 30001), torch.ones(1, 30001))
    assert metric.compute().item() == 90003.0


NOTHING = torch.zeros(0)


@pytest.mark.parametrize("policy", [None, {"empty": "skip"}])
@pytest.mark.parametrize("measure", ["AP", "NumRel", "AP(rel=2)"])
@pytest.mark.parametrize("width", [0, 2])
def test_padding_counts_the_same_in_any_batch(policy, measure, width):
    """As a list without a document does: by the policy."""
    full = torch.tensor([[0.9, 0.2]]), torch.tensor([[0, 2]])
    empty = torch.ones(2, width), torch.ones(2, width)
    none = torch.zeros(2, width, dtype=torch.bool)
    apart, beside, flat = (Ranking(measure, policy=policy) for _ in range(3))
    apart.update(*empty, mask=none)
    apart.update(*full)
    apart.update(NOTHING[None].reshape(0, 2), NOTHING.reshape(0, 2))
    both = [torch.cat([one, torch.ones(2, 2)]) for one in full]
    beside.update(*both, mask=torch.tensor([[True, True], [False, False], [False, False]]))
    assert apart.compute().item() == beside.compute().item()
    assert torch.equal(apart.count, beside.count)
    assert apart.count.item() == (1 if policy and measure != "NumRel" else 3)
    flat = Ranking(measure, policy=policy, batches="whole")
    flat.update(NOTHING, NOTHING, indexes=NOTHING)
    flat.update(full[0][0], full[1][0], indexes=torch.tensor([7, 7]))
    flat.update(torch.ones(2), torch.ones(2), torch.tensor([1, 2]), torch.tensor([False, False]))
    assert flat.compute().item() == beside.compute().item()


def test_names_that_a_dialect_makes_one_have_its_value():
    metric = Ranking("nDCG@10", "nDCG(gain=exp2)@10", "nDCG@2", dialect="lightgbm")
    metric.update(torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[0, 1, 2]]))
    found = plain(metric.compute())
    assert list(found) == ["nDCG@10", "nDCG(gain=exp2)@10", "nDCG@2"]
    assert found["nDCG@10"] == found["nDCG(gain=exp2)@10"] != found["nDCG@2"]
    both = Ranking("AP", "AP(denominator=min)", dialect="vespa")
    both.update(torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[0, 1, 1]]))
    assert len({*plain(both.compute()).values()}) == 1


@pytest.mark.filterwarnings("ignore:You are using .torch.load")  # as PyTorch 2.4 itself does
def test_copies_types_and_devices():
    metric = Ranking("AP")
    first, *others = batches(np.arange(len(IDS)))
    metric.update(*first)
    for same in (
        metric.clone(),
        copy.deepcopy(metric),
        pickle.loads(pickle.dumps(metric)),  # noqa: S301
        metric.to("cpu").half(),
    ):
        for batch in others:
            same.update(*batch)
        assert same.compute().item() == evaluated(["AP"])["AP"]
        assert same.compute().dtype == torch.float64
    half = Ranking("AP")
    half.update(
        torch.tensor([[0.5, 0.25]], dtype=torch.bfloat16, requires_grad=True),
        torch.tensor([[0, 1]]),
    )
    assert half.compute().item() == 0.5
    metric.to("meta")
    assert metric.total.device.type == "meta"


def test_the_dialect_holds(tmp_path, cli):
    """torchmetrics computes in single precision."""
    theirs, ours = RetrievalNormalizedDCG(top_k=5), Ranking("nDCG@5", dialect="torchmetrics")
    for metric in (theirs, ours):
        metric.update(torch.tensor(PREDS), torch.tensor(LABELS).long(), indexes=torch.tensor(IDS))
    files = exported(tmp_path, LABELS, PREDS, SIZES)
    done = cli("evaluate", *files, "--dialect", "torchmetrics", "-m", "nDCG@5", "--format", "json")
    assert (
        value_of(done) == ours.compute().item() == pytest.approx(theirs.compute().item(), abs=1e-6)
    )


WEIGHTS = np.random.default_rng(4).choice([0.0, 0.25, 1.0, 30.0], len(SIZES))
OF_DOCUMENTS = np.repeat(WEIGHTS, SIZES)


@pytest.mark.parametrize("asked", [{}, {"policy": {"empty": "skip"}}, {"dialect": "lightgbm"}])
def test_queries_count_with_their_weights(asked):
    measures = ("nDCG@5",) if "dialect" in asked else ("nDCG@5", "AP", "NumRel")
    expected = evaluated(measures, weights=OF_DOCUMENTS, **asked).means
    assert expected != pytest.approx(evaluated(measures, **asked).means, rel=1e-3)
    given = [torch.tensor(each) for each in (PREDS, LABELS, IDS, OF_DOCUMENTS)]

    def computed(metric):
        found = metric.compute()
        return [*plain(found).values()] if isinstance(found, dict) else [found.item()]

    parts, whole, lists = (
        Ranking(*measures, batches=b, **asked) for b in ("parts", "whole", "parts")
    )
    order = torch.arange(len(IDS))
    if "dialect" not in asked:  # LightGBM keeps the order of documents with equal scores
        order = torch.tensor(np.random.default_rng(2).permutation(len(IDS)))
    for preds, target, ids, own in zip(
        *(torch.split(one[order], 17) for one in given), strict=True
    ):
        parts.update(preds, target, indexes=ids, weights=own)
    assert computed(parts) == pytest.approx([*expected.values()], rel=1e-14)
    for number in range(len(SIZES)):  # some batches have no weight at all
        rows = IDS[np.cumsum(SIZES)[number] - 1] == IDS
        preds, target, ids, own = (one[torch.tensor(rows)] for one in given)
        whole.update(preds, target, indexes=ids, weights=own)
        lists.update(preds[None], target[None], weights=own[:1])
    for metric in (whole, lists):
        assert computed(metric) == pytest.approx([*expected.values()], rel=1e-14)


def test_weights_of_1_change_nothing_and_odd_ones_are_refused():
    given = [torch.tensor(each) for each in (PREDS, LABELS, IDS)]
    plainly, ones = Ranking(*MEASURES), Ranking(*MEASURES)
    plainly.update(*given)
    ones.update(*given, weights=torch.ones(len(PREDS)))
    assert ones.compute() == plainly.compute()
    collection = MetricCollection({"AP": Ranking("AP")})
    two = torch.tensor([[0.2, 0.1], [0.1, 0.2]])
    collection.update(two, torch.tensor([[1, 0], [1, 0]]), weights=torch.tensor([1.0, 3.0]))
    assert collection.compute()["AP"].item() == 0.625
    for weights, said in (
        (torch.ones(3), r"weights: expected the shape \(2,\), found \(3,\)"),
        (torch.tensor([1.0, -1.0]), "weights: expected non-negative numbers, found -1"),
        (torch.tensor([1.0, torch.nan]), r"weights\[1\]: expected a finite number"),
        ([1, 1], "weights: expected a tensor"),
    ):
        with pytest.raises(gf.errors.InputError, match=said):
            Ranking("AP").update(two, two, weights=weights)


def test_what_is_wrong_is_said():
    metric = Ranking("AP")
    two = torch.tensor([0.1, 0.2])
    with pytest.raises(gf.errors.InputError, match="indexes: expected the query of each document"):
        metric.update(two, two)
    nan, same = torch.tensor([1.0, torch.nan]), torch.tensor([0, 0])
    for own in (metric, Ranking("AP", batches="whole")):
        with pytest.raises(gf.errors.InputError, match=r"preds\[1\]: expected a finite number"):
            own.update(nan, two, indexes=same)
        with pytest.raises(gf.errors.InputError, match=r"target\[1\]: expected a finite number"):
            own.update(two, nan, indexes=same)
        for odd in (0.5, torch.nan, torch.inf, 1e18):
            with pytest.raises(
                gf.errors.InputError, match=r"indexes\[1\]: expected a whole number"
            ):
                own.update(two, two, indexes=torch.tensor([0.0, odd]))
        with pytest.raises(gf.errors.InputError, match="indexes: expected whole numbers"):
            own.update(two, two, indexes=torch.tensor([0j, 0j]))
        with pytest.raises(
            gf.errors.InputError, match="preds: expected numbers, found an array of c"
        ):
            own.update(two + 0j, two, indexes=same)
        assert not own.preds
    with pytest.raises(gf.errors.InputError, match=r"preds\[0, 1\]: expected a finite number"):
        metric.update(nan[None], two[None])
    with pytest.raises(gf.errors.InputError, match="target: expected the shape of preds"):
        metric.update(two[None], two)
    with pytest.raises(gf.errors.InputError, match=r"Ranking\.plot: .* Plot the values of compute"):
        metric.plot()
    with pytest.raises(gf.errors.InputError, match="indexes: expected the shape of preds"):
        metric.update(two, two, indexes=torch.tensor([0]))
    with pytest.raises(gf.errors.InputError, match="mask: expected no mask of a flat batch"):
        metric.update(two, two, torch.tensor([0, 0]), torch.tensor([True, True]))
    with pytest.raises(gf.errors.InputError, match="batches: expected parts or whole"):
        Ranking("AP", batches="some")
    with pytest.raises(
        gf.errors.InputError, match="means or sums, which add up, found a geometric mean"
    ):
        Ranking("GMAP").update(two[None], two[None])
    kept = Ranking("GMAP")
    kept.update(torch.tensor(PREDS), torch.tensor(LABELS), torch.tensor(IDS))
    assert kept.compute().item() == evaluated(["GMAP"])["GMAP"]


def test_nothing_given_is_changed():
    given = [torch.tensor(each) for each in (PREDS, LABELS, IDS)]
    held = [each.clone() for each in given]
    for metric in (Ranking("AP"), Ranking("AP", batches="whole")):
        metric.update(*given)
        metric.compute()
    assert all(torch.equal(one, other) for one, other in zip(given, held, strict=True))


# Both processes take what falls to them: documents in any order, whole queries, padded lists. In the
# last two, one process has nothing. They part after the imports, which take the longest.
PROCESSES = """
import json, os, sys
import numpy as np, torch
import torch.distributed as dist
from test_torchmetrics_host import IDS, MEASURES, Ranking, batches, padded, whole_batches
folder = sys.argv[1]
rank = 0 if os.fork() else 1
dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
own = {}, {"batches": "whole"}, {}, {"batches": "whole"}, {}
parts, whole, lists, lone, kept = (Ranking(*MEASURES, **each) for each in own)
for number, batch in enumerate(batches(np.random.default_rng(1).permutation(len(IDS)))):
    if number % 3 % 2 == rank:
        parts.update(*batch)
for number, batch in enumerate(whole_batches()):
    if number % 2 == rank:
        whole.update(*batch)
    if rank:
        lone.update(*batch)
        kept.update(*batch)
preds, target, mask = padded(7 * rank, 7 if rank == 0 else 12)
lists.update(preds, target, mask=mask)
found = [{n: v.item() for n, v in each.compute().items()} for each in (parts, whole, lists, lone, kept)]
assert len(parts.preds) > 1, "joined for compute alone"
with open(f"{folder}/{rank}.json", "w") as file:
    json.dump(found, file)
dist.barrier()
if rank == 0:
    assert os.wait()[1] == 0
os._exit(0)  # PyTorch 2.4 may wait for ever where it takes leave of the other
"""


def test_two_processes_have_the_value_of_all_queries(tmp_path):
    # Without a name of an interface, the name of the machine is looked up, which may take seconds.
    local = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    added = {"GLOO_SOCKET_IFNAME": local, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROCESSES, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, **added},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    one, other = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1))
    assert one == other
    assert one[0] == one[4] == evaluated().means
    for found in one[1:]:
        assert found == pytest.approx(evaluated().means, rel=1e-15)
