"""Writes runs, judgments and tables of scores to files, each replaced only when the new one is complete."""
