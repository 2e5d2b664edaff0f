"""`assert_not_worse`: a gate for a test suite."""

from typing import Any

from gainful import arguments
from gainful.analysis.comparison.compare import compare
from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.errors import warn
from gainful.measures.notation import Measures
from gainful.message_texts import counted
from gainful.rows.input_types import Judgments, Run


def assert_not_worse(
    judgments: Judgments,
    base: Run,
    run: Run,
    measures: Measures = "nDCG@10",
    *,
    tolerance: float = 0.0,
    **options: Any,
) -> Comparison:
    """Fail a test if the interval says that a run is worse than a base by more than a tolerance.

    With the default level of 95%, a run that is not worse fails in about 2.5% of cases, or fewer,
    whatever the number of measures. Of few queries or skewed differences it may be more.

    Args:
        judgments: as in `compare`.
        base: a run, a `Baseline`, or the path of a saved one.
        run: what must not be worse.
        measures: one measure or several.
        tolerance: by how much it may be worse, from 0.
        **options: as in `compare`.

    Returns:
        The comparison of `base` and `run`.

    Raises:
        AssertionError: with the intervals that say so.

    >>> judgments = {f"q{i}": {"a": 1} for i in range(12)}
    >>> best = {query: {"a": 2, "b": 1} for query in judgments}
    >>> worst = {query: {"a": 1, "b": 2 - int(query[1:]) % 3} for query in judgments}
    >>> _ = assert_not_worse(judgments, worst, best)
    >>> assert_not_worse(judgments, best, worst, tolerance=0.02)
    Traceback (most recent call last):
        ...
    AssertionError: nDCG@10 of run is below that of base by more than 0.02: ...
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    expected = "a number from 0"
    tolerance = arguments.number(tolerance, "tolerance", expected, lambda amount: amount >= 0)
    result = compare(judgments, {"base": base, "run": run}, measures, baseline="base", **options)
    lost = max(len(queries) for queries in result.paired.left_out().values())
    if lost:
        warning = (
            f"{lost} of {counted(len(result.paired.queries), 'query', 'queries')} "
            f"{'was' if lost == 1 else 'were'} left out, which base or run lacks."
        )
        warn(warning)
    gate = result.gate([f"change({name}) < {-tolerance!r}" for name in result.measures])
    failed = [
        f"{check.condition.name} of run is below that of base by more than {tolerance:g}: {check.found}"
        for check in gate.checked
        if check.failed
    ]
    if failed:
        raise AssertionError("; ".join(failed))
    for check in gate.checked:
        if check.inconclusive:
            warn(f"{check.condition.name}: {check.found}. Nothing was asserted: add queries.")
    return result
