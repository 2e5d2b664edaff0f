"""Spark data frames → Matched, a part of the queries at a time, where the rows are."""
