"""The public places, and everything that they offer."""

from types import ModuleType
from typing import Any

import gainful as gf

# These have names of their own, some of which are those of other places too.
APART = ("compat", "integrations", "losses", "metrics")


def places() -> dict[str, ModuleType]:
    """Return the modules where public names are found, by what people write for them."""
    top = {name: getattr(gf, name) for name in gf.__all__ if name not in APART}
    below = {f"gainful.{name}": each for name, each in top.items() if isinstance(each, ModuleType)}
    return {"gainful": gf, **below}


def public_names() -> dict[str, Any]:
    """Return what is public, by its name; modules are left out."""
    return {
        name: getattr(module, name)
        for module in places().values()
        for name in module.__all__
        if not isinstance(getattr(module, name), ModuleType)
    }
