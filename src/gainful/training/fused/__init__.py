"""Fused GPU kernels for PyTorch, which compute and use pairs without storing them."""
