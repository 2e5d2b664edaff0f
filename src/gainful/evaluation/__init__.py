"""Measures of a matched run: the table from measure to kernel, `evaluate`, and `Scores`."""
