"""BEIR: `EvaluateRetrieval` with BEIR's own signature, which never modifies its arguments.

It needs neither BEIR nor pytrec_eval: BEIR retrieves, and gainful measures.

>>> qrels = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
>>> results = {"q1": {"q1": 9.0, "b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
>>> ndcg, _map, recall, precision = EvaluateRetrieval.evaluate(qrels, results, [1, 10])
>>> ndcg, results["q1"]["q1"]
({'NDCG@1': 0.75, 'NDCG@10': 0.92986}, 9.0)
"""

import glob
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Unpack

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.arithmetic.kernels.swapped_arguments import swapped_arguments
from gainful.errors import InputError, warn
from gainful.message_texts import shown

__all__ = ["EvaluateRetrieval"]

_MANY = 10  # different grades; with more, `evaluate` itself warns that they are scores
_SAMPLE = 1024  # numbers to inspect
_DIGITS = 5  # digits in BEIR's results
_K_VALUES = (1, 3, 5, 10, 100, 1000)
_DEEPEST = 10**9  # no list is longer
_MEASURES = {"NDCG": "nDCG", "MAP": "AP", "Recall": "R", "P": "P"}
_CUSTOM = {
    "MRR": ("RR", ("mrr", "mrr@k", "mrr_cut")),
    "Accuracy": ("Success", ("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy")),
}


class EvaluateRetrieval:
    """Retrieve as BEIR does, and measure with gainful.

    Args:
        retriever: a BEIR retriever, such as `DenseRetrievalExactSearch`.
        k_values: the cutoffs; the largest is the number of documents to retrieve.
        score_function: cos_sim or dot, for the retriever.
    """

    def __init__(
        self,
        retriever: object = None,
        k_values: Sequence[int] = _K_VALUES,
        score_function: str | None = "cos_sim",
    ) -> None:
        self.k_values = cutoffs_in(k_values)
        self.top_k = max(self.k_values)
        self.retriever = retriever
        self.score_function = score_function

    def retrieve(self, corpus: object, queries: object, **options: object) -> Any:
        """Search the corpus for every query: `{query: {doc: score}}`."""
        search = self._method("search")
        return search(corpus, queries, self.top_k, self.score_function, **options)

    def encode_and_retrieve(
        self,
        corpus: object,
        queries: object,
        encode_output_path: str = "./embeddings/",
        overwrite: bool = False,  # noqa: FBT001, FBT002 - as in BEIR
        query_filename: str = "queries.pkl",
        corpus_filename: str = "corpus.*.pkl",
        **options: object,
    ) -> Any:
        """Encode the corpus and the queries into files, and search these: `{query: {doc: score}}`.

        Args:
            corpus: `{doc: {"title": …, "text": …}}`.
            queries: `{query: text}`.
            encode_output_path: the folder of the files.
            overwrite: whether to encode existing files again.
            query_filename: the file name of the query embeddings.
            corpus_filename: the file names of the corpus embeddings, a pattern with a star.
            **options: options of the retriever.
        """
        encode, search = self._method("encode"), self._method("search_from_files")
        encode(
            corpus,
            queries,
            encode_output_path=encode_output_path,
            overwrite=overwrite,
            query_filename=query_filename,
            corpus_filename=corpus_filename,
            **options,
        )
        return search(
            query_embeddings_file=f"{encode_output_path}/{query_filename}",
            corpus_embeddings_files=glob.glob(f"{encode_output_path}/{corpus_filename}"),  # noqa: PTH207 - texts, as in BEIR
            top_k=self.top_k,
            **options,
        )

    def _method(self, name: str) -> Any:
        """Return a method of the retriever; BEIR retrievers without a model cannot encode."""
        if self.retriever is None:
            raise InputError("retriever", "one of BEIR's, to search with", "none")
        method = getattr(self.retriever, name, None)
        if not callable(method):
            kind = type(self.retriever).__name__
            raise InputError("retriever", f"one of BEIR's with {name}(…)", kind)
        return method

    @staticmethod
    def evaluate(
        qrels: object,
        results: object,
        k_values: Sequence[int],
        ignore_identical_ids: bool = True,  # noqa: FBT001, FBT002 - as in BEIR
    ) -> tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, float]]:
        """Return nDCG, MAP, recall and precision at the cutoffs, with BEIR's names and rounding.

        Args:
            qrels: `{query: {doc: grade}}`, or any judgments that `evaluate` accepts.
            results: `{query: {doc: score}}`, or any run that `evaluate` accepts.
            k_values: the cutoffs.
            ignore_identical_ids: whether to drop results whose document id is the query's id.
        """
        cutoffs = cutoffs_in(k_values)
        scores = EvaluateRetrieval.scores(
            qrels, results, cutoffs, ignore_identical_ids=ignore_identical_ids
        )
        tell_missing(scores, "BEIR")
        ndcg, average, recall, precision = (
            {f"{theirs}@{k}": round(scores[f"{ours}@{k}"], _DIGITS) for k in cutoffs}
            for theirs, ours in _MEASURES.items()
        )
        return ndcg, average, recall, precision

    @staticmethod
    def scores(
        qrels: object,
        results: object,
        k_values: Sequence[int],
        *,
        ignore_identical_ids: bool = True,
        **sampling: "Unpack[gf.inputs.SamplingOptions]",
    ) -> "gf.results.Scores":
        """Return the same as `Scores`: unrounded, with per-query values and missing queries.

        Args:
            qrels: as in `evaluate`.
            results: as in `evaluate`.
            k_values: the cutoffs.
            ignore_identical_ids: whether to drop results whose document id is the query's id.
            **sampling: weights and clusters of the queries, see `SamplingOptions`.
        """
        names = tuple(_MEASURES.values())
        return scores_as_beir(
            qrels, results, names, k_values, drop_self=ignore_identical_ids, **sampling
        )

    @staticmethod
    def evaluate_custom(
        qrels: Any, results: Any, k_values: Sequence[int], metric: str
    ) -> dict[str, float]:
        """Return MRR or accuracy at the cutoffs, over all judged queries, as BEIR does.

        Args:
            qrels: as in `evaluate`.
            results: as in `evaluate`; equal scores keep the order of the results.
            k_values: the cutoffs.
            metric: mrr, accuracy or another BEIR name for them.
        """
        arguments.text(metric, "metric")
        for theirs, (ours, names) in _CUSTOM.items():
            if metric.lower() in names:
                cutoffs = cutoffs_in(k_values)
                _tell_if_swapped(qrels, results)
                policy = {"ties": "order"}
                means = gf.evaluate(qrels, results, [f"{ours}@{k}" for k in cutoffs], policy=policy)
                return {f"{theirs}@{k}": round(means[f"{ours}@{k}"], _DIGITS) for k in cutoffs}
        raise InputError(
            "metric",
            "mrr or accuracy",
            repr(metric),
            "Shares of documents that are not judged are Unjudged@10 in gf.evaluate.",
        )


