"""The tools themselves, each as a function of lists or of judgments and a run; and data for them.

Each imports its tool when it is called: together they take seconds, in every process of the tests.
"""

import functools
import os
import random
import subprocess
from pathlib import Path

import numpy as np

LISTS, LONGEST = 90, 12

# A tool that takes lists returns the value of each, then the mean that it gives itself.


def scikit_learn(labels, scores, k):
    from sklearn.metrics import ndcg_score

    each = [
        ndcg_score([grades], [given], k=k) for grades, given in zip(labels, scores, strict=True)
    ]
    alike = {len(grades) for grades in labels}
    mean = ndcg_score(labels, scores, k=k) if len(alike) == 1 else float(np.mean(each))
    return each, mean


def torchmetrics(labels, scores, k):
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    def value(grades, given):
        metric = RetrievalNormalizedDCG(top_k=k)
        indexes = [number for number, row in enumerate(grades) for _ in row]
        metric.update(
            torch.tensor(np.concatenate(given)),
            torch.tensor(np.concatenate(grades)),
            indexes=torch.tensor(indexes),
        )
        return metric.compute().item()

    pairs = zip(labels, scores, strict=True)
    return [value([one], [other]) for one, other in pairs], value(labels, scores)


def light_gbm(labels, scores, k):
    import lightgbm

    def value(grades, given):
        flat = np.concatenate(grades)
        data = lightgbm.Dataset(
            np.arange(len(flat), dtype=float)[:, None],
            label=flat,
            group=[len(row) for row in grades],
            init_score=np.concatenate(given),
            params={"verbose": -1},
        )
        # Without a tree, the scores are those given. It has no word for the whole list.
        asked = {"objective": "none", "metric": "ndcg", "eval_at": [k or 1000]}
        booster = lightgbm.Booster(asked | {"verbose": -1, "num_threads": 1}, data)
        ((_, _, found, *_),) = booster.eval_train()
        return float(found)

    pairs = zip(labels, scores, strict=True)
    return [value([one], [other]) for one, other in pairs], value(labels, scores)


def xgb(labels, scores, k, metric="ndcg"):
    import xgboost

    def value(grades, given):
        flat = np.concatenate(grades)
        data = xgboost.DMatrix(
            np.zeros((len(flat), 1)),
            label=flat,
            group=[len(row) for row in grades],
            base_margin=np.concatenate(given),
            nthread=1,
        )
        asked = metric if k is None else metric.replace("ndcg", f"ndcg@{k}")
        settings = {"objective": "rank:ndcg", "eval_metric": asked, "nthread": 1}
        booster = xgboost.Booster(settings, [data])
        return float(booster.eval(data).rpartition(":")[2])

    pairs = zip(labels, scores, strict=True)
    return [value([one], [other]) for one, other in pairs], value(labels, scores)


def cat_boost(labels, scores, k, settings="type=Base"):
    import catboost.utils

    def value(grades, given):
        flat = [number for number, row in enumerate(grades) for _ in row]
        top = -1 if k is None else k
        (found,) = catboost.utils.eval_metric(
            np.concatenate(grades),
            np.concatenate(given),
            f"NDCG:top={top};{settings}",
            group_id=flat,
        )
        return found

    pairs = zip(labels, scores, strict=True)
    return [value([one], [other]) for one, other in pairs], value(labels, scores)


@functools.cache
def _rax(k):
    import jax
    import rax

    def value(given, grades, there):
        return rax.ndcg_metric(given, grades, where=there, topn=k)

    return jax.jit(jax.vmap(value))


def rax_metric(labels, scores, k):
    # One shape for all, since every other is compiled anew.
    shape = max(len(labels), LISTS), max(LONGEST, *(len(row) for row in labels))
    given, grades = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    there = np.zeros(shape, bool)
    for number, row in enumerate(labels):
        grades[number, : len(row)] = row
        given[number, : len(row)] = scores[number]
        there[number, : len(row)] = True
    each = np.asarray(_rax(k)(given, grades, there))[: len(labels)]
    return each.tolist(), float(np.mean(each))


LIST_TOOLS = {
    "scikit-learn": scikit_learn,
    "torchmetrics": torchmetrics,
    "lightgbm": light_gbm,
    "xgboost": xgb,
    "catboost": cat_boost,
    "rax": rax_metric,
}
SINGLE = {"torchmetrics", "xgboost", "rax"}


def tolerance(name):
    """How far a tool may be from the exact value."""
    return 2e-6 if name in SINGLE else 1e-9


# A tool that takes ids returns {query: {cutoff: value}}, and its means where it has any.


def trec(judgments, run, cutoffs):
    import pytrec_eval

    names = {k: "ndcg" if k is None else f"ndcg_cut_{k}" for k in cutoffs}
    asked = {name.replace("cut_", "cut.") for name in names.values()}
    found = pytrec_eval.RelevanceEvaluator(judgments, asked).evaluate(run)
    return {
        query: {k: row[name] for k, name in names.items()}
        for query, row in found.items()
        if query in judgments
    }


def without_identical_ids(run):
    """What BEIR evaluates by default: the results without documents of the query's id."""
    return {q: {d: score for d, score in docs.items() if d != q} for q, docs in run.items()}


