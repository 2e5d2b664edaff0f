"""Many cases in one test, where each is too brief for one of its own: all failures are told."""

import traceback

import pytest


def assert_every_case(check, cases):
    """Call a check with each case, and fail with every case that failed, and why."""
    failed = []
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as problem:  # noqa: BLE001
            failed.append(f"{case}:\n{''.join(traceback.format_exception(problem, limit=-2))}")
    assert not failed, f"{len(failed)} failed\n" + "\n".join(failed)
