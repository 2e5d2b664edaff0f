"""Why is it that number: the arithmetic of a measure, worked out line by line."""
