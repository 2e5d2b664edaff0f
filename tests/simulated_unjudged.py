"""Simulated runs whose documents are judged only in part, with the grades of all of them as the truth."""

from dataclasses import dataclass

import numpy as np

import gainful as gf

BIASES = {
    "at random": (0.6, 0.6, 0.6, 0.6),
    "unjudged are worse": (0.3, 0.5, 0.8, 0.9),
    "unjudged are better": (0.8, 0.7, 0.5, 0.3),
}
"""The probability that a document of each grade, from 0 to 3, is judged."""
SAMPLES = ("at random", "chosen")
_DOCS = 30
_DEPTH = 10
MEASURE = "nDCG@10"


@dataclass(frozen=True)
class World:
    """Runs, and what people and a model know about their documents.

    Attributes:
        runs: name → run.
        truth: the grades of all documents.
        judgments: the grades of the judged ones.
        model: a model's grades, mostly right and more often too high than too low.
    """

    runs: dict[str, dict[str, dict[str, float]]]
    truth: dict[str, dict[str, int]]
    judgments: dict[str, dict[str, int]]
    model: dict[str, dict[str, int]]

    def unjudged(self) -> list[tuple[str, str]]:
        """Return the unjudged documents that a run returns, in the order of queries and ranks."""
        pairs = {
            (query, doc): None
            for run in self.runs.values()
            for query, docs in run.items()
            for doc in docs
            if doc not in self.judgments[query]
        }
        return sorted(pairs)

    def documents(self, count: int, rng: np.random.Generator, *, chosen: bool = False) -> dict:
        """Return people's grades of some unjudged documents: drawn at random, or the best ones for the model."""
        pairs = self.unjudged()
        order = rng.permutation(len(pairs))
        if chosen:
            order = np.argsort([-self.model[query][doc] for query, doc in pairs], kind="stable")
        sample: dict[str, dict[str, int]] = {}
        for at in order[:count].tolist():
            query, doc = pairs[at]
            sample.setdefault(query, {})[doc] = self.truth[query][doc]
        return sample

    def queries(self, count: int, rng: np.random.Generator, *, chosen: bool = False) -> dict:
        """Return the grades of all documents of some queries: drawn at random, or the easiest ones."""
        names = list(self.truth)
        order = rng.permutation(len(names))
        if chosen:
            order = np.argsort([-sum(self.truth[name].values()) for name in names], kind="stable")
        return {names[at]: self.truth[names[at]] for at in order[:count].tolist()}


def simulated(queries: int, bias: str, seed: int) -> World:
    """Return two runs that find relevant documents, one better than the other."""
    rng = np.random.default_rng(seed)
    odds = BIASES[bias]
    runs: dict[str, dict[str, dict[str, float]]] = {"old": {}, "new": {}}
    truth, judgments, model = {}, {}, {}
    for number in range(queries):
        name = f"q{number:04}"
        grades = np.clip(np.rint(rng.normal(0.2, 0.5) + rng.normal(0, 1.1, _DOCS)), 0, 3).astype(
            int
        )
        shown = set()
        for run, noise in (("old", 1.2), ("new", 0.9)):
            scores = grades + rng.normal(0, noise, _DOCS)
            best = np.argsort(-scores)[:_DEPTH].tolist()
            runs[run][name] = {f"d{at:02}": float(scores[at]) for at in best}
            shown.update(best)
        slips = rng.choice([-1, 0, 1], _DOCS, p=[0.1, 0.55, 0.35])
        truth[name] = {f"d{at:02}": int(grades[at]) for at in sorted(shown)}
        judgments[name] = {
            f"d{at:02}": int(grades[at]) for at in sorted(shown) if rng.random() < odds[grades[at]]
        }
        model[name] = {
            f"d{at:02}": int(np.clip(grades[at] + slips[at], 0, 3)) for at in sorted(shown)
        }
        if not judgments[name]:  # a query needs a judged document
            first = sorted(shown)[0]
            judgments[name] = {f"d{first:02}": int(grades[first])}
    return World(runs, truth, judgments, model)


def true_values(world: World, weights: dict[str, float] | None = None) -> dict[str, float]:
    """Return the means of the runs, each by the documents that it returns, and of their difference by all."""
    values = {}
    for name, run in world.runs.items():
        own = {
            query: {
                doc: grade
                for doc, grade in docs.items()
                if doc in run[query] or doc in world.judgments[query]
            }
            for query, docs in world.truth.items()
        }
        values[name] = gf.evaluate(own, run, MEASURE, weights=weights)[MEASURE]
    both = gf.evaluate_runs(world.truth, world.runs, MEASURE, weights=weights)
    values["new − old"] = both["new"][MEASURE] - both["old"][MEASURE]
    return values


def estimated(
    world: World,
    method: str,
    rng: np.random.Generator,
    *,
    complete: int,
    single: int,
    chosen: bool = False,
) -> dict[str, gf.results.Bound]:
    """Return the bounds and the estimates of the runs and of their difference by a method."""
    options = {}
    if method == "conformal":
        options = {
            "model": world.model,
            "random_sample": world.queries(complete, rng, chosen=chosen),
        }
    elif method == "prediction-powered":
        options = {
            "model": world.model,
            "random_sample": world.documents(single, rng, chosen=chosen),
        }
    result = gf.judging.bounds_of_runs(
        world.judgments, world.runs, MEASURE, grades={0, 1, 2, 3}, estimate=method, **options
    )
    return {name: bounds[MEASURE] for name, bounds in {**result.runs, **result.differences}.items()}
