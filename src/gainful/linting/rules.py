"""The rules of a check, as one table: help, documentation and findings come from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SEVERITIES: Mapping[str, str] = MappingProxyType(
    {
        "error": "no measure can be computed, or trusted, until it is corrected",
        "warning": "legal, and probably not meant: it moves numbers, or makes them doubtful",
        "note": "good to know",
    }
)
"""The severities, the gravest first, with what they mean."""

MOST_UNJUDGED = 0.5
"""The share of unjudged documents above which a number is doubtful."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that a check looks for.

    Attributes:
        name: as findings call it; it does not change from version to version.
        severity: error, warning or note.
        what: what is found, in a sentence.
        remedy: what to do about it.
    """

    name: str
    severity: str
    what: str
    remedy: str


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            Rule(
                "unreadable-row",
                "error",
                "A row that cannot be read: too few or too many fields, a number that is none, "
                "a missing id, text that is not UTF-8.",
                "Correct the row, or remove it.",
            ),
            Rule(
                "not-finite",
                "error",
                "A grade or a score that is missing, NaN or infinite.",
                "Find out what wrote it; give the document a number, or remove it.",
            ),
            Rule(
                "duplicate-document",
                "error",
                "A document that comes twice for one query.",
                "Remove one, or set the policy duplicates to first or best.",
            ),
            Rule(
                "unusable-rank",
                "error",
                "A rank that two documents of a query share; or, in a column that is taken for ranks "
                "because of its name, one that is no whole number. Only where a run is ordered "
                "by ranks.",
                "Correct the ranks; or name the column of scores: columns score=….",
            ),
            Rule(
                "grade-off-scale",
                "error",
                "A grade outside the expected scale. Only where a scale is given.",
                "Correct the grade, or the scale.",
            ),
            Rule(
                "no-shared-queries",
                "error",
                "Judgments and run have no query in common.",
                "Write the ids of both sides alike, as strings, and give files that belong together.",
            ),
            Rule(
                "run-as-judgments",
                "warning",
                "Judgments that are probably a run: many grades with fractions, beside scores that are "
                "whole numbers as grades are, or falling along every list as scores do; or the same file.",
                "Give the judgments first, then the runs; or name the column of grades: columns grade=….",
            ),
            Rule(
                "doubtful-reading",
                "warning",
                "An input that evaluate reads with a warning: a document that stands again in its list, "
                "where the first counts; events without grades, which all count as grade 1; scores that "
                "are probably distances.",
                "Do what the message says, or leave it if it is meant: evaluate warns of the same.",
            ),
            Rule(
                "query-spelling",
                "warning",
                "A judged query that the run lacks, and has under another spelling: other blanks, "
                "capitals, leading zeros, or an ending .0.",
                "Write the ids of both sides alike, as strings.",
            ),
            Rule(
                "no-shared-documents",
                "warning",
                "No retrieved document is judged, in any of the judged queries.",
                "Write the ids of both sides alike, as strings, and give files that belong together.",
            ),
            Rule(
                "document-spelling",
                "warning",
                "A judged document that the run lacks, and has under another spelling for that "
                "query: other blanks, capitals, leading zeros, or an ending .0.",
                "Write the ids of both sides alike, as strings.",
            ),
            Rule(
                "no-relevant-document",
                "warning",
                "A judged query without a document of a grade above 0: no system can score on it.",
                "Judge more documents for it, or set the policy empty.",
            ),
            Rule(
                "missing-query",
                "warning",
                "A judged query that the run lacks.",
                "Run the query, or set the policy missing: it counts as 0 by default.",
            ),
            Rule(
                "empty-list",
                "warning",
                "A judged query that the run has, without a document: it is answered with nothing, and not "
                "missing. Only dicts and JSON can hold it.",
                "Find out why nothing was retrieved: it counts as 0, whatever the policy missing says.",
            ),
            Rule(
                "rank-against-score",
                "warning",
                "A document with a better rank and a lower score than another of its query. "
                "Only where the run has a column of ranks, which no measure uses.",
                "Write scores that fall with the rank, such as 1 / rank.",
            ),
            Rule(
                "rank-as-score",
                "warning",
                "Scores that are 1, 2, 3 … or 0, 1, 2 … in every query, in any order of rows, as ranks are: "
                "the last document counts as the best. Scores that fall from row to row are left alone.",
                "If they are ranks, name their column: columns rank=…; in a dict, give their negatives.",
            ),
            Rule(
                "constant-score",
                "warning",
                "A query whose documents, two or more, all have the same score: "
                "the tie rule alone orders them.",
                "Write the scores of the system, with all their digits; or measure with the policy "
                "ties=average.",
            ),
            Rule(
                "tie-at-cutoff",
                "warning",
                "The document at the cutoff has the score of the next: the tie rule decides "
                "which of them counts.",
                "Write scores with all their digits; the policies ties=best and ties=worst say how "
                "much hangs on it.",
            ),
            Rule(
                "self-match",
                "warning",
                "A document with the id of its query: the query is in the collection, and "
                "retrieves itself.",
                "Set the policy drop_self=yes, if it is the same text.",
            ),
            Rule(
                "unjudged-mark",
                "warning",
                "−1 as the only negative grade. It counts as judged and bad, and often marks what was "
                "not judged. Only where the scale does not include it.",
                "Set the policy negative=unjudged, if it marks that; negative=keep, if it is a grade.",
            ),
            Rule(
                "mostly-unjudged",
                "warning",
                f"More than {MOST_UNJUDGED:.0%} of the documents down to the cutoff are unjudged: "
                "what the number says of the system is doubtful.",
                "Judge more of them, compare at a smaller cutoff, or set the policy unjudged.",
            ),
            Rule(
                "grades",
                "note",
                "The grades that occur. Only where no scale is given.",
                "Give the scale, and grades outside it are found.",
            ),
            Rule(
                "fractional-grade",
                "note",
                "A grade that is no whole number. It counts as it is; tools that read integers "
                "cut it off.",
                "Nothing, if it is meant.",
            ),
            Rule(
                "extra-query",
                "note",
                "A query of the run that has no judgments.",
                "Nothing, if it is meant: it does not count.",
            ),
            Rule(
                "short-list",
                "note",
                "A query with fewer documents than the cutoff.",
                "Retrieve more, or set the policy absent, if the system could.",
            ),
        )
    }
)
"""The rules by name, the gravest first."""
