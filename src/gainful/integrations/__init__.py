"""Adapters for other evaluation and training tools, each imported on first use.

>>> import gainful as gf
>>> gf.integrations.lightgbm.metric("nDCG@10")
metric('nDCG@10')
"""

from importlib import import_module
from types import ModuleType

__all__ = [
    "beir",
    "catboost",
    "deepeval",
    "haystack",
    "ir_datasets",
    "langchain",
    "lightgbm",
    "llama_index",
    "mcp",
    "mlflow",
    "mteb",
    "pyterrier",
    "pytest",
    "ragas",
    "sentence_transformers",
    "sklearn",
    "torchmetrics",
    "xgboost",
]


def __getattr__(name: str) -> ModuleType:
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return __all__
