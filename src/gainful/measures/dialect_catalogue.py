"""The dialects: one entry per tool."""

import difflib
from collections.abc import Iterable

from gainful.errors import MeasureError
from gainful.measures.policy import Policy
from gainful.measures.tool_dialect import Dialect, Grades
from gainful.measures.written_numbers import Range
from gainful.message_texts import shown

_LONGEST = 100  # characters; longer names get no suggestion
_NEAREST = 3  # names to suggest
_HIGHEST_OF_GDEVAL, _LABELS_OF_LIGHTGBM, _HIGHEST_OF_XGBOOST = 4, 31, 31

_WHOLE = Grades(
    Range(whole=True),
    "integer grades",
    "trec_eval reads whole numbers and truncates fractions.",
)
_NO_FLOATS = Grades(
    Range(whole=True),
    "integer grades",
    "pytrec_eval raises a TypeError for grades that are floats.",
)
_RANX = Grades(Range(whole=True), "integer grades", "ranx keeps grades as integers.")
_GDEVAL = Grades(
    Range(most=_HIGHEST_OF_GDEVAL, whole=True),
    "integer grades up to 4",
    "gdeval.pl ends with an error for a higher grade.",
)
_NOT_NEGATIVE = Grades(
    Range(0),
    "non-negative grades",
    "ndcg_score raises a ValueError for a negative y_true; dcg_score accepts it.",
    family="nDCG",
)
_LIGHTGBM = Grades(
    Range(0, _LABELS_OF_LIGHTGBM - 1, whole=True),
    "integer grades from 0 to 30",
    "LightGBM uses labels as indices into label_gain, which has 31 entries.",
)
_XGBOOST = Grades(
    Range(0, _HIGHEST_OF_XGBOOST, whole=True),
    "integer grades from 0 to 31",
    "With its exponential gain, XGBoost rejects other labels; with ndcg_exp_gain=False it accepts them.",
    gain="exp2",
)
_PADDING = Grades(
    Range(0), "non-negative grades", "A negative label marks padding, which is ignored."
)
_RATED = Grades(
    Range(0, above=True),
    "grades above 0",
    "Every row of the ground truth counts as relevant, so leave out documents that aren't.",
)

