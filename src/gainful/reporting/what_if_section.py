"""What the page needs to recompute a value after a change of a list, or why it can't."""

from collections.abc import Mapping

import numpy as np

from gainful.analysis.explanation.worked_lists import IDEAL, Sums, is_discounted
from gainful.evaluation.evaluate import unnormalised
from gainful.matching.matched import Matched
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GRADES
from gainful.measures.policy import Policy
from gainful.reporting.query_details import Number, plain

_MOST_GRADES = 100
_ABSENT = "the policy absent gives ranks below the end of a list a gain"
_IDEAL = "the ideal depends on the list"


def what_if_section(
    measure: Measure, policy: Policy, matched: Mapping[str, Matched]
) -> dict[str, object]:
    """Return the names of the sums, the gains of the grades, and why some kinds of change can't be computed.

    `explained` is false if `gainful explain` can't compute them either.

    Args:
        measure: the primary measure.
        policy: the policy of all runs.
        matched: each run matched with the judgments.

    >>> what_if_section(Measure("AP"), Policy(), {})
    {'why': "AP isn't a sum of gains with discounts"}
    """
    if measure.family.needs != GRADES:
        return {"why": f"{measure} needs {measure.family.needs}", "explained": False}
    if not is_discounted(measure) or measure.name == IDEAL:
        return {"why": f"{measure} isn't a sum of gains with discounts"}
    first = next(iter(matched.values()))
    grades = np.unique(first.pool_grades).tolist()
    ideal = str(unnormalised(IDEAL, measure)) if measure.name == "nDCG" else None
    refused = {"swap": "", "move": "", "remove": "", "regrade": ""}
    if measure.parameters.get("ideal", "judged") != "judged" or (
        measure.parameters.get("depth", "cutoff") != "cutoff"
    ):
        refused |= {"remove": _IDEAL, "regrade": _IDEAL}
    elif len(grades) > _MOST_GRADES:
        refused["regrade"] = f"the judgments contain {len(grades):,} different grades"
    elif policy.negative not in ("auto", "keep", "zero"):
        refused["regrade"] = "it depends on the policy negative"
    if policy.absent != "zero":
        refused |= {"remove": _ABSENT, "regrade": _ABSENT}
    worth = Sums(first, measure, policy).worth
    gains: list[list[Number]] = (
        [] if refused["regrade"] else [[plain(grade), plain(worth(grade))] for grade in grades]
    )
    part = unnormalised("DCG", measure) if measure.name == "nDCG" else measure
    return {
        "why": "",
        "sum": str(part),
        "ideal": ideal,
        "cutoff": measure.cutoff,
        "gains": gains,
        "refused": refused,
    }
