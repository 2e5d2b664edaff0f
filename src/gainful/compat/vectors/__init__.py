"""Conformance vectors: small cases with exact values, to check implementations of nDCG."""
