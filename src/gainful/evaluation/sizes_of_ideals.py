"""The sizes of the ideals, by which means of CG and DCG count queries."""

from collections.abc import Sequence

from gainful.errors import warn
from gainful.evaluation.scores import Scores, remeasured
from gainful.measures.measure import Measure
from gainful.message_texts import counted

FEWEST_IDEALS = 10
"""Queries with an ideal, below which sizes may differ by chance."""
UNEVEN = 0.5
"""The effective share of the queries, below which ideals are very different."""


def unnormalised(name: str, measure: Measure) -> Measure:
    """Return the CG, DCG or IDCG with the gain, discount and cutoff of another measure of cumulated gain.

    >>> unnormalised("DCG", Measure("nDCG", cutoff=10, gain="exp2")), unnormalised("IDCG", Measure("CG"))
    (Measure('DCG(gain=exp2)@10'), Measure('IDCG(discount=none)'))
    """
    taken = {parameter.name for parameter in Measure(name).family.parameters}
    settings = {key: value for key, value in measure.settings if key in taken}
    if measure.name == "CG" and "discount" in taken:
        settings["discount"] = "none"
    return Measure(name, cutoff=measure.cutoff, **settings)


def warn_of_uneven_ideals(scores: Scores, measures: Sequence[Measure]) -> None:
    """Warn if CG or DCG is averaged over queries with very different ideals.

    The mean of a DCG is the mean of ideal × nDCG. The effective number (Σ I)² / Σ I² of ideals I is the
    number of queries with equal ideals that would determine such a mean as well.
    """
    doubtful = [measure for measure in measures if measure.name in ("CG", "DCG")]
    if not doubtful or len(scores.queries) < FEWEST_IDEALS or not scores.evidence.lists:
        return
    first, others = doubtful[0], len(doubtful) - 1
    ideals = remeasured(scores, (unnormalised("IDCG", first),)).values[:, 0]
    ideals = ideals[ideals > 0]
    if ideals.size < FEWEST_IDEALS:
        return
    effective = (ideals / ideals.max()).sum() ** 2 / ((ideals / ideals.max()) ** 2).sum()
    if effective >= UNEVEN * ideals.size:
        return
    more = f" (and {counted(others, 'other measure')})" if others else ""
    normalised = Measure("nDCG", cutoff=first.cutoff, **dict(first.settings))
    warn(
        f"{first}{more} counts each query by the size of its ideal, from {ideals.min():.4g} to "
        f"{ideals.max():.4g}, so its mean over {ideals.size:,} queries depends on only about "
        f"{effective:.0f} of them. {normalised} gives every query the same weight.",
        "measure.uneven-ideals",
    )
