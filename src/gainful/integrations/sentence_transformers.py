"""sentence-transformers: the evaluators of retrieval and of reranking, with grades and any measures."""

from collections.abc import Callable, Mapping, Set
from typing import TYPE_CHECKING, Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError, warn
from gainful.integrations.ranking_measures import RankingMeasures
from gainful.integrations.required_hosts import requiring
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect
from gainful.message_texts import shown

if TYPE_CHECKING:
    from gainful.matching.keyword_options import AveragingOptions

with requiring("sentence_transformers"):
    from sentence_transformers.sentence_transformer import evaluation as _host

__all__ = ["InformationRetrievalEvaluator", "RerankingEvaluator"]

# The host's measures, by its names for them.
_OURS = {
    "accuracy@k": "Success",
    "precision@k": "P",
    "recall@k": "R",
    "ndcg@k": "nDCG",
    "mrr@k": "RR",
    "map@k": "AP(denominator=min)",
}


_SAMPLES = "dicts with query, positive and negative"


class InformationRetrievalEvaluator(_host.InformationRetrievalEvaluator):  # type: ignore[misc, unused-ignore]
    """The host's evaluator of retrieval, with grades: it encodes, retrieves and writes; gainful measures.

    Metric names match sentence-transformers'. In nDCG the gain is the grade, and other measures treat
    documents with a grade of at least 1 as relevant. With grades 0 and 1, or sets, the numbers also match.

    Args:
        queries: `{query: text}`.
        corpus: `{doc: text}`.
        relevant_docs: `{query: {doc: grade}}`, or `{query: {doc, …}}`, each with grade 1.
        *rest: the host's other arguments, in its order.
        measures: additional measures, as text or as Measures. Lists end at the deepest of the host's
            cutoffs (`ndcg_at_k` and others), so deeper cutoffs are rejected.
        policy: as in `evaluate`; like in the host, ties are ordered by id by default.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.
        weights: the weight of each query, as in `evaluate`; all count the same if None.
        clusters: the cluster of each query, as in `evaluate`, for the intervals of `scores`.
        **options: the host's other arguments: ndcg_at_k, batch_size, corpus_chunk_size, name ….

    Attributes:
        scores: the `Scores` of the last call by score function, with values per query.
        runs: the runs of the last call by score function, each `{query: {doc: score}}`.
    """

    def __init__(
        self,
        queries: Mapping[Any, Any],
        corpus: Mapping[Any, Any],
        relevant_docs: Mapping[Any, Any],
        *rest: object,
        measures: Measures = (),
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
        weights: "gf.inputs.TableLike | None" = None,
        clusters: "gf.inputs.TableLike | Callable[[str], object] | None" = None,
        **options: object,
    ) -> None:
        dicts = {"queries": queries, "corpus": corpus, "relevant_docs": relevant_docs}
        for name, value in dicts.items():
            arguments.one_of_type(value, name, Mapping, "a dict by id")  # type: ignore[type-abstract]
        judged = {query: _grades(documents, query) for query, documents in relevant_docs.items()}
        super().__init__(dict(queries), dict(corpus), judged, *rest, **options)
        self._judged = {query: judged[query] for query in self.queries_ids}
        if not self._judged:
            raise InputError("relevant_docs", "documents of some of the queries", "none")
        _tell_left_out(len(queries) - len(self._judged), "query", "has no relevant_docs")
        without_text = [q for q, documents in judged.items() if documents and q not in queries]
        _tell_left_out(len(without_text), "query of relevant_docs", "has no text")
        self._options: AveragingOptions = {
            "policy": policy,
            "dialect": dialect,
            "weights": weights,
            "clusters": clusters,
        }
        if policy is None and dialect is None:
            self._options["policy"] = {"ties": "doc_ascending"}
        self._keys = self._keys_of_host()
        added = _as_list(measures)
        self._added = _names(added, dialect)
        self._asked = [*self._keys, *added]
        self._refuse_deeper()
        self.scores: dict[str, gf.results.Scores] = {}
        self.runs: dict[str, dict[Any, dict[Any, float]]] = {}

    def _keys_of_host(self) -> dict[str, tuple[str, int]]:
        """Return the host's measures, each with its name in the host and its cutoff."""
        cutoffs = {
            "accuracy@k": self.accuracy_at_k,
            "precision@k": self.precision_recall_at_k,
            "recall@k": self.precision_recall_at_k,
            "ndcg@k": self.ndcg_at_k,
            "mrr@k": self.mrr_at_k,
            "map@k": self.map_at_k,
        }
        return {f"{_OURS[key]}@{k}": (key, k) for key, ks in cutoffs.items() for k in ks}

    def _refuse_deeper(self) -> None:
        """Reject cutoffs that are too deep, and other invalid arguments, before a model is trained."""
        deepest = max(k for _, k in self._keys.values())
        trial = {query: dict.fromkeys(grades, 0.5) for query, grades in self._judged.items()}
        for measure in gf.evaluate(self._judged, trial, self._asked, **self._options).measures:
            if (measure.cutoff or 0) > deepest:
                raise InputError(
                    "measures",
                    f"cutoffs of at most {deepest}, where the host's lists end",
                    str(measure),
                    f"Ask the host for longer lists: map_at_k=[{measure.cutoff}].",
                )

    def __call__(self, model: object, *rest: object, **options: object) -> dict[str, float]:
        """Encode, retrieve and measure, like the host; return the means by name."""
        self.scores, self.runs = {}, {}
        means: dict[str, float] = super().__call__(model, *rest, **options)
        return means

    def compute_metrics(self, queries_result_list: list[Any]) -> dict[str, dict[Any, float]]:
        """Compute the host's and the additional measures of the retrieved lists, for one score function."""
        lists = zip(self.queries_ids, queries_result_list, strict=True)
        run = {query: {hit["corpus_id"]: hit["score"] for hit in hits} for query, hits in lists}
        if len(self.scores) == len(self.score_functions):  # a second round without a new call
            self.scores, self.runs = {}, {}
        name = list(self.score_functions)[len(self.scores)]
        self.runs[name] = run
        self.scores[name] = gf.evaluate(self._judged, run, self._asked, **self._options)
        means: dict[str, dict[Any, float]] = {key: {} for key in _OURS}
        for measure, (key, k) in self._keys.items():
            means[key][k] = self.scores[name][measure]
        for measure in self._added:
            means[measure] = {
                None: self.scores[name][measure]
            }  # the name already contains the cutoff
        return means


