"""Charts of plain rows: what is seen of scores and differences; no arithmetic."""
