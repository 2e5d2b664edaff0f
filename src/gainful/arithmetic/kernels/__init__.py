"""The kernels: arrays in, float64[query, cutoff] out. NumPy only, no loop over rows."""
