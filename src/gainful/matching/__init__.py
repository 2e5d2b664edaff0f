"""Run × judgments → Matched, one file for each kind of input."""
