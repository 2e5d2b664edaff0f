"""The table that papers show: the means of all runs, the best in bold, with marks of significance."""

import math
import string
from collections.abc import Sequence

from gainful.analysis.comparison.comparison_result import ComparisonResult
from gainful.analysis.comparison.differences import Difference
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.measures.measure_family import LOWER, NEITHER
from gainful.message_texts import counted
from gainful.output.rendering.table_formats import Cell, Marked, Table

BETTER, WORSE, EQUIVALENT = "†", "‡", "≈"
"""The marks next to a mean that was compared only with the baseline."""

_SAME = 1e-12  # relative: the rounding error of a mean


def systems_table(comparison: ComparisonResult) -> Table:
    """Return a row for each run and a column for each measure, with an explanatory caption.

    If every run was compared with every other, each run has a letter, and the letters next to its mean
    name the runs that it significantly beats. If all were compared only with the baseline, † means
    significantly better than the baseline, ‡ significantly worse, and ≈ equivalent.
    """
    lettered = comparison.settings.pairs == "all"
    names = dict(zip(comparison.runs, _letters(len(comparison.runs)), strict=True))
    columns = [
        _column(comparison, measure, names, lettered=lettered) for measure in comparison.measures
    ]
    rows: list[list[Cell]] = [
        [*([names[system]] if lettered else []), system, *(column[system] for column in columns)]
        for system in comparison.runs
    ]
    head = [*(["#"] if lettered else []), "run", *comparison.measures]
    caption = _caption(comparison, columns, lettered=lettered)
    return Table(head, rows, notes=comparison.basis, caption=caption)


def _letters(count: int) -> list[str]:
    """Return a label for each run: a letter, or a number if there are more than 26 runs."""
    letters = string.ascii_lowercase
    return list(letters[:count]) if count <= len(letters) else [str(n) for n in range(1, count + 1)]


def _column(
    comparison: ComparisonResult, measure: str, names: dict[str, str], *, lettered: bool
) -> dict[str, Marked]:
    """Return the cell of each run under a measure."""
    differences = [d for d in comparison.differences if d.measure == measure]
    means = {d.baseline: d.baseline_mean for d in differences}
    means |= {d.run: d.run_mean for d in differences}
    marks = _beaten(differences, names) if lettered else _against(differences)
    better = comparison.paired.better_values(measure)
    best = min(means.values()) if better == LOWER else max(means.values())
    return {
        system: Marked(
            mean,
            best=better != NEITHER and math.isclose(mean, best, rel_tol=_SAME),
            marks=marks.get(system, ""),
        )
        for system, mean in means.items()
    }


def _beaten(differences: Sequence[Difference], names: dict[str, str]) -> dict[str, str]:
    """Return, for each run, the labels of the runs that it significantly beats."""
    beaten: dict[str, list[str]] = {}
    for d in differences:
        pairs = {"better": (d.run, d.baseline), "worse": (d.baseline, d.run)}
        if d.verdict.word in pairs:
            winner, loser = pairs[d.verdict.word]
            beaten.setdefault(winner, []).append(loser)
    between = "" if all(name.isalpha() for name in names.values()) else ","
    return {
        winner: between.join(names[system] for system in names if system in losers)
        for winner, losers in beaten.items()
    }


def _against(differences: Sequence[Difference]) -> dict[str, str]:
    words = {"better": BETTER, "worse": WORSE, "equivalent": EQUIVALENT}
    return {difference.run: words.get(difference.verdict.word, "") for difference in differences}


def _caption(
    comparison: ComparisonResult, columns: Sequence[dict[str, Marked]], *, lettered: bool
) -> str:
    test = f"{_tests(comparison)}, p < {comparison.settings.alpha:g}"
    parts = f"Means over {_queries(comparison)}, the best of each measure in bold."
    if lettered:
        kind = "Letters" if len(comparison.runs) <= len(string.ascii_lowercase) else "Numbers"
        legend = f"{kind} name the runs that a run significantly beats"
    else:
        used = {cell.marks for column in columns for cell in column.values()}
        legend = _legend(comparison, used)
    return f"{parts} {legend} ({test})."


def _tests(comparison: ComparisonResult) -> str:
    """Return the names of the deciding tests and their corrections, for the caption."""
    names = sorted({difference.test for difference in comparison.differences})
    joint = [CORRECTIONS[name].title for name in names if name in CORRECTIONS]
    single = [TESTS[name].title for name in names if name not in CORRECTIONS]
    made = sum(difference.p is not None for difference in comparison.differences)
    adjustment = CORRECTIONS[comparison.settings.adjustment]
    corrected = " and ".join(single)
    if made > 1 and single and adjustment.changes:
        corrected += f" with {adjustment.title} correction"
    tests = ", and ".join(
        [*([" and ".join(joint)] if joint else []), *([corrected] if single else [])]
    )
    if made > 1 and single and adjustment.changes:
        return f"{tests} over {made} comparisons"
    if made > 1:
        return f"{tests}, {made} comparisons{'' if joint else ' uncorrected'}"
    return tests


def _legend(comparison: ComparisonResult, used: set[str]) -> str:
    """Return the meanings of the marks that occur."""
    base = comparison.baseline
    meanings = {
        BETTER: f"significantly better than {base}",
        WORSE: f"significantly worse than {base}",
        EQUIVALENT: f"equivalent to {base} within {comparison.settings.margin or 0:g}",
    }
    legend = [f"{mark}: {meaning}" for mark, meaning in meanings.items() if mark in used]
    return "; ".join(legend) or f"No significant difference from {base}"


def _queries(comparison: ComparisonResult) -> str:
    """Return the number of queries, for each measure if the numbers differ."""
    counts = {difference.measure: difference.queries for difference in comparison.differences}
    if len(set(counts.values())) == 1:
        count = next(iter(counts.values()))
        return "one query" if count == 1 else f"{count:,} queries"
    return ", ".join(
        f"{counted(count, 'query', 'queries')} ({measure})" for measure, count in counts.items()
    )
