"""What unjudged documents may do to a measure: exact bounds, and estimates between them."""
