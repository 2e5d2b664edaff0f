"""Record what the tools where people retrieve answer: stand_ins/retrieval_hosts.json has it.

Together they need much that the tests do without, and in versions that do not go together. So their answers
are recorded, with what they were asked:

    python -m venv other && other/bin/pip install mlflow-skinny scikit-learn pandas llama-index-core haystack-ai
    other/bin/pip install ragas sentence-transformers pytrec-eval-terrier
    other/bin/pip install --no-deps beir mteb pyvespa
    other/bin/python tests/record_retrieval_hosts.py

Of MTEB and pyvespa, the one file is loaded that has the arithmetic, with stand-ins for what that does not use.
"""

import asyncio
import copy
import importlib.metadata
import importlib.util
import json
import random
import sys
from pathlib import Path
from unittest.mock import MagicMock

import mlflow.metrics
import pandas as pd
from beir.retrieval.evaluation import EvaluateRetrieval
from haystack import Document
from haystack.components.evaluators import DocumentMAPEvaluator, DocumentNDCGEvaluator
from llama_index.core.evaluation.retrieval.metrics import NDCG, AveragePrecision
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

TARGET = Path(__file__).parent / "stand_ins" / "retrieval_hosts.json"
CUTOFFS = (1, 3, 5, 10)
QUERIES, DOCS = 10, 14


class _Missing:
    """Stands for modules that are not installed: anything can be imported from them."""

    def __init__(self, *names):
        self.names = names

    def find_spec(self, name, _path=None, _target=None):
        if name.split(".")[0] in self.names:
            return importlib.util.spec_from_loader(name, self)
        return None

    def create_module(self, spec):
        found = MagicMock()
        found.__path__, found.__spec__ = [], spec
        return found

    def exec_module(self, module):
        pass


def module(package, path, *missing):
    """Load one file of a package, with stand-ins for packages that its arithmetic does not use."""
    place = Path(importlib.metadata.distribution(package).locate_file(path))
    finder = _Missing(*missing)
    before = set(sys.modules)
    sys.meta_path.insert(0, finder)
    try:
        spec = importlib.util.spec_from_file_location(f"{place.stem}_alone", place)
        found = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = found
        spec.loader.exec_module(found)
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if name.split(".")[0] in missing:
                del sys.modules[name]
    return found


def random_case(seed, *, tied):
    """Judged queries that all have something relevant, and lists that are shorter and longer than the cutoffs."""
    rng = random.Random(seed)  # noqa: S311
    judgments, run = {}, {}
    for number in range(QUERIES):
        query = f"q{number}"
        docs = [f"d{place:02}" for place in range(DOCS)] + ([query] if tied else [])
        judged = rng.sample(docs, rng.randint(2, 9))
        judgments[query] = {doc: rng.choice((0, 1, 2, 3)) for doc in judged}
        judgments[query][judged[0]] = rng.choice((1, 2, 3))
        returned = rng.sample(docs, rng.randint(1, len(docs)))
        if tied:
            returned = list(dict.fromkeys([*returned, query]))
        scores = rng.sample(range(100), len(returned))
        run[query] = {
            doc: rng.choice((0.25, 0.5, 0.75)) if tied else float(score)
            for doc, score in zip(returned, scores, strict=True)
        }
    return {"judgments": judgments, "run": run}


def ranked(docs):
    return sorted(docs, key=lambda doc: -docs[doc])


def relevant(judged):
    return sorted(doc for doc, grade in judged.items() if grade > 0)


def of_mlflow(case, k):
    lists = [ranked(docs) for docs in case["run"].values()]
    truth = [relevant(case["judgments"][query]) for query in case["run"]]
    asked = {"ndcg_at_k": mlflow.metrics.ndcg_at_k(k), "recall_at_k": mlflow.metrics.recall_at_k(k)}
    return {
        name: [float(value) for value in metric.eval_fn(pd.Series(lists), pd.Series(truth)).scores]
        for name, metric in asked.items()
    }


