"""Arrays in, arrays out: the kernels of the measures, and statistics. NumPy and SciPy only."""
