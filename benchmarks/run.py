"""Time gainful beside its peers and print a table of ratios.

Machines are noisy, so what counts is the ratio within one run: gainful and its peer take
turns, and the best time of each is compared. Each pair is first checked to give the same
numbers.
"""

import argparse
import compileall
import os
import platform
import tempfile
import warnings
from pathlib import Path

import numpy as np

import clicks
import data
import evidence
import files
import fusion
import gainful as gf
import significance
import small_inputs
import start
from gainful.output.rendering.table_formats import Table, as_markdown, as_text
from timing import Result, take_turns


def dicts(queries: int, turns: int) -> Result:
    import pytrec_eval

    judgments, run = data.dicts(queries, 1000)

    def theirs():
        return pytrec_eval.RelevanceEvaluator(judgments, {"ndcg", "ndcg_cut.10"}).evaluate(run)

    def ours():
        return gf.evaluate(judgments, run, ["nDCG@10", "nDCG"])

    expected, found = theirs(), ours().per_query.to_dict()
    for query, values in found.items():
        assert abs(values["nDCG"] - expected[query]["ndcg"]) < 1e-9
        assert abs(values["nDCG@10"] - expected[query]["ndcg_cut_10"]) < 1e-9
    work = f"W2 dicts of dicts, {queries:,} queries × 1,000 documents, nDCG@10 and nDCG"
    return Result(
        work, "pytrec_eval", *take_turns(theirs, ours, turns=turns, ours_each=2), goal="≥ 8×"
    )


def dense(turns: int, *, digits: int | None) -> Result:
    from sklearn.metrics import ndcg_score

    labels, scores = data.batch(10_000, 100, digits=digits)

    def theirs():
        return ndcg_score(labels, scores)

    def ours():
        return gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG")["nDCG"]

    assert abs(theirs() - ours()) < 1e-12
    kind = "no ties" if digits is None else f"scores rounded to {digits} digits"
    work = f"W3 arrays 10,000 × 100, ties averaged ({kind})"
    return Result(
        work,
        "scikit-learn",
        *take_turns(theirs, ours, turns=turns, ours_each=8),
        goal="≥ 20×" if digits is None else "≥ 15×",
    )


def array_of_ids(turns: int) -> Result:
    rng = np.random.default_rng(8)
    queries, length = 50_000, 100
    ids = np.arange(length) * 10_000 + rng.integers(0, 10_000, (queries, length))
    relevant = np.take_along_axis(ids, rng.integers(0, length, (queries, 3)), axis=1)
    names = [*map(str, range(queries))]
    judgments = {
        name: dict.fromkeys(map(str, row), 1)
        for name, row in zip(names, relevant.tolist(), strict=True)
    }
    counts = np.array([len(each) for each in judgments.values()])
    discounts = 1 / np.log2(np.arange(2, 12))

    def theirs():
        gains = (ids[:, :10, None] == relevant[:, None, :]).any(axis=2)
        return float((gains @ discounts / np.cumsum(discounts)[counts - 1]).mean())

    def ours():
        return gf.evaluate(judgments, ids, "nDCG@10", queries=names)["nDCG@10"]

    assert abs(theirs() - ours()) < 1e-12
    work = "W4b array of ids, 50,000 × 100, nDCG@10"
    times = take_turns(theirs, ours, turns=turns, ours_each=1, theirs_each=8)
    return Result(work, "NumPy, arrays of equal width", *times, goal="≥ 0.04×")


