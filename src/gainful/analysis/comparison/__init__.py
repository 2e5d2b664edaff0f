"""Systems compared query by query: differences, verdicts, slices and gates."""
