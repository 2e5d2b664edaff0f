"""sentence-transformers: the evaluators of retrieval and of reranking, with grades and any measures."""

from collections.abc import Mapping, Set
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError, warn
from gainful.integrations.ranking_measures import RankingMeasures
from gainful.integrations.required_hosts import requiring
from gainful.message_texts import shown

with requiring("sentence_transformers"):
    from sentence_transformers.sentence_transformer import evaluation as _host

__all__ = ["InformationRetrievalEvaluator", "RerankingEvaluator"]

# The measures that the host has, by what it calls them.
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

    All that it gives is named as the host names it. nDCG has the grade as gain; what counts documents counts those with
    a grade of 1 or more. With grades of 0 and 1, or sets, the numbers are the host's.

    Args:
        queries: `{query: text}`.
        corpus: `{doc: text}`.
        relevant_docs: `{query: {doc: grade}}`, or `{query: {doc, …}}`, each with grade 1.
        *rest: the host's other arguments, in its order.
        measures: more measures, in the notation or as values, beside those of `ndcg_at_k` and the others. Lists
            end at the deepest of the host's cutoffs; a deeper one here is refused.
        policy: as in `evaluate`; ties are in the order of ids by default, as the host has them.
        dialect: measure as another tool does, as in `evaluate`.
        **options: the host's other arguments: ndcg_at_k, batch_size, corpus_chunk_size, name ….

    Attributes:
        scores: of the last call, the `Scores` of each score function, with the values of each query.
        runs: of the last call, `{query: {doc: score}}` of each score function.
    """

    def __init__(
        self,
        queries: Mapping[Any, Any],
        corpus: Mapping[Any, Any],
        relevant_docs: Mapping[Any, Any],
        *rest: Any,
        measures: Any = (),
        policy: Any = None,
        dialect: Any = None,
        **options: Any,
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
        self._options = {"policy": policy, "dialect": dialect}
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
        """Return the measures that the host asks for: what it calls each, and the cutoff."""
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
        """Refuse what would be cut, and whatever else is wrong, before a model is trained."""
        deepest = max(k for _, k in self._keys.values())
        trial = {query: dict.fromkeys(grades, 0.5) for query, grades in self._judged.items()}
        for measure in gf.evaluate(self._judged, trial, self._asked, **self._options).measures:
            if (measure.cutoff or 0) > deepest:
                raise InputError(
                    "measures",
                    f"cutoffs down to {deepest}, the deepest that the host retrieves to",
                    str(measure),
                    f"Give the host one that is as deep: map_at_k=[{measure.cutoff}].",
                )

    def __call__(self, model: Any, *rest: Any, **options: Any) -> dict[str, float]:
        """Encode, retrieve and measure, as the host does; return the means by their names."""
        self.scores, self.runs = {}, {}
        means: dict[str, float] = super().__call__(model, *rest, **options)
        return means

    def compute_metrics(self, queries_result_list: list[Any]) -> dict[str, dict[Any, float]]:
        """Measure what was retrieved for each query: what the host asks for, for each score function."""
        lists = zip(self.queries_ids, queries_result_list, strict=True)
        run = {query: {hit["corpus_id"]: hit["score"] for hit in hits} for query, hits in lists}
        if len(self.scores) == len(self.score_functions):  # asked again, without a call
            self.scores, self.runs = {}, {}
        name = list(self.score_functions)[len(self.scores)]
        self.runs[name] = run
        self.scores[name] = gf.evaluate(self._judged, run, self._asked, **self._options)
        means: dict[str, dict[Any, float]] = {key: {} for key in _OURS}
        for measure, (key, k) in self._keys.items():
            means[key][k] = self.scores[name][measure]
        for measure in self._added:
            means[measure] = {None: self.scores[name][measure]}  # its name has the cutoff already
        return means


class RerankingEvaluator(_host.RerankingEvaluator):  # type: ignore[misc, unused-ignore]
    """The host's evaluator of reranking, with grades: it encodes and writes; gainful measures.

    Args:
        samples: dicts with a query, and as positive `{text: grade}`, or texts, each with grade 1; as negative,
            texts with grade 0.
        *rest: the host's other arguments, in its order.
        measures: more measures, in the notation or as values, beside map, mrr@k and ndcg@k.
        policy: as in `evaluate_arrays`; ties are averaged by default.
        dialect: measure as another tool does, as in `evaluate_arrays`.
        **options: the host's other arguments: at_k, batch_size, name ….

    Attributes:
        scores: the `Scores` of the last call; queries are numbered as the samples are.
    """

    def __init__(
        self,
        samples: Any,
        *rest: Any,
        measures: Any = (),
        policy: Any = None,
        dialect: Any = None,
        **options: Any,
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
        choices = {"policy": policy, "dialect": dialect}
        self._keys = ours
        self._added = _names(added, dialect)
        self._measures = RankingMeasures((*ours.values(), *added), **choices)
        graded = [_graded_texts(sample) for sample in self.samples]
        self._texts = [texts for texts, _ in graded]
        self._grades = [grade for _, grades in graded for grade in grades]
        self._measured([0.5] * len(self._grades))  # what is wrong is said before a model is trained
        self.scores: gf.results.Scores | None = None

    def __call__(self, model: Any, *rest: Any, **options: Any) -> dict[str, float]:
        """Encode and measure, as the host does; return the means by their names."""
        means: dict[str, float] = super().__call__(model, *rest, **options)
        if self.scores is not None:
            added = {measure: self.scores[measure] for measure in self._added}
            means |= self.prefix_name_to_metrics(added, self.name)
        return means

    def compute_metrics(self, model: Any) -> dict[str, float]:
        """Encode the texts, at once or sample by sample, and measure."""
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

    def _scored(self, model: Any, queries: list[Any], texts: list[list[Any]]) -> list[float]:
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


def _as_list(measures: Any) -> list[Any]:
    return list(measures) if isinstance(measures, list | tuple) else [measures]


def _names(measures: list[Any], dialect: Any) -> tuple[str, ...]:
    """Return the names of measures as they were asked for."""
    if not measures:
        return ()
    return RankingMeasures((measures,), policy=None, dialect=dialect).names


def _grades(documents: Any, query: Any) -> dict[Any, Any]:
    """Return the grades of documents; those of a set have grade 1."""
    if isinstance(documents, Mapping):
        return dict(documents)
    if isinstance(documents, Set | list | tuple):
        try:
            return dict.fromkeys(documents, 1)
        except TypeError:  # lists in a list are no ids
            pass
    expected = "{doc: grade}, or a set of documents"
    raise InputError(f"relevant_docs, query {query!r}", expected, shown(documents))


def _with_lists(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a sample; one text alone is a list of one, which older versions do not know."""
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
