"""Measures and losses on arrays of NumPy, PyTorch, JAX and CuPy, on the arrays' own device."""
