"""The hosts whose packages stand in groups of their own, `hosts` and `hosts-alone`; tests/hosts/ is run beside them."""

HEAVY = ("beir", "mteb", "pyterrier", "sentence_transformers")
