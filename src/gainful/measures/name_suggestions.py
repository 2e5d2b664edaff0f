"""Which measure is meant by a name that the catalogue does not have: by meaning, then by letters.

The tables are of what people call measures elsewhere. What another tool's measure is in ours, in its
own notation, is a `Spelling` of the catalogue, and is read; these names are only answered.
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
    "CG": ("cumulative_gain", "gain", "total_gain"),
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
"""What people call a measure elsewhere, by the measure that they mean."""

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
"""The same of the measures for queries with subtopics, where such a measure is asked for."""

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
}  # fmt: skip
"""The same of the measures of recommendations beyond relevance, where such a measure is asked for."""

# Words that mean subtopics wherever they are given.
_ABOUT_SUBTOPICS = ("novelty", "diversity", "diversified_ndcg", "diverse_ndcg", "redundancy",
                    "subtopic_recall", "s_recall", "subtopic_coverage", "aspect_recall",
                    "aspect_coverage", "intent_recall", "intent_coverage", "nDCG_IA",
                    "intent_precision")  # fmt: skip

_ORDER_OF_TWO = "It compares two rankings, as {0} does."
_PREDICTIONS = "It is of predicted numbers, not of a ranking."
_ITEMS = (
    "It is of the items, not of their relevance: gf.recommending.evaluate_recommendations(), or "
    "gainful recommend."
)
_TEXTS = "It is of generated texts, not of a ranking."
_SAMPLED = (
    "It needs judgments that were sampled from the strata of a pool, and there is no command for it. In "
    "Python: gf.judging.{0}(samples, run)."
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
    "The nearest is 'bpref' (binary preference): are relevant documents above the others?": (
        "auc", "roc", "roc_auc", "auroc", "pairwise_accuracy", "concordance"),
    _PREDICTIONS: ("mse", "rmse", "mae", "log_loss", "logloss", "r2", "pearson", "correlation"),
    _ITEMS: ("serendipity", "popularity", "popularity_bias", "ild", "intra_list_diversity",
             "intra_list_similarity", "catalog_coverage", "catalogue_coverage", "item_coverage",
             "gini", "entropy", "unexpectedness", "personalization", "personalisation",
             "average_popularity", "miscalibration", "gini_index", "shannon_entropy"),
    _TEXTS: ("bleu", "rouge", "faithfulness", "groundedness", "answer_relevancy",
             "answer_relevance", "bertscore", "exact_match", "perplexity"),
    "It is of clicks, not of a ranking; judgments may have clicks as grades.": ("ctr", "clicks", "click"),
    "'Judged' is the share of judged documents, 'strec' of subtopics; Scores.coverage counts "
    "queries; gainful recommend measures that of a catalogue.": ("coverage",),
}  # fmt: skip
"""What is not measured, by what to say of it."""

# What another layer measures, of queries with subtopics; a test holds these to its catalogue.
OF_SUBTOPICS = (
    "alpha_nDCG", "andcg", "alpha_DCG", "adcg", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA",
    "AP_IA", "MAP_IA", "strec", "Irec", "I_rec", "StRecall", "D_nDCG", "Dsharp_nDCG", "IA",
)  # fmt: skip

_FOR_SUBTOPICS = (
    "It is for queries with subtopics: gf.subtopics.evaluate_subtopics(), or "
    "gainful evaluate --subtopics."
)
_ALSO_OF_ITEMS = ("novelty", "diversity")  # which recommenders have, too
_FOR_RECOMMENDATIONS = (
    "That of recommendations: gf.recommending.evaluate_recommendations(), or gainful recommend."
)
_USUAL = "The usual ones are nDCG, P, R, AP, RR and Success."
_ALL = "gainful measures, or catalogue(), lists all."
_BEFORE = ("mean", "average", "avg", "macro")  # a measure is averaged anyway
_BEHIND = ("score", "metric", "measure", "atk", "at", "evaluator")
_LONGEST = 100  # nothing longer was meant to be a name
_ALIKE = 0.7  # below, letters say nothing: 'hit' is no 'INST', 'novelty' no 'NumNonrelRet'


def suggest(name: object, families: Sequence[Family]) -> str:
    """Say which measure is meant by a name that these families do not have.

    >>> from gainful.measures.family_catalogue import CATALOGUE
    >>> suggest("HitRate", CATALOGUE)
    "Did you mean 'Success' (success, or hit rate)? gainful measures, or catalogue(), lists all."
    >>> suggest("rmse", CATALOGUE)
    'It is of predicted numbers, not of a ranking.'
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
    """Say which measure for queries with subtopics is meant.

    Args:
        name: that is not known.
        families: the measures for queries with subtopics.
        others: those for queries without.
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
    return f"{said} Any other measure M is written IA(M)."


def suggest_recommendation_measure(name: object, families: Sequence[Family]) -> str:
    """Say which measure of recommendations is meant by a name that there is not.

    >>> from gainful.recommending.measure_catalogue import CATALOGUE
    >>> suggest_recommendation_measure("unexpectedness", CATALOGUE)
    "Did you mean 'Serendipity' (serendipity)?"
    """
    word = _word(name)
    meant = _by_meaning(word, families, RECOMMENDATION_SYNONYMS) or _by_letters(
        word, families, RECOMMENDATION_SYNONYMS
    )
    if meant:
        return _asked(meant, families)
    names = ", ".join(family.name for family in families)
    return f"Choices: {names}. Those of relevance are for gf.evaluate() and gainful evaluate."


def suggest_among(written: object, names: Iterable[str], families: Sequence[Family]) -> str:
    """Say which of some measures, as they are written, is meant, and list them.

    >>> from gainful.measures.family_catalogue import CATALOGUE
    >>> suggest_among("HitRate@10", ["nDCG@10", "Success@10"], CATALOGUE)
    "Did you mean 'Success@10'? Choices: nDCG@10, Success@10."
    >>> suggest_among("ndcg@10", ["nDCG(gain=exp2)@10", "unjudged"], CATALOGUE)
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
    """Return which of some names, one or more, is written most alike."""
    import difflib

    return difflib.get_close_matches(_word(written), names, n=1, cutoff=0)[0]