_TREC = {"ties": "doc", "negative": "zero", "missing": "skip"}
_IN_LIST = {"ideal": "retrieved"}
_EXP2 = {"gain": "exp2"}
_OPEN = "The order of ties depends on the tool's sorting algorithm."
_SINGLE = "Computed in single precision."
_GIVEN = "The tool uses a list in the given order."
_BELOW = "The tool also divides by an ideal below 0; here such a query counts as one without relevant documents."

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
        "with trec_eval's option -c.",
    ),
    Dialect(
        "pytrec_eval",
        "pytrec_eval and pytrec-eval-terrier, which are trec_eval 9",
        policy=Policy(**_TREC, precision="single"),
        grades=_NO_FLOATS,
        note="A missing query has no entry in the result, so means over the result leave it out.",
    ),
    Dialect(
        "ir_measures",
        "ir_measures, nDCG from its default provider, pytrec_eval",
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
        note="Its ERR@20 is ERR(max=4)@20, which also leaves out topics without a relevant document.",
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
        note="The tool raises an error for a list with a single document.",
    ),
    Dialect(
        "torchmetrics",
        "torchmetrics, RetrievalNormalizedDCG",
        settings=_IN_LIST,
        policy=Policy(ties="average", negative="both", missing="skip", precision="single"),
        names={"RetrievalNormalizedDCG": "nDCG", "retrieval_normalized_dcg": "nDCG"},
        lists=True,
        note=f"{_SINGLE} The tool scores 0 for a query whose grades sum to 0, even if some are positive. {_BELOW}",
    ),
    Dialect(
        "lightgbm",
        "LightGBM, metric ndcg",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="order", empty="one", missing="skip"),
        grades=_LIGHTGBM,
        lists=True,
        note="Without eval_at, the tool uses the cutoffs 1, 2, 3, 4 and 5; specify the cutoffs here. "
        "With query weights, a query without any gain counts as 1, whatever its weight.",
        weighs_empty=False,
    ),
    Dialect(
        "xgboost",
        "XGBoost 2 and later, metric ndcg (ndcg@k- has empty=zero)",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="order", empty="one", missing="skip", precision="single"),
        cutoff=32,
        grades=_XGBOOST,
        lists=True,
        note="Without a cutoff, the tool uses 32. With query weights, a query without any gain counts as "
        "1, whatever its weight.",
        weighs_empty=False,
    ),
    Dialect(
        "catboost",
        "CatBoost, NDCG with type=Base",
        settings=_IN_LIST,
        policy=Policy(ties="worst", negative="both", empty="one", missing="skip"),
        lists=True,
        note="type=Exp is gain=exp2; denominator=Position is discount=reciprocal.",
    ),
    Dialect(
        "tf-ranking",
        "TF-Ranking, NDCGMetric",
        settings=_EXP2 | _IN_LIST,
        policy=Policy(ties="average", missing="skip", precision="single"),
        names={"NDCGMetric": "nDCG", "DCGMetric": "DCG"},
        grades=_PADDING,
        ties="The tool breaks ties at random; gainful averages over all orders.",
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
        "kaggle",
        "Kaggle, NDCG@k in its competitions",
        settings=_EXP2,
        policy=Policy(ties="order", negative="both", empty="one"),
        ties="A submission is a list, so there are no ties.",
        note="The ideal consists of all labels in the solution, cut at k. An item without a label has grade 0. The tool "
        "scores 0 if the ideal is below 0; here such a query counts as one without relevant documents.",
    ),
    Dialect(
        "elasticsearch",
        "Elasticsearch and OpenSearch, rank_eval dcg with normalize",
        settings=_EXP2 | {"depth": "retrieved"},
        policy=Policy(ties="order", negative="both", missing="skip"),
        cutoff=10,
        ties="The engine returns a list, so there are no ties.",
        note="The ideal is cut at the number of hits returned.",
    ),
    Dialect(
        "quepid",
        "Quepid, nDCG@10 (NDCG_CUT@10 has depth=cutoff)",
        settings=_EXP2 | {"depth": "all"},
        policy=Policy(ties="order", missing="skip"),
        names={"NDCG_CUT": "nDCG(depth=cutoff)"},
        cutoff=10,
        ties="The engine returns a list, so there are no ties.",
        note="The ideal is not cut.",
    ),
    Dialect(
        "beir",
        "BEIR, which calls pytrec_eval",
        policy=Policy(**_TREC, precision="single", drop_self="run"),
        grades=_NO_FLOATS,
        digits=5,
        note="Documents with the same id as their query are removed from the results, but not from the judgments.",
        faults="BEIR modifies the results passed to it: documents with the same id as their query are deleted from them.",
    ),
    Dialect(
        "ntcir",
        "NTCIREVAL, nDCG",
        settings={"discount": "jarvelin", "base": 2},
        policy=Policy(ties="order", empty="error"),
        names={"MSnDCG": "nDCG(discount=log)"},
        ties=_GIVEN,
        note="The tool receives its gains as a table: gain={1: 1, 2: 3}. MSnDCG has discount=log.",
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
        note="With relevances (3.4 and later), it is gain=exp2 if the labels are sorted by descending relevance. If "
        "they aren't, the tool uses their order as the ideal, which gainful does not reproduce. PySpark 4.3 ignores relevances.",
    ),
    Dialect(
        "recommenders",
        "Microsoft recommenders, ndcg_at_k",
        settings={"gain": "binary"},
        policy=Policy(ties="order", empty="skip"),
        names={"ndcg_at_k": "nDCG"},
        cutoff=10,
        grades=_RATED,
        note="score_type=raw is gain=linear; score_type=exp is gain=exp2.",
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
        note="Without a field of gains it is gain=binary. The value of a query without relevant documents is NaN, but "
        f"counts as 0 in the means of RunAnalysis. {_BELOW}",
    ),
    Dialect(
        "sentence-transformers",
        "sentence-transformers, InformationRetrievalEvaluator",
        settings={"gain": "binary"},
        policy=Policy(ties="doc_ascending", missing="skip", empty="skip"),
        cutoff=10,
        note="In 6.2, ties are ordered by ascending id; in older versions, by their position in a heap. Its map@k is "
        "AP(denominator=min)@k.",
        faults="The tool does not support grades: every document in relevant_docs counts as 1.",
    ),
    Dialect(
        "mteb",
        "MTEB, retrieval tasks, which call pytrec_eval",
        policy=Policy(**_TREC, precision="single"),
        grades=_NO_FLOATS,
        digits=5,
        note="Tasks with ignore_identical_ids work like BEIR, with drop_self=run.",
    ),
    Dialect(
        "mlflow",
        "MLflow, mlflow.metrics.ndcg_at_k",
        settings={"gain": "binary", "depth": "retrieved"},
        policy=Policy(ties="order"),
        names={"ndcg_at_k": "nDCG", "recall_at_k": "R"},
        cutoff=3,
        ties=_GIVEN,
        note="Without a cutoff it uses 3, the default of model_type='retriever'.",
        faults="The ideal is cut at the number of documents returned: a list that returns only one of five relevant documents "
        "scores 1.0 at 5 instead of 0.339 (issue 24541). A repeated id counts twice, also in the "
        "ideal; up to 3.16, the id "
        "generated for the repetition could match another document's (issue 25965).",
    ),
    Dialect(
        "llamaindex",
        "LlamaIndex, NDCG from its retrieval metrics",
        settings={"gain": "binary", "depth": "all"},
        policy=Policy(ties="order", missing="error", empty="error"),
        ties=_GIVEN,
        note="The tool raises an error for a query without expected ids or without retrieved ids.",
        faults="A repeated id counts twice: if the only expected document is returned twice, the value is 1.63 (pull request "
        "22683). The ideal contains all expected ids, so a list with fewer documents cannot reach 1.",
    ),
    Dialect(
        "haystack",
        "Haystack, DocumentNDCGEvaluator",
        settings={"depth": "all"},
        policy=Policy(ties="order", negative="both"),
        ties=_GIVEN,
        note="If the expected documents have no scores, it is gain=binary. The tool has no cutoff: it uses the whole list.",
        faults="The gain is the Document.score of the expected documents, so a score that a retriever left there counts as a "
        "grade. Documents with the same text count as the same document, unless document_comparison_field is set. Until July "
        "2026, a repeated document counted twice (pull request 11959).",
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
        note="The tool has no nDCG. A model or text similarity decides which contexts are relevant; "
        "id_based_context_precision compares ids.",
        faults="It divides by the number of relevant documents returned, so relevant documents that were not returned cost "
        "nothing: a list with one of five relevant documents at the top scores 1.",
        average="found",
        has_ndcg=False,
    ),
    Dialect(
        "vespa",
        "Vespa, pyvespa's VespaEvaluator with sets of relevant documents",
        settings={"gain": "binary"},
        policy=Policy(ties="order", empty="skip"),
        cutoff=10,
        ties="The engine returns a list, so there are no ties.",
        note="With grades, which must be between 0 and 1, it is gain=linear, and nDCG is the only measure.",
        average="min",
    ),
    Dialect(
        "opensearch-workbench",
        "OpenSearch's search relevance workbench, NDCG@k",
        settings=_EXP2,
        policy=Policy(ties="order", negative="both", missing="skip"),
        digits=2,
        ties="The engine returns a list, so there are no ties.",
        faults="A repeated id counts twice, so values above 1 occur, such as 1.31 (issue 191). The value of every "
        "query is rounded to two decimals before averaging, which can change the mean by 0.005.",
    ),
)
"""The dialects, in the order of the documentation."""

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
"""Alternative names of dialects."""


