"""The sections of a report's data, as plain values: runs, verdicts, slices and scores."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.differences import Difference
from gainful.array_types import Floats
from gainful.evaluation.saved_baseline import Baseline
from gainful.evaluation.scores import Scores
from gainful.measures.measure_family import HIGHER, LOWER, NEITHER
from gainful.measures.policy import Policy
from gainful.reporting.coverage_section import Evaluated, count_texts, digits_of
from gainful.version import VERSION

FORMAT = 1
MOST_VERDICTS = 1000
MOST_SLICES = 500
_NAMED = 5  # runs named in a note

_SIGNS = {HIGHER: 1.0, LOWER: -1.0, NEITHER: math.nan}
_TURNED = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}


def finite(number: float | None) -> float | None:
    """Return a number; None for NaN and infinity, which JSON cannot represent."""
    return None if number is None or not np.isfinite(number) else float(number)


def heading(
    title: str, created: str, better: Mapping[str, str], baseline: str | None
) -> dict[str, object]:
    """Return the title, the date, the baseline, and the measures with which of their values are better."""
    return {
        "format": FORMAT,
        "title": title,
        "version": VERSION,
        "created": created,
        "baseline": baseline,
        "measures": list(better),
        "better": list(better.values()),
        "primary": 0,
    }


def runs_section(
    means: Mapping[str, Sequence[float]],
    comparison: Comparison | None,
    evaluated: Evaluated,
    better: Mapping[str, str],
) -> list[dict[str, object]]:
    """Return each run with its means, their comparison with the baseline, and their signatures."""
    measures = [*better]
    table = np.array([*means.values()], np.float64)
    best = np.zeros(table.shape, np.bool_)
    if len(means) > 1:
        signs = [_SIGNS[values] for values in better.values()]
        rising = np.where(np.isnan(table), -np.inf, table * signs)  # NaN where neither is better
        best = rising == np.max(rising, axis=0)
    return [
        {
            "name": name,
            "means": [finite(mean) for mean in table[place].tolist()],
            "marks": [_mark(comparison, name, measure) for measure in measures],
            "best": best[place].tolist(),
            "signatures": _signatures(evaluated.get(name), measures),
            "coverage": count_texts(evaluated[name]) if name in evaluated else {},
        }
        for place, name in enumerate(means)
    ]


def means_notes(
    means: Mapping[str, Sequence[float]], values: Floats, measures: Sequence[str], policy: Policy
) -> list[str]:
    """Return which means are not over all queries, and which are undefined.

    A measure without the value of any query, but with a mean, is one of the run as a whole.

    Args:
        means: the means of each run, by measure.
        values: [query, run, measure], NaN without a value.
        measures: the measures as text.
        policy: the policy, which may leave queries without a value.
    """
    lacking = np.isnan(values).sum(axis=0)
    notes = []
    for place, measure in enumerate(measures):
        undefined = {name: finite(own[place]) is None for name, own in means.items()}
        for gone in (True, False):
            counts = {
                name: int(lacking[run, place])
                for run, name in enumerate(means)
                if undefined[name] is gone
                and lacking[run, place]
                and (gone or lacking[run, place] < len(values))
            }
            if counts:
                notes.append(_lacking(measure, counts, len(values), policy, undefined=gone))
    return notes


def _lacking(
    measure: str, counts: Mapping[str, int], queries: int, policy: Policy, *, undefined: bool
) -> str:
    most = max(counts.values())
    many = str(most) if min(counts.values()) == most else f"up to {most}"
    has = "has" if most == 1 else "have"
    named = [*counts][:_NAMED]
    left = len(counts) - len(named)
    of = f"{', '.join(named)}{f' and {left} more' if left else ''}"
    begin = f"{measure} of {of}: {many} of {_plural(queries)} {has} no value"
    if undefined:
        return (
            f"{begin}, and policy empty={policy.empty} leaves the mean undefined (–). Marks and "
            "verdicts are over the queries that both runs have a value for."
        )
    return f"{begin}; the mean is over the others."


def _plural(queries: int) -> str:
    return f"{queries} {'query' if queries == 1 else 'queries'}"


def means_of(comparison: Comparison | None, run: str) -> list[float]:
    """Return the means of a run over the compared queries, under each measure."""
    means: dict[str, float] = {}
    for d in () if comparison is None else comparison.differences:
        if run in (d.baseline, d.run):
            means[d.measure] = d.baseline_mean if run == d.baseline else d.run_mean
    return list(means.values())


def _signatures(result: Scores | Baseline | None, measures: Sequence[str]) -> list[str]:
    if isinstance(result, Scores):
        return [result.signature(measure) for measure in measures]
    return ["" if result is None else result.signatures[measure] for measure in measures]


def _mark(comparison: Comparison | None, run: str, measure: str) -> str:
    """Return the verdict on a run compared with the baseline."""
    if comparison is None or run == comparison.baseline:
        return ""
    compared = (comparison.baseline, run, measure)
    for difference in comparison.differences:
        word = difference.verdict.word
        if (difference.baseline, difference.run, difference.measure) == compared:
            return word
        if (difference.run, difference.baseline, difference.measure) == compared:
            return _TURNED.get(word, word)
    return ""


def verdicts_section(comparison: Comparison | None) -> tuple[list[dict[str, object]], list[str]]:
    """Return the verdict on each difference, and a note if there are too many to show."""
    if comparison is None:
        return [], []
    shown = sorted(comparison.differences, key=lambda d: comparison.measures.index(d.measure))
    left = len(shown) - MOST_VERDICTS
    more = "1 more comparison is" if left == 1 else f"{left} more comparisons are"
    notes = [f"{more} not shown."] if left > 0 else []
    return [_verdict(d) for d in shown[:MOST_VERDICTS]], notes


def _verdict(difference: Difference) -> dict[str, object]:
    return {
        "measure": difference.measure,
        "baseline": difference.baseline,
        "run": difference.run,
        "word": difference.verdict.word,
        "sentence": difference.verdict.sentence,
        "queries_needed": difference.verdict.queries_needed,
        "qualification": difference.verdict.qualification or None,
        "baseline_mean": difference.baseline_mean,
        "run_mean": difference.run_mean,
        "difference": difference.difference,
        "low": finite(difference.interval.low),
        "high": finite(difference.interval.high),
        "level": difference.interval.level,
        "p": finite(difference.p),
        "effect": finite(difference.effect),
        "wins": difference.wins,
        "ties": difference.ties,
        "losses": difference.losses,
        "queries": difference.queries,
    }


def slices_section(comparison: Comparison | None) -> dict[str, object] | None:
    """Return the slices, worst first; None without any."""
    if comparison is None or not comparison.slices:
        return None
    table = comparison.slices_table(MOST_SLICES)
    rows = [
        [finite(cell) if isinstance(cell, float) else cell for cell in row] for row in table.rows
    ]
    return {
        "columns": list(table.columns),
        "rows": rows,
        "notes": list(table.notes),
        "digits": digits_of(rows),
    }


def scores_section(values: Floats, kept: Sequence[int]) -> list[list[list[float | None]]]:
    """Return the scores [measure][run][query] of the queries to keep.

    Args:
        values: [query, run, measure], NaN without a value.
        kept: the positions of the queries to keep.
    """
    chosen = np.moveaxis(values[list(kept)], 0, -1).swapaxes(0, 1)
    return [[[finite(one) for one in run] for run in measure] for measure in chosen.tolist()]


def notes_of(comparison: Comparison | None) -> list[str]:
    """Return the notes on the method of a comparison, without its verdicts."""
    if comparison is None:
        return []
    notes = comparison.notes()
    return notes[notes.index("") + 1 :]


def method_of(comparison: Comparison | None) -> str:
    """Return how p-values and intervals were computed, in one line; empty without a comparison."""
    return next(iter(notes_of(comparison)), "")
