"""Measures of retrieval for a model that reads the list: distraction, nuggets, abstention."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gainful.measures.measure_family import (
    ABSTENTIONS,
    CONFIDENCE,
    NEVER,
    NUGGETS,
    RUN,
    SHARE,
    Example,
    Family,
    Spelling,
)
from gainful.measures.parameters import REL, inner_of, number, word
from gainful.measures.written_numbers import Range


@dataclass(frozen=True, slots=True)
class ModelExample(Example):
    """A value that a reader can check by hand; a test computes each.

    `contents` describes the input in words; `judgments`, `run` and `tables` are that input, as
    arguments of `evaluate`.
    """

    contents: str = ""
    judgments: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)
    run: Mapping[str, object] = field(default_factory=dict, hash=False)
    tables: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.contents}: {self.measure} = {self.working} = {self.value}"


COST = number(
    "cost",
    1 / 3,
    "a non-negative number: the cost of a passage that isn't relevant if the model is sure to answer from it",
    Range(0),
)
COUNTING = word(
    "nuggets",
    {
        "vital": "only vital nuggets count, each as 1",
        "all": "every nugget counts as 1",
        "weighted": "a vital nugget counts as 1, any other as 0.5",
    },
)
PARTIAL = word(
    "partial",
    {
        "none": "partial support counts as 0, as in the strict scores of nuggetizer",
        "half": "partial support counts as 0.5",
    },
)

FAMILIES = (
    Family(
        name="UDCG",
        title="Utility and distraction-aware cumulated gain",
        definition=(
            "UDCG@k = 1/(1 + exp(−u)), where u = (1/n)·Σ_{i=1..n} w_i·(1 − p_i) over the n passages down to rank k. "
            "Here p_i is the probability that the reading model abstains if passage i is all that it sees; "
            "w_i is 1 for a relevant passage, and −cost for any other. An empty list scores 0"
        ),
        range="0 if nothing is retrieved; otherwise from 1/(1 + exp(cost)), which is 0.417 by default, to 1/(1 + exp(−1)), which is 0.731",
        ends=SHARE,
        citation=(
            "G. Trappolini, F. Cuconasu, S. Filice, Y. Maarek and F. Silvestri, Redefining retrieval evaluation in "
            "the era of LLMs, arXiv:2510.21440, 2025, in the simple form, without learned weights"
        ),
        example=ModelExample(
            "UDCG@2",
            (),
            "1/(1 + exp(−(1·(1 − 0) − 1/3·(1 − 0.4))/2)) = 1/(1 + exp(−0.4))",
            "0.5987",
            contents="list a, b; a relevant; p(a) = 0, p(b) = 0.4",
            judgments={"q": {"a": 1}},
            run={"q": ["a", "b"]},
            tables={"abstentions": {"q": {"a": 0.0, "b": 0.4}}},
        ),
        parameters=(REL, COST),
        needs=ABSTENTIONS,
        requires="judgments and, for each passage, the probability that the reading model abstains",
    ),
    Family(
        name="NuggetRecall",
        title="Nugget recall",
        definition=(
            "NuggetRecall@k = Σ_n w_n·s_n / Σ_n w_n over the nuggets n of the query. Here s_n is the best "
            "support that any document down to rank k gives to nugget n: 1 for support, 0 for none; w_n is the weight of "
            "the nugget"
        ),
        range="0 to 1",
        ends=SHARE,
        citation=(
            "R. Pradeep, N. Thakur, S. Upadhyay, D. Campos, N. Craswell and J. Lin, Initial nugget evaluation results "
            "for the TREC 2024 RAG track with the AutoNuggetizer framework, arXiv:2411.09607, 2024"
        ),
        example=ModelExample(
            "NuggetRecall(nuggets=weighted, partial=half)@1",
            (),
            "(1·1 + 1·0.5 + 0.5·0)/(1 + 1 + 0.5)",
            "0.6",
            contents="list a; a supports the vital nugget x, partially the vital nugget y, and not the okay nugget z",
            judgments={"q": {"a": 1}},
            run={"q": ["a"]},
            tables={
                "nuggets": {
                    "q": {
                        "x": {"a": ("vital", "support")},
                        "y": {"a": ("vital", "partial_support")},
                        "z": {"a": ("okay", "not_support")},
                    }
                }
            },
        ),
        parameters=(COUNTING, PARTIAL),
        spellings=(
            Spelling("strict_vital_score"),
            Spelling("vital_score", {"partial": "half"}),
            Spelling("strict_all_score", {"nuggets": "all"}),
            Spelling("all_score", {"nuggets": "all", "partial": "half"}),
            Spelling("nugget_recall"),
        ),
        normalised=True,
        needs=NUGGETS,
        requires="nuggets, with the support that each document gives them",
    ),
    Family(
        name="nAUC",
        title="Normalised area under the abstention curve",
        definition=(
            "nAUC(M) = (A − F)/(O − F). A is the area under the curve of the mean of M over the queries that remain "
            "if the least confident 0%, 10%, …, 90% are left unanswered; O is the area if the queries with the "
            "lowest values of M are left out instead, and F is the area if the mean stayed the same. Numbers of queries are rounded "
            "(half to even), and at least one remains. M is any measure that is averaged over queries, with its "
            "parameters and cutoff"
        ),
        range="at most 1 (confidence ranks the queries in the same order as M does); 0 if confidence says nothing about M, and below 0 if it is misleading",
        ends=(float("-inf"), 1.0),
        citation=(
            "H. Gisserot-Boukhlef, M. Faysse, E. Malherbe, C. Hudelot and P. Colombo, Towards trustworthy reranking: a "
            "simple yet effective abstention mechanism, arXiv:2402.12997, 2024, as in MTEB"
        ),
        example=ModelExample(
            "nAUC(RR)",
            (),
            "(0.125 − 0.45)/(0.775 − 0.45)",
            "-1",
            contents="two queries with RR 1 and 0, and with confidence 0.2 and 0.7",
            judgments={"q1": {"a": 1}, "q2": {"a": 1}},
            run={"q1": ["a"], "q2": ["b"]},
            tables={"confidence": {"q1": 0.2, "q2": 0.7}},
        ),
        parameters=(inner_of("nAUC"),),
        cutoff=NEVER,  # the cutoff belongs to the inner measure
        aggregate=RUN,
        needs=CONFIDENCE,
        requires="judgments, and the confidence of the run in each query",
    ),
)