def recommended_ids(turns: int) -> Result:
    rng = np.random.default_rng(10)
    users, length, items = 50_000, 100, 100_000
    ids = np.arange(length) * 1_000 + rng.integers(0, 1_000, (users, length))
    groups = rng.integers(0, 20, items)
    names, catalogue = [*map(str, range(users))], dict(zip(map(str, range(items)), map(str, groups.tolist()), strict=True))  # fmt: skip
    measures = ["Coverage@10", "Gini@10", "ILD@10", "ILD@100"]

    def diversity(top):
        kinds = np.sort(groups[ids[:, :top]], axis=1)
        same = np.zeros(users)
        for step in range(1, top):
            same += (kinds[:, :-step] == kinds[:, step:]).sum(axis=1)
        return float(1 - same.mean() / (top * (top - 1) / 2))

    def theirs():
        counts = np.sort(np.bincount(ids[:, :10].ravel(), minlength=items))
        place = 2 * np.arange(1, items + 1) - items - 1
        gini = float((place * counts).sum() / (items * counts.sum()))
        return [float((counts > 0).mean()), gini, diversity(10), diversity(100)]

    def ours():
        found = gf.recommending.evaluate_recommendations(
            ids, measures, queries=names, items=catalogue
        )
        return [found[name] for name in measures]

    assert np.allclose(theirs(), ours(), rtol=0, atol=1e-12)
    work = "W4d array of ids, 50,000 × 100, and 100,000 items: coverage, Gini, ILD"
    times = take_turns(theirs, ours, turns=turns, ours_each=1)
    return Result(work, "NumPy, pair by pair", *times, goal="≥ 0.33× (≤ 3 times)")


def users_by_items(turns: int) -> Result:
    rng = np.random.default_rng(9)
    scores = rng.normal(size=(2_000, 10_000)).astype(np.float32)
    relevant, seen = rng.random(scores.shape) < 0.001, rng.random(scores.shape) < 0.01
    relevant &= ~seen
    relevant[:, 0], seen[:, 0] = True, False
    discounts = 1 / np.log2(np.arange(2, 12))

    def theirs():
        unseen = np.where(seen, -np.inf, scores)
        top = np.argpartition(-unseen, 10, axis=1)[:, :10]
        order = np.argsort(-np.take_along_axis(unseen, top, 1), axis=1)
        gains = np.take_along_axis(relevant, np.take_along_axis(top, order, 1), 1)
        ideal = np.cumsum(discounts)[np.minimum(relevant.sum(axis=1), 10) - 1]
        return float((gains @ discounts / ideal).mean())

    def ours():
        return gf.evaluate_arrays(scores=scores, seen=seen, relevant=relevant, measures="nDCG@10")[
            "nDCG@10"
        ]

    assert abs(theirs() - ours()) < 1e-12
    work = "W4c scores and masks, 2,000 users × 10,000 items, nDCG@10"
    return Result(
        work,
        "NumPy, argpartition",
        *take_turns(theirs, ours, turns=turns, ours_each=1),
        goal="≥ 1×",
    )


def ragged(turns: int) -> Result:
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    labels, scores, query = data.ragged(5_000, 100)
    tensors = [torch.from_numpy(array) for array in (scores, labels, query)]

    def theirs():
        return RetrievalNormalizedDCG()(tensors[0], tensors[1], indexes=tensors[2])

    def ours():
        return gf.evaluate_arrays(labels=labels, scores=scores, query=query, measures="nDCG")[
            "nDCG"
        ]

    assert abs(float(theirs()) - ours()) < 1e-5  # the peer computes in single precision
    work = "W4 ragged lists, 5,000 × about 100, nDCG"
    return Result(
        work, "torchmetrics", *take_turns(theirs, ours, turns=turns, ours_each=8), goal="≥ 50×"
    )


def tensors(turns: int, *, digits: int | None) -> Result:
    import torch

    labels, scores = (
        torch.from_numpy(array).float() for array in data.batch(10_000, 100, digits=digits)
    )

    def theirs():
        return torch.topk(scores, 10)

    def ours():
        return gf.metrics.ndcg(scores, labels, k=10)

    expected = gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG@10")["nDCG@10"]
    assert abs(float(ours().double().mean()) - expected) < 1e-6  # of single precision
    kind = "no ties" if digits is None else f"scores rounded to {digits} digits"
    work = f"W3 gf.metrics.ndcg(k=10) of tensors 10,000 × 100 on the CPU ({kind})"
    goal = "≥ 0.25× (≤ 4 times)" if digits is None else "≥ 0.125× (≤ 8 times)"
    times = take_turns(theirs, ours, turns=turns, ours_each=8, theirs_each=8)
    return Result(work, "torch.topk, and nothing else", *times, goal=goal)


