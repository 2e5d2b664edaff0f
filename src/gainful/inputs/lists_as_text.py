"""Lists that stand as text in a cell, `['d1', 'd2']`, as a data frame of lists is written to CSV."""

import re

# Quotes around items, or several integers: neither is an id.
_LIST = re.compile(r"""\s*\[\s*(?:(['"]).*\1|-?\d+(?:\s*,\s*-?\d+)+)\s*\]\s*""", re.DOTALL)

ROWS_OR_JSON = (
    "Write a row for each document, or write lists as JSON lines: "
    '{"query": "q1", "retrieved": ["d1", "d2"]}.'
)
"""What to do about lists in a file that can hold none."""


def is_list_as_text(value: object) -> bool:
    """Return whether a cell holds a list that was written as text.

    >>> is_list_as_text("['d1', 'd2']"), is_list_as_text('["d1"]'), is_list_as_text("[7, 8]")
    (True, True, True)
    >>> is_list_as_text("[7]"), is_list_as_text("d1"), is_list_as_text(["d1"])
    (False, False, False)
    """
    return isinstance(value, str) and _LIST.fullmatch(value) is not None
