"""What every loss does before its formula: check the options, and group lists of flat tensors."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from gainful.tensors.array_checks import mask_for
from gainful.tensors.losses.flat_lists import flat_loss
from gainful.tensors.losses.options import options_of, refuse_unknown_options

P = ParamSpec("P")
T = TypeVar("T")

_BY_PLACE = ("scores", "labels", "mask")


def loss_function(function: Callable[P, T]) -> Callable[P, T]:
    """Check the options of a loss before it computes anything, and give it padded lists."""
    name, known, signature = function.__name__, options_of(function), inspect.signature(function)

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> T:
        if options:
            refuse_unknown_options(name, known, _named(options))
        labels, mask = _given("labels", arguments, options), _given("mask", arguments, options)
        flat, padding = options.get("offsets") is not None, options.pop("padding", None)
        there = mask_for(labels, mask, cast("float | None", padding), rows=not flat)
        if flat:
            given = signature.bind(*arguments, **options).arguments
            tensors = given["scores"], given["labels"], there
            return cast("T", flat_loss(function, *tensors, _named(options)))
        if there is mask:
            return function(*arguments, **options)
        plain: Any = function
        return cast("T", plain(*arguments[:2], **{**options, "mask": there}))

    return checked


def _given(name: str, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Return what is passed under a name, by place or by keyword; None if nothing is."""
    place = _BY_PLACE.index(name)
    return arguments[place] if place < len(arguments) else options.get(name)


def _named(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are no tensors of items."""
    return {name: value for name, value in options.items() if name not in _BY_PLACE}
