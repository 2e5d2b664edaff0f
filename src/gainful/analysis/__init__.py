"""Runs side by side and up close: comparison, explanation, fusion, checks, similarity, power."""
