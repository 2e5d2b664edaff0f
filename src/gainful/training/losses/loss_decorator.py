"""Steps before every loss's formula: check the options, and group lists of flat tensors."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from gainful.training.array_checks import mask_for
from gainful.training.losses.flat_lists import flat_loss
from gainful.training.losses.options import options_of, refuse_unknown_options

P = ParamSpec("P")
T = TypeVar("T")

_BY_PLACE = ("scores", "labels", "mask")


def loss_function(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a loss: check its options before any computation, and pass it padded lists."""
    name, names, signature = function.__name__, options_of(function), inspect.signature(function)

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> T:
        if options:
            refuse_unknown_options(name, names, _named(options))
        labels = _argument("labels", arguments, options)
        mask = _argument("mask", arguments, options)
        flat, padding = options.get("offsets") is not None, options.pop("padding", None)
        there = mask_for(labels, mask, cast("float | None", padding), rows=not flat)
        if flat:
            bound = signature.bind(*arguments, **options).arguments
            tensors = bound["scores"], bound["labels"], there
            return cast("T", flat_loss(function, *tensors, _named(options)))
        if there is mask:
            return function(*arguments, **options)
        plain: Any = function
        return cast("T", plain(*arguments[:2], **{**options, "mask": there}))

    return checked


def _argument(name: str, arguments: tuple[object, ...], options: Mapping[str, object]) -> object:
    """Return the argument with a name, passed by position or keyword; None if missing."""
    place = _BY_PLACE.index(name)
    return arguments[place] if place < len(arguments) else options.get(name)


def _named(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that are not tensors of items."""
    return {name: value for name, value in options.items() if name not in _BY_PLACE}