def long_curve(turns: int) -> Result:
    rng = np.random.default_rng(5)
    docs = [f"D{number}" for number in range(100_000)]
    run = {"q": dict(zip(docs, rng.random(len(docs)).tolist(), strict=True))}
    judgments = {"q": dict(zip(docs, rng.integers(0, 4, len(docs)).tolist(), strict=True))}
    some = docs[:10_000]
    part = [{"q": {doc: each["q"][doc] for doc in some}} for each in (judgments, run)]

    def theirs():
        for _ in range(10):
            gf.curve(*part, "nDCG", upto=len(some))

    def ours():
        return gf.curve(judgments, run, "nDCG", upto=len(docs))

    work = "W2 gf.curve, one list of 100,000 documents, upto=100,000"
    times = take_turns(theirs, ours, turns=turns, ours_each=1)
    return Result(work, "gainful, ten lists of 10,000", *times, goal="≥ 0.8× (linear)")


def click_logs(turns: int) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        return clicks.results(Path(folder), turns)


def passages(turns: int) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        return evidence.results(Path(folder), turns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5, help="how often each pair takes turns")
    parser.add_argument("--queries", type=int, default=6980, help="queries of the dicts of dicts")
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of the Parquet file")
    parser.add_argument(
        "--fused-rows", type=int, default=10_000_000, help="rows of the runs to fuse"
    )
    parser.add_argument("--only", help="only the works whose name begins so, such as W1")
    parser.add_argument(
        "--cores", action="store_true", help="only W1, on one core, on two, on four and so on"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    # As an installer does: modules are compiled once, not in the first process that is timed.
    compileall.compile_dir(Path(gf.__file__).parent, quiet=1)
    works = {
        # First: the system counts the memory that this process has, such as PyTorch's, as that of each it starts.
        "W5": lambda: files.parquet(options.rows, max(options.turns - 3, 1)),
        "W11": lambda: fusion.fused(options.fused_rows, max(options.turns - 3, 1)),
        "W13": lambda: click_logs(max(options.turns - 2, 1)),
        "W14": lambda: passages(max(options.turns - 2, 1)),
        "W3": lambda: [
            *(dense(options.turns, digits=digits) for digits in (None, 2, 1, 0)),
            *(tensors(options.turns, digits=digits) for digits in (None, 2)),
        ],
        "W4": lambda: [
            ragged(options.turns),
            array_of_ids(options.turns),
            recommended_ids(options.turns),
            users_by_items(options.turns),
        ],
        "W1": lambda: files.trec(options.queries, max(options.turns - 2, 1)),
        "W6": lambda: significance.resampling(options.turns),
        # Last: millions of objects leave a heap behind that slows everything after it.
        "W2": lambda: [
            long_curve(max(options.turns - 2, 1)),
            dicts(options.queries, max(options.turns - 2, 1)),
        ],
    }
    write = as_markdown if options.markdown else as_text
    if options.cores:
        print(write(with_versions(files.by_cores(options.queries, max(options.turns - 2, 1)))))
        return
    if options.only in (None, "W9"):
        print(write(start.start_up(3 * options.turns)), end="\n\n")
    if options.only in (None, "W12"):
        print(write(small_inputs.small_inputs(options.turns)), end="\n\n")
    if options.only in ("W9", "W12"):
        return
    results = []
    for name, work in works.items():
        if options.only in (None, name):
            results += work()
    rows = [
        [
            r.work,
            r.peer,
            f"{r.theirs:.3f} s",
            f"{r.ours:.3f} s",
            f"{r.ratio:.1f}×",
            r.goal,
        ]
        for r in results
    ]
    print(
        write(with_versions(Table(["work", "peer", "the peer", "gainful", "ratio", "goal"], rows)))
    )


def with_versions(table: Table) -> Table:
    """Say what it was measured with."""
    said = f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores"
    return Table(table.columns, table.rows, notes=[*table.notes, said])


if __name__ == "__main__":
    main()
