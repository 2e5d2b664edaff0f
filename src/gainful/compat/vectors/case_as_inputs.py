"""A conformance case as gainful's inputs: judgments, a run, a measure and a policy."""

from collections.abc import Iterable, Mapping
from typing import Any

from gainful.compat.vectors.case_files import Case
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy

_OF_MEASURE = ("ideal", "depth")
"""The choices that are parameters of the measure in gainful."""
_DECIDED = {"ties": "doc", "negative": "keep", "fold": "none"}


def judgments_of(case: Case) -> Any:
    """Return judgments: a dict of dicts, or rows if a document is judged twice."""
    return _documents((query["query"], query["judged"]) for query in case.queries)


def run_of(case: Case) -> Any:
    """Return the run: a dict of dicts, or rows if a document is repeated."""
    return _documents((query["query"], query["run"]) for query in case.queries)


def _documents(lists: Iterable[tuple[str, list[tuple[str, float]] | None]]) -> Any:
    lists_of_queries = {query: docs for query, docs in lists if docs is not None}
    as_dicts = {query: dict(docs) for query, docs in lists_of_queries.items()}
    if all(len(as_dicts[query]) == len(docs) for query, docs in lists_of_queries.items()):
        return as_dicts
    return [(query, doc, value) for query, docs in lists_of_queries.items() for doc, value in docs]


def measure_of(case: Case) -> Measure:
    """Return the measure, with the case's choices that are its parameters."""
    parameters = dict(case.measure)
    name, cutoff = parameters.pop("name"), parameters.pop("k")
    if name == "CG":
        del parameters["discount"]
    if isinstance(parameters.get("gain"), list):
        parameters["gain"] = dict(parameters["gain"])
    exponent = parameters.pop("exponent", None)
    if exponent is not None:
        parameters["discount"] = f"power({exponent})"
    if name in ("IDCG", "nDCG"):
        parameters |= {c: case.choices[c] for c in _OF_MEASURE if c in case.choices}
    return Measure(name, cutoff=cutoff, **parameters)


def policy_of(choices: Mapping[str, Any]) -> Policy:
    """Return the other choices of a case as a policy."""
    named = {choice: answer for choice, answer in choices.items() if choice not in _OF_MEASURE}
    return Policy(**_DECIDED | named)
