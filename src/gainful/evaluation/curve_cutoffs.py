"""The cutoffs of a curve: a measure at every cutoff from 1 on."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gainful import arguments
from gainful.errors import MeasureError
from gainful.matching.matched import Matched
from gainful.measures.measure import Measure
from gainful.measures.measure_family import NEVER
from gainful.measures.notation import GivenMeasure, parse, read_measure

_ALWAYS = 100  # cutoffs of a curve, however short the lists are


def at_cutoffs(measure: GivenMeasure, upto: int) -> tuple[Measure, ...]:
    """Return a measure at the cutoffs 1, 2, … up to the last.

    >>> [str(each) for each in at_cutoffs("nDCG(gain=exp2)@10", 2)]
    ['nDCG(gain=exp2)@1', 'nDCG(gain=exp2)@2']
    """
    asked = read_measure(measure)
    if asked.family.cutoff == NEVER:
        raise MeasureError("curve", "a measure that has a cutoff", f"'{asked}'")
    last = arguments.whole(upto, "upto", least=1, most=arguments.MOST_CUTOFFS)
    return tuple(asked.at(cutoff) for cutoff in range(1, last + 1))


def drawn_cutoffs(
    runs: Iterable[Callable[[], Sequence[Matched]]], measure: GivenMeasure, upto: int
) -> tuple[Measure, ...]:
    """Return a measure at the cutoffs of a curve.

    Past 100 they end with the longest list or pool of the runs: deeper cutoffs see nothing more.

    Args:
        runs: for each, what returns its whole lists; called only past 100.
        measure: any that has a cutoff.
        upto: the last cutoff.
    """
    last = arguments.whole(upto, "upto", least=1)
    first = at_cutoffs(measure, min(last, _ALWAYS))
    if last <= _ALWAYS:
        return first
    depth = max((_depth(whole()) for whole in runs), default=0)
    return first if depth <= _ALWAYS else at_cutoffs(measure, min(last, depth))


def _depth(lists: Sequence[Matched]) -> int:
    """Return the length of the longest list or pool."""
    lengths = (np.concatenate((batch.retrieved, np.diff(batch.pool_offsets))) for batch in lists)
    return max((int(each.max(initial=0)) for each in lengths), default=0)


def curve_measure(measures: Sequence[Measure]) -> Measure:
    """Return the measure whose curve is drawn where none is named: the first that has a cutoff.

    >>> str(curve_measure([parse("AP"), parse("P@5"), parse("nDCG@10")]))
    'P@5'
    """
    cut = (each for each in measures if each.cutoff is not None)
    return next(cut, parse("nDCG@10"))


def without_cutoff(measure: Measure) -> str:
    """Return the name of a measure without its cutoff, for the axis of a curve.

    >>> without_cutoff(parse("nDCG(gain=exp2)@10"))
    'nDCG(gain=exp2)'
    """
    return str(measure).removesuffix(f"@{measure.cutoff}")
