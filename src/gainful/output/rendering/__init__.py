"""Typography: a table of cells → text in one of several formats. No arithmetic, no domain."""
