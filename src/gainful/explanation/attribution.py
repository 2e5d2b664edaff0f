"""`attribute`: which documents moved between two runs, and what each did to the value."""

from collections.abc import Mapping

import numpy as np

from gainful.errors import InputError, MeasureError
from gainful.evaluation.evaluate import read_policy
from gainful.explanation.listing import Listed, read_listed, sums_of
from gainful.explanation.moved import Attribution
from gainful.explanation.sides import SUMS, UNDEFINED, attribution_of, side_of
from gainful.explanation.steps import is_empty
from gainful.inputs.engine import Engine
from gainful.inputs.identifiers import id_text
from gainful.matching.dispatch import reading
from gainful.matching.negative import warn_of_marks
from gainful.measures.notation import parse
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure


def attribute(
    judgments: object,
    base: object,
    run: object,
    measure: str | Measure = "nDCG@10",
    *,
    query: object,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    chunks: str | Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Attribution:
    """Say which documents moved between two runs in a query, and what each did to the value.

    A document at rank i of the base and rank j of the run changes DCG by g·(d_j − d_i), where a
    discount below the cutoff, or of a run that does not return it, is 0. Its part of nDCG is that
    change divided by the ideal, which is of the judgments and so the same for both. The parts
    sum to the difference.

    Under the policy `unjudged` with a grade, the ideal also has the documents without a judgment that
    a run returns, and so may differ. Then a change is weighted by the mean of the two 1/IDCG, and
    what is left is the part of the ideal: (DCG_base + DCG_run)/2 · (1/IDCG_run − 1/IDCG_base).
    So it is with ideal=retrieved and depth=retrieved, where each run has an ideal of its own.
    Exchanging base and run changes the sign of every part, and nothing else.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        base: the run to start from, `{query: {doc: score}}`, or any of the others.
        run: the run that is compared with it. One of the two may lack the query (policy `missing`).
        measure: CG, DCG or nDCG, in the notation or as a value.
        query: the id of the query.
        policy: the choices that are not the measure's; the defaults if None.
        columns: names of columns that are not among the usual, as in `evaluate`.
        chunks: how to fold chunks to documents, as in `evaluate`.
        engine: what may be used of the machine for files and tables.

    >>> judgments = {"q": {"a": 2, "b": 1}}
    >>> found = attribute(judgments, {"q": {"b": 9, "a": 8}}, {"q": {"a": 9, "b": 8}}, "DCG", query="q")
    >>> [(each.doc, each.base_rank, each.run_rank, round(each.part, 3)) for each in found.documents]
    [('a', 2, 1, 0.738), ('b', 1, 2, -0.369)]
    >>> round(found.difference, 3)
    0.369
    """
    asked = read_attributed(measure)
    given = read_policy(policy)
    chosen = given.resolved(ids=True)
    name = id_text(query, where="query")
    with reading(judgments, chosen, columns=columns, chunks=chunks, engine=engine) as reader:
        first, second = (read_listed(reader, each, name, chosen) for each in (base, run))
    warn_of_marks(np.array([*first.judged.values()], np.float64), given)
    remarks = _missing(asked, name, first, second)
    sides = []
    for listed in (first, second):
        sums = sums_of([listed], asked, listed.policy)
        is_empty(sums, 0, name, undefined=UNDEFINED)
        sides.append(side_of(listed, sums, 0))
    base_side, run_side = sides
    return attribution_of(base_side, run_side, remarks)


def has_parts(measure: Measure) -> bool:
    """Return whether a measure is a sum over documents, divided by what they do not change."""
    return measure.name in SUMS and not measure.changes("norm")


def read_attributed(measure: str | Measure) -> Measure:
    """Read a measure that is a sum over documents, divided by what they do not change."""
    asked = measure if isinstance(measure, Measure) else parse(measure)
    if not has_parts(asked):
        raise MeasureError(
            "attribute",
            f"one of {', '.join(SUMS)}, which are sums over documents (nDCG with norm=ideal)",
            f"'{asked}'",
        )
    return asked


def _missing(measure: Measure, query: str, base: Listed, run: Listed) -> tuple[str, ...]:
    """Say which run lacks the query, if that has a value."""
    lacking = [name for name, each in (("base", base), ("run", run)) if each.missing]
    if not lacking:
        return ()
    if len(lacking) == len(("base", "run")):
        raise InputError("query", "a query of the base or of the run", f"{query!r} in neither")
    answer = base.policy.missing
    if answer != "zero":
        raise InputError(
            f"{measure} of query {query!r}",
            "a query of both the base and the run",
            f"it missing from the {lacking[0]}",
            f"It has no value there under the policy missing={answer}.",
        )
    return (f"the {lacking[0]} lacks the query: policy missing={answer}",)
