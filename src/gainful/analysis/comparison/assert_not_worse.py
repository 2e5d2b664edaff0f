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
    """Fail a test if a run is significantly worse than a baseline, by more than a tolerance.

    The test fails if the whole interval of the difference is below −tolerance. With the default level
    of 95%, a run that isn't worse fails in at most about 2.5% of cases, whatever the number of measures.
    With few queries or skewed differences, false failures can be more frequent.

    Args:
        judgments: as in `compare`.
        base: the baseline: a run, a `Baseline`, or the path of a saved baseline.
        run: the run that must not be worse.
        measures: one measure or several.
        tolerance: how much worse the run may be: 0 or more.
        **options: as in `compare`.

    Returns:
        The comparison of `base` and `run`.

    Raises:
        AssertionError: if the run is worse. The message contains the intervals.

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
    expected = "a non-negative number"
    tolerance = arguments.number(tolerance, "tolerance", expected, lambda amount: amount >= 0)
    result = compare(judgments, {"base": base, "run": run}, measures, baseline="base", **options)
    left_out = max(len(queries) for queries in result.paired.left_out().values())
    if left_out:
        warning = (
            f"{left_out} of {counted(len(result.paired.queries), 'query', 'queries')} "
            f"{'was' if left_out == 1 else 'were'} left out, because base or run has no value for "
            f"{'it' if left_out == 1 else 'them'}."
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
            warn(f"{check.condition.name}: {check.found}. The assertion did not run: add queries.")
    return result
