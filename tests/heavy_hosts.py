"""The hosts whose packages stand in groups of their own, `hosts` and `hosts-alone`; tests/hosts/ is run beside them."""

HEAVY = (
    "beir",
    "deepeval",
    "haystack",
    "langchain",
    "llama_index",
    "mlflow",
    "mteb",
    "pyterrier",
    "ragas",
    "sentence_transformers",
)
HEAVY_PAGES = (*HEAVY, "wandb")  # which needs no adapter
