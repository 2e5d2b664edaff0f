"""Paired scores → differences, with every comparison of a family corrected together."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats
from gainful.comparison.difference import Difference, Moved, Tested
from gainful.comparison.paired import Paired
from gainful.comparison.settings import Settings
from gainful.comparison.verdict import Grounds, equivalence, verdict
from gainful.statistics.corrections import CORRECTIONS, adjusted
from gainful.statistics.intervals import INTERVALS, Interval
from gainful.statistics.moments import Moments, moments
from gainful.statistics.paired import TESTS, Outcome, lean_of_mean, signs

Pair = tuple[int, int]
"""The places of a base and of a run."""

_MOVED = 5  # queries that are named


@dataclass(slots=True)
class _Found:
    """What is known of one comparison before the correction."""

    measure: int
    pair: Pair
    rows: NDArray[np.intp]
    base: Floats
    run: Floats
    apart: Floats  # run − base, but for rounding
    moments: Moments
    outcomes: dict[str, Outcome]
    intervals: dict[str, Interval]
    joint: float | None = None  # p of a test of all systems together
    effect_anova: float | None = None


@dataclass(frozen=True, slots=True)
class _Corrected:
    """What the correction made of one comparison.

    Attributes:
        tests: p of each test.
        test: the name of the one that decides.
        p: its p, corrected together with those of all decisions.
        claim: p of equivalence.
        comparisons: how many decisions there are.
    """

    tests: dict[str, float | None]
    test: str
    p: float | None
    claim: float | None
    comparisons: int


def pairs_of(paired: Paired, base: int, which: str) -> list[Pair]:
    """Return the pairs that are compared, in the order of the systems, the base before all."""
    count = len(paired.systems)
    others = [place for place in range(count) if place != base]
    if which == "all":
        return list(itertools.combinations([base, *others], 2))
    return [(base, other) for other in others]


def differences(
    paired: Paired,
    pairs: Sequence[Pair],
    settings: Settings,
    parts: Sequence[Bools | None] = (None,),
) -> list[list[Difference]]:
    """Return the differences of each part, measure by measure, pair by pair; corrected together.

    Args:
        paired: the scores.
        pairs: which systems are compared.
        settings: how.
        parts: (q,) which queries are in each part; None for all of them. A part without a query
            that all systems have gives no difference.
    """
    found = [
        _of_part(
            paired, pairs, replace(settings, progress=_portion(settings, at, len(parts))), part
        )
        for at, part in enumerate(parts)
    ]
    flat = [one for each in found for one in each]
    test_differences = CORRECTIONS[settings.correction].test_differences
    if test_differences is not None:
        columns = np.zeros((len(paired.queries), len(flat)))
        for place, one in enumerate(flat):
            columns[one.rows, place] = one.apart
        for one, p in zip(flat, test_differences(columns, settings.draws).tolist(), strict=True):
            one.joint = p
    corrected = {
        test: adjusted([one.outcomes[test].p for one in flat], settings.adjustment)
        for test in (flat[0].outcomes if flat else ())
    }
    # One family for all decisions, also where another test must stand in for the one chosen.
    chosen = [_deciding(one, settings.test) for one in flat]
    decisive = adjusted(
        [one.outcomes[test].p for one, test in zip(flat, chosen, strict=True)], settings.adjustment
    )
    made = sum(p is not None for p in decisive)
    claims: list[float | None] = [None] * len(flat)
    if settings.margin is not None:
        margin = settings.margin
        claims = adjusted([equivalence(one.moments, margin) for one in flat], settings.adjustment)
    finished = iter(
        [
            _finish(
                paired,
                one,
                settings,
                _Corrected(
                    {test: p[at] for test, p in corrected.items()},
                    chosen[at],
                    decisive[at],
                    claims[at],
                    made,
                ),
            )
            for at, one in enumerate(flat)
        ]
    )
    return [[next(finished) for _ in each] for each in found]


def _deciding(found: _Found, test: str) -> str:
    if found.outcomes[test].p is None and found.moments.count > 1:
        return "randomisation"  # defined wherever there are two queries
    return test


def _portion(settings: Settings, place: int, total: int) -> Callable[[float], object] | None:
    progress = settings.progress
    return None if progress is None else lambda share: progress((place + share) / total)


def _of_part(
    paired: Paired, pairs: Sequence[Pair], settings: Settings, part: Bools | None
) -> list[_Found]:
    kept = paired.kept
    if part is not None:
        kept = kept & part[:, None]
    found: dict[tuple[int, Pair], _Found] = {}
    # Measures that share their queries share their resamples, too.
    groups: dict[bytes, list[int]] = {}
    for measure in range(len(paired.measures)):
        groups.setdefault(kept[:, measure].tobytes(), []).append(measure)
    for measures in groups.values():
        rows = np.flatnonzero(kept[:, measures[0]])
        if rows.size:
            found |= _of_group(paired, pairs, settings, rows, measures)
    order = [(m, pair) for m in range(len(paired.measures)) for pair in pairs]
    return [found[key] for key in order if key in found]


def _of_group(
    paired: Paired,
    pairs: Sequence[Pair],
    settings: Settings,
    rows: NDArray[np.intp],
    measures: Sequence[int],
) -> dict[tuple[int, Pair], _Found]:
    cube = paired.values[rows][:, :, measures]
    keys = [(place, pair) for place in range(len(measures)) for pair in pairs]
    columns = np.stack(
        [paired.apart(rows, one, two, measures[m]) for m, (one, two) in keys], axis=1
    )
    outcomes = {
        name: test(columns, settings.draws, settings.tie)
        for name, test in TESTS.items()
        if not test.on_request or name == settings.test
    }
    intervals = {
        name: method.build(columns, settings.draws, settings.level)
        for name, method in INTERVALS.items()
    }
    joint = effect = np.full((cube.shape[1], *cube.shape[1:]), math.nan)
    test_scores = CORRECTIONS[settings.correction].test_scores
    if test_scores is not None:
        tested = test_scores(cube, settings.draws)
        joint, effect = tested.p, effect if tested.effect is None else tested.effect
    # One family for each measure: for several, each level is divided among them.
    joint = np.minimum(joint * len(paired.measures), 1.0)
    found = {}
    for at, (m, (one, two)) in enumerate(keys):
        found[measures[m], (one, two)] = _Found(
            measure=measures[m],
            pair=(one, two),
            rows=rows,
            base=cube[:, one, m],
            run=cube[:, two, m],
            apart=columns[:, at],
            moments=moments(columns[:, at]),
            outcomes={name: each[at] for name, each in outcomes.items()},
            intervals={name: each[at] for name, each in intervals.items()},
            joint=_known(joint[one, two, m]),
            effect_anova=_known(effect[one, two, m]),
        )
    return found


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)


def _finish(paired: Paired, found: _Found, settings: Settings, corrected: _Corrected) -> Difference:
    names = [paired.systems[place] for place in found.pair]
    p, test, correction = corrected.p, corrected.test, settings.adjustment
    leans = TESTS[test].leans
    if found.joint is not None:
        p, test, correction = found.joint, settings.correction, settings.correction
        leans = lean_of_mean
    measure = paired.measures[found.measure]
    interval = found.intervals[settings.interval]
    sides = signs(found.apart, tie=settings.tie)
    grounds = Grounds(
        measure,
        names[0],
        names[1],
        found.moments,
        interval,
        p,
        correction,
        corrected.claim,
        corrected.comparisons,
        contrary=leans(found.apart, settings.tie) * found.moments.mean <= 0,
    )
    return Difference(
        measure=measure,
        base=names[0],
        run=names[1],
        queries=found.moments.count,
        base_mean=_mean(found.base),
        run_mean=_mean(found.run),
        difference=found.moments.mean,
        sd=found.moments.sd,
        effect=found.moments.effect,
        effect_anova=found.effect_anova,
        skewness=found.moments.skewness,
        interval=interval,
        intervals=found.intervals,
        tests={
            name: Tested(outcome, corrected.tests[name]) for name, outcome in found.outcomes.items()
        },
        test=test,
        p=p,
        p_equivalent=corrected.claim,
        wins=int((sides > 0).sum()),
        ties=int((sides == 0).sum()),
        losses=int((sides < 0).sum()),
        changed=int((signs(found.apart, tie=0.0) != 0).sum()),
        moved=_moved(paired, found),
        verdict=verdict(grounds, settings),
    )


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size


def _moved(paired: Paired, found: _Found) -> tuple[Moved, ...]:
    apart = np.abs(found.apart)
    order = np.argsort(-apart, kind="stable")[:_MOVED]
    return tuple(
        Moved(paired.queries[found.rows[at]], float(found.base[at]), float(found.run[at]))
        for at in order
        if apart[at] > 0
    )
