"""The dialects: one row for each tool."""

import difflib
from collections.abc import Iterable

from gainful.errors import MeasureError
from gainful.measures.dialect import Dialect, Grades
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import Range
from gainful.message_texts import shown

_LONGEST = 100  # no name is nearly as long
_NEAREST = 3  # names that are suggested for another
_HIGHEST_OF_GDEVAL, _LABELS_OF_LIGHTGBM, _HIGHEST_OF_XGBOOST = 4, 31, 31

_WHOLE = Grades(
    Range(whole=True),
    "whole grades",
    "trec_eval reads whole numbers and cuts off what follows the point.",
)
_NO_FLOATS = Grades(
    Range(whole=True), "whole grades", "pytrec_eval raises a TypeError for grades that are floats."
)
_RANX = Grades(Range(whole=True), "whole grades", "ranx keeps grades as integers.")
_GDEVAL = Grades(
    Range(most=_HIGHEST_OF_GDEVAL, whole=True),
    "whole grades up to 4",
    "gdeval.pl ends with an error for a higher grade.",
)
_NOT_NEGATIVE = Grades(
    Range(0),
    "grades from 0",
    "ndcg_score raises a ValueError for negative y_true; dcg_score takes it.",
    family="nDCG",
)
_LIGHTGBM = Grades(
    Range(0, _LABELS_OF_LIGHTGBM - 1, whole=True),
    "whole grades from 0 to 30",
    "LightGBM takes labels as places in label_gain, which has 31 entries.",
)
_XGBOOST = Grades(
    Range(0, _HIGHEST_OF_XGBOOST, whole=True),
    "whole grades from 0 to 31",
    "XGBoost refuses other labels with its exponential gain; ndcg_exp_gain=False takes them.",
    gain="exp2",
)
_PADDING = Grades(Range(0), "grades from 0", "A negative label marks padding, which is left out.")
_RATED = Grades(
    Range(0, above=True),
    "grades above 0",
    "Every row of the truth counts as relevant: leave the others out.",
)

_TREC = {"ties": "doc", "negative": "zero", "missing": "skip"}
_IN_LIST = {"ideal": "retrieved"}
_EXP2 = {"gain": "exp2"}
_OPEN = "The tool leaves the order of ties to its sorting."
_SINGLE = "Computed in single precision."
_GIVEN = "The tool takes a list as it is given."
_BELOW = "It divides by an ideal below 0, too; here such a query is empty."

