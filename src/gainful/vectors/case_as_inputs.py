"""A conformance case as gainful reads it: judgments, a run, a measure and a policy."""

from collections.abc import Iterable, Mapping
from typing import Any

from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.vectors.case_files import Case

_OF_MEASURE = ("ideal", "depth")
"""The choices that are parameters of the measure here."""
_DECIDED = {"ties": "doc", "negative": "keep", "fold": "none"}


def judgments_of(case: Case) -> Any:
    """Return judgments: a dict of dicts, or rows where a document is judged twice."""
    return _documents((each["query"], each["judged"]) for each in case.queries)


def run_of(case: Case) -> Any:
    """Return the run: a dict of dicts, or rows where a document comes twice."""
    return _documents((each["query"], each["run"]) for each in case.queries)


def _documents(lists: Iterable[tuple[str, list[tuple[str, float]] | None]]) -> Any:
    known = {query: docs for query, docs in lists if docs is not None}
    as_dicts = {query: dict(docs) for query, docs in known.items()}
    if all(len(as_dicts[query]) == len(docs) for query, docs in known.items()):
        return as_dicts
    return [(query, doc, value) for query, docs in known.items() for doc, value in docs]


def measure_of(case: Case) -> Measure:
    """Return the measure, with those choices of the case that are its parameters."""
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
        parameters |= {each: case.choices[each] for each in _OF_MEASURE if each in case.choices}
    return Measure(name, cutoff=cutoff, **parameters)


def policy_of(choices: Mapping[str, Any]) -> Policy:
    """Return the other choices of a case as a policy."""
    named = {each: answer for each, answer in choices.items() if each not in _OF_MEASURE}
    return Policy(**_DECIDED | named)