def of_llama_index(case, k):
    def values(metric):
        return [
            metric.compute(
                expected_ids=relevant(case["judgments"][query]), retrieved_ids=ranked(docs)[:k]
            ).score
            for query, docs in case["run"].items()
        ]

    return {"nDCG": values(NDCG()), "AP": values(AveragePrecision())}


def of_haystack(case, k):
    truth = [
        [Document(id=doc, score=float(grade)) for doc, grade in case["judgments"][query].items()]
        for query in case["run"]
    ]
    binary = [
        [Document(id=doc) for doc in relevant(case["judgments"][query])] for query in case["run"]
    ]
    lists = [[Document(id=doc) for doc in ranked(docs)[:k]] for docs in case["run"].values()]
    by_id = {"document_comparison_field": "id"}
    graded = DocumentNDCGEvaluator(**by_id).run(truth, lists)
    without = DocumentNDCGEvaluator(**by_id).run(binary, lists)
    average = DocumentMAPEvaluator(**by_id).run(binary, lists)
    return {
        "nDCG": graded["individual_scores"],
        "nDCG(gain=binary)": without["individual_scores"],
        "AP": average["individual_scores"],
    }


# ragas imports a module that newer versions of langchain-community have no more.
sys.modules.setdefault("langchain_community.chat_models.vertexai", MagicMock())
from ragas.metrics._context_precision import (  # noqa: E402
    IDBasedContextPrecision,
    NonLLMContextPrecisionWithReference,
)

VespaEvaluator = module("pyvespa", "vespa/evaluation/_base.py", "vespa").VespaEvaluator


def of_ragas(case, k):
    precision, by_id = [], []
    for query, docs in case["run"].items():
        truth = relevant(case["judgments"][query])
        top = ranked(docs)[:k]
        verdicts = [int(doc in truth) for doc in top]
        precision.append(
            NonLLMContextPrecisionWithReference._calculate_average_precision(None, verdicts)
        )
        sample = MagicMock(retrieved_context_ids=top, reference_context_ids=truth)
        by_id.append(asyncio.run(IDBasedContextPrecision._single_turn_ascore(None, sample, None)))
    return {"context_precision": precision, "id_based_context_precision": by_id}


def of_sentence_transformers(case, k):
    found = {"nDCG": [], "AP(denominator=min)": [], "RR": []}
    for query, docs in case["run"].items():
        cut = {"mrr_at_k": [k], "ndcg_at_k": [k], "accuracy_at_k": [k], "map_at_k": [k]}
        evaluator = InformationRetrievalEvaluator(
            {query: "text"},
            dict.fromkeys(docs, "text"),
            {query: set(relevant(case["judgments"][query]))},
            precision_recall_at_k=[k],
            **cut,
        )
        hits = [{"corpus_id": doc, "score": score} for doc, score in docs.items()]
        scores = evaluator.compute_metrics([hits])
        for name, key in zip(found, ("ndcg@k", "map@k", "mrr@k"), strict=True):
            found[name].append(float(scores[key][k]))
    return found


def of_vespa(case, k):
    found = {"nDCG": [], "AP": []}
    for query, docs in case["run"].items():
        evaluator = VespaEvaluator(
            queries={query: "text"},
            relevant_docs={query: set(relevant(case["judgments"][query]))},
            vespa_query_fn=lambda text, k: {"yql": text, "hits": k},
            app=MagicMock(),
            accuracy_at_k=[k], precision_recall_at_k=[k], mrr_at_k=[k], ndcg_at_k=[k], map_at_k=[k],
        )  # fmt: skip
        scores = evaluator._compute_metrics([[(doc, docs[doc]) for doc in ranked(docs)]])
        found["nDCG"].append(scores[f"ndcg@{k}"])
        found["AP"].append(scores[f"map@{k}"])
    return found


