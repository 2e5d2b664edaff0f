"""The page of a report: a template, a style sheet, scripts, and what puts them together."""
