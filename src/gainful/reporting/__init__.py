"""Results for people and for files: every table in every format. No arithmetic."""
