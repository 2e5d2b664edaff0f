"""Output of results for people and files: every table in every format. No arithmetic."""
