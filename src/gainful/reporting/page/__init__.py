"""The page of a report: a template, a style sheet, scripts, and the function that assembles them."""
