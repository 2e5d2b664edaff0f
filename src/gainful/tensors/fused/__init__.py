"""Fused kernels for PyTorch on a GPU: pairs are computed, used and forgotten."""
