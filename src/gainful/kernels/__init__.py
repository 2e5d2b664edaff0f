"""The arithmetic: arrays in, float64[query, cutoff] out. NumPy only, no loop over rows."""
