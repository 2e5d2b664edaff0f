"""Runs, judgments and tables of scores → files, each replaced only when the new one is complete."""
