"""Suggestions for names that the catalogue does not have, by meaning, then by spelling.

The tables contain the names that people use for measures elsewhere, and only lead to a suggestion. A name that
another tool writes in its own notation is a `Spelling` in the catalogue, and is accepted.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from gainful.measures.measure_family import NEVER, Family
from gainful.message_texts import did_you_mean

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "Success": (
        "hit", "hit_ratio", "hits_rate", "hit_or_miss", "one_hit", "any_hit",
        "accuracy", "acc", "top_k_accuracy", "top_k", "top_n", "retrieval_accuracy",
    ),
    "RR": ("reciprocal_rank", "mrr_score", "mean_rr", "inverse_rank", "first_relevant"),
    "AP": ("average_precision", "mean_ap", "avg_prec", "context_precision", "lrap",
           "label_ranking_average_precision", "pr_auc", "area_under_precision_recall"),
    "P": ("prec", "top_k_precision", "relevant_share"),
    "R": ("rec", "sensitivity", "true_positive_rate", "tpr", "context_recall", "top_k_recall"),
    "F": ("f_score", "f_measure", "fbeta", "f1_measure", "dice"),
    "F(beta=2)": ("f2",),
    "F(beta=0.5)": ("f05",),
    "nDCG": ("normalized_discounted_cumulative_gain", "normalised_discounted_cumulative_gain",
             "normalized_dcg", "normalised_dcg", "normalized_gain", "dcg_normalized"),
    "DCG": ("discounted_cumulative_gain", "discounted_gain"),
    "CG": ("cumulative_gain", "gain", "total_gain", "graded_precision"),
    "IDCG": ("ideal_dcg", "max_dcg", "ideal"),
    "ERR": ("expected_reciprocal_rank", "cascade"),
    "RBP": ("rank_biased_precision",),
    "Rprec": ("precision_at_r",),
    "GMAP": ("geometric_map", "geometric_mean_average_precision"),
    "bpref": ("binary_preference", "preference"),
    "infAP": ("inferred_ap", "inferred_average_precision"),
    "iprec": ("interpolated_precision", "precision_at_recall"),
    "11pt": ("eleven_point", "interpolated_average_precision"),
    "Compat": ("compatibility", "rbo_with_ideal"),
    "NumRelRet": ("hit_count", "num_hits", "true_positives", "tp"),
    "NumRet": ("retrieved", "num_retrieved", "num_results"),
    "NumRel": ("num_relevant", "positives"),
    "NumQ": ("num_queries", "queries", "query_count"),
    "Judged": ("judged_at", "judgement_coverage", "judgment_coverage", "labelled", "labeled"),
    "Unjudged": ("unlabelled", "unlabeled", "holes", "missing_judgments"),
}  # fmt: skip
"""Names used elsewhere, by the measure they mean."""

SUBTOPIC_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "alpha_nDCG": ("novelty", "diversity", "diversified_ndcg", "diverse_ndcg", "redundancy", "alpha",
                   "ndcg", "nDCG_IA"),
    "alpha_DCG": ("dcg",),
    "strec": ("subtopic_recall", "s_recall", "subtopic_coverage", "aspect_recall", "aspect_coverage",
              "intent_recall", "intent_coverage", "recall", "R"),
    "P_IA": ("precision", "P", "intent_precision"),
    "AP_IA": ("average_precision", "AP", "MAP"),
    "ERR_IA": ("expected_reciprocal_rank", "ERR"),
    "NRBP": ("RBP",),
}  # fmt: skip
"""Names used elsewhere for measures of queries with subtopics; used only if such a measure is required."""

RECOMMENDATION_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "Coverage": ("aggregate_diversity", "catalogue", "distinct_items"),
    "Gini": ("gini_coefficient", "inequality", "concentration"),
    "Entropy": ("shannon", "distributional_coverage"),
    "Personalisation": ("personal", "inter_user_diversity", "uniqueness"),
    "Novelty": ("mean_self_information", "mean_inverse_user_frequency", "surprisal", "unpopularity"),
    "Popularity": ("popularity_bias", "average_recommendation_popularity", "avg_rec_popularity", "mean_popularity"),
    "ILD": ("diversity", "intra_list_similarity", "ils", "intralist", "category_diversity"),
    "Serendipity": ("unexpectedness", "surprise"),
    "HitRate": ("hit", "hits", "hit_ratio", "segment_hit_rate", "success"),
    "Miscalibration": ("kl_divergence", "kullback_leibler", "calibrated_recommendations", "calibration_kl"),
    "Exposure": ("exposure_share", "fair_exposure"),
    "AWRF": ("fairness", "rank_fairness", "fair_ranking"),
    "ExposureParity": ("statistical_parity", "exposure_ratio", "parity"),
    "EE_L": ("expected_exposure", "expected_exposure_loss", "eel"),
    "EE_D": ("expected_exposure_disparity", "eed"),
    "EE_R": ("expected_exposure_relevance", "eer"),
}  # fmt: skip
"""Names used elsewhere for measures of recommendations beyond relevance; used only if such a measure is required."""

# Words that always mean subtopics.
_ABOUT_SUBTOPICS = ("novelty", "diversity", "diversified_ndcg", "diverse_ndcg", "redundancy",
                    "subtopic_recall", "s_recall", "subtopic_coverage", "aspect_recall",
                    "aspect_coverage", "intent_recall", "intent_coverage", "nDCG_IA",
                    "intent_precision")  # fmt: skip

_ORDER_OF_TWO = "It compares two rankings, as {0} does."
_PREDICTIONS = "It measures predicted numbers, not a ranking."
_ITEMS = "It measures items, not their relevance: gainful measures --recommend lists such measures."
_TEXTS = "It measures generated texts, not a ranking."
_SAMPLED = (
    "It needs judgments that were sampled from the strata of a pool, and is available only in Python: "
    "gf.judging.{0}(samples, run)."
)
NOT_MEASURED: Mapping[str, tuple[str, ...]] = {
    _ORDER_OF_TWO.format("gf.statistics.kendall_tau()"): (
        "kendall", "tau", "kendalltau", "spearman", "footrule"),
    _ORDER_OF_TWO.format("gf.statistics.rbo()"): (
        "rbo", "overlap", "jaccard", "rank_biased_overlap"),
    _ORDER_OF_TWO.format("gf.statistics.tau_ap()"): ("tau_ap",),
    _SAMPLED.format("inferred_ndcg"): (
        "inf_ndcg", "inferred_ndcg", "xinf_ndcg", "inferred_normalized_discounted_cumulative_gain",
        "inferred_normalised_discounted_cumulative_gain"),
    _SAMPLED.format("inferred_ap"): ("xinf_ap", "extended_inferred_ap", "inf_map"),
    "The closest measure is 'bpref' (binary preference): are relevant documents above the others?": (
        "auc", "roc", "roc_auc", "auroc", "pairwise_accuracy", "concordance"),
    _PREDICTIONS: ("mse", "rmse", "mae", "log_loss", "logloss", "r2", "pearson", "correlation"),
    _ITEMS: ("popularity_bias", "intra_list_similarity", "unexpectedness"),
    _TEXTS: ("bleu", "rouge", "faithfulness", "groundedness", "answer_relevancy",
             "answer_relevance", "bertscore", "exact_match", "perplexity"),
    "Kaggle's form of nDCG is a dialect: --dialect kaggle, or dialect='kaggle' in Python.": ("kaggle",),
    "The two forms of DCG in Wikipedia are DCG and DCG(gain=exp2); divided by their ideals, nDCG and nDCG(gain=exp2).": (
        "wikipedia",),
    "It measures clicks, not a ranking; to use clicks, pass them as grades in the judgments.": ("ctr", "clicks", "click"),
}  # fmt: skip
"""Names of quantities that gainful does not measure, by the hint to print."""

_FOR_SUBTOPICS = (
    "It is for queries with subtopics: pass subtopics=…, or use gf.subtopics.evaluate_subtopics()."
)
_ALSO_OF_ITEMS = {"novelty": "Novelty", "diversity": "ILD"}  # which also exist for recommendations
_FOR_RECOMMENDATIONS = "For recommendations, use '{0}', which needs items=… or history=…."
_USUAL = "Common measures are nDCG, P, R, AP, RR and Success."
_ALL = "gainful measures, or gf.measures.families(), lists all measures."
_BEFORE = ("mean", "average", "avg", "macro")  # ignored, because measures are averaged anyway
_BEHIND = ("score", "metric", "measure", "atk", "at", "evaluator")
_LONGEST = 100  # characters; longer texts get no suggestion
_ALIKE = (
    0.7  # the lowest similarity of a suggestion: 'hit' isn't 'INST', 'novelty' isn't 'NumNonrelRet'
)


def suggest(name: object, families: Sequence[Family]) -> str:
    """Suggest a measure for a name that these families do not have.

    >>> from gainful.measures.measure import catalogue
    >>> suggest("HitRate", catalogue(needs="grades"))
    "Did you mean 'Success' (success, or hit rate)? gainful measures, or gf.measures.families(), lists all measures."
    >>> suggest("rmse", catalogue(needs="grades"))
    'It measures predicted numbers, not a ranking.'
    """
    word = _word(name)
    said = hint_of_subtopics(word) or _not_measured(word)
    if said:
        return said
    meant = _by_meaning(word, families, SYNONYMS) or _by_letters(word, families, SYNONYMS)
    return f"{_asked(meant, families)} {_ALL}" if meant else f"{_USUAL} {_ALL}"


def suggest_subtopic_measure(
    name: object, families: Sequence[Family], others: Sequence[Family]
) -> str:
    """Suggest a measure for queries with subtopics.

    Args:
        name: the unknown name.
        families: the measures for queries with subtopics.
        others: the measures for queries without subtopics.
    """
    word = _word(name)
    meant = _by_meaning(word, families, SUBTOPIC_SYNONYMS)
    other = None if meant else _by_meaning(word, others, SYNONYMS)
    if other:
        return f"Did you mean 'IA({other})', its intent-aware version?"
    said = _not_measured(word)
    if said and not meant:
        return said
    meant = meant or _by_letters(word, families, SUBTOPIC_SYNONYMS)
    names = ", ".join(family.name for family in families)
    said = _asked(meant, families) if meant else f"Choices: {names}."
    return f"{said} For any other measure M, write IA(M)."


def suggest_recommendation_measure(name: object, families: Sequence[Family]) -> str:
    """Suggest a measure of recommendations for an unknown name.

    >>> from gainful.measures.catalogue.recommendations import FAMILIES
    >>> suggest_recommendation_measure("unexpectedness", FAMILIES)
    "Did you mean 'Serendipity' (serendipity)?"
    """
    word = _word(name)
    meant = _by_meaning(word, families, RECOMMENDATION_SYNONYMS) or _by_letters(
        word, families, RECOMMENDATION_SYNONYMS
    )
    if meant:
        return _asked(meant, families)
    names = ", ".join(family.name for family in families)
    return f"Choices: {names}. For measures of relevance, use gf.evaluate() or gainful evaluate."


def suggest_among(written: object, names: Iterable[str], families: Sequence[Family]) -> str:
    """Suggest one of several measures in notation, and list them all.

    >>> from gainful.measures.measure import catalogue
    >>> suggest_among("HitRate@10", ["nDCG@10", "Success@10"], catalogue(needs="grades"))
    "Did you mean 'Success@10'? Choices: nDCG@10, Success@10."
    >>> suggest_among("ndcg@10", ["nDCG(gain=exp2)@10", "unjudged"], catalogue(needs="grades"))
    "Did you mean 'nDCG(gain=exp2)@10'? Choices: nDCG(gain=exp2)@10, unjudged."
    """
    listed = list(names)
    name, at, cutoff = _word(written).partition("@")
    meant = _by_meaning(name.partition("(")[0], families, SYNONYMS)
    for wanted in (f"{meant}{at}{cutoff}", meant):
        if wanted in listed:
            return did_you_mean(wanted, listed)
    same = [each for each in listed if meant and re.split(r"[@(]", each)[0] == meant]
    return did_you_mean(_closest(written, same) if same else written, listed)


def _closest(written: object, names: Sequence[str]) -> str:
    """Return the most similar of several names."""
    import difflib

    return difflib.get_close_matches(_word(written), names, n=1, cutoff=0)[0]


def hint_of_subtopics(text: str) -> str:
    """Suggest the measure for queries with subtopics that a word means; "" if it means none.

    >>> hint_of_subtopics("subtopic-recall@10")
    "Did you mean 'strec'? It is for queries with subtopics: pass subtopics=…, or use gf.subtopics.evaluate_subtopics()."
    >>> hint_of_subtopics("nope")
    ''
    """
    name = re.split(r"[@(]", text)[0].strip().casefold()
    if _plain(name) not in map(_plain, _ABOUT_SUBTOPICS):
        return ""
    meant = next(iter(_targets(name, SUBTOPIC_SYNONYMS)))
    also = _ALSO_OF_ITEMS.get(name)
    other = f" {_FOR_RECOMMENDATIONS.format(also)}" if also else ""
    return f"Did you mean '{meant}'? {_FOR_SUBTOPICS}{other}"


def _asked(meant: str, families: Sequence[Family]) -> str:
    name = re.split(r"[@(]", meant)[0]
    title = next(family.title for family in families if family.name == name)
    if title[1:2].islower():
        title = title[0].lower() + title[1:]
    return f"Did you mean '{meant}' ({title})?"


def _not_measured(word: str) -> str:
    return next(iter(_targets(word, NOT_MEASURED)), "")


def _targets(word: str, table: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [meant for meant, words in table.items() if _plain(word) in map(_plain, words)]


def _word(name: object) -> str:
    return name if isinstance(name, str) and len(name) <= _LONGEST else ""


def _by_meaning(
    word: str, families: Sequence[Family], synonyms: Mapping[str, tuple[str, ...]]
) -> str | None:
    """Return the notation of the measure that a word means; None if the tables lack the word."""
    known = _known(families, synonyms)
    plain = _plain(word)
    for reading in _readings(plain):
        if reading in known:
            return known[reading]
    letters = plain.rstrip("0123456789")
    digits = plain[len(letters) :]
    if digits.strip("0") and letters in known and _takes_cutoff(known[letters], families):
        return f"{known[letters]}@{digits.lstrip('0')}"
    return None


def _by_letters(
    word: str, families: Sequence[Family], synonyms: Mapping[str, tuple[str, ...]]
) -> str | None:
    """Return the measure whose name is spelled most like a word."""
    import difflib

    known = _known(families, synonyms)
    close = difflib.get_close_matches(_plain(word), known, n=1, cutoff=_ALIKE)
    return known[close[0]] if close else None


def _takes_cutoff(meant: str, families: Sequence[Family]) -> bool:
    return any(family.name == meant and family.cutoff != NEVER for family in families)


def _known(families: Sequence[Family], synonyms: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the measure of every plain word: a name, a spelling or a synonym."""
    known = {_plain(word): meant for meant, words in synonyms.items() for word in words}
    for family in families:
        known |= {_plain(spelling.name): family.name for spelling in family.spellings}
    return known | {_plain(family.name): family.name for family in families}


def _readings(plain: str) -> Iterable[str]:
    """Yield a word, and the word without redundant parts such as "mean" or "score"."""
    yield plain
    for before in ("", *_BEFORE):
        for behind in ("", *_BEHIND):
            if plain.startswith(before) and plain.endswith(behind):
                yield plain.removeprefix(before).removesuffix(behind)


def _plain(word: str) -> str:
    """Return the letters and digits of a word, in lower case."""
    return "".join(character for character in word.casefold() if character.isalnum())
