"""The history of a measured system: an append-only file of scores, and what changed between its entries."""