def scores_as_beir(
    qrels: Any,
    results: Any,
    names: Sequence[str],
    k_values: Any,
    *,
    drop_self: bool,
    **sampling: "Unpack[gf.inputs.SamplingOptions]",
) -> "gf.results.Scores":
    """Measure as BEIR and MTEB do with pytrec_eval, without modifying the arguments."""
    arguments.truth(drop_self, "ignore_identical_ids")
    _tell_if_swapped(qrels, results)
    measures = [f"{name}@{k}" for name in names for k in cutoffs_in(k_values)]
    policy = replace(gf.measures.dialect("beir").policy, drop_self="run" if drop_self else "no")
    return gf.evaluate(qrels, results, measures, policy=policy, **sampling)


def _tell_if_swapped(qrels: object, results: object) -> None:
    """Warn if qrels and results seem to be swapped.

    `evaluate` warns if there are many different grades. BEIR's qrels are whole numbers, so here a
    few fractions, together with results that are whole numbers, are enough.
    """
    grades, scores = _numbers(qrels), _numbers(results)
    if not 0 < len({*grades}) < _MANY or not scores:
        return
    if swapped_arguments(np.array(grades), np.array(scores)) is not None:
        warn(
            "qrels, results: the grades have fractions or are nowhere above 0, and the results are "
            "whole numbers, as grades are. Check that the qrels come first, and the results second."
        )


def _numbers(table: object) -> list[float]:
    """Return the first numbers of a dict of dicts; nothing for other objects."""
    if not isinstance(table, Mapping):
        return []
    inner = (row for row in table.values() if isinstance(row, Mapping))
    numbers = (arguments.as_float(cell) for row in inner for cell in row.values())
    return [*islice(numbers, _SAMPLE)]


def cutoffs_in(k_values: Any) -> list[int]:
    """Return the cutoffs, if valid."""
    try:
        cutoffs = [] if isinstance(k_values, str | Mapping) else list(k_values)
    except TypeError:
        cutoffs = []
    if not cutoffs:
        raise InputError("k_values", "cutoffs, such as [1, 10, 100]", shown(k_values))
    return [arguments.whole(k, "k_values", least=1, most=_DEEPEST) for k in cutoffs]


def tell_missing(scores: "gf.results.Scores", host: str) -> None:
    """Warn about queries that the host leaves out of its means."""
    missing = len(scores.coverage.missing)
    if missing:
        warn(
            f"{missing} judged queries are not in the results: as in {host} they are left out of the "
            "means, which makes these higher. gf.evaluate counts them as 0."
        )