def hint_of_subtopics(text: str) -> str:
    """Say where a measure for queries with subtopics belongs; nothing of any other.

    >>> hint_of_subtopics("alpha-nDCG@10")
    'It is for queries with subtopics: gf.subtopics.evaluate_subtopics(), or gainful evaluate --subtopics.'
    >>> hint_of_subtopics("nope")
    ''
    """
    name = re.split(r"[@(]", text)[0].strip().casefold()
    for sign, word in (("α", "alpha"), ("♯", "sharp"), ("#", "sharp"), ("-", "_")):
        name = name.replace(sign, word)
    if name in {known.casefold() for known in OF_SUBTOPICS}:
        return _FOR_SUBTOPICS
    if _plain(name) in map(_plain, _ABOUT_SUBTOPICS):
        meant = next(iter(_targets(name, SUBTOPIC_SYNONYMS)))
        other = f" {_FOR_RECOMMENDATIONS}" if name in _ALSO_OF_ITEMS else ""
        return f"Did you mean '{meant}'? {_FOR_SUBTOPICS}{other}"
    return ""


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
    """Return the measure that a word means, as it is written; None where the tables lack it."""
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
    """Return the measure with a name that is written much like a word."""
    import difflib

    known = _known(families, synonyms)
    close = difflib.get_close_matches(_plain(word), known, n=1, cutoff=_ALIKE)
    return known[close[0]] if close else None


def _takes_cutoff(meant: str, families: Sequence[Family]) -> bool:
    return any(family.name == meant and family.cutoff != NEVER for family in families)


def _known(families: Sequence[Family], synonyms: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return what is meant by every plain word: a name, a spelling or a synonym."""
    known = {_plain(word): meant for meant, words in synonyms.items() for word in words}
    for family in families:
        known |= {_plain(spelling.name): family.name for spelling in family.spellings}
    return known | {_plain(family.name): family.name for family in families}


def _readings(plain: str) -> Iterable[str]:
    """Return a word, and what is left of it without words that say nothing more."""
    yield plain
    for before in ("", *_BEFORE):
        for behind in ("", *_BEHIND):
            if plain.startswith(before) and plain.endswith(behind):
                yield plain.removeprefix(before).removesuffix(behind)


def _plain(word: str) -> str:
    """Return the letters and digits of a word, in lower case."""
    return "".join(character for character in word.casefold() if character.isalnum())