def by_ir_measures(judgments, run, cutoffs):
    import ir_measures

    names = {k: ir_measures.nDCG if k is None else ir_measures.nDCG @ k for k in cutoffs}
    found = {}
    for metric in ir_measures.iter_calc(list(names.values()), judgments, run):
        found.setdefault(metric.query_id, {})[metric.measure] = metric.value
    means = ir_measures.calc_aggregate(list(names.values()), judgments, run)
    each = {query: {k: row[name] for k, name in names.items()} for query, row in found.items()}
    return each, {k: means[name] for k, name in names.items()}


def by_gdeval(judgments, run, k, folder):
    """{query: (nDCG, ERR)} of the gdeval.pl that ir_measures brings, with five digits."""
    import ir_measures

    script = Path(ir_measures.__file__).parent / "bin" / "gdeval.pl"
    qrels, results = Path(folder, "qrels"), Path(folder, "run")
    lines = [f"{q} 0 {d} {g}" for q, docs in judgments.items() for d, g in docs.items()]
    qrels.write_text("\n".join(lines) + "\n")
    lines = [f"{q} Q0 {d} 0 {s!r} tag" for q, docs in run.items() for d, s in docs.items()]
    results.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        ["perl", str(script), str(qrels), str(results), str(k)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C"},
        timeout=60,
    )
    _, *rows = [line.split(",") for line in done.stdout.splitlines()]
    return {query: (float(ndcg), float(err)) for _, query, ndcg, err in rows}


def by_ranx(judgments, run, names, **options):
    """{name: {query: value}} and {name: mean}."""
    import numba

    numba.config.DISABLE_JIT = True  # it would compile itself for a minute, to measure a few lists
    import ranx

    qrels, results = ranx.Qrels(judgments), ranx.Run(run)
    means = ranx.evaluate(qrels, results, names, **options)
    return {name: dict(results.scores[name]) for name in names}, means


# Data.

TIED = (0.0, 0.25, 0.5, 0.75, 1.0, -1.0)


def random_lists(seed, grades, *, count=LISTS, tied=True, sizes=(2, 3, 5, 8, LONGEST)):
    """Labels and scores of lists; every twentieth has no grade above 0."""
    rng = random.Random(seed)  # noqa: S311
    labels, scores = [], []
    for number in range(count):
        size = rng.choice(sizes)
        low = [grade for grade in grades if grade <= 0]
        labels.append([rng.choice(low if number % 20 == 7 else grades) for _ in range(size)])
        spread = [float(np.float32(rng.gauss(0, 1))) for _ in range(size)]
        scores.append([rng.choice(TIED) for _ in range(size)] if tied else spread)
    return labels, scores


def with_ids(seed, labels, scores, elsewhere=(0, 1, 2)):
    """Judgments and a run whose lists these are: some zeros unjudged, some documents not retrieved.

    The grades of the latter are those of `elsewhere`.
    """
    rng = random.Random(seed)  # noqa: S311
    judgments, run = {"missing": {"d1": 1, "d2": 0}}, {}
    for number, (grades, given) in enumerate(zip(labels, scores, strict=True)):
        ids = [f"d{place}" for place in rng.sample(range(90), len(grades))]
        judged = {
            doc: grade
            for doc, grade in zip(ids, grades, strict=True)
            if grade or rng.random() < 0.5
        }
        others = {f"x{place}": rng.choice(elsewhere) for place in range(rng.randint(1, 3))}
        judgments[f"q{number}"] = judged | others
        run[f"q{number}"] = dict(zip(ids, given, strict=True))
    return judgments, run


def as_files(judgments, run, folder):
    """The same as a TREC file and a table, which different engines read."""
    qrels, results = Path(folder, "judgments.qrels"), Path(folder, "run.csv")
    lines = [f"{q} 0 {d} {g}" for q, docs in judgments.items() for d, g in docs.items()]
    qrels.write_text("\n".join(lines) + "\n")
    lines = [f"{q},{d},{s!r}" for q, docs in run.items() for d, s in docs.items()]
    results.write_text("query,doc,score\n" + "\n".join(lines) + "\n")
    return qrels, results


def random_queries(seed, *, grades, queries=300, scores=TIED, missing=True):
    """Judgments and a run with ids, with empty and missing queries and queries that nobody judged."""
    rng = random.Random(seed)  # noqa: S311
    judgments, run = {}, {}
    for number in range(1, queries + 1):
        ids = [f"d{place}" for place in range(rng.choice((2, 4, 10, 30)))]
        judged = rng.sample(ids, rng.randint(1, len(ids)))
        judgments[str(number)] = {
            doc: rng.choice([0] if number % 20 == 7 else grades) for doc in judged
        }
        if max(judgments[str(number)].values()) < 0:
            judgments[str(number)][judged[0]] = 0  # trec_eval never returns from such a query
        if not (missing and number % 15 == 4):
            returned = rng.sample([*ids, "u1", "u2"], rng.randint(1, len(ids)))
            spread = rng.sample(range(1000), len(returned))
            run[str(number)] = {
                doc: rng.choice(scores) if scores else float(place)
                for doc, place in zip(returned, spread, strict=True)
            }
    return judgments, run | {"9999": {"d0": 1.0}}
