"""When two `Matched` are the same: every field, bit for bit."""

import dataclasses

import numpy as np

from gainful.matching.dict_matching import DictRun, judged_rows
from gainful.matching.match import match


def assert_same(left, right):
    for field in dataclasses.fields(left):
        one, other = getattr(left, field.name), getattr(right, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype, field.name
            assert one.tobytes() == other.tobytes(), field.name
            assert not one.flags.writeable
            assert not other.flags.writeable
        else:
            assert one == other, field.name


def match_dicts(judgments, run, policy, depth=None, chunks=None):
    judged = judged_rows(judgments, policy)
    return match(judged, DictRun(run, judged), policy, depth, chunks)
