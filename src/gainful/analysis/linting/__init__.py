"""Errors and probable mistakes in judgments and runs, before anything is measured."""
