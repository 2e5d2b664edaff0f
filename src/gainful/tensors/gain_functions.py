"""Gains by a function of the caller, which takes all grades in one array."""

from typing import Any

from gainful.errors import InputError
from gainful.measures.gain import Gain
from gainful.message_texts import shortened


def gains_by_function(gain: Gain, grades: Any) -> Any:
    """Return what the function of a gain gives for an array of grades, of the same shape."""
    function: Any = gain.function
    shape = tuple(grades.shape)
    try:
        worth = function(grades + 0)  # its own copy, which it may change
    except (TypeError, ValueError, RuntimeError) as problem:
        worth, found = None, f"an error: {problem}"
    else:
        found = str(tuple(worth.shape)) if hasattr(worth, "shape") else type(worth).__name__
    if worth is None or tuple(getattr(worth, "shape", (None,))) != shape:
        raise InputError(
            f"gain {gain}",
            f"an array of gains of the shape of the grades, {shape}",
            shortened(found.splitlines()[0].rstrip(".")),
            "A function of the grade is called once, with all grades in one array.",
        )
    return worth