DIALECTS = (
    Dialect(
        "trec_eval-9",
        "trec_eval 9.0.8, ndcg and ndcg_cut",
        policy=Policy(**_TREC, precision="single"),
        grades=_WHOLE,
        digits=4,
        note="With -c, missing queries count as 0 (policy missing=zero).",
    ),
    Dialect(
        "trec_eval-10",
        "trec_eval 10, ndcg and ndcg_cut",
        policy=Policy(ties="doc", negative="zero", missing="error"),
        grades=_WHOLE,
        digits=4,
        note="Compares scores as float64. With -c, missing queries count as 0.",
        on_missing="The dialect trec_eval-9 leaves such queries out. Without a dialect they count as 0, as "
        "with the option -c of trec_eval.",
    ),
    Dialect(
        "pytrec_eval",
        "pytrec_eval and pytrec-eval-terrier, which are trec_eval 9",
        policy=Policy(**_TREC, precision="single"),
        grades=_NO_FLOATS,
        note="A missing query has no entry in the result, so that means over it leave it out.",
    ),
    Dialect(
        "ir_measures",
        "ir_measures, nDCG by its default provider, pytrec_eval",
        policy=Policy(ties="doc", negative="zero", missing="zero", precision="single"),
        grades=_NO_FLOATS,
        note="Missing queries count as 0.",
    ),
    Dialect(
        "gdeval",
        "gdeval.pl 1.3",
        settings=_EXP2,
        policy=Policy(ties="doc", negative="zero", missing="skip", empty="skip_all"),
        cutoff=20,
        grades=_GDEVAL,
        digits=5,
        note="Its ERR@20 is ERR(max=4)@20, and leaves out topics without a relevant document, too.",
    ),
    Dialect(
        "ranx",
        "ranx, ndcg (ndcg_burges has gain=exp2)",
        policy=Policy(ties="order", negative="zero", missing="error"),
        grades=_RANX,
        ties=_OPEN,
        note="With make_comparable, missing queries count as 0.",
        on_missing="Without a dialect such queries count as 0, as with make_comparable.",
    ),
    Dialect(
        "scikit-learn",
        "scikit-learn, ndcg_score and dcg_score",
        settings=_IN_LIST,
        policy=Policy(ties="average", missing="skip"),
        names={"ndcg_score": "nDCG", "dcg_score": "DCG"},
        grades=_NOT_NEGATIVE,
        lists=True,
        note="A list of one document is an error there.",
    ),
    Dialect(
        "torchmetrics",
        "torchmetrics, RetrievalNormalizedDCG",
        settings=_IN_LIST,
        policy=Policy(ties="average", negative="both", missing="skip", precision="single"),
        names={"RetrievalNormalizedDCG": "nDCG", "retrieval_normalized_dcg": "nDCG"},
        lists=True,
        note=f"{_SINGLE} A query whose grades sum to 0 is 0 there, also if some are positive. {_BELOW}",
    ),
    Dialect(
        "lightgbm",
        "LightGBM, metric ndcg",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="order", empty="one", missing="skip"),
        grades=_LIGHTGBM,
        lists=True,
        note="Without eval_at it is that at 1, 2, 3, 4 and 5: give the cutoffs.",
    ),
    Dialect(
        "xgboost",
        "XGBoost 2 and later, metric ndcg (ndcg@k- has empty=zero)",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="order", empty="one", missing="skip", precision="single"),
        cutoff=32,
        grades=_XGBOOST,
        lists=True,
        note="Without a cutoff it is that at 32.",
    ),
    Dialect(
        "catboost",
        "CatBoost, NDCG with type=Base",
        settings=_IN_LIST,
        policy=Policy(ties="worst", negative="both", empty="one", missing="skip"),
        lists=True,
        note="type=Exp is gain=exp2, denominator=Position is discount=reciprocal.",
    ),
    Dialect(
        "tf-ranking",
        "TF-Ranking, NDCGMetric",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="average", missing="skip", precision="single"),
        names={"NDCGMetric": "nDCG", "DCGMetric": "DCG"},
        grades=_PADDING,
        ties="The tool breaks ties at random; here they are averaged over.",
        lists=True,
    ),
    Dialect(
        "rax",
        "Rax, ndcg_metric",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="order", negative="both", missing="skip", precision="single"),
        names={"ndcg_metric": "nDCG", "dcg_metric": "DCG"},
        lists=True,
        note=f"{_SINGLE} {_BELOW}",
    ),
    Dialect(
        "allrank",
        "allRank, ndcg",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="order", empty="one", missing="skip", precision="single"),
        grades=_PADDING,
        ties=_OPEN,
        lists=True,
    ),
    Dialect(
        "elasticsearch",
        "Elasticsearch and OpenSearch, rank_eval dcg with normalize",
        settings=_EXP2 | {"depth": "retrieved"},
        policy=Policy(ties="order", negative="both", missing="skip"),
        cutoff=10,
        ties="The engine returns a list; documents in it do not tie.",
        note="The ideal is cut at the number of hits.",
    ),
    Dialect(
        "quepid",
        "Quepid, nDCG@10 (NDCG_CUT@10 has depth=cutoff)",
        settings=_EXP2 | {"depth": "all"},
        policy=Policy(ties="order", missing="skip"),
        names={"NDCG_CUT": "nDCG(depth=cutoff)"},
        cutoff=10,
        ties="The engine returns a list; documents in it do not tie.",
        note="The ideal is not cut.",
    ),
    Dialect(
        "beir",
        "BEIR, which calls pytrec_eval",
        policy=Policy(**_TREC, precision="single", drop_self="run"),
        grades=_NO_FLOATS,
        digits=5,
        note="Leaves documents with the id of their query out of the results, and not of the judgments.",
        faults="It changes the results that it is given: these documents are gone from them afterwards.",
    ),
    Dialect(
        "ntcir",
        "NTCIREVAL, nDCG",
        settings={"discount": "jarvelin", "base": 2},
        policy=Policy(ties="order", empty="error"),
        names={"MSnDCG": "nDCG(discount=log)"},
        ties=_GIVEN,
        note="The gains are a table that is given to it: gain={1: 1, 2: 3}. MSnDCG is the discount log.",
    ),
    Dialect(
        "spark-mllib",
        "Spark, RankingMetrics.ndcgAt without relevances",
        settings={"gain": "binary"},
        policy=Policy(ties="order", missing="skip"),
        names={
            "ndcgAt": "nDCG",
            "precisionAt": "P",
            "recallAt": "R",
            "meanAveragePrecision": "AP",
            "meanAveragePrecisionAt": "AP(denominator=min)",
        },
        ties=_GIVEN,
        note="With relevances, from 3.4 on, it is gain=exp2 where the labels come by relevance, descending; in "
        "another order so does its ideal, which no measure here has. PySpark 4.3 leaves relevances out.",
    ),
    Dialect(
        "recommenders",
        "Microsoft recommenders, ndcg_at_k",
        settings={"gain": "binary"},
        policy=Policy(ties="order", empty="skip"),
        names={"ndcg_at_k": "nDCG"},
        cutoff=10,
        grades=_RATED,
        note="score_type raw is gain=linear, exp is gain=exp2.",
    ),
    Dialect(
        "recbole",
        "RecBole, NDCG",
        settings={"gain": "binary"},
        policy=Policy(ties="order", missing="skip"),
        cutoff=10,
        digits=4,
        ties=_OPEN,
    ),
    Dialect(
        "lenskit",
        "LensKit, NDCG with a field of gains",
        settings={"discount": "jarvelin", "base": 2},
        policy=Policy(ties="order", negative="both", missing="skip"),
        ties=_GIVEN,
        note="Without a field of gains it is gain=binary. An empty query is NaN by itself, and 0 in the "
        f"means of RunAnalysis. {_BELOW}",
    ),
    Dialect(
        "sentence-transformers",
        "sentence-transformers, InformationRetrievalEvaluator",
        settings={"gain": "binary"},
        policy=Policy(ties="doc_ascending", missing="skip", empty="skip"),
        cutoff=10,
        note="Ties are ordered by id, the lower first, in 6.2; older versions leave them as they lie in a heap. Its map@k is "
        "AP(denominator=min)@k.",
        faults="It knows no grades: every document in relevant_docs counts as 1.",
    ),
    Dialect(
        "mteb",
        "MTEB, retrieval tasks, which call pytrec_eval",
        policy=Policy(**_TREC, precision="single"),
        grades=_NO_FLOATS,
        digits=5,
        note="In tasks with ignore_identical_ids it is BEIR's, drop_self=run.",
    ),
    Dialect(
        "mlflow",
        "MLflow, mlflow.metrics.ndcg_at_k",
        settings={"gain": "binary", "depth": "retrieved"},
        policy=Policy(ties="order"),
        names={"ndcg_at_k": "nDCG", "recall_at_k": "R"},
        cutoff=3,
        ties=_GIVEN,
        note="Without a cutoff it is that of model_type='retriever', 3.",
        faults="The ideal is cut at the number of documents returned: one relevant document of five, returned alone, has "
        "1.0 at 5 and not 0.339 (issue 24541). An id that is returned twice counts twice, in the ideal, too; up to 3.16 "
        "the id that was made up for the second could be that of another document (issue 25965).",
    ),
    Dialect(
        "llamaindex",
        "LlamaIndex, NDCG of its retrieval metrics",
        settings={"gain": "binary", "depth": "all"},
        policy=Policy(ties="order", missing="error", empty="error"),
        ties=_GIVEN,
        note="A query without expected or without retrieved ids is an error there.",
        faults="An id that is returned twice counts twice: the one expected document, returned twice, has 1.63 (pull request "
        "22683). The ideal has all expected ids, however short the list is, so a list of fewer cannot reach 1.",
    ),
    Dialect(
        "haystack",
        "Haystack, DocumentNDCGEvaluator",
        settings={"depth": "all"},
        policy=Policy(ties="order", negative="both"),
        ties=_GIVEN,
        note="Without scores in the expected documents it is gain=binary. It has no cutoff: the list is what it is given.",
        faults="The gain is Document.score of the expected documents: a score that a retriever left there counts as a grade. "
        "Documents are the same where their texts are, unless document_comparison_field says otherwise. Until July 2026 a "
        "document that was returned twice counted twice (pull request 11959).",
    ),
    Dialect(
        "ragas",
        "ragas, context_precision",
        policy=Policy(ties="order"),
        names={
            "context_precision": "AP(denominator=found)",
            "llm_context_precision_with_reference": "AP(denominator=found)",
            "llm_context_precision_without_reference": "AP(denominator=found)",
            "non_llm_context_precision_with_reference": "AP(denominator=found)",
            "id_based_context_precision": "P",
        },
        ties=_GIVEN,
        note="It has no nDCG. A model, or the likeness of texts, says what is relevant; id_based_context_precision goes by ids.",
        faults="It divides by the relevant documents that were returned, so those that were not cost nothing: one of five, "
        "at the top, has 1.",
        average="found",
        has_ndcg=False,
    ),
    Dialect(
        "vespa",
        "Vespa, VespaEvaluator of pyvespa with sets of relevant documents",
        settings={"gain": "binary"},
        policy=Policy(ties="order", empty="skip"),
        cutoff=10,
        ties="The engine returns a list; documents in it do not tie.",
        note="With grades, which must be from 0 to 1, it is gain=linear, and nDCG is all that it measures.",
        average="min",
    ),
    Dialect(
        "opensearch-workbench",
        "OpenSearch's search relevance workbench, NDCG@k",
        settings=_EXP2,
        policy=Policy(ties="order", negative="both", missing="skip"),
        digits=2,
        ties="The engine returns a list; documents in it do not tie.",
        faults="An id that is returned twice counts twice, so values above 1 occur: 1.31 was reported (issue 191). Every "
        "query is rounded to two decimals before the mean is taken, which may move it by 0.005.",
    ),
)
"""The dialects, in the order of their documentation."""

