"""The options of the losses: their names and valid values."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict

import numpy as np

from gainful.arguments import MOST_SAMPLES, as_float, truth, whole
from gainful.array_types import Array
from gainful.errors import InputError
from gainful.measures.discount import GivenDiscount, refuse_idle_base
from gainful.measures.discount import base as read_base
from gainful.measures.discount import discount as read_discount
from gainful.measures.gain import GivenGain
from gainful.message_texts import did_you_mean, shown

_LARGEST = 1e18  # libraries fail for integers far beyond it, and no loss needs them

REDUCTIONS = ("mean", "sum", "none")
SCHEMES = ("ranknet", "lambdarank", "ndcg1", "ndcg2", "ndcg2pp")
TRUNCATIONS = ("either", "both", "none")


class Common(TypedDict, total=False):
    """The keyword options shared by every loss.

    Attributes:
        k: the cutoff of the measure; None, the default, for the whole list.
        gain: the gain of a label: exp2 (the default), linear, binary, a table or a function of
            tensors.
        discount: the discount of a rank: log (the default), jarvelin, reciprocal, power(p), none,
            ln or misprint; a table by rank; or a function of ranks, which may be fractional.
        base: the base of the logarithm in the discount; 2 by default.
        normalized: whether to divide by the DCG of the best order (the default); otherwise losses
            are −DCG.
        reduction: mean over the lists that have items (the default), sum, or none.
        weight: [...], a weight of 0 or more for each list, for a weighted mean or sum.
        offsets: boundaries 0, …, n of consecutive lists in 1-D tensors.
        padding: the label of places without an item, such as -1; these are masked, too.
    """

    k: int | None
    gain: GivenGain
    discount: GivenDiscount
    base: Any
    normalized: bool
    reduction: str
    weight: Array
    offsets: Any
    padding: float | None


def without_gain(common: Common) -> Common:
    """Return options for a loss that does not use gains, so that no gain overflows."""
    gain = common.get("gain", "exp2")
    return {**common, "gain": "linear"} if isinstance(gain, str) and gain == "exp2" else common


def refuse_wrong_options(function: Callable[..., object], options: Mapping[str, object]) -> None:
    """Reject unknown options of a loss, and unusable values."""
    refuse_unknown_options(function.__name__, options_of(function), options)


def refuse_unknown_options(
    function: str, names: tuple[str, ...], options: Mapping[str, object]
) -> None:
    """Reject unknown options and unusable values."""
    for name, value in options.items():
        if name not in names:
            hint = did_you_mean(name, names)
            message = f"{function}() got an unexpected keyword argument {name!r}. {hint}"
            raise TypeError(message)
        if name in _CHECKS:
            _CHECKS[name](name, value)
    if "base" in options and "discount" in options:
        refuse_idle_base(read_discount(options["discount"]), read_base(options["base"]))


def options_of(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of a loss's keyword options, its own ones first."""
    parameters = inspect.signature(function).parameters.values()
    own = [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]
    return (*own, *Common.__annotations__)


def refuse_wrong_number(
    name: str, value: object, expected: str, fits: Callable[[float], bool]
) -> None:
    """Reject anything but a finite number that fits."""
    number = as_float(value) if isinstance(value, int | float | np.number) else math.nan
    if not math.isfinite(number) or abs(number) > _LARGEST or not fits(number):
        # A tensor would have no gradient here, and no value under jax.jit.
        tensor = hasattr(value, "dtype") and math.isnan(number)
        remedy = "This option is a constant: pass a Python number, not a tensor." if tensor else ""
        raise InputError(name, expected, shown(value), remedy)


def _positive(name: str, value: object) -> None:
    refuse_wrong_number(name, value, "a finite number above 0", lambda number: number > 0)


def _from_zero(name: str, value: object) -> None:
    refuse_wrong_number(name, value, "a finite, non-negative number", lambda number: number >= 0)


def _whole(least: int) -> Callable[[str, object], None]:
    def check(name: str, value: object) -> None:
        whole(value, name, least=least, most=MOST_SAMPLES)

    return check


def _truth(name: str, value: object) -> None:
    truth(value, name)


def refuse_wrong_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Reject a value that is not one of the choices."""
    listed = list(choices)
    if not isinstance(value, str) or value not in listed:
        expected = f"{', '.join(listed[:-1])} or {listed[-1]}"
        raise InputError(name, expected, shown(value), did_you_mean(value, listed))


_CHECKS: Mapping[str, Callable[[str, object], None]] = {
    "temperature": _positive,
    "tau": _positive,
    "sigma": _positive,
    "mu": _from_zero,
    "beta": _from_zero,
    "samples": _whole(1),
    "iterations": _whole(0),
    "normalized": _truth,
    "reduction": lambda name, value: refuse_wrong_choice(name, value, REDUCTIONS),
    "scheme": lambda name, value: refuse_wrong_choice(name, value, SCHEMES),
    "truncation": lambda name, value: refuse_wrong_choice(name, value, TRUNCATIONS),
}