def dialects() -> tuple[Dialect, ...]:
    """Return every dialect.

    >>> [dialect.name for dialect in dialects()[:2]]
    ['trec_eval-9', 'trec_eval-10']
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


def counts_empty_once(name: str | None) -> bool:
    """Return whether a tool gives queries without any gain no weight in its weighted means.

    >>> counts_empty_once("lightgbm"), counts_empty_once("catboost"), counts_empty_once(None)
    (True, False, False)
    """
    return any(each.name == name and not each.weighs_empty for each in DIALECTS)


def faults_of(names: Iterable[str]) -> list[str]:
    """Return a line on each of these tools that has known faults.

    >>> faults_of(["beir", "gainful"])
    ['known fault of beir: BEIR modifies the results passed to it: documents with the same id as their query are deleted from them.']
    """
    faults = {each.name: each.faults for each in DIALECTS if each.faults}
    return [
        f"known fault of {name}: {faults[name]}" for name in dict.fromkeys(names) if name in faults
    ]


def _suggestion(near: str, names: list[str]) -> str:
    """Suggest the nearest names, and list all of them."""
    near = near if len(near) <= _LONGEST else ""
    close = difflib.get_close_matches(near.casefold(), names, n=_NEAREST, cutoff=0.5)
    told = " or ".join(f"'{name}'" for name in close)
    others = [name for name in names if name not in close]
    hint = f"Did you mean {told}? " if close else ""
    return f"{hint}Choices: {', '.join([*close, *others])}."