class RerankingEvaluator(_host.RerankingEvaluator):  # type: ignore[misc, unused-ignore]
    """The host's evaluator of reranking, with grades: it encodes and writes; gainful measures.

    Args:
        samples: dicts with a query, positive texts (`{text: grade}`, or texts with grade 1), and negative
            texts (with grade 0).
        *rest: the host's other arguments, in its order.
        measures: additional measures, as text or as Measures, next to map, mrr@k and ndcg@k.
        policy: as in `evaluate_arrays`; ties are averaged by default.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate_arrays`.
        **options: the host's other arguments: at_k, batch_size, name ….

    Attributes:
        scores: the `Scores` of the last call; queries are numbered in the order of the samples.
    """

    def __init__(
        self,
        samples: object,
        *rest: object,
        measures: Measures = (),
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
        **options: object,
    ) -> None:
        listed = samples.values() if isinstance(samples, Mapping) else samples
        with_lists = [_with_lists(s) for s in arguments.listed(listed, "samples", _SAMPLES)]
        super().__init__(with_lists, *rest, **options)
        if not self.samples:
            raise InputError("samples", "some with a positive and a negative text", "none")
        left_out = len(with_lists) - len(self.samples)
        _tell_left_out(left_out, "sample", "has no positive text, or no negative one")
        ours = {"map": "AP", "mrr": f"RR@{self.at_k}", "ndcg": f"nDCG@{self.at_k}"}
        added = _as_list(measures)
        self._keys = ours
        self._added = _names(added, dialect)
        self._measures = RankingMeasures((*ours.values(), *added), policy=policy, dialect=dialect)
        graded = [_graded_texts(sample) for sample in self.samples]
        self._texts = [texts for texts, _ in graded]
        self._grades = [grade for _, grades in graded for grade in grades]
        self._measured([0.5] * len(self._grades))  # raises errors before a model is trained
        self.scores: gf.results.Scores | None = None

    def __call__(self, model: object, *rest: object, **options: object) -> dict[str, float]:
        """Encode and measure, like the host; return the means by name."""
        means: dict[str, float] = super().__call__(model, *rest, **options)
        if self.scores is not None:
            added = {measure: self.scores[measure] for measure in self._added}
            means |= self.prefix_name_to_metrics(added, self.name)
        return means

    def compute_metrics(self, model: object) -> dict[str, float]:
        """Encode the texts, all together or sample by sample, and measure."""
        queries = [sample["query"] for sample in self.samples]
        if self.use_batched_encoding:
            scores = self._scored(model, queries, self._texts)
        else:
            pairs = zip(queries, self._texts, strict=True)
            scores = [
                score for query, some in pairs for score in self._scored(model, [query], [some])
            ]
        self.scores = self._measured(scores)
        return {key: self.scores[measure] for key, measure in self._keys.items()}

    def _measured(self, scores: list[float]) -> "gf.results.Scores":
        group = [len(texts) for texts in self._texts]
        return self._measures.scores(self._grades, scores, group=group)

    def _scored(self, model: object, queries: list[Any], texts: list[list[Any]]) -> list[float]:
        """Return the score of every text of every query."""
        every = [text for some in texts for text in some]
        bar = {"show_progress_bar": self.show_progress_bar}
        asking = self.embed_inputs(model, queries, encode_fn_name="query", **bar)
        documents = self.embed_inputs(model, every, encode_fn_name="document", **bar)
        scores: list[float] = []
        start = 0
        for query, some in zip(asking, texts, strict=True):
            part = self.similarity_fct(query, documents[start : start + len(some)])
            scores += part.reshape(-1).double().cpu().tolist()
            start += len(some)
        return scores


