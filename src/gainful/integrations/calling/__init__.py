"""Calls to external services: many at a time, with retries and stored answers."""
