"""Recorded answers of pytrec_eval, for machines that have no wheel of it (Linux on ARM).

This folder comes last on the path, so the package itself is taken wherever it is installed.
tests/record_pytrec_eval.py writes the answers.
"""

import hashlib
import json
import lzma
from pathlib import Path

ANSWERS = Path(__file__).with_suffix(".json.xz")
RECORDED = json.loads(lzma.decompress(ANSWERS.read_bytes())) if ANSWERS.exists() else {}

__version__ = RECORDED.get("version")
supported_measures = set(RECORDED.get("measures", ()))


def key(question):
    """Return the key of a question: a name, and what is asked of it."""
    text = json.dumps(question, sort_keys=True, default=sorted)  # measures are a set
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _answer(*question):
    try:
        return RECORDED["answers"][key(question)]
    except KeyError:
        raise LookupError(
            "pytrec_eval has no wheel for this machine, and its answer to this was not recorded. Where "
            "it is installed, run: PYTHONPATH=tests python -m pytest -p record_pytrec_eval"
        ) from None


def compute_aggregated_measure(measure, values):
    return _answer("aggregate", measure, values)


class RelevanceEvaluator:
    """Answers what it was asked when it was recorded."""

    def __init__(self, *given, **options):
        self.asked = asked(*given, **options)

    def evaluate(self, scores):
        found = _answer("evaluate", self.asked, scores)
        names = RECORDED["names"][found["names"]]
        return {query: dict(zip(names, row, strict=True)) for query, row in found["rows"].items()}


def asked(query_relevance, measures, relevance_level=1, judged_docs_only_flag=False):
    """Return what an evaluator is asked, whichever way its arguments were given."""
    return [query_relevance, sorted(measures), relevance_level, bool(judged_docs_only_flag)]