def _as_list(measures: Measures) -> list[Any]:
    return list(measures) if isinstance(measures, list | tuple) else [measures]


def _names(measures: list[GivenMeasure], dialect: GivenDialect | None) -> tuple[str, ...]:
    """Return the names of measures as the caller wrote them."""
    if not measures:
        return ()
    return RankingMeasures((measures,), policy=None, dialect=dialect).names


def _grades(documents: object, query: object) -> dict[Any, Any]:
    """Return the grades of documents; documents of a set have grade 1."""
    if isinstance(documents, Mapping):
        return dict(documents)
    if isinstance(documents, Set | list | tuple):
        try:
            return dict.fromkeys(documents, 1)
        except TypeError:  # a list of lists, which aren't ids
            pass
    expected = "{doc: grade}, or a set of documents"
    raise InputError(f"relevant_docs, query {query!r}", expected, shown(documents))


def _with_lists(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a sample, with single texts as lists, because older versions require lists."""
    if not isinstance(sample, Mapping) or not {"query", "positive", "negative"} <= sample.keys():
        raise InputError("samples", _SAMPLES, shown(sample))
    texts = {key: sample[key] for key in ("positive", "negative")}
    for key, value in texts.items():
        if not isinstance(value, str | list | tuple | Mapping | Set):
            raise InputError(f"samples, {key}", "texts", shown(value))
    return {
        **sample,
        **{key: [value] if isinstance(value, str) else value for key, value in texts.items()},
    }


def _graded_texts(sample: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the texts of a sample, and their grades."""
    positive, negative = sample["positive"], list(sample["negative"])
    grades = [*positive.values()] if isinstance(positive, Mapping) else [1] * len(positive)
    return [*positive, *negative], grades + [0] * len(negative)


def _tell_left_out(count: int, what: str, why: str) -> None:
    if count:
        warn(f"{count} × a {what} that {why}: left out, as sentence-transformers does.")
