"""Measuring on Spark: the same kernels where the rows are, and a result that stays there."""