ALIASES = {
    "trec_eval": "trec_eval-10",
    "sklearn": "scikit-learn",
    "pytrec-eval-terrier": "pytrec_eval",
    "ir-measures": "ir_measures",
    "opensearch": "elasticsearch",
    "tensorflow-ranking": "tf-ranking",
    "spark": "spark-mllib",
    "llama-index": "llamaindex",
    "llama_index": "llamaindex",
    "pyvespa": "vespa",
    "search-relevance": "opensearch-workbench",
}
"""Other names of the same."""


def dialects() -> tuple[Dialect, ...]:
    """Return every dialect.

    >>> len(dialects())
    30
    """
    return DIALECTS


def dialect(name: str | Dialect) -> Dialect:
    """Return the dialect of a tool by its name.

    >>> dialect("sklearn").policy
    Policy(ties='average', missing='skip')
    """
    if isinstance(name, Dialect):
        return name
    word = name.casefold() if isinstance(name, str) else ""
    known = {each.name: each for each in DIALECTS}
    found = known.get(ALIASES.get(word, word))
    if found is None:
        hint = _suggestion(word, [*known, *ALIASES])
        raise MeasureError("dialect", "the name of a tool", shown(name), hint)
    return found


def faults_of(names: Iterable[str]) -> list[str]:
    """Return a line on each of these tools that is known to err, or to mislead.

    >>> faults_of(["beir", "gainful"])
    ['known of beir: It changes the results that it is given: these documents are gone from them afterwards.']
    """
    known = {each.name: each.faults for each in DIALECTS if each.faults}
    return [f"known of {name}: {known[name]}" for name in dict.fromkeys(names) if name in known]


def _suggestion(near: str, names: list[str]) -> str:
    """Suggest names, and list them all, the nearest first."""
    near = near if len(near) <= _LONGEST else ""
    close = difflib.get_close_matches(near.casefold(), names, n=_NEAREST, cutoff=0.5)
    told = " or ".join(f"'{name}'" for name in close)
    others = [name for name in names if name not in close]
    hint = f"Did you mean {told}? " if close else ""
    return f"{hint}Choices: {', '.join([*close, *others])}."
