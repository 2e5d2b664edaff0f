"""The error if the tool that an adapter needs isn't installed."""

from collections.abc import Iterator
from contextlib import contextmanager

from gainful.errors import MissingDependencyError, how_to_install

OLDEST = {
    "beir": ("beir", "2.0"),
    "catboost": ("catboost", "1.2"),
    "deepeval": ("deepeval", "4.0"),
    "haystack": ("haystack-ai", "2.12"),
    "ir_datasets": ("ir_datasets", "0.5.11"),
    "langchain": ("langchain-core", "0.3.15"),
    "lightgbm": ("lightgbm", "4.3"),
    "llama_index": ("llama-index-core", "0.12"),
    "mcp": ("mcp", "2.0"),
    "mlflow": ("mlflow-skinny", "3.4"),
    "mteb": ("mteb", "2.24"),
    "pyterrier": ("pyterrier", "1.0"),
    "pytest": ("pytest", "8"),
    "ragas": ("ragas", "0.4"),
    "sentence_transformers": ("sentence-transformers", "6.0"),
    "sklearn": ("scikit-learn", "1.5"),
    "torchmetrics": ("torchmetrics", "1.4"),
    "xgboost": ("xgboost", "2.1"),
}
"""The package of each host, and the oldest tested version."""
_EXTRAS = ("mcp",)  # hosts that an extra of gainful installs


@contextmanager
def requiring(host: str) -> Iterator[None]:
    """Import a host, or raise an error that explains how to install it.

    >>> with requiring("xgboost"):
    ...     raise ImportError("No module named 'xgboost'")
    Traceback (most recent call last):
        ...
    gainful.errors.MissingDependencyError: gainful.integrations.xgboost: expected the package ...
    """
    try:
        yield
    except ImportError as problem:
        package, oldest = OLDEST[host]
        own = f"Install it: pip install '{package}>={oldest}'"
        raise MissingDependencyError(
            f"gainful.integrations.{host}",
            f"the package {package}",
            f"none ({problem})",
            how_to_install(host) if host in _EXTRAS else own,
        ) from None