def of_vespa_graded(case, k):
    """It takes grades from 0 to 1 alone: a third of ours."""
    values = []
    for query, docs in case["run"].items():
        graded = {doc: grade / 3 for doc, grade in case["judgments"][query].items()}
        evaluator = VespaEvaluator(
            queries={query: "text"},
            relevant_docs={query: graded},
            vespa_query_fn=lambda text, k: {"yql": text, "hits": k},
            app=MagicMock(),
            ndcg_at_k=[k],
        )
        hits = [(doc, docs[doc]) for doc in ranked(docs)]
        values.append(evaluator._compute_metrics([hits])[f"ndcg@{k}"])
    return {"nDCG(gain=linear)": values}


def of_beir(case, k):
    given = copy.deepcopy(case["run"])
    ndcg, average, *_ = EvaluateRetrieval.evaluate(case["judgments"], given, [k])
    return {"nDCG": ndcg[f"NDCG@{k}"], "AP": average[f"MAP@{k}"]}


def of_mteb(case, k):
    mteb = module("mteb", "mteb/_evaluators/retrieval_metrics.py", "mteb", "datasets")
    mteb.calculate_retrieval_scores(copy.deepcopy(case["run"]), case["judgments"], [k])
    found = mteb.RetrievalEvaluationResult.call_args.kwargs  # a record, which is a stand-in
    return {"nDCG": found["ndcg"][f"NDCG@{k}"], "AP": found["map"][f"MAP@{k}"]}


UNTIED = {
    "mlflow": of_mlflow,
    "llamaindex": of_llama_index,
    "haystack": of_haystack,
    "ragas": of_ragas,
    "vespa": of_vespa,
    "vespa, graded": of_vespa_graded,
}
TIED = {"sentence-transformers": of_sentence_transformers, "beir": of_beir, "mteb": of_mteb}


def faults():
    """What is known to be wrong, or at least unusual, each as the tool answers."""
    five = ["a", "b", "c", "d", "e"]
    mlflow_value = mlflow.metrics.ndcg_at_k(5).eval_fn(pd.Series([["a"]]), pd.Series([five]))
    twice = [[Document(content="a"), Document(content="a")]]
    precision = NonLLMContextPrecisionWithReference._calculate_average_precision
    return {
        "mlflow: one of five found, and nothing else, at 5": mlflow_value.scores[0],
        "llamaindex: the one expected id, twice": NDCG()
        .compute(expected_ids=["a"], retrieved_ids=["a", "a"])
        .score,
        "haystack: the one expected document, twice": DocumentNDCGEvaluator().run(
            [[Document(content="a")]], twice
        )["score"],
        "haystack: scores of a retriever left in the expected documents": DocumentNDCGEvaluator().run(
            [[Document(content="a", score=0.2), Document(content="b", score=0.9)]],
            [[Document(content="a"), Document(content="b")]],
        )["score"],
        "ragas: one of five found, at the top": precision(None, [1]),
    }


def main():
    cases = {
        "untied": [random_case(seed, tied=False) for seed in range(2)],
        "tied": [random_case(seed, tied=True) for seed in range(2)],
    }
    names = (
        "mlflow-skinny", "llama-index-core", "haystack-ai", "ragas", "sentence-transformers", "beir", "mteb",
        "pyvespa", "pytrec-eval-terrier", "scikit-learn",
    )  # fmt: skip
    recorded = {
        "versions": {name: importlib.metadata.version(name) for name in names},
        "faults": faults(),
        "cases": {
            kind: [
                {
                    "given": case,
                    "answers": {
                        name: {k: ask(case, k) for k in CUTOFFS} for name, ask in tools.items()
                    },
                }
                for case in cases[kind]
            ]
            for kind, tools in (("untied", UNTIED), ("tied", TIED))
        },
    }
    TARGET.write_text(json.dumps(recorded, default=float) + "\n")


if __name__ == "__main__":
    main()
