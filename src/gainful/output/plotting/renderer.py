"""The renderer of charts, vl-convert: rejected early if it is missing or would end the process."""

import subprocess
import sys
from functools import cache

from gainful.errors import InputError, MissingDependencyError

_TRIED = "import vl_convert; vl_convert.javascript_bundle()"
_GB = 1e9


def refuse_without_renderer(where: str) -> None:
    """Raise an error before work that needs the renderer, if it isn't installed or its engine cannot start.

    Its engine, V8, reserves about 64 GB of address space and uses little of it. If it isn't
    allowed to, it ends the whole process without an error that could be caught.
    """
    from importlib.util import find_spec

    if find_spec("vl_convert") is None:
        raise MissingDependencyError.of_extra(where, "vl-convert-python", "report")
    limit = _limit_of_addresses()
    if limit is not None and not _starts(limit):
        raise InputError(
            where,
            "some 70 GB of address space, which the renderer of charts reserves and hardly uses",
            f"a limit of {limit / _GB:.3g} GB for this process",
            "Raise the limit (ulimit -v unlimited), or write the result as text, CSV or JSON.",
        )


def _limit_of_addresses() -> int | None:
    """Return how many bytes of address space the process may have; None without a limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


@cache
def _starts(limit: int) -> bool:  # noqa: ARG001 - each limit is tried separately
    """Return whether the renderer starts under the limit, tried in a process that may crash."""
    tried = subprocess.run([sys.executable, "-c", _TRIED], capture_output=True, check=False)  # noqa: S603
    return tried.returncode == 0
