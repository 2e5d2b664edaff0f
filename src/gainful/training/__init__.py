"""Arrays on the device where they live: NumPy, PyTorch, JAX, CuPy."""
