"""Charts of plain rows, such as scores and differences; no arithmetic."""
