"""Typography: tables of cells as text in several formats. No arithmetic, and no knowledge of rankings."""
